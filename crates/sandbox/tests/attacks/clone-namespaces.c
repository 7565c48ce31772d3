/* profiles: all
 * tries: to start a process in new namespaces, by clone and by clone3
 * due: held
 */
#include "attack.h"
#include <sched.h>
#include <sys/wait.h>
int main(void)
{
	int kinds[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWUSER | CLONE_NEWPID};
	for (int at = 0; at < 5; at++) {
		long child = syscall(SYS_clone, kinds[at] | SIGCHLD, 0, 0, 0, 0);
		if (child == 0)
			_exit(0);
		if (child > 0)
			escaped("clone with flags %x", kinds[at]);
		unsigned long long arguments[11] = {kinds[at], 0, 0, 0, SIGCHLD};
		child = syscall(SYS_clone3, arguments, sizeof arguments);
		if (child == 0)
			_exit(0);
		if (child > 0)
			escaped("clone3 with flags %x", kinds[at]);
	}
	held();
}
