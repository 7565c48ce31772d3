/* profiles: all
 * tries: to write by the old asynchronous input and output
 * due: held
 */
#include "attack.h"
#include <linux/aio_abi.h>
int main(void)
{
	aio_context_t context = 0;
	int file = open(beside("OWN", "readable.txt"), O_RDONLY);
	if (syscall(SYS_io_setup, 4, &context) < 0)
		held();
	struct iocb one = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = file,
			   .aio_buf = (unsigned long)"x", .aio_nbytes = 1}, *list = &one;
	struct io_event event = {0};
	if (syscall(SYS_io_submit, context, 1, &list) == 1 &&
	    syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1 && (long)event.res > 0)
		escaped("wrote to a read-only descriptor");
	held();
}
