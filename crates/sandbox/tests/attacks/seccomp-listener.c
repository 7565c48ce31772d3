/* profiles: all
 * tries: to answer its own system calls by a filter of its own
 * due: held | timeout
 */
#include "attack.h"
#include <linux/filter.h>
int main(void)
{
	struct sock_filter allow[] = {{0x06, 0, 0, 0x7fc00000}};
	struct sock_fprog program = {1, allow};
	REFUSED(syscall(SYS_seccomp, 1, 8, &program));
	held();
}
