//! Modules with a `main` as native programs: the simulated cycles that each takes, and each of its functions.

mod package;
mod program;
mod report;
mod symbols;

pub use program::{ProgramInput, ProgramItem};
pub use report::CyclesReport;

use crate::{Error, Module, Reader, extract, input::Modules};
use dataset::{
    Input, Verdict, content_hash, content_hash_of,
    stage::{Finish, Items, Stage, Units, Worked},
};
use package::Packages;
use rows::{CyclesRow, ModuleVerdict};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use symbols::{Code, Part};
use timing::{Job, Measurement, Options, Timer, recipe};

/// What programs are given to read.
#[derive(Clone, Debug, Default)]
pub enum Stdin {
    /// Nothing.
    #[default]
    Empty,
    /// The same file each.
    File(PathBuf),
    /// Those of a folder that are called after the program's source file, as [`timing::inputs`] finds them.
    Folder(PathBuf),
}

/// Makes a data set of the cycles of programs and their functions from a data set of modules.
pub struct Cycles<'a> {
    modules: Modules,
    reader: &'a Reader,
    stdin: Stdin,
    options: Options,
    timer: Timer,
    tools: BTreeMap<String, String>,
    packages: Packages,
}

/// A program that was linked.
struct Linked {
    executable: Vec<u8>,
    functions: Vec<Code>,
}

impl<'a> Cycles<'a> {
    /// Of the data set of modules at `dataset`. Of the options those for sources are not looked at.
    ///
    /// # Errors
    /// When the data set or the inputs cannot be read, or there is no clang to link with or no QEMU.
    pub fn new(
        dataset: &Path,
        reader: &'a Reader,
        stdin: Stdin,
        options: &Options,
    ) -> Result<Cycles<'a>, Error> {
        let modules = Modules::open(dataset)?;
        let options = Options { net: false, ..options.clone() };
        let timer = Timer::open(&options)?;
        let mut tools = timer.tools(&[])?;
        tools.extend([recipe::compiler_version(timing::Compiler::Clang, false)?]);
        tools.extend(extract::tools());
        let packages = Packages::default();
        Ok(Cycles { modules, reader, stdin, options, timer, tools, packages })
    }

    fn rows(&self, item: &ProgramItem) -> Result<Vec<CyclesRow>, Error> {
        let mut own = Vec::new();
        for (number, module) in item.modules.iter().enumerate() {
            match self.reader.functions(&module.path, &module.content)? {
                Ok(functions) => own.push((number, module, functions)),
                Err(Verdict { name, detail }) => {
                    let detail = format!("{}: {detail}", module.path);
                    return Ok(item.rejected(&Verdict { name, detail }));
                }
            }
        }
        let Some(main) = own.iter().position(|(.., found)| found.contains_key("main")) else {
            return Ok(item.rejected(&Verdict::new(ModuleVerdict::NoMain, "")));
        };
        let instructions = own.iter().flat_map(|(.., functions)| functions.values());
        let program = CyclesRow {
            ir_instructions: instructions.map(|function| function.instructions).sum(),
            cpu: self.timer.cpu_name().to_owned(),
            ..row(&item.modules[main], &item.modules[main])
        };
        let failed = |Verdict { name, detail }, program| {
            Ok(vec![CyclesRow { verdict: name.into_owned(), detail, ..program }])
        };
        let mut parts = Vec::new();
        for (number, module, functions) in own {
            let source = symbols::source(number);
            match self.reader.object(&module.path, &module.content, source)? {
                Ok(object) => {
                    parts.push(Part { number, module: module.clone(), functions, object });
                }
                Err(verdict) => return failed(verdict, program),
            }
        }
        let own: Vec<&Part> = parts.iter().collect();
        let refused = match link(&own)? {
            Ok(linked) => return self.run(item, main, &own, &linked, &program),
            Err(verdict) => verdict,
        };
        // What its build linked it with later is among the package's other modules.
        let package = self.packages.of(&item.modules[main], &self.modules, self.reader)?;
        let needed = package.needed_by(&own);
        if needed.is_empty() {
            return failed(refused, program);
        }
        let instructions = needed.iter().flat_map(|part| part.functions.values());
        let more: u64 = instructions.map(|function| function.instructions).sum();
        let program = CyclesRow { ir_instructions: program.ir_instructions + more, ..program };
        let all = [own, needed].concat();
        match link(&all)? {
            Ok(linked) => self.run(item, main, &all, &linked, &program),
            Err(verdict) => failed(verdict, program),
        }
    }

    fn run(
        &self,
        item: &ProgramItem,
        main: usize,
        parts: &[&Part],
        linked: &Linked,
        program: &CyclesRow,
    ) -> Result<Vec<CyclesRow>, Error> {
        let ranges: Vec<_> = linked.functions.iter().map(|code| code.range.clone()).collect();
        let program = CyclesRow {
            code_bytes: Some(ranges.iter().map(|range| range.end - range.start).sum()),
            ..program.clone()
        };
        let none = [ProgramInput::default()];
        let inputs = if item.inputs.is_empty() { &none[..] } else { &item.inputs };
        let mut rows = Vec::new();
        for input in inputs {
            let job = Job {
                name: program.path.clone(),
                program: timing::Code::Elf(linked.executable.clone()),
                stdin: input.stdin.clone(),
            };
            let timing = self.timer.time_functions(&job, &ranges)?;
            let program = CyclesRow {
                input: input.name.clone(),
                verdict: timing.verdict,
                detail: timing.detail,
                ..program.clone()
            };
            let Some(measured) = timing.measurement else {
                rows.push(program);
                continue;
            };
            let of_functions = linked.functions.iter().zip(&measured.functions);
            let of_functions = of_functions.map(|(code, counts)| CyclesRow {
                input: input.name.clone(),
                function: code.function.clone(),
                ir_instructions: code.ir_instructions,
                code_bytes: Some(code.range.end - code.range.start),
                cycles: Some(counts.cycles),
                instructions: Some(counts.instructions),
                calls: Some(counts.calls),
                cpu: program.cpu.clone(),
                ..row(&parts[code.module].module, &item.modules[main])
            });
            let of_functions: Vec<_> = of_functions.collect();
            rows.push(of_program(program, &measured));
            rows.extend(of_functions);
        }
        Ok(rows)
    }
}

