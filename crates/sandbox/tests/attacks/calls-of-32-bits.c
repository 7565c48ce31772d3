/* profiles: all
 * tries: to pass the filter by 32-bit system calls (int 0x80), whose numbers mean others
 * due: held | dies
 */
#include "attack.h"
#include <sys/mman.h>
static long call(long what, long one, long two, long three)
{
	long answer;
	__asm__ volatile("int $0x80" : "=a"(answer) : "a"(what), "b"(one), "c"(two), "d"(three)
			 : "memory", "r8", "r9", "r10", "r11");
	return answer;
}
int main(void)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (low == MAP_FAILED)
		held();
	if (call(20, 0, 0, 0) > 0)
		escaped("getpid of 32 bits answers");
	strcpy(low, told("SENTINEL"));
	if (call(5, (long)low, O_WRONLY | O_TRUNC, 0) >= 0)
		escaped("open of 32 bits");
	call(37, number("VICTIM"), SIGUSR1, 0);
	if (call(310, 1 << 28, 0, 0) == 0)
		escaped("unshare of 32 bits");
	unsigned *arguments = (unsigned *)low;
	arguments[0] = 2;
	arguments[1] = 1;
	arguments[2] = 0;
	if (call(102, 1, (long)low, 0) >= 0)
		escaped("socket of 32 bits");
	held();
}
