use super::*;

/// Operators of more than one character.
const OPERATORS: [&str; 21] = [
    "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=",
];

/// The id of the end.
const END: u16 = 0;

/// Tokens: the end, bytes that continue a lexeme, characters, then whole words.
struct Tokens(Vec<Piece>);

impl Tokens {
    /// Keywords, types, operators and the words of a text are whole; the rest is spelled.
    fn of(text: &str) -> Tokens {
        let words = lexer::tokens(text).filter(|token| token.kind == lexer::Kind::Word);
        let whole = OPERATORS.into_iter().chain(KEYWORDS).chain(TYPES);
        let whole = whole.chain(words.map(|token| token.text)).filter(|word| word.len() > 1);
        let mut pieces = vec![Piece::End];
        pieces.extend((0..=255).map(Piece::Continue));
        pieces.extend((b'!'..=b'~').map(|byte| Piece::Lexeme(char::from(byte).to_string())));
        pieces.extend(whole.map(|word| Piece::Lexeme(word.to_owned())));
        Tokens(pieces)
    }

    fn constraint(&self) -> Constraint {
        Constraint::new(Arc::new(Grammar::new(self.0.iter().cloned())))
    }

    fn id(&self, wanted: &Piece) -> Option<u16> {
        self.0.iter().position(|piece| piece == wanted).map(|at| at as u16)
    }

    fn encode(&self, text: &str) -> Vec<u16> {
        let mut ids = Vec::new();
        for lexeme in lexer::tokens(text).map(|token| token.text) {
            if let Some(id) = self.id(&Piece::Lexeme(lexeme.to_owned())) {
                ids.push(id);
                continue;
            }
            let first = Piece::Lexeme(lexeme[..1].to_owned());
            let rest = lexeme.bytes().skip(1).map(Piece::Continue);
            ids.extend(std::iter::once(first).chain(rest).map(|piece| self.id(&piece).unwrap()));
        }
        ids
    }

    fn decode(&self, ids: &[u16]) -> String {
        let mut text = String::new();
        for id in ids {
            match &self.0[usize::from(*id)] {
                Piece::Continue(byte) => text.push(char::from(*byte)),
                Piece::Lexeme(lexeme) if lexeme == "#" => text += "\n#",
                Piece::Lexeme(lexeme) => {
                    let last = text.lines().last().unwrap_or_default();
                    text.push(if last.starts_with('#') { '\n' } else { ' ' });
                    text += lexeme;
                }
                Piece::End | Piece::None => {}
            }
        }
        text
    }
}

/// The refusal of a program, if any, with what was read before it.
fn refusal(text: &str) -> Option<(Refusal, String)> {
    let tokens = Tokens::of("");
    let mut constraint = tokens.constraint();
    let mut ids = tokens.encode(text);
    ids.push(END);
    for (at, id) in ids.iter().enumerate() {
        if let Err(refusal) = constraint.push(*id) {
            return Some((refusal, tokens.decode(&ids[..=at])));
        }
    }
    None
}

fn accepts(text: &str) {
    assert_eq!(refusal(text), None, "{text}");
}

fn refuses(body: &str, wanted: Refusal) {
    let text = format!(
        "struct S {{ int m; float n; }};\nfloat F(float p, int q) {{ return p * q; }}\n\
         kernel void A(global float* a, const int b, global float4* c, constant int* d, local float* l) {{ {body} }}"
    );
    assert_eq!(refusal(&text).map(|(refusal, _)| refusal), Some(wanted), "{body}");
}

fn takes(body: &str) {
    accepts(&format!(
        "struct S {{ int m; float n; }};\nfloat F(float p, int q) {{ return p * q; }}\n\
         kernel void A(global float* a, const int b, global float4* c, constant int* d, local float* l) {{ {body} }}"
    ));
}

