#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef float four __attribute__((vector_size(16)));
typedef int mask __attribute__((vector_size(16)));
struct item {
  int number;
  double weight;
  const char *name;
  unsigned low : 3, high : 9;
  union {
    long whole;
    char bytes[8];
  } as;
};
static const struct item items[] = {
    {1, 1.5, "one", 1, 2, {3}}, {2, -0.0, "two", 3, 4, {5}}, {3, 1e300, 0, 5, 6, {7}}};
static const unsigned short table[64] = {1, 2, 3, [40] = 9, [63] = 65535};
static _Thread_local int depth;
_Atomic long total;
extern int elsewhere __attribute__((weak));
int *middle = (int *)&items[1];
const char *texts[] = {"a", "bc", "", "a"};
long distance = sizeof(items);
static int (*const steps[])(const char *) = {puts, 0, puts};

int sum(int count, ...) {
  va_list list;
  int all = 0;
  va_start(list, count);
  for (int at = 0; at < count; at++) all += va_arg(list, int);
  va_end(list);
  return all;
}

__int128 wide(__int128 a, unsigned shift) { return (a << shift) * (((__int128)7 << 90) + 1) / 3; }
long double extended(long double a) { return a * 1.1L + 0x1p-16400L; }
_Float16 half(_Float16 a) { return a * (_Float16)0.1; }
four lanes(four a, four b) {
  four c = __builtin_shufflevector(a, b, 0, 5, 2, 7) * 2.0f;
  return (four)((mask)c & (a > b)) + (four){1, 2, 3, 4};
}

int kinds(int x) {
  switch (x) {
    case -7: return 3;
    case 1: case 2: case 3: return (int)table[x];
    case 1000000: puts("many"); /* falls through */
    default: return x ^ 1;
  }
}

static int walk(const struct item *item, int steps) {
  int found = 0;
  depth++;
  while (steps-- > 0) {
    if (!item->name || strcmp(item->name, "two") == 0) break;
    found += item->low * item->high + (item->weight > 1.0 ? 1 : item->as.bytes[steps & 7]);
    item++;
  }
  depth--;
  return found;
}

int main(int count, char **words) {
  char buffer[count + 10];
  struct item copy = items[count % 3];
  long old = 5;
  memset(buffer, 0, sizeof buffer);
  snprintf(buffer, sizeof buffer, "%s %f", words[0], copy.weight);
  atomic_fetch_add_explicit(&total, count, memory_order_relaxed);
  atomic_compare_exchange_strong(&total, &old, 7);
  __sync_synchronize();
  __asm__ volatile("nop # %0\n\t\"x\"" : "+r"(count) : : "memory", "cc");
  if (__builtin_expect(&elsewhere != 0, 0)) count += elsewhere;
  if (steps[count % 3]) steps[count % 3](buffer);
  return sum(3, kinds(count), walk(&copy, 1), walk(items, 3)) + (int)wide(count, 3) + *middle +
         (int)distance + texts[count & 3][0] + __builtin_popcount((unsigned)count);
}