/// The program of these parts, or why it is none.
fn link(parts: &[&Part]) -> Result<Result<Linked, Verdict>, Error> {
    let objects: Vec<&[u8]> = parts.iter().map(|part| part.object.as_slice()).collect();
    Ok(match recipe::link(&objects)? {
        Ok(executable) => {
            let functions = symbols::functions(&executable, parts);
            Ok(Linked { executable, functions })
        }
        Err(verdict) => Err(Verdict::new(ModuleVerdict::DoesNotLink, verdict.detail)),
    })
}

/// A row about a module of a program, or about the program where it is the module with its `main`.
fn row(module: &Module, main: &Module) -> CyclesRow {
    CyclesRow {
        id: module.id.clone(),
        program: main.id.clone(),
        language: module.language.clone(),
        package: module.package.clone(),
        path: module.path.clone(),
        verdict: Verdict::ACCEPTED.to_owned(),
        ..CyclesRow::default()
    }
}

fn of_program(row: CyclesRow, measured: &Measurement) -> CyclesRow {
    CyclesRow {
        cycles: measured.cycles,
        instructions: measured.instructions,
        startup_cycles: measured.startup_cycles,
        kernel_cycles: measured.kernel_cycles,
        exit_status: Some(measured.exit_status),
        output_hash: measured.output_hash.clone(),
        ..row
    }
}

impl Stage for Cycles<'_> {
    const NAME: &'static str = "ir run";
    const UNITS: &'static str = "programs";
    type Item = ProgramItem;
    type Row = CyclesRow;
    type Facts = ();
    type Summary = CyclesReport;
    type Worker = ();
    type Error = Error;

    fn settings(&self) -> Value {
        let Options { max_instructions, timeout, memory_bytes, output_bytes, .. } = &self.options;
        serde_json::json!({
            "cpu": self.timer.cpu_name(), "timer": self.timer.identity(), "max_instructions": max_instructions,
            "timeout_ms": u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            "memory_bytes": memory_bytes, "output_bytes": output_bytes,
        })
    }

    fn inputs(&self) -> Result<Vec<Input>, Error> {
        let mut inputs = self.modules.inputs();
        let read = |path: &Path| std::fs::read(path).map_err(Error::file("read", path));
        match &self.stdin {
            Stdin::Empty => {}
            Stdin::File(path) => {
                inputs.push(Input { name: "stdin".into(), hash: content_hash(&read(path)?) });
            }
            Stdin::Folder(folder) => {
                let mut hashes = Vec::new();
                for path in program::files(folder)? {
                    let name = path.to_string_lossy().into_owned();
                    hashes.extend([content_hash(name.as_bytes()), content_hash(&read(&path)?)]);
                }
                let hash = content_hash_of(hashes.iter().map(String::as_bytes));
                inputs.push(Input { name: "inputs".into(), hash });
            }
        }
        Ok(inputs)
    }

    fn items(&self) -> Result<Items<'_, Self>, Error> {
        program::items(&self.modules, &self.stdin)
    }

    fn key(&self, item: &ProgramItem) -> String {
        item.key()
    }

    fn worker(&self) -> Result<(), Error> {
        Ok(())
    }

    fn work(&self, (): &mut (), items: &[ProgramItem]) -> Result<Vec<Worked<CyclesRow>>, Error> {
        items.iter().map(|item| Ok(Worked::Rows(self.rows(item)?))).collect()
    }

    fn left_out(&self) -> Result<BTreeMap<String, u64>, Error> {
        Ok(self.modules.dataset().rejected()?)
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.tools.clone()
    }

    fn finish<'a>(
        settings: &'a Value,
        (): (),
        units: &'a Units<CyclesRow>,
    ) -> Result<Finish<'a, CyclesRow, CyclesReport>, Error> {
        Ok(CyclesReport::finish(settings, units)?)
    }
}
