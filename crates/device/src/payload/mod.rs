//! Payloads: what a kernel is given to work on (CLgen, section 5.1, and beyond).
//!
//! A [`Plan`] says for one kernel (or several in a row), one size and one variant of the [`VARIANTS`]
//! which buffers, images and values there are and which of them cross the bus; it knows nothing of
//! OpenCL's objects. [`Plan::payload`] then draws the contents.

mod host;
mod image;
mod layout;
mod range;
mod values;
mod variant;

pub use host::{HostArgument, HostPayload};
pub(crate) use image::{ImagePlan, TexelKind};
pub(crate) use layout::{Layout, Leaf};
pub(crate) use range::{Limits, Range};
pub(crate) use values::Side;
pub use values::Values;
pub use variant::{VARIANTS, Variant};

use crate::{Finding, Outcome, kernel::Step};
use clang::{AddressSpace, Argument, Type};
use serde::{Deserialize, Serialize};
use values::Shape;
use variant::Integers;

/// Local buffers hold this many elements per work-item of a group: scans keep two halves.
const LOCAL_ELEMENTS: u64 = 2;

/// What one execution is asked to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Names the payload's random numbers: the program's path.
    pub(crate) path: String,
    /// The kernels, in order.
    pub(crate) steps: Vec<Step>,
    /// Work-items.
    pub(crate) size: u64,
    /// Work-items of a group; `None`: our choice.
    pub(crate) group: Option<u64>,
    /// Index into [`VARIANTS`].
    pub(crate) variant: usize,
    /// Distribution of the contents.
    pub(crate) values: Values,
    /// Of the run.
    pub(crate) seed: u64,
}

/// How one kernel of a program is executed, for who counts what it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelLaunch {
    /// The kernel's name.
    pub kernel: String,
    /// Work-items along each dimension; 1 beyond the last.
    pub global: [u64; 3],
    /// The same of a group; they divide `global`.
    pub local: [u64; 3],
    /// What each argument is where it is a whole number; else any number.
    pub integers: Vec<u64>,
}

/// A buffer or image that lives on the device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object {
    /// The argument it was first made for.
    pub(crate) name: String,
    /// Of its elements or texels.
    pub(crate) layout: Layout,
    /// How many.
    pub(crate) elements: usize,
    /// Whether a kernel reads it: it is sent to the device.
    pub(crate) read: bool,
    /// Whether a kernel writes it: it is fetched from the device.
    pub(crate) written: bool,
    /// Values used as indices stay below this.
    pub(crate) below: Option<u64>,
    /// What kind of object.
    pub(crate) kind: ObjectKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ObjectKind {
    Global,
    Constant,
    Image(ImagePlan),
}

impl Object {
    pub(crate) fn bytes(&self) -> usize {
        self.layout.size * self.elements
    }
}

/// What a kernel's argument is set to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Binding {
    /// An object of the plan.
    Object(usize),
    /// Bytes of local memory.
    Local(usize),
    /// A value: integers of it are this.
    Value(Layout, u64),
    /// A sampler that clamps, with integer coordinates and no filter.
    Sampler,
}

/// How one execution is driven.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Index space per step.
    pub(crate) ranges: Vec<Range>,
    /// Buffers and images, shared by the steps.
    pub(crate) objects: Vec<Object>,
    /// Arguments per step.
    pub(crate) bindings: Vec<Vec<Binding>>,
    values: Values,
}

/// The contents for a [`Plan`].
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    /// Per object.
    pub(crate) objects: Vec<Vec<u8>>,
    /// Per step and argument; empty where the argument is no value.
    pub(crate) arguments: Vec<Vec<Vec<u8>>>,
}

