//! The JSON of the contract (`docs/explain.schema.json`), for programs.
//!
//! Bytes are integers. What is not known is absent: never 0, never a guess.

use super::timeline::json::Watched;
use super::view::{Quantity, Range, Tool, keyed, texts};
use super::{Diagnosis, Explanation, InputSummary, surroundings};
use crate::account::proof::{Holds, Proof, ProofKind};
use crate::account::{self, Invariant, LoaderAccount, Part};
use crate::cause::conclusion::{Conclusion, Family};
use crate::cause::decide::Observation;
use crate::cause::nature::{Asker, JobKind};
use crate::cause::{CauseId, mechanism, nature};
use crate::dialect::{Event, Facts, Standing};
use crate::domain::program::Kind;
use crate::domain::{Fact, Number, Program, Resource, Sign, Target};
use crate::evidence::{self, Known, Span};
use crate::fix::{Certainty, Class, Fix, Frees, Numerics, Ranked};
use crate::incident::context::{self, Clue, Measure, Moment, StepUnit};
use crate::incident::{self, recording};
use crate::input::Repair;
use crate::snapshot::holders::{Category, Certainty as HolderCertainty};
use crate::snapshot::what_if::Change;
use crate::text::{Lang, Text};
use crate::units::Figure;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Readings of one series that are printed at most; longer ones are thinned evenly, first and last kept.
const READINGS: usize = 200;

/// Bytes are integers. A field that is not known is absent: never 0, never a guess. Fields may be added; none will be
/// renamed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "oomdoc explain --format json")]
pub struct Document<'a> {
    #[schemars(extend("const" = "oomdoc.explain/1"))]
    schema: &'static str,
    tool: Tool,
    /// The first input.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Input<'a>>,
    /// All inputs, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<Input<'a>>,
    /// In the order of the log.
    incidents: Vec<Incident<'a>>,
    /// Memory snapshots given with --snapshot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    snapshots: Vec<SnapshotInput<'a>>,
    /// What `oomdoc run` saw, where it ran the job or inputs are its records.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Watched<'a>>,
    /// Messages about memory that are no failure.
    harmless: Vec<Message<'a>>,
}

/// Where the text came from.
#[derive(Debug, Serialize, JsonSchema)]
struct Input<'a> {
    /// The path as given, or - for standard input.
    source: &'a str,
    bytes: u64,
    lines: u64,
    /// `snapshot` for a memory snapshot in the place of a log.
    encoding: &'a str,
    /// What was put right before reading.
    repairs: &'a [Repair],
}

/// A memory snapshot that was read beside the logs.
#[derive(Debug, Serialize, JsonSchema)]
struct SnapshotInput<'a> {
    source: &'a str,
    bytes: u64,
    /// Devices that it records.
    devices: &'a [u32],
    /// True when it recorded one of the failures.
    proves: bool,
}

/// One failure and its diagnosis.
#[derive(Debug, Serialize, JsonSchema)]
struct Incident<'a> {
    /// True for the failure that the job died of: one incident, or none where the program outlived all.
    primary: bool,
    /// True where the program outlived it: its work went on, or the run ended well. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    survived: bool,
    /// The line that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    survived_line: Option<u64>,
    /// Lower-case name of the program whose memory ran out.
    framework: Program,
    /// The application, trainer or engine around the framework.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<&'a str>,
    /// The kind of job.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<JobKind>,
    /// Who asked whom for memory: what the priors of the causes depend on.
    asker: Asker,
    /// Slug of the message's shape.
    #[schemars(length(min = 1))]
    dialect: &'a str,
    resource: Resource,
    /// The input it stands in, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    /// 1-based line of the input. Absent for a failure that only a memory snapshot tells of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    line: Option<u64>,
    /// Last line of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    last_line: Option<u64>,
    /// Rank, replica or node, where the log tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    /// The message as printed, on one line.
    message: &'a str,
    facts: Printed<'a>,
    /// What the message shows beyond figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    signs: Vec<Noted<Sign>>,
    /// Versions of the program that print this wording.
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<Versions>,
    derived: Derived<'a>,
    context: Context<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<Snapshot<'a>>,
    /// Ranks that died of the same failure, in the order in which they fell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranks: Vec<FallenRank<'a>>,
    /// Messages that only followed from it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    followers: Vec<Message<'a>>,
    /// All that was read to tell causes apart, whether or not it speaks for one.
    mechanisms: Vec<Mechanism>,
    #[serde(flatten)]
    judgement: Judgement<'a>,
}

/// What a failure comes of, what would decide it, and what would change it.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct Judgement<'a> {
    /// What the causes amount to.
    conclusion: Conclusion,
    /// The family of the first cause, or the one that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<Family>,
    /// Most likely first; confidence adds up to at most 1.
    causes: Vec<Cause<'a>>,
    /// Observations that would decide between the causes, the cheapest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decide: Vec<Decide<'a>>,
    /// Best first.
    fixes: Vec<Offer<'a>>,
    /// What people try and what would not help here.
    wont_help: Vec<Dismissed<'a>>,
    /// Considered and not offered: in force already, or unsupported here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    withheld: Vec<Dismissed<'a>>,
}

/// Something that was noticed, and where.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{W}Noted")]
struct Noted<W> {
    id: W,
    /// 1-based line of the input; 0 for what the user gave.
    line: u64,
}

/// A range of versions, such as 2.1; an open end is absent.
#[derive(Debug, Serialize, JsonSchema)]
struct Versions {
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

/// Printed figures only.
#[derive(Debug, Serialize, JsonSchema)]
struct Printed<'a> {
    #[serde(flatten)]
    sizes: ContractSizes<'a>,
    /// Index as the program sees it, after CUDA_VISIBLE_DEVICES.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_processes: Vec<OtherProcess>,
    /// The process that failed or was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cgroup: Option<&'a str>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    extra: Extra<'a>,
}

