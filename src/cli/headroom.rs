//! The command line of `oomdoc headroom`.

use super::mistakes::InChinese;
use super::{Output, OutputArgs, Refused, bytes, complete, count, duration, parameters, share, size};
use crate::domain::Headroom;
use crate::estimate::fit::Counted;
use crate::estimate::loader::{Cache, DEFAULT_PREFETCH};
use crate::estimate::setup::{Attention, Lora, Precision, Quantised};
use crate::estimate::states::Optimizer;
use crate::text;
use crate::text::Text;
use clap::builder::FalseyValueParser;
use clap::{Args, Parser, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `oomdoc headroom`.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadroomOptions {
    pub batch: Option<u64>,
    pub device: DeviceOptions,
    /// `None`: 5 %.
    pub headroom: Option<Headroom>,
    pub evidence: EvidenceOptions,
    pub training: TrainingOptions,
    pub serving: Option<ServingOptions>,
    /// How a description is rehearsed; `None`: by formulas alone.
    pub rehearsal: Option<DescribedRehearsal>,
    /// Of a model that sees or hears too, the language model alone.
    pub text_only: bool,
    pub host: Option<HostOptions>,
    pub budget: BudgetOptions,
    /// Print the formulas with the figures.
    pub explain: bool,
    pub format: HeadroomFormat,
    pub output: Output,
}

/// The device as it was given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeviceOptions {
    /// As people call it.
    pub gpu: Option<String>,
    pub memory: Option<u64>,
    pub context: Option<u64>,
    pub others: u64,
}

/// What the answer is to rest on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvidenceOptions {
    /// JSON that `oomdoc rehearse` wrote.
    pub rehearsals: Vec<PathBuf>,
    /// Batch and file.
    pub snapshots: Vec<(u64, PathBuf)>,
    /// A log with an out-of-memory error.
    pub log: Option<PathBuf>,
    /// `8=7.2GiB`, still as text: errors are told in the user's language.
    pub measured: Vec<String>,
    pub measurement_files: Vec<PathBuf>,
    /// What the figures of both count.
    pub counted: Option<Counted>,
    pub model: Option<PathBuf>,
    pub parameters: Option<f64>,
}

impl EvidenceOptions {
    /// True where nothing was given to go by.
    pub fn is_empty(&self) -> bool {
        self == &EvidenceOptions { counted: self.counted, ..EvidenceOptions::default() }
    }

    /// Paths as seen from a folder.
    pub fn below(mut self, folder: &Path) -> EvidenceOptions {
        let files = self.rehearsals.iter_mut().chain(&mut self.measurement_files).chain(self.log.as_mut());
        for path in files.chain(self.model.as_mut()).chain(self.snapshots.iter_mut().map(|(_, path)| path)) {
            if path.as_os_str() != "-" {
                *path = folder.join(&*path);
            }
        }
        self
    }
}

/// How a described model is rehearsed.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedRehearsal {
    /// The Python that has PyTorch and transformers; the first on the path that has, otherwise.
    pub python: Option<PathBuf>,
    /// For each run, and for the search of batches.
    pub limit: Duration,
}

/// What an inference engine serves.
#[derive(Debug, Clone, PartialEq)]
pub struct ServingOptions {
    /// Tokens of a request, prompt and answer.
    pub context: Option<u64>,
    /// Bytes of an element of the cache.
    pub cache_width: f64,
    /// Share of the device that the engine may take.
    pub share: Option<f64>,
    /// Bits of a weight where they are quantised.
    pub bits: Option<f64>,
}

/// What the data loaders of one machine do.
#[derive(Debug, Clone, PartialEq)]
pub struct HostOptions {
    pub processes: u64,
    pub workers: u64,
    pub prefetch: u64,
    pub sample: u64,
    pub samples: Option<u64>,
    pub pinned: bool,
    pub spawned: bool,
    pub cache: Cache,
    /// Bytes of the machine or of the container; `None`: this one's.
    pub limit: Option<u64>,
}

/// The limits that a repository keeps.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BudgetOptions {
    pub check: bool,
    pub update: bool,
    pub file: PathBuf,
    /// Only this one of them.
    pub name: Option<String>,
}

