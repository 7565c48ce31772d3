//! Cycles of blocks by llvm-mca, LLVM's analyser of machine code with its own scheduling models.

use crate::{Error, Result};
use dataset::Verdict;
use llvm::loop_weight;
use rows::TaskVerdict;
use sandbox::{Profile, Program, Series};
use std::{fmt::Write, path::Path, process::Command, time::Duration};

/// The processor whose model is used.
pub(crate) const PROCESSOR: &str = "skylake";
const LIMIT: Duration = Duration::from_secs(60);
/// The names that the tool has.
const NAMES: [&str; 2] = ["llvm-mca-19", "llvm-mca"];

/// A block of assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    /// Loops around it.
    depth: u32,
    /// Its instructions.
    lines: Vec<String>,
}

/// llvm-mca, started for a batch of programs at a time.
pub(crate) struct Mca {
    series: Series,
}

impl Mca {
    /// Its version, as it prints it.
    pub(crate) fn version() -> Result<String> {
        let path = NAMES.iter().find_map(|name| host::on_path(name)).ok_or(Error::NoMca)?;
        let output = Command::new(&path).arg("--version").output();
        let failed = |source| Error::File { action: "start", path, source };
        let text = String::from_utf8_lossy(&output.map_err(failed)?.stdout).into_owned();
        let version = text.lines().find(|line| line.contains("version"));
        Ok(version.unwrap_or("unknown").trim().to_owned())
    }

    /// # Errors
    /// When the tool is not on this machine.
    pub(crate) fn find() -> Result<Mca> {
        let path = NAMES.iter().find_map(|name| host::on_path(name)).ok_or(Error::NoMca)?;
        Ok(Mca::at(&path))
    }

    fn at(path: &Path) -> Mca {
        let arguments = [
            "-mtriple=x86_64-unknown-linux-gnu",
            &format!("-mcpu={PROCESSOR}"),
            "-iterations=1",
            "-instruction-info=0",
            "-resource-pressure=0",
        ];
        let command =
            std::iter::once(path.into()).chain(arguments.iter().map(|word| (*word).into()));
        let program = Program { command: command.collect(), wall: LIMIT, ..Program::default() };
        Mca { series: Series::new(program, Profile::native()) }
    }

    /// Of each text of assembly, the cycles of its blocks: reciprocal throughput times
    /// [`loop_weight`]. A text that the tool refuses costs its own label alone.
    pub(crate) fn cycles(
        &mut self,
        texts: &[&str],
    ) -> Result<Vec<std::result::Result<f64, Verdict>>> {
        let blocks: Vec<Vec<Block>> = texts.iter().map(|text| blocks(text)).collect();
        let whole = match self.throughputs(&blocks)? {
            Ok(found) => found.into_iter().map(Ok).collect(),
            Err(verdict) if blocks.len() == 1 => vec![Err(verdict)],
            Err(_) => {
                let mut each = Vec::new();
                for one in &blocks {
                    let found = self.throughputs(std::slice::from_ref(one))?;
                    each.push(found.map(|mut found| found.remove(0)));
                }
                each
            }
        };
        let sum = |(blocks, found): (Vec<Block>, std::result::Result<Vec<f64>, Verdict>)| {
            let each = blocks.iter().zip(found?);
            let sum: f64 = each.map(|(block, cycles)| loop_weight(block.depth) * cycles).sum();
            match sum > 0.0 {
                true => Ok(sum),
                false => Err(Verdict::new(TaskVerdict::NoCode, "")),
            }
        };
        Ok(blocks.into_iter().zip(whole).map(sum).collect())
    }

    /// The reciprocal throughput of every block of every program, or why the tool refuses them.
    fn throughputs(
        &mut self,
        programs: &[Vec<Block>],
    ) -> Result<std::result::Result<Vec<Vec<f64>>, Verdict>> {
        let mut input = String::new();
        for (place, block) in programs.iter().flatten().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(input, "# LLVM-MCA-BEGIN {place}");
            block.lines.iter().for_each(|line| input.extend([line, "\n"]));
            let _ = writeln!(input, "# LLVM-MCA-END {place}");
        }
        let count = programs.iter().flatten().count();
        if count == 0 {
            return Ok(Ok(vec![Vec::new(); programs.len()]));
        }
        let finished = match self.series.run(input.as_bytes()) {
            Ok(finished) => finished,
            Err(sandbox::Death::Stopped) => return Err(Error::Stopped),
            Err(death) => return Err(Error::Worker { tool: "llvm-mca", death }),
        };
        if let Some(death) = finished.death {
            if death.is_ours() {
                return Err(Error::Worker { tool: "llvm-mca", death });
            }
            return Ok(Err(Verdict::new(death.name(), death.to_string())));
        }
        let said = String::from_utf8_lossy(&finished.stderr);
        let first = said.lines().find(|line| line.contains("error")).unwrap_or_default();
        if finished.status != Some(0) {
            return Ok(Err(Verdict::new(TaskVerdict::UnknownInstruction, first)));
        }
        let found = read(&String::from_utf8_lossy(&finished.stdout), count);
        let Some(found) = found else {
            return Ok(Err(Verdict::new(TaskVerdict::UnknownInstruction, first)));
        };
        let mut found = found.into_iter();
        let of = |blocks: &Vec<Block>| found.by_ref().take(blocks.len()).collect();
        Ok(Ok(programs.iter().map(of).collect()))
    }
}