impl Printed<'_> {
    fn is_empty(&self) -> bool {
        let Printed { sizes, device, other_processes, pid, process_name, cgroup, extra } = self;
        sizes.0.keys().all(|fact| !in_contract(*fact))
            && device.is_none()
            && other_processes.is_empty()
            && pid.is_none()
            && process_name.is_none()
            && cgroup.is_none()
            && extra.is_empty()
    }
}

/// A process that holds memory of the device.
#[derive(Debug, Serialize, JsonSchema)]
struct OtherProcess {
    pid: u64,
    bytes: u64,
}

/// Facts whose keys the contract fixes; the others go under `extra`.
fn in_contract(fact: Fact) -> bool {
    matches!(
        fact,
        Fact::Requested
            | Fact::Capacity
            | Fact::Limit
            | Fact::Free
            | Fact::Allocated
            | Fact::Reserved
            | Fact::ReservedUnallocated
            | Fact::Process
            | Fact::FractionLimit
            | Fact::Peak
            | Fact::LargestFreeChunk
            | Fact::TotalVm
            | Fact::AnonRss
            | Fact::FileRss
            | Fact::ShmemRss
    )
}

fn is_contract_key(key: &str) -> bool {
    key.parse().is_ok_and(in_contract)
}

type Sizes = BTreeMap<Fact, crate::units::Figure>;

/// The printed sizes whose keys the contract fixes.
#[derive(Debug)]
struct ContractSizes<'a>(Cow<'a, Sizes>);

impl Serialize for ContractSizes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sizes = self.0.iter().filter(|(fact, _)| in_contract(**fact));
        serializer.collect_map(sizes.map(|(fact, figure)| (fact, figure.bytes)))
    }
}

impl JsonSchema for ContractSizes<'_> {
    fn schema_name() -> Cow<'static, str> {
        "ContractSizes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        keyed::<Fact>(generator, is_contract_key, |generator, _| generator.subschema_for::<u64>())
    }
}

/// The figures that have no key of their own in the contract.
#[derive(Debug)]
struct Extra<'a>(&'a Facts);

impl Extra<'_> {
    fn is_empty(&self) -> bool {
        let Facts { sizes, numbers, unreadable, .. } = self.0;
        sizes.keys().all(|fact| in_contract(*fact)) && numbers.is_empty() && unreadable.is_empty()
    }
}

impl Serialize for Extra<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let Facts { sizes, numbers, unreadable, .. } = self.0;
        let mut out = serializer.serialize_map(None)?;
        for (fact, figure) in sizes.iter().filter(|(fact, _)| !in_contract(**fact)) {
            out.serialize_entry(fact, &figure.bytes)?;
        }
        for (number, (value, _)) in numbers {
            out.serialize_entry(number, &Quantity(*value))?;
        }
        if !unreadable.is_empty() {
            out.serialize_entry("unreadable", &unreadable.keys().collect::<Vec<_>>())?;
        }
        out.end()
    }
}

impl JsonSchema for Extra<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Extra".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let sizes =
            keyed::<Fact>(generator, |key| !is_contract_key(key), |generator, _| generator.subschema_for::<u64>());
        let numbers = keyed::<Number>(
            generator,
            |_| true,
            |_, key| {
                let unit = key.parse().map_or("", |number: Number| number.unit().id());
                json_schema!({"type": "number", "unit": unit})
            },
        );
        let mut unreadable = generator.subschema_for::<Vec<Fact>>();
        unreadable.insert("description".into(), "Facts whose text was there but can be no size.".into());
        let mut properties = serde_json::Map::new();
        for part in [sizes, numbers] {
            properties.extend(part.get("properties").and_then(|part| part.as_object()).cloned().unwrap_or_default());
        }
        properties.insert("unreadable".into(), unreadable.into());
        json_schema!({
            "description": "Figures outside the fixed keys, each in its unit.",
            "type": "object",
            "properties": properties,
        })
    }
}

/// What follows by arithmetic, each amount with its rounding error.
#[derive(Debug, Serialize, JsonSchema)]
struct Derived<'a> {
    /// The device's memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested: Option<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free: Option<Range>,
    /// Allocated by the framework.
    #[serde(skip_serializing_if = "Option::is_none")]
    allocated: Option<Range>,
    /// Held by the framework's allocator, allocated or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reserved: Option<Range>,
    /// Reserved and not allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    cached: Option<Range>,
    /// Of this process, outside the framework's allocator.
    #[serde(skip_serializing_if = "Option::is_none")]
    non_framework: Option<Range>,
    /// In use outside the framework's allocator: context, libraries and other processes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    outside: Option<Range>,
    /// Other processes that the message names.
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<Range>,
    /// In use by nobody that the message names.
    #[serde(skip_serializing_if = "Option::is_none")]
    unexplained: Option<Range>,
    /// What the request lacks if only free memory may serve it; negative where it fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    short_of_free: Option<Range>,
    /// The same with the allocator's cache given back.
    #[serde(skip_serializing_if = "Option::is_none")]
    short_of_free_and_cached: Option<Range>,
    /// The most that the framework's allocator may hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    cap: Option<Range>,
    /// On the host: the limit that was hit or the machine's RAM, which the account's parts are held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<Range>,
    /// The pid under which the failing process itself is listed as another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_listed_as_pid: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loader: Option<Loader>,
    /// The parts of the capacity; they add up to it within their bounds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    account: Vec<Entry<'a>>,
    /// Figures of the message that contradict each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contradictions: Vec<Contradiction<'a>>,
    /// False where figures contradict each other and nothing tells which is right; what is in doubt is left out.
    consistent: bool,
    /// The parts of the message that are not relied upon.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    in_doubt: Vec<Part>,
    /// What follows by logic alone, at every end of the rounding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    proofs: Vec<Proved>,
}