/// How the model is trained, as far as the user said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrainingOptions {
    pub precision: Option<Precision>,
    pub optimizer: Option<Optimizer>,
    pub fused: bool,
    pub lora: Option<Lora>,
    pub checkpointing: bool,
    pub attention: Option<Attention>,
    /// Whether `prepare_model_for_kbit_training` was called.
    pub prepared: Option<bool>,
    pub sequence: Option<u64>,
    pub target_sequence: Option<u64>,
    pub image: Option<u64>,
    pub stage: u8,
    pub ranks: Option<u64>,
    /// Batches whose gradients are accumulated.
    pub accumulation: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HeadroomFormat {
    /// For people
    Terminal,
    /// For programs: docs/headroom.schema.json
    Json,
    /// For the comment on a pull request
    Markdown,
    /// JUnit XML
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations and step summary of GitHub Actions
    Github,
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc headroom --measure 8=7.2GiB --measure 16=12.8GiB --batch 24 --gpu-memory 24GiB
  oomdoc headroom --measurements peaks.csv --gpu \"RTX 3090\"
  oomdoc headroom --rehearsal rehearsal.json --gpu T4
  oomdoc headroom --snapshot 8=a.pickle --snapshot 16=b.pickle --batch 32 --gpu \"A100 80GB\"
  oomdoc headroom --model config.json --precision mixed --seq 1024 --batch 8 --gpu-memory 80GiB --explain
  oomdoc headroom --model config.json --inference --context-length 8192 --gpu L4
  oomdoc headroom --processes 3 --workers 36 --sample-bytes 133.59MB --samples 50000 --cache --host-memory 256GiB
  oomdoc headroom --check                          the budgets in oomdoc.toml, as in continuous integration
  oomdoc headroom --update                         their present peaks become the baseline

Exit codes: 0 fits with the headroom asked for, 1 does not, 2 bad usage or unreadable input, 3 cannot tell.")]
pub(super) struct HeadroomArgs {
    /// Samples per step and process; without it the largest batch is sought
    #[arg(short, long, value_name = "N", value_parser = count)]
    batch: Option<u64>,
    /// What to print
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "terminal", hide_possible_values = true)]
    #[arg(help = "What to print: terminal, json, markdown, junit, sarif or github")]
    format: HeadroomFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Every formula with the figures put in
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    evidence: EvidenceArgs,
    #[command(flatten)]
    training: TrainingArgs,
    /// Processes that train together
    #[arg(long, value_name = "N", value_parser = count, help_heading = "How the model is trained")]
    world_size: Option<u64>,
    #[command(flatten)]
    serving: ServingArgs,
    #[command(flatten)]
    host: HostArgs,
    #[command(flatten)]
    budget: BudgetArgs,
}

#[derive(Args)]
#[command(next_help_heading = "The budgets of a repository (oomdoc.toml)")]
struct BudgetArgs {
    /// Hold every budget against its GPU and its baseline
    #[arg(long)]
    check: bool,
    /// Make the present peaks the baseline
    #[arg(long, conflicts_with = "check")]
    update: bool,
    /// The file with the budgets
    #[arg(long, value_name = "FILE", default_value = "oomdoc.toml", hide_default_value = true)]
    budget: PathBuf,
    /// Only the budget of this name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

#[derive(Args)]
#[command(next_help_heading = "Inference: weights, cache and engine; --batch counts concurrent sequences")]
struct ServingArgs {
    /// The model serves, it does not train
    #[arg(long)]
    inference: bool,
    /// Tokens of a request, prompt and answer [default: what the model was made for]
    #[arg(long, value_name = "N", value_parser = count, requires = "inference")]
    context_length: Option<u64>,
    /// Precision of the key/value cache: 16bit, fp8, q8_0 or q4_0
    #[arg(
        long,
        value_enum,
        value_name = "TYPE",
        default_value = "16bit",
        requires = "inference",
        hide_possible_values = true
    )]
    kv_cache: CacheArg,
    /// Share of the GPU that the engine may take, 0 to 1, such as vLLM's gpu_memory_utilization
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "inference")]
    engine_share: Option<f64>,
    /// Bits of a weight, such as 4.5 [default: 16]
    #[arg(long, value_name = "BITS", value_parser = bits, requires = "inference")]
    weight_bits: Option<f64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum CacheArg {
    #[value(name = "16bit", alias = "bf16", alias = "fp16", alias = "auto")]
    Sixteen,
    Fp8,
    #[value(name = "q8_0")]
    Q8,
    #[value(name = "q4_0")]
    Q4,
}

