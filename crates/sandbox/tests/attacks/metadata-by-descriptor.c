/* profiles: all
 * tries: to change mode, owner, times and attributes of a file through a read-only descriptor
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
		int file = open(files[at], O_RDONLY);
		if (file < 0)
			continue;
		FAILS(fchmod(file, 0777));
		FAILS(fchown(file, 1, 1));
		FAILS(futimens(file, times));
		FAILS(utimensat(file, "", times, AT_EMPTY_PATH));
		FAILS(fsetxattr(file, "user.stampmill", "x", 1, 0));
		FAILS(fremovexattr(file, "user.kept"));
		FAILS(ftruncate(file, 0));
	}
	held();
}
