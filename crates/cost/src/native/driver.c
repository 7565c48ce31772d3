/* Runs a group of work-items as often as its input says (a digit), on arguments that are the same for every kernel:
   buffers of numbers that are small where they are integers, and near one where they are not. */
typedef unsigned long word;
#define MOST 32
#define BYTES (4ul << 20)
#define MARGIN (1ul << 20)
#define FILLED 8192
/* Buffers begin at different places of a cache. */
#define STAGGER 832ul

extern void stampmill_group(const word *arguments);
extern const char stampmill_kinds[];
extern long read(int file, void *to, word bytes);

static char arena[MOST][MARGIN + BYTES + MARGIN] __attribute__((aligned(4096)));
static word arguments[MOST];

static void fill(char *buffer, char kind) {
  for (int i = 0; i < FILLED; i++) {
    const int small = i * 7 % 64;
    switch (kind) {
      case 'c': ((char *)buffer)[i] = (char)small; break;
      case 's': ((short *)buffer)[i] = (short)small; break;
      case 'i': ((int *)buffer)[i] = small; break;
      case 'l': ((long *)buffer)[i] = small; break;
      case 'f': ((float *)buffer)[i] = 0.5f + (float)small / 64; break;
      case 'd': ((double *)buffer)[i] = 0.5 + (double)small / 64; break;
      default: return;
    }
  }
}

int main(void) {
  char times = '0';
  if (read(0, &times, 1) != 1) return 1;
  for (int i = 0; i < MOST && stampmill_kinds[i]; i++) {
    char *buffer = arena[i] + MARGIN + (word)i * STAGGER;
    fill(buffer, stampmill_kinds[i]);
    arguments[i] = (word)buffer;
  }
  for (; times > '0'; times--) stampmill_group(arguments);
  return 0;
}
