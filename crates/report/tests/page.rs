//! Hostile programs cannot leave their place in the page, and what its script does is seen in a real
//! browser (skipped where there is no chromium).

use dataset::{Builder, Notes, Row};
use serde::{Deserialize, Serialize};
use stampmill_report::{Options, Page};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A program that tries to be markup.
const HOSTILE: &str = "kernel void A(global int *a) {\n  // </script><script>document.title = 'broken'</script>\n  \
    a[0] = 1 < 2 && 3 > 1; // <img src=x onerror=\"document.title='broken'\">\n  /* <!-- <script> */\n}\n";
const PLAIN: &str = "kernel void B(global float *a, int n) {\n  a[get_global_id(0)] = n;\n}\n";
/// What B was in its file.
const FOUND: &str =
    "__kernel void fill(__global float *out, int n) { out[get_global_id(0)] = n; /* <b> */ }";
const MADE: &str = "kernel void C(global float *a) {\n  a[0] = 0.5f;\n}\n";

/// A row that no section knows.
#[derive(Serialize, Deserialize)]
struct Odd {
    note: String,
}

impl Row for Odd {
    const SCHEMA: &'static str = "odd";
    const VERSION: u32 = 1;
}

fn save<T: Row + 'static>(folder: &Path, rows: Vec<T>, notes: Notes) {
    let builder = Builder::<T>::create(folder, false, &"test").expect("a new folder");
    builder.add("all", rows).expect("room");
    let rows = builder.rows_of("all").collect::<Result<Vec<_>, _>>().expect("just written");
    builder.finish(rows, notes).expect("room");
}

/// One data set of most kinds, with hostile text wherever text may stand.
fn folder(home: &Path) -> PathBuf {
    let folder = home.join("all");
    let evil = || "<script>document.title='broken'</script>\"'&".to_owned();
    let id = |text: &str| dataset::content_hash(text.as_bytes());
    let found = rows::ContentFile {
        id: "c".into(),
        text: format!("int one() {{ return 1; }}\n{FOUND}\n__kernel void other() {{ }}\n"),
        kind: "file".into(),
        verdict: "accepted".into(),
        ..rows::ContentFile::default()
    };
    save(&folder.join("raw"), vec![found], Notes::default());
    let kernel = |name: &str, text: &str| rows::KernelRow {
        id: id(text),
        text: text.into(),
        name: name.into(),
        content_id: if name == "B" { "c".into() } else { String::new() },
        original_name: "fill".into(),
        package: evil(),
        path: evil(),
        verdict: "accepted".into(),
        ..rows::KernelRow::default()
    };
    let summary = serde_json::json!({
        "textual_kernels": 4, "kernels": 3, "unique_kernels": 2, "rejected": { evil(): 1 },
        "packages": [{ "package": evil(), "kernels": 2 }],
    });
    let notes = Notes {
        configuration: serde_json::json!({ "input": evil() }),
        summary,
        ..Notes::default()
    };
    let rows = vec![kernel("A", HOSTILE), kernel("B", PLAIN), kernel("A2", HOSTILE)];
    save(&folder.join("kernels"), rows, notes);

    let vector = |name: &str, text: &str, vector: [f64; 2]| features::Row {
        id: id(text),
        path: evil(),
        kernel: name.into(),
        verdict: "accepted".into(),
        vectors: [("ast-depth".to_owned(), vector.to_vec())].into(),
        ..features::Row::default()
    };
    let rows = vec![
        vector("A", HOSTILE, [3.0, 9.0]),
        vector("B", PLAIN, [5.0, 30.0]),
        vector("elsewhere", "no text here", [9.0, 99.0]),
    ];
    save(&folder.join("vectors"), rows, Notes::default());

    let step = |seconds, proximity| rows::Survivor {
        seconds,
        proximity,
        proposer: evil(),
        ..rows::Survivor::default()
    };
    let found = |target: &str, proximity| rows::SteeredRow {
        target: target.into(),
        space: "ast-depth".into(),
        rank: 1,
        path: format!("{target}#1"),
        name: "C".into(),
        text: MADE.into(),
        verdict: "accepted".into(),
        proximity,
        proposer: evil(),
        mined_proximity: 0.5,
        vector: vec![4.0, 20.0],
        trajectory: vec![step(0.1, 0.3), step(2.0, proximity)],
        ..rows::SteeredRow::default()
    };
    save(&folder.join("found"), vec![found(&evil(), 0.9), found("t", 1.0)], Notes::default());
    let learned = |role: &str, round, target: Vec<f64>| rows::LearnedRow {
        role: role.into(),
        round,
        target,
        entropy: 0.7,
        path: id(MADE),
        text: MADE.into(),
        vector: vec![4.0, 21.0],
        costs: vec![1e-3, 2e-3],
        verdict: evil(),
        ..rows::LearnedRow::default()
    };
    let round = |round, labelled| {
        serde_json::json!({
            "round": round, "labelled": labelled, "accuracy": 0.5, "geomean_speedup": 1.1,
            "geomean_interval": [1.0, 1.2], "oracle_share": 0.8,
        })
    };
    let notes = Notes {
        configuration: serde_json::json!({ "space": "ast-depth" }),
        summary: serde_json::json!({ "history": [round(0, 10), round(1, 12)] }),
        ..Notes::default()
    };
    let rows = vec![learned("train", 0, vec![]), learned("round", 1, vec![4.0, 22.0])];
    save(&folder.join("learned"), rows, notes);

    let run = |outcome: &str, time| rows::RunRow {
        id: id(PLAIN),
        kernel: "B".into(),
        device: evil(),
        outcome: outcome.into(),
        detail: evil(),
        kernel_time_ns: time,
        ..rows::RunRow::default()
    };
    let rows = vec![run("pass", Some(900)), run("pass", Some(1800)), run("timeout", None)];
    let verdicts = [("pass".to_owned(), 2), ("timeout".to_owned(), 1)].into();
    save(&folder.join("runs"), rows, Notes { verdicts, ..Notes::default() });
    save(&folder.join("odd"), vec![Odd { note: evil() }], Notes::default());
    folder
}

