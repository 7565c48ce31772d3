/* profiles: all
 * tries: to reach input and output ports
 * due: held
 */
#include "attack.h"
int main(void)
{
	REFUSED(syscall(SYS_iopl, 3));
	REFUSED(syscall(SYS_ioperm, 0x80, 1, 1));
	FAILS(open("/dev/port", O_RDWR));
	held();
}
