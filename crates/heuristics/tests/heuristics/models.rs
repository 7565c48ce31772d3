//! Laws of models.

use super::task;
use proptest::prelude::*;
use stampmill_heuristics::{
    CrossvalOptions, ExplainOptions, Heuristic, LEARNERS, Method, Task, TrainOptions, crossval,
    explain, predict, train,
};

/// Rows where the second choice is better above a threshold of the first feature.
fn separable() -> Task {
    let rows: Vec<([f64; 2], String, [f64; 2])> = (0..60)
        .map(|at| {
            let first = f64::from(at * 37 % 60);
            let costs = if first > 29.5 { [3.0, 1.0] } else { [1.0, 3.0] };
            ([first, f64::from(at % 7)], format!("group {}", at % 6), costs)
        })
        .collect();
    let rows: Vec<(&[f64], &str, [f64; 2])> = rows
        .iter()
        .map(|(features, group, costs)| (features.as_slice(), group.as_str(), *costs))
        .collect();
    task(&rows)
}

#[test]
fn every_model_learns_a_threshold_and_survives_its_file() {
    let task = separable();
    let folder = tempfile::tempdir().unwrap();
    for learner in LEARNERS {
        let options = TrainOptions { model: learner.name().to_owned(), seed: 7 };
        let (heuristic, report) = train(&task, &options).unwrap();
        assert!(report.scores.accuracy > 0.95, "{}: {}", learner.name(), report.scores.accuracy);
        let path = folder.path().join(learner.name());
        heuristic.save(&path).unwrap();
        let read = Heuristic::load(&path).unwrap();
        assert_eq!(read.choose(&task).unwrap(), heuristic.choose(&task).unwrap());
        assert_eq!(predict(&read, &task).unwrap().scores.unwrap().accuracy, report.scores.accuracy);
    }
}

#[test]
fn the_same_seed_gives_the_same_model() {
    let task = separable();
    for learner in LEARNERS {
        let method = Method::parse(learner.name()).unwrap();
        let state = || method.fit(&task, 11).unwrap().state().unwrap().to_string();
        assert_eq!(state(), state(), "{}", learner.name());
    }
}

#[test]
fn programs_without_costs_are_predicted_but_not_scored() {
    let task = separable();
    let options = TrainOptions { model: "tree".to_owned(), seed: 0 };
    let (heuristic, _) = train(&task, &options).unwrap();
    let mut unmeasured = task.clone();
    unmeasured.choices.clear();
    unmeasured.rows.iter_mut().for_each(|row| row.costs.clear());
    let report = predict(&heuristic, &unmeasured).unwrap();
    assert!(report.scores.is_none());
    assert!(report.predictions.iter().zip(&task.rows).all(|(prediction, row)| {
        prediction.label.is_none() && prediction.choice == task.choices[row.label]
    }));
}

#[test]
fn a_heuristic_refuses_features_that_it_does_not_know() {
    let options = TrainOptions { model: "tree".to_owned(), seed: 0 };
    let (heuristic, _) = train(&separable(), &options).unwrap();
    let other = task(&[(&[1.0], "a", [1.0, 2.0])]);
    assert!(predict(&heuristic, &other).unwrap_err().to_string().contains("cannot mix"));
}

#[test]
fn a_file_that_is_no_heuristic_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heuristic.json");
    let forged = [
        "{}",
        r#"{"schema":"heuristic","version":99,"model":"tree","features":[],"choices":[],"seed":0,"rows":0,"state":{}}"#,
        r#"{"schema":"heuristic","version":1,"model":"tree","features":["a"],"choices":["x"],"seed":0,"rows":0,"state":{"nodes":[]}}"#,
        r#"{"schema":"heuristic","version":1,"model":"tree","features":["a"],"choices":["x"],"seed":0,"rows":0,"state":{"nodes":[{"counts":[1],"split":{"feature":0,"threshold":1.0,"low":0,"high":0}}]}}"#,
    ];
    for text in forged {
        std::fs::write(&path, text).unwrap();
        assert!(Heuristic::load(&path).is_err(), "{text}");
    }
}

#[test]
fn a_threshold_is_tried_after_equal_values_of_mixed_classes() {
    // The best split of the first feature lies after two rows of value 1 with different labels.
    let task = task(&[
        (&[1.0], "a", [2.0, 1.0]),
        (&[1.0], "a", [1.0, 2.0]),
        (&[2.0], "b", [1.0, 2.0]),
        (&[2.0], "b", [1.0, 2.0]),
    ]);
    let model = Method::parse("tree").unwrap().fit(&task, 0).unwrap();
    let tree = model.tree().unwrap();
    assert_eq!(tree.nodes[0].split.unwrap().threshold, 1.5);
}

#[test]
fn equally_near_neighbours_all_vote() {
    let rows: [(&[f64], &str, [f64; 2]); 4] = [
        (&[1.0], "a", [2.0, 1.0]),
        (&[3.0], "b", [1.0, 2.0]),
        (&[3.0], "c", [1.0, 2.0]),
        (&[9.0], "d", [2.0, 1.0]),
    ];
    let forward = Method::parse("knn").unwrap().fit(&task(&rows), 0).unwrap();
    assert_eq!(forward.predict(&[2.0]), 0, "two to one");
    assert_eq!(forward.predict(&[8.0]), 1);
}

