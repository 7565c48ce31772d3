//! What does nothing is refused, and what people write is not.

use stampmill_grammar::{Useful, Useless};

/// Lexemes of a text.
fn lexemes(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let word = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
            .unwrap_or(rest.len());
        let three = rest.get(..3).filter(|sign| matches!(*sign, "<<=" | ">>="));
        let two = rest.get(..2).filter(|sign| {
            matches!(
                *sign,
                "==" | "!="
                    | "<="
                    | ">="
                    | "&&"
                    | "||"
                    | "++"
                    | "--"
                    | "+="
                    | "-="
                    | "*="
                    | "/="
                    | "%="
                    | "&="
                    | "|="
                    | "^="
                    | "<<"
                    | ">>"
                    | "->"
            )
        });
        let numeric = rest.starts_with(|c: char| c.is_ascii_digit());
        let end = match () {
            () if word > 0 && (numeric || !rest[..word].contains('.')) => word,
            () if word > 0 => rest.find('.').unwrap_or(word).max(1),
            () => three.or(two).map_or(1, str::len),
        };
        all.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    all
}

/// Of a program, statement by statement.
fn read(text: &str) -> Result<(), Useless> {
    let lexemes = lexemes(text);
    let mut useful = Useful::new();
    let (mut from, mut depth) = (0, 0);
    for (at, lexeme) in lexemes.iter().enumerate() {
        match lexeme.as_str() {
            "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            _ => {}
        }
        let alone = !matches!(lexemes.get(at + 1).map(String::as_str), Some("else"));
        if depth == 0 && matches!(lexeme.as_str(), ";" | "{" | "}") && alone {
            let part: Vec<&str> = lexemes[from..=at].iter().map(String::as_str).collect();
            useful.read(&part)?;
            from = at + 1;
        }
    }
    Ok(())
}

/// Within a kernel that writes a result.
fn body(text: &str) -> Result<(), Useless> {
    read(&format!(
        "kernel void A(global float* a, global const int* b, local float* t, const int n, float f) {{ int i = get_global_id(0); {text} a[i] = a[i] + b[i]; }}"
    ))
}

#[test]
fn what_people_write_is_useful() {
    for text in [
        "",
        "if (i >= n) return;",
        "if (i < n) { a[i] = b[i] * 2; } else { a[i] = 0.0f; }",
        "float s = 0.0f; for (int k = 0; k < n; k++) s += a[k] * b[k]; a[i] = s;",
        "float s = 0; for (int k = 0; k < n; ++k) { if (b[k] > 0) { s += a[k]; } } a[i] += s;",
        "t[get_local_id(0)] = a[i]; barrier(CLK_LOCAL_MEM_FENCE); a[i] = t[0];",
        "float4 v = vload4(i, a); vstore4(v * f, i, a);",
        "global float* p = a + i; *p = b[i]; p[1] = f;",
        "int k = n; while (k > 1) { k = k / 2; a[k + i] *= f; }",
        "float4 v = (float4)(f, f, f, a[i]); v.x = f; v.yz = v.xx; a[i] = v.x;",
        "float x; x = a[i]; x = x * f; a[i] = x;",
        "int j = i, k = b[j]; if (k == j) k = n; a[k % n] = f * (float)j;",
        "uint h = b[i]; h ^= h << 13; h ^= h >> 17; a[i] = h;",
        "float m[3]; for (int k = 0; k < 3; k++) { m[k] = a[i + k]; } a[i] = m[0] + m[1];",
        "switch (b[i]) { case 0: a[i] = f; break; default: a[i] = -f; }",
        "a[i] = b[i] > 0 ? f : 2.0f;",
        "float4 v = (float4)(f, a[i], 0.0f, 1.0f); a[i] += v.x + v.y;",
        "int m = 0; do { a[i] += m; m++; } while (m < n);",
        "for (int k = 0; n > k; k++) { a[i] += k; } for (int k = 1; k < n; k *= 2) { a[i] -= k; }",
        "int m = 1; for (int k = n; k > 0; k >>= 1, m <<= 1) { a[i] += m; }",
        "float c; float s = sincos(f, &c); a[i] = c * s;",
        "for (int k = n; k > 0; k >>= 1) { if (i < k) { a[i] += a[i + k]; } barrier(1); t[0] = f; }",
    ] {
        assert_eq!(body(text), Ok(()), "{text}");
    }
}

