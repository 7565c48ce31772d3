/* profiles: all
 * tries: to change quotas
 * due: held
 */
#include "attack.h"
int main(void)
{
	char about[256] = {0};
	REFUSED(syscall(SYS_quotactl, 0x80000100, "/dev/null", 0, about));
	REFUSED(syscall(443, -1, 0x80000100, 0, about));
	held();
}
