use super::{
    Complaint, Fix, Program, Repair, builtin, type_name,
    usage::{Usage, Votes},
};
use std::{cmp::Ordering, collections::BTreeMap};

/// Writes the struct that `struct NAME` means where only its tag is there.
pub(super) struct Record;

impl Repair for Record {
    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>> {
        let incomplete = matches!(
            complaint.kind,
            "err_typecheck_decl_incomplete_type"
                | "err_typecheck_incomplete_tag"
                | "err_sizeof_alignof_function_type"
                | "err_sizeof_alignof_incomplete_or_sizeless_type"
                | "err_typecheck_incomplete_type"
                | "err_subscript_incomplete_or_sizeless_type"
                | "err_typecheck_incomplete_array_needs_initializer"
        );
        if !incomplete || complaint.preprocessor {
            return None;
        }
        let tag = complaint.message.split('\'').nth(1)?.split_whitespace().rfind(|word| {
            word.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && !builtin::is_qualifier(word)
        })?;
        let usage = &program.usage;
        let keyword = usage.places(tag).iter().any(|at| usage.before(*at) == "union");
        let members = members(usage, &type_name::variables(usage, tag));
        if members.is_empty() {
            return None;
        }
        let keyword = if keyword { "union" } else { "struct" };
        Some(vec![Fix::Definition(format!("{keyword} {tag} {};", body(&members, tag)))])
    }
}

/// Members of members that are looked at.
const DEPTH: usize = 8;

/// A member as it is used: evidence for its type, whether it is indexed, and the members that are asked of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Member<'a> {
    votes: Votes,
    indexed: bool,
    lanes: u32,
    /// It points to what has it, in this address space.
    own: Option<&'a str>,
    members: BTreeMap<&'a str, Member<'a>>,
}

/// The members that are asked of variables.
pub(super) fn members<'a>(
    usage: &Usage<'a>,
    variables: &[(&str, usize, usize)],
) -> BTreeMap<&'a str, Member<'a>> {
    let mut members: BTreeMap<&'a str, Member<'a>> = BTreeMap::new();
    for (variable, from, to) in variables {
        for at in *from..(*to).min(usage.tokens.len()) {
            if usage.text(at) != *variable || matches!(usage.before(at), "." | "->") {
                continue;
            }
            let dot = behind_indices(usage, at + 1);
            if !matches!(usage.text(dot), "." | "->") || !usage.is_word(dot + 1) {
                continue;
            }
            note(usage, &mut members, dot, usage.votes(at, usage.postfix_end(at)));
            if let Some(space) = own_space(usage, variables, at, dot)
                && let Some(member) = members.get_mut(usage.text(dot + 1))
            {
                member.own = Some(space);
            }
        }
    }
    members
}

/// The address space of a pointer variable that a member is assigned to, as in `p = p->next;`, where it points to what has
/// the member, too: `at` is the variable that the member is asked of, `dot` what asks. It is empty where none is named.
fn own_space<'a>(
    usage: &Usage<'a>,
    variables: &[(&str, usize, usize)],
    at: usize,
    dot: usize,
) -> Option<&'a str> {
    let target = at.checked_sub(2)?;
    let is_all = usage.before(at) == "=" && matches!(usage.text(dot + 2), ";" | "," | ")");
    let is_here = |(name, from, to): &&(&str, usize, usize)| {
        *name == usage.text(target) && (*from..*to).contains(&target)
    };
    let (_, declared, _) = variables.iter().rfind(is_here).filter(|_| is_all)?;
    let is_variable = *declared == target
        || matches!(usage.before(target), ";" | "{" | "}" | "(" | ")" | "," | "else");
    if !is_variable || usage.before(*declared) != "*" || usage.before(declared - 1) == "*" {
        return None;
    }
    let ends = |at: &usize| matches!(usage.text(*at), ";" | "{" | "}" | "(" | ",");
    let words = (0..*declared).rev().take_while(|at| !ends(at)).map(|at| usage.text(at));
    let mut spaces = words.filter(|word| builtin::is_address_space(word));
    Some(spaces.next().unwrap_or_default())
}

