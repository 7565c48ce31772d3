use std::path::PathBuf;

/// Find a program that is installed with ours: in the folder `STAMPMILL_LIBEXEC` names, beside the
/// running program, or one folder up (where a test binary finds it).
#[must_use]
pub fn companion(name: &str) -> Option<PathBuf> {
    let named = std::env::var_os("STAMPMILL_LIBEXEC").map(PathBuf::from);
    let here = std::env::current_exe().ok();
    let beside = here.as_deref().and_then(|exe| exe.parent()).map(PathBuf::from);
    let above = beside.as_deref().and_then(|folder| folder.parent()).map(PathBuf::from);
    [named, beside, above]
        .into_iter()
        .flatten()
        .map(|folder| folder.join(name))
        .find(|p| p.is_file())
}
