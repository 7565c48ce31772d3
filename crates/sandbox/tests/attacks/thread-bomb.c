/* profiles: all
 * tries: to start more threads than any program needs
 * due: held | memory-limit | process-limit
 */
#include "survivor.h"
#include <pthread.h>
#define MOST 6000
static void *stay(void *nothing)
{
	sleep(10);
	return nothing;
}
int main(void)
{
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	long made = 0;
	pthread_t thread;
	while (made < MOST && pthread_create(&thread, &small, stay, NULL) == 0)
		made++;
	/* Who watches does so from time to time. */
	sleep(made == MOST ? 4 : 0);
	if (made == MOST)
		escaped("%ld threads", made);
	held();
}
