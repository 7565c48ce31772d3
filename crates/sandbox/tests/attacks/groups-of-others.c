/* profiles: all
 * tries: to move others into other process groups, and itself into theirs
 * due: held
 */
#include "attack.h"
int main(void)
{
	FAILS(syscall(SYS_setpgid, number("VICTIM"), 0));
	FAILS(syscall(SYS_setpgid, 0, number("VICTIM")));
	FAILS(syscall(SYS_setpgid, 0, number("RUNNER")));
	held();
}
