use super::{
    Complaint, Fix, Program, Repair, builtin, is_missing, record, type_name, usage::Usage, width,
};
use crate::Status;
use lexer::{Kind, tokens};
use std::{collections::BTreeMap, sync::OnceLock};

/// Our own header of what kernels commonly take for granted. A program is given only what it
/// lacks, so that nothing of it can get in its way.
pub(super) struct Shim;

/// Definitions that kernels commonly take for granted, as one header; a program that has one of
/// these names itself may clash with it.
pub const HEADER: &str = include_str!("shim.h");

/// What each line of the header defines.
fn definitions() -> &'static BTreeMap<&'static str, &'static str> {
    static DEFINITIONS: OnceLock<BTreeMap<&str, &str>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| {
        let lines = HEADER.lines().filter(|line| !line.is_empty() && !line.starts_with("//"));
        lines.filter_map(|line| Some((defined(line)?, line))).collect()
    })
}

/// The name that a definition of one line defines.
fn defined(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("#define ") {
        return rest.split([' ', '(']).next();
    }
    let words: Vec<_> = tokens(line).collect();
    if line.starts_with("typedef") {
        return words.iter().rev().find(|token| token.kind == Kind::Word).map(|token| token.text);
    }
    let list = words.iter().position(|token| token.is("("))?;
    words.get(list.checked_sub(1)?).map(|token| token.text)
}

impl Repair for Shim {
    fn status(&self) -> Status {
        Status::Shim
    }

    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>> {
        if !is_missing(complaint) {
            return None;
        }
        let usage = &program.usage;
        let definition = match definitions().get(complaint.name) {
            Some(line) => (*line).to_owned(),
            None => of_width(complaint.name, usage)?,
        };
        let places = usage.places(complaint.name);
        let called = places.iter().any(|at| usage.text(at + 1) == "(");
        let takes_arguments = definition.contains(&format!("{}(", complaint.name));
        // A type's name that is called, a number with members, a size that is assigned: not what the shim means by it.
        let fits = match (definition.starts_with("typedef"), takes_arguments) {
            (true, _) => !called && has_members(&definition, complaint.name, usage),
            (false, true) => called,
            (false, false) => !places.iter().any(|at| usage.text(at + 1) == "["),
        };
        fits.then(|| vec![Fix::Definition(definition)])
    }
}

/// The integer type that a name says by its width, where it is used as a type.
fn of_width(name: &str, usage: &Usage<'_>) -> Option<String> {
    let integer = width::integer(name).filter(|_| type_name::is_type(usage, name))?;
    Some(format!("typedef {integer} {name};"))
}

/// Whether the type that a line gives a name has the members that are asked of the name's variables.
fn has_members(line: &str, name: &str, usage: &Usage<'_>) -> bool {
    let members = record::members(usage, &type_name::variables(usage, name));
    let (_, lanes) = builtin::split_lanes(line.split(' ').nth(1).unwrap_or_default());
    record::are_lanes(&members, lanes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::definition;

    #[test]
    fn every_line_defines_one_name_once() {
        let lines: Vec<&str> =
            HEADER.lines().filter(|l| !l.is_empty() && !l.starts_with("//")).collect();
        assert_eq!(lines.len(), definitions().len());
        assert_eq!(definitions()["MIN"], "#define MIN(x, y) ((x) < (y) ? (x) : (y))");
        assert_eq!(definitions()["amd_bfe"].split(' ').next(), Some("inline"));
    }

    #[test]
    fn a_line_says_what_it_defines() {
        for (line, name) in [
            ("#define A 1", Some("A")),
            ("#define B(x) (x)", Some("B")),
            ("#define C", Some("C")),
            ("typedef unsigned int D;", Some("D")),
            ("inline int E(int x) { return x; }", Some("E")),
            ("int f;", None),
            ("(x)", None),
        ] {
            assert_eq!(defined(line), name, "{line}");
        }
    }

    #[test]
    fn names_of_a_width_have_it() {
        let of = |name: &str| definition(&Shim, name, &format!("{name} x = y;"));
        assert_eq!(of("u64_t"), Some(vec![Fix::Definition("typedef ulong u64_t;".to_owned())]));
        assert_eq!(of("s16_t"), Some(vec![Fix::Definition("typedef short s16_t;".to_owned())]));
        // What the header says of such names is the same.
        let mut listed = 0;
        for (name, line) in definitions() {
            if let Some(integer) = width::integer(name) {
                assert_eq!(*line, format!("typedef {integer} {name};"));
                listed += 1;
            }
        }
        assert!(listed > 20, "{listed}");
    }

    #[test]
    fn a_definition_is_given_where_it_fits_the_use() {
        for (name, text, fits) in [
            ("MIN", "x = MIN(a, b);", true),
            ("MIN", "x = MIN;", false),
            ("real", "real x;", true),
            ("real", "x = real(3);", false),
            ("BLOCK_SIZE", "int t[BLOCK_SIZE];", true),
            ("BLOCK_SIZE", "x = BLOCK_SIZE[3];", false),
            ("unheard_of", "x = unheard_of;", false),
            ("u64_t", "u64_t x;", true),
            ("u64_t", "x = u64_t;", false),
            // Members decide what it is.
            ("cplx", "cplx t; t.x = t.y;", true),
            ("cplx", "cplx t; t.re = t.im;", false),
            ("complex_t", "f(complex_t* t) { t[1].p = t->q; }", false),
            ("real", "real t; t.x = 1;", false),
            ("real3", "real3 t; t.z = 1;", true),
            ("real3", "real3 t; t.w = 1;", false),
        ] {
            assert_eq!(definition(&Shim, name, text).is_some(), fits, "{text}");
        }
        assert_eq!(Shim.status(), Status::Shim);
    }
}
