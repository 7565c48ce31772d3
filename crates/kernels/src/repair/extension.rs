use super::{Complaint, Fix, Program, Repair};
use crate::Status;

/// Switches on the extension that a program uses without saying so: its package's platform has it
/// on from the start. clang's diagnostic names the extension; that of a `half` variable does not.
pub(super) struct Extension;

/// The one extension whose pragma changes what clang accepts for the target of preparation.
pub(crate) const HALF: &str = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable";

impl Repair for Extension {
    fn status(&self) -> Status {
        Status::Shim
    }

    fn fix(&self, complaint: &Complaint<'_>, _: &Program<'_>) -> Option<Vec<Fix>> {
        let message = complaint.message;
        let half = message.contains("cl_khr_fp16")
            || message.contains("half' is not allowed")
            || message.contains("half') is not allowed");
        (half && !complaint.preprocessor).then(|| vec![Fix::Definition(HALF.to_owned())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::usage::Usage;

    #[test]
    fn half_is_switched_on_where_clang_asks_for_it() {
        let said = |message: &str, preprocessor: bool| {
            let complaint = Complaint { kind: "", message, name: "", offset: None, preprocessor };
            Extension.fix(&complaint, &Program { source: "", usage: Usage::of("") })
        };
        let on = Some(vec![Fix::Definition(HALF.to_owned())]);
        for message in [
            "use of type 'half' requires cl_khr_fp16 support",
            "declaring variable of type 'half' is not allowed",
            "parameter of type '__private half' (aka 'half') is not allowed",
        ] {
            assert_eq!(said(message, false), on, "{message}");
            assert_eq!(said(message, true), None);
        }
        assert_eq!(said("use of undeclared identifier 'half_of'", false), None);
        assert_eq!(Extension.status(), Status::Shim);
    }
}
