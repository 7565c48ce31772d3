/* profiles: all
 * tries: to give a file that it may only read a second name where it may write
 * due: held
 */
#include "attack.h"
int main(void)
{
	int file = open(beside("OWN", "readable.txt"), O_RDONLY);
	if (file < 0)
		held();
	char link[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", file);
	const char *names[] = {"/tmp/second", beside("WRITABLE", "second")};
	for (int at = 0; at < 2; at++) {
		FAILS(linkat(file, "", AT_FDCWD, names[at], AT_EMPTY_PATH));
		FAILS(linkat(AT_FDCWD, link, AT_FDCWD, names[at], AT_SYMLINK_FOLLOW));
	}
	held();
}
