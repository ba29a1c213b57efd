//! The table of setting keys: under which names programs print a setting, when the name counts, and how its value is
//! read.
//!
//! Everything else follows from it: which lines are looked at ([`super::topics`]), what [`super::settings::read`] takes
//! from them, and the test that every key is read where it stands alone on its line. Another name of a setting is a
//! word here.

use super::Precision;
use super::option::Quantity;
use super::pairs::Pair;
use super::settings::{
    Setting, deepspeed_file, exact, largest, listed_devices, model, numbered, optimizer, per_device_remark,
    plausible_batch, precision, sets_environment, sized, slurm_size, truth, unquoted_list, version, whole, word,
};
use crate::evidence::Span;
use crate::units::{Base, size};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A pair of a line, with what its meaning may depend on.
pub(super) struct Stated<'a> {
    pub text: &'a str,
    pub pair: Pair<'a>,
    /// The key's last component, in lower case with underscores.
    pub key: &'a str,
    pub at: Span,
    /// The line belongs to a launch command.
    pub command: bool,
}

/// Keys that say the same.
pub(super) struct Row {
    /// In lower case with underscores, without what stands before a dot or slash.
    pub names: &'static [&'static str],
    when: When,
    value: Value,
}

/// Where a key counts.
enum When {
    Always,
    /// In launch commands only.
    Command,
    /// As an option with two hyphens.
    Option,
    /// Where more holds; with a line that fulfils it.
    If(fn(&Stated<'_>) -> bool, &'static str),
}

/// How a value is read.
enum Value {
    /// A whole number, if it is plausible: from, to, both inclusive.
    Count(u64, u64, fn(u64) -> Setting),
    Flag(fn(bool) -> Setting),
    /// Something that counts only when it is on.
    On(fn() -> Setting),
    Word(fn(String) -> Setting),
    /// Whatever a function makes of it; with an example of a value.
    Other(fn(&Stated<'_>, &mut Vec<Setting>), &'static str),
}

use Value::{Count, Flag, On, Other, Word};
use When::{Always, Command, If, Option as Hyphens};

const BATCH: u64 = 1_000_000;
/// Of a shorter interval any step is a multiple often enough; and it may count epochs.
const DUE_AT_LEAST: u64 = 20;

/// One row for each meaning; a name may have several, each with its condition.
pub(super) const ROWS: &[Row] = &[
    Row {
        names: &[
            // transformers, LLaMA-Factory, torchtune
            "per_device_train_batch_size",
            "per_gpu_train_batch_size",
            "per_device_batch_size",
            "per_gpu_batch_size",
            // Megatron, DeepSpeed, NeMo, axolotl, OpenRLHF, verl
            "micro_batch_size",
            "microbatch_size",
            "micro_batch",
            "micro_batch_size_per_gpu",
            "train_micro_batch_size_per_gpu",
            "micro_train_batch_size",
            "device_train_microbatch_size",
            "ppo_micro_batch_size_per_gpu",
            "mbs",
            // MMEngine, PaddleDetection, detectron2's forks, MaxText, torchtitan
            "batch_size_per_gpu",
            "batch_size_per_card",
            "batch_size_per_replica",
            "batchsize_per_gpu",
            "samples_per_gpu",
            "imgs_per_gpu",
            "images_per_gpu",
            "local_batch_size",
            "device_batch_size",
            "batch_size_per_device",
            "batch_per_gpu",
            "per_replica_batch_size",
            "instantaneous_batch_size",
        ],
        when: Always,
        value: Count(1, BATCH, Setting::MicroBatch),
    },
    Row {
        names: &[
            "batch_size",
            "batchsize",
            "batch",
            "bs",
            "batch_sz",
            "bsz",
            "train_bs",
            "batch_size_train",
            "train_batch",
            "train_batchsize",
            "trainbatchsize",
        ],
        when: Always,
        value: Other(batch, "16"),
    },
    Row { names: &["train_batch_size"], when: Always, value: Count(1, BATCH, Setting::TrainBatch) },
    Row {
        names: &[
            "global_batch_size",
            "total_batch_size",
            "total_train_batch_size",
            "effective_batch_size",
            "global_train_batch_size",
            "global_bs",
            "gbs",
            "ims_per_batch",
        ],
        when: Always,
        value: Count(1, u64::MAX, Setting::TotalBatch),
    },
    Row {
        names: &[
            "per_device_eval_batch_size",
            "eval_batch_size",
            "val_batch_size",
            "valid_batch_size",
            "test_batch_size",
            "per_gpu_eval_batch_size",
            "validation_batch_size",
            "batch_size_val",
            "batch_size_eval",
            "eval_bs",
            "val_bs",
            "test_bs",
            "device_eval_batch_size",
            "batch_size_valid",
            "batch_size_test",
        ],
        when: Always,
        value: Count(1, BATCH, Setting::EvalBatch),
    },
    Row { names: &["max_tokens"], when: Command, value: Other(other_batch, "16") },
    Row {
        names: &[
            "num_envs",
            "max_num_seqs",
            "max_running_requests",
            // Of programs that draw, fold or answer, whose batch is no batch of training.
            "diffusion_batch_size",
            "sample_batch_size",
            "sampling_batch_size",
            "inference_batch_size",
            "infer_batch_size",
            "predict_batch_size",
            "prediction_batch_size",
            "generation_batch_size",
            "gen_batch_size",
            "encode_batch_size",
            "encoding_batch_size",
            "decode_batch_size",
            "vae_batch_size",
            "image_batch_size",
            // llama.cpp's sequences, and threads that each work on a picture of their own.
            "n_seq_max",
            "execution_threads",
        ],
        when: Always,
        value: Other(other_batch, "16"),
    },
    // Scripts that draw: so many pictures at once.
    Row {
        names: &["n_samples", "num_samples"],
        when: If(
            |s| s.command && s.pair.hyphens == 2 && whole(s.pair.value).is_some_and(|count| count <= 16),
            "python txt2img.py --n_samples 4",
        ),
        value: Other(other_batch, "4"),
    },
    Row {
        names: &[
            "gradient_accumulation_steps",
            "accumulate_grad_batches",
            "accumulation_steps",
            "accum_steps",
            "grad_accum",
            "grad_accum_steps",
            "accum_iter",
            "gradient_accumulation",
            "grad_accumulation",
            "grad_acc_steps",
            "accumulate",
            "accum_grad",
            "update_freq",
            "accum",
            "grad_accumulation_steps",
            "gradient_accumulate_steps",
            "accumulative_counts",
            "accumulate_steps",
            "acc_steps",
            "accum_freq",
        ],
        when: Always,
        value: Count(1, 100_000, Setting::Accumulation),
    },
    Row {
        names: &[
            "max_seq_length",
            "max_seq_len",
            "seq_length",
            "seq_len",
            "sequence_length",
            "sequence_len",
            "max_sequence_length",
            "max_sequence_len",
            "model_max_length",
            "max_position_embeddings",
            "max_target_length",
            "cutoff_len",
            "max_source_length",
            "context_length",
            "context_len",
            "context_size",
            "ctx_len",
            "n_ctx",
            "num_ctx",
            "max_len",
            "max_model_len",
            "vllm_maxlen",
            "session_len",
            "max_prompt_length",
            "seqlen",
            "max_seqlen",
            "seq_size",
            "ctx_size",
            "max_token_length",
            "tokens_per_sample",
            // TGI.
            "max_input_length",
            "max_input_tokens",
        ],
        when: Always,
        value: Count(8, 1 << 32, Setting::Sequence),
    },
    // ParlAI cuts texts to so many tokens.
    Row {
        names: &["truncate", "text_truncate"],
        when: If(|stated| whole(stated.pair.value).is_some(), "truncate: 256"),
        value: Count(8, 1 << 20, Setting::Sequence),
    },
    // A generation configuration's default length is 20, whatever the model is trained on.
    Row {
        names: &["max_length"],
        when: If(|stated| whole(stated.pair.value) != Some(20), "max_length: 512"),
        value: Count(8, 1 << 32, Setting::Sequence),
    },
    // llama.cpp.
    Row {
        names: &["c"],
        when: If(
            |stated| stated.command && stated.pair.hyphens == 1 && stated.text.contains("llama"),
            "./llama-server -m model-7b.gguf -c 8192",
        ),
        value: Count(8, 1 << 32, Setting::Sequence),
    },
    // PyTorch's examples, timm and most classifiers.
    Row {
        names: &["b"],
        when: If(
            |s| s.command && s.pair.hyphens == 1 && (s.text.contains(".py") || s.text.contains(".sh")),
            "./main.py -b 128",
        ),
        value: Count(1, BATCH, Setting::Batch),
    },
    // Kernels have a BLOCK_SIZE of their own.
    Row {
        names: &["block_size"],
        when: If(
            |stated| stated.pair.key.ends_with("block_size") && !stated.text.contains("BLOCK_"),
            "block_size = 1024",
        ),
        value: Count(128, 1 << 32, Setting::Sequence),
    },
    Row {
        names: &[
            "imgsz",
            "img_size",
            "image_size",
            "img_sz",
            "input_size",
            "crop_size",
            "train_crop_size",
            "resolution",
            "imagesize",
            "imsize",
            "imgsize",
            "img_scale",
            "image_resolution",
            "max_size_train",
            "input_resolution",
            "train_resolution",
        ],
        when: Always,
        value: Other(
            |s, found| push(found, largest(s.pair.value).filter(|n| (16..=65_536).contains(n)), Setting::Image),
            "640",
        ),
    },
    // Programs that draw: a picture's side, where it is one number.
    Row {
        names: &["size"],
        when: If(
            |s| s.command && s.pair.hyphens == 2 && whole(s.pair.value).is_some_and(|n| n >= 64 && n % 8 == 0),
            "./sample.py --size 512",
        ),
        value: Count(64, 16_384, Setting::Image),
    },
    Row {
        names: &[
            "num_workers",
            "workers",
            "dataloader_num_workers",
            "n_workers",
            "num_data_workers",
            "data_workers",
            "loader_workers",
            "nworkers",
            "workers_per_gpu",
            "train_num_workers",
            "numworkers",
            "dataloader_workers",
            "worker_num",
            "num_loader_workers",
            "num_dataloader_workers",
            "n_data_workers",
            "num_worker",
            "loader_num_workers",
            "data_num_workers",
            "dl_num_workers",
            "data_loader_workers",
            "data_loader_num_workers",
            "dataset_num_workers",
        ],
        when: Always,
        value: Count(0, 4096, Setting::Workers),
    },
    Row {
        names: &["prefetch_factor", "dataloader_prefetch_factor"],
        when: Always,
        value: Count(0, 4096, Setting::Prefetch),
    },
    Row { names: &["pin_memory", "pin_mem", "dataloader_pin_memory"], when: Always, value: Flag(Setting::PinMemory) },
    Row {
        names: &["persistent_workers", "dataloader_persistent_workers"],
        when: Always,
        value: Flag(Setting::PersistentWorkers),
    },
    Row {
        names: &["cache_size_gb", "cache_gb", "ram_cache_gb", "max_cache_gb"],
        when: Always,
        value: Other(
            |s, found| {
                push(found, size(s.pair.value, "GB", Base::Binary).map(|n| exact(n.at(s.at))), Setting::CacheSize)
            },
            "64",
        ),
    },
    Row {
        names: &["cache_size", "cache_memory"],
        when: Always,
        value: Other(|s, found| push(found, sized(s.pair.rest, None, s.at).map(exact), Setting::CacheSize), "64GB"),
    },
    Row {
        names: &["sample_size", "bytes_per_sample", "sample_bytes"],
        when: Always,
        value: Other(|s, found| push(found, sized(s.pair.rest, None, s.at), Setting::SampleSize), "12MB"),
    },
    Row {
        names: &[
            "num_samples",
            "dataset_size",
            "n_samples",
            "num_examples",
            "train_samples",
            "num_train_samples",
            "num_train_examples",
            "train_size",
        ],
        when: Always,
        value: Count(2, u64::MAX, Setting::Samples),
    },
    Row {
        names: &[
            "save_steps",
            "save_interval",
            "save_freq",
            "save_every",
            "save_every_n_steps",
            "checkpointing_steps",
            "checkpoint_interval",
            "checkpoint_every",
            "ckpt_interval",
        ],
        when: Always,
        value: Count(DUE_AT_LEAST, 1_000_000, Setting::SaveEvery),
    },
    Row {
        names: &["eval_steps", "eval_interval", "eval_every", "eval_freq", "val_check_interval", "val_interval"],
        when: Always,
        value: Count(DUE_AT_LEAST, 1_000_000, Setting::EvaluateEvery),
    },
    Row { names: &["world_size", "num_processes"], when: Always, value: Count(1, 1_000_000, Setting::World) },
    Row {
        names: &[
            "nproc_per_node",
            "num_gpus",
            "gpus_per_node",
            "n_gpus",
            "ngpus",
            "n_gpu",
            "num_gpu",
            "num_gpus_per_node",
            "ntasks_per_node",
            "proc_per_node",
            "n_gpus_per_node",
            "ngpus_per_node",
        ],
        when: Always,
        value: Count(1, 1024, Setting::Local),
    },
    Row {
        names: &["gpus"],
        when: If(|s| s.pair.hyphens == 2 && !s.text.contains("docker"), "--gpus 8"),
        value: Count(1, 1024, Setting::Local),
    },
    Row {
        names: &["include"],
        when: Command,
        value: Other(
            |s, found| {
                let word = s.pair.rest.split([' ', '\'', '"', ']']).next().unwrap_or("");
                push(found, listed_devices(word.rsplit(':').next().unwrap_or("")), Setting::Local);
            },
            "localhost:0,1,2",
        ),
    },
    Row {
        names: &["device", "devices"],
        when: If(|s| s.command || s.pair.value.starts_with('[') || a_device(s).is_some(), "device: [0, 1, 2]"),
        value: Other(
            |s, found| {
                if let Some(device) = a_device(s) {
                    return found.push(Setting::Meant(device));
                }
                let value = s.pair.value;
                let value = if value.starts_with('[') { value } else { unquoted_list(&s.pair) };
                push(found, listed_devices(value), Setting::Devices);
            },
            "[0, 1]",
        ),
    },
    // Lightning: `GLOBAL_RANK: 0, MEMBER: 1/8`.
    Row {
        names: &["member"],
        when: Always,
        value: Other(
            |s, found| push(found, s.pair.value.split_once('/').and_then(|(_, all)| whole(all)), Setting::World),
            "1/8",
        ),
    },
    Row { names: &["global_rank"], when: Always, value: Other(rank, "3") },
    // Adapters have a rank too.
    Row {
        names: &["rank"],
        when: If(
            |s| {
                let of_adapters = s.text.contains("lora") || s.text.contains("Lora");
                !of_adapters && (s.text.contains("local_rank") || s.text.contains("world_size"))
            },
            "rank=3 world_size=8",
        ),
        value: Other(rank, "3"),
    },
    Row {
        names: &[
            "epochs",
            "num_epochs",
            "max_epochs",
            "num_train_epochs",
            "n_epochs",
            "max_epoch",
            "total_epochs",
            "train_epochs",
            "nepochs",
        ],
        when: Always,
        value: Other(
            |s, found| {
                let whole_part = s.pair.value.split('.').next().unwrap_or(s.pair.value);
                push(found, whole(whole_part).filter(|n| *n > 0), Setting::Epochs);
            },
            "12",
        ),
    },
    Row {
        names: &[
            "max_steps",
            "num_steps",
            "total_steps",
            "max_iters",
            "max_iter",
            "max_train_steps",
            "train_iters",
            "num_train_steps",
            "num_training_steps",
            "total_iters",
            "training_steps",
            "max_update",
        ],
        when: Always,
        value: Count(2, u64::MAX, Setting::Steps),
    },
    Row { names: &["fp16", "half"], when: Always, value: On(|| Setting::Precision(Precision::Fp16)) },
    Row { names: &["bf16"], when: Always, value: On(|| Setting::Precision(Precision::Bf16)) },
    Row { names: &["amp", "use_amp"], when: Always, value: On(|| Setting::Precision(Precision::Mixed)) },
    Row {
        names: &[
            "precision",
            "mixed_precision",
            "torch_dtype",
            "dtype",
            "amp_dtype",
            "param_dtype",
            "compute_dtype",
            "data_type",
            "weight_dtype",
            "params_dtype",
            "model_dtype",
        ],
        when: If(|s| !makes_tensor(s.text), "dtype: bfloat16"),
        value: Other(|s, found| push(found, precision(s.pair.value), Setting::Precision), "bfloat16"),
    },
    Row {
        // `type` is DeepSpeed's: `"optimizer": {"type": "AdamW", …`.
        names: &[
            "optim",
            "optimizer",
            "optimizer_type",
            "opt",
            "optimizer_name",
            "optim_type",
            "optimizer_class",
            "type",
        ],
        when: Always,
        value: Other(|s, found| push(found, optimizer(s.pair.value), Setting::Optimizer), "adamw"),
    },
    Row {
        names: &[
            "gradient_checkpointing",
            "activation_checkpointing",
            "use_checkpoint",
            "grad_checkpointing",
            "use_checkpointing",
            "gradient_checkpoint",
            "recompute",
            "enable_gradient_checkpointing",
            "checkpoint_activations",
            "use_gradient_checkpointing",
            "grad_checkpoint",
            "use_grad_checkpoint",
            "use_recompute",
            "with_cp",
            "activations_checkpoint",
            "enable_activation_checkpointing",
            "fsdp_activation_checkpointing",
        ],
        when: Always,
        value: Flag(Setting::Checkpointing),
    },
    // Megatron and NeMo: `--recompute-granularity full`.
    Row {
        names: &["recompute_granularity", "activations_checkpoint_granularity"],
        when: Always,
        value: Other(
            |s, found| match s.pair.value.to_ascii_lowercase().as_str() {
                "full" | "selective" => found.push(Setting::Checkpointing(true)),
                "none" | "null" => found.push(Setting::Checkpointing(false)),
                _ => {}
            },
            "full",
        ),
    },
    Row {
        names: &["attn_implementation", "attn_impl", "attention_backend", "attn_backend"],
        when: Always,
        value: Word(Setting::Attention),
    },
    Row {
        names: &[
            "flash_attn",
            "use_flash_attn",
            "use_flash_attention",
            "use_flash_attention_2",
            "use_flash_attn_2",
            "flash_attention",
        ],
        when: Always,
        value: Other(flash_attention, "true"),
    },
    Row { names: &["use_lora", "lora", "use_peft", "lora_enable"], when: Always, value: Flag(Setting::Lora) },
    Row {
        names: &["lora_r", "lora_rank", "lora_alpha", "lora_dim"],
        when: Command,
        value: Count(1, u64::MAX, |_| Setting::Lora(true)),
    },
    Row {
        names: &["finetuning_type", "train_type", "tuner_type", "sft_type", "adapter"],
        when: Always,
        value: Other(|s, found| found.push(Setting::Lora(s.pair.value.to_ascii_lowercase().contains("lora"))), "lora"),
    },
    Row {
        names: &["load_in_4bit"],
        when: Always,
        value: Other(|s, found| loaded_in(s, Precision::Int4, found), "true"),
    },
    Row {
        names: &["load_in_8bit"],
        when: Always,
        value: Other(|s, found| loaded_in(s, Precision::Int8, found), "true"),
    },
    Row {
        names: &["quantization_bit", "quantization", "quant_bits", "quant_method"],
        when: Always,
        value: Other(|s, found| found.push(Setting::Quantized(!is_off(s.pair.value))), "4"),
    },
    // TGI: `quantize: Some(Eetq)`, `--quantize bitsandbytes-nf4`.
    Row { names: &["quantize"], when: Always, value: Other(quantize, "eetq") },
    Row { names: &["zero_stage", "zero_optimization_stage"], when: Always, value: Other(zero_stage, "2") },
    Row {
        names: &["stage"],
        when: If(|s| s.text.contains("zero"), "zero_optimization: {stage: 2}"),
        value: Other(zero_stage, "2"),
    },
    Row {
        names: &["deepspeed", "deepspeed_config", "deepspeed_config_file"],
        when: Always,
        value: Other(|s, found| deepspeed_file(s.pair.value, found), "ds_zero3.json"),
    },
    // ParlAI and fairseq: `zero2`, `fully_sharded`.
    Row {
        names: &["ddp_backend"],
        when: Always,
        value: Other(
            |s, found| {
                deepspeed_file(s.pair.value, found);
                if s.pair.value.contains("fully_sharded") {
                    found.push(Setting::Fsdp(true));
                }
            },
            "fully_sharded",
        ),
    },
    Row {
        names: &["strategy"],
        when: Always,
        value: Other(
            |s, found| {
                deepspeed_file(s.pair.value, found);
                if s.pair.value.to_ascii_lowercase().contains("fsdp") {
                    found.push(Setting::Fsdp(true));
                }
            },
            "fsdp",
        ),
    },
    Row {
        names: &["fsdp"],
        when: Always,
        value: Other(
            |s, found| {
                let off = is_off(s.pair.value) || matches!(s.pair.value, "[]" | "0" | "{}");
                found.push(Setting::Fsdp(!off && s.pair.value.len() < 80));
            },
            "full_shard",
        ),
    },
    Row {
        names: &[
            "offload_optimizer",
            "offload_param",
            "cpu_offload",
            "optimizer_offload",
            "param_offload",
            "offload_optimizer_device",
            "offload_param_device",
            "fsdp_offload_params",
            "optimizer_cpu_offload",
            "fsdp_cpu_offload",
            "enable_cpu_offload",
        ],
        when: Always,
        value: Other(
            |s, found| match s.pair.value.to_ascii_lowercase().as_str() {
                "cpu" | "nvme" | "true" => found.push(Setting::Offload(true)),
                "none" | "false" | "null" => found.push(Setting::Offload(false)),
                _ => {}
            },
            "cpu",
        ),
    },
    Row { names: &["torch_compile", "compile", "use_compile"], when: Always, value: Flag(Setting::Compile) },
    Row {
        names: &[
            "model_name_or_path",
            "model_name",
            "model_id",
            "pretrained_model_name_or_path",
            "base_model",
            "model_path",
            "pretrained_model",
            "model_id_or_path",
            "base_model_name_or_path",
            "served_model_name",
            "init_from",
        ],
        when: Always,
        value: Other(|s, found| model(s.pair.value, true, found), "org/model-7b"),
    },
    Row {
        names: &["model"],
        when: Always,
        value: Other(|s, found| model(s.pair.value, s.command || s.pair.value.contains('/'), found), "org/model-7b"),
    },
    Row {
        names: &["arch", "backbone"],
        when: Always,
        value: Other(
            |s, found| {
                push(found, word(s.pair.value).filter(|w| w.bytes().any(|b| b.is_ascii_digit())), Setting::Model);
            },
            "resnet50",
        ),
    },
    Row {
        names: &[
            "cuda_visible_devices",
            "hip_visible_devices",
            "ascend_rt_visible_devices",
            "rocr_visible_devices",
            "nvidia_visible_devices",
        ],
        when: If(|s| !stays_in_the_shell(s), "CUDA_VISIBLE_DEVICES=0,1 python train.py"),
        value: Other(visible_devices, "0,1"),
    },
    Row {
        names: &["pytorch_cuda_alloc_conf", "pytorch_alloc_conf", "pytorch_hip_alloc_conf"],
        when: If(
            |s| sets_environment(&s.text[..s.pair.start]),
            "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        ),
        value: Other(allocator_settings, "expandable_segments:True"),
    },
    Row {
        names: &["mem_per_cpu"],
        when: Hyphens,
        value: Other(|s, found| push(found, slurm_size(s.pair.rest, s.at), Setting::MemoryPerCpu), "4G"),
    },
    Row { names: &["cpus_per_task"], when: Hyphens, value: Count(0, u64::MAX, Setting::CpusPerTask) },
    Row {
        names: &["mem"],
        when: Hyphens,
        value: Other(|s, found| push(found, slurm_size(s.pair.rest, s.at), Setting::MemoryLimit), "48G"),
    },
    Row {
        names: &["memory"],
        when: If(
            |s| {
                let runs = ["docker", "podman", "gcloud"].iter().any(|name| s.text.contains(name));
                s.pair.hyphens == 2 && (runs || s.command)
            },
            "docker run --memory 48g image",
        ),
        value: Other(
            |s, found| push(found, sized(s.pair.rest, Some("B"), s.at).map(exact), Setting::MemoryLimit),
            "48g",
        ),
    },
    // Snakemake.
    Row {
        names: &["mem_mb"],
        when: If(|s| s.text.contains("resources"), "resources: mem_mb=16000"),
        value: Other(
            // Its MB are a million bytes: it states the same as `mem_mib` beside it.
            |s, found| {
                push(found, size(s.pair.value, "MB", Base::Decimal).map(|n| exact(n.at(s.at))), Setting::MemoryLimit)
            },
            "16000",
        ),
    },
    Row {
        names: &["memtotal"],
        when: Always,
        // The kernel prints whole kB.
        value: Other(
            |s, found| {
                let whole = !s.pair.value.contains(['.', ',']);
                push(found, sized(s.pair.rest, None, s.at).filter(|_| whole), Setting::HostTotal)
            },
            "65536kB",
        ),
    },
    // What people write of their machine: `RAM: 64 GB`.
    Row {
        names: &["ram"],
        when: If(of_modules, "RAM: 64 GB"),
        value: Other(|s, found| push(found, sized(s.pair.rest, None, s.at), Setting::HostTotal), "64 GB"),
    },
    // `free -h`, whose first column is the total.
    Row {
        names: &["mem"],
        when: If(|s| s.text.trim_start().starts_with("Mem:"), "Mem:    62Gi    20Gi    1Gi"),
        value: Other(|s, found| push(found, sized(s.pair.rest, None, s.at), Setting::HostTotal), "62Gi"),
    },
    // PyTorch Lightning's and our own summaries: `Memory: System: 12.0/62.0 GiB`.
    Row {
        names: &["system"],
        when: If(|s| s.text.contains("emory"), "Memory: system: 12.0/62.0 GiB"),
        value: Other(
            |s, found| {
                if let Some((_, total)) = s.pair.rest.split_once('/') {
                    push(found, sized(total, None, s.at), Setting::HostTotal);
                }
            },
            "12.0/62.0GiB",
        ),
    },
    Row {
        names: &["torch", "pytorch", "torch_version", "pytorch_version"],
        when: Always,
        value: Other(|s, found| push(found, version(s.pair.value), Setting::TorchVersion), "2.4.1"),
    },
    Row {
        names: &["version"],
        when: If(
            |s| s.text[..s.pair.start].trim_end().to_ascii_lowercase().ends_with("torch"),
            "PyTorch version: 2.4.1",
        ),
        value: Other(|s, found| push(found, version(s.pair.value), Setting::TorchVersion), "2.4.1"),
    },
];

/// Settings that nothing is computed from: a change is written with them.
const SPELLED: &[Row] = &[
    Row {
        names: &["execution_threads", "concurrency", "max_concurrency", "parallel_requests", "num_parallel"],
        when: Hyphens,
        value: Count(1, 1 << 16, |n| Setting::Other(Quantity::Concurrent, n)),
    },
    Row {
        names: &["tile_size", "tile", "tilesize", "tile_sample_min_size"],
        when: Always,
        value: Count(16, 65_536, |n| Setting::Other(Quantity::Tile, n)),
    },
    Row {
        names: &["chunk_size", "render_chunk_size", "ray_chunk_size", "subbatch_size", "netchunk", "decode_chunk_size"],
        when: Always,
        value: Count(2, 1 << 32, |n| Setting::Other(Quantity::Chunk, n)),
    },
    Row {
        names: &["num_frames", "frame_num", "n_frames", "max_n_frames", "max_frames", "video_length", "frames"],
        when: Hyphens,
        value: Count(2, 1 << 20, |n| Setting::Other(Quantity::Frames, n)),
    },
    Row {
        names: &["tensor_parallel_size", "tensor_model_parallel_size", "vllm_tensor_parallel_size", "tp_size", "tp"],
        when: Always,
        value: Count(1, 1024, |n| Setting::Other(Quantity::Parallel, n)),
    },
    Row {
        names: &[
            "gpu_memory_utilization",
            "vllm_gpu_memory_utilization",
            "vllm_gpu_util",
            "mem_fraction_static",
            "kv_cache_free_gpu_mem_fraction",
            "cache_max_entry_count",
        ],
        when: Always,
        value: Other(share, "0.85"),
    },
];

/// Every row.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(SPELLED)
}

/// The names of all settings that something is computed from, each with a line that states it (as an option of a
/// command, where only that counts).
pub fn examples() -> impl Iterator<Item = (&'static str, String)> {
    ROWS.iter().flat_map(|row| row.names.iter().map(|name| (*name, row.line(name))))
}

impl Row {
    fn line(&self, name: &str) -> String {
        match &self.when {
            Always => format!("{name}: {}", self.value.example()),
            Command | Hyphens => format!("python train.py --{name} {}", self.value.example()),
            If(_, line) => (*line).to_string(),
        }
    }
}

/// The rows of a name.
static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in self::rows() {
        for name in row.names {
            rows.entry(name).or_default().push(row);
        }
    }
    rows
});

