/* profiles: all
 * tries: to kill every process that it may signal
 * due: held | dies
 */
#include "attack.h"
int main(void)
{
	syscall(SYS_kill, -1, SIGTERM);
	syscall(SYS_kill, -1, SIGSTOP);
	syscall(SYS_kill, -1, SIGKILL);
	held();
}
