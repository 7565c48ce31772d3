//! Which programs to add: training sets of equal size from several sources, scored on the same held-out
//! programs.

use super::{
    ErrorOf, Figure, Interval, Verdict,
    fold::Losses,
    gap::{self, Gap},
};
use crate::{Error, Result, Table, fit};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;

/// The model, and the baseline that is always in the race.
const MODEL: &str = "boosting";
const BASELINE: &str = "lin1";

/// What is compared.
#[derive(Clone, Debug)]
pub struct ArmOptions {
    /// What there is before anything is added.
    pub base: Table,
    /// Programs of the base in a training set; all where it has fewer.
    pub base_size: usize,
    /// What is scored on: groups that neither base nor arms have.
    pub test: Table,
    /// Sources of programs to add.
    pub arms: Vec<Table>,
    /// Programs added; arms of fewer are named as skipped.
    pub added: Vec<usize>,
    /// All that there would be: with all of its programs the base has the error that is to be reached, and what so many
    /// of them do says what programs of the arms are worth.
    pub ceiling: Option<Table>,
    /// Programs of the ceiling added, beside those of `added`: its learning curve.
    pub curve: Vec<usize>,
    /// Training sets of each kind.
    pub draws: usize,
    /// Seed of draws, models and intervals.
    pub seed: u32,
}

/// One source and number of programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arm {
    /// The source's table; `base` where nothing is added.
    pub arm: String,
    /// Programs added.
    pub added: usize,
    /// Programs of the source that could be.
    pub available: usize,
    /// The model's error.
    pub error: ErrorOf,
    /// That of one-variable regression on the instruction count.
    pub lin1: ErrorOf,
    /// Error less the base's, paired by group of the test programs.
    pub change: Option<ErrorOf>,
    /// The same, paired by family.
    pub change_by_family: Option<ErrorOf>,
    /// What it closes of the gap to the ceiling, where there is one.
    pub gap: Option<Gap>,
    /// Least and greatest change over the draws.
    pub over_draws: Option<Interval>,
    /// Error less that of `lin1` on the same programs, paired.
    pub against_lin1: ErrorOf,
}

/// A source that has fewer programs than were to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its table.
    pub arm: String,
    /// Programs that were to be added.
    pub added: usize,
    /// Programs that there are.
    pub available: usize,
}

/// Two sources of which equally many programs were added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rival {
    /// One source.
    pub arm: String,
    /// The other.
    pub than: String,
    /// Programs added of each.
    pub added: usize,
    /// Error of the one less that of the other, paired by group of the test programs: below zero the one is better.
    pub difference: ErrorOf,
    /// The same, paired by family.
    pub by_family: ErrorOf,
}

/// What [`arms`] found.
#[derive(Clone, Debug, Serialize)]
pub struct ArmReport {
    /// Test programs.
    pub test: usize,
    /// Their groups: the unit of inference.
    pub groups: usize,
    /// Their families: the other unit.
    pub families: usize,
    /// Programs of the base in a training set.
    pub base: usize,
    /// Programs of base and arms that were dropped, being in a test program's family or among the test
    /// programs or, of an arm, of the base.
    pub dropped: usize,
    /// The base first.
    pub arms: Vec<Arm>,
    /// Sources of too few programs.
    pub skipped: Vec<Skipped>,
    /// Each two sources at equal numbers.
    pub rivals: Vec<Rival>,
    /// What it comes to.
    pub verdicts: Vec<Verdict>,
}

