/* profiles: all
 * tries: to open files of others for writing, to make new ones, to cut them short
 * due: held
 */
#include "attack.h"
int main(void)
{
	const char *sentinel = told("SENTINEL");
	FAILS(open(sentinel, O_WRONLY));
	FAILS(open(sentinel, O_RDWR));
	FAILS(open(sentinel, O_RDONLY | O_TRUNC));
	FAILS(open(sentinel, O_WRONLY | O_APPEND));
	FAILS(truncate(sentinel, 0));
	FAILS(open(beside("OUTSIDE", "new"), O_WRONLY | O_CREAT, 0666));
	FAILS(open(told("OUTSIDE"), O_TMPFILE | O_RDWR, 0600));
	FAILS(syscall(SYS_creat, beside("OUTSIDE", "new2"), 0666));
	held();
}
