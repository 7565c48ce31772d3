/* profiles: all
 * tries: to reach the host of a virtual machine
 * due: held
 */
#include "network.h"
#include <linux/vm_sockets.h>
int main(void)
{
	struct sockaddr_vm host = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST, .svm_port = 1};
	int one = socket(AF_VSOCK, SOCK_STREAM, 0);
	if (one >= 0 && (connect(one, (void *)&host, sizeof host) == 0 || errno != EPERM))
		escaped("a vsock: %s", strerror(errno));
	FAILS(open("/dev/vsock", O_RDONLY));
	held();
}
