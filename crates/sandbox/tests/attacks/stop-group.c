/* profiles: all
 * tries: to stop its process group, launcher and all, so that nobody reports its end
 * due: held | timeout | dies
 */
#include "attack.h"
int main(void)
{
	syscall(SYS_kill, 0, SIGSTOP);
	held();
}
