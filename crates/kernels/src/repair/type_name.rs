use super::{
    Complaint, Fix, Program, Repair, builtin, is_missing, record,
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

/// A definition of the type `name`.
fn define(usage: &Usage<'_>, name: &str) -> String {
    let variables = variables(usage, name);
    let members = record::members(usage, &variables);
    let votes = votes(usage, name, &variables);
    if let Some(lanes) = lanes_by_name(name) {
        let element = scalar(votes, name);
        return format!("typedef {element}{lanes} {name};");
    }
    if !members.is_empty() {
        return match record::swizzled_lanes(&members) {
            Some(lanes) => format!("typedef {}{lanes} {name};", scalar(votes, name)),
            None => format!("typedef struct {} {name};", record::body(&members)),
        };
    }
    match votes.lanes {
        lanes @ (2 | 3 | 4 | 8 | 16) => format!("typedef {}{lanes} {name};", scalar(votes, name)),
        _ => format!("typedef {} {name};", scalar(votes, name)),
    }
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
            let end = usage.postfix_end(next);
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
