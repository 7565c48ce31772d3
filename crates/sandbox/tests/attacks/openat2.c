/* profiles: all
 * tries: to open files for writing, and what it may not read, by openat2
 * due: held
 */
#include "attack.h"
#include <linux/openat2.h>
int main(void)
{
	struct open_how write = {.flags = O_WRONLY}, new = {.flags = O_WRONLY | O_CREAT, .mode = 0666};
	struct open_how read = {.flags = O_RDONLY}, path = {.flags = O_PATH};
	FAILS(syscall(SYS_openat2, AT_FDCWD, told("SENTINEL"), &write, sizeof write));
	FAILS(syscall(SYS_openat2, AT_FDCWD, beside("OWN", "readable.txt"), &write, sizeof write));
	FAILS(syscall(SYS_openat2, AT_FDCWD, beside("OUTSIDE", "new"), &new, sizeof new));
	FAILS(syscall(SYS_openat2, AT_FDCWD, "/etc/shadow", &read, sizeof read));
	FAILS(syscall(SYS_openat2, AT_FDCWD, "/etc/shadow", &path, sizeof path));
	held();
}
