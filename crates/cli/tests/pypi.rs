//! A source distribution is fetched by the real pip, from a folder in place of an index, and nothing of it is run: this one's build
//! system cannot be had, and its `setup.py` fails.

use std::{fs, path::Path, process::Command};

fn file(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder can be made");
    fs::write(path, text).expect("it can be written");
}

/// An archive of kernels in `index`, with or without a build system that travels inside.
fn distribution(home: &Path, name: &str, pyproject: &str) {
    let root = home.join(format!("{name}-1.5"));
    file(&root.join("PKG-INFO"), &format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n"));
    file(&root.join("pyproject.toml"), pyproject);
    file(&root.join("setup.py"), "raise SystemExit('setup.py was run')\n");
    file(&root.join("inside/builder.py"), "raise SystemExit('builder.py was run')\n");
    file(&root.join("k.cl"), &format!("kernel void {name}(global int* a) {{ a[0] = 1; }}\n"));
    let index = home.join("index");
    fs::create_dir_all(&index).expect("a folder can be made");
    let made = Command::new("tar")
        .arg("czf")
        .arg(index.join(format!("{name}-1.5.tar.gz")))
        .arg("-C")
        .arg(home)
        .arg(format!("{name}-1.5"))
        .status();
    assert!(made.expect("tar is there").success());
}

#[test]
fn a_source_distribution_is_fetched_and_its_build_system_is_not_run() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    distribution(home, "old", "");
    distribution(
        home,
        "needs",
        "[build-system]\nrequires = ['no-such-thing-to-be-had']\nbuild-backend = 'no_such_thing.build:inner.api'\n",
    );
    distribution(
        home,
        "own",
        "[build-system]\nrequires = []\nbuild-backend = 'builder'\nbackend-path = ['inside']\n",
    );
    let output = Command::new(env!("CARGO_BIN_EXE_stampmill"))
        .args(["mine", "pypi:old", "pypi:needs==1.5", "pypi:own", "pypi:missing", "--out", "raw"])
        .current_dir(home)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("PIP_CONFIG_FILE", "/dev/null")
        .env("PIP_NO_INDEX", "1")
        .env("PIP_FIND_LINKS", home.join("index"))
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("4 sources (1 failed)") && said.contains("3 unique"), "{said}");
    assert!(said.contains("No matching distribution found for missing"), "{said}");
    for name in ["old", "needs", "own"] {
        assert!(said.contains(&format!("pypi:{name}")) && !said.contains("was run"), "{said}");
    }
}
