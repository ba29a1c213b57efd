//! Settings of the run: what a line says about batch, workers, precision, sharding, limits and versions.

use super::pairs::{Pair, pairs};
use super::{Context, Platform, Precision};
use crate::evidence::{Known, Span};
use crate::units::{Base, Figure, size};

/// One setting as a line states it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Setting {
    Batch(u64),
    /// Per process, told apart from a total by its name.
    MicroBatch(u64),
    /// `train_batch_size`: per process in most scripts, the total in DeepSpeed.
    TrainBatch(u64),
    /// Over all processes and accumulation steps.
    TotalBatch(u64),
    EvalBatch(u64),
    OtherBatch(&'static str, u64),
    Accumulation(u64),
    Sequence(u64),
    Image(u64),
    Workers(u64),
    Prefetch(u64),
    PinMemory(bool),
    PersistentWorkers(bool),
    SampleSize(Figure),
    Samples(u64),
    CacheSize(Figure),
    World(u64),
    Local(u64),
    /// Devices that one launcher splits a total batch over.
    Devices(u64),
    Rank(u32),
    Epochs(u64),
    Steps(u64),
    Precision(Precision),
    Optimizer(String),
    Checkpointing(bool),
    Attention(String),
    Lora(bool),
    Quantized(bool),
    Zero(u8),
    Fsdp(bool),
    Offload(bool),
    Compile(bool),
    Model(String),
    Parameters(f64),
    AllocConf(String),
    Visible(String),
    MemoryLimit(Figure),
    /// Slurm's `--mem-per-cpu`, to be multiplied by the CPUs of a task.
    MemoryPerCpu(Figure),
    CpusPerTask(u64),
    HostTotal(Figure),
    TorchVersion(String),
    Platform(Platform),
    Container,
}

/// Pairs of one line that are looked at; an argument dump has a few hundred.
const PAIRS_AT_MOST: usize = 1024;

/// How much a statement counts against another one of the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Source {
    /// Told in words.
    Words,
    /// A key with its value, in a dump or in code.
    Dump,
    /// An option of the launch command.
    Command,
}

/// The model that a command names outside an option: `vllm serve org/model-7B`.
pub(super) fn model_of_command(text: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    let words = text.split_whitespace().take(400);
    let name = words.filter(|word| {
        !word.starts_with(['-', '/', '.'])
            && word.split('/').count() == 2
            && !word.contains(['=', ':', '.', '\'', '"']) | parameters_in_name(word).is_some()
    });
    if let Some(name) = name.clone().find(|word| parameters_in_name(word).is_some()) {
        model(name, true, &mut found);
    }
    found
}

/// What a message about memory that ran out says of the sample it failed on: `… on sequence abc of length 917`.
pub(super) fn of_message(text: &str) -> Option<Setting> {
    let (before, after) = text.split_once(" of length ")?;
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    before.contains("sequence").then(|| whole(&after[..digits]))?.map(Setting::Sequence)
}

/// Reads every setting that a line states. `command` tells that the line belongs to a launch command.
pub(super) fn read(text: &str, line: u64, command: bool) -> Vec<(Setting, Source)> {
    let at = Span::line(line);
    let mut found = Vec::new();
    for pair in pairs(text).take(PAIRS_AT_MOST) {
        setting_of(text, &pair, at, command, &mut found);
    }
    let source = if command { Source::Command } else { Source::Dump };
    let mut all: Vec<(Setting, Source)> = found.into_iter().map(|setting| (setting, source)).collect();
    let mut told = Vec::new();
    phrases(text, at, &mut told);
    all.extend(told.into_iter().map(|setting| (setting, Source::Words)));
    all
}

/// The last component of a dotted or slashed key, in lower case with underscores.
fn normal(key: &str) -> String {
    let last = key.rsplit(['.', '/']).next().unwrap_or(key);
    last.to_ascii_lowercase().replace('-', "_")
}

