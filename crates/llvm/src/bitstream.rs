//! Who wrote a bitcode file, read from its identification block without LLVM: the one part of
//! bitcode whose layout never changes, made for telling a reader that it is too old.
//!
//! Layout: <https://llvm.org/docs/BitCodeFormat.html>.

use crate::Version;

/// The identification block of a bitcode file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identification {
    /// What wrote it, for example `LLVM22.1.2-rust-1.95.0-stable`.
    pub producer: String,
    /// The version of LLVM in `producer`, where it tells one: `zig 0.14.1` has a version of its own.
    pub version: Option<Version>,
    /// Readers of another epoch refuse it; 0 since LLVM 3.8.
    pub epoch: u64,
}

const MAGIC: [u8; 4] = *b"BC\xc0\xde";
const WRAPPER: [u8; 4] = 0x0B17_C0DE_u32.to_le_bytes();
const IDENTIFICATION_BLOCK: u64 = 13;
const STRING_RECORD: u64 = 1;
const EPOCH_RECORD: u64 = 2;
/// A producer string longer than this is no producer string.
const LONGEST: u64 = 4096;

impl Identification {
    /// Whether `content` begins like bitcode, raw or in a wrapper.
    #[must_use]
    pub fn is_bitcode(content: &[u8]) -> bool {
        content.starts_with(&MAGIC) || content.starts_with(&WRAPPER)
    }

    /// Read it; `None` where `content` is no bitcode, or older than LLVM 3.8, which had none.
    #[must_use]
    pub fn read(content: &[u8]) -> Option<Identification> {
        let content = match content.strip_prefix(&WRAPPER) {
            Some(fields) => {
                let offset = u32::from_le_bytes(fields.get(4..8)?.try_into().ok()?);
                content.get(offset as usize..)?
            }
            None => content,
        };
        let mut bits = Bits { bytes: content.strip_prefix(&MAGIC)?, at: 0 };
        // At the top level abbreviation ids are two bits wide, and 1 enters a block.
        if bits.fixed(2)? != 1 || bits.variable(8)? != IDENTIFICATION_BLOCK {
            return None;
        }
        let width = u32::try_from(bits.variable(4)?).ok()?;
        bits.align();
        bits.fixed(32)?;
        let mut found = Identification { producer: String::new(), version: None, epoch: 0 };
        let mut abbreviations: Vec<Vec<Field>> = Vec::new();
        loop {
            let record = match bits.fixed(width)? {
                0 => break,
                1 => return None,
                2 => {
                    abbreviations.push(define(&mut bits)?);
                    continue;
                }
                3 => unabbreviated(&mut bits)?,
                id => abbreviated(&mut bits, abbreviations.get(usize::try_from(id).ok()? - 4)?)?,
            };
            match record.split_first()? {
                (&STRING_RECORD, letters) => {
                    let letters =
                        letters.iter().map(|letter| u8::try_from(*letter).unwrap_or(b'?'));
                    found.producer = String::from_utf8_lossy(&letters.collect::<Vec<_>>()).into();
                    found.version = version_of(&found.producer);
                }
                (&EPOCH_RECORD, [epoch, ..]) => found.epoch = *epoch,
                _ => {}
            }
        }
        Some(found)
    }
}

fn version_of(producer: &str) -> Option<Version> {
    producer.starts_with("LLVM").then(|| Version::find(producer)).flatten()
}

/// How a value of an abbreviated record is stored.
enum Field {
    Literal(u64),
    Fixed(u32),
    Variable(u32),
    /// As many of the next field as a number tells.
    Array,
    /// One of `a-zA-Z0-9._`, in six bits.
    Char6,
}

fn define(bits: &mut Bits<'_>) -> Option<Vec<Field>> {
    let count = bits.variable(5)?;
    let mut fields = Vec::new();
    for _ in 0..count {
        fields.push(if bits.fixed(1)? == 1 {
            Field::Literal(bits.variable(8)?)
        } else {
            match bits.fixed(3)? {
                1 => Field::Fixed(u32::try_from(bits.variable(5)?).ok()?),
                2 => Field::Variable(u32::try_from(bits.variable(5)?).ok()?),
                3 => Field::Array,
                4 => Field::Char6,
                _ => return None,
            }
        });
    }
    Some(fields)
}

fn unabbreviated(bits: &mut Bits<'_>) -> Option<Vec<u64>> {
    let code = bits.variable(6)?;
    let count = bits.variable(6)?;
    if count > LONGEST {
        return None;
    }
    let mut record = vec![code];
    for _ in 0..count {
        record.push(bits.variable(6)?);
    }
    Some(record)
}

