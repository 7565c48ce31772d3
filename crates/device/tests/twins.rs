//! Two devices of one name are two. The environment of this process changes: hence one test, in a program of its own.

use stampmill_device::{Benchmark, Options, Runner};
use std::{collections::BTreeSet, sync::Arc, time::Duration};

#[test]
fn devices_of_one_name_have_rows_of_their_own() {
    // SAFETY: this program has one test, whose other threads are not yet running.
    unsafe { std::env::set_var("POCL_DEVICES", "basic basic") };
    let options = |devices: &str| Options {
        devices: devices.to_owned(),
        global_sizes: vec![128],
        budget: Duration::ZERO,
        ..Options::default()
    };
    let runner =
        |devices: &str| Runner::new(options(devices), &Arc::default()).expect("PoCL's devices");
    let both = runner("basic");
    let names = both.names();
    let [one, other] = names.as_slice() else { panic!("{names:?}") };
    assert!(one.ends_with(" #1") && other.ends_with(" #2"), "{names:?}");
    let kernel = "kernel void A(global float* a) { a[get_global_id(0)] += 1.0f; }";
    let rows = both.rows(&[Benchmark::of(kernel)]).expect("rows");
    let outcomes: Vec<&str> = rows.iter().map(|row| row.outcome.as_str()).collect();
    assert_eq!(outcomes, ["pass", "pass"], "{rows:?}");
    let devices: BTreeSet<&str> = rows.iter().map(|row| row.device.as_str()).collect();
    assert_eq!(devices, BTreeSet::from([one.as_str(), other.as_str()]));
    assert_eq!(runner(other).names(), [other.as_str()]);
}
