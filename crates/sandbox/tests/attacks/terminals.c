/* profiles: all
 * tries: to type into terminals
 * due: held
 */
#include "attack.h"
#include <sys/ioctl.h>
int main(void)
{
	const char *files[] = {"/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ptmx", "/dev/pts/ptmx",
			       "/dev/pts/0", "/dev/pts/1", "/dev/ttyS0", "/dev/vcs1", "/dev/vcsa1"};
	for (unsigned at = 0; at < sizeof files / sizeof *files; at++)
		FAILS(open(files[at], O_RDWR | O_NOCTTY | O_NONBLOCK));
	for (int number = 0; number < 3; number++) {
		FAILS(ioctl(number, TIOCSTI, "x"));
		FAILS(ioctl(number, TIOCSCTTY, 1));
	}
	held();
}
