// A member of which components are asked is a vector, one of which other members are asked a structure.
__kernel void pull(__global body* b, __global float* g) {
  int i = get_global_id(0);
  body me = b[i];
  g[i] = me.pos.x * me.mass;
}
__kernel void turn(__global wheel* w, __global float* g) {
  int i = get_global_id(0);
  wheel me = w[i];
  g[i] = me.motion.speed * 0.5f;
  g[i] += w[i].spokes[2].w * 2.0f;
  if (me.motion.kind % 2)
    g[i] = 0.0f;
}
