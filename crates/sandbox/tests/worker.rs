//! Workers that misbehave in every way a program under study can make them.

use stampmill_sandbox::{Bounds, Death, Memory, Pool, Profile, Program, Worker, run};
use std::{net::TcpListener, process::Command, sync::atomic::AtomicBool, time::Duration};

const PATIENCE: Duration = Duration::from_secs(20);

fn tight() -> Profile {
    Profile {
        processor: Duration::from_secs(1),
        memory: Memory::AddressSpace(512 << 20),
        output_bytes: 1 << 20,
        ..Profile::clang()
    }
}

fn pool_of(profile: &Profile, size: usize) -> Pool {
    let own = profile.clone();
    Pool::new(size, profile.clone(), move || command(&own))
}

fn command(profile: &Profile) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sandbox-echo"));
    command.arg(serde_json::to_string(profile).expect("a profile is plain data"));
    command
}

#[test]
fn a_worker_answers() {
    let pool = pool_of(&tight(), 1);
    assert_eq!(pool.call(b"hello", PATIENCE), Ok(b"hello".to_vec()));
    assert_eq!(pool.call(b"", PATIENCE), Ok(Vec::new()));
    // Around what is sent together with its length, and what a pipe holds.
    for length in [4095, 65_531, 65_536, 65_537, 300_000] {
        let long: Vec<u8> = (0..length).map(|at: u32| at.to_le_bytes()[0]).collect();
        assert!(pool.call(&long, PATIENCE) == Ok(long), "{length} bytes come back changed");
    }
}

#[test]
fn each_death_has_its_name_and_the_next_call_finds_a_new_worker() {
    let pool = pool_of(&tight(), 1);
    let deaths = [
        (&b"crash"[..], "crash"),
        (b"leave", "crash"),
        (b"spin", "cpu-limit"),
        (b"eat", "memory-limit"),
        (b"flood", "output-limit"),
    ];
    for (request, name) in deaths {
        let death = pool.call(request, PATIENCE).expect_err("the request kills its worker");
        assert_eq!(death.name(), name, "{death}");
        assert_eq!(pool.call(b"next", PATIENCE), Ok(b"next".to_vec()));
    }
    let death = pool.call(b"hang", Duration::from_millis(200));
    assert_eq!(death, Err(Death::Timeout(200)));
    assert_eq!(pool.call(b"next", PATIENCE), Ok(b"next".to_vec()));
}

#[test]
fn the_last_words_of_a_worker_are_those_of_its_last_request() {
    let dies = |request: &[u8]| {
        let mut worker = Worker::spawn(command(&tight()), &tight()).expect("it starts");
        for _ in 0..100 {
            assert_eq!(worker.call(b"say bad_alloc, said the first", PATIENCE), Ok(Vec::new()));
        }
        worker.call(request, PATIENCE).expect_err("the request kills its worker")
    };
    assert!(matches!(dies(b"crash"), Death::Signal(_, words) if words.is_empty()));
    assert!(matches!(dies(b"leave"), Death::Exit(7, words) if words.is_empty()));
    let death = dies(b"die own words");
    assert!(matches!(&death, Death::Signal(_, words) if words == "own words\n"), "{death}");
}

#[test]
fn a_message_is_bounded_by_processor_time_of_its_own_and_by_who_waits_for_it() {
    let patient = Profile { processor: Duration::from_secs(60), ..tight() };
    let call = |request: &[u8], bounds: &Bounds<'_>| {
        let mut worker = Worker::spawn(command(&patient), &patient).expect("it starts");
        worker.call_within(request, bounds)
    };
    let short = Duration::from_millis(300);
    let busy = Bounds { wall: PATIENCE, processor: Some(short), still: None, stop: None };
    assert_eq!(call(b"spin", &busy), Err(Death::Processor));
    // Waiting takes none.
    assert_eq!(call(b"hang", &Bounds { wall: short * 2, ..busy }), Err(Death::Timeout(600)));
    let stop = AtomicBool::new(true);
    let bounds = Bounds { wall: PATIENCE, processor: None, still: None, stop: Some(&stop) };
    assert_eq!(call(b"hang", &bounds), Err(Death::Stopped));
}

#[test]
fn a_worker_without_rights_neither_writes_nor_forks_nor_connects() {
    let pool = pool_of(&tight(), 1);
    // Somebody listens: nothing but the sandbox is in the way.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let network = format!("network {}", listener.local_addr().expect("it has one"));
    for request in ["write", "fork", &network] {
        let answer = pool.call(request.as_bytes(), PATIENCE).expect("refusal is no death");
        assert_ne!(answer, b"allowed", "{request}");
    }
}

#[test]
fn resident_memory_is_watched() {
    let profile = Profile { memory: Memory::Resident(200 << 20), ..tight() };
    let death = pool_of(&profile, 1).call(b"eat", PATIENCE);
    assert_eq!(death, Err(Death::Memory));
}

#[test]
fn more_threads_than_workers_all_get_their_answer() {
    let pool = pool_of(&tight(), 2);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..20 {
                    let message = format!("{thread} {round}").into_bytes();
                    assert_eq!(pool.call(&message, PATIENCE), Ok(message));
                }
            });
        }
    });
}

#[test]
fn a_missing_worker_is_said_so() {
    let pool = Pool::new(1, tight(), || Command::new("/nowhere/worker"));
    assert!(matches!(pool.call(b"", PATIENCE), Err(Death::Start(_))));
}

