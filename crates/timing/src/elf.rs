//! What can be told about an executable before it runs.

use crate::target::Target;
use dataset::Verdict;
use iced_x86::{Code, Decoder, DecoderOptions, OpKind, Register};
use object::{Object, ObjectKind, ObjectSegment, ObjectSymbol};
use rows::TimingVerdict;
use timing_model::{Architecture, Cpu};

/// An executable that can be timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    /// Address of `main`; 0: unknown.
    pub(crate) main: u64,
    /// End of its last segment.
    pub(crate) end: u64,
}

impl Image {
    /// Look at an executable that is to run on a processor.
    pub(crate) fn read(bytes: &[u8], cpu: &Cpu) -> Result<Image, Verdict> {
        if !bytes.starts_with(b"\x7fELF") {
            return Err(Verdict::new(
                TimingVerdict::NotAnElf,
                "neither C, C++ nor an ELF executable",
            ));
        }
        if bytes.get(4) == Some(&1) {
            return Err(Verdict::new(TimingVerdict::Elf32Bit, "only 64-bit programs are modelled"));
        }
        let file = object::File::parse(bytes).map_err(|error| {
            Verdict::new(TimingVerdict::NotAnElf, format!("broken ELF file: {error}"))
        })?;
        let target = Target::of(cpu.architecture);
        if file.architecture() != target.elf || !file.is_little_endian() {
            return Err(Verdict::new(TimingVerdict::OtherArchitecture, misfit(&file, cpu)));
        }
        match file.kind() {
            ObjectKind::Executable | ObjectKind::Dynamic => {}
            other => {
                return Err(Verdict::new(
                    TimingVerdict::NotExecutable,
                    format!("an ELF file of kind {other:?}"),
                ));
            }
        }
        if is_dynamic(bytes) {
            let hint = "its libraries differ from host to host; link it with -static";
            return Err(Verdict::new(TimingVerdict::Dynamic, hint));
        }
        let end = file.segments().map(|segment| end_of(&segment)).max();
        let symbol = file.symbols().find(|symbol| symbol.name() == Ok("main"));
        let main = symbol.map(|symbol| symbol.address()).filter(|address| *address != 0);
        let main = main.or_else(|| main_from_entry(&file, target)).unwrap_or(0);
        Ok(Image { main, end: end.unwrap_or(0) })
    }
}

/// Why a program does not run on a processor, and on which it does.
fn misfit(file: &object::File<'_>, cpu: &Cpu) -> String {
    let is = |architecture: &Architecture| {
        Target::of(*architecture).elf == file.architecture() && file.is_little_endian()
    };
    let (own, wanted) = (&cpu.name, cpu.architecture.name());
    match Architecture::ALL.into_iter().find(is) {
        Some(other) => format!(
            "program is for {}, processor {own} is {wanted}; use --cpu {}",
            other.name(),
            Cpu::of(other)
        ),
        None => format!("built for {:?}, processor {own} is {wanted}", file.architecture()),
    }
}

/// Where a segment ends; the last address there is where it would be beyond.
fn end_of(segment: &object::Segment<'_, '_>) -> u64 {
    segment.address().saturating_add(segment.size())
}

/// Whether an ELF file names a loader.
fn is_dynamic(bytes: &[u8]) -> bool {
    const INTERPRETER: u32 = 3;
    let half =
        |at: usize| bytes.get(at..at + 2).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]])));
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let headers = bytes.get(32..40).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes);
    let (size, count) = (half(54).unwrap_or(0), half(56).unwrap_or(0));
    (0..count).any(|index| {
        let at = usize::try_from(headers).ok().and_then(|base| base.checked_add(index * size));
        at.is_some_and(|at| at < bytes.len() && word(at) == Some(INTERPRETER))
    })
}

/// Where a stripped program's `main` is: the first argument that its entry code passes on. Known of x86-64 alone.
fn main_from_entry(file: &object::File<'_>, target: &Target) -> Option<u64> {
    if target.architecture != Architecture::X86_64 {
        return None;
    }
    let entry = file.entry();
    let segment =
        file.segments().find(|segment| (segment.address()..end_of(segment)).contains(&entry))?;
    let offset = usize::try_from(entry - segment.address()).ok()?;
    let code = segment.data().ok()?.get(offset..)?;
    let mut decoder = Decoder::with_ip(64, code, entry, DecoderOptions::NONE);
    for _ in 0..16 {
        let i = decoder.decode();
        if i.op0_kind() == OpKind::Register && i.op0_register().full_register() == Register::RDI {
            return match i.code() {
                Code::Lea_r64_m => Some(i.memory_displacement64()),
                _ if i.op_count() == 2 && i.op1_kind() != OpKind::Register => Some(i.immediate(1)),
                _ => None,
            };
        }
        if i.is_call_near() || i.is_call_near_indirect() || i.is_invalid() {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn skylake() -> Cpu {
        Cpu::named("skylake").expect("built in")
    }

    #[test]
    fn a_program_for_another_instruction_set_says_which_processor_fits() {
        // The header of an executable for AArch64.
        let mut bytes = vec![0_u8; 64];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        for (at, value) in [(16, 2), (18, 183), (20, 1), (52, 64)] {
            bytes[at] = value;
        }
        let verdict = Image::read(&bytes, &skylake()).unwrap_err();
        assert_eq!(verdict.name, "other-architecture");
        let wanted = "program is for aarch64, processor skylake is x86-64; use --cpu neoverse-n1";
        assert_eq!(verdict.detail, wanted);
        let n1 = Cpu::named("neoverse-n1").expect("built in");
        assert_eq!(Image::read(&bytes, &n1), Ok(Image::default()));
        // Neither a processor of this kind nor one of that order of bytes is built in.
        (bytes[18], bytes[5]) = (21, 2);
        assert_eq!(Image::read(&bytes, &n1).unwrap_err().name, "other-architecture");
    }

    #[test]
    fn says_what_is_no_program() {
        let name = |bytes: &[u8]| Image::read(bytes, &skylake()).unwrap_err().name.into_owned();
        assert_eq!(name(b""), "not-an-elf");
        assert_eq!(name(b"#!/bin/sh\necho"), "not-an-elf");
        assert_eq!(name(b"\x7fELF\x01\x01\x01"), "elf-32-bit");
        assert_eq!(name(b"\x7fELF\x02\x01\x01"), "not-an-elf");
    }

    #[test]
    fn a_segment_beyond_all_addresses_ends_at_the_last() {
        let mut bytes = vec![0_u8; 64 + 56];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        // An executable for x86-64, entered in its only segment; program headers stand behind the header.
        for (at, value) in
            [(16, 2), (18, 62), (20, 1), (24, 0xf1), (32, 64), (52, 64), (54, 56), (56, 1)]
        {
            bytes[at] = value;
        }
        bytes[64] = 1;
        bytes[64 + 16..64 + 24].copy_from_slice(&0xf0_u64.to_le_bytes());
        bytes[64 + 40..64 + 48].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(Image::read(&bytes, &skylake()), Ok(Image { main: 0, end: u64::MAX }));
    }

    proptest! {
        #[test]
        fn survives_any_bytes_behind_the_magic(rest in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut bytes = b"\x7fELF\x02\x01\x01\0".to_vec();
            bytes.extend(rest);
            let _ = Image::read(&bytes, &skylake());
        }
    }
}
