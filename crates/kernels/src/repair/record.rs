use super::{
    Complaint, Fix, Program, Repair, builtin, type_name,
    usage::{Usage, Votes},
};
use std::collections::BTreeMap;

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
        Some(vec![Fix::Definition(format!("{keyword} {tag} {};", body(&members)))])
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
        }
    }
    members
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

/// The members between braces, by name, so that equal uses give equal structs.
pub(super) fn body(members: &BTreeMap<&str, Member<'_>>) -> String {
    let mut text = String::from("{ ");
    for (name, member) in members {
        let scalar = if member.votes.float > member.votes.integer { "float" } else { "int" };
        let type_name = match (member.lanes, swizzled_lanes(&member.members)) {
            (_, None) if !member.members.is_empty() => format!("struct {}", body(&member.members)),
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
        assert_eq!(body(&members), "{ float a; int b[16]; float4 c; int d; int e; float g; }");
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
            assert_eq!(body(&members), wanted, "{uses}");
        }
        let deep = format!("void k(struct P q) {{ q{} = 1; }}", ".a".repeat(1000));
        let usage = Usage::of(&deep);
        let members = members(&usage, &type_name::variables(&usage, "P"));
        assert_eq!(body(&members).matches("struct").count(), DEPTH - 1);
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
