/* profiles: all
 * tries: to lower the limits of others, so that they die
 * due: held
 */
#include "attack.h"
#include <sys/resource.h>
int main(void)
{
	struct rlimit little = {1, 1};
	EACH_PROCESS(pid) {
		if (pid == getpid())
			continue;
		for (int what = 0; what < 16; what++)
			FAILS(syscall(SYS_prlimit64, pid, what, &little, NULL));
	}
	held();
}
