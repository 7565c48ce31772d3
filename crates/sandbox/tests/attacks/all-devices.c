/* profiles: all
 * tries: to open every device but the harmless ones, for reading or writing
 * due: held
 */
#include "attack.h"
#include <dirent.h>
#include <sys/stat.h>
int main(void)
{
	DIR *folder = opendir("/dev");
	struct dirent *entry;
	while (folder && (entry = readdir(folder))) {
		const char *harmless[] = {"null", "zero", "full", "random", "urandom"};
		int plain = 0;
		for (int at = 0; at < 5; at++)
			plain |= strcmp(entry->d_name, harmless[at]) == 0;
		struct stat about;
		char path[300];
		snprintf(path, sizeof path, "/dev/%s", entry->d_name);
		if (plain || stat(path, &about) < 0 || !(S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode)))
			continue;
		FAILS(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
		FAILS(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY));
	}
	held();
}
