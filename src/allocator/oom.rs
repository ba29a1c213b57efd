//! The texts of out-of-memory errors, byte for byte as each version prints them.

use super::device::{Listing, Surroundings};
use super::version::Version;
use std::fmt::Write;

/// What a request of 2^60 bytes or more gets.
pub const MORE_THAN_AN_EXABYTE: &str = "CUDA out of memory. Tried to allocate more than 1EB memory.";

/// A request that 2.12+ with `throw_on_cudamalloc_oom` refuses before asking the driver.
pub fn rejected(requested: u64) -> String {
    format!(
        "CUDA out of memory. Allocation was preemptively rejected because it would exceed per_process_memory_fraction \
         limit. Requested size: {}",
        Printed(requested)
    )
}

/// A size as `c10::CachingAllocator::format_size` prints it: plain bytes up to 1024, no unit above GiB.
struct Printed(u64);

impl std::fmt::Display for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = self.0;
        match n {
            0..=0x400 => write!(f, "{n} bytes"),
            0x401..=0x10_0000 => write!(f, "{:.2} KiB", n as f64 / 1024.0),
            0x10_0001..=0x4000_0000 => write!(f, "{:.2} MiB", n as f64 / 1_048_576.0),
            _ => write!(f, "{:.2} GiB", n as f64 / 1_073_741_824.0),
        }
    }
}

/// How the message ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// The version's hint at fragmentation.
    Usual,
    /// Expandable segments were asked.
    Expandable,
    /// Expandable segments were asked, and none can be as long as the request.
    ReserveTooSmall { reserve: u64 },
}

/// The amounts of the message, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// The segment that was asked for.
    pub requested: u64,
    pub total: u64,
    pub free: u64,
    /// This process on the device.
    pub own: u64,
    /// The limit set by a memory fraction.
    pub allowed: Option<u64>,
    pub allocated: u64,
    pub reserved: u64,
    /// Free memory of private pools.
    pub in_private_pools: u64,
}

/// The message of the native allocator.
pub fn text(figures: &Figures, surroundings: &Surroundings, tail: Tail, version: Version) -> String {
    let mut out = format!("CUDA out of memory. Tried to allocate {}", Printed(figures.requested));
    // Writing to a String cannot fail.
    let _ = if version.from(2, 1) {
        modern(&mut out, figures, surroundings, tail, version)
    } else {
        early(&mut out, figures, surroundings)
    };
    out
}

fn early(out: &mut String, figures: &Figures, surroundings: &Surroundings) -> std::fmt::Result {
    let Figures { total, allocated, free, reserved, .. } = *figures;
    write!(
        out,
        " (GPU {}; {} total capacity; {} already allocated; {} free; ",
        surroundings.device,
        Printed(total),
        Printed(allocated),
        Printed(free)
    )?;
    if let Some(allowed) = figures.allowed {
        write!(out, "{} allowed; ", Printed(allowed))?;
    }
    write!(
        out,
        "{} reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to \
         avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
        Printed(reserved)
    )
}

fn modern(
    out: &mut String,
    figures: &Figures,
    surroundings: &Surroundings,
    tail: Tail,
    version: Version,
) -> std::fmt::Result {
    out.push_str(". GPU ");
    device(out, surroundings.device, version.is(2, 3))?;
    let capacity = if version.is(2, 1) { "capacty" } else { "capacity" };
    write!(out, " has a total {capacity} of {} of which {} is free. ", Printed(figures.total), Printed(figures.free))?;
    let itself = match surroundings.listing {
        Listing::Itself => Some("Including non-PyTorch memory, this process".to_string()),
        Listing::As(pid) => Some(format!("Process {pid}")),
        Listing::Absent | Listing::NoLibrary => None,
    };
    if let Some(itself) = itself {
        write!(out, "{itself} has {} memory in use. ", Printed(figures.own))?;
    }
    let listed = surroundings.listing != Listing::NoLibrary;
    for other in surroundings.others.iter().filter(|_| listed) {
        write!(out, "Process {} has {} memory in use. ", other.pid, Printed(other.bytes))?;
    }
    if let Some(allowed) = figures.allowed.filter(|_| version.from(2, 5)) {
        write!(out, "{} allowed; ", Printed(allowed))?;
    }
    let private = if version.from(2, 4) { figures.in_private_pools } else { 0 };
    let allocated = figures.allocated.wrapping_add(private);
    write!(out, "Of the allocated memory {} is allocated by PyTorch, ", Printed(allocated))?;
    if private > 0 {
        write!(out, "with {} allocated in private pools (e.g., CUDA Graphs), ", Printed(private))?;
    }
    let unallocated = figures.reserved.wrapping_sub(allocated);
    write!(out, "and {} is reserved by PyTorch but unallocated.", Printed(unallocated))?;
    ending(out, figures, tail, version)
}