/// Reads what a pair states.
pub(super) fn read(stated: &Stated<'_>, found: &mut Vec<Setting>) {
    for row in BY_NAME.get(stated.key).into_iter().flatten() {
        if row.when.holds(stated) {
            row.value.read(stated, found);
        }
    }
}

impl When {
    fn holds(&self, stated: &Stated<'_>) -> bool {
        match self {
            Always => true,
            Command => stated.command,
            Hyphens => stated.pair.hyphens == 2,
            If(holds, _) => holds(stated),
        }
    }
}

impl Value {
    fn example(&self) -> String {
        match self {
            Count(from, to, _) => (*from).max(if *from > 16 { 256 } else { 16 }).min(*to).to_string(),
            Flag(_) | On(_) => "true".into(),
            Word(_) => "flash".into(),
            Other(_, example) => (*example).into(),
        }
    }

    fn read(&self, stated: &Stated<'_>, found: &mut Vec<Setting>) {
        let value = stated.pair.value;
        match self {
            Count(from, to, make) => push(found, whole(value).filter(|n| (*from..=*to).contains(n)), *make),
            Flag(make) => push(found, truth(value), *make),
            On(make) => push(found, truth(value).filter(|on| *on), |_| make()),
            Word(make) => push(found, word(value), *make),
            Other(read, _) => read(stated, found),
        }
    }
}