fn setting_of(text: &str, pair: &Pair<'_>, at: Span, command: bool, found: &mut Vec<Setting>) {
    let key = normal(pair.key);
    let value = pair.value;
    let count = || whole(value);
    let flag = || truth(value);
    match key.as_str() {
        "per_device_train_batch_size"
        | "per_gpu_train_batch_size"
        | "per_device_batch_size"
        | "micro_batch_size"
        | "micro_batch_size_per_gpu"
        | "train_micro_batch_size_per_gpu"
        | "micro_train_batch_size"
        | "mbs"
        | "batch_size_per_gpu"
        | "samples_per_gpu"
        | "local_batch_size"
        | "device_batch_size"
        | "batch_size_per_device"
        | "ppo_micro_batch_size_per_gpu"
        | "batch_per_gpu" => push(found, count().filter(plausible_batch), Setting::MicroBatch),
        "batch_size" | "batchsize" | "batch" | "bs" | "batch_sz" | "train_bs" | "batch_size_train" => {
            push(found, per_device_remark(pair.rest), Setting::MicroBatch);
            let plain = key != "batch" || command || pair.rest.len() == value.len() || !numbered(text, pair);
            push(found, count().filter(|n| plausible_batch(n) && plain), Setting::Batch);
        }
        "train_batch_size" => push(found, count().filter(plausible_batch), Setting::TrainBatch),
        "global_batch_size" | "total_batch_size" | "total_train_batch_size" | "effective_batch_size" => {
            push(found, count(), Setting::TotalBatch)
        }
        "per_device_eval_batch_size"
        | "eval_batch_size"
        | "val_batch_size"
        | "valid_batch_size"
        | "test_batch_size"
        | "per_gpu_eval_batch_size"
        | "validation_batch_size"
        | "batch_size_val"
        | "batch_size_eval"
        | "val_bs" => push(found, count().filter(plausible_batch), Setting::EvalBatch),
        "num_envs" => push(found, count(), |n| Setting::OtherBatch("num_envs", n)),
        "max_tokens" if command => push(found, count(), |n| Setting::OtherBatch("max_tokens", n)),
        "max_num_seqs" => push(found, count(), |n| Setting::OtherBatch("max_num_seqs", n)),
        "gradient_accumulation_steps"
        | "accumulate_grad_batches"
        | "accumulation_steps"
        | "accum_steps"
        | "grad_accum"
        | "grad_accum_steps"
        | "accum_iter"
        | "gradient_accumulation"
        | "grad_accumulation"
        | "grad_acc_steps"
        | "accumulate"
        | "accum_grad"
        | "update_freq"
        | "accum"
        | "grad_accumulation_steps" => {
            push(found, count().filter(|n| (1..=100_000).contains(n)), Setting::Accumulation)
        }
        "max_seq_length"
        | "max_seq_len"
        | "seq_length"
        | "seq_len"
        | "sequence_length"
        | "max_length"
        | "model_max_length"
        | "cutoff_len"
        | "max_source_length"
        | "context_length"
        | "ctx_len"
        | "n_ctx"
        | "max_len"
        | "max_model_len"
        | "seqlen"
        | "max_sequence_length"
        | "ctx_size" => {
            // A generation configuration's default length is 20, whatever the model is trained on.
            push(found, count().filter(|n| *n >= 8 && !(key == "max_length" && *n == 20)), Setting::Sequence)
        }
        // Kernels have a BLOCK_SIZE of their own.
        "block_size" if pair.key.ends_with("block_size") && !text.contains("BLOCK_") => {
            push(found, count().filter(|n| *n >= 128), Setting::Sequence)
        }
        "imgsz" | "img_size" | "image_size" | "img_sz" | "input_size" | "crop_size" | "train_crop_size"
        | "resolution" | "imagesize" | "imsize" => {
            push(found, largest(value).filter(|n| (16..=65_536).contains(n)), Setting::Image)
        }
        "num_workers"
        | "workers"
        | "dataloader_num_workers"
        | "n_workers"
        | "num_data_workers"
        | "data_workers"
        | "loader_workers"
        | "nworkers"
        | "workers_per_gpu"
        | "train_num_workers"
        | "numworkers"
        | "dataloader_workers" => push(found, count().filter(|n| *n <= 4096), Setting::Workers),
        "prefetch_factor" | "dataloader_prefetch_factor" => {
            push(found, count().filter(|n| *n <= 4096), Setting::Prefetch)
        }
        "pin_memory" | "pin_mem" | "dataloader_pin_memory" => push(found, flag(), Setting::PinMemory),
        "persistent_workers" | "dataloader_persistent_workers" => push(found, flag(), Setting::PersistentWorkers),
        "cache_size_gb" | "cache_gb" | "ram_cache_gb" | "max_cache_gb" => {
            push(found, size(value, "GB", Base::Binary).map(|s| exact(s.at(at))), Setting::CacheSize)
        }
        "cache_size" | "cache_memory" => push(found, sized(pair.rest, None, at).map(exact), Setting::CacheSize),
        "sample_size" | "bytes_per_sample" | "sample_bytes" => {
            push(found, sized(pair.rest, None, at), Setting::SampleSize)
        }
        "num_samples" | "dataset_size" | "n_samples" | "num_examples" | "train_samples" => {
            push(found, count().filter(|n| *n > 1), Setting::Samples)
        }
        "world_size" | "num_processes" => push(found, count().filter(|n| (1..=1_000_000).contains(n)), Setting::World),
        "nproc_per_node" | "num_gpus" | "gpus_per_node" | "n_gpus" | "ngpus" | "n_gpu" | "num_gpus_per_node"
        | "ntasks_per_node" | "proc_per_node" => {
            push(found, count().filter(|n| (1..=1024).contains(n)), Setting::Local)
        }
        "gpus" if pair.hyphens == 2 && !text.contains("docker") => {
            push(found, count().filter(|n| (1..=1024).contains(n)), Setting::Local)
        }
        "include" if command => {
            let word = pair.rest.split([' ', '\'', '"', ']']).next().unwrap_or("");
            push(found, listed_devices(word.rsplit(':').next().unwrap_or("")), Setting::Local)
        }
        "device" | "devices" if command || value.starts_with('[') => {
            let value = if value.starts_with('[') { value } else { unquoted_list(pair) };
            push(found, listed_devices(value), Setting::Devices)
        }
        "member" => push(found, value.split_once('/').and_then(|(_, all)| whole(all)), Setting::World),
        "global_rank" => push(found, count().and_then(|n| u32::try_from(n).ok()), Setting::Rank),
        // Adapters have a rank too.
        "rank" if text.contains("local_rank") || text.contains("world_size") => {
            push(found, count().and_then(|n| u32::try_from(n).ok()), Setting::Rank)
        }
        "epochs" | "num_epochs" | "max_epochs" | "num_train_epochs" | "n_epochs" | "max_epoch" | "total_epochs" => {
            let whole_part = value.split('.').next().unwrap_or(value);
            push(found, whole(whole_part).filter(|n| *n > 0), Setting::Epochs)
        }
        "max_steps" | "num_steps" | "total_steps" | "max_iters" | "max_train_steps" | "train_iters" => {
            push(found, count().filter(|n| *n > 1), Setting::Steps)
        }
        "fp16" | "half" if flag() == Some(true) => found.push(Setting::Precision(Precision::Fp16)),
        "bf16" if flag() == Some(true) => found.push(Setting::Precision(Precision::Bf16)),
        "amp" | "use_amp" if flag() == Some(true) => found.push(Setting::Precision(Precision::Mixed)),
        "precision" | "mixed_precision" | "torch_dtype" | "dtype" | "amp_dtype" | "param_dtype" | "compute_dtype"
        | "data_type" => push(found, precision(value).filter(|_| !makes_tensor(text)), Setting::Precision),
        "optim" | "optimizer" | "optimizer_type" | "opt" | "optimizer_name" | "optim_type" | "optimizer_class" => {
            push(found, optimizer(value), Setting::Optimizer)
        }
        // DeepSpeed: `"optimizer": {"type": "AdamW", …`.
        "type" => push(found, optimizer(value), Setting::Optimizer),
        "gradient_checkpointing"
        | "activation_checkpointing"
        | "use_checkpoint"
        | "grad_checkpointing"
        | "use_checkpointing"
        | "gradient_checkpoint"
        | "recompute"
        | "enable_gradient_checkpointing"
        | "checkpoint_activations"
        | "use_gradient_checkpointing" => push(found, flag(), Setting::Checkpointing),
        "attn_implementation" | "attn_impl" | "attention_backend" | "attn_backend" => {
            push(found, word(value), Setting::Attention)
        }
        "flash_attn"
        | "use_flash_attn"
        | "use_flash_attention"
        | "use_flash_attention_2"
        | "use_flash_attn_2"
        | "flash_attention" => match flag() {
            Some(true) => found.push(Setting::Attention("flash_attention_2".into())),
            Some(false) => {}
            None => push(
                found,
                word(value).filter(|w| w.starts_with("fa") || w.contains("flash") || w == "sdpa"),
                Setting::Attention,
            ),
        },
        "use_lora" | "lora" => push(found, flag(), Setting::Lora),
        "lora_r" | "lora_rank" | "lora_alpha" | "lora_dim" if whole(value).is_some_and(|n| n > 0) && command => {
            found.push(Setting::Lora(true));
        }
        "finetuning_type" | "train_type" | "tuner_type" | "sft_type" => {
            let lora = value.to_ascii_lowercase().contains("lora");
            found.push(Setting::Lora(lora));
        }
        "load_in_4bit" | "load_in_8bit" => {
            push(found, flag(), Setting::Quantized);
            if flag() == Some(true) {
                found.push(Setting::Precision(if key.contains('4') { Precision::Int4 } else { Precision::Int8 }));
            }
        }
        "quantization_bit" | "quantization" | "quant_bits" => {
            let on = !matches!(value.to_ascii_lowercase().as_str(), "none" | "null" | "false" | "");
            found.push(Setting::Quantized(on));
        }
        "zero_stage" => push(found, value.parse().ok().filter(|n| *n <= 3), Setting::Zero),
        "stage" if text.contains("zero") => push(found, value.parse().ok().filter(|n| *n <= 3), Setting::Zero),
        "deepspeed" | "deepspeed_config" | "deepspeed_config_file" | "strategy" => {
            deepspeed_file(value, found);
            if key == "strategy" && value.to_ascii_lowercase().contains("fsdp") {
                found.push(Setting::Fsdp(true));
            }
        }
        "fsdp" => {
            let off = matches!(value.to_ascii_lowercase().as_str(), "" | "false" | "none" | "[]" | "null" | "0" | "{}");
            found.push(Setting::Fsdp(!off && pair.value.len() < 80));
        }
        "offload_optimizer"
        | "offload_param"
        | "cpu_offload"
        | "optimizer_offload"
        | "param_offload"
        | "offload_optimizer_device"
        | "offload_param_device"
        | "fsdp_offload_params"
        | "optimizer_cpu_offload" => match value.to_ascii_lowercase().as_str() {
            "cpu" | "nvme" | "true" => found.push(Setting::Offload(true)),
            "none" | "false" | "null" => found.push(Setting::Offload(false)),
            _ => {}
        },
        "torch_compile" | "compile" | "use_compile" => push(found, flag(), Setting::Compile),
        "model_name_or_path"
        | "model_name"
        | "model_id"
        | "pretrained_model_name_or_path"
        | "base_model"
        | "model_path"
        | "pretrained_model"
        | "model_id_or_path"
        | "base_model_name_or_path" => model(value, true, found),
        "model" => model(value, command || pair.value.contains('/'), found),
        "arch" | "backbone" => {
            push(found, word(value).filter(|w| w.bytes().any(|b| b.is_ascii_digit())), Setting::Model)
        }
        "cuda_visible_devices" | "hip_visible_devices" | "ascend_rt_visible_devices" | "rocr_visible_devices" => {
            let value = value.trim_matches(['[', ']']).replace(' ', "");
            let listed = unquoted_list(pair);
            let value = if listed.len() > value.len() { listed.to_string() } else { value };
            let plain = value.bytes().all(|b| b.is_ascii_digit() || b == b',') && !value.is_empty()
                || value.starts_with("GPU-");
            if plain {
                found.push(Setting::Visible(value));
            }
        }
        "pytorch_cuda_alloc_conf" | "pytorch_alloc_conf" | "pytorch_hip_alloc_conf" => {
            let end = pair.rest.find([' ', '\'', '"', '`', ')']).unwrap_or(pair.rest.len());
            let unquoted = pair.rest.get(..end).unwrap_or("");
            let value = if value.len() >= unquoted.len() { value } else { unquoted };
            if value.contains(':') && sets_environment(&text[..pair.start]) {
                found.push(Setting::AllocConf(value.trim_end_matches(['.', ',']).to_string()));
            }
        }
        "mem_per_cpu" if pair.hyphens == 2 => push(found, slurm_size(value, at), Setting::MemoryPerCpu),
        "cpus_per_task" if pair.hyphens == 2 => push(found, count(), Setting::CpusPerTask),
        "mem" if pair.hyphens == 2 => push(found, slurm_size(value, at), Setting::MemoryLimit),
        "memory" if pair.hyphens == 2 && (text.contains("docker") || text.contains("podman") || command) => {
            push(found, sized(pair.rest, Some("B"), at).map(exact), Setting::MemoryLimit);
        }
        "mem_mb" if text.contains("resources") => {
            push(found, sized(value, Some("MB"), at).map(exact), Setting::MemoryLimit)
        }
        "memtotal" => push(found, sized(pair.rest, None, at), Setting::HostTotal),
        // `free -h`, whose first column is the total.
        "mem" if text.trim_start().starts_with("Mem:") => push(found, sized(pair.rest, None, at), Setting::HostTotal),
        "system" => {
            if let Some((_, total)) = pair.rest.split_once('/')
                && text.contains("emory")
            {
                push(found, sized(total, None, at), Setting::HostTotal);
            }
        }
        "torch" | "pytorch" | "torch_version" | "pytorch_version" => push(found, version(value), Setting::TorchVersion),
        "version" if text[..pair.start].trim_end().to_ascii_lowercase().ends_with("torch") => {
            push(found, version(value), Setting::TorchVersion)
        }
        _ => {}
    }
}

