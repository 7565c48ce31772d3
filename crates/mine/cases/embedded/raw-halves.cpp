s = R"(kernel void a(global)" // too long
 R"( int *b) {
  b[0] = 1;
}
)";
