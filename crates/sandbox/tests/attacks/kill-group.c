/* profiles: all
 * tries: to kill its process group, in which the launcher may be
 * due: held | dies
 */
#include "attack.h"
int main(void)
{
	syscall(SYS_kill, 0, SIGKILL);
	syscall(SYS_kill, -(long)getpgrp(), SIGKILL);
	held();
}
