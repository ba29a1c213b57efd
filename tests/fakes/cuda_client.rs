//! A program that uses the CUDA runtime as PyTorch's libraries do: linked against it, with versioned references. The
//! first argument names what it tries; it prints what it saw.
//!
//! Compiled by `tests/it/rehearse_shim.rs`; no dependency.

use std::ffi::{CString, c_char, c_int, c_void};
use std::io::Write;
use std::process::exit;

type Pointer = *mut c_void;

#[link(name = "libcudart.so.13", kind = "dylib", modifiers = "+verbatim")]
unsafe extern "C" {
    fn cudaMalloc(out: *mut Pointer, size: usize) -> c_int;
    fn cudaFree(pointer: Pointer) -> c_int;
    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) -> c_int;
    fn cudaGetLastError() -> c_int;
    fn cudaGetErrorString(status: c_int) -> *const c_char;
    fn cudaMemcpy(to: Pointer, from: *const c_void, length: usize, kind: c_int) -> c_int;
    fn cudaMemset(to: Pointer, value: c_int, length: usize) -> c_int;
    fn cudaSetDevice(device: c_int) -> c_int;
    fn cudaGetDeviceCount(out: *mut c_int) -> c_int;
    fn cudaGetDeviceProperties(out: *mut u8, device: c_int) -> c_int;
    fn cudaLaunchKernelExC(configuration: *const c_void, kernel: *const c_void, arguments: *mut Pointer) -> c_int;
    fn cudaHostAlloc(out: *mut Pointer, size: usize, flags: u32) -> c_int;
    fn cudaFreeHost(pointer: Pointer) -> c_int;
    fn cudaPointerGetAttributes(out: *mut [u64; 3], pointer: Pointer) -> c_int;
    fn cudaMallocAsync(out: *mut Pointer, size: usize, stream: Pointer) -> c_int;
    fn cudaFreeAsync(pointer: Pointer, stream: Pointer) -> c_int;
    fn cudaDeviceGetDefaultMemPool(out: *mut Pointer, device: c_int) -> c_int;
    fn cudaMemPoolSetAttribute(pool: Pointer, which: c_int, value: *const u64) -> c_int;
    fn cudaMemPoolGetAttribute(pool: Pointer, which: c_int, value: *mut u64) -> c_int;
    fn cudaMemPoolTrimTo(pool: Pointer, keep: usize) -> c_int;
    fn cudaDeviceSynchronize() -> c_int;
    fn cudaStreamCreateWithPriority(out: *mut Pointer, flags: u32, priority: c_int) -> c_int;
    fn cudaEventCreateWithFlags(out: *mut Pointer, flags: u32) -> c_int;
    fn cudaEventRecord(event: Pointer, stream: Pointer) -> c_int;
    fn cudaStreamWaitEvent(stream: Pointer, event: Pointer, flags: u32) -> c_int;
    fn cudaStreamBeginCapture(stream: Pointer, mode: c_int) -> c_int;
    fn cudaStreamEndCapture(stream: Pointer, graph: *mut Pointer) -> c_int;
    fn cudaStreamIsCapturing(stream: Pointer, status: *mut c_int) -> c_int;
    fn cudaGetDriverEntryPointByVersion(name: *const c_char, out: *mut Pointer, version: u32, flags: u64, status: *mut c_int)
    -> c_int;
    /// Nothing that is simulated: only the stand-in has it.
    fn cudaProfilerStart() -> c_int;
}
unsafe extern "C" {
    fn dlopen(path: *const c_char, mode: c_int) -> Pointer;
    fn dlsym(handle: Pointer, name: *const c_char) -> Pointer;
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(code: c_int) -> !;
    fn alarm(seconds: u32) -> u32;
}

const MIB: usize = 1 << 20;

macro_rules! say {
    ($($argument:tt)*) => {{
        let mut output = std::io::stdout().lock();
        writeln!(output, $($argument)*).and_then(|()| output.flush()).expect("the test reads");
    }};
}

fn malloc(size: usize) -> Result<Pointer, c_int> {
    let mut pointer = std::ptr::null_mut();
    match unsafe { cudaMalloc(&mut pointer, size) } {
        0 => Ok(pointer),
        status => Err(status),
    }
}
fn allocated(size: usize) -> Pointer {
    malloc(size).expect("there is room")
}
/// MiB that are free.
fn free() -> usize {
    let (mut free, mut total) = (0, 0);
    assert_eq!(unsafe { cudaMemGetInfo(&mut free, &mut total) }, 0);
    free / MIB
}
fn symbol<T: Copy>(library: &str, name: &str) -> T {
    let (library, name) = (CString::new(library).unwrap(), CString::new(name).unwrap());
    let address = unsafe { dlsym(dlopen(library.as_ptr(), 2), name.as_ptr()) };
    assert!(!address.is_null(), "{name:?} is not in {library:?}");
    unsafe { std::mem::transmute_copy(&address) }
}
fn launch() {
    unsafe { cudaLaunchKernelExC(std::ptr::null(), std::ptr::null(), std::ptr::null_mut()) };
}

