//! Kernels checked and measured per minute on PoCL: one worker that keeps drivers and programs,
//! against a process per kernel and size as cldrive starts it.
//!
//! `cargo bench -p device` [KERNELS]

use device::{Options, run};
use std::{path::PathBuf, time::Duration};

fn main() {
    let count = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(12_usize);
    let Ok(devices) = device::devices() else {
        println!("skipped: no OpenCL here");
        return;
    };
    let Some(pocl) = devices.iter().find(|device| device.platform == "Portable Computing Language")
    else {
        println!("skipped: no PoCL here");
        return;
    };
    let reference = std::env::var_os("BENCHSTONE_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let Ok(lines) = std::fs::read_to_string(reference.join("kernels/clgen.jsonl")) else {
        println!("skipped: no reference data");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let kernels = folder.path().join("kernels");
    std::fs::create_dir(&kernels).expect("a folder");
    let step = (lines.lines().count() / count.max(1)).max(1);
    for (at, line) in lines.lines().step_by(step).take(count).enumerate() {
        let row: serde_json::Value = serde_json::from_str(line).expect("a row");
        let text = row["src"].as_str().expect("a text");
        std::fs::write(kernels.join(format!("{at:03}.cl")), text).expect("written");
    }
    let measure = |name: &str, isolate: bool| {
        let options = Options {
            devices: pocl.name.clone(),
            global_sizes: device::sizes("2^7..2^16").expect("sizes"),
            budget: Duration::from_millis(5),
            jobs: 1,
            isolate,
            ..Options::new(&kernels, folder.path().join(name))
        };
        let report = run(&options, &dataset::Silent).expect("a run");
        let per_minute = report.kernels as f64 * 60.0 / report.seconds;
        println!(
            "{name}: {per_minute:.1} kernels/min, {} rows in {:.1} s",
            report.rows, report.seconds
        );
        per_minute
    };
    let kept = measure("one-worker", false);
    let isolated = measure("process-per-size", true);
    println!("one worker / process per size (throughput, one run each): {:.1}x", kept / isolated);
}