/// A part of the capacity.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry<'a> {
    holder: account::Holder,
    /// Of another process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u64>,
    #[serde(flatten)]
    amount: Range,
    /// How it was arrived at.
    basis: &'a str,
}

/// Something in the message that contradicts itself or does not mean what it seems to.
#[derive(Debug, Serialize, JsonSchema)]
struct Contradiction<'a> {
    /// The rule of arithmetic that the message breaks.
    id: Invariant,
    text: &'a str,
    /// 1-based lines of the input.
    #[schemars(inner(range(min = 1)))]
    lines: &'a [u64],
    /// True where the text tells why, and the account allows for it.
    resolved: bool,
}

/// A statement that the figures decide.
#[derive(Debug, Serialize, JsonSchema)]
struct Proved {
    id: ProofKind,
    /// For `refuted`, the text tells the contrary.
    holds: Holds,
    /// What is held against the other amount: the request, or the memory that would have served.
    amount: Range,
    against: Range,
    text: String,
    /// 1-based lines of the input.
    #[schemars(inner(range(min = 1)))]
    lines: Vec<u64>,
}

/// What the data loaders take by their settings, and what would fit.
#[derive(Debug, Serialize, JsonSchema)]
struct Loader {
    processes: u64,
    /// Workers of each process.
    workers: u64,
    /// False where 1 stands for an unknown batch size, which makes the amounts lower bounds.
    batch_known: bool,
    limit: Range,
    without_caches: Range,
    after_one_epoch: Range,
    in_the_end: Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    workers_that_fit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_that_fits: Option<u64>,
    /// Bytes of a cache that each process keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_per_process_that_fits: Option<u64>,
    /// Bytes of one cache that all share.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_cache_that_fits: Option<u64>,
}

/// What the log or the user says about the run.
#[derive(Debug, Serialize, JsonSchema)]
struct Context<'a> {
    #[serde(flatten)]
    settings: surroundings::Settings,
    /// The traceback, outermost frame first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frames: Vec<Frame<'a>>,
    /// Rows of a table of GPUs: of nvidia-smi, gpustat, nvitop, rocm-smi, amd-smi, xpu-smi or npu-smi.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gpus: Vec<Gpu<'a>>,
    /// Parts of GPUs (MIG), as nvidia-smi lists them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partitions: Vec<Partition>,
    /// Tables of the machine's memory: free, meminfo, df, kubectl, docker stats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tables: Vec<SideTable<'a>>,
    /// Readings of memory over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    series: Vec<Series>,
    /// What the lines around the failure show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clues: Vec<Noted<Clue>>,
}

/// A frame of a traceback.
#[derive(Debug, Serialize, JsonSchema)]
struct Frame<'a> {
    file: &'a str,
    file_line: u64,
    function: &'a str,
    /// The line of source, where the traceback shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    /// 1-based line of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    line: Option<u64>,
}

/// A part of a GPU as nvidia-smi listed it in the log.
#[derive(Debug, Serialize, JsonSchema)]
struct Partition {
    gpu: u32,
    gpu_instance: u32,
    compute_instance: u32,
    mig_device: u32,
    used_bytes: u64,
    total_bytes: u64,
    /// When it was read, by its place in the log.
    moment: Moment,
    #[schemars(range(min = 1))]
    line: u64,
}

/// A row of a table of the machine's memory.
#[derive(Debug, Serialize, JsonSchema)]
struct SideTable<'a> {
    source: context::SideTable,
    /// The mount, pod, node, container or device.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    used_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    available_bytes: Option<u64>,
    /// When it was read, by its place in the log.
    moment: Moment,
    #[schemars(range(min = 1))]
    line: u64,
}

/// A GPU as a table in the log listed it.
#[derive(Debug, Serialize, JsonSchema)]
struct Gpu<'a> {
    index: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    used_bytes: u64,
    total_bytes: u64,
    /// When it was read, by its place in the log.
    moment: Moment,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 100))]
    utilization_percent: Option<u8>,
    /// 1-based line of the input.
    #[schemars(range(min = 1))]
    line: u64,
}

/// Readings of one quantity, in the order of the log.
#[derive(Debug, Serialize, JsonSchema)]
struct Series {
    measure: Measure,
    /// What the steps count.
    per: StepUnit,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    /// Readings in the log; at most 200 of them are listed, thinned evenly.
    count: usize,
    readings: Vec<Reading>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Reading {
    /// 1-based line of the input.
    #[schemars(range(min = 1))]
    line: u64,
    /// Step or epoch, where the log tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Quantity>,
    bytes: u64,
}

/// What a memory snapshot says about this failure, by replaying it through the simulated allocator.
#[derive(Debug, Serialize, JsonSchema)]
struct Snapshot<'a> {
    /// Path of the snapshot as given.
    source: &'a str,
    device: u32,
    /// same-failure: it recorded this very failure. no-failure: it recorded none, and its figures are of its peak.
    /// other: it is of another failure or device and proves nothing.
    r#match: &'a recording::Standing,
    /// The same in a sentence with the figures.
    about: String,
    /// Entries of the trace.
    events: usize,
    /// The failed request, rounded as the trace has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_free_bytes: Option<u64>,
    /// Blocks in use at that moment.
    active_bytes: u64,
    reserved_bytes: u64,
    /// Free inside of what is reserved.
    cached_bytes: u64,
    cached_in_private_pools_bytes: u64,
    /// Free pieces.
    pieces: u64,
    largest_piece_bytes: u64,
    /// What no allocator can do without at that moment: all that the program asked for, the failed request included.
    least_bytes: u64,
    /// What the allocator had before and could not get any more when it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_meanwhile_bytes: Option<u64>,
    /// Entry of the trace, counted from 0: the failed request, else the peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Budget>,
    /// Settings of the allocator.
    #[serde(skip_serializing_if = "Option::is_none")]
    conf: Option<&'a str>,
    /// True when the simulator fails on the same requests as the record; only then do the trials prove anything.
    faithful: bool,
    /// The recorded requests under other circumstances.
    trials: Vec<Trial<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    growth: Option<Growth<'a>>,
    /// Who held memory at that moment, the largest first.
    holders: Vec<SnapshotHolder<'a>>,
    /// What is missing of the record.
    notes: Vec<Cow<'a, str>>,
}

