/* profiles: all
 * tries: to see processes that are not its own
 * due: held
 */
#include "attack.h"
#include <dirent.h>
int main(void)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	long seen = 0;
	while (folder && (entry = readdir(folder)))
		seen += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	if (seen > 4)
		escaped("%ld processes", seen);
	for (long pid = 200; pid < 4000; pid++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
		if (pid != getpid() && pid != getppid() && access(path, F_OK) == 0)
			escaped("%s", path);
		if (pid != getpid() && pid != getppid() && getpgid(pid) >= 0)
			escaped("process %ld", pid);
	}
	held();
}
