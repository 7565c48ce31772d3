/* profiles: all
 * tries: to advise, move and release the memory of others
 * due: held
 */
#include "attack.h"
#include <sys/uio.h>
int main(void)
{
	struct iovec there = {(void *)(number("VICTIM_ADDRESS") & ~4095L), 4096};
	void *page = there.iov_base;
	unsigned long nodes = 1;
	int node = 0, status = 0;
	REFUSED(syscall(SYS_process_madvise, -1, &there, 1, 4, 0));
	REFUSED(syscall(448, -1, 0));
	FAILS(syscall(SYS_move_pages, number("VICTIM"), 1, &page, &node, &status, 0));
	FAILS(syscall(SYS_migrate_pages, number("VICTIM"), 8, &nodes, &nodes));
	held();
}
