use crate::{Finding, HostPayload, Outcome};
use clang::{AddressSpace, Argument, Clang, Type};
use dataset::content_hash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of a kernel from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Interface {
    /// Its name.
    pub(crate) name: String,
    /// In order.
    pub(crate) arguments: Vec<Argument>,
    /// How many dimensions of the index space it asks for, 1 to 3.
    pub(crate) dimensions: u8,
    /// `reqd_work_group_size`, if it has one.
    pub(crate) required_group_size: Option<[u32; 3]>,
}

/// One kernel of a benchmark and which buffers it works on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// The kernel.
    pub(crate) interface: Interface,
    /// One per argument: arguments with equal keys get the same buffer.
    pub(crate) keys: Vec<String>,
    /// What a host program launches it with, where that is known.
    pub(crate) host: Option<HostPayload>,
}

impl Step {
    /// A step that shares buffers with others by type and name.
    pub(crate) fn alone(interface: Interface) -> Step {
        let key = |argument: &Argument| format!("{} {}", argument.type_name, argument.name);
        let keys = interface.arguments.iter().map(key).collect();
        Step { interface, keys, host: None }
    }
}

/// Which kernels of a program run in which order on which buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Names of kernels, in order, repeated at will; empty: each once, in the order of the text.
    pub(crate) kernels: Vec<String>,
    /// Buffers by `KERNEL.ARGUMENT`; arguments not named here share by type and name.
    pub(crate) buffers: BTreeMap<String, String>,
}

/// A program to be run: one kernel, or several in order as one benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Benchmark {
    /// Identity of the program: the hash of its text.
    pub(crate) id: String,
    /// Its package, as far as the data set knows it.
    pub(crate) package: String,
    /// Its license, as far as the data set knows it.
    pub(crate) license: String,
    /// Its family of near-duplicates, as far as the data set knows it.
    pub(crate) family: String,
    /// Where the program is from.
    pub(crate) path: String,
    /// The kernel's name as far as the data set knows it.
    pub(crate) name: String,
    /// Its name in its own file, where that was another.
    pub(crate) original_name: String,
    /// Its text.
    pub(crate) text: String,
    /// Its kernels; empty where only a compiler or driver can tell.
    pub(crate) interfaces: Vec<Interface>,
    /// How they run.
    pub(crate) order: Order,
    /// Whether a reference compiler has accepted it.
    pub(crate) compiled: bool,
    /// What a host program launches its one kernel with, where that is known.
    pub(crate) host: Option<HostPayload>,
}

impl Benchmark {
    /// Of a text alone, which also is all that its path is made of.
    #[must_use]
    pub fn of(text: &str) -> Benchmark {
        let id = content_hash(text.as_bytes());
        Benchmark { path: id.clone(), id, text: text.to_owned(), ..Benchmark::default() }
    }
}

/// The kernels of a benchmark as its data set or else clang knows them, or why clang rejects it.
///
/// # Errors
/// Where clang does not work.
pub(crate) fn interfaces(
    clang: &Clang,
    benchmark: &Benchmark,
) -> crate::Result<Result<Vec<Interface>, String>> {
    if !benchmark.interfaces.is_empty() {
        return Ok(Ok(benchmark.interfaces.clone()));
    }
    let answer = match clang.parse(&benchmark.text, &clang::Options::opencl()) {
        Ok(answer) => answer,
        Err(death) if death.is_ours() => return Err(crate::Error::Clang(death.to_string())),
        Err(death) => return Ok(Err(death.to_string())),
    };
    if let Some(error) = answer.first_error() {
        return Ok(Err(error.message.clone()));
    }
    let kernels = answer.facts.map(|facts| facts.kernels).unwrap_or_default();
    let known = |kernel: clang::Kernel| Interface {
        name: kernel.name,
        arguments: kernel.arguments,
        dimensions: kernel.dimensions,
        required_group_size: kernel.required_group_size,
    };
    Ok(Ok(kernels.into_iter().map(known).collect()))
}

