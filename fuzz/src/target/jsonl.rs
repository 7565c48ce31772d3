//! Lines of JSON in the forms of performance edits: each is a row or broken, and a row written is read again.

use edits::{
    Candidates, Problem, Submissions,
    schema::{FORMS, Lines, OnBroken, read_lines},
};

pub fn run(data: &[u8]) {
    crate::input::file("a.jsonl", data, |path| {
        let full = |line: &&[u8]| !line.iter().all(u8::is_ascii_whitespace);
        let lines = data.split(|byte| *byte == b'\n').filter(full).count();
        for wanted in [None].into_iter().chain(FORMS.map(Some)) {
            let read = read_lines(path, wanted, OnBroken::Skip).expect("a file");
            assert_eq!(read.rows.len() + read.broken.len(), lines);
            let stopped = read_lines(path, wanted, OnBroken::Stop);
            assert_eq!(stopped.is_ok(), read.broken.is_empty());
            written_and_read(&read);
        }
        let _ = Problem::read(path, OnBroken::Skip);
        let _ = Submissions::read(path, OnBroken::Skip);
        let (candidates, _) = Candidates::read(path, OnBroken::Skip).expect("a file");
        for one in candidates {
            let again = serde_json::to_string(&one.to_line()).expect("JSON");
            crate::input::file("b.jsonl", again.as_bytes(), |path| {
                let (read, _) = Candidates::read(path, OnBroken::Stop).expect("a line");
                assert_eq!(read, [one]);
            });
        }
    });
}

fn written_and_read(
    lines: &Lines<(edits::schema::Form, serde_json::Map<String, serde_json::Value>)>,
) {
    let text: Vec<String> =
        lines.rows.iter().map(|(_, (_, row))| serde_json::to_string(row).expect("JSON")).collect();
    crate::input::file("c.jsonl", text.join("\n").as_bytes(), |path| {
        for (_, (form, row)) in &lines.rows {
            form.check(row).expect("it is a row");
        }
        let again = read_lines(path, None, OnBroken::Skip).expect("a file");
        assert_eq!(again.rows.len() + again.broken.len(), lines.rows.len());
    });
}
