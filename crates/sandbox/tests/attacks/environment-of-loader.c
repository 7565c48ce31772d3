/* profiles: all
 * tries: to have the next program that starts load a library of its own
 * due: held
 */
#include "attack.h"
int main(void)
{
	const char *files[] = {"/etc/ld.so.preload", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/environment",
			       "/etc/profile", "/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/env", "/bin/sh",
			       "/lib64/ld-linux-x86-64.so.2", "/usr/lib/os-release", "/etc/passwd", "/etc/hosts"};
	for (unsigned at = 0; at < sizeof files / sizeof *files; at++) {
		FAILS(open(files[at], O_WRONLY));
		FAILS(truncate(files[at], 0));
		FAILS(unlink(files[at]));
	}
	FAILS(open("/etc/ld.so.preload", O_WRONLY | O_CREAT, 0644));
	FAILS(open("/usr/lib/x", O_WRONLY | O_CREAT, 0644));
	held();
}
