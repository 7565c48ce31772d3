/* profiles: all
 * tries: to read and list files of the user beside its own folder
 * due: held
 */
#include "attack.h"
#include <dirent.h>
int main(void)
{
	char text[64], link[600];
	const char *secret = beside("OUTSIDE", "secret.txt");
	const char *ways[] = {"%s", "/proc/self/root%s", "/proc/1/root%s", "/proc/self/cwd/../../../../../..%s"};
	for (int way = 0; way < 4; way++) {
		snprintf(link, sizeof link, ways[way], secret);
		int file = open(link, O_RDONLY);
		if (file >= 0 && read(file, text, sizeof text) > 0)
			escaped("read %s", link);
	}
	const char *folders[] = {told("OUTSIDE"), "/root", "/home", "/var/tmp", "/mnt", "/srv", "/media", "/run"};
	for (int at = 0; at < 8; at++) {
		DIR *folder = opendir(folders[at]);
		struct dirent *entry;
		while (folder && (entry = readdir(folder)))
			if (entry->d_name[0] != '.')
				escaped("%s holds %s", folders[at], entry->d_name);
	}
	FAILS(readlink(beside("OUTSIDE", "link"), text, sizeof text));
	held();
}
