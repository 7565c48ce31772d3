/* profiles: all
 * tries: to become root or another user, and to take capabilities
 * due: held
 */
#include "attack.h"
#include <grp.h>
int main(void)
{
	unsigned header[2] = {0x20080522, 0}, sets[6] = {~0u, ~0u, 0, ~0u, ~0u, 0};
	gid_t groups[] = {0, 4, 6};
	FAILS(syscall(SYS_setuid, 0));
	FAILS(syscall(SYS_setresuid, 0, 0, 0));
	FAILS(syscall(SYS_setreuid, 0, 0));
	FAILS(syscall(SYS_setgid, 0));
	FAILS(syscall(SYS_setresgid, 0, 0, 0));
	FAILS(syscall(SYS_setgroups, 3, groups));
	FAILS(syscall(SYS_capset, header, sets));
	syscall(SYS_setfsuid, 0);
	FAILS(open("/etc/shadow", O_RDONLY));
	held();
}
