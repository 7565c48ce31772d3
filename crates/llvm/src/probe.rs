//! Calls that are planted in a module, so that it tells what it does when it runs.

use crate::{
    Function, Global, Instruction, Module, Type, Value,
    context::c_text,
    symbols::{RawBuilder, RawType, RawValue},
};
use std::collections::HashMap;

const FUNCTION: u32 = u32::MAX;
const EXTERNAL: u32 = 0;

/// A call of a function that others define, which gives nothing.
#[derive(Clone, Debug)]
pub struct Probe<'m> {
    /// Where it goes.
    pub before: Instruction<'m>,
    /// The function's name.
    pub function: &'static str,
    /// What it is told: of every probe of one function as many, and pointers in the same places.
    pub arguments: Vec<Told<'m>>,
}

/// What a [`Probe`] tells: an integer of 64 bits or a pointer.
#[derive(Clone, Copy, Debug)]
pub enum Told<'m> {
    /// This number.
    Number(u64),
    /// What this value is then, a pointer or an integer, which is cut or extended with zeros.
    Value(Value<'m>),
}

impl Module<'_> {
    /// Plant the probes that `choose` finds, in their order, and say how many there were; `None` where the library
    /// cannot build instructions.
    pub fn plant<'m>(
        &'m mut self,
        choose: impl FnOnce(&'m Self) -> Vec<Probe<'m>>,
    ) -> Option<usize> {
        let module = self.raw();
        let this: &'m Self = self;
        let (symbols, context) = (&this.library().symbols, this.raw_context());
        let probes = choose(this);
        let (count, mut known) = (probes.len(), HashMap::new());
        // SAFETY: the context is alive.
        let builder = Builder { module: this, raw: unsafe { (symbols.builder?)(context) } };
        for probe in probes {
            // SAFETY: builder and instruction are of one context.
            unsafe { (symbols.build_before?)(builder.raw, probe.before.value().raw.as_ptr()) };
            let told: Option<Vec<_>> =
                probe.arguments.iter().map(|told| builder.argument(*told)).collect();
            let mut told = told?;
            let (kind, function) = match known.get(probe.function) {
                Some(found) => *found,
                None => {
                    // SAFETY: they are alive.
                    let types = told.iter().map(|one| unsafe { (symbols.type_of)(*one) });
                    let mut types: Vec<*mut RawType> = types.collect();
                    // SAFETY: the context is alive.
                    let void = unsafe { (symbols.void_type?)(context) };
                    let (first, length) = (types.as_mut_ptr(), types.len() as u32);
                    // SAFETY: the array is as long as is said.
                    let kind = unsafe { (symbols.function_type?)(void, first, length, 0) };
                    let name = c_text(probe.function);
                    // SAFETY: the module is alive and the name ends in NUL; functions that are there stay where they are.
                    let function = unsafe { (symbols.add_function?)(module, name.as_ptr(), kind) };
                    *known.entry(probe.function).or_insert((kind, function))
                }
            };
            let (first, length) = (told.as_mut_ptr(), told.len() as u32);
            // SAFETY: function, type and arguments are of this module; the empty name ends in NUL.
            unsafe {
                (symbols.build_call?)(builder.raw, kind, function, first, length, c"".as_ptr())
            };
        }
        Some(count)
    }

    /// Bytes that a value of this type takes in memory, without what is only between it and the next.
    #[must_use]
    pub fn store_size(&self, of: Type<'_>) -> Option<u64> {
        let symbols = &self.library().symbols;
        // SAFETY: the module is alive.
        let layout = unsafe { (symbols.layout_of?)(self.raw()) };
        // SAFETY: layout and type are of one module; values have a size.
        Some(unsafe { (symbols.store_size?)(layout, of.raw.as_ptr()) })
    }

    /// Let others than this module change the global variables that `of` names, as far as passes know: what threads
    /// share changes while one of them waits.
    pub fn share(&mut self, of: impl Fn(Global<'_>) -> bool) {
        for global in self.globals().filter(|global| of(*global)) {
            // SAFETY: the variable is alive and has a value, as the linkage wants.
            unsafe { (self.library().symbols.set_linkage)(global.value().raw.as_ptr(), EXTERNAL) };
        }
    }

    /// Put the global variables that `section` names one for into that; where the library cannot, they stay.
    pub fn place(&mut self, section: impl Fn(Global<'_>) -> Option<&'static str>) {
        let Some(set_section) = self.library().symbols.set_section else { return };
        for global in self.globals() {
            let Some(section) = section(global).map(c_text) else { continue };
            // SAFETY: the variable is alive and the name ends in NUL.
            unsafe { set_section(global.value().raw.as_ptr(), section.as_ptr()) };
        }
    }

    /// Let no pass put the functions that `of` names into their callers.
    pub fn keep_apart(&mut self, of: impl Fn(Function<'_>) -> bool) -> Option<()> {
        let (symbols, context) = (&self.library().symbols, self.raw_context());
        let kind = |name: &str| {
            // SAFETY: the name is as long as is said.
            unsafe { (symbols.attribute_kind)(name.as_ptr().cast(), name.len()) }
        };
        // SAFETY: the context is alive; the attribute has no value.
        let apart = unsafe { (symbols.create_attribute)(context, kind("noinline"), 0) };
        for function in self.functions().filter(|function| of(*function)) {
            let raw = function.value().raw.as_ptr();
            // SAFETY: the function is alive; an attribute that it has not is none that it loses.
            unsafe { (symbols.remove_attribute?)(raw, FUNCTION, kind("alwaysinline")) };
            // SAFETY: function and attribute are of one context.
            unsafe { (symbols.add_attribute)(raw, FUNCTION, apart) };
        }
        Some(())
    }
}

struct Builder<'b, 'c> {
    module: &'b Module<'c>,
    raw: *mut RawBuilder,
}

impl Builder<'_, '_> {
    fn argument(&self, told: Told<'_>) -> Option<*mut RawValue> {
        const WIDTH: u32 = 64;
        let (symbols, context) = (&self.module.library().symbols, self.module.raw_context());
        // SAFETY: the context is alive.
        let word = unsafe { (symbols.integer_type)(context, WIDTH) };
        match told {
            // SAFETY: the type is one of integers.
            Told::Number(number) => Some(unsafe { (symbols.integer_constant)(word, number, 0) }),
            Told::Value(value)
                if value.ty().integer_width().is_some_and(|width| width != WIDTH) =>
            {
                let cast = symbols.build_integer_cast?;
                // SAFETY: the value is an integer that is known where the builder stands.
                Some(unsafe { cast(self.raw, value.raw.as_ptr(), word, 0, c"".as_ptr()) })
            }
            Told::Value(value) => Some(value.raw.as_ptr()),
        }
    }
}

impl Drop for Builder<'_, '_> {
    fn drop(&mut self) {
        if let Some(dispose) = self.module.library().symbols.dispose_builder {
            // SAFETY: it was made by `plant` and nothing else holds it.
            unsafe { dispose(self.raw) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Library, Opcode};

    #[test]
    fn probes_stand_where_they_were_put_and_break_nothing() {
        let library = Library::newest().expect("scripts/setup.sh installs LLVM");
        let context = Context::new(library);
        let text = "@shared = internal global i32 0
            define void @f(ptr %p, i8 %a) {
              %b = load <3 x float>, ptr %p
              store i8 %a, ptr @shared
              ret void
            }
            define void @g(ptr %p) alwaysinline { call void @f(ptr %p, i8 1)\n ret void }";
        let mut module = context.parse("m", text.as_bytes()).expect("it is valid");
        module.share(|global| global.name() == "shared");
        module.place(|global| (global.name() == "shared").then_some("ours"));
        module.keep_apart(|function| function.name() == "g").expect("it can");
        let planted = module.plant(|module| {
            let function = module.function("f").expect("it is there");
            let all = function.blocks().flat_map(crate::Block::instructions);
            let memory = all.filter(|one| matches!(one.opcode(), Opcode::Load | Opcode::Store));
            let probes = memory.map(|before| {
                let told = before.operands().find(|one| one.ty().address_space().is_some());
                let byte = before.operands().find(|one| one.ty().integer_width() == Some(8));
                let size = || module.store_size(before.ty()).expect("it knows sizes");
                let number = byte.map_or_else(|| Told::Number(size()), Told::Value);
                let arguments = vec![Told::Value(told.expect("a pointer")), number];
                Probe { before, function: "told", arguments }
            });
            probes.collect()
        });
        assert_eq!(planted, Some(2));
        module.verify().expect("it is valid");
        let printed = module.print();
        for line in [
            "@shared = dso_local global i32 0, section \"ours\"",
            "call void @told(ptr %p, i64 12)\n  %b = load",
            "zext i8 %a to i64",
            "declare void @told(ptr, i64)",
        ] {
            assert!(printed.contains(line), "{line}: {printed}");
        }
        assert!(printed.contains("noinline") && !printed.contains("alwaysinline"), "{printed}");
    }
}
