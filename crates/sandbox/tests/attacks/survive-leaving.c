/* profiles: all
 * tries: to leave a daemon behind when it ends well
 * due: held
 */
#include "survivor.h"
int main(void)
{
	for (int at = 0; at < 4; at++)
		go_away();
	held();
}
