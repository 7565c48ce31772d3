//! `training.json`, and TOML in the place of a kind's settings: what is accepted is read again.

use lm::{Kind, settings::Settings};

pub fn run(data: &[u8]) {
    if let Ok(settings) = serde_json::from_slice::<Settings>(data) {
        let _ = settings.steps();
    }
    let Some(text) = crate::input::text(data) else { return };
    for kind in Kind::ALL {
        let Ok(recipe) = lm::fuzz::recipe(kind, text) else { continue };
        let written = toml::to_string(&recipe).expect("TOML");
        assert_eq!(lm::fuzz::recipe(kind, &written), Ok(recipe.clone()));
        let settings = Settings {
            training: recipe.training,
            kind,
            task: Default::default(),
            special: Default::default(),
            seed: 0,
            lora: None,
        };
        // The trainer is told these as JSON.
        let told = serde_json::to_string(&settings).expect("JSON");
        let read: Settings = serde_json::from_str(&told).expect("what was written");
        assert_eq!(read.steps(), settings.steps());
    }
}
