//! `steer --faster-on` with two devices: PoCL, and Oclgrind's simulator in the place of a GPU, which is slower at everything.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn steer(home: &Path, device: &str, than: &str, out: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stampmill"))
        .args(["steer", "--target", "px.cl", "--faster-on", device, "--than", than])
        .args(["--margin", "2", "--at", "2^7", "--budget", "300", "--out", out])
        .args(["--proposers", "nearest", "--seeds", "px.cl", "--allow-leaks"])
        .env("OCL_ICD_VENDORS", home.join("vendors"))
        .current_dir(home)
        .output()
        .expect("it starts")
}

#[test]
fn an_answer_is_faster_where_it_should_be() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path();
    let text = "kernel void A(global float* a) { a[get_global_id(0)] *= 2.0f; }\n";
    fs::write(home.join("px.cl"), text).expect("it can be written");
    fs::create_dir(home.join("vendors")).expect("a folder");
    fs::copy("/etc/OpenCL/vendors/pocl.icd", home.join("vendors/pocl.icd"))
        .expect("scripts/setup.sh installs PoCL");
    let oclgrind = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";
    assert!(Path::new(oclgrind).exists(), "scripts/setup.sh installs Oclgrind");
    fs::write(home.join("vendors/oclgrind.icd"), oclgrind).expect("it can be written");

    let found = steer(home, "cpu", "oclgrind", "faster");
    let said = String::from_utf8_lossy(&found.stdout);
    assert!(said.contains("1 of 1 target hit exactly"), "{said}{found:?}");
    let manifest = fs::read_to_string(home.join("faster/_dataset.json")).expect("it is there");
    assert!(manifest.contains("\"than\": \"Oclgrind Simulator\""), "{manifest}");

    let found = steer(home, "oclgrind", "cpu", "slower");
    let said = String::from_utf8_lossy(&found.stdout);
    assert!(said.contains("no kernel was found for 1 target"), "{said}{found:?}");
}
