/* profiles: all
 * tries: to connect to a listener on loopback by a send that opens the connection
 * due: held
 */
#include "network.h"
int main(void)
{
	struct sockaddr_in address = loopback("TCP");
	int one = socket(AF_INET, SOCK_STREAM, 0);
	if (one < 0)
		held();
	FAILS(sendto(one, "x", 1, MSG_FASTOPEN, (void *)&address, sizeof address));
	struct iovec part = {"x", 1};
	struct msghdr message = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1};
	FAILS(sendmsg(one, &message, MSG_FASTOPEN));
	held();
}
