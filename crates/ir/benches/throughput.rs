//! Bitcode per second and core: read, hashed, counted and signed in one process by the reader of crate `bitcode` and by
//! LLVM's, against `llvm-dis` and a counting process for each module; and what of the time each reader takes alone.
//!
//! `cargo bench -p stampmill-ir -- MODULES [BYTES]`, a data set of `stampmill ir build` and how much of it to look
//! at (8 MB unless given). Without one, C of the zstd sources that this workspace builds with is compiled.
//! Modules that `llvm-dis` is too old for are left out on both sides. Rates are of processor time, so that
//! a busy machine distorts them less.

use dataset::Dataset;
use llvm::{Context, Library};
use stampmill_ir::Module;
use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// How often all is read: ticks of processor time are long.
const ROUNDS: u32 = 20;
/// What is done with each module.
type Work<'w> = dyn FnMut(&[u8]) -> Result<(), Box<dyn Error>> + 'w;

const DISASSEMBLERS: [&str; 2] = ["llvm-dis-19", "llvm-dis"];
/// Counts instructions by opcode, as text allows.
const COUNT: &str = r#"$1 ~ /^%/ && $2 == "=" { n[$3]++ } /^  [a-z]/ { n[$1]++ } END { for (o in n) print o, n[o] }"#;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let limit = arguments.get(1).map_or(Ok(8_000_000), |text| text.parse::<u64>())?;
    let scratch = tempfile::tempdir()?;
    let Some(disassembler) = DISASSEMBLERS.into_iter().find(|name| starts(name)) else {
        println!("skipped: no llvm-dis (apt-get install llvm-19)");
        return Ok(());
    };
    let contents = match arguments.first() {
        Some(folder) => of_dataset(Path::new(folder))?,
        None => of_zstd(scratch.path())?,
    };
    let library = Library::newest()?;
    let file = scratch.path().join("module.bc");
    let mut modules = Vec::new();
    let mut bytes = 0_u64;
    for content in contents {
        fs::write(&file, &content)?;
        if bytes < limit && disassemble(disassembler, &file)? {
            bytes += content.len() as u64;
            modules.push(content);
        }
    }
    println!("{} modules, {:.1} MB of bitcode", modules.len(), bytes as f64 / 1e6);
    let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;

    // What is asked of LLVM once a process is asked before.
    for content in &modules {
        let _ = stampmill_ir::structure_of(library, content);
    }
    let each = |work: &mut Work<'_>| {
        let start = processor_seconds()?.0;
        for _ in 0..ROUNDS {
            for content in &modules {
                work(content)?;
            }
        }
        Ok::<f64, Box<dyn Error>>((processor_seconds()?.0 - start) / f64::from(ROUNDS))
    };
    let reading = each(&mut |content| {
        let context = Context::new(library);
        context.parse("module", content)?;
        Ok(())
    })?;
    println!("LLVM's reader alone               {:6.1} MB/s", rate(reading));
    let mut instructions = 0;
    let by_llvm = each(&mut |content| {
        let context = Context::new(library);
        let module = context.parse("module", content)?;
        instructions += stampmill_ir::look(&module, content).structure.instructions;
        Ok(())
    })?;
    println!("the same, hashed, counted, signed {:6.1} MB/s", rate(by_llvm));
    let reading_alone = each(&mut |content| {
        stampmill_ir::read_alone(content);
        Ok(())
    })?;
    println!("our reader alone                  {:6.1} MB/s", rate(reading_alone));
    let (mut here, mut left) = (0, 0);
    let ours = each(&mut |content| {
        match stampmill_ir::structure_of(library, content) {
            Ok((structure, _)) => here += structure.instructions,
            Err(_) => {
                left += 1;
                let context = Context::new(library);
                let module = context.parse("module", content)?;
                here += stampmill_ir::look(&module, content).structure.instructions;
            }
        }
        Ok(())
    })?;
    assert_eq!(here, instructions, "both readers see the same instructions");
    println!(
        "read, hashed, counted and signed  {:6.1} MB/s  ({} instructions; {} modules left to LLVM)",
        rate(ours),
        here / u64::from(ROUNDS),
        left / ROUNDS
    );

    let start = processor_seconds()?.1;
    for content in &modules {
        fs::write(&file, content)?;
        disassemble(disassembler, &file)?;
    }
    let theirs = processor_seconds()?.1 - start;
    println!("{disassembler} and awk a module        {:6.1} MB/s", rate(theirs));
    println!(
        "ratio, ours over LLVM's reader: {:.1}; over a process a module: {:.1}; {:.0} % of ours is reading",
        by_llvm / ours,
        theirs / ours,
        reading_alone / ours * 100.0
    );
    Ok(())
}

fn starts(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Count a module's opcodes by its text; false where the module is of a newer LLVM.
fn disassemble(disassembler: &str, file: &Path) -> Result<bool, Box<dyn Error>> {
    let mut dis = Command::new(disassembler);
    let mut dis =
        dis.arg("-o").arg("-").arg(file).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let text = dis.stdout.take().ok_or("no pipe")?;
    let counted = Command::new("awk").arg(COUNT).stdin(text).output()?;
    Ok(dis.wait()?.success() && counted.status.success())
}

fn of_dataset(folder: &Path) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut contents = Vec::new();
    for row in Dataset::open(folder)?.rows::<Module>()? {
        let row = row?;
        if row.verdict == "accepted" && !row.content.is_empty() {
            contents.push(row.content);
        }
    }
    Ok(contents)
}

fn of_zstd(scratch: &Path) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let zstd = packages.iter().find(|package| package["name"] == "zstd-sys");
    let manifest = zstd.and_then(|zstd| zstd["manifest_path"].as_str()).ok_or("no zstd-sys")?;
    let library = PathBuf::from(manifest).with_file_name("zstd").join("lib");
    let object = scratch.join("zstd.bc");
    let mut contents = Vec::new();
    for part in ["common", "compress", "decompress"] {
        for entry in fs::read_dir(library.join(part))? {
            let source = entry?.path();
            if source.extension().is_some_and(|extension| extension == "c") {
                let status = Command::new("clang-19")
                    .args(["-O2", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-c"])
                    .arg(&source)
                    .arg("-o")
                    .arg(&object)
                    .status()?;
                if status.success() {
                    contents.push(fs::read(&object)?);
                }
            }
        }
    }
    Ok(contents)
}

/// Seconds of processor time of this process, and of its children that ended.
fn processor_seconds() -> Result<(f64, f64), Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
    // Fields 14 to 17 of proc(5), in ticks of which Linux has 100 a second for programs.
    let tick =
        |at: usize| -> Result<f64, Box<dyn Error>> { Ok(fields[at].parse::<f64>()? / 100.0) };
    Ok((tick(11)? + tick(12)?, tick(13)? + tick(14)?))
}
