/* profiles: all
 * tries: to leave a child that holds its streams, so that the runner waits
 * due: held
 */
#include "survivor.h"
int main(void)
{
	if (fork() == 0) {
		setsid();
		linger();
	}
	held();
}
