let s = r#"kernel void a(global int *b) {
  b[0] = 1;
}
"#; let t: &'static str = "kernel void \
    b() {}";
