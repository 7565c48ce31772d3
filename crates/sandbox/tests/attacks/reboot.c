/* profiles: all
 * tries: to restart the machine (with a number that no kernel accepts) and to load another kernel
 * due: held
 */
#include "attack.h"
int main(void)
{
	REFUSED(syscall(SYS_reboot, 1, 2, 3, NULL));
	REFUSED(syscall(SYS_kexec_load, 0, 1ul << 40, NULL, 0));
	REFUSED(syscall(SYS_kexec_file_load, -1, -1, 0, NULL, 0));
	held();
}