#[derive(Args)]
#[command(next_help_heading = "The host: data loaders against the machine's or container's memory")]
struct HostArgs {
    /// Size of one loaded sample
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    sample_bytes: Option<u64>,
    /// Data-loading workers per process
    #[arg(long, value_name = "N", requires = "sample_bytes")]
    workers: Option<u64>,
    /// Training processes on this machine
    #[arg(long, value_name = "N", value_parser = count, requires = "sample_bytes")]
    processes: Option<u64>,
    /// Batches that each worker prefetches
    #[arg(long, value_name = "N", requires = "sample_bytes")]
    prefetch: Option<u64>,
    /// Samples of the data set
    #[arg(long, value_name = "N", value_parser = count, requires = "sample_bytes")]
    samples: Option<u64>,
    /// Every process that reads caches what it has read, up to SIZE where one is given
    #[arg(long, value_name = "SIZE", num_args = 0..=1, value_parser = size, requires = "sample_bytes")]
    cache: Option<Option<u64>>,
    /// Batches are copied to pinned memory
    #[arg(long, requires = "sample_bytes")]
    pin_memory: bool,
    /// Workers are spawned, not forked
    #[arg(long, requires = "sample_bytes")]
    spawn: bool,
    /// RAM of the machine or limit of the container [default: those of this machine]
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "sample_bytes")]
    host_memory: Option<u64>,
}

#[derive(Args)]
#[command(next_help_heading = "The device")]
struct DeviceArgs {
    /// The GPU, such as "RTX 3090" (oomdoc rehearse --like list prints all that are known)
    #[arg(long, value_name = "GPU", alias = "like", add = ArgValueCandidates::new(complete::gpus))]
    gpu: Option<String>,
    /// Memory of the GPU as CUDA counts it
    #[arg(long, value_name = "SIZE", value_parser = size)]
    gpu_memory: Option<u64>,
    /// Room to keep free: 5% or 2GiB [default: 5%]
    #[arg(long, value_name = "ROOM")]
    headroom: Option<Headroom>,
    /// What the CUDA context and its kernels take [default: 0.1 to 0.8 GiB, by the GPU's multiprocessors]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    context: Option<u64>,
    /// What other processes hold on the GPU
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0", hide_default_value = true)]
    others: u64,
}

#[derive(Args)]
#[command(next_help_heading = "What the answer rests on, the strongest first")]
struct EvidenceArgs {
    /// What oomdoc rehearse --format json printed; may be repeated
    #[arg(long, value_name = "FILE")]
    rehearsal: Vec<PathBuf>,
    /// A memory snapshot with the history of a run at this batch; may be repeated
    #[arg(long, value_name = "BATCH=FILE", value_parser = batch_file)]
    snapshot: Vec<(u64, PathBuf)>,
    /// A measured peak, 8x512=7.2GiB with the sequence; may be repeated
    #[arg(long, value_name = "BATCH=SIZE")]
    measure: Vec<String>,
    /// Measured peaks: a CSV with batch and peak_bytes, or a training log
    #[arg(long, value_name = "FILE")]
    measurements: Vec<PathBuf>,
    /// What the measured figures count: allocated, reserved or process [default: allocated]
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    measured: Option<CountedArg>,
    /// A log with the out-of-memory error of a batch that failed
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// The model: its config.json, or a .safetensors or .gguf file
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Of a model that sees or hears too, its language model alone
    #[arg(long, requires = "model")]
    text_only: bool,
    /// The Python that rehearses the model [default: the first with PyTorch for CUDA and transformers]
    #[arg(long, value_name = "PYTHON", requires = "model")]
    python: Option<PathBuf>,
    /// Longest time of the model's rehearsal
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2m")]
    rehearsal_limit: Duration,
    /// The model by formulas alone: a config.json is not rehearsed, whatever Python there is
    #[arg(long, env = "OOMDOC_NO_REHEARSAL", hide_env_values = true, value_parser = FalseyValueParser::new())]
    no_rehearsal: bool,
    /// Parameters of the model, such as 350M or 7B
    #[arg(long, value_name = "COUNT", value_parser = parameters)]
    params: Option<f64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum CountedArg {
    Allocated,
    Reserved,
    Process,
}

#[derive(Args)]
#[command(next_help_heading = "How the model is trained")]
pub(super) struct TrainingArgs {
    /// fp32, mixed (autocast), bf16 (weights and states) or master (bf16 with 32-bit master weights)
    #[arg(long, value_enum, value_name = "TYPE", hide_possible_values = true, ignore_case = true)]
    precision: Option<PrecisionArg>,
    /// Optimizer, such as adamw, adamw8bit, sgd, sgd-momentum, adafactor [default: adamw]
    #[arg(long, value_name = "NAME", value_parser = optimizer)]
    optimizer: Option<Optimizer>,
    /// The optimizer's fused form
    #[arg(long)]
    fused: bool,
    /// LoRA of this rank on frozen weights
    #[arg(long, value_name = "RANK", value_parser = count)]
    lora: Option<u64>,
    /// Which linear layers have adapters: attention or all
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value = "all",
        requires = "lora",
        hide_possible_values = true
    )]
    lora_targets: TargetsArg,
    /// Bits of frozen weights that are quantised: 4 or 8
    #[arg(long, value_name = "BITS", requires = "lora", value_parser = quantised)]
    quantised: Option<Quantised>,
    /// Whether PEFT's prepare_model_for_kbit_training made embeddings and head 32 bit: yes or no [default: either]
    #[arg(long, value_enum, value_name = "ANSWER", requires = "lora", hide_possible_values = true)]
    kbit_prepared: Option<Answer>,
    /// Layers are recomputed in backward (gradient checkpointing)
    #[arg(long)]
    checkpointing: bool,
    /// fused (SDPA, flash) or eager [default: fused]
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true)]
    attention: Option<AttentionArg>,
    /// Tokens per sample [default: 2048, or what the model was made for if that is less]
    #[arg(long, value_name = "N", value_parser = count)]
    seq: Option<u64>,
    /// Tokens per sample on the decoder's side [default: as --seq]
    #[arg(long, value_name = "N", value_parser = count)]
    target_seq: Option<u64>,
    /// Pixels of an image's side
    #[arg(long, value_name = "N", value_parser = count)]
    image_size: Option<u64>,
    /// ZeRO stage, 0 to 3; 3 for FSDP
    #[arg(long, value_name = "STAGE", default_value = "0", hide_default_value = true, value_parser = zero_stage())]
    zero: u8,
    /// Batches whose gradients are accumulated
    #[arg(long, value_name = "N", value_parser = count)]
    accumulation: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum PrecisionArg {
    #[value(alias = "float32")]
    Fp32,
    #[value(alias = "amp", alias = "bf16-mixed", alias = "fp16-mixed", alias = "autocast")]
    Mixed,
    #[value(alias = "fp16", alias = "bfloat16", alias = "float16", alias = "bf16-true")]
    Bf16,
    #[value(alias = "master-weights")]
    Master,
}

