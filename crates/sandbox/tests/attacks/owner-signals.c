/* profiles: all
 * tries: to have the kernel signal others when a pipe of its own becomes ready
 * due: held
 */
#include "attack.h"
int main(void)
{
	int ends[2];
	if (pipe(ends) < 0)
		held();
	EACH_PROCESS(pid) {
		long owners[] = {pid, -pid};
		for (int at = 0; at < 2; at++) {
			if (fcntl(ends[0], F_SETOWN, owners[at]) < 0)
				continue;
			fcntl(ends[0], F_SETSIG, SIGUSR2);
			fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
			if (write(ends[1], "x", 1) != 1)
				held();
		}
	}
	held();
}
