//! Errors of CUDA itself and of libraries on top of it that hide an out-of-memory: `CUDA error: out of memory`, cuBLAS,
//! cuDNN, NCCL, the driver, and internal assertions of the code that composes the out-of-memory text.
//!
//! None of them prints how much memory there was.

use super::{LONGEST_TEXT, wording};
use crate::dialect::joined::Joined;
use crate::dialect::mention::{is_code_or_advice, is_comparison};
use crate::dialect::{Event, Fact, Facts, Resource, Sign};
use crate::domain::Program;
use crate::evidence::Known;
use crate::evidence::Span;
use crate::input::Document;
use crate::text::Text;
use crate::units::Size;

/// Squeezed words, what they are, and what they show.
struct Shape {
    slug: &'static str,
    /// One of these stands in the squeezed text, starting on the line that was hit.
    words: &'static [&'static str],
    /// And this as well, if any, near by.
    and: &'static [&'static str],
    signs: &'static [Sign],
    /// PyTorch's own, or the CUDA error of whatever program.
    pytorch: bool,
}

/// In the order in which they are tried.
const SHAPES: [Shape; 19] = [
    // Torch 7's library for CUDA as it is loaded: it opens every device before anything is asked of one.
    Shape {
        slug: "cutorch-init",
        words: &["cudaruntimeerror(2):outofmemory"],
        and: &["cutorch/init.c"],
        signs: &[Sign::Disguised, Sign::ContextCreation],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-cuda-runtime-error",
        words: &["cudaruntimeerror(2):outofmemory"],
        and: &[],
        signs: &[],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-driver-error",
        words: &["CUDAdrivererror:outofmemory"],
        and: &[],
        signs: &[Sign::Disguised],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-nvml-assert",
        words: &["NVML_SUCCESS=="],
        and: &["CUDACachingAllocator.cpp"],
        signs: &[Sign::Disguised],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-nvml-missing",
        words: &["libnvidia-ml.so.1"],
        and: &["INTERNALASSERTFAILED", "driver_api.cpp"],
        signs: &[Sign::Disguised],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-expandable-assert",
        words: &["!block->expandable_segment_", "block->expandable_segment_INTERNALASSERTFAILED"],
        and: &["INTERNALASSERTFAILED"],
        signs: &[Sign::Disguised, Sign::ExpandableSegmentsOn],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-cublas",
        words: &["CUBLAS_STATUS_ALLOC_FAILED", "CUBLAS_STATUS_NOT_INITIALIZED"],
        and: &["cublasCreate"],
        signs: &[Sign::Disguised, Sign::ContextCreation, Sign::ForeignLibrary],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-cublas",
        words: &["CUBLAS_STATUS_ALLOC_FAILED"],
        and: &["CUDAerror"],
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-cudnn",
        words: &["CUDNN_STATUS_ALLOC_FAILED", "CUDNN_STATUS_NOT_INITIALIZED"],
        and: &["cuDNNerror"],
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-cudnn-algorithm",
        words: &["UnabletofindavalidcuDNNalgorithm"],
        and: &[],
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-nccl",
        words: &["Cudafailure2'outofmemory'", "Cudafailure'outofmemory'", "Cudafailure2\"outofmemory\""],
        and: &[],
        signs: &[Sign::Disguised, Sign::ForeignLibrary, Sign::Nccl],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-nccl",
        words: &["FailedtoCUDAcalloc"],
        and: &[],
        signs: &[Sign::Disguised, Sign::ForeignLibrary, Sign::Nccl],
        pytorch: true,
    },
    Shape {
        slug: "pytorch-cuda-error",
        words: &["CUDAerror:outofmemory", "HIPerror:outofmemory"],
        and: &[],
        signs: &[Sign::Disguised],
        pytorch: false,
    },
    Shape {
        slug: "pytorch-cuda-error",
        words: &["hipErrorOutOfMemory"],
        and: &[],
        signs: &[Sign::Disguised, Sign::Hip],
        pytorch: false,
    },
    Shape {
        slug: "cuda-library",
        words: &[
            "CUBLAS_STATUS_ALLOC_FAILED",
            "CUDNN_STATUS_ALLOC_FAILED",
            "CUSPARSE_STATUS_ALLOC_FAILED",
            "CUSOLVER_STATUS_ALLOC_FAILED",
        ],
        and: &[],
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
        pytorch: false,
    },
    Shape {
        slug: "cuda-driver",
        words: &["CUDA_ERROR_OUT_OF_MEMORY"],
        and: &["cuDevicePrimaryCtxRetain"],
        signs: &[Sign::Disguised, Sign::ContextCreation],
        pytorch: false,
    },
    Shape {
        slug: "cuda-driver",
        words: &["CUDA_ERROR_OUT_OF_MEMORY"],
        and: &["cuCtxCreate"],
        signs: &[Sign::Disguised, Sign::ContextCreation],
        pytorch: false,
    },
    Shape {
        slug: "cuda-driver",
        words: &["CUDA_ERROR_OUT_OF_MEMORY"],
        and: &[],
        signs: &[Sign::Disguised, Sign::ForeignLibrary],
        pytorch: false,
    },
    Shape {
        slug: "cuda-runtime",
        words: &["cudaErrorMemoryAllocation"],
        and: &[],
        signs: &[Sign::Disguised],
        pytorch: false,
    },
];

