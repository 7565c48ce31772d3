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

/// A member as it is used: evidence for its type, and whether it is indexed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Member {
    votes: Votes,
    indexed: bool,
    lanes: u32,
}

/// The members that are asked of variables.
pub(super) fn members<'a>(
    usage: &Usage<'a>,
    variables: &[(&str, usize, usize)],
) -> BTreeMap<&'a str, Member> {
    let mut members: BTreeMap<&'a str, Member> = BTreeMap::new();
    for (variable, from, to) in variables {
        for at in *from..(*to).min(usage.tokens.len()) {
            if usage.text(at) != *variable || matches!(usage.before(at), "." | "->") {
                continue;
            }
            let mut dot = at + 1;
            while usage.text(dot) == "[" {
                dot = usage.closing(dot) + 1;
            }
            if !matches!(usage.text(dot), "." | "->") || !usage.is_word(dot + 1) {
                continue;
            }
            let end = usage.postfix_end(at);
            let member = members.entry(usage.text(dot + 1)).or_default();
            member.indexed |= usage.text(dot + 2) == "[";
            let votes = usage.votes(at, end);
            member.votes.integer += votes.integer;
            member.votes.float += votes.float;
            if usage.text(dot + 2) == "." {
                member.lanes = member.lanes.max(swizzle_lanes(usage.text(dot + 3)).unwrap_or(0));
            } else {
                member.lanes = member.lanes.max(votes.lanes);
            }
        }
    }
    members
}

/// The lanes a vector needs to have all of the members, if they are all swizzles.
pub(super) fn swizzled_lanes(members: &BTreeMap<&str, Member>) -> Option<u32> {
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
        return digits
            .chars()
            .map(|digit| digit.to_digit(16).map(|digit| digit + 1))
            .max()
            .flatten();
    }
    member
        .chars()
        .map(|c| "xyzw".find(c).map(|at| at as u32 + 1))
        .collect::<Option<Vec<u32>>>()?
        .into_iter()
        .max()
}

/// The members between braces, by name, so that equal uses give equal structs.
pub(super) fn body(members: &BTreeMap<&str, Member>) -> String {
    let mut text = String::from("{ ");
    for (name, member) in members {
        let scalar = if member.votes.float > member.votes.integer { "float" } else { "int" };
        let lanes = match member.lanes {
            lanes @ (2 | 3 | 4 | 8 | 16) => lanes.to_string(),
            _ => String::new(),
        };
        let array = if member.indexed { "[16]" } else { "" };
        text.push_str(&format!("{scalar}{lanes} {name}{array}; "));
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
