/* profiles: all
 * tries: to signal a stranger and to take its descriptors through a descriptor of it
 * due: held
 */
#include "attack.h"
int main(void)
{
	char path[64];
	EACH_PROCESS(pid) {
		if (pid == 1 || pid == syscall(SYS_getppid))
			continue;
		int of_call = syscall(SYS_pidfd_open, pid, 0);
		snprintf(path, sizeof path, "/proc/%ld", pid);
		int of_folder = open(path, O_RDONLY | O_DIRECTORY);
		int all[] = {of_call, of_folder};
		for (int at = 0; at < 2; at++) {
			if (all[at] < 0)
				continue;
			FAILS(syscall(SYS_pidfd_send_signal, all[at], SIGUSR1, NULL, 0));
			for (int number = 0; number < 8; number++)
				FAILS(syscall(SYS_pidfd_getfd, all[at], number, 0));
		}
	}
	held();
}
