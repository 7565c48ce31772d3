//! Kernels run on a small payload, and what they did counted.
//!
//! A program is compiled for this machine with a function that calls its kernels; in a worker LLVM optimises it and
//! calls are planted in it that say which block, branch and address comes next ([`plan()`]). Linked with `runtime.c` and
//! the built-in functions of OpenCL C it runs one group of work-items of each kernel in a sandbox, and [`counts`] makes
//! vectors of what was said. Work-items have a stack each, so that they can wait for each other at barriers.
//! Two groups run where it is asked what OpenCL leaves undefined: races, and local memory that nothing has written. The first group
//! of a launch runs where it is asked how many operations that has.

mod counts;
mod kernel;
mod link;
mod plan;

pub(crate) use counts::NAMES;
pub use counts::Undefined;
pub use kernel::{MOST_ARGUMENTS, Passed, passed};
pub use link::Linker;
pub(crate) use link::temporary;
pub(crate) use plan::{KINDS, Plan, plan};

use crate::{Error, Vector, extract::died, reader::Readers};
use clang::{Answer, Clang, Kernel, Request, Scalar, Type};
use counts::{Said, Status};
use dataset::Verdict;
use link::Images;
use rows::FeaturesVerdict;
use sandbox::{Memory, Profile, Program};
use serde_json::{Value, json};
use std::{
    ffi::OsString,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};
use timing::{Compiler, bounded, recipe};

/// OpenCL's built-in functions, for work-items that run one after the other.
pub const BUILTINS: &str = include_str!("builtins.cl");
const RUNTIME: &str = include_str!("runtime.c");

/// Work-items of a group, whatever its dimensions, where the kernel does not demand a size.
const GROUP: u32 = 64;
/// Groups among which races are looked for.
const GROUPS: u32 = 2;
/// The largest group there is.
const LARGEST: u32 = 1024;
/// Instructions of IR that a group may execute.
const INSTRUCTIONS: u64 = 50_000_000;
/// Processor time of a run: what the instructions take a hundred times over.
const PROCESSOR: Duration = Duration::from_secs(30);
const MEMORY: Memory = Memory::Resident(1 << 30);
/// The C library has functions for later processors that round in other ways: results are those of any x86-64 one.
const PLAIN: (&str, &str) = ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX,-AVX512F");

/// How each kernel of a program ran, in source order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ran {
    /// Its name, and its vector or why it has none.
    pub(crate) kernels: Vec<(String, Result<Vector, Verdict>)>,
}

/// How a kernel is executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// Work-items along each dimension; 1 beyond the last.
    pub global: [u64; 3],
    /// The same of a group; they divide `global`.
    pub local: [u64; 3],
    /// For each argument what it is where it is a whole number; of others nothing is asked.
    pub integers: Vec<u64>,
}

/// A kernel's name, and what its run says or why there is none.
type Kernels = (String, Result<Said, Verdict>);

/// Kernels and how they are called, or why they cannot be.
type Calls<'k> = Vec<(&'k Kernel, Result<Call, Verdict>)>;

/// What programs are run with.
pub(crate) struct With<'a> {
    pub(crate) clang: &'a Clang,
    pub(crate) readers: &'a Readers,
    /// How programs are compiled for this machine, in the order of trying.
    pub(crate) configs: Vec<clang::Options>,
    /// The level of LLVM's passes.
    pub(crate) level: u8,
}

/// Runs kernels. Any number of threads may share it.
#[derive(Debug, Default)]
pub(crate) struct Runner {
    images: OnceLock<Images>,
}

impl Runner {
    /// What shapes vectors beyond the programs and how they are compiled.
    pub(crate) fn settings() -> Value {
        json!({
            "work_items": GROUP,
            "instructions": INSTRUCTIONS,
            "recipe": recipe::FLAGS,
            "parts": dataset::content_hash_of([BUILTINS, RUNTIME, PLAIN.1].map(str::as_bytes)),
        })
    }

    /// The linker's driver and its version, where there is one.
    pub(crate) fn tool() -> Option<(String, String)> {
        recipe::compiler_version(Compiler::Gcc, true).ok()
    }

