//! A kernel as a function that another one calls.

use super::{end_reached, is_outermost, words};
use crate::program::{Expression, Parameter, Program, Statement, Ty};

impl Program {
    /// A kernel that does what this one does and then calls a function that does what `other` does; a `return` in that ends the
    /// function alone. `None` where `other` declares local memory, which functions cannot, or where work-items wait for each
    /// other in it.
    pub(super) fn calling(&self, other: &Program, is_fixed: bool) -> Option<Program> {
        if other.waits() || other.body.iter().any(is_outermost) {
            return None;
        }
        let mut joined = self.clone();
        let fitted = joined.fitted(other)?;
        joined.take_in(other, &fitted);
        let function = joined.name_beside(&fitted.words);
        let known = if is_fixed { &joined.parameters } else { &fitted.parameters };
        let own = Program { body: fitted.body, ..Program::empty() };
        let used = words(&own.to_string());
        let known = known.iter().filter(|one| used.contains(&one.name));
        let passed: Vec<Parameter> = known.cloned().collect();
        let arguments = passed.iter().map(|one| Expression::name(one.ty, &*one.name));
        let call = Expression::call(Ty::Other, &function, arguments.collect());
        let made = Program { head: format!("static void {function}("), parameters: passed, ..own };
        joined.head.insert_str(fitted.functions.len(), &made.to_string());
        end_reached(&mut joined.body);
        joined.body.push(Statement::Evaluate(call));
        Some(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FIRST, SECOND, joined, judge};
    use crate::program::Join;

    /// A kernel whose work-items may return early.
    const EARLY: &str = "kernel void B(global float* a, int c, int d) {\n  int b = get_local_id(0);\n  if (b > c) {\n    return;\n  }\n  a[b] = 3.0f;\n}\n";

    #[test]
    fn a_function_is_called_with_the_parameters_that_it_uses() {
        let judge = judge();
        let text = joined(&judge, &[FIRST, EARLY], Join::Helper, "", 1).expect("they fit");
        assert!(text.starts_with("static void p5(global float* p2, int p3) {\n"), "{text}");
        for part in ["int b, global float* p2, int p3, int p4) {", "  p5(p2, p3);\n", "return;"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // Local memory is declared by kernels alone.
        let sequence = joined(&judge, &[FIRST, SECOND], Join::Sequence, "", 1);
        assert_eq!(joined(&judge, &[FIRST, SECOND], Join::Helper, "", 1), sequence);
    }

    #[test]
    fn a_function_takes_what_is_asked_for_along() {
        let judge = judge();
        let types = "int, global float*";
        let text = joined(&judge, &[FIRST, EARLY], Join::Helper, types, 1).expect("they fit");
        assert!(
            text.contains("(int p0, __global float* p1) {\n  int b = get_local_id(0);"),
            "{text}"
        );
        assert!(text.contains("(p0, p1);"), "{text}");
    }
}
