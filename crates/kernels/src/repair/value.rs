use super::{
    Complaint, Fix, Program, Repair, builtin, declarator, is_missing,
    usage::{Usage, Votes},
};
use lexer::Kind;
use std::collections::BTreeSet;

/// Gives an unknown name a constant: an integer where it indexes, bounds or is counted with, a
/// floating-point number in floating-point arithmetic.
pub(super) struct Value;

impl Repair for Value {
    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>> {
        if !is_missing(complaint) {
            return None;
        }
        let (name, usage) = (complaint.name, &program.usage);
        let places = usage.places(name);
        if places.is_empty() || places.iter().all(|at| usage.text(at + 1) == "(") {
            return None;
        }
        // It is declared once its type is known, and a constant would break the declaration.
        if declarator::awaits_its_type(program, name) {
            return None;
        }
        if places.iter().any(|at| is_sampler(usage, *at)) {
            return Some(vec![Fix::Definition(format!("__constant sampler_t {name} = 16;"))]);
        }
        if let Some(value) = label(usage, name) {
            return Some(vec![Fix::Definition(format!("#define {name} {value}"))]);
        }
        let mut votes = Votes::default();
        let mut indexed = false;
        for &at in &places {
            indexed |= usage.text(at + 1) == "[";
            let one = usage.votes(at, usage.postfix_end(at));
            votes.integer += one.integer;
            votes.float += one.float;
        }
        let float = votes.float > votes.integer;
        if indexed {
            let element = if float { "float" } else { "int" };
            return Some(vec![Fix::Definition(format!(
                "__constant {element} {name}[256] = {{1}};"
            ))]);
        }
        let value =
            if float { float_by_name(name).to_owned() } else { integer(usage, name, &places) };
        Some(vec![Fix::Definition(format!("#define {name} {value}"))])
    }
}

/// Whether a place is the sampler of an image read.
fn is_sampler(usage: &Usage<'_>, at: usize) -> bool {
    usage.enclosing(at).is_some_and(|open| {
        usage.text(open) == "("
            && usage.before(open).starts_with("read_image")
            && usage.argument(open, at) == 1
            && usage.text(usage.closing(open)) == ")"
            && (open..usage.closing(open))
                .filter(|at| usage.text(*at) == "," && usage.enclosing(*at) == Some(open))
                .count()
                == 2
    })
}

fn float_by_name(name: &str) -> &'static str {
    let lower = name.to_ascii_lowercase();
    if ["eps", "tol", "tiny", "softening"].iter().any(|word| lower.contains(word)) {
        "1e-6f"
    } else if lower.ends_with("pi") {
        "3.14159265f"
    } else if ["zero"].contains(&lower.as_str()) {
        "0.0f"
    } else {
        "1.0f"
    }
}

/// A plausible integer: numbered names keep their number, sizes are 16, the rest is 1.
fn integer(usage: &Usage<'_>, name: &str, places: &[usize]) -> String {
    let lower = name.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["log", "shift"]) {
        return "4".to_owned();
    }
    let bounds = places.iter().any(|&at| {
        matches!(usage.before(at), "<" | "<=")
            || usage.before(at) == "[" && usage.text(at + 1) == "]" && declares(usage, at - 1)
            || usage.enclosing(at).is_some_and(|open| usage.before(open) == "reqd_work_group_size")
    });
    let size = says(&[
        "size", "dim", "width", "height", "block", "tile", "group", "local", "num", "count", "len",
        "max",
    ]);
    if says(&["warp", "wave", "simd"]) {
        return "32".to_owned();
    }
    if bounds || size {
        return "16".to_owned();
    }
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    match digits.parse::<u8>() {
        Ok(number) => number.to_string(),
        Err(_) => "1".to_owned(),
    }
}

/// Tokens of one `case` label that are looked at.
const LABEL: usize = 16;

