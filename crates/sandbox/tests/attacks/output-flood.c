/* profiles: all
 * tries: to write on standard output without end
 * due: output-limit
 */
#include "attack.h"
static char text[1 << 16];
int main(void)
{
	memset(text, 'x', sizeof text);
	for (long part = 0; part < 1 << 16; part++)
		if (write(1, text, sizeof text) < 0)
			return 1;
	escaped("4 GiB of output");
}
