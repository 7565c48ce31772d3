//! The processor model as a plugin of QEMU's user mode (`qemu-x86_64`, `qemu-aarch64`, `qemu-riscv64`): the instruction source of `stampmill time`.
//!
//! QEMU translates a program block by block and calls back for each block it is about to execute and
//! each access to memory. This crate hands those on to [`timing_model::Core`] and writes one line
//! when the program ends, to descriptor 3, which it takes out of the program's reach (`guard`). It is the
//! boundary to C and nothing else. Asked to (`inputs=COUNT`), it runs a program on many inputs (`serve`).
//!
//! ```text
//! qemu-x86_64 -plugin libstampmill_timing.so,cpu=zen4.toml,stdin=input.txt ./program 3>report
//! ```
//!
//! What it cannot defend is its own memory: emulator and program share one address space, and a program that looks for
//! the counters can change them.

mod guard;
mod qemu;
mod serve;
mod session;

use qemu::{Arguments, Id, Info, MemoryCallback, NO_REGISTERS, READ_WRITE, STORE_BIT};
use serve::{End, Serving, Side};
use session::{Options, Session};
use std::{
    ffi::{CStr, c_int, c_uint, c_void},
    os::fd::AsRawFd,
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
    time::Instant,
};
use timing_model::{Refusal, Slot};

/// The one run of this process; set once at installation, never freed. The emulator calls back from
/// the one thread that executes the program: a second one is refused before it starts.
static SESSION: AtomicPtr<Session> = AtomicPtr::new(ptr::null_mut());

/// Slots are below, spans from here on.
const SPAN_SHIFT: u32 = 16;

/// Where the report goes, as we are started.
const CHANNEL: c_int = 3;

/// Status with which a refused program's emulator leaves.
const REFUSED: c_int = 99;

#[inline(always)]
fn session() -> &'static mut Session {
    let session = SESSION.load(Ordering::Relaxed);
    // SAFETY: callbacks are registered only after the pointer was set to a leaked box, they come from
    // one thread, do not nest, and none keeps the reference beyond its return.
    unsafe { &mut *session }
}

#[cold]
fn refuse(refusal: Refusal) -> ! {
    session().refuse(refusal.name());
    leave(REFUSED)
}

/// Leave at once, without the emulator's own clean-up, which expects to be called from outside.
fn leave(status: c_int) -> ! {
    // SAFETY: takes no pointers and does not return.
    unsafe { libc::_exit(status) }
}

/// A block was translated: decode its instructions and ask to hear of its executions and accesses.
extern "C" fn translated(_: Id, block: *mut c_void) {
    // SAFETY: QEMU passes a valid block, which lives during this call.
    let count = unsafe { qemu::qemu_plugin_tb_n_insns(block) };
    let session = session();
    let mut code = Vec::with_capacity(count);
    let mut instructions = Vec::with_capacity(count);
    for index in 0..count {
        // SAFETY: `index` is below the block's number of instructions.
        let instruction = unsafe { qemu::qemu_plugin_tb_get_insn(block, index) };
        // SAFETY: the instruction is valid during this call, as for the next three.
        let size = unsafe { qemu::qemu_plugin_insn_size(instruction) };
        // SAFETY: see above.
        let address = unsafe { qemu::qemu_plugin_insn_vaddr(instruction) };
        // SAFETY: see above.
        let data = unsafe { qemu::qemu_plugin_insn_data(instruction) };
        // SAFETY: QEMU holds `size` bytes of code there during this call.
        let bytes = unsafe { std::slice::from_raw_parts(data, size) };
        code.push((address, bytes));
        instructions.push(instruction);
    }
    let number = match session.translate(&code) {
        Ok(number) => number,
        Err(refusal) => refuse(refusal),
    };
    for (index, instruction) in instructions.into_iter().enumerate() {
        let Slot { number: slot, span } = session.slot(number, index);
        let callback: MemoryCallback = if span == 0 { accessed } else { accessed_in_parts };
        let data = ptr::without_provenance_mut(slot | usize::from(span) << SPAN_SHIFT);
        // SAFETY: the callback has the declared type; `data` is a number in a pointer's clothes.
        unsafe {
            qemu::qemu_plugin_register_vcpu_mem_cb(
                instruction,
                callback,
                NO_REGISTERS,
                READ_WRITE,
                data,
            );
        }
    }
    let callback = if session.empty { entered_empty } else { entered };
    let data = ptr::without_provenance_mut(number as usize);
    // SAFETY: as for the accesses.
    unsafe { qemu::qemu_plugin_register_vcpu_tb_exec_cb(block, callback, NO_REGISTERS, data) };
}

extern "C" fn accessed(_: c_uint, info: u32, address: u64, slot: *mut c_void) {
    let store = (info >> STORE_BIT & 1) as usize;
    session().access(slot.addr() + store, address);
}

/// The instruction makes several accesses; the last one leaves where the first one was.
extern "C" fn accessed_in_parts(processor: c_uint, info: u32, address: u64, data: *mut c_void) {
    let span = (data.addr() >> SPAN_SHIFT) as u64;
    let slot = ptr::without_provenance_mut(data.addr() & ((1 << SPAN_SHIFT) - 1));
    accessed(processor, info, address.wrapping_sub(span), slot);
}

