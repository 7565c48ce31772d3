//! The tables of instructions of `timing-model`, held against GNU's disassembler: that their texts are what it says of
//! the bytes, and that the model knows all registers that a text names, no others, and which one is written.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// One instruction of a table.
struct Entry {
    code: Vec<u8>,
    text: String,
    /// What the model says: registers that it reads or makes addresses of, and that it writes.
    reads: BTreeSet<u32>,
    writes: BTreeSet<u32>,
    /// Whether a program that gets there is refused, or nothing comes of it.
    is_outside: bool,
}

fn tables(architecture: &str) -> Vec<Entry> {
    let folder: PathBuf =
        Path::new("../timing-model/cases").join(architecture).join("instructions");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let (lines, told) = (read(&path), read(&path.with_extension("out")));
        assert_eq!(lines.lines().count(), told.lines().count(), "{}", path.display());
        for (line, told) in lines.lines().zip(told.lines()) {
            let (hex, text) = line.split_once(' ').expect("BYTES INSTRUCTION");
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
            let told = told.strip_prefix(&format!("{text}: ")).expect("the same instruction");
            let part = |role: &str| numbers(told, role);
            let mut reads = part(", reads ");
            reads.extend(part(", address "));
            reads.extend(part(", moves "));
            all.push(Entry {
                code: (0..hex.len()).step_by(2).map(byte).collect(),
                text: text.to_owned(),
                reads,
                writes: part(", writes "),
                is_outside: told.contains(", reads-") || text.starts_with("prfm"),
            });
        }
    }
    all
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The numbers behind a word of what the model says.
fn numbers(told: &str, role: &str) -> BTreeSet<u32> {
    let Some((_, rest)) = told.split_once(role) else { return BTreeSet::new() };
    let rest = rest.split([',', '|']).next().unwrap_or_default();
    rest.split(' ').map_while(|word| word.parse().ok()).collect()
}

