/* profiles: all
 * tries: to have the kernel signal others when a pipe or socket of its own becomes ready, by ioctl
 * due: held
 */
#include "attack.h"
#include <sys/ioctl.h>
#include <sys/socket.h>
int main(void)
{
	int ends[2], on = 1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 && pipe(ends) < 0)
		held();
	signal(SIGIO, SIG_IGN);
	EACH_PROCESS(pid) {
		int owners[] = {pid, -pid};
		for (int at = 0; at < 2; at++) {
			ioctl(ends[0], 0x8901, &owners[at]);
			ioctl(ends[0], 0x8902, &owners[at]);
			ioctl(ends[0], FIOASYNC, &on);
			if (write(ends[1], "x", 1) != 1)
				held();
		}
	}
	held();
}
