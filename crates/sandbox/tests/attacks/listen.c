/* profiles: all
 * tries: to listen on every interface
 * due: held
 */
#include "network.h"
int main(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	int one = socket(AF_INET, SOCK_STREAM, 0);
	if (one >= 0 && bind(one, (void *)&any, sizeof any) == 0 && listen(one, 1) == 0)
		escaped("listens");
	int two = socket(AF_INET6, SOCK_STREAM, 0);
	if (two >= 0 && listen(two, 1) == 0)
		escaped("listens on a port of the kernel's choice");
	held();
}
