/* profiles: all
 * tries: to pass comparisons of the filter by bits that the kernel does not look at
 * due: held
 */
#include "attack.h"
int main(void)
{
	unsigned long high = 0xdeadbeef00000000;
	FAILS(syscall(SYS_socket, high | 2, 1, 0));
	FAILS(syscall(SYS_socket, high | 16, 3, 0));
	FAILS(syscall(SYS_open, told("SENTINEL"), high | O_WRONLY, 0));
	FAILS(syscall(SYS_openat, AT_FDCWD, told("SENTINEL"), high | O_WRONLY, 0));
	FAILS(syscall(SYS_unshare, high | 1ul << 28));
	FAILS(syscall(SYS_prctl, high | 38, 0, 0, 0, 0));
	long child = syscall(SYS_clone, high | 1ul << 28 | SIGCHLD, 0, 0, 0, 0);
	if (child == 0)
		_exit(0);
	if (child > 0)
		escaped("clone");
	held();
}