fn made(folder: &Path, programs: usize) -> Page {
    stampmill_report::page(folder, &Options { programs }).expect("data sets")
}

fn page(folder: &Path) -> String {
    made(folder, Options::default().programs).html
}

/// The page as a file in a folder.
fn saved(folder: &Path) -> PathBuf {
    let path = folder.join("report.html");
    made(folder, Options::default().programs).save(&path).expect("room");
    path
}

/// What stands between two texts.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let from = text.find(before).expect("the beginning") + before.len();
    &text[from..from + text[from..].find(after).expect("the end")]
}

fn hostile_programs_stay_text_and_nothing_is_loaded() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = folder(home.path());
    let page = page(&folder);
    assert_eq!(page.matches("<script").count(), 2, "the data and our script");
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img"));
    for outside in [" src=", "@import", "url(", "href=\"http", "<link"] {
        let found = page.find(outside).map(|at| &page[at.saturating_sub(60)..at + 20]);
        // The hostile text itself says `src=`, inside of the data.
        assert!(found.is_none_or(|text| text.contains("u003cimg")), "{outside}: {found:?}");
    }
    let data = between(&page, "<script id=\"data\" type=\"application/json\">", "</script>");
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    let texts: Vec<&str> = data["programs"]
        .as_array()
        .expect("programs")
        .iter()
        .map(|program| program["text"].as_str().expect("a text"))
        .collect();
    assert_eq!(texts, [MADE, HOSTILE, PLAIN], "each once, what was made first");
    assert_eq!(data["maps"][0]["space"], "ast-depth");
    let clouds = data["maps"][0]["sets"].as_array().expect("clouds");
    let names: Vec<&str> = clouds.iter().filter_map(|cloud| cloud["name"].as_str()).collect();
    let wanted =
        ["found", "learned: train", "learned: asked in round 1", "learned: made", "vectors"];
    assert_eq!(names, wanted);
    assert_eq!(clouds[4]["program"], serde_json::json!([1, 2, -1]));
    assert_eq!(clouds[4]["vector"], serde_json::json!(["3,9", "5,30", "9,99"]));
    assert_eq!(
        (&clouds[4]["from"], &clouds[4]["key"]),
        (&"vectors".into(), &"left(id, 12)".into())
    );
    assert_eq!(data["maps"][0]["dimensions"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        (&data["programs"][2]["before"], &data["programs"][1]["before"]),
        (&FOUND.into(), &serde_json::Value::Null)
    );
    let sandbox = between(&page, ">Sandbox</h2>", "</section>");
    assert!(
        sandbox.contains("timeout: longer than its time") && sandbox.contains("33.3\u{a0}%"),
        "{sandbox}"
    );
    let learning = between(&page, ">Learning</h2>", "</section>");
    for curve in ["accuracy", "geometric-mean speedup", "share of the oracle's"] {
        assert!(learning.contains(&format!("aria-label=\"{curve}\"")), "{curve}: {learning}");
    }
    assert!(learning.contains("round 1, 12 labelled: 1.1") && learning.contains("class=\"band\""));
}

