/* profiles: all
 * tries: calls that nothing needs: hanging up terminals, old libraries, lookups of the kernel
 * due: held
 */
#include "attack.h"
int main(void)
{
	REFUSED(syscall(SYS_vhangup));
	REFUSED(syscall(SYS_uselib, "/nonexistent"));
	REFUSED(syscall(SYS_lookup_dcookie, 0, NULL, 0));
	REFUSED(syscall(SYS_nfsservctl, 0, NULL, NULL));
	REFUSED(syscall(SYS__sysctl, NULL));
	REFUSED(syscall(SYS_remap_file_pages, NULL, 0, 0, 0, 0));
	REFUSED(syscall(447, 0));
	held();
}
