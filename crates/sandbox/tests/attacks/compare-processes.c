/* profiles: all
 * tries: to compare its kernel objects with those of others, and to read their lists of locks
 * due: held
 */
#include "attack.h"
int main(void)
{
	void *head = NULL;
	size_t length = 0;
	REFUSED(syscall(SYS_kcmp, getpid(), number("VICTIM"), 1, 0, 0));
	REFUSED(syscall(SYS_kcmp, getpid(), getpid(), 1, 0, 0));
	FAILS(syscall(SYS_get_robust_list, number("VICTIM"), &head, &length));
	held();
}