fn memory() {
    say!("free {}", free());
    let block = allocated(3 * MIB);
    say!("after 3 MiB {}", free());
    let small = allocated(1);
    say!("after a byte {}", free());
    say!("refused {:?}", malloc(free() * MIB + 1).err());
    let text = unsafe { std::ffi::CStr::from_ptr(cudaGetErrorString(2)) }.to_str().unwrap();
    say!("error {} then {}: {text}", unsafe { cudaGetLastError() }, unsafe { cudaGetLastError() });
    let rest = allocated(free() * MIB);
    say!("full {}", free());
    for pointer in [block, small, rest] {
        assert_eq!(unsafe { cudaFree(pointer) }, 0);
    }
    say!("freed {}", free());
    say!("twice {}", unsafe { cudaFree(block) });
    say!("nothing {}", unsafe { cudaFree(std::ptr::null_mut()) });
    say!("stub {}", unsafe { cudaProfilerStart() });
    let again = allocated(MIB);
    say!("later addresses are {}", if (again as usize) > (block as usize) { "higher" } else { "lower" });
}

/// Holds 8 MiB until its standard input ends.
fn holds() {
    allocated(8 * MIB);
    say!("held");
    let _ = std::io::stdin().read_line(&mut String::new());
}

fn properties() {
    let mut bytes = [0xaau8; 2048];
    assert_eq!(unsafe { cudaGetDeviceProperties(bytes.as_mut_ptr(), 0) }, 0);
    let number = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let name = std::ffi::CStr::from_bytes_until_nul(&bytes).unwrap().to_str().unwrap();
    let length = 2048 - bytes.iter().rev().take_while(|byte| **byte == 0xaa).count();
    let total = u64::from_le_bytes(bytes[288..296].try_into().unwrap());
    // The number of multiprocessors moved in CUDA 13.
    say!("{name}|{total}|{}.{}|{}|{}|{length}", number(360), number(364), number(384), number(388));
    say!("device 7: {}", unsafe { cudaGetDeviceProperties(bytes.as_mut_ptr(), 7) });
}

fn virtual_memory() {
    let library = "libcuda.so.1";
    let reserve: unsafe extern "C" fn(*mut u64, usize, usize, u64, u64) -> c_int = symbol(library, "cuMemAddressReserve");
    let create: unsafe extern "C" fn(*mut u64, usize, *const c_int, u64) -> c_int = symbol(library, "cuMemCreate");
    let map: unsafe extern "C" fn(u64, usize, usize, u64, u64) -> c_int = symbol(library, "cuMemMap");
    let unmap: unsafe extern "C" fn(u64, usize) -> c_int = symbol(library, "cuMemUnmap");
    let release: unsafe extern "C" fn(u64) -> c_int = symbol(library, "cuMemRelease");
    let (mut address, mut handle) = (0, 0);
    let on_device_0 = [1, 0, 1, 0, 0, 0, 0, 0];
    unsafe {
        say!("reserved {} free {}", reserve(&mut address, 900 * MIB, 0, 0, 0), free());
        say!("unaligned {}", create(&mut handle, 3 * MIB, on_device_0.as_ptr(), 0));
        say!("created {} free {}", create(&mut handle, 20 * MIB, on_device_0.as_ptr(), 0), free());
        let mut refused = 0;
        say!("too much {}", create(&mut refused, 90 * MIB, on_device_0.as_ptr(), 0));
        say!("mapped {}", map(address, 20 * MIB, 0, handle, 0));
        say!("mapped over it {}", map(address + 2 * MIB as u64, 20 * MIB, 0, handle, 0));
        say!("released {} free {}", release(handle), free());
        say!("unmapped {} free {}", unmap(address, 20 * MIB), free());
        say!("unmapped again {}", unmap(address, 20 * MIB));
    }
}

