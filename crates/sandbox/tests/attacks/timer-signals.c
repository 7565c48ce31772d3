/* profiles: all
 * tries: to have a timer signal a thread of another process
 * due: held
 */
#include "attack.h"
#include <time.h>
int main(void)
{
	EACH_PROCESS(pid) {
		struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
		event._sigev_un._tid = pid;
		int timer = 0;
		if (pid != getpid())
			FAILS(syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer));
	}
	held();
}
