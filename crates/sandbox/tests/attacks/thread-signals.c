/* profiles: all
 * tries: to signal threads of others, with forged senders too
 * due: held
 */
#include "attack.h"
int main(void)
{
	siginfo_t forged = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
	EACH_PROCESS(pid) {
		if (pid == 1 || pid == syscall(SYS_getppid))
			continue;
		FAILS(syscall(SYS_tgkill, pid, pid, SIGUSR1));
		FAILS(syscall(SYS_tkill, pid, SIGUSR1));
		FAILS(syscall(SYS_rt_sigqueueinfo, pid, SIGUSR1, &forged));
		FAILS(syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGUSR1, &forged));
	}
	held();
}
