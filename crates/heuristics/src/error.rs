use std::path::{Path, PathBuf};

/// What can go wrong with a heuristic.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("{}", dataset::refusal(action, path, source))]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A data set refused.
    #[error(transparent)]
    Dataset(#[from] dataset::Error),
    /// A table that is no well-formed CSV.
    #[error("{path}: {reason}", path = path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A column that is not there.
    #[error("{table} has no column `{column}`; it has {}", found.join(", "))]
    MissingColumn {
        /// The table.
        table: String,
        /// The column asked for.
        column: String,
        /// The columns it has.
        found: Vec<String>,
    },
    /// A name used for two things, or kept for a column of the schema.
    #[error("`{0}` cannot name a feature: it is taken by another column of the task")]
    TakenName(String),
    /// A pattern that is no regular expression with one group.
    #[error("group pattern `{pattern}`: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Two tables of different features or choices.
    #[error(
        "cannot mix feature spaces: [{}] and [{}]{}",
        some(left),
        some(right),
        of_runs(left, right)
    )]
    MixedSpaces {
        /// Names on one side.
        left: Vec<String>,
        /// Names on the other.
        right: Vec<String>,
    },
    /// No row is left to work on.
    #[error("no rows in {what}{}", if *.rejected > 0 { format!(": {rejected} rejected") } else { String::new() })]
    NoRows {
        /// Where rows were wanted.
        what: String,
        /// Rows rejected on import.
        rejected: u64,
    },
    /// Rows without measured costs where the best choice must be known.
    #[error(
        "{0} rows have no costs; training and scoring need what every choice costs on each row: `stampmill label --features \
         VECTORS` puts costs and vectors together"
    )]
    Unmeasured(usize),
    /// Every row has the same label.
    #[error(
        "every row is labelled `{label}` and `{absent}` never occurs; \
         there is nothing to learn, choose `{label}` always"
    )]
    OneClass {
        /// The only label.
        label: String,
        /// A choice that is never best.
        absent: String,
    },
    /// No feature tells one row from another.
    #[error(
        "all rows have the same features ([{}]): no model can tell them apart; add features, or choose what is best most \
         often always",
        some(.0)
    )]
    NothingDiffers(Vec<String>),
    /// A task with one choice, where choices are to be made.
    #[error(
        "the task has one choice, `{0}`: its cost is to be predicted, there is nothing to choose; \
         `stampmill heuristic diagnose` and `train` are for such tasks"
    )]
    OneChoice(String),
    /// A task with several choices, where one cost is to be predicted.
    #[error("the task has {} choices ([{}]), and one cost is to be predicted", .0.len(), some(.0))]
    ManyChoices(Vec<String>),
    /// Choices that differ by what they cost, where there is one.
    #[error(
        "the task has one choice, `{0}`, and --by regret asks which of several would be wrong; choose by committee, \
         expected-error or uncovered"
    )]
    NoRegret(String),
    /// One cost, where there are several.
    #[error(
        "the task has {} choices ([{}]), and --by {way} asks what one costs; choose by regret or uncovered",
        choices.len(),
        some(choices)
    )]
    ManyCosts {
        /// How programs were to be chosen.
        way: &'static str,
        /// The choices.
        choices: Vec<String>,
    },
    /// Vectors of code at another level of optimization.
    #[error(
        "{name} has vectors of code at -O{level}, and the model was trained on those at -O{wanted}: make them anew with \
         `stampmill features --opt {wanted}`"
    )]
    OtherLevel {
        /// The table.
        name: String,
        /// Its level.
        level: u64,
        /// The model's.
        wanted: u64,
    },
    /// Too little to measure anything on.
    #[error("{rows} rows of {groups} groups, but {what} needs {wanted}; label more programs")]
    TooSmall {
        /// What cannot be done: `a diagnosis`.
        what: &'static str,
        /// Rows that can be used.
        rows: usize,
        /// Groups of these.
        groups: usize,
        /// What is needed.
        wanted: &'static str,
    },
    /// A feature that the task has no column of.
    #[error("no row has features{0}; put vectors beside the labels with `label --features`")]
    NoFeatures(String),
    /// A comparison of nothing.
    #[error("{0}: nothing is compared; both --draws and --added are above 0")]
    NothingCompared(&'static str),
    /// Labels that do not mean the same.
    #[error(
        "the labels of {left} and {right} cannot be compared: {what}; label both anew on one machine"
    )]
    OtherLabels {
        /// One table.
        left: String,
        /// The other.
        right: String,
        /// What differs.
        what: String,
    },
    /// Too few groups to leave one out.
    #[error(
        "{found} group of rows (`{name}`), but cross-validation by group needs at least {wanted}: `label --group path` makes a group of each file"
    )]
    TooFewGroups {
        /// Groups found.
        found: usize,
        /// The first one.
        name: String,
        /// Groups needed.
        wanted: usize,
    },
    /// A model this crate does not have.
    #[error("unknown model `{name}`; known: {}", known.join(", "))]
    UnknownModel {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A setting that the model does not have, or with a bad value.
    #[error("model `{model}`: {reason}; settings: {}", known.join(", "))]
    Setting {
        /// The model.
        model: String,
        /// What is wrong.
        reason: String,
        /// The settings there are, with their defaults.
        known: Vec<String>,
    },
    /// A library failed to fit or predict.
    #[error("model `{model}`: {reason}")]
    Fit {
        /// The model.
        model: String,
        /// The library's words.
        reason: String,
    },
    /// A file that holds no heuristic of this version.
    #[error("{path} holds no heuristic: {reason}", path = path.display())]
    NotAHeuristic {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Only trees can be drawn.
    #[error("a `{0}` cannot be drawn; only a `tree` can")]
    NotATree(String),
    /// A recipe this crate does not have.
    #[error("unknown recipe `{name}`; known: {}", known.join(", "))]
    UnknownRecipe {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A picture could not be drawn.
    #[error("cannot draw {what}: {reason}")]
    Picture {
        /// The picture.
        what: String,
        /// Why not.
        reason: String,
    },
}

impl Error {
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File { action, path, source }
    }

    pub(crate) fn fit(model: &str, reason: impl std::fmt::Display) -> Error {
        Error::Fit { model: model.to_owned(), reason: reason.to_string() }
    }
}

/// What to give a model, whose features are the left ones, where one side has features of runs and the other is of vectors alone.
fn of_runs(left: &[String], right: &[String]) -> &'static str {
    let measured = |names: &[String]| names.iter().any(|name| name.contains("transfer"));
    match [measured(left), measured(right)] {
        [true, false] => {
            "; transfer and wgsize are of a run: give `heuristic predict` the kernels themselves and --global-sizes, or a table of `label`, from what `run` measured"
        }
        [false, true] => {
            "; this model knows nothing of runs: give it a data set of `features` of the kernels, without --global-sizes"
        }
        [false, false] if [left, right].iter().any(|names| spaces(names).is_some()) => {
            "; `stampmill features PROGRAMS --space SPACE,SPACE` makes vectors of the spaces that are wanted"
        }
        _ => "",
    }
}

/// The spaces that dimensions are of, where these are named `SPACE:DIMENSION`.
fn spaces(names: &[String]) -> Option<Vec<&str>> {
    let mut spaces: Vec<&str> = Vec::new();
    for name in names {
        let space = name.split_once(':')?.0;
        if !spaces.contains(&space) {
            spaces.push(space);
        }
    }
    (!spaces.is_empty()).then_some(spaces)
}

/// The first of some names, and how many more there are.
fn some(names: &[String]) -> String {
    if names.len() > SHOWN
        && let Some(spaces) = spaces(names)
    {
        return format!("{} dimensions of {}", names.len(), spaces.join(", "));
    }
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown}, {more} more"),
    }
}

/// Names of a space in a message, at most.
const SHOWN: usize = 8;
