/* profiles: all
 * tries: to become a program of memory alone, which may do no more than itself
 * due: held | dies
 */
#include "attack.h"
#include <sys/mman.h>
static char text[1 << 20];
int main(int count, char **arguments)
{
	(void)arguments;
	if (count > 1) {
		FAILS(open(told("SENTINEL"), O_WRONLY));
		FAILS(open(beside("OWN", "readable.txt"), O_WRONLY));
		FAILS(open(beside("OUTSIDE", "secret.txt"), O_RDONLY));
		FAILS(syscall(SYS_kill, number("VICTIM"), SIGUSR1));
		held();
	}
	int own = open("/proc/self/exe", O_RDONLY), memory = memfd_create("x", 0);
	ssize_t length = own < 0 ? -1 : read(own, text, sizeof text);
	if (memory < 0 || length <= 0 || write(memory, text, length) != length)
		held();
	char *again[] = {"x", "again", NULL};
	extern char **environ;
	syscall(SYS_execveat, memory, "", again, environ, AT_EMPTY_PATH);
	held();
}
