//! Programs that mean harm: each costs a diagnostic or one worker, never the run.

use crate::support::{WORKER, clang, start};
use clang::{Clang, Includes, Language, Options, Triple};
use sandbox::Death;
use std::{fs, time::Duration};

const GOOD: &str = "kernel void k(global int* a) { a[0] = 1; }";

fn assert_goes_on(clang: &Clang) {
    let answer = clang.compile(GOOD, &Options::opencl()).expect("the next program finds a worker");
    assert!(answer.code.is_some());
}

#[test]
fn files_of_the_machine_do_not_exist() {
    for path in [
        "/etc/passwd",
        "/dev/zero",
        "/proc/self/maps",
        "../../../../etc/passwd",
        "/usr/include/stdio.h",
    ] {
        for spelling in [format!("#include \"{path}\"\n"), format!("#include <{path}>\n")] {
            let answer =
                clang().preprocess(&spelling, &Options::opencl()).expect("the worker survives");
            assert_eq!(answer.first_error().expect("it is rejected").kind, "err_pp_file_not_found");
            assert_eq!(answer.text.expect("text comes all the same").trim(), "");
        }
    }
    let asks = "#if __has_include(\"/etc/passwd\")\nint leaked;\n#endif\n";
    let answer = clang().preprocess(asks, &Options::opencl()).expect("the worker survives");
    assert_eq!(answer.text.as_deref(), Some(""));
    let embed = "const char x[] = {\n#embed \"/etc/passwd\"\n};\n";
    assert!(
        clang()
            .compile(embed, &Options::opencl())
            .expect("the worker survives")
            .first_error()
            .is_some()
    );
    let assembly = "__asm__(\".incbin \\\"/etc/passwd\\\"\");\n";
    let host = Options {
        language: Language::C,
        triple: Triple::Host,
        standard: String::new(),
        ..Options::opencl()
    };
    // LLVM looks for what assembler names past our file system; the sandbox lets it find nothing.
    let own = start();
    match own.compile(assembly, &host) {
        Err(death) => assert_eq!(death.name(), "crash", "{death}"),
        Ok(answer) => assert!(answer.first_error().is_some(), "the file was read"),
    }
    assert_goes_on(&own);
}

#[test]
fn endless_recursion_of_includes_is_a_diagnostic() {
    let options =
        Options { headers: vec![("r.h".into(), "#include \"r.h\"\n".into())], ..Options::opencl() };
    let answer = clang().compile("#include \"r.h\"\n", &options).expect("the worker survives");
    assert_eq!(answer.first_error().expect("it is rejected").kind, "err_pp_include_too_deep");
}

#[test]
fn a_macro_bomb_costs_one_worker_at_most() {
    let clang = start().with_limit(Duration::from_secs(3));
    let mut bomb = String::from("#define A0 x x x x x x x x x x\n");
    for i in 1..12 {
        let j = i - 1;
        bomb += &format!("#define A{i} A{j} A{j} A{j} A{j} A{j} A{j} A{j} A{j} A{j} A{j}\n");
    }
    bomb += "A11\n";
    clang.preprocess(&bomb, &Options::opencl()).expect_err("no worker lives through it");
    assert_goes_on(&clang);
}

#[test]
fn a_program_that_wants_more_memory_than_the_limit_is_said_to() {
    let clang = start();
    let text = "x".repeat(100);
    let mut strings = format!("#define A0 \"{text}\"\n");
    for n in 1..=6 {
        strings += &format!("#define A{n} {}\n", format!("A{} ", n - 1).repeat(10));
    }
    strings += "constant char s[] = A6 A6 A6; kernel void k(global char* a) { a[0] = s[a[1]]; }\n";
    // clang asks for the one by `malloc`, for the other by `new`.
    let array = "constant int s[] = { [300000000] = 7 }; kernel void k(global int* a) { a[0] = s[a[1]]; }\n";
    for source in [&strings, array] {
        let answer =
            clang.compile(source, &Options::opencl()).map(|answer| answer.diagnostics.len());
        assert_eq!(answer, Err(Death::Memory));
        assert_goes_on(&clang);
    }
}

#[test]
fn deep_nesting_is_answered_or_costs_one_worker() {
    let clang = start().with_limit(Duration::from_secs(3));
    let parentheses = format!(
        "kernel void k(global int* a) {{ a[0] = {}1{}; }}",
        "(".repeat(50_000),
        ")".repeat(50_000)
    );
    let answer =
        clang.compile(&parentheses, &Options::opencl()).expect("clang has a limit of its own");
    assert_eq!(answer.first_error().expect("it is rejected").kind, "err_bracket_depth_exceeded");
    let branches =
        format!("kernel void k(global int* a) {{ {} ; }}", "if (a[0]) ; else ".repeat(20_000));
    let sum =
        format!("kernel void k(global int* a) {{ a[0] = a[1]{}; }}", " + a[1]".repeat(300_000));
    for source in [branches, sum] {
        if let Ok(answer) = clang.compile(&source, &Options::opencl()) {
            assert!(answer.code.is_some() || answer.first_error().is_some());
        }
        assert_goes_on(&clang);
    }
}

