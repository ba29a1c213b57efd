//! The JSON of `oomdoc rehearse` (`docs/rehearse.schema.json`), for programs; `oomdoc headroom` reads it too. Bytes are
//! integers; what is not known is absent.

use super::{View, wording};
use crate::domain::{Verdict, closed_set};
use crate::gpu::products::{self, PRODUCTS};
use crate::rehearse::launch::Addresses;
use crate::rehearse::outcome::{self, End};
use crate::rehearse::view::Level;
use crate::rehearse::view::changes::{Change, Changes};
use crate::rehearse::{gpus, process, remedy};
use crate::report::json as explain;
use crate::report::replay::json::Holder;
use crate::report::view::{Bounds, Tool};
use crate::text::{Lang, Text};
use crate::units::Interval;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Holders of the peak that are listed.
const HOLDERS: usize = 32;

/// Bytes are integers; a value that is not known is absent.
///
/// What is read is whatever a version of the program wrote: a field that is missing has its default.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(
    title = "oomdoc rehearse --format json",
    description = "Bytes are integers; a value that is not known is absent."
)]
#[serde(default)]
pub struct Document<'a> {
    #[schemars(extend("const" = "oomdoc.rehearse/1"))]
    pub schema: Cow<'a, str>,
    tool: Tool,
    /// Of a search: fits where any batch does. Of listed batches: that of the worst.
    verdict: Verdict,
    /// The verdict in words.
    message: Cow<'a, str>,
    /// The program and its arguments.
    command: Vec<Cow<'a, str>>,
    /// The model that was built from a description.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    model: Option<Model<'a>>,
    pub gpu: Gpu<'a>,
    /// GPUs that the program sees.
    gpus: u32,
    /// Processes of the job, where more than the program starts were to be played.
    #[serde(skip_serializing_if = "Option::is_none")]
    world_size: Option<u32>,
    /// What decides: the least that CUDA reports for such a GPU.
    pub capacity_bytes: u64,
    /// The capacity less the headroom asked for.
    usable_bytes: u64,
    /// Share of the capacity that is to stay free.
    #[schemars(range(min = 0.0, max = 1.0))]
    headroom_fraction: f64,
    /// Optimizer steps asked for, 0 for the whole program.
    steps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    searched: Option<Searched>,
    /// The largest batch that fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_batch: Option<u64>,
    /// The smallest batch above it that was seen not to fit with the headroom.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_batch_too_large: Option<u64>,
    /// Why the search ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_short: Option<Cow<'a, str>>,
    /// The batch that peak is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<Peak<'a>>,
    /// Capacity less the upper end of what is needed; may be negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    headroom_bytes: Option<i64>,
    /// One for each batch that was tried.
    pub runs: Vec<Run<'a>>,
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    oom: Option<Oom<'a>>,
    /// Why the figures are only a lower bound.
    because: Vec<Cow<'a, str>>,
    /// The last lines that a program which failed wrote to standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_words: Option<Vec<Cow<'a, str>>>,
    #[serde(skip_deserializing)]
    files: Files<'a>,
    /// What the program would have done to the user's files, the removed first.
    #[serde(skip_deserializing)]
    withheld: Vec<Withheld<'a>>,
    /// What was estimated or taken for granted.
    assumed: Vec<Cow<'a, str>>,
    /// All runs together.
    #[schemars(range(min = 0.0))]
    seconds: f64,
}

/// How the user's files were kept from the program, and how much it would have done to them.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Files<'a> {
    view: Option<Level>,
    /// The program had no network.
    offline: bool,
    /// Further changes, and those in folders for temporary files and caches.
    unlisted: u64,
    /// Variables of the environment that the program did not get.
    environment_kept_back: Vec<Cow<'a, str>>,
}

/// A file or folder that the program changed in its private view only.
#[derive(Debug, Serialize, JsonSchema)]
struct Withheld<'a> {
    path: Cow<'a, str>,
    what: Deed,
    /// It is the user's: of what was written, that it existed with other contents.
    existed: bool,
    folder: bool,
    /// Files in a folder.
    files: u64,
    bytes: u64,
}

closed_set! {
    /// What a program does to a file.
    pub enum Deed {
        Removed = "removed",
        Written = "written",
    }
}

