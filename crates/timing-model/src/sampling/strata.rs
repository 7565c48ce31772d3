//! The strata of a program: which one an interval falls into, when each has its next window, and what they come to.

use super::{
    BUCKETS, Estimate, FIGURES, Figures,
    stratum::{SCALE, Stratum},
};

/// No more strata than this: what is like none of them falls into the one it is nearest to.
const MOST: usize = 24;
/// Parts that the shares of a code vector add up to.
const WHOLE: u64 = 1 << 16;
/// Two intervals are alike where no more of their shares differ than this, which is twice the part of the code that is
/// another.
const ALIKE: u64 = WHOLE / 4;
/// Intervals before a window through which predictors follow.
const NEAR: u64 = 10;
/// A stratum that followed another one in one of so many cases is likely to do so again, and so is the one that did most often.
const LIKELY: u32 = 3;
/// Where so many followers of a stratum were counted the older ones count half from then on.
const REMEMBERED: u32 = 256;

/// What the next interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Window,
    /// A window is not far.
    Near,
    Skip,
}

type Vector = [u64; BUCKETS];

/// Shares of the buckets of code.
fn shares(code: &[u32; BUCKETS]) -> Vector {
    let all: u64 = code.iter().map(|count| u64::from(*count)).sum();
    code.map(|count| u64::from(count) * WHOLE / all.max(1))
}

fn distance(one: &Vector, other: &Vector) -> u64 {
    one.iter().zip(other).map(|(one, other)| one.abs_diff(*other)).sum()
}

/// All strata of a program so far.
pub(super) struct Strata {
    all: Vec<Stratum>,
    /// The first interval's code of each.
    leaders: Vec<Vector>,
    /// The sum of all intervals' code of each.
    codes: Vec<Vector>,
    /// How often each followed each.
    follows: Vec<[u32; MOST]>,
    /// That of the last interval.
    last: Option<usize>,
    random: u64,
}

impl Default for Strata {
    fn default() -> Strata {
        Strata {
            all: Vec::new(),
            leaders: Vec::new(),
            codes: Vec::new(),
            follows: Vec::new(),
            last: None,
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }
}

impl Strata {
    pub(super) fn count(&self) -> u64 {
        self.all.len() as u64
    }

    /// Add an interval that ran `code`, with the rates of its window where it was one.
    pub(super) fn add(
        &mut self,
        code: &[u32; BUCKETS],
        instructions: u64,
        window: Option<Figures>,
        rate: u64,
    ) {
        let code = shares(code);
        let at = self.classify(&code);
        self.codes[at].iter_mut().zip(code).for_each(|(sum, share)| *sum += share);
        if let Some(last) = self.last.replace(at) {
            let row = &mut self.follows[last];
            row[at] += 1;
            if row.iter().sum::<u32>() >= REMEMBERED {
                row.iter_mut().for_each(|count| *count /= 2);
            }
        }
        if self.all[at].add(instructions, window) {
            let length = self.length(at, rate);
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            self.all[at].plan(length, self.random >> 33);
        }
        self.all[at].close();
    }

    /// Add instructions that are no interval to the stratum that they are nearest to.
    pub(super) fn add_part(&mut self, code: &[u32; BUCKETS], instructions: u64) {
        if let Some((at, _)) = self.nearest(&shares(code), |_| true) {
            self.all[at].add_part(instructions);
        }
    }

    /// The stratum of such code: the nearest one, or a new one where it is like none (leader clustering: Hartigan,
    /// Clustering Algorithms, 1975, chapter 3).
    fn classify(&mut self, code: &Vector) -> usize {
        match self.nearest(code, |_| true) {
            Some((at, far)) if far <= ALIKE || self.all.len() == MOST => at,
            _ => {
                self.all.push(Stratum::new());
                self.leaders.push(*code);
                self.codes.push([0; BUCKETS]);
                self.follows.push([0; MOST]);
                self.all.len() - 1
            }
        }
    }

    /// The nearest of the strata that are wanted, and how far it is.
    fn nearest(&self, code: &Vector, wanted: impl Fn(&Stratum) -> bool) -> Option<(usize, u64)> {
        let able = self.leaders.iter().enumerate().filter(|(at, _)| wanted(&self.all[*at]));
        able.map(|(at, leader)| (at, distance(leader, code))).min_by_key(|(_, far)| *far)
    }

