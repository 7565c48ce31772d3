/* profiles: all
 * tries: to make control groups and to leave its own
 * due: held
 */
#include "attack.h"
#include <sys/stat.h>
int main(void)
{
	const char *folders[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids"};
	for (int at = 0; at < 4; at++) {
		char path[128];
		snprintf(path, sizeof path, "%s/stampmill-escape", folders[at]);
		FAILS(mkdir(path, 0777));
		snprintf(path, sizeof path, "%s/cgroup.procs", folders[at]);
		FAILS(open(path, O_WRONLY));
	}
	held();
}
