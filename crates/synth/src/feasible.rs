//! What no program can have: targets that break one of these are named, not searched for.

use crate::{Arguments, Constraint, Error, Target};
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

/// The same where `instcount` and `autophase` are joined, which count one module: definitions are some of all functions, and what
/// Autophase calls memory instructions are these opcodes (and `invoke`, which there is none of).
const SHARED_BOUNDS: [(&str, &[&str]); 2] = [
    ("autophase.TotalFuncs", &["instcount.TotalFuncs"]),
    (
        "autophase.TotalMemInst",
        &[
            "instcount.GetElementPtr",
            "instcount.Load",
            "instcount.Store",
            "instcount.Call",
            "instcount.Alloca",
        ],
    ),
];

/// Opcodes by one of which everything is written that a kernel writes: builtin functions, copies of memory and images are calls.
const WRITING: [&str; 4] = ["Store", "Call", "AtomicRMW", "AtomicCmpXchg"];

/// What answers must be, beside lying at the target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked<'a> {
    /// Their parameters, where some are asked for.
    pub(crate) arguments: Option<&'a Arguments>,
    /// Whether they have to run, and to write what they compute.
    pub(crate) must_run: bool,
}

/// Check that some program of OpenCL C could lie at `target`, as far as is known without one.
///
/// Spaces that are joined are checked one by one, and against each other where both count the same: `instcount` and `autophase`. A
/// count of the source (`grewe`) bounds none of the code after -O1, nor the other way round: what is dead is gone there, loops are
/// unrolled, and what a pointer was copied to is no name of a parameter any more.
///
/// # Errors
/// [`Error::Impossible`] with the constraint that is broken and the values that break it.
pub fn check(target: &Target, space: &dyn FeatureSpace) -> Result<(), Error> {
    if !space.joined().is_empty() {
        each(target, space).iter().try_for_each(|(target, one)| check(target, *one))?;
    }
    let checked = Checked { target, dimensions: space.dimensions() };
    checked.counts(space.name())?;
    checked.equals()?;
    checked.bounds(&SHARED_BOUNDS)?;
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

/// Check also that it could be a kernel that is as asked for.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_asked(
    target: &Target,
    space: &dyn FeatureSpace,
    asked: Asked<'_>,
) -> Result<(), Error> {
    check(target, space)?;
    each(target, space).iter().try_for_each(|(target, one)| {
        let checked = Checked { target, dimensions: one.dimensions() };
        checked.arguments(one.name(), asked)?;
        checked.writes(one.name(), asked)
    })
}

