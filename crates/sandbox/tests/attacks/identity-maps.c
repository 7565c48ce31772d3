/* profiles: all
 * tries: to write its user and group maps anew
 * due: held
 */
#include "attack.h"
int main(void)
{
	const char *files[] = {"uid_map", "gid_map", "setgroups", "projid_map"};
	for (int at = 0; at < 4; at++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/self/%s", files[at]);
		int file = open(path, O_WRONLY);
		if (file >= 0)
			FAILS(write(file, "0 0 1\n", 6));
	}
	held();
}
