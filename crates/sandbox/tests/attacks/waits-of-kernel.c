/* profiles: all
 * tries: to hang where no signal reaches: a fork that waits for its child, a full pipe
 * due: timeout
 */
#include "survivor.h"
int main(void)
{
	int ends[2];
	static char text[1 << 20];
	if (pipe(ends) == 0 && vfork() == 0)
		for (;;)
			if (write(ends[1], text, sizeof text) < 0)
				_exit(0);
	for (int at = 0; at < 64; at++)
		if (write(ends[1], text, sizeof text) < 0)
			linger();
	linger();
}
