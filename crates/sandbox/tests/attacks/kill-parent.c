/* profiles: all
 * tries: to kill its parent, by the number that the kernel tells and by those around its own
 * due: held | dies
 */
#include "attack.h"
int main(void)
{
	long parent = syscall(SYS_getppid), own = syscall(SYS_getpid);
	if (parent > 0)
		syscall(SYS_kill, parent, SIGKILL);
	for (long pid = own - 3; pid < own; pid++)
		if (pid > 0)
			syscall(SYS_kill, pid, SIGKILL);
	held();
}
