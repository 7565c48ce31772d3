/* profiles: all
 * tries: to leave its root through another
 * due: held
 */
#include "attack.h"
#include <sys/stat.h>
int main(void)
{
	int here = open("/", O_RDONLY | O_DIRECTORY);
	mkdir("/tmp/inner", 0700);
	REFUSED(chroot("/tmp/inner"));
	REFUSED(chroot("/"));
	REFUSED(syscall(SYS_pivot_root, "/tmp", "/tmp"));
	if (here >= 0 && fchdir(here) == 0)
		for (int at = 0; at < 64; at++)
			if (chdir("..") < 0)
				break;
	FAILS(open("etc/shadow", O_RDONLY));
	held();
}
