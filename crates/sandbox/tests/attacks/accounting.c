/* profiles: all
 * tries: to switch accounting of processes
 * due: held
 */
#include "attack.h"
int main(void)
{
	REFUSED(syscall(SYS_acct, "/nonexistent"));
	REFUSED(syscall(SYS_acct, NULL));
	held();
}
