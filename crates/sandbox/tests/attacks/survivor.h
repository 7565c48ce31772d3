/* A process that does what it can to outlive its job: for a while, so that one found can be counted. */
#ifndef SURVIVOR_H
#define SURVIVOR_H
#include "attack.h"
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

static __attribute__((unused)) void linger(void)
{
	for (int signal = 1; signal < 65; signal++)
		sigaction(signal, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	prctl(PR_SET_PDEATHSIG, 0);
	time_t until = time(NULL) + 20;
	while (time(NULL) < until)
		nanosleep(&(struct timespec){1, 0}, NULL);
	_exit(0);
}

/* Leave parent, group, session and terminal behind, as a daemon does. */
static __attribute__((unused)) void go_away(void)
{
	pid_t child = fork();
	if (child != 0) {
		if (child > 0)
			waitpid(child, NULL, 0);
		return;
	}
	setsid();
	if (fork() != 0)
		_exit(0);
	setpgid(0, 0);
	linger();
}
#endif
