/* profiles: all
 * tries: to stop for ever by a signal to itself
 * due: timeout
 */
#include "attack.h"
int main(void)
{
	syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
	raise(SIGSTOP);
	for (int at = 0; at < 20; at++)
		sleep(1);
	return 0;
}
