//! What constants hold.

use crate::{Value, ValueKind};
use std::{ffi::c_uint, marker::PhantomData, ptr::NonNull};

impl<'m> Value<'m> {
    /// The operands of a constant aggregate or expression; those of data arrays are in
    /// [`Value::data`] instead, and other values have none here.
    pub fn constant_operands(self) -> impl Iterator<Item = Value<'m>> {
        let is_user = matches!(self.kind(), ValueKind::Aggregate | ValueKind::Expression);
        let count = match is_user {
            // SAFETY: aggregates and expressions are users.
            true => unsafe { (self.library.symbols.count_operands)(self.raw.as_ptr()) },
            false => 0,
        };
        (0..c_uint::try_from(count).unwrap_or(0)).filter_map(move |index| {
            // SAFETY: the index is below the count.
            let raw = unsafe { (self.library.symbols.operand)(self.raw.as_ptr(), index) };
            NonNull::new(raw).map(|raw| Value { raw, library: self.library, module: PhantomData })
        })
    }

    /// The bytes of an array or vector of plain numbers, as they lie in memory; `None` for other
    /// values, and before LLVM 21 for numbers wider than a byte.
    #[must_use]
    pub fn data(self) -> Option<&'m [u8]> {
        // SAFETY: the value is alive.
        let kind = unsafe { (self.library.symbols.value_kind)(self.raw.as_ptr()) };
        // Data arrays and data vectors have kinds of their own.
        if !matches!(kind, 16 | 17) {
            return None;
        }
        let mut length = 0;
        let start = match self.library.symbols.raw_data {
            // SAFETY: it is sequential data.
            Some(ask) => unsafe { ask(self.raw.as_ptr(), &raw mut length) },
            None => {
                // SAFETY: it is sequential data.
                let text = unsafe { (self.library.symbols.is_constant_string)(self.raw.as_ptr()) };
                if text == 0 {
                    return None;
                }
                // SAFETY: it is an array of bytes.
                unsafe {
                    (self.library.symbols.constant_string)(self.raw.as_ptr(), &raw mut length)
                }
            }
        };
        if start.is_null() {
            return None;
        }
        // SAFETY: constants live as long as their context, and their bytes are one piece.
        Some(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) })
    }

    /// A floating-point constant, rounded to double precision.
    #[must_use]
    pub fn real(self) -> Option<f64> {
        let mut loses = 0;
        // SAFETY: it is a floating-point constant.
        (self.kind() == ValueKind::Float).then(|| unsafe {
            (self.library.symbols.real_value)(self.raw.as_ptr(), &raw mut loses)
        })
    }

    /// The opcode of a constant expression, by its number in the C API.
    #[must_use]
    pub fn expression_opcode(self) -> Option<u32> {
        // SAFETY: it is a constant expression.
        (self.kind() == ValueKind::Expression)
            .then(|| unsafe { (self.library.symbols.constant_opcode)(self.raw.as_ptr()) })
    }
}