/// The steps of a benchmark whose kernels are `interfaces`.
///
/// # Errors
/// The finding, where a kernel or argument that the order names is not there.
pub(crate) fn steps(interfaces: &[Interface], order: &Order) -> Result<Vec<Step>, Finding> {
    let absent = |what: String| Finding::new(Outcome::NoKernel, what);
    let mut steps: Vec<Step> = match order.kernels.is_empty() {
        true => interfaces.iter().cloned().map(Step::alone).collect(),
        false => {
            let named = |name: &String| {
                let found = interfaces.iter().find(|interface| interface.name == *name);
                found.cloned().map(Step::alone).ok_or_else(|| absent(format!("no kernel `{name}`")))
            };
            order.kernels.iter().map(named).collect::<Result<_, _>>()?
        }
    };
    for (place, buffer) in &order.buffers {
        let mut found = false;
        for step in &mut steps {
            let name = &step.interface.name;
            for (argument, key) in step.interface.arguments.iter().zip(&mut step.keys) {
                if *place == format!("{name}.{}", argument.name) {
                    // A space cannot begin the name of a type: no other key is like this.
                    *key = format!(" {buffer}");
                    found = true;
                }
            }
        }
        if !found {
            return Err(absent(format!("no argument `{place}`")));
        }
    }
    match steps.is_empty() {
        true => Err(absent(String::new())),
        false => Ok(steps),
    }
}

/// The first argument in local memory that a kernel reads and nothing writes: what stands there is left over from other
/// programs.
pub(crate) fn reads_unset(steps: &[Step]) -> Option<Finding> {
    let local = |argument: &&Argument| {
        matches!(argument.r#type, Type::Pointer { space: AddressSpace::Local, .. })
    };
    let mut arguments = steps.iter().flat_map(|step| &step.interface.arguments).filter(local);
    let unset = arguments.find(|argument| argument.read && !argument.written)?;
    Some(Finding::new(Outcome::ReadsUnset, format!("`{}` is never written", unset.name)))
}

/// The names of the kernels, joined by `+`.
pub(crate) fn names(steps: &[Step]) -> String {
    let names: Vec<&str> = steps.iter().map(|step| step.interface.name.as_str()).collect();
    names.join("+")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clang::Type;

    fn interface(name: &str, arguments: &[&str]) -> Interface {
        let argument = |name: &&str| Argument {
            name: (*name).to_owned(),
            type_name: "float*".into(),
            r#type: Type::Void,
            constant: false,
            indexes: false,
            read: true,
            written: true,
        };
        let arguments = arguments.iter().map(argument).collect();
        Interface { name: name.into(), arguments, dimensions: 1, required_group_size: None }
    }

    #[test]
    fn an_order_repeats_kernels_and_shares_buffers_across_names() {
        let interfaces = [interface("scan", &["in", "out"]), interface("add", &["a", "out"])];
        let kernels = ["scan", "add", "scan"].map(str::to_owned).to_vec();
        let buffers =
            [("scan.out", "sums"), ("add.a", "sums")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let order = Order { kernels, buffers: buffers.into() };
        let steps = steps(&interfaces, &order).expect("all are there");
        assert_eq!(names(&steps), "scan+add+scan");
        assert_eq!(steps[0].keys[1], steps[1].keys[0]);
        assert_ne!(steps[0].keys[1], steps[1].keys[1]);
        assert_eq!(steps[0].keys, steps[2].keys);
    }

    #[test]
    fn kernels_and_arguments_that_are_not_there_are_named() {
        let interfaces = [interface("scan", &["in"])];
        let detail = |kernels: &[&str], buffers: &[(&str, &str)]| {
            let kernels = kernels.iter().map(|name| (*name).to_owned()).collect();
            let pair = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
            let order = Order { kernels, buffers: buffers.iter().map(pair).collect() };
            steps(&interfaces, &order).expect_err("something is missing").detail
        };
        assert!(detail(&["sum"], &[]).contains("sum"));
        assert!(detail(&[], &[("scan.out", "b")]).contains("scan.out"));
    }
}