/// What the allocator could have of the device.
#[derive(Debug, Serialize, JsonSchema)]
struct Budget {
    low: u64,
    /// Absent where its limit was never reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<u64>,
}

/// The recorded requests under another circumstance.
#[derive(Debug, Serialize, JsonSchema)]
struct Trial<'a> {
    change: &'a Change,
    /// The change in words.
    name: &'a str,
    /// Settings of the allocator in force.
    conf: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_reserved_bytes: Option<u64>,
    /// True when every later request is served as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_the_end: Option<bool>,
    /// The request that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    fails_on_bytes: Option<u64>,
    /// Why PyTorch refuses the settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    outcome: TrialOutcome,
    /// Reserved memory less than the recorded settings would have needed; negative when more.
    #[serde(skip_serializing_if = "Option::is_none")]
    saves_bytes: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum TrialOutcome {
    /// The request that failed is served.
    Serves,
    /// A request fails, this one or an earlier one.
    Fails,
    /// The limit of the device is known too roughly, or the simulation was given up.
    Unclear,
    /// PyTorch refuses the settings.
    Refused,
}

/// Memory that grows over the recording.
#[derive(Debug, Serialize, JsonSchema)]
struct Growth<'a> {
    /// Steps of the optimizer, or equal stretches of the trace.
    by_steps: bool,
    /// Least in use in the first window.
    first_bytes: u64,
    /// Least in use in the last window.
    last_bytes: u64,
    /// Steps from the first to the last, or stretches.
    windows: usize,
    per_window_bytes: u64,
    places: Vec<Place<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Place<'a> {
    place: &'a str,
    bytes: u64,
}

/// A place in the program and what it held.
#[derive(Debug, Serialize, JsonSchema)]
struct SnapshotHolder<'a> {
    place: &'a str,
    /// True where a line of the program's own code is named.
    own_code: bool,
    bytes: u64,
    blocks: u64,
    category: Category,
    certainty: HolderCertainty,
}

/// A rank that died of the same failure.
#[derive(Debug, Serialize, JsonSchema)]
struct FallenRank<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<u32>,
    /// The log it stands in, where several were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    /// 1-based line of that input.
    #[schemars(range(min = 1))]
    line: u64,
}

/// A message other than the failure itself, in short.
#[derive(Debug, Serialize, JsonSchema)]
struct Message<'a> {
    /// 1-based line of the input.
    #[schemars(range(min = 1))]
    line: u64,
    framework: Program,
    #[schemars(length(min = 1))]
    dialect: &'a str,
    resource: Resource,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u32>,
    message: &'a str,
    /// True for a failure that the program outlived, to a good end. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    survived: bool,
    /// For a harmless message: why it is no failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    #[serde(skip_serializing_if = "Printed::is_empty")]
    facts: Printed<'a>,
}

/// A cause with its evidence.
#[derive(Debug, Serialize, JsonSchema)]
struct Cause<'a> {
    id: CauseId,
    title: String,
    /// Above 0.9 only where it is proved.
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: f64,
    /// True where arithmetic or a replay leaves no doubt.
    proved: bool,
    evidence: Vec<Evidence<'a>>,
    /// How to prove it wrong.
    refute: &'a str,
}

/// A reason for or against a cause.
#[derive(Debug, Serialize, JsonSchema)]
struct Evidence<'a> {
    /// The mechanism that was read, or prior.
    #[schemars(length(min = 1))]
    id: &'a str,
    #[schemars(length(min = 1))]
    text: &'a str,
    /// 1-based lines of the input; empty for what follows from the absence of something.
    #[schemars(inner(range(min = 1)))]
    lines: Vec<u64>,
    /// Natural-log odds; negative speaks against.
    log_odds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<TraceEntry<'a>>,
}

/// The entry of a memory snapshot that it rests on.
#[derive(Debug, Serialize, JsonSchema)]
struct TraceEntry<'a> {
    source: &'a str,
    /// Counted from 0; absent for the snapshot as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<u32>,
}

/// An observation that would decide, with what each outcome means.
#[derive(Debug, Serialize, JsonSchema)]
struct Decide<'a> {
    id: &'a str,
    /// A command, a setting for one run, or what to print.
    #[schemars(length(min = 1))]
    r#do: &'a str,
    /// Whose command it is.
    r#for: &'a str,
    r#if: Vec<Outcome<'a>>,
}

/// One outcome of an observation.
#[derive(Debug, Serialize, JsonSchema)]
struct Outcome<'a> {
    #[schemars(length(min = 1))]
    see: &'a str,
    /// The cause that it then is.
    then: CauseId,
}

/// What was read of one mechanism.
#[derive(Debug, Serialize, JsonSchema)]
struct Mechanism {
    id: &'static str,
    level: &'static str,
    #[schemars(length(min = 1))]
    text: String,
    /// 1-based lines of the input.
    #[schemars(inner(range(min = 1)))]
    lines: Vec<u64>,
}