fn push<T>(found: &mut Vec<Setting>, value: Option<T>, make: impl FnOnce(T) -> Setting) {
    if let Some(value) = value {
        found.push(make(value));
    }
}

fn batch(stated: &Stated<'_>, found: &mut Vec<Setting>) {
    let pair = &stated.pair;
    let each = per_device_remark(pair.rest);
    // `batch=64 (16 per GPU)` tells over how many devices the total is divided.
    let devices = whole(pair.value).zip(each).filter(|(all, each)| all > each && all % each == 0);
    push(found, devices.map(|(all, each)| all / each).filter(|devices| *devices <= 64), Setting::World);
    push(found, each, Setting::MicroBatch);
    let plain =
        stated.key != "batch" || stated.command || pair.rest.len() == pair.value.len() || !numbered(stated.text, pair);
    push(found, whole(pair.value).filter(|n| plausible_batch(n) && plain), Setting::Batch);
}

fn other_batch(stated: &Stated<'_>, found: &mut Vec<Setting>) {
    push(found, whole(stated.pair.value), |n| Setting::OtherBatch(stated.key.to_string(), n));
}

fn share(stated: &Stated<'_>, found: &mut Vec<Setting>) {
    let share = stated.pair.value.parse::<f64>().ok().filter(|share| (0.01..=1.0).contains(share));
    push(found, share, |share| Setting::Other(Quantity::Share, (share * 1000.0).round() as u64));
}

