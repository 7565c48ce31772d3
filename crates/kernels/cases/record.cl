// The struct's members stand in a header of the host program.
__kernel void move(__global struct Particle* all, float step) {
  __global struct Particle* one = all + get_global_id(0);
  one->x = one->x + one->speed * step * 0.5f;
  one->hits[one->cell & 3] += 1;
}