fn shell(script: &str, stdin: &str) -> Program {
    Program {
        command: vec!["/bin/sh".into(), "-c".into(), script.into()],
        stdin: stdin.as_bytes().to_vec(),
        wall: Duration::from_secs(60),
        ..Program::default()
    }
}

#[test]
fn a_program_runs_to_its_end() {
    let done = run(&shell("read x; echo got $x; exit 3", "word\n"), &Profile::native());
    let done = done.expect("the shell starts");
    assert_eq!((done.status, done.death), (Some(3), None));
    assert_eq!(done.stdout, b"got word\n");
}

#[test]
fn a_program_that_exceeds_a_limit_is_ended() {
    let profile = Profile { processor: Duration::from_secs(1), ..tight() };
    let name_of = |program: &Program| {
        run(program, &profile).expect("the shell starts").death.map(|death| death.name())
    };
    let name = |script: &str| name_of(&shell(script, ""));
    assert_eq!(name("while :; do :; done"), Some("cpu-limit"));
    assert_eq!(
        name("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"),
        Some("output-limit")
    );
    assert_eq!(name("kill -SEGV $$"), Some("crash"));
    let sleeps = Program { wall: Duration::from_secs(1), ..shell("exec sleep 60", "") };
    assert_eq!(name_of(&sleeps), Some("timeout"));
}

#[test]
fn a_program_that_cannot_start_is_said_so() {
    let program = Program { command: vec!["/nowhere/program".into()], ..shell("", "") };
    assert!(matches!(run(&program, &Profile::native()), Err(Death::Start(_))));
}

#[test]
fn a_program_that_is_still_being_written_is_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("true");
    std::fs::copy("/bin/true", &copy).expect("a program");
    let writing = std::fs::OpenOptions::new().append(true).open(&copy).expect("it is ours");
    let program = Program { command: vec![copy.into()], ..shell("", "") };
    let done = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&program, &Profile::native()));
        std::thread::sleep(Duration::from_millis(100));
        drop(writing);
        running.join().expect("no panic")
    });
    assert_eq!(done.expect("it starts in the end").status, Some(0));
}

#[test]
fn what_a_program_prints_or_leaves_with_is_never_a_fault_of_ours() {
    let forged = "echo 'stampmill-launch: cannot start: fake' >&2; exit 127";
    let done = run(&shell(forged, ""), &Profile::native()).expect("it starts");
    assert_eq!((done.status, done.death), (Some(127), None));
}

#[test]
fn a_channel_is_apart_from_what_is_printed() {
    let program = Program { channel: true, ..shell("echo printed; echo told >&3", "") };
    let done = run(&program, &Profile::native()).expect("the shell starts");
    assert_eq!(
        (done.stdout.as_slice(), done.channel.as_slice()),
        (&b"printed\n"[..], &b"told\n"[..])
    );
    let done = run(&shell("echo told >&3", ""), &Profile::native()).expect("the shell starts");
    assert_ne!(done.status, Some(0), "there is no descriptor 3");
}

#[test]
fn every_protection_of_this_kernel_holds_and_is_remembered() {
    let done = run(&shell(":", ""), &Profile::native()).expect("the shell starts");
    assert_eq!(done.held.missing(), Vec::<&str>::new());
    assert_eq!(stampmill_sandbox::protections().get("native"), Some(&done.held));
}

#[test]
fn a_program_sees_its_own_processes_and_files_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display();
    std::fs::write(folder.path().join("secret"), "x").expect("it is ours");
    let profile = Profile { processes: 8, proc: true, ..Profile::native() };
    let script = format!(
        "ls {path}; ls /root /home /etc/shadow; echo $$; for p in /proc/[0-9]*; do echo $p; done"
    );
    let done = run(&shell(&script, ""), &profile).expect("the shell starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    // The watcher, the shell, and nobody else.
    assert_eq!(said, "2\n/proc/1\n/proc/2\n", "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn its_folder_is_written_and_its_scratch_is_bounded_and_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = Profile { scratch: 1 << 20, ..Profile::compile(folder.path().into()) };
    let script = format!(
        "echo kept > {0}/kept; echo x > /tmp/mine && echo wrote; \
         head -c 8000000 /dev/zero > /tmp/bomb || echo full; echo x > /usr/bad || echo refused",
        folder.path().display()
    );
    let done = run(&shell(&script, ""), &profile).expect("the shell starts");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "wrote\nfull\nrefused\n");
    assert_eq!(std::fs::read(folder.path().join("kept")).expect("it was written"), b"kept\n");
    assert!(!std::path::Path::new("/tmp/mine").exists());
}

#[test]
fn nothing_outlives_its_sandbox() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = Profile::build(folder.path().into(), false);
    // Two forks, a session of its own and deaf ears; it would write when it has slept.
    let script = format!(
        "(trap '' HUP TERM; setsid sh -c 'sleep 1; echo late > {0}/late' &) ; echo started",
        folder.path().display()
    );
    let done = run(&shell(&script, ""), &profile).expect("the shell starts");
    assert_eq!(done.stdout, b"started\n");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(!folder.path().join("late").exists());
}

#[test]
fn a_bomb_of_processes_is_a_death() {
    let folder = tempfile::tempdir().expect("a folder");
    let profile = Profile { processes: 16, ..Profile::compile(folder.path().into()) };
    let script = "i=0; while [ $i -lt 200 ]; do sleep 30 & i=$((i+1)); done; wait";
    let done = run(&shell(script, ""), &profile).expect("the shell starts");
    assert_eq!(done.death, Some(Death::Processes));
}
