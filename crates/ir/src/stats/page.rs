//! One page of plots, in one file without anything from elsewhere.

use super::{SIZES, StatsReport};
use crate::Error;
use dataset::PAGE_GENERATOR;
use std::{fmt::Write, fs, path::Path};

const WIDTH: f64 = 420.0;
const LINE: usize = 18;
const STYLE: &str = "body{font:14px sans-serif;max-width:960px;margin:2em auto;padding:0 1em;color:CanvasText;background:Canvas}\
    section{display:inline-block;vertical-align:top;margin:0 1.5em 1.5em 0;width:420px;max-width:calc(100% - 1.5em)}\
    h2{font-size:1.1em}.scroll{overflow-x:auto}svg{width:100%}\
    td,th{padding:2px 10px;text-align:right}text{font:12px sans-serif;fill:CanvasText}";

pub(super) fn write(path: &Path, report: &StatsReport) -> Result<(), Error> {
    fs::write(path, page(report)).map_err(Error::file("write", path))
}

fn page(report: &StatsReport) -> String {
    let mut text = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"generator\" content=\"{PAGE_GENERATOR}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>IR statistics</title>\n<style>{STYLE}</style>\n\
         <h1>IR statistics</h1>\n",
    );
    let _ = writeln!(
        text,
        "<p>{} modules; {} could not be read, {} not be optimised, {} gave no text.</p>",
        report.modules, report.failed, report.not_optimised, report.without_text
    );
    text.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Languages\"><table><tr><th>language<th>modules<th>bitcode MB<th>text MB<th>functions<th>instructions<th>after -O3<th>object MB");
    for size in SIZES {
        let _ = write!(text, "<th>tokens, {}k", size / 1000);
    }
    for (name, sums) in &report.languages {
        let mega = |bytes: u64| format!("{:.2}", bytes as f64 / 1e6);
        let _ = write!(
            text,
            "\n<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}",
            escape(name),
            sums.modules,
            mega(sums.bitcode_bytes),
            mega(sums.text_bytes),
            sums.functions,
            sums.instructions,
            sums.instructions_after,
            mega(sums.object_bytes)
        );
        for tokens in sums.tokens {
            let _ = write!(text, "<td>{tokens}");
        }
    }
    text.push_str("\n</table></div>\n");
    let languages = || report.languages.iter().filter(|(name, _)| *name != "all");
    let of = |value: fn(&super::Sums) -> u64| -> Vec<(String, u64)> {
        languages().map(|(name, sums)| (name.clone(), value(sums))).collect()
    };
    text.push_str(&plot("Bitcode, bytes", &of(|sums| sums.bitcode_bytes)));
    text.push_str(&plot("Tokens at a vocabulary of 50k", &of(|sums| sums.tokens[1])));
    let all = report.languages.get("all").cloned().unwrap_or_default();
    let by_size: Vec<(String, u64)> =
        SIZES.iter().zip(all.tokens).map(|(size, n)| (format!("{}k", size / 1000), n)).collect();
    text.push_str(&plot("Tokens by size of vocabulary", &by_size));
    let sizes: Vec<(String, u64)> = report
        .sizes
        .iter()
        .map(|(log, modules)| (format!("{} and up", bytes(1 << log)), *modules))
        .collect();
    text.push_str(&plot("Modules by bytes of bitcode", &sizes));
    let mut opcodes: Vec<(&String, &[u64; 2])> = report.opcodes.iter().collect();
    opcodes.sort_by_key(|(name, both)| (std::cmp::Reverse(both[0]), (*name).clone()));
    let most = opcodes.iter().take(20);
    let before: Vec<(String, u64)> =
        most.clone().map(|(n, both)| ((*n).clone(), both[0])).collect();
    let after: Vec<(String, u64)> = most.map(|(n, both)| ((*n).clone(), both[1])).collect();
    text.push_str(&plot("Instructions by opcode, as compiled", &before));
    text.push_str(&plot("The same after -O3", &after));
    let names = ["by name", "of LLVM's own", "through a pointer", "of assembly"];
    let calls: Vec<(String, u64)> =
        names.iter().zip(all.calls).map(|(name, n)| ((*name).to_owned(), n)).collect();
    text.push_str(&plot("Calls", &calls));
    text
}

fn plot(title: &str, bars: &[(String, u64)]) -> String {
    let most = bars.iter().map(|(_, value)| *value).max().unwrap_or(0).max(1);
    let height = bars.len() * LINE + 4;
    let mut text = format!(
        "<section><h2>{0}</h2><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{0}\">",
        escape(title)
    );
    for (at, (name, value)) in bars.iter().enumerate() {
        let top = at * LINE;
        let length = (WIDTH - 220.0) * *value as f64 / most as f64;
        let _ = write!(
            text,
            "<text x=\"115\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"120\" y=\"{}\" width=\"{length:.1}\" \
             height=\"{}\" fill=\"#4477aa\"/><text x=\"{:.1}\" y=\"{}\">{value}</text>",
            top + 13,
            escape(name),
            top + 2,
            LINE - 4,
            length + 124.0,
            top + 13
        );
    }
    text.push_str("</svg></section>\n");
    text
}

fn bytes(number: u64) -> String {
    match number {
        0..=1023 => format!("{number} B"),
        1024..=1_048_575 => format!("{} KiB", number >> 10),
        _ => format!("{} MiB", number >> 20),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_nothing_is_a_page() {
        let page = page(&StatsReport::default());
        assert!(page.starts_with("<!doctype html>") && page.contains("0 modules"));
        assert!(plot("a<b", &[("x".into(), 3)]).contains("a&lt;b"));
    }
}
