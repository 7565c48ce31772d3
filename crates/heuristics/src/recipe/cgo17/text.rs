//! The results in Markdown, and figures as CSV.

use super::{Cells, Results, data::SUITES};

/// What the paper prints, [without, with], by platform.
const PAPER_FIGURE7: [(&str, [f64; 2]); 2] = [("amd", [1.26, 1.57]), ("nvidia", [2.50, 3.26])];
const PAPER_FIGURE8: [(&str, f64); 2] = [("amd", 3.56), ("nvidia", 5.04)];
/// Cells whose range is narrower than this many per cent do not depend on ties.
const TIE_FREE: f64 = 0.05;

pub(super) fn markdown(results: &Results) -> String {
    let mut text = String::new();
    for (platform, ranges) in &results.table1_range {
        text += &table1(platform, ranges);
    }
    text += "![Table 1](table1.svg)\n\n";
    text += &figure7(results);
    text += &figure8(results);
    let nine = &results.figure9;
    text += &format!(
        "## Figure 9: kernels with exactly the features of a benchmark\n\nCLgen {:.1} %, CLSmith \
         {:.2} %, GitHub {:.1} %\n\n",
        100.0 * nine.clgen,
        100.0 * nine.clsmith,
        100.0 * nine.github
    );
    text + "## Why\n\n" + results.reason + "\n"
}

fn table1(platform: &str, ranges: &Cells<[f64; 2]>) -> String {
    let mut text = format!(
        "## Table 1, {platform}: per cent of the oracle, trained on the column, tested on the \
         row\n\n| |{}|\n|---|{}\n",
        SUITES.join("|"),
        "---:|".repeat(SUITES.len())
    );
    for tested in SUITES {
        let cells = SUITES.map(|training| match ranges[tested][training] {
            [low, high] if high - low < TIE_FREE => format!("{low:.1}"),
            [low, high] => format!("*{low:.1}–{high:.1}*"),
        });
        text += &format!("|**{tested}**|{}|\n", cells.join("|"));
    }
    text + "\nIn italics: the range over seeds where equally good splits decide.\n\n"
}

fn figure7(results: &Results) -> String {
    let mut text = "## Figure 7: NAS benchmarks, trained without → with CLgen's kernels\n\n\
        | platform | paper prints | its formula (predicted / static, arithmetic) | right way up \
        (static / predicted, geometric) | 95 % interval with | accuracy | oracle | p |\n\
        |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for (platform, paper) in PAPER_FIGURE7 {
        let figure = &results.figure7[platform];
        let right = &figure.right_orientation;
        let [low, high] = right.geomean_interval[1];
        text += &format!(
            "| {platform}, static {} | {:.2} → {:.2} | {:.2} → {:.2} | **{:.3} → {:.3}** | {low:.2}–\
             {high:.2} | {:.1} % → {:.1} % | {:.3} | {:.2} |\n",
            figure.static_device,
            paper[0],
            paper[1],
            figure.paper_formula[0],
            figure.paper_formula[1],
            right.geomean[0],
            right.geomean[1],
            100.0 * right.accuracy[0],
            100.0 * right.accuracy[1],
            right.oracle_geomean,
            figure.paired.p_value,
        );
    }
    for (platform, figure) in &results.figure7 {
        let seeds = &figure.over_seeds;
        let [without, with] = seeds.geomean;
        text += &format!(
            "\nOn {platform} over {} seeds: {:.3}–{:.3} without, {:.3}–{:.3} with; CLgen's kernels \
             lower it with {} of them.\n",
            seeds.seeds, without[0], without[1], with[0], with[1], seeds.lowered
        );
    }
    text + "\n![Figure 7, as printed and the right way up](figure7.svg)\n\n"
}

fn figure8(results: &Results) -> String {
    let mut text = "## Figure 8: extended model over the original one, all suites\n\n\
        | platform | paper prints | its formula (new / old, arithmetic) | right way up (old / new, \
        geometric) | 95 % interval | accuracy old → new |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for (platform, paper) in PAPER_FIGURE8 {
        let figure = &results.figure8[platform];
        let right = &figure.right_orientation;
        text += &format!(
            "| {platform} | {paper:.2} | {:.2} | **{:.3}** | {:.2}–{:.2} | {:.1} % → {:.1} % |\n",
            figure.paper_formula,
            right.geomean,
            right.interval[0],
            right.interval[1],
            100.0 * right.accuracy[0],
            100.0 * right.accuracy[1],
        );
    }
    text + "\n![Figure 8, as printed and the right way up](figure8.svg)\n\n"
}

/// Figure 7, a line for each platform and each set that was trained on. `speedup` is static / predicted, a geometric mean, and its
/// 95 % interval; `accuracy` a share.
pub(super) fn figure7_csv(results: &Results) -> String {
    let mut text = "platform,static device,trained on,paper prints,its formula,speedup,from,to,\
        accuracy,oracle's speedup\n"
        .to_owned();
    for (platform, paper) in PAPER_FIGURE7 {
        let figure = &results.figure7[platform];
        let right = &figure.right_orientation;
        for (at, trained) in ["suites", "suites and CLgen's kernels"].into_iter().enumerate() {
            let [low, high] = right.geomean_interval[at];
            text += &format!(
                "{platform},{},{trained},{},{:.4},{:.4},{low:.4},{high:.4},{:.4},{:.4}\n",
                figure.static_device,
                paper[at],
                figure.paper_formula[at],
                right.geomean[at],
                right.accuracy[at],
                right.oracle_geomean,
            );
        }
    }
    text
}

/// Figure 8, a line for each platform. `speedup` is original / extended model, a geometric mean, and its 95 % interval;
/// accuracies are shares.
pub(super) fn figure8_csv(results: &Results) -> String {
    let mut text = "platform,paper prints,its formula,speedup,from,to,accuracy of the original \
        model,accuracy of the extended model\n"
        .to_owned();
    for (platform, paper) in PAPER_FIGURE8 {
        let figure = &results.figure8[platform];
        let right = &figure.right_orientation;
        text += &format!(
            "{platform},{paper},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4}\n",
            figure.paper_formula,
            right.geomean,
            right.interval[0],
            right.interval[1],
            right.accuracy[0],
            right.accuracy[1],
        );
    }
    text
}
