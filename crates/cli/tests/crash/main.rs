//! Crash safety and faults of the machine, stage by stage: whatever ends or hinders a command, the same
//! command afterwards gives the rows of one that nothing hindered, and nothing of it is left running or
//! lying about.
//!
//! Each trial is one stage ([`stage::STAGES`]) with one trouble: `stopped` (SIGKILL, SIGINT and SIGTERM at
//! drawn moments, `STAMPMILL_KILLS` of the first, `STAMPMILL_SEED` draws them), one of
//! [`fault::FAULTS`], or `parts`: no trouble, but the job in three parts. A trial runs in process and mount namespaces of its own: every process that is seen
//! in there besides the trial is one of the command's.
//!
//! The binary runs itself: without `--inside` it is the list of trials, with it one trial.

mod fault;
mod home;
mod inside;
mod kill;
mod parts;
mod stage;

use stage::STAGES;
use std::process::ExitCode;
use trials::Trial;

fn main() -> ExitCode {
    if let Some((stage, trouble)) = inside::asked() {
        return inside_main(&stage, &trouble);
    }
    let shared = tempfile::tempdir().expect("a folder");
    let folder = shared.path().to_owned();
    let mut trials = Vec::new();
    // Trials side by side are of different stages: the first of a stage runs it for all.
    let troubles = fault::FAULTS.iter().map(|fault| fault.name);
    for trouble in ["stopped", "parts"].into_iter().chain(troubles) {
        for stage in STAGES {
            if trouble == "parts" && parts::WHOLE.contains(&stage.name) {
                continue;
            }
            let name = format!("{}::{trouble}", stage.name);
            let folder = folder.clone();
            trials.push(Trial::new(name, move || {
                inside::isolated(stage.name, trouble, &[], Some(&folder))
            }));
        }
    }
    trials::run(trials)
}

fn inside_main(stage: &str, trouble: &str) -> ExitCode {
    let done = match (STAGES.iter().find(|one| one.name == stage), fault::named(trouble)) {
        (None, _) => Err(format!("no stage {stage}")),
        (Some(stage), Some(fault)) => fault::suffer(stage, fault),
        (Some(stage), None) if trouble == "parts" => parts::parts(stage),
        (Some(stage), None) => kill::kills(stage),
    };
    inside::said(stage, trouble, done)
}
