/* profiles: all
 * tries: the same by the newer calls
 * due: held
 */
#include "attack.h"
int main(void)
{
	unsigned long attributes[4] = {0};
	REFUSED(syscall(428, AT_FDCWD, "/", 1));
	REFUSED(syscall(429, -1, "", AT_FDCWD, "/tmp", 4));
	REFUSED(syscall(430, "tmpfs", 0));
	REFUSED(syscall(431, -1, 6, NULL, NULL, 0));
	REFUSED(syscall(432, -1, 0, 0));
	REFUSED(syscall(433, AT_FDCWD, "/", 0));
	REFUSED(syscall(442, AT_FDCWD, "/", 0, attributes, sizeof attributes));
	REFUSED(syscall(457, NULL, NULL, 0, 0));
	REFUSED(syscall(458, NULL, NULL, 0, 0));
	REFUSED(syscall(467, AT_FDCWD, "/", 1, attributes, sizeof attributes));
	held();
}
