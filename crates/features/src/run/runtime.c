/* Runs a group of work-items of a kernel, or one group after another, in which calls are planted that say what it does, and
   writes what they said to descriptor 3. Work-items run one after the other, each on a stack of its own, up to the next barrier or their end.
   Arguments are those of every kernel: buffers of numbers that are small where they are integers, and near one where not. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef unsigned long word;
typedef unsigned int half_word;

#define MOST 32
#define BYTES (4ul << 20)
#define MARGIN (1ul << 20)
#define FILLED 8192
/* Buffers begin at different places of a cache, but at the beginning of a line. */
#define STAGGER 896ul
#define SLOT (MARGIN + BYTES + MARGIN)
#define STACK (1ul << 20)
#define PAGE 4096ul
#define GUARD PAGE
/* Above what a work-item calls: who reads a little behind its own arrays finds zeros there. */
#define ABOVE 1024ul
/* What is remembered of branches and accesses takes no more. */
#define MEMORY (512ul << 20)
/* And of one place in the code only so many times are. */
#define TIMES 65536ul
#define LINE 128ul
#define TOGETHER 32ul

/* As counts.rs reads it. */
enum status { FINE, TOO_LONG, TOO_LARGE, APART };
enum space { GLOBAL, CONSTANT, LOCAL, PRIVATE, SPACES };
static struct {
  word status, items, most, occurrences, divergent;
  word loads[SPACES], stores[SPACES], load_bytes[SPACES], store_bytes[SPACES];
  word touched, least, accesses, pairs, unit, same;
  word global_races, local_races, unset;
} said;
static struct {
  /* With more than one group, what is undefined is counted and nothing else. Of more work-items than run the first do. */
  word kernel, blocks, branches, sites, sides[3], limit, groups, items[3];
  char kinds[MOST], spaces[MOST];
} asked;

struct branch {
  long first;
  char seen, divergent;
};
/* How often each work-item was there, and of each time what all of them did. */
struct place {
  half_word *times;
  void *all;
  word room, bytes;
};

/* What the kernels' image begins with (link.rs). */
static const struct {
  void (*item)(word kernel, const word *arguments);
  const char *shared, *shared_end, *constant, *constant_end;
} *image;

static char arena[MOST][SLOT] __attribute__((aligned(4096)));
static word arguments[MOST];
static char *stacks;
static void *contexts[1024], *scheduler;
static char finished[1024];
/* The work-item of the group, the group, and how often work-items have waited for each other. */
static word at, group, phase = 1, first_phase = 1;
static word executed, used, own[1024], *blocks, *taken, *reached;
static struct place *branches, *sites;

static void write_all(const void *from, word size) {
  for (const char *next = from; size > 0;) {
    long written = write(3, next, size);
    if (written <= 0) _exit(2);
    next += written;
    size -= (word)written;
  }
}

static void __attribute__((noreturn)) finish(enum status status) {
  said.status = status;
  write_all(&said, sizeof said);
  write_all(blocks, asked.blocks * sizeof *blocks);
  write_all(taken, asked.branches * sizeof *taken);
  write_all(reached, asked.branches * sizeof *reached);
  _exit(0);
}

static void *room(word bytes) {
  used += bytes;
  void *found = used > MEMORY ? NULL : calloc(1, bytes ? bytes : 1);
  if (!found) finish(TOO_LARGE);
  return found;
}

/* Room for the time that the work-item is there now, and which one that is; TIMES: one too many. */
static word time_at(struct place *place, word bytes) {
  if (!place->times) place->times = room(said.items * sizeof *place->times);
  if (place->times[at] == TIMES) return TIMES;
  const word time = place->times[at]++;
  if (time >= place->room) {
    const word more = place->room ? 2 * place->room : 16;
    char *all = room(more * bytes);
    if (place->all) memcpy(all, place->all, place->room * bytes);
    used -= place->room * bytes;
    free(place->all);
    place->all = all;
    place->room = more;
  }
  return time;
}

void stampmill_block(word number, word instructions) {
  blocks[number]++;
  own[at] += instructions;
  executed += instructions;
  if (executed > asked.limit) finish(TOO_LONG);
}

