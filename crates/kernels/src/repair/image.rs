use super::{
    Complaint, Fix, Program, Repair, builtin, is_missing,
    usage::{Usage, Votes},
};

/// Recognises images behind a package's own names for their types and accessors: what is read
/// with a sampler is an image, what reads it is `read_image*`, what stands beside it are
/// coordinates.
///
/// ```c
/// const sampler_t s = ...;
/// float f = FETCH(pixels, s, at).x;   // pixels: read_only image2d_t where `at` is an int2
/// STORE(out, at, f);                  // out: write_only image2d_t
/// ```
pub(super) struct Image;

impl Repair for Image {
    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>> {
        if !is_missing(complaint) {
            return None;
        }
        let (name, usage) = (complaint.name, &program.usage);
        let accesses = accesses(usage);
        if accesses.is_empty() {
            return None;
        }
        let places = usage.places(name);
        let called = places.iter().any(|at| usage.text(at + 1) == "(");
        let definition =
            if called { accessor(usage, name, &accesses) } else { of_type(usage, name, &accesses) };
        Some(vec![Fix::Definition(definition?)])
    }
}

/// A call that reads or writes an image.
#[derive(Clone, Copy, Debug)]
struct Access<'a> {
    callee: &'a str,
    image: &'a str,
    write: bool,
    /// The tokens of its coordinates.
    coordinates: (usize, usize),
    /// The call: its name's token, and one past its end.
    call: (usize, usize),
}

/// The accesses of a program: calls of three arguments whose first is a parameter that nothing
/// says to be a number or a pointer, and that take a sampler or, as statements, coordinates.
fn accesses<'a>(usage: &Usage<'a>) -> Vec<Access<'a>> {
    let mut found = Vec::new();
    for open in (1..usage.tokens.len()).filter(|at| usage.text(*at) == "(") {
        let call = open - 1;
        if !usage.is_word(call) || builtin::is_statement(usage.text(call)) {
            continue;
        }
        let arguments = arguments(usage, open);
        let [image, second, third] = arguments.as_slice() else { continue };
        if image.1 != image.0 + 1 || !is_opaque(usage, usage.text(image.0)) {
            continue;
        }
        let sampler = second.1 == second.0 + 1 && is_sampler(usage, usage.text(second.0));
        let statement = matches!(usage.before(call), ";" | "{" | "}" | ")" | "else");
        if sampler || statement && lanes(usage, *second).is_some() {
            found.push(Access {
                callee: usage.text(call),
                image: usage.text(image.0),
                write: !sampler,
                coordinates: if sampler { *third } else { *second },
                call: (call, usage.closing(open) + 1),
            });
        }
    }
    found
}

/// The arguments of the list that `open` begins, as ranges of tokens.
fn arguments(usage: &Usage<'_>, open: usize) -> Vec<(usize, usize)> {
    let close = usage.closing(open);
    let mut arguments = Vec::new();
    let mut begin = open + 1;
    let commas = (begin..close)
        .filter(|at| usage.text(*at) == "," && usage.enclosing(*at) == Some(open))
        .collect::<Vec<_>>();
    for end in commas.into_iter().chain([close]) {
        if end > begin {
            arguments.push((begin, end));
        }
        begin = end + 1;
    }
    arguments
}

/// Whether a variable is a parameter `WORD name` of a type that the language does not have.
fn is_opaque(usage: &Usage<'_>, variable: &str) -> bool {
    usage.places(variable).iter().any(|&at| {
        let parameter = usage
            .enclosing(at)
            .is_some_and(|open| usage.text(open) == "(" && usage.enclosing(open).is_none());
        parameter
            && matches!(usage.text(at + 1), "," | ")")
            && at > 1
            && usage.is_word(at - 1)
            && !builtin::is_type(usage.before(at))
            && !builtin::is_qualifier(usage.before(at))
            && (matches!(usage.before(at - 1), "(" | ",")
                || builtin::is_qualifier(usage.before(at - 1)))
    })
}

fn is_sampler(usage: &Usage<'_>, name: &str) -> bool {
    usage.places(name).iter().any(|at| usage.before(*at) == "sampler_t")
}

