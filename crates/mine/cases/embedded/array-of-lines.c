f("name", "-O2"); const char *s[] = { "kernel void a(global int *b) {\n", "  b[0] = 1;\n", "}\n" };
