/* profiles: all
 * tries: to find, write and remove shared memory of others, and to leave some behind
 * due: held
 */
#include "attack.h"
#include <sys/ipc.h>
#include <sys/shm.h>
int main(void)
{
	int found = shmget(number("SHM_KEY"), 0, 0);
	if (found >= 0)
		escaped("found segment %d", found);
	void *memory = shmat(number("SHM_ID"), NULL, 0);
	if (memory != (void *)-1) {
		strcpy(memory, "gone");
		escaped("attached another's segment");
	}
	FAILS(shmctl(number("SHM_ID"), IPC_RMID, NULL));
	struct shmid_ds about;
	for (int at = 0; at < 64; at++)
		FAILS(shmctl(at, SHM_STAT, &about));
	/* The runner looks for it. */
	shmget(number("SHM_KEY") + 1, 1 << 20, IPC_CREAT | 0666);
	held();
}
