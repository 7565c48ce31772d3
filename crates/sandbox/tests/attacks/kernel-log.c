/* profiles: all
 * tries: to read and clear what the kernel says
 * due: held
 */
#include "attack.h"
int main(void)
{
	char text[256];
	for (int what = 0; what < 11; what++)
		REFUSED(syscall(SYS_syslog, what == 5 ? 3 : what, text, sizeof text));
	FAILS(open("/dev/kmsg", O_RDONLY | O_NONBLOCK));
	FAILS(open("/proc/kmsg", O_RDONLY | O_NONBLOCK));
	held();
}