fn runs_of_kernels_of_one_name_are_told_apart_by_their_paths() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("all");
    let run = |number: usize| rows::RunRow {
        id: format!("id {number}"),
        path: format!("sample-{number}.cl"),
        kernel: "A".into(),
        outcome: if number == 7 { "timeout" } else { "pass" }.into(),
        ..rows::RunRow::default()
    };
    let verdicts = [("pass".to_owned(), 8), ("timeout".to_owned(), 1)].into();
    let notes = Notes { verdicts, ..Notes::default() };
    save(&folder.join("runs"), (0..9).map(run).collect(), notes);
    let html = page(&folder);
    let row = between(&html, "<td>sample-7.cl</td>", "</tr>");
    assert!(row.contains("<td>timeout</td>"), "{row}");
    assert!(!between(&html, "<td>sample-6.cl</td>", "</tr>").contains("timeout"));
}

fn programs_are_left_out_by_count_and_a_page_is_not_a_part_of_the_next() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = folder(home.path());
    let first = page(&folder);
    let path = saved(&folder);
    assert_eq!(fs::read_to_string(path).expect("it was written"), first);
    let again = made(&folder, 1000);
    assert_eq!((again.programs, again.bytes as usize), (3, first.len()));
    assert_eq!(again.html, first, "the same data sets, the same page");
    let small = made(&folder, 1);
    assert_eq!((small.programs, small.programs_left_out), (1, 2));
    assert!(small.html.contains("1 of 3 different programs"));
    assert!(!small.html.contains("kernel void B"));
}

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

fn chromium() -> &'static str {
    let here = |name: &&str| trials::lacks::program(name).is_none();
    BROWSERS.into_iter().find(here).expect("one is here")
}

/// The document after its scripts have run.
fn dom(browser: &str, page: &Path, fragment: &str) -> String {
    let profile = tempfile::tempdir().expect("a folder");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--window-size=1280,900", "--virtual-time-budget=10000"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg("--dump-dom")
        .arg(format!("file://{}{fragment}", page.display()))
        .output()
        .expect("it starts");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        dom.contains("data-ready=\"yes\""),
        "the script did not come to its end: {}\n{dom}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(dom.contains("<title>all – Stampmill</title>"), "a program's own script ran");
    dom
}

fn a_browser_shows_programs_maps_and_what_the_address_asks_for() {
    let browser = chromium();
    let home = tempfile::tempdir().expect("a folder");
    let folder = folder(home.path());
    let path = saved(&folder);
    let shown = dom(browser, &path, "");
    assert!(shown.contains("data-found=\"3\""));
    assert_eq!(between(&shown, "id=\"rows\"", "</tbody>").matches("<tr").count(), 3);
    assert!(shown.contains("data-points=\"8\""));
    assert_eq!(between(&shown, "id=\"clouds\"", "id=\"axes\"").matches("<label").count(), 5);

    let found = dom(browser, &path, "#search=get_global_id+float");
    assert!(found.contains("data-found=\"1\""));
    assert_eq!(between(&found, "id=\"rows\"", "</tbody>").matches("<tr").count(), 1);

    let read = dom(browser, &path, "#program=1");
    let reader = between(&read, "id=\"reader\"", "</pre>");
    assert!(reader.contains("data-program=\"1\""));
    assert!(reader.contains("&lt;/script&gt;"), "the hostile program as text: {reader}");

    // The points are those of `found`, of `learned`, then of `vectors`: the first of these is A.
    let point = dom(browser, &path, "#point=5");
    assert!(between(&point, "id=\"plane\"", ">").contains("data-over=\"A, "));
    let tip = between(&point, "id=\"tip\"", "id=\"clouds\"");
    assert!(tip.contains(">kernel</span>") && !tip.contains("hidden"), "{tip}");
    assert!(between(&point, "id=\"pinned\"", "</pre>").contains("data-program=\"1\""));
}

