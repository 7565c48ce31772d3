/* profiles: all
 * tries: to look like a program that was short of memory, or a fault of the machine
 * due: status 1
 */
#include "attack.h"
int main(void)
{
	static const char word[] = "out of memory\nstd::bad_alloc\nNo space left on device\nCannot allocate memory\n";
	return write(2, word, sizeof word - 1) < 0 || write(1, word, sizeof word - 1) < 0 ? 99 : 1;
}
