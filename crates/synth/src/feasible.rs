//! What no program can have: targets that break one of these are named, not searched for.

use crate::{Arguments, Constraint, Error, Target, target::number};
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
const AUTOPHASE_BOUNDS: [(&str, &[&str]); 12] = [
    ("TotalBlocks", &["BranchCount", "NumRetInst"]),
    ("TotalBlocks", &["BlockLow", "BlockMid"]),
    ("TotalBlocks", &["onePred", "twoPred", "morePreds"]),
    // No edge leads from a block that returns.
    ("TotalBlocks", &["oneSuccessor", "twoSuccessor", "NumRetInst"]),
    // A block has one number of edges in, and one of edges out.
    ("onePred", &["onePredOneSuc", "onePredTwoSuc"]),
    ("twoPred", &["twoPredOneSuc", "twoEach"]),
    ("oneSuccessor", &["onePredOneSuc", "twoPredOneSuc"]),
    ("twoSuccessor", &["onePredTwoSuc", "twoEach"]),
    // A block whose phis have arguments begins with one.
    ("BeginPhi", &["BBNumArgsHi", "BBNumArgsLo"]),
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

/// Blocks that some edge leads to, counted in one way each: LLVM lets none lead to the first block of a function, whose phis
/// would have no arguments, so that they are fewer than all blocks.
const INSTCOUNT_REACHED: [&[&str]; 3] = [&["PHI"], &["Br"], &["Switch"]];
const AUTOPHASE_REACHED: [&[&str]; 6] = [
    &["onePred", "twoPred", "morePreds"],
    &["BB03Phi", "BBHiPhi"],
    &["BBNumArgsHi", "BBNumArgsLo"],
    &["BeginPhi"],
    &["NumPHIInst"],
    &["ArgsPhi"],
];

/// Of those, what counts phis or their arguments, of which one block may have many, or branches, of which many may lead to one.
const MANY_A_BLOCK: [&str; 5] = ["PHI", "NumPHIInst", "ArgsPhi", "Br", "Switch"];

/// Edges at least, by what they lead to and from: each block of a kind has so many.
const EDGES: [&[(f64, &str)]; 2] = [
    &[(1.0, "onePred"), (2.0, "twoPred"), (3.0, "morePreds")],
    &[(1.0, "oneSuccessor"), (2.0, "twoSuccessor")],
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
            checked.reached(&INSTCOUNT_REACHED)?;
            checked.bounds(&[("TotalInsts", &checked.dimensions[3..])])
        }
        "autophase" => {
            checked.at_least_one(&["TotalInsts", "TotalBlocks", "TotalFuncs", "NumRetInst"])?;
            checked.sums(space)?;
            checked.bounds(&AUTOPHASE_BOUNDS)?;
            checked.reached(&AUTOPHASE_REACHED)?;
            checked.edges()
        }
        "grewe" => {
            // A subscript of local memory has the name of a parameter or variable of a `__local` type, which is an access.
            checked.bounds(&[("mem", &["localmem"])])?;
            checked.ratios(space)
        }
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
                return Err(self.broken(format!(
                    "{name} = {} is no count of anything",
                    number(constraint.most)
                )));
            }
            if constraint.least > MOST {
                return Err(self.broken(format!(
                    "{name} = {}: no program is so large",
                    number(constraint.least)
                )));
            }
            let whole = constraint.most.floor() >= constraint.least;
            let counts = match space {
                "instcount" | "autophase" | "tokens" => true,
                "grewe" | "grewe-fixed" => !name.contains('/'),
                _ => false,
            };
            if counts && !whole {
                return Err(
                    self.broken(format!("{name} counts, it is never {}", number(constraint.least)))
                );
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
                let [one, two] = [one, two].map(|one| one.values());
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
        let local = if space == "grewe" { self.least("localmem") } else { 0.0 };
        let most: Option<f64> = parts.iter().map(|part| Some(self.constraint(part)?.most)).sum();
        if let Some(most) = most.filter(|most| local > 0.0 && most - local < 1.0) {
            return Err(self.broken(format!(
                "mem = {} and localmem = {}: nothing global is written then, and --must-run wants a kernel that writes its results",
                number(most),
                number(local)
            )));
        }
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
                Err(self.broken(format!("{name} = {}: it is never above 1", number(ratio.least))))
            }
            None => Ok(()),
        }
    }

    fn never(&self) -> Result<(), Error> {
        for name in NEVER {
            if let Some(constraint) =
                self.constraint(name).filter(|constraint| constraint.least > 0.0)
            {
                let least = number(constraint.least);
                return Err(self.broken(format!("{name} = {least}: clang emits none for OpenCL C")));
            }
        }
        Ok(())
    }

    /// The least that a dimension comes to.
    fn least(&self, name: &str) -> f64 {
        self.constraint(name).map_or(0.0, |one| one.least.max(0.0))
    }

    /// There are fewer blocks that some edge leads to than blocks.
    fn reached(&self, ways: &[&[&str]]) -> Result<(), Error> {
        let Some(blocks) = self.constraint("TotalBlocks") else { return Ok(()) };
        for parts in ways {
            let least: f64 = parts.iter().map(|part| self.least(part)).sum();
            let is_many = MANY_A_BLOCK.contains(&parts[0]);
            if least > 0.0 && blocks.most < 1.0 + if is_many { 1.0 } else { least } {
                let (parts, least) = (list(parts), number(least));
                return Err(self.broken(format!(
                    "{parts} = {least} but TotalBlocks = {}: no edge leads to the first block of a function, and no phi \
                     stands there",
                    number(blocks.most)
                )));
            }
        }
        Ok(())
    }

    /// Each edge leads from a block to another, and none to the first block of a function.
    fn edges(&self) -> Result<(), Error> {
        let Some(edges) = self.constraint("NumEdges") else { return Ok(()) };
        if self.constraint("TotalBlocks").is_some_and(|blocks| blocks.most < 2.0)
            && edges.least > 0.0
        {
            return Err(self.broken(format!(
                "NumEdges = {}, but none leads to the only block",
                number(edges.least)
            )));
        }
        for parts in EDGES {
            let least: f64 = parts.iter().map(|(each, part)| each * self.least(part)).sum();
            if edges.most < least {
                let each = |(each, part): &(f64, &str)| match *each > 1.0 {
                    true => format!("{each} {part}"),
                    false => (*part).to_owned(),
                };
                let parts = parts.iter().map(each).collect::<Vec<_>>().join(" + ");
                return Err(self.broken(format!(
                    "{parts} = {} but NumEdges = {}: they have so many",
                    number(least),
                    number(edges.most)
                )));
            }
        }
        // A conditional branch has two edges, any other one.
        if let Some(plain) = self.constraint("UncondBranches") {
            let all = self.least("BranchCount").max(self.least("NumBrInst"));
            let least = 2.0 * all - plain.most;
            if edges.most < least {
                return Err(self.broken(format!(
                    "2 BranchCount - UncondBranches = {} but NumEdges = {}: a conditional branch has two edges",
                    number(least),
                    number(edges.most)
                )));
            }
        }
        // All edges lead to blocks of one edge and of two, where no block has more.
        let [one, two, more] =
            ["onePred", "twoPred", "morePreds"].map(|name| self.constraint(name));
        if let (Some(one), Some(two), Some(more)) = (one, two, more)
            && more.most < 1.0
            && edges.least > one.most + 2.0 * two.most
        {
            return Err(self.broken(format!(
                "NumEdges = {} but onePred + 2 twoPred = {}, and morePreds = 0: all lead to these",
                number(edges.least),
                number(one.most + 2.0 * two.most)
            )));
        }
        Ok(())
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
                    "{whole} = {} but {parts} sum to {}: they are all there is of it",
                    number(all.least),
                    number(most)
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
                    "{name} = {} but {over} / {under} gives {} (to three digits, a \
                     divisor of at least 1)",
                    number(constraint.least),
                    number(value)
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
                    "{parts} sum to {}, more than {whole} = {} that they are part of",
                    number(least),
                    number(all.most)
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
            ("mem=3,localmem=3", "grewe", runs, "nothing global is written"),
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
    fn edges_blocks_and_accesses_of_local_memory_have_room_for_each_other() {
        for (text, space, part) in [
            ("PHI=4,TotalBlocks=1", "instcount", "PHI = 4 but TotalBlocks = 1"),
            ("Br=1,TotalBlocks=1", "instcount", "Br = 1 but TotalBlocks = 1"),
            ("Switch=1,TotalBlocks=1", "instcount", "Switch = 1 but TotalBlocks = 1"),
            ("NumPHIInst=1,TotalBlocks=1", "autophase", "NumPHIInst = 1 but TotalBlocks = 1"),
            ("BBHiPhi=1,BB03Phi=2,TotalBlocks=3", "autophase", "BB03Phi + BBHiPhi = 3"),
            ("onePred=1,twoPred=1,TotalBlocks=2", "autophase", "morePreds = 2 but TotalBlocks = 2"),
            ("TotalBlocks=3,oneSuccessor=2,twoSuccessor=1,NumRetInst=1", "autophase", "NumRetInst"),
            (
                "NumEdges=3,onePred=2,twoPred=1",
                "autophase",
                "onePred + 2 twoPred + 3 morePreds = 4",
            ),
            ("NumEdges=4,twoSuccessor=2,oneSuccessor=1", "autophase", "2 twoSuccessor = 5"),
            ("NumEdges=4,BranchCount=4,UncondBranches=2", "autophase", "two edges"),
            ("NumEdges=5,onePred=2,twoPred=1,morePreds=0", "autophase", "NumEdges = 5 but onePred"),
            ("twoPred=1,twoEach=1,twoPredOneSuc=1", "autophase", "more than twoPred = 1"),
            ("BeginPhi=1,BBNumArgsLo=2", "autophase", "more than BeginPhi = 1"),
            ("mem=2,localmem=4", "grewe", "localmem sum to 4, more than mem = 2"),
        ] {
            assert!(broken(text, space).contains(part), "{text}: {}", broken(text, space));
        }
        for (text, space) in [
            ("PHI=4,TotalBlocks=2", "instcount"),
            ("BBHiPhi=1,BB03Phi=1,TotalBlocks=3", "autophase"),
            ("onePred=1,twoPred=1,TotalBlocks=3", "autophase"),
            ("NumEdges=4,onePred=2,twoPred=1,morePreds=0", "autophase"),
            ("NumEdges=6,BranchCount=4,UncondBranches=2", "autophase"),
            ("NumEdges=9,onePred=2,twoPred=1", "autophase"),
            // Of two functions, one of which is a loop that never ends.
            ("onePred=0,TotalBlocks=3,NumEdges=2", "autophase"),
            ("mem=4,localmem=4", "grewe"),
        ] {
            assert_eq!(broken(text, space), "", "{text}");
        }
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
