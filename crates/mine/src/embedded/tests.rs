use super::*;
use proptest::prelude::*;

fn all(host: Host, text: &str) -> Vec<String> {
    extract(host, text, dataset::Language::OpenCl, &|_| None)
        .into_iter()
        .map(|found| found.text)
        .collect()
}

const KERNEL: &str = "kernel void a(global int *b) {\n  b[0] = 1;\n}\n";

/// A host program of any language, and the kernels in its strings.
#[test]
fn kernels_are_found_in_host_programs() {
    cases::beside("cases/embedded", |path, text| {
        let path = path.to_str().expect("a name");
        let Some(crate::tree::Role::Host(host)) = crate::tree::role(path) else {
            panic!("{path} is no host program")
        };
        let mut all = String::new();
        for Embedded { line, text, template } in
            extract(host, text, dataset::Language::OpenCl, &|_| None)
        {
            let holes = if template { ", holes filled" } else { "" };
            let end = if text.ends_with('\n') { "" } else { "\n" };
            all += &format!("== line {line}{holes}\n{text}{end}");
        }
        all
    });
}

#[test]
fn a_file_that_is_one_literal_has_its_value() {
    let (one, two) = KERNEL.split_at(20);
    assert_eq!(
        unwrap(&format!("// a license\nR\"({one})\"\nR\"({two})\"\n// end\n")).as_deref(),
        Some(KERNEL)
    );
    assert_eq!(unwrap(KERNEL), None);
}

#[test]
fn a_file_of_kernels_that_a_program_includes_as_a_literal_belongs_to_its_string() {
    let include = |name: &str| (name == "a.opencl").then(|| KERNEL.to_owned());
    let text = "Routine({\n#include \"a.opencl\"\n#include \"a.opencl\"\n});";
    let found = extract(Host::C, text, dataset::Language::OpenCl, &include);
    assert_eq!((found.len(), found[0].line), (1, 2));
    assert_eq!(found[0].text, KERNEL.repeat(2));
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
    crate::kernel::holds_kernel(body, dataset::Language::OpenCl)
        && !body.contains("${")
        && !body.contains("<%")
}
