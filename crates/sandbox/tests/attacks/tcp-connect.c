/* profiles: all
 * tries: to connect to a listener on loopback by TCP, by every way to name it
 * due: held
 */
#include "network.h"
int main(void)
{
	struct sockaddr_in address = loopback("TCP");
	int one = socket(AF_INET, SOCK_STREAM, 0);
	if (one >= 0)
		FAILS(connect(one, (void *)&address, sizeof address));
	struct sockaddr_in6 mapped = {.sin6_family = AF_INET6, .sin6_port = address.sin_port};
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr);
	int two = socket(AF_INET6, SOCK_STREAM, 0);
	if (two >= 0)
		FAILS(connect(two, (void *)&mapped, sizeof mapped));
	int three = socket(AF_INET, SOCK_STREAM, 262);
	if (three >= 0)
		FAILS(connect(three, (void *)&address, sizeof address));
	held();
}
