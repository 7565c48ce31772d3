/* profiles: all
 * tries: to stop the first process of its namespace and its parent, then leaves
 * due: held | timeout
 */
#include "attack.h"
int main(void)
{
	long parent = syscall(SYS_getppid);
	if (parent > 0)
		syscall(SYS_kill, parent, SIGSTOP);
	if (syscall(SYS_getpid) != 1)
		syscall(SYS_kill, 1, SIGSTOP);
	held();
}