fn rank(stated: &Stated<'_>, found: &mut Vec<Setting>) {
    push(found, whole(stated.pair.value).and_then(|n| u32::try_from(n).ok()), Setting::Rank);
}

fn zero_stage(stated: &Stated<'_>, found: &mut Vec<Setting>) {
    push(found, stated.pair.value.parse().ok().filter(|n| *n <= 3), Setting::Zero);
}

fn flash_attention(stated: &Stated<'_>, found: &mut Vec<Setting>) {
    match truth(stated.pair.value) {
        Some(true) => found.push(Setting::Attention("flash_attention_2".into())),
        Some(false) => {}
        None => {
            let name = word(stated.pair.value);
            push(found, name.filter(|w| w.starts_with("fa") || w.contains("flash") || w == "sdpa"), Setting::Attention);
        }
    }
}

fn loaded_in(stated: &Stated<'_>, precision: Precision, found: &mut Vec<Setting>) {
    let on = truth(stated.pair.value);
    push(found, on, Setting::Quantized);
    push(found, on.filter(|on| *on), |_| Setting::Precision(precision));
}

fn quantize(stated: &Stated<'_>, found: &mut Vec<Setting>) {
    let value = stated.pair.rest.trim_start_matches(['\'', '"']).to_ascii_lowercase();
    let name = value.strip_prefix("some(").unwrap_or(&value).replace(['-', '_'], "");
    let width = [
        ("bitsandbytesnf4", Precision::Int4),
        ("bitsandbytesfp4", Precision::Int4),
        ("bitsandbytes", Precision::Int8),
        ("eetq", Precision::Int8),
        ("awq", Precision::Int4),
        ("gptq", Precision::Int4),
        ("exl2", Precision::Int4),
        ("marlin", Precision::Int4),
        ("fp8", Precision::Fp8),
    ];
    if let Some((_, precision)) = width.into_iter().find(|(known, _)| name.starts_with(known)) {
        found.push(Setting::Quantized(true));
        found.push(Setting::Precision(precision));
    }
}

