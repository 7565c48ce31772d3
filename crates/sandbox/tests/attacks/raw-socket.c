/* profiles: all
 * tries: to open raw and packet sockets
 * due: held
 */
#include "network.h"
int main(void)
{
	REFUSED(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
	REFUSED(socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP));
	REFUSED(socket(AF_INET, SOCK_RAW, IPPROTO_RAW));
	REFUSED(socket(AF_INET6, SOCK_RAW, 58));
	REFUSED(socket(AF_PACKET, SOCK_RAW, htons(3)));
	REFUSED(socket(AF_PACKET, SOCK_DGRAM, htons(3)));
	held();
}