/// Whether a member points to what has it.
pub(super) fn has_own(members: &BTreeMap<&str, Member<'_>>) -> bool {
    members.values().any(|member| member.own.is_some())
}

/// Note that the member behind a `.` or `->` is asked for, and what is asked of it; the votes are those of all of that.
fn note<'a>(
    usage: &Usage<'a>,
    mut members: &mut BTreeMap<&'a str, Member<'a>>,
    mut dot: usize,
    votes: Votes,
) {
    for _ in 0..DEPTH {
        let member = members.entry(usage.text(dot + 1)).or_default();
        member.indexed |= usage.text(dot + 2) == "[";
        member.votes.integer += votes.integer;
        member.votes.float += votes.float;
        let next = behind_indices(usage, dot + 2);
        if usage.text(next) != "." || !usage.is_word(next + 1) {
            member.lanes = member.lanes.max(votes.lanes);
            return;
        }
        member.lanes = member.lanes.max(swizzle_lanes(usage.text(next + 1)).unwrap_or(0));
        (dot, members) = (next, &mut member.members);
    }
}

/// One past the indices that begin at a place, if any do.
fn behind_indices(usage: &Usage<'_>, mut at: usize) -> usize {
    while usage.text(at) == "[" {
        at = usage.closing(at) + 1;
    }
    at
}

/// The lanes a vector needs to have all of the members, if they are all swizzles.
pub(super) fn swizzled_lanes(members: &BTreeMap<&str, Member<'_>>) -> Option<u32> {
    let lanes: Option<Vec<u32>> = members.keys().map(|member| swizzle_lanes(member)).collect();
    let most = lanes?.into_iter().max()?;
    // A vector of three takes the room of four and is rarely what is meant.
    Some([2, 4, 8, 16].into_iter().find(|lanes| *lanes >= most).unwrap_or(16))
}

/// Whether a vector of so many lanes has all of the members; a number, of one lane, has none.
pub(super) fn are_lanes(members: &BTreeMap<&str, Member<'_>>, lanes: u32) -> bool {
    let is_lane = |member: &&str| swizzle_lanes(member).is_some_and(|most| most <= lanes);
    members.is_empty() || lanes > 1 && members.keys().all(is_lane)
}

fn swizzle_lanes(member: &str) -> Option<u32> {
    if matches!(member, "lo" | "hi" | "even" | "odd") {
        return Some(2);
    }
    if let Some(digits) = member.strip_prefix(['s', 'S'])
        && !digits.is_empty()
    {
        let lanes = digits.chars().map(|digit| digit.to_digit(16).map(|digit| digit + 1));
        return lanes.collect::<Option<Vec<u32>>>()?.into_iter().max();
    }
    member
        .chars()
        .map(|c| "xyzw".find(c).map(|at| at as u32 + 1))
        .collect::<Option<Vec<u32>>>()?
        .into_iter()
        .max()
}

/// The members between braces, by name, so that equal uses give equal structs; `record` is the name of what has them.
pub(super) fn body(members: &BTreeMap<&str, Member<'_>>, record: &str) -> String {
    let mut text = String::from("{ ");
    for (name, member) in members {
        if let Some(space) = member.own {
            text.push_str(format!("{space} struct {record}* {name}; ").trim_start());
            continue;
        }
        let scalar = match member.votes.float.cmp(&member.votes.integer) {
            Ordering::Greater => "float",
            Ordering::Equal if is_complex(record) => "float",
            Ordering::Equal | Ordering::Less => "int",
        };
        let type_name = match (member.lanes, swizzled_lanes(&member.members)) {
            (_, None) if !member.members.is_empty() => {
                format!("struct {}", body(&member.members, record))
            }
            (lanes @ (2 | 3 | 4 | 8 | 16), _) => format!("{scalar}{lanes}"),
            // Of a vector one component is known, and most have four.
            (0 | 1, Some(_)) => format!("{scalar}4"),
            (_, Some(lanes)) => format!("{scalar}{lanes}"),
            (_, None) => scalar.to_owned(),
        };
        let array = if member.indexed { "[16]" } else { "" };
        text.push_str(&format!("{type_name} {name}{array}; "));
    }
    text + "}"
}

