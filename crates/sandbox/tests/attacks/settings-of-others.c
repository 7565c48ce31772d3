/* profiles: all
 * tries: to change what /proc lets one change of others: who dies first, name, slack, dump filter, maps
 * due: held
 */
#include "attack.h"
int main(void)
{
	const char *files[] = {"oom_score_adj", "comm", "timerslack_ns", "coredump_filter", "clear_refs",
			       "uid_map", "setgroups", "loginuid", "attr/exec", "autogroup"};
	EACH_PROCESS(pid)
		for (int at = 0; pid != getpid() && at < 10; at++) {
			char path[64];
			snprintf(path, sizeof path, "/proc/%ld/%s", pid, files[at]);
			FAILS(open(path, O_WRONLY));
		}
	held();
}
