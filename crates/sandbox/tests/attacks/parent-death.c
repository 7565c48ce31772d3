/* profiles: all
 * tries: to live on when its parent does not, and to take in orphans
 * due: held
 */
#include "attack.h"
#include <sys/prctl.h>
int main(void)
{
	prctl(PR_SET_PDEATHSIG, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_DUMPABLE, 1);
	FAILS(prctl(PR_SET_MM, PR_SET_MM_EXE_FILE, 0, 0, 0));
	FAILS(prctl(PR_SET_SECCOMP, 0, 0, 0, 0));
	held();
}
