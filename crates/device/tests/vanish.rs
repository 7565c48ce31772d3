//! A device that is gone by the time it is needed is the machine's fault: no kernel has a row that says so. The environment of
//! this process changes while it runs: hence one test, in a program of its own.

use dataset::{
    Progress,
    stage::{Context, run},
};
use stampmill_device::{Error, KernelJudge, KernelPair, Options, Outcome, Run, Runner};
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

/// Why a run makes no data set.
fn refused(out: &Path, devices: &str, meanwhile: impl Fn() + Sync) -> String {
    let input = out.with_extension("cl");
    let progress = &AtTheStart(meanwhile);
    let context = Context { jobs: 1, progress, ..Context::new(out) };
    std::fs::write(&input, GOOD).expect("written");
    let options =
        Options { devices: devices.to_owned(), global_sizes: vec![128], ..Options::new(&input) };
    let stage = Run::new(options, &context.cancel).expect("a device");
    let error = run(&stage, &context).map(|_| ()).expect_err("there is no device");
    assert!(!out.exists(), "{error}");
    error.to_string()
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
    let become_another = || set("POCL_DEVICES", Path::new("pthread"));
    let why = refused(&folder.path().join("other"), "basic", become_another);
    assert!(why.contains("cannot open the device `basic"), "{why}");
    assert!(why.contains("in the place of"), "{why}");

    set("POCL_DEVICES", Path::new("basic"));
    let leave = || std::fs::remove_file(&driver).expect("it was there");
    let why = refused(&folder.path().join("gone"), "basic", leave);
    assert!(why.contains("cannot open the device `basic"), "{why}");

    // Nor is it an answer to whether a kernel passes, or a verdict on a slow kernel.
    std::fs::write(&driver, &library).expect("written");
    let options = || Options {
        devices: "basic".to_owned(),
        global_sizes: vec![128],
        ..Options::new(folder.path())
    };
    let runner = || Runner::new(options(), &Arc::default()).expect("a device");
    assert_eq!(runner().check(GOOD).expect("told"), Outcome::Pass);
    let gone = runner();
    let judge = KernelJudge::new(options(), 1, &Arc::default()).expect("a device");
    std::fs::remove_file(&driver).expect("it was there");
    let told = gone.check(GOOD);
    assert!(matches!(told, Err(Error::Unopened { .. })), "{told:?}");
    let pair = KernelPair {
        src_id: "slow".to_owned(),
        tgt_id: "fast".to_owned(),
        src_code: GOOD.to_owned(),
        tgt_code: GOOD.replace("+=", "-= -"),
    };
    let told = judge.judge(&pair);
    assert!(matches!(told, Err(Error::Unopened { .. })), "{told:?}");
}
