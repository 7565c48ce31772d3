/* profiles: all
 * tries: to type into the terminal that is its standard input
 * due: held
 */
#include "attack.h"
#include <sys/ioctl.h>
int main(void)
{
	char letter[] = "x\n";
	for (int number = 0; number < 3; number++) {
		REFUSED(ioctl(number, TIOCSTI, letter));
		/* The same number to a kernel that reads 32 bits, and to a filter that reads 64. */
		REFUSED(syscall(SYS_ioctl, number, TIOCSTI | 1ul << 32, letter));
		REFUSED(ioctl(number, TIOCLINUX, "\3"));
	}
	held();
}
