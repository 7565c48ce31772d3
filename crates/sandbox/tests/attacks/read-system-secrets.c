/* profiles: all
 * tries: to read what only root may, by every spelling of the path
 * due: held
 */
#include "attack.h"
int main(void)
{
	const char *files[] = {
		"/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/proc/self/root/etc/shadow", "/proc/1/root/etc/shadow",
		"/proc/self/cwd/../../../../../../../../etc/shadow", "/usr/../etc/shadow", "/dev/fd/../../../etc/shadow",
		"/etc/ssh/ssh_host_ed25519_key", "/etc/sudoers", "/root/.bashrc", "/root/.profile", "/root/.ssh",
		"/var/log/dpkg.log", "/var/lib/dpkg/status", "/boot", "/proc/kcore", "/proc/kmsg",
	};
	char text[64];
	for (unsigned at = 0; at < sizeof files / sizeof *files; at++) {
		int file = open(files[at], O_RDONLY | O_NONBLOCK);
		if (file >= 0 && (read(file, text, sizeof text) > 0 || errno == EISDIR))
			escaped("read %s", files[at]);
	}
	/* Names of the kernel's symbols are no secret, their addresses are. */
	int symbols = open("/proc/kallsyms", O_RDONLY);
	if (symbols >= 0 && read(symbols, text, 16) == 16 && strncmp(text, "0000000000000000", 16) != 0)
		escaped("addresses of the kernel");
	held();
}
