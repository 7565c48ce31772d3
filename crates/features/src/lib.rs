//! Feature spaces of programs, their distances and projections.
//!
//! A learned heuristic sees a program as a point of a feature space. Here are the spaces the field
//! uses, equal to the originals to the last count, so that what was published with them can be
//! compared with what we make:
//!
//! | name | values | of |
//! |---|---|---|
//! | `grewe` | 8 | each function with a `__global` parameter, as CLgen 0.1.7's extractor counts |
//! | `grewe-fixed` | 8 | each kernel, as the paper words the same features |
//! | `instcount` | 70 | the compiled module (LLVM's `-instcount`, CompilerGym's order) |
//! | `autophase` | 56 | the compiled module (Autophase, CompilerGym's order) |
//! | `loops` | 157 | the compiled module: instructions weighted by 10 to their loop depth, by opcode and by type |
//! | `opcodes` | 67 | the compiled module: each opcode's share |
//! | `ir2vec` | 75 | the compiled module: LLVM 22's symbolic embedding of IR2Vec |
//! | `tokens` | 5 | the source: tokens by kind |
//! | `ast-depth` | 2 | the source: depth and size of its syntax tree |
//! | `dynamic` | 53 | each kernel, run on a small payload: what a work-item executes and where it accesses memory |
//!
//! - [`FeatureSpace`] is a space; [`ALL`] lists them; one file each.
//! - [`Extractor`] makes [`Row`]s of programs: OpenCL C, C and C++ are compiled by the clang worker
//!   (one parse gives tree and bitcode), Rust by [`Rustc`]; bitcode and textual IR are read by LLVM directly. A
//!   program that cannot be described has a row with a verdict; none is dropped.
//! - [`Features`] is the stage that makes a data set of these.
//! - [`project()`] puts several sets of vectors on one map and says how much of it each covers.
//!
//! A file with several kernels has one row for each in the spaces that tell functions apart, and
//! the vectors of the whole module in every one of these rows: isolate kernels first
//! (`stampmill prepare`) where a kernel's own IR vector is wanted.
//!
//! ```
//! use stampmill_features::{Extracted, ProgramView, space};
//! use llvm::{Context, Library};
//!
//! let Ok(library) = Library::newest() else { return Ok(()) };
//! let context = Context::new(library);
//! let module = context.parse("id", b"define i32 @id(i32 %a) { ret i32 %a }")?;
//! let view = ProgramView { module: Some(&module), ..ProgramView::default() };
//! let instcount = space("instcount")?;
//! let Some(Extracted::Whole(vector)) = instcount.extract(&view) else { unreachable!() };
//! assert_eq!(vector[..4], [1.0, 1.0, 1.0, 1.0]);
//! assert_eq!(instcount.dimensions()[3], "Ret");
//! assert_eq!(instcount.distance(&vector, &vector), 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compile;
mod error;
mod extract;
mod extracted;
mod project;
mod reader;
mod report;
mod row;
mod run;
mod rust;
mod space;
mod stage;
mod syntax;
mod view;

pub use compile::{CompileConfigs, flags};
pub use error::Error;
pub use extract::{Extractor, Options};
pub use project::{CELLS, Coverage, Plane, Points, ProjectReport, Projection, project};
pub use reader::{ModuleReader, load_libraries, module_profile, module_verdict, serve_modules};
pub use report::Report;
pub use row::Row;
pub use run::{
    BUILTINS, Launch, Linker, MOST_ARGUMENTS, Passed, Ran, Undefined, has_builtins, passed,
};
pub use rust::{FLAGS as RUST_FLAGS, Rustc};
pub use space::{ALL, Extracted, FeatureSpace, Vector, joint, space, spaces};
pub use stage::{Features, Item};
pub use view::{Part, ProgramView};