#[test]
fn a_crash_of_clang_is_a_death_and_the_pool_goes_on() {
    let clang = start();
    for _ in 0..2 {
        clang
            .compile("#pragma clang __debug llvm_fatal_error\n", &Options::opencl())
            .expect_err("it ends the worker");
        assert_goes_on(&clang);
    }
}

#[test]
fn any_bytes_are_survived() {
    for source in [
        "",
        "\0",
        "\u{feff}int x;",
        "}}}}",
        "\\",
        "#",
        "/*",
        "\"",
        "kernel void k(",
        "int a[",
        "??=define",
        "\u{1F600}",
    ] {
        for answer in [
            clang().compile(source, &Options::opencl()),
            clang().parse(source, &Options::opencl()),
            clang().preprocess(source, &Options::opencl()),
            clang().tokens(source, &Options::opencl()),
            clang().format(source, Language::OpenCl),
            clang().canonical_ir(source, &Options::opencl(), "k"),
        ] {
            answer.unwrap_or_else(|death| panic!("{source:?}: {death}"));
        }
    }
}

#[test]
fn senseless_options_are_diagnostics() {
    let options = Options { standard: "CL9.9".into(), ..Options::opencl() };
    for _ in 0..2 {
        let answer = clang().compile(GOOD, &options).expect("the worker survives");
        assert_eq!(answer.first_error().expect("it is rejected").kind, "err_drv_invalid_value");
    }
}

#[test]
fn memory_does_not_grow_with_the_number_of_programs() {
    let clang = start();
    let resident = || {
        let pid = own_child();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
        let line =
            status.lines().find(|line| line.starts_with("VmRSS:")).expect("the kernel reports it");
        let digits: String = line.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().expect("a number of KiB")
    };
    let compile = |count: usize| {
        for i in 0..count {
            let source = format!("kernel void k(global int* a) {{ a[{i}] = {i}; }}");
            clang.compile(&source, &Options::opencl()).expect("the worker survives");
        }
    };
    compile(200);
    let before = resident();
    compile(600);
    let grown = resident().saturating_sub(before);
    assert!(grown < 8 << 10, "grew by {grown} KiB over 600 programs");
}

/// The worker that this very thread started; other tests have theirs.
fn own_child() -> u32 {
    let list = fs::read_to_string("/proc/thread-self/children").expect("the kernel lists them");
    let children: Vec<&str> = list.split_whitespace().collect();
    assert_eq!(children.len(), 1, "one worker was started by this thread: {children:?}");
    children[0].parse().expect("a process id")
}

#[test]
fn host_headers_are_all_of_the_machine_that_a_program_can_see_where_asked_for() {
    let clang = Clang::start_at(WORKER.as_ref(), 1, Includes::Host).expect("it starts");
    let host = |language| Options {
        language,
        triple: Triple::Host,
        standard: String::new(),
        ..Options::opencl()
    };
    for path in
        ["/etc/passwd", "/usr/include/../../etc/passwd", "/proc/self/maps", "../../etc/passwd"]
    {
        let source = format!("#include \"{path}\"\n");
        let answer = clang.preprocess(&source, &host(Language::C)).expect("the worker survives");
        assert_eq!(
            answer.first_error().map(|error| error.kind.as_str()),
            Some("err_pp_file_not_found"),
            "{path}"
        );
    }
    let c = "#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\nint main(void) { printf(\"%f\", sin(1)); return EXIT_SUCCESS; }\n";
    let answer = clang.parse(c, &host(Language::C)).expect("the worker survives");
    assert_eq!(answer.first_error(), None);
    assert_eq!(answer.facts.expect("a parse answers with facts").declarations.len(), 1);
    let text = clang.preprocess(c, &host(Language::C)).expect("the worker survives").text;
    assert_eq!(text.as_deref(), Some("int main(void) { printf(\"%f\", sin(1)); return 0; }\n"));
    let cxx = "#include <bits/stdc++.h>\nint main() { std::vector<int> v{3, 1}; std::sort(v.begin(), v.end()); std::cout << v[0]; }\n";
    let answer = clang.compile(cxx, &host(Language::Cxx)).expect("the worker survives");
    assert_eq!(answer.first_error(), None);
    assert!(answer.code.is_some());
}
