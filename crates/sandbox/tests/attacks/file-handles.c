/* profiles: all
 * tries: to open files by handle, the root among them, past all paths
 * due: held
 */
#include "attack.h"
int main(void)
{
	struct { unsigned bytes; int type; unsigned char data[128]; } handle = {128, 0, {0}};
	int mount = 0;
	REFUSED(syscall(SYS_name_to_handle_at, AT_FDCWD, "/", &handle, &mount, 0));
	/* The root of ext4 and of most others is inode 2. */
	memset(&handle, 0, sizeof handle);
	handle.bytes = 8;
	handle.type = 1;
	handle.data[0] = 2;
	int here = open("/", O_RDONLY);
	REFUSED(syscall(SYS_open_by_handle_at, here < 0 ? AT_FDCWD : here, &handle, O_RDONLY));
	held();
}
