/* profiles: all
 * tries: to outlast its time by ignoring all that may be ignored
 * due: timeout
 */
#include "survivor.h"
int main(void)
{
	linger();
}