/// Uses the page as a person does, and leaves what it sees in attributes of the body.
const VISITOR: &str = include_str!("visitor.js");

fn pointer_wheel_search_and_copy_work_in_a_browser() {
    let browser = chromium();
    let home = tempfile::tempdir().expect("a folder");
    let folder = folder(home.path());
    let page = page(&folder);
    let nonce = between(&page, "<script nonce=\"", "\"");
    let visited = format!("{page}<script nonce=\"{nonce}\">{VISITOR}</script>");
    let path = folder.join("visited.html");
    fs::write(&path, visited).expect("room");
    let dom = dom(browser, &path, "");
    let body = between(&dom, "<body", ">");
    let seen = |name: &str| {
        let value = between(body, &format!("data-{name}=\""), "\"");
        value.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    };
    assert!(seen("over").parse::<u32>().expect("a count") > 0, "no place shows B: {body}");
    assert_eq!(seen("pinned"), PLAIN);
    assert!(seen("zoomed").parse::<f64>().expect("a scale") > 1.0);
    assert_eq!(seen("empty"), "true", "points that are not shown are not found");
    assert_eq!((seen("left").as_str(), seen("read").as_str()), ("1", MADE));
    let copied = seen("copy") == "copied";
    let selected = seen("copy").starts_with("selected") && seen("selection").trim() == MADE.trim();
    assert!(copied || selected, "{body}");
}

/// The page of a folder, open in a browser.
fn opened(browser: &trials::browser::Browser, folder: &Path, fragment: &str) {
    browser.go(&format!("file://{}{fragment}", saved(folder).display()));
    browser.until("return document.documentElement.dataset.ready === 'yes';");
}

/// Drags over the whole map, with its corner or as a lasso around it.
const DRAG: &str = "const plane = document.getElementById('plane'), box = plane.getBoundingClientRect();
    const point = (kind, x, y, more) => plane.dispatchEvent(new PointerEvent(kind,
      { clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerId: 1, ...more }));
    const drag = (places, more) => {
      point('pointerdown', ...places[0], more);
      for (const place of places) point('pointermove', ...place, more);
      point('pointerup', ...places.at(-1), more);
    };
    const [w, h] = [box.width, box.height];
    const text = (id) => document.getElementById(id).textContent;
    const pressed = (name) => [...document.querySelectorAll('#selection button')].find((one) => one.textContent.startsWith(name));";

