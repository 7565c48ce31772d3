use crate::{
    Error, Identification, Library, Module,
    symbols::{RawBuffer, RawContext, RawDiagnostic, RawModule},
};
use std::{
    cell::RefCell,
    ffi::{CString, c_void},
    fmt,
    ptr::NonNull,
    rc::Rc,
};

/// What modules live in: types, constants and diagnostics. One thread at a time may use a context
/// and what is in it; different contexts are independent.
pub struct Context {
    library: &'static Library,
    raw: NonNull<RawContext>,
    heard: Rc<Heard>,
}

struct Heard {
    library: &'static Library,
    messages: RefCell<Vec<String>>,
}

/// Error severity in the C API.
const ERROR: u32 = 0;

impl Context {
    /// An empty context of `library`.
    #[must_use]
    pub fn new(library: &'static Library) -> Context {
        // SAFETY: there is nothing it depends on.
        let raw = unsafe { (library.symbols.context_create)() };
        let raw = NonNull::new(raw).expect("LLVM ends the process rather than return null");
        let heard = Rc::new(Heard { library, messages: RefCell::default() });
        let listener = Rc::as_ptr(&heard).cast_mut().cast::<c_void>();
        // SAFETY: the listener lives as long as the context, which holds it.
        unsafe { (library.symbols.set_diagnostic_handler)(raw.as_ptr(), hear, listener) };
        Context { library, raw, heard }
    }

    /// The LLVM it belongs to.
    #[must_use]
    pub fn library(&self) -> &'static Library {
        self.library
    }

    /// Read a module from bitcode (raw or in a wrapper) or textual IR; `name` is what messages call
    /// it.
    ///
    /// LLVM's reader checks what it reads, but is no match for hostile bitcode: read that in a
    /// worker process.
    ///
    /// # Errors
    /// [`Error::TooNew`] when a later LLVM wrote it and this one cannot read it, [`Error::Parse`]
    /// when it is broken, empty or something else.
    pub fn parse(&self, name: &str, content: &[u8]) -> Result<Module<'_>, Error> {
        self.heard.messages.borrow_mut().clear();
        let failed = |message: String| Error::Parse { name: name.to_owned(), message };
        if content.is_empty() {
            return Err(failed("is empty".to_owned()));
        }
        if !Identification::is_bitcode(content) {
            return self.parse_text(name, content).map_err(failed);
        }
        let identification = Identification::read(content);
        self.parse_bitcode(name, content).map_err(|message| match identification {
            Some(Identification { producer, version: Some(version), .. })
                if version.major > self.library.version().major =>
            {
                Error::TooNew { name: name.to_owned(), producer, library: self.library.version() }
            }
            _ => failed(message),
        })
    }

    fn parse_bitcode(&self, name: &str, content: &[u8]) -> Result<Module<'_>, String> {
        let symbols = &self.library.symbols;
        let label = c_text(name);
        // SAFETY: the buffer borrows `content` and is disposed of before this function returns.
        let buffer = unsafe {
            (symbols.buffer_borrow)(content.as_ptr().cast(), content.len(), label.as_ptr(), 0)
        };
        let mut module: *mut RawModule = std::ptr::null_mut();
        // SAFETY: context and buffer are alive; the module is written where parsing succeeds.
        let status = unsafe { (symbols.parse_bitcode)(self.raw.as_ptr(), buffer, &raw mut module) };
        // SAFETY: the module was read whole, so nothing refers to the buffer any more.
        unsafe { (symbols.dispose_buffer)(buffer) };
        match NonNull::new(module).filter(|_| status == 0) {
            Some(module) => Ok(Module::own(self, name, module)),
            None => Err(self.last_words("not a module")),
        }
    }

    fn parse_text(&self, name: &str, content: &[u8]) -> Result<Module<'_>, String> {
        let symbols = &self.library.symbols;
        let label = c_text(name);
        // SAFETY: LLVM copies the text and adds the NUL its lexer needs.
        let buffer: *mut RawBuffer = unsafe {
            (symbols.buffer_copy)(content.as_ptr().cast(), content.len(), label.as_ptr())
        };
        let mut module: *mut RawModule = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: the call takes over the buffer; module and message are written by it.
        let status = unsafe {
            (symbols.parse_ir)(self.raw.as_ptr(), buffer, &raw mut module, &raw mut message)
        };
        let message = self.library.take_message(message);
        match NonNull::new(module).filter(|_| status == 0) {
            Some(module) => Ok(Module::own(self, name, module)),
            None => Err(first_line(&message, "not a module")),
        }
    }

    /// The diagnostics heard since the last module was read, oldest first.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<String> {
        self.heard.messages.borrow().clone()
    }

    pub(crate) fn last_words(&self, otherwise: &str) -> String {
        let messages = self.heard.messages.borrow();
        first_line(messages.last().map_or("", String::as_str), otherwise)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: modules borrow the context, so none is left.
        unsafe { (self.library.symbols.context_dispose)(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("library", &self.library).finish_non_exhaustive()
    }
}

/// LLVM's line about a parse error is followed by the source line and a caret.
fn first_line(message: &str, otherwise: &str) -> String {
    let line = message.lines().next().unwrap_or("").trim();
    if line.is_empty() { otherwise.to_owned() } else { line.to_owned() }
}

/// A text for LLVM, up to its first NUL.
pub(crate) fn c_text(text: &str) -> CString {
    let whole = text.split('\0').next().unwrap_or("");
    CString::new(whole).expect("what follows the first NUL was cut off")
}

unsafe extern "C" fn hear(diagnostic: *mut RawDiagnostic, listener: *mut c_void) {
    // SAFETY: the listener is the `Heard` of the context that speaks, which outlives it.
    let heard = unsafe { &*listener.cast::<Heard>() };
    // SAFETY: the diagnostic lives as long as this call.
    let severity = unsafe { (heard.library.symbols.diagnostic_severity)(diagnostic) };
    // SAFETY: as above; the description becomes ours.
    let description = unsafe { (heard.library.symbols.diagnostic_description)(diagnostic) };
    let text = heard.library.take_message(description);
    let mut messages = heard.messages.borrow_mut();
    // An error is what is asked for afterwards: keep it last.
    if severity == ERROR { messages.push(text) } else { messages.insert(0, text) }
}
