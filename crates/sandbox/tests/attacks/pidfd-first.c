/* profiles: all
 * tries: to take descriptors of the first process and of its parent: channels to the runner
 * due: held
 */
#include "attack.h"
int main(void)
{
	long pids[] = {1, syscall(SYS_getppid)};
	for (int at = 0; at < 2; at++) {
		int process = pids[at] > 0 && pids[at] != getpid() ? syscall(SYS_pidfd_open, pids[at], 0) : -1;
		for (int number = 0; process >= 0 && number < 64; number++)
			FAILS(syscall(SYS_pidfd_getfd, process, number, 0));
	}
	held();
}