#[test]
fn what_does_nothing_is_refused() {
    for (text, why) in [
        ("i == n;", Useless::NoEffect),
        ("i = i;", Useless::NoEffect),
        ("a[i] = a[i];", Useless::NoEffect),
        (";", Useless::NoEffect),
        ("if (i < n) { }", Useless::NoEffect),
        ("int k = 0; k = 1;", Useless::Overwritten),
        ("a[i] = f; a[i] = f;", Useless::Repeated),
        ("int k = n; k += i; k *= i; k += n; k ^= i;", Useless::Repeated),
        ("float x; a[i] = x;", Useless::Uninitialized),
        ("float m[3]; a[i] = m[0];", Useless::Uninitialized),
        ("if (i < i) { a[i] = f; }", Useless::Constant),
        ("while (1) { a[i] = f; }", Useless::Constant),
        ("for (int k = 0; k < n; k--) a[k] = f;", Useless::Endless),
        ("int j = 0; for (int k = 0; k < n; j++) a[k] = f;", Useless::Endless),
        ("for (int k = 0; k < n; k++) { k += i; }", Useless::Endless),
        ("for (int k = 0; k < n + k; k++) a[k] = f;", Useless::Endless),
        ("int m = 0; for (int k = 0; k < m + 64; m++) a[i] += k;", Useless::Endless),
        ("for (int k = 0; n < k; k++) a[k] = f;", Useless::Endless),
        ("int m = 0; while (m < n) ; m++;", Useless::Endless),
        ("for (int k = 0; k < 0.5f; k++) a[k] = f;", Useless::Constant),
        ("for (int k = 0; k < 32e04767; k++) a[k] = f;", Useless::Endless),
        ("for (int k = 0; k < n; k <<= 1) a[k] = f;", Useless::Endless),
        ("a[i] += f, f + n;", Useless::NoEffect),
        ("a[i] += fmax((f, a[1]), 1.0f);", Useless::NoEffect),
        ("int k = 4; while (k < n) { a[i] = f; }", Useless::Endless),
        ("for (int k = 0; k < n; k++) { break; a[i] = f; }", Useless::Unreachable),
        ("printf(\"x\");", Useless::Unsupported),
        ("if (i < n) { int n = a[i]; a[i] += n; }", Useless::Shadowed),
        ("float pow = f; a[i] = pow;", Useless::Shadowed),
        ("volatile float x = f; a[i] = x;", Useless::Unsupported),
        ("a[i] = f * 2.12771677956770955161616951671f;", Useless::Digits),
        ("if (a < f) { a[i] = f; }", Useless::NoEffect),
        ("return;", Useless::NoOutput),
    ] {
        assert_eq!(body(text), Err(why), "{text}");
    }
}

#[test]
fn a_kernel_has_a_buffer_and_writes_a_result() {
    assert_eq!(read("kernel void A(global const float* a, int n) {"), Err(Useless::NoBuffer));
    let head = "kernel void A(global float* a, global int* b) { int i = get_global_id(0);";
    assert_eq!(read(&format!("{head} }}")), Err(Useless::NoOutput));
    // What is written depends on no buffer, or all work-items write one place.
    assert_eq!(read(&format!("{head} a[i] = 1.0f; }}")), Err(Useless::NoOutput));
    assert_eq!(read(&format!("{head} a[0] = b[0]; }}")), Err(Useless::NoOutput));
    assert_eq!(read(&format!("{head} a[i] = b[i]; }}")), Ok(()));
    assert_eq!(read(&format!("{head} atomic_add(&b[0], b[i]); }}")), Ok(()));
    assert_eq!(read(&format!("{head} if (i < 4) {{ a[i] = b[i]; }} }}")), Ok(()));
    // Of helper functions nothing is asked.
    let helper =
        "float f(float x) { return x * x; } void g(global float* p, float v) { p[0] = v; }";
    assert_eq!(read(&format!("{helper} {head} g(a + i, f(a[i])); }}")), Ok(()));
}

#[test]
fn what_is_owed_is_told() {
    let mut useful = Useful::new();
    let head = lexemes("kernel void A(global float* a, global const int* b, global int* c) {");
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    useful.read(&head).unwrap();
    assert_eq!((useful.owed(0), useful.owed(1), useful.owed(2)), (Some("a"), Some("c"), Some("a")));
    useful
        .read(&["c", "[", "get_global_id", "(", "0", ")", "]", "=", "b", "[", "1", "]", ";"])
        .unwrap();
    assert_eq!(useful.owed(0), None);
}

