/* profiles: all
 * tries: to open settings of the kernel for writing
 * due: held
 */
#include "attack.h"
int main(void)
{
	const char *files[] = {"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",
			       "/proc/sys/vm/drop_caches", "/proc/sys/kernel/sysrq", "/proc/sys/kernel/ns_last_pid",
			       "/proc/sys/fs/binfmt_misc/register", "/proc/sys/net/ipv4/ip_forward", "/proc/irq/0/smp_affinity",
			       "/sys/kernel/uevent_helper", "/sys/power/state", "/sys/module", "/sys/fs/cgroup/cgroup.procs",
			       "/sys/fs/cgroup/memory/release_agent", "/proc/sys/vm/overcommit_memory", "/proc/mtrr", "/proc/acpi"};
	for (unsigned at = 0; at < sizeof files / sizeof *files; at++) {
		FAILS(open(files[at], O_WRONLY));
		FAILS(open(files[at], O_RDWR));
	}
	held();
}