/// How many numbers the coordinates in a range of tokens are: by a cast or literal, by what a
/// variable is declared with, by the arguments of what makes them.
fn lanes(usage: &Usage<'_>, (begin, end): (usize, usize)) -> Option<u32> {
    for at in (begin..end).filter(|at| usage.is_word(*at)) {
        let word = usage.text(at);
        if matches!(usage.before(at), "." | "->") || usage.text(at + 1) == "." {
            continue;
        }
        let of_type = |name: &str| match builtin::split_lanes(name) {
            ("int" | "uint" | "float" | "short", lanes @ (2 | 4)) => Some(lanes),
            _ => None,
        };
        let declared = usage.type_of(word, at).and_then(of_type);
        if let Some(lanes) = of_type(word).or(declared).or_else(|| made(usage, word)) {
            return Some(lanes);
        }
    }
    None
}

/// The lanes of what an unknown function of two or four arguments makes, or of a variable that it
/// initialises.
fn made(usage: &Usage<'_>, word: &str) -> Option<u32> {
    usage.places(word).iter().find_map(|&at| {
        let call = if usage.text(at + 1) == "(" {
            at
        } else if usage.text(at + 1) == "=" && usage.text(at + 3) == "(" {
            at + 2
        } else {
            return None;
        };
        let known = usage.is_word(call.checked_sub(1)?) && usage.before(call) != "return";
        if known || builtin::result(usage.text(call)).is_some() || !usage.is_word(call) {
            return None;
        }
        let count = arguments(usage, call + 1).len() as u32;
        matches!(count, 2 | 4).then_some(count)
    })
}

/// What an unknown function does with images or coordinates.
fn accessor(usage: &Usage<'_>, name: &str, accesses: &[Access<'_>]) -> Option<String> {
    let own: Vec<&Access<'_>> = accesses.iter().filter(|access| access.callee == name).collect();
    if let Some(access) = own.first() {
        if access.write {
            return Some(format!("#define {name}(i, p, v) write_imagef(i, p, (float4)(v))"));
        }
        let mut votes = Votes::default();
        for access in &own {
            let (call, end) = access.call;
            let member = usage.text(end) == ".";
            let one = usage.votes(call, if member { end + 2 } else { end });
            let initialises = usage.before(call) == "=" && call > 1;
            let declared = initialises.then(|| usage.type_of(usage.text(call - 2), call)).flatten();
            votes.float += u32::from(declared.is_some_and(|name| name.starts_with("float"))) * 4;
            votes.integer += one.integer;
            votes.float += one.float;
        }
        let kind = if votes.integer > votes.float { "i" } else { "f" };
        return Some(format!("#define {name}(i, s, p) read_image{kind}(i, s, p)"));
    }
    let places = usage.places(name);
    let call = *places.iter().find(|at| usage.text(*at + 1) == "(")?;
    let list = arguments(usage, call + 1);
    if let [(begin, end)] = list.as_slice() {
        let asks =
            *end == begin + 1 && accesses.iter().any(|access| access.image == usage.text(*begin));
        let lower = name.to_ascii_lowercase();
        let what = ["width", "height", "depth"].into_iter().find(|what| lower.contains(what))?;
        let image = accesses.iter().filter(|access| access.image == usage.text(*begin));
        let flat = image.filter_map(|access| lanes(usage, access.coordinates)).next() == Some(2);
        return match (asks, flat && what == "depth") {
            (false, _) => None,
            (true, true) => Some(format!("#define {name}(i) 1")),
            (true, false) => Some(format!("#define {name}(i) get_image_{what}(i)")),
        };
    }
    // Coordinates: made in an access, or for a variable that stands in one.
    let within = |at: usize| {
        accesses.iter().any(|access| (access.coordinates.0..access.coordinates.1).contains(&at))
    };
    let makes = places.iter().any(|&at| {
        let variable = usage.before(at) == "=" && at > 1 && usage.is_word(at - 2);
        within(at)
            || variable && usage.places(usage.text(at - 2)).iter().any(|place| within(*place))
    });
    let lanes = list.len();
    (makes && matches!(lanes, 2 | 4)).then(|| {
        let names: Vec<String> = (0..lanes).map(|at| format!("x{at}")).collect();
        let names = names.join(", ");
        format!("#define {name}({names}) (int{lanes})({names})")
    })
}