/// What llvm-mca printed: one throughput for each region, in order; `None` where some are missing.
fn read(text: &str, count: usize) -> Option<Vec<f64>> {
    let mut found = vec![None; count];
    let mut region = None;
    for line in text.lines() {
        if let Some(head) =
            line.strip_prefix('[').and_then(|_| line.split(" Code Region - ").nth(1))
        {
            region = head.trim().parse::<usize>().ok();
        } else if let Some(value) = line.strip_prefix("Block RThroughput:") {
            *found.get_mut(region?)? = value.trim().parse::<f64>().ok();
        }
    }
    found.into_iter().collect()
}

/// The blocks of a text of assembly: instructions between labels, with the depth that LLVM's remarks at
/// the label say.
fn blocks(text: &str) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    let mut open = Block { depth: 0, lines: Vec::new() };
    let mut in_code = true;
    for line in text.lines() {
        let (code, remark) = match line.split_once('#') {
            Some((code, remark)) => (code, remark),
            None => (line, ""),
        };
        let starts_block = code.ends_with(':')
            || code.trim_end().ends_with(':') && !code.starts_with(['\t', ' '])
            || code.is_empty() && remark.starts_with(" %bb.");
        if starts_block {
            let depth = depth_in(remark).unwrap_or(0);
            let closed = std::mem::replace(&mut open, Block { depth, lines: Vec::new() });
            all.extend((!closed.lines.is_empty()).then_some(closed));
            continue;
        }
        let code = code.trim();
        if code.is_empty() {
            // Remarks of a label may take several lines.
            if let Some(depth) = depth_in(remark).filter(|_| open.lines.is_empty()) {
                open.depth = open.depth.max(depth);
            }
            continue;
        }
        if let Some(directive) = code.strip_prefix('.') {
            in_code = match directive.split_whitespace().next() {
                Some("text") => true,
                Some("section") => directive.contains(",\"ax") || directive.contains(".text"),
                Some("data" | "bss") => false,
                _ => in_code,
            };
            continue;
        }
        if in_code {
            open.lines.push(format!("\t{code}"));
        }
    }
    all.extend((!open.lines.is_empty()).then_some(open));
    all
}

/// The depth that a remark tells: of several, that of the innermost loop.
fn depth_in(remark: &str) -> Option<u32> {
    let number = remark.split("Depth=").nth(1)?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\t.text
\t.globl\tA                               # -- Begin function A
\t.type\tA,@function
A:                                      # @A
\t.cfi_startproc
# %bb.0:
\ttestl\t%edi, %edi
\tjle\t.LBB0_4
# %bb.1:                                # %.preheader
\txorl\t%eax, %eax
.LBB0_2:                                # =>This Loop Header: Depth=1
                                        #     Child Loop BB0_3 Depth 2
\taddl\t$1, %eax
.LBB0_3:                                #   Parent Loop BB0_2 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
\timull\t%eax, %eax
\tjne\t.LBB0_3
# %bb.5:                                #   in Loop: Header=BB0_2 Depth=1
\tjne\t.LBB0_2
.LBB0_4:
\tretq
.Lfunc_end0:
\t.size\tA, .Lfunc_end0-A
\t.section\t.rodata,\"a\",@progbits
\tmystery\t1
\t.text
\tnop
";

    #[test]
    fn blocks_lie_as_deep_as_llvm_remarks() {
        let found: Vec<(u32, usize)> =
            blocks(TEXT).iter().map(|block| (block.depth, block.lines.len())).collect();
        assert_eq!(found, [(0, 2), (0, 1), (1, 1), (2, 2), (1, 1), (0, 1), (0, 1)]);
    }

    #[test]
    fn a_report_with_a_region_less_is_none() {
        let text = "[0] Code Region - 1\n\nBlock RThroughput: 2.5\n[1] Code Region - 0\nBlock RThroughput: 1.0\n";
        assert_eq!(read(text, 2), Some(vec![1.0, 2.5]));
        assert_eq!(read(text, 3), None);
        assert_eq!(read("Block RThroughput: 1.0", 1), None);
    }

    #[test]
    fn cycles_are_weighted_and_a_bad_text_spoils_no_other() {
        let Some(path) = NAMES.iter().find_map(|name| host::on_path(name)) else {
            panic!("scripts/setup.sh installs llvm-19");
        };
        let mut mca = Mca::at(&path);
        // An add of skylake takes a quarter of a cycle, a multiplication a whole one.
        let loops = "f:\n\timull\t%eax, %ebx\n.L:  # =>This Inner Loop Header: Depth=1\n\timull\t%eax, %ebx\n";
        let found =
            mca.cycles(&[loops, "f:\n\tnonsense\t%eax\n", "\t.data\n", "f:\n\taddl %eax, %ebx\n"]);
        let found = found.expect("the tool is here");
        assert_eq!(found[0], Ok(11.0));
        let names: Vec<_> = found[1..3]
            .iter()
            .map(|one| one.as_ref().expect_err("no label").name.clone())
            .collect();
        assert_eq!(names, ["unknown-instruction", "no-code"]);
        assert!(found[3].as_ref().is_ok_and(|cycles| *cycles < 1.0), "{found:?}");
    }
}
