/* profiles: all
 * tries: to end its first thread only
 * due: timeout
 */
#include "survivor.h"
#include <pthread.h>
static void *stay(void *nothing)
{
	linger();
	return nothing;
}
int main(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, stay, NULL) != 0)
		linger();
	pthread_exit(NULL);
}
