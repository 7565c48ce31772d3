//! The commands, one file each.

mod cluster;
mod completions;
mod devices;
pub(crate) mod doctor;
pub(crate) mod edits;
mod evaluate;
mod export;
pub(crate) mod features;
mod fetch;
mod fsck;
mod heuristic;
mod import;
mod ir;
mod label;
mod learn;
mod man;
mod merge;
mod mine;
mod opt;
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

/// An enum of commands, each in the module of its name, and how one of them runs.
macro_rules! commands {
    ($(#[$of:meta])* $name:ident { $($(#[$meta:meta])* $module:ident::$command:ident,)* }) => {
        $(#[$of])*
        #[derive(clap::Subcommand, Debug)]
        pub(crate) enum $name {
            $($(#[$meta])* $command(Box<$module::$command>),)*
        }

        impl $name {
            pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
                match self {
                    $($name::$command(command) => command.run(global),)*
                }
            }
        }
    };
}
use commands;

commands! {
    /// What to do.
    Command {
        doctor::Doctor,
        mine::Mine,
        fetch::Fetch,
        prepare::Prepare,
        merge::Merge,
        show::Show,
        query::Query,
        fsck::Fsck,
        export::Export,
        import::Import,
        features::Features,
        project::Project,
        heuristic::Heuristic,
        devices::Devices,
        run::Run,
        train::Train,
        sample::Sample,
        serve::Serve,
        evaluate::Evaluate,
        label::Label,
        opt::Opt,
        edits::Edits,
        time::Time,
        steer::Steer,
        learn::Learn,
        ir::Ir,
        report::Report,
        cluster::Cluster,
        completions::Completions,
        man::Man,
        #[command(hide = true)]
        worker::Worker,
    }
}
