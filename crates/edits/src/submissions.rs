//! Where submissions come from: CodeNet's folders, or JSON lines.

use crate::{
    Error, Result,
    pair::{Language, Submission},
    schema::{Broken, OnBroken, form, read_lines},
};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Submissions that were read, and what was skipped.
#[derive(Clone, Debug, Default)]
pub struct Submissions {
    /// Accepted ones in C and C++, in the order in which they were found.
    pub accepted: Vec<Submission>,
    /// Those in other languages, or that their judge did not accept.
    pub passed_over: u64,
    /// Broken lines of a JSON file.
    pub broken: Vec<Broken>,
}

impl Submissions {
    /// Read a folder in CodeNet's layout (`metadata/PROBLEM.csv`, `data/PROBLEM/LANGUAGE/ID.EXT`) or
    /// JSON lines: submissions, or pairs, which count as two submissions of one author.
    ///
    /// # Errors
    /// When there are none, or a line is broken and `on_broken` says to stop.
    pub fn read(path: &Path, on_broken: OnBroken) -> Result<Submissions> {
        let read = if path.is_dir() { codenet(path)? } else { lines(path, on_broken)? };
        if read.accepted.is_empty() {
            return Err(Error::Empty {
                what: "accepted C or C++ submissions",
                path: path.to_owned(),
            });
        }
        Ok(read)
    }
}

fn lines(path: &Path, on_broken: OnBroken) -> Result<Submissions> {
    let read = read_lines(path, None, on_broken)?;
    let mut found = Submissions { broken: read.broken, ..Submissions::default() };
    for (number, (form, line)) in read.rows {
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let accepted = matches!(text("status").as_str(), "" | "Accepted");
        let Some(language) = Language::parse(&text("language")).filter(|_| accepted) else {
            found.passed_over += 1;
            continue;
        };
        let submission = |id: String, date: u64, code: String, user_id: String| Submission {
            id,
            problem_id: text("problem_id"),
            user_id,
            date,
            language,
            code,
        };
        if form.name == form::SUBMISSIONS.name {
            let date = line.get("date").and_then(Value::as_u64).unwrap_or(0);
            found.accepted.push(submission(
                text("submission_id"),
                date,
                text("code"),
                text("user_id"),
            ));
        } else if line.contains_key("src_code") && line.contains_key("tgt_code") {
            let first = |keys: [&str; 2]| keys.into_iter().map(text).find(|name| !name.is_empty());
            let src =
                first(["src_id", "submission_id"]).unwrap_or_else(|| format!("line-{number}"));
            let tgt = first(["tgt_id", "tgt_id"]).unwrap_or_else(|| format!("{src}+"));
            // Only the two are known to follow each other, whatever else their author did.
            let user = format!("{}#{src}", text("user_id"));
            found.accepted.push(submission(src, 2 * number, text("src_code"), user.clone()));
            found.accepted.push(submission(tgt, 2 * number + 1, text("tgt_code"), user));
        } else {
            found.passed_over += 1;
        }
    }
    Ok(found)
}

/// A line of CodeNet's `metadata/PROBLEM.csv`; columns it does not name are skipped.
#[derive(Deserialize)]
struct Entry {
    submission_id: String,
    problem_id: String,
    user_id: String,
    date: u64,
    language: String,
    filename_ext: String,
    status: String,
}

fn codenet(root: &Path) -> Result<Submissions> {
    let metadata = root.join("metadata");
    if root.is_dir() && !metadata.is_dir() {
        let what =
            "submissions in CodeNet's layout (metadata/PROBLEM.csv, data/PROBLEM/LANGUAGE/ID.EXT)";
        return Err(Error::Empty { what, path: root.to_owned() });
    }
    let entries = std::fs::read_dir(&metadata).map_err(Error::file("read", &metadata))?;
    let tables: std::io::Result<Vec<_>> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut tables = tables.map_err(Error::file("read", &metadata))?;
    tables.retain(|path| {
        // `problem_list.csv` describes the problems and lists no submissions.
        path.extension().is_some_and(|e| e == "csv") && !path.ends_with("problem_list.csv")
    });
    tables.sort();
    let mut found = Submissions::default();
    for table in tables {
        let broken = |line: u64, reason: String| Error::Line {
            path: table.clone(),
            line,
            field: "-".into(),
            reason,
        };
        let mut reader =
            csv::Reader::from_path(&table).map_err(|error| broken(1, error.to_string()))?;
        for (at, entry) in reader.deserialize::<Entry>().enumerate() {
            let entry = entry.map_err(|error| broken(at as u64 + 2, error.to_string()))?;
            let language = Language::parse(&entry.language);
            let (Some(language), "Accepted") = (language, entry.status.as_str()) else {
                found.passed_over += 1;
                continue;
            };
            let path = root
                .join("data")
                .join(&entry.problem_id)
                .join(&entry.language)
                .join(format!("{}.{}", entry.submission_id, entry.filename_ext));
            let bytes = std::fs::read(&path).map_err(Error::file("read", &path))?;
            found.accepted.push(Submission {
                id: entry.submission_id,
                problem_id: entry.problem_id,
                user_id: entry.user_id,
                date: entry.date,
                language,
                // Old sources hold Latin-1 and Shift-JIS in their comments.
                code: String::from_utf8_lossy(&bytes).into_owned(),
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_layout_of_codenet() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put(
            "metadata/p00001.csv",
            "submission_id,problem_id,user_id,date,language,original_language,filename_ext,status,cpu_time,\
             memory,code_size,accuracy\n\
             s2,p00001,u1,20,C++,C++14,cpp,Accepted,10,1000,50,4/4\n\
             s1,p00001,u1,10,C,C,c,Accepted,20,1000,50,4/4\n\
             s3,p00001,u1,30,C++,C++14,cpp,Wrong Answer,10,1000,50,1/4\n\
             s4,p00001,u2,30,Ruby,Ruby,rb,Accepted,10,1000,50,4/4\n",
        );
        put("metadata/problem_list.csv", "id,name\np00001,x\n");
        put("data/p00001/C++/s2.cpp", "int main() {}");
        put("data/p00001/C/s1.c", "int main(void) {}");
        let read = Submissions::read(root.path(), OnBroken::Stop).unwrap();
        let found: Vec<(&str, u64, Language)> =
            read.accepted.iter().map(|s| (s.id.as_str(), s.date, s.language)).collect();
        assert_eq!(found, [("s2", 20, Language::Cpp), ("s1", 10, Language::C)]);
        assert_eq!(read.passed_over, 2);
    }
}
