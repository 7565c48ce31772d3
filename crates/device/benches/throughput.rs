//! Kernels checked and measured per minute on PoCL: one worker that keeps drivers and programs,
//! against a process per kernel and size as cldrive starts it. Both sides do the same checks and
//! measurements, at one size, at ten, and at the fourteen that `run` has by default. The driver's
//! cache of binaries lies in the sandbox and ends with the process, so each process builds the kernel
//! anew, which cldrive need not.
//! Rates are per minute on the wall and per minute of processor time of all processes, which what
//! else the machine does hardly changes.
//!
//! `cargo bench -p stampmill-device` [KERNELS]

use dataset::stage::{Context, Done, run};
use stampmill_device::{Options, Run};
use std::{path::PathBuf, time::Duration};

const SIZES: [&str; 3] = ["2^10", "2^7..2^16", "2^7..2^20"];

fn main() {
    let count = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(12_usize);
    let Ok(devices) = stampmill_device::devices() else {
        println!("skipped: no OpenCL here");
        return;
    };
    let Some(pocl) = devices.iter().find(|device| device.platform == "Portable Computing Language")
    else {
        println!("skipped: no PoCL here");
        return;
    };
    let reference = std::env::var_os("STAMPMILL_REFERENCE")
        .map_or_else(|| PathBuf::from("../../../shared/data"), PathBuf::from);
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
    let measure = |sizes: &str, name: &str, isolate: bool| {
        let options = Options {
            devices: pocl.name.clone(),
            global_sizes: stampmill_device::sizes(sizes).expect("sizes"),
            budget: Duration::from_millis(5),
            isolate,
            ..Options::new(&kernels)
        };
        let context = Context { jobs: 1, ..Context::new(folder.path().join(name).join(sizes)) };
        let before = sandbox::processor_time();
        let stage = Run::new(options, &context.cancel).expect("a device");
        let Done { summary: report, seconds, .. } = run(&stage, &context).expect("a run");
        drop(stage);
        let processor = (sandbox::processor_time() - before).as_secs_f64();
        let rates = [seconds, processor].map(|time| report.kernels as f64 * 60.0 / time);
        println!(
            "{sizes}, {name}: {:.1} kernels/min, {:.1} per minute of processor time; {} rows in {:.1} s, \
             {processor:.1} s of processor time; {:?}",
            rates[0], rates[1], report.rows, seconds, report.outcomes
        );
        rates
    };
    let measured = SIZES.map(|sizes| {
        [measure(sizes, "one-worker", false), measure(sizes, "process-per-size", true)]
    });
    println!("ratios of rates, one worker / process per kernel and size, one run each:");
    for (sizes, [worker, process]) in SIZES.into_iter().zip(measured) {
        let [wall, processor] = [worker[0] / process[0], worker[1] / process[1]];
        println!("{sizes}: {wall:.1} on the wall, {processor:.1} by processor time");
    }
}
