use crate::{
    AnswerRow, ArchivedRow, ArchivedVerdict, Certificate, ContentFile, ContentText, ContentVerdict,
    CpuGpuRow, CyclesCount, CyclesRow, Described, EditCertificate, EditTest, EditTestSummary,
    EditTestText, EditVerdict, FeaturesHead, FeaturesVerdict, Judgement, KernelEditRow,
    KernelEditVerdict, KernelProgram, KernelRow, KernelSummary, KernelText, KernelVerdict,
    LabelHead, LearnedRow, LearnedVerdict, Metric, Module, ModuleKey, ModuleRank, ModuleVerdict,
    Outcome, Pair, PassEffect, PassRow, RunRow, SampleRow, SampleVerdict, Statistics, SteeredHead,
    SteeredRow, SteeredVerdict, TaskHead, TaskVerdict, TimingRow, TimingVerdict, WaitingRow, Words,
};
use dataset::{FieldRef, Result, Row};
use std::fmt::Write;

/// A schema, as the reference lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Its name in `_dataset.json`.
    pub name: &'static str,
    /// Its version.
    pub version: u32,
    /// What a row is.
    pub about: String,
    /// Its columns: name, Arrow type and meaning.
    pub columns: Vec<(String, String, &'static str)>,
}

/// What each schema's row comes to by `$of`, in the order of the stages.
macro_rules! each {
    ($of:ident) => {
        vec![
            $of::<ContentFile>()?,
            $of::<KernelRow>()?,
            $of::<FeaturesHead>()?,
            $of::<RunRow>()?,
            $of::<TaskHead>()?,
            $of::<SteeredRow>()?,
            $of::<ArchivedRow>()?,
            $of::<LearnedRow>()?,
            $of::<WaitingRow>()?,
            $of::<SampleRow>()?,
            $of::<AnswerRow>()?,
            $of::<Metric>()?,
            $of::<TimingRow>()?,
            $of::<EditTest>()?,
            $of::<Pair>()?,
            $of::<Judgement>()?,
            $of::<EditCertificate>()?,
            $of::<KernelEditRow>()?,
            $of::<Module>()?,
            $of::<Statistics>()?,
            $of::<PassRow>()?,
            $of::<CyclesRow>()?,
        ]
    };
}

/// Every schema that passes between stages, in the order of the stages.
///
/// # Errors
/// When a struct has a field that is no column type.
pub fn schemas() -> Result<Vec<Schema>> {
    Ok(each!(of))
}

/// A schema as a reader of foreign files checks columns by it.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Its name in `_dataset.json`.
    pub name: &'static str,
    /// Its version.
    pub version: u32,
    /// Its columns.
    pub columns: Vec<FieldRef>,
    /// Columns of known meaning that rows of some makers have behind these; none where there are no others.
    pub further: Vec<FieldRef>,
    /// What rows may have behind all these.
    pub beyond: Beyond,
}

/// Columns that a schema does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// There are none.
    Nothing,
    /// One for each feature space, by its name.
    Vectors,
    /// Those, and numbers by any name.
    Numbers,
}

/// The layout of every schema, in the order of the stages.
///
/// # Errors
/// As [`schemas`].
pub fn layouts() -> Result<Vec<Layout>> {
    let mut layouts: Vec<Layout> = each!(layout);
    for layout in &mut layouts {
        if layout.name == FeaturesHead::SCHEMA {
            layout.beyond = Beyond::Vectors;
        }
        if layout.name == TaskHead::SCHEMA {
            layout.beyond = Beyond::Numbers;
            for field in [LabelHead::columns()?, CpuGpuRow::columns()?].concat() {
                let all = layout.columns.iter().chain(&layout.further);
                if all.into_iter().all(|known| known.name() != field.name()) {
                    layout.further.push(field);
                }
            }
        }
    }
    Ok(layouts)
}

fn layout<T: Row>() -> Result<Layout> {
    let (columns, further, beyond) = (T::columns()?, Vec::new(), Beyond::Nothing);
    Ok(Layout { name: T::SCHEMA, version: T::VERSION, columns, further, beyond })
}

