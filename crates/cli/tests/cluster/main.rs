//! Stages on a real cluster: a scheduler and executors on loopback, in namespaces of the trial's own. `make
//! test-cluster` builds the engine and runs them; without it they fail.
//!
//! Each trial is a trouble ([`TROUBLES`]), most of them with one of the stages that run on a cluster: the same bytes come
//! of it as of one machine, and nothing is left running or lying about. `STAMPMILL_KILLS` and `STAMPMILL_SEED` say how
//! many executors are killed, and when.

mod bad_input;
mod faults;
#[expect(dead_code, reason = "it serves other trials, too")]
#[path = "../crash/home.rs"]
mod home;
mod same;
#[expect(dead_code, reason = "it serves other trials, too")]
#[path = "../crash/stage.rs"]
mod stage;
mod up;

use stage::{STAGES, Stage};
use std::process::{Command, ExitCode, Stdio};
use trials::{Failed, Trial};

type Done = Result<String, String>;
type OfStage = fn(&Stage) -> Done;
type OfNone = fn() -> Done;

/// The stages that run on a cluster, by their names in the list of stages.
const ON_A_CLUSTER: [&str; 9] = [
    "prepare",
    "features",
    "run",
    "time",
    "ir-extract",
    "ir-stats",
    "edits-judge",
    "sample",
    "steer",
];

/// What is tried with every stage.
const EACH: [(&str, OfStage); 1] = [("same", same::same)];
/// What is tried with some, as it takes long.
const SOME: [(&str, &[&str], OfStage); 5] = [
    ("killed", &["features", "prepare", "time", "edits-judge"], faults::killed),
    ("full-disk", &["features"], faults::full_disk),
    ("stopped", &["features"], faults::stopped),
    ("cut", &["features"], faults::cut),
    ("no-scheduler", &["features"], faults::no_scheduler),
];
/// What is tried once.
const ONCE: [(&str, OfNone); 8] = [
    ("no-cluster", bad_input::no_cluster),
    ("token", bad_input::token),
    ("other-machine", bad_input::other_machine),
    ("outside", bad_input::outside),
    ("not-a-stage", bad_input::not_a_stage),
    ("half-written", bad_input::half_written),
    ("two-clients", bad_input::two_clients),
    ("query", same::query),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [inside, trouble, stage] = words.as_slice()
        && inside == "--inside"
    {
        return inside_main(trouble, stage);
    }
    let mut trials = Vec::new();
    let mut add = |trouble: &'static str, stage: &'static str| {
        let name = format!("cluster::{trouble}{}{stage}", if stage.is_empty() { "" } else { "::" });
        trials.push(Trial::new(name, move || isolated(trouble, stage)));
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

/// Run a trial in namespaces of its own and pass on what it says.
fn isolated(trouble: &str, stage: &str) -> Result<(), Failed> {
    let mut command = Command::new("unshare");
    if home::run_by("id -u").trim() != "0" {
        command.args(["--user", "--map-root-user"]);
    }
    if trouble == "cut" {
        command.arg("--net");
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = command
        .args(["--pid", "--fork", "--mount-proc", "--kill-child", "--"])
        // The shell is the first process and collects the dead.
        .args(["sh", "-c", "ip link set lo up 2>/dev/null; \"$@\"; status=$?; exit $status", "sh"])
        .arg(own)
        .args(["--inside", trouble, stage])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("unshare (util-linux) cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    print!("{said}");
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{trouble} {stage}: {}: {said}", output.status).into()),
    }
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
    match done {
        Ok(line) => {
            println!("{trouble} {stage}: {line}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            println!("{trouble} {stage}: {problem}");
            ExitCode::from(3)
        }
    }
}
