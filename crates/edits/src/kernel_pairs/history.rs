use super::{Found, KernelPairsReport, Prepared};
use crate::Result;
use ::kernels::Source;
use dataset::Progress;
use mine::{Change, ContentFile, History, HistoryOptions};
use serde_json::{Map, Value};
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

/// Commits whose files are prepared together.
const TOGETHER: usize = 16;
/// Letters of a commit that name it.
const SHORT: usize = 12;

/// The lines that `edits judge-kernels` reads, with each kernel that a commit changes: `src_id` (its file, its name and the
/// commit, with `^` for the one before), `src_code` as the commit's first parent has it, `tgt_id` (the commit) and `tgt_code` as the
/// commit leaves it, both isolated and in normal form; and `kernel`, `path`, `package`, `license`, `commit`, `date` and `subject`. The newest
/// commit comes first. A question to clang has `limit`.
///
/// # Errors
/// When the repository cannot be had or clang's worker cannot be started.
pub fn pair_history(
    options: HistoryOptions,
    limit: Duration,
    cancelled: &Arc<AtomicBool>,
    progress: &dyn Progress,
) -> Result<(Vec<Map<String, Value>>, KernelPairsReport)> {
    let commits = options.commits;
    let mut history = History::open(options, cancelled, progress)?;
    let mut prepared = Prepared::start(limit)?;
    let mut found = Found::default();
    let name = history.name().to_owned();
    progress.begin("pair-kernels", commits);
    loop {
        let before = history.looked_at();
        let changes = history.by_ref().take(TOGETHER).collect::<mine::Result<Vec<Change>>>()?;
        if changes.is_empty() {
            break;
        }
        let sides: Vec<[Vec<Source>; 2]> =
            changes.iter().map(|one| [sources(&one.before), sources(&one.after)]).collect();
        prepared.add(sides.iter().flatten().flatten())?;
        for (change, [old, new]) in changes.iter().zip(&sides) {
            let short = change.commit.get(..SHORT).unwrap_or(&change.commit);
            found.compare(prepared.all(old), prepared.all(new), |named, row| {
                [
                    ("src_id", format!("{}#{}@{short}^", named.file, named.kernel).into()),
                    ("tgt_id", change.commit.as_str().into()),
                    ("kernel", named.kernel.into()),
                    ("path", named.file.into()),
                    ("package", name.as_str().into()),
                    ("license", row.license.as_str().into()),
                    ("commit", change.commit.as_str().into()),
                    ("date", change.date.as_str().into()),
                    ("subject", change.subject.as_str().into()),
                ]
            });
        }
        found.report.changes += changes.len() as u64;
        progress.advance(history.looked_at() - before);
    }
    found.report.commits = history.looked_at();
    Ok((found.lines, found.report))
}

/// Content files to prepare.
fn sources(files: &[ContentFile]) -> Vec<Source> {
    let accepted = files.iter().filter(|file| file.is_accepted());
    let source = |file: &ContentFile| Source {
        id: file.id.clone(),
        text: Some(file.text.clone()),
        source: file.source.clone(),
        package: file.package.clone(),
        path: file.path.clone(),
        license: file.license.clone(),
        license_source: file.license_source.clone(),
        defines: file.defines.clone(),
        heads: Some(file.kernels),
        language: file.language.clone(),
        ..Source::default()
    };
    accepted.map(source).collect()
}
