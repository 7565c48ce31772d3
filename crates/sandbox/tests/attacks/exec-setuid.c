/* profiles: all
 * tries: to gain rights by a program that gives them
 * due: held
 */
#include "attack.h"
#include <sys/prctl.h>
int main(void)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		escaped("may gain rights");
	FAILS(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
	FAILS(prctl(PR_SET_SECUREBITS, 0));
	held();
}