void stampmill_branch(word number, word value) {
  if (asked.groups > 1) return;
  struct place *place = &branches[number];
  const word time = time_at(place, sizeof(struct branch));
  reached[number]++;
  taken[number] += value != 0;
  if (time == TIMES) return;
  struct branch *branch = (struct branch *)place->all + time;
  if (!branch->seen) {
    branch->seen = 1;
    branch->first = (long)value;
  } else if (branch->first != (long)value) {
    branch->divergent = 1;
  }
}

static enum space space_of(word address) {
  const word first = (word)arena;
  if (address - first < sizeof arena) {
    const char space = asked.spaces[(address - first) / SLOT];
    return space == 'l' ? LOCAL : space == 'c' ? CONSTANT : GLOBAL;
  }
  if (address - (word)stacks < said.items * STACK) return PRIVATE;
  if (address >= (word)image->shared && address < (word)image->shared_end) return LOCAL;
  if (address >= (word)image->constant && address < (word)image->constant_end) return CONSTANT;
  return GLOBAL;
}

/* What happened to a byte that work-items share. */
struct shared {
  half_word written, read, changed;
  unsigned short writer, reader, changer;
};
enum { SEVERAL = 0xffff };
static struct shared *of_arena, *of_variables;

static word size_of_variables(void) { return (word)(image->shared_end - image->shared); }

/* Whether another work-item's access in `then` has no order with one that is made now. */
static int unordered(enum space space, half_word then, unsigned short by) {
  if (!then || by == group * said.items + at + 1) return 0;
  return then == phase || (space == GLOBAL && then < first_phase);
}

/* Counts an access that races with another, or loads what is not set. Atomic ones (`changed`) race with those that are not. */
static void watch(enum space space, word address, word bytes, word how) {
  struct shared *all;
  const word first = (word)arena;
  if (address - first < sizeof arena) all = of_arena + (address - first);
  else if (space == LOCAL) all = of_variables + (address - (word)image->shared);
  else return;
  const unsigned short self = (unsigned short)(group * said.items + at + 1);
  int races = 0, unset = 0;
  for (word i = 0; i < bytes; i++) {
    struct shared *one = &all[i];
    unset |= space == LOCAL && (how & 1) && one->written < first_phase && one->changed < first_phase;
    races |= unordered(space, one->written, one->writer);
    if (how == 3) {
      races |= unordered(space, one->read, one->reader);
      one->changer = one->changed == phase && one->changer != self ? SEVERAL : self;
      one->changed = (half_word)phase;
      continue;
    }
    races |= unordered(space, one->changed, one->changer);
    if (how & 2) {
      races |= unordered(space, one->read, one->reader);
      one->written = (half_word)phase, one->writer = self;
    } else {
      one->reader = one->read == phase && one->reader != self ? SEVERAL : self;
      one->read = (half_word)phase;
    }
  }
  said.unset += (word)unset;
  if (races) space == LOCAL ? said.local_races++ : said.global_races++;
}

static void *shadow(word bytes) {
  void *found = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) _exit(2);
  return found;
}

/* `how`: 1 it loads, 2 it stores, 3 both, in one. */
void stampmill_access(word number, const char *pointer, word index, word scale, word bytes, word how) {
  const word address = (word)pointer + index * scale;
  const enum space space = space_of(address);
  if (asked.groups > 1) {
    if (space == GLOBAL || space == LOCAL) watch(space, address, bytes, how);
    return;
  }
  if (how & 1) said.loads[space]++, said.load_bytes[space] += bytes;
  if (how & 2) said.stores[space]++, said.store_bytes[space] += bytes;
  /* Copies of structs are no access of one line. */
  if (space != GLOBAL || bytes == 0 || bytes > LINE) return;
  struct place *place = &sites[number];
  const word time = time_at(place, said.items * sizeof(half_word));
  if (time == TIMES) return;
  /* The program and its data lie below 4 GiB. */
  ((half_word *)place->all)[time * said.items + at] = (half_word)address;
  place->bytes = bytes;
}

