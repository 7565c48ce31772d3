//! `training.json`, and TOML in the place of a kind's settings: what is accepted can be trained with, and is read again.

use lm::{Kind, settings::Settings};

pub fn run(data: &[u8]) {
    if let Ok(settings) = serde_json::from_slice::<Settings>(data) {
        for step in [0, 1, settings.steps() / 2, settings.steps()] {
            let _ = (settings.rate(step), settings.function_share(step));
        }
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
        for step in [0, settings.steps() / 2, settings.steps()] {
            assert!(settings.rate(step).is_finite(), "step {step} of {settings:?}");
        }
    }
}
