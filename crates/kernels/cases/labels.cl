// Names that are labels of a switch have values of their own; one that is no label has what its name and place ask for.
enum { STOP = 3, GO };
__kernel void choose(__global int *g, int mode, int op) {
  int i = get_global_id(0);
  switch (mode) {
    case MODE_A: g[i] += 1; break;
    case MODE_B: g[i] *= 2; break;
    case GO: g[i] = 7; break;
    default: g[i] = LEVEL_9;
  }
  switch (op) {
    case ADD: g[i] += 4; break;
    case 6: g[i] += 5; break;
    case SUB: g[i] -= 4;
  }
}
