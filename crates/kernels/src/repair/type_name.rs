use super::{
    Complaint, Fix, Program, Repair, builtin, declarator, is_missing, record,
    usage::{Usage, Votes},
};

/// Finds what an unknown type must be: a vector by its name or members, an integer or a
/// floating-point number by the arithmetic of its variables, a struct by its members.
pub(super) struct TypeName;

impl Repair for TypeName {
    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>> {
        if !is_missing(complaint) {
            return None;
        }
        let name = complaint.name;
        let usage = &program.usage;
        // A variable of a type that is missing, too, is no type: `f(a, name * b)` looks like one.
        if declarator::awaits_its_type(program, name) {
            return None;
        }
        match role(usage, name) {
            Role::Type => Some(vec![Fix::Definition(define(usage, name))]),
            // A word before a declaration's own words: an attribute of the package's build.
            Role::Qualifier => Some(vec![Fix::Definition(format!("#define {name}"))]),
            Role::Attribute => Some(vec![Fix::Definition(format!("#define {name}(...)"))]),
            Role::Other => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Type,
    Qualifier,
    Attribute,
    Other,
}

fn role(usage: &Usage<'_>, name: &str) -> Role {
    let (mut types, mut qualifiers, mut attributes, mut others) = (0, 0, 0, 0);
    for at in usage.places(name) {
        match usage.text(at + 1) {
            "(" => {
                let after = usage.closing(at + 1) + 1;
                let word = usage.text(after);
                let declares = usage.is_word(after) && !builtin::is_statement(word)
                    || word == "{" && usage.before(at) == ")";
                if declares { attributes += 1 } else { others += 1 }
            }
            _ if usage.is_word(at + 1) => {
                let next = usage.text(at + 1);
                if builtin::is_statement(next) {
                    others += 1;
                } else if usage.is_word(at + 2)
                    && (!builtin::is_qualifier(next) && !builtin::is_qualifier(usage.text(at + 2))
                        || builtin::is_qualifier(next) && builtin::is_type(usage.text(at + 2)))
                {
                    // `WORD TYPE name`, `WORD __global TYPE`: the type is the last of them.
                    qualifiers += 1;
                } else if (builtin::is_type(next) || builtin::is_qualifier(next))
                    && !matches!(
                        next,
                        "const"
                            | "restrict"
                            | "volatile"
                            | "__restrict"
                            | "__global"
                            | "__local"
                            | "__private"
                            | "__constant"
                            | "global"
                            | "local"
                            | "constant"
                            | "private"
                    )
                    || builtin::is_type(usage.before(at))
                        && !matches!(usage.before(at), "unsigned" | "signed")
                {
                    qualifiers += 1;
                } else {
                    types += 1;
                }
            }
            "*" => {
                let mut after = at + 1;
                while matches!(
                    usage.text(after),
                    "*" | "const" | "restrict" | "__restrict" | "volatile"
                ) {
                    after += 1;
                }
                let begins = matches!(usage.before(at), "(" | "," | ";" | "{" | "}" | "")
                    || builtin::is_qualifier(usage.before(at));
                let declares = matches!(usage.text(after), ")" | ",")
                    || usage.is_word(after)
                        && matches!(usage.text(after + 1), ";" | "=" | "," | ")" | "[" | "(");
                if begins && declares { types += 1 } else { others += 1 }
            }
            ")" if usage.before(at) == "(" => {
                let next = usage.text(at + 2);
                let operand = usage.is_word(at + 2) && !builtin::is_statement(next)
                    || usage.kind(at + 2) == Some(lexer::Kind::Number)
                    || next == "(";
                let call = at >= 2
                    && usage.is_word(at - 2)
                    && !matches!(usage.text(at - 2), "return" | "sizeof");
                let sized = at >= 2 && matches!(usage.text(at - 2), "sizeof" | "vec_type_hint");
                if (operand && !call) || sized { types += 1 } else { others += 1 }
            }
            _ if usage.before(at) == "typedef" => types += 1,
            _ => others += 1,
        }
    }
    if attributes > others.max(types) {
        Role::Attribute
    } else if types > 0 && types >= qualifiers {
        Role::Type
    } else if qualifiers > 0 {
        Role::Qualifier
    } else {
        Role::Other
    }
}

/// Whether a name is used as a type.
pub(super) fn is_type(usage: &Usage<'_>, name: &str) -> bool {
    role(usage, name) == Role::Type
}

/// A definition of the type `name`.
fn define(usage: &Usage<'_>, name: &str) -> String {
    let variables = variables(usage, name);
    let members = record::members(usage, &variables);
    let votes = votes(usage, name, &variables);
    // A name is a hint: members that such a vector lacks say what it is.
    if let Some(lanes) = lanes_by_name(name).filter(|lanes| record::are_lanes(&members, *lanes)) {
        let element = scalar(votes, name);
        return format!("typedef {element}{lanes} {name};");
    }
    if let Some(vector) = initial(usage, &variables) {
        return format!("typedef {vector} {name};");
    }
    if !members.is_empty() {
        let body = record::body(&members, name);
        return match record::swizzled_lanes(&members) {
            _ if record::has_own(&members) => format!("typedef struct {name} {body} {name};"),
            Some(lanes) => format!("typedef {}{lanes} {name};", scalar(votes, name)),
            None => format!("typedef struct {body} {name};"),
        };
    }
    match votes.lanes {
        lanes @ (2 | 3 | 4 | 8 | 16) => format!("typedef {}{lanes} {name};", scalar(votes, name)),
        _ => format!("typedef {} {name};", scalar(votes, name)),
    }
}

/// The vector that a variable begins with, as it is: `= v;`, `= *p;` or `= p[i];` of what the program declares.
fn initial<'a>(usage: &Usage<'a>, variables: &[(&str, usize, usize)]) -> Option<&'a str> {
    variables.iter().find_map(|(_, at, _)| {
        let begin = at + if usage.text(at + 1) == "=" { 2 } else { return None };
        let value = begin + usize::from(usage.text(begin) == "*");
        let mut end = value + 1;
        if usage.text(end) == "[" {
            end = usage.closing(end) + 1;
        }
        let is_whole = usage.is_word(value) && matches!(usage.text(end), ";" | ",");
        let found = usage.type_of(usage.text(value), value).filter(|_| is_whole)?;
        let element = found.trim_end_matches(|c: char| c.is_ascii_digit());
        (element != found && builtin::is_type(found)).then_some(found)
    })
}

