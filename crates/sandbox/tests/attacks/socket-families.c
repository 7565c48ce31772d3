/* profiles: native, emulator, compile, device, clang, build
 * tries: to open a socket of every other family: netlink, packet, vsock, alg, bluetooth and more
 * due: held
 */
#include "network.h"
int main(void)
{
	int kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_RDM};
	for (int family = 0; family < 64; family++)
		for (int kind = 0; family != AF_UNIX && kind < 5; kind++)
			REFUSED(socket(family, kinds[kind], 0));
	held();
}
