use super::*;
use crate::{Origin, Row};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of `groups` groups, costs by their features and a number drawn for each.
pub(super) fn table(
    rows: usize,
    groups: usize,
    choices: &[&str],
    seed: u64,
    row: impl Fn(&mut ChaCha8Rng) -> (Vec<f64>, Vec<f64>),
) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut table = Table { name: "made".into(), ..Table::default() };
    for at in 0..rows {
        let (features, costs) = row(&mut rng);
        let label = crate::task::cheapest(&costs);
        let group = format!("g{}", at % groups);
        table.origins.push(Origin {
            id: format!("id{at}"),
            package: group.clone(),
            family: String::new(),
        });
        table.task.rows.push(Row {
            program: format!("p{at}"),
            variant: String::new(),
            group,
            features,
            costs,
            label,
        });
    }
    let width = table.task.rows[0].features.len();
    table.task.features = (0..width).map(|place| format!("f{place}")).collect();
    table.task.features[0] = "s:TotalInsts".into();
    table.task.choices = choices.iter().map(|name| (*name).to_owned()).collect();
    table.spaces = vec![("s".into(), 0..width)];
    table
}

fn words(found: &Diagnosis) -> Vec<&str> {
    found.verdicts.iter().map(|verdict| verdict.word).collect()
}

fn count(rng: &mut ChaCha8Rng) -> f64 {
    f64::from(rng.random_range(1..200))
}

#[test]
fn choices_that_no_feature_tells_apart_are_refused() {
    let row = |rng: &mut ChaCha8Rng| (vec![7.0, 7.0], vec![count(rng), count(rng)]);
    let found = diagnose(&table(120, 6, &["a", "b"], 3, row), &DiagnoseOptions::default());
    assert!(matches!(found, Err(Error::NothingDiffers(_))), "{found:?}");
}

#[test]
fn a_cost_of_many_steps_is_short_of_programs_and_says_where() {
    // Eight regions of two features, each with a cost of its own.
    let row = |rng: &mut ChaCha8Rng| {
        let (a, b): (f64, f64) = (rng.random_range(0.0..64.0), rng.random_range(0.0..64.0));
        let step = f64::from(((a / 8.0) as u32 * 5 + (b / 8.0) as u32 * 3) % 11);
        (vec![count(rng), a, b], vec![step.exp2()])
    };
    let found = diagnose(&table(640, 16, &["cycles"], 7, row), &DiagnoseOptions::default());
    let found = found.expect("it is a task");
    assert!(words(&found).contains(&"short"), "{:?}", found.verdicts);
    assert!(found.last_doubling.expect("a curve").value < -0.02);
    let sizes: Vec<usize> = found.curve.iter().map(|point| point.programs).collect();
    assert!(sizes.len() >= 4 && sizes.windows(2).all(|pair| pair[1] / 2 == pair[0]), "{sizes:?}");
    assert!(!found.regions.is_empty() && found.regions.len() <= 40);
    assert_eq!(found.regions[0].vectors["s"].len(), 3);
    assert_eq!((found.features, found.choice.is_none()), ([3, 3], true));
    assert_eq!(found.distance.iter().map(|bin| bin.rows).sum::<usize>(), 640);
}

#[test]
fn what_the_instruction_count_says_is_not_learned() {
    let row = |rng: &mut ChaCha8Rng| {
        let insts = count(rng);
        (vec![insts, rng.random_range(0.0..9.0)], vec![3.0 * (1.0 + insts)])
    };
    let found = diagnose(&table(200, 8, &["size"], 7, row), &DiagnoseOptions::default());
    let found = found.expect("it is a task");
    assert_eq!(words(&found)[0], "nothing-learned", "{:?}", found.verdicts);
    // But for what is larger or smaller than all that a fold was trained on.
    assert!(found.regression.expect("one choice").models["lin1"].value < 0.1);
}

