/* profiles: all
 * tries: to fill the disk wherever it may write (bounded: 512 MiB)
 * due: held | output-limit | dies
 */
#include "attack.h"
static char text[1 << 20];
int main(void)
{
	const char *folders[] = {"/tmp", "/dev/shm", "/var/tmp", "/run", told("WRITABLE"), told("OWN"), "/"};
	signal(SIGXFSZ, SIG_IGN);
	for (int at = 0; at < 7; at++) {
		long written = 0;
		for (int file = 0; file < 64; file++) {
			char path[600];
			snprintf(path, sizeof path, "%s/fill%d", folders[at], file);
			int to = open(path, O_WRONLY | O_CREAT, 0666);
			for (int part = 0; to >= 0 && part < 8; part++) {
				ssize_t length = write(to, text, sizeof text);
				if (length <= 0)
					break;
				written += length;
			}
			close(to);
		}
		/* Of the folder that is its own the runner watches the size: it must end meanwhile. */
		if (written >= 256l << 20 && strcmp(folders[at], told("WRITABLE")) != 0)
			escaped("%ld bytes in %s", written, folders[at]);
	}
	sleep(4);
	held();
}
