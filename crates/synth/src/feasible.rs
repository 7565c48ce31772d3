//! What no program can have: targets that break one of these are named, not searched for.

use crate::{Constraint, Error, Target};
use features::FeatureSpace;

/// Opcodes that clang never emits for OpenCL C.
const NEVER: [&str; 14] = [
    "Invoke",
    "Resume",
    "CleanupRet",
    "CatchRet",
    "CatchSwitch",
    "CallBr",
    "CleanupPad",
    "CatchPad",
    "LandingPad",
    "UserOp1",
    "UserOp2",
    "VAArg",
    "IndirectBr",
    "FRem",
];

/// The most that any dimension of a program comes to: squares of it still add up.
const MOST: f64 = 9_007_199_254_740_992.0;

/// Parts that are never more than their whole.
const INSTCOUNT_BOUNDS: [(&str, &[&str]); 3] = [
    ("TotalInsts", &["TotalBlocks"]),
    ("TotalBlocks", &["TotalFuncs"]),
    // Each block ends with one of these.
    ("TotalBlocks", &["Ret", "Br", "Switch", "Unreachable"]),
];
const AUTOPHASE_BOUNDS: [(&str, &[&str]); 8] = [
    ("TotalBlocks", &["BranchCount", "NumRetInst"]),
    ("TotalBlocks", &["BlockLow", "BlockMid"]),
    ("TotalBlocks", &["onePred", "twoPred", "morePreds"]),
    ("TotalBlocks", &["oneSuccessor", "twoSuccessor"]),
    ("onePred", &["onePredOneSuc", "onePredTwoSuc"]),
    ("BranchCount", &["UncondBranches"]),
    ("NumEdges", &["CriticalCount"]),
    ("TotalInsts", &["TotalBlocks"]),
];

/// Check that some program of OpenCL C could lie at `target`, as far as is known without one.
///
/// # Errors
/// [`Error::Impossible`] with the constraint that is broken and the values that break it.
pub fn check(target: &Target, space: &dyn FeatureSpace) -> Result<(), Error> {
    let mut at = 0;
    for one in space.joined() {
        let own = at..at + one.dimensions().len();
        at = own.end;
        check(&Target { constraints: target.constraints[own].to_vec(), ..target.clone() }, *one)?;
    }
    let checked = Checked { target, dimensions: space.dimensions() };
    checked.counts(space.name())?;
    match space.name() {
        "instcount" => {
            checked.at_least_one(&["TotalInsts", "TotalBlocks", "TotalFuncs", "Ret"])?;
            checked.never()?;
            checked.bounds(&INSTCOUNT_BOUNDS)?;
            checked.sums(space)?;
            checked.bounds(&[("TotalInsts", &checked.dimensions[3..])])
        }
        "autophase" => {
            checked.at_least_one(&["TotalInsts", "TotalBlocks", "TotalFuncs", "NumRetInst"])?;
            checked.sums(space)?;
            checked.bounds(&AUTOPHASE_BOUNDS)?;
            checked.edges()
        }
        "grewe" => checked.ratios(space),
        // The original counts names and subscripts, which need not be the same accesses.
        "grewe-fixed" => {
            checked.bounds(&[("mem", &["coalesced"])])?;
            checked.at_most_one("F2:coalesced/mem")?;
            checked.ratios(space)
        }
        _ => Ok(()),
    }
}

struct Checked<'a> {
    target: &'a Target,
    dimensions: Vec<&'static str>,
}

