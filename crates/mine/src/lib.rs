//! Sources of programs: where real kernels come from.
//!
//! [`Mine`] takes sources as a user writes them ([`Spec`]: folders, archives, git, Debian, PyPI,
//! crates, GitHub, Parquet tables, lists of these) and makes a data set of [`ContentFile`]s, the
//! raw material of CLgen (CGO'17, section 4.1) and BenchPress (PACT'22, section 3.1):
//!
//! 1. A source gives a *package*: those of its files that matter, in memory. Nothing in an archive
//!    or a repository is ever written anywhere, so nothing can escape.
//! 2. OpenCL files are taken as they are; out of C, C++, Python, Rust and other programs come the
//!    strings that hold a kernel ([`Embedded`]).
//! 3. Each content file is made to stand alone: includes are put in from the package's own tree,
//!    the compiler options the package would use are noted beside it.
//! 4. Licenses are read from headers, `debian/copyright`, metadata and license files.
//! 5. Exact duplicates go, near-duplicates are grouped into families.
//!
//! What cannot be had or used is a row with a verdict. A run that is stopped is resumed.
//!
//! [`files_of`] gives files of an archive to those who do not mine them.
//!
//! [`History`] gives the content files of a git repository as its commits change them.
//!
//! ```
//! use dataset::stage::{Context, run};
//! use stampmill_mine::{Mine, Options};
//!
//! let folder = tempfile::tempdir()?;
//! let project = folder.path().join("project");
//! std::fs::create_dir(&project)?;
//! std::fs::write(project.join("types.h"), "typedef float real;\n")?;
//! std::fs::write(project.join("copy.cl"), "#include \"types.h\"\nkernel void copy(global real *a) {}\n")?;
//!
//! let options = Options {
//!     sources: vec![project.display().to_string()],
//!     licenses: dataset::Licenses::All,
//!     language: dataset::Language::OpenCl,
//!     cache: Some(folder.path().join("cache")),
//!     offline: true,
//!     suite: None,
//! };
//! let context = Context::new(folder.path().join("raw"));
//! let report = run(&Mine::new(options, &context)?, &context)?.summary;
//! assert_eq!((report.files, report.kernels), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod checkout;
mod client;
mod defines;
mod embedded;
mod error;
mod find;
#[doc(hidden)]
pub mod fuzz;
mod history;
mod include;
mod kernel;
mod license;
mod packed;
mod popular;
mod report;
mod row;
mod run;
mod sink;
mod source;
mod suite;
mod tree;
mod unpack;

pub use cache::Cache;
pub use checkout::{Checkout, check_out};
pub use dataset::{Progress, Silent};
pub use embedded::Embedded;
pub use error::Error;
pub use history::{Change, History, HistoryOptions};
pub use license::{FileLicense, PackageLicenses, licenses_of};
pub use popular::{popular_crates, popular_debian};
pub use report::{PackageReport, Report};
pub use row::ContentFile;
pub use run::{Item, Mine, Options};
pub use source::{
    DebianSource, Spec, debian_archives, debian_source, read_list, sha256, upstream_component,
};
pub use suite::{Built, Launch, LaunchArgument, Suite};
pub use unpack::{files_of, is_archive};

/// Results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