/// `cuda:3`, a device that is asked for: in a command, as an option, or on a configuration's own line. Within a
/// sentence, and at the end of a printed tensor (`device='cuda:1')`), it tells where something is.
fn a_device(stated: &Stated<'_>) -> Option<u32> {
    let before = stated.text.get(..stated.pair.start)?.trim_matches([' ', '\t', '"', '\'', '-']);
    let own_line = before.is_empty() && !stated.text.trim_end().ends_with(')');
    if !(stated.command || stated.pair.hyphens == 2 || own_line) {
        return None;
    }
    let rest = stated.pair.rest.trim_start_matches(['"', '\'']).strip_prefix("cuda:")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

fn visible_devices(stated: &Stated<'_>, found: &mut Vec<Setting>) {
    let value = stated.pair.value.trim_matches(['[', ']']).replace(' ', "");
    let listed = unquoted_list(&stated.pair);
    let value = if listed.len() > value.len() { listed.to_string() } else { value };
    let plain =
        value.bytes().all(|b| b.is_ascii_digit() || b == b',') && !value.is_empty() || value.starts_with("GPU-");
    push(found, plain.then_some(value), Setting::Visible);
}

fn allocator_settings(stated: &Stated<'_>, found: &mut Vec<Setting>) {
    let (value, rest) = (stated.pair.value, stated.pair.rest);
    let end = rest.find([' ', '\'', '"', '`', ')']).unwrap_or(rest.len());
    let unquoted = rest.get(..end).unwrap_or("");
    let value = if value.len() >= unquoted.len() { value } else { unquoted };
    if value.contains(':') {
        found.push(Setting::AllocConf(value.trim_end_matches(['.', ',']).to_string()));
    }
}

fn is_off(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "none" | "null" | "false" | "")
}