#[test]
fn what_features_do_not_see_is_their_limit() {
    // Half of the spread comes of what is no feature.
    let row = |rng: &mut ChaCha8Rng| {
        let a = f64::from(rng.random_range(0..4_u32));
        let hidden = f64::from(rng.random_range(0..2_u32)) * 4.0;
        (vec![a, a], vec![(a + hidden).exp2()])
    };
    let found = diagnose(&table(300, 10, &["cycles"], 7, row), &DiagnoseOptions::default());
    let found = found.expect("it is a task");
    assert!(words(&found).contains(&"features"), "{:?}", found.verdicts);
    assert!(words(&found).contains(&"enough"), "{:?}", found.verdicts);
    assert!(found.regions.is_empty());
    assert_eq!((found.ceiling.vectors, found.ceiling.colliding), (4, 300));
    assert!((found.ceiling.collisions - 2.0).abs() < 0.1, "{:?}", found.ceiling);
}

#[test]
fn repeated_measurements_that_differ_are_noise() {
    let row =
        |rng: &mut ChaCha8Rng| (vec![count(rng)], vec![rng.random_range(-4.0_f64..4.0).exp2()]);
    let mut noisy = table(120, 6, &["cycles"], 7, row);
    for at in 0..120 {
        noisy.task.rows[at].program = format!("p{}", at / 2 % 30);
    }
    let found = diagnose(&noisy, &DiagnoseOptions::default()).expect("it is a task");
    assert!(words(&found).contains(&"noise"), "{:?}", found.verdicts);
}

#[test]
fn a_fixed_set_that_does_what_the_oracle_does_leaves_a_model_nothing() {
    // Which of two is cheaper is drawn; the third always costs a little more, the fourth most.
    let row = |rng: &mut ChaCha8Rng| {
        let cheap = rng.random_range(0..2_usize);
        let mut costs = vec![8.0, 8.0, 5.0, 9.0];
        costs[cheap] = 4.0;
        (vec![count(rng), rng.random_range(0.0..9.0)], costs)
    };
    let names = ["a", "b", "c", "d"];
    let found = diagnose(&table(200, 8, &names, 7, row), &DiagnoseOptions::default());
    let found = found.expect("it is a task");
    let choice = found.choice.as_ref().expect("four choices");
    assert_eq!(choice.best_single, "c");
    let three = choice.fixed.iter().find(|set| set.tries == 3).expect("three tries");
    assert!((three.share_of_oracle - 1.0).abs() < 1e-9 && three.error.value.abs() < 1e-9);
    assert!(choice.fixed.iter().all(|set| set.tries <= names.len()));
    assert_eq!(words(&found)[0], "fixed-set", "{:?}", found.verdicts);
    assert!(found.verdicts[0].text.contains("trying 3 fixed choices"), "{:?}", found.verdicts);
    // To try all that there is is no finding.
    let row = |rng: &mut ChaCha8Rng| {
        let cheap = rng.random_range(0..2_usize);
        (vec![count(rng), rng.random_range(0.0..9.0)], vec![[4.0, 8.0][cheap], [8.0, 4.0][cheap]])
    };
    let found = diagnose(&table(200, 8, &["a", "b"], 7, row), &DiagnoseOptions::default());
    let found = found.expect("it is a task");
    assert!(!words(&found).contains(&"fixed-set"), "{:?}", found.verdicts);
}

#[test]
fn what_a_feature_decides_is_chosen_by_the_model() {
    let row = |rng: &mut ChaCha8Rng| {
        let a = rng.random_range(0.0..8.0);
        let cheap = usize::from(a > 4.0);
        let mut costs = vec![2.0, 2.0];
        costs[cheap] = 1.0;
        (vec![count(rng), a], costs)
    };
    let found = diagnose(&table(160, 8, &["a", "b"], 7, row), &DiagnoseOptions::default());
    let found = found.expect("it is a task");
    assert!(found.held_out.value < 0.1, "{:?}", found.held_out);
    let choice = found.choice.expect("two choices");
    assert!(choice.against_single.interval[1] < 0.0, "{:?}", choice.against_single);
    assert!(choice.fixed[0].model_gain.interval[1] < 0.0);
}

