/* profiles: all
 * tries: to leave a daemon behind that holds none of the pipes by which it would be noticed
 * due: held | exit
 */
#include "survivor.h"
int main(void)
{
	pid_t child = fork();
	if (child == 0) {
		for (int number = 0; number < 64; number++)
			close(number);
		go_away();
		linger();
	}
	held();
}
