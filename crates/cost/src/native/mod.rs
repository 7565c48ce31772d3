//! Kernels as native programs: a loop over the work-items of one group, on sizes that are the same for all.
//!
//! A kernel, what it asks of its place in the group ([`ITEMS`]) and a function that calls it for every
//! work-item are compiled as one program; the driver gives it buffers. It runs in QEMU under the limits of
//! `time`, whose model says what it costs. Run three times less run once is two groups, without what a
//! program costs to start and with its data where the first left them.

use crate::{Bench, Module, Result, bench::Costs, reader::Hint};
use clang::Kernel;
use dataset::Verdict;
use features::{BUILTINS, Linker};
use rows::TaskVerdict;
use serde_json::{Value, json};
use std::{collections::HashMap, sync::OnceLock, time::Duration};
use timing::{Code, Compiler, Options, Timer, recipe};

/// What a work-item asks of its place: included before the program.
pub(crate) const ITEMS: &str = include_str!("items.h");
const DRIVER: &str = include_str!("driver.c");
/// The function of a program that runs its group.
pub(crate) const ENTRY: &str = "stampmill_group";
/// Work-items of a group, whatever its dimensions.
const GROUP: u32 = 64;
/// What every integer argument is: as many work-items as there are, so that loops over a size are bounded by it.
const SIZE: u32 = 64;
/// How often the group runs, in the two programs whose difference is the cost.
const RUNS: [u8; 2] = [1, 3];
/// Instructions of one run: a thousand times what a kernel of such sizes usually takes.
const INSTRUCTIONS: u64 = 50_000_000;

/// The size of a group in each of its dimensions.
pub(crate) fn sides(kernel: &Kernel) -> [u32; 3] {
    match kernel.dimensions {
        0 | 1 => [GROUP, 1, 1],
        2 => [8, 8, 1],
        _ => [4, 4, 4],
    }
}

/// What is compiled behind a program: its kernel, called for every work-item of a group.
pub(crate) fn group(kernel: &Kernel) -> std::result::Result<String, Verdict> {
    let unsupported = |why: String| Verdict::new(TaskVerdict::Unsupported, why);
    let passed = features::passed(kernel, SIZE).map_err(unsupported)?;
    let kinds: String = passed.iter().map(|one| one.kind).collect();
    let values: Vec<&str> = passed.iter().map(|one| one.value.as_str()).collect();
    let (name, values) = (&kernel.name, values.join(", "));
    Ok(format!(
        "\nconstant char stampmill_kinds[] = \"{kinds}\";\n\
         void {ENTRY}(global const ulong *stampmill_arguments) {{\n\
         for (ulong z = 0; z < STAMPMILL_Z; z++)\n\
         for (ulong y = 0; y < STAMPMILL_Y; y++)\n\
         for (ulong x = 0; x < STAMPMILL_X; x++) {{\n\
         stampmill_place[0] = x; stampmill_place[1] = y; stampmill_place[2] = z;\n\
         {name}({values});\n}}\n}}\n"
    ))
}

/// What shapes the cycles of a program beside it.
pub(crate) fn settings() -> Value {
    json!({
        "processor": options().cpu,
        "work_items": GROUP,
        "integers": SIZE,
        "runs": RUNS,
        "instructions": INSTRUCTIONS,
        "recipe": recipe::FLAGS,
        "parts": dataset::content_hash_of(
            [ITEMS, BUILTINS, DRIVER, recipe::DETERMINISM].map(str::as_bytes)
        ),
    })
}

fn options() -> Options {
    Options {
        max_instructions: INSTRUCTIONS,
        timeout: Duration::from_secs(120),
        memory_bytes: 1 << 30,
        net: false,
        ..Options::default()
    }
}

/// Versions of what is used: the emulator with its model, and the linker's driver.
pub(crate) fn tools() -> Result<Vec<(String, String)>> {
    let timer = Timer::open(&options())?;
    let identity = timer.identity().unwrap_or_default();
    Ok(vec![("timing".to_owned(), identity), recipe::compiler_version(Compiler::Gcc, true)?])
}

/// What every program is linked with, made once.
#[derive(Default)]
pub(crate) struct Parts(OnceLock<Linker>);

impl Parts {
    fn get(&self, bench: &Bench) -> Result<&Linker> {
        if let Some(linker) = self.0.get() {
            return Ok(linker);
        }
        let builtins = bench.builtins(BUILTINS)?;
        let linker = Linker::new(&[
            ("driver.c", DRIVER),
            ("determinism.c", recipe::DETERMINISM),
            ("builtins.s", &builtins),
        ])?;
        // Of two threads that make it at once, one's is dropped.
        Ok(self.0.get_or_init(|| linker))
    }
}

/// Times programs for one thread.
pub(crate) struct Clock(Timer);

impl Clock {
    pub(crate) fn open() -> Result<Clock> {
        Ok(Clock(Timer::open(&options())?))
    }

