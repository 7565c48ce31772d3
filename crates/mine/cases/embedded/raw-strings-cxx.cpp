auto s = R"CLC(kernel void a(global int *b) {
  b[0] = 1;
}
)CLC"; auto t = R"(none)";
