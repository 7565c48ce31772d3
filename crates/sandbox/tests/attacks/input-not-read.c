/* profiles: all
 * tries: to leave without reading a long input
 * due: held
 */
#include "attack.h"
int main(void)
{
	held();
}
