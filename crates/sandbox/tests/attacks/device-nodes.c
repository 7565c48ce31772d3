/* profiles: all
 * tries: to make nodes of devices
 * due: held
 */
#include "attack.h"
#include <sys/stat.h>
#include <sys/sysmacros.h>
int main(void)
{
	const char *folders[] = {"/tmp", told("WRITABLE"), told("OWN"), "/dev"};
	for (int at = 0; at < 4; at++) {
		char path[600];
		snprintf(path, sizeof path, "%s/node", folders[at]);
		FAILS(mknod(path, S_IFCHR | 0666, makedev(1, 1)));
		FAILS(mknod(path, S_IFBLK | 0666, makedev(254, 0)));
		FAILS(mknodat(AT_FDCWD, path, S_IFBLK | 0666, makedev(259, 0)));
	}
	held();
}
