//! The published measurements.

use crate::{
    Error, Result, Task,
    table::Table,
    task::{Features, Mapping, read},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The suites of Table 1, in its order.
pub(super) const SUITES: [&str; 7] =
    ["AMD", "NPB", "NVIDIA", "Parboil", "Polybench", "Rodinia", "SHOC"];

/// Grewe's ratios as the files have them, rounded.
const ROUNDED: [&str; 4] =
    ["F1:transfer/(comp+mem)", "F2:coalesced/mem", "F3:(localmem/mem)*avgws", "F4:comp/mem"];

/// Measurements of one platform. Every task holds the rows of its file in the file's order.
pub(super) struct Platform {
    /// Kernels of the suites with the ratios rounded as published.
    pub(super) rounded: Task,
    /// The same with the ratios computed from the raw columns.
    pub(super) benchmarks: Task,
    /// The same with the eleven features of the extended model.
    pub(super) benchmarks_extended: Task,
    /// CLgen's kernels, garbage included as in the published code.
    pub(super) synthetic: Task,
    /// The same without garbage.
    pub(super) synthetic_clean: Task,
    /// All with the extended features.
    pub(super) synthetic_extended: Task,
    /// By row of the benchmarks: the oracle's speedup over the other device, and what the other
    /// device is slower; both rounded to two digits, as the published code uses them.
    pub(super) speedup: Vec<f64>,
    pub(super) penalty: Vec<f64>,
    /// Rows per verdict by file.
    pub(super) verdicts: BTreeMap<String, BTreeMap<String, u64>>,
}

/// The table of that name, or the compressed one where only that is there.
pub(super) fn table_at(folder: &Path, name: &str) -> PathBuf {
    let (plain, compressed) = (folder.join(name), folder.join(format!("{name}.gz")));
    if !plain.exists() && compressed.exists() { compressed } else { plain }
}

impl Platform {
    pub(super) fn read(folder: &Path, name: &str) -> Result<Platform> {
        let path = table_at(folder, &format!("{name}-benchmarks.csv"));
        let generated = table_at(folder, &format!("{name}-clgen.csv"));
        let mapping = |features| Mapping::cgo17(features);
        let rounded =
            read(&path, &mapping(Features::Columns(ROUNDED.map(str::to_owned).to_vec())), true)?;
        let benchmarks = read(&path, &mapping(Features::Grewe), true)?;
        let synthetic = read(&generated, &mapping(Features::Grewe), true)?;
        let table = Table::read(&path)?;
        let column = |name: &str| -> Result<Vec<f64>> {
            let column = table.column(name)?;
            Ok((0..table.rows()).map(|row| table.number(row, column)).collect())
        };
        let platform = Platform {
            speedup: column("speedup")?,
            penalty: column("penalty")?,
            benchmarks_extended: read(&path, &mapping(Features::Extended), true)?.task,
            synthetic_extended: read(&generated, &mapping(Features::Extended), true)?.task,
            synthetic_clean: read(&generated, &mapping(Features::Grewe), false)?.task,
            verdicts: BTreeMap::from([
                (file_name(&path), benchmarks.verdicts),
                (file_name(&generated), synthetic.verdicts),
            ]),
            rounded: rounded.task,
            benchmarks: benchmarks.task,
            synthetic: synthetic.task,
        };
        // Scores of rows by place need every row in every task.
        if platform.rounded.rows.len() != platform.speedup.len()
            || platform.benchmarks.rows.len() != platform.speedup.len()
        {
            return Err(Error::Table {
                path,
                reason: format!(
                    "{} of {} rows are unusable; these are not the published data",
                    platform.speedup.len() - platform.benchmarks.rows.len(),
                    platform.speedup.len()
                ),
            });
        }
        Ok(platform)
    }
}

/// The benchmarks of a platform, `amd` or `nvidia`, with Grewe's four ratios, from the folder of the published data; their programs are called
/// `SUITE-VERSION-PROGRAM-KERNEL`, and a group is a program of a suite.
///
/// # Errors
/// When the file is not there or lacks a column.
pub fn published_benchmarks(folder: &Path, platform: &str) -> Result<Task> {
    let path = table_at(folder, &format!("{platform}-benchmarks.csv"));
    Ok(read(&path, &Mapping::cgo17(Features::Grewe), true)?.task)
}

/// The suite that a benchmark `SUITE-VERSION-PROGRAM-KERNEL` belongs to, as Table 1 spells it.
pub(super) fn suite(program: &str) -> Option<&'static str> {
    let name = program.split('-').next()?;
    SUITES.into_iter().find(|suite| suite.eq_ignore_ascii_case(name))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".gz").unwrap_or(&name).to_owned()
}