#[test]
fn accepts_what_people_write() {
    takes("int i = get_global_id(0); if (i < b) { a[i] = F(a[i], b) + 2.0f; }");
    takes("for (int i = 0; i < b; i++) { a[i] += c[i].x * c[i].s1; } barrier(1);");
    takes("float4 v = (float4)(1.0f, 2.0f, (float2)(0.5f)); c[0] = v * 2.0f; c[1].xy = v.lo;");
    takes("struct S s; s.m = 3; s.n = s.m / 2.0f; struct S* t = &s; t->m++;");
    takes("int x[4] = {1, 2, 3, 4}; x[1] = x[0] ? b : -x[2]; int y = sizeof(int) * 4, *z = x;");
    takes("switch (b) { case 0: a[0] = 1; break; default: a[1] = 2; }");
    takes("do { a[0]--; } while (a[0] > 0); while (1) { if (b) break; else continue; }");
    takes("unsigned int u = (unsigned int)a[0]; u <<= 3u; u = u % 7 | 0x1F; long long q = u;");
    takes("float x = fmax(a[0], 0); x = clamp(x, 0.0f, 1.0f); int y = min(b, 3); x = pow(x, 2);");
    takes("atomic_add((volatile global int*)a, 1); float4 v = vload4(0, a); vstore4(v, 1, a);");
    takes("local float s[64]; s[get_local_id(0)] = a[0];");
    takes(
        "float4 v = convert_float4((int4)(b)); v = select(v, v, isless(v, v)); a[0] = dot(v, v);",
    );
    takes("int i = 5; i = i == 3 && !(i > b) || ~i & 1; a[i] = i ? a[0] : 1;");
    takes("global float* p = a + b; p[0] = *p++; const float* q = (const float*)0; ");
    takes("goto La; La: a[0] = 1; for (;;) { break; } ; {}");
    takes("Lab: if (b) { goto Lab; } goto La; { int i; La: i = 1; }");
    takes("int i, j = 2; for (i = 0, j = 1; i < 3; ++i, --j) a[i] = j;");
    takes("printf(\"%d\\n\", b); uchar t = 'a';");
    takes("int x[] = {1, 2}; global float* p = {a}; x[0] = b ? x[1] : 2;");
    takes("float4 v = c[0] * 2.0; v /= 3.0; v = 1.0 - v;");
    accepts("kernel void A(read_only pipe int a, global int* b) { b[0] = 1; }");
    accepts(
        "union U { int a; };\nunion U F(int b) { union U c = {b}; return c; }\nkernel void A(global int* a) { *a = F(1).a; }",
    );
    accepts(
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\ntypedef struct { float x, y; } Ta;\nconstant float Q[2] = {1.0f, 2.0f};\nenum { Ea, Eb = 3 };\nkernel __attribute__((reqd_work_group_size(8, 1, 1))) void A(global Ta* restrict a, read_only image2d_t b, sampler_t c) {\n  a[Eb].x = read_imagef(b, c, (int2)(0, 1)).x + Q[1];\n}",
    );
}

