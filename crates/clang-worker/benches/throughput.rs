//! Kernels per second and core: the in-process worker against one `clang-19` process per kernel,
//! same flags, one run; and the worker's peak memory over 10,000 kernels.
//!
//! `cargo bench -p stampmill-clang-worker`. Programs are the reference kernels where they are, else four
//! small ones. Rates are per second of processor time, so that a busy machine distorts them less.

use clang::{Clang, Includes, Options};
use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const IN_PROCESS: usize = 2000;
const PROCESSES: usize = 100;
const FOR_MEMORY: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let kernels = kernels();
    println!("{} distinct kernels, nvptx64-nvidia-nvcl, CL2.0", kernels.len());
    for level in [0, 1] {
        compare(&kernels, level)?;
    }
    memory(&kernels)
}

fn compare(kernels: &[String], level: u8) -> Result<(), Box<dyn Error>> {
    let clang = start()?;
    let options = Options { optimisation: level, ..Options::opencl() };
    clang.compile(&kernels[0], &options)?;
    let worker = newest_child()?;
    let (before, start) = (processor_time(worker)?.0, Instant::now());
    for kernel in kernels.iter().cycle().take(IN_PROCESS) {
        clang.compile(kernel, &options)?;
    }
    let wall = start.elapsed() / IN_PROCESS as u32;
    let inside = (processor_time(worker)?.0 - before) / IN_PROCESS as u32;
    println!("-O{level} in-process worker:        {}, wall {wall:.2?}", rate(inside));

    let folder = env::temp_dir().join(format!("stampmill-throughput-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    // Waited-for children alone count; the worker still runs.
    let own = std::process::id();
    let (before, start) = (processor_time(own)?.1, Instant::now());
    for kernel in kernels.iter().cycle().take(PROCESSES) {
        driver(kernel, &folder, level)?;
    }
    let wall = start.elapsed() / PROCESSES as u32;
    let process = (processor_time(own)?.1 - before) / PROCESSES as u32;
    fs::remove_dir_all(&folder)?;
    println!("-O{level} one clang-19 per kernel:  {}, wall {wall:.2?}", rate(process));
    let ratio = process.as_secs_f64() / inside.as_secs_f64();
    println!("-O{level} kernels per second, worker / process: {ratio:.1}");
    Ok(())
}

fn memory(kernels: &[String]) -> Result<(), Box<dyn Error>> {
    let clang = start()?;
    let options = Options::opencl();
    for kernel in kernels.iter().cycle().take(FOR_MEMORY) {
        clang.compile(kernel, &options)?;
    }
    let status = fs::read_to_string(format!("/proc/{}/status", newest_child()?))?;
    for line in status.lines().filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"))
    {
        println!("after {FOR_MEMORY} kernels: {line}");
    }
    Ok(())
}

fn start() -> Result<Clang, clang::Error> {
    Clang::start_at(Path::new(env!("CARGO_BIN_EXE_stampmill-clang")), 1, Includes::Own)
}

fn driver(kernel: &str, folder: &Path, level: u8) -> Result<(), Box<dyn Error>> {
    let file = folder.join("program.cl");
    fs::write(&file, kernel)?;
    Command::new("clang-19")
        .args(["-x", "cl", "-cl-std=CL2.0", "--target=nvptx64-nvidia-nvcl", &format!("-O{level}")])
        .args(["-Xclang", "-finclude-default-header", "-Xclang", "-fdeclare-opencl-builtins"])
        .args(["-w", "-emit-llvm", "-c", "-o"])
        .arg(folder.join("program.bc"))
        .arg(&file)
        .stderr(Stdio::null())
        .status()?;
    Ok(())
}

fn rate(each: Duration) -> String {
    format!(
        "{:7.1} kernels/s ({:.2} ms of processor time each)",
        1.0 / each.as_secs_f64(),
        each.as_secs_f64() * 1e3
    )
}

/// Processor time of a process, and of its children that have ended.
fn processor_time(pid: u32) -> Result<(Duration, Duration), Box<dyn Error>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, after_name) = stat.rsplit_once(')').ok_or("a process has a name")?;
    let ticks: Vec<u64> =
        after_name.split_whitespace().skip(11).take(4).map(str::parse).collect::<Result<_, _>>()?;
    // Linux reports hundredths of a second on every common machine.
    let time = |ticks: u64| Duration::from_millis(ticks * 10);
    Ok((time(ticks[0] + ticks[1]), time(ticks[2] + ticks[3])))
}

fn newest_child() -> Result<u32, Box<dyn Error>> {
    let mut children = Vec::new();
    for task in fs::read_dir("/proc/self/task")? {
        let list = fs::read_to_string(task?.path().join("children"))?;
        children.extend(list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Ok(children.into_iter().max().ok_or("a worker runs")?)
}

fn kernels() -> Vec<String> {
    let root = env::var_os("STAMPMILL_REFERENCE")
        .map_or_else(|| PathBuf::from("../../../shared/data"), PathBuf::from);
    let Ok(rows) = fs::read_to_string(root.join("kernels/clgen.jsonl")) else {
        return SMALL.map(String::from).to_vec();
    };
    let sources = rows.lines().filter_map(|row| {
        let row: serde_json::Value = serde_json::from_str(row).ok()?;
        Some(row["src"].as_str()?.to_owned())
    });
    sources.collect()
}

const SMALL: [&str; 4] = [
    "kernel void A(global float* a, int b) { int c = get_global_id(0); if (c < b) a[c] += 1; }",
    "kernel void A(global int* a, local int* b) { b[get_local_id(0)] = a[get_global_id(0)]; barrier(1); a[0] = b[1]; }",
    "float f(float4 v) { return dot(v, v); } kernel void A(global float4* a, global float* b) { b[0] = f(a[0]); }",
    "kernel void A(global float* a) { for (int i = 0; i < 16; i++) a[i] = sin(a[i]) * cos(a[15 - i]); }",
];
