use crate::{
    Error, Result,
    worker::{Client, Launch},
};
use serde::{Deserialize, Serialize};

/// What kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceType {
    /// A processor.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// A dedicated accelerator.
    Accelerator,
    /// Anything else.
    Other,
}

impl DeviceType {
    /// Its word in tables and selections.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DeviceType::Cpu => "cpu",
            DeviceType::Gpu => "gpu",
            DeviceType::Accelerator => "accelerator",
            DeviceType::Other => "other",
        }
    }
}

/// An OpenCL device of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// As its driver names it. Where several have one name they are numbered, as in `NVIDIA H200 #2`, in the order in which the
    /// drivers list them.
    pub name: String,
    /// What kind of device.
    pub r#type: DeviceType,
    /// Whether kernels can be run on it.
    pub usable: bool,
    /// Why not; empty for usable ones.
    pub why: String,
    /// The platform it belongs to.
    pub platform: String,
    /// The platform's version; for PoCL it names the compiler too.
    pub platform_version: String,
    /// OpenCL version.
    pub version: String,
    /// Version of the driver.
    pub driver: String,
    /// OpenCL C version.
    pub language: String,
    /// Greatest clock frequency in MHz; 0 where the driver does not know.
    pub clock_mhz: u32,
    /// Compute units.
    pub compute_units: u32,
    /// Bytes of global memory.
    pub memory_bytes: u64,
}

/// The OpenCL devices of this machine, the unusable too. The drivers are asked in a worker process.
///
/// # Errors
/// That there is no OpenCL at all ([`Error::NoOpenCl`] says what to install), or no worker.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    Client::new(Launch::find()?)?.devices()
}

/// Names of devices with numbers behind those that several have, so that each is of one device.
pub(crate) fn told_apart(names: &[String]) -> Vec<String> {
    let count = |some: &[String], name: &String| some.iter().filter(|one| *one == name).count();
    let numbered = |(at, name): (usize, &String)| match count(names, name) {
        1 => name.clone(),
        _ => format!("{name} #{}", count(&names[..=at], name)),
    };
    names.iter().enumerate().map(numbered).collect()
}

/// The places in `devices` that `wanted` selects: `cpu`, `gpu`, `all`, or a part of a name or
/// platform (any case), several with commas, in the order of the words; each device once.
///
/// # Errors
/// When a word selects no usable device; says what there is.
pub fn select(devices: &[DeviceInfo], wanted: &str) -> Result<Vec<usize>> {
    let mut chosen = Vec::new();
    for word in wanted.split(',').map(|word| word.trim().to_lowercase()).filter(|w| !w.is_empty()) {
        let matches = |device: &DeviceInfo| match word.as_str() {
            "all" => true,
            "cpu" | "gpu" | "accelerator" => device.r#type.name() == word,
            _ => [&device.name, &device.platform].iter().any(|name| holds(name, &word)),
        };
        let found: Vec<usize> =
            (0..devices.len()).filter(|at| devices[*at].usable && matches(&devices[*at])).collect();
        if found.is_empty() {
            return Err(none(devices, &word));
        }
        // A kind of device means one of it: the first.
        let kind = ["cpu", "gpu", "accelerator"].contains(&word.as_str());
        let found = if kind { &found[..1] } else { &found[..] };
        chosen.extend(found.iter().filter(|at| !chosen.contains(*at)).copied().collect::<Vec<_>>());
    }
    match chosen.is_empty() {
        true => Err(none(devices, wanted)),
        false => Ok(chosen),
    }
}

/// Whether a name holds a word, in any case. A number at its end is a whole one: `#1` is not in `#10`.
fn holds(name: &str, word: &str) -> bool {
    let name = name.to_lowercase();
    let is_digit = |c: char| c.is_ascii_digit();
    let is_number = |text: &str| !text.is_empty() && text.chars().all(is_digit);
    let is_numbered = word.rsplit_once('#').is_some_and(|(_, number)| is_number(number));
    let goes_on = |at: usize| name[at + word.len()..].starts_with(is_digit);
    name.match_indices(word).any(|(at, _)| !(is_numbered && goes_on(at)))
}

fn none(devices: &[DeviceInfo], wanted: &str) -> Error {
    let describe = |device: &DeviceInfo| match device.usable {
        true => format!("{} ({})", device.name, device.r#type.name()),
        false => format!("{} ({}, not usable: {})", device.name, device.r#type.name(), device.why),
    };
    let found: Vec<String> = devices.iter().map(describe).collect();
    let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
    Error::NoDevice { wanted: wanted.to_owned(), found }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, r#type: DeviceType, usable: bool) -> DeviceInfo {
        DeviceInfo {
            name: name.into(),
            r#type,
            usable,
            why: if usable { String::new() } else { "broken".into() },
            platform: "Platform of ".to_owned() + name,
            platform_version: String::new(),
            version: String::new(),
            driver: String::new(),
            language: String::new(),
            clock_mhz: 0,
            compute_units: 0,
            memory_bytes: 0,
        }
    }

    fn machine() -> Vec<DeviceInfo> {
        vec![
            device("H200", DeviceType::Gpu, true),
            device("EPYC", DeviceType::Cpu, true),
            device("Old", DeviceType::Gpu, false),
            device("Other EPYC", DeviceType::Cpu, true),
        ]
    }

    #[test]
    fn kinds_mean_the_first_and_names_all_that_match() {
        assert_eq!(select(&machine(), "cpu,gpu").expect("both"), [1, 0]);
        assert_eq!(select(&machine(), "epyc").expect("two"), [1, 3]);
        assert_eq!(select(&machine(), "cpu,EPYC").expect("each once"), [1, 3]);
        assert_eq!(select(&machine(), "all").expect("usable ones"), [0, 1, 3]);
    }

    #[test]
    fn devices_of_one_name_have_numbers_and_are_selected_by_them() {
        let names = ["H200", "EPYC", "H200", "H200 NVL"].map(str::to_owned);
        assert_eq!(told_apart(&names), ["H200 #1", "EPYC", "H200 #2", "H200 NVL"]);
        let twelve = told_apart(&["H200"; 12].map(str::to_owned));
        let machine: Vec<DeviceInfo> =
            twelve.iter().map(|name| device(name, DeviceType::Gpu, true)).collect();
        assert_eq!(select(&machine, "h200 #1").expect("one"), [0]);
        assert_eq!(select(&machine, "#12,#2").expect("two"), [11, 1]);
        assert_eq!(select(&machine, "h200").expect("all").len(), 12);
        assert_eq!(select(&machine, "gpu").expect("the first"), [0]);
        let message = select(&machine, "#13").expect_err("there are twelve").to_string();
        assert!(message.contains("H200 #12"), "{message}");
    }

    #[test]
    fn a_word_without_a_device_says_what_there_is() {
        let message = select(&machine(), "cpu,arc").expect_err("no such device").to_string();
        assert!(message.contains("arc") && message.contains("H200"), "{message}");
        let message = select(&machine(), "old").expect_err("not usable").to_string();
        assert!(message.contains("broken"), "{message}");
        assert!(select(&machine(), "").is_err());
    }
}
