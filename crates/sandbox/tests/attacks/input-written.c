/* profiles: all
 * tries: to write on its input and to read from its outputs
 * due: held
 */
#include "attack.h"
int main(void)
{
	char text[8];
	FAILS(write(0, "x", 1));
	FAILS(read(1, text, 1));
	FAILS(read(2, text, 1));
	held();
}
