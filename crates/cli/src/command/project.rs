//! `stampmill project`: maps and coverage of a feature space.

use super::features::extractor;
use crate::{Global, destination, output, progress::Bar};
use anyhow::Context;
use features::{CELLS, Points, ProjectReport, project, space};
use std::{path::PathBuf, process::ExitCode};

/// Draw data sets on a 2-D map of a feature space (PCA) and report how much of it each covers
#[derive(clap::Args, Debug)]
#[command(mut_arg("out", destination::optional("A folder for the pictures (map.svg, map.png)")))]
#[command(after_help = help!("project"))]
pub(crate) struct Project {
    /// Data sets of vectors or programs, or JSON lines with vectors; NAME is shown in the legend
    #[arg(value_name = "NAME=DATASET", required = true)]
    sets: Vec<String>,
    /// The feature space
    #[arg(long, default_value = "instcount")]
    space: String,
    /// Points to match, drawn separately
    #[arg(long, value_name = "DATASET")]
    targets: Option<PathBuf>,
    /// Cells of the map along each axis
    #[arg(long, default_value_t = CELLS)]
    cells: usize,
    #[command(flatten)]
    output: Option<destination::Output>,
}

impl Project {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if let Some(destination::Output { out: folder, force: false }) = &self.output
            && folder.exists()
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
        if let Some(destination::Output { out: folder, .. }) = &self.output {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
            projection.draw(&folder.join("map.svg"))?;
            projection.draw(&folder.join("map.png"))?;
        }
        let report = projection.report();
        output::report(global, report, || {
            print(report)?;
            if let Some(destination::Output { out: folder, .. }) = &self.output {
                output::line(&format!("{0}/map.svg and {0}/map.png", folder.display()))?;
            }
            Ok(())
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print(report: &ProjectReport) -> anyhow::Result<()> {
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
    let header =
        ["set", "vectors", "distinct", "cells", "hull area", "targets matched", "without vector"];
    output::print_table(&header, rows)?;
    let [first, second] = report.explained_variance;
    output::line(&format!(
        "{}: the two axes explain {:.1} % and {:.1} % of the variance",
        report.space,
        100.0 * first,
        100.0 * second
    ))
}
