//! Every schema that passes between stages, and the words of every stage's verdicts.
//!
//! - One file per schema: a struct whose fields are the columns ([`dataset::Row`]), described by its own
//!   comments. A [`view`](KernelText) is a struct of a few of a schema's columns: reading it reads no
//!   others.
//! - One enum per stage for what the column `verdict` (or `outcome`) may hold: each word has a written
//!   form, [`FromStr`](std::str::FromStr), a meaning and a [`Responsible`].
//! - [`reference()`] writes all of it as `docs/schemas.md`.
//!
//! ```
//! use dataset::Row as _;
//! use stampmill_rows::{KernelRow, KernelText, KernelVerdict, Responsible, schemas};
//!
//! let row = KernelRow {
//!     text: "kernel void A() {}".into(),
//!     verdict: KernelVerdict::Duplicate.to_string(),
//!     ..KernelRow::default()
//! };
//! // As a shard holds it, and read by a view of seven of its columns.
//! let columns = KernelRow::to_batch(&[row])?;
//! let read = KernelText::from_batch(&columns)?;
//! assert_eq!(read[0].text, "kernel void A() {}");
//! let verdict: KernelVerdict = read[0].verdict.parse()?;
//! assert_eq!((verdict.name(), verdict.responsible()), ("duplicate", Responsible::Program));
//! assert!("dupplicate".parse::<KernelVerdict>().is_err());
//! assert!(schemas()?.iter().any(|schema| schema.name == KernelRow::SCHEMA));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
mod schema;
#[macro_use]
mod words;

mod answer;
mod archive;
mod certificate;
mod content;
mod cycles;
mod edit_test;
mod features;
mod judgement;
mod kernel;
mod kernel_edit;
mod learned;
mod metric;
mod module;
mod pair;
mod pass;
mod reference;
mod run;
mod sample;
mod statistics;
mod steered;
mod task;
mod timing;

/// What the column `kind` of a [`ContentFile`] holds.
pub mod content_kind {
    pub use crate::content::{EMBEDDED, FILE, LICENSE, SOURCE};
}
/// What the column `source` of an [`EditTest`] holds.
pub mod test_source {
    pub use crate::edit_test::{GRAMMAR, MUTATION, SAMPLE};
}
/// What the column `effect` of a [`PassRow`] holds.
pub mod pass_effect {
    pub use crate::pass::{ADDED, CHANGED, REMOVED, UNCHANGED};
}
/// What the column `kind` of a [`Module`] holds.
pub mod module_kind {
    pub use crate::module::{LICENSE_TEXT, MODULE, PACKAGE};
}

pub use answer::AnswerRow;
pub use archive::{ArchivedRow, ArchivedVerdict};
pub use certificate::{Certificate, EditCertificate};
pub use content::{ContentFile, ContentOrigin, ContentSource, ContentText, ContentVerdict};
pub use cycles::{CyclesCount, CyclesRow};
pub use edit_test::{EditTest, EditTestSummary, EditTestText, RejectedInputs};
pub use features::{FeaturesHead, FeaturesVerdict};
pub use judgement::{EditVerdict, Judgement};
pub use kernel::{KernelKey, KernelProgram, KernelRow, KernelSummary, KernelText, KernelVerdict};
pub use kernel_edit::{KernelEditRow, KernelEditVerdict};
pub use learned::{LearnedRow, LearnedVerdict, WaitingRow};
pub use metric::Metric;
pub use module::{Module, ModuleKey, ModuleOrigin, ModuleRank, ModuleVerdict};
pub use pair::{Pair, PairLanguage, TestTime};
pub use pass::{PassEffect, PassRow};
pub use reference::{Beyond, Layout, Schema, View, layouts, reference, schemas, views};
pub use run::{About, Outcome, RunRow, Transfers};
pub use sample::{SampleRow, SampleVerdict};
pub use schema::Described;
pub use statistics::Statistics;
pub use steered::{Ancestor, SteeredHead, SteeredRow, SteeredVerdict, Survivor};
pub use task::{COST, CpuGpuRow, Grouping, LabelHead, TaskHead, TaskVerdict, program_name};
pub use timing::{TimingRow, TimingVerdict};
pub use words::{Responsible, Words};
