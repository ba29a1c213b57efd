//! The counters of this process (see `counters`): in memory until the device is first used, in a mapped file from then.

use crate::counters::{self, LENGTH, MAGIC, NAMES, NAMES_ROOM, PID, ROW, ROWS, WORDS};
use crate::settings::settings;
use std::ffi::{c_int, c_void};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering::Relaxed};

/// The table as it lies in the file.
#[repr(C)]
pub struct Table {
    words: [AtomicU64; WORDS],
    names: [AtomicU8; NAMES_ROOM],
}
const _: () = assert!(size_of::<Table>() == LENGTH);

static PRIVATE: Table =
    Table { words: [const { AtomicU64::new(0) }; WORDS], names: [const { AtomicU8::new(0) }; NAMES_ROOM] };
/// Null while the counters are in `PRIVATE`.
static MAPPED: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());

unsafe extern "C" {
    fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
}

fn table() -> &'static Table {
    let mapped = MAPPED.load(Relaxed);
    // SAFETY: not null means a mapping of a whole `Table` that is never undone.
    if mapped.is_null() { &PRIVATE } else { unsafe { &*mapped } }
}

pub fn add(word: usize, count: u64) {
    if let Some(word) = table().words.get(word) {
        word.fetch_add(count, Relaxed);
    }
}

pub fn set(word: usize, value: u64) {
    if let Some(word) = table().words.get(word) {
        word.store(value, Relaxed);
    }
}

pub fn get(word: usize) -> u64 {
    table().words.get(word).map_or(0, |word| word.load(Relaxed))
}

/// The place of a device's figure in the table.
pub fn cell(device: usize, figure: usize) -> usize {
    ROWS + device * ROW + figure
}

/// Notes the name of an entry point that is not simulated, once. Called with the memory's lock held.
pub fn note_name(name: &str) {
    let table = table();
    let used = get(NAMES) as usize;
    let known: Vec<u8> = table.names.iter().take(used).map(|byte| byte.load(Relaxed)).collect();
    if known.split(|byte| *byte == b'\n').any(|line| line == name.as_bytes()) || used + name.len() + 1 > NAMES_ROOM {
        return;
    }
    for (place, byte) in table.names.iter().skip(used).zip(name.bytes().chain([b'\n'])) {
        place.store(byte, Relaxed);
    }
    set(NAMES, (used + name.len() + 1) as u64);
}

/// Moves the counters into their file. Called with the memory's lock held, when the device is first used.
pub fn open() {
    if !MAPPED.load(Relaxed).is_null() {
        return;
    }
    let Some(folder) = &settings().report else { return };
    let pid = std::process::id();
    let path = std::path::Path::new(folder).join(format!("device-{pid}.bin"));
    let options = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
    let Ok(file) = options else { return };
    if file.set_len(LENGTH as u64).is_err() {
        return;
    }
    const READ_AND_WRITE: c_int = 3;
    const SHARED: c_int = 1;
    // SAFETY: a new mapping at a place of the system's choice; the file has the length that is mapped.
    let mapped = unsafe { mmap(std::ptr::null_mut(), LENGTH, READ_AND_WRITE, SHARED, file.as_raw_fd(), 0) };
    if mapped as isize == -1 {
        return;
    }
    let target = mapped.cast::<Table>();
    // SAFETY: the mapping is as long as a table, which has no invalid bit patterns.
    let fresh = unsafe { &*target };
    for (to, from) in fresh.words.iter().zip(&PRIVATE.words) {
        to.store(from.load(Relaxed), Relaxed);
    }
    for (to, from) in fresh.names.iter().zip(&PRIVATE.names) {
        to.store(from.load(Relaxed), Relaxed);
    }
    fresh.words[PID].store(u64::from(pid), Relaxed);
    fresh.words[0].store(MAGIC, Relaxed);
    MAPPED.store(target, Relaxed);
    watch_faults();
}

const FAULT: c_int = 11;
/// `struct sigaction` of the GNU C library on x86-64.
#[repr(C)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}
unsafe extern "C" {
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
}
/// What stood before us, for the fault that is not ours to handle: none is.
static mut BEFORE: Action = Action { handler: 0, mask: [0; 16], flags: 0, restorer: 0 };

/// Notes a read or write of device memory by the host's own code, which ends the program on a real device as well, and
/// lets the fault happen again with the handler that stood there before.
extern "C" fn fault(_signal: c_int, information: *const u8, _context: *mut c_void) {
    // SAFETY: the system gives a whole `siginfo_t`, which has the address at byte 16; `BEFORE` was filled before this
    // handler was installed and is not written again.
    unsafe {
        let address = information.add(16).cast::<u64>().read_unaligned();
        if crate::memory::device_of(address).is_some() {
            set(counters::HOST_TOUCH, address);
        }
        sigaction(FAULT, &raw const BEFORE, std::ptr::null_mut());
    }
}

fn watch_faults() {
    const WITH_INFORMATION: c_int = 4;
    const ON_OWN_STACK: c_int = 0x0800_0000;
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let action = Action {
            handler: fault as *const () as usize,
            mask: [0; 16],
            flags: WITH_INFORMATION | ON_OWN_STACK,
            restorer: 0,
        };
        // SAFETY: both structs have the C library's layout; nobody else touches `BEFORE`, and the handler reads it only
        // after this call. The handler itself calls nothing but `sigaction`, which a handler may.
        unsafe {
            sigaction(FAULT, std::ptr::null(), &raw mut BEFORE);
            sigaction(FAULT, &raw const action, std::ptr::null_mut());
        }
    });
}

/// In the child of a fork: leaves the parent's file alone and counts in memory until the child uses the device itself.
/// What the parent had allocated is still on the device.
pub fn leave_parent() {
    let parent = table();
    for (place, word) in PRIVATE.words.iter().enumerate() {
        let device = place >= ROWS;
        word.store(if device { parent.words[place].load(Relaxed) } else { 0 }, Relaxed);
    }
    for device in 0..counters::DEVICES {
        PRIVATE.words[cell(device, counters::PEAK)]
            .store(PRIVATE.words[cell(device, counters::USED)].load(Relaxed), Relaxed);
        PRIVATE.words[cell(device, counters::REFUSED)].store(0, Relaxed);
        PRIVATE.words[cell(device, counters::SERVED)].store(0, Relaxed);
    }
    MAPPED.store(std::ptr::null_mut(), Relaxed);
}
