/* profiles: all
 * tries: to set and remove extended attributes by path, by the old and the new calls
 * due: held
 */
#include "attack.h"
#include <sys/xattr.h>
int main(void)
{
	const char *files[] = {told("SENTINEL"), beside("OWN", "readable.txt"), told("OWN")};
	struct { unsigned long value; unsigned size, flags; } new = {(unsigned long)"x", 1, 0};
	for (int at = 0; at < 3; at++) {
		FAILS(setxattr(files[at], "user.stampmill", "x", 1, 0));
		FAILS(lsetxattr(files[at], "user.stampmill", "x", 1, 0));
		FAILS(lsetxattr(files[at], "security.stampmill", "x", 1, 0));
		FAILS(removexattr(files[at], "user.kept"));
		FAILS(lremovexattr(files[at], "user.kept"));
		FAILS(syscall(463, AT_FDCWD, files[at], 0, "user.stampmill", &new, sizeof new));
		FAILS(syscall(466, AT_FDCWD, files[at], 0, "user.kept"));
	}
	held();
}
