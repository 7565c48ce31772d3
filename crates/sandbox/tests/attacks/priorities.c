/* profiles: all
 * tries: to change scheduling of others: nice of a process, of a group, of all of the user; class, processors
 * due: held
 */
#include "attack.h"
#include <sched.h>
#include <sys/resource.h>
int main(void)
{
	cpu_set_t first;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	struct sched_param least = {0};
	unsigned attributes[14] = {48, SCHED_IDLE};
	long pids[] = {number("VICTIM"), number("RUNNER")};
	for (int at = 0; at < 2; at++) {
		FAILS(syscall(SYS_sched_setaffinity, pids[at], sizeof first, &first));
		FAILS(syscall(SYS_sched_setscheduler, pids[at], SCHED_IDLE, &least));
		FAILS(syscall(SYS_sched_setattr, pids[at], attributes, 0));
		FAILS(syscall(SYS_setpriority, PRIO_PROCESS, pids[at], 19));
		FAILS(syscall(SYS_setpriority, PRIO_PGRP, pids[at], 19));
		FAILS(syscall(SYS_ioprio_set, 1, pids[at], 3 << 13));
	}
	/* These may reach itself alone: the victim tells. */
	syscall(SYS_setpriority, PRIO_USER, getuid(), 19);
	syscall(SYS_setpriority, PRIO_USER, 0, 19);
	syscall(SYS_setpriority, PRIO_PGRP, 0, 19);
	syscall(SYS_ioprio_set, 3, getuid(), 3 << 13);
	long parent = syscall(SYS_getppid);
	if (parent > 1) {
		FAILS(syscall(SYS_sched_setaffinity, parent, sizeof first, &first));
		FAILS(syscall(SYS_setpriority, PRIO_PROCESS, parent, 19));
	}
	held();
}
