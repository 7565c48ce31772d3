/* profiles: all
 * tries: to open a read-only descriptor again for writing through /proc/self/fd and /dev/fd
 * due: held
 */
#include "attack.h"
int main(void)
{
	int file = open(beside("OWN", "readable.txt"), O_RDONLY);
	if (file < 0)
		held();
	char link[64];
	const char *ways[] = {"/proc/self/fd/%d", "/dev/fd/%d", "/proc/thread-self/fd/%d"};
	for (int way = 0; way < 3; way++) {
		snprintf(link, sizeof link, ways[way], file);
		FAILS(open(link, O_WRONLY));
		FAILS(open(link, O_RDWR | O_TRUNC));
		FAILS(truncate(link, 0));
	}
	FAILS(openat(file, "", O_WRONLY));
	held();
}
