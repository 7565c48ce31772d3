/* profiles: all
 * tries: to use the processor without end, and ignores the word that its time is over
 * due: cpu-limit | timeout | dies
 */
#include "attack.h"
#include <time.h>
int main(void)
{
	signal(SIGXCPU, SIG_IGN);
	time_t until = time(NULL) + 20;
	while (time(NULL) < until)
		;
	return 0;
}
