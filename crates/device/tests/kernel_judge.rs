//! Candidates for kernels judged in memory, on a real device: PoCL's.

use rows::{KernelEditRow, KernelEditVerdict};
use stampmill_device::{Error, KernelJudge, KernelPair, Options};
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

const SLOW: &str = "kernel void powers(global const float* x, global float* y) {
    int i = get_global_id(0); float s = 0.0f, p = 1.0f;
    for (int k = 0; k < 32; k++) { s += p; p *= x[i]; } y[i] = s; }";
const UNROLLED: &str = "kernel void twice(global const float* a, global float* b) {
    int i = get_global_id(0); float v = a[i], s = 0.0f, p = 1.0f;
    for (int k = 0; k < 16; k++) { s += p; p *= v; s += p; p *= v; } b[i] = s; }";
const FEWER: &str = "kernel void powers(global const float* x, global float* y) {
    int i = get_global_id(0); float s = 0.0f, p = 1.0f;
    for (int k = 0; k < 8; k++) { s += p; p *= x[i]; } y[i] = s; }";
const OTHER: &str =
    "kernel void powers(global const float* x, global float* y, int n) { y[n] = x[n]; }";

/// On PoCL's device at two sizes.
fn judge(stop: &Arc<AtomicBool>) -> KernelJudge {
    let mut devices = stampmill_device::devices().expect("devices can be listed").into_iter();
    let found = devices.find(|device| device.platform == "Portable Computing Language");
    let options = Options {
        devices: found.expect("scripts/setup.sh installs PoCL").name,
        global_sizes: vec![128, 1024],
        budget: Duration::from_millis(2),
        ..Options::default()
    };
    KernelJudge::new(options, 2, stop).expect("a judge")
}

fn pair(before: &str, after: &str) -> KernelPair {
    KernelPair {
        src_id: "slow".to_owned(),
        tgt_id: "candidate".to_owned(),
        src_code: before.to_owned(),
        tgt_code: after.to_owned(),
    }
}

fn verdicts(rows: &[KernelEditRow]) -> Vec<&str> {
    rows.iter().map(|row| row.verdict.as_str()).collect()
}

#[test]
fn candidates_are_judged_one_at_a_time_however_often() {
    let judge = judge(&Arc::default());
    let is = |after: &str, wanted: KernelEditVerdict| {
        let rows = judge.judge(&pair(SLOW, after)).expect("rows");
        assert_eq!(verdicts(&rows), [wanted.name(); 2], "{rows:?}");
        rows
    };
    for _ in 0..2 {
        for row in is(UNROLLED, KernelEditVerdict::Accepted) {
            assert!(row.speedup.is_some_and(|speedup| speedup > 0.0), "{row:?}");
            assert_eq!(row.kernel, "powers");
        }
        is(FEWER, KernelEditVerdict::WrongOutput);
        is(OTHER, KernelEditVerdict::InterfaceDiffers);
        is("kernel void powers(", KernelEditVerdict::DoesNotCompile);
        is(SLOW, KernelEditVerdict::Accepted);
    }
    // What was a candidate may be what is to be replaced.
    let rows = judge.judge(&pair(UNROLLED, SLOW)).expect("rows");
    assert_eq!(verdicts(&rows), ["accepted"; 2]);
    let rows = judge.judge(&pair("kernel void powers(", SLOW)).expect("rows");
    assert_eq!(verdicts(&rows), ["source-fails"; 2]);
}

#[test]
fn threads_share_a_judge_and_a_stop_is_no_verdict() {
    let stop = Arc::default();
    let judge = judge(&stop);
    assert_eq!(judge.devices().len(), 1);
    std::thread::scope(|scope| {
        for after in [UNROLLED, FEWER, UNROLLED, SLOW] {
            let judge = &judge;
            scope.spawn(move || {
                let wanted = if after == FEWER { "wrong-output" } else { "accepted" };
                let rows = judge.judge(&pair(SLOW, after)).expect("rows");
                assert_eq!(verdicts(&rows), [wanted; 2]);
            });
        }
    });
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let other = SLOW.replace("32", "31");
    assert!(matches!(judge.judge(&pair(&other, FEWER)), Err(Error::Stopped)));
}
