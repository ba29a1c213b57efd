//! Streams, events and graphs: everything is finished as soon as it is asked for.
//!
//! A stream or an event is a number. A capture is real in so far as a stream knows that it is being captured, with the
//! streams that wait for its events: the program's allocator puts what is allocated meanwhile into a private pool.

use crate::abi::{INVALID_VALUE, SUCCESS, Status, creators, give, new_handle};
use crate::memory;
use crate::settings::settings;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

creators! { cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority cuStreamCreate
cuStreamCreateWithPriority cudaEventCreate cudaEventCreateWithFlags cuEventCreate cudaGraphCreate
cudaGraphInstantiate cudaGraphInstantiateWithFlags cudaGraphInstantiateWithParams cudaGraphClone
cuGraphCreate cuGraphInstantiateWithFlags }

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> Status {
    // SAFETY: both are places for a number, or null.
    unsafe {
        give(least, 0);
        give(greatest, -5);
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetPriority(_stream: *mut c_void, out: *mut c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, 0) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetFlags(_stream: *mut c_void, out: *mut c_uint) -> Status {
    // SAFETY: as above.
    unsafe { give(out, 0) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetId(stream: *mut c_void, out: *mut c_ulonglong) -> Status {
    // SAFETY: as above.
    unsafe { give(out, stream as c_ulonglong) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetDevice(_stream: *mut c_void, out: *mut c_int) -> Status {
    // SAFETY: as above.
    unsafe { give(out, memory::current() as c_int) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaDeviceSynchronize() -> Status {
    memory::with(|memory| memory.synchronised(memory::current()));
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamSynchronize(_stream: *mut c_void) -> Status {
    cudaDeviceSynchronize()
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventSynchronize(_event: *mut c_void) -> Status {
    cudaDeviceSynchronize()
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaEventElapsedTime(out: *mut f32, _from: *mut c_void, _to: *mut c_void) -> Status {
    // SAFETY: a place for a number. Not zero: programs divide by it.
    unsafe { give(out, 0.001) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaEventElapsedTime_v2(out: *mut f32, from: *mut c_void, to: *mut c_void) -> Status {
    // SAFETY: as above.
    unsafe { cudaEventElapsedTime(out, from, to) }
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(out: *mut f32, from: *mut c_void, to: *mut c_void) -> Status {
    // SAFETY: as above.
    unsafe { cudaEventElapsedTime(out, from, to) }
}
/// The callback runs at once: everything before it is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamAddCallback(
    stream: *mut c_void,
    callback: Option<unsafe extern "C" fn(*mut c_void, Status, *mut c_void)>,
    argument: *mut c_void,
    _flags: c_uint,
) -> Status {
    if let Some(callback) = callback {
        // SAFETY: the caller's function with the caller's argument.
        unsafe { callback(stream, SUCCESS, argument) };
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchHostFunc(
    _stream: *mut c_void,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
) -> Status {
    if let Some(function) = function {
        // SAFETY: as above.
        unsafe { function(argument) };
    }
    SUCCESS
}

/// Captures under way.
#[derive(Default)]
struct Captures {
    /// The capture that a stream is in, with the graph that grows.
    streams: BTreeMap<usize, u64>,
    /// The capture that an event was recorded in.
    events: BTreeMap<usize, u64>,
}
static CAPTURES: Mutex<Option<Captures>> = Mutex::new(None);
/// Captures under way; while it is zero, nobody has to look.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static NEXT_CAPTURE: AtomicU64 = AtomicU64::new(1);

/// The lock, to be held while a thread forks.
pub fn held() -> Box<dyn std::any::Any> {
    Box::new(CAPTURES.lock().unwrap_or_else(PoisonError::into_inner))
}

fn captures<R>(action: impl FnOnce(&mut Captures) -> R) -> R {
    let mut guard = CAPTURES.lock().unwrap_or_else(PoisonError::into_inner);
    action(guard.get_or_insert_default())
}
fn capture_of(stream: *mut c_void) -> Option<u64> {
    if ACTIVE.load(Relaxed) == 0 {
        return None;
    }
    captures(|captures| captures.streams.get(&(stream as usize)).copied())
}

#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamBeginCapture(stream: *mut c_void, _mode: c_int) -> Status {
    let id = NEXT_CAPTURE.fetch_add(1, Relaxed);
    captures(|captures| captures.streams.insert(stream as usize, id));
    ACTIVE.fetch_add(1, Relaxed);
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamBeginCaptureToGraph(stream: *mut c_void) -> Status {
    cudaStreamBeginCapture(stream, 0)
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) -> Status {
    let Some(id) = capture_of(stream) else { return crate::runtime::failed(INVALID_VALUE) };
    captures(|captures| {
        captures.streams.retain(|_, of| *of != id);
        captures.events.retain(|_, of| *of != id);
    });
    ACTIVE.fetch_sub(1, Relaxed);
    // SAFETY: the second argument is where the graph goes.
    unsafe { give(graph, new_handle()) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamIsCapturing(stream: *mut c_void, status: *mut c_int) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(status, c_int::from(capture_of(stream).is_some())) };
    SUCCESS
}

/// What all versions answer first; `true` while the stream is captured.
unsafe fn capture_state(stream: *mut c_void, status: *mut c_int, id: *mut c_ulonglong) -> bool {
    let capture = capture_of(stream);
    // SAFETY: places for numbers, or null.
    unsafe {
        give(status, c_int::from(capture.is_some()));
        if let Some(capture) = capture {
            give(id, capture);
        }
    }
    capture.is_some()
}
unsafe fn capture_graph(graph: *mut *mut c_void, dependencies: *mut *mut c_void, count: *mut usize) {
    // SAFETY: places for what the caller wants, or null.
    unsafe {
        give(graph, 0x0c00_0000_0000usize as *mut c_void);
        give(dependencies, std::ptr::null_mut());
        give(count, 0);
    }
}
/// Up to CUDA 12 it takes three arguments, from 13 on the seven of `_v3`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetCaptureInfo(
    stream: *mut c_void,
    status: *mut c_int,
    id: *mut c_ulonglong,
    graph: *mut *mut c_void,
    dependencies: *mut *mut c_void,
    edges: *mut *mut c_void,
    count: *mut usize,
) -> Status {
    // SAFETY: the arguments beyond the third are looked at only where the caller's version has them.
    unsafe {
        if capture_state(stream, status, id) && settings().cuda >= 13_000 {
            capture_graph(graph, dependencies, count);
            give(edges, std::ptr::null_mut());
        }
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetCaptureInfo_v2(
    stream: *mut c_void,
    status: *mut c_int,
    id: *mut c_ulonglong,
    graph: *mut *mut c_void,
    dependencies: *mut *mut c_void,
    count: *mut usize,
) -> Status {
    // SAFETY: places for what the caller wants, or null.
    unsafe {
        if capture_state(stream, status, id) {
            capture_graph(graph, dependencies, count);
        }
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaStreamGetCaptureInfo_v3(
    stream: *mut c_void,
    status: *mut c_int,
    id: *mut c_ulonglong,
    graph: *mut *mut c_void,
    dependencies: *mut *mut c_void,
    edges: *mut *mut c_void,
    count: *mut usize,
) -> Status {
    // SAFETY: places for what the caller wants, or null.
    unsafe {
        if capture_state(stream, status, id) {
            capture_graph(graph, dependencies, count);
            give(edges, std::ptr::null_mut());
        }
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventRecord(event: *mut c_void, stream: *mut c_void) -> Status {
    if let Some(id) = capture_of(stream) {
        captures(|captures| captures.events.insert(event as usize, id));
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventRecordWithFlags(event: *mut c_void, stream: *mut c_void, _flags: c_uint) -> Status {
    cudaEventRecord(event, stream)
}
/// A stream that waits for an event of a capture joins it.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamWaitEvent(stream: *mut c_void, event: *mut c_void, _flags: c_uint) -> Status {
    if ACTIVE.load(Relaxed) > 0 {
        captures(|captures| {
            if let Some(id) = captures.events.get(&(event as usize)).copied() {
                captures.streams.entry(stream as usize).or_insert(id);
            }
        });
    }
    SUCCESS
}
/// One node, so that nobody warns of an empty graph.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphGetNodes(_graph: *mut c_void, nodes: *mut *mut c_void, count: *mut usize) -> Status {
    // SAFETY: `nodes` is null or has room for the number of nodes that was given before.
    unsafe {
        give(nodes, 0x0c00_0000_1000usize as *mut c_void);
        give(count, 1);
    }
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaGraphNodeGetType(_node: *mut c_void, out: *mut c_int) -> Status {
    // SAFETY: a place for a number; 5 is an empty node.
    unsafe { give(out, 5) };
    SUCCESS
}
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaDeviceGetGraphMemAttribute(_device: c_int, _which: c_int, out: *mut u64) -> Status {
    // SAFETY: a place for a number.
    unsafe { give(out, 0) };
    SUCCESS
}
