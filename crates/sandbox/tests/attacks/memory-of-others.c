/* profiles: all
 * tries: to read and write the memory of others
 * due: held
 */
#include "attack.h"
#include <sys/uio.h>
int main(void)
{
	char text[8] = "gone";
	struct iovec here = {text, 4}, there = {(void *)number("VICTIM_ADDRESS"), 4};
	REFUSED(syscall(SYS_process_vm_writev, number("VICTIM"), &here, 1, &there, 1, 0));
	REFUSED(syscall(SYS_process_vm_readv, number("VICTIM"), &here, 1, &there, 1, 0));
	EACH_PROCESS(pid) {
		char path[64];
		if (pid == getpid())
			continue;
		snprintf(path, sizeof path, "/proc/%ld/mem", pid);
		int file = open(path, O_RDWR);
		if (file >= 0)
			escaped("%s, of which a write answers %zd", path,
				pwrite(file, "gone", 4, number("VICTIM_ADDRESS")));
		FAILS(open(path, O_RDONLY));
	}
	held();
}