#[test]
fn explain_finds_collisions_and_what_more_rows_change() {
    let task = task(&[
        (&[1.0], "a", [1.0, 4.0]),
        (&[1.0], "b", [2.0, 1.0]),
        (&[1.0], "c", [1.0, 4.0]),
        (&[5.0], "a", [4.0, 1.0]),
        (&[6.0], "b", [4.0, 1.0]),
    ]);
    let extra = super::task(&[(&[6.0], "generated", [1.0, 2.0]), (&[6.0], "more", [1.0, 2.0])]);
    let options =
        ExplainOptions { model: "tree".to_owned(), depth: 4, extra: Some(extra), seed: 0 };
    let report = explain(&task, &options).unwrap();
    assert_eq!(report.collisions.pairs, 2);
    assert_eq!(report.collisions.accuracy_ceiling, 0.8);
    // On the three colliding rows the CPU costs 2 in all over the oracle, the GPU 16.
    let ceiling = (0.5f64).powf(1.0 / 5.0);
    assert!((report.collisions.oracle_share_ceiling - ceiling).abs() < 1e-12);
    assert_eq!(report.leaves, 2);
    assert!(report.tree.starts_with("GPU (2 CPU, 3 GPU)"), "{}", report.tree);
    assert!(report.picture.starts_with("<svg"));
    assert_eq!(report.disagreements.len(), report.paired.unwrap().different);
    let changed: Vec<&str> = report.disagreements.iter().map(|row| row.program.as_str()).collect();
    assert_eq!(changed, ["program 3", "program 4"]);
    assert_eq!(report.disagreements[0].gain, 0.25);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_order_of_rows_does_not_change_what_a_tree_predicts(
        rows in prop::collection::vec((0u8..6, 0u8..6, any::<bool>(), 0u8..4), 8..40),
        seed in any::<u64>(),
    ) {
        let made: Vec<([f64; 2], String, [f64; 2])> = rows
            .iter()
            .map(|(x, y, gpu, group)| {
                let costs = if *gpu { [2.0, 1.0] } else { [1.0, 2.0] };
                ([f64::from(*x), f64::from(*y)], group.to_string(), costs)
            })
            .collect();
        let rows: Vec<(&[f64], &str, [f64; 2])> =
            made.iter().map(|(f, g, c)| (f.as_slice(), g.as_str(), *c)).collect();
        let one = task(&rows);
        prop_assume!(one.groups().len() > 1 && one.labels().values().all(|count| *count > 0));
        let mut other = one.clone();
        let mut random = seed;
        for at in (1..other.rows.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            other.rows.swap(at, (random >> 33) as usize % (at + 1));
        }
        for model in ["tree", "knn", "tree:random_ties=1"] {
            let options = CrossvalOptions {
                models: vec![model.to_owned()], folds: 0, extra: None, seed: 3,
            };
            let scores = |task: &Task| crossval(task, &options).unwrap().models[0].scores.accuracy;
            prop_assert_eq!(scores(&one), scores(&other));
        }
    }

    #[test]
    fn an_unlimited_tree_is_right_wherever_features_allow(
        rows in prop::collection::vec((0u8..5, 0u8..5, any::<bool>()), 2..40),
    ) {
        let made: Vec<([f64; 2], [f64; 2])> = rows
            .iter()
            .map(|(x, y, gpu)| {
                let costs = if *gpu { [2.0, 1.0] } else { [1.0, 2.0] };
                ([f64::from(*x), f64::from(*y)], costs)
            })
            .collect();
        let rows: Vec<(&[f64], &str, [f64; 2])> =
            made.iter().map(|(f, c)| (f.as_slice(), "", *c)).collect();
        let task = task(&rows);
        let model = Method::parse("tree").unwrap().fit(&task, 0).unwrap();
        let right =
            task.rows.iter().filter(|row| model.predict(&row.features) == row.label).count();
        let ceiling = stampmill_heuristics::feature_collisions(&task).unwrap().accuracy_ceiling;
        prop_assert!((right as f64 / task.rows.len() as f64 - ceiling).abs() < 1e-12);
    }
}

#[test]
fn a_thousand_choices_are_learned_and_scored() {
    let mut task = separable();
    task.choices = (0..1000).map(|at| format!("c{at}")).collect();
    for row in &mut task.rows {
        let best = if row.features[0] > 29.5 { 700 } else { 3 };
        row.costs =
            (0..1000).map(|at| if at == best { 1.0 } else { 2.0 + f64::from(at) }).collect();
        row.label = best as usize;
    }
    let models = ["tree", "knn", "forest:trees=10", "boosting"].map(str::to_owned).to_vec();
    let options = CrossvalOptions { models, folds: 3, extra: None, seed: 1 };
    for found in crossval(&task, &options).unwrap().models {
        assert!(found.scores.accuracy > 0.9, "{}: {}", found.model, found.scores.accuracy);
    }
}

#[test]
fn rows_that_no_feature_tells_apart_are_refused() {
    let mut task = separable();
    task.rows.iter_mut().for_each(|row| row.features = vec![1.0, 2.0]);
    let error = train(&task, &TrainOptions { model: "tree".into(), seed: 0 }).unwrap_err();
    assert!(matches!(error, stampmill_heuristics::Error::NothingDiffers(_)), "{error}");
}
