use super::{Complaint, Fix, Program, Repair};

/// Renames a program's own function or type that has a builtin's name.
pub(super) struct Clash;

impl Repair for Clash {
    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>> {
        let clashes = !complaint.preprocessor
            && (matches!(
                complaint.kind,
                "err_conflicting_types"
                    | "err_redefinition_different_kind"
                    | "err_redefinition_different_typedef"
                    | "err_redefinition"
                    | "err_ovl_diff_return_type"
                    | "err_attribute_overloadable_mismatch"
                    | "err_attribute_overloadable_no_prototype"
                    | "err_redefinition_of_enumerator"
                    | "err_static_non_static"
                    | "err_builtin_redeclare"
            ));
        // A name that the program declares twice itself is not cured by another name.
        let own = declarations(complaint.name, program) > 1;
        (clashes && !own && !complaint.name.is_empty())
            .then(|| vec![Fix::Define(format!("{0}=own_{0}", complaint.name))])
    }
}

/// How often the program defines a name as a function or ends a type with it.
fn declarations(name: &str, program: &Program<'_>) -> usize {
    let usage = &program.usage;
    let defines = |at: &usize| {
        let next = at + 1;
        match usage.text(next) {
            "(" => usage.enclosing(*at).is_none() && usage.text(usage.closing(next) + 1) == "{",
            ";" | "{" => usage.enclosing(*at).is_none(),
            _ => false,
        }
    };
    usage.places(name).iter().filter(|at| defines(at)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::usage::Usage;

    fn fix(kind: &str, name: &str, preprocessor: bool, text: &str) -> Option<Vec<Fix>> {
        let complaint = Complaint { kind, message: "", name, offset: None, preprocessor };
        Clash.fix(&complaint, &Program { source: text, usage: Usage::of(text) })
    }

    #[test]
    fn what_is_declared_once_gets_a_name_of_its_own() {
        let kind = "err_conflicting_types";
        let renamed = Some(vec![Fix::Define("max=own_max".to_owned())]);
        for text in [
            "int max(int a) { } void k() { max(1); max; }",
            "int max(int a); int max(int a) { }",
            "typedef int max; void k() { max { } }",
            "struct max { int a; };",
            "",
        ] {
            assert_eq!(fix(kind, "max", false, text), renamed, "{text}");
        }
        for text in [
            "int max(int a) { } float max(float a) { }",
            "typedef int max; struct max { };",
            "typedef int max; int max(int a) { }",
        ] {
            assert_eq!(fix(kind, "max", false, text), None, "{text}");
        }
        let text = "int max(int a) { }";
        assert_eq!(fix(kind, "max", true, text), None);
        assert_eq!(fix(kind, "", false, text), None);
        assert_eq!(fix("err_undeclared_var_use", "max", false, text), None);
    }
}
