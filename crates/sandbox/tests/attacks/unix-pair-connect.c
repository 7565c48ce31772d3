/* profiles: all
 * tries: to use one end of a pair of its own to reach other sockets
 * due: held
 */
#include "network.h"
int main(void)
{
	int ends[2];
	struct sockaddr_un address;
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0)
		held();
	socklen_t length = local(&address, told("LISTEN_DATAGRAM"), 0);
	FAILS(sendto(ends[0], "x", 1, 0, (void *)&address, length));
	FAILS(connect(ends[0], (void *)&address, length));
	length = local(&address, told("LISTEN_ABSTRACT"), 1);
	FAILS(connect(ends[0], (void *)&address, length));
	held();
}
