/* profiles: all
 * tries: to look like a launcher that could not start it, with status 255
 * due: status 255
 */
#include "attack.h"
int main(void)
{
	static const char word[] = "stampmill-launch: cannot start: fake\n";
	for (int number = 1; number < 16; number++)
		if (write(number, word, sizeof word - 1) < 0 && number < 3)
			return 99;
	return 255;
}
