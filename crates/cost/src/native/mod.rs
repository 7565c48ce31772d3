//! Kernels and functions as native programs: a loop over the work-items of one group, or of as many calls, on sizes
//! that are the same for all.
//!
//! A kernel, what it asks of its place in the group ([`ITEMS`]) and a function that calls it for every
//! work-item are compiled as one program; so are a function of C, C++ or Rust and one that calls it. The driver gives it
//! buffers. It runs in QEMU under the limits of
//! `time`, whose model says what it costs. Run three times less run once is two groups, without what a
//! program costs to start and with its data where the first left them.

pub(crate) mod rust;

use crate::{Bench, Module, Result, bench::Costs, reader::Choice};
use clang::Kernel;
use dataset::{Language, Verdict};
use features::{BUILTINS, Linker};
use rows::TaskVerdict;
use serde_json::{Value, json};
use std::{
    collections::{BTreeSet, HashMap},
    sync::OnceLock,
    time::Duration,
};
use timing::{Code, Compiler, Options, Timer, recipe};

/// What a work-item asks of its place: included before the program.
pub(crate) const ITEMS: &str = include_str!("items.h");
const DRIVER: &str = include_str!("driver.c");
/// The function of a program that runs its group, as the driver calls it.
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

/// The function that runs its group with as many work-items done as one.
pub(crate) fn entry(copies: u32) -> String {
    format!("{ENTRY}_{copies}")
}

/// What is compiled behind a program, and the sizes of its group.
type Behind = std::result::Result<(String, [u32; 3]), Verdict>;

/// Behind an OpenCL program: its last kernel, called for every work-item of a group, by a function for each number of
/// copies, which does that many neighbors of the first dimension, or all where it has fewer, at a time.
pub(crate) fn group(kernels: &[Kernel], copies: &BTreeSet<u32>) -> Behind {
    let Some(kernel) = kernels.last() else {
        return Err(Verdict::new(TaskVerdict::Unsupported, "it has no kernel"));
    };
    let (kinds, values) = passed(kernel)?;
    let (name, sides) = (&kernel.name, sides(kernel));
    let mut text = format!("\nconstant char stampmill_kinds[] = \"{kinds}\";\n");
    for copies in copies {
        // A compiler does not copy a large function into several places unless it is told to.
        let called = match copies {
            1 => format!("{name}({values});"),
            _ => format!("[[clang::always_inline]] {name}({values});"),
        };
        let at_a_time = sides[0].min(*copies);
        let body: String = (0..at_a_time)
            .map(|copy| format!("stampmill_place[0] = x + {copy};\n{called}\n"))
            .collect();
        let entry = entry(*copies);
        text += &format!(
            "void {entry}(global const ulong *stampmill_arguments) {{\n\
             for (ulong z = 0; z < STAMPMILL_Z; z++)\n\
             for (ulong y = 0; y < STAMPMILL_Y; y++)\n\
             for (ulong x = 0; x < STAMPMILL_X; x += {at_a_time}) {{\n\
             stampmill_place[1] = y; stampmill_place[2] = z;\n{body}}}\n}}\n"
        );
    }
    Ok((text, sides))
}

