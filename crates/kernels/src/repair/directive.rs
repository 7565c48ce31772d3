use super::{Complaint, Fix, Program, Repair};
use clang::Diagnostic;

/// Leaves out what only the package's build could answer: includes of generated headers, `#error`
/// against a missing option.
pub(super) struct Directive;

impl Repair for Directive {
    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>> {
        if !complaint.preprocessor {
            return None;
        }
        match complaint.kind {
            "err_pp_file_not_found"
            | "err_pp_file_not_found_angled_include_not_fatal"
            | "err_cannot_open_file" => {
                let is_data = complaint.offset.is_some_and(|at| in_list(program.source, at));
                (!is_data).then(|| vec![Fix::EmptyHeader(complaint.name.to_owned())])
            }
            "err_pp_hash_error"
            | "err_pp_invalid_directive"
            | "err_pp_expects_filename"
            | "err_pp_include_too_deep" => {
                let offset = complaint.offset.filter(|at| program.source.is_char_boundary(*at))?;
                Some(vec![Fix::BlankLine(offset)])
            }
            _ => None,
        }
    }
}

/// Whether a preprocessor's error is a missing file of data: what it holds is the program's own, and
/// nothing can be inferred about it.
pub(crate) fn is_lost_data(error: &Diagnostic, source: &str) -> bool {
    error.kind.contains("file_not_found")
        && error.offset.is_some_and(|at| in_list(source, at as usize))
}

/// Whether the line at `offset` stands in an initialiser or in arguments.
fn in_list(source: &str, offset: usize) -> bool {
    let line = source.get(..offset).and_then(|before| before.rfind('\n')).unwrap_or(0);
    let before = lexer::trim_markers_end(source.get(..line).unwrap_or_default());
    match before.strip_suffix('{') {
        Some(before) => before.trim_end().ends_with(['=', ',', '{']),
        None => before.ends_with([',', '=', '(']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::usage::Usage;

    fn fix(kind: &str, preprocessor: bool, offset: usize, source: &str) -> Option<Vec<Fix>> {
        let offset = Some(offset);
        let complaint = Complaint { kind, message: "", name: "x.h", offset, preprocessor };
        Directive.fix(&complaint, &Program { source, usage: Usage::of("") })
    }

    #[test]
    fn missing_headers_are_empty_and_what_stops_the_preprocessor_is_blank() {
        let source = "int x;\n#include \"x.h\"\n";
        let empty = Some(vec![Fix::EmptyHeader("x.h".to_owned())]);
        assert_eq!(fix("err_pp_file_not_found", true, 7, source), empty);
        assert_eq!(fix("err_pp_file_not_found", false, 7, source), None);
        assert_eq!(fix("err_pp_hash_error", true, 7, source), Some(vec![Fix::BlankLine(7)]));
        assert_eq!(fix("err_pp_hash_error", true, 1, "é"), None);
        assert_eq!(fix("err_pp_other", true, 7, source), None);
    }

    #[test]
    fn a_file_in_a_list_is_data() {
        for (before, is_data) in [
            ("int t[] = {", true),
            ("int t[] = { 1,", true),
            ("int t[] = { {", true),
            ("f(1, {", true),
            ("int x =", true),
            ("f(", true),
            ("int t[] = {\n#line 1 \"a.h\"\n1,\n#line 3 \"a.cl\"", true),
            ("void f() {", false),
            ("int x;", false),
            ("", false),
        ] {
            let source = format!("{before} \n#include \"x.h\"\n");
            let offset = source.find("\"x").expect("it is there");
            assert_eq!(in_list(&source, offset), is_data, "{before}");
            let found = fix("err_pp_file_not_found", true, offset, &source);
            assert_eq!(found.is_none(), is_data, "{before}");
        }
    }
}