#[test]
fn a_thousand_choices_are_diagnosed() {
    let row = |rng: &mut ChaCha8Rng| {
        let costs = (0..1000).map(|_| rng.random_range(1.0..2.0)).collect();
        (vec![count(rng)], costs)
    };
    let names: Vec<String> = (0..1000).map(|at| format!("c{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let options = DiagnoseOptions { draws: 1, ..DiagnoseOptions::default() };
    let found = diagnose(&table(60, 6, &names, 7, row), &options).expect("it is a task");
    assert_eq!(found.choice.expect("a thousand").fixed.len(), 4);
}

#[test]
fn families_are_never_on_both_sides() {
    let row = |rng: &mut ChaCha8Rng| {
        let insts = count(rng);
        (vec![insts, rng.random_range(0.0..9.0)], vec![1.0 + insts])
    };
    let mut leaking = table(100, 5, &["size"], 7, row);
    for (at, origin) in leaking.origins.iter_mut().enumerate() {
        // Pairs of rows of different groups.
        origin.family = format!("f{}", at / 2);
    }
    let folds = Splits::by_group(&leaking, FOLDS, (0, 2));
    for fold in folds.all().iter().flat_map(|folds| &folds.all) {
        let families = |rows: &[usize]| -> std::collections::BTreeSet<&str> {
            rows.iter().map(|row| leaking.origins[*row].family.as_str()).collect()
        };
        assert!(families(&fold.test).is_disjoint(&families(&fold.train)));
    }
    assert_eq!((folds.leaking(), leaking.leaking()), (100, 100));
    let found = diagnose(&leaking, &DiagnoseOptions::default()).expect("it is a task");
    assert_eq!(found.leaking, 100);
}

#[test]
fn made_programs_that_cost_less_have_a_bias() {
    let cost = |factor: f64| {
        move |rng: &mut ChaCha8Rng| {
            let (insts, a) = (count(rng), rng.random_range(0.0..9.0_f64));
            (vec![insts, a], vec![factor * (1.0 + insts) * (a / 3.0).floor().exp2()])
        }
    };
    let real = table(240, 8, &["size"], 7, cost(4.0));
    let mut cheap = table(60, 60, &["size"], 7, cost(1.0));
    cheap.name = "sampled".into();
    let known = cheap.clone();
    cheap.origins.iter_mut().for_each(|origin| origin.id.push('m'));
    cheap.task.rows[0].features = vec![1e9, 1e9];
    let options = DiagnoseOptions { made: vec![cheap.clone()], ..DiagnoseOptions::default() };
    let found = diagnose(&real, &options).expect("it is a task");
    let made = &found.made[0];
    assert_eq!((made.programs, made.table.as_str()), (60, "sampled"));
    assert!((made.bias.expect("a cost").value - 2.0).abs() < 0.3, "{made:?}");
    assert!(made.outside > 0.0 && made.outside < 0.5, "{made:?}");
    // A source without groups has an interval, too.
    let mut alone = cheap.clone();
    alone.task.rows.iter_mut().for_each(|row| row.group = "sampled".into());
    let options = DiagnoseOptions { made: vec![alone], ..DiagnoseOptions::default() };
    let of_one = diagnose(&real, &options).expect("it is a task").made[0].bias.expect("a cost");
    assert!(of_one.interval[0] < of_one.value && of_one.value < of_one.interval[1], "{of_one:?}");
    assert!(words(&found).contains(&"shift"), "{:?}", found.verdicts);
    // What is among the real programs is no made one.
    let options = DiagnoseOptions { made: vec![known], ..DiagnoseOptions::default() };
    let said = diagnose(&real, &options).expect_err("they are the same").to_string();
    assert!(said.contains("not among the real programs"), "{said}");
}

#[test]
fn what_a_model_of_choices_loses_on_made_programs_is_told() {
    let costs = |is_swapped: bool| {
        move |rng: &mut ChaCha8Rng| {
            let (insts, a) = (count(rng), rng.random_range(0.0..9.0_f64));
            let costs = if (a < 4.0) == is_swapped { [4.0, 1.0] } else { [1.0, 4.0] };
            (vec![insts, a], costs.to_vec())
        }
    };
    let real = table(240, 8, &["a", "b"], 7, costs(false));
    let lost = |is_swapped: bool| {
        let mut made = table(60, 60, &["a", "b"], 9, costs(is_swapped));
        made.origins.iter_mut().for_each(|origin| origin.id.push('m'));
        let options = DiagnoseOptions { made: vec![made], ..DiagnoseOptions::default() };
        let found = diagnose(&real, &options).expect("it is a task").made[0].clone();
        assert_eq!((found.programs, found.bias), (60, None));
        found.error.value
    };
    assert!(lost(false) < 0.5 && lost(true) > 1.5, "{} {}", lost(false), lost(true));
}

#[test]
fn few_programs_far_from_all_others_make_none_near() {
    let row = |rng: &mut ChaCha8Rng| (vec![count(rng)], vec![count(rng)]);
    let mut real = table(200, 8, &["size"], 7, row);
    for (at, row) in (0_u32..).zip(&mut real.task.rows) {
        row.features = vec![if at < 196 {
            f64::from(at) + 100.0
        } else {
            1e4 * 100_f64.powf(f64::from(at - 196))
        }];
    }
    let mut made = table(60, 60, &["size"], 9, row);
    made.origins.iter_mut().for_each(|origin| origin.id.push('m'));
    // Between two of the four that lie far apart.
    made.task.rows.iter_mut().for_each(|row| row.features = vec![1e5]);
    let options = DiagnoseOptions { made: vec![made], ..DiagnoseOptions::default() };
    let found = diagnose(&real, &options).expect("it is a task");
    assert!(found.made[0].outside > 0.99, "{:?}", found.made[0]);
}

#[test]
fn labels_of_another_machine_are_refused() {
    let row = |rng: &mut ChaCha8Rng| (vec![count(rng)], vec![count(rng)]);
    let mut here = table(60, 6, &["size"], 7, row);
    here.labels.insert("llvm".into(), "19.1.7".into());
    let mut there = here.clone();
    there.labels.insert("llvm".into(), "20.1.0".into());
    let options = DiagnoseOptions { made: vec![there], ..DiagnoseOptions::default() };
    let said = diagnose(&here, &options).expect_err("other labels").to_string();
    assert!(said.contains("llvm is `19.1.7` and `20.1.0`"), "{said}");
    let mut other = here.clone();
    other.task.features[0] = "y".into();
    let options = DiagnoseOptions { made: vec![other], ..DiagnoseOptions::default() };
    assert!(diagnose(&here, &options).is_err());
}

#[test]
fn too_little_is_an_error_that_says_what_is_there() {
    let row = |rng: &mut ChaCha8Rng| (vec![count(rng)], vec![count(rng)]);
    let options = DiagnoseOptions::default();
    let said = |table: &Table| diagnose(table, &options).expect_err("too little").to_string();
    assert!(said(&table(39, 6, &["size"], 7, row)).contains("39 rows of 6 groups"));
    assert!(said(&table(90, 1, &["size"], 7, row)).contains("90 rows of 1 groups"));
    let mut bare = table(60, 6, &["size"], 7, row);
    bare.task.rows.clear();
    bare.origins.clear();
    bare.left_out.insert("undescribed".into(), 60);
    assert!(said(&bare).contains("60 undescribed"), "{}", said(&bare));
    // One class of a choice.
    let always = table(60, 6, &["a", "b"], 7, |rng| (vec![count(rng)], vec![1.0, 2.0]));
    assert!(said(&always).contains("`b` never occurs"), "{}", said(&always));
}

#[test]
fn constant_features_and_groups_of_one_are_no_trouble() {
    let row = |rng: &mut ChaCha8Rng| (vec![5.0, 5.0], vec![count(rng)]);
    let found = diagnose(&table(60, 60, &["size"], 7, row), &DiagnoseOptions::default());
    let found = found.expect("it is a task");
    assert_eq!((found.features, found.groups), ([2, 0], 60));
    assert_eq!(words(&found), ["features"]);
    // Rows without costs are counted.
    let mut holes = table(80, 8, &["size"], 7, row);
    holes.task.rows[0].costs.clear();
    let found = diagnose(&holes, &DiagnoseOptions::default()).expect("it is a task");
    assert_eq!((found.rows, found.left_out["unmeasured"]), (79, 1));
}

#[test]
fn the_same_seed_finds_the_same() {
    let row = |rng: &mut ChaCha8Rng| {
        let (a, b) = (count(rng), count(rng));
        (vec![a, b], vec![a * b])
    };
    let table = table(90, 6, &["size"], 7, row);
    let found = |seed| {
        let options = DiagnoseOptions { seed, ..DiagnoseOptions::default() };
        serde_json::to_string(&diagnose(&table, &options).expect("it is a task")).expect("plain")
    };
    assert_eq!(found(1), found(1));
    assert_ne!(found(1), found(2));
}

#[test]
fn a_verdict_on_few_programs_does_not_depend_on_the_seed() {
    // Steps and noise: whether the last doubling helps is at the edge of what 200 programs say.
    let row = |rng: &mut ChaCha8Rng| {
        let (a, b): (f64, f64) = (rng.random_range(0.0..64.0), rng.random_range(0.0..64.0));
        let step = f64::from(((a / 16.0) as u32 * 5 + (b / 16.0) as u32 * 3) % 7);
        (vec![count(rng), a, b], vec![(step + rng.random_range(-1.5..1.5)).exp2()])
    };
    let real = table(200, 10, &["cycles"], 3, row);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..6 {
        let found = diagnose(&real, &DiagnoseOptions { seed, ..DiagnoseOptions::default() });
        let found = found.expect("it is a task");
        assert_eq!(found.splits, 5);
        let [least, greatest] = found.doubling_over_splits.expect("a curve");
        let value = found.last_doubling.expect("a curve").value;
        assert!(least <= greatest && least - 0.02 <= value && value <= greatest + 0.02);
        let all = words(&found);
        let of_doubling = all.iter().filter(|word| ["short", "enough", "unclear"].contains(word));
        seen.extend(of_doubling.map(|word| (*word).to_owned()));
    }
    assert!(!(seen.contains("short") && seen.contains("enough")), "{seen:?}");
}

#[test]
fn splits_that_disagree_are_unclear() {
    let found = |value: f64, interval: Interval, over: Interval| {
        let row = |rng: &mut ChaCha8Rng| (vec![count(rng)], vec![count(rng)]);
        let mut found = diagnose(&table(60, 6, &["size"], 7, row), &DiagnoseOptions::default())
            .expect("it is a task");
        found.last_doubling = Some(ErrorOf { value, interval });
        found.doubling_over_splits = Some(over);
        let all = verdict::of(&found);
        let word = all.iter().find(|one| ["short", "enough", "unclear"].contains(&one.word));
        word.expect("one of these").word
    };
    assert_eq!(found(-0.08, [-0.12, -0.04], [-0.10, -0.05]), "short");
    assert_eq!(found(-0.08, [-0.12, -0.04], [-0.20, 0.01]), "unclear");
    assert_eq!(found(-0.01, [-0.03, 0.01], [-0.02, 0.01]), "enough");
    assert_eq!(found(-0.01, [-0.03, 0.01], [-0.09, 0.04]), "unclear");
    assert_eq!(found(-0.01, [-0.09, 0.04], [-0.02, 0.01]), "unclear");
}

#[test]
fn regions_say_how_many_programs_they_stand_for_and_what_marks_them() {
    let row = |rng: &mut ChaCha8Rng| {
        let (a, b): (f64, f64) = (rng.random_range(0.0..64.0), rng.random_range(0.0..64.0));
        let step = f64::from(((a / 8.0) as u32 * 5 + (b / 8.0) as u32 * 3) % 11);
        (vec![count(rng), a, b], vec![step.exp2()])
    };
    let options = DiagnoseOptions { regions: 4, ..DiagnoseOptions::default() };
    let found = diagnose(&table(640, 16, &["cycles"], 7, row), &options).expect("it is a task");
    assert_eq!(found.regions.len(), 4);
    // A fifth of the rows, each in one region.
    assert_eq!(found.regions.iter().map(|region| region.programs).sum::<usize>(), 128);
    assert!(found.regions.iter().all(|region| region.groups <= region.programs));
    assert!(found.regions.iter().any(|region| !region.marks.is_empty()), "{:?}", found.regions);
    for mark in found.regions.iter().flat_map(|region| &region.marks) {
        assert!(mark.median != mark.of_all, "{mark:?}");
    }
}
