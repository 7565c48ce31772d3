use super::*;
use proptest::prelude::*;

fn all(host: Host, text: &str) -> Vec<String> {
    extract(host, text, &|_| None).into_iter().map(|found| found.text).collect()
}

const KERNEL: &str = "kernel void a(global int *b) {\n  b[0] = 1;\n}\n";

#[test]
fn adjacent_literals_of_c_are_one_string() {
    let text = "const char *s =\n  \"kernel void a(global int *b) {\\n\" // c\n  /* d */ \"  b[0] = 1;\\n\" \\\n  \"}\\n\";";
    assert_eq!(all(Host::C, text), [KERNEL]);
}

#[test]
fn an_array_of_lines_is_one_string_and_a_name_before_it_is_not() {
    let text = "f(\"name\", \"-O2\"); const char *s[] = { \"kernel void a(global int *b) {\\n\", \"  b[0] = 1;\\n\", \"}\\n\" };";
    assert_eq!(all(Host::C, text), [KERNEL]);
}

#[test]
fn raw_strings_of_cxx_and_rust_are_taken_as_they_are() {
    let cxx = format!("auto s = R\"CLC({KERNEL})CLC\"; auto t = R\"(none)\";");
    assert_eq!(all(Host::C, &cxx), [KERNEL]);
    let rust =
        format!("let s = r#\"{KERNEL}\"#; let t: &'static str = \"kernel void \\\n    b() {{}}\";");
    assert_eq!(all(Host::Rust, &rust), [KERNEL, "kernel void b() {}"]);
}

#[test]
fn a_raw_string_in_two_halves_is_one() {
    let (one, two) = KERNEL.split_at(20);
    assert_eq!(all(Host::C, &format!("s = R\"({one})\" // too long\n R\"({two})\";")), [KERNEL]);
    assert_eq!(
        unwrap(&format!("// a licence\nR\"({one})\"\nR\"({two})\"\n// end\n")).as_deref(),
        Some(KERNEL)
    );
    assert_eq!(unwrap(KERNEL), None);
}

#[test]
fn stringified_code_is_a_string() {
    let known = "#define CODE(...) #__VA_ARGS__\nconst char *s = CODE(kernel void a(int x, int y) { x += y; });";
    assert_eq!(all(Host::C, known), ["kernel void a(int x, int y) { x += y; }"]);
    let elsewhere = "const char *s = BOOST_COMPUTE_STRINGIZE_SOURCE(__kernel void a(int x, int y) { x += y; });";
    assert_eq!(all(Host::C, elsewhere), ["__kernel void a(int x, int y) { x += y; }"]);
    let directives = "#define DEFINE(N, ...) \"\\n#\" \"define \" #N \" \" #__VA_ARGS__ \"\\n\"\n#define S(c) #c\n\
        s = DEFINE(MAX, (1 + 2)) S(kernel void a(int x) { x = MAX; });";
    assert_eq!(
        all(Host::C, directives),
        ["\n#define MAX (1 + 2)\nkernel void a(int x) { x = MAX; }"]
    );
}

#[test]
fn lines_sent_to_a_builder_are_one_string_with_holes_by_name() {
    let text = "void f(std::string &s, T type) {\n  s.append(\"kernel void a(global \");\n  s.append(type);\n  s.append(\" *b) {\");\n\
        if (x) {\n s.append(\"b[0]\");\n } else {\n s.append(\"b[1]\");\n }\n s.append(\" = 1; }\");\n}\n void g() { s.append(\"no\"); }";
    assert_eq!(all(Host::C, text), ["kernel void a(global type *b) {b[0] = 1; }"]);
    let stream = "ss << \"kernel void a(global \" << name(type) << \" *b) {\\n\";\nss << \"}\";";
    assert_eq!(all(Host::C, stream), ["kernel void a(global type *b) {\n}"]);
}

#[test]
fn holes_of_format_strings_have_the_names_of_what_fills_them() {
    let percent = "SRC = \"\"\"kernel void a(global %(dtype)s *b) { b[0] %% %d; }\"\"\" % (n)";
    assert_eq!(all(Host::Python, percent), ["kernel void a(global dtype *b) { b[0] % n; }"]);
    let braces = "s = 'kernel void a(global {} *b) {{ b[{at}] = 1; }}'.format(dtype, at=3)";
    assert_eq!(all(Host::Python, braces), ["kernel void a(global dtype *b) { b[at] = 1; }"]);
    let f = "s = f'kernel void a(global {np.dtype} *b) {{ }}'";
    assert_eq!(all(Host::Python, f), ["kernel void a(global dtype *b) { }"]);
    let c = "snprintf(buffer, sizeof buffer, \"kernel void a(global %s *b) { b[%d] = 1; }\", type, index);";
    assert_eq!(all(Host::C, c), ["kernel void a(global type *b) { b[index] = 1; }"]);
    let mako = "s = Template('kernel void a(global ${dtype} *b) { }')";
    assert_eq!(all(Host::Python, mako), ["kernel void a(global dtype *b) { }"]);
}