fn push<T>(found: &mut Vec<Setting>, value: Option<T>, make: impl FnOnce(T) -> Setting) {
    if let Some(value) = value {
        found.push(make(value));
    }
}

/// True for code that makes or converts one tensor: its type is not the run's.
fn makes_tensor(text: &str) -> bool {
    ["tensor(", "zeros(", "ones(", "empty(", "randn(", "rand(", "full(", "arange(", ".to(", "zeros_like(", "array("]
        .iter()
        .any(|call| text.contains(call))
}

/// More than this is a total of a simulator or a count of something else.
fn plausible_batch(count: &u64) -> bool {
    (1..=1_000_000).contains(count)
}

/// `batch=64 (16 per GPU)`, `batch=64` (每个 GPU ~16).
fn per_device_remark(rest: &str) -> Option<u64> {
    let head: String = rest.chars().take(48).collect();
    let lower = head.to_lowercase();
    if let Some(after) = ["每个 gpu", "每个gpu", "每卡", "per gpu", "per-gpu", "each gpu", "per device"]
        .iter()
        .find_map(|word| lower.find(word).map(|i| &lower[i + word.len()..]))
    {
        let digits: String = after
            .chars()
            .skip_while(|c| matches!(c, ' ' | '~' | '≈' | ':' | '=' | '：'))
            .take_while(char::is_ascii_digit)
            .collect();
        return digits.parse().ok().filter(plausible_batch);
    }
    None
}