/// A view's columns as `(schema, [(column, type)])`.
pub type View = (&'static str, Vec<(String, String)>);

/// Every view.
///
/// # Errors
/// When a struct has a field that is no column type.
pub fn views() -> Result<Vec<View>> {
    Ok(vec![
        view::<ContentText>()?,
        view::<KernelText>()?,
        view::<KernelSummary>()?,
        view::<KernelProgram>()?,
        view::<EditTestText>()?,
        view::<EditTestSummary>()?,
        view::<ModuleKey>()?,
        view::<ModuleRank>()?,
        view::<SteeredHead>()?,
        view::<PassEffect>()?,
        view::<CyclesCount>()?,
    ])
}

fn view<T: Row>() -> Result<View> {
    let column = |field: &dataset::FieldRef| {
        let null = if field.is_nullable() { ", nullable" } else { "" };
        (field.name().clone(), kind(&field.data_type().to_string()) + null)
    };
    Ok((T::SCHEMA, T::columns()?.iter().map(column).collect()))
}

/// A type as pandas and Arrow's other libraries write it: `list<utf8>`.
fn kind(arrow: &str) -> String {
    // Arrow says of what a list holds that it is never null, and calls it `element`.
    let kind = arrow.replace("non-null ", "").replace(", field: 'element'", "").to_lowercase();
    kind.replace('(', "<").replace(')', ">").replace('"', "").replace("boolean", "bool")
}

fn of<T: Described>() -> Result<Schema> {
    let meaning = |name: &str| {
        let known = T::MEANINGS.iter().find(|(column, _)| *column == name);
        known.map_or("", |(_, meaning)| meaning.trim())
    };
    let (name, columns) = view::<T>()?;
    let columns = columns.into_iter().map(|(name, kind)| {
        let meaning = meaning(&name);
        (name, kind, meaning)
    });
    let columns = columns.collect();
    Ok(Schema { name, version: T::VERSION, about: prose(T::ABOUT), columns })
}

/// Comment lines as one paragraph, without the brackets of links.
fn prose(comment: &str) -> String {
    comment.split_whitespace().collect::<Vec<_>>().join(" ").replace("[`", "`").replace("`]", "`")
}

/// All schemas and all words, as `docs/schemas.md`.
///
/// # Errors
/// As [`schemas`].
pub fn reference() -> Result<String> {
    let mut text = String::from(
        "# Schemas and verdicts\n\n\
         Made from `crates/rows`; `cargo xtask schemas` writes it anew. A data set's `_dataset.json` and each of its \
         Parquet files (keys `stampmill.schema` and `stampmill.schema_version`) name the schema and its \
         version. A version is raised whenever a column is added, renamed or changes its meaning. Types are \
         Arrow's; a value of a nullable column may be missing.\n",
    );
    for schema in schemas()? {
        let Schema { name, version, about, columns } = schema;
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {name}, version {version}\n\n{about}\n\n");
        text.push_str("| column | type | meaning |\n|---|---|---|\n");
        for (column, kind, meaning) in columns {
            let meaning = cell(&prose(meaning));
            let _ = writeln!(text, "| `{column}` | `{}` | {meaning} |", cell(&kind));
        }
    }
    text.push_str(
        "\n# Verdicts\n\n\
         What the columns `verdict` and `outcome` hold. Responsible is who could change it: the program, us \
         (a choice, a limit or a guess of this project), or the machine (another run may find otherwise).\n",
    );
    words::<ContentVerdict>(&mut text);
    words::<KernelVerdict>(&mut text);
    words::<FeaturesVerdict>(&mut text);
    words::<Outcome>(&mut text);
    words::<TaskVerdict>(&mut text);
    words::<SteeredVerdict>(&mut text);
    words::<ArchivedVerdict>(&mut text);
    words::<LearnedVerdict>(&mut text);
    words::<SampleVerdict>(&mut text);
    words::<TimingVerdict>(&mut text);
    words::<EditVerdict>(&mut text);
    words::<Certificate>(&mut text);
    words::<KernelEditVerdict>(&mut text);
    words::<ModuleVerdict>(&mut text);
    Ok(text)
}

fn words<T: Words>(text: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(text, "\n## {}\n\n{}\n\n", capitalized(T::KIND), prose(T::ABOUT));
    text.push_str("| word | meaning | responsible |\n|---|---|---|\n");
    for (word, meaning, responsible) in T::table() {
        let _ = writeln!(text, "| `{word}` | {} | {} |", cell(meaning), responsible.name());
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_every_schema_messages_can_say_which_command_makes_it() {
        for schema in schemas().expect("they are columns") {
            assert!(dataset::maker(schema.name).is_some(), "{}", schema.name);
        }
        assert_eq!(dataset::maker("query"), None);
    }
}
