/* profiles: all
 * tries: to find, read and fill message queues of others, and to leave one behind
 * due: held
 */
#include "attack.h"
#include <sys/ipc.h>
#include <sys/msg.h>
int main(void)
{
	struct { long type; char text[8]; } message = {1, "gone"};
	FAILS(msgget(number("MESSAGE_KEY"), 0));
	FAILS(msgsnd(number("MESSAGE_ID"), &message, 4, IPC_NOWAIT));
	FAILS(msgrcv(number("MESSAGE_ID"), &message, 8, 0, IPC_NOWAIT));
	FAILS(msgctl(number("MESSAGE_ID"), IPC_RMID, NULL));
	msgget(number("SHM_KEY") + 1, IPC_CREAT | 0666);
	held();
}
