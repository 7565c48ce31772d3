/* profiles: all
 * tries: to change mode, owner and times of a file through an O_PATH descriptor and /proc/self/fd
 * due: held
 */
#include "attack.h"
#include <sys/stat.h>
#include <sys/xattr.h>
int main(void)
{
	const char *files[] = {beside("OWN", "readable.txt"), told("OWN"), told("SENTINEL")};
	struct timespec times[2] = {{1, 0}, {1, 0}};
	for (int at = 0; at < 3; at++) {
		int file = open(files[at], O_PATH);
		if (file < 0)
			continue;
		char link[64];
		snprintf(link, sizeof link, "/proc/self/fd/%d", file);
		FAILS(chmod(link, 0777));
		FAILS(chown(link, 1, 1));
		FAILS(open(link, O_WRONLY));
		FAILS(syscall(452, file, "", 0777, AT_EMPTY_PATH));
		FAILS(fchownat(file, "", 1, 1, AT_EMPTY_PATH));
		FAILS(utimensat(AT_FDCWD, link, times, 0));
		FAILS(setxattr(link, "user.stampmill", "x", 1, 0));
	}
	held();
}
