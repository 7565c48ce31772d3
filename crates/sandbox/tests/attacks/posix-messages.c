/* profiles: all
 * tries: to open, fill and remove named message queues of others
 * due: held
 */
#include "attack.h"
#include <mqueue.h>
int main(void)
{
	long queue = syscall(SYS_mq_open, told("QUEUE") + 1, O_RDWR | O_NONBLOCK, 0, NULL);
	if (queue >= 0)
		escaped("opened it, a send answers %ld", syscall(SYS_mq_timedsend, queue, "x", 1, 0, NULL));
	FAILS(syscall(SYS_mq_unlink, told("QUEUE") + 1));
	syscall(SYS_mq_open, "escape-left", O_RDWR | O_CREAT, 0666, NULL);
	held();
}