fn points_are_selected_with_pointer_and_keyboard_and_become_commands() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = folder(home.path());
    let browser = trials::browser::Browser::start();
    opened(&browser, &folder, "");
    let run = |script: &str| browser.run(&format!("{DRAG}\n{script}"));
    let told = |script: &str| run(script).as_str().expect("a text").to_owned();

    // With Shift a box, at any time: a corner of the map where nothing is, then all of it.
    assert_eq!(
        told("drag([[1, 1], [9, 9]], { shiftKey: true }); return text('chosen');"),
        "no point is in there"
    );
    let all = told("drag([[1, 1], [w - 1, h - 1]], { shiftKey: true }); return text('chosen');");
    assert!(all.starts_with("8 points selected: ") && all.contains("3 of vectors"), "{all}");

    // A lasso around all but what is not shown.
    let lasso = "document.querySelector('[data-tool=lasso]').click();
        document.querySelectorAll('#clouds input').forEach((one, i) => { if (i !== 4) one.click(); });
        drag([[1, 1], [w - 1, 1], [w - 1, h - 1], [1, h - 1]], {}); return text('chosen');";
    assert_eq!(told(lasso), "3 points selected: 3 of vectors");
    let lines = told("return document.querySelector('#selection details code').textContent;");
    let targets: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let space = features::space("ast-depth").expect("registered");
    assert_eq!(targets.len(), 3);
    assert_eq!(targets[0], serde_json::json!({ "target": "selected-1", "ast-depth": [3, 9] }));
    assert_eq!(targets[0]["ast-depth"].as_array().map(Vec::len), Some(space.dimensions().len()));
    let commands = run(
        "return [...document.querySelectorAll('.command code')].map((one) => one.textContent);",
    );
    let commands: Vec<&str> =
        commands.as_array().expect("texts").iter().filter_map(|one| one.as_str()).collect();
    let id = |text: &str| dataset::content_hash(text.as_bytes())[..12].to_owned();
    let query = format!(
        "stampmill query \"SELECT * FROM d WHERE left(id, 12) IN ('{}', '{}', '{}')\" d=vectors",
        id(HOSTILE),
        id(PLAIN),
        id("no text here")
    );
    assert_eq!(
        commands[0],
        "stampmill steer --space ast-depth --targets selected.jsonl --budget 60s --out found"
    );
    assert_eq!(commands.last(), Some(&query.as_str()), "{commands:?}");
    // What it saves is what it shows.
    let saved = "let saved; const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { saved = blob; return make(blob); };
        pressed('save').click(); URL.createObjectURL = make; return saved.size;";
    assert_eq!(run(saved), lines.len());
    assert_eq!(
        told("pressed('show').click(); return text('shown');"),
        "2 of 3 programs; of the 2 chosen on the map"
    );
    let faults = browser.faults();
    assert!(faults.is_empty(), "{}", faults.join("\n"));

    // The same by keyboard, and away again.
    run("pressed('clear').click();");
    assert_eq!(told("return text('chosen') + document.activeElement.id;"), "plane");
    browser.keys("b]]]]\u{e007}");
    assert_eq!(told("return text('chosen');"), "3 points selected: 3 of vectors");
    browser.keys("\u{e00c}");
    assert_eq!(
        told("return text('chosen') + document.getElementById('selection').hidden;"),
        "true"
    );
}

fn names_that_a_shell_would_read_are_quoted_in_commands() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = folder(home.path());
    let browser = trials::browser::Browser::start();
    opened(&browser, &folder, "");
    let commands = browser.run(&format!(
        "{DRAG}\ndocument.querySelectorAll('#clouds input').forEach((one, i) => {{ if (i) one.click(); }});
        drag([[1, 1], [w - 1, h - 1]], {{ shiftKey: true }});
        return [...document.querySelectorAll('.command code')].map((one) => one.textContent).at(-1);"
    ));
    let command = commands.as_str().expect("a text");
    // Targets have names that others chose: <script>document.title='broken'</script>"'&#1.
    let shell = Command::new("sh")
        .args(["-c", &command.replacen("stampmill query", "printf %s", 1)])
        .output();
    let said = String::from_utf8_lossy(&shell.expect("a shell").stdout).into_owned();
    let wanted = "SELECT * FROM d WHERE path IN ('<script>document.title=''broken''</script>\"''&#1', 't#1')d=found";
    assert_eq!(said, wanted, "{command}");
}