/// True for `Batch: 12` as a counter: followed by another pair that only progress lines have.
fn numbered(text: &str, pair: &Pair<'_>) -> bool {
    let lower = text.to_ascii_lowercase();
    pair.key.starts_with('B') && (lower.contains("loss") || lower.contains("epoch"))
}

/// `export X=`, `X=y python`, `os.environ["X"] =`, `docker -e X=`: what stands before the name makes it a setting
/// rather than a word in a sentence.
fn sets_environment(before: &str) -> bool {
    let before = before.trim_end_matches(['\'', '"', '(', '[']).trim_end();
    let last = before.rsplit([' ', '\t']).next().unwrap_or("");
    before.is_empty()
        || matches!(last, "export" | "-e" | "--env" | "$" | "env" | "ENV" | "$env:" | "#" | "+" | "declare" | "-x")
        || last.ends_with("environ")
        || last.ends_with("environ.setdefault")
        || last.ends_with("setenv")
        || last.ends_with("putenv")
        || before.trim() == "set"
        || last.contains('=') && !last.starts_with("--")
}

/// A whole number, with thousands separators or a `.0`.
pub(super) fn whole(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches("L");
    let text = text.strip_suffix(".0").unwrap_or(text);
    if text.is_empty() || text.len() > 20 || !text.bytes().all(|b| b.is_ascii_digit() || b == b',' || b == b'_') {
        return None;
    }
    text.replace([',', '_'], "").parse().ok()
}

/// The largest number of `640`, `[512, 768]`, `512x768`.
fn largest(text: &str) -> Option<u64> {
    if text.contains('.') {
        return None;
    }
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).max()
}

fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" | "none" | "null" => Some(false),
        _ => None,
    }
}

fn word(text: &str) -> Option<String> {
    let plain = !text.is_empty() && text.len() <= 60 && text.bytes().all(|b| b.is_ascii_graphic());
    (plain && !matches!(text.to_ascii_lowercase().as_str(), "none" | "null" | "true" | "false" | "auto"))
        .then(|| text.to_string())
}

