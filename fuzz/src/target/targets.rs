//! Targets of a search, as a person writes them and as JSON: where a program may have it, distances are numbers.

use synth::Target;

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    let json = serde_json::from_str(text).ok();
    for name in ["instcount", "grewe"] {
        let space = features::space(name).expect("a space");
        let size = space.dimensions().len();
        let read = [
            Target::parse(text, space).ok(),
            json.as_ref().and_then(|json| Target::from_json("fuzz", json, space).ok()),
        ];
        for target in read.into_iter().flatten() {
            assert_eq!(target.constraints.len(), size);
            if synth::check(&target, space).is_err() {
                continue;
            }
            for vector in [vec![0.0; size], vec![7.0; size], vec![1e9; size]] {
                let distance = target.distance(&vector);
                assert!(distance >= 0.0, "{target:?}: {distance}");
                let proximity = target.proximity(&vector);
                assert!(proximity <= 1.0, "{target:?}: {proximity}");
                assert!(proximity == 1.0 || distance > 0.0, "{target:?}");
            }
        }
    }
}
