/* profiles: all
 * tries: to open memory of the machine, its disks and virtual machines
 * due: held
 */
#include "attack.h"
int main(void)
{
	const char *files[] = {"/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/vda",
			       "/dev/sda", "/dev/nvme0n1", "/dev/loop0", "/dev/loop-control", "/dev/btrfs-control",
			       "/dev/vhost-net", "/dev/net/tun", "/dev/hwrng", "/dev/cpu/0/msr", "/dev/uinput",
			       "/dev/zram0", "/dev/autofs", "/dev/vga_arbiter", "/dev/cpu_dma_latency"};
	for (unsigned at = 0; at < sizeof files / sizeof *files; at++)
		FAILS(open(files[at], O_RDONLY | O_NONBLOCK));
	held();
}