impl<'a> Withheld<'a> {
    fn all(changes: &'a Changes) -> Vec<Withheld<'a>> {
        let lists = [
            (Deed::Removed, true, &changes.removed),
            (Deed::Written, true, &changes.replaced),
            (Deed::Written, false, &changes.created),
        ];
        let all = lists.into_iter().flat_map(|(what, existed, list)| list.iter().map(move |one| (what, existed, one)));
        all.map(|(what, existed, change)| Withheld::of(what, existed, change)).collect()
    }

    fn of(what: Deed, existed: bool, change: &'a Change) -> Withheld<'a> {
        Withheld {
            path: change.path.to_string_lossy(),
            what,
            existed,
            folder: change.folder,
            files: change.files,
            bytes: change.bytes,
        }
    }
}

/// A model that was built from its configuration.
#[derive(Debug, Serialize, JsonSchema)]
struct Model<'a> {
    /// As transformers calls it.
    class: &'a str,
    parameters: u64,
    /// Those that are trained, adapters among them.
    trainable_parameters: u64,
}

/// Batches between which the largest that fits was searched.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Searched {
    from: u64,
    to: u64,
}

/// The simulated GPU.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Gpu<'a> {
    pub name: Cow<'a, str>,
    /// As CUDA counts it; a range where drivers differ.
    total_bytes: Bounds,
    #[serde(skip_deserializing)]
    total_from: TotalFrom,
    compute_capability: Cow<'a, str>,
    multiprocessors: u32,
    /// Estimate of a CUDA context.
    context_bytes: Bounds,
    /// The memory is the machine's.
    unified_memory: bool,
}

/// Where the memory of a GPU is known from.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum TotalFrom {
    /// Printed by CUDA on such boards.
    Reported,
    /// What is sold less what boards of the same generation lose to the driver and to ECC.
    Derived,
    /// The user said it.
    #[default]
    Given,
}

/// The peak of the run that is shown: what it needs, when and where it was, who held it.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Peak<'a> {
    /// The figures are only a lower bound of what a real GPU needs.
    lower_bound: bool,
    /// In PyTorch's tensors at the peak; the larger of both orders of addresses.
    allocated_bytes: u64,
    /// Reserved by PyTorch's allocator, between both orders of addresses.
    reserved_bytes: Bounds,
    /// With context, libraries and communication.
    needed_bytes: Bounds,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_pytorch: Option<Outside>,
    /// Step of the optimizer, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    /// forward, backward, optimizer, setup or evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Cow<'a, str>>,
    /// Innermost frame first.
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<Vec<Cow<'a, str>>>,
    /// Version of PyTorch.
    #[serde(skip_serializing_if = "Option::is_none")]
    torch: Option<Cow<'a, str>>,
    /// Samples of the first batch that the program loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_batch_size: Option<u64>,
    /// Who held the memory at the peak, largest first.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    holders: Option<Vec<Holder<'a>>>,
}

/// Estimates of what is not simulated.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Outside {
    context_bytes: Bounds,
    /// Kernels of CUDA's libraries that are loaded at first use.
    libraries_bytes: Bounds,
    /// In a job of several processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    nccl_bytes: Option<Bounds>,
    /// Where a convolution ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    cudnn_workspace_bytes: Option<Bounds>,
}

impl Outside {
    /// All of them; `None` where nothing is outside.
    pub fn sum(&self) -> Option<Interval> {
        let parts = [Some(self.context_bytes), Some(self.libraries_bytes), self.nccl_bytes, self.cudnn_workspace_bytes];
        Some(parts.into_iter().flatten().map(Interval::from).sum()).filter(|sum: &Interval| sum.high > 0)
    }

    fn of(outside: &outcome::Outside) -> Outside {
        Outside {
            context_bytes: outside.context.into(),
            libraries_bytes: outside.libraries.into(),
            nccl_bytes: outside.nccl.map(Bounds::from),
            cudnn_workspace_bytes: outside.cudnn.map(Bounds::from),
        }
    }
}

/// The runs with one batch.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Run<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<u64>,
    pub verdict: Verdict,
    /// The figures are only a lower bound of what a real GPU needs.
    pub lower_bound: bool,
    /// In PyTorch's tensors at the peak; the larger of both orders of addresses.
    pub allocated_bytes: u64,
    /// Reserved by PyTorch's allocator, between both orders of addresses.
    pub reserved_bytes: Bounds,
    /// With context, libraries and communication.
    needed_bytes: Bounds,
    /// Whether the program ran with all estimates at their lower end, where it ran out of memory by less than what they
    /// may be wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    ran_with_kind_estimates: Option<bool>,
    /// Whether the program still ran on a device smaller by the headroom, where its cache filled the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    ran_without_headroom: Option<bool>,
    /// Of the verdict unknown: why the figures are only a lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<Vec<Cow<'a, str>>>,
    notes: Vec<Cow<'a, str>>,
    #[serde(skip_deserializing)]
    takes: Vec<Take<'a>>,
    #[schemars(range(min = 0.0))]
    seconds: f64,
}

/// One run of the program with one order of device addresses.
#[derive(Debug, Serialize, JsonSchema)]
struct Take<'a> {
    addresses: Addresses,
    ended: &'a End,
    /// Optimizer steps that were done.
    steps: u64,
    allocated_bytes: u64,
    reserved_bytes: u64,
    /// Times that the cache was given back because the device was full.
    retries: u64,
    /// Where the program read a value that nobody computed, or did what is not simulated.
    traps: Vec<Trap<'a>>,
    #[schemars(range(min = 0.0))]
    seconds: f64,
}

