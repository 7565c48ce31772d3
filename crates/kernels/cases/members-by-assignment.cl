// What is assigned or added from floating-point arithmetic is a floating-point number, and what as_TYPE gives has that type.
__kernel void move(__global particle *p, float dt) {
  int i = get_global_id(0);
  p[i].pos += p[i].vel * dt;
  p[i].age += 1;
}
__kernel void push(__global const Body *in, __global Body *out, float dt) {
  int i = get_global_id(0);
  Body b = in[i];
  b.x += b.vx * dt;
  b.cell = (int)(b.vx * dt);
  out[i] = b;
}
__kernel void turn(__global struct wheel *w, float dt) {
  int i = get_global_id(0);
  w[i].at.x += w[i].by.x * dt;
  w[i].at.w += w[i].by.w * dt;
}
__kernel void bits(__global int *g) {
  int i = get_global_id(0);
  both u;
  u.f = as_float(g[i]);
  u.i = as_int(u.f);
  g[i] = u.i & 0x7fffffff;
}
