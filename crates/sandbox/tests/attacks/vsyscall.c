/* profiles: all
 * tries: to make system calls through the page at the end of the address space
 * due: held | dies
 */
#include "attack.h"
#include <sys/time.h>
int main(void)
{
	int (*call)(struct timeval *, void *) = (int (*)(struct timeval *, void *))0xffffffffff600000;
	struct timeval now = {0, 0};
	call(&now, NULL);
	held();
}
