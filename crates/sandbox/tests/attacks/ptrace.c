/* profiles: all
 * tries: to trace others, and to be traced
 * due: held
 */
#include "attack.h"
#include <sys/prctl.h>
#include <sys/ptrace.h>
int main(void)
{
	EACH_PROCESS(pid) {
		REFUSED(syscall(SYS_ptrace, PTRACE_ATTACH, pid, 0, 0));
		REFUSED(syscall(SYS_ptrace, PTRACE_SEIZE, pid, 0, 0));
	}
	REFUSED(syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0));
	held();
}
