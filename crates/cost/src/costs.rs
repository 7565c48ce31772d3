//! Costs of programs that no data set holds.

use crate::{Bench, Result, Task, task::Tools};
use dataset::Language;

/// What each of these programs in OpenCL C costs by the first choice of a task; `None`: it has no label.
///
/// # Errors
/// When the machine fails.
pub fn costs(task: &dyn Task, bench: &Bench, texts: &[&str]) -> Result<Vec<Option<f64>>> {
    let mut modules = Vec::new();
    let mut is_compiled = Vec::with_capacity(texts.len());
    for (at, text) in texts.iter().enumerate() {
        let name = format!("{at}.cl");
        let module = task.module(bench, &name, Language::OpenCl, text.as_bytes())?;
        is_compiled.push(module.is_ok());
        modules.extend(module);
    }
    let mut labels = task.label(bench, &mut Tools::default(), &modules)?.into_iter();
    let cost = |is_compiled: bool| {
        let label = is_compiled.then(|| labels.next().expect("a task answers for every module"))?;
        let cost = label.ok()?.first().copied().flatten()?;
        // Costs are compared by their ratio.
        (cost.is_finite() && cost > 0.0).then_some(cost)
    };
    Ok(is_compiled.into_iter().map(cost).collect())
}
