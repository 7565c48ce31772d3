/* kind: patched clocks
 * tries: to begin before the clock does
 * due: does-not-compile
 */
#include <cstdio>
extern "C" void _start() { __builtin_trap(); }
int main() {}
