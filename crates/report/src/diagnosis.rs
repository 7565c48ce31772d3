//! One page that says whether a task is short of programs.

use crate::{
    Page, Result,
    chart::{Chart, Scale, Series, Shape},
    facts::{self, brief, cell},
    figures, page,
};
use heuristics::{ChoiceReport, Diagnosis, ErrorOf, Mark, Region, RegressionReport};
use maud::{Markup, html};

/// The page of a diagnosis; `command` is what made it.
///
/// # Errors
/// When the page cannot be made.
pub fn diagnosis(found: &Diagnosis, command: &str) -> Result<Page> {
    let mut parts = vec![("Verdict".to_owned(), verdict(found, command))];
    if let Some(regression) = &found.regression {
        parts.push(("Models".to_owned(), models(regression)));
    }
    if let Some(choice) = &found.choice {
        parts.push(("Fixed sets".to_owned(), fixed_sets(choice)));
    }
    parts.push(("Learning curve".to_owned(), curve(found)));
    parts.push(("Ceilings".to_owned(), ceilings(found)));
    parts.push(("Coverage".to_owned(), coverage(found)));
    if !found.made.is_empty() {
        parts.push(("Made programs".to_owned(), made(found)));
    }
    if !found.regions.is_empty() {
        parts.push(("Regions".to_owned(), regions(found)));
    }
    let html = page::plain(&found.table, &parts);
    Ok(Page {
        sections: parts.into_iter().map(|(title, _)| title).collect(),
        datasets: 1,
        programs: 0,
        programs_left_out: 0,
        bytes: html.len() as u64,
        problems: Vec::new(),
        html,
    })
}

fn with_interval(of: ErrorOf) -> String {
    format!("{} [{}, {}]", brief(of.value), brief(of.interval[0]), brief(of.interval[1]))
}

fn percent(of: ErrorOf) -> String {
    let [low, high] = of.interval.map(|end| 100.0 * end);
    format!("{:+.1} % [{low:+.1}, {high:+.1}]", 100.0 * of.value)
}

/// What a word of a verdict asks for.
fn meaning(word: &str) -> &'static str {
    match word {
        "nothing-learned" => "use the line, or find better features",
        "fixed-set" => "try a few fixed choices instead of predicting one",
        "noise" => "mend the labels first",
        "features" => "add features first",
        "short" => "make or mine programs, in the regions below",
        "enough" => "programs are not what is missing",
        "unclear" | "too-few" => "label more before deciding",
        "groups" => "add packages rather than more of the same",
        "shift" => "mend or filter that source first",
        _ => "",
    }
}

fn verdict(found: &Diagnosis, command: &str) -> Markup {
    let rows = found.verdicts.iter();
    let rows = rows.map(|one| vec![cell(one.word), cell(&one.text), cell(meaning(one.word))]);
    html! {
        (facts::table(&["", "what it comes to", "what to do"], rows))
        dl.figures {
            @if !found.task.is_empty() { div { dt { "task" } dd { (found.task) } } }
            div { dt { "rows" } dd { (figures::count(found.rows as u64)) } }
            div { dt { "groups, held out together" } dd { (found.groups) } }
            div { dt { "features that differ" } dd { (found.features[1]) " of " (found.features[0]) } }
            div { dt { "best model" } dd { (found.model) } }
            div { dt { "its error on held-out groups" } dd { (with_interval(found.held_out)) } }
            div { dt { "rows whose family is in another fold" } dd { (found.leaking) } }
            div { dt { "splits" } dd { (found.splits) } }
            div { dt { "seed" } dd { (found.seed) } }
        }
        p.note { "Made by " code { (command) } "." }
        p.note {
            "Error: " (found.error) ". It is of rows whose group (package) was held out, and is the mean over "
            (found.splits) " splits of the groups into folds; a row is not trained on where its family of "
            "near-duplicates is tested on. Intervals are 95 %, by bootstrap over groups. An error of 1 is a factor of 2."
        }
        @if !found.left_out.is_empty() {
            h4 { "Rows left out" }
            (facts::counts(&found.left_out))
        }
    }
}

