//! Where the inputs of a data set are from: what their manifests say, carried on into the manifests of what is made of
//! them, so that seeds, tools, devices and machines of a measurement survive every stage behind it.

use crate::{Input, Manifest};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

/// How a data set was made: its manifest less its files and counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// Name of the schema of its rows.
    pub schema: String,
    /// The stampmill that made it.
    pub stampmill: String,
    /// What it was made from.
    pub inputs: Vec<Input>,
    /// The settings that shape its content.
    pub configuration: serde_json::Value,
    /// The seed; 0 where nothing was drawn.
    pub seed: u64,
    /// Versions of the tools that shape its content.
    pub tools: BTreeMap<String, String>,
    /// The machine it was made on.
    pub host: String,
    /// Which protections held for the foreign programs that were started, by the sandbox's profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sandbox: BTreeMap<String, String>,
    /// What was written into its manifest by hand.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub annotation: String,
}

/// Made data sets by identity, as in a manifest.
pub type Lineage = BTreeMap<String, Made>;

/// The data sets that this process has opened: which of them are inputs is known when a manifest is written.
static OPENED: LazyLock<Mutex<Lineage>> = LazyLock::new(Mutex::default);

fn opened() -> MutexGuard<'static, Lineage> {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Note what an opened data set says of its making and of that of its inputs.
pub(crate) fn remember(manifest: &Manifest) {
    let notes = &manifest.notes;
    let made = Made {
        schema: manifest.schema.clone(),
        stampmill: manifest.stampmill.clone(),
        inputs: notes.inputs.clone(),
        configuration: notes.configuration.clone(),
        seed: notes.seed,
        tools: notes.tools.clone(),
        host: manifest.host.clone(),
        sandbox: manifest.sandbox.clone(),
        annotation: manifest.annotation.clone(),
    };
    let mut opened = opened();
    opened.insert(manifest.identity.clone(), made);
    for (identity, made) in &manifest.lineage {
        opened.entry(identity.clone()).or_insert_with(|| made.clone());
    }
}

/// What is known of these inputs, of theirs, and so on.
pub(crate) fn of(inputs: &[Input]) -> Lineage {
    let opened = opened();
    let mut lineage = Lineage::new();
    let mut waiting: Vec<&str> = inputs.iter().map(|input| input.hash.as_str()).collect();
    while let Some(identity) = waiting.pop() {
        let Some(made) = opened.get(identity) else { continue };
        if lineage.insert(identity.to_owned(), made.clone()).is_none() {
            waiting.extend(made.inputs.iter().map(|input| input.hash.as_str()));
        }
    }
    lineage
}
