/* What a work-item asks of its place: the loop over the group says it. Sizes come as macros STAMPMILL_X, _Y and _Z. */
static global ulong stampmill_place[3];
#define STAMPMILL_ASK(NAME, X, Y, Z, REST)                                       \
  size_t __attribute__((overloadable, always_inline)) NAME(uint dimension) {     \
    return dimension == 0 ? (X) : dimension == 1 ? (Y) : dimension == 2 ? (Z) : (REST); \
  }
STAMPMILL_ASK(get_global_id, stampmill_place[0], stampmill_place[1], stampmill_place[2], 0)
STAMPMILL_ASK(get_local_id, stampmill_place[0], stampmill_place[1], stampmill_place[2], 0)
STAMPMILL_ASK(get_global_size, STAMPMILL_X, STAMPMILL_Y, STAMPMILL_Z, 1)
STAMPMILL_ASK(get_local_size, STAMPMILL_X, STAMPMILL_Y, STAMPMILL_Z, 1)
STAMPMILL_ASK(get_enqueued_local_size, STAMPMILL_X, STAMPMILL_Y, STAMPMILL_Z, 1)
STAMPMILL_ASK(get_group_id, 0, 0, 0, 0)
STAMPMILL_ASK(get_num_groups, 1, 1, 1, 1)
STAMPMILL_ASK(get_global_offset, 0, 0, 0, 0)
uint __attribute__((overloadable, always_inline)) get_work_dim(void) {
  return STAMPMILL_Z > 1 ? 3 : STAMPMILL_Y > 1 ? 2 : 1;
}
size_t __attribute__((overloadable, always_inline)) get_global_linear_id(void) {
  return (stampmill_place[2] * STAMPMILL_Y + stampmill_place[1]) * STAMPMILL_X + stampmill_place[0];
}
size_t __attribute__((overloadable, always_inline)) get_local_linear_id(void) { return get_global_linear_id(); }
#undef STAMPMILL_ASK
