use super::{Device, Fault};
use crate::{Finding, Outcome, kernel::Interface, payload::Limits, refusal};
use clang::{AddressSpace, Argument, Scalar, Type};
use opencl3::{
    kernel::{
        CL_KERNEL_ARG_ACCESS_READ_ONLY, CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
        CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL,
        CL_KERNEL_ARG_TYPE_CONST, Kernel, create_program_kernels,
    },
    program::Program,
};
use serde::{Deserialize, Serialize};

/// What a device says of a kernel it has built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KernelFacts {
    /// As far as the driver reports it; the arguments where they were asked for.
    pub(crate) interface: Interface,
    /// Local memory it declares itself.
    pub(crate) local_bytes: u64,
    /// Private memory of a work-item.
    pub(crate) private_bytes: u64,
}

/// A program that was built for a device.
#[derive(Debug)]
pub(crate) struct Built {
    /// Its text.
    pub(crate) text: String,
    /// What it was built with, beyond the driver's defaults.
    pub(crate) options: &'static str,
    kernels: Vec<(String, Kernel)>,
    // Kernels hold on to their program, but some drivers release it under them.
    _program: Program,
}

/// Language versions tried one after the other: most kernels are OpenCL C 1.2, the driver's
/// default; some need a later one.
const OPTIONS: [&str; 3] = ["", "-cl-std=CL2.0", "-cl-std=CL3.0"];

impl Built {
    /// Build `text`; `arguments`: have the driver keep what it knows about arguments.
    ///
    /// # Errors
    /// The finding: the compiler's first error, or that there is no kernel.
    pub(crate) fn new(device: &Device, text: &str, arguments: bool) -> Result<Built, Finding> {
        if let Some(finding) = refusal::of_text(text) {
            return Err(finding);
        }
        let mut first = None;
        for options in OPTIONS {
            let all =
                if arguments { format!("{options} -cl-kernel-arg-info") } else { options.into() };
            let program = Program::create_from_source(&device.context, text)
                .map_err(|error| Fault::at("make a program")(error).finding())?;
            match build(device, program, all.trim()) {
                Ok(program) => return Built::of(program, text, options),
                Err(finding) => first = first.or(Some(finding)),
            }
        }
        Err(first.expect("at least one way to build was tried"))
    }

    fn of(program: Program, text: &str, options: &'static str) -> Result<Built, Finding> {
        let kernels = create_program_kernels(&program)
            .map_err(|error| Finding::new(Outcome::NoKernel, error.to_string()))?;
        let named = |kernel: Kernel| kernel.function_name().ok().map(|name| (name, kernel));
        let mut kernels: Vec<(String, Kernel)> = kernels.into_iter().filter_map(named).collect();
        if kernels.is_empty() {
            return Err(Finding::new(Outcome::NoKernel, ""));
        }
        // Drivers list kernels in any order; the text has one.
        kernels.sort_by_key(|(name, _)| (definition(text, name), name.clone()));
        Ok(Built { text: text.to_owned(), options, kernels, _program: program })
    }

    /// Its kernel of that name.
    pub(crate) fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|(known, _)| known == name).map(|(_, kernel)| kernel)
    }

    /// What is known of its kernels, in the order of the text.
    pub(crate) fn facts(&self, device: &Device) -> Vec<KernelFacts> {
        let facts = |(name, kernel): &(String, Kernel)| KernelFacts {
            interface: Interface {
                name: name.clone(),
                arguments: arguments(kernel),
                dimensions: dimensions(&self.text),
                required_group_size: required(kernel, device),
            },
            local_bytes: kernel.get_local_mem_size(device.device.id()).unwrap_or(0),
            private_bytes: kernel.get_private_mem_size(device.device.id()).unwrap_or(0),
        };
        self.kernels.iter().map(facts).collect()
    }

    /// What the device allows `kernel`.
    ///
    /// # Errors
    /// The finding, where it asks for more local memory than there is: some drivers build it all the
    /// same and end the process when it is started.
    pub(crate) fn limits(device: &Device, kernel: &Kernel) -> Result<Limits, Finding> {
        let id = device.device.id();
        let mut limits = device.limits().clone();
        if let Ok(group @ 1..) = kernel.get_work_group_size(id) {
            limits.group = limits.group.min(group as u64);
        }
        let own = kernel.get_local_mem_size(id).unwrap_or(0);
        let most = limits.local_bytes;
        if own > most {
            let detail = format!("{own} bytes of local memory, the device has {most}");
            return Err(Finding::new(Outcome::OutOfResources, detail));
        }
        limits.local_bytes = most - own;
        Ok(limits)
    }
}

