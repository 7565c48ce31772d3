const char *s =
  "kernel void a(global int *b) {\n" // c
  /* d */ "  b[0] = 1;\n" \
  "}\n";