extern "C" fn entered(_: c_uint, block: *mut c_void) {
    if let Err(refusal) = session().enter(block.addr() as u32) {
        refuse(refusal);
    }
}

extern "C" fn entered_empty(_: c_uint, _: *mut c_void) {}

extern "C" fn called(
    _: Id,
    _: c_uint,
    number: i64,
    first: u64,
    second: u64,
    third: u64,
    fourth: u64,
    fifth: u64,
    sixth: u64,
    _: u64,
    _: u64,
) {
    let arguments = [first, second, third, fourth, fifth, sixth];
    let known = session().architecture.x86_call(number);
    let forbidden = if guard::touches(known, &arguments, session().channel()) {
        Some("touches-channel")
    } else if guard::signals_others(known, &arguments, std::process::id()) {
        Some("sends-signals")
    } else {
        None
    };
    if let Some(name) = forbidden {
        session().refuse(name);
        leave(REFUSED);
    }
    if let Err(refusal) = session().system_call(number, [first, second, third]) {
        refuse(refusal);
    }
    if !serve::is_alike(known, fourth)
        && let Some((serving, file)) = session().serving.take()
    {
        run_on_each(&serving, &file);
    }
}

/// Let a copy of the program go on with each input. Returns in the copies alone.
fn run_on_each(serving: &Serving, file: &str) {
    for number in 0..serving.inputs {
        let begun = Instant::now();
        let (end, bytes) = match serve::copy() {
            Ok(Side::Copy) => return go_on_with(&session::input_file(file, number)),
            Ok(Side::Original(id, output)) => serve::wait(id, output, serving),
            Err(error) => {
                session().fail(&error);
                (End::Stopped, 0)
            }
        };
        session().served(end, begun.elapsed(), bytes);
        if end == End::Stopped {
            break;
        }
    }
    leave(0)
}

fn go_on_with(file: &str) {
    if let Err(error) = take_input(file) {
        session().fail(&error);
        leave(REFUSED);
    }
}

extern "C" fn returned(_: Id, _: c_uint, number: i64, result: i64) {
    session().system_call_done(number, result);
}

extern "C" fn ended(_: Id, _: *mut c_void) {
    session().finish();
}

/// Give the program a file as its standard input: unlike a pipe's, its reads do not depend on who
/// writes when.
fn take_input(path: &str) -> Result<(), String> {
    let file = std::fs::File::open(path).map_err(|error| format!("{path}: {error}"))?;
    // SAFETY: both are open descriptors; the old standard input is no longer wanted.
    let status = unsafe { libc::dup2(file.as_raw_fd(), libc::STDIN_FILENO) };
    if status < 0 { Err(std::io::Error::last_os_error().to_string()) } else { Ok(()) }
}

fn install(id: Id, arguments: &[&str]) -> Result<(), String> {
    /// Above any descriptor that a program expects to be given.
    const LEAST: c_int = 200;
    let options = Options::parse(arguments.iter().copied())?;
    for (bits, store) in [(1 << STORE_BIT, true), (1 << (STORE_BIT - 1), false)] {
        // SAFETY: a pure function of a number.
        if unsafe { qemu::qemu_plugin_mem_is_store(bits) } != store {
            return Err(
                "this QEMU encodes memory accesses in another way; 7.2 to 9.0 are known".into()
            );
        }
    }
    if let Some(path) = options.first_input() {
        take_input(&path)?;
    }
    // SAFETY: takes no pointers.
    let copy = unsafe { libc::fcntl(CHANNEL, libc::F_DUPFD_CLOEXEC, LEAST) };
    let out = session::owned(copy).ok_or("descriptor 3 is not open: it takes the report")?;
    // SAFETY: nothing else in this process knows the descriptor, and the program finds its number free.
    unsafe { libc::close(CHANNEL) };
    let session = Box::new(Session::new(&options, out)?);
    SESSION.store(Box::into_raw(session), Ordering::Relaxed);
    // SAFETY: the callbacks have the declared types, as for the next three.
    unsafe { qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, translated) };
    // SAFETY: see above.
    unsafe { qemu::qemu_plugin_register_vcpu_syscall_cb(id, called) };
    // SAFETY: see above.
    unsafe { qemu::qemu_plugin_register_vcpu_syscall_ret_cb(id, returned) };
    // SAFETY: see above.
    unsafe { qemu::qemu_plugin_register_atexit_cb(id, ended, ptr::null_mut()) };
    Ok(())
}

/// Called by QEMU once, before the program starts.
///
/// # Safety
/// `arguments` points to `count` C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: Id,
    _: *const Info,
    count: c_int,
    arguments: Arguments,
) -> c_int {
    let mut words = Vec::new();
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: `index` is below `count`.
        let word = unsafe { arguments.add(index) };
        // SAFETY: it points to one of the strings' addresses.
        let word = unsafe { *word };
        // SAFETY: it is a C string that QEMU keeps.
        let word = unsafe { CStr::from_ptr(word) };
        words.push(word.to_str().unwrap_or_default());
    }
    match install(id, &words) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("stampmill timing plugin: {error}");
            -1
        }
    }
}