#[test]
fn refuses_what_does_not_compile() {
    refuses("a[0] = zz;", Refusal::Undeclared);
    refuses("int b = 1;", Refusal::Redeclared);
    refuses("int i; int i;", Refusal::Redeclared);
    refuses("a[0] = F(a[0]);", Refusal::Arity);
    refuses("a[0] = F(a[0], b, b);", Refusal::Arity);
    refuses("a[0] = get_global_id();", Refusal::Arity);
    refuses("a[0] = c[0].q;", Refusal::Member);
    refuses("float2 v; v.z = 1;", Refusal::Member);
    refuses("struct S s; s.k = 1;", Refusal::Member);
    refuses("b = 3;", Refusal::NotAssignable);
    refuses("d[0] = 3;", Refusal::NotAssignable);
    refuses("*d += 3;", Refusal::NotAssignable);
    refuses("a[0] + 1 = 3;", Refusal::NotAssignable);
    refuses("3++;", Refusal::NotAssignable);
    refuses("a[0] = a[0] % 2;", Refusal::Type);
    refuses("a[0] = a;", Refusal::Type);
    refuses("a[0] = c[0];", Refusal::Type);
    refuses("int4 v = (int4)(1); c[0] = c[0] + v;", Refusal::Type);
    refuses("a[a[0]] = 1;", Refusal::Type);
    refuses("a[0] = sqrt(b);", Refusal::Type);
    refuses("if (c[0]) {}", Refusal::Type);
    refuses("a[0] = b b;", Refusal::Syntax);
    refuses("a[0] = (b;", Refusal::Syntax);
    refuses("return 1;", Refusal::Syntax);
    refuses("break;", Refusal::Context);
    refuses("case 1: ;", Refusal::Context);
    refuses("goto Lb;", Refusal::Undeclared);
    refuses("a[0] = 08;", Refusal::Syntax);
    refuses("float x[b];", Refusal::Type);
    refuses("int if = 1;", Refusal::Syntax);
    refuses("double e = 1; c[0] = c[0] * e;", Refusal::Type);
    refuses("pipe int i;", Refusal::Context);
    refuses("switch (b) { case 1: ; case 2: ; case 1: ; }", Refusal::Redeclared);
    refuses("a[0] = a[0] ? 1 : 0;", Refusal::Type);
    refuses("int __builtin_x;", Refusal::Syntax);
    refuses("float x[];", Refusal::Syntax);
    refuses("local float x[];", Refusal::Syntax);
    refuses("global float* p = {1};", Refusal::Type);
    refuses("int i; i = b ? i : i = 2;", Refusal::NotAssignable);
    refuses("union S u;", Refusal::Redeclared);
    refuses("struct T* t; t = t + 1;", Refusal::Type);
    refuses("typedef int static I;", Refusal::Context);
    let outside = |text: &str| refusal(&format!("{text}\nkernel void A() {{}}")).is_some();
    for text in [
        "int v; int x = v ? 1 : 0;",
        "struct T F(int a) {}",
        "int x = 1, F(int a) {}",
        "void F(int a __attribute__((overloadable)));",
        "__attribute__((overloadable)) int x;",
        "kernel void B();",
        "kernel void B(int) {}",
        "struct T { int a[]; };",
    ] {
        assert!(outside(text), "{text}");
    }
    assert!(refusal("kernel void A(read_only image2d_t a, int b) { a, b; }").is_some());
    assert!(refusal("kernel void A(float* a) { }").is_some());
    assert!(refusal("kernel void A(global float* a) { a[0] = 1;").is_some());
    assert!(refusal("void A(global float* a) { a[0] = 1; }").is_some(), "no kernel");
}

/// Files that clang refuses: what each line is about stands before it.
const WRONG: &[(&str, &str)] = &[
    ("an address that is not known", "int x = 1; global int* p = &x; global int* q = &p[1];"),
    ("the same, followed", "int x = 1; global int* p = &x; global int* q = &*p;"),
    ("an address that is cut off", "int x[2]; int y = (int)x;"),
    ("a constant without a value", "const int x; int y = x;"),
    ("what may change", "volatile const int x = 3; int y = x;"),
    ("a call", "float x = NAN;"),
    ("a comma behind what is not known", "int x; int y = (x, 1);"),
    ("a list in the function", "void F(int a) { static const int x = a; }"),
    ("constants of a function that is no kernel", "void F() { constant int x = 1; }"),
    ("elements of another kind", "volatile __local int* a[][1] = {32};"),
    ("an array of none", "float x[3][0] = {1.0f};"),
    ("its own enumerator", "enum { P = P + 1 };"),
    ("a sampler that changes", "sampler_t s = 0;"),
    ("a pointer to a sampler", "void F(sampler_t* s) {}"),
    ("a sampler as a result", "sampler_t F(int a);"),
    ("an event of the file", "event_t e;"),
    ("an event in a struct", "struct T { event_t e; };"),
    ("a parameter's address space", "void F(global int* global a) {}"),
    ("a local pointer of the file", "global int* local p = 0;"),
    ("two ways to read an image", "void F(read_only write_only image2d_t a) {}"),
    ("a struct of the parameters", "void F(struct T { int a; } t) {} void G() { struct T t; }"),
    (
        "an overload that nothing fits",
        "__attribute__((overloadable)) int F(int a) { return a; } __attribute__((overloadable)) int F(float4 a) { return 1; } int G() { return F(1, 2); }",
    ),
    (
        "an overload twice",
        "__attribute__((overloadable)) int F(int a) { return a; } __attribute__((overloadable)) int F(int a) { return a; }",
    ),
    ("an atomic that nothing decides on", "void F(local ushort* a) { atomic_inc(a); }"),
    ("two values for one", "void F(local ushort* a) { atomic_cmpxchg(a, 1, 1u); }"),
    ("a vector for what is constant", "void F(constant int* a, float4 v) { vstore4(v, 0, a); }"),
    (
        "a group's size that is none",
        "kernel __attribute__((reqd_work_group_size(1 / 2, 1, 1))) void B(global int* a) {}",
    ),
    ("2.0 for a float beside what is new", "float x = 1; void F(float4 v) { v * 2.0; }"),
    ("the same, the other way round", "void F(float4 v) { v * 2.0; } float x = 1;"),
    ("half without its extension", "#pragma OPENCL EXTENSION cl_khr_fp1 : enable\nfloat x = 1.0h;"),
    ("a depth that planes have not", "int F(read_only image2d_t a) { return get_image_depth(a); }"),
    (
        "a sampler for what is written",
        "void F(read_write image2d_t a, sampler_t s) { read_imagef(a, s, (int2)(0)); }",
    ),
];