impl Checked<'_> {
    fn constraint(&self, name: &str) -> Option<Constraint> {
        let index = self.dimensions.iter().position(|dimension| *dimension == name)?;
        self.target.constraints[index]
    }

    fn broken(&self, why: String) -> Error {
        Error::Impossible { name: self.target.name.clone(), constraint: why }
    }

    /// No space has negative values; most have counts.
    fn counts(&self, space: &str) -> Result<(), Error> {
        for (name, constraint) in self.dimensions.iter().zip(&self.target.constraints) {
            let Some(constraint) = constraint else { continue };
            if constraint.most < 0.0
                || !constraint.most.is_finite()
                || !constraint.least.is_finite()
            {
                return Err(
                    self.broken(format!("{name} = {} is no count of anything", constraint.most))
                );
            }
            if constraint.least > MOST {
                return Err(
                    self.broken(format!("{name} = {:e}: no program is so large", constraint.least))
                );
            }
            let whole = constraint.most.floor() >= constraint.least;
            let counts = match space {
                "instcount" | "autophase" | "tokens" => true,
                "grewe" | "grewe-fixed" => !name.contains('/'),
                _ => false,
            };
            if counts && !whole {
                return Err(self.broken(format!("{name} counts, it is never {}", constraint.least)));
            }
        }
        Ok(())
    }

    fn at_least_one(&self, names: &[&str]) -> Result<(), Error> {
        for name in names {
            if self.constraint(name).is_some_and(|constraint| constraint.most < 1.0) {
                return Err(self.broken(format!("{name} = 0: every kernel has at least one")));
            }
        }
        Ok(())
    }

    /// A ratio of a part to its whole.
    fn at_most_one(&self, name: &str) -> Result<(), Error> {
        match self.constraint(name).filter(|constraint| constraint.least > 1.0) {
            Some(ratio) => {
                Err(self.broken(format!("{name} = {}: it is never above 1", ratio.least)))
            }
            None => Ok(()),
        }
    }

    fn never(&self) -> Result<(), Error> {
        for name in NEVER {
            if let Some(constraint) =
                self.constraint(name).filter(|constraint| constraint.least > 0.0)
            {
                let least = constraint.least;
                return Err(self.broken(format!("{name} = {least}: clang emits none for OpenCL C")));
            }
        }
        Ok(())
    }

    /// No edge leads to the first block of a function.
    fn edges(&self) -> Result<(), Error> {
        match (self.constraint("TotalBlocks"), self.constraint("NumEdges")) {
            (Some(blocks), Some(edges)) if blocks.most < 2.0 && edges.least > 0.0 => Err(self
                .broken(format!("NumEdges = {}, but none leads to the only block", edges.least))),
            _ => Ok(()),
        }
    }

    /// A whole is no more than its parts together.
    fn sums(&self, space: &dyn FeatureSpace) -> Result<(), Error> {
        for (whole, parts) in space.sums() {
            let Some(all) = self.constraint(whole) else { continue };
            let Some(known) =
                parts.iter().map(|part| self.constraint(part)).collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            let most: f64 = known.iter().map(|part| part.most).sum();
            if all.least > most {
                let parts = list(&parts);
                return Err(self.broken(format!(
                    "{whole} = {} but {parts} sum to {most}: they are all there is of it",
                    all.least
                )));
            }
        }
        Ok(())
    }

    /// A ratio is that of its counts, where both are constrained to a value.
    fn ratios(&self, space: &dyn FeatureSpace) -> Result<(), Error> {
        let exactly = |name: &str| {
            let constraint =
                self.constraint(name).filter(|constraint| constraint.least == constraint.most)?;
            Some(constraint.least)
        };
        let mut vector: Vec<f64> =
            self.dimensions.iter().map(|name| exactly(name).unwrap_or(0.0)).collect();
        space.complete(&mut vector);
        for (name, value) in self.dimensions.iter().zip(vector) {
            let Some((over, under)) = name.split_once(':').and_then(|(_, of)| of.split_once('/'))
            else {
                continue;
            };
            let known = exactly(over).zip(exactly(under));
            if let (Some(constraint), Some((over, under))) = (self.constraint(name), known)
                && constraint.excess(value) != 0.0
            {
                return Err(self.broken(format!(
                    "{name} = {} but {over} / {under} gives {value} (to three digits, a \
                     divisor of at least 1)",
                    constraint.least
                )));
            }
        }
        Ok(())
    }

    /// `parts` together are at most `whole`.
    fn bounds(&self, bounds: &[(&str, &[&str])]) -> Result<(), Error> {
        for (whole, parts) in bounds {
            let Some(all) = self.constraint(whole) else { continue };
            let least: f64 =
                parts.iter().filter_map(|part| self.constraint(part)).map(|part| part.least).sum();
            if least > all.most {
                let parts = list(parts);
                return Err(self.broken(format!(
                    "{parts} sum to {least}, more than {whole} = {} that they are part of",
                    all.most
                )));
            }
        }
        Ok(())
    }
}

fn list(parts: &[&str]) -> String {
    if parts.len() > 8 { "all opcodes".to_owned() } else { parts.join(" + ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str, space: &str) -> String {
        let space = features::space(space).expect("registered");
        let target = Target::parse(text, space).expect("well-formed");
        check(&target, space).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_no_program_has_is_named() {
        assert!(broken("Load=-1", "instcount").contains("Load = -1"));
        assert!(broken("Load=1e308", "instcount").contains("no program is so large"));
        assert!(broken("Ret=0", "instcount").contains("at least one"));
        assert!(broken("LandingPad=2", "instcount").contains("LandingPad"));
        assert!(
            broken("TotalInsts=5,Load=4,Store=4", "instcount").contains("more than TotalInsts")
        );
        assert!(broken("Load=1.5", "instcount").contains("never 1.5"));
        assert!(broken("BeginPhi=3,BB03Phi=1,BBHiPhi=1", "autophase").contains("BeginPhi = 3"));
        assert!(broken("BranchCount=1,UncondBranches=2", "autophase").contains("UncondBranches"));
        assert!(broken("TotalBlocks=2,BranchCount=9", "autophase").contains("TotalBlocks = 2"));
        assert!(broken("TotalBlocks=1,NumEdges=4", "autophase").contains("the only block"));
        assert!(broken("TotalBlocks=1,Ret=7", "instcount").contains("more than TotalBlocks = 1"));
        assert_eq!(broken("TotalBlocks=2,NumEdges=9", "autophase"), "");
        assert!(broken("comp=1.5", "grewe").contains("never 1.5"));
        assert!(broken("comp=0,mem=2,F4:comp/mem=3", "grewe").contains("0 / 2 gives 0"));
        assert!(broken("mem=2,coalesced=3", "grewe-fixed").contains("more than mem = 2"));
        assert!(broken("F2:coalesced/mem=1.5", "grewe-fixed").contains("never above 1"));
    }

    #[test]
    fn what_some_program_has_passes() {
        for text in ["Load=12,FMul=8", "TotalInsts=40..60,Br=3", "Ret=1,TotalBlocks=3,Br=2"] {
            assert_eq!(broken(text, "instcount"), "");
        }
        for text in ["comp=2,mem=3,F4:comp/mem=0.667", "comp=2,mem=1..9,F4:comp/mem=2", "mem=0"] {
            assert_eq!(broken(text, "grewe"), "");
        }
        assert_eq!(broken("mem=2,coalesced=3", "grewe"), "");
        assert_eq!(broken("mem=3,coalesced=3", "grewe-fixed"), "");
    }
}