/// Behind a C or C++ program: calls of its last function that other files can call, through a pointer that no compiler
/// looks through, so that what it computes is not found to be unused, or the same each time.
pub(crate) fn calls(functions: &[Kernel]) -> Behind {
    let unsupported = |why: &str| Err(Verdict::new(TaskVerdict::Unsupported, why));
    let Some(function) = functions.last() else {
        return unsupported("it has no function that other files can call");
    };
    if functions.iter().any(|one| one.name == "main") {
        return unsupported("it is a whole program: `stampmill time` says what it costs");
    }
    let (kinds, values) = passed(function)?;
    let (name, entry) = (&function.name, entry(1));
    // A pointer of whatever type a parameter of C++ has.
    let values =
        values.replace("(void *)stampmill_arguments", "STAMPMILL_POINTER stampmill_arguments");
    Ok((
        format!(
            "\n#ifdef __cplusplus\n\
             struct stampmill_pointer {{\n\
             unsigned long at;\n\
             stampmill_pointer(unsigned long at) : at(at) {{}}\n\
             template <class T> operator T *() const {{ return (T *)at; }}\n}};\n\
             #define STAMPMILL_POINTER (stampmill_pointer)\n\
             extern \"C\" {{\n\
             #else\n\
             #define STAMPMILL_POINTER (void *)\n\
             #endif\n\
             extern const char stampmill_kinds[];\n\
             const char stampmill_kinds[] = \"{kinds}\";\n\
             void {entry}(const unsigned long *stampmill_arguments) {{\n\
             __typeof__({name}) *volatile stampmill_called = {name};\n\
             for (int stampmill_call = 0; stampmill_call < {GROUP}; stampmill_call++) stampmill_called({values});\n}}\n\
             #ifdef __cplusplus\n}}\n#endif\n"
        ),
        [GROUP, 1, 1],
    ))
}

/// The kinds of its buffers, and the arguments that it is called with.
fn passed(kernel: &Kernel) -> std::result::Result<(String, String), Verdict> {
    let unsupported = |why: String| Verdict::new(TaskVerdict::Unsupported, why);
    let passed = features::passed(kernel, SIZE).map_err(unsupported)?;
    let values: Vec<&str> = passed.iter().map(|one| one.value.as_str()).collect();
    Ok((passed.iter().map(|one| one.kind).collect(), values.join(", ")))
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
            [ITEMS, BUILTINS, DRIVER, recipe::DETERMINISM, rust::SHIM].map(str::as_bytes)
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

/// What every program is linked with, made once; those in Rust with its libraries, too.
#[derive(Default)]
pub(crate) struct Parts {
    plain: OnceLock<Linker>,
    rust: OnceLock<Linker>,
}

impl Parts {
    fn get(&self, bench: &Bench, language: Language) -> Result<&Linker> {
        let is_rust = language == Language::Rust;
        let slot = if is_rust { &self.rust } else { &self.plain };
        if let Some(linker) = slot.get() {
            return Ok(linker);
        }
        let builtins = bench.builtins(BUILTINS)?;
        let linker = Linker::new(&[
            ("driver.c", DRIVER),
            ("determinism.c", recipe::DETERMINISM),
            ("builtins.s", &builtins),
        ])?;
        let linker = if is_rust { linker.with_rust(bench.rustc()?)? } else { linker };
        // Of two threads that make it at once, one's is dropped.
        Ok(slot.get_or_init(|| linker))
    }
}

/// Times programs for one thread.
pub(crate) struct Clock(Timer);

impl Clock {
    pub(crate) fn open() -> Result<Clock> {
        Ok(Clock(Timer::open(&options())?))
    }

    /// Cycles of a work-item of a module that [`Bench::group`] made, by each of these choices. What happens with the
    /// first of them happens to the program; another that fails has no cost.
    pub(crate) fn costs(
        &self,
        bench: &Bench,
        parts: &Parts,
        module: &Module,
        choices: &[Choice],
    ) -> Result<Costs> {
        let of_loops = choices.iter().any(|choice| choice.hint().is_some());
        let mut texts = Vec::with_capacity(choices.len());
        for (place, choice) in choices.iter().enumerate() {
            match bench.group_assembly(module, *choice)? {
                Ok(group) if group.loops == 0 && of_loops => {
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
        let linked = parts.get(bench, module.language)?;
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
        let (text, _) =
            group(&[kernel(all.map(argument).to_vec(), 1)], &[1, 4].into()).expect("supported");
        assert!(text.contains("\"f-\""), "{text}");
        assert!(text.contains("A((global void *)stampmill_arguments[0], 1.5f);"), "{text}");
        assert_eq!(text.matches("A((global").count(), 5, "{text}");
        let refused =
            group(&[kernel(vec![argument(Type::Sampler)], 1)], &[1].into()).expect_err("a sampler");
        assert_eq!(
            (refused.name.as_ref(), refused.detail.as_str()),
            ("unsupported", "an argument of type TYPE")
        );
    }
}
