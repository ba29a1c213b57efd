//! Which memory ran out, and whose interface refused it.

use super::words::Spoken;
use super::{AROUND, clipped, words};
use crate::dialect::{Resource, field, syslog};
use crate::domain::Program;
use crate::domain::program::{Kind, PytorchAllocator};
use crate::input::Document;

/// The memory that a line names.
#[derive(Clone)]
struct Named(Option<Resource>);

/// What ran out: by the words themselves, else those of the line, of the lines around, of the program.
pub(super) fn resource(
    document: &Document,
    position: usize,
    lower: &str,
    spoken: Spoken,
    named: Option<Program>,
) -> Resource {
    // IPython's heading over a traceback: the class of this name is CuPy's and PyTorch's, Python's own is
    // `MemoryError`.
    if lower.starts_with("outofmemoryerror") && lower.ends_with("traceback (most recent call last)") {
        return Resource::Gpu;
    }
    let line = words::resource(syslog::body(lower), true);
    if let Some(resource @ (Resource::KvCache | Resource::Shm | Resource::Cgroup)) = line {
        return resource;
    }
    if let Some(resource) = spoken.resource.or(line) {
        return resource;
    }
    // `Malloc fails for dense[]`: C's own, whatever device the lines around speak of.
    let of_c = |at: usize| !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    // MKL's, and the text of Microsoft's library for C++'s own error.
    let of_host = lower.contains("mkl_malloc") || lower.trim_end() == "bad allocation";
    if of_host || lower.match_indices("malloc").any(|(at, _)| of_c(at)) {
        return Resource::Host;
    }
    let near = field::behind(document, position, 3)
        .chain(field::before(position, AROUND))
        .chain(field::behind(document, position, AROUND).skip(3));
    for at in near {
        let line = clipped(field::text(document, at));
        let named = || Named(words::resource(syslog::body(&line.to_lowercase()), false));
        match document.memo.of(line, named).0 {
            Some(Resource::Gpu) => return Resource::Gpu,
            Some(Resource::Host) => return Resource::Host,
            _ => {}
        }
    }
    match named.map(|program| (program, program.kind())) {
        // OpenVINO runs on the processor unless a device is named.
        Some((Program::Unlisted(_) | Program::OpenVino, _)) | None => Resource::Host,
        Some((_, Kind::HostProgram | Kind::Runtime | Kind::Scheduler | Kind::OomKiller | Kind::Unnamed)) => {
            Resource::Host
        }
        // A simulation keeps most in the machine's memory.
        Some((program, Kind::Application)) if program.pytorch_allocator() == PytorchAllocator::No => Resource::Host,
        Some(_) => Resource::Gpu,
    }
}

/// The interface whose error it is, where no program shows.
pub(super) fn interface(document: &Document, position: usize, lower: &str, resource: Resource) -> Program {
    let of = |lower: &str| {
        let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if any(&["cuda", "cudnn", "cublas", "nvidia"]) {
            Some(Program::Cuda)
        } else if any(&["hip", "rocm", "amdgpu"]) && any(&["hiperror", "hipmalloc", "rocm", "amdgpu"]) {
            Some(Program::Rocm)
        } else if any(&["opencl", "cl_mem_", "cl_out_", "clcreate", "clenqueue"]) {
            Some(Program::OpenCl)
        } else if any(&["vulkan", "vk_error", "vkallocate", "vk::", "outofdevicememory", "outofhostmemory"]) {
            Some(Program::Vulkan)
        } else if any(&["sycl", "ur_result", "ze_result", "pi_error", "level zero", "level-zero", "oneapi"]) {
            Some(Program::Sycl)
        } else if any(&["metal", "kiogpu", "mtlbuffer", "mtldevice"]) {
            Some(Program::Metal)
        } else {
            None
        }
    };
    if let Some(program) = of(lower) {
        return program;
    }
    let own_word = |at: usize| !lower[..at].ends_with(|c: char| c.is_alphanumeric());
    if lower.match_indices("memoryerror").any(|(at, _)| own_word(at)) {
        return Program::Python;
    }
    let near = field::before(position, AROUND).chain(field::behind(document, position, AROUND));
    let found = near.map(|at| clipped(field::text(document, at)).to_lowercase());
    let found: Vec<String> = found.collect();
    if resource.on_device()
        && let Some(program) = found.iter().find_map(|lower| of(lower))
    {
        return program;
    }
    if found.iter().any(|lower| lower.starts_with("traceback (most") || lower.trim_start().starts_with("file \"")) {
        return Program::Python;
    }
    Program::Generic
}
