//! oomdoc, a doctor for out-of-memory failures of machine-learning jobs.
//!
//! Data flows one way:
//!
//! ```text
//! log, pipe ─ input ─ dialect ─ incident ─┐
//! snapshot ─ allocator replay ────────────┼─ account ─ cause ─ fix ─ report
//! NVML, CUDA probe, /proc, cgroups ───────┘
//! rehearsed program, measured peaks, description ─ estimate ─ headroom ─ report
//! ```
//!
//! * [`domain`] holds the closed words that all rooms share: programs, accelerators, what ran out, whose knob it is,
//!   sizes, numbers and signs, each with its id.
//! * [`input`] turns bytes into lines, [`dialect`] turns lines into events with printed figures, [`incident`] groups
//!   events into failures and reads their context.
//! * [`account`] accounts for every byte of the device, [`cause`] weighs what the account and the context say, [`fix`]
//!   computes what could be changed.
//! * [`snapshot`] reads memory snapshots, [`allocator`] is PyTorch's caching allocator call by call: together they
//!   replay what was recorded, under other settings too, and prove or refute a diagnosis.
//! * [`rehearse`] runs a program on a simulated GPU, [`estimate`] is how memory depends on batch, sequence, precision,
//!   optimizer and sharding, [`headroom`] holds a peak, however it is known, against a GPU or a machine.
//! * [`gpu`] and [`host`] read the running machine for `oomdoc probe`; what could not be read is a [`reading`] with its
//!   reason.
//! * `run` (Linux only) is `oomdoc run`: it stays beside a job, copies its output and is there when its memory ends.
//! * [`system`] is what differs between operating systems.
//! * [`report`] lays it out, one file per format; [`command`] wires it together, one file per command.
//! * [`privacy`] hides what of a report must not leave: secrets always, users, machines and folders on request.
//!
//! Dialects never judge, causes and fixes never read text or devices, reports never compute.

pub mod account;
pub mod allocator;
pub mod cause;
pub mod cli;
pub mod command;
pub mod dialect;
pub mod domain;
pub mod estimate;
pub mod evidence;
pub mod fix;
pub mod gpu;
pub mod headroom;
pub mod host;
pub mod incident;
pub mod input;
mod order;
mod packed;
pub mod privacy;
pub mod reading;
pub mod rehearse;
pub mod report;
#[cfg(target_os = "linux")]
pub mod run;
pub mod snapshot;
pub mod system;
pub mod text;
mod thin;
pub mod units;
