//! What families of synthetic signatures take on a cluster, and whether they are those that are found here:
//! `scripts/cluster-keys.py BIN families:ROWS` runs it.
//!
//! Usage: `families URL FOLDER ROWS [here]`, where executors see the folder by this path. Half of the rows are near to
//! none, the others in tens: each value of theirs is with nine in ten that of all ten. One JSON object a step.

use dataset::{Signature, Signatures, stage};
use stampmill_cluster::{Address, OnExecutors};
use std::{collections::HashSet, time::Instant};

type Any = Box<dyn std::error::Error>;

/// The finaliser of SplitMix64.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Of row `at` of so many. Members of a family stand far from each other.
fn signature(at: u64, rows: u64) -> Signature {
    let group = match at < rows / 2 {
        true => at % (rows / 20).max(1),
        false => at,
    };
    let value = |slot: u64| {
        let own = mix(mix(at) ^ slot);
        match own % 10 {
            0 => (own >> 32) as u32,
            _ => (mix(mix(group | 1 << 40) ^ slot) >> 32) as u32,
        }
    };
    let values: Vec<u32> = (0..128).map(value).collect();
    Signature::from_values(&values).expect("there are 128")
}

fn main() -> Result<(), Any> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, folder, rows, rest @ ..] = words.as_slice() else {
        return Err("usage: URL FOLDER ROWS [here]".into());
    };
    let rows: u64 = rows.parse()?;
    let mut signatures = Signatures::default();
    for at in 0..rows {
        signatures.push(signature(at, rows))?;
    }
    let cluster = OnExecutors::at(Address::new(url, None)?, folder.into());
    let begun = Instant::now();
    let found = stage::families(&cluster, &signatures)?;
    let seconds = begun.elapsed().as_secs_f64();
    let families = found.iter().collect::<HashSet<_>>().len();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: u64 = peak.and_then(|peak| peak.split_whitespace().next()).unwrap_or("0").parse()?;
    let told = serde_json::json!({ "rows": rows, "families": families, "seconds": seconds, "client_mib": kib >> 10 });
    println!("{told}");
    if !rest.is_empty() {
        let begun = Instant::now();
        let same = signatures.families()? == found;
        println!(
            "{}",
            serde_json::json!({ "here_seconds": begun.elapsed().as_secs_f64(), "same": same })
        );
    }
    Ok(())
}