/// Files that clang takes, near to these.
const RIGHT: &[&str] = &[
    "int x[3]; global int* p = &x[1]; global int* q = x + 1; long y = (long)x; bool z = &x;",
    "struct S { int a; } s = {1}; global int* p = &s.a; int x; global int* global q = &x;",
    "const int x[2] = {1, 2}; int y = x[1]; const float z = 1; float w = z * 2; int v = (1, 2);",
    "void F() { static constant int x = 1; static int y = 2; constant int* p = &x; }",
    "const sampler_t s = 0; queue_t q; event_t F(event_t e) { return e; }",
    "global int* constant p = 0; void F(global int* private a, global int* global* b) {}",
    "struct S { int a; struct { float b[2][2]; } c; }; struct S s = {1, {{{1, 2}, 3}}}, t = {.a = 1};",
    "__attribute__((overloadable)) int F(int a) { return a; } __attribute__((overloadable)) float F(float a) { return a; } int G() { return F(1) + F(1.0f); }",
    "typedef float T __attribute__((ext_vector_type(4))); void F(T a) { a.xyz; a * (T)(1, 2, 3, 4); }",
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\nhalf F(global half* a) { return *a * 1.0h; }",
    "kernel __attribute__((reqd_work_group_size(32 * 1 / 1, 1 + 1, 9999 * 99999))) void B(global int* a) {}",
    "void F(global int* a, float4 v, local ushort* b) { vstore4(v, 0, a); atomic_or(b, a[0]); atomic_cmpxchg(b, 1u, 2u); }",
];

#[test]
fn files_are_read_as_clang_reads_them() {
    let end = "\nkernel void A(global int* a) { a[0] = 1; }";
    for (about, text) in WRONG {
        assert!(refusal(&format!("{text}{end}")).is_some(), "{about}: {text}");
    }
    for text in RIGHT {
        accepts(&format!("{text}{end}"));
    }
}

