//! Machine code of a module, where its LLVM has a back end for it.

use crate::{
    Module,
    context::c_text,
    symbols::{RawBuffer, RawTarget, RawTargetKind},
};

/// The level of `-O2` in the C API.
const DEFAULT_LEVEL: u32 = 2;
const POSITION_INDEPENDENT: u32 = 2;
const DEFAULT_CODE_MODEL: u32 = 0;
const OBJECT_FILE: u32 = 1;

impl Module<'_> {
    /// The object file that the back end makes of it, for its own triple and a baseline processor,
    /// position-independent; `None` where the library has no back end for x86-64 or the module is
    /// for another processor. Passes of the back end change the module.
    pub fn emit_object(&mut self) -> Option<Vec<u8>> {
        let triple = self.triple();
        if !triple.starts_with("x86_64") {
            return None;
        }
        let symbols = &self.library().symbols;
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
            self.library().take_message(message);
            return None;
        }
        let (cpu, features) = (c_text("x86-64"), c_text(""));
        // SAFETY: the kind was found above and the texts end in NUL.
        let machine: *mut RawTarget = unsafe {
            (symbols.create_machine?)(
                kind,
                text.as_ptr(),
                cpu.as_ptr(),
                features.as_ptr(),
                DEFAULT_LEVEL,
                POSITION_INDEPENDENT,
                DEFAULT_CODE_MODEL,
            )
        };
        if machine.is_null() {
            return None;
        }
        let mut buffer: *mut RawBuffer = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: machine and module are alive; `&mut self` means that nothing in it is borrowed.
        let failed = unsafe {
            (symbols.emit_to_buffer?)(
                machine,
                self.raw(),
                OBJECT_FILE,
                &raw mut message,
                &raw mut buffer,
            )
        };
        // SAFETY: it was made above and is not used again.
        unsafe { (symbols.dispose_machine?)(machine) };
        if failed != 0 {
            self.library().take_message(message);
            return None;
        }
        Some(self.library().take_buffer(buffer))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Context, Library};

    #[test]
    fn a_module_with_assembly_in_it_has_an_object() {
        let Ok(library) = Library::newest() else {
            println!("skipped: no LLVM here");
            return;
        };
        let text = "target triple = \"x86_64-unknown-linux-gnu\"\n\
            define i64 @f(i64 %a) { %b = call i64 asm \"bsr $1, $0\", \"=r,r\"(i64 %a)\n ret i64 %b }";
        let context = Context::new(library);
        let mut module = context.parse("f", text.as_bytes()).expect("it is valid");
        let object = module.emit_object().expect("there is a back end");
        assert!(object.starts_with(b"\x7fELF"));
    }
}