/// What the disassembler says of all of them, in order.
fn disassembled(tool: &str, machine: &str, entries: &[Entry]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("code");
    let code: Vec<u8> = entries.iter().flat_map(|entry| entry.code.clone()).collect();
    fs::write(&path, code).expect("written");
    let mut command = Command::new(tool);
    let output = command.args(["-D", "-b", "binary", "-m", machine]).arg(&path).output();
    let output = output.expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |line: &str| {
        let (_, rest) = line.split_once(":\t")?;
        let (_, text) = rest.split_once('\t')?;
        let text = text.split("//").next()?.split(" # ").next()?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    text.lines().filter_map(line).collect()
}

/// The same text, but for where branches and addresses lead, which depends on where code stands.
fn mnemonic_and_registers(
    text: &str,
    names: fn(&str) -> Option<Option<u32>>,
) -> (String, Vec<u32>) {
    let mnemonic = text.split(' ').next().unwrap_or_default().to_owned();
    (mnemonic, registers(text, names))
}

/// The registers that a text names, in order.
fn registers(text: &str, names: fn(&str) -> Option<Option<u32>>) -> Vec<u32> {
    let operands = text.split_once(' ').map_or("", |(_, operands)| operands);
    let words = operands.split(|c: char| !c.is_ascii_alphanumeric());
    let mut all: Vec<u32> = words.filter_map(names).flatten().collect();
    // A list of registers names its first and its last.
    if let Some((first, last)) = operands.split_once('}').and_then(|(list, _)| list.split_once('-'))
    {
        let number = |text: &str| registers(&format!("x {text}"), names).last().copied();
        if let (Some(first), Some(last)) = (number(first), number(last)) {
            all.extend(first..=last);
        }
    }
    all
}

/// A register of AArch64 as the model numbers it; within, none for the zero register.
fn arm(word: &str) -> Option<Option<u32>> {
    match word {
        "xzr" | "wzr" => return Some(None),
        "sp" | "wsp" => return Some(Some(31)),
        _ => {}
    }
    let number: u32 = word.get(1..)?.parse().ok().filter(|number| *number < 32)?;
    match word.as_bytes()[0] {
        b'x' | b'w' => Some(Some(number)),
        b'v' | b'q' | b'd' | b's' | b'h' | b'b' => Some(Some(32 + number)),
        _ => None,
    }
}

/// A register of RISC-V by its name in calls.
fn riscv(word: &str) -> Option<Option<u32>> {
    const INTEGERS: [&str; 32] = [
        "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
        "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
        "t5", "t6",
    ];
    const FLOATS: [&str; 32] = [
        "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2",
        "fa3", "fa4", "fa5", "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9",
        "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
    ];
    let place = |names: [&str; 32]| names.iter().position(|name| *name == word);
    if let Some(number) = place(INTEGERS) {
        return Some((number != 0).then_some(number as u32));
    }
    Some(Some(32 + place(FLOATS)? as u32))
}

/// The register of flags, or of rounding modes, that texts do not name.
const STATE: u32 = 64;

fn hold(
    architecture: &str,
    (tool, machine): (&str, &str),
    names: fn(&str) -> Option<Option<u32>>,
    reads_first: fn(&str) -> bool,
    unnamed: &[(&str, usize, u32)],
) {
    let entries = tables(architecture);
    let said = disassembled(tool, machine, &entries);
    assert_eq!(said.len(), entries.len());
    let mut wrong = String::new();
    for (entry, said) in entries.iter().zip(said) {
        let text = &entry.text;
        // No program goes beyond what is refused, and a prefetch costs nothing.
        if entry.is_outside {
            continue;
        }
        // Of extensions it knows those alone that every processor has.
        let known = !said.starts_with(".4byte");
        if known && mnemonic_and_registers(&said, names) != mnemonic_and_registers(text, names) {
            wrong += &format!("`{text}` is `{said}`\n");
        }
        let (mnemonic, named) = mnemonic_and_registers(text, names);
        let mut wanted: BTreeSet<u32> = named.iter().copied().collect();
        // The link of a call or return that names no more registers than so many.
        let implied =
            unnamed.iter().find(|(name, most, _)| *name == mnemonic && named.len() <= *most);
        wanted.extend(implied.map(|(.., register)| register));
        let mut known: BTreeSet<u32> = &entry.reads | &entry.writes;
        known.remove(&STATE);
        // What does not fit is dropped: instructions have no more places.
        let fits = wanted.len() <= 3;
        if known != wanted && (fits || !known.is_subset(&wanted)) {
            wrong += &format!("`{text}` names {wanted:?}, the model knows {known:?}\n");
        }
        let is_zero = text.split([' ', ',']).nth(1).is_some_and(|one| names(one) == Some(None));
        if let Some(first) = named.first().filter(|_| !is_zero)
            && entry.writes.contains(first) == (reads_first(&mnemonic) || implied.is_some())
        {
            wrong += &format!("`{text}` writes {:?}\n", entry.writes);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn arm_instructions_are_what_the_disassembler_says() {
    fn reads_first(mnemonic: &str) -> bool {
        let others = [
            "cmp", "cmn", "tst", "ccmp", "ccmn", "fcmp", "fcmpe", "fccmp", "cbz", "cbnz", "tbz",
            "tbnz", "br", "blr", "ret", "msr", "prfm", "dc", "ic", "ldadd", "swpal", "ldclrb",
        ];
        // Exclusive stores say first whether they stored.
        let stores = mnemonic.starts_with("st") && !mnemonic.contains('x');
        stores || others.contains(&mnemonic)
    }
    let links = [("bl", 0, 30), ("blr", 1, 30), ("ret", 0, 30), ("retaa", 0, 30)];
    hold("aarch64", ("aarch64-linux-gnu-objdump", "aarch64"), arm, reads_first, &links);
}

fn riscv_instructions_are_what_the_disassembler_says() {
    fn reads_first(mnemonic: &str) -> bool {
        let others = ["sb", "sh", "sw", "sd", "fsw", "fsd", "j", "jr", "ret", "fsflags"];
        mnemonic.starts_with('b') || others.contains(&mnemonic)
    }
    let links = [("jal", 0, 1), ("jalr", 1, 1), ("ret", 0, 1)];
    hold("riscv64", ("riscv64-linux-gnu-objdump", "riscv:rv64"), riscv, reads_first, &links);
}

trials::main! {
    arm_instructions_are_what_the_disassembler_says: trials::lacks::program("aarch64-linux-gnu-objdump"),
    riscv_instructions_are_what_the_disassembler_says: trials::lacks::program("riscv64-linux-gnu-objdump"),
}
