//! The system calls of the view that rustix does not offer as safe functions.

#![allow(unsafe_code, reason = "system calls")]

use rustix::thread::UnshareFlags;
use std::ffi::{CString, c_char, c_int, c_long, c_ulong};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn ioctl(file: c_int, request: c_ulong, ...) -> c_int;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
}

/// Enters namespaces of its own. Only called before this process has a second thread.
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the table of open files is not among the flags, so no descriptor changes its meaning.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(io::Error::from)
}

fn result(value: c_long) -> io::Result<c_long> {
    if value < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}

/// Brings up the loopback interface of a fresh network namespace.
pub fn raise_loopback() -> io::Result<()> {
    const INTERNET: c_int = 2;
    const DATAGRAM: c_int = 2;
    const SET_FLAGS: c_ulong = 0x8914;
    const UP_AND_RUNNING: u16 = 0x41;
    /// `struct ifreq`: a name, and a union of which the flags are the beginning.
    #[repr(C)]
    struct Request {
        name: [u8; 16],
        flags: u16,
        rest: [u8; 22],
    }
    let mut request = Request { name: [0; 16], flags: UP_AND_RUNNING, rest: [0; 22] };
    request.name[..2].copy_from_slice(b"lo");
    // SAFETY: plain calls; the request has the size and layout that the kernel reads.
    unsafe {
        let file = OwnedFd::from_raw_fd(result(c_long::from(socket(INTERNET, DATAGRAM, 0)))? as c_int);
        result(c_long::from(ioctl(file.as_raw_fd(), SET_FLAGS, &raw const request)))?;
    }
    Ok(())
}

const CREATE_RULESET: c_long = 444;
const ADD_RULE: c_long = 445;
const RESTRICT_SELF: c_long = 446;

/// All rights that change the file system, up to the version of Landlock that is there: writing and removing, making
/// of every kind, moving between folders (2), truncating (3).
fn changing(version: c_long) -> u64 {
    const WRITE_FILE: u64 = 1 << 1;
    const REMOVE_AND_MAKE: u64 = 0x1ff0;
    const REFER: u64 = 1 << 13;
    const TRUNCATE: u64 = 1 << 14;
    let mut rights = WRITE_FILE | REMOVE_AND_MAKE;
    if version >= 2 {
        rights |= REFER;
    }
    if version >= 3 {
        rights |= TRUNCATE;
    }
    rights
}

/// Refuses every change of files outside of `allowed`, for this process and all that it starts.
pub fn forbid_changes(allowed: &[&Path]) -> io::Result<()> {
    const VERSION: u32 = 1;
    const BENEATH: c_int = 1;
    const PATH: c_int = 0o10_000_000;
    const CLOSE_ON_EXEC: c_int = 0o2_000_000;
    /// `struct landlock_path_beneath_attr`, packed in the kernel as here.
    #[repr(C, packed)]
    struct Rule {
        rights: u64,
        parent: i32,
    }
    // SAFETY: Landlock's calls with the arguments that its documentation asks for; the structs live across the calls.
    unsafe {
        let version = result(syscall(CREATE_RULESET, std::ptr::null::<u64>(), 0usize, VERSION))?;
        // Version 1 lets a file be truncated by its path, which loses it.
        if version < 3 {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        let handled: u64 = changing(version);
        let rules = result(syscall(CREATE_RULESET, &raw const handled, size_of::<u64>(), 0u32))?;
        let rules = OwnedFd::from_raw_fd(rules as c_int);
        for path in allowed {
            let name = CString::new(path.as_os_str().as_bytes())?;
            let folder = open(name.as_ptr(), PATH | CLOSE_ON_EXEC);
            if folder < 0 {
                continue;
            }
            let folder = OwnedFd::from_raw_fd(folder);
            let rule = Rule { rights: handled, parent: folder.as_raw_fd() };
            result(syscall(ADD_RULE, rules.as_raw_fd(), BENEATH, &raw const rule, 0u32))?;
        }
        rustix::thread::set_no_new_privs(true)?;
        result(syscall(RESTRICT_SELF, rules.as_raw_fd(), 0u32))?;
    }
    Ok(())
}
