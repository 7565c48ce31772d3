//! Programs for other instruction sets: built by cross compilers, run by QEMU, timed by their processor's file.

use stampmill_timing::{Code, Job, Measurement, Options, Timing};

/// A processor, and what its programs are built and run with.
struct Machine {
    cpu: &'static str,
    tools: [&'static str; 2],
    /// Assembly of what the tests repeat: by name, with what each repetition takes in hundredths of a cycle.
    costs: &'static [(&'static str, &'static str, u64)],
    /// Instructions that read the clock, and one that is random.
    clocks: &'static [&'static str],
    random: &'static str,
}

const ARM: Machine = Machine {
    cpu: "neoverse-n1",
    tools: ["aarch64-linux-gnu-g++", "aarch64-linux-gnu-gcc"],
    costs: &[
        ("a chain of additions", "add x9, x9, x10", 100),
        ("three independent additions", "add x9, x10, 1; add x11, x10, 1; add x13, x10, 1", 100),
        ("a chain of additions with a long shift", "add x9, x9, x10, lsl 5", 200),
        ("a chain of products of 32 bits", "mul w9, w9, w10", 200),
        ("a chain of products of 64 bits", "mul x9, x9, x10", 400),
        ("a chain of quotients", "udiv x9, x9, x10", 2000),
        ("a chain of sums of doubles", "fadd d0, d0, d1", 200),
        ("a chain of products of doubles", "fmul d0, d0, d1", 300),
        ("independent sums of doubles", "fadd d0, d1, d2; fadd d3, d1, d2", 100),
        ("a store and a load that takes its data", "str x9, [sp, -16]; ldr x9, [sp, -16]", 500),
        ("independent pairs of loads", "ldp x9, x11, [sp, -16]", 100),
        ("an address that moves on and back", "ldr x9, [%0], 8; sub %0, %0, 8", 200),
        ("an address that moves on by pairs", "ldp x9, x10, [%0], 16; sub %0, %0, 16", 200),
    ],
    clocks: &["mrs x9, cntvct_el0", "mrs x9, cntpct_el0"],
    random: ".inst 0xd53b2409",
};

const RISCV: Machine = Machine {
    cpu: "sifive-p550",
    tools: ["riscv64-linux-gnu-g++", "riscv64-linux-gnu-gcc"],
    costs: &[
        ("a chain of additions", "add t0, t0, t1", 100),
        ("three independent additions", "addi t0, t1, 1; addi t2, t1, 1; addi t3, t1, 1", 100),
        ("a chain of products of 32 bits", "mulw t0, t0, t1", 300),
        ("a chain of products of 64 bits", "mul t0, t0, t1", 300),
        ("a chain of quotients", "divu t0, t0, t1", 3500),
        ("a chain of sums of doubles", "fadd.d ft0, ft0, ft1", 400),
        ("independent sums of doubles", "fadd.d ft0, ft1, ft2; fadd.d ft3, ft1, ft2", 100),
        ("a store and a load that takes its data", "sd t0, -16(sp); ld t0, -16(sp)", 500),
        ("independent loads", "ld t0, -16(sp)", 100),
    ],
    clocks: &["rdcycle t0", "rdtime t0", "rdinstret t0"],
    random: "csrrw t0, 0x015, zero",
};

/// Which of its tools is not here.
fn lacks(machine: &Machine) -> Option<String> {
    machine.tools.iter().find_map(|tool| trials::lacks::program(tool))
}

fn options(machine: &Machine) -> Options {
    Options {
        cpu: machine.cpu.into(),
        net: false,
        max_instructions: 50_000_000,
        ..Options::default()
    }
}

fn timed(program: Code, stdin: &str, options: &Options) -> Timing {
    let job = Job { name: "test".into(), program, stdin: stdin.into() };
    stampmill_timing::time(&job, options).unwrap_or_else(|error| panic!("{error}"))
}

fn figures(timing: Timing) -> Measurement {
    let measurement =
        timing.measurement.unwrap_or_else(|| panic!("{}: {}", timing.verdict, timing.detail));
    Measurement { host_seconds: 0.0, ..measurement }
}

fn cycles(program: &str, stdin: &str, options: &Options) -> u64 {
    figures(timed(Code::C(program.into()), stdin, options)).cycles.expect("the model counts")
}

/// A program that prints what differs from run to run, and what differs between instruction sets if nobody takes care.
const SUM: &str = "#include <cstdio>\n#include <ctime>\n#include <cstdlib>\n#include <unistd.h>\n#include <map>\n#include <string>\n#include <iostream>\n\
    int main(int argc, char **argv) { long n; if (!(std::cin >> n)) n = 7; std::map<std::string, double> m; \
    for (long i = 0; i < n; i++) m[std::to_string(i * 7919 % 101)] += 1.0 / (i + 1) * 1.1 - 0.3; \
    double sum = 0; for (auto &one : m) sum = sum * 1.0000001 + one.second; char c = -1; \
    printf(\"%.17g %ld %d %d %s\\n\", sum, (long)time(0), (int)getpid(), c < 0, argv[0]); }\n";

