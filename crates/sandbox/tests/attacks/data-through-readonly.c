/* profiles: all
 * tries: to move bytes into a file that it opened for reading
 * due: held
 */
#include "attack.h"
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
int main(void)
{
	int file = open(beside("OWN", "readable.txt"), O_RDONLY);
	if (file < 0)
		held();
	int source = open("/proc/self/exe", O_RDONLY), ends[2];
	FAILS(write(file, "x", 1));
	FAILS(pwrite(file, "x", 1, 0));
	FAILS(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
	if (source >= 0) {
		FAILS(sendfile(file, source, NULL, 10));
		FAILS(copy_file_range(source, NULL, file, NULL, 10, 0));
		FAILS(ioctl(file, FICLONE, source));
	}
	if (pipe(ends) == 0 && write(ends[1], "x", 1) == 1)
		FAILS(splice(ends[0], NULL, file, NULL, 1, 0));
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED)
		escaped("a writable shared mapping of a read-only descriptor");
	void *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	if (memory != MAP_FAILED)
		FAILS(mprotect(memory, 4096, PROT_READ | PROT_WRITE));
	held();
}
