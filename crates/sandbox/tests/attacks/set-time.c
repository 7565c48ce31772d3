/* profiles: all
 * tries: to set the clocks (to times that no kernel accepts)
 * due: held
 */
#include "attack.h"
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
int main(void)
{
	struct timespec never = {1, -1};
	struct timeval none = {1, -1};
	struct timex change = {.modes = ADJ_SETOFFSET, .time = {0, -1}};
	REFUSED(syscall(SYS_clock_settime, CLOCK_REALTIME, &never));
	REFUSED(syscall(SYS_settimeofday, &none, NULL));
	REFUSED(syscall(SYS_adjtimex, &change));
	REFUSED(syscall(SYS_clock_adjtime, CLOCK_REALTIME, &change));
	held();
}
