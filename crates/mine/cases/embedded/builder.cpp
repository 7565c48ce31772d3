void f(std::string &s, T type) {
  s.append("kernel void a(global ");
  s.append(type);
  s.append(" *b) {");
if (x) {
 s.append("b[0]");
 } else {
 s.append("b[1]");
 }
 s.append(" = 1; }");
}
 void g() { s.append("no"); }