fn models(regression: &RegressionReport) -> Markup {
    let rows = regression.models.iter();
    let rows = rows.map(|(name, error)| vec![cell(name), cell(with_interval(*error))]);
    html! {
        (facts::table(&["model", "error"], rows))
        p.note {
            "mean predicts one cost for all; lin1 is one-variable regression on the instruction count, and a model "
            "that does not beat it has learned nothing. The best model less lin1: "
            (with_interval(regression.against_lin1)) " (" (brief(regression.over_splits[0])) " to "
            (brief(regression.over_splits[1])) " over the splits). Its costs are off by a factor of "
            (brief(regression.median_factor)) " at the median."
        }
    }
}

fn fixed_sets(choice: &ChoiceReport) -> Markup {
    let rows = choice.fixed.iter().map(|set| {
        vec![
            cell(set.tries),
            cell(set.set.join(", ")),
            cell(with_interval(set.error)),
            cell(format!("{:.1} %", 100.0 * set.share_of_oracle)),
            cell(with_interval(set.with_model)),
            cell(with_interval(set.model_gain)),
        ]
    });
    let header = [
        "tries",
        "set, chosen on all rows",
        "error of sets chosen on the other groups",
        "of what the oracle saves",
        "with the model's choice as the last",
        "difference",
    ];
    html! {
        (facts::table(&header, rows))
        p.note {
            "The model's one choice against always " (choice.best_single) ": "
            (with_interval(choice.against_single)) ". Below zero it is cheaper."
        }
    }
}

fn curve(found: &Diagnosis) -> Markup {
    let points = found.curve.iter().map(|point| [point.programs as f64, point.error.value]);
    let mut series = Series::new(found.model.clone(), Shape::Line, points.collect());
    series.band = found.curve.iter().map(|point| point.error.interval).collect();
    let chart = Chart {
        title: "Error on held-out groups",
        x: ("real programs", Scale::Logarithmic),
        y: "error",
        series: vec![series],
    };
    let rows = found.curve.iter();
    let rows = rows.map(|point| vec![cell(point.programs), cell(with_interval(point.error))]);
    html! {
        div.columns {
            div { (chart.draw()) }
            div {
                (facts::table(&["real programs", "error"], rows))
                @if let Some(last) = found.last_doubling {
                    p.note { "The last doubling changes the error by " (percent(last)) ", paired by group." }
                    @if let Some([least, greatest]) = found.doubling_over_splits {
                        p.note {
                            "Over " (found.splits) " splits: " (format!("{:+.1} % to {:+.1} %", 100.0 * least, 100.0 * greatest))
                            ". Where splits disagree nothing is concluded."
                        }
                    }
                }
                p.note {
                    "Training sets of real programs, doubled up to where the data end; below zero at the end means that "
                    "more programs would still help."
                }
            }
        }
    }
}

fn ceilings(found: &Diagnosis) -> Markup {
    let ceiling = &found.ceiling;
    let or_none = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), brief);
    let rows = [
        ("the model, groups held out", with_interval(found.held_out)),
        ("the model, programs of the same groups in training", with_interval(ceiling.same_groups)),
        ("half of the difference between nearest neighbors", or_none(ceiling.neighbours)),
        ("rows of equal features, the best answer for each vector", brief(ceiling.collisions)),
        ("spread of repeated measurements (log2)", or_none(ceiling.repeats)),
    ];
    html! {
        (facts::table(&["error of", ""], rows.map(|(what, value)| vec![cell(what), cell(value)])))
        p.note {
            (ceiling.vectors) " distinct feature vectors; " (ceiling.colliding) " rows share theirs. "
            "With programs of the same groups in training the error changes by " (percent(ceiling.group_gap)) ". "
            "No model of these features goes below the third and the fourth line: what they leave is noise of the "
            "labels, or what the features do not see. The last line is of programs that were measured more than once."
        }
    }
}