    /// Run every kernel of an OpenCL program, or say why none can be.
    pub(crate) fn run(
        &self,
        with: &With<'_>,
        path: &str,
        source: &str,
    ) -> Result<Result<Ran, Verdict>, Error> {
        let said = self.run_all(with, path, source, |kernels| Call::in_groups(kernels, 1, &[]))?;
        let vector = |said: Result<Said, Verdict>| said.map(|said| said.vector);
        let ran =
            |all: Vec<Kernels>| all.into_iter().map(|(name, said)| (name, vector(said))).collect();
        Ok(said.map(|all| Ran { kernels: ran(all) }))
    }

    /// What is undefined of the kernels of an OpenCL program that run, or why none does.
    pub(crate) fn undefined(
        &self,
        with: &With<'_>,
        source: &str,
    ) -> Result<Result<Undefined, Verdict>, Error> {
        let known = compared_with(source);
        let said =
            self.run_all(with, "", source, |kernels| Call::in_groups(kernels, GROUPS, &known))?;
        Ok(said.and_then(|all| {
            let (ran, not): (Vec<_>, Vec<_>) =
                all.into_iter().map(|(_, said)| said).partition(Result::is_ok);
            let crashes = FeaturesVerdict::Crashes.name();
            let not: Vec<Verdict> = not.into_iter().filter_map(Result::err).collect();
            // What a call that crashes would have come to is not known; one that takes too long has been looked at till then.
            match not.into_iter().find(|verdict| ran.is_empty() || verdict.name == crashes) {
                Some(verdict) => Err(verdict),
                None => Ok(ran.into_iter().flatten().map(|said| said.undefined).sum()),
            }
        }))
    }

    /// Floating-point operations of all launches together, or why they cannot be counted.
    pub(crate) fn operations(
        &self,
        with: &With<'_>,
        source: &str,
        launches: &[Launch],
    ) -> Result<Result<f64, Verdict>, Error> {
        let said = self.run_all(with, "", source, |kernels| Call::launched(kernels, launches))?;
        Ok(said.and_then(|all| {
            if all.len() != launches.len() {
                return Err(unsupported("a kernel that is not there"));
            }
            let mut sum = 0.0;
            for (launch, (_, said)) in launches.iter().zip(all) {
                let items: u64 = launch.global.iter().product();
                sum += said?.operations * items as f64;
            }
            Ok(sum)
        }))
    }

    /// Run kernels as they are called.
    fn run_all(
        &self,
        with: &With<'_>,
        path: &str,
        source: &str,
        calls: impl Fn(&[Kernel]) -> Calls<'_>,
    ) -> Result<Result<Vec<Kernels>, Verdict>, Error> {
        let mut refused = None;
        for options in &with.configs {
            let (source, options) = (source.to_owned(), options.clone());
            let parse = Request::Parse { source, options: options.clone(), tree: false };
            let answer = match with.ask(&parse)? {
                Ok(answer) => answer,
                Err(verdict) => return Ok(Err(verdict)),
            };
            if let Some(error) = answer.first_error() {
                let verdict = || Verdict::new(FeaturesVerdict::DoesNotCompile, &*error.message);
                refused.get_or_insert_with(verdict);
                continue;
            }
            let kernels = answer.facts.map(|facts| facts.kernels).unwrap_or_default();
            if kernels.is_empty() {
                return Ok(Err(unsupported("it has no kernel")));
            }
            let Request::Parse { source, .. } = parse else { unreachable!("made above") };
            return Ok(Ok(self.run_each(with, path, &source, &options, calls(&kernels))?));
        }
        Ok(Err(refused.unwrap_or_else(|| Verdict::new(FeaturesVerdict::DoesNotCompile, ""))))
    }