/// A change worth trying.
#[derive(Debug, Serialize, JsonSchema)]
struct Offer<'a> {
    #[schemars(length(min = 1))]
    id: &'a str,
    title: String,
    class: Class,
    #[serde(skip_serializing_if = "Option::is_none")]
    frees_bytes: Option<Range>,
    /// The formula with this incident's figures in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    frees_formula: Option<&'a str>,
    /// Stands in place of frees_bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    frees_unknown_because: Option<&'a str>,
    throughput_cost: Cost,
    numerics: Numerics,
    certainty: Certainty,
    /// Probability that this change alone cures the incident.
    #[schemars(range(min = 0.0, max = 1.0))]
    cures: f64,
    /// What to change, for the incident's own program first.
    how: Vec<Knob<'a>>,
    why: &'a str,
}

/// Share of throughput lost; negative where it gets faster.
#[derive(Debug, Serialize, JsonSchema)]
struct Cost {
    low: f64,
    high: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Knob<'a> {
    /// Whose setting it is.
    r#for: Target,
    /// Ready to paste.
    r#do: &'a str,
}

/// A fix that is not offered.
#[derive(Debug, Serialize, JsonSchema)]
struct Dismissed<'a> {
    #[schemars(length(min = 1))]
    id: &'a str,
    title: String,
    why: &'a str,
}

/// The explanation as one JSON document, its prose in `lang`.
pub fn document(explanation: &Explanation, lang: Lang) -> Document<'_> {
    let several = explanation.inputs.len() > 1;
    let snapshots = explanation.snapshots.iter().map(|snapshot| SnapshotInput {
        source: &snapshot.source,
        bytes: snapshot.bytes,
        devices: &snapshot.devices,
        proves: snapshot.proves,
    });
    Document {
        schema: "oomdoc.explain/1",
        tool: Tool::this(),
        input: explanation.inputs.first().map(Input::of),
        inputs: if several { explanation.inputs.iter().map(Input::of).collect() } else { Vec::new() },
        incidents: explanation.diagnoses.iter().map(|diagnosis| incident(explanation, diagnosis, lang)).collect(),
        snapshots: snapshots.collect(),
        timeline: super::timeline::json::view(&explanation.watched),
        harmless: explanation.harmless.iter().map(|event| Message::of(event, lang)).collect(),
    }
}

impl Input<'_> {
    fn of(summary: &InputSummary) -> Input<'_> {
        Input {
            source: &summary.source,
            bytes: summary.bytes,
            lines: summary.lines,
            encoding: &summary.encoding,
            repairs: &summary.repairs,
        }
    }
}

/// The first line of a place in the input.
fn line_of(at: Span) -> Option<u64> {
    (!at.is_given()).then_some(at.first)
}

fn incident<'a>(explanation: &'a Explanation, diagnosis: &'a Diagnosis, lang: Lang) -> Incident<'a> {
    let found = &diagnosis.incident;
    let event = &found.event;
    // The input by its number, where there are several to tell apart.
    let source = |input: usize| {
        let summary = explanation.inputs.get(input).filter(|_| explanation.inputs.len() > 1);
        summary.map(|summary| summary.source.as_str())
    };
    let version = |(major, minor): (u16, u16)| format!("{major}.{minor}");
    let ranks = found.ranks.iter().map(|fall| FallenRank {
        rank: fall.rank,
        device: fall.device,
        source: source(fall.file),
        line: fall.line,
    });
    Incident {
        primary: found.primary,
        survived: found.survived.is_some(),
        survived_line: found.survived.map(incident::Survival::line),
        framework: event.program,
        program: nature::program(found),
        kind: nature::job_kind(found),
        asker: nature::asker(found),
        dialect: event.wording(),
        resource: event.resource,
        source: source(diagnosis.input),
        line: line_of(event.at),
        last_line: (!event.at.is_given()).then_some(event.at.last),
        rank: event.rank,
        message: &event.message,
        facts: Printed::around(found),
        signs: event.signs.iter().map(|(sign, at)| Noted { id: *sign, line: at.first }).collect(),
        versions: event
            .versions
            .map(|versions| Versions { from: versions.from.map(version), to: versions.to.map(version) }),
        derived: Derived::of(found, lang),
        context: Context::of(&found.context, event.at),
        snapshot: found.recording.as_ref().map(|recording| Snapshot::of(recording, lang)),
        ranks: ranks.collect(),
        followers: found.followers.iter().map(|event| Message::of(event, lang)).collect(),
        mechanisms: mechanism::readings(found).into_iter().map(|read| Mechanism::of(read, lang)).collect(),
        judgement: Judgement::of(diagnosis, lang),
    }
}

impl<'a> Judgement<'a> {
    pub(in crate::report) fn of(diagnosis: &'a Diagnosis, lang: Lang) -> Judgement<'a> {
        let causes = diagnosis.findings.iter().map(|finding| Cause {
            id: finding.cause.id,
            title: (finding.cause.title)().in_lang(lang).to_string(),
            // Cut, not rounded, so that the shares never add up to more than 1.
            confidence: (finding.confidence * 1e4).floor() / 1e4,
            proved: finding.proved,
            evidence: finding.evidence.iter().map(|evidence| Evidence::of(evidence, lang)).collect(),
            refute: finding.refute.in_lang(lang),
        });
        let family = diagnosis.findings.first().map(|first| match diagnosis.conclusion {
            Conclusion::Family(family) => family,
            _ => Family::of(first.cause.id),
        });
        Judgement {
            conclusion: diagnosis.conclusion,
            family,
            causes: causes.collect(),
            decide: diagnosis.decide.iter().map(|observation| Decide::of(observation, lang)).collect(),
            fixes: diagnosis.plan.offers.iter().map(|ranked| Offer::of(ranked, lang)).collect(),
            wont_help: dismissed(&diagnosis.plan.wont_help, lang),
            withheld: dismissed(&diagnosis.plan.withheld, lang),
        }
    }
}

impl Printed<'_> {
    fn of(facts: &Facts) -> Printed<'_> {
        let others = facts.other_processes.iter();
        Printed {
            sizes: ContractSizes(Cow::Borrowed(&facts.sizes)),
            device: facts.device.value(),
            other_processes: others.map(|other| OtherProcess { pid: other.pid, bytes: other.figure.bytes }).collect(),
            pid: facts.pid.value(),
            process_name: facts.process_name.get().map(String::as_str),
            cgroup: facts.cgroup.get().map(String::as_str),
            extra: Extra(facts),
        }
    }
}