#[derive(Clone, Copy, ValueEnum)]
enum Answer {
    Yes,
    No,
}

#[derive(Clone, Copy, ValueEnum)]
enum TargetsArg {
    Attention,
    All,
}

#[derive(Clone, Copy, ValueEnum)]
enum AttentionArg {
    #[value(alias = "sdpa", alias = "flash", alias = "flash_attention_2")]
    Fused,
    Eager,
}

/// `8=a.pickle`.
fn batch_file(text: &str) -> Result<(u64, PathBuf), Refused> {
    let usage = || text!(en: "write BATCH=FILE, such as 8=a.pickle", zh: "请写 BATCH=FILE，例如 8=a.pickle");
    let (batch, file) = text.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or_else(usage)?;
    let batch = batch.trim().parse().ok().filter(|batch| *batch > 0);
    let batch = batch.ok_or_else(|| text!(en: "the batch must be at least 1", zh: "batch 至少为 1"))?;
    Ok((batch, file.into()))
}

fn bits(text: &str) -> Result<f64, Refused> {
    text.parse()
        .ok()
        .filter(|bits| (1.0..=64.0).contains(bits))
        .ok_or_else(|| text!(en: "not a number of bits from 1 to 64", zh: "不是 1 到 64 之间的位数").into())
}

fn optimizer(text: &str) -> Result<Optimizer, Refused> {
    Optimizer::named(text).ok_or_else(|| {
        text!(
            en: "not known; write adamw, adamw8bit, sgd, sgd-momentum, adafactor, lion, adagrad or rmsprop",
            zh: "未知；请写 adamw、adamw8bit、sgd、sgd-momentum、adafactor、lion、adagrad 或 rmsprop"
        )
        .into()
    })
}

fn quantised(text: &str) -> Result<Quantised, Refused> {
    match text.trim().trim_end_matches("bit").trim_end_matches('-') {
        "4" => Ok(Quantised::FOUR_BIT),
        "8" => Ok(Quantised::EIGHT_BIT),
        _ => Err(text!(en: "write 4 or 8", zh: "请写 4 或 8").into()),
    }
}

