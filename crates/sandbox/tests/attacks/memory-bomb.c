/* profiles: all
 * tries: to take all memory (bounded: 4 GiB)
 * due: memory-limit | held | dies
 */
#include "attack.h"
#include <sys/mman.h>
int main(void)
{
	for (long part = 0; part < 256; part++) {
		char *memory = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			held();
		memset(memory, 1, 16 << 20);
	}
	escaped("4 GiB of memory");
}