static int by_number(const void *one, const void *other) {
  const half_word a = *(const half_word *)one, b = *(const half_word *)other;
  return a < b ? -1 : a > b;
}

/* One access of up to 32 neighboring work-items; 0: it was not there. */
static void neighbors(const half_word *addresses, word count, word bytes) {
  half_word lines[2 * TOGETHER];
  word found = 0, together = 0;
  for (word i = 0; i < count; i++) {
    if (!addresses[i]) continue;
    together++;
    lines[found++] = (half_word)(addresses[i] / LINE);
    lines[found++] = (half_word)((addresses[i] + bytes - 1) / LINE);
    if (i + 1 < count && addresses[i + 1]) {
      said.pairs++;
      said.unit += addresses[i + 1] - addresses[i] == bytes;
      said.same += addresses[i + 1] == addresses[i];
    }
  }
  if (!together) return;
  qsort(lines, found, sizeof *lines, by_number);
  word touched = 1;
  for (word i = 1; i < found; i++) touched += lines[i] != lines[i - 1];
  const word least = (together * bytes + LINE - 1) / LINE;
  said.accesses++;
  said.touched += touched;
  said.least += least < touched ? least : touched;
}

static void sum_up(void) {
  for (word i = 0; i < said.items; i++) said.most = own[i] > said.most ? own[i] : said.most;
  for (word i = 0; i < asked.branches; i++) {
    const struct branch *all = branches[i].all;
    for (word time = 0; time < branches[i].room && all[time].seen; time++) {
      said.occurrences++;
      said.divergent += (word)all[time].divergent;
    }
  }
  for (word i = 0; i < asked.sites; i++) {
    const half_word *all = sites[i].all;
    for (word time = 0; time < sites[i].room; time++)
      for (word first = 0; first < said.items; first += TOGETHER) {
        const word left = said.items - first;
        neighbors(all + time * said.items + first, left < TOGETHER ? left : TOGETHER, sites[i].bytes);
      }
  }
}

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

/* Leave a stack and go on with another. */
void stampmill_change(void **from, void *to);
__asm__(
    ".text\n.globl stampmill_change\nstampmill_change:\n"
    "  push %rbx\n  push %rbp\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbp\n  pop %rbx\n  ret\n");

static void work(void) {
  image->item(asked.kernel, arguments);
  finished[at] = 1;
  stampmill_change(&contexts[at], scheduler);
  __builtin_trap();
}

static void wait_for_others(void) { stampmill_change(&contexts[at], scheduler); }

void barrier(half_word flags) __asm__("_Z7barrierj");
void barrier(half_word flags) { wait_for_others(); }
void work_group_barrier(half_word flags) __asm__("_Z18work_group_barrierj");
void work_group_barrier(half_word flags) { wait_for_others(); }
void work_group_barrier_in(half_word flags, half_word scope) __asm__("_Z18work_group_barrierj12memory_scope");
void work_group_barrier_in(half_word flags, half_word scope) { wait_for_others(); }

/* Where a work-item is: groups lie side by side in the first dimension. */
#define ASK(NAME, SYMBOL, VALUE, REST)                          \
  word NAME(half_word dimension) __asm__(SYMBOL);               \
  word NAME(half_word dimension) { return dimension < 3 ? (VALUE) : (REST); }
static word place_of(half_word dimension) {
  const word x = asked.sides[0], y = asked.sides[1];
  return dimension == 0 ? at % x : dimension == 1 ? at / x % y : at / x / y;
}
static word size_of(half_word dimension) { return asked.items[dimension]; }
static word global_place_of(half_word dimension) {
  return place_of(dimension) + (dimension == 0 ? group * asked.sides[0] : 0);
}
ASK(global_id, "_Z13get_global_idj", global_place_of(dimension), 0)
ASK(local_id, "_Z12get_local_idj", place_of(dimension), 0)
ASK(group_id, "_Z12get_group_idj", dimension == 0 ? group : 0, 0)
ASK(global_size, "_Z15get_global_sizej", size_of(dimension), 1)
ASK(local_size, "_Z14get_local_sizej", asked.sides[dimension], 1)
ASK(enqueued_local_size, "_Z23get_enqueued_local_sizej", asked.sides[dimension], 1)
ASK(num_groups, "_Z14get_num_groupsj", size_of(dimension) / asked.sides[dimension], 1)
ASK(global_offset, "_Z17get_global_offsetj", 0, 0)
half_word work_dim(void) __asm__("_Z12get_work_dimv");
half_word work_dim(void) { return size_of(2) > 1 ? 3 : size_of(1) > 1 ? 2 : 1; }
word global_linear_id(void) __asm__("_Z20get_global_linear_idv");
word global_linear_id(void) {
  return (global_place_of(2) * size_of(1) + global_place_of(1)) * size_of(0) + global_place_of(0);
}
word local_linear_id(void) __asm__("_Z19get_local_linear_idv");
word local_linear_id(void) { return at; }

