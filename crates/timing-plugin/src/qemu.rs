//! The part of QEMU's plugin interface that is used, version 1 (QEMU 4.2 to 9.0; system-call
//! callbacks and AVX since 7.2). Declared by hand from its documentation.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// Names this plugin in calls.
pub(crate) type Id = u64;

/// Callbacks that neither read nor write registers.
pub(crate) const NO_REGISTERS: c_int = 0;
/// Loads and stores in one callback: separate ones mislabel accesses of one instruction.
pub(crate) const READ_WRITE: c_int = 3;
/// Bit of a memory callback's `info` that is set for stores.
pub(crate) const STORE_BIT: u32 = 17;

pub(crate) type TranslateCallback = extern "C" fn(Id, *mut c_void);
pub(crate) type ExecuteCallback = extern "C" fn(c_uint, *mut c_void);
pub(crate) type MemoryCallback = extern "C" fn(c_uint, u32, u64, *mut c_void);
pub(crate) type ExitCallback = extern "C" fn(Id, *mut c_void);
pub(crate) type SystemCallCallback =
    extern "C" fn(Id, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
pub(crate) type SystemCallDoneCallback = extern "C" fn(Id, c_uint, i64, i64);

unsafe extern "C" {
    pub(crate) fn qemu_plugin_register_vcpu_tb_trans_cb(id: Id, callback: TranslateCallback);
    pub(crate) fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut c_void,
        callback: ExecuteCallback,
        flags: c_int,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut c_void,
        callback: MemoryCallback,
        flags: c_int,
        access: c_int,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_register_vcpu_syscall_cb(id: Id, callback: SystemCallCallback);
    pub(crate) fn qemu_plugin_register_vcpu_syscall_ret_cb(
        id: Id,
        callback: SystemCallDoneCallback,
    );
    pub(crate) fn qemu_plugin_register_atexit_cb(id: Id, callback: ExitCallback, data: *mut c_void);
    pub(crate) fn qemu_plugin_tb_n_insns(block: *const c_void) -> usize;
    pub(crate) fn qemu_plugin_tb_get_insn(block: *const c_void, index: usize) -> *mut c_void;
    pub(crate) fn qemu_plugin_insn_data(instruction: *const c_void) -> *const u8;
    pub(crate) fn qemu_plugin_insn_size(instruction: *const c_void) -> usize;
    pub(crate) fn qemu_plugin_insn_vaddr(instruction: *const c_void) -> u64;
    pub(crate) fn qemu_plugin_mem_is_store(info: u32) -> bool;
}

/// The version of the interface this plugin was written for; QEMU refuses to load it where it has
/// another.
#[unsafe(no_mangle)]
pub(crate) static qemu_plugin_version: c_int = 1;

/// What QEMU says about itself at installation; only that it is there matters.
pub(crate) type Info = c_void;
/// Arguments of the plugin, as C strings.
pub(crate) type Arguments = *const *const c_char;
