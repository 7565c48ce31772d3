use super::HostPayload;
use serde::{Deserialize, Serialize};

/// Work-items of a group aimed at where the user leaves the choice to us.
const GROUP: u64 = 256;

/// The index space of one execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    /// How many dimensions it has, 1 to 3.
    pub(crate) dimensions: usize,
    /// Work-items along each; 1 beyond the last.
    pub(crate) global: [u64; 3],
    /// Work-items of a group along each; they divide `global`.
    pub(crate) local: [u64; 3],
}

/// What device and kernel allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Work-items of a group in all, for this kernel.
    pub(crate) group: u64,
    /// Work-items of a group along each dimension.
    pub(crate) items: [u64; 3],
    /// Bytes of one buffer.
    pub(crate) buffer_bytes: u64,
    /// Bytes of all buffers.
    pub(crate) memory_bytes: u64,
    /// Bytes of one `__constant` buffer.
    pub(crate) constant_bytes: u64,
    /// Bytes of local memory.
    pub(crate) local_bytes: u64,
    /// Whether it has images.
    pub(crate) images: bool,
    /// Pixels along one side of a 2-D image.
    pub(crate) image_side: u64,
}

impl Range {
    /// Lay out `size` work-items in `dimensions` dimensions, as even as they go, in groups of
    /// `group` (`None`: the largest up to 256 that fits).
    ///
    /// # Errors
    /// Why there is no such range.
    pub(crate) fn choose(
        size: u64,
        dimensions: usize,
        required: Option<[u32; 3]>,
        group: Option<u64>,
        limits: &Limits,
    ) -> Result<Range, String> {
        if size == 0 {
            return Err("a size of 0 work-items".to_owned());
        }
        if let Some(required) = required {
            return with_required(size, dimensions, required.map(u64::from), limits);
        }
        let global = split(size, dimensions);
        let local = match group {
            None => grow(global, dimensions, GROUP.min(limits.group), limits.items),
            Some(0) => return Err("a work-group of 0 work-items".to_owned()),
            Some(group) => split(group, dimensions),
        };
        let range = Range { dimensions, global, local };
        range.check(limits)?;
        Ok(range)
    }

    /// The range that a host program asks for. Where it leaves groups to the driver they are those that the kernel
    /// requires, else ours.
    ///
    /// # Errors
    /// Why the device has no such range.
    pub(crate) fn of_host(
        host: &HostPayload,
        required: Option<[u32; 3]>,
        limits: &Limits,
    ) -> Result<Range, String> {
        let sides = |asked: &[u64]| {
            let mut sides = [1_u64; 3];
            for (side, asked) in sides.iter_mut().zip(asked) {
                *side = *asked;
            }
            sides
        };
        let (dimensions, global) = (host.global.len().clamp(1, 3), sides(&host.global));
        if global.contains(&0) {
            return Err("a size of 0 work-items".to_owned());
        }
        let local = match (host.local.is_empty(), required) {
            (false, _) => sides(&host.local),
            (true, Some(required)) => required.map(|side| u64::from(side.max(1))),
            (true, None) => grow(global, dimensions, GROUP.min(limits.group), limits.items),
        };
        let range = Range { dimensions, global, local };
        range.check(limits)?;
        Ok(range)
    }

    /// Work-items in all.
    #[must_use]
    pub(crate) fn items(&self) -> u64 {
        self.global.iter().product()
    }

    /// Work-items of a group.
    #[must_use]
    pub(crate) fn group(&self) -> u64 {
        self.local.iter().product()
    }

    /// The shortest of its sides.
    #[must_use]
    pub(crate) fn side(&self) -> u64 {
        self.global[..self.dimensions].iter().copied().min().unwrap_or(1)
    }

    /// Such as `64x16`.
    #[must_use]
    pub(crate) fn text(&self, of: [u64; 3]) -> String {
        of[..self.dimensions].iter().map(u64::to_string).collect::<Vec<_>>().join("x")
    }

    fn check(&self, limits: &Limits) -> Result<(), String> {
        for axis in 0..3 {
            let (global, local) = (self.global[axis], self.local[axis]);
            if !global.is_multiple_of(local) {
                return Err(format!("groups of {local} do not divide {global} work-items"));
            }
            if local > limits.items[axis] {
                let most = limits.items[axis];
                return Err(format!("groups of {local}, the device allows {most} along a side"));
            }
        }
        if self.group() > limits.group {
            let (group, most) = (self.group(), limits.group);
            return Err(format!("groups of {group}, this kernel allows {most}"));
        }
        Ok(())
    }
}