fn precision(value: &str) -> Option<Precision> {
    let value = value.to_ascii_lowercase();
    let value = value.trim_start_matches("torch.").trim_start_matches("jnp.");
    Some(match value {
        "bf16" | "bfloat16" | "bf16-true" | "bf16-mixed" | "pure_bf16" => Precision::Bf16,
        "fp16" | "float16" | "16" | "16-true" | "16-mixed" | "half" | "f16" => Precision::Fp16,
        "fp32" | "float32" | "32" | "32-true" | "float" | "no" if value != "no" => Precision::Fp32,
        "int8" => Precision::Int8,
        "int4" | "nf4" => Precision::Int4,
        "fp8" => Precision::Fp8,
        _ => return None,
    })
}

fn optimizer(value: &str) -> Option<String> {
    let name = value.split('(').next().unwrap_or("").rsplit('.').next().unwrap_or("");
    let lower = name.to_ascii_lowercase();
    let known =
        ["adam", "sgd", "lion", "adafactor", "lamb", "rmsprop", "muon", "paged_", "adagrad", "sophia", "galore"];
    let plain = name.len() <= 40 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    (plain && known.iter().any(|word| lower.contains(word))).then(|| name.to_string())
}

fn model(value: &str, sure: bool, found: &mut Vec<Setting>) {
    let name = value.trim_matches(['\'', '"', '`']);
    let plain = name.len() >= 2 && name.len() <= 200 && name.bytes().all(|b| b.is_ascii_graphic());
    if !plain || !name.bytes().any(|b| b.is_ascii_alphabetic()) || name.contains(['(', '{', '$', '<', '=']) {
        return;
    }
    if matches!(name.to_ascii_lowercase().as_str(), "none" | "null" | "true" | "false" | "model" | "auto" | "str") {
        return;
    }
    let parameters = parameters_in_name(name);
    if sure || parameters.is_some() {
        found.push(Setting::Model(name.to_string()));
        push(found, parameters, Setting::Parameters);
        let lower = name.to_ascii_lowercase();
        if ["-awq", "-gptq", "bnb-4bit", "-4bit", "-int4", "-int8", "-8bit"].iter().any(|word| lower.contains(word)) {
            found.push(Setting::Quantized(true));
        }
    }
}

/// `7B` in `vicuna-7b-v1.3`, `0.5B` in `Qwen2-0.5B`. A mixture (`8x7B`) names its experts, not its total.
fn parameters_in_name(name: &str) -> Option<f64> {
    let bytes = name.as_bytes();
    for (i, b) in bytes.iter().enumerate() {
        if !matches!(b, b'b' | b'B' | b'm' | b'M') || bytes.get(i + 1).is_some_and(|b| b.is_ascii_alphanumeric()) {
            continue;
        }
        let digits = bytes[..i].iter().rev().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
        let start = i - digits;
        if digits == 0 || start > 0 && !matches!(bytes[start - 1], b'-' | b'_' | b'/' | b' ') {
            continue;
        }
        let number: f64 = name.get(start..i)?.trim_matches('.').parse().ok()?;
        let unit = if b.eq_ignore_ascii_case(&b'b') { 1e9 } else { 1e6 };
        if number > 0.0 && number < 5000.0 {
            return Some(number * unit);
        }
    }
    None
}

/// `ds_z3_offload.json`, `zero2.json`, `deepspeed_stage_3`.
fn deepspeed_file(value: &str, found: &mut Vec<Setting>) {
    let lower = value.to_ascii_lowercase();
    for (stage, names) in [
        (3, ["zero3", "z3", "stage_3", "stage3"]),
        (2, ["zero2", "z2", "stage_2", "stage2"]),
        (1, ["zero1", "z1", "stage_1", "stage1"]),
    ] {
        if names.iter().any(|name| lower.contains(name)) {
            found.push(Setting::Zero(stage));
            break;
        }
    }
    if lower.contains("offload") {
        found.push(Setting::Offload(true));
    }
}

/// The digits and commas that a value begins with: unquoted lists end at the first comma elsewhere.
fn unquoted_list<'a>(pair: &Pair<'a>) -> &'a str {
    let end = pair.rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b',').count();
    pair.rest.get(..end).unwrap_or("").trim_end_matches(',')
}

/// How many devices a list or count names: `0,1,2` and `[0, 1, 2]` name three, `4` names none.
fn listed_devices(value: &str) -> Option<u64> {
    let inner = value.trim_matches(['[', ']', '\'', '"']);
    let all = inner
        .split(',')
        .map(str::trim)
        .all(|part| !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit()));
    (all && (inner.contains(',') || value.starts_with('['))).then(|| inner.split(',').count() as u64)
}

/// A number with a unit behind it, perhaps after a space; `default` is the unit of a bare number.
pub(super) fn sized(text: &str, default: Option<&str>, at: Span) -> Option<Figure> {
    let text = text.trim_start_matches([' ', '\'', '"', '~', '≈', '约']);
    let number = text.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b',')).count();
    let (number, after) = text.split_at(number);
    let number = number.trim_end_matches([',', '.']);
    let after = after.strip_prefix(' ').unwrap_or(after);
    let unit: &str = &after[..after.bytes().take_while(u8::is_ascii_alphabetic).count()];
    let unit = match unit {
        "" => default?,
        _ if crate::units::unit(unit, Base::Binary).is_some() => unit,
        _ => default?,
    };
    size(number, unit, Base::Binary).map(|size| size.at(at))
}

