/* profiles: all
 * tries: to read and make keys of the kernel's keyring
 * due: held
 */
#include "attack.h"
int main(void)
{
	char text[64];
	REFUSED(syscall(SYS_keyctl, 0, -3, 1));
	REFUSED(syscall(SYS_keyctl, 11, -4, text, sizeof text));
	REFUSED(syscall(SYS_add_key, "user", "stampmill", "x", 1, -2));
	REFUSED(syscall(SYS_request_key, "user", "stampmill", NULL, -2));
	held();
}
