/* profiles: all
 * tries: to start more processes than any program needs
 * due: held | memory-limit | process-limit
 */
#include "survivor.h"
#define MOST 6000
int main(void)
{
	long made = 0;
	while (made < MOST) {
		pid_t child = fork();
		if (child < 0)
			break;
		if (child == 0) {
			sleep(10);
			_exit(0);
		}
		made++;
	}
	/* Who watches does so from time to time. */
	sleep(made == MOST ? 4 : 0);
	if (made == MOST)
		escaped("%ld processes", made);
	held();
}