#[test]
fn values_are_checked_as_clang_checks_them() {
    let wrong = [
        "clk_event_t e = 0;",
        "event_t e = {0};",
        "event_t e; if (e) {}",
        "queue_t p, q; p == q;",
        "int e = async_work_group_copy(l, a, 3, 0);",
        "const sampler_t s = 0; 1, s;",
        "const sampler_t s = 0; &s;",
        "&c[0].x;",
        "a == l;",
        "a - l;",
        "b ? a : l;",
        "private float* p = (private float*)a;",
        "local float* p = (global float*)(a, 0);",
        "struct T* t = 1 + t;",
        "struct T* t; t++;",
        "sizeof(struct T);",
        "sizeof(void);",
        "(half)1;",
        "global half* h = 0; *h;",
        "(static int)b;",
        "struct S s = {a};",
        "struct S s = {.k = 1};",
        "float4 v = {1, a, 2, 3};",
        "int v[2][2] = {1, a};",
        "struct { const int m; } s = {1}; s.m = 2;",
        "struct { const int m; } s = {1}, t = {2}; s = t;",
        "short s = sub_group_broadcast(c[0], 1);",
        "sub_group_reduce_min(c[0]);",
        "shuffle(b, b);",
        "shuffle(c[0], (int4)(0));",
        "ldexp(c[0], (uint4)(1));",
        "select(a[0], a[0], (short)1);",
        "prefetch(l, 1);",
        "__builtin_inff().x;",
        "vload_half(0, (global half*)a) = 1;",
        "switch (b) { case 1: case 0x1: ; }",
        "if (b) { constant int x = 1; }",
        "a[0] = b(1);",
    ];
    for body in wrong {
        let text = format!(
            "kernel void A(global float* a, const int b, global float4* c, constant int* d, local float* l) {{ {body} }}"
        );
        let text = format!("struct S {{ int m; float n; }};\nstruct T;\n{text}");
        assert!(refusal(&text).is_some(), "{body}");
    }
    takes("event_t e = 0, f = e; e = async_work_group_copy(l, a, 3, e); queue_t q = 0; q = 0;");
    takes("a == b; a == 0; a != NULL; bool v = true; v++; (l) == (local float*)0; b ? a : 0;");
    takes("struct S s = {1, 2.0f}, t = {.n = 1}, u[2] = {{1, 2}, {3}}; s = t; sizeof(s);");
    takes("float4 v = {c[0].xy, 1, 2}, w[2] = {c[0], 1}; int x[2][2] = {1, 2, {3, 4}};");
    takes("global half* h = 0; &h[1]; &*h; sizeof(half); vload_half(0, h) + 1;");
    takes(
        "shuffle(c[0], (uint4)(0)).x; uint4 u = sub_group_ballot(b); sub_group_broadcast(c[0], 1).x;",
    );
    takes("constant int x = 1; constant int* p = &x; { constant int* q = p; } local float* r = l;");
}

/// Programs with much that can be left open. Calls that need a vector as an argument are not among
/// them: the search does not find their end (docs/models.md).
const PROGRAMS: [&str; 1] = [
    "struct S { int m; };\nfloat F(float p) { return p; }\nkernel void A(global float* a, const int b) {\n  \
     float4 v = (float4)(1.0f, 2.0f, a[b], 0);\n  for (int i = 0; i < b; i++) {\n    if (F(a[i]) > v.x ? 1 : 0) { \
     switch (b) { case 1: a[i] = (float)b; break; default: ; } } else do { a[i]--; } while (b);\n  }\n}\n",
];

#[test]
fn closing_ends_every_beginning_of_a_program() {
    let clang = clang::Clang::start(2).expect("a compiler");
    let options = clang::Options { triple: clang::Triple::Spir64, ..clang::Options::opencl() };
    let mut judged = std::collections::HashSet::new();
    let mut judge = |text: &str| {
        let answer = judged.insert(text.to_owned()).then(|| clang.compile(text, &options));
        let answer = answer?.expect("clang survives");
        answer.first_error().map(|error| error.message.clone())
    };
    for text in PROGRAMS {
        for tokens in [Tokens::of(text), Tokens::of("")] {
            let ids = tokens.encode(text);
            let mut constraint = tokens.constraint();
            for (at, id) in ids.iter().enumerate() {
                constraint.push(*id).expect("it compiles");
                let read = tokens.decode(&ids[..=at]);
                let Some(closing) = constraint.closing(&[]) else { panic!("no end: {read}") };
                let whole = [&ids[..=at], &closing].concat();
                let mut again = tokens.constraint();
                for id in whole.iter().chain([&END]) {
                    again.push(*id).expect("what is closed may end");
                }
                let whole = tokens.decode(&whole);
                assert_eq!(judge(&whole), None, "{whole}");
            }
        }
    }
}
