/* profiles: all
 * tries: to write on the channel that it was not given
 * due: held
 */
#include "attack.h"
int main(void)
{
	for (int number = 3; number < 1024; number++)
		FAILS(write(number, "served 0 1\n", 11));
	held();
}
