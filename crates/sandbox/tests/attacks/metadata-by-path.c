/* profiles: all
 * tries: to change mode, owner and times by path
 * due: held
 */
#include "attack.h"
#include <sys/stat.h>
#include <utime.h>
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
int main(void)
{
	const char *files[] = {told("SENTINEL"), beside("OWN", "readable.txt"), told("OUTSIDE"), told("OWN")};
	struct utimbuf early = {1, 1};
	struct timespec times[2] = {{1, 0}, {1, 0}};
	for (int at = 0; at < 4; at++) {
		const char *file = files[at];
		FAILS(syscall(SYS_chmod, file, 0777));
		FAILS(syscall(SYS_fchmodat, AT_FDCWD, file, 0777));
		FAILS(syscall(SYS_fchmodat2, AT_FDCWD, file, 0777, 0));
		FAILS(syscall(SYS_chown, file, 1, 1));
		FAILS(syscall(SYS_lchown, file, 1, 1));
		FAILS(syscall(SYS_fchownat, AT_FDCWD, file, 1, 1, 0));
		FAILS(utime(file, &early));
		FAILS(utimensat(AT_FDCWD, file, times, 0));
		FAILS(syscall(SYS_utimes, file, NULL));
		FAILS(syscall(SYS_futimesat, AT_FDCWD, file, NULL));
	}
	held();
}
