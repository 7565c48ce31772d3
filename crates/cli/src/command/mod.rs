//! The commands, one file each.

mod devices;
mod doctor;
mod edits;
mod evaluate;
mod export;
mod features;
mod fsck;
mod heuristic;
mod ir;
mod label;
mod learn;
mod merge;
mod mine;
mod prepare;
mod project;
mod query;
mod report;
mod run;
mod sample;
mod serve;
mod show;
mod steer;
mod time;
mod train;
mod tune;
mod worker;

use crate::Global;
use std::process::ExitCode;

/// What to do.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    Doctor(doctor::Doctor),
    Mine(mine::Mine),
    Prepare(prepare::Prepare),
    Merge(merge::Merge),
    Show(show::Show),
    Query(query::Query),
    Fsck(fsck::Fsck),
    Export(export::Export),
    Features(features::Features),
    Project(project::Project),
    Heuristic(heuristic::Heuristic),
    Devices(devices::Devices),
    Run(run::Run),
    Train(train::Train),
    Sample(sample::Sample),
    Serve(serve::Serve),
    Evaluate(evaluate::Evaluate),
    Label(label::Label),
    Edits(Box<edits::Edits>),
    Time(Box<time::Time>),
    Steer(Box<steer::Steer>),
    Learn(Box<learn::Learn>),
    Ir(ir::Ir),
    Report(report::Report),
    #[command(hide = true)]
    Worker(worker::Worker),
}

impl Command {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        match self {
            Command::Doctor(command) => command.run(global),
            Command::Mine(command) => command.run(global),
            Command::Prepare(command) => command.run(global),
            Command::Merge(command) => command.run(global),
            Command::Show(command) => command.run(global),
            Command::Query(command) => command.run(global),
            Command::Fsck(command) => command.run(global),
            Command::Export(command) => command.run(global),
            Command::Features(command) => command.run(global),
            Command::Project(command) => command.run(global),
            Command::Heuristic(command) => command.run(global),
            Command::Devices(command) => command.run(global),
            Command::Run(command) => command.run(global),
            Command::Train(command) => command.run(global),
            Command::Sample(command) => command.run(global),
            Command::Serve(command) => command.run(global),
            Command::Evaluate(command) => command.run(global),
            Command::Label(command) => command.run(global),
            Command::Edits(command) => command.run(global),
            Command::Time(command) => command.run(global),
            Command::Steer(command) => command.run(global),
            Command::Learn(command) => command.run(global),
            Command::Ir(command) => command.run(global),
            Command::Report(command) => command.run(global),
            Command::Worker(command) => command.run(),
        }
    }
}
