// Comments go, macros are expanded, everything gets a short name.
#define SQUARE(x) ((x) * (x))
#ifdef NEVER
int never(int number) { return number; }
#endif
typedef struct { float weight; int index[2]; } Item;
enum Mode { FIRST = 1, SECOND };
__constant float table[3] = {1.0f, 2.0f, 3.0f};
__constant float unused[3] = {1.0f, 2.0f, 3.0f};
float later(float value);
inline float helper(const Item item, float factor) { return item.weight * SQUARE(factor) + later(factor); }
float later(float value) { return value + table[1]; }
float not_needed(float value) { return value; }
kernel void first(global Item* restrict items, global float* out, const int count) {
  size_t id = get_global_id(0);
  for (int i = 0; i < count; ++i) { int step = i + SECOND; out[id] += helper(items[i], out[step]); }
  for (int i = 0; i < 2; i++) {
    if (out[i] < 0.0f) goto done;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
done:
  out[id] = sqrt(out[id]);
}
kernel __attribute__((reqd_work_group_size(8, 8, 1))) void second(global float4* data, local int* tile) {
  tile[get_local_id(1)] = get_local_id(0);
  data[get_global_id(0)].xyz *= (float)tile[0];
}
