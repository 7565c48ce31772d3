/* profiles: all
 * tries: to leave a daemon behind when its time is over
 * due: timeout
 */
#include "survivor.h"
int main(void)
{
	for (int at = 0; at < 4; at++)
		go_away();
	linger();
}