/// True for code that makes or converts one tensor: its type is not the run's.
fn makes_tensor(text: &str) -> bool {
    ["tensor(", "zeros(", "ones(", "empty(", "randn(", "rand(", "full(", "arange(", ".to(", "zeros_like(", "array("]
        .iter()
        .any(|call| text.contains(call))
}

/// `RAM: 64 GB` alone on a line, as modules of memory come: in eights of whole GB. What a monitor reads is seldom that.
fn of_modules(s: &Stated<'_>) -> bool {
    let line = s.text.trim_start_matches(['*', '-', ' ']).strip_prefix("RAM:");
    let Some((digits, unit)) = line.and_then(|size| {
        let size = size.trim();
        size.split_at_checked(size.bytes().take_while(u8::is_ascii_digit).count())
    }) else {
        return false;
    };
    let eights = digits.parse::<u64>().is_ok_and(|size| size > 0 && size % 8 == 0);
    eights && matches!(unit.trim_start(), "GB" | "GiB" | "G")
}

/// `CUDA_VISIBLE_DEVICES="7"` alone on a line of a script: no program that is started below sees it. A list of the
/// environment has no quotes.
fn stays_in_the_shell(s: &Stated<'_>) -> bool {
    let alone = s.text[..s.pair.start].trim().is_empty();
    let set = s.text.get(s.pair.start + s.pair.key.len()..).and_then(|rest| rest.trim().strip_prefix("=\""));
    let quoted = set.and_then(|rest| rest.strip_suffix('"'));
    alone && quoted.is_some_and(|value| !value.contains([' ', '"']))
}