/// The variables that are declared with a type: place of the name, and where it goes out of scope.
pub(super) fn variables<'a>(usage: &Usage<'a>, type_name: &str) -> Vec<(&'a str, usize, usize)> {
    let mut found = Vec::new();
    for at in usage.places(type_name) {
        let mut next = at + 1;
        while matches!(
            usage.text(next),
            "*" | "const"
                | "restrict"
                | "__restrict"
                | "volatile"
                | "__global"
                | "global"
                | "__local"
                | "local"
                | "__private"
                | "private"
        ) {
            next += 1;
        }
        while usage.is_word(next)
            && !builtin::is_statement(usage.text(next))
            && usage.text(next + 1) != "("
        {
            found.push((usage.text(next), next, usage.scope_end(next)));
            let end = initial_end(usage, usage.postfix_end(next));
            if usage.text(end) != ","
                || usage.enclosing(end).is_some_and(|open| usage.text(open) == "(")
            {
                break;
            }
            next = end + 1;
            while usage.text(next) == "*" {
                next += 1;
            }
        }
    }
    found
}

/// Where what a variable begins with ends, if `at` is the `=` before it; else `at`.
fn initial_end(usage: &Usage<'_>, at: usize) -> usize {
    let mut end = at;
    if usage.text(at) == "=" {
        while !matches!(usage.text(end), "" | "," | ";" | ")" | "]" | "}") {
            end = match usage.text(end) {
                "(" | "[" | "{" => usage.closing(end) + 1,
                _ => end + 1,
            };
        }
    }
    end
}