fn copies() {
    let size = 4096;
    let block = allocated(4 * MIB);
    let read = |from: Pointer, length: usize| {
        let mut bytes = vec![0x55u8; length];
        assert_eq!(unsafe { cudaMemcpy(bytes.as_mut_ptr().cast(), from, length, 2) }, 0);
        bytes
    };
    let data: Vec<u8> = (0..size).map(|place| (place % 251) as u8 + 1).collect();
    assert_eq!(unsafe { cudaMemcpy(block, data.as_ptr().cast(), size, 1) }, 0);
    say!("back {}", read(block, size) == data);
    say!("a part {}", read(block.wrapping_byte_add(100), 50) == data[100..150]);
    launch();
    say!("back after a kernel {}", read(block, size) == data);
    say!("a part after a kernel {}", read(block.wrapping_byte_add(100), 50) == vec![0; 50]);
    let other = block.wrapping_byte_add(MIB);
    assert_eq!(unsafe { cudaMemcpy(other, block, size, 3) }, 0);
    say!("on the device {}", read(other, size) == data);
    assert_eq!(unsafe { cudaMemset(other, 7, 64) }, 0);
    say!("filled {}", read(other, 64) == vec![7; 64]);
    let large = vec![9u8; MIB + 1];
    assert_eq!(unsafe { cudaMemcpy(block, large.as_ptr().cast(), large.len(), 1) }, 0);
    say!("large {}", read(block, large.len()).iter().all(|byte| *byte == 0));
    say!("never written {:?}", read(block.wrapping_byte_add(3 * MIB), 4));
    assert_eq!(unsafe { cudaMemcpy(block, data.as_ptr().cast(), size, 1) }, 0);
    assert_eq!(unsafe { cudaFree(block) }, 0);
    say!("after it was freed {:?}", read(block, 4));
}

/// Copies what nobody wrote to page-locked memory, again and again, and says what that took of the host's memory.
fn offload() {
    let size = 64 * MIB;
    let block = allocated(size);
    let mut pinned = std::ptr::null_mut();
    assert_eq!(unsafe { cudaHostAlloc(&mut pinned, size, 0) }, 0);
    let bytes = unsafe { std::slice::from_raw_parts_mut(pinned.cast::<u8>(), size) };
    // Pages that were in use before, and an end that is none.
    bytes[..4 * MIB].fill(7);
    let (from, to) = (100, size - 100);
    assert_eq!(unsafe { cudaMemcpy(bytes[from..].as_mut_ptr().cast(), block, to - from, 2) }, 0);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kib: usize = resident.trim().trim_end_matches(" kB").parse().unwrap();
    say!("small {}", kib < 16 << 10);
    say!("before {} then {}", bytes[99], bytes[from..to].iter().map(|byte| *byte as usize).sum::<usize>());
}

fn pools() {
    let mut pool = std::ptr::null_mut();
    let attribute = |pool: Pointer, which: c_int| {
        let mut value = 0u64;
        assert_eq!(unsafe { cudaMemPoolGetAttribute(pool, which, &mut value) }, 0);
        value as usize / MIB
    };
    unsafe {
        assert_eq!(cudaDeviceGetDefaultMemPool(&mut pool, 0), 0);
        assert_eq!(cudaMemPoolSetAttribute(pool, 4, &u64::MAX), 0);
        let mut blocks = [std::ptr::null_mut(); 2];
        for block in &mut blocks {
            assert_eq!(cudaMallocAsync(block, 10 * MIB, std::ptr::null_mut()), 0);
        }
        say!("reserved {} used {} free {}", attribute(pool, 5), attribute(pool, 7), free());
        for block in blocks {
            assert_eq!(cudaFreeAsync(block, std::ptr::null_mut()), 0);
        }
        cudaDeviceSynchronize();
        say!("kept {} used {} free {}", attribute(pool, 5), attribute(pool, 7), free());
        assert_eq!(cudaMemPoolTrimTo(pool, 0), 0);
        say!("trimmed {} free {}", attribute(pool, 5), free());
        // A whole step does not fit, but what is asked for does.
        let mut block = std::ptr::null_mut();
        say!("nearly all {} free {}", cudaMallocAsync(&mut block, 98 * MIB, std::ptr::null_mut()), free());
        say!("too much {}", cudaMallocAsync(&mut block, 98 * MIB, std::ptr::null_mut()));
    }
}

fn graphs() {
    let mut streams = [std::ptr::null_mut(); 3];
    let mut event = std::ptr::null_mut();
    let mut graph = std::ptr::null_mut();
    unsafe {
        for stream in &mut streams {
            assert_eq!(cudaStreamCreateWithPriority(stream, 0, 0), 0);
        }
        assert_eq!(cudaEventCreateWithFlags(&mut event, 0), 0);
        let capturing = || {
            streams.map(|stream| {
                let mut status = -1;
                assert_eq!(cudaStreamIsCapturing(stream, &mut status), 0);
                status
            })
        };
        say!("before {:?}", capturing());
        assert_eq!(cudaStreamBeginCapture(streams[0], 0), 0);
        say!("begun {:?}", capturing());
        cudaEventRecord(event, streams[0]);
        cudaStreamWaitEvent(streams[1], event, 0);
        say!("joined {:?}", capturing());
        say!("ended {} {:?} {}", cudaStreamEndCapture(streams[0], &mut graph), capturing(), !graph.is_null());
        say!("ended twice {}", cudaStreamEndCapture(streams[0], &mut graph));
    }
}