fn coverage(found: &Diagnosis) -> Markup {
    let rows = found
        .distance
        .iter()
        .map(|bin| vec![cell(brief(bin.to)), cell(bin.rows), cell(brief(bin.error))]);
    html! {
        (facts::table(&["distance to the nearest program trained on, up to", "rows", "error"], rows))
        @if let Some(rho) = found.distance_correlation {
            p.note {
                "Fifths of the programs by their distance to what was trained on (of the logarithms of the features, each "
                "in units of its spread). Rank correlation of distance and error: " (brief(rho))
                "; far above zero, far programs are the ones predicted badly."
            }
        }
    }
}

fn made(found: &Diagnosis) -> Markup {
    let rows = found.made.iter().map(|made| {
        vec![
            cell(&made.table),
            cell(made.programs),
            cell(made.bias.map_or_else(|| "–".to_owned(), with_interval)),
            cell(with_interval(made.error)),
            cell(format!("{:.0} %", 100.0 * made.outside)),
            cell(made.error_inside.map_or_else(|| "–".to_owned(), brief)),
        ]
    });
    let header = [
        "source",
        "programs",
        "bias: predicted less true, log2",
        "error",
        "farther from real programs than these from each other",
        "error of the others",
    ];
    html! {
        (facts::table(&header, rows))
        p.note {
            "By a model of all real programs. A bias above zero: they cost less than real programs of "
            "equal features do, since their code is dead or constant, for example."
        }
    }
}

fn regions(found: &Diagnosis) -> Markup {
    let marks = |region: &Region| {
        let one = |mark: &Mark| {
            format!("{} {} ({})", mark.feature, brief(mark.median), brief(mark.of_all))
        };
        region.marks.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let rows = found.regions.iter().map(|region| {
        vec![
            cell(region.programs),
            cell(region.groups),
            cell(marks(region)),
            cell(brief(region.error)),
            cell(brief(region.distance)),
            cell(&region.program),
        ]
    });
    let header = [
        "programs",
        "groups",
        "marked by: median there (of all)",
        "error",
        "distance to what was trained on",
        "the program that stands for it",
    ];
    html! {
        p.note {
            "The fifth of the programs about which held-out ones are predicted worst, by the nearest of some that lie "
            "apart from each other: --targets writes these for steer."
        }
        (facts::table(&header, rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heuristics::{DiagnoseOptions, Origin, Row, Table, diagnose};

    fn table(choices: &[&str]) -> Table {
        let mut table =
            Table { name: "<task>".into(), about: "steps of <it>".into(), ..Table::default() };
        for at in 0..64_usize {
            let steps = ((at * 7 % 64) / 8 % 3) as f64;
            let costs = (0..choices.len())
                .map(|c| (steps + ((c + 1) * at * 3 % 5) as f64).exp2())
                .collect();
            table.task.rows.push(Row {
                program: format!("p{at}<script>"),
                variant: String::new(),
                group: format!("g{}", at % 8),
                features: vec![(at * 7 % 64) as f64, 1.0],
                costs,
                label: 0,
            });
            table.origins.push(Origin::default());
        }
        table.task.features = vec!["s:TotalInsts".into(), "s:x".into()];
        table.task.choices = choices.iter().map(|name| (*name).to_owned()).collect();
        table.spaces = vec![("s".into(), 0..2)];
        table
    }

    #[test]
    fn a_page_has_a_part_for_all_that_was_found_and_escapes_names() {
        for (choices, part) in [(&["cycles"][..], "Models"), (&["a", "b", "c"], "Fixed sets")] {
            let found = diagnose(&table(choices), &DiagnoseOptions::default());
            let found = found.expect("it is a task");
            let page = diagnosis(&found, "stampmill heuristic diagnose <task>").expect("a page");
            for wanted in ["Verdict", part, "Learning curve", "Ceilings", "Coverage"] {
                assert!(page.sections.iter().any(|title| title == wanted), "{wanted}");
            }
            // Where it is from, and what its figures are.
            for wanted in ["steps of <it>", "diagnose <task>", "5 splits", "factor of 2"] {
                let wanted = wanted.replace('<', "&lt;").replace('>', "&gt;");
                assert!(page.html.contains(&wanted), "{wanted}");
            }
            assert!(page.html.contains("&lt;task&gt;") && !page.html.contains("<script"));
            assert!(page.html.contains("<svg") && !page.html.contains("NaN"), "{}", page.html);
        }
    }
}
