/* profiles: all
 * tries: to find, write and remove named shared memory of others, and to leave some behind
 * due: held
 */
#include "attack.h"
#include <sys/mman.h>
#include <sys/stat.h>
int main(void)
{
	char path[128];
	snprintf(path, sizeof path, "/dev/shm%s", told("POSIX_MEMORY"));
	FAILS(shm_open(told("POSIX_MEMORY"), O_RDWR, 0));
	FAILS(shm_open(told("POSIX_MEMORY"), O_RDONLY, 0));
	FAILS(shm_unlink(told("POSIX_MEMORY")));
	FAILS(open(path, O_RDONLY));
	/* Where it has a private one, these stay in it: the runner looks. */
	snprintf(path, sizeof path, "%s-left", told("POSIX_MEMORY"));
	shm_open(path, O_RDWR | O_CREAT, 0666);
	snprintf(path, sizeof path, "/dev/shm%s-folder", told("POSIX_MEMORY"));
	mkdir(path, 0777);
	held();
}
