/* profiles: all
 * tries: to take memory that is in no process any more: shared mappings and segments that it leaves (bounded: 2 GiB)
 * due: held | memory-limit | dies
 */
#include "attack.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
int main(void)
{
	long taken = 0;
	for (int at = 0; at < 32; at++) {
		int segment = shmget(IPC_PRIVATE, 64 << 20, IPC_CREAT | 0600);
		void *memory = segment < 0 ? (void *)-1 : shmat(segment, NULL, 0);
		if (memory == (void *)-1)
			break;
		memset(memory, 1, 64 << 20);
		shmdt(memory);
		taken += 64;
	}
	sleep(taken >= 2048 ? 4 : 0);
	if (taken >= 2048)
		escaped("%ld MiB in segments of System V", taken);
	held();
}
