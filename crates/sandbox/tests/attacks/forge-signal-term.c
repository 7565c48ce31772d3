/* profiles: all
 * tries: to end itself by SIGTERM, as one whom the runner or the machine ends is ended
 * due: dies | cpu-limit | output-limit
 */
#include "attack.h"
int main(void)
{
	syscall(SYS_kill, syscall(SYS_getpid), SIGTERM);
	sleep(20);
	return 0;
}