/// Something that a device without values cannot do as a real one does.
#[derive(Debug, Serialize, JsonSchema)]
struct Trap<'a> {
    kind: &'a str,
    /// file:line function.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#where: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    /// A real GPU may need more than was seen.
    lowers_memory: bool,
}

/// The first out-of-memory error.
#[derive(Debug, Serialize, JsonSchema)]
struct Oom<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_size: Option<u64>,
    /// As PyTorch printed it.
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a str>,
    /// Innermost frame first.
    stack: &'a [String],
    /// Fixes that were rehearsed, in the order in which they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tried: Vec<Tried<'a>>,
    /// As oomdoc explain prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "as_explain_prints_it")]
    explanation: Option<explain::Document<'a>>,
}

/// A fix that was rehearsed before it was said.
#[derive(Debug, Serialize, JsonSchema)]
struct Tried<'a> {
    /// Its id, as in the explanation.
    fix: &'a str,
    /// What was changed.
    change: String,
    verdict: Verdict,
    /// What it then needs; absent where it ran out of memory again.
    #[serde(skip_serializing_if = "Option::is_none")]
    needed_bytes: Option<Bounds>,
}

impl<'a> Tried<'a> {
    fn of(tried: &'a remedy::Tried, lang: Lang) -> Tried<'a> {
        Tried {
            fix: tried.fix,
            change: tried.remedy.text().in_lang(lang).to_owned(),
            verdict: tried.verdict,
            needed_bytes: tried.needed.map(Bounds::from),
        }
    }
}

fn as_explain_prints_it(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"$ref": "explain.schema.json"})
}

/// The table of `--like list`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "oomdoc rehearse --like list --format json")]
pub struct GpuList<'a> {
    #[schemars(extend("const" = "oomdoc.rehearse-gpus/1"))]
    schema: &'static str,
    gpus: Vec<Gpu<'a>>,
}

/// The answer as one JSON document, its prose in the language of the style.
pub fn document<'a>(view: &View<'a>) -> Document<'a> {
    let answer = view.answer;
    let lang = view.style.lang;
    let question = &answer.question;
    let shown = answer.shown();
    let left = shown.filter(|run| run.oom().is_none()).map(|run| i128::from(answer.capacity()) - run.needed().high);
    let failed = shown.and_then(|run| run.takes.iter().find(|take| !take.last_words.is_empty()));
    let deciding = shown.and_then(outcome::Run::deciding);
    Document {
        schema: "oomdoc.rehearse/1".into(),
        tool: Tool::this(),
        verdict: answer.verdict,
        message: said(&wording::headline(answer), lang),
        command: strings(&question.command),
        model: deciding.and_then(|take| take.model.as_ref()).map(|built| Model {
            class: &built.class,
            parameters: built.parameters,
            trainable_parameters: built.trainable_parameters,
        }),
        gpu: Gpu::of(&question.gpu),
        gpus: question.gpus,
        world_size: question.world,
        capacity_bytes: answer.capacity(),
        usable_bytes: answer.usable(),
        headroom_fraction: question.headroom,
        steps: question.steps.into(),
        searched: question.range.map(|(from, to)| Searched { from, to }),
        largest_batch: answer.largest,
        first_batch_too_large: answer.first_too_large,
        cut_short: answer.cut_short.as_ref().map(|why| why.in_lang(lang).into()),
        batch_size: shown.and_then(|run| run.batch),
        peak: shown.map(|run| Peak::of(run, view)),
        headroom_bytes: left.map(|left| left.clamp(i64::MIN.into(), i64::MAX.into()) as i64),
        runs: answer.runs.iter().map(|run| Run::of(run, lang)).collect(),
        oom: answer.first_oom().map(|(run, oom)| Oom {
            batch_size: run.batch,
            message: &oom.message,
            step: oom.step,
            phase: oom.phase.as_deref(),
            stack: &oom.stack,
            tried: answer.tried.iter().map(|tried| Tried::of(tried, lang)).collect(),
            explanation: view.explanation.map(|explanation| explain::document(explanation, lang)),
        }),
        because: shown.map(|run| all_said(&run.shortfalls(), lang)).unwrap_or_default(),
        last_words: failed.map(|take| strings(&take.last_words)),
        files: Files {
            view: Some(answer.view.level),
            offline: answer.view.offline,
            unlisted: deciding.map_or(0, |take| take.changes.unlisted),
            environment_kept_back: deciding.map(|take| strings(&take.kept_back)).unwrap_or_default(),
        },
        withheld: deciding.map(|take| Withheld::all(&take.changes)).unwrap_or_default(),
        assumed: all_said(&wording::assumptions(answer), lang),
        seconds: rounded(answer.seconds),
    }
}

