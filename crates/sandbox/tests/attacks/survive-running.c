/* profiles: all
 * tries: to leave a daemon behind that never sleeps and forks anew when looked at
 * due: held | dies
 */
#include "survivor.h"
int main(void)
{
	if (fork() == 0) {
		setsid();
		/* Changes its number all the time, so that a kill by number misses it. */
		for (int at = 0; at < 3000; at++) {
			if (fork() != 0)
				_exit(0);
			usleep(1000);
		}
		linger();
	}
	held();
}