impl Plan {
    /// Plan `job` within `limits` (one set per step: they are a kernel's).
    ///
    /// # Errors
    /// The finding, where no payload can be made.
    pub(crate) fn new(job: &Job, text: &str, limits: &[Limits]) -> Result<Plan, Finding> {
        let variant = &VARIANTS[job.variant];
        let values = if variant.small_values { Values::Small } else { job.values };
        let mut plan =
            Plan { ranges: Vec::new(), objects: Vec::new(), bindings: Vec::new(), values };
        let mut keys: Vec<&str> = Vec::new();
        for (step, limits) in job.steps.iter().zip(limits) {
            let interface = &step.interface;
            if interface.arguments.is_empty() {
                return Err(Finding::new(Outcome::NoArguments, interface.name.clone()));
            }
            let dimensions = usize::from(interface.dimensions.clamp(1, 3));
            let required = interface.required_group_size;
            let range = match &step.host {
                Some(host) => Range::of_host(host, required, limits),
                None => Range::choose(job.size, dimensions, required, job.group, limits),
            };
            let range = range.map_err(|reason| Finding::new(Outcome::InvalidSize, reason))?;
            let mut integers = Integers::new(variant, &range);
            let mut bindings = Vec::new();
            let mut local_bytes = 0;
            for (at, (argument, key)) in interface.arguments.iter().zip(&step.keys).enumerate() {
                let host = step.host.as_ref().map(|host| host.argument(at)).unwrap_or_default();
                let new = bind(argument, host, text, &range, variant, &mut integers, limits)?;
                bindings.push(match new {
                    New::Binding(binding) => binding,
                    New::Object(object) => match keys.iter().position(|known| known == key) {
                        Some(at) => {
                            plan.share(at, &object)?;
                            Binding::Object(at)
                        }
                        None => {
                            keys.push(key);
                            plan.objects.push(object);
                            Binding::Object(plan.objects.len() - 1)
                        }
                    },
                });
                if let Some(Binding::Local(bytes)) = bindings.last() {
                    local_bytes += *bytes as u64;
                }
            }
            if local_bytes > limits.local_bytes {
                let most = limits.local_bytes;
                let detail = format!("{local_bytes} bytes of local memory, the device has {most}");
                return Err(Finding::new(Outcome::OutOfResources, detail));
            }
            plan.ranges.push(range);
            plan.bindings.push(bindings);
        }
        if let Some(limits) = limits.first() {
            plan.fits(limits)?;
        }
        Ok(plan)
    }

    fn share(&mut self, at: usize, other: &Object) -> Result<(), Finding> {
        let known = &mut self.objects[at];
        if known.layout != other.layout || known.kind != other.kind {
            let detail = format!("`{}` is shared by arguments of different types", known.name);
            return Err(Finding::new(Outcome::UnsupportedArgument, detail));
        }
        known.read |= other.read;
        known.written |= other.written;
        known.elements = known.elements.max(other.elements);
        known.below = match (known.below, other.below) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        };
        Ok(())
    }

    fn fits(&self, limits: &Limits) -> Result<(), Finding> {
        let mut total = 0_u64;
        for object in &self.objects {
            let bytes = object.layout.size as u64 * object.elements as u64;
            let most = match object.kind {
                ObjectKind::Constant => limits.constant_bytes,
                _ => limits.buffer_bytes,
            };
            if bytes > most {
                let detail =
                    format!("`{}` takes {bytes} bytes, the device allows {most}", object.name);
                return Err(Finding::new(Outcome::InvalidSize, detail));
            }
            total += bytes;
        }
        if total > limits.memory_bytes {
            let detail = format!("{total} bytes in all, the device has {}", limits.memory_bytes);
            return Err(Finding::new(Outcome::OutOfResources, detail));
        }
        Ok(())
    }

    /// The same with other integers for arguments: smaller ones, no two of them equal and few a power of two. As it is for
    /// number 0.
    pub(crate) fn altered(&self, number: u64) -> Plan {
        let mut plan = self.clone();
        for (at, binding) in (0..).zip(plan.bindings.iter_mut().flatten()) {
            if let Binding::Value(_, integer) = binding
                && number > 0
                && *integer > 8 * (number + at)
            {
                *integer -= *integer / 4 + 2 * number + at - 1;
            }
        }
        plan
    }

    /// Bytes that cross the bus in one execution, both ways.
    pub(crate) fn transferred_bytes(&self) -> u64 {
        let crossing = |object: &Object| {
            object.bytes() as u64 * (u64::from(object.read) + u64::from(object.written))
        };
        self.objects.iter().map(crossing).sum()
    }

    /// How its kernels are executed.
    pub(crate) fn launches(&self, steps: &[Step]) -> Vec<KernelLaunch> {
        let integer = |binding: &Binding| match binding {
            Binding::Value(_, integer) => *integer,
            Binding::Object(_) | Binding::Local(_) | Binding::Sampler => 0,
        };
        let each = steps.iter().zip(&self.ranges).zip(&self.bindings);
        let launch = |((step, range), bindings): ((&Step, &Range), &Vec<Binding>)| KernelLaunch {
            kernel: step.interface.name.clone(),
            global: range.global,
            local: range.local,
            integers: bindings.iter().map(integer).collect(),
        };
        each.map(launch).collect()
    }

    /// Bytes of all objects.
    pub(crate) fn bytes(&self) -> u64 {
        self.objects.iter().map(|object| object.bytes() as u64).sum()
    }

    /// Draw the contents; the same job and side give the same bytes.
    pub(crate) fn payload(&self, job: &Job, side: Side) -> Payload {
        let kernels: Vec<&str> =
            job.steps.iter().map(|step| step.interface.name.as_str()).collect();
        let kernels = kernels.join("+");
        let stream =
            |what: &str| values::stream(job.seed, &[&job.path, &kernels, what], job.size, side);
        let draw = |object: &Object| {
            let shape = Shape { values: self.values, side, below: object.below };
            values::fill(&object.layout, object.elements, shape, &mut stream(&object.name))
        };
        let shape = Shape { values: self.values, side, below: None };
        let value = |step: usize, at: usize, binding: &Binding| {
            let Binding::Value(layout, integer) = binding else { return Vec::new() };
            let host = job.steps.get(step).and_then(|step| step.host.as_ref());
            match host.and_then(|host| host.argument(at).value) {
                Some(number) => values::exactly(layout, number),
                None => values::by_value(layout, *integer, shape, &mut stream(&at.to_string())),
            }
        };
        let arguments = |(step, bindings): (usize, &Vec<Binding>)| {
            let each = bindings.iter().enumerate();
            each.map(|(at, binding)| value(step, at, binding)).collect::<Vec<Vec<u8>>>()
        };
        Payload {
            objects: self.objects.iter().map(draw).collect(),
            arguments: self.bindings.iter().enumerate().map(arguments).collect(),
        }
    }
}