/// Reads such an error at a line. The framework is `pytorch` where it shows itself, `cuda` otherwise.
pub fn read(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    let hit = super::DIALECT.triggers.iter().filter_map(|trigger| line.text.find(trigger)).min()?;
    // The words begin on this line and end on the next at the latest: most lines are told from these two alone.
    let near = Joined::of(document.lines.get(position..)?.iter().take(2), hit.saturating_sub(super::CONTEXT));
    let limit = near.end_of_first_line();
    SHAPES.iter().find(|shape| shape.words.iter().any(|words| near.find_starting_before(words, limit).is_some()))?;
    let text = super::window(document, position, hit);
    let line_end = text.end_of_first_line();
    let (shape, core, words) = SHAPES.iter().find_map(|shape| {
        let starts_here = |words: &&'static str| text.find_starting_before(words, line_end).map(|at| (at, *words));
        let (core, words) = shape.words.iter().filter_map(starts_here).min()?;
        shape.and.iter().all(|and| text.contains(and)).then_some((shape, core, words))
    })?;
    if is_comparison(&line.text) || words.contains("outofmemory") && is_code_or_advice(&line.text, hit) {
        return None;
    }
    let before = text.squeezed.get(..core)?;
    let before =
        ["CUDAerror:", "cuDNNerror:", "HIPerror:"].iter().find_map(|p| before.strip_suffix(p)).unwrap_or(before);
    let (class, _) = wording::class(before);
    let (range, hints_end) = versions(shape, &text, core, class);
    let end = line_end.max(core + words.len()).max(hints_end);
    let torch = shape.pytorch || torch_nearby(document, position);
    let slug = match shape.slug {
        "pytorch-cuda-error" if !torch => "cuda-error",
        slug => slug,
    };
    let mut event =
        Event::new(slug, if torch { Program::Pytorch } else { Program::Cuda }, Resource::Gpu, text.span(0, end));
    event.message = text.readable(0, end, LONGEST_TEXT);
    event.versions = range.learned().filter(|_| torch);
    event.rank = line.rank;
    if shape.slug == "pytorch-nccl"
        && let Some(first) = nccl_start(document, position)
    {
        event.at.first = first;
    }
    let device = nccl_device(&line.text).filter(|_| shape.slug == "pytorch-nccl");
    for sign in shape.signs {
        event.sign(*sign);
    }
    if shape.slug == "pytorch-cuda-error" && starting_nearby(document, position) {
        event.sign(Sign::ContextCreation);
    }
    if text.contains("mightbeasynchronouslyreported") {
        event.sign(Sign::Asynchronous);
    }
    if words.starts_with("HIP") {
        event.sign(Sign::Hip);
    }
    if words.starts_with("CUBLAS") {
        event.sign(Sign::Cublas);
    }
    if words.starts_with("CUDNN") || words.contains("cuDNN") {
        event.sign(Sign::Cudnn);
    }
    event.facts = figures(&text, core);
    if let Some(device) = device {
        event.facts.device.note(device, Span::line(line.number));
    }
    if event.facts.sizes.is_empty() {
        event.sign(Sign::NoFigures);
    }
    if (words.starts_with("CUBLAS") || words.starts_with("CUDNN")) && assertion_nearby(document, position) {
        echoes_an_assertion(&mut event);
    }
    Some(event)
}

/// Marks an error as one that follows a failed assertion of the device.
pub(in crate::dialect) fn echoes_an_assertion(event: &mut Event) {
    event.sign(Sign::OtherCudaError);
    event.make_harmless(Text::new(
        "an assertion on the device failed before it (an index out of range); this error is only its echo",
        "此前已有 GPU 端断言失败（索引越界），该报错只是其后果",
    ));
}

