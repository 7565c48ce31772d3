//! Kernels described before anything runs, beside what a run on an H200 measured of them.

use dataset::{Dataset, Row, content_hash};
use rows::{CpuGpuRow, KernelProgram};
use stampmill_device::{Vectors, unmeasured};
use std::{collections::BTreeMap, path::Path};

fn rows<T: Row + 'static>(folder: &Path) -> Vec<T> {
    let dataset = Dataset::open(folder).expect("a data set that ships");
    dataset.rows().expect("rows").collect::<dataset::Result<_>>().expect("whole")
}

#[test]
fn transfers_and_groups_are_mostly_those_that_a_run_has() {
    let folder = Path::new("../../datasets/device-mapping-h200");
    let vector = || [("comp", 1.0), ("mem", 1.0)].map(|(name, value)| (name.to_owned(), value));
    let vectors: Vectors = rows::<KernelProgram>(&folder.join("kernels"))
        .into_iter()
        .map(|row| ((content_hash(row.text.as_bytes()), row.name), vector().into()))
        .collect();
    let sizes = [8, 10, 12, 14, 16, 18].map(|exponent| 1 << exponent);
    let found = unmeasured(&folder.join("kernels"), &vectors, &sizes, &[]).expect("described");
    // A row of a run has the kernel's name in the data set, and ours that in its own file; both end with its identity.
    let key = |row: &CpuGpuRow| {
        let (_, id) = row.program.rsplit_once('@').expect("a name ends with an identity");
        (id.to_owned(), row.variant.clone())
    };
    let known: BTreeMap<_, _> =
        found.rows.iter().map(|row| (key(row), (row.transfer, row.wgsize))).collect();
    let measured = rows::<CpuGpuRow>(&folder.join("task"));
    let of = |row: &CpuGpuRow| known.get(&key(row)).copied();
    let described = measured.iter().filter(|row| of(row).is_some()).count();
    let is_equal = |row: &&CpuGpuRow| of(row) == Some((row.transfer, row.wgsize));
    let equal = measured.iter().filter(is_equal).count();
    // The others ran with other arguments than those that are tried first, or in smaller groups.
    assert_eq!((measured.len(), described, equal), (4618, 4618, 3828));
}
