//! Ends of blocks, and what stands at their beginnings.

use super::{BROKEN, Reading, opcode};
use crate::{Constant, Operand, Type, Types, Unread, constants};

impl Reading<'_> {
    pub(super) fn ret(&mut self) -> Result<(), Unread> {
        if self.is_done() {
            self.require(self.returned == Types::VOID)?;
        } else {
            let got = self.pair()?;
            self.require(self.is_done() && got.ty == self.returned)?;
            self.push(got);
        }
        self.terminate(opcode::RET, Types::VOID);
        Ok(())
    }

    pub(super) fn branch(&mut self) -> Result<(), Unread> {
        let yes = self.block()?;
        if !self.is_done() {
            let no = self.block()?;
            let condition = self.value(Types::BIT)?;
            self.require(self.is_done())?;
            self.push(condition);
            self.push_block(no);
        }
        self.push_block(yes);
        self.terminate(opcode::BR, Types::VOID);
        Ok(())
    }

    pub(super) fn switch(&mut self) -> Result<(), Unread> {
        let ty = self.ty()?;
        self.require(matches!(self.get(ty), Type::Integer(_)) && self.values.len() % 2 == 1)?;
        let condition = self.value(ty)?;
        let default = self.block()?;
        self.push(condition);
        self.push_block(default);
        while !self.is_done() {
            let case = self.next()?;
            let case = u32::try_from(case).map_err(|_| BROKEN)?;
            let number = self.typed(case, ty).map(|got| self.constant(got))?;
            self.require(matches!(number, Some(Constant::Integer(_) | Constant::Wide(_))))?;
            self.body.extras.push(case);
            let block = self.block()?;
            self.push_block(block);
        }
        self.terminate(opcode::SWITCH, Types::VOID);
        Ok(())
    }

    pub(super) fn indirect_branch(&mut self) -> Result<(), Unread> {
        let ty = self.ty()?;
        self.require(self.is_pointer(ty))?;
        let address = self.value(ty)?;
        self.push(address);
        while !self.is_done() {
            let block = self.block()?;
            self.push_block(block);
        }
        self.terminate(opcode::INDIRECT_BR, Types::VOID);
        Ok(())
    }

    pub(super) fn resume(&mut self) -> Result<(), Unread> {
        let got = self.pair()?;
        self.require(self.is_done())?;
        self.push(got);
        self.terminate(opcode::RESUME, Types::VOID);
        Ok(())
    }

    pub(super) fn phi(&mut self) -> Result<(), Unread> {
        let ty = self.ty()?;
        self.require(self.is_first_class(ty))?;
        let pairs = (self.values.len() - 1) / 2;
        let flagged = self.values.len().is_multiple_of(2);
        self.require(!flagged || self.is_lane_float(ty))?;
        for _ in 0..pairs {
            let value = constants::signed(self.next()?);
            let got = self.typed(self.now().wrapping_sub(value as u32), ty)?;
            self.push(got);
            let block = self.block()?;
            self.body.extras.push(block);
        }
        self.emit(opcode::PHI, ty, 0);
        Ok(())
    }

    pub(super) fn landing_pad(&mut self) -> Result<(), Unread> {
        let ty = self.ty()?;
        let cleans = self.next()? != 0;
        let clauses = self.next()?;
        self.require(self.is_storable(ty) && (cleans || clauses > 0))?;
        for _ in 0..clauses {
            let kind = self.next()?;
            let clause = self.pair()?;
            let is_list = matches!(self.get(clause.ty), Type::Array(..));
            let is_constant = matches!(clause.operand, Operand::Value(_));
            self.require(kind == u64::from(is_list) && is_constant)?;
            self.push(clause);
        }
        self.emit(opcode::LANDING_PAD, ty, cleans.into());
        Ok(())
    }

    pub(super) fn cleanup_ret(&mut self) -> Result<(), Unread> {
        let pad = self.value(Types::TOKEN)?;
        self.push(pad);
        if !self.is_done() {
            let block = self.block()?;
            self.push_block(block);
        }
        self.require(self.is_done())?;
        self.terminate(opcode::CLEANUP_RET, Types::VOID);
        Ok(())
    }

    pub(super) fn catch_ret(&mut self) -> Result<(), Unread> {
        let pad = self.value(Types::TOKEN)?;
        let block = self.block()?;
        self.require(self.is_done())?;
        self.push(pad);
        self.push_block(block);
        self.terminate(opcode::CATCH_RET, Types::VOID);
        Ok(())
    }

    pub(super) fn pad(&mut self, opcode: u32) -> Result<(), Unread> {
        let parent = self.value(Types::TOKEN)?;
        for _ in 0..self.next()? {
            let argument = self.pair()?;
            self.push(argument);
        }
        self.require(self.is_done())?;
        self.push(parent);
        self.emit(opcode, Types::TOKEN, 0);
        Ok(())
    }

    pub(super) fn catch_switch(&mut self) -> Result<(), Unread> {
        let parent = self.value(Types::TOKEN)?;
        let count = usize::try_from(self.next()?).map_err(|_| BROKEN)?;
        let unwinds = match self.values.len().checked_sub(self.at + count) {
            Some(0) => false,
            Some(1) => true,
            _ => return Err(BROKEN),
        };
        self.push(parent);
        let handlers = self.at;
        if unwinds {
            self.at += count;
            let block = self.block()?;
            self.push_block(block);
            self.at = handlers;
        }
        for _ in 0..count {
            let block = self.block()?;
            self.push_block(block);
        }
        self.terminate(opcode::CATCH_SWITCH, Types::TOKEN);
        Ok(())
    }
}
