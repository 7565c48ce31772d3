//! Flags whose value is one of a few words.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// One of several words, each with what it stands for; help and errors list the words.
pub(crate) fn choice<T: Clone + Send + Sync + 'static>(
    words: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let meaning = |given: String| {
        let found = words.iter().find(|(word, _)| *word == given);
        found.expect("clap lets no other word through").1.clone()
    };
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word)).map(meaning)
}
