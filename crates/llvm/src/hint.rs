//! What the passes that transform loops are asked to do with a module's.

use crate::{
    Function, Module,
    symbols::{RawMetadata, RawValue},
};

/// What is asked of a loop, as clang's `#pragma clang loop` says it: in metadata, which holds for that loop
/// whatever the passes would do by themselves. What they cannot do they leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopHint {
    /// As many copies of its body (`unroll_count`); with 1 it is neither unrolled nor interleaved.
    Unroll(u32),
    /// As many iterations at a time (`vectorize_width`): with more than 1 whether it pays or not, and sums of
    /// floating-point numbers in another order.
    Vectorize(u32),
}

impl LoopHint {
    /// Its properties: a name, and a number with its width in bits where it has one.
    fn properties(self) -> Vec<(&'static str, Option<(u32, u32)>)> {
        match self {
            LoopHint::Unroll(0 | 1) => vec![("llvm.loop.unroll.disable", None)],
            LoopHint::Unroll(count) => vec![("llvm.loop.unroll.count", Some((count, 32)))],
            LoopHint::Vectorize(width) => {
                let mut all = vec![("llvm.loop.vectorize.width", Some((width.max(1), 32)))];
                if width > 1 {
                    all.push(("llvm.loop.vectorize.enable", Some((1, 1))));
                }
                all
            }
        }
    }
}

