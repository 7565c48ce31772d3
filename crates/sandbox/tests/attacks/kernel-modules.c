/* profiles: all
 * tries: to load and remove modules
 * due: held
 */
#include "attack.h"
int main(void)
{
	REFUSED(syscall(SYS_init_module, NULL, 0, ""));
	REFUSED(syscall(SYS_finit_module, -1, "", 0));
	REFUSED(syscall(SYS_delete_module, "stampmill_none", O_NONBLOCK));
	held();
}