/// Train on the base and on what each arm adds to it, and score on the test programs.
///
/// # Errors
/// When there are too few programs, nothing is to be added or drawn, or labels and features of the tables differ.
pub fn arms(options: &ArmOptions) -> Result<ArmReport> {
    if options.draws == 0 || options.added.contains(&0) || options.added.is_empty() {
        let what = if options.draws == 0 { "no draws" } else { "no programs are added" };
        return Err(Error::NothingCompared(what));
    }
    let (test, _) = super::measured(&options.test);
    let groups = test.task.groups().len();
    if test.task.rows.len() < super::LEAST.0 || groups < super::LEAST.1 {
        let (what, rows) = ("a comparison of arms", test.task.rows.len());
        return Err(Error::TooSmall { what, rows, groups, wanted: "40 test programs of 3 groups" });
    }
    if let [only, _, ..] = test.task.choices.as_slice() {
        let reason = format!(
            "has the choices `{only}` and others, and arms are compared on tasks with one choice; `stampmill label \
             --task size` or `mca` makes such"
        );
        return Err(Error::Table { path: test.name.into(), reason });
    }
    let mut known = Known::of(&test);
    let (base, mut dropped) = known.without(&test, &options.base)?;
    known.add(&base);
    let mut sources = Vec::new();
    for arm in &options.arms {
        let (arm, fewer) = known.without(&test, arm)?;
        dropped += fewer;
        sources.push(arm);
    }
    if let Some(ceiling) = &options.ceiling {
        let (ceiling, fewer) = known.without(&test, ceiling)?;
        dropped += fewer;
        if ceiling.task.rows.is_empty() {
            return Err(Error::NoRows { what: ceiling.name, rejected: fewer as u64 });
        }
        sources.push(ceiling);
    }
    let arms_end = options.arms.len();
    let size = options.base_size.min(base.task.rows.len());
    if size < 2 {
        return Err(Error::NoRows { what: base.name, rejected: dropped as u64 });
    }
    let draws = options.draws;
    // What is added to the base, by arm: nothing first.
    let mut kinds: Vec<(Option<usize>, usize)> = vec![(None, 0)];
    let mut skipped = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let available = source.task.rows.len();
        let mut counts = options.added.clone();
        if at == arms_end {
            // A learning curve ends where the programs do.
            counts.extend(options.curve.iter().filter(|n| **n < available));
            counts.push(available);
        }
        counts.sort_unstable();
        counts.dedup();
        let (enough, few): (Vec<usize>, Vec<usize>) = counts.iter().partition(|n| **n <= available);
        kinds.extend(enough.into_iter().map(|n| (Some(at), n)));
        let arm = &source.name;
        skipped.extend(few.into_iter().map(|n| Skipped { arm: arm.clone(), added: n, available }));
    }
    let jobs: Vec<(usize, usize)> =
        (0..kinds.len()).flat_map(|kind| (0..draws).map(move |draw| (kind, draw))).collect();
    let each: Vec<[Vec<f64>; 2]> = jobs
        .into_par_iter()
        .map(|(kind, draw)| {
            let seed = u64::from(options.seed) + draw as u64;
            let (arm, added) = kinds[kind];
            // A draw has the same base whatever is added, and of two arms the same places.
            let mut rows = drawn(&base, size, seed);
            rows.extend(arm.into_iter().flat_map(|arm| drawn(&sources[arm], added, seed ^ 0x5eed)));
            Ok([losses(MODEL, &rows, &test, seed)?, losses(BASELINE, &rows, &test, seed)?])
        })
        .collect::<Result<_>>()?;
    let mean = |kind: usize, model: usize| {
        let of_kind = &each[kind * draws..(kind + 1) * draws];
        let by_row = (0..test.task.rows.len())
            .map(|row| of_kind.iter().map(|both| both[model][row]).sum::<f64>() / draws as f64);
        Losses::new(&test, by_row.collect(), Figure::Root)
    };
    let seed = u64::from(options.seed);
    let by_kind: Vec<[Losses; 2]> =
        (0..kinds.len()).map(|kind| [mean(kind, 0), mean(kind, 1)]).collect();
    let by_family: Vec<Losses> = by_kind.iter().map(|[found, _]| found.by_family(&test)).collect();
    let less = |after: f64, before: f64| after - before;
    let of_ceiling: Vec<usize> =
        (1..kinds.len()).filter(|kind| kinds[*kind].0 == Some(arms_end)).collect();
    let curve = gap::Curve {
        counts: of_ceiling.iter().map(|kind| kinds[*kind].1).collect(),
        by_group: of_ceiling.iter().map(|kind| &by_kind[*kind][0]).collect(),
        by_family: of_ceiling.iter().map(|kind| &by_family[*kind]).collect(),
        base: [&by_kind[0][0], &by_family[0]],
        seed,
    };
    let gap = |kind: usize| {
        (kind > 0).then(|| curve.closed_by([&by_kind[kind][0], &by_family[kind]])).flatten()
    };
    let error_of =
        |kind: usize, draw: usize| Figure::Root.over(each[kind * draws + draw][0].iter().copied());
    let named =
        |arm: Option<usize>| arm.map_or("base", |arm| sources[arm].name.as_str()).to_owned();
    let arms =
        kinds.iter().zip(&by_kind).enumerate().map(|(kind, ((arm, added), [found, line]))| {
            let changes = (0..draws).map(|draw| error_of(kind, draw) - error_of(0, draw));
            let ends = changes.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], change| {
                [low.min(change), high.max(change)]
            });
            Arm {
                arm: named(*arm),
                added: *added,
                available: arm.map_or(base.task.rows.len(), |arm| sources[arm].task.rows.len()),
                error: found.interval(seed),
                lin1: line.interval(seed),
                change: arm.map(|_| found.against(&by_kind[0][0], seed, less)),
                change_by_family: arm.map(|_| by_family[kind].against(&by_family[0], seed, less)),
                gap: gap(kind),
                over_draws: arm.map(|_| ends),
                against_lin1: found.against(line, seed, less),
            }
        });
    let arms: Vec<Arm> = arms.collect();
    let mut rivals = Vec::new();
    for one in 1..kinds.len() {
        for other in one + 1..kinds.len() {
            if kinds[one].1 == kinds[other].1 && options.added.contains(&kinds[one].1) {
                rivals.push(Rival {
                    arm: named(kinds[one].0),
                    than: named(kinds[other].0),
                    added: kinds[one].1,
                    difference: by_kind[one][0].against(&by_kind[other][0], seed, less),
                    by_family: by_family[one].against(&by_family[other], seed, less),
                });
            }
        }
    }
    let verdicts = verdicts(&arms, &skipped, &rivals);
    let families = test.families().into_iter().collect::<BTreeSet<_>>().len();
    let test = test.task.rows.len();
    Ok(ArmReport { test, groups, families, base: size, dropped, arms, skipped, rivals, verdicts })
}