/// Whether a name says that it is of complex numbers, whose parts are floating-point ones where nothing says otherwise.
fn is_complex(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["complex", "cplx", "cmplx"].iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "void k(__global struct P* p, float f, int n, struct P q) {
        f = p->a * 2.0f; n = p[n + 1].b[1] % 2; p[0].c.w = f; n = q.d << 1; n = q.d + 1.0f;
        r.p.z; p; p[1]; p->e(); f = p->g * 2.0f; f = p->g * 0.5f; n = p->g % 2;
    }";

    fn fix(kind: &str, message: &str, preprocessor: bool, text: &str) -> Option<Vec<Fix>> {
        let complaint = Complaint { kind, message, name: "", offset: None, preprocessor };
        Record.fix(&complaint, &Program { source: text, usage: Usage::of(text) })
    }

    #[test]
    fn members_are_what_they_are_used_as() {
        let usage = Usage::of(TEXT);
        let members = members(&usage, &type_name::variables(&usage, "P"));
        assert_eq!(body(&members, "P"), "{ float a; int b[16]; float4 c; int d; int e; float g; }");
        assert_eq!(swizzled_lanes(&members), None);
    }

    #[test]
    fn what_is_asked_of_a_member_says_what_it_is() {
        for (uses, wanted) in [
            ("f = q.pos.x;", "{ float4 pos; }"),
            ("f = q.pos.x * q.pos.y;", "{ float2 pos; }"),
            ("f = q.pos.z; n = q.mass % 2;", "{ int mass; float3 pos; }"),
            ("n = q.bits.s4 % 2;", "{ int8 bits; }"),
            ("f = q.pos[2].x;", "{ float4 pos[16]; }"),
            (
                "f = q.motion.speed; n = q.motion.kind << 1;",
                "{ struct { int kind; float speed; } motion; }",
            ),
            ("f = q.pos.x; f = q.pos.mass;", "{ struct { float mass; float x; } pos; }"),
            ("f = q.at[n].by.w;", "{ struct { float4 by; } at[16]; }"),
            ("n = q.next->key;", "{ int next; }"),
            ("f = q.pos.;", "{ float pos; }"),
        ] {
            let text = format!("void k(float f, int n, struct P q) {{ {uses} }}");
            let usage = Usage::of(&text);
            let members = members(&usage, &type_name::variables(&usage, "P"));
            assert_eq!(body(&members, "P"), wanted, "{uses}");
        }
        let deep = format!("void k(struct P q) {{ q{} = 1; }}", ".a".repeat(1000));
        let usage = Usage::of(&deep);
        let members = members(&usage, &type_name::variables(&usage, "P"));
        assert_eq!(body(&members, "P").matches("struct").count(), DEPTH - 1);
    }

    #[test]
    fn parts_of_complex_numbers_are_floating_where_nothing_says_otherwise() {
        let usage = Usage::of("void k(struct P q, struct P r) { q.re = r.re * r.im; q.n = 3; }");
        let members = members(&usage, &type_name::variables(&usage, "P"));
        for (record, wanted) in [
            ("P", "{ int im; int n; int re; }"),
            ("Complex_t", "{ float im; int n; float re; }"),
            ("cplx", "{ float im; int n; float re; }"),
        ] {
            assert_eq!(body(&members, record), wanted);
        }
    }

    #[test]
    fn what_is_assigned_to_a_pointer_to_the_record_is_one() {
        for (uses, wanted) in [
            ("p = p->next;", "{ __global struct P* next; }"),
            ("while (p) { n = p->key % 2; p = p->next; }", "{ int key; __global struct P* next; }"),
            ("for (p = q; p; p = p->next) { }", "{ __global struct P* next; }"),
            (
                "__global struct P *r = p->next; r = q->last;",
                "{ __global struct P* last; __global struct P* next; }",
            ),
            ("struct P *r = p->next;", "{ struct P* next; }"),
            // No pointer to it, or a part of more.
            ("s = q->next;", "{ int next; }"),
            ("n = p->next;", "{ int next; }"),
            ("p = p->next + 1;", "{ int next; }"),
            ("m[p = p->next];", "{ int next; }"),
            ("m.p = p->next;", "{ int next; }"),
            ("struct P **r = p->next;", "{ int next; }"),
        ] {
            let text = format!(
                "void k(int n, __global struct P *p, const __global struct P *q, struct P s) {{ {uses} }}"
            );
            let usage = Usage::of(&text);
            let members = members(&usage, &type_name::variables(&usage, "P"));
            assert_eq!(body(&members, "P"), wanted, "{uses}");
            assert_eq!(has_own(&members), wanted.contains("struct"), "{uses}");
        }
    }

    #[test]
    fn members_that_a_vector_has_are_lanes() {
        let are = |names: &[&'static str], lanes| {
            are_lanes(&names.iter().map(|name| (*name, Member::default())).collect(), lanes)
        };
        assert!(are(&[], 1) && are(&["x", "y"], 2) && are(&["xyz"], 3) && are(&["s7"], 8));
        assert!(!are(&["x"], 1) && !are(&["z"], 2) && !are(&["x", "re"], 4));
    }

    #[test]
    fn an_incomplete_structure_is_written_out() {
        let kind = "err_typecheck_incomplete_tag";
        let message = "incomplete definition of type '__global struct P'";
        let body = "{ int a; }";
        let text = "void k(struct P* p) { p->a % 2; }";
        let wanted = |text: String| Some(vec![Fix::Definition(text)]);
        assert_eq!(fix(kind, message, false, text), wanted(format!("struct P {body};")));
        let pointer = "incomplete definition of type 'struct P *'";
        assert_eq!(fix(kind, pointer, false, text), wanted(format!("struct P {body};")));
        let (line, low) = (message.replace('P', "_p"), text.replace('P', "_p"));
        assert_eq!(fix(kind, &line, false, &low), wanted(format!("struct _p {body};")));
        let union = text.replace("struct", "union");
        assert_eq!(fix(kind, message, false, &union), wanted(format!("union P {body};")));
        assert_eq!(fix(kind, message, true, text), None);
        assert_eq!(fix("err_redefinition", message, false, text), None);
        assert_eq!(fix(kind, message, false, "void k(struct P* p) { p; }"), None);
        assert_eq!(fix(kind, "incomplete definition of type 'struct '", false, text), None);
    }

    #[test]
    fn components_of_a_vector_need_as_many_lanes() {
        for (member, wanted) in [
            ("x", Some(1)),
            ("y", Some(2)),
            ("wx", Some(4)),
            ("lo", Some(2)),
            ("odd", Some(2)),
            ("s0", Some(1)),
            ("S7", Some(8)),
            ("s3f", Some(16)),
            ("s", None),
            ("sum", None),
            ("speed", None),
            ("xq", None),
        ] {
            assert_eq!(swizzle_lanes(member), wanted, "{member}");
        }
        let lanes = |names: &[&'static str]| {
            swizzled_lanes(&names.iter().map(|name| (*name, Member::default())).collect())
        };
        assert_eq!(lanes(&["x"]), Some(2));
        assert_eq!(lanes(&["x", "z"]), Some(4));
        assert_eq!(lanes(&["s7", "hi"]), Some(8));
        assert_eq!(lanes(&["s8"]), Some(16));
        assert_eq!(lanes(&["x", "mass"]), None);
        assert_eq!(lanes(&[]), None);
    }
}