fn same_cycles(machine: &Machine) {
    let options = options(machine);
    let first = figures(timed(Code::Cpp(SUM.into()), "3000\n", &options));
    assert_eq!(figures(timed(Code::Cpp(SUM.into()), "3000\n", &options)), first);
    let twice = figures(timed(Code::Cpp(SUM.into()), "3000\n", &Options { runs: 2, ..options }));
    assert_eq!(Measurement { runs: 1, ..twice }, first);
    assert!(first.startup_cycles > Some(1000) && first.startup_cycles < first.cycles);
    assert_eq!(first.cpu, machine.cpu);
    let here = figures(timed(Code::Cpp(SUM.into()), "3000\n", &Options::default()));
    assert_eq!(here.output_hash, first.output_hash, "it prints something else on x86-64");
}

/// Cycles of `count` rounds of a program with assembly in its loop, for each of the `repeated` in a round.
fn slope(machine: &Machine, assembly: &str) -> u64 {
    const REPEATED: u64 = 50;
    let program = format!(
        "#include <stdio.h>\nint main(void) {{ long n; double place[64] = {{1, 1, 1}}; double *p = place; if (scanf(\"%ld\", &n) != 1) return 1; \
         while (n--) __asm__ volatile(\".rept {REPEATED}\\n{}\\n.endr\" : \"+r\"(p) : : \"memory\", CLOBBERED); }}",
        assembly.replace("; ", "\\n"),
    );
    let clobbered = match machine.cpu {
        "neoverse-n1" => r#""x9", "x10", "x11", "x13", "v0", "v1", "v2", "v3", "cc""#,
        _ => r#""t0", "t1", "t2", "t3", "ft0", "ft1", "ft2", "ft3""#,
    };
    let program = program.replace("CLOBBERED", clobbered);
    let options = options(machine);
    let [few, many] = ["1000", "3000"].map(|count| cycles(&program, count, &options));
    (many - few) * 100 / (2000 * REPEATED)
}

fn costs(machine: &Machine) {
    for (name, assembly, wanted) in machine.costs {
        let found = slope(machine, assembly);
        // The loop around it takes a little.
        assert!((*wanted..=wanted + 8).contains(&found), "{name}: {found}, wanted {wanted}");
    }
}

/// The same sum over the same numbers, in an order that a branch can and cannot foresee.
fn mispredictions(machine: &Machine, penalty: u64) {
    let program = |bit: &str| {
        format!(
            "#include <stdio.h>\nint main(void) {{ unsigned long s = 1, t = 0; for (int i = 0; i < 20000; i++) {{ \
             s = s * 6364136223846793005ul + 1442695040888963407ul; if ({bit} & 1) {{ t += 3; __asm__ volatile(\"\" : \"+r\"(t)); }} \
             else {{ t ^= s; __asm__ volatile(\"\" : \"+r\"(t)); }} }} printf(\"%lu\", t); }}"
        )
    };
    let of = |bit| figures(timed(Code::C(program(bit)), "", &options(machine)));
    let (foreseen, random) = (of("i"), of("s >> 60"));
    let (more, lost) = (
        random.mispredicts.unwrap_or(0).saturating_sub(foreseen.mispredicts.unwrap_or(0)),
        random.cycles.unwrap_or(0).saturating_sub(foreseen.cycles.unwrap_or(0)),
    );
    assert!(more > 5000, "{more} more mispredictions");
    assert!(lost >= more * penalty, "{lost} cycles for {more} mispredictions");
}

fn verdicts(machine: &Machine) {
    let few = Options { output_bytes: 1 << 20, ..options(machine) };
    let assembly = |text: &str| format!("int main(void) {{ __asm__ volatile(\"{text}\"); }}");
    let mut cases: Vec<(String, &str)> =
        machine.clocks.iter().map(|clock| (assembly(clock), "reads-clock")).collect();
    cases.push((assembly(machine.random), "reads-random"));
    let plain = [
        ("int main(void) { return x; }", "does-not-compile"),
        ("int main(void) { *(volatile int *)0 = 1; }", "crashes"),
        ("int main(void) { for (;;) __asm__ volatile(\"\"); }", "instruction-limit"),
        (
            "#include <stdio.h>\nint main(void) { for (;;) puts(\"again and again\"); }",
            "output-limit",
        ),
        ("#include <unistd.h>\nint main(void) { return fork() > 0; }", "starts-threads"),
        ("#include <sys/socket.h>\nint main(void) { return socket(2, 1, 0) > 0; }", "uses-network"),
        (
            "#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) { long t[2]; return syscall(SYS_clock_gettime, 0, t); }",
            "reads-clock",
        ),
        (
            "#include <unistd.h>\nint main(void) { for (int i = 3; i < 1024; i++) write(i, \"x\", 1); }",
            "touches-channel",
        ),
        (
            "#include <signal.h>\n#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) { return kill(syscall(SYS_getppid), 9); }",
            "sends-signals",
        ),
        ("#include <stdio.h>\nint main(void) { while (getchar() != 'q'); }", "reads-past-input"),
    ];
    cases.extend(plain.map(|(program, verdict)| (program.to_owned(), verdict)));
    for (program, wanted) in cases {
        let timing = timed(Code::C(program.clone()), "abc", &few);
        assert_eq!(timing.verdict, wanted, "{program}: {}", timing.detail);
    }
}

