//! `training.json`: how to train, written by `stampmill train`.

// One definition for the program that writes the file and this one, whose workspace is another.
#[path = "../../../crates/lm/src/settings.rs"]
#[expect(unreachable_pub, reason = "a library's file: there it is public")]
mod shared;

pub(crate) use shared::{Kind, Lora, Method, Settings, SpecialIds as Special, Task};

use anyhow::Context;
use shared::Training;
use std::{ops::Deref, path::Path};

impl Deref for Settings {
    type Target = Training;

    fn deref(&self) -> &Training {
        &self.training
    }
}

impl Settings {
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Settings> {
        let path = folder.join("training.json");
        let text = std::fs::read_to_string(&path).with_context(|| {
            format!(
                "cannot read {}: is this a folder of `stampmill train --prepare-only`?",
                path.display()
            )
        })?;
        serde_json::from_str(&text).with_context(|| format!("{} is broken", path.display()))
    }
}
