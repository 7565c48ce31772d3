/* profiles: all
 * tries: to find itself root, or with rights of root
 * due: held
 */
#include "attack.h"
#include <sys/prctl.h>
int main(void)
{
	unsigned header[2] = {0x20080522, 0}, sets[6] = {0};
	if (getuid() == 0 || geteuid() == 0 || getgid() == 0)
		escaped("root: user %d, group %d", geteuid(), getgid());
	if (syscall(SYS_capget, header, sets) == 0)
		for (int at = 0; at < 6; at++)
			if (sets[at])
				escaped("capabilities %x in word %d", sets[at], at);
	for (int one = 0; one < 41; one++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, one, 0, 0) == 1)
			escaped("ambient capability %d", one);
	held();
}
