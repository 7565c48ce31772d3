/* profiles: all
 * tries: to write to pages that it may only read, which are pages of the system's files, through its own memory file
 * due: held
 */
#include "attack.h"
#include <sys/mman.h>
int main(void)
{
	int file = open(beside("OWN", "readable.txt"), O_RDONLY), own = open("/proc/self/mem", O_RDWR);
	if (file < 0 || own < 0)
		held();
	char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	char *private = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	if (page != MAP_FAILED)
		FAILS(pwrite(own, "gone", 4, (long)page));
	/* Of a private one the process gets a copy, no more. */
	if (private != MAP_FAILED && pwrite(own, "gone", 4, (long)private) < 0)
		held();
	held();
}