impl From<TrainingArgs> for TrainingOptions {
    fn from(training: TrainingArgs) -> TrainingOptions {
        TrainingOptions {
            precision: training.precision.map(|precision| match precision {
                PrecisionArg::Fp32 => Precision::Fp32,
                PrecisionArg::Mixed => Precision::Mixed,
                PrecisionArg::Bf16 => Precision::Pure16,
                PrecisionArg::Master => Precision::MasterWeights,
            }),
            optimizer: training.optimizer,
            fused: training.fused,
            lora: training.lora.map(|rank| Lora {
                rank: rank as f64,
                all_linear: matches!(training.lora_targets, TargetsArg::All),
                quantised: training.quantised,
            }),
            checkpointing: training.checkpointing,
            attention: training.attention.map(|attention| match attention {
                AttentionArg::Fused => Attention::Fused,
                AttentionArg::Eager => Attention::Eager,
            }),
            prepared: training.kbit_prepared.map(|answer| matches!(answer, Answer::Yes)),
            sequence: training.seq,
            target_sequence: training.target_seq,
            image: training.image_size,
            stage: training.zero,
            ranks: None,
            accumulation: training.accumulation,
        }
    }
}

impl From<HeadroomArgs> for HeadroomOptions {
    fn from(args: HeadroomArgs) -> HeadroomOptions {
        let (serving, host) = (args.serving, args.host);
        HeadroomOptions {
            batch: args.batch,
            device: DeviceOptions {
                gpu: args.device.gpu,
                memory: args.device.gpu_memory,
                context: args.device.context,
                others: args.device.others,
            },
            headroom: args.device.headroom,
            evidence: EvidenceOptions {
                rehearsals: args.evidence.rehearsal,
                snapshots: args.evidence.snapshot,
                log: args.evidence.log,
                measured: args.evidence.measure,
                measurement_files: args.evidence.measurements,
                counted: args.evidence.measured.map(|counted| match counted {
                    CountedArg::Allocated => Counted::Allocated,
                    CountedArg::Reserved => Counted::Reserved,
                    CountedArg::Process => Counted::Process,
                }),
                model: args.evidence.model,
                parameters: args.evidence.params,
            },
            training: TrainingOptions { ranks: args.world_size, ..args.training.into() },
            serving: serving.inference.then_some(ServingOptions {
                context: serving.context_length,
                cache_width: match serving.kv_cache {
                    CacheArg::Sixteen => 2.0,
                    CacheArg::Fp8 => 1.0,
                    CacheArg::Q8 => 34.0 / 32.0,
                    CacheArg::Q4 => 18.0 / 32.0,
                },
                share: serving.engine_share,
                bits: serving.weight_bits,
            }),
            rehearsal: (!args.evidence.no_rehearsal)
                .then_some(DescribedRehearsal { python: args.evidence.python, limit: args.evidence.rehearsal_limit }),
            text_only: args.evidence.text_only,
            host: host.sample_bytes.map(|sample| HostOptions {
                processes: host.processes.unwrap_or(1),
                workers: host.workers.unwrap_or(0),
                prefetch: host.prefetch.unwrap_or(DEFAULT_PREFETCH),
                sample,
                samples: host.samples,
                pinned: host.pin_memory,
                spawned: host.spawn,
                cache: match host.cache {
                    None => Cache::None,
                    Some(None) => Cache::Unbounded,
                    Some(Some(bytes)) => Cache::Bounded(bytes),
                },
                limit: host.host_memory,
            }),
            budget: BudgetOptions {
                check: args.budget.check,
                update: args.budget.update,
                file: args.budget.budget,
                name: args.budget.name,
            },
            explain: args.explain,
            format: if args.json { HeadroomFormat::Json } else { args.format },
            output: args.output.shared_if(args.explain, args.format == HeadroomFormat::Markdown),
        }
    }
}

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Words {
    #[command(flatten)]
    args: HeadroomArgs,
}

impl HeadroomOptions {
    /// Options from words as they would stand on the command line.
    ///
    /// # Errors
    /// What clap has to say, without its usage.
    pub fn from_words(words: &[String]) -> Result<HeadroomOptions, Text> {
        let first = |page: &str| {
            let lines: Vec<&str> = page.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
            lines.join(" ")
        };
        Words::try_parse_from(words).map(|words| words.args.into()).map_err(|error| {
            let en = first(&error.to_string());
            let zh = first(&error.apply::<InChinese>().to_string());
            Text::new(en.trim_start_matches("error: "), zh.trim_start_matches("错误："))
        })
    }
}

/// 0 to 3.
fn zero_stage() -> clap::builder::RangedI64ValueParser<u8> {
    clap::value_parser!(u8).range(0..=3)
}
