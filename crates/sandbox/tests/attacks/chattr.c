/* profiles: all
 * tries: to change file attributes and the project by ioctl on a read-only descriptor, and by file_setattr
 * due: held
 */
#include "attack.h"
#include <linux/fs.h>
#include <sys/ioctl.h>
int main(void)
{
	int file = open(beside("OWN", "readable.txt"), O_RDONLY);
	long flags = FS_NODUMP_FL;
	struct fsxattr more = {.fsx_xflags = FS_XFLAG_NODUMP};
	unsigned long new[4] = {FS_XFLAG_NODUMP};
	if (file >= 0) {
		FAILS(ioctl(file, FS_IOC_SETFLAGS, &flags));
		FAILS(ioctl(file, FS_IOC_FSSETXATTR, &more));
		FAILS(syscall(469, file, "", new, 24, AT_EMPTY_PATH));
	}
	FAILS(syscall(469, AT_FDCWD, told("SENTINEL"), new, 24, 0));
	held();
}
