/* profiles: all
 * tries: to hold locks and leases on a file that others need
 * due: held
 */
#include "attack.h"
#include <sys/file.h>
int main(void)
{
	const char *files[] = {told("SENTINEL"), beside("OWN", "readable.txt")};
	for (int at = 0; at < 2; at++) {
		int file = open(files[at], O_RDONLY);
		struct flock whole = {.l_type = F_WRLCK};
		if (file >= 0) {
			FAILS(fcntl(file, F_SETLK, &whole));
			FAILS(fcntl(file, F_SETLEASE, F_WRLCK));
		}
	}
	held();
}
