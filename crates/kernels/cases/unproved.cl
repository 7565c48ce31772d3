// A kernel that prints its own name is another program once it has a new one.
__kernel void named(__global int* a) {
  printf("%s", __func__);
  a[get_global_id(0)] += 2;
}
// A pragma that holds for a part of its file holds for all of what is isolated.
#pragma pack(1)
typedef struct { char tag; int value; } Tight;
#pragma pack()
typedef struct { char tag; int value; } Loose;
__kernel void part(__global Tight* a, __global Loose* b) { a[get_global_id(0)].value += b[get_global_id(0)].value; }
// What clang does not tell of is not isolated.
enum { SIDE = 8 };
__kernel __attribute__((reqd_work_group_size(SIDE, 1, 1))) void sized(__global int* a) { a[get_global_id(0)] += 2; }
// It is nothing to these.
__kernel void none(void) { }
__kernel void plain(__global int* a) { a[get_global_id(0)] += 2; }