/// The value of a name that is a label of a `switch`: names that are labels have values of their own, which no label is and
/// no enumerator of the program.
fn label(usage: &Usage<'_>, name: &str) -> Option<u64> {
    let mut names: Vec<&str> = Vec::new();
    let (mut taken, mut enumerators) = (BTreeSet::new(), BTreeSet::new());
    let mut least = 0;
    for open in usage.places("enum").into_iter().filter_map(|at| body(usage, at)) {
        for at in open + 1..usage.closing(open) {
            match usage.kind(at) {
                Some(Kind::Word) => {
                    enumerators.insert(usage.text(at));
                }
                Some(Kind::Number) => {
                    least = least.max(number(usage.text(at)).unwrap_or(0));
                }
                _ => {}
            }
        }
    }
    // They count on from the largest value that is written.
    least += enumerators.len() as u64;
    for case in usage.places("case") {
        let ends = |at: &usize| matches!(usage.text(*at), ":" | ";" | "{" | "}" | "");
        for at in (case + 1..case + 1 + LABEL).take_while(|at| !ends(at)) {
            let text = usage.text(at);
            let is_known = enumerators.contains(text)
                || builtin::is_type(text)
                || builtin::is_statement(text)
                || names.contains(&text);
            match usage.kind(at) {
                Some(Kind::Number) => taken.extend(number(text)),
                Some(Kind::Word) if !is_known => names.push(text),
                _ => {}
            }
        }
    }
    let place = names.iter().position(|label| *label == name)?;
    (least + 1..).filter(|value| !taken.contains(value)).nth(place)
}

/// The bracket that begins the list of what an `enum` counts.
fn body(usage: &Usage<'_>, at: usize) -> Option<usize> {
    (at + 1..at + 3).find(|at| usage.text(*at) == "{")
}

/// The value of an integer as it is written.
fn number(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    };
    value.filter(|value| *value <= u64::from(u32::MAX) / 2)
}

