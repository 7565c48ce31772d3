//! The headers a program may include without bringing them itself.

use crate::bridge::Text;
use clang::Language;
use std::{fs, path::Path};

/// clang's own, embedded when the worker is built: name and text.
static EMBEDDED: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// clang's own headers, by bare name.
pub(crate) fn embedded() -> Vec<Text<'static>> {
    EMBEDDED.iter().map(|&(name, text)| Text { name, text }).collect()
}

/// The folder of the embedded headers in the in-memory file system.
const EMBEDDED_FOLDER: &str = "/builtin/include";

/// Where the host keeps the headers of its C and C++ libraries; nowhere unless asked for.
#[derive(Debug, Default)]
pub(crate) struct HostHeaders {
    cxx: Vec<String>,
    /// All of clang's own headers, more than are embedded.
    compiler: Option<String>,
    library: Vec<String>,
}

impl HostHeaders {
    /// Those that exist on this machine, in the order in which clang's driver searches them.
    pub(crate) fn find() -> HostHeaders {
        let multiarch = crate::arguments::HOST.replace("-pc-", "-");
        let existing = |folders: Vec<String>| -> Vec<String> {
            folders.into_iter().filter(|folder| Path::new(folder).is_dir()).collect()
        };
        let cxx = newest(Path::new("/usr/include/c++")).map_or(Vec::new(), |version| {
            vec![
                format!("/usr/include/c++/{version}"),
                format!("/usr/include/{multiarch}/c++/{version}"),
                format!("/usr/include/c++/{version}/backward"),
            ]
        });
        let compiler = concat!(env!("STAMPMILL_CLANG_RESOURCES"), "/include").to_owned();
        let library = vec![
            "/usr/local/include".to_owned(),
            format!("/usr/include/{multiarch}"),
            "/usr/include".to_owned(),
        ];
        HostHeaders {
            cxx: existing(cxx),
            compiler: existing(vec![compiler]).pop(),
            library: existing(library),
        }
    }

    /// Every folder below which programs may read.
    pub(crate) fn folders(&self) -> Vec<String> {
        self.cxx.iter().chain(&self.compiler).chain(&self.library).cloned().collect()
    }

    /// The arguments by which a program of `language` finds its headers. The C++ library wraps
    /// C's headers with `#include_next`, and clang's own wrap them too: hence the order.
    pub(crate) fn arguments(&self, language: Language) -> Vec<String> {
        let own = |folder: &str| ["-internal-isystem".to_owned(), folder.to_owned()];
        let c = |folder: &str| ["-internal-externc-isystem".to_owned(), folder.to_owned()];
        let compiler = self.compiler.as_deref().unwrap_or(EMBEDDED_FOLDER);
        match language {
            Language::OpenCl | Language::Cuda => own(EMBEDDED_FOLDER).into(),
            Language::C | Language::Cxx => {
                let cxx = if language == Language::Cxx { self.cxx.as_slice() } else { &[] };
                let mut all: Vec<String> = cxx.iter().flat_map(|folder| own(folder)).collect();
                all.extend(own(compiler));
                all.extend(self.library.iter().flat_map(|folder| c(folder)));
                all
            }
        }
    }
}

/// The subfolder with the highest number for a name.
fn newest(folder: &Path) -> Option<u32> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).max()
}
