/* profiles: all
 * tries: to watch the machine by performance counters
 * due: held
 */
#include "attack.h"
int main(void)
{
	unsigned attributes[32] = {1, 128};
	REFUSED(syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0));
	REFUSED(syscall(SYS_perf_event_open, attributes, -1, 0, -1, 0));
	held();
}
