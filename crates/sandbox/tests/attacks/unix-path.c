/* profiles: all
 * tries: to reach a socket with a name in a folder, as the desktop's bus and docker have
 * due: held
 */
#include "network.h"
int main(void)
{
	struct sockaddr_un address;
	const char *names[] = {told("LISTEN_PATH"), told("LISTEN_DATAGRAM"), told("LISTEN_READABLE")};
	for (int at = 0; at < 3; at++) {
		socklen_t length = local(&address, names[at], 0);
		int one = socket(AF_UNIX, SOCK_STREAM, 0), two = socket(AF_UNIX, SOCK_DGRAM, 0);
		if (one >= 0)
			FAILS(connect(one, (void *)&address, length));
		if (two >= 0)
			FAILS(sendto(two, "x", 1, 0, (void *)&address, length));
	}
	held();
}