/// Whether a `[` follows the name of a variable that is being declared, or its other bounds.
fn declares(usage: &Usage<'_>, open: usize) -> bool {
    let mut before = open.checked_sub(1);
    while let Some(close) = before.filter(|at| usage.text(*at) == "]") {
        let bound = (0..close).rev().find(|open| usage.closing(*open) == close);
        before = bound.and_then(|open| open.checked_sub(1));
    }
    before.is_some_and(|name| name > 0 && usage.is_word(name) && usage.is_word(name - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::definition;

    /// The value of an unknown `name` where it stands for `X` in a kernel.
    fn value(name: &str, statement: &str) -> Option<String> {
        let statement = statement.replace('X', name);
        let text = format!("void k(float x, int n, __global int* t) {{ {statement} }}");
        match definition(&Value, name, &text)?.as_slice() {
            [Fix::Definition(text)] => Some(text.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_integer_has_the_value_that_its_name_or_place_asks_for() {
        for (name, statement, wanted) in [
            ("LOG_N", "n + X;", "4"),
            ("BITSHIFT", "n << X;", "4"),
            ("WARP", "n + X;", "32"),
            ("WAVES", "n < X;", "32"),
            ("SIMD", "n + X;", "32"),
            ("K7", "n + X;", "7"),
            ("K300", "n + X;", "1"),
            ("KIND", "n + X;", "1"),
            ("KIND", "n > X;", "1"),
            ("KIND", "n < X;", "16"),
            ("KIND", "n <= X;", "16"),
            ("KIND", "int a[X];", "16"),
            ("KIND", "int a[4][X];", "16"),
            ("KIND", "int a[X][4];", "16"),
            ("KIND", "n = t[X];", "1"),
            ("KIND", "n = t[3][X];", "1"),
            ("KIND", "int a[X + 1];", "1"),
            ("KIND", "int a[2 + X];", "1"),
            ("KIND", "f(X);", "1"),
            ("KIND", "__attribute__((reqd_work_group_size(X, 1, 1))) int q;", "16"),
        ] {
            let wanted = Some(format!("#define {name} {wanted}"));
            assert_eq!(value(name, statement), wanted, "{statement}");
        }
        for part in [
            "SIZE", "DIM", "WIDTH", "HEIGHT", "BLOCK", "TILE", "GROUP", "LOCAL", "NUM", "COUNT",
            "LEN", "MAX",
        ] {
            let name = format!("Q_{part}");
            assert_eq!(value(&name, "n + X;"), Some(format!("#define {name} 16")));
        }
    }

    #[test]
    fn a_floating_point_number_has_the_value_that_its_name_asks_for() {
        for (name, wanted) in [
            ("EPS2", "1e-6f"),
            ("TOL", "1e-6f"),
            ("TINY", "1e-6f"),
            ("SOFTENING2", "1e-6f"),
            ("TWO_PI", "3.14159265f"),
            ("PIN", "1.0f"),
            ("ZERO", "0.0f"),
            ("ZEROS", "1.0f"),
        ] {
            assert_eq!(value(name, "x * X;"), Some(format!("#define {name} {wanted}")));
        }
        assert_eq!(value("KIND", "n = 2.0f * X;").as_deref(), Some("#define KIND 1.0f"));
        // Where uses contradict each other it is an integer.
        assert_eq!(value("KIND", "q % X; 2.0f * X;").as_deref(), Some("#define KIND 1"));
    }

    #[test]
    fn labels_have_values_of_their_own() {
        let values = |text: &str| {
            let of = |name| match definition(&Value, name, text)?.as_slice() {
                [Fix::Definition(text)] => text.rsplit(' ').next()?.parse::<u64>().ok(),
                other => panic!("{other:?}"),
            };
            ["ADD", "SUB", "MODE_9"].map(of)
        };
        let switch = |labels: &str, before: &str| {
            values(&format!("{before} void k(int n) {{ switch (n) {{ {labels} }} }}"))
        };
        let three = "case ADD: n = 1; case SUB: n = ADD; case MODE_9: n = 2.0f * SUB;";
        assert_eq!(switch(three, ""), [Some(1), Some(2), Some(3)]);
        let more = format!("case 1: case 0x3u: case -2: {three}");
        assert_eq!(switch(&more, ""), [Some(4), Some(5), Some(6)]);
        assert_eq!(switch(three, "enum E { X, Y = 7, Z };"), [Some(11), Some(12), Some(13)]);
        assert_eq!(switch(three, "enum { ADD = 4 };")[1..], [Some(6), Some(7)]);
        assert_eq!(switch("case SUB | 4: n;", "")[1], Some(1));
        // The name of a constant that is no label says its value.
        assert_eq!(switch("case ADD: n + MODE_9;", "")[2], Some(9));
        assert_eq!(switch("case ADD", "")[0], Some(1));
    }

    #[test]
    fn what_is_indexed_is_a_table_and_what_samples_is_a_sampler() {
        for (statement, wanted) in [
            ("x = X[n] * 2.5f;", Some("__constant float X[256] = {1};")),
            ("n = X[n] % 3;", Some("__constant int X[256] = {1};")),
            ("read_imagef(i, X, f(1, 2));", Some("__constant sampler_t X = 16;")),
            ("read_imagef(i, X);", Some("#define X 1.0f")),
            ("read_imagef(i, s, X);", Some("#define X 1.0f")),
            ("write_imagef(i, X, s);", Some("#define X 1")),
            ("read_imagef[i, X, s];", Some("#define X 1")),
            // It is called, or will be declared once its type is known.
            ("n = X(1);", None),
            ("n = X(1) + X;", Some("#define X 1")),
            ("thing X = 3;", None),
            ("thing X, y;", None),
            ("thing y = n, X = 3;", None),
            ("thing *X = &n;", None),
            ("float X = 3.0f;", Some("#define X 1.0f")),
            ("", None),
        ] {
            assert_eq!(value("X", statement).as_deref(), wanted, "{statement}");
        }
    }
}
