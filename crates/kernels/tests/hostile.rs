//! Programs that mean harm, or only do it: a verdict each, and the others are prepared.

use dataset::{Dataset, Silent};
use kernels::{KernelRow, Options, prepare};
use std::{collections::BTreeMap, fs, sync::atomic::AtomicBool, time::Duration};

#[test]
fn hostile_programs_are_verdicts_and_the_rest_is_prepared() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("programs");
    fs::create_dir(&folder).expect("a folder");
    let mut bomb = String::from("#define X0 a[0]++;\n");
    for level in 1..40 {
        bomb.push_str(&format!("#define X{level} X{0} X{0}\n", level - 1));
    }
    bomb.push_str("kernel void bomb(global int *a) { X39 }\n");
    let nested = format!(
        "kernel void nested(global int *a) {{ a[0] = {}1{}; }}\n",
        "(".repeat(300_000),
        ")".repeat(300_000)
    );
    let good = "kernel void good(global int *a) { a[get_global_id(0)] += 2; }\n";
    let files: [(&str, Vec<u8>); 9] = [
        ("a-good.cl", good.into()),
        ("bomb.cl", bomb.into()),
        ("bytes.cl", b"kernel void \xff\0(global int *a) {}".to_vec()),
        ("crash.cl", b"#pragma clang __debug crash\nkernel void crash(global int *a) { a[0] = 1; }\n".to_vec()),
        ("empty.cl", Vec::new()),
        ("nested.cl", nested.into()),
        ("passwd.cl", b"#include \"/etc/passwd\"\nkernel void p(global int *a) { a[get_global_id(0)] += 3; }\n".to_vec()),
        ("self.cl", b"#include \"self.cl\"\nkernel void s(global int *a) { a[get_global_id(0)] += 4; }\n".to_vec()),
        ("z-good.cl", good.replace("+= 2", "*= 5").into()),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file");
    }
    fs::write(folder.join("huge.cl"), vec![b'x'; 100 << 20]).expect("a file");
    std::os::unix::fs::symlink("..", folder.join("loop")).expect("a link");

    let out = home.path().join("kernels");
    let options = Options { jobs: 2, limit: Duration::from_secs(5), ..Options::new(&folder, &out) };
    let report = match prepare(&options, &Silent, &AtomicBool::new(false)) {
        Ok(report) => report,
        Err(kernels::Error::Clang(error)) => {
            println!("skipped: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    assert_eq!(report.unique_kernels, 4);
    let rows = Dataset::open(&out).expect("a data set").rows::<KernelRow>().expect("kernels");
    let verdicts: BTreeMap<String, String> =
        rows.map(|row| row.expect("a row")).map(|row| (row.path, row.verdict)).collect();
    let of = |name: &str| verdicts.get(name).map_or("", String::as_str);
    for name in ["a-good.cl", "z-good.cl", "passwd.cl", "self.cl"] {
        assert_eq!(of(name), "accepted", "{name}");
    }
    assert_eq!(of("bytes.cl"), "not-utf8");
    assert_eq!(of("empty.cl"), "empty");
    assert_eq!(of("huge.cl"), "too-large");
    for name in ["bomb.cl", "nested.cl", "crash.cl"] {
        assert!(!matches!(of(name), "" | "accepted"), "{name}: {}", of(name));
    }
}
