/* profiles: all
 * tries: to remove, rename, link and replace what is not its own
 * due: held
 */
#include "attack.h"
#include <sys/stat.h>
int main(void)
{
	for (int at = 0; at < 2; at++) {
		const char *folder = at ? "OWN" : "OUTSIDE";
		const char *file = at ? beside("OWN", "readable.txt") : told("SENTINEL");
		FAILS(unlink(file));
		FAILS(rename(file, beside(folder, "moved")));
		FAILS(syscall(SYS_renameat2, AT_FDCWD, file, AT_FDCWD, beside(folder, "secret.txt"), 2));
		FAILS(link(file, beside(folder, "linked")));
		FAILS(link(file, "/tmp/linked"));
		FAILS(symlink("/etc/passwd", beside(folder, "symlinked")));
		FAILS(mkdir(beside(folder, "folder"), 0777));
		FAILS(rmdir(beside(folder, "empty")));
		FAILS(mkfifo(beside(folder, "fifo"), 0666));
	}
	held();
}