fn build(device: &Device, mut program: Program, options: &str) -> Result<Program, Finding> {
    match program.build(device.context.devices(), options) {
        Ok(()) => Ok(program),
        Err(error) => {
            let log = program.get_build_log(device.device.id()).unwrap_or_default();
            let mut lines = log.lines().map(str::trim).filter(|line| !line.is_empty());
            let first = lines.clone().next();
            let line = lines.clone().find(|line| line.contains("error")).or(first);
            // A heading says nothing without what stands below it.
            let below =
                lines.nth(1).filter(|_| line == first && line.is_some_and(|l| l.ends_with(':')));
            let said: Vec<&str> = line.into_iter().chain(below).collect();
            let detail = if said.is_empty() { error.to_string() } else { placed(&said.join(" ")) };
            Err(Finding::new(Outcome::BuildFailure, detail))
        }
    }
}

/// What a driver says, with the line in the place of the driver's own file (`error: /tmp/x.cl:8:10: ...`).
fn placed(said: &str) -> String {
    let place = || {
        let (file, rest) = said.split_once(".cl:")?;
        let (line, rest) = rest.split_once(':')?;
        let (column, what) = rest.split_once(": ")?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let before = file.rfind(' ').map_or("", |at| &file[..at]);
        let is_error = before.is_empty() || before == "error:";
        (is_error && is_number(line) && is_number(column)).then(|| format!("line {line}: {what}"))
    };
    place().unwrap_or_else(|| said.to_owned())
}

/// Where the kernel of that name is defined in the text, near enough for sorting.
fn definition(text: &str, name: &str) -> usize {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name)
        .find(|(at, _)| {
            let alone = !text[..*at].ends_with(is_word);
            let rest = &text[at + name.len()..];
            alone && rest.trim_start().starts_with('(')
        })
        .map_or(usize::MAX, |(at, _)| at)
}

fn required(kernel: &Kernel, device: &Device) -> Option<[u32; 3]> {
    let sizes = kernel.get_compile_work_group_size(device.device.id()).ok()?;
    let side = |axis: usize| u32::try_from(*sizes.get(axis)?).ok();
    let sides = [side(0)?, side(1)?, side(2)?];
    sides.iter().all(|side| *side > 0).then_some(sides)
}

/// The most dimensions that the text asks an index of.
fn dimensions(text: &str) -> u8 {
    let asks = |function: &str, axis: char| {
        text.match_indices(function).any(|(at, _)| {
            let rest = text[at + function.len()..].trim_start();
            rest.strip_prefix('(').is_some_and(|rest| rest.trim_start().starts_with(axis))
        })
    };
    let functions = ["get_global_id", "get_local_id", "get_group_id", "get_global_size"];
    let any = |axis| functions.iter().any(|function| asks(function, axis));
    if any('2') {
        3
    } else if any('1') {
        2
    } else {
        1
    }
}

/// The arguments as the driver reports them: names of types, where a compiler knows the types.
fn arguments(kernel: &Kernel) -> Vec<Argument> {
    let count = kernel.num_args().unwrap_or(0);
    (0..count).map_while(|at| argument(kernel, at).ok()).collect()
}