    /// Intervals of a stratum's next period. The first ones are short, the pilot; later each stratum has windows in
    /// proportion to the spread of its cycles, and all together one in `rate` (Neyman, JRSS 97, 1934).
    fn length(&self, at: usize, rate: u64) -> u64 {
        let pilot: u64 = 2 << (self.all[at].windows / 2).min(16);
        let seen = || self.all.iter().filter(|stratum| stratum.windows > 0);
        let intervals: u128 = seen().map(|stratum| u128::from(stratum.intervals)).sum();
        let mean = |of: &dyn Fn(&Stratum) -> u128| {
            let sum: u128 = seen().map(|one| u128::from(one.intervals) * of(one)).sum();
            sum / intervals.max(1)
        };
        // What seems to be the same always is looked at now and then.
        let floor = mean(&|stratum| u128::from(stratum.mean()[0])) / 64;
        let spread = |stratum: &Stratum| stratum.variance().unwrap_or(0).isqrt() + floor;
        let wanted = u128::from(rate) * mean(&spread) / spread(&self.all[at]).max(1);
        let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
        wanted.clamp((rate / 4).max(1), rate.saturating_mul(4)).min(pilot)
    }

    /// What the next interval should be, by what is likely to follow the last one.
    pub(super) fn plan(&self) -> Plan {
        let Some(last) = self.last else { return Plan::Window };
        let row = &self.follows[last];
        let all: u32 = row.iter().sum();
        let most = row.iter().copied().fold(0, u32::max);
        let is_likely = |at: usize| match all {
            0 => at == last,
            _ => row[at] == most || row[at] * LIKELY >= all,
        };
        let likely = self.all.iter().enumerate().filter(|(at, _)| is_likely(*at));
        match likely.map(|(_, one)| one.due.saturating_sub(one.intervals)).min() {
            Some(0) => Plan::Window,
            Some(1..=NEAR) => Plan::Near,
            _ => Plan::Skip,
        }
    }

    /// What all intervals take, and `more` instructions of an interval that has not ended and ran `code`.
    pub(super) fn estimate(&self, code: &[u32; BUCKETS], more: u64) -> Estimate {
        let has_window = |stratum: &Stratum| stratum.windows > 0;
        let open = self.nearest(&shares(code), has_window).map(|(at, _)| at);
        let pooled = self.pooled_variance();
        let mut sums = [0_u128; FIGURES];
        // Variances of the strata's cycles, and windows behind each.
        let mut variances = Vec::new();
        for (at, stratum) in self.all.iter().enumerate() {
            if has_window(stratum) {
                let (totals, weight) = stratum.totals(if open == Some(at) { more } else { 0 });
                sums.iter_mut().zip(totals).for_each(|(sum, total)| *sum += total);
                let variance = stratum.variance().or(pooled).unwrap_or_else(|| guess(stratum));
                variances.push((squared_error(weight, variance), stratum.windows));
            } else if let Some(mixture) = self.mixture(at) {
                let instructions = u128::from(stratum.open_instructions());
                let [one, other] = mixture.of.map(|of| self.all[of].mean());
                for (figure, sum) in sums.iter_mut().enumerate() {
                    *sum += instructions * u128::from(mixture.rate(one[figure], other[figure]));
                }
                // How far the two are apart says how wrong that may be.
                let apart = u128::from(one[0].abs_diff(other[0]) / 8).pow(2);
                let variance = apart + pooled.unwrap_or(0);
                variances.push((squared_error(instructions.pow(2), variance), 2));
            }
        }
        let variance: u128 = variances.iter().map(|(variance, _)| variance).sum();
        let error = variance.isqrt() as u64;
        Estimate {
            figures: sums.map(|sum| (sum >> SCALE) as u64),
            error,
            interval: (u128::from(error) * student(&variances) / 1000) as u64,
            ..Estimate::default()
        }
    }

