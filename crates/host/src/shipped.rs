use crate::helper::is_in_module;
use std::{
    env,
    path::{Path, PathBuf},
};

/// A model or data set that ships, by the name that documents give it (`datasets/archive-instcount`): where that is in the
/// current folder, as in a checkout or wherever it is linked to; else in the Python wheel that this program came with.
#[must_use]
pub fn shipped(name: &str) -> Option<PathBuf> {
    shipped_to(Path::new(""), &env::current_exe().unwrap_or_default(), name)
}

/// The same from another folder, for a program at `own`.
fn shipped_to(here: &Path, own: &Path, name: &str) -> Option<PathBuf> {
    let module = own.parent().and_then(Path::parent).filter(|_| is_in_module(own));
    let in_wheel = module.map(|module| module.join("share").join(name));
    [here.join(name)].into_iter().chain(in_wheel).find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ships_is_in_the_folder_or_in_the_wheel() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for folder in ["stampmill/bin", "stampmill/share/datasets/a", "here/datasets", "own"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::fs::write(at("stampmill/_binary.py"), "").unwrap();
        let (of_wheel, other) = (at("stampmill/bin/stampmill"), at("own/stampmill"));
        let found = |own: &Path| shipped_to(&at("here"), own, "datasets/a");
        assert_eq!(
            (found(&of_wheel), found(&other)),
            (Some(at("stampmill/share/datasets/a")), None)
        );
        std::fs::create_dir(at("here/datasets/a")).unwrap();
        assert_eq!(found(&of_wheel), Some(at("here/datasets/a")));
        assert_eq!(found(&other), found(&of_wheel));
    }
}
