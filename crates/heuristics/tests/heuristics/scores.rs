//! Laws of scores.

use super::task;
use proptest::prelude::*;
use stampmill_heuristics::{Task, compare, score};

fn measured() -> impl Strategy<Value = (Task, Vec<usize>)> {
    let row = (1u16..1000, 1u16..1000, 0u8..5, 0usize..2);
    prop::collection::vec(row, 1..30).prop_map(|rows| {
        let groups: Vec<String> = rows.iter().map(|row| row.2.to_string()).collect();
        let made: Vec<(&[f64], &str, [f64; 2])> = rows
            .iter()
            .zip(&groups)
            .map(|(row, group)| {
                let costs = [f64::from(row.0), f64::from(row.1)];
                ([0.0].as_slice(), group.as_str(), costs)
            })
            .collect();
        (task(&made), rows.iter().map(|row| row.3).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_beats_the_oracle((task, predictions) in measured()) {
        let scores = score(&task, &predictions, 1).unwrap();
        prop_assert!((0.0..=1.0).contains(&scores.accuracy));
        prop_assert!(scores.oracle_share > 0.0 && scores.oracle_share <= 1.0);
        for over in scores.over.values() {
            prop_assert!(over.geomean <= over.oracle_geomean * (1.0 + 1e-12));
            let share = over.geomean / over.oracle_geomean;
            prop_assert!((share - scores.oracle_share).abs() < 1e-9);
        }
        let oracle: Vec<usize> = task.rows.iter().map(|row| row.label).collect();
        let best = score(&task, &oracle, 1).unwrap();
        prop_assert_eq!((best.accuracy, best.oracle_share), (1.0, 1.0));
    }

    #[test]
    fn a_static_choice_gains_nothing_over_itself((task, _) in measured()) {
        for (choice, name) in task.choices.iter().enumerate() {
            let scores = score(&task, &vec![choice; task.rows.len()], 1).unwrap();
            prop_assert_eq!(scores.over[name].geomean, 1.0);
            prop_assert_eq!(scores.over[name].interval, [1.0, 1.0]);
        }
    }

    #[test]
    fn swapping_the_two_inverts_a_comparison((task, predictions) in measured()) {
        let flipped: Vec<usize> = predictions.iter().map(|choice| 1 - choice).collect();
        let one = compare(&task, &predictions, &flipped, 1).unwrap();
        let two = compare(&task, &flipped, &predictions, 1).unwrap();
        prop_assert!((one.geomean * two.geomean - 1.0).abs() < 1e-9);
        prop_assert!((one.accuracy_difference + two.accuracy_difference).abs() < 1e-12);
        prop_assert_eq!(one.p_value, two.p_value);
        let same = compare(&task, &predictions, &predictions, 1).unwrap();
        prop_assert_eq!((same.geomean, same.p_value, same.different), (1.0, 1.0, 0));
    }
}

#[test]
fn recognition_counts_what_the_words_say() {
    let task = task(&[
        (&[0.0], "a", [1.0, 2.0]),
        (&[0.0], "a", [1.0, 2.0]),
        (&[0.0], "b", [2.0, 1.0]),
        (&[0.0], "b", [4.0, 1.0]),
    ]);
    let scores = score(&task, &[0, 1, 1, 1], 1).unwrap();
    let gpu = scores.choices["GPU"];
    assert_eq!((gpu.best, gpu.predicted), (2, 3));
    assert_eq!(gpu.precision, Some(2.0 / 3.0));
    assert_eq!((gpu.recall, gpu.specificity), (Some(1.0), Some(0.5)));
    assert_eq!(scores.accuracy, 0.75);
    // Each is best twice, and the GPU costs less.
    assert_eq!(scores.baseline, "GPU");
    // Against always GPU: 2, 1, 1 and 1 times faster.
    assert!((scores.geomean_speedup - 2.0f64.powf(0.25)).abs() < 1e-12);
    assert!(scores.orientation.starts_with("cost of the baseline / cost of the predicted"));
}

#[test]
fn ratios_over_nothing_are_not_numbers() {
    let task = task(&[(&[0.0], "a", [1.0, 2.0])]);
    let scores = score(&task, &[0], 1).unwrap();
    assert_eq!(scores.choices["GPU"].precision, None);
    assert_eq!(scores.choices["GPU"].recall, None);
    assert_eq!(scores.verdicts["absent-choice"], 1);
}

#[test]
fn few_groups_are_tested_exactly() {
    // Three groups that all gain alike: of eight sign patterns two are as far from zero.
    let task =
        task(&[(&[0.0], "a", [2.0, 1.0]), (&[0.0], "b", [2.0, 1.0]), (&[0.0], "c", [2.0, 1.0])]);
    assert_eq!(compare(&task, &[0, 0, 0], &[1, 1, 1], 1).unwrap().p_value, 0.25);
}
