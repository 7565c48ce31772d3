//! Machine code of a module, where its LLVM has a back end for it.

use crate::{
    Library, Module,
    context::c_text,
    symbols::{RawBuffer, RawTarget, RawTargetKind},
};

/// The level of `-O2` in the C API.
pub(crate) const DEFAULT_LEVEL: u32 = 2;
/// That of `-O0`.
const QUICK_LEVEL: u32 = 0;
const POSITION_INDEPENDENT: u32 = 2;
const DEFAULT_CODE_MODEL: u32 = 0;
const ASSEMBLY_FILE: u32 = 0;
const OBJECT_FILE: u32 = 1;

/// A back end set up for one triple and a baseline processor; functions may ask for a later one.
pub(crate) struct Machine {
    library: &'static Library,
    pub(crate) raw: *mut RawTarget,
}

impl Machine {
    /// For the triple of a module, at a level; `None` where the library has no back end for it.
    pub(crate) fn of(module: &Module<'_>, level: u32) -> Option<Machine> {
        let triple = module.triple();
        if !triple.starts_with("x86_64") {
            return None;
        }
        let library = module.library();
        let symbols = &library.symbols;
        for step in [
            symbols.x86_target_info?,
            symbols.x86_target?,
            symbols.x86_target_code?,
            symbols.x86_printer?,
            // Reads assembly inside of modules.
            symbols.x86_parser?,
        ] {
            // SAFETY: they register a back end with the library; doing it again changes nothing.
            unsafe { step() };
        }
        let text = c_text(&triple);
        let mut kind: *mut RawTargetKind = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: the triple ends in NUL; kind and message are written.
        let failed =
            unsafe { (symbols.target_of?)(text.as_ptr(), &raw mut kind, &raw mut message) };
        if failed != 0 {
            library.take_message(message);
            return None;
        }
        let (cpu, features) = (c_text("x86-64"), c_text(""));
        // SAFETY: the kind was found above and the texts end in NUL.
        let raw: *mut RawTarget = unsafe {
            (symbols.create_machine?)(
                kind,
                text.as_ptr(),
                cpu.as_ptr(),
                features.as_ptr(),
                level,
                POSITION_INDEPENDENT,
                DEFAULT_CODE_MODEL,
            )
        };
        (!raw.is_null()).then_some(Machine { library, raw })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(dispose) = self.library.symbols.dispose_machine {
            // SAFETY: it was made in `of` and nothing else holds it.
            unsafe { dispose(self.raw) };
        }
    }
}

impl Module<'_> {
    /// The object file that the back end makes of it, for its own triple and a baseline processor,
    /// position-independent; `None` where the library has no back end for x86-64 or the module is
    /// for another processor. Passes of the back end change the module.
    pub fn emit_object(&mut self) -> Option<Vec<u8>> {
        self.emit(OBJECT_FILE, DEFAULT_LEVEL)
    }

    /// The same, made in as little time as may be: code that runs once or is small.
    pub fn emit_object_quickly(&mut self) -> Option<Vec<u8>> {
        self.emit(OBJECT_FILE, QUICK_LEVEL)
    }

    /// The same as assembly, with LLVM's remarks: at each block's label, how deep in loops it lies
    /// (`Depth=2`).
    pub fn emit_assembly(&mut self) -> Option<String> {
        let text = self.emit(ASSEMBLY_FILE, DEFAULT_LEVEL)?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    fn emit(&mut self, kind: u32, level: u32) -> Option<Vec<u8>> {
        let machine = Machine::of(self, level)?;
        let library = self.library();
        if kind == ASSEMBLY_FILE {
            // SAFETY: the machine is alive.
            unsafe { (library.symbols.explain_assembly?)(machine.raw, 1) };
        }
        let mut buffer: *mut RawBuffer = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: machine and module are alive; `&mut self` means that nothing in it is borrowed.
        let failed = unsafe {
            (library.symbols.emit_to_buffer?)(
                machine.raw,
                self.raw(),
                kind,
                &raw mut message,
                &raw mut buffer,
            )
        };
        if failed != 0 {
            library.take_message(message);
            return None;
        }
        Some(library.take_buffer(buffer))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Context, Library};

    #[test]
    fn a_module_with_assembly_in_it_has_an_object() {
        let library = Library::newest().expect("scripts/setup.sh installs LLVM");
        let text = "target triple = \"x86_64-unknown-linux-gnu\"\n\
            define i64 @f(i64 %a) { %b = call i64 asm \"bsr $1, $0\", \"=r,r\"(i64 %a)\n ret i64 %b }";
        let context = Context::new(library);
        let mut module = context.parse("f", text.as_bytes()).expect("it is valid");
        let object = module.emit_object().expect("there is a back end");
        assert!(object.starts_with(b"\x7fELF"));
    }

    #[test]
    fn assembly_says_how_deep_a_block_lies() {
        let library = Library::newest().expect("scripts/setup.sh installs LLVM");
        let text = "target triple = \"x86_64-unknown-linux-gnu\"\n\
            define void @f(ptr %p, i64 %n) {
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
            }";
        let context = Context::new(library);
        let mut module = context.parse("f", text.as_bytes()).expect("it is valid");
        let assembly = module.emit_assembly().expect("there is a back end");
        let after = assembly.split_once(".LBB0_1:").map(|(_, after)| after);
        let remarks = after.and_then(|after| after.split_once("\tmovq"));
        assert!(remarks.is_some_and(|(remarks, _)| remarks.contains("Depth=1")), "{assembly}");
    }

    #[test]
    fn passes_know_the_target_of_a_module() {
        let library = Library::newest().expect("scripts/setup.sh installs LLVM");
        let sum = "define i32 @sum(ptr %p, i64 %n) {
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
        let context = Context::new(library);
        let optimised = |head: &str| {
            let text = format!("{head}\n{sum}");
            let mut module = context.parse("sum", text.as_bytes()).expect("it is valid");
            module.run_passes("default<O3>").expect("they run");
            module.print()
        };
        let vectors = "<4 x i32>";
        assert!(optimised("target triple = \"x86_64-unknown-linux-gnu\"").contains(vectors));
        assert!(!optimised("").contains(vectors));
    }
}