impl Module<'_> {
    /// Ask this of every loop of the functions that `of` names, in the place of what its author asked; with
    /// `None` only count. Gives how many loops there are.
    pub fn hint_loops(
        &mut self,
        of: impl Fn(Function<'_>) -> bool,
        hint: Option<LoopHint>,
    ) -> usize {
        let mut loops = 0;
        for function in self.functions().filter(|function| of(*function)) {
            let latches = function.loop_nest().latches;
            loops += latches.len();
            let Some(hint) = hint else { continue };
            let blocks: Vec<_> = function.blocks().collect();
            for latches in latches {
                let jumps = latches.into_iter().filter_map(|place| blocks[place].terminator());
                self.hint_loop(jumps.map(|jump| jump.value().raw.as_ptr()), hint);
            }
        }
        loops
    }

    /// `!llvm.loop` of one loop: a node whose first operand is itself, so that no other loop has it.
    fn hint_loop(&self, jumps: impl Iterator<Item = *mut RawValue>, hint: LoopHint) {
        const KIND: &str = "llvm.loop";
        let (symbols, context) = (&self.library().symbols, self.raw_context());
        let node = |operands: &mut [*mut RawMetadata]| {
            // SAFETY: the context and what is in it are alive; the array is as long as is said.
            unsafe { (symbols.metadata_node)(context, operands.as_mut_ptr(), operands.len()) }
        };
        // SAFETY: the context is alive; the node has no operands.
        let own = unsafe { (symbols.temporary_node)(context, std::ptr::null_mut(), 0) };
        let mut operands = vec![own];
        for (name, number) in hint.properties() {
            // SAFETY: the name is as long as is said.
            let name =
                unsafe { (symbols.metadata_text)(context, name.as_ptr().cast(), name.len()) };
            let mut property = vec![name];
            if let Some((number, bits)) = number {
                // SAFETY: the context is alive.
                let integer = unsafe { (symbols.integer_type)(context, bits) };
                // SAFETY: the type is one of integers.
                let number = unsafe { (symbols.integer_constant)(integer, number.into(), 0) };
                // SAFETY: the constant lives as long as its context.
                property.push(unsafe { (symbols.value_as_metadata)(number) });
            }
            operands.push(node(&mut property));
        }
        let all = node(&mut operands);
        // SAFETY: the first is temporary, used by the second alone, and ends here.
        unsafe { (symbols.replace_temporary)(own, all) };
        // SAFETY: the name is as long as is said.
        let kind =
            unsafe { (symbols.metadata_kind)(context, KIND.as_ptr().cast(), KIND.len() as u32) };
        // SAFETY: the node is of this context.
        let value = unsafe { (symbols.metadata_as_value)(context, all) };
        for jump in jumps {
            // SAFETY: instruction and node are of one context.
            unsafe { (symbols.set_metadata)(jump, kind, value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Library, candidates};

    const LOOPS: &str = "target triple = \"x86_64-unknown-linux-gnu\"
        define void @count(ptr %p, i64 %n) {
        entry:
          br label %loop
        loop:
          %i = phi i64 [ 0, %entry ], [ %j, %loop ]
          store volatile i64 %i, ptr %p
          %j = add i64 %i, 1
          %t = icmp eq i64 %j, %n
          br i1 %t, label %out, label %loop
        out:
          ret void
        }
        define i32 @sum(ptr %p, i64 %n) {
        entry:
          br label %loop
        loop:
          %i = phi i64 [ 0, %entry ], [ %next, %loop ]
          %s = phi i32 [ 0, %entry ], [ %t, %loop ]
          %q = getelementptr inbounds i32, ptr %p, i64 %i
          %v = load i32, ptr %q
          %t = add i32 %s, %v
          %next = add nuw nsw i64 %i, 1
          %done = icmp eq i64 %next, %n
          br i1 %done, label %out, label %loop
        out:
          ret i32 %t
        }";

    fn optimised(library: &'static Library, hint: Option<LoopHint>) -> String {
        let context = Context::new(library);
        let mut module = context.parse("loops", LOOPS.as_bytes()).expect("it is valid");
        let asked = module.hint_loops(|function| !function.is_declaration(), hint);
        assert_eq!(asked, 2);
        module.run_passes("default<O2>").expect("they run");
        module.verify().expect("hints break nothing");
        module.print()
    }

    /// Those that read opaque pointers by themselves.
    fn libraries() -> impl Iterator<Item = &'static Library> {
        let newest = Library::newest().expect("scripts/setup.sh installs LLVM");
        let all = candidates().into_iter().filter(|found| found.version.major >= 15);
        let all = all.filter_map(|found| Library::load(&found.path).ok());
        std::iter::once(newest).chain(all)
    }

    #[test]
    fn a_loop_has_as_many_copies_of_its_body_as_was_asked() {
        for library in libraries() {
            let bodies = |hint| optimised(library, hint).matches("store volatile").count();
            assert_eq!(bodies(Some(LoopHint::Unroll(1))), 1);
            // And one for the iterations that are left over.
            assert_eq!(bodies(Some(LoopHint::Unroll(4))), 5);
            assert_eq!(bodies(Some(LoopHint::Unroll(8))), 9);
        }
    }

    #[test]
    fn a_loop_is_as_wide_as_was_asked() {
        for library in libraries() {
            let text = |width| optimised(library, Some(LoopHint::Vectorize(width)));
            for (width, other) in [(4, 8), (8, 16)] {
                let text = text(width);
                assert!(text.contains(&format!("load <{width} x i32>")), "{text}");
                assert!(!text.contains(&format!("load <{other} x i32>")), "{text}");
            }
            assert!(!text(1).contains(" x i32>"), "{}", text(1));
        }
    }

    #[test]
    fn what_an_author_asked_is_replaced() {
        let library = Library::newest().expect("scripts/setup.sh installs LLVM");
        let context = Context::new(library);
        let text =
            LOOPS.replace("label %loop\n        out", "label %loop, !llvm.loop !0\n        out");
        let text =
            format!("{text}\n!0 = distinct !{{!0, !1}}\n!1 = !{{!\"llvm.loop.unroll.full\"}}\n");
        let mut module = context.parse("loops", text.as_bytes()).expect("it is valid");
        module.hint_loops(|function| !function.is_declaration(), None);
        assert!(module.print().contains("unroll.full"));
        module.hint_loops(|function| !function.is_declaration(), Some(LoopHint::Unroll(1)));
        let printed = module.print();
        assert!(
            printed.contains("unroll.disable") && !printed.contains("unroll.full"),
            "{printed}"
        );
        // Each loop has a node of its own.
        assert_eq!(printed.matches("= distinct !{").count(), 2, "{printed}");
    }
}