/// Slurm's sizes: megabytes unless a letter says otherwise, all of them binary.
fn slurm_size(value: &str, at: Span) -> Option<Figure> {
    sized(value, Some("MB"), at).filter(|figure| figure.bytes > 0).map(exact)
}

/// A size that was set rather than measured is not rounded.
fn exact(figure: Figure) -> Figure {
    Figure { half_width: 0, ..figure }
}

pub(super) fn version(value: &str) -> Option<String> {
    let value = value.trim_start_matches('v');
    let digits = value.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let dots = value[..digits].bytes().filter(|b| *b == b'.').count();
    let plausible = matches!(value.as_bytes().first(), Some(b'0' | b'1' | b'2'));
    (plausible && (1..=2).contains(&dots)).then(|| value.trim_end_matches([',', ')', ';']).to_string())
}

/// Statements in words.
fn phrases(text: &str, at: Span, found: &mut Vec<Setting>) {
    let number_after = |phrase: &str| -> Option<u64> {
        let after = text.find(phrase).map(|i| &text[i + phrase.len()..])?;
        let after = after.trim_start_matches([' ', '=', ':', '~']);
        let digits = after.bytes().take_while(|b| b.is_ascii_digit() || *b == b',').count();
        whole(after[..digits].trim_end_matches(','))
    };
    // transformers' Trainer.
    push(found, number_after("Num examples ="), Setting::Samples);
    push(found, number_after("Num Epochs ="), Setting::Epochs);
    push(found, number_after("Instantaneous batch size per device ="), Setting::MicroBatch);
    push(found, number_after("Gradient Accumulation steps ="), Setting::Accumulation);
    push(found, number_after("accumulation) ="), Setting::TotalBatch);
    push(found, number_after("Total optimization steps ="), Setting::Steps);
    // torch.utils.data warns about more workers than cores.
    push(found, number_after("This DataLoader will create "), Setting::Workers);
    for phrase in ["batch size ", "Batch size ", "batch size: ", "Batch size: ", "batch size of "] {
        if let Some(count) = number_after(phrase).filter(plausible_batch)
            && !text.contains("per device")
        {
            found.push(Setting::Batch(count));
            break;
        }
    }
    push(found, number_after("of length ").filter(|n| *n >= 8 && text.contains("sequence")), Setting::Sequence);
    if let Some((before, after)) =
        ["workers ×", "workers x ", "workers × ", "workers * "].iter().find_map(|phrase| text.split_once(phrase))
    {
        push(found, last_number(before).filter(|n| *n <= 4096), Setting::Workers);
        let after = after.trim_start();
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let what = after[digits..].trim_start().to_ascii_lowercase();
        if ["gpu", "proc", "rank", "进程"].iter().any(|word| what.starts_with(word)) {
            push(found, whole(&after[..digits]), Setting::Local);
        }
    } else if let Some((before, _)) = text.split_once(" workers")
        && !["died", "killed", "different", "dask", "ray", "terminated"].iter().any(|word| text.contains(word))
    {
        push(found, last_number(before).filter(|n| *n <= 4096), Setting::Workers);
    }
    if (text.contains("每帧")
        || text.contains("每个样本")
        || text.contains("per sample")
        || text.contains("each sample"))
        && let Some(figure) = last_size(text, at)
    {
        found.push(Setting::SampleSize(figure));
    }
    if let Some((before, _)) = text.split_once('帧')
        && (text.contains("数据集") || text.contains("共"))
    {
        push(found, last_number(before).filter(|n| *n > 1), Setting::Samples);
    }
    if text.contains("物理内存") || text.contains("total RAM") || text.contains("system RAM") {
        push(found, last_size(text, at), Setting::HostTotal);
    }
    parameters(text, found);
    if text.contains("DeepSpeedZeroOptimizer_Stage3") || text.contains("zero/stage3.py") {
        found.push(Setting::Zero(3));
    }
    if text.contains("FullyShardedDataParallel") || text.contains("fully_sharded_data_parallel") {
        found.push(Setting::Fsdp(true));
    }
    if text.contains("torch.compile(") {
        found.push(Setting::Compile(true));
    }
    if text.contains("gradient_checkpointing_enable()") {
        found.push(Setting::Checkpointing(true));
    }
    for name in ["torch.optim.", "optim."] {
        if let Some((_, after)) = text.split_once(name)
            && after.contains('(')
            && !after.contains(".py")
        {
            push(found, optimizer(after), Setting::Optimizer);
            break;
        }
    }
    // `torch 2.4.1+cu121`, `torch-2.1.0+cu118`.
    for name in ["torch ", "torch-", "PyTorch ", "torch version "] {
        if let Some((before, after)) = text.split_once(name)
            && !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
            && after.starts_with(|c: char| c.is_ascii_digit())
        {
            push(found, version(after.split([' ', ',', ')', '|']).next().unwrap_or("")), Setting::TorchVersion);
            break;
        }
    }
    if let Some(limit) = text.trim_start().trim_start_matches("$ ").strip_prefix("ulimit -v ") {
        push(found, sized(limit, Some("KB"), at).map(exact), Setting::MemoryLimit);
    }
    if (text.contains("docker run") || text.contains("podman run"))
        && let Some((_, after)) = text.split_once(" -m ")
    {
        push(found, sized(after, Some("B"), at).map(exact), Setting::MemoryLimit);
    }
    if text.contains("Limits:")
        && let Some((_, after)) = text.split_once("memory:")
    {
        push(found, kubernetes_size(after, at), Setting::MemoryLimit);
    }
}

