/* profiles: all
 * tries: to find the runner's environment, with keys in it, in any process, and in its own
 * due: held
 */
#include "attack.h"
extern char **environ;
static char text[1 << 16];
int main(void)
{
	for (char **one = environ; *one; one++)
		if (strstr(*one, "STAMPMILL_ESCAPE_SECRET"))
			escaped("it was given to it");
	for (long pid = 1; pid < 4000; pid++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%ld/environ", pid);
		int file = open(path, O_RDONLY);
		if (file < 0)
			continue;
		ssize_t length = read(file, text, sizeof text);
		close(file);
		if (length > 0 && memmem(text, length, "STAMPMILL_ESCAPE_SECRET", 24))
			escaped("%s", path);
	}
	held();
}