fn votes(usage: &Usage<'_>, name: &str, variables: &[(&str, usize, usize)]) -> Votes {
    let mut votes = Votes::default();
    for (variable, from, to) in variables {
        let one = usage.votes_of_variable(variable, *from, *to);
        votes.integer += one.integer;
        votes.float += one.float;
        votes.lanes = votes.lanes.max(one.lanes);
    }
    for at in usage.places(name) {
        // A cast says what is around it and what is in it.
        if usage.before(at) == "(" && usage.text(at + 1) == ")" {
            let operand = at + 2;
            let one = usage.votes(at - 1, usage.postfix_end(operand));
            votes.integer += one.integer;
            votes.float += one.float;
        }
    }
    votes
}

/// The lanes that end a name as they end `float4`.
fn lanes_by_name(name: &str) -> Option<u32> {
    let stem = name.strip_suffix("_t").or_else(|| name.strip_suffix("_type")).unwrap_or(name);
    let digits = stem.trim_start_matches(|c: char| !c.is_ascii_digit());
    // `fp16` is a half, not sixteen of anything.
    if stem[..stem.len() - digits.len()].to_ascii_lowercase().ends_with("fp") {
        return None;
    }
    let lanes: u32 = digits.parse().ok()?;
    (matches!(lanes, 2 | 3 | 4 | 8 | 16) && !stem.starts_with(|c: char| c.is_ascii_digit()))
        .then_some(lanes)
}