/// What an unknown type is whose variables are images or coordinates.
fn of_type(usage: &Usage<'_>, name: &str, accesses: &[Access<'_>]) -> Option<String> {
    for at in usage.places(name) {
        if !usage.is_word(at + 1) {
            continue;
        }
        let variable = usage.text(at + 1);
        let own: Vec<&Access<'_>> =
            accesses.iter().filter(|access| access.image == variable).collect();
        if !own.is_empty() {
            let lanes = own.iter().find_map(|access| lanes(usage, access.coordinates));
            let image = if lanes == Some(2) { "image2d_t" } else { "image3d_t" };
            let (reads, writes) =
                (own.iter().any(|access| !access.write), own.iter().any(|access| access.write));
            let mode = match (reads, writes) {
                (true, true) => "read_write",
                (false, true) => "write_only",
                _ => "read_only",
            };
            return Some(format!("#define {name} {mode} {image}"));
        }
        let coordinates = accesses.iter().any(|access| {
            (access.coordinates.0..access.coordinates.1).any(|at| usage.text(at) == variable)
        });
        if coordinates {
            let lanes = made(usage, variable).unwrap_or(4);
            return Some(format!("typedef int{lanes} {name};"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::definition;

    fn said(name: &str, text: &str) -> Option<String> {
        match definition(&Image, name, text)?.as_slice() {
            [Fix::Definition(text)] => Some(text.clone()),
            other => panic!("{other:?}"),
        }
    }

    /// A kernel that reads `in` and writes `out` at coordinates of so many lanes.
    fn kernel(lanes: u32, statements: &str) -> String {
        format!(
            "void k(IN in, const OUT out, sampler_t s, float x, int n) {{ int{lanes} at; \
             x = GET(in, s, at).x * 2.0f; PUT(out, at, x); {statements} }}"
        )
    }

    #[test]
    fn what_is_read_with_a_sampler_is_an_image_and_what_reads_it_an_accessor() {
        let flat = kernel(2, "n = WIDTH_OF(in) + HEIGHT_OF(out) + DEPTH_OF(in);");
        let solid = kernel(4, "n = WIDTH_OF(in) + DEPTH_OF(in);");
        for (name, text, wanted) in [
            ("IN", &flat, "#define IN read_only image2d_t"),
            ("OUT", &flat, "#define OUT write_only image2d_t"),
            ("GET", &flat, "#define GET(i, s, p) read_imagef(i, s, p)"),
            ("PUT", &flat, "#define PUT(i, p, v) write_imagef(i, p, (float4)(v))"),
            ("WIDTH_OF", &flat, "#define WIDTH_OF(i) get_image_width(i)"),
            ("HEIGHT_OF", &flat, "#define HEIGHT_OF(i) get_image_height(i)"),
            ("DEPTH_OF", &flat, "#define DEPTH_OF(i) 1"),
            ("IN", &solid, "#define IN read_only image3d_t"),
            ("OUT", &solid, "#define OUT write_only image3d_t"),
            ("WIDTH_OF", &solid, "#define WIDTH_OF(i) get_image_width(i)"),
            ("DEPTH_OF", &solid, "#define DEPTH_OF(i) get_image_depth(i)"),
        ] {
            assert_eq!(said(name, text).as_deref(), Some(wanted), "{text}");
        }
        let each = "void k(IN in, VOLUME volume, sampler_t s, float x, int n) { int2 at; int4 spot; \
            x = GET(in, s, at).x + GET(volume, s, spot).x; n = DEPTH_OF(in) + DEPTH(volume); }";
        for (name, wanted) in [
            ("IN", "#define IN read_only image2d_t"),
            ("VOLUME", "#define VOLUME read_only image3d_t"),
            ("DEPTH_OF", "#define DEPTH_OF(i) 1"),
            ("DEPTH", "#define DEPTH(i) get_image_depth(i)"),
        ] {
            assert_eq!(said(name, each).as_deref(), Some(wanted));
        }
        let both = kernel(2, "PUT(in, at, x);");
        assert_eq!(said("IN", &both).as_deref(), Some("#define IN read_write image2d_t"));
    }

    #[test]
    fn an_integer_is_read_where_one_is_wanted() {
        for (statement, wanted) in [
            ("n = GET(in, s, at).x % 3;", "i"),
            ("q = GET(in, s, at).x % 3;", "i"),
            ("q = GET(in, s, at) % 3;", "i"),
            ("q = x % GET(in, s, at);", "i"),
            ("int4 v; v = GET(in, s, at);", "i"),
            ("float4 v = GET(in, s, at);", "f"),
            ("float4 v = GET(in, s, at) & 3;", "f"),
            ("x = GET(in, s, at).x * 2.0f;", "f"),
            ("x = GET(in, s, at).x; [3 % GET(in, s, at)]; [~GET(in, s, at)];", "i"),
            ("q = GET(in, s, at);", "f"),
        ] {
            let text =
                format!("void k(IN in, sampler_t s, float x, int n) {{ int2 at; {statement} }}");
            let wanted = format!("#define GET(i, s, p) read_image{wanted}(i, s, p)");
            assert_eq!(said("GET", &text), Some(wanted), "{statement}");
        }
    }

    #[test]
    fn coordinates_may_have_a_type_and_a_maker_of_their_own() {
        let text = |arguments: &str| {
            format!(
                "void k(IN in, sampler_t s, float x) {{ POS at = MAKE({arguments}); \
                 OTHER q = MAKE2(1, 2); x = at * MAKE3(1, 2); x = GET(in, s, at).x; }}"
            )
        };
        for (arguments, kind, maker) in [
            ("1, f(2, 3)", "typedef int2 POS;", Some("#define MAKE(x0, x1) (int2)(x0, x1)")),
            (
                "1, 2, 3, 4",
                "typedef int4 POS;",
                Some("#define MAKE(x0, x1, x2, x3) (int4)(x0, x1, x2, x3)"),
            ),
            ("1, 2, 3", "typedef int4 POS;", None),
        ] {
            let text = text(arguments);
            assert_eq!(said("POS", &text).as_deref(), Some(kind), "{text}");
            assert_eq!(said("MAKE", &text).as_deref(), maker, "{text}");
            // No access has these.
            assert_eq!(
                [said("OTHER", &text), said("MAKE2", &text), said("MAKE3", &text)],
                [None, None, None]
            );
        }
        let within = "void k(IN in, sampler_t s, float x) { x = GET(in, s, MAKE(1, 2)).x; }";
        let wanted = Some("#define MAKE(x0, x1) (int2)(x0, x1)".to_owned());
        assert_eq!(said("MAKE", within), wanted);
    }

    #[test]
    fn lanes_of_coordinates_are_those_of_a_cast_or_a_variable_or_what_makes_it() {
        for (before, coordinates, wanted) in [
            ("", "(int2)(1, 2)", "2d"),
            ("", "(float2)(1, 2)", "2d"),
            ("", "(uint4)(1)", "3d"),
            ("short2 at;", "at", "2d"),
            ("float4 at;", "at", "3d"),
            ("int4 at;", "at.xy + (int2)(1)", "2d"),
            ("P at = MAKE(1, 2);", "at", "2d"),
            ("P at = MAKE(1, 2, 3, 4);", "at", "3d"),
            ("P at = MAKE(1, 2);", "q->at", "3d"),
            ("P at(1, 2);", "at", "3d"),
            ("", "MAKE(1, 2)", "2d"),
            // What is known makes no coordinates.
            ("", "fmax(1, 2)", "3d"),
        ] {
            let text = format!(
                "void k(IN in, sampler_t s, float x) {{ {before} x = GET(in, s, {coordinates}).x; }}"
            );
            let wanted = format!("#define IN read_only image{wanted}_t");
            assert_eq!(said("IN", &text).unwrap_or_default(), wanted, "{before} {coordinates}");
        }
    }

    #[test]
    fn what_may_be_something_else_is_no_image() {
        let call = "x = GET(in, s, at).x;";
        for (parameters, statements) in [
            ("float in, sampler_t s", call),
            ("IN* in, sampler_t s", call),
            ("int IN in, sampler_t s", call),
            ("IN in[2], sampler_t s", call),
            ("IN in, thing s", call),
            ("IN in, sampler_t s", "x = GET(in, s);"),
            ("IN in, sampler_t s", "x = GET(in, s, at, 1);"),
            ("IN in, sampler_t s", "x = GET(in + 1, s, at);"),
            ("IN in, sampler_t s", "x = GET(in, s + 1, at);"),
            ("IN in, sampler_t s", "PUT(in, 3, x);"),
            ("IN in, sampler_t s", "x = PUT(in, at, x);"),
            ("IN in, sampler_t s", "return (in, s, at);"),
            ("sampler_t s", "IN in; x = GET(in, s, at);"),
            ("sampler_t s", "const IN in; x = GET(in, s, at);"),
            ("sampler_t s", "f(IN in); x = GET(in, s, at);"),
        ] {
            let text = format!("void k({parameters}, float x, int n) {{ int2 at; {statements} }}");
            for name in ["IN", "GET", "PUT"] {
                assert_eq!(said(name, &text), None, "{name}: {text}");
            }
        }
        let text = kernel(2, "n = WIDTH_OF(x) + COUNT_OF(in) + q(3); T t; t = 3;");
        for name in ["WIDTH_OF", "COUNT_OF", "q", "T"] {
            assert_eq!(said(name, &text), None, "{name}");
        }
    }
}