    /// Cycles of a work-item of a module that [`Bench::group`] made, with each of these hints to its loops. What
    /// happens with the first of them happens to the program; another that fails has no cost.
    pub(crate) fn costs(
        &self,
        bench: &Bench,
        parts: &Parts,
        module: &Module,
        hints: &[Option<Hint>],
    ) -> Result<Costs> {
        let mut texts = Vec::with_capacity(hints.len());
        for (place, hint) in hints.iter().enumerate() {
            match bench.group_assembly(module, *hint)? {
                Ok(group) if group.loops == 0 && hints.len() > 1 => {
                    return Ok(Err(Verdict::new(TaskVerdict::NoLoop, "")));
                }
                Ok(group) => texts.push(Some((code(&group.assembly), group.assembly))),
                Err(verdict) if place == 0 => return Ok(Err(verdict)),
                Err(_) => texts.push(None),
            }
        }
        let codes = || texts.iter().map(|text| text.as_ref().map(|(code, _)| code));
        if texts.len() > 1 && codes().all(|code| code.is_some() && Some(code) == codes().next()) {
            return Ok(Err(Verdict::new(TaskVerdict::SameCode, "")));
        }
        let linked = parts.get(bench)?;
        let mut known = HashMap::new();
        let mut costs = Vec::with_capacity(texts.len());
        for (place, text) in texts.iter().enumerate() {
            let Some((code, assembly)) = text else {
                costs.push(None);
                continue;
            };
            let cost = match known.get(code) {
                Some(cost) => *cost,
                None => match self.cycles(linked, assembly)? {
                    Ok(cycles) => Some(cycles),
                    Err(verdict) if place == 0 => return Ok(Err(verdict)),
                    Err(_) => None,
                },
            };
            known.insert(code, cost);
            costs.push(cost);
        }
        Ok(Ok(costs))
    }

    /// Cycles of a work-item of the program of this assembly.
    fn cycles(&self, parts: &Linker, assembly: &str) -> Result<std::result::Result<f64, Verdict>> {
        let program = match parts.link(assembly)? {
            Ok(program) => program,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let inputs = RUNS.map(|times| [b'0' + times]);
        let inputs: Vec<&[u8]> = inputs.iter().map(<[u8; 1]>::as_slice).collect();
        let timings = self.0.time_each(&Code::Elf(program), &inputs)?;
        if let Some(bad) = timings.iter().find(|timing| !timing.is_accepted()) {
            let name = bad.verdict.clone().into();
            return Ok(Err(Verdict { name, detail: bad.detail.clone() }));
        }
        let cycles: Vec<u64> =
            timings.iter().filter_map(|timing| timing.measurement.as_ref()?.cycles).collect();
        let [once, more] = cycles.as_slice() else {
            let detail = "the model counted no cycles".to_owned();
            return Ok(Err(Verdict::new(TaskVerdict::Crash, detail)));
        };
        let items = f64::from(u32::from(RUNS[1] - RUNS[0]) * GROUP);
        Ok(match more.saturating_sub(*once) {
            0 => Err(Verdict::new(TaskVerdict::NoCode, "nothing is left of it")),
            cycles => Ok(cycles as f64 / items),
        })
    }
}

/// Assembly without remarks, which name blocks as passes left them.
fn code(assembly: &str) -> String {
    let mut code = String::with_capacity(assembly.len());
    for line in assembly.lines() {
        let line = match line.contains('"') {
            true => line,
            false => line.split('#').next().unwrap_or(line).trim_end(),
        };
        if !line.is_empty() {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use clang::{AddressSpace, Argument, Scalar, Type};

    fn argument(r#type: Type) -> Argument {
        Argument {
            name: "a".into(),
            type_name: "TYPE".into(),
            r#type,
            constant: false,
            indexes: false,
            read: true,
            written: false,
        }
    }

    fn kernel(arguments: Vec<Argument>, dimensions: u8) -> Kernel {
        Kernel {
            declaration: 0,
            name: "A".into(),
            arguments,
            required_group_size: None,
            dimensions,
        }
    }

    #[test]
    fn code_is_assembly_without_remarks() {
        let text = "f:    # @f\n# %bb.0:\n\tmovl $1, %eax   # imm\n\t.ascii \"a # b\"\n\n";
        assert_eq!(code(text), "f:\n\tmovl $1, %eax\n\t.ascii \"a # b\"\n");
    }

    #[test]
    fn a_group_has_as_many_work_items_whatever_its_dimensions() {
        for dimensions in 0..4 {
            let sides = sides(&kernel(Vec::new(), dimensions));
            assert_eq!(sides.iter().product::<u32>(), GROUP);
        }
    }

    #[test]
    fn a_group_calls_its_kernel_with_buffers_and_numbers() {
        let float = Type::Scalar { scalar: Scalar::Float, size_bytes: 4 };
        let pointee = Box::new(float.clone());
        let all = [Type::Pointer { space: AddressSpace::Global, pointee }, float];
        let text = group(&kernel(all.map(argument).to_vec(), 1)).expect("supported");
        assert!(text.contains("\"f-\""), "{text}");
        assert!(text.contains("A((global void *)stampmill_arguments[0], 1.5f);"), "{text}");
        let refused = group(&kernel(vec![argument(Type::Sampler)], 1)).expect_err("a sampler");
        assert_eq!(
            (refused.name.as_ref(), refused.detail.as_str()),
            ("unsupported", "an argument of type TYPE")
        );
    }
}