fn argument(kernel: &Kernel, at: u32) -> opencl3::Result<Argument> {
    let space = match kernel.get_arg_address_qualifier(at)? {
        CL_KERNEL_ARG_ADDRESS_GLOBAL => AddressSpace::Global,
        CL_KERNEL_ARG_ADDRESS_CONSTANT => AddressSpace::Constant,
        CL_KERNEL_ARG_ADDRESS_LOCAL => AddressSpace::Local,
        _ => AddressSpace::Private,
    };
    let type_name = kernel.get_arg_type_name(at)?.trim_end_matches('\0').to_owned();
    let constant = kernel.get_arg_type_qualifier(at)? & u64::from(CL_KERNEL_ARG_TYPE_CONST) != 0;
    let name = kernel.get_arg_name(at)?.trim_end_matches('\0').to_owned();
    let access = kernel.get_arg_access_qualifier(at)?;
    let r#type = named_type(&type_name, space, access);
    let written = space == AddressSpace::Global && !constant;
    Ok(Argument { name, type_name, r#type, constant, indexes: false, read: true, written })
}

fn named_type(name: &str, space: AddressSpace, access: u32) -> Type {
    if let Some(pointee) = name.trim_end().strip_suffix('*') {
        let pointee = Box::new(named_type(pointee, AddressSpace::Private, access));
        return Type::Pointer { space, pointee };
    }
    let words: Vec<&str> =
        name.split_whitespace().filter(|word| !["const", "volatile"].contains(word)).collect();
    let name = words.join(" ");
    if name.starts_with("image") {
        let read = access != CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
        let write = access != CL_KERNEL_ARG_ACCESS_READ_ONLY;
        return Type::Image { kind: name, read, write };
    }
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let (scalar, size_bytes) = match letters {
        "sampler_t" => return Type::Sampler,
        "void" => return Type::Void,
        "bool" => (Scalar::Bool, 1),
        "char" => (Scalar::Signed, 1),
        "uchar" | "unsigned char" => (Scalar::Unsigned, 1),
        "short" => (Scalar::Signed, 2),
        "ushort" | "unsigned short" => (Scalar::Unsigned, 2),
        "int" => (Scalar::Signed, 4),
        "uint" | "unsigned int" | "unsigned" => (Scalar::Unsigned, 4),
        "long" | "ptrdiff_t" | "intptr_t" => (Scalar::Signed, 8),
        "ulong" | "unsigned long" | "size_t" | "uintptr_t" => (Scalar::Unsigned, 8),
        "half" => (Scalar::Float, 2),
        "float" => (Scalar::Float, 4),
        "double" => (Scalar::Float, 8),
        _ => return Type::Opaque(name),
    };
    match name[letters.len()..].parse() {
        Ok(lanes @ (2 | 3 | 4 | 8 | 16)) => Type::Vector { scalar, size_bytes, lanes },
        _ => Type::Scalar { scalar, size_bytes },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_lines_and_no_files_of_the_driver() {
        for (said, wanted) in [
            ("error: /tmp/a/b.cl:8:10: use of 'foo'", "line 8: use of 'foo'"),
            ("/tmp/b.cl:8:10: error: no", "line 8: error: no"),
            ("<kernel>:8:10: error: no", "<kernel>:8:10: error: no"),
            ("error: b.cl:x:10: no", "error: b.cl:x:10: no"),
            ("Error(s) while linking:", "Error(s) while linking:"),
        ] {
            assert_eq!(placed(said), wanted);
        }
    }

    #[test]
    fn reads_the_drivers_names_of_types() {
        let global = |name| named_type(name, AddressSpace::Global, 0);
        let pointee = Box::new(Type::Vector { scalar: Scalar::Float, size_bytes: 4, lanes: 4 });
        assert_eq!(global("float4*"), Type::Pointer { space: AddressSpace::Global, pointee });
        let uint = Type::Scalar { scalar: Scalar::Unsigned, size_bytes: 4 };
        assert_eq!(named_type("unsigned int", AddressSpace::Private, 0), uint);
        assert_eq!(
            named_type("struct S", AddressSpace::Private, 0),
            Type::Opaque("struct S".into())
        );
    }

    #[test]
    fn counts_the_dimensions_a_text_asks_for() {
        assert_eq!(dimensions("int i = get_global_id(0);"), 1);
        assert_eq!(dimensions("int i = get_global_id( 1 );"), 2);
        assert_eq!(dimensions("get_group_id(2) + get_global_id(1)"), 3);
    }

    #[test]
    fn finds_where_a_kernel_is_defined() {
        let text = "kernel void AB(int a) {} kernel void A (int b) { }";
        assert!(definition(text, "AB") < definition(text, "A"));
    }
}
