//! What no program can have: targets that break one of these are named, not searched for.

use crate::{Error, Target, target::Wanted};
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

/// Sums that hold in every module, where all their parts are wished for: the whole, its parts.
const INSTCOUNT_SUMS: [(&str, &[&str]); 1] =
    [("TotalBlocks", &["Ret", "Br", "Switch", "IndirectBr", "Invoke", "Resume", "Unreachable"])];
const AUTOPHASE_SUMS: [(&str, &[&str]); 4] = [
    ("TotalBlocks", &["BBNoPhi", "BB03Phi", "BBHiPhi"]),
    ("BeginPhi", &["BB03Phi", "BBHiPhi"]),
    ("BranchCount", &["NumBrInst"]),
    (
        "TotalMemInst",
        &["NumGetElementPtrInst", "NumLoadInst", "NumStoreInst", "NumCallInst", "NumAllocaInst"],
    ),
];
/// Parts that are never more than their whole.
const INSTCOUNT_BOUNDS: [(&str, &[&str]); 2] =
    [("TotalInsts", &["TotalBlocks"]), ("TotalBlocks", &["TotalFuncs"])];
const AUTOPHASE_BOUNDS: [(&str, &[&str]); 7] = [
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
    let checked = Checked { target, dimensions: space.dimensions() };
    checked.counts(space.name())?;
    match space.name() {
        "instcount" => {
            checked.at_least_one(&["TotalInsts", "TotalBlocks", "TotalFuncs", "Ret"])?;
            checked.never()?;
            checked.sums(&INSTCOUNT_SUMS)?;
            checked.bounds(&INSTCOUNT_BOUNDS)?;
            let opcodes = &checked.dimensions[3..];
            checked.sums(&[("TotalInsts", opcodes)])?;
            checked.bounds(&[("TotalInsts", opcodes)])
        }
        "autophase" => {
            checked.at_least_one(&["TotalInsts", "TotalBlocks", "TotalFuncs", "NumRetInst"])?;
            checked.sums(&AUTOPHASE_SUMS)?;
            checked.bounds(&AUTOPHASE_BOUNDS)
        }
        _ => Ok(()),
    }
}

struct Checked<'a> {
    target: &'a Target,
    dimensions: Vec<&'static str>,
}

impl Checked<'_> {
    fn wanted(&self, name: &str) -> Option<Wanted> {
        let place = self.dimensions.iter().position(|dimension| *dimension == name)?;
        self.target.wanted[place]
    }

    fn broken(&self, constraint: String) -> Error {
        Error::Impossible { name: self.target.name.clone(), constraint }
    }

    /// No space has negative values; most have counts.
    fn counts(&self, space: &str) -> Result<(), Error> {
        for (name, wanted) in self.dimensions.iter().zip(&self.target.wanted) {
            let Some(wanted) = wanted else { continue };
            if wanted.most < 0.0 || !wanted.most.is_finite() || !wanted.least.is_finite() {
                return Err(
                    self.broken(format!("{name} = {} is no count of anything", wanted.most))
                );
            }
            let whole = wanted.most.floor() >= wanted.least;
            let counts = matches!(space, "instcount" | "autophase" | "tokens");
            if counts && !whole {
                return Err(self.broken(format!("{name} counts, it is never {}", wanted.least)));
            }
        }
        Ok(())
    }

    fn at_least_one(&self, names: &[&str]) -> Result<(), Error> {
        for name in names {
            if self.wanted(name).is_some_and(|wanted| wanted.most < 1.0) {
                return Err(self.broken(format!("{name} = 0: every kernel has at least one")));
            }
        }
        Ok(())
    }

    fn never(&self) -> Result<(), Error> {
        for name in NEVER {
            if let Some(wanted) = self.wanted(name).filter(|wanted| wanted.least > 0.0) {
                let least = wanted.least;
                return Err(self.broken(format!("{name} = {least}: clang emits none for OpenCL C")));
            }
        }
        Ok(())
    }

    /// `whole` is the sum of `parts`.
    fn sums(&self, sums: &[(&str, &[&str])]) -> Result<(), Error> {
        for (whole, parts) in sums {
            let Some(all) = self.wanted(whole) else { continue };
            let Some(known) =
                parts.iter().map(|part| self.wanted(part)).collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            let most: f64 = known.iter().map(|part| part.most).sum();
            if all.least > most {
                let parts = list(parts);
                return Err(self.broken(format!(
                    "{whole} = {} but {parts} sum to {most}: they are all there is of it",
                    all.least
                )));
            }
        }
        Ok(())
    }

    /// `parts` together are at most `whole`.
    fn bounds(&self, bounds: &[(&str, &[&str])]) -> Result<(), Error> {
        for (whole, parts) in bounds {
            let Some(all) = self.wanted(whole) else { continue };
            let least: f64 =
                parts.iter().filter_map(|part| self.wanted(part)).map(|part| part.least).sum();
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

    fn broken(wish: &str, space: &str) -> String {
        let space = features::space(space).expect("registered");
        let target = Target::parse(wish, space).expect("well-formed");
        check(&target, space).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_no_program_has_is_named() {
        assert!(broken("Load=-1", "instcount").contains("Load = -1"));
        assert!(broken("Ret=0", "instcount").contains("at least one"));
        assert!(broken("LandingPad=2", "instcount").contains("LandingPad"));
        assert!(
            broken("TotalInsts=5,Load=4,Store=4", "instcount").contains("more than TotalInsts")
        );
        assert!(broken("Load=1.5", "instcount").contains("never 1.5"));
        assert!(broken("BeginPhi=3,BB03Phi=1,BBHiPhi=1", "autophase").contains("BeginPhi = 3"));
        assert!(broken("BranchCount=1,UncondBranches=2", "autophase").contains("UncondBranches"));
    }

    #[test]
    fn what_some_program_has_passes() {
        for wish in ["Load=12,FMul=8", "TotalInsts=40..60,Br=3", "Ret=1,TotalBlocks=3,Br=2"] {
            assert_eq!(broken(wish, "instcount"), "");
        }
    }
}
