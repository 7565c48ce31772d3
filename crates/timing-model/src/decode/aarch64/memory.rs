//! Loads and stores.
//!
//! QEMU makes one access for each register of up to 64 bits, and two for one of 128: the last address it reports
//! lies [`Decoded::span`] bytes behind the first.

use super::{Word, v, x, x_or_sp};
use crate::decode::{Class, decoded::Decoded, flag};

/// Loads and stores.
pub(super) fn access(w: Word) -> Decoded {
    match (w.bits(28, 2), w.bit(26)) {
        (0b00, false) => ordered(w),
        (0b00, true) => structures(w),
        (0b01, _) if w.bit(24) => unscaled_ordered(w),
        (0b01, _) => literal(w),
        (0b10, _) => pair(w),
        _ => single(w),
    }
}

/// A load (of `registers`) or a store, by itself.
fn plain(load: bool, bytes: u8, address: [Option<u8>; 2]) -> Decoded {
    let access = if load { flag::LOAD } else { flag::STORE };
    Decoded::new(Class::Nothing).at(access, bytes, address)
}

/// Where a load puts its value, or a store takes it from.
fn of<const N: usize>(load: bool, decoded: Decoded, registers: [Option<u8>; N]) -> Decoded {
    if load { decoded.writes(registers) } else { decoded.reads(registers) }
}

/// Exclusive accesses, accesses in order, comparison and exchange.
fn ordered(w: Word) -> Decoded {
    let (load, bytes) = (w.bit(22), 1 << w.bits(30, 2));
    let address = [x_or_sp(w.rn()), None];
    let (value, other, status) = (x(w.rd()), x(w.ra()), x(w.rm()));
    match (w.bit(23), w.bit(21)) {
        // Load-acquire, store-release.
        (true, false) => of(load, plain(load, bytes, address), [value]),
        // Comparison and exchange; of pairs where the size is that of words.
        (true, true) => atomic(bytes, address).reads([status, value]).writes([status]),
        (false, true) if !w.bit(31) => {
            let more = [x(w.rm() | 1), x(w.rd() | 1)];
            let bytes = 8 << w.bits(30, 1);
            let decoded = atomic(bytes, address).reads([status, value]).reads(more);
            Decoded { span: bytes / 2, ..decoded.writes([status, more[0]]) }
        }
        (false, pair) => {
            let second = if pair { other } else { None };
            let total = if pair { bytes * 2 } else { bytes };
            let decoded = if load {
                plain(true, total, address).writes([value, second])
            } else {
                // Whether it was stored is known when the line is owned.
                Decoded::new(Class::Atomic)
                    .at(flag::STORE, total, address)
                    .reads([value, second])
                    .writes([status])
            };
            Decoded { span: total - bytes, ..decoded }
        }
    }
}

fn atomic(bytes: u8, address: [Option<u8>; 2]) -> Decoded {
    Decoded::new(Class::Atomic).at(flag::LOAD | flag::STORE, bytes, address)
}

/// Load-acquire and store-release with an offset, and accesses of memory tags.
fn unscaled_ordered(w: Word) -> Decoded {
    let load = w.bits(22, 2) != 0;
    let decoded = plain(load, 1 << w.bits(30, 2), [x_or_sp(w.rn()), None]);
    of(load, decoded, [x(w.rd())])
}

/// Loads from beside the code.
fn literal(w: Word) -> Decoded {
    let (kind, rt) = (w.bits(30, 2), w.rd());
    match (w.bit(26), kind) {
        (true, 0..=2) => {
            let bytes = 4 << kind;
            let decoded = plain(true, bytes, [None; 2]).writes([v(rt)]).on_vectors();
            Decoded { span: bytes.saturating_sub(8), ..decoded }
        }
        (false, 0 | 2) => plain(true, 4, [None; 2]).writes([x(rt)]),
        (false, 1) => plain(true, 8, [None; 2]).writes([x(rt)]),
        // A prefetch, or nothing.
        _ => Decoded::new(Class::Nothing),
    }
}