    fn run_each(
        &self,
        with: &With<'_>,
        path: &str,
        source: &str,
        options: &clang::Options,
        all: Calls<'_>,
    ) -> Result<Vec<Kernels>, Error> {
        let (kernels, calls): (Vec<&Kernel>, Vec<Result<Call, Verdict>>) = all.into_iter().unzip();
        let text = caller(source, &kernels, &calls);
        let mut prepared = self.prepare(with, path, &text, options)?;
        if options.optimisation == 0 && prepared.is_err() {
            // Without optimization clang leaves out what is `inline`, for others to define.
            let options = clang::Options { optimisation: 1, ..options.clone() };
            prepared = self.prepare(with, path, &text, &options)?;
        }
        let mut ran = Vec::new();
        for (number, (kernel, call)) in kernels.iter().zip(calls).enumerate() {
            let said = match (call, &prepared) {
                (Err(verdict), _) => Err(verdict),
                (_, Err(verdict)) => Err(verdict.clone()),
                (Ok(call), Ok((plan, image))) => {
                    let mut input = call.input(number, plan);
                    input.extend((image.len() as u64).to_le_bytes());
                    input.extend(image);
                    run_one(plan, self.images(with)?.program(), input)?
                }
            };
            ran.push((kernel.name.clone(), said));
        }
        Ok(ran)
    }

    /// The image of all of the kernels, and what it counts.
    fn prepare(
        &self,
        with: &With<'_>,
        path: &str,
        source: &str,
        options: &clang::Options,
    ) -> Result<Result<(Plan, Vec<u8>), Verdict>, Error> {
        let module = match with.compile(source, options)? {
            Ok(module) => module,
            // It compiles by itself.
            Err(verdict) if verdict.name == FeaturesVerdict::DoesNotCompile.name() => {
                return Ok(Err(unsupported(&verdict.detail)));
            }
            Err(verdict) => return Ok(Err(verdict)),
        };
        let plan = match with.readers.plan(path, &module, with.level)? {
            Ok(plan) => plan,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let image = self.images(with)?.link(&plan.object).map_err(fault)?;
        Ok(image.map(|image| (plan, image)))
    }

    fn images(&self, with: &With<'_>) -> Result<&Images, Error> {
        if let Some(images) = self.images.get() {
            return Ok(images);
        }
        let builtins = with.builtins()?;
        let images = Linker::new(&[("runtime.c", RUNTIME), ("builtins.s", &builtins)])
            .and_then(Images::new)
            .map_err(fault)?;
        // Of two threads that make it at once, one's is dropped.
        Ok(self.images.get_or_init(|| images))
    }
}

impl With<'_> {
    fn ask(&self, request: &Request) -> Result<Result<Answer, Verdict>, Error> {
        match self.clang.ask(request) {
            Ok(answer) => Ok(Ok(answer)),
            Err(death) => died(self.clang, death).map(Err),
        }
    }

    fn compile(
        &self,
        source: &str,
        options: &clang::Options,
    ) -> Result<Result<Vec<u8>, Verdict>, Error> {
        let (source, options) = (source.to_owned(), options.clone());
        let request =
            Request::Compile { source, options, facts: false, tree: false, bitcode: true };
        Ok(self.ask(&request)?.and_then(|answer| match answer.first_error() {
            Some(error) => Err(Verdict::new(FeaturesVerdict::DoesNotCompile, &*error.message)),
            None => Ok(answer.code.unwrap_or_default().bitcode),
        }))
    }

    /// The assembly of the built-in functions, which takes some ten processor seconds: kept in the cache by its text and
    /// the tools.
    fn builtins(&self) -> Result<String, Error> {
        let versions: Vec<String> =
            llvm::candidates().iter().map(|found| found.version.to_string()).collect();
        let made_of = [&*format!("{:?} {versions:?}", self.clang.version()), BUILTINS];
        let name = format!("{}.s", dataset::content_hash_of(made_of.map(str::as_bytes)));
        let kept = builtins_folder().join(name);
        if let Ok(assembly) = fs::read_to_string(&kept) {
            return Ok(assembly);
        }
        let options = clang::Options {
            triple: clang::Triple::Host,
            optimisation: 2,
            front_end: true,
            ..clang::Options::opencl()
        };
        let made = match self.compile(BUILTINS, &options)? {
            Ok(module) => self.readers.assembly("builtins.cl", &module)?,
            Err(verdict) => Err(verdict),
        };
        let assembly = made.map_err(|verdict| Error::Builtins(verdict.to_string()))?;
        // Without a cache it is made again.
        let _ = fs::create_dir_all(kept.parent().unwrap_or(&kept));
        let _ = host::write_whole(&kept, assembly.as_bytes());
        Ok(assembly)
    }
}

