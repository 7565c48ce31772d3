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
mod kill;
mod parts;
mod stage;

use stage::{STAGES, Stage};
use std::process::{Command, ExitCode, Stdio};
use trials::{Failed, Trial};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [inside, stage, trouble] = words.as_slice()
        && inside == "--inside"
    {
        return inside_main(stage, trouble);
    }
    let mut trials = Vec::new();
    for stage in STAGES {
        let parts = (!parts::WHOLE.contains(&stage.name)).then_some("parts");
        let troubles = ["stopped"]
            .into_iter()
            .chain(parts)
            .chain(fault::FAULTS.iter().map(|fault| fault.name));
        for trouble in troubles {
            let name = format!("{}::{trouble}", stage.name);
            trials.push(Trial::new(name, move || isolated(stage, trouble)));
        }
    }
    trials::run(trials)
}

/// Run a trial in namespaces of its own and pass on what it says.
fn isolated(stage: &Stage, trouble: &str) -> Result<(), Failed> {
    let mut command = Command::new("unshare");
    if home::run_by("id -u").trim() != "0" {
        command.args(["--user", "--map-root-user"]);
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = command
        .args(["--pid", "--fork", "--mount-proc", "--kill-child", "--"])
        // The shell is the first process and collects the dead.
        .args(["sh", "-c", "\"$@\"; status=$?; exit $status", "sh"])
        .arg(own)
        .args(["--inside", stage.name, trouble])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("unshare (util-linux) cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    print!("{said}");
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{} {trouble}: {}: {said}", stage.name, output.status).into()),
    }
}

fn inside_main(stage: &str, trouble: &str) -> ExitCode {
    let done = match (STAGES.iter().find(|one| one.name == stage), fault::named(trouble)) {
        (None, _) => Err(format!("no stage {stage}")),
        (Some(stage), Some(fault)) => fault::suffer(stage, fault),
        (Some(stage), None) if trouble == "parts" => parts::parts(stage),
        (Some(stage), None) => kill::kills(stage),
    };
    match done {
        Ok(line) => {
            println!("{stage} {trouble}: {line}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            println!("{stage} {trouble}: {problem}");
            ExitCode::from(3)
        }
    }
}