static void run_group(void) {
  for (word i = 0; i < said.items; i++) {
    /* Six registers, where to begin, and what a call would have left. */
    void **top = (void **)(stacks + (i + 1) * STACK - ABOVE);
    *top = (void *)work;
    contexts[i] = top - 6;
    finished[i] = 0;
  }
  first_phase = phase;
  for (;;) {
    word waiting = 0, ended = 0;
    for (at = 0; at < said.items; at++) {
      if (finished[at]) continue;
      stampmill_change(&scheduler, contexts[at]);
      finished[at] ? ended++ : waiting++;
    }
    phase++;
    if (!waiting) return;
    if (ended) finish(APART);
  }
}

static void read_all(void *to, word size) {
  for (char *next = to; size > 0;) {
    const long more = read(0, next, size);
    if (more <= 0) _exit(2);
    next += more;
    size -= (word)more;
  }
}

/* An image is an executable that lies where nothing of this program does. */
static void load(void) {
  word size;
  read_all(&size, sizeof size);
  char *file = malloc(size);
  if (!file) _exit(2);
  read_all(file, size);
  const Elf64_Ehdr *head = (const void *)file;
  const Elf64_Phdr *part = (const void *)(file + head->e_phoff);
  for (int i = 0; i < head->e_phnum; i++, part++) {
    if (part->p_type != PT_LOAD || !part->p_memsz) continue;
    char *first = (char *)(part->p_vaddr / PAGE * PAGE);
    const word bytes = part->p_vaddr + part->p_memsz - (word)first, allowed = part->p_flags;
    if (mmap(first, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != first) _exit(2);
    memcpy((char *)part->p_vaddr, file + part->p_offset, part->p_filesz);
    const int protection = (allowed & PF_R ? PROT_READ : 0) | (allowed & PF_W ? PROT_WRITE : 0) | (allowed & PF_X ? PROT_EXEC : 0);
    if (mprotect(first, bytes, protection)) _exit(2);
  }
  image = (const void *)head->e_entry;
  free(file);
}

int main(void) {
  read_all(&asked, sizeof asked);
  load();
  said.items = asked.sides[0] * asked.sides[1] * asked.sides[2];
  if (said.items == 0 || said.items > 1024 || asked.groups == 0 || asked.groups > 8) return 2;
  blocks = room(asked.blocks * sizeof *blocks);
  taken = room(asked.branches * sizeof *taken);
  reached = room(asked.branches * sizeof *reached);
  branches = room(asked.branches * sizeof *branches);
  sites = room(asked.sites * sizeof *sites);
  for (int i = 0; i < MOST && asked.kinds[i]; i++) {
    char *buffer = arena[i] + MARGIN + (word)i * STAGGER;
    fill(buffer, asked.kinds[i]);
    arguments[i] = (word)buffer;
  }
  stacks = mmap(NULL, said.items * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) return 2;
  for (word i = 0; i < said.items; i++)
    if (mprotect(stacks + i * STACK, GUARD, PROT_NONE)) return 2;
  if (asked.groups > 1) {
    of_arena = shadow(sizeof arena * sizeof *of_arena);
    of_variables = shadow(size_of_variables() * sizeof *of_variables);
  }
  for (group = 0; group < asked.groups; group++) run_group();
  sum_up();
  finish(FINE);
}
