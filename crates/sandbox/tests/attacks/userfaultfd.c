/* profiles: all
 * tries: to hold the kernel in a page fault
 * due: held
 */
#include "attack.h"
int main(void)
{
	REFUSED(syscall(SYS_userfaultfd, O_CLOEXEC));
	REFUSED(syscall(SYS_userfaultfd, 1));
	FAILS(open("/dev/userfaultfd", O_RDWR));
	held();
}
