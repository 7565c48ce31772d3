/* profiles: all
 * tries: to send every signal to a stranger and to the runner
 * due: held
 */
#include "attack.h"
int main(void)
{
	for (int signal = 0; signal <= 64; signal++) {
		FAILS(syscall(SYS_kill, number("VICTIM"), signal));
		FAILS(syscall(SYS_kill, number("RUNNER"), signal));
	}
	held();
}
