use super::{Complaint, Fix, Program, Repair};

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
            | "err_cannot_open_file" => Some(vec![Fix::EmptyHeader(complaint.name.to_owned())]),
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
