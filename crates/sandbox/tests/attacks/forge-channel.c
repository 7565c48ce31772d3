/* profiles: channel
 * tries: to fill the channel that it was given, without end
 * due: held | output-limit | dies
 */
#include "attack.h"
static char text[1 << 16];
int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	for (long part = 0; part < 1 << 14; part++)
		if (write(3, text, sizeof text) < 0)
			held();
	escaped("1 GiB on the channel");
}