impl<'a> Printed<'a> {
    /// The figures of an incident's message, and what the lines around it print of the memory that ran out: how much
    /// the machine or device has, and the limit that the job was given. Neither changes while a job runs.
    fn around(found: &'a incident::Incident) -> Printed<'a> {
        let (event, context) = (&found.event, &found.context);
        let mut printed = Printed::of(&event.facts);
        let unknown = |fact| event.facts.get(fact).is_none() && !event.facts.unreadable.contains_key(&fact);
        let seen = |told: &Known<Figure>| told.get().copied().filter(|figure| !figure.at.is_given());
        // Whoever reports a group's limit reads it with more care than a setting is read.
        let host = event.resource == Resource::Host;
        // A limit on a process's addresses is none of its group's.
        let of_addresses = context.address_limit.is_known() && context.address_limit == context.memory_limit;
        let cgroup = event.resource == Resource::Cgroup && event.program != Program::Kubernetes && !of_addresses;
        // Nor is the container's that of a heap within it, which has one of its own.
        let of_a_heap = event.has(Sign::RefusedByLimit) && event.program.own_limit().is_some();
        let named = |fact: Fact| {
            let amount = context.amounts.iter().find(|(of, _)| *of == fact).map(|(_, amount)| *amount);
            amount.filter(|_| event.resource.on_host())
        };
        // A tool's reading of the RAM, whose moment `context.side` tells.
        let of_the_machine = |column: fn(&context::SideReading) -> Option<Figure>| {
            context.read_of_the_machine().filter(|_| host).and_then(column)
        };
        let told = [
            (Fact::Capacity, (host && !context.host_total_is_computed).then(|| seen(&context.host_total)).flatten()),
            // Of a group whose report tells no limit, the one that a command or a unit's file had set.
            (Fact::Limit, (!of_a_heap && (host || cgroup)).then(|| seen(&context.memory_limit)).flatten()),
            (
                Fact::Capacity,
                context.listed_total(event.facts.device.value()).filter(|_| event.resource == Resource::Gpu),
            ),
            (Fact::Limit, event.resource.on_host().then(|| container_limit(found)).flatten()),
            (Fact::Limit, by_the_scheduler(found, Fact::Limit)),
            (Fact::Peak, by_the_scheduler(found, Fact::Peak)),
            (Fact::Peak, named(Fact::Peak)),
            (Fact::Capacity, context.shared_memory_total().filter(|_| event.resource == Resource::Shm)),
            (Fact::Capacity, context.device_total.value().filter(|_| event.resource.on_device())),
            // The share of the device that an engine was to take: a limit that its user or its default set.
            (
                Fact::FractionLimit,
                event.facts.get(Fact::Desired).or(context.device_share.value()).filter(|_| event.resource.on_device()),
            ),
            (Fact::Limit, named(Fact::Limit).filter(|_| host)),
            (Fact::Capacity, named(Fact::Capacity).filter(|_| host)),
            (Fact::Free, named(Fact::Free).filter(|_| host)),
            (Fact::Used, named(Fact::Used).filter(|_| host)),
            (Fact::Reserved, named(Fact::Reserved).filter(|_| host)),
            (Fact::Process, named(Fact::Process).filter(|_| host)),
            (Fact::Used, of_the_machine(|row| row.used)),
            (Fact::Free, of_the_machine(|row| row.free)),
            (Fact::Available, of_the_machine(|row| row.available)),
            (Fact::Process, found.listed_as_another()),
            // PyTorch up to 1.3 calls so what is reserved and not allocated.
            (Fact::ReservedUnallocated, event.facts.get(Fact::Cached).filter(|_| event.on_pytorch())),
            // What is counted of a job that was ended at its limit is what its processes held; what a runtime counts of
            // its own heap is what is allocated there.
            (Fact::Process, event.facts.get(Fact::Used).filter(|_| event.ended_at_its_limit())),
            (Fact::Allocated, event.facts.get(Fact::Used).filter(|_| event.counts_its_heap())),
        ];
        for (fact, figure) in told {
            if let Some(figure) = figure.filter(|_| unknown(fact)) {
                printed.sizes.0.to_mut().entry(fact).or_insert(figure);
            }
        }
        printed
    }
}

/// The limit that `docker stats` prints, where it lists one container only and the machine's memory is not that.
fn container_limit(found: &incident::Incident) -> Option<Figure> {
    let mut rows = found.context.side.iter().filter(|row| row.of == context::SideTable::DockerStats);
    let first = rows.next()?;
    let limit = first.total?;
    let of_machine = found.context.host_total.get().is_some_and(|all| all.bytes.abs_diff(limit.bytes) * 20 < all.bytes);
    (!of_machine && rows.all(|row| row.subject == first.subject)).then_some(limit)
}

/// What a scheduler's account of the same failure prints, `ReqMem` and `MaxRSS` of `sacct`, where the message that was
/// read first is a process's own.
fn by_the_scheduler(found: &incident::Incident, fact: Fact) -> Option<Figure> {
    let told =
        found.followers.iter().filter(|event| event.program.kind() == Kind::Scheduler && event.resource.on_host());
    let mut figures = told.filter_map(|event| event.facts.get(fact));
    let first = figures.next().filter(|_| found.event.resource.on_host())?;
    figures.all(|other| other.bytes == first.bytes).then_some(first)
}

impl Snapshot<'_> {
    fn of(recording: &incident::Recording, lang: Lang) -> Snapshot<'_> {
        let growth = recording.growth.as_ref().map(|rise| Growth {
            by_steps: rise.by_steps,
            first_bytes: rise.first,
            last_bytes: rise.last,
            windows: rise.windows,
            per_window_bytes: rise.per_window,
            places: rise
                .places
                .iter()
                .map(|(place, bytes)| Place { place: place.in_lang(lang), bytes: *bytes })
                .collect(),
        });
        let holders = recording.holders.iter().map(|held| SnapshotHolder {
            place: held.place.in_lang(lang),
            own_code: held.own_code,
            bytes: held.bytes,
            blocks: held.blocks,
            category: held.category,
            certainty: held.certainty,
        });
        Snapshot {
            source: &recording.source,
            device: recording.device,
            r#match: &recording.standing,
            about: recording.about().in_lang(lang).to_string(),
            events: recording.events,
            requested_bytes: recording.requested,
            device_free_bytes: recording.device_free,
            active_bytes: recording.active,
            reserved_bytes: recording.reserved,
            cached_bytes: recording.cached,
            cached_in_private_pools_bytes: recording.cached_in_private_pools,
            pieces: recording.pieces,
            largest_piece_bytes: recording.largest_piece,
            least_bytes: recording.least,
            taken_meanwhile_bytes: recording.taken_meanwhile(),
            event: recording.event,
            budget: recording.budget.map(|(low, high)| Budget { low, high }),
            conf: recording.conf.as_deref(),
            faithful: recording.faithful,
            trials: recording.trials.iter().map(|trial| Trial::of(trial, lang)).collect(),
            growth,
            holders: holders.collect(),
            notes: texts(&recording.notes, lang),
        }
    }
}

