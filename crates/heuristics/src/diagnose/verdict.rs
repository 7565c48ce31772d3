//! What measurements come to, in words.

use super::{Diagnosis, ErrorOf};
use serde::Serialize;

/// One word and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// `nothing-learned`, `fixed-set`, `features`, `noise`, `short`, `enough`, `unclear`, `too-few`, `groups` or
    /// `shift`.
    pub word: &'static str,
    /// The figures behind it.
    pub text: String,
}

/// The word of tasks that are short of programs.
pub(super) const SHORT: &str = "short";

/// What is this near to a floor is at it.
const AT_FLOOR: f64 = 0.8;
/// What a doubling must lower the error by to be worth its programs.
const WORTH: f64 = -0.02;
/// A doubling that may lower it by more than this is not known to be worth nothing.
const NOTHING: f64 = -0.05;
/// The share of the oracle's gain at which a fixed set leaves a model nothing.
const ENOUGH: f64 = 0.85;
/// A fixed set of more is no small one.
const FEW: usize = 5;
/// A bias in log2 that matters: a fifth of the cost.
const BIAS: f64 = 0.25;

pub(super) fn of(found: &Diagnosis) -> Vec<Verdict> {
    let mut all = Vec::new();
    let mut say = |word: &'static str, text: String| all.push(Verdict { word, text });
    if found.features[1] == 0 {
        // What a model of the mean does with more programs says nothing of them.
        let text = format!(
            "features are the limit: none of the {} differs from row to row, and no model can tell the programs apart: \
             add features before programs",
            found.features[0]
        );
        say("features", text);
        return all;
    }
    if let Some(regression) = &found.regression
        && regression.against_lin1.interval[1] >= 0.0
    {
        say(
            "nothing-learned",
            format!(
                "no model beats one-variable regression on the instruction count by an interval ({}; {:+.2} to \
                 {:+.2} over {} splits): a learned model has learned nothing here, use the line",
                change(regression.against_lin1),
                regression.over_splits[0],
                regression.over_splits[1],
                found.splits
            ),
        );
    }
    if let Some(choice) = &found.choice
        && let Some(set) = choice.fixed.iter().find(|set| {
            set.tries > 1
                && set.tries <= FEW
                && set.tries < choice.choices
                && set.share_of_oracle >= ENOUGH
                && set.model_gain.interval[1] >= 0.0
        })
    {
        say(
            "fixed-set",
            format!(
                "no model is needed: trying {} fixed choices ({}) saves {:.0} % of what the oracle saves \
             over always {}, and a model in the place of the last is not better by an interval",
                set.tries,
                set.set.join(", "),
                100.0 * set.share_of_oracle,
                choice.best_single
            ),
        );
    }
    let error = found.held_out.value;
    if let Some(repeats) = found.ceiling.repeats.filter(|repeats| *repeats >= AT_FLOOR * error) {
        say(
            "noise",
            format!(
                "labels are noise: measured again, a program's cost differs by {repeats:.2} (log2), where \
             the error is {error:.2}: measure longer or more often"
            ),
        );
    }
    let floor = found.ceiling.neighbours.unwrap_or(0.0).max(found.ceiling.collisions);
    let reached = found.ceiling.same_groups.value;
    if floor > 0.0 && floor >= AT_FLOOR * reached {
        say(
            "features",
            format!(
                "features are the limit: programs that lie next to each other differ by {floor:.2}, and the \
             error with programs of the same groups in training is {reached:.2}: add features before programs"
            ),
        );
    }
    let (word, text) = of_doubling(found);
    say(word, text);
    let gap = found.ceiling.group_gap;
    if gap.interval[1] < -0.05 {
        say(
            "groups",
            format!(
                "groups differ: with programs of the same groups in training the error is lower by {}: \
             programs of more groups are worth more than more of the same",
                percent(gap)
            ),
        );
    }
    for made in &found.made {
        if let Some(bias) = made.bias
            && (bias.interval[0] > 0.0 || bias.interval[1] < 0.0)
            && bias.value.abs() >= BIAS
        {
            say(
                "shift",
                format!(
                    "programs of {} cost {:.2} times what real ones of equal features do (bias {}, log2): \
                 filter, weigh or mend them before they are trained on",
                    made.table,
                    (-bias.value).exp2(),
                    change(bias)
                ),
            );
        }
    }
    all
}

/// What the end of the learning curve says.
fn of_doubling(found: &Diagnosis) -> (&'static str, String) {
    let Some(last) = found.last_doubling else {
        let text = "too few programs for a learning curve: label more first".to_owned();
        return ("too-few", text);
    };
    let [least, greatest] = found.doubling_over_splits.unwrap_or([last.value; 2]);
    let (splits, both) =
        (found.splits, format!("{:+.1} % to {:+.1} %", 100.0 * least, 100.0 * greatest));
    let sizes: Vec<usize> = found.curve.iter().map(|point| point.programs).collect();
    let (from, to) = match sizes.as_slice() {
        [.., from, to] => (*from, *to),
        _ => (0, 0),
    };
    let falls = last.interval[1] < 0.0 && last.value <= WORTH;
    let may_fall = last.interval[0] < NOTHING;
    if falls && greatest < 0.0 {
        let text = format!(
            "short of programs: from {from} to {to} real programs the error changes by {} ({both} over {splits} \
             splits) and is still falling; its regions lack them (--targets FILE names them)",
            percent(last)
        );
        return (SHORT, text);
    }
    if falls || !may_fall && least < NOTHING {
        let text = format!(
            "whether more programs help depends on how these are split: the last doubling changes the error by {}, \
             and by {both} in each of {splits} splits; label more of them, or of more groups",
            percent(last)
        );
        return ("unclear", text);
    }
    if may_fall {
        let text = format!(
            "whether more programs help cannot be told from so few: the last doubling of the real ones changes the \
             error by {} ({both} over {splits} splits); label more of them, or of more groups",
            percent(last)
        );
        return ("unclear", text);
    }
    let text = format!(
        "more programs will not help: the last doubling of the real ones changes the error by {} ({both} over \
         {splits} splits)",
        percent(last)
    );
    ("enough", text)
}

fn change(of: ErrorOf) -> String {
    format!("{:+.2} [{:+.2}, {:+.2}]", of.value, of.interval[0], of.interval[1])
}

fn percent(of: ErrorOf) -> String {
    let [low, high] = of.interval.map(|end| 100.0 * end);
    format!("{:+.1} % [{low:+.1}, {high:+.1}]", 100.0 * of.value)
}
