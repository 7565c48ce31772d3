/* profiles: all
 * tries: to take memory that is in no process: files of memory (bounded: 2 GiB)
 * due: held | memory-limit | output-limit | dies
 */
#include "attack.h"
#include <sys/mman.h>
static char text[1 << 20];
int main(void)
{
	long written = 0;
	signal(SIGXFSZ, SIG_IGN);
	for (int file = 0; file < 256; file++) {
		int to = memfd_create("x", 0);
		for (int part = 0; to >= 0 && part < 8; part++) {
			ssize_t length = write(to, text, sizeof text);
			if (length <= 0)
				break;
			written += length;
		}
	}
	/* Who watches does so from time to time. */
	sleep(written >= 1l << 30 ? 4 : 0);
	if (written >= 1l << 30)
		escaped("%ld bytes of memory in files", written);
	held();
}
