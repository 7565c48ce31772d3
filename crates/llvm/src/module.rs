use crate::{
    Block, Context, Error, Function, Global, Instruction, Library,
    context::c_text,
    library::{borrow_text, copy_text},
    symbols::{RawContext, RawModule, RawPassOptions},
    target::{DEFAULT_LEVEL, Machine},
};
use std::{ffi::CString, fmt, marker::PhantomData, ptr::NonNull};

/// A module of IR in a [`Context`].
pub struct Module<'c> {
    context: &'c Context,
    name: String,
    raw: NonNull<RawModule>,
}

impl<'c> Module<'c> {
    pub(crate) fn own(context: &'c Context, name: &str, raw: NonNull<RawModule>) -> Module<'c> {
        Module { context, name: name.to_owned(), raw }
    }

    /// The LLVM that it is in.
    #[must_use]
    pub fn library(&self) -> &'static Library {
        self.context.library()
    }

    /// The name it was read under.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The module identifier; bitcode does not keep it.
    #[must_use]
    pub fn identifier(&self) -> String {
        let mut length = 0;
        // SAFETY: the module is alive; the text is copied before anything can change it.
        let text = unsafe {
            (self.library().symbols.module_identifier)(self.raw.as_ptr(), &raw mut length)
        };
        copy_text(text, length)
    }

    /// The source file it was made from; empty if it does not say.
    #[must_use]
    pub fn source_file_name(&self) -> String {
        let mut length = 0;
        // SAFETY: as in `identifier`.
        let text = unsafe {
            (self.library().symbols.source_file_name)(self.raw.as_ptr(), &raw mut length)
        };
        copy_text(text, length)
    }

    /// Say that it was made from another source file: object files name it before the symbols that are theirs alone.
    pub fn set_source_file_name(&mut self, name: &str) {
        // SAFETY: the module is alive; the name is copied.
        unsafe {
            (self.library().symbols.set_source_file_name)(
                self.raw.as_ptr(),
                name.as_ptr().cast(),
                name.len(),
            );
        }
    }

    /// The target triple; empty if it has none.
    #[must_use]
    pub fn triple(&self) -> String {
        // SAFETY: the module is alive; the text is copied at once.
        borrow_text(unsafe { (self.library().symbols.target)(self.raw.as_ptr()) })
    }

    /// The data layout; empty if it has none.
    #[must_use]
    pub fn data_layout(&self) -> String {
        // SAFETY: the module is alive; the text is copied at once.
        borrow_text(unsafe { (self.library().symbols.data_layout)(self.raw.as_ptr()) })
    }

    /// Its assembly outside of functions; empty for most.
    #[must_use]
    pub fn assembly(&self) -> String {
        let mut length = 0;
        // SAFETY: as in `identifier`.
        let text =
            unsafe { (self.library().symbols.module_assembly)(self.raw.as_ptr(), &raw mut length) };
        copy_text(text, length)
    }

