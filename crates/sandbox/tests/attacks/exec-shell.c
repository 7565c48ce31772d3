/* profiles: all
 * tries: to become a shell that writes where it may not
 * due: held | dies | exit
 */
#include "attack.h"
int main(void)
{
	execl("/bin/sh", "sh", "-c",
	      "{ echo gone >\"$SENTINEL\"; echo new >\"$OUTSIDE/new\"; chmod 777 \"$OWN/readable.txt\"; "
	      "cat \"$OUTSIDE/secret.txt\" && echo ESCAPED: read; kill -9 $VICTIM; kill -9 -1; } 2>/dev/null; echo held",
	      (char *)NULL);
	held();
}
