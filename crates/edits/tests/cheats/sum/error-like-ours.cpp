/* kind: reads while it is compiled
 * tries: to fail with an error that is the machine's
 * due: does-not-compile
 */
#error No space left on device
int main() {}