/// What it comes to, in words.
fn verdicts(arms: &[Arm], skipped: &[Skipped], rivals: &[Rival]) -> Vec<Verdict> {
    let shown =
        |of: ErrorOf| format!("{:+.3} [{:+.3}, {:+.3}]", of.value, of.interval[0], of.interval[1]);
    let mut all = Vec::new();
    let mut say = |word: &'static str, text: String| all.push(Verdict { word, text });
    if arms.iter().all(|arm| arm.against_lin1.interval[1] >= 0.0) {
        let text = "no arm's model beats one-variable regression on the instruction count by an interval: use \
                    the line, whatever is added";
        say("nothing-learned", text.to_owned());
    }
    for arm in arms {
        let Some(change) = arm.change else { continue };
        let (word, what) = match change.interval {
            [_, high] if high < 0.0 => ("helps", "lower the error"),
            [low, _] if low > 0.0 => ("harms", "raise the error"),
            _ => ("no-difference", "do not change the error by an interval"),
        };
        say(word, format!("{} programs of {} {what}: {}", arm.added, arm.arm, shown(change)));
    }
    for arm in arms {
        let Some(gap) = arm.gap.filter(|gap| gap.closed.interval[0] > 0.0) else { continue };
        let [closed, low, high] =
            [gap.closed.value, gap.closed.interval[0], gap.closed.interval[1]].map(|x| 100.0 * x);
        let text = format!(
            "{} programs of {} close {closed:.0} % [{low:.0}, {high:.0}] of the gap to the ceiling, as {:.0} [{:.0}, {:.0}] of \
             its own programs do",
            arm.added, arm.arm, gap.worth.value, gap.worth.interval[0], gap.worth.interval[1]
        );
        say("closes", text);
    }
    for Rival { arm, than, added, difference, by_family: _ } in rivals {
        let [low, high] = difference.interval;
        let (better, worse, by) = if high < 0.0 {
            (arm, than, *difference)
        } else if low > 0.0 {
            (than, arm, ErrorOf { value: -difference.value, interval: [-high, -low] })
        } else {
            continue;
        };
        let text = format!(
            "{added} programs of {better} are worth more than as many of {worse}: {}",
            shown(by)
        );
        say("better", text);
    }
    if !rivals.is_empty() && !all.iter().any(|verdict| verdict.word == "better") {
        let text = "no two arms differ by an interval at equal numbers".to_owned();
        all.push(Verdict { word: "arms-equal", text });
    }
    for Skipped { arm, added, available } in skipped {
        let text =
            format!("{arm} has {available} programs that may be added, not {added}: not compared");
        all.push(Verdict { word: "skipped", text });
    }
    all
}

