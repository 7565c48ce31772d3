/* profiles: all
 * tries: to rename the machine
 * due: held
 */
#include "attack.h"
int main(void)
{
	REFUSED(syscall(SYS_sethostname, "escaped", 7));
	REFUSED(syscall(SYS_setdomainname, "escaped", 7));
	FAILS(open("/proc/sys/kernel/hostname", O_WRONLY));
	held();
}