/// A Kubernetes quantity: `4Gi` is binary, `4G` decimal.
pub(super) fn kubernetes_size(text: &str, at: Span) -> Option<Figure> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(text.len());
    crate::units::parse(&text[..end], Base::Decimal).map(|size| exact(size.at(at))).filter(|figure| figure.bytes > 0)
}

/// `trainable params: 4,194,304 || all params: 6,742,609,920`, `124.4M parameters`, `Number of parameters: 1234`.
fn parameters(text: &str, found: &mut Vec<Setting>) {
    let lower = text.to_ascii_lowercase();
    if !lower.contains("param") || lower.contains("hyperparam") {
        return;
    }
    if lower.contains("trainable params:") && lower.contains("all params:") {
        let all = count_after(&lower, "all params:");
        push(found, all, Setting::Parameters);
        let trainable =
            lower.split_once("trainable params:").and_then(|(_, after)| counted(after.split_whitespace().next()?));
        if let (Some(all), Some(trainable)) = (all, trainable) {
            // peft prints this line; most of the parameters are frozen where adapters are trained.
            found.push(Setting::Lora(trainable < 0.5 * all));
        }
        return;
    }
    for phrase in ["number of parameters", "total params", "total parameters", "num_parameters", "model parameters"] {
        if let Some(count) = count_after(&lower, phrase) {
            found.push(Setting::Parameters(count));
            return;
        }
    }
    for phrase in [" parameters", " params"] {
        if let Some(i) = lower.find(phrase) {
            let head = lower[..i].trim_end();
            let word = head.rsplit([' ', '(', ':', '=']).next().unwrap_or("");
            if let Some(count) = counted(word).filter(|n| *n >= 1e5) {
                found.push(Setting::Parameters(count));
                return;
            }
        }
    }
}

fn count_after(lower: &str, phrase: &str) -> Option<f64> {
    let after = &lower[lower.find(phrase)? + phrase.len()..];
    let after = after.trim_start_matches([' ', ':', '=', '~', '(', ')', '*']);
    let word = after.split([' ', '|', ')', ';']).next()?;
    counted(word).filter(|n| *n >= 1e5)
}

/// `124m`, `6.7b`, `124,439,808`, in lower case.
fn counted(word: &str) -> Option<f64> {
    let word = word.trim_end_matches(['.', ',']);
    let (number, unit) = match word.as_bytes().last()? {
        b'b' => (&word[..word.len() - 1], 1e9),
        b'm' => (&word[..word.len() - 1], 1e6),
        b'k' => (&word[..word.len() - 1], 1e3),
        _ => (word, 1.0),
    };
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',')) {
        return None;
    }
    number.replace(',', "").parse::<f64>().ok().map(|n| n * unit)
}

fn last_number(text: &str) -> Option<u64> {
    let text = text.trim_end_matches([' ', '*', '`']);
    let digits = text.bytes().rev().take_while(|b| b.is_ascii_digit() || *b == b',').count();
    whole(text[text.len() - digits..].trim_start_matches(','))
}

/// The last number with a unit of memory in a line.
fn last_size(text: &str, at: Span) -> Option<Figure> {
    let bytes = text.as_bytes();
    let mut found = None;
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i].is_ascii_digit() && (i == 0 || !bytes[i - 1].is_ascii_alphanumeric()) {
            let figure = sized(&text[i..], None, at);
            while i < bytes.len() && (bytes[i].is_ascii_digit() || matches!(bytes[i], b'.' | b',')) {
                i += 1;
            }
            found = figure.filter(|figure| figure.bytes > 1 << 10).or(found);
        } else {
            i += 1;
        }
    }
    found
}

/// Values that follow from several statements together: batch sizes by their names, a limit per CPU.
#[derive(Debug, Default)]
pub(super) struct Parts {
    plain: Known<u64>,
    micro: Known<u64>,
    train: Known<u64>,
    total: Known<u64>,
    devices: Known<u64>,
    memory_per_cpu: Known<Figure>,
    cpus: Known<u64>,
}

