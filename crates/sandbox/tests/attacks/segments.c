/* profiles: all
 * tries: to make segments of its own
 * due: held
 */
#include "attack.h"
int main(void)
{
	unsigned entry[4] = {0, 0, 0xfffff, 0x51};
	REFUSED(syscall(SYS_modify_ldt, 1, entry, sizeof entry));
	REFUSED(syscall(SYS_modify_ldt, 0x11, entry, sizeof entry));
	held();
}