fn programs_are_found_by_their_features() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = folder(home.path());
    let browser = trials::browser::Browser::start();
    opened(&browser, &folder, "#search=ast-depth.depth%3E4+lines%3C9");
    let dimensions = features::space("ast-depth").expect("registered").dimensions();
    let found = |search: &str| {
        let script = format!(
            "const search = document.getElementById('search'); search.value = {};
            search.dispatchEvent(new Event('input')); const shown = document.getElementById('shown');
            return [Number(shown.dataset.found), shown.textContent];",
            serde_json::Value::from(search)
        );
        let said = browser.run(&script);
        (said[0].as_u64().expect("a number"), said[1].as_str().expect("a text").to_owned())
    };
    let depth = dimensions[0];
    assert_eq!(found(&format!("{depth}>3 {depth}<=5")).0, 2);
    assert_eq!(found(&format!("AST-Depth.{}=5 get_global_id", depth.to_uppercase())).0, 1);
    assert_eq!(found("lines<4 0.5f").0, 1);
    let (none, said) = found("nonsense>4");
    assert!(none == 0 && said.contains("no feature of that name: nonsense>4"), "{said}");
    // What was found stands beside what was made of it, where the content file is there.
    found("get_global_id");
    let read = "document.querySelector('#rows button').click(); document.querySelector('#reader .compare').click();
        return [...document.querySelectorAll('#reader .both pre')].map((one) => one.textContent)
          .concat([...document.querySelectorAll('#reader del')].map((one) => one.textContent));";
    let read = browser.run(read);
    assert_eq!((&read[0], &read[1]), (&FOUND.into(), &PLAIN.into()));
    assert!(read.as_array().expect("texts").contains(&"fill".into()), "{read}");
    assert_eq!(browser.run("return document.querySelectorAll('#reader b').length;"), 0);
    let faults = browser.faults();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn scripts_without_the_word_of_the_page_do_not_run() {
    let browser = chromium();
    let home = tempfile::tempdir().expect("a folder");
    let folder = folder(home.path());
    let page = page(&folder);
    let path = folder.join("attacked.html");
    let attack = "<script>document.title = 'broken'</script>\
        <img src=x onerror=\"document.title = 'broken'\">";
    fs::write(&path, page.replacen("<main>", &format!("<main>{attack}"), 1)).expect("room");
    // Whether the title is still ours is asserted there.
    assert!(dom(browser, &path, "").contains("onerror"));
}

/// The page of a task's diagnosis, as a file in a folder.
fn diagnosed(folder: &Path) -> PathBuf {
    let row = |at: usize| heuristics::Row {
        program: format!("p{at}"),
        variant: String::new(),
        group: format!("g{}", at % 8),
        features: vec![(at * 7 % 64) as f64, 1.0],
        costs: (1..4).map(|choice| ((choice * at * 3 % 5) as f64).exp2()).collect(),
        label: 0,
    };
    let mut table = heuristics::Table { name: "task".into(), ..heuristics::Table::default() };
    table.task.rows = (0..64).map(row).collect();
    table.task.features = vec!["s:TotalInsts".into(), "s:x".into()];
    table.task.choices = ["a", "b", "c"].map(str::to_owned).into();
    table.origins = vec![heuristics::Origin::default(); 64];
    table.spaces = vec![("s".into(), 0..2)];
    let found = heuristics::diagnose(&table, &heuristics::DiagnoseOptions::default());
    let page = stampmill_report::diagnosis(&found.expect("a task"), "diagnose").expect("a page");
    let path = folder.join("diagnosis.html");
    page.save(&path).expect("room");
    path
}

fn pages_shut_nobody_out() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = folder(home.path());
    let browser = trials::browser::Browser::start();
    for path in [saved(&folder), diagnosed(&folder)] {
        browser.go(&format!("file://{}", path.display()));
        let faults = browser.faults();
        assert!(faults.is_empty(), "{}:\n{}", path.display(), faults.join("\n"));
    }
}

trials::main! {
    hostile_programs_stay_text_and_nothing_is_loaded,
    runs_of_kernels_of_one_name_are_told_apart_by_their_paths,
    programs_are_left_out_by_count_and_a_page_is_not_a_part_of_the_next,
    a_browser_shows_programs_maps_and_what_the_address_asks_for: trials::lacks::any_program(&BROWSERS),
    pointer_wheel_search_and_copy_work_in_a_browser: trials::lacks::any_program(&BROWSERS),
    scripts_without_the_word_of_the_page_do_not_run: trials::lacks::any_program(&BROWSERS),
    points_are_selected_with_pointer_and_keyboard_and_become_commands: trials::browser::lacks(),
    names_that_a_shell_would_read_are_quoted_in_commands: trials::browser::lacks(),
    programs_are_found_by_their_features: trials::browser::lacks(),
    pages_shut_nobody_out: trials::browser::lacks(),
}
