/* profiles: all
 * tries: to end the first process of its namespace by any signal, so that all looks like a fault of ours
 * due: held | dies
 */
#include "attack.h"
int main(void)
{
	for (int signal = 64; signal > 0; signal--)
		if (syscall(SYS_getpid) != 1)
			syscall(SYS_kill, 1, signal);
	held();
}
