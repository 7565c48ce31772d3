/* profiles: all
 * tries: to fill the private scratch with empty files (bounded: 300,000)
 * due: held | timeout | memory-limit | output-limit
 */
#include "attack.h"
int main(void)
{
	char path[64];
	for (int at = 0; at < 300000; at++) {
		snprintf(path, sizeof path, "/tmp/%d", at);
		int file = open(path, O_WRONLY | O_CREAT, 0666);
		if (file < 0)
			held();
		close(file);
	}
	escaped("300,000 files in /tmp");
}
