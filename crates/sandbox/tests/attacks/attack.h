/* What all attacks share. An attack says `held` when all that it tried was refused, or
 * `ESCAPED: ...`; the runner (escape.rs) believes only the second and looks for itself. */
#ifndef ATTACK_H
#define ATTACK_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static __attribute__((noreturn, unused)) void held(void)
{
	static const char word[] = "held\n";
	if (write(1, word, sizeof word - 1) < 0)
		_exit(3);
	_exit(0);
}

static __attribute__((noreturn, unused, format(printf, 1, 2))) void escaped(const char *format, ...)
{
	char text[400];
	int begun = snprintf(text, sizeof text, "ESCAPED: ");
	va_list rest;
	va_start(rest, format);
	vsnprintf(text + begun, sizeof text - begun - 2, format, rest);
	va_end(rest);
	strcat(text, "\n");
	if (write(1, text, strlen(text)) < 0)
		_exit(3);
	_exit(1);
}

/* What the runner told: paths, ports, process numbers. */
static __attribute__((unused)) const char *told(const char *name)
{
	const char *value = getenv(name);
	return value ? value : "/nothing-told";
}

static __attribute__((unused)) long number(const char *name)
{
	const char *value = getenv(name);
	return value ? strtol(value, NULL, 0) : 0;
}

static __attribute__((unused)) const char *beside(const char *folder, const char *name)
{
	static char paths[8][512];
	static int next;
	char *path = paths[next++ % 8];
	snprintf(path, sizeof paths[0], "%s/%s", told(folder), name);
	return path;
}

/* A call that must have no effect, however it is refused. */
#define FAILS(call)                                                                                \
	do {                                                                                       \
		errno = 0;                                                                         \
		if ((long)(call) >= 0)                                                             \
			escaped("%s", #call);                                                      \
	} while (0)

/* A call that must be refused before the kernel looks at what it is asked. */
#define REFUSED(call)                                                                              \
	do {                                                                                       \
		errno = 0;                                                                         \
		long answer_ = (long)(call);                                                       \
		if (answer_ >= 0 || (errno != EPERM && errno != ENOSYS && errno != EACCES))        \
			escaped("%s answered %ld (%s)", #call, answer_, strerror(errno));          \
	} while (0)

/* The processes an attack knows of: a stranger, the runner, the parent, the first. */
#define EACH_PROCESS(name)                                                                         \
	for (long list_[] = {number("VICTIM"), number("RUNNER"), 1, syscall(SYS_getppid), 0},     \
	     *at_ = list_, name;                                                                   \
	     name = *at_, *at_ > 0; at_++)

#endif
