/* The stranger of the escape suite: a process of the same user that must not notice anything.
 *
 * It holds every kind of object that an attack may reach for, says where they are in one line, and
 * tells their state in one line for each line that it reads. Signals stay pending, where the runner sees
 * them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

static char memory[16] = "unchanged";

int main(int count, char **arguments)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (count != 2)
		return 1;
	key_t key = 0x0be0c000 + getpid();
	int segment = shmget(key, 4096, IPC_CREAT | 0666);
	int queue = msgget(key, IPC_CREAT | 0666);
	int semaphore = semget(key, 1, IPC_CREAT | 0666);
	int named = shm_open(arguments[1], O_RDWR | O_CREAT, 0666);
	if (segment < 0 || queue < 0 || semaphore < 0 || named < 0 || ftruncate(named, 4096) < 0)
		return 2;
	char *shared = shmat(segment, NULL, 0);
	char *posix = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, named, 0);
	if (shared == (void *)-1 || posix == MAP_FAILED)
		return 3;
	strcpy(shared, "unchanged");
	strcpy(posix, "unchanged");
	struct { long type; char text[8]; } message = {1, "kept"};
	if (msgsnd(queue, &message, 8, 0) < 0 || semctl(semaphore, 0, SETVAL, 3) < 0)
		return 4;
	printf("VICTIM_ADDRESS=%p SHM_KEY=%d SHM_ID=%d MESSAGE_KEY=%d MESSAGE_ID=%d SEMAPHORE_KEY=%d SEMAPHORE_ID=%d\n",
	       (void *)memory, key, segment, key, queue, key, semaphore);
	fflush(stdout);
	char line[16];
	while (fgets(line, sizeof line, stdin)) {
		struct msqid_ds about = {0};
		struct shmid_ds used = {0};
		msgctl(queue, IPC_STAT, &about);
		shmctl(segment, IPC_STAT, &used);
		printf("memory %s, shared %s (%lu), named %s, messages %lu, semaphore %d, scheduling %d, io %ld, persona %d\n",
		       memory, shared, (unsigned long)used.shm_nattch, posix, (unsigned long)about.msg_qnum,
		       semctl(semaphore, 0, GETVAL), sched_getscheduler(0), syscall(SYS_ioprio_get, 1, 0),
		       personality(0xffffffff));
		fflush(stdout);
	}
	shmctl(segment, IPC_RMID, NULL);
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphore, 0, IPC_RMID);
	shm_unlink(arguments[1]);
	return 0;
}
