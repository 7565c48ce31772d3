snprintf(buffer, sizeof buffer, "kernel void a(global %s *b) { b[%d] = 1; }", type, index);
