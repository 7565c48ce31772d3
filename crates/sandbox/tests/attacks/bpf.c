/* profiles: all
 * tries: to load programs and maps into the kernel
 * due: held
 */
#include "attack.h"
int main(void)
{
	char attributes[128] = {0};
	for (int command = 0; command < 40; command++)
		REFUSED(syscall(SYS_bpf, command, attributes, sizeof attributes));
	held();
}
