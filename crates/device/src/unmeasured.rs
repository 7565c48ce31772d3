//! Kernels that did not run as rows of the table that `label` makes of those that did.

use crate::{
    Error, Result, Vectors,
    kernel::{Benchmark, Interface, Step, interfaces},
    label::{described, raw},
    payload::{Job, Limits, Plan, Values},
    run,
};
use clang::Clang;
use rows::{CpuGpuRow, TaskVerdict, program_name};
use std::path::Path;

/// What GPUs of today allow; a kernel that takes much of one may be allowed less.
const GPU: Limits = Limits {
    group: 1024,
    items: [1024, 1024, 64],
    buffer_bytes: u64::MAX,
    memory_bytes: u64::MAX,
    constant_bytes: 1 << 16,
    local_bytes: 48 << 10,
    images: true,
    image_side: 16384,
};

/// What [`unmeasured`] came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unmeasured {
    /// A row per kernel, size and group, without costs and label.
    pub rows: Vec<CpuGpuRow>,
    /// Kernels without a row, each with why.
    pub left_out: Vec<(String, String)>,
}

/// Describe the kernels of `programs` (a data set, folder or file) at these sizes as [`Label`](crate::Label)
/// describes those that ran, and without a device: transfers and groups are those of the payload that a run
/// tries first. `groups` are sizes of groups; empty: the largest up to 256 that divides the size.
/// `vectors` are as for [`Label::new`](crate::Label::new).
///
/// # Errors
/// When the programs cannot be read or clang does not work.
pub fn unmeasured(
    programs: &Path,
    vectors: &Vectors,
    sizes: &[u64],
    groups: &[u64],
) -> Result<Unmeasured> {
    let clang = Clang::start(usize::MAX).map_err(|error| Error::Clang(error.to_string()))?;
    let (benchmarks, _, _) = run::benchmarks(programs)?;
    let groups: Vec<Option<u64>> = match groups {
        [] => vec![None],
        groups => groups.iter().copied().map(Some).collect(),
    };
    let mut found = Unmeasured::default();
    for benchmark in &benchmarks {
        let kernels = match interfaces(&clang, benchmark)? {
            Ok(kernels) => kernels,
            Err(detail) => {
                let why = format!("{}: {detail}", TaskVerdict::DoesNotCompile);
                found.left_out.push((benchmark.path.clone(), why));
                continue;
            }
        };
        for kernel in kernels {
            let Benchmark { package, path, id, original_name, .. } = benchmark;
            let known = if original_name.is_empty() { &kernel.name } else { original_name };
            let name = program_name(package, path, Some(known), id);
            for (size, group) in
                sizes.iter().flat_map(|size| groups.iter().map(move |g| (*size, *g)))
            {
                match row(benchmark, kernel.clone(), vectors, size, group) {
                    Ok(row) => found.rows.push(CpuGpuRow { program: name.clone(), ..row }),
                    Err(why) => found.left_out.push((format!("{name} at {size}"), why)),
                }
            }
        }
    }
    Ok(found)
}

/// What is known of a kernel at a size, or why it is not.
fn row(
    benchmark: &Benchmark,
    kernel: Interface,
    vectors: &Vectors,
    size: u64,
    group: Option<u64>,
) -> std::result::Result<CpuGpuRow, String> {
    let vector = vectors.get(&(benchmark.id.clone(), kernel.name.clone()));
    let vector = vector.ok_or_else(|| TaskVerdict::Undescribed.to_string())?;
    let job = Job {
        path: benchmark.path.clone(),
        steps: vec![Step::alone(kernel)],
        size,
        group,
        variant: 0,
        values: Values::default(),
        seed: 0,
    };
    let plan = Plan::new(&job, &benchmark.text, &[GPU])
        .map_err(|finding| format!("{}: {}", finding.outcome.name(), finding.detail))?;
    let row = described(&raw(vector), plan.transferred_bytes(), plan.ranges[0].group())
        .map_err(|why| why.to_string())?;
    let variant = match group {
        None => size.to_string(),
        Some(group) => format!("{size} in groups of {group}"),
    };
    Ok(CpuGpuRow { variant, group: benchmark.path.clone(), ..row })
}
