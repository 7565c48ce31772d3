/* profiles: all
 * tries: to send a datagram to a listener on loopback
 * due: held
 */
#include "network.h"
int main(void)
{
	struct sockaddr_in address = loopback("UDP");
	int protocols[] = {0, IPPROTO_UDP, 136};
	for (int at = 0; at < 3; at++) {
		int one = socket(AF_INET, SOCK_DGRAM, protocols[at]);
		if (one < 0)
			continue;
		FAILS(sendto(one, "x", 1, 0, (void *)&address, sizeof address));
		FAILS(connect(one, (void *)&address, sizeof address));
	}
	held();
}
