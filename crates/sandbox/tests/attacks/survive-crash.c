/* profiles: all
 * tries: to leave a daemon behind when a signal ends it
 * due: dies
 */
#include "survivor.h"
int main(void)
{
	go_away();
	abort();
}