fn abbreviated(bits: &mut Bits<'_>, fields: &[Field]) -> Option<Vec<u64>> {
    let mut record = Vec::new();
    let mut fields = fields.iter();
    while let Some(field) = fields.next() {
        if !matches!(field, Field::Array) {
            record.push(scalar(bits, field)?);
            continue;
        }
        // An array is the last field. Its elements may take no bits, so that two would be a bomb.
        let element = fields.next()?;
        let count = bits.variable(6)?;
        if count > LONGEST || fields.next().is_some() {
            return None;
        }
        for _ in 0..count {
            record.push(scalar(bits, element)?);
        }
        break;
    }
    Some(record)
}

fn scalar(bits: &mut Bits<'_>, field: &Field) -> Option<u64> {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    match field {
        Field::Literal(value) => Some(*value),
        Field::Fixed(width) => bits.fixed(*width),
        Field::Variable(width) => bits.variable(*width),
        Field::Char6 => Some(u64::from(LETTERS[usize::try_from(bits.fixed(6)?).ok()?])),
        Field::Array => None,
    }
}

/// Bits, the least significant of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn fixed(&mut self, width: u32) -> Option<u64> {
        if width > 64 {
            return None;
        }
        let mut value = 0;
        for place in 0..width {
            let byte = *self.bytes.get(self.at / 8)?;
            value |= u64::from(byte >> (self.at % 8) & 1) << place;
            self.at += 1;
        }
        Some(value)
    }

    /// A number in groups of `width` bits, the highest of which says whether another follows.
    fn variable(&mut self, width: u32) -> Option<u64> {
        if !(2..=32).contains(&width) {
            return None;
        }
        let more = 1 << (width - 1);
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let group = self.fixed(width)?;
            value |= (group & (more - 1)).checked_shl(shift)?;
            if group & more == 0 {
                return Some(value);
            }
            shift += width - 1;
        }
    }

    /// Go on to the next 32-bit word; the magic before `bytes` is one word.
    fn align(&mut self) {
        self.at = self.at.next_multiple_of(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_bitcode_has_no_identification() {
        assert_eq!(Identification::read(b""), None);
        assert_eq!(Identification::read(b"define void @f() { ret void }"), None);
        assert_eq!(Identification::read(b"BC\xc0\xde"), None);
        assert_eq!(Identification::read(&[0xde, 0xc0, 0x17, 0x0b, 0, 0, 0, 0]), None);
    }

    #[test]
    fn only_llvms_own_version_is_one() {
        let major = |producer| version_of(producer).map(|version| version.major);
        assert_eq!(major("LLVM22.1.2-rust-1.95.0-stable"), Some(22));
        assert_eq!(major("LLVM19.1.7"), Some(19));
        assert_eq!(major("zig 0.14.1"), None);
    }

    #[test]
    fn an_abbreviation_of_many_arrays_is_none() {
        let bits = |values: &[(u64, u32)]| {
            let all =
                values.iter().flat_map(|(value, width)| (0..*width).map(move |at| value >> at & 1));
            let all: Vec<u64> = all.collect();
            let byte =
                |bits: &[u64]| bits.iter().rev().fold(0_u8, |byte, bit| byte << 1 | *bit as u8);
            all.chunks(8).map(byte).collect::<Vec<u8>>()
        };
        let array = [(0, 1), (3, 3), (1, 1), (0, 8)];
        let (two, one) = ((5, 5), (3, 5));
        // The code, then arrays of a literal; the record says that each has 31 of them.
        let of = |count: (u64, u32), arrays: usize| {
            let mut all = vec![(2, 4), count, (1, 1), (1, 8)];
            all.extend(std::iter::repeat_n(array, arrays).flatten());
            all.push((4, 4));
            all.extend(std::iter::repeat_n((31, 6), arrays));
            all.push((0, 4));
            // A block's head: enter, 13, ids of four bits, on to the next word, its length.
            let mut bytes = b"BC\xc0\xde".to_vec();
            bytes.extend(bits(&[(1, 2), (13, 8), (4, 4), (0, 18), (9, 32)]));
            bytes.extend(bits(&all));
            Identification::read(&bytes)
        };
        assert_eq!(of(one, 1).map(|found| found.producer.len()), Some(31));
        assert_eq!(of(two, 2), None);
    }

    #[test]
    fn any_bytes_after_the_magic_are_survived() {
        let mut state = 1_u64;
        for _ in 0..2000 {
            let mut bytes = b"BC\xc0\xde".to_vec();
            for _ in 0..40 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                bytes.push((state >> 56) as u8);
            }
            // The block's header as LLVM writes it, so that the records are reached.
            bytes[4] = 0x35;
            bytes[5] = 0x14;
            let _ = Identification::read(&bytes);
        }
    }
}