fn together(machine: &Machine) {
    let program = Code::Cpp(
        "#include <iostream>\nint main() { long n, s = 0; std::cin >> n; for (long i = 0; i < n; i++) s += i ^ (s >> 3); \
         std::cout << s << std::endl; return n % 7; }"
            .into(),
    );
    let options = options(machine);
    let timer = stampmill_timing::Timer::open(&options).expect("its tools are here");
    let inputs: [&[u8]; 3] = [b"10\n", b"20000\n", b"31\n"];
    let all = timer.time_each(&program, &inputs).expect("they are timed");
    assert_eq!(all.len(), inputs.len());
    for (input, timing) in inputs.iter().zip(all) {
        let alone = timed(program.clone(), str::from_utf8(input).expect("text"), &options);
        assert_eq!(figures(timing), figures(alone), "{input:?}");
    }
}

fn arm_programs_take_the_same_cycles_again_and_print_what_they_print_here() {
    same_cycles(&ARM);
}

fn arm_programs_take_what_their_instructions_cost() {
    costs(&ARM);
}

fn arm_programs_pay_for_branches_that_nobody_foresees() {
    mispredictions(&ARM, 11);
}

fn arm_programs_that_cannot_be_timed_have_a_verdict() {
    verdicts(&ARM);
}

fn arm_programs_take_on_several_inputs_what_they_take_on_each() {
    together(&ARM);
}

fn riscv_programs_take_the_same_cycles_again_and_print_what_they_print_here() {
    same_cycles(&RISCV);
}

fn riscv_programs_take_what_their_instructions_cost() {
    costs(&RISCV);
}

fn riscv_programs_pay_for_branches_that_nobody_foresees() {
    mispredictions(&RISCV, 9);
}

fn riscv_programs_that_cannot_be_timed_have_a_verdict() {
    verdicts(&RISCV);
}

fn riscv_programs_take_on_several_inputs_what_they_take_on_each() {
    together(&RISCV);
}

fn other_sources_run_no_programs_of_another_instruction_set() {
    let options = Options {
        cpu: "neoverse-n1".into(),
        source: stampmill_timing::SourceKind::Cachegrind,
        ..Options::default()
    };
    let said = stampmill_timing::Timer::open(&options).err().expect("refused").to_string();
    assert!(said.contains("processor neoverse-n1 is aarch64"), "{said}");
}

fn no_cross_compiler_is_an_error_that_says_what_to_install() {
    let target = stampmill_timing::Target::of(stampmill_timing::Architecture::Riscv64);
    match target.compiler(stampmill_timing::Compiler::Gcc, false) {
        Ok(path) => assert!(path.ends_with("riscv64-linux-gnu-g++"), "{}", path.display()),
        Err(error) => assert!(error.to_string().contains("apt install"), "{error}"),
    }
}

trials::main! {
    arm_programs_take_the_same_cycles_again_and_print_what_they_print_here: lacks(&ARM),
    arm_programs_take_what_their_instructions_cost: lacks(&ARM),
    arm_programs_pay_for_branches_that_nobody_foresees: lacks(&ARM),
    arm_programs_that_cannot_be_timed_have_a_verdict: lacks(&ARM),
    arm_programs_take_on_several_inputs_what_they_take_on_each: lacks(&ARM),
    riscv_programs_take_the_same_cycles_again_and_print_what_they_print_here: lacks(&RISCV),
    riscv_programs_take_what_their_instructions_cost: lacks(&RISCV),
    riscv_programs_pay_for_branches_that_nobody_foresees: lacks(&RISCV),
    riscv_programs_that_cannot_be_timed_have_a_verdict: lacks(&RISCV),
    riscv_programs_take_on_several_inputs_what_they_take_on_each: lacks(&RISCV),
    other_sources_run_no_programs_of_another_instruction_set,
    no_cross_compiler_is_an_error_that_says_what_to_install,
}
