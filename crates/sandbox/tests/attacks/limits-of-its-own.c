/* profiles: all
 * tries: to raise its own limits
 * due: held
 */
#include "attack.h"
#include <sys/resource.h>
int main(void)
{
	struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, is;
	int bounded[] = {RLIMIT_CORE, RLIMIT_FSIZE};
	for (int at = 0; at < 2; at++) {
		if (getrlimit(bounded[at], &is) == 0 && is.rlim_max == RLIM_INFINITY)
			escaped("limit %d is not set", bounded[at]);
		FAILS(syscall(SYS_prlimit64, 0, bounded[at], &all, NULL));
		FAILS(syscall(SYS_setrlimit, bounded[at], &all));
	}
	held();
}
