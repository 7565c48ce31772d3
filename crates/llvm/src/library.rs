use crate::{
    Candidate, Error, Identification, Version, candidates, discover,
    symbols::{RETURN_STATUS, RawBuffer, Symbols},
};
use std::{
    collections::BTreeMap,
    ffi::{CStr, c_char},
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock},
};

/// One LLVM, loaded. It stays loaded to the end of the process; any number of threads may use it,
/// each with [contexts](crate::Context) of its own.
pub struct Library {
    path: PathBuf,
    version: Version,
    pub(crate) symbols: Symbols,
}

/// What was loaded, by resolved path.
static LOADED: Mutex<BTreeMap<PathBuf, &'static Library>> = Mutex::new(BTreeMap::new());

impl Library {
    /// The newest LLVM of this machine that loads, or the one `STAMPMILL_LIBLLVM` names.
    ///
    /// # Errors
    /// [`Error::NoLibrary`] where none is found, else why the newest could not be loaded.
    pub fn newest() -> Result<&'static Library, Error> {
        Library::first_of(known().iter())
    }

    /// The oldest LLVM of this machine that is as new as the one which wrote a module, else the
    /// newest.
    ///
    /// A later LLVM upgrades what it reads (22 drops the size of `llvm.lifetime.start`, and keeps
    /// the cases of a `switch` out of its operands), so that a description of the module as it was
    /// written is best made with the library of its writer.
    ///
    /// # Errors
    /// As [`Library::newest`].
    pub fn nearest(writer: Version) -> Result<&'static Library, Error> {
        let all = known();
        let as_new = all.iter().rev().filter(|found| found.version.major >= writer.major);
        Library::first_of(as_new).or_else(|_| Library::newest())
    }

    /// The library that sees a module as its writer did: the nearest to what its bitcode says of itself, the newest
    /// where it says nothing or is text.
    ///
    /// # Errors
    /// As [`Library::newest`].
    pub fn of_module(content: &[u8]) -> Result<&'static Library, Error> {
        match Identification::read(content).and_then(|found| found.version) {
            Some(version) => Library::nearest(version),
            None => Library::newest(),
        }
    }

    /// As [`Library::nearest`], and as new as the writer: what our own clang writes must be read, or a program
    /// would seem to be at fault.
    ///
    /// # Errors
    /// As there, and [`Error::TooOld`].
    pub fn as_new_as(writer: Version) -> Result<&'static Library, Error> {
        let library = Library::nearest(writer)?;
        if library.version.major < writer.major {
            return Err(Error::TooOld { library: library.version, writer: writer.major });
        }
        Ok(library)
    }

    fn first_of(
        mut candidates: impl Iterator<Item = &'static Candidate>,
    ) -> Result<&'static Library, Error> {
        let Some(first) = candidates.next() else { return Err(Error::NoLibrary) };
        let failed = match Library::load(&first.path) {
            Ok(library) => return Ok(library),
            Err(error) => error,
        };
        tracing::info!(%failed, "the LLVM that fits best was not loaded; the next is tried");
        candidates.find_map(|candidate| Library::load(&candidate.path).ok()).ok_or(failed)
    }

    /// Load the library at `path`, or give the one loaded from there before.
    ///
    /// # Errors
    /// When it cannot be loaded or lacks a function.
    pub fn load(path: &Path) -> Result<&'static Library, Error> {
        let mut loaded = LOADED.lock().expect("no thread panics while it loads a library");
        // Candidates come with links resolved, one look-up for every module.
        if let Some(library) = loaded.get(path) {
            return Ok(library);
        }
        let key = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if let Some(library) = loaded.get(&key) {
            return Ok(library);
        }
        // SAFETY: loading LLVM runs its static constructors, which only fill tables of its own.
        let opened = unsafe { libloading::Library::new(&key) };
        let opened =
            opened.map_err(|error| Error::Load { path: key.clone(), reason: error.to_string() })?;
        let symbols = Symbols::resolve(&opened, &key)?;
        // Contexts on other threads may outlive any owner, and LLVM cannot be unloaded cleanly.
        std::mem::forget(opened);
        let version = version_of(&symbols, &key);
        let library: &'static Library =
            Box::leak(Box::new(Library { path: key.clone(), version, symbols }));
        tracing::info!(%version, path = %key.display(), "LLVM was loaded");
        loaded.insert(key, library);
        Ok(library)
    }

    /// The file it was loaded from, links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version: from the library itself (LLVM 16 and later), else from its file's name.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Take over a message that LLVM allocated.
    pub(crate) fn take_message(&self, message: *mut c_char) -> String {
        if message.is_null() {
            return String::new();
        }
        let text = borrow_text(message);
        // SAFETY: LLVM allocated it and nobody refers to it any more.
        unsafe { (self.symbols.dispose_message)(message) };
        text
    }

    /// Take over a buffer that LLVM allocated.
    pub(crate) fn take_buffer(&self, buffer: *mut RawBuffer) -> Vec<u8> {
        // SAFETY: the buffer is alive.
        let start = unsafe { (self.symbols.buffer_start)(buffer) };
        // SAFETY: the buffer is alive.
        let size = unsafe { (self.symbols.buffer_size)(buffer) };
        // SAFETY: a memory buffer is one piece of `size` bytes.
        let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), size) }.to_vec();
        // SAFETY: the bytes were copied.
        unsafe { (self.symbols.dispose_buffer)(buffer) };
        bytes
    }

    /// Whether the module obeys the rules of the IR; else what it breaks.
    pub(crate) fn verify(&self, module: *mut crate::symbols::RawModule) -> Result<(), String> {
        let mut message = std::ptr::null_mut();
        // SAFETY: the module is alive; the message becomes ours.
        let broken =
            unsafe { (self.symbols.verify_module)(module, RETURN_STATUS, &raw mut message) };
        let message = self.take_message(message);
        if broken == 0 { Ok(()) } else { Err(message.trim_end().replace('\n', "; ")) }
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LLVM {} ({})", self.version, self.path.display())
    }
}

/// The candidates, looked for once per process.
fn known() -> &'static [Candidate] {
    static KNOWN: OnceLock<Vec<Candidate>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let found = candidates();
        for Candidate { version, path, .. } in &found {
            tracing::debug!(%version, path = %path.display(), "an LLVM that could be loaded");
        }
        found
    })
}

fn version_of(symbols: &Symbols, path: &Path) -> Version {
    if let Some(ask) = symbols.version {
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: it writes one number through each pointer.
        unsafe { ask(&raw mut major, &raw mut minor, &raw mut patch) };
        return Version { major, minor, patch };
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.and_then(|name| Version::find(&name)).unwrap_or(Version {
        major: discover::EARLIEST,
        minor: 0,
        patch: 0,
    })
}

/// Copy a text of LLVM's that ends in NUL; empty for a null pointer.
pub(crate) fn borrow_text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: LLVM ends its texts with NUL, and this one lives as long as the call.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

/// Copy a text of LLVM's of a known length.
pub(crate) fn copy_text(text: *const c_char, length: usize) -> String {
    if text.is_null() || length == 0 {
        return String::new();
    }
    // SAFETY: LLVM gave the pointer together with this length.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}
