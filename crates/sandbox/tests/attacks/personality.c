/* profiles: all
 * tries: to change how the kernel treats it, for what it starts afterwards too
 * due: held
 */
#include "attack.h"
int main(void)
{
	REFUSED(syscall(SYS_personality, 0x0400000 | 0x0040000 | 0x8));
	REFUSED(syscall(SYS_personality, 0x0100000));
	held();
}