/// Loads and stores of two registers.
fn pair(w: Word) -> Decoded {
    let (load, vectors, kind) = (w.bit(22), w.bit(26), w.bits(30, 2));
    let each: u8 = match (vectors, kind) {
        (true, kind) => 4 << (kind & 0b11).min(2),
        (false, 0b10) => 8,
        (false, _) => 4,
    };
    let (rt, rt2) = (w.rd(), w.ra());
    let registers = if vectors { [v(rt), v(rt2)] } else { [x(rt), x(rt2)] };
    let decoded = plain(load, each * 2, [x_or_sp(w.rn()), None]);
    // Two words are one access of the pipeline.
    let further = u8::from(each > 4);
    let span = each * 2 - each.min(8);
    let moved_on = if w.bit(23) { x_or_sp(w.rn()) } else { None };
    Decoded { vector: vectors, further, span, moved_on, ..of(load, decoded, registers) }
}

/// Loads and stores of one register, and atomic operations.
fn single(w: Word) -> Decoded {
    let (size, vectors, kind) = (w.bits(30, 2), w.bit(26), w.bits(22, 2));
    let (base, rt) = (x_or_sp(w.rn()), w.rd());
    let (mut index, mut moved_on) = (None, None);
    if !w.bit(24) {
        match (w.bit(21), w.bits(10, 2)) {
            (false, 0b01 | 0b11) => moved_on = base,
            (false, _) => {}
            (true, 0b10) => index = x(w.rm()),
            (true, 0b00) if !vectors => return exchange(w),
            // Loads whose address is authenticated.
            (true, _) => return plain(true, 8, [base, None]).writes([x(rt)]),
        }
    }
    if vectors {
        let bytes = if kind & 0b10 == 0 { 1 << size } else { 16 };
        let load = kind & 1 == 1;
        let decoded = of(load, plain(load, bytes, [base, index]), [v(rt)]);
        return Decoded { span: bytes.saturating_sub(8), moved_on, ..decoded.on_vectors() };
    }
    // A prefetch.
    if size == 3 && kind == 2 {
        return Decoded::new(Class::Nothing);
    }
    let load = kind != 0;
    let decoded = of(load, plain(load, 1 << size, [base, index]), [x(rt)]);
    Decoded { moved_on, ..decoded }
}

/// Atomic operations on memory, and the load-acquire among them.
fn exchange(w: Word) -> Decoded {
    let (bytes, address) = (1 << w.bits(30, 2), [x_or_sp(w.rn()), None]);
    if w.bits(12, 4) == 0b1100 {
        return plain(true, bytes, address).writes([x(w.rd())]);
    }
    atomic(bytes, address).reads([x(w.rm())]).writes([x(w.rd())])
}

/// Loads and stores of one to four vector registers, element by element.
fn structures(w: Word) -> Decoded {
    let load = w.bit(22);
    let whole: u8 = if w.bit(30) { 16 } else { 8 };
    let (registers, bytes, last, merges) = if w.bit(24) {
        let registers = (w.bits(13, 1) << 1 | w.bits(21, 1)) as u8 + 1;
        let replicates = w.bits(14, 2) == 0b11;
        let element: u8 = match w.bits(14, 2) {
            0b10 if w.bits(10, 1) == 1 => 8,
            0b11 => 1 << w.bits(10, 2),
            scale => 1 << scale,
        };
        (registers, element * registers, element, !replicates)
    } else {
        let (registers, interleaved) = match w.bits(12, 4) {
            0b0000 => (4, true),
            0b0010 => (4, false),
            0b0100 => (3, true),
            0b0110 => (3, false),
            0b0111 => (1, false),
            0b1000 => (2, true),
            0b1010 => (2, false),
            _ => return Decoded::new(Class::Microcode),
        };
        let last = if interleaved { 1 << w.bits(10, 2) } else { 8 };
        (registers, whole * registers, last, false)
    };
    let decoded = plain(load, bytes, [x_or_sp(w.rn()), None]);
    let all = |count: u8| {
        [0, 1, 2, 3].map(|at| if at < u32::from(count) { v(w.rd() + at) } else { None })
    };
    let decoded = of(load, decoded, all(registers));
    let decoded = if load && merges { decoded.reads(all(registers)) } else { decoded };
    let post = w.bit(23);
    let decoded = if post && w.rm() != 31 { decoded.reads([x(w.rm())]) } else { decoded };
    Decoded {
        vector: true,
        further: registers - 1,
        span: bytes - last,
        moved_on: if post { x_or_sp(w.rn()) } else { None },
        ..decoded
    }
}