    /// All functions, declarations included, in the module's order.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> + use<'_> {
        let library = self.library();
        // SAFETY: the module is alive for as long as the iterator.
        let first = unsafe { (library.symbols.first_function)(self.raw.as_ptr()) };
        // SAFETY: functions stay where they are while the module is borrowed.
        let next = move |at: &NonNull<_>| unsafe { (library.symbols.next_function)(at.as_ptr()) };
        std::iter::successors(NonNull::new(first), move |at| NonNull::new(next(at)))
            .map(move |raw| Function { raw, library, module: PhantomData })
    }

    /// The function of this name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<Function<'_>> {
        let library = self.library();
        let name = CString::new(name).ok()?;
        // SAFETY: the module is alive and the name ends in NUL.
        let raw = unsafe { (library.symbols.named_function)(self.raw.as_ptr(), name.as_ptr()) };
        NonNull::new(raw).map(|raw| Function { raw, library, module: PhantomData })
    }

    /// All global variables, in the module's order.
    pub fn globals(&self) -> impl Iterator<Item = Global<'_>> + use<'_> {
        let library = self.library();
        // SAFETY: the module is alive for as long as the iterator.
        let first = unsafe { (library.symbols.first_global)(self.raw.as_ptr()) };
        // SAFETY: global variables stay where they are while the module is borrowed.
        let next = move |at: &NonNull<_>| unsafe { (library.symbols.next_global)(at.as_ptr()) };
        std::iter::successors(NonNull::new(first), move |at| NonNull::new(next(at)))
            .map(move |raw| Global { raw, library, module: PhantomData })
    }

    /// Check it against the rules of the IR.
    ///
    /// # Errors
    /// [`Error::Invalid`] with what is broken.
    pub fn verify(&self) -> Result<(), Error> {
        self.library()
            .verify(self.raw.as_ptr())
            .map_err(|message| Error::Invalid { name: self.name.clone(), message })
    }

    /// Run a pipeline of the new pass manager, for example `default<O2>` or `mem2reg,instcombine`.
    ///
    /// The module is verified first, because passes may crash on a broken one. Where the library has
    /// a back end for the module's triple, passes ask it what pays, and vectorise as clang has them at `-O2`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a broken module, [`Error::Pipeline`] for an unknown pass.
    pub fn run_passes(&mut self, pipeline: &str) -> Result<(), Error> {
        self.run(pipeline, true, |_| {})
    }

    /// The same, but nothing is vectorised: for code of which one thread of many is asked.
    ///
    /// # Errors
    /// As [`Module::run_passes`].
    pub fn run_scalar_passes(&mut self, pipeline: &str) -> Result<(), Error> {
        self.run(pipeline, false, |_| {})
    }

    /// `set` sets further options.
    pub(crate) fn run(
        &mut self,
        pipeline: &str,
        vectorise: bool,
        set: impl FnOnce(*mut RawPassOptions),
    ) -> Result<(), Error> {
        self.verify()?;
        let library = self.library();
        let text = c_text(pipeline);
        // SAFETY: there is nothing it depends on.
        let options = unsafe { (library.symbols.pass_options)() };
        // SAFETY: the options were just made.
        unsafe { (library.symbols.vectorise_straight_lines)(options, vectorise.into()) };
        if let (false, Some(vectorise_loops)) = (vectorise, library.symbols.vectorise_loops) {
            // SAFETY: as above.
            unsafe { vectorise_loops(options, 0) };
        }
        set(options);
        let machine = Machine::of(self, DEFAULT_LEVEL);
        // SAFETY: module, options and machine are alive; no target machine is allowed too; `&mut self`
        // means that nothing in the module is borrowed.
        let error = unsafe {
            (library.symbols.run_passes)(
                self.raw.as_ptr(),
                text.as_ptr(),
                machine.as_ref().map_or(std::ptr::null_mut(), |machine| machine.raw),
                options,
            )
        };
        // SAFETY: they were made above and are not used again.
        unsafe { (library.symbols.dispose_pass_options)(options) };
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: the call consumes the error and gives its message.
        let message = unsafe { (library.symbols.error_message)(error) };
        let copy = borrow_text(message);
        // SAFETY: the message came from the call above and was copied.
        unsafe { (library.symbols.dispose_error_message)(message) };
        Err(Error::Pipeline { pipeline: pipeline.to_owned(), message: copy })
    }

    /// Make every function with a body local to the module, but those that `keep` names: passes may
    /// then remove what nobody calls. Gives how many were.
    pub fn internalise(&mut self, keep: impl Fn(Function<'_>) -> bool) -> usize {
        const INTERNAL: u32 = 8;
        let library = self.library();
        let mut changed = 0;
        for function in self.functions() {
            if function.is_declaration() || function.is_local() || keep(function) {
                continue;
            }
            // SAFETY: the function is alive and has a body, as local linkage wants.
            unsafe { (library.symbols.set_linkage)(function.value().raw.as_ptr(), INTERNAL) };
            changed += 1;
        }
        changed
    }

    /// Ask of every function with a body to be small, as clang's `-Oz` does: `optsize` and `minsize`.
    pub fn ask_for_small_code(&mut self) {
        const FUNCTION: u32 = u32::MAX;
        let (symbols, context) = (&self.library().symbols, self.raw_context());
        for name in ["optsize", "minsize"] {
            // SAFETY: the name is as long as is said.
            let kind = unsafe { (symbols.attribute_kind)(name.as_ptr().cast(), name.len()) };
            // SAFETY: the context is alive; these attributes have no value.
            let attribute = unsafe { (symbols.create_attribute)(context, kind, 0) };
            for function in self.functions().filter(|function| !function.is_declaration()) {
                let raw = function.value().raw.as_ptr();
                // SAFETY: function and attribute are of one context.
                unsafe { (symbols.add_attribute)(raw, FUNCTION, attribute) };
            }
        }
    }

    /// Instructions of all functions, debug intrinsics not counted.
    #[must_use]
    pub fn instruction_count(&self) -> u64 {
        let instructions =
            self.functions().flat_map(Function::blocks).flat_map(Block::instructions);
        let is_debug = |instruction: &Instruction<'_>| {
            let called = instruction.called_function();
            called.is_some_and(|f| f.is_intrinsic() && f.name().starts_with("llvm.dbg."))
        };
        instructions.filter(|instruction| !is_debug(instruction)).count() as u64
    }

    /// It as textual IR.
    #[must_use]
    pub fn print(&self) -> String {
        // SAFETY: the module is alive; the text becomes ours.
        let text = unsafe { (self.library().symbols.print_module)(self.raw.as_ptr()) };
        self.library().take_message(text)
    }

    /// It as bitcode of its library's version.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let symbols = &self.library().symbols;
        // SAFETY: the module is alive; the buffer becomes ours.
        let buffer = unsafe { (symbols.write_bitcode)(self.raw.as_ptr()) };
        self.library().take_buffer(buffer)
    }

    pub(crate) fn raw_context(&self) -> *mut RawContext {
        // SAFETY: the module is alive.
        unsafe { (self.library().symbols.context_of)(self.raw.as_ptr()) }
    }

    /// The same module once more: only one of the two may be dropped.
    pub(crate) fn again(&self) -> Module<'c> {
        Module { context: self.context, name: self.name.clone(), raw: self.raw }
    }

    pub(crate) fn raw(&self) -> *mut RawModule {
        self.raw.as_ptr()
    }
}

impl Clone for Module<'_> {
    /// A second module of equal content in the same context.
    fn clone(&self) -> Self {
        // SAFETY: the module is alive; the copy becomes ours.
        let raw = unsafe { (self.library().symbols.clone_module)(self.raw.as_ptr()) };
        let raw = NonNull::new(raw).expect("LLVM ends the process rather than return null");
        Module { context: self.context, name: self.name.clone(), raw }
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: whatever was in the module borrowed it, so nothing refers to it any more.
        unsafe { (self.library().symbols.dispose_module)(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("name", &self.name).finish_non_exhaustive()
    }
}
