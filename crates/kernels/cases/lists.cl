// What is assigned to a pointer to a record, and is a member of it, points to such a record.
__kernel void sum(__global float *g, __global list_t *head) {
  float s = 0;
  for (__global list_t *p = head; p; p = p->next)
    s += p->value;
  g[get_global_id(0)] = s;
}
__kernel void last(__global int *g, __global struct link *first) {
  __global struct link *at = first;
  while (at->key % 2)
    at = at->behind;
  g[get_global_id(0)] = at->key;
}
