/* profiles: all
 * tries: to find and change semaphores of others, and to leave one behind
 * due: held
 */
#include "attack.h"
#include <sys/ipc.h>
#include <sys/sem.h>
int main(void)
{
	struct sembuf up = {0, 1, IPC_NOWAIT};
	FAILS(semget(number("SEMAPHORE_KEY"), 0, 0));
	FAILS(semop(number("SEMAPHORE_ID"), &up, 1));
	FAILS(semctl(number("SEMAPHORE_ID"), 0, IPC_RMID));
	semget(number("SHM_KEY") + 1, 1, IPC_CREAT | 0666);
	held();
}