/// Puts a setting where nothing is known yet.
pub(super) fn apply(context: &mut Context, parts: &mut Parts, setting: &Setting, at: Span) {
    match setting {
        Setting::Batch(n) => parts.plain.note(*n, at),
        Setting::MicroBatch(n) => parts.micro.note(*n, at),
        Setting::TrainBatch(n) => parts.train.note(*n, at),
        Setting::TotalBatch(n) => parts.total.note(*n, at),
        Setting::Devices(n) => parts.devices.note(*n, at),
        Setting::EvalBatch(n) => context.eval_batch_size.note(*n, at),
        Setting::OtherBatch(name, n) => context.other_batch.note(((*name).to_string(), *n), at),
        Setting::Accumulation(n) => context.accumulation.note(*n, at),
        Setting::Sequence(n) => context.sequence_length.note(*n, at),
        Setting::Image(n) => context.image_size.note(*n, at),
        Setting::Workers(n) => context.workers.note(*n, at),
        Setting::Prefetch(n) => context.prefetch.note(*n, at),
        Setting::PinMemory(on) => context.pin_memory.note(*on, at),
        Setting::PersistentWorkers(on) => context.persistent_workers.note(*on, at),
        Setting::SampleSize(figure) => context.sample_size.note(*figure, at),
        Setting::Samples(n) => context.samples.note(*n, at),
        Setting::CacheSize(figure) => context.cache_size.note(*figure, at),
        Setting::World(n) => context.world_size.note(*n, at),
        Setting::Local(n) => context.local_processes.note(*n, at),
        Setting::Rank(n) => context.rank.note(*n, at),
        Setting::Epochs(n) => context.epochs.note(*n, at),
        Setting::Steps(n) => context.steps.note(*n, at),
        Setting::Precision(precision) => context.precision.note(*precision, at),
        Setting::Optimizer(name) => context.optimizer.note(name.clone(), at),
        Setting::Checkpointing(on) => context.gradient_checkpointing.note(*on, at),
        Setting::Attention(name) => context.attention.note(name.clone(), at),
        Setting::Lora(on) => context.lora.note(*on, at),
        Setting::Quantized(on) => context.quantized.note(*on, at),
        Setting::Zero(stage) => context.zero_stage.note(*stage, at),
        Setting::Fsdp(on) => context.fsdp.note(*on, at),
        Setting::Offload(on) => context.cpu_offload.note(*on, at),
        Setting::Compile(on) => context.compile.note(*on, at),
        Setting::Model(name) => context.model.note(name.clone(), at),
        Setting::Parameters(n) => context.parameters.note(*n, at),
        Setting::AllocConf(value) => context.alloc_conf.note(value.clone(), at),
        Setting::Visible(value) => context.visible_devices.note(value.clone(), at),
        Setting::MemoryLimit(figure) => context.memory_limit.note(*figure, at),
        Setting::MemoryPerCpu(figure) => parts.memory_per_cpu.note(*figure, at),
        Setting::CpusPerTask(n) => parts.cpus.note(*n, at),
        Setting::HostTotal(figure) => context.host_total.note(*figure, at),
        Setting::TorchVersion(version) => context.torch_version.note(version.clone(), at),
        Setting::Platform(platform) => context.platform.note(*platform, at),
        Setting::Container => context.container.note(true, at),
    }
}

impl Parts {
    /// The batch of one process, from what was stated. `total_is_plain` tells that the trainer's plain batch counts all devices.
    pub(super) fn settle(self, context: &mut Context, total_is_plain: bool, deepspeed: bool) {
        if let Known::Seen(n, at) = self.micro {
            context.batch_size.note(n, at);
        }
        if let Known::Seen(n, at) = self.plain {
            let devices = if total_is_plain { self.devices.value().unwrap_or(1).max(1) } else { 1 };
            context.batch_size.note(n.div_ceil(devices), at);
        }
        // DeepSpeed's own `train_batch_size` counts all processes and accumulation steps.
        if let Known::Seen(n, at) = self.train
            && !deepspeed
        {
            context.batch_size.note(n, at);
        }
        if let Known::Seen(n, at) = self.devices {
            context.local_processes.note(n, at);
        }
        if let (Known::Seen(each, at), Some(cpus)) = (self.memory_per_cpu, self.cpus.value()) {
            let bytes = each.bytes.saturating_mul(cpus);
            context.memory_limit.note(Figure { bytes, ..each }, at);
        }
        // Trainer prints the total over processes and accumulation, so the number of processes follows.
        if let (Some(total), Some(each)) = (self.total.value(), context.batch_size.value())
            && let Some(per_process) = each.checked_mul(context.accumulation.value().unwrap_or(1)).filter(|n| *n > 0)
            && total % per_process == 0
            && let Some(at) = self.total.span()
        {
            context.world_size.note(total / per_process, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(text: &str) -> Vec<Setting> {
        read(text, 1, false).into_iter().map(|(setting, _)| setting).collect()
    }

    #[test]
    fn allocator_settings_count_only_where_they_are_set() {
        let set = Setting::AllocConf("expandable_segments:True,max_split_size_mb:128".into());
        assert!(
            read_line("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128").contains(&set)
        );
        assert!(
            read_line("os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True,max_split_size_mb:128'")
                .contains(&set)
        );
        let hint = "is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.";
        assert_eq!(read_line(hint), []);
    }

    #[test]
    fn parameter_counts_in_names_and_words() {
        assert_eq!(parameters_in_name("lmsys/vicuna-7b-v1.3"), Some(7e9));
        assert_eq!(parameters_in_name("Qwen/Qwen2.5-0.5B-Instruct"), Some(0.5e9));
        assert_eq!(parameters_in_name("Mixtral-8x7B"), None);
        assert_eq!(parameters_in_name("llama-bnb-4bit"), None);
        assert!(read_line("model has 124.4M parameters").contains(&Setting::Parameters(124.4e6)));
        assert!(
            read_line("trainable params: 4,194,304 || all params: 6,742,609,920 || trainable%: 0.06")
                .contains(&Setting::Parameters(6_742_609_920.0))
        );
    }

    #[test]
    fn limits_have_their_own_units() {
        let limit = |text: &str| match read_line(text).as_slice() {
            [Setting::MemoryLimit(figure)] => figure.bytes,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(limit("#SBATCH --mem=48Gb"), 48 << 30);
        assert_eq!(limit("#SBATCH --mem 4000"), 4000 << 20);
        assert_eq!(limit("    Limits:      memory: 4Gi"), 4 << 30);
        assert_eq!(limit("ulimit -v 1048576"), 1 << 30);
    }
}
