/* Addresses of the listeners that must see nothing. */
#ifndef NETWORK_H
#define NETWORK_H
#include "attack.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <stddef.h>

static __attribute__((unused)) struct sockaddr_in loopback(const char *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(number(port))};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static __attribute__((unused)) socklen_t local(struct sockaddr_un *address, const char *name, int abstract)
{
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	strncpy(address->sun_path + abstract, name, sizeof address->sun_path - 2);
	return offsetof(struct sockaddr_un, sun_path) + abstract + strlen(name) + !abstract;
}
#endif
