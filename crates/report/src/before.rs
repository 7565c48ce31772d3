//! Kernels as they were found: beside the normal form that `prepare` made of them, where the folder has the content files too.

use crate::{Set, programs::Programs};
use dataset::Row as _;
use rows::{ContentFile, ContentSource};
use std::collections::HashMap;

/// A longer kernel is shown in its normal form alone.
const LONGEST: usize = 8 << 10;
/// Bytes of all of them on a page at most: what comes first is shown.
const MOST: usize = 1 << 20;

/// Cut each kernel of the page out of its content file.
pub(super) fn find(sets: &[Set], programs: &mut Programs, problems: &mut Vec<String>) {
    let mut wanted: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, program) in programs.list().iter().enumerate() {
        if !program.content.0.is_empty() {
            wanted.entry(program.content.0.clone()).or_default().push(at);
        }
    }
    let mut room = MOST;
    for set in sets.iter().filter(|set| set.dataset.manifest().schema == ContentFile::SCHEMA) {
        let rows = match set.dataset.rows::<ContentSource>() {
            Ok(rows) => rows,
            Err(error) => {
                problems.push(error.to_string());
                continue;
            }
        };
        for row in rows {
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    problems.push(error.to_string());
                    break;
                }
            };
            for at in wanted.remove(&row.id).into_iter().flatten() {
                let program = &mut programs.list_mut()[at];
                let Some(text) = kernel(&row.text, &program.content.1) else { continue };
                if text.len() <= LONGEST.min(room) {
                    room -= text.len();
                    text.clone_into(&mut program.before);
                }
            }
        }
    }
}

/// The kernel of that name in a content file: from its first word to the brace that closes it.
fn kernel<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    lexer::kernel_signatures(text).into_iter().filter(|one| one.name == name).find_map(|one| {
        let mut depth = 0_usize;
        for token in lexer::tokens(&text[one.parameters.end..]) {
            if token.is("{") {
                depth += 1;
            } else if token.is("}") {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(&text[one.begin..one.parameters.end + token.end()]);
                }
            } else if token.is(";") && depth == 0 {
                // It is declared only.
                return None;
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::kernel;

    #[test]
    fn a_kernel_is_cut_from_its_first_word_to_its_last_brace() {
        let text = "__kernel void f(int a);\nint g() { return 1; }\n\
                    __kernel void f(int a) {\n  if (a) { g(); } // }\n}\n__kernel void h() {}\n";
        assert_eq!(kernel(text, "f"), Some("__kernel void f(int a) {\n  if (a) { g(); } // }\n}"));
        assert_eq!(kernel(text, "h"), Some("__kernel void h() {}"));
        assert_eq!(kernel(text, "g"), None);
        assert_eq!(kernel("__kernel void open(int a) { if (a) {", "open"), None);
    }
}
