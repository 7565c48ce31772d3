/* profiles: all
 * tries: to take in orphans and leave with them alive
 * due: held
 */
#include "survivor.h"
int main(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t child = vfork();
	if (child == 0)
		_exit(0);
	if (fork() == 0) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		for (int at = 0; at < 3; at++)
			if (fork() == 0)
				linger();
		linger();
	}
	held();
}
