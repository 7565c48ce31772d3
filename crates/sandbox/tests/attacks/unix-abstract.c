/* profiles: all
 * tries: to reach a socket with an abstract name
 * due: held
 */
#include "network.h"
int main(void)
{
	struct sockaddr_un address;
	socklen_t length = local(&address, told("LISTEN_ABSTRACT"), 1);
	int one = socket(AF_UNIX, SOCK_STREAM, 0), two = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (one >= 0)
		FAILS(connect(one, (void *)&address, length));
	if (two >= 0)
		FAILS(connect(two, (void *)&address, length));
	held();
}
