/* profiles: all
 * tries: to close all three streams and stay for a moment: no end may be taken for it
 * due: status 5
 */
#include "attack.h"
int main(void)
{
	close(0);
	close(1);
	close(2);
	usleep(300000);
	return 5;
}
