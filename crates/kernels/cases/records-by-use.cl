// Members have the types that they are used as; equal uses give equal structures.
__kernel void walk(__global struct node* nodes, __global struct box* boxes, __global float* f, int n) {
  int i = get_global_id(0);
  if (i < nodes[i].count) f[i] = nodes[i].weight * 2.0f + nodes[i].key[2] % 3;
  f[i] += nodes[i].low.x - nodes[i].low.w * 0.5f;
  boxes[i].length = nodes[n].count << 1;
  boxes[i].volume += f[i];
}
// A type of unknown name with members is a structure, or a vector where they are lanes.
__kernel void read(__global Particle* all, __global Colour* shades, __global float* f) {
  int i = get_global_id(0);
  Particle one = all[i];
  f[i] = one.mass * 0.5f + one.charge * f[i];
  one.cell = i & 7;
  all[i] = one;
  shades[i].x = 1.0f;
  shades[i].w = shades[i].y * f[i];
}