impl Trial<'_> {
    fn of(trial: &recording::Trial, lang: Lang) -> Trial<'_> {
        let mut out = Trial {
            change: &trial.change,
            name: trial.name.in_lang(lang),
            conf: &trial.conf,
            peak_reserved_bytes: None,
            to_the_end: None,
            fails_on_bytes: None,
            why: None,
            outcome: TrialOutcome::Unclear,
            saves_bytes: trial.saves.map(|bytes| bytes.clamp(i64::MIN.into(), i64::MAX.into()) as i64),
        };
        match &trial.verdict {
            recording::Verdict::Serves { peak_reserved, to_the_end } => {
                out.outcome = TrialOutcome::Serves;
                out.peak_reserved_bytes = Some(*peak_reserved);
                out.to_the_end = Some(*to_the_end);
            }
            recording::Verdict::Fails { bytes } => {
                out.outcome = TrialOutcome::Fails;
                out.fails_on_bytes = Some(*bytes);
            }
            recording::Verdict::Unclear => {}
            recording::Verdict::Refused(why) => {
                out.outcome = TrialOutcome::Refused;
                out.why = Some(why.in_lang(lang));
            }
        }
        out
    }
}

impl Decide<'_> {
    fn of(observation: &Observation, lang: Lang) -> Decide<'_> {
        let outcomes = observation.outcomes.iter();
        Decide {
            id: observation.id,
            r#do: observation.act.in_lang(lang),
            r#for: observation.target,
            r#if: outcomes.map(|outcome| Outcome { see: outcome.see.in_lang(lang), then: outcome.then }).collect(),
        }
    }
}

impl Mechanism {
    fn of((mechanism, reading): (&mechanism::Mechanism, mechanism::Reading), lang: Lang) -> Mechanism {
        let text = reading.text.in_lang(lang).to_string();
        Mechanism { id: mechanism.id, level: reading.level, text, lines: reading.lines }
    }
}

impl Evidence<'_> {
    fn of(evidence: &evidence::Evidence, lang: Lang) -> Evidence<'_> {
        Evidence {
            id: evidence.id,
            text: evidence.text.in_lang(lang),
            lines: evidence.lines.iter().copied().filter(|line| *line > 0).collect(),
            log_odds: round(evidence.weight, 3),
            snapshot: evidence.entry.as_ref().map(|entry| TraceEntry { source: &entry.source, event: entry.event }),
        }
    }
}

impl Message<'_> {
    fn of(event: &Event, lang: Lang) -> Message<'_> {
        Message {
            line: event.at.first,
            framework: event.program,
            dialect: event.wording(),
            resource: event.resource,
            rank: event.rank,
            message: &event.message,
            survived: event.standing == Standing::Harmless && event.has(Sign::CaughtAndContinued),
            why: event.harmless_because.as_ref().map(|why| why.in_lang(lang)),
            facts: Printed::of(&event.facts),
        }
    }
}

fn round(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale
}

impl Derived<'_> {
    fn of(incident: &incident::Incident, lang: Lang) -> Derived<'_> {
        let ledger = &incident.ledger;
        let decided = incident.proofs().into_iter().filter(|proof| proof.holds != Holds::Open);
        Derived {
            capacity: ledger.capacity.map(Range::from),
            requested: ledger.requested.map(Range::from),
            free: ledger.free.map(Range::from),
            allocated: ledger.allocated.map(Range::from),
            reserved: ledger.reserved.map(Range::from),
            cached: ledger.cached.map(Range::from),
            non_framework: ledger.non_framework.map(Range::from),
            outside: ledger.outside.map(Range::from),
            others: ledger.others.map(Range::from),
            unexplained: ledger.unexplained.map(Range::from),
            short_of_free: ledger.short_of_free.map(Range::from),
            short_of_free_and_cached: ledger.short_of_free_and_cached.map(Range::from),
            cap: ledger.cap.map(Range::from),
            bound: ledger.bound.map(Range::from),
            self_listed_as_pid: ledger.self_listed_as,
            loader: ledger.loader.as_ref().map(Loader::of),
            account: ledger.entries.iter().map(|entry| Entry::of(entry, lang)).collect(),
            contradictions: ledger
                .contradictions
                .iter()
                .map(|found| Contradiction {
                    id: found.id,
                    text: found.text.in_lang(lang),
                    lines: &found.lines,
                    resolved: found.resolved,
                })
                .collect(),
            consistent: ledger.consistent(),
            in_doubt: ledger.in_doubt(),
            proofs: decided.map(|proof| Proved::of(proof, lang)).collect(),
        }
    }
}

