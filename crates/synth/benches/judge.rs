//! Candidates judged per second, no proposer running.
//!
//! `cargo bench -p stampmill-synth` compiles kernels of three sizes, describes them in both IR spaces, and
//! prints candidates per second of the clock and per processor second. Every kernel is different.

use stampmill_synth::Judge;
use std::{error::Error, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    for space in ["instcount", "autophase"] {
        let judge = Judge::new(features::space(space)?, jobs)?;
        for (name, parts, count) in [("small", 1, 4000), ("median", 5, 1500), ("large", 16, 600)] {
            let texts: Vec<String> = (0..count).map(|index| kernel(index, parts)).collect();
            judge.judge(&texts[..50])?;
            let before = sandbox::processor_time();
            let started = Instant::now();
            let vectors = judge.judge(&texts)?;
            let wall = started.elapsed().as_secs_f64();
            let processor = (sandbox::processor_time() - before).as_secs_f64();
            let instructions: f64 = vectors
                .iter()
                .flatten()
                .map(|vector| vector[if space == "instcount" { 0 } else { 51 }])
                .sum();
            println!(
                "{space} {name}: {:.0} instructions on average; {:.0} candidates per second on {jobs} jobs, {:.0} per processor second",
                instructions / f64::from(count),
                f64::from(count) / wall,
                f64::from(count) / processor
            );
        }
    }
    Ok(())
}

/// A kernel of about 15 instructions and 17 more for every part, with branches and loops as the
/// suites' kernels have them.
fn kernel(index: i32, parts: i32) -> String {
    let mut body = String::from("  int e = get_global_id(0);\n  float f = a[e];\n");
    for part in 0..parts {
        let constant = index * 31 + part + 2;
        body += &match part % 3 {
            0 => format!(
                "  if (e < d - {part}) {{ f = f * {constant}.5f + b[e + {part}]; c[e + {part}] = f; }}\n"
            ),
            1 => {
                format!("  for (int g = 0; g < d; g++) {{ f += b[e * {constant} + g] * a[g]; }}\n")
            }
            _ => format!("  b[e + {constant}] = (d & {constant}) ? f / a[e + {part}] : sqrt(f);\n"),
        };
    }
    format!(
        "__kernel void A(__global float* a, __global float* b, __global float* c, const int d) {{\n{body}  c[e] = f;\n}}\n"
    )
}