    /// Variance within strata of all windows.
    fn pooled_variance(&self) -> Option<u128> {
        let several = || self.all.iter().filter(|stratum| stratum.windows > 1);
        let freedom: u64 = several().map(|stratum| stratum.windows - 1).sum();
        let sum: u128 =
            several().map(|one| u128::from(one.windows - 1) * one.variance().unwrap_or(0)).sum();
        (freedom > 0).then(|| sum / u128::from(freedom))
    }

    /// What comes nearest to a stratum without a window, of the mixtures of two that have some: such as an interval in
    /// which one phase ends and another begins.
    fn mixture(&self, at: usize) -> Option<Mixture> {
        let seen: Vec<usize> = (0..self.all.len()).filter(|at| self.all[*at].windows > 0).collect();
        let code = self.mean_code(at);
        let pairs = seen.iter().flat_map(|one| {
            seen.iter().filter(move |other| *other >= one).map(move |other| [*one, *other])
        });
        pairs
            .map(|of| {
                let [one, other] = of.map(|at| self.mean_code(at));
                let share = share_of(&code, &one, &other);
                let mixture = Mixture { of, share };
                let mixed: Vector = std::array::from_fn(|at| mixture.rate(one[at], other[at]));
                (distance(&code, &mixed), mixture)
            })
            .min_by_key(|(far, _)| *far)
            .map(|(_, mixture)| mixture)
    }

    fn mean_code(&self, at: usize) -> Vector {
        self.codes[at].map(|sum| sum / self.all[at].intervals.max(1))
    }
}

/// Parts that a mixture is made of.
const PARTS: u64 = 1024;

/// Two strata, and the part of the first one in what is like neither.
#[derive(Clone, Copy, Debug)]
struct Mixture {
    of: [usize; 2],
    share: u64,
}

impl Mixture {
    fn rate(&self, one: u64, other: u64) -> u64 {
        (one * self.share + other * (PARTS - self.share)) / PARTS
    }
}

/// The share of `one` in the mixture with `other` that is nearest to `code`, by least squares.
fn share_of(code: &Vector, one: &Vector, other: &Vector) -> u64 {
    let signed = |vector: &Vector, at: usize| vector[at] as i64;
    let along = |at: usize| signed(one, at) - signed(other, at);
    let way: i64 = (0..BUCKETS).map(|at| (signed(code, at) - signed(other, at)) * along(at)).sum();
    let all: i64 = (0..BUCKETS).map(|at| along(at).pow(2)).sum();
    if all == 0 {
        return PARTS;
    }
    (way * PARTS as i64 / all).clamp(0, PARTS as i64) as u64
}

/// A variance for a program with a single window: a quarter of its mean, squared.
fn guess(stratum: &Stratum) -> u128 {
    u128::from(stratum.mean()[0] / 4).pow(2)
}

/// Squared error in cycles of `weight`, which is instructions squared, and the variance of rates.
fn squared_error(weight: u128, variance: u128) -> u128 {
    ((weight.isqrt() * variance.isqrt()) >> SCALE).pow(2)
}

/// Half the width of a 95 % interval in thousandths of standard errors: Student's quantile for the degrees of freedom
/// that a sum of variances has (Satterthwaite, Biometrics Bulletin 2, 1946).
fn student(variances: &[(u128, u64)]) -> u128 {
    const QUANTILES: [(u128, u128); 17] = [
        (1, 12_706),
        (2, 4_303),
        (3, 3_182),
        (4, 2_776),
        (5, 2_571),
        (6, 2_447),
        (7, 2_365),
        (8, 2_306),
        (9, 2_262),
        (10, 2_228),
        (12, 2_179),
        (15, 2_131),
        (20, 2_086),
        (30, 2_042),
        (60, 2_000),
        (120, 1_980),
        (1000, 1_962),
    ];
    let all = variances.iter().map(|(variance, _)| variance).sum::<u128>().max(1);
    // Shares in thousandths: squares of variances would not fit.
    let lost: u128 = variances
        .iter()
        .map(|(variance, windows)| {
            let share = (variance >> 7) * 1000 / (all >> 7).max(1);
            share.pow(2) / u128::from((windows - 1).max(1))
        })
        .sum();
    let freedom = 1_000_000 / lost.max(1);
    let known = QUANTILES.iter().rev().find(|(least, _)| *least <= freedom.max(1));
    known.map_or(QUANTILES[0].1, |(_, quantile)| *quantile)
}
