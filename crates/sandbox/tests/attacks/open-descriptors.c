/* profiles: all
 * tries: to find descriptors that were left open for it
 * due: held
 */
#include "attack.h"
#include <sys/stat.h>
int main(void)
{
	for (int number = 3; number < 4096; number++) {
		struct stat about;
		if (fstat(number, &about) == 0)
			escaped("descriptor %d, mode %o, inode %lu", number, about.st_mode, (unsigned long)about.st_ino);
	}
	held();
}