/// Where assemblies of the built-in functions are kept.
fn builtins_folder() -> PathBuf {
    host::cache().join("builtins")
}

/// Whether the built-in functions were compiled on this machine before, by whichever compiler.
#[must_use]
pub fn has_builtins() -> bool {
    builtins_folder().is_dir()
}

/// What a kernel is called with where an argument is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    /// All alike.
    Equal,
    /// Each greater than the one before.
    Rising,
    /// Each less.
    Falling,
    /// Those with a fraction are [`FRACTION`]: places that such a number decides on coincide.
    Fractions,
    /// Whole ones are this.
    Known(u64),
}

/// Below one half.
const FRACTION: &str = "0.25f";

impl Numbers {
    fn put(self, kernel: &Kernel, arguments: &mut [Passed]) {
        let count = arguments.len();
        for (at, (argument, declared)) in arguments.iter_mut().zip(&kernel.arguments).enumerate() {
            let more = match self {
                Numbers::Equal => continue,
                Numbers::Rising => at,
                Numbers::Falling => count - at,
                Numbers::Fractions => {
                    if is_fraction(&declared.r#type) {
                        FRACTION.clone_into(&mut argument.value);
                    }
                    continue;
                }
                Numbers::Known(number) => {
                    if is_whole(&declared.r#type) {
                        argument.value = number.to_string();
                    }
                    continue;
                }
            };
            if argument.space == '-' {
                argument.value = format!("({} + {more})", argument.value);
            }
        }
    }
}

/// Numbers that are asked for because a kernel compares with them, at most.
const MOST_KNOWN: usize = 2;

/// The first whole numbers that something equals, or does not, in a text: what stands behind `n == 4` runs with these alone.
fn compared_with(source: &str) -> Vec<u64> {
    let words: Vec<&str> = lexer::tokens(source).map(|token| token.text).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let sides = match *word {
            "==" | "!=" => [at.checked_sub(1), Some(at + 1)],
            "case" => [None, Some(at + 1)],
            _ => continue,
        };
        for side in sides.into_iter().flatten().filter_map(|at| words.get(at)) {
            let digits = side.trim_end_matches(['u', 'U', 'l', 'L']);
            if let Ok(number) = digits.parse::<u64>()
                && !found.contains(&number)
            {
                found.push(number);
            }
        }
    }
    found.truncate(MOST_KNOWN);
    found
}

/// How a kernel is called.
struct Call {
    /// Of a group.
    sides: [u32; 3],
    groups: u32,
    /// Work-items along each dimension, of which those of the first groups run.
    items: [u64; 3],
    arguments: Vec<Passed>,
}