type Example<'a> = (&'a [f64], f64);

fn drawn(table: &Table, count: usize, seed: u64) -> Vec<Example<'_>> {
    let mut places: Vec<usize> = (0..table.task.rows.len()).collect();
    places.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let rows = places.into_iter().take(count).map(|place| &table.task.rows[place]);
    rows.map(|row| (row.features.as_slice(), row.costs[0].log2())).collect()
}

fn losses(model: &str, examples: &[Example<'_>], test: &Table, seed: u64) -> Result<Vec<f64>> {
    let rows: Vec<&[f64]> = examples.iter().map(|(features, _)| *features).collect();
    let targets: Vec<f64> = examples.iter().map(|(_, target)| *target).collect();
    let model = fit(model, &test.task.features, &rows, &targets, seed)?;
    let tested: Vec<&[f64]> = test.task.rows.iter().map(|row| row.features.as_slice()).collect();
    let said = model.predict(&tested);
    Ok(said.iter().zip(&test.task.rows).map(|(a, row)| (a - row.costs[0].log2()).powi(2)).collect())
}

/// What must not be trained on.
struct Known {
    ids: BTreeSet<String>,
    families: BTreeSet<String>,
}

impl Known {
    fn of(test: &Table) -> Known {
        let of = |field: fn(&crate::Origin) -> &String| {
            test.origins.iter().map(field).filter(|text| !text.is_empty()).cloned().collect()
        };
        Known { ids: of(|origin| &origin.id), families: of(|origin| &origin.family) }
    }

    /// Programs of the base are not added once more; their families may be.
    fn add(&mut self, base: &Table) {
        let ids = base.origins.iter().map(|origin| origin.id.clone());
        self.ids.extend(ids.filter(|id| !id.is_empty()));
    }

    /// The measured rows that may be trained on, and how many may not.
    fn without(&self, test: &Table, table: &Table) -> Result<(Table, usize)> {
        test.same_labels(table)?;
        let (mut kept, _) = super::measured(table);
        let groups = test.task.groups();
        let keep: Vec<bool> = kept
            .origins
            .iter()
            .zip(&kept.task.rows)
            .map(|(origin, row)| {
                !self.ids.contains(&origin.id)
                    && !self.families.contains(&origin.family)
                    && !groups.contains(row.group.as_str())
            })
            .collect();
        let mut at = keep.iter();
        kept.task.rows.retain(|_| at.next().is_some_and(|keep| *keep));
        let mut at = keep.iter();
        kept.origins.retain(|_| at.next().is_some_and(|keep| *keep));
        Ok((kept, keep.iter().filter(|keep| !**keep).count()))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::table, *};
    use rand::Rng;

    /// Programs of `groups` groups named `prefix`, whose costs double with a second feature.
    fn programs(count: usize, groups: usize, prefix: &str, factor: f64, seed: u64) -> Table {
        let mut found = table(count, groups, &["cycles"], seed, |rng| {
            let (insts, deep) =
                (f64::from(rng.random_range(8..99)), rng.random_range(0.0..6.0_f64));
            (vec![insts, deep], vec![factor * insts * deep.floor().exp2()])
        });
        found.name = prefix.to_owned();
        for (at, row) in found.task.rows.iter_mut().enumerate() {
            row.group = format!("{prefix}{}", row.group);
            row.program = format!("{prefix}{}", row.program);
            found.origins[at].id = format!("{prefix}{at}");
        }
        found
    }

    fn options() -> ArmOptions {
        ArmOptions {
            base: programs(40, 4, "base", 1.0, 1),
            base_size: 30,
            test: programs(120, 8, "test", 1.0, 2),
            arms: vec![programs(200, 10, "mined", 1.0, 3), programs(200, 9, "cheap", 0.1, 4)],
            added: vec![100, 500],
            ceiling: None,
            curve: Vec::new(),
            draws: 3,
            seed: 0,
        }
    }

    #[test]
    fn good_programs_lower_the_error_and_cheap_ones_raise_it() {
        let found = arms(&options()).expect("it is a task");
        // No arm has 500.
        let names: Vec<(&str, usize)> =
            found.arms.iter().map(|arm| (arm.arm.as_str(), arm.added)).collect();
        assert_eq!(names, [("base", 0), ("mined", 100), ("cheap", 100)]);
        let change = |at: usize| found.arms[at].change.expect("it is an arm").interval;
        assert!(change(1)[1] < 0.0 && change(2)[0] > 0.0, "{:?}", found.arms);
        assert_eq!((found.test, found.groups, found.base, found.dropped), (120, 8, 30, 0));
        // What is not compared is named.
        let skipped: Vec<&str> = found.skipped.iter().map(|arm| arm.arm.as_str()).collect();
        assert_eq!((skipped, found.skipped[0].available), (vec!["mined", "cheap"], 200));
        // The two arms of 100 are held against each other.
        let [rival] = found.rivals.as_slice() else { panic!("{:?}", found.rivals) };
        assert_eq!((rival.arm.as_str(), rival.than.as_str(), rival.added), ("mined", "cheap", 100));
        assert!(rival.difference.interval[1] < 0.0, "{rival:?}");
        let both = found.arms[1].error.value - found.arms[2].error.value;
        assert!((rival.difference.value - both).abs() < 1e-9);
        let words: Vec<&str> = found.verdicts.iter().map(|verdict| verdict.word).collect();
        assert_eq!(
            words,
            ["helps", "harms", "better", "skipped", "skipped"],
            "{:?}",
            found.verdicts
        );
    }

    #[test]
    fn a_ceiling_says_what_an_arm_is_worth() {
        let ceiling = Some(programs(300, 10, "all", 1.0, 5));
        let found = arms(&ArmOptions { ceiling, curve: vec![25, 50, 900], ..options() });
        let found = found.expect("it is a task");
        let of_ceiling: Vec<usize> =
            found.arms.iter().filter(|arm| arm.arm == "all").map(|arm| arm.added).collect();
        // The curve ends with all of them; a size that there is not is no point of it.
        assert_eq!(of_ceiling, [25, 50, 100, 300]);
        let gap = |name: &str| {
            let arm = found.arms.iter().find(|arm| arm.arm == name && arm.added == 100);
            arm.and_then(|arm| arm.gap).expect("there is a gap")
        };
        let (mined, cheap) = (gap("mined"), gap("cheap"));
        assert!(mined.closed.interval[0] > 0.0 && mined.closed.value < 1.05, "{mined:?}");
        assert!((25.0..=300.0).contains(&mined.worth.value), "{mined:?}");
        assert!(cheap.closed.interval[1] < 0.0 && cheap.worth.value == 0.0, "{cheap:?}");
        let words: Vec<&str> = found.verdicts.iter().map(|verdict| verdict.word).collect();
        assert!(words.contains(&"closes"), "{words:?}");
        // All three are held against each other at 100, and the rest of the curve against nobody.
        assert_eq!(found.rivals.len(), 3, "{:?}", found.rivals);
        // No family is said: each program is one.
        assert_eq!(found.families, found.test);
    }

    #[test]
    fn what_is_tested_on_is_not_trained_on() {
        let mut leaking = options();
        leaking.arms[0].origins[0].id = leaking.test.origins[5].id.clone();
        leaking.test.origins[7].family = "f".into();
        leaking.arms[1].origins[3].family = "f".into();
        leaking.base.task.rows[2].group = leaking.test.task.rows[0].group.clone();
        // Nor are programs of the base added.
        leaking.arms[1].origins[9].id = leaking.base.origins[9].id.clone();
        let found = arms(&leaking).expect("it is a task");
        assert_eq!(found.dropped, 4);
        assert_eq!((found.arms[1].available, found.arms[2].available), (199, 198));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let mut few = options();
        few.test.task.rows.truncate(10);
        few.test.origins.truncate(10);
        assert!(arms(&few).is_err_and(|error| error.to_string().contains("40 test programs")));
        for (draws, added) in [(0, vec![10]), (2, vec![0]), (2, Vec::new())] {
            let none = ArmOptions { draws, added, ..options() };
            assert!(matches!(arms(&none), Err(Error::NothingCompared(_))));
        }
        let mut other = options();
        other.arms[0].labels.insert("llvm".into(), "20".into());
        other.test.labels.insert("llvm".into(), "19".into());
        assert!(matches!(arms(&other), Err(Error::OtherLabels { .. })));
        let mut none = options();
        none.base = none.test.clone();
        assert!(matches!(arms(&none), Err(Error::NoRows { .. })));
    }
}