impl Proved {
    fn of(proof: Proof, lang: Lang) -> Proved {
        Proved {
            id: proof.kind,
            holds: proof.holds,
            amount: proof.amount.into(),
            against: proof.against.into(),
            text: proof.statement.in_lang(lang).to_string(),
            lines: proof.lines,
        }
    }
}

impl Loader {
    fn of(account: &LoaderAccount) -> Loader {
        let LoaderAccount { loader, need, .. } = account;
        Loader {
            processes: loader.processes,
            workers: loader.workers,
            batch_known: account.batch_known,
            limit: account.limit.into(),
            without_caches: need.without_caches().into(),
            after_one_epoch: need.after_one_epoch().into(),
            in_the_end: need.in_the_end().into(),
            workers_that_fit: account.workers_that_fit,
            batch_that_fits: account.batch_that_fits,
            cache_per_process_that_fits: account.cache_that_fits,
            shared_cache_that_fits: account.shared_cache_that_fits,
        }
    }
}

impl Entry<'_> {
    fn of(entry: &account::Entry, lang: Lang) -> Entry<'_> {
        let pid = match entry.holder {
            account::Holder::OtherProcess(pid) => Some(pid),
            _ => None,
        };
        Entry { holder: entry.holder, pid, amount: entry.amount.into(), basis: entry.basis.in_lang(lang) }
    }
}

impl Context<'_> {
    fn of(context: &context::Context, at: Span) -> Context<'_> {
        let frames = context.frames.iter().map(|frame| Frame {
            file: &frame.file,
            file_line: frame.line,
            function: &frame.function,
            code: frame.code.as_deref(),
            line: line_of(frame.at),
        });
        let gpus = context.gpus.iter().map(|gpu| Gpu {
            index: gpu.index,
            name: gpu.name.as_deref(),
            used_bytes: gpu.used.bytes,
            total_bytes: gpu.total.bytes,
            moment: Moment::of(gpu.used.at.first, at),
            utilization_percent: gpu.utilization,
            line: gpu.used.at.first,
        });
        let partitions = context.partitions.iter().map(|part| Partition {
            gpu: part.gpu,
            gpu_instance: part.ids.0,
            compute_instance: part.ids.1,
            mig_device: part.ids.2,
            used_bytes: part.used.bytes,
            total_bytes: part.total.bytes,
            moment: Moment::of(part.used.at.first, at),
            line: part.used.at.first,
        });
        let bytes = |figure: Option<Figure>| figure.map(|figure| figure.bytes);
        let tables = context.side.iter().map(|reading| SideTable {
            source: reading.of,
            subject: reading.subject.as_deref(),
            total_bytes: bytes(reading.total),
            used_bytes: bytes(reading.used),
            free_bytes: bytes(reading.free),
            available_bytes: bytes(reading.available),
            moment: Moment::of(reading.line, at),
            line: reading.line,
        });
        Context {
            settings: surroundings::Settings::of(context),
            frames: frames.collect(),
            gpus: gpus.collect(),
            partitions: partitions.collect(),
            tables: tables.collect(),
            series: context.series.iter().map(Series::of).collect(),
            clues: context.clues.iter().map(|(clue, at)| Noted { id: *clue, line: at.first }).collect(),
        }
    }
}

impl Series {
    fn of(series: &context::Series) -> Series {
        let count = series.readings.len();
        let picked = (0..count.min(READINGS)).filter_map(|i| {
            let position = if count <= READINGS { i } else { i * (count - 1) / (READINGS - 1) };
            series.readings.get(position)
        });
        let readings = picked.map(|reading| Reading {
            line: reading.line,
            step: reading.step.map(Quantity),
            bytes: reading.bytes,
        });
        Series { measure: series.measure, per: series.per, rank: series.rank, count, readings: readings.collect() }
    }
}

impl Offer<'_> {
    fn of(ranked: &Ranked, lang: Lang) -> Offer<'_> {
        let offer = &ranked.offer;
        let (frees_bytes, frees_formula, frees_unknown_because) = match &offer.frees {
            Frees::Bytes { range, formula, .. } => (Some((*range).into()), Some(formula.in_lang(lang)), None),
            Frees::Unknown(why) => (None, None, Some(why.in_lang(lang))),
        };
        let (low, high) = offer.costs.slows;
        Offer {
            id: ranked.fix.id,
            title: ranked.title().in_lang(lang).to_string(),
            class: ranked.fix.class,
            frees_bytes,
            frees_formula,
            frees_unknown_because,
            throughput_cost: Cost { low: round(low, 4), high: round(high, 4) },
            numerics: offer.costs.numerics,
            certainty: offer.certainty,
            cures: round(offer.cures, 4),
            how: offer.knobs.iter().map(|knob| Knob { r#for: knob.target, r#do: knob.line.in_lang(lang) }).collect(),
            why: offer.why.in_lang(lang),
        }
    }
}

fn dismissed<'a>(list: &'a [(&'static Fix, Text)], lang: Lang) -> Vec<Dismissed<'a>> {
    list.iter()
        .map(|(fix, why)| Dismissed {
            id: fix.id,
            title: (fix.title)().in_lang(lang).to_string(),
            why: why.in_lang(lang),
        })
        .collect()
}