fn entry_points() {
    let find = |name: &str| {
        let name = CString::new(name).unwrap();
        let (mut address, mut status) = (std::ptr::null_mut(), -1);
        let result =
            unsafe { cudaGetDriverEntryPointByVersion(name.as_ptr(), &mut address, 12000, 0, &mut status) };
        (result, status, address)
    };
    let (result, status, address) = find("cuMemGetInfo");
    let info: unsafe extern "C" fn(*mut usize, *mut usize) -> c_int = unsafe { std::mem::transmute(address) };
    let (mut free, mut total) = (0, 0);
    say!("known {result} {status} {} {}", unsafe { info(&mut free, &mut total) }, total / MIB);
    let (result, status, address) = find("cuFrobnicate");
    let unknown: extern "C" fn() -> c_int = unsafe { std::mem::transmute(address) };
    say!("unknown {result} {status} {}", unknown());
    say!("no driver function {:?}", find("frobnicate"));
}

fn devices() {
    let mut count = 0;
    let status = unsafe { cudaGetDeviceCount(&mut count) };
    say!("count {count} status {status}");
    if count < 2 {
        return;
    }
    let first = allocated(10 * MIB);
    say!("second {} {}", unsafe { cudaSetDevice(1) }, free());
    let second = allocated(20 * MIB);
    say!("second {}", free());
    let place = |pointer: Pointer| {
        let mut attributes = [0u64; 3];
        assert_eq!(unsafe { cudaPointerGetAttributes(&mut attributes, pointer) }, 0);
        // kind, then the device
        (attributes[0] as u32, (attributes[0] >> 32) as i32)
    };
    let mut pinned = std::ptr::null_mut();
    assert_eq!(unsafe { cudaHostAlloc(&mut pinned, 3 * MIB, 0) }, 0);
    say!("places {:?} {:?} {:?} {:?}", place(first), place(second), place(pinned), place((&raw mut count).cast()));
    assert_eq!(unsafe { cudaFreeHost(pinned) }, 0);
    say!("first {} {}", unsafe { cudaSetDevice(0) }, free());
    say!("third {}", unsafe { cudaSetDevice(2) });
}

fn threads() {
    let workers: Vec<_> = (0..8)
        .map(|_| {
            std::thread::spawn(|| {
                for round in 0..500 {
                    let block = allocated(MIB);
                    let bytes = [round as u8; 64];
                    unsafe {
                        assert_eq!(cudaMemcpy(block, bytes.as_ptr().cast(), 64, 1), 0);
                        assert_eq!(cudaFree(block), 0);
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().expect("no thread fails");
    }
    say!("free {}", free());
}

/// Forks while other threads use the device all the time: a child that found the lock held would never end.
fn forks() {
    // What hangs ends by a signal.
    unsafe { alarm(60) };
    let _held = allocated(10 * MIB);
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let stop = stop.clone();
            std::thread::spawn(move || {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let block = allocated(MIB);
                    unsafe { cudaFree(block) };
                }
            })
        })
        .collect();
    for _ in 0..200 {
        match unsafe { fork() } {
            0 => {
                unsafe { alarm(30) };
                let code = c_int::from(malloc(4 * MIB).is_err());
                unsafe { _exit(code) }
            }
            child => {
                let mut status = -1;
                assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
                assert_eq!(status, 0);
            }
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    for worker in workers {
        worker.join().expect("no thread fails");
    }
    say!("pid {} free {}", std::process::id(), free());
}

/// Ends without a word to anyone.
fn killed() {
    let block = allocated(30 * MIB);
    unsafe { cudaFree(block) };
    let _held = allocated(6 * MIB);
    let _ = malloc(1 << 40);
    launch();
    let mut kill = std::process::Command::new("kill");
    let _ = kill.args(["-9", &std::process::id().to_string()]).status();
}

fn touch() {
    let block = allocated(MIB).cast::<u8>();
    say!("{}", unsafe { block.wrapping_add(16).read_volatile() });
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("memory") => memory(),
        Some("holds") => holds(),
        Some("properties") => properties(),
        Some("virtual") => virtual_memory(),
        Some("copies") => copies(),
        Some("offload") => offload(),
        Some("pools") => pools(),
        Some("graphs") => graphs(),
        Some("entry points") => entry_points(),
        Some("devices") => devices(),
        Some("threads") => threads(),
        Some("forks") => forks(),
        Some("killed") => killed(),
        Some("touch") => touch(),
        _ => exit(9),
    }
}
