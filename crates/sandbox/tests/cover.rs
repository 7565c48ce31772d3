//! Files seen in the place of others, where the kernel can show them.

use stampmill_sandbox::{Cover, Profile, Program, run};
use std::{fs, time::Duration};

fn a_covered_file_is_another_the_files_beside_it_stay_and_it_is_had_by_another_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = folder.path().join("files, and: more");
    fs::create_dir(&files).expect("it is ours");
    trials::program(&files.join("true"), b"#!/bin/sh\necho covered\n");
    fs::write(files.join("true.own"), "").expect("it is ours");
    let kept = vec![("true".to_owned(), "true.own".to_owned())];
    let cover = Cover { folder: "/usr/bin".into(), files, kept };
    let profile = Profile { covers: vec![cover], ..Profile::build(folder.path().into(), false) };
    let script = "/usr/bin/true; /bin/true; /usr/bin/true.own && echo own; ls -d /usr/bin/false; \
                  echo x > /usr/bin/new || ls -a / | grep -F .cover; /usr/bin/false";
    let program = Program {
        command: vec!["/bin/sh".into(), "-c".into(), script.into()],
        wall: Duration::from_secs(60),
        ..Program::default()
    };
    let done = run(&program, &profile).expect("the shell starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let complained = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(said, "covered\ncovered\nown\n/usr/bin/false\n", "{complained}");
    assert_eq!(done.status, Some(1), "{complained}");
}

trials::main! {
    a_covered_file_is_another_the_files_beside_it_stay_and_it_is_had_by_another_name: trials::lacks::overlay(),
}