/// The spaces that are joined, each with what is wanted in it; of a space of its own that.
fn each<'a>(target: &Target, space: &'a dyn FeatureSpace) -> Vec<(Target, &'a dyn FeatureSpace)> {
    if space.joined().is_empty() {
        return vec![(target.clone(), space)];
    }
    let mut at = 0;
    let mut all: Vec<(Target, &'a dyn FeatureSpace)> = Vec::new();
    for one in space.joined() {
        let own = at..at + one.dimensions().len();
        at = own.end;
        let constraints = target.constraints[own].to_vec();
        all.push((Target { constraints, ..target.clone() }, *one));
    }
    all
}

/// The opcode, or the whole, of `instcount` that a dimension of `autophase` counts, too.
fn same(name: &str) -> Option<&str> {
    match name {
        "TotalInsts" | "TotalBlocks" => Some(name),
        "BranchCount" => Some("Br"),
        _ => name.strip_prefix("Num")?.strip_suffix("Inst"),
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

    /// Of joined spaces: what is counted twice is one number.
    fn equals(&self) -> Result<(), Error> {
        for name in &self.dimensions {
            let other = name.strip_prefix("autophase.").and_then(same);
            let Some(other) = other.map(|other| format!("instcount.{other}")) else { continue };
            let both = self.constraint(name).zip(self.constraint(&other));
            let Some((one, two)) = both else { continue };
            if one.least > two.most || two.least > one.most {
                let [one, two] = [one, two].map(shown);
                return Err(self.broken(format!(
                    "{name} = {one} but {other} = {two}: both count the same instructions"
                )));
            }
        }
        Ok(())
    }

    /// The parameters that are asked for have what the space describes, and what results are written to.
    fn arguments(&self, space: &str, asked: Asked<'_>) -> Result<(), Error> {
        let Some(arguments) = asked.arguments.filter(|arguments| !arguments.have_buffer()) else {
            return Ok(());
        };
        if asked.must_run {
            return Err(self.broken(format!(
                "--must-run wants a kernel that writes its results to global memory, and --args '{arguments}' has no \
                 pointer to any"
            )));
        }
        if space == "grewe" {
            return Err(self.broken(format!(
                "{space} describes kernels with a pointer to global memory alone, and --args '{arguments}' has none"
            )));
        }
        Ok(())
    }

    /// A kernel that has to run writes something: with one of these instructions, and to a buffer that it names.
    fn writes(&self, space: &str, asked: Asked<'_>) -> Result<(), Error> {
        if !asked.must_run {
            return Ok(());
        }
        let parts: &[&str] = match space {
            "instcount" => &WRITING,
            "grewe" => &["mem"],
            _ => return Ok(()),
        };
        let most: Option<f64> = parts.iter().map(|part| Some(self.constraint(part)?.most)).sum();
        if most.is_some_and(|most| most < 1.0) {
            let parts = list(parts);
            return Err(self.broken(format!(
                "{parts} = 0: nothing is written then, and --must-run wants a kernel that writes its results"
            )));
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

/// A value, or a range.
fn shown(constraint: Constraint) -> String {
    let Constraint { least, most, .. } = constraint;
    if least == most { least.to_string() } else { format!("{least}..{most}") }
}

fn list(parts: &[&str]) -> String {
    if parts.len() > 8 { "all opcodes".to_owned() } else { parts.join(" + ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str, space: &str) -> String {
        broken_asked(text, space, Asked::default())
    }

    fn broken_asked(text: &str, space: &str, asked: Asked<'_>) -> String {
        let space = features::joint(space).expect("registered");
        let target = Target::parse(text, space).expect("well-formed");
        let checked = check_asked(&target, space, asked);
        checked.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn spaces_that_count_one_module_agree() {
        let both = "instcount,autophase";
        for (text, parts) in [
            ("Load=3,NumLoadInst=4", ["autophase.NumLoadInst = 4", "instcount.Load = 3"]),
            ("Br=1..2,BranchCount=3..9", ["BranchCount = 3..9", "instcount.Br = 1..2"]),
            (
                "instcount.TotalInsts=9,autophase.TotalInsts=10..12",
                ["autophase.TotalInsts = 10..12", "instcount.TotalInsts = 9"],
            ),
            (
                "instcount.TotalFuncs=3,autophase.TotalFuncs=2",
                ["instcount.TotalFuncs sum to 3", "autophase.TotalFuncs = 2"],
            ),
            ("Load=3,Store=2,TotalMemInst=4", ["instcount.Store", "TotalMemInst = 4"]),
        ] {
            let found = broken(text, both);
            assert!(parts.iter().all(|part| found.contains(part)), "{text}: {found}");
            let turned = broken(text, "autophase,instcount");
            assert_eq!(found, turned);
        }
        for text in ["Load=3..5,NumLoadInst=4", "Load=3,NumStoreInst=1", "PHI=2,NumPHIInst=2"] {
            assert_eq!(broken(text, both), "");
        }
        // One of the source, the other of what -O1 leaves of it.
        for text in ["mem=0,Load=3,Store=1", "comp=0,FMul=4", "mem=9,comp=9,TotalInsts=1"] {
            assert_eq!(broken(text, "instcount,grewe"), "");
        }
        // What is wrong in one of them is told as without the other.
        assert!(broken("Ret=0,comp=1", "grewe,instcount").contains("Ret = 0"));
    }

    #[test]
    fn a_target_has_room_for_what_is_asked_of_answers() {
        let parsed: Arguments = "int, local float*".parse().expect("types");
        let arguments = Some(&parsed);
        let runs = Asked { arguments: None, must_run: true };
        for (text, space, asked, part) in [
            (
                "comp=1",
                "grewe",
                Asked { arguments, must_run: false },
                "--args 'int, __local float*'",
            ),
            (
                "Load=1,comp=1",
                "instcount,grewe",
                Asked { arguments, must_run: false },
                "grewe describes",
            ),
            ("Load=1", "instcount", Asked { arguments, must_run: true }, "--must-run wants"),
            ("mem=0", "grewe", runs, "mem = 0: nothing is written"),
            (
                "Store=0,Call=0,AtomicRMW=0,AtomicCmpXchg=0",
                "instcount",
                runs,
                "Store + Call + AtomicRMW + AtomicCmpXchg = 0",
            ),
        ] {
            let found = broken_asked(text, space, asked);
            assert!(found.contains(part), "{text}: {found}");
            assert_eq!(broken(text, space), "");
        }
        // Results may be written by a call.
        for (text, space) in
            [("Store=0", "instcount"), ("mem=1", "grewe"), ("NumStoreInst=0", "autophase")]
        {
            assert_eq!(broken_asked(text, space, runs), "");
        }
        let buffers: Arguments = "global float*, int".parse().expect("types");
        let asked = Asked { arguments: Some(&buffers), must_run: true };
        assert_eq!(broken_asked("Store=1,mem=1", "instcount,grewe", asked), "");
        let asked = Asked { arguments, must_run: false };
        assert_eq!(broken_asked("Store=1", "instcount", asked), "");
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
