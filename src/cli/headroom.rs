//! The command line of `oomdoc headroom`.

use super::{Output, OutputArgs, count, parameters, share, size};
use crate::estimate::fit::Counted;
use crate::estimate::states::Optimizer;
use crate::estimate::training::{Attention, Lora, Precision};
use crate::headroom::Headroom;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `oomdoc headroom`.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadroomOptions {
    pub batch: Option<u64>,
    pub device: DeviceOptions,
    /// `None`: 5 %.
    pub headroom: Option<Headroom>,
    pub evidence: EvidenceOptions,
    pub training: TrainingOptions,
    /// Print the formulas with the figures.
    pub explain: bool,
    pub format: HeadroomFormat,
    pub output: Output,
}

/// The device as it was given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeviceOptions {
    pub memory: Option<u64>,
    pub context: Option<u64>,
    pub others: u64,
}

/// What the answer is to rest on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvidenceOptions {
    /// `8=7.2GiB`, still as text: errors are told in the user's language.
    pub measured: Vec<String>,
    pub measurement_files: Vec<PathBuf>,
    /// What the figures of both count.
    pub counted: Option<Counted>,
    pub model: Option<PathBuf>,
    pub parameters: Option<f64>,
}

/// How the model is trained, as far as the user said.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingOptions {
    pub precision: Option<Precision>,
    pub optimizer: Option<Optimizer>,
    pub fused: bool,
    pub lora: Option<Lora>,
    pub checkpointing: bool,
    pub attention: Attention,
    pub sequence: Option<u64>,
    pub target_sequence: Option<u64>,
    pub image: Option<u64>,
    pub stage: u8,
    pub ranks: Option<u64>,
    pub accumulates: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HeadroomFormat {
    /// For people
    Terminal,
    /// For programs: docs/headroom.schema.json
    Json,
    /// For the comment on a pull request
    Markdown,
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc headroom --measure 8=7.2GiB --measure 16=12.8GiB --batch 24 --gpu-memory 24GiB
  oomdoc headroom --measurements peaks.csv --gpu-memory 24GiB
  oomdoc headroom --model config.json --precision mixed --seq 1024 --batch 8 --gpu-memory 80GiB --explain
  oomdoc headroom --params 7B --precision bf16 --lora 16 --seq 2048 --gpu-memory 24GiB

Exit codes: 0 fits with the headroom asked for, 1 does not, 2 bad usage or unreadable input, 3 cannot tell.")]
pub(super) struct HeadroomArgs {
    /// Samples per step and process; without it the largest batch is sought
    #[arg(short, long, value_name = "N", value_parser = count)]
    batch: Option<u64>,
    /// What to print
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "terminal", hide_possible_values = true)]
    #[arg(help = "What to print: terminal, json or markdown")]
    format: HeadroomFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Every formula with the figures put in
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    evidence: EvidenceArgs,
    #[command(flatten)]
    training: TrainingArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Args)]
#[command(next_help_heading = "The device")]
struct DeviceArgs {
    /// Memory of the GPU as CUDA counts it
    #[arg(long, value_name = "SIZE", value_parser = size)]
    gpu_memory: Option<u64>,
    /// Room to keep free: 5% or 2GiB [default: 5%]
    #[arg(long, value_name = "ROOM", value_parser = headroom)]
    headroom: Option<Headroom>,
    /// What the CUDA context and its kernels take [default: 300 to 720 MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    context: Option<u64>,
    /// What other processes hold on the GPU
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0", hide_default_value = true)]
    others: u64,
}

#[derive(Args)]
#[command(next_help_heading = "What the answer rests on, the strongest first")]
struct EvidenceArgs {
    /// A measured peak; may be repeated
    #[arg(long, value_name = "BATCH=SIZE")]
    measure: Vec<String>,
    /// Measured peaks: a CSV with batch and peak_bytes, or a training log
    #[arg(long, value_name = "FILE")]
    measurements: Vec<PathBuf>,
    /// What the measured figures count: allocated, reserved or process [default: allocated]
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    measured: Option<CountedArg>,
    /// The config.json of the model
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
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
struct TrainingArgs {
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
    quantised: Option<f64>,
    /// Layers are recomputed in backward (gradient checkpointing)
    #[arg(long)]
    checkpointing: bool,
    /// fused (SDPA, flash) or eager
    #[arg(long, value_enum, value_name = "KIND", default_value = "fused", hide_possible_values = true)]
    attention: AttentionArg,
    /// Tokens per sample
    #[arg(long, value_name = "N", value_parser = count)]
    seq: Option<u64>,
    /// Tokens per sample on the decoder's side [default: as --seq]
    #[arg(long, value_name = "N", value_parser = count)]
    target_seq: Option<u64>,
    /// Pixels of an image's side
    #[arg(long, value_name = "N", value_parser = count)]
    image_size: Option<u64>,
    /// ZeRO stage, 0 to 3; 3 for FSDP
    #[arg(long, value_name = "STAGE", default_value = "0", hide_default_value = true, value_parser = clap::value_parser!(u8).range(0..=3))]
    zero: u8,
    /// Processes that train together
    #[arg(long, value_name = "N", value_parser = count)]
    world_size: Option<u64>,
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

fn headroom(text: &str) -> Result<Headroom, String> {
    let text = text.trim();
    match text.strip_suffix('%') {
        Some(percent) => match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..100.0).contains(&percent) => Ok(Headroom::Share(percent / 100.0)),
            _ => Err("not a share from 0 % to 100 %".into()),
        },
        None => match share(text) {
            Ok(share) if share < 1.0 => Ok(Headroom::Share(share)),
            _ => size(text).map(Headroom::Bytes).map_err(|_| "write 5% or 2GiB".into()),
        },
    }
}

fn optimizer(text: &str) -> Result<Optimizer, String> {
    Optimizer::named(text).ok_or_else(|| {
        "not known; write adamw, adamw8bit, sgd, sgd-momentum, adafactor, lion, adagrad or rmsprop".into()
    })
}

fn quantised(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches("bit").trim_end_matches('-') {
        // NF4 in blocks of 64 with 32-bit scales; int8 with a scale for each row.
        "4" => Ok(0.5625),
        "8" => Ok(1.03),
        _ => Err("write 4 or 8".into()),
    }
}

impl From<HeadroomArgs> for HeadroomOptions {
    fn from(args: HeadroomArgs) -> HeadroomOptions {
        let training = args.training;
        HeadroomOptions {
            batch: args.batch,
            device: DeviceOptions {
                memory: args.device.gpu_memory,
                context: args.device.context,
                others: args.device.others,
            },
            headroom: args.device.headroom,
            evidence: EvidenceOptions {
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
            training: TrainingOptions {
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
                attention: match training.attention {
                    AttentionArg::Fused => Attention::Fused,
                    AttentionArg::Eager => Attention::Eager,
                },
                sequence: training.seq,
                target_sequence: training.target_seq,
                image: training.image_size,
                stage: training.zero,
                ranks: training.world_size,
                accumulates: training.accumulation.is_some_and(|steps| steps > 1),
            },
            explain: args.explain,
            format: if args.json { HeadroomFormat::Json } else { args.format },
            output: args.output.plain(args.explain),
        }
    }
}
