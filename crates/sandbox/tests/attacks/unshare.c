/* profiles: all
 * tries: to enter namespaces of its own, in which it would be root
 * due: held
 */
#include "attack.h"
#include <sched.h>
int main(void)
{
	int kinds[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS,
		       CLONE_NEWCGROUP, 0x80, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET};
	for (unsigned at = 0; at < sizeof kinds / sizeof *kinds; at++)
		REFUSED(unshare(kinds[at]));
	held();
}
