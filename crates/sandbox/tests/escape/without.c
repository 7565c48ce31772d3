/* Runs a program on a kernel that lacks a protection: `without landlock|seccomp|namespaces PROGRAM...` */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEW_NAMESPACES 0x7e020080
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define IS_NOT(value, over) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, over)

int main(int count, char **arguments)
{
	struct sock_filter landlock[] = {
		LOAD(nr), IS_NOT(SYS_landlock_create_ruleset, 1), ANSWER(ENOSYS), ALLOW,
	};
	struct sock_filter seccomp[] = {
		LOAD(nr), IS_NOT(SYS_seccomp, 1), ANSWER(ENOSYS), IS_NOT(SYS_prctl, 3),
		LOAD(args[0]), IS_NOT(PR_SET_SECCOMP, 1), ANSWER(EINVAL), ALLOW,
	};
	struct sock_filter namespaces[] = {
		LOAD(nr), IS_NOT(SYS_unshare, 1), ANSWER(EPERM), IS_NOT(SYS_clone3, 1), ANSWER(ENOSYS),
		IS_NOT(SYS_clone, 3), LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 0, 1),
		ANSWER(EPERM), ALLOW,
	};
	struct sock_fprog program = {0};
	if (count > 2 && strcmp(arguments[1], "landlock") == 0)
		program = (struct sock_fprog){sizeof landlock / sizeof *landlock, landlock};
	if (count > 2 && strcmp(arguments[1], "seccomp") == 0)
		program = (struct sock_fprog){sizeof seccomp / sizeof *seccomp, seccomp};
	if (count > 2 && strcmp(arguments[1], "namespaces") == 0)
		program = (struct sock_fprog){sizeof namespaces / sizeof *namespaces, namespaces};
	if (program.len == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("without");
		return 125;
	}
	execvp(arguments[2], arguments + 2);
	perror(arguments[2]);
	return 126;
}
