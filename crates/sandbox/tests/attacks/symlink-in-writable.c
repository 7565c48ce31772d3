/* profiles: compile, device, build
 * tries: to write to a file of others through links in the folder that it may write
 * due: held
 */
#include "attack.h"
#include <sys/stat.h>
int main(void)
{
	const char *link = beside("WRITABLE", "link");
	if (symlink(told("SENTINEL"), link) == 0) {
		FAILS(open(link, O_WRONLY));
		FAILS(truncate(link, 0));
		FAILS(chmod(link, 0777));
	}
	const char *folder = beside("WRITABLE", "folder");
	if (symlink(told("OUTSIDE"), folder) == 0)
		FAILS(open(beside("WRITABLE", "folder/new"), O_WRONLY | O_CREAT, 0666));
	FAILS(open(beside("WRITABLE", "../outside/new"), O_WRONLY | O_CREAT, 0666));
	FAILS(rename(beside("WRITABLE", "link"), beside("WRITABLE", "../outside/moved")));
	held();
}
