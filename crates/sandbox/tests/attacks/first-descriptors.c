/* profiles: all
 * tries: to open what the first process and its parent hold, through /proc
 * due: held
 */
#include "attack.h"
int main(void)
{
	char path[64];
	long pids[] = {1, syscall(SYS_getppid)};
	for (int at = 0; at < 2; at++)
		for (int number = 3; pids[at] > 0 && pids[at] != getpid() && number < 64; number++) {
			snprintf(path, sizeof path, "/proc/%ld/fd/%d", pids[at], number);
			FAILS(open(path, O_RDONLY | O_NONBLOCK));
			FAILS(open(path, O_WRONLY | O_NONBLOCK));
		}
	held();
}
