/* profiles: all
 * tries: to watch and to hold up what others do with files
 * due: held
 */
#include "attack.h"
#include <sys/inotify.h>
int main(void)
{
	REFUSED(syscall(SYS_fanotify_init, 0, 0));
	REFUSED(syscall(SYS_fanotify_mark, -1, 1, 0, -1, NULL));
	int watcher = inotify_init();
	if (watcher >= 0)
		FAILS(inotify_add_watch(watcher, told("OUTSIDE"), IN_ALL_EVENTS));
	held();
}
