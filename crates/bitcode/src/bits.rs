//! The bitstream: bits, blocks, records and their abbreviations.
//!
//! Reading past the end gives zeros, and a zero ends a block: [`Stream::entry`] and the ends of records look once whether
//! the end was passed, so that no single read has to.

use crate::Unread;
use std::{collections::HashMap, rc::Rc};

/// Records of more values than this must have a quarter of their bits left for each.
const FEW: u64 = 4096;

/// Abbreviations of a block; LLVM's own have some ten.
const MOST_ABBREVIATIONS: usize = 256;

/// Bits, the least significant of each byte first.
#[derive(Clone, Copy)]
struct Bits<'a> {
    bytes: &'a [u8],
    at: u64,
}

impl Bits<'_> {
    /// The next bits, at least 57 of them.
    #[inline]
    fn word(&self) -> u64 {
        let byte = (self.at >> 3) as usize;
        let word = match self.bytes.get(byte..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => self.last(byte),
        };
        word >> (self.at & 7)
    }

    #[cold]
    fn last(&self, byte: usize) -> u64 {
        let mut chunk = [0; 8];
        let rest = self.bytes.get(byte..).unwrap_or_default();
        chunk.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(chunk)
    }

    /// A number of up to 64 bits.
    #[inline]
    fn fixed(&mut self, width: u32) -> u64 {
        if width > 57 {
            let low = self.fixed(32);
            return low | self.fixed(width - 32) << 32;
        }
        let value = self.word() & ((1 << width) - 1);
        self.at += u64::from(width);
        value
    }

    /// A number in groups of `width` bits, the highest of which says whether another follows.
    #[inline]
    fn variable(&mut self, width: u32) -> u64 {
        let more = 1 << (width - 1);
        let group = self.word() & ((1 << width) - 1);
        self.at += u64::from(width);
        match group & more {
            0 => group,
            _ => self.longer(width, group & (more - 1)),
        }
    }

    fn longer(&mut self, width: u32, first: u64) -> u64 {
        let more = 1 << (width - 1);
        let (mut value, mut shift) = (first, width - 1);
        loop {
            let group = self.word() & ((1 << width) - 1);
            self.at += u64::from(width);
            if shift < 64 {
                value |= (group & (more - 1)) << shift;
            }
            if group & more == 0 {
                return value;
            }
            shift += width - 1;
        }
    }

    /// So many numbers in groups of six bits.
    fn sixes(&mut self, count: u64, to: &mut Vec<u64>) {
        let mut left = count;
        while left > 0 {
            let mut word = self.word();
            // Nine groups are in every word.
            let mut groups = 9;
            while groups > 0 && left > 0 && word & 32 == 0 {
                to.push(word & 31);
                word >>= 6;
                groups -= 1;
                left -= 1;
            }
            self.at += 6 * (9 - groups);
            if groups > 0 && left > 0 {
                to.push(self.variable(6));
                left -= 1;
            }
        }
    }

    fn align(&mut self) {
        self.at = self.at.next_multiple_of(32);
    }
}

/// How a value of an abbreviated record is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Field {
    Literal(u64),
    Fixed(u32),
    Variable(u32),
    Char6,
}

/// How an abbreviated record ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tail {
    Nothing,
    Array(Field),
    Blob,
}

#[derive(Debug)]
struct Abbreviation {
    code: Field,
    fields: Vec<Field>,
    tail: Tail,
}

/// What comes next in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The block ends.
    End,
    /// A block of this number begins: [`Stream::enter`] or [`Stream::skip`] it.
    Block(u64),
    /// A record, by its abbreviation.
    Record(u64),
}

/// A block that is being read.
#[derive(Clone)]
struct Frame {
    width: u32,
    end: u64,
    abbreviations: Vec<Rc<Abbreviation>>,
}

/// Where a block begins, to be entered later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(u64);

/// A record as it was read.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) code: u64,
    pub(crate) values: Vec<u64>,
    /// Bytes `.0` to `.1` of the stream.
    pub(crate) blob: Option<(usize, usize)>,
}

/// A bitstream, in one of its blocks.
pub(crate) struct Stream<'a> {
    bits: Bits<'a>,
    frames: Vec<Frame>,
    frame: Frame,
    known: HashMap<u64, Vec<Rc<Abbreviation>>>,
}

