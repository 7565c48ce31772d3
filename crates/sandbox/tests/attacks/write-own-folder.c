/* profiles: all
 * tries: to change the folder that it may only read, the program itself among it
 * due: held
 */
#include "attack.h"
int main(void)
{
	const char *own = beside("OWN", "readable.txt");
	FAILS(open(own, O_WRONLY));
	FAILS(open(own, O_RDWR));
	FAILS(open(own, O_RDONLY | O_TRUNC));
	FAILS(truncate(own, 0));
	FAILS(open(beside("OWN", "new"), O_WRONLY | O_CREAT, 0666));
	FAILS(open(told("OWN"), O_TMPFILE | O_RDWR, 0600));
	FAILS(open(beside("OWN", "attack"), O_WRONLY));
	held();
}
