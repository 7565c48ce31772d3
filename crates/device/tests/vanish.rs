//! A device that is gone by the time it is needed costs its rows. The environment of this process
//! changes while it runs: hence one test, in a program of its own.

use dataset::{
    Dataset, Progress,
    stage::{Context, run},
};
use stampmill_device::{Error, Options, Outcome, Run, RunRow, Runner};
use std::{path::Path, sync::Arc};

const GOOD: &str = "kernel void A(global float* a) { a[get_global_id(0)] += 1.0f; }";

/// Does something when the run begins: the devices are listed by then and not yet opened.
struct AtTheStart<F>(F);

impl<F: Fn() + Sync> Progress for AtTheStart<F> {
    fn begin(&self, _: &str, _: u64) {
        self.0();
    }

    fn advance(&self, _: u64) {}
    fn message(&self, _: &str) {}
}

fn set(variable: &str, value: &Path) {
    // SAFETY: this program has one test, whose other threads are not yet or no longer running.
    unsafe { std::env::set_var(variable, value) };
}

fn rows(folder: &Path, devices: &str, meanwhile: impl Fn() + Sync) -> Vec<RunRow> {
    let input = folder.join("a.cl");
    let progress = &AtTheStart(meanwhile);
    let context = Context { jobs: 1, force: true, progress, ..Context::new(folder.join("runs")) };
    std::fs::write(&input, GOOD).expect("written");
    let options =
        Options { devices: devices.to_owned(), global_sizes: vec![128], ..Options::new(&input) };
    let stage = Run::new(options, &context.cancel).expect("a device");
    run(&stage, &context).expect("a run");
    let dataset = Dataset::open(&context.out).expect("a data set");
    dataset.rows().expect("of runs").collect::<Result<_, _>>().expect("readable")
}

#[test]
fn a_device_that_disappears_or_becomes_another_is_named() {
    let library = std::fs::read_to_string("/etc/OpenCL/vendors/pocl.icd");
    let library = library.expect("scripts/setup.sh installs PoCL");
    let folder = tempfile::tempdir().expect("a folder");
    let vendors = folder.path().join("vendors");
    let driver = vendors.join("pocl.icd");
    std::fs::create_dir(&vendors).expect("a folder");
    std::fs::write(&driver, &library).expect("written");
    set("OCL_ICD_VENDORS", &vendors);

    set("POCL_DEVICES", Path::new("basic pthread"));
    let found = rows(folder.path(), "basic", || set("POCL_DEVICES", Path::new("pthread")));
    assert_eq!((&*found[0].outcome, &*found[0].about), ("out-of-resources", "us"));
    assert!(found[0].detail.contains("in the place of"), "{}", found[0].detail);

    set("POCL_DEVICES", Path::new("basic"));
    let leave = || std::fs::remove_file(&driver).expect("it was there");
    let found = rows(folder.path(), "basic", leave);
    assert_eq!((&*found[0].outcome, &*found[0].about), ("out-of-resources", "us"));
    assert!(found[0].detail.contains("the device cannot be used"), "{}", found[0].detail);

    // Where rows are not wanted but whether a kernel passes, that is no answer.
    std::fs::write(&driver, &library).expect("written");
    let options = || Options {
        devices: "basic".to_owned(),
        global_sizes: vec![128],
        ..Options::new(folder.path())
    };
    let runner = || Runner::new(options(), &Arc::default()).expect("a device");
    assert_eq!(runner().check(GOOD).expect("told"), Outcome::Pass);
    let gone = runner();
    std::fs::remove_file(&driver).expect("it was there");
    let told = gone.check(GOOD);
    assert!(matches!(told, Err(Error::Device(_))), "{told:?}");
}
