//! `--want`: the features that kernels are to have.

use anyhow::bail;
use lm::condition;
use std::collections::BTreeMap;
use synth::Target;

/// The most that a feature without a largest value in its step comes to.
const MOST: u64 = 1 << 53;

/// How a number stands for others, in messages.
const STEPS: &str = "0, 1, 2 to 3, 4 to 7, 8 to 15 and so on";

/// What `NAME=VALUE` ask for.
///
/// # Errors
/// What is not written so, and that no kernel has all of it.
pub(super) fn wanted(wants: &[String]) -> anyhow::Result<BTreeMap<String, f64>> {
    let mut wanted = BTreeMap::new();
    for want in wants {
        let (name, value) = one(want)?;
        wanted.insert(name.to_owned(), value);
    }
    if let Some(why) = impossible(&wanted)? {
        let all = wants.join(",");
        bail!(
            "--want {all}: no kernel has these features: {why} (each is wanted in its step: {STEPS})"
        );
    }
    Ok(wanted)
}

fn one(want: &str) -> anyhow::Result<(&str, f64)> {
    let Some((name, value)) = want.split_once('=') else {
        bail!("--want {want}: write NAME=VALUE");
    };
    if !condition::FEATURES.contains(&name) {
        let near = dataset::near(name, condition::FEATURES);
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        bail!("no feature `{name}`; {near}there are {}", condition::FEATURES.join(", "));
    }
    if value.contains("..") {
        bail!(
            "--want {want}: a range is not taken here; write one number of it, which stands for its step ({STEPS}). \
             Targets of `steer` may be ranges"
        );
    }
    let Ok(value) = value.trim().parse::<f64>() else {
        bail!("--want {want}: `{value}` is no number; write one, as in {name}=4");
    };
    anyhow::ensure!(
        value.is_finite() && value >= 0.0,
        "--want {want}: a feature is a count, from 0 on"
    );
    Ok((name, value))
}

/// The least and the most that are as wanted.
fn bounds(value: f64) -> (u64, u64) {
    match condition::step(value) {
        0 => (0, 0),
        step if step + 1 == condition::STEPS => (1 << (step - 1), MOST),
        step => (1 << (step - 1), (1 << step) - 1),
    }
}

/// Why no kernel has these features, as far as that is known of all kernels.
fn impossible(wanted: &BTreeMap<String, f64>) -> anyhow::Result<Option<String>> {
    let of = |name: &str| wanted.get(name).map(|value| bounds(*value));
    for space in ["grewe", "instcount"] {
        let space = features::space(space)?;
        let mut target: Vec<String> = Vec::new();
        for dimension in space.dimensions() {
            if let Some((least, most)) = condition::feature(dimension).and_then(of) {
                target.push(format!("{dimension}={least}..{most}"));
            }
        }
        if target.is_empty() {
            continue;
        }
        match synth::check(&Target::parse(&target.join(","), space)?, space) {
            Err(synth::Error::Impossible { constraint, .. }) => {
                let named = constraint.replace("TotalInsts", "instructions");
                return Ok(Some(named.replace("TotalBlocks", "blocks")));
            }
            checked => checked?,
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(wants: &str) -> String {
        let wants: Vec<String> = wants.split(',').map(str::to_owned).collect();
        wanted(&wants).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_no_kernel_has_is_named_before_anything_is_drawn() {
        for (wants, why) in [
            ("mem=2,localmem=4", "localmem sum to 4, more than mem = 3"),
            ("blocks=0", "blocks = 0: every kernel has at least one"),
            ("instructions=0.5", "instructions = 0: every kernel has at least one"),
            ("instructions=3,blocks=8", "blocks sum to 8, more than instructions = 3"),
            ("mem=0,localmem=2000,comp=4", "localmem sum to 1024, more than mem = 0"),
        ] {
            let said = said(wants);
            assert!(said.starts_with(&format!("--want {wants}: no kernel")), "{said}");
            assert!(said.contains(why), "{wants}: {said}");
        }
    }

    #[test]
    fn what_some_kernel_may_have_is_wanted() {
        for wants in [
            "mem=4,localmem=0",
            // Both may be 7.
            "mem=4,localmem=7",
            // Of pointers into a buffer the accesses count here, and the buffer's name does not.
            "mem=2,coalesced=4",
            "mem=0,atomic=2",
            "instructions=9,blocks=8",
            "tokens=0",
            "mem=1e300",
        ] {
            assert_eq!(said(wants), "");
        }
    }

    #[test]
    fn what_is_no_number_is_told_with_what_is_taken() {
        for (wants, why) in [
            ("mem=3..5", "--want mem=3..5: a range is not taken here"),
            ("mem=many", "`many` is no number; write one, as in mem=4"),
            ("mem=-1", "a feature is a count, from 0 on"),
            ("mem", "write NAME=VALUE"),
            ("locelmem=3", "did you mean `localmem`?"),
        ] {
            assert!(said(wants).contains(why), "{}", said(wants));
        }
    }
}
