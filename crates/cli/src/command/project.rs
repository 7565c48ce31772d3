//! `stampmill project`: maps and coverage of a feature space.

use super::features::extractor;
use crate::{Global, output, progress::Bar};
use anyhow::Context;
use features::{CELLS, Points, project, space};
use std::{path::PathBuf, process::ExitCode};

/// Draw several data sets on one map of a feature space and say how much of it each covers
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill project vectors --space instcount --out map\n  \
    stampmill project mined=vectors suites=suites.jsonl --space autophase --out map\n  \
    stampmill project mined=kernels --targets suites.jsonl --space grewe --json\n\n\
The map is the plane of the first two principal components of all vectors together. With --targets,\n\
the report counts how many of them are matched exactly (figure 9 of the CLgen paper).")]
pub(crate) struct Project {
    /// Vectors, programs, or JSON lines with vectors; NAME=PATH gives the legend's name
    #[arg(value_name = "NAME=DATASET", required = true)]
    sets: Vec<String>,
    /// The feature space
    #[arg(long, default_value = "instcount")]
    space: String,
    /// Points to be matched, drawn apart
    #[arg(long, value_name = "DATASET")]
    targets: Option<PathBuf>,
    /// Cells of the map along each axis
    #[arg(long, default_value_t = CELLS)]
    cells: usize,
    /// A folder for the pictures (map.svg, map.png)
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
}

impl Project {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if let Some(folder) = &self.out
            && folder.exists()
            && !self.force
        {
            return Err(dataset::Error::Exists(folder.clone()).into());
        }
        let space = space(&self.space)?;
        let extractor = extractor(vec![space], 1, global)?;
        let bar = Bar::new(global);
        let mut sets = Vec::new();
        for set in &self.sets {
            let (name, path) = match set.split_once('=') {
                Some((name, path)) => (name.to_owned(), PathBuf::from(path)),
                None => {
                    let path = PathBuf::from(set);
                    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    (name, path)
                }
            };
            sets.push(Points::load(&name, &path, space, &extractor, &bar)?);
        }
        let targets = match &self.targets {
            Some(path) => Some(Points::load("targets", path, space, &extractor, &bar)?),
            None => None,
        };
        drop(bar);
        let projection = project(space, &sets, targets.as_ref(), self.cells)?;
        if let Some(folder) = &self.out {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
            projection.draw(&folder.join("map.svg"))?;
            projection.draw(&folder.join("map.png"))?;
        }
        let report = projection.report();
        if global.json {
            output::json(report)?;
            return Ok(ExitCode::SUCCESS);
        }
        let rows = report.sets.iter().map(|set| {
            vec![
                set.name.clone(),
                output::count(set.vectors as u64),
                output::count(set.distinct as u64),
                output::percent(set.cells as u64, report.cells_in_all as u64),
                format!("{:.2}", set.hull_area),
                match report.targets {
                    0 => "no --targets".to_owned(),
                    targets => format!("{} of {targets}", set.targets_matched),
                },
                output::count(set.without as u64),
            ]
        });
        let header = [
            "set",
            "vectors",
            "distinct",
            "cells",
            "hull area",
            "targets matched",
            "without vector",
        ];
        output::line(&output::table(&header, rows).to_string())?;
        let [first, second] = report.explained_variance;
        output::line(&format!(
            "{}: the two axes explain {:.1} % and {:.1} % of the variance",
            report.space,
            100.0 * first,
            100.0 * second
        ))?;
        if let Some(folder) = &self.out {
            output::line(&format!("{0}/map.svg and {0}/map.png", folder.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
