//! `oomdoc simulate`: a trace of requests through PyTorch's caching allocator.

use super::progress::Progress;
use super::replay;
use crate::allocator::caching::AllocError;
use crate::allocator::config::{Config, TorchPlatform};
use crate::allocator::device::{SimulatedDevice, Surroundings};
use crate::allocator::replay::{ReplayOutcome, Setup, Step, run as run_trace, run_silently};
use crate::allocator::trace::{Op, Trace};
use crate::cli::{SimulateFormat, SimulateOptions};
use crate::input::{self, TextKind};
use crate::report::simulation::{self, Refusal, Summary};
use crate::snapshot;
use anyhow::anyhow;

/// Error texts that the summary shows in full.
const SHOWN: usize = 3;
/// Lines are printed in pieces of about this many bytes.
const PIECE: usize = 64 << 10;

/// Runs the trace and prints what happened. The exit code: 0 done, 1 an out-of-memory error with `--fail-on oom`.
///
/// # Errors
/// When the trace cannot be read or is none, PyTorch would refuse the settings, or standard output cannot be written.
pub fn run(options: &SimulateOptions) -> anyhow::Result<u8> {
    let lang = options.output.style.lang;
    let (config, mut remarks) = Config::parse(&options.conf, options.torch, TorchPlatform::Linux)
        .map_err(|error| anyhow!("{} ({})", error.message, error.remark.text.in_lang(lang)))?;
    if options.fraction.is_some() {
        remarks.retain(|remark| remark.option != "garbage_collection_threshold");
    }
    let trace = if replay::is_pickle(&options.trace) { recorded(options)? } else { written(options)? };
    if options.format == SimulateFormat::Trace {
        super::print(&trace.to_string(), &options.output)?;
        return Ok(0);
    }
    let mut device = SimulatedDevice::new(options.capacity, options.context);
    device.others.clone_from(&options.others);
    device.hidden = options.hidden;
    let setup = Setup {
        device,
        surroundings: Surroundings { device: options.device, listing: options.listing, others: options.others.clone() },
        config,
        version: options.torch,
        fraction: options.fraction,
        no_caching: options.no_caching,
    };

    let mut out = String::new();
    let mut broken = None;
    let (mut refusals, mut refused, mut errors, mut first_error) = (Vec::new(), 0, 0, None);
    let snapshots = options.format == SimulateFormat::Jsonl;
    let outcome = run_trace(&trace, &setup, snapshots, |step: Step<'_>| {
        match step.outcome {
            Ok(_) => {}
            Err(AllocError::OutOfMemory(text)) => {
                refused += 1;
                if refusals.len() < SHOWN {
                    let bytes = if let Op::Allocate { bytes, .. } = step.op { *bytes } else { 0 };
                    refusals.push(Refusal { index: step.index, bytes, text: text.clone() });
                }
            }
            Err(AllocError::Error(text)) => {
                errors += 1;
                first_error.get_or_insert_with(|| text.clone());
            }
        }
        if options.format == SimulateFormat::Jsonl {
            simulation::line(&mut out, &trace, &step);
            if out.len() >= PIECE {
                broken = super::print(&out, &options.output).err();
                out.clear();
            }
        }
        broken.is_none() && !(options.stop_on_oom && refused > 0)
    })
    .map_err(|failure| match failure {
        AllocError::OutOfMemory(text) | AllocError::Error(text) => anyhow!(text),
    })?;
    if let Some(error) = broken {
        return Err(error);
    }
    match options.format {
        SimulateFormat::Jsonl => simulation::last_line(&mut out, &outcome),
        SimulateFormat::Trace => {}
        SimulateFormat::Summary => {
            let summary = Summary {
                expandable: in_expandable_segments(&trace, &setup, &outcome, refused),
                outcome: &outcome,
                refusals: &refusals,
                refused,
                errors,
                first_error: first_error.as_deref(),
                remarks: &remarks,
                capacity: options.capacity,
            };
            out = simulation::summary(&summary, options.output.style);
        }
    }
    super::print(&out, &options.output)?;
    Ok(u8::from(options.fail_on_oom && refused > 0))
}

/// The trace as somebody wrote it.
fn written(options: &SimulateOptions) -> anyhow::Result<Trace> {
    let lang = options.output.style.lang;
    let text = input::read_text(&options.trace, TextKind::Trace)?;
    Trace::parse(&text, options.streams).map_err(|error| {
        let place = crate::text!(en: "{} line {}", zh: "{} 第 {} 行", options.trace, error.line);
        anyhow!("{}: {}", place.in_lang(lang), error.text.in_lang(lang))
    })
}

/// The requests that a memory snapshot recorded on the device asked for.
fn recorded(options: &SimulateOptions) -> anyhow::Result<Trace> {
    let lang = options.output.style.lang;
    let source = &options.trace;
    let progress = Progress::new(std::slice::from_ref(source));
    let (snapshot, _) = replay::read(source, &progress).map_err(|error| error.context_of(source, lang))?;
    let index = u32::from(options.device);
    let Some(device) = snapshot.devices.iter().find(|device| device.ordinal == index) else {
        let text =
            crate::text!(en: "{source} holds no GPU {index} (--device)", zh: "{source} 中没有 GPU {index}（--device）");
        return Err(anyhow!("{}", text.in_lang(lang)));
    };
    snapshot::trace::of(&snapshot, device)
        .map_err(|refusal| anyhow!("{source}, GPU {index}: {}", refusal.in_lang(lang)))
}

/// What comes of it with expandable segments, where the run had none and reserved more than it needed or failed.
fn in_expandable_segments(
    trace: &Trace,
    setup: &Setup,
    outcome: &ReplayOutcome,
    refused: u64,
) -> Option<simulation::Expandable> {
    let peaks = &outcome.stats;
    let spare = peaks.reserved_bytes.all.peak > peaks.allocated_bytes.all.peak;
    if setup.config.expandable_segments || outcome.segments.is_none() || !spare && refused == 0 {
        return None;
    }
    let mut other = setup.clone();
    other.config.expandable_segments = true;
    let outcome = run_silently(trace, &other).ok()?;
    Some(simulation::Expandable {
        reserved: u64::try_from(outcome.stats.reserved_bytes.all.peak).ok()?,
        refused: outcome.stats.num_ooms,
    })
}
