/* profiles: all
 * tries: to leave something behind for the next run of the program in the same sandbox, and to find it there
 * due: held
 */
#include "attack.h"
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

static const char *const places[] = {"/left", "/tmp/left", "/dev/left", "/dev/shm/left", "/etc/left", "/usr/left",
	"/proc/left", "left", NULL};

static socklen_t name(struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	strcpy(address->sun_path + 1, "left");
	return sizeof(sa_family_t) + 5;
}

static void find(void)
{
	/* The same numbers each time: they do not say how many runs were before this one. */
	if (getpid() != 2 || getppid() != 1)
		escaped("process %d of %d", getpid(), getppid());
	for (long pid = 3; pid < 5000; pid++)
		if (syscall(SYS_kill, pid, 0) == 0 || errno != ESRCH)
			escaped("process %ld is there", pid);
	for (int at = 0; places[at]; at++)
		if (access(places[at], F_OK) == 0)
			escaped("%s is there", places[at]);
	for (int descriptor = 3; descriptor < 1024; descriptor++)
		if (fcntl(descriptor, F_GETFD) >= 0)
			escaped("descriptor %d is open", descriptor);
	struct sockaddr_un address;
	socklen_t length = name(&address);
	int other = socket(AF_UNIX, SOCK_STREAM, 0);
	if (other >= 0 && connect(other, (struct sockaddr *)&address, length) == 0)
		escaped("somebody listens");
	if (syscall(SYS_msgget, 4711, 0) >= 0 || syscall(SYS_semget, 4711, 1, 0) >= 0 ||
	    syscall(SYS_shmget, 4711, 4096, 0) >= 0)
		escaped("a System V object is there");
	struct flock lock = {.l_type = F_WRLCK};
	int own = open("/proc/self/exe", O_RDONLY);
	if (own >= 0 && fcntl(own, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
		escaped("the program is locked");
	if (getpriority(PRIO_PROCESS, 1) != getpriority(PRIO_PROCESS, 0))
		escaped("the first process has another priority");
}

static void leave(void)
{
	for (int at = 0; places[at]; at++) {
		int made = open(places[at], O_CREAT | O_WRONLY, 0666);
		if (made >= 0)
			close(made);
		mkdir(places[at], 0777);
		symlink("/", places[at]);
	}
	struct sockaddr_un address;
	socklen_t length = name(&address);
	int other = socket(AF_UNIX, SOCK_STREAM, 0);
	if (other >= 0 && bind(other, (struct sockaddr *)&address, length) == 0)
		listen(other, 1);
	syscall(SYS_msgget, 4711, 01666);
	syscall(SYS_semget, 4711, 1, 01666);
	syscall(SYS_shmget, 4711, 4096, 01666);
	struct flock lock = {.l_type = F_RDLCK};
	int own = open("/proc/self/exe", O_RDONLY);
	if (own >= 0)
		fcntl(own, F_SETLK, &lock);
	setpriority(PRIO_PROCESS, 1, 19);
	struct rlimit few = {5, 5};
	syscall(SYS_prlimit64, 1, RLIMIT_NOFILE, &few, NULL);
	for (int signal = 1; signal < 65; signal++)
		syscall(SYS_kill, 1, signal);
}

int main(void)
{
	find();
	leave();
	static const char word[] = "held\n";
	if (write(1, word, sizeof word - 1) < 0)
		return 3;
	/* Who stays has the streams, and is one process more. */
	if (fork() == 0) {
		if (fork() != 0)
			_exit(0);
		setsid();
		for (int signal = 1; signal < 65; signal++)
			sigaction(signal, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
		prctl(PR_SET_PDEATHSIG, 0);
		for (int seconds = 0; seconds < 20; seconds++)
			sleep(1);
	}
	_exit(0);
}