const BROKEN: Unread = Unread::Broken("the bitstream");

impl<'a> Stream<'a> {
    /// `bytes` after the magic, which is one word.
    pub(crate) fn new(bytes: &'a [u8]) -> Stream<'a> {
        let end = bytes.len() as u64 * 8;
        let frame = Frame { width: 2, end, abbreviations: Vec::new() };
        Stream { bits: Bits { bytes, at: 0 }, frames: Vec::new(), frame, known: HashMap::new() }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.bits.at >= self.frame.end
    }

    /// Bits that are left of the block.
    pub(crate) fn left(&self) -> u64 {
        self.frame.end.saturating_sub(self.bits.at)
    }

    /// What comes next; abbreviations that are defined are taken in on the way.
    #[inline]
    pub(crate) fn entry(&mut self) -> Result<Entry, Unread> {
        loop {
            if self.bits.at > self.frame.end {
                return Err(BROKEN);
            }
            match self.bits.fixed(self.frame.width) {
                0 => {
                    self.leave()?;
                    return Ok(Entry::End);
                }
                1 => return Ok(Entry::Block(self.bits.variable(8))),
                2 => {
                    let defined = Rc::new(self.define()?);
                    add(&mut self.frame.abbreviations, defined)?;
                }
                id => return Ok(Entry::Record(id)),
            }
        }
    }

    fn leave(&mut self) -> Result<(), Unread> {
        self.bits.align();
        let whole = self.bits.at == self.frame.end;
        match self.frames.pop() {
            Some(outer) if whole => self.frame = outer,
            _ => return Err(BROKEN),
        }
        Ok(())
    }

    /// The rest of a block's head: width of ids and where it ends.
    fn head(&mut self) -> Result<(u32, u64), Unread> {
        let width = self.bits.variable(4);
        self.bits.align();
        let words = self.bits.fixed(32);
        let end = self.bits.at + words * 32;
        if !(2..=32).contains(&width) || end > self.frame.end {
            return Err(BROKEN);
        }
        Ok((width as u32, end))
    }

    /// Into the block of number `id`, whose entry was just read.
    pub(crate) fn enter(&mut self, id: u64) -> Result<(), Unread> {
        if self.frames.len() > 8 {
            return Err(BROKEN);
        }
        let (width, end) = self.head()?;
        let abbreviations = self.known.get(&id).cloned().unwrap_or_default();
        let outer = std::mem::replace(&mut self.frame, Frame { width, end, abbreviations });
        self.frames.push(outer);
        Ok(())
    }

    /// Past the block whose entry was just read.
    pub(crate) fn skip(&mut self) -> Result<Place, Unread> {
        let place = Place(self.bits.at);
        self.bits.at = self.head()?.1;
        Ok(place)
    }

    /// Through the block of number `id`, whose entry was just read, and those in it: nothing in it is asked for, but LLVM
    /// goes on where its end stands, whatever its head says of its length.
    pub(crate) fn walk(&mut self, id: u64, record: &mut Record) -> Result<(), Unread> {
        self.enter(id)?;
        let depth = self.frames.len();
        loop {
            match self.entry()? {
                Entry::End if self.frames.len() < depth => return Ok(()),
                Entry::End => {}
                Entry::Block(id) => self.enter(id)?,
                Entry::Record(id) => self.record(id, record)?,
            }
        }
    }

    /// Into a block that was skipped, from the block it stands in.
    pub(crate) fn enter_at(&mut self, place: Place, id: u64) -> Result<(), Unread> {
        self.bits.at = place.0;
        self.enter(id)
    }

    fn define(&mut self) -> Result<Abbreviation, Unread> {
        let count = self.bits.variable(5);
        let mut fields = Vec::new();
        let mut tail = Tail::Nothing;
        let mut left = count;
        while left > 0 {
            left -= 1;
            if tail != Tail::Nothing || self.bits.at > self.frame.end {
                return Err(BROKEN);
            }
            if self.bits.fixed(1) == 1 {
                fields.push(Field::Literal(self.bits.variable(8)));
                continue;
            }
            match self.bits.fixed(3) {
                kind @ (1 | 2) => fields.push(self.sized(kind)?),
                3 => {
                    let is_literal = self.bits.fixed(1) == 1;
                    let kind = self.bits.fixed(3);
                    tail = match (is_literal, kind, left) {
                        (false, 1 | 2, 1) => Tail::Array(self.sized(kind)?),
                        (false, 4, 1) => Tail::Array(Field::Char6),
                        _ => return Err(BROKEN),
                    };
                    // Elements of no bits would be as many as one likes.
                    if matches!(tail, Tail::Array(Field::Literal(_))) {
                        return Err(BROKEN);
                    }
                    left = 0;
                }
                4 => fields.push(Field::Char6),
                5 => tail = Tail::Blob,
                _ => return Err(BROKEN),
            }
        }
        match fields.is_empty() {
            true => Err(BROKEN),
            false => Ok(Abbreviation { code: fields.remove(0), fields, tail }),
        }
    }

    fn sized(&mut self, kind: u64) -> Result<Field, Unread> {
        match (kind, self.bits.variable(5)) {
            (_, 0) => Ok(Field::Literal(0)),
            (1, width @ 1..=32) => Ok(Field::Fixed(width as u32)),
            (2, width @ 2..=32) => Ok(Field::Variable(width as u32)),
            _ => Err(BROKEN),
        }
    }

    /// The record of the entry just read.
    #[inline]
    pub(crate) fn record(&mut self, id: u64, record: &mut Record) -> Result<(), Unread> {
        record.values.clear();
        record.blob = None;
        let mut bits = self.bits;
        if id == 3 {
            record.code = bits.variable(6);
            let count = bits.variable(6);
            room(count, bits.at, self.frame.end)?;
            bits.sixes(count, &mut record.values);
        } else {
            let abbreviation = self.frame.abbreviations.get(id as usize - 4).ok_or(BROKEN)?;
            record.code = scalar(&mut bits, abbreviation.code);
            for field in &abbreviation.fields {
                record.values.push(scalar(&mut bits, *field));
            }
            match abbreviation.tail {
                Tail::Nothing => {}
                Tail::Array(element) => {
                    let count = bits.variable(6);
                    room(count, bits.at, self.frame.end)?;
                    match element {
                        Field::Fixed(width) => {
                            record.values.extend((0..count).map(|_| bits.fixed(width)));
                        }
                        Field::Variable(width) => {
                            record.values.extend((0..count).map(|_| bits.variable(width)));
                        }
                        element => {
                            record.values.extend((0..count).map(|_| scalar(&mut bits, element)));
                        }
                    }
                }
                Tail::Blob => {
                    let length = bits.variable(6);
                    bits.align();
                    let begin = (bits.at / 8) as usize;
                    if length > self.frame.end / 8 {
                        return Err(BROKEN);
                    }
                    bits.at += length * 8;
                    record.blob = Some((begin, begin + length as usize));
                    bits.align();
                }
            }
        }
        if bits.at > self.frame.end {
            return Err(BROKEN);
        }
        self.bits = bits;
        Ok(())
    }

    /// The block that describes abbreviations of others, whose entry was just read.
    pub(crate) fn describe(&mut self) -> Result<(), Unread> {
        self.enter(0)?;
        let mut record = Record::default();
        let mut block = None;
        loop {
            if self.bits.at > self.frame.end {
                return Err(BROKEN);
            }
            match self.bits.fixed(self.frame.width) {
                0 => return self.leave(),
                1 => return Err(BROKEN),
                2 => {
                    let defined = Rc::new(self.define()?);
                    add(self.known.entry(block.ok_or(BROKEN)?).or_default(), defined)?;
                }
                id => {
                    self.record(id, &mut record)?;
                    match (record.code, record.values.as_slice()) {
                        (1, [id, ..]) => block = Some(*id),
                        (1, []) => return Err(BROKEN),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Bytes of the stream.
    pub(crate) fn bytes(&self, (begin, end): (usize, usize)) -> Option<&'a [u8]> {
        self.bits.bytes.get(begin..end)
    }
}

/// Blocks take over what is described of them, so that there must not be many.
fn add(to: &mut Vec<Rc<Abbreviation>>, defined: Rc<Abbreviation>) -> Result<(), Unread> {
    if to.len() >= MOST_ABBREVIATIONS {
        return Err(BROKEN);
    }
    to.push(defined);
    Ok(())
}

/// Whether so many values fit in what is left of a block.
fn room(count: u64, at: u64, end: u64) -> Result<(), Unread> {
    match count > FEW && count > end.saturating_sub(at) / 4 {
        true => Err(BROKEN),
        false => Ok(()),
    }
}

#[inline]
fn scalar(bits: &mut Bits<'_>, field: Field) -> u64 {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    match field {
        Field::Literal(value) => value,
        Field::Fixed(width) => bits.fixed(width),
        Field::Variable(width) => bits.variable(width),
        Field::Char6 => u64::from(LETTERS[bits.fixed(6) as usize & 63]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of numbers of so many bits each.
    fn packed(values: &[(u64, u32)]) -> Vec<u8> {
        let mut bits = Vec::new();
        for (value, width) in values {
            bits.extend((0..*width).map(|at| (value >> at & 1) as u8));
        }
        while bits.len() % 32 != 0 {
            bits.push(0);
        }
        bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |all, bit| all << 1 | bit)).collect()
    }

    /// A block of number 9 with ids of four bits, and its first record.
    fn record(inside: &[(u64, u32)]) -> Result<Record, Unread> {
        let inside = packed(inside);
        let mut bytes = packed(&[(1, 2), (9, 8), (4, 4)]);
        bytes.extend((inside.len() as u32 / 4).to_le_bytes());
        bytes.extend(inside);
        let mut stream = Stream::new(&bytes);
        assert_eq!(stream.entry()?, Entry::Block(9));
        stream.enter(9)?;
        let mut record = Record::default();
        match stream.entry()? {
            Entry::Record(id) => stream.record(id, &mut record)?,
            _ => return Err(BROKEN),
        }
        Ok(record)
    }

    const LITERAL: [(u64, u32); 2] = [(1, 1), (7, 8)];
    const ARRAY: [(u64, u32); 2] = [(0, 1), (3, 3)];

    #[test]
    fn records_are_read_with_and_without_abbreviations() {
        // Code 2 and three numbers, of which one takes two groups.
        let plain = [(3, 4), (2, 6), (3, 6), (5, 6), (40, 6), (1, 6), (31, 6), (0, 4)];
        let found = record(&plain).unwrap();
        assert_eq!((found.code, found.values), (2, vec![5, 40, 31]));
        // Code 7, a number of 3 bits, one in groups of 4, an array of letters.
        let mut all = vec![(2, 4), (5, 5)];
        all.extend(LITERAL);
        all.extend([(0, 1), (1, 3), (3, 5), (0, 1), (2, 3), (4, 5)]);
        all.extend(ARRAY);
        all.extend([(0, 1), (4, 3)]);
        all.extend([(4, 4), (6, 3), (12, 4), (1, 4), (2, 6), (0, 6), (63, 6), (0, 4)]);
        let found = record(&all).unwrap();
        assert_eq!((found.code, found.values), (7, vec![6, 12, b'a'.into(), b'_'.into()]));
    }

    #[test]
    fn an_array_of_nothing_is_none() {
        for element in
            [&LITERAL[..], &[(0, 1), (1, 3), (0, 5)], &[(0, 1), (3, 3)], &[(0, 1), (5, 3)]]
        {
            let mut all = vec![(2, 4), (3, 5)];
            all.extend(LITERAL);
            all.extend(ARRAY);
            all.extend(element);
            all.extend([(4, 4), (31, 6), (0, 4)]);
            assert_eq!(record(&all).err(), Some(BROKEN), "{element:?}");
        }
    }

    #[test]
    fn more_values_than_bits_are_none() {
        // A count of 2^29.
        let count = [(32, 6), (32, 6), (32, 6), (32, 6), (32, 6), (16, 6)];
        let mut all = vec![(3, 4), (2, 6)];
        all.extend(count);
        all.extend([(0, 32), (0, 4)]);
        assert_eq!(record(&all).err(), Some(BROKEN));
    }

    #[test]
    fn a_block_ends_where_its_head_says() {
        let mut bytes = packed(&[(1, 2), (9, 8), (4, 4)]);
        bytes.extend(2_u32.to_le_bytes());
        bytes.extend(packed(&[(0, 4)]));
        bytes.extend([0; 4]);
        let mut stream = Stream::new(&bytes);
        assert_eq!(stream.entry(), Ok(Entry::Block(9)));
        assert_eq!(stream.walk(9, &mut Record::default()), Err(BROKEN));
    }
}
