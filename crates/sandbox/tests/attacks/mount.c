/* profiles: all
 * tries: to mount, to make read-only writable, to unmount what hides things
 * due: held
 */
#include "attack.h"
#include <sys/mount.h>
int main(void)
{
	REFUSED(mount("none", "/tmp", "tmpfs", 0, NULL));
	REFUSED(mount("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL));
	REFUSED(mount(told("OUTSIDE"), "/tmp", NULL, MS_BIND, NULL));
	REFUSED(mount("none", "/", NULL, MS_REC | MS_SHARED, NULL));
	REFUSED(mount("proc", "/proc", "proc", 0, NULL));
	REFUSED(umount2("/", MNT_DETACH));
	REFUSED(umount2("/proc", MNT_DETACH));
	REFUSED(umount2("/tmp", 0));
	held();
}
