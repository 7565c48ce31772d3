/* profiles: all
 * tries: to leave an image of its memory in a folder
 * due: dies
 */
#include "attack.h"
#include <sys/resource.h>
int main(void)
{
	struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	setrlimit(RLIMIT_CORE, &all);
	if (chdir(told("WRITABLE")) < 0 && chdir(told("OUTSIDE")) < 0)
		chdir("/");
	abort();
}
