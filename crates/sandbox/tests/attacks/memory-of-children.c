/* profiles: all
 * tries: to take memory in many processes, each of which is small (bounded: 3 GiB, 10 s)
 * due: memory-limit | held | dies
 */
#include "survivor.h"
#include <sys/mman.h>
int main(void)
{
	int made = 0;
	for (int at = 0; at < 24; at++) {
		pid_t child = fork();
		if (child == 0) {
			char *memory = mmap(NULL, 128 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (memory != MAP_FAILED)
				memset(memory, 1, 128 << 20);
			sleep(10);
			_exit(memory == MAP_FAILED);
		}
		made += child > 0;
	}
	if (made == 0)
		held();
	sleep(4);
	escaped("%d processes of 128 MiB", made);
}
