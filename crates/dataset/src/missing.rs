//! What is said where a user names something that is not there: one wording everywhere.

use crate::{
    partial_folder,
    store::{Url, other_scheme},
    unfinished::MARKER,
};
use std::{
    fs,
    io::{Error, ErrorKind},
    path::Path,
};

/// Folders of a checkout whose content the wheel brings, too.
const SHIPPED: [&str; 2] = ["models", "datasets"];

/// Why nothing could be done with a file or folder. What is not there is called so, with a near name beside
/// it, where there is one.
#[must_use]
pub fn refusal(action: &str, path: &Path, why: &Error) -> String {
    let reads = matches!(action, "read" | "open");
    match why.kind() {
        ErrorKind::NotFound if reads && fs::symlink_metadata(path).is_err() => missing(path),
        ErrorKind::IsADirectory if reads => {
            format!("{} is a folder, and a file is wanted", path.display())
        }
        _ => format!("cannot {action} {}: {why}", path.display()),
    }
}

/// That there is nothing at `path`, and what may have been meant; of what a run has begun, that it is not finished.
#[must_use]
pub fn missing(path: &Path) -> String {
    match Url::of(path) {
        Ok(None) => {}
        Ok(Some(url)) => {
            return format!(
                "{url} is in an object store, from which data sets alone are read, and none stands in this place of a \
command: copy it to a file or folder of this machine first, and name that"
            );
        }
        Err(error) => return error.to_string(),
    }
    if let Some(scheme) = other_scheme(path) {
        return crate::Error::OtherUrl(scheme.to_owned()).to_string();
    }
    let folders = path.ancestors().take_while(|folder| *folder != Path::new(""));
    // A folder that is not there is what should be mended, not what would be in it.
    let path = folders.take_while(|at| fs::symlink_metadata(at).is_err()).last().unwrap_or(path);
    if let Some(begun) = unfinished(path) {
        return begun;
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let wanted = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let hint = match near(wanted, names.iter().map(String::as_str)) {
        Some(name) => format!("; did you mean {}?", path.with_file_name(name).display()),
        None if SHIPPED.iter().any(|name| path == Path::new(name)) => {
            "; what ships stands there in a checkout; from the wheel it is linked here by \
             ln -s \"$(python3 -c 'import stampmill; print(stampmill.shipped())')\"/* ."
                .to_owned()
        }
        None => String::new(),
    };
    format!("there is nothing at {}{hint}", path.display())
}

/// Whether what is to be at `path` was begun by a run that has not finished it.
#[must_use]
pub fn is_unfinished(path: &Path) -> bool {
    unfinished(path).is_some()
}

/// That a run has begun what is to be at `path`, and how it goes on.
fn unfinished(path: &Path) -> Option<String> {
    let partial = partial_folder(path).ok()?;
    partial.join(MARKER).is_file().then(|| {
        format!(
            "{} is not finished ({} is there): repeat the command that began it",
            path.display(),
            partial.display()
        )
    })
}

/// The name that is likeliest to be meant by `wanted`, if any is: the nearest by edit distance, letters of
/// either case being the same, with one difference in four letters at most.
#[must_use]
pub fn near<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    let distance = |name: &str| strsim::osa_distance(&wanted, &name.to_lowercase());
    let (distance, name) = names.into_iter().map(|name| (distance(name), name)).min()?;
    (distance <= 1.max(wanted.chars().count() / 4) && wanted.len() > 1).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_what_was_meant() {
        let names = ["kernels", "vectors", "runs"];
        assert_eq!(near("kernel", names), Some("kernels"));
        assert_eq!(near("Vectors", names), Some("vectors"));
        assert_eq!(near("rnus", names), Some("runs"));
        assert_eq!(near("modules", names), None);
        assert_eq!(near("", names), None);
    }

    #[test]
    fn what_is_elsewhere_is_to_be_copied_first() {
        let of = |text: &str| missing(Path::new(text));
        assert!(of("s3://bucket/model").starts_with("s3://bucket/model is in an object store"));
        assert!(of("s3://key:secret@bucket/model").contains("AWS_ACCESS_KEY_ID"));
        for other in ["gs://bucket/model", "S3://bucket/model", "https://key:secret@host/x"] {
            let said = of(other);
            assert!(said.contains("s3://BUCKET/NAME") && !said.contains("secret"), "{said}");
        }
        assert!(
            of("no/such://place").starts_with("there is nothing at"),
            "{}",
            of("no/such://place")
        );
    }

    #[test]
    fn what_is_missing_is_told_with_the_near_name_of_its_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("kernels")).expect("is made");
        let wanted = folder.path().join("kernals");
        let error = fs::read_dir(&wanted).expect_err("is not there");
        let said = refusal("read", &wanted, &error);
        assert!(
            said.starts_with("there is nothing at ") && said.contains("did you mean "),
            "{said}"
        );
        assert!(said.contains("kernels?"), "{said}");
    }

    #[test]
    fn what_a_run_has_begun_is_not_finished() {
        let home = tempfile::tempdir().expect("a folder");
        let (wanted, partial) = (home.path().join("raw"), home.path().join("raw.partial"));
        fs::create_dir(&partial).expect("is made");
        // A folder of that name may be somebody's own.
        assert!(!is_unfinished(&wanted) && missing(&wanted).starts_with("there is nothing at "));
        fs::write(partial.join(MARKER), "").expect("is written");
        assert!(is_unfinished(&wanted) && !is_unfinished(&partial));
        for path in [wanted.clone(), wanted.join("part-00000.parquet")] {
            let said = missing(&path);
            assert!(said.starts_with(&format!("{} is not finished", wanted.display())), "{said}");
        }
        assert!(!is_unfinished(Path::new("s3://bucket/raw")) && !is_unfinished(Path::new("/")));
    }
}
