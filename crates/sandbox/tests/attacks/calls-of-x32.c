/* profiles: all
 * tries: to pass the filter by the numbers of the x32 interface
 * due: held | dies
 */
#include "attack.h"
#define X32 0x40000000
int main(void)
{
	FAILS(syscall(X32 | SYS_getpid));
	FAILS(syscall(X32 | SYS_open, told("SENTINEL"), O_WRONLY | O_TRUNC, 0));
	FAILS(syscall(X32 | SYS_kill, number("VICTIM"), SIGUSR1));
	FAILS(syscall(X32 | SYS_socket, 2, 1, 0));
	FAILS(syscall(X32 | SYS_unshare, 1 << 28));
	FAILS(syscall(X32 | 521, 0, 0, 0, 0));
	held();
}