enum New {
    Binding(Binding),
    Object(Object),
}

fn bind(
    argument: &Argument,
    host: HostArgument,
    text: &str,
    range: &Range,
    variant: &Variant,
    integers: &mut Integers,
    limits: &Limits,
) -> Result<New, Finding> {
    let unsupported = |reason: String| {
        let detail = format!("`{} {}`: {reason}", argument.type_name, argument.name);
        Finding::new(Outcome::UnsupportedArgument, detail)
    };
    match &argument.r#type {
        Type::Pointer { space, pointee } => {
            let layout = Layout::of(pointee).map_err(unsupported)?;
            match space {
                AddressSpace::Local => {
                    let elements = host.elements.unwrap_or(range.group() * LOCAL_ELEMENTS);
                    let elements = usize::try_from(elements).unwrap_or(usize::MAX);
                    Ok(New::Binding(Binding::Local(layout.size.saturating_mul(elements))))
                }
                AddressSpace::Global | AddressSpace::Generic | AddressSpace::Constant => {
                    let constant = *space == AddressSpace::Constant;
                    // Nothing is known about how a pointer is used that is neither read nor
                    // written here: it goes both ways, as one that is.
                    let unknown = !argument.read && !argument.written;
                    let kind = if constant { ObjectKind::Constant } else { ObjectKind::Global };
                    let room = range.items().saturating_mul(variant.room);
                    let elements = host.elements.unwrap_or(room);
                    let bound = || argument.indexes.then(|| integers.bound());
                    Ok(New::Object(Object {
                        name: argument.name.clone(),
                        layout,
                        elements: usize::try_from(elements).unwrap_or(usize::MAX / 64),
                        read: argument.read || constant || unknown,
                        written: !constant && !argument.constant && (argument.written || unknown),
                        below: host.below.or_else(bound),
                        kind,
                    }))
                }
                AddressSpace::Private => Err(unsupported("a pointer to private memory".into())),
            }
        }
        Type::Image { kind, read, write } => {
            if !limits.images {
                return Err(unsupported("the device has no images".into()));
            }
            let image =
                ImagePlan::new(kind, &argument.name, text, range, limits).map_err(unsupported)?;
            Ok(New::Object(Object {
                name: argument.name.clone(),
                layout: image.layout(),
                elements: image.texels(),
                read: *read || !*write,
                written: *write,
                below: None,
                kind: ObjectKind::Image(image),
            }))
        }
        Type::Sampler => Ok(New::Binding(Binding::Sampler)),
        by_value => {
            let layout = Layout::of(by_value).map_err(unsupported)?;
            let drawn = integers.next_for(&layout);
            let integer = host.value.map_or(drawn, |number| number as u64);
            Ok(New::Binding(Binding::Value(layout, integer)))
        }
    }
}

#[cfg(test)]
mod tests;
