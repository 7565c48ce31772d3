//! Data sets by URL on a machine without the client of object stores.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// `stampmill` alone in a folder.
fn installed(folder: &Path) -> Command {
    let program = folder.join("bin/stampmill");
    if !program.exists() {
        fs::create_dir(folder.join("bin")).expect("a folder of the test");
        let bytes = fs::read(env!("CARGO_BIN_EXE_stampmill")).expect("it is built");
        trials::program(&program, &bytes);
    }
    let mut command = Command::new(program);
    command.current_dir(folder).env("STAMPMILL_CACHE", folder.join("cache"));
    command.env_remove("STAMPMILL_LIBEXEC");
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn without_the_client_of_object_stores_it_is_said_how_to_have_it() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("programs")).unwrap();
    fs::write(home.path().join("programs/a.cl"), "kernel void A(global int* a) { *a = 1; }")
        .unwrap();
    for line in [
        "show s3://bucket/raw",
        "mine programs --quiet --out s3://bucket/raw",
        "query SELECT(1) k=s3://bucket/raw --cluster http://127.0.0.1:9",
    ] {
        let output = installed(home.path()).args(line.split(' ')).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(
            said.contains("s3://bucket/raw")
                && said.contains("no stampmill-objects beside this program")
                && said.contains("make objects"),
            "{line}: {said}"
        );
    }
}

#[test]
fn a_client_that_ends_at_once_is_named() {
    let home = tempfile::tempdir().unwrap();
    let client = home.path().join("bin/stampmill-objects");
    let mut command = installed(home.path());
    trials::program(&client, b"#!/bin/sh\nexit 7\n");
    let output = command.args(["show", "s3://bucket/raw"]).output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("stampmill-objects ended"), "{said}");
}
