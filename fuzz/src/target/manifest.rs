//! `_dataset.json` opens a data set or says what is wrong; one that was read is written as it was.

use dataset::{Dataset, Manifest};

pub fn run(data: &[u8]) {
    crate::input::file(Manifest::FILE, data, |path| {
        let folder = path.parent().expect("a folder");
        let Ok(opened) = Dataset::open(folder) else { return };
        for shard in opened.shards() {
            assert_eq!(shard.parent(), Some(folder), "{shard:?}");
        }
    });
    let Ok(manifest) = serde_json::from_slice::<Manifest>(data) else { return };
    let written = serde_json::to_vec(&manifest).expect("JSON");
    let again: Manifest = serde_json::from_slice(&written).expect("a manifest");
    assert_eq!((&again.shards, &again.notes.inputs), (&manifest.shards, &manifest.notes.inputs));
    assert_eq!((again.rows, again.notes.seed), (manifest.rows, manifest.notes.seed));
}