impl Call {
    /// So many groups of every kernel. Where races are looked for, branches on numbers go one way in the first calls, the other
    /// in the second, and that of equal numbers in the third; kernels with a number that has a fraction are called once more,
    /// those with a whole number once for each of `known`.
    fn in_groups<'k>(kernels: &'k [Kernel], groups: u32, known: &[u64]) -> Calls<'k> {
        let mut orders = match groups {
            1 => vec![Numbers::Equal],
            _ => vec![Numbers::Rising, Numbers::Falling, Numbers::Equal, Numbers::Fractions],
        };
        orders.extend(known.iter().map(|number| Numbers::Known(*number)));
        let all = orders.iter().flat_map(|order| kernels.iter().map(move |one| (*order, one)));
        let has = |kernel: &Kernel, is_one: fn(&Type) -> bool| {
            kernel.arguments.iter().any(|one| is_one(&one.r#type))
        };
        let all = all.filter(|(order, one)| match order {
            Numbers::Fractions => has(one, is_fraction),
            Numbers::Known(_) => has(one, is_whole),
            Numbers::Equal | Numbers::Rising | Numbers::Falling => true,
        });
        all.map(|(order, kernel)| (kernel, Call::of(kernel, groups, order))).collect()
    }

    /// The first group of each launch; none where a launch is of a kernel that is not there.
    fn launched<'k>(kernels: &'k [Kernel], launches: &[Launch]) -> Calls<'k> {
        let found = launches.iter().map(|launch| {
            let kernel = kernels.iter().find(|kernel| kernel.name == launch.kernel)?;
            Some((kernel, Call::first_of(kernel, launch)))
        });
        found.collect::<Option<Calls<'k>>>().unwrap_or_default()
    }

    /// The first group of a launch.
    fn first_of(kernel: &Kernel, launch: &Launch) -> Result<Call, Verdict> {
        let too_large = || unsupported("a group that is larger than 1024");
        let items: u64 = launch.local.iter().product();
        let items = u32::try_from(items).ok().filter(|items| (1..=LARGEST).contains(items));
        let items = items.ok_or_else(too_large)?;
        let mut arguments = passed(kernel, items).map_err(|lacking| unsupported(&lacking))?;
        let known = kernel.arguments.iter().zip(&launch.integers);
        for (argument, (declared, number)) in arguments.iter_mut().zip(known) {
            if is_whole(&declared.r#type) {
                argument.value = number.to_string();
            }
        }
        // Each divides a product that is small.
        let sides = launch.local.map(|side| u32::try_from(side).unwrap_or(LARGEST));
        Ok(Call { sides, groups: 1, items: launch.global, arguments })
    }

    fn of(kernel: &Kernel, groups: u32, numbers: Numbers) -> Result<Call, Verdict> {
        let sides = kernel.required_group_size.unwrap_or(match kernel.dimensions {
            0 | 1 => [GROUP, 1, 1],
            2 => [8, 8, 1],
            _ => [4, 4, 4],
        });
        let items = sides.iter().map(|side| u64::from(*side)).product::<u64>();
        let items = u32::try_from(items).ok().filter(|items| (1..=LARGEST).contains(items));
        let items = items.ok_or_else(|| unsupported("a group that is larger than 1024"))?;
        let passed = passed(kernel, items * groups);
        let mut arguments = passed.map_err(|lacking| unsupported(&lacking))?;
        numbers.put(kernel, &mut arguments);
        let mut items = sides.map(u64::from);
        items[0] *= u64::from(groups);
        Ok(Call { sides, groups, items, arguments })
    }

    /// What `runtime.c` reads before it runs a kernel.
    fn input(&self, number: usize, plan: &Plan) -> Vec<u8> {
        let counts = [number, plan.blocks.len(), plan.branches.len()].map(|count| count as u64);
        let sides = self.sides.map(u64::from);
        let limits = [INSTRUCTIONS, u64::from(self.groups)];
        let words = counts.into_iter().chain([plan.sites]).chain(sides).chain(limits);
        let words = words.chain(self.items);
        let text = |of: fn(&Passed) -> char| {
            let mut text: Vec<u8> = self.arguments.iter().map(|one| of(one) as u8).collect();
            text.resize(MOST_ARGUMENTS, 0);
            text
        };
        let mut input: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        input.extend(text(|one| one.kind));
        input.extend(text(|one| one.space));
        input
    }
}

/// Whether an argument is a number with a fraction, or several.
fn is_fraction(of: &Type) -> bool {
    scalar_of(of) == Some(Scalar::Float)
}

/// Whether an argument is a whole number, or several.
fn is_whole(of: &Type) -> bool {
    scalar_of(of).is_some_and(|scalar| scalar != Scalar::Float)
}

/// Of a number, or of a vector's lanes.
fn scalar_of(of: &Type) -> Option<Scalar> {
    match of {
        Type::Scalar { scalar, .. } | Type::Vector { scalar, .. } => Some(*scalar),
        _ => None,
    }
}