fn with_required(
    size: u64,
    dimensions: usize,
    required: [u64; 3],
    limits: &Limits,
) -> Result<Range, String> {
    let asked = required.iter().rposition(|side| *side > 1).map_or(1, |last| last + 1);
    let dimensions = dimensions.max(asked);
    let local = required.map(|side| side.max(1));
    let group: u64 = local.iter().product();
    if !size.is_multiple_of(group) {
        return Err(format!("the kernel requires groups of {group}, which do not divide {size}"));
    }
    let groups = split(size / group, dimensions);
    let global = [local[0] * groups[0], local[1] * groups[1], local[2] * groups[2]];
    let range = Range { dimensions, global, local };
    range.check(limits)?;
    Ok(range)
}

/// Split `size` into factors as equal as they go, the larger first.
fn split(size: u64, dimensions: usize) -> [u64; 3] {
    match dimensions {
        0 | 1 => [size, 1, 1],
        2 => {
            let short = divisor_below(size, size.isqrt());
            [size / short, short, 1]
        }
        _ => {
            let short = divisor_below(size, (size as f64).cbrt().round() as u64);
            let [long, middle, _] = split(size / short, 2);
            [long, middle, short]
        }
    }
}

/// The greatest divisor of `size` up to `bound`.
fn divisor_below(size: u64, bound: u64) -> u64 {
    // A size without a divisor so near is laid out as a row; looking further would take long.
    let nearest = bound.saturating_sub(1 << 16).max(1);
    (nearest..=bound.max(1)).rev().find(|side| size.is_multiple_of(*side)).unwrap_or(1)
}

/// The largest group of up to `target` work-items that divides `global`, grown by prime factors.
fn grow(global: [u64; 3], dimensions: usize, target: u64, items: [u64; 3]) -> [u64; 3] {
    let mut local = [1_u64; 3];
    loop {
        let total: u64 = local.iter().product();
        let step = (0..dimensions)
            .filter_map(|axis| {
                let factor = smallest_factor(global[axis] / local[axis], target / total)?;
                (local[axis] * factor <= items[axis]).then_some((local[axis], axis, factor))
            })
            .min();
        match step {
            Some((_, axis, factor)) => local[axis] *= factor,
            None => return local,
        }
    }
}

/// The smallest prime factor of `number` up to `most`.
fn smallest_factor(number: u64, most: u64) -> Option<u64> {
    (2..=most.min(number)).find(|factor| number.is_multiple_of(*factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits() -> Limits {
        Limits {
            group: 1024,
            items: [1024, 1024, 64],
            buffer_bytes: 1 << 30,
            memory_bytes: 1 << 32,
            constant_bytes: 1 << 16,
            local_bytes: 48 << 10,
            images: true,
            image_side: 16384,
        }
    }

    #[test]
    fn sizes_become_squares_and_cubes_with_groups_that_divide() {
        let range = |size, dimensions| {
            let range = Range::choose(size, dimensions, None, None, &limits()).expect("it fits");
            (range.global, range.local)
        };
        assert_eq!(range(1 << 20, 1), ([1 << 20, 1, 1], [256, 1, 1]));
        assert_eq!(range(1 << 20, 2), ([1024, 1024, 1], [16, 16, 1]));
        assert_eq!(range(1 << 9, 2), ([32, 16, 1], [16, 16, 1]));
        assert_eq!(range(4096, 3), ([16, 16, 16], [8, 8, 4]));
        assert_eq!(range(1000, 1), ([1000, 1, 1], [200, 1, 1]));
        assert_eq!(range(97, 1), ([97, 1, 1], [97, 1, 1]));
    }

    #[test]
    fn a_required_group_is_kept_and_may_add_a_dimension() {
        let range = Range::choose(1024, 1, Some([8, 8, 1]), None, &limits()).expect("it fits");
        assert_eq!((range.dimensions, range.global, range.local), (2, [32, 32, 1], [8, 8, 1]));
        let reason = Range::choose(100, 1, Some([64, 1, 1]), None, &limits()).expect_err("100/64");
        assert!(reason.contains("64"), "{reason}");
    }

    #[test]
    fn sizes_of_nothing_and_groups_too_large_are_refused_with_their_numbers() {
        let refused = |size, group| {
            Range::choose(size, 1, None, group, &limits()).expect_err("no such range")
        };
        assert!(refused(0, None).contains('0'));
        assert!(refused(4096, Some(2048)).contains("2048"));
        assert!(refused(100, Some(64)).contains("100"));
        assert!(refused(64, Some(0)).contains('0'));
    }

    proptest! {
        #[test]
        fn every_range_holds_the_size_and_is_divided_by_its_groups(
            size in 1_u64..100_000, dimensions in 1_usize..4,
        ) {
            let range = Range::choose(size, dimensions, None, None, &limits()).expect("auto fits");
            prop_assert_eq!(range.items(), size);
            prop_assert!(range.group() <= 256);
            for axis in 0..3 {
                prop_assert_eq!(range.global[axis] % range.local[axis], 0);
            }
        }
    }
}