/// The index of the device. Versions 2.3 (native) and 2.3 to 2.9 (cudaMallocAsync) print it as a raw byte.
fn device(out: &mut String, index: u8, raw: bool) -> std::fmt::Result {
    if raw {
        out.push(index as char);
        return Ok(());
    }
    write!(out, "{index}")
}

fn ending(out: &mut String, figures: &Figures, tail: Tail, version: Version) -> std::fmt::Result {
    match tail {
        Tail::Expandable | Tail::ReserveTooSmall { .. } if version.is(2, 14) => return Ok(()),
        Tail::Expandable if version.from(2, 15) => {
            out.push_str(
                " expandable_segments is enabled. If instead the process is running out of virtual address space \
                 (VSZ), expandable segments may be over-reserving VA (each segment reserves ~9/8 of device memory, \
                 times the number of streams); reduce it via PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve / \
                 expandable_segments_reserve_by_class.",
            );
            return Ok(());
        }
        Tail::ReserveTooSmall { reserve } if version.from(2, 15) => {
            return write!(
                out,
                " This allocation exceeds the expandable-segment reserve of {} for this stream, and a single \
                 allocation cannot span expandable segments. Raise PYTORCH_CUDA_ALLOC_CONF \
                 expandable_segments_reserve or expandable_segments_reserve_by_class (or unset it) so that a segment \
                 is at least {}.",
                Printed(reserve),
                Printed(figures.requested)
            );
        }
        _ => {}
    }
    out.push_str(" If reserved but unallocated memory is large try setting ");
    out.push_str(if !version.from(2, 2) {
        "max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF"
    } else if !version.from(2, 10) {
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory \
         Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
    } else if !version.from(2, 11) {
        "PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  \
         (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
    } else {
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory \
         Management  \
         (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
    });
    Ok(())
}

/// The message of the backend `cudaMallocAsync`. Without a fraction its limit is 2^64 - 1 bytes.
pub fn malloc_async(figures: &Figures, surroundings: &Surroundings, version: Version) -> String {
    let mut out = String::from("Allocation on device ");
    // Writing to a String cannot fail.
    let _ = device(&mut out, surroundings.device, version.from(2, 3) && !version.from(2, 10));
    let _ = write!(
        out,
        " would exceed allowed memory. (out of memory)\n\
         Currently allocated     : {}\n\
         Requested               : {}\n\
         Device limit            : {}\n\
         Free (according to CUDA): {}\n\
         PyTorch limit (set by user-supplied memory fraction)\n                        : {}",
        Printed(figures.allocated),
        Printed(figures.requested),
        Printed(figures.total),
        Printed(figures.free),
        Printed(figures.allowed.unwrap_or(u64::MAX))
    );
    out
}

/// What the driver found wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    OutOfMemory,
    InvalidArgument,
}

/// An error of the driver that is not wrapped into the allocator's message.
pub fn driver_error(cause: Cause, version: Version) -> String {
    let (words, name) = match cause {
        Cause::OutOfMemory => ("out of memory", "cudaErrorMemoryAllocation"),
        Cause::InvalidArgument => ("invalid argument", "cudaErrorInvalidValue"),
    };
    let mut out = format!("CUDA error: {words}\n");
    if version.from(2, 9) {
        out.push_str(&format!(
            "Search for `{name}' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more \
             information.\n"
        ));
    }
    if version.is(2, 13) {
        out.push_str("For more detailed error information, run with CUDA_LOG_FILE=stderr\n");
    }
    if !version.from(2, 13) {
        let dot = if version.from(2, 4) { "" } else { "." };
        out.push_str(
            "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might \
             be incorrect.\n",
        );
        out.push_str(&format!("For debugging consider passing CUDA_LAUNCH_BLOCKING=1{dot}\n"));
        out.push_str("Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n");
    }
    out
}

/// What 2.1 raises in place of the message where NVML's library is missing.
pub const NO_NVML: &str = "handle_1 INTERNAL ASSERT FAILED at \"../c10/cuda/driver_api.cpp\":15, please report a bug \
    to PyTorch. Can't open \"libnvidia-ml.so.1\": libnvidia-ml.so.1: cannot open shared object file: No such file or \
                          directory";
