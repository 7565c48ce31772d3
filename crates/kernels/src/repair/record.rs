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
            let end = usage.postfix_end(dot + 1);
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