/// The table of `--like list`, for programs.
pub fn gpus() -> GpuList<'static> {
    let gpus = PRODUCTS.iter().map(|product| gpus::Gpu::of(product, None));
    let owned = |gpu: gpus::Gpu| Gpu { name: gpu.name.clone().into(), ..Gpu::figures(&gpu) };
    GpuList { schema: "oomdoc.rehearse-gpus/1", gpus: gpus.map(owned).collect() }
}

fn said(text: &Text, lang: Lang) -> Cow<'static, str> {
    text.in_lang(lang).to_string().into()
}

fn all_said(list: &[Text], lang: Lang) -> Vec<Cow<'static, str>> {
    list.iter().map(|text| said(text, lang)).collect()
}

fn strings(list: &[String]) -> Vec<Cow<'_, str>> {
    list.iter().map(|text| text.as_str().into()).collect()
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

impl<'a> Gpu<'a> {
    fn of(gpu: &'a gpus::Gpu) -> Gpu<'a> {
        Gpu { name: gpu.name.as_str().into(), ..Gpu::figures(gpu) }
    }

    /// All but the name.
    fn figures(gpu: &gpus::Gpu) -> Gpu<'a> {
        Gpu {
            name: Cow::Borrowed(""),
            total_bytes: gpu.total.into(),
            total_from: match gpu.known {
                Some(products::Provenance::Reported) => TotalFrom::Reported,
                Some(products::Provenance::Derived) => TotalFrom::Derived,
                None => TotalFrom::Given,
            },
            compute_capability: format!("{}.{}", gpu.compute.0, gpu.compute.1).into(),
            multiprocessors: gpu.multiprocessors,
            context_bytes: gpu.context.into(),
            unified_memory: gpu.unified,
        }
    }
}

impl<'a> Peak<'a> {
    fn of(shown: &'a outcome::Run, view: &View<'a>) -> Peak<'a> {
        let take = shown.deciding();
        let place = take.and_then(|take| take.peak.as_ref());
        let recorded = view.peak.and_then(|analysis| {
            let device = analysis.devices.iter().max_by_key(|device| device.holding.bytes)?;
            Some(
                device.holding.holders.iter().take(HOLDERS).map(|holder| Holder::of(holder, &analysis.sites)).collect(),
            )
        });
        Peak {
            lower_bound: is_lower_bound(shown),
            allocated_bytes: shown.allocated(),
            reserved_bytes: shown.reserved().into(),
            needed_bytes: shown.needed().into(),
            outside_pytorch: take.map(|take| Outside::of(&take.outside)),
            step: place.and_then(|place| place.step),
            phase: place.and_then(|place| place.phase.as_deref()).map(Cow::Borrowed),
            stack: place.map(|place| strings(&place.stack)),
            torch: take.and_then(|take| take.torch.as_deref()).map(Cow::Borrowed),
            observed_batch_size: take.and_then(|take| take.batch),
            holders: recorded,
        }
    }
}

fn is_lower_bound(run: &outcome::Run) -> bool {
    !run.is_whole() || run.oom().is_some()
}

impl<'a> Run<'a> {
    fn of(run: &'a outcome::Run, lang: Lang) -> Run<'a> {
        let failed = run.oom().is_some();
        Run {
            batch_size: run.batch,
            verdict: run.verdict,
            lower_bound: is_lower_bound(run),
            allocated_bytes: run.allocated(),
            reserved_bytes: run.reserved().into(),
            needed_bytes: run.needed().into(),
            ran_with_kind_estimates: run.pressed.filter(|_| failed),
            ran_without_headroom: run.pressed.filter(|_| !failed),
            because: (run.verdict == Verdict::Unknown).then(|| all_said(&run.shortfalls(), lang)),
            notes: all_said(&run.notes(), lang),
            takes: run.takes.iter().map(Take::of).collect(),
            seconds: rounded(run.seconds),
        }
    }
}

impl Take<'_> {
    fn of(take: &outcome::Take) -> Take<'_> {
        Take {
            addresses: take.addresses,
            ended: &take.end,
            steps: take.steps,
            allocated_bytes: take.allocated,
            reserved_bytes: take.reserved,
            retries: take.retries,
            traps: take.traps.iter().map(Trap::of).collect(),
            seconds: rounded(take.seconds),
        }
    }
}

impl Trap<'_> {
    fn of(trap: &process::Trap) -> Trap<'_> {
        Trap {
            kind: &trap.kind,
            r#where: trap.place.as_deref(),
            count: trap.count,
            detail: trap.detail.as_deref(),
            lowers_memory: !trap.keeps_memory(),
        }
    }
}