#[test]
fn what_somebody_goes_on_behind_is_not_left() {
    let mut useful = Useful::new();
    let read = |useful: &mut Useful, text: &str| {
        let lexemes = lexemes(text);
        useful.read(&lexemes.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let head = "kernel void A(global float* a, int n) { int i = get_global_id(0);";
    read(&mut useful, head).expect("it is useful");
    useful.keep_open();
    assert_eq!(read(&mut useful, "return;"), Err(Useless::Unreachable));
    useful.ask_no_result();
    let turns = "for (int k = 0; k < n; k++) { a[k] = 1.0f; return; }";
    assert_eq!(read(&mut useful, turns), Err(Useless::Unreachable));
    assert_eq!(read(&mut useful, "if (i >= n) return;"), Ok(()));
}

#[test]
fn what_somebody_reads_of_what_was_computed_is_named() {
    let mut useful = Useful::new();
    let read = |useful: &mut Useful, text: &str| {
        let lexemes = lexemes(text);
        useful.read(&lexemes.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let head = "kernel void A(global float* a, local float* t, int n) { int i = get_global_id(0); float s = 0;";
    read(&mut useful, head).expect("it is useful");
    let named = |useful: &Useful, text: &str| -> Vec<String> {
        let lexemes = lexemes(text);
        let lexemes: Vec<&str> = lexemes.iter().map(String::as_str).collect();
        useful.named(&lexemes).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(named(&useful, "a[i] = s; }"), ["s"]);
    assert_eq!(named(&useful, "a[i] += a[i]; }"), Vec::<String>::new());
    let mut kept = useful.clone();
    kept.keep_items(&["a", "[", "i", "]", "=", "s", ";"]);
    assert_eq!(read(&mut kept, "i += 2;"), Err(Useless::Endless));
    assert_eq!(read(&mut kept, "s += a[i];"), Ok(()));
    assert_eq!(named(&useful, "a[0] = t[0]; }"), Vec::<String>::new());
    assert_eq!(read(&mut useful.clone(), "a[i] = s; }"), Err(Useless::Overwritten));
    let names = ["s".into()];
    let writes = useful.writes(&names);
    read(&mut useful, "s += a[i]; t[i & 3] = s;").expect("they are useful");
    assert_eq!(useful.writes(&names), writes + 1);
    assert_eq!(named(&useful, "a[i] = t[0]; }"), ["t"]);
    assert!(useful.has_elements("t") && !useful.has_elements("s"));
    assert_eq!(read(&mut useful, "a[i] = s; }"), Ok(()));
}

#[test]
fn all_that_would_be_refused_is_told() {
    let text = "kernel void A(global float* a, int n) { float s; int i = get_global_id(0); a[i] += s; while (1) { int k; a[i] += k; } }";
    let lexemes = lexemes(text);
    let lexemes: Vec<&str> = lexemes.iter().map(String::as_str).collect();
    let refused = Useful::new().refused(&lexemes);
    let unset = refused.iter().filter(|why| **why == Useless::Uninitialized).count();
    assert_eq!((unset, refused.contains(&Useless::Constant)), (2, true), "{refused:?}");
}

#[test]
fn what_somebody_wrote_is_followed_though_it_would_be_refused() {
    let mut useful = Useful::new();
    let tokens = |text: &str| lexemes(text);
    let accept = |useful: &mut Useful, text: &str| {
        let lexemes = tokens(text);
        useful.accept(&lexemes.iter().map(String::as_str).collect::<Vec<_>>());
    };
    accept(&mut useful, "kernel void A(global float* a, int n) { int i = get_global_id(0);");
    accept(&mut useful, "float s = 0; s = 0; while (1) {");
    assert_eq!(useful.depth(), 2);
    let read = |useful: &Useful, text: &str| {
        let lexemes = tokens(text);
        useful.clone().read(&lexemes.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(read(&useful, "s += a[i];"), Ok(()));
    assert_eq!(read(&useful, "int j; int k = j;"), Err(Useless::Uninitialized));
    assert_eq!(read(&useful, "i = i;"), Err(Useless::NoEffect));
    accept(&mut useful, "} a[i] = s; }");
    assert_eq!(useful.depth(), 0);
}

/// Whatever is read, it ends and does not panic.
#[test]
fn any_lexemes_are_read() {
    const LEXEMES: [&str; 44] = [
        "kernel",
        "void",
        "A",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        "=",
        "+=",
        "++",
        "*",
        "&",
        "-",
        "<",
        "?",
        ":",
        ".",
        "->",
        "if",
        "else",
        "for",
        "while",
        "do",
        "switch",
        "case",
        "return",
        "break",
        "int",
        "float4",
        "global",
        "struct",
        "typedef",
        "a",
        "b",
        "sizeof",
        "get_global_id",
        "barrier",
        "__attribute__",
        "0",
        "#pragma unroll",
    ];
    // Numbers of a linear congruential generator (Knuth's MMIX).
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for round in 0..200_000 {
        let mut useful = Useful::new();
        if round % 2 == 0 {
            useful.accept(&["kernel", "void", "A", "(", "global", "int", "*", "a", ")", "{"]);
        }
        for _ in 0..3 {
            let some: Vec<&str> = (0..1 + next(14)).map(|_| LEXEMES[next(LEXEMES.len())]).collect();
            let _ = useful.read(&some);
            useful.accept(&some);
            let _ = (useful.owed(0), useful.items(), useful.unread(), useful.readable());
        }
        useful.shut();
    }
}