#[test]
fn only_the_first_branch_of_a_conditional_counts() {
    let text = "s = \"kernel void a() {\"\n#if X\n#ifdef Y\n\"1;\"\n#else\n\"no;\"\n#endif\n#else\n\"no;\"\n#endif\n\"}\";";
    assert_eq!(all(Host::C, text), ["kernel void a() {1;}"]);
}

#[test]
fn a_file_of_kernels_that_a_program_includes_as_a_literal_belongs_to_its_string() {
    let include = |name: &str| (name == "a.opencl").then(|| KERNEL.to_owned());
    let text = "Routine({\n#include \"a.opencl\"\n#include \"a.opencl\"\n});";
    let found = extract(Host::C, text, &include);
    assert_eq!((found.len(), found[0].line), (1, 2));
    assert_eq!(found[0].text, KERNEL.repeat(2));
}

#[test]
fn metal_and_plain_strings_are_no_kernels() {
    assert!(
        all(
            Host::C,
            "\"kernel void a(device float *x [[buffer(0)]]) {}\"; \"the kernel void { }\""
        )
        .is_empty()
    );
    assert!(all(Host::Python, "# 'kernel void a() {}'\n").is_empty());
}

/// Texts that make lexers trip.
fn nasty() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\"",
        "'",
        "\\",
        "\n",
        "R\"(",
        ")\"",
        "r#\"",
        "\"#",
        "\"\"\"",
        "/*",
        "*/",
        "//",
        "#include \"x\"",
        "#define A(x) #x\n",
        "#define B A(B)\n",
        "A(",
        "B",
        "(",
        ")",
        "{",
        "}",
        "kernel void a() {",
        "__kernel",
        "%",
        "%(",
        "$(",
        "${",
        "`",
        "@\"",
        "f'{",
        " << ",
        " + ",
        ";",
        ",",
        "s.append(",
        "s += ",
        "é",
        "\u{1f600}",
        "\\u{",
        "\\x",
        "#else\n",
        "#endif\n",
        "#if 1\n",
        "else",
        "format(",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

/// Bodies of kernels without the one line end that Python and others would not have in a string.
fn body() -> impl Strategy<Value = String> {
    "[ -~\\n\\té]{0,80}".prop_map(|body| format!("kernel void a() {{ {body}"))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t")
}

proptest! {
    #[test]
    fn no_text_stops_a_lexer(text in nasty()) {
        // That it comes back at all is what is tested.
        let _ = (crate::fuzz::literals(&text), unwrap(&text));
    }

    #[test]
    fn what_is_extracted_is_the_value_of_the_literal(body in body(), cut in 0_usize..100) {
        prop_assume!(holds(&body));
        let mut cut = cut.min(body.len());
        while !body.is_char_boundary(cut) {
            cut -= 1;
        }
        let (one, two) = body.split_at(cut);
        let c = format!("char *s = \"{}\" /* x */\n \"{}\";", escaped(one), escaped(two));
        prop_assert_eq!(all(Host::C, &c), [body.clone()]);
        let python = format!("s = (u\"{}\"\n '''{}''')\n", escaped(one), escaped(two).replace('\'', "\\'"));
        prop_assert_eq!(all(Host::Python, &python), [body.clone()]);
        let rust = format!("let s = concat!(\"{}\", \"{}\");", escaped(one), escaped(two));
        prop_assert_eq!(all(Host::Rust, &rust), [body.clone()]);
        if !body.contains("\"##") {
            let raw = format!("let s = r##\"{body}\"##;");
            prop_assert_eq!(all(Host::Rust, &raw), [body.clone()]);
        }
        if !body.contains(")x\"") {
            prop_assert_eq!(all(Host::C, &format!("s = R\"x({body})x\";")), [body.clone()]);
        }
    }
}

fn holds(body: &str) -> bool {
    crate::kernel::holds_kernel(body) && !body.contains("${") && !body.contains("<%")
}
