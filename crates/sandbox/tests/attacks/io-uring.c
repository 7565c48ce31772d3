/* profiles: all
 * tries: to have the kernel open, connect and write for it by io_uring
 * due: held
 */
#include "attack.h"
int main(void)
{
	char parameters[256] = {0};
	REFUSED(syscall(425, 4, parameters));
	REFUSED(syscall(426, -1, 1, 0, 0, NULL, 0));
	REFUSED(syscall(427, -1, 0, NULL, 0));
	held();
}