/// What the wording of an error proves of the version, and the end of the hint lines below it (0 if it has none).
fn versions(shape: &Shape, text: &Joined, core: usize, class: Option<&str>) -> (wording::Range, usize) {
    let mut range = wording::Range::default();
    let mut end = 0;
    match shape.slug {
        "pytorch-cuda-error" => {
            end = runtime_hints(text, core, &mut range);
            match class {
                Some("torch.AcceleratorError:") => range.since((2, 8)),
                Some("RuntimeError:") => range.until((2, 7)),
                _ => {}
            }
        }
        // From 1.0 on the allocator, which these files called, raised a message of its own.
        "pytorch-cuda-runtime-error" if text.contains("THCStorage") || text.contains("THCCachingAllocator") => {
            // Its sources moved to `aten/src/THC` for 0.4.
            range.until(if text.contains("torch/lib/THC") { (0, 3) } else { (0, 4) });
        }
        "pytorch-nvml-assert" => range.between((2, 1), (2, 13)),
        "pytorch-nvml-missing" => range.between((2, 1), (2, 1)),
        "pytorch-expandable-assert" => range.between((2, 1), (2, 4)),
        _ => {}
    }
    (range, end)
}

/// The few figures that such errors have: what NCCL asked for, and the device whose context failed.
fn figures(text: &Joined, core: usize) -> Facts {
    let mut facts = Facts::default();
    let request = text.after("FailedtoCUDAcallocasync", core).or_else(|| text.after("FailedtoCUDAcalloc", core));
    if let Some(at) = request
        && let Some((bytes, end)) = text.count_at(at)
    {
        facts.note(Fact::Requested, Size { bytes, half_width: 0 }.at(text.span(at, end)));
    }
    if let Some(at) = text.after("deviceordinal", 0)
        && let Some((index, end)) = text.count_at(at)
        && let Ok(index) = u32::try_from(index)
    {
        facts.device = Known::Seen(index, text.span(at, end));
    }
    facts
}

/// The device of a line of NCCL's, `host:pid:thread [device] file:line NCCL WARN …` (src/debug.cc).
fn nccl_device(line: &str) -> Option<u32> {
    let (lead, _) = line.split_once("NCCL WARN")?;
    let (process, rest) = lead.split_once(" [")?;
    let (device, _) = rest.split_once("] ")?;
    (process.matches(':').count() == 2).then(|| device.parse().ok())?
}

/// The line on which PyTorch's NCCL error begins whose last line stands at `position`, if it does within six lines.
fn nccl_start(document: &Document, position: usize) -> Option<u64> {
    let lines = document.lines.get(position.saturating_sub(6)..position)?;
    lines.iter().rev().find(|line| line.text.contains("NCCL error in")).map(|line| line.number)
}

/// The end of the hint lines below `CUDA error: out of memory`, which also tell the version.
fn runtime_hints(text: &Joined, core: usize, range: &mut wording::Range) -> usize {
    let mut end = core;
    let mut reach = |words: &str| {
        let at = text.find(words, core)?;
        end = end.max(at + words.len());
        Some(at + words.len())
    };
    let search = reach("formoreinformation.").is_some() && text.contains("Searchfor`cudaErrorMemoryAllocation'");
    let log_file = reach("CUDA_LOG_FILE=stderr").is_some();
    let blocking = reach("CUDA_LAUNCH_BLOCKING=1");
    let dsa = reach("toenabledevice-sideassertions.").is_some();
    if search {
        range.since((2, 9));
        if blocking.is_some() {
            range.until((2, 12));
        }
    } else if let (Some(after), true) = (blocking, dsa) {
        let dot = text.squeezed.get(after..).is_some_and(|rest| rest.starts_with('.'));
        if dot { range.between((2, 0), (2, 3)) } else { range.between((2, 4), (2, 8)) }
    }
    if log_file {
        range.between((2, 13), (2, 13));
    }
    end
}

/// True when PyTorch shows itself within the forty lines before or the ten after.
fn torch_nearby(document: &Document, position: usize) -> bool {
    around(document, position, 40, 10)
        .any(|text| text.contains("torch") || text.contains("RuntimeError: CUDA error") || text.contains("PYTORCH_"))
}

/// True when a frame within the ten lines before starts CUDA up.
fn starting_nearby(document: &Document, position: usize) -> bool {
    around(document, position, 10, 0).any(|text| text.contains("_cuda_init()") || text.contains("in _lazy_init"))
}

/// True when a device-side assertion or an index out of range shows within a hundred lines.
pub(in crate::dialect) fn assertion_nearby(document: &Document, position: usize) -> bool {
    around(document, position, 100, 60).any(|text| {
        text.contains("device-side assert triggered")
            || text.contains("Assertion `")
            || text.contains("index out of range")
            || text.contains("index out of bounds")
    })
}

fn around(document: &Document, position: usize, before: usize, after: usize) -> impl Iterator<Item = &str> {
    let from = position.saturating_sub(before);
    let to = position.saturating_add(after + 1).min(document.lines.len());
    document.lines.get(from..to).unwrap_or_default().iter().map(|line| line.text.as_str())
}