#[cfg(test)]
mod tests {
    use super::super::{settings, topics};
    use super::*;

    impl Row {
        /// Lines that hold one of the names and nothing else, as programs print them.
        fn lines(&self, name: &str) -> Vec<String> {
            let value = self.value.example();
            let option = name.replace('_', "-");
            match &self.when {
                If(..) => vec![self.line(name)],
                Hyphens | Command => vec![format!("--{name} {value}"), format!("--{option}={value}")],
                Always => vec![
                    format!("{name}: {value}"),
                    format!("{name}={value}"),
                    format!("  {name} = {value}"),
                    format!("--{name} {value}"),
                    format!("--{option} {value}"),
                    format!("    \"{name}\": \"{value}\","),
                    format!("    '{name}': '{value}',"),
                    format!("{name}    {value}"),
                    format!("  {name} ................................ {value}"),
                    format!("| {name} | {value} |"),
                    format!("│ {name}      │ {value}      │"),
                    format!("cfg.train.{name}: {value}"),
                ],
            }
        }
    }

    #[test]
    fn every_key_is_read_where_it_stands_alone_on_its_line() {
        for row in rows() {
            for name in row.names {
                for line in row.lines(name) {
                    assert!(topics::of(&line) & topics::SETTING != 0, "nobody looks at {line:?}");
                    let command = matches!(row.when, Command) || line.starts_with("./");
                    let read = settings::read(&line, 1, command);
                    assert!(!read.is_empty(), "nothing is read from {line:?}");
                }
            }
        }
    }

    #[test]
    fn names_are_written_as_they_are_looked_up() {
        for name in rows().flat_map(|row| row.names) {
            assert_eq!(*name, settings::normal(name));
        }
    }

    #[test]
    fn names_of_one_meaning_stand_once() {
        let mut names: Vec<&str> =
            rows().filter(|row| matches!(row.when, Always)).flat_map(|row| row.names).copied().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
