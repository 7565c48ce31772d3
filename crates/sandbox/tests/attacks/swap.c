/* profiles: all
 * tries: to add and remove swap
 * due: held
 */
#include "attack.h"
int main(void)
{
	REFUSED(syscall(SYS_swapon, "/nonexistent", 0));
	REFUSED(syscall(SYS_swapoff, "/nonexistent"));
	held();
}