/// A program with a function behind it that calls its kernels by number.
fn caller(source: &str, kernels: &[&Kernel], calls: &[Result<Call, Verdict>]) -> String {
    let mut text = format!(
        "{source}\nvoid {}(ulong stampmill_kernel, global const ulong *stampmill_arguments) {{\n",
        plan::ENTRY
    );
    for (number, (kernel, call)) in kernels.iter().zip(calls).enumerate() {
        let Ok(call) = call else { continue };
        let values: Vec<&str> = call.arguments.iter().map(|one| one.value.as_str()).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "if (stampmill_kernel == {number}) {}({});",
            kernel.name,
            values.join(", ")
        );
    }
    text.push_str("}\n");
    text
}

fn run_one(plan: &Plan, runtime: &Path, input: Vec<u8>) -> Result<Result<Said, Verdict>, Error> {
    let program = Program {
        command: vec![runtime.into()],
        environment: vec![(PLAIN.0.into(), OsString::from(PLAIN.1))],
        directory: runtime.parent().map(Path::to_owned),
        stdin: input,
        wall: 2 * PROCESSOR,
        channel: true,
    };
    let profile = Profile { memory: MEMORY, processor: PROCESSOR, ..Profile::native() };
    let finished = bounded::run("a kernel", &program, &profile).map_err(fault)?;
    if let Some(death) = &finished.death {
        return Ok(Err(bounded::verdict_of(death)));
    }
    let Some(said) = counts::read(plan, &finished.channel) else {
        return Ok(Err(Verdict::new(FeaturesVerdict::Crashes, "it ended before its group did")));
    };
    Ok(match said.status {
        Status::Fine if said.vector[counts::INSTS] <= 1.0 => {
            Err(Verdict::new(FeaturesVerdict::NoCode, "nothing is left of it"))
        }
        Status::Fine => Ok(said),
        Status::TooLong => {
            let detail = format!("executes more than {INSTRUCTIONS} instructions");
            Err(Verdict::new(FeaturesVerdict::InstructionLimit, detail))
        }
        Status::TooLarge => {
            let detail = "what its branches and accesses do takes more than 512 MiB";
            Err(Verdict::new(FeaturesVerdict::MemoryLimit, detail))
        }
        Status::Apart => {
            let detail = "a barrier that not every work-item of a group reaches";
            Err(Verdict::new(FeaturesVerdict::DivergentBarrier, detail))
        }
    })
}

fn unsupported(what: &str) -> Verdict {
    Verdict::new(FeaturesVerdict::Unsupported, what)
}

fn fault(error: timing::Error) -> Error {
    match error {
        timing::Error::Cancelled => Error::Cancelled { done: 0 },
        error => Error::Timing(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::tests::kernel;

    #[test]
    fn a_group_has_as_many_work_items_whatever_its_dimensions() {
        for dimensions in 0..4 {
            let call = Call::of(&kernel(Vec::new(), dimensions), 1, Numbers::Equal)
                .expect("it is supported");
            assert_eq!(call.sides.iter().product::<u32>(), GROUP);
        }
        let demanding = |size| Kernel { required_group_size: Some(size), ..kernel(Vec::new(), 1) };
        let call = Call::of(&demanding([16, 16, 1]), 2, Numbers::Equal).expect("it is supported");
        assert_eq!((call.sides, call.items), ([16, 16, 1], [32, 16, 1]));
        for size in [[1025, 1, 1], [0, 1, 1], [u32::MAX; 3]] {
            assert!(Call::of(&demanding(size), 1, Numbers::Equal).is_err());
        }
    }

    #[test]
    fn a_kernel_that_cannot_be_called_is_not() {
        let kernel = kernel(Vec::new(), 1);
        let kernels = [&kernel; 2];
        let calls = [Err(unsupported("")), Call::of(&kernel, 1, Numbers::Equal)];
        let text = caller("", &kernels, &calls);
        assert!(
            !text.contains("== 0") && text.contains("if (stampmill_kernel == 1) A();"),
            "{text}"
        );
    }
}
