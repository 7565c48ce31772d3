//! Stages on a real cluster: a scheduler and executors on loopback, in namespaces of the trial's own. `make
//! test-cluster` builds the engine and runs them; without it they fail.
//!
//! Each trial is a trouble ([`TROUBLES`]), most of them with one of the stages that run on a cluster: the same bytes come
//! of it as of one machine, and nothing is left running or lying about. `STAMPMILL_KILLS` and `STAMPMILL_SEED` say how
//! many executors are killed, and when.

mod bad_input;
mod bucket;
mod faults;
#[expect(dead_code, reason = "it serves other trials, too")]
#[path = "../crash/home.rs"]
mod home;
#[path = "../crash/inside.rs"]
mod inside;
mod objects;
mod same;
#[expect(dead_code, reason = "it serves other trials, too")]
#[path = "../crash/stage.rs"]
mod stage;
mod up;
mod whole;

use stage::{STAGES, Stage};
use std::process::ExitCode;
use trials::Trial;

type Done = Result<String, String>;
type OfStage = fn(&Stage) -> Done;
type OfNone = fn() -> Done;

/// The stages that run on a cluster, by their names in the list of stages.
const ON_A_CLUSTER: [&str; 10] = [
    "prepare",
    "features",
    "run",
    "time",
    "ir-extract",
    "ir-dedup",
    "ir-stats",
    "edits-judge",
    "sample",
    "steer",
];

/// What is tried with every stage.
const EACH: [(&str, OfStage); 2] = [("same", same::same), ("objects-cluster", objects::cluster)];
/// What is tried with some, as it takes long.
const SOME: [(&str, &[&str], OfStage); 5] = [
    ("killed", &["features", "prepare", "ir-dedup", "time", "edits-judge"], faults::killed),
    ("full-disk", &["features"], faults::full_disk),
    ("stopped", &["features"], faults::stopped),
    ("cut", &["features"], faults::cut),
    ("no-scheduler", &["features"], faults::no_scheduler),
];
/// What is tried once.
const ONCE: [(&str, OfNone); 21] = [
    ("query-killed", faults::query_killed),
    ("no-executor-left", faults::no_executor_left),
    ("no-cluster", bad_input::no_cluster),
    ("token", bad_input::token),
    ("other-machine", bad_input::other_machine),
    ("outside", bad_input::outside),
    ("not-a-stage", bad_input::not_a_stage),
    ("half-written", bad_input::half_written),
    ("two-clients", bad_input::two_clients),
    ("query", same::query),
    ("keys", whole::keys),
    ("families", whole::families),
    ("modules", whole::modules),
    ("objects-alone", objects::alone),
    ("objects-no-common-folder", objects::no_common_folder),
    ("objects-query", objects::query),
    ("objects-keys", whole::by_url),
    ("objects-troubles", objects::troubles),
    ("objects-strangers", objects::strangers),
    ("objects-damaged", objects::damaged),
    ("objects-two-at-once", objects::two_at_once),
];

fn main() -> ExitCode {
    if let Some((trouble, stage)) = inside::asked() {
        return inside_main(&trouble, &stage);
    }
    let mut trials = Vec::new();
    let mut add = |trouble: &'static str, stage: &'static str| {
        let name = format!("cluster::{trouble}{}{stage}", if stage.is_empty() { "" } else { "::" });
        let network: &[&str] = if trouble == "cut" { &["--net"] } else { &[] };
        trials.push(Trial::new(name, move || inside::isolated(trouble, stage, network, None)));
    };
    for (trouble, _) in ONCE {
        add(trouble, "");
    }
    for (trouble, _) in EACH {
        ON_A_CLUSTER.iter().for_each(|stage| add(trouble, stage));
    }
    for (trouble, stages, _) in SOME {
        stages.iter().for_each(|stage| add(trouble, stage));
    }
    trials::run(trials)
}

fn inside_main(trouble: &str, stage: &str) -> ExitCode {
    let found = STAGES.iter().find(|one| one.name == stage);
    let once = ONCE.iter().find(|(name, _)| *name == trouble).map(|(_, run)| run());
    let done = once.or_else(|| {
        let each = EACH.iter().map(|(name, run)| (*name, *run));
        let some = SOME.iter().map(|(name, _, run)| (*name, *run));
        let (_, run) = each.chain(some).find(|(name, _)| *name == trouble)?;
        Some(run(found?))
    });
    let done =
        done.unwrap_or_else(|| Err("no such trial".to_owned())).and_then(
            |line| match home::orphans().as_slice() {
                [] => Ok(format!("{line}; 0 orphans")),
                orphans => Err(format!("{line}; still running: {}", orphans.join(", "))),
            },
        );
    inside::said(trouble, stage, done)
}