/// The scalar that votes and, where they are silent, the name ask for.
fn scalar(votes: Votes, name: &str) -> &'static str {
    let lower = name.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let unsigned = lower.starts_with('u') || says(&["unsigned", "uint", "hash", "mask"]);
    if votes.float > votes.integer {
        return if says(&["double", "fp64"]) { "double" } else { "float" };
    }
    if votes.integer > votes.float {
        return if says(&["double"]) {
            "double"
        } else if says(&["float", "real"]) {
            "float"
        } else if unsigned {
            "uint"
        } else {
            "int"
        };
    }
    if says(&["double", "fp64"]) {
        "double"
    } else if says(&["half", "fp16"]) {
        "half"
    } else if says(&[
        "int", "idx", "index", "size", "count", "offset", "len", "num", "label", "bool", "flag",
    ]) {
        if unsigned { "uint" } else { "int" }
    } else if says(&["byte", "uchar", "pixel"]) {
        "uchar"
    } else {
        "float"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::{Fix, definition};

    fn role_in(text: &str) -> Role {
        role(&Usage::of(text), "W")
    }

    #[test]
    fn a_word_before_a_name_is_a_type() {
        for text in [
            "W x;",
            "W const x;",
            "W __global* x;",
            "W __global real* x;",
            "unsigned W x;",
            "const W x;",
            "W* x;",
            "W** x, y;",
            "f(W* x) { }",
            "f(int a, W* const x) { }",
            "W *restrict x[3];",
            "const W* x = 0;",
            "f(W*) ;",
            "y = (W*)x;",
            "y = (W)x;",
            "y = (W)3;",
            "y = (W)(x);",
            "return (W)x;",
            "y = sizeof(W);",
            "__attribute__((vec_type_hint(W))) f();",
            "typedef W;",
            // As often a type as a qualifier.
            "W x; W int y;",
        ] {
            assert_eq!(role_in(text), Role::Type, "{text}");
        }
    }

    #[test]
    fn a_word_before_a_declaration_of_its_own_words_is_a_qualifier() {
        for text in [
            "W int x;",
            "W int* x;",
            "W real x;",
            "W static x;",
            "W __global int* x;",
            "int W x;",
            "W int x; W int y; W z;",
        ] {
            assert_eq!(role_in(text), Role::Qualifier, "{text}");
        }
    }

    #[test]
    fn a_word_with_a_list_before_a_declaration_is_an_attribute() {
        for text in ["W(3) void f() { }", "void f() W(3) { }", "W(3) void f(); W(4) void g();"] {
            assert_eq!(role_in(text), Role::Attribute, "{text}");
        }
        // More often than it is anything else.
        for other in ["y = W;", "y = (W) + 1;", "y = W * x;", "else W return;", "y = W(3) + 1;"] {
            let once = format!("W(3) void f() {{ }} {other}");
            assert_eq!(role_in(&once), Role::Other, "{once}");
            let twice = format!("W(4) void g() {{ }} {once}");
            assert_eq!(role_in(&twice), Role::Attribute, "{twice}");
        }
    }

    #[test]
    fn a_word_in_an_expression_is_neither() {
        for text in [
            "y = W(3) + 1;",
            "W(3) return 1;",
            "f() { W(3) { } }",
            "y = W;",
            "else W return;",
            "y = W * x;",
            "W * 3;",
            "y = f(W)x;",
            "if (W) x = 1;",
            "if (W) return 1;",
            "y = (W) + 1;",
            "W(3) void f() { } y = W(3);",
            "",
        ] {
            assert_eq!(role_in(text), Role::Other, "{text}");
        }
    }

    #[test]
    fn a_name_may_end_with_its_lanes() {
        for (name, wanted) in [
            ("pos3", Some(3)),
            ("vec4_t", Some(4)),
            ("real2_type", Some(2)),
            ("hash16", Some(16)),
            ("V8", Some(8)),
            ("fp16", None),
            ("FP16_t", None),
            ("u32", None),
            ("8bit", None),
            ("vec4x", None),
            ("word", None),
            ("2", None),
        ] {
            assert_eq!(lanes_by_name(name), wanted, "{name}");
        }
    }

    #[test]
    fn votes_say_which_number_and_a_name_how_wide() {
        let scalar =
            |integer, float, name| scalar(Votes { integer, float, ..Votes::default() }, name);
        for (integer, float, name, wanted) in [
            (0, 1, "elem", "float"),
            (0, 1, "mydouble", "double"),
            (1, 2, "FP64", "double"),
            (0, 1, "int_thing", "float"),
            (1, 0, "word", "int"),
            (1, 0, "mydouble", "double"),
            (1, 0, "myfloat", "float"),
            (2, 1, "real_x", "float"),
            (1, 0, "uword", "uint"),
            (1, 0, "HashValue", "uint"),
            (1, 0, "mask", "uint"),
            (0, 0, "double_x", "double"),
            (1, 1, "fp64", "double"),
            (0, 0, "half_x", "half"),
            (0, 0, "fp16", "half"),
            (0, 0, "index_x", "int"),
            (0, 0, "uindex", "uint"),
            (0, 0, "flags", "int"),
            (0, 0, "byte_x", "uchar"),
            (0, 0, "pixels", "uchar"),
            (0, 0, "thing", "float"),
        ] {
            assert_eq!(scalar(integer, float, name), wanted, "{integer} {float} {name}");
        }
    }

    #[test]
    fn variables_of_a_type_are_its_declarators() {
        let names = |text: &str| {
            let usage = Usage::of(text);
            let found = variables(&usage, "W");
            found.into_iter().map(|(name, ..)| name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names("W a, *b, c[3], **d; W e = 1, f;"), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(
            names("{ W a = f(1, x[2]), *b = &a, c[2] = { 1, 2 }, d; y; }"),
            ["a", "b", "c", "d"]
        );
        assert_eq!(names("W a = (1, b"), ["a"]);
        assert_eq!(names("void k(W* restrict a, int b, const W __local* c) { }"), ["a", "c"]);
        assert_eq!(names("W f(int a); (W)x; W return; y = W;"), Vec::<String>::new());
        let usage = Usage::of("void k(W a) { a; } W b;");
        let scopes: Vec<&str> =
            variables(&usage, "W").into_iter().map(|(.., to)| usage.text(to)).collect();
        assert_eq!(scopes, ["}", ""]);
    }

    #[test]
    fn a_variable_that_begins_with_a_vector_is_one() {
        let of = |value: &str| {
            let text = format!(
                "void k(global uchar4 *px, int4 v, int n) {{ T acc = {value}; acc.x = acc.y / 2; }}"
            );
            define(&Usage::of(&text), "T")
        };
        assert_eq!(of("px[n + 1]"), "typedef uchar4 T;");
        assert_eq!((of("*px"), of("v")), ("typedef uchar4 T;".into(), "typedef int4 T;".into()));
        assert_eq!(
            (of("n"), of("px[n] + v")),
            ("typedef int2 T;".into(), "typedef int2 T;".into())
        );
    }

    #[test]
    fn a_type_is_defined_by_its_uses() {
        for (text, name, wanted) in [
            ("void k(__global W* p) { p[0] * 2.0f; }", "W", "typedef float W;"),
            ("void k(__global W* p) { p[0] % 2; }", "W", "typedef int W;"),
            ("void k(W a, float4 v) { a + v; }", "W", "typedef float4 W;"),
            ("void k(W a, int2 v) { a = v; }", "W", "typedef int2 W;"),
            ("void k(W a) { a.x * 2.0f; }", "W", "typedef float2 W;"),
            ("void k(W a) { a.s7 % 2; }", "W", "typedef int8 W;"),
            ("void k(W a) { a.mass * 2.0f; }", "W", "typedef struct { float mass; } W;"),
            ("void k(W a, float f) { f = a.pos.x; }", "W", "typedef struct { float4 pos; } W;"),
            (
                "void k(float4 v, int n) { W a = (W)(0); a += convert_float4(v); }",
                "W",
                "typedef float4 W;",
            ),
            (
                "void k(int n) { W a = (W)n, b = a * 2; W *c = &b; n = *c % 3; }",
                "W",
                "typedef int W;",
            ),
            ("void k(float f) { W a = f; W *b = &a; W *c = &a; }", "W", "typedef float W;"),
            (
                "void k(global W* a, float f) { f += a->x; a = a->y; }",
                "W",
                "typedef struct W { float x; global struct W* y; } W;",
            ),
            ("void k(W4 a) { a.w * 2.0f; }", "W4", "typedef float4 W4;"),
            ("void k(W2 a) { a.w * 2.0f; }", "W2", "typedef float4 W2;"),
            ("void k(W4 a) { a.mass * 2.0f; }", "W4", "typedef struct { float mass; } W4;"),
            (
                "void k(cplx a, cplx b) { a.re = b.re * b.im; }",
                "cplx",
                "typedef struct { float im; float re; } cplx;",
            ),
            (
                "void k(pt a, int dt) { a.x += a.v * dt; }",
                "pt",
                "typedef struct { int v; int x; } pt;",
            ),
            (
                "void k(pt a, float dt) { a.x += a.v * dt; }",
                "pt",
                "typedef struct { float v; float x; } pt;",
            ),
            ("void k(uW4 a) { a % 2; }", "uW4", "typedef uint4 uW4;"),
            ("void k(int n) { n = (W)q + 2.5f; }", "W", "typedef float W;"),
            ("void k(int n) { n = (W)q % 3; }", "W", "typedef int W;"),
            ("void k(int n) { q = 3 % (W)q; }", "W", "typedef int W;"),
            ("void k() { (W)q % 3; (W)q % 3; (W)q * 2.5f; }", "W", "typedef int W;"),
            ("void k(W a, W b) { a % 2; b * 2.5f; b * 0.5f; }", "W", "typedef float W;"),
            ("void k(W a, W b) { a % 2; a % 3; b * 2.5f; }", "W", "typedef int W;"),
        ] {
            assert_eq!(define(&Usage::of(text), name), wanted, "{text}");
        }
    }

    #[test]
    fn each_role_has_its_definition() {
        for (text, wanted) in [
            ("W x; x * 2.0f;", Some("typedef float W;")),
            ("W int x;", Some("#define W")),
            ("T W = 1; f(W, W * y);", None),
            ("W(3) void f() { }", Some("#define W(...)")),
            ("y = W;", None),
        ] {
            let wanted = wanted.map(|text| vec![Fix::Definition(text.to_owned())]);
            assert_eq!(definition(&TypeName, "W", text), wanted, "{text}");
        }
    }
}
