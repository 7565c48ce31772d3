/* profiles: all
 * tries: to talk to the kernel about interfaces, auditing and events
 * due: held
 */
#include "network.h"
int main(void)
{
	for (int protocol = 0; protocol < 24; protocol++)
		REFUSED(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
	held();
}
