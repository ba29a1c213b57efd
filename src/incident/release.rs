//! Releases that a log allows: what came later is neither advised nor asked for.

use super::Incident;
use super::context::origin::{self, Month, Release};
use super::context::{Clue, Frame};
use crate::domain::program::PytorchAllocator;
use crate::domain::{Accelerator, Library};
use crate::input::Needles;
use std::sync::LazyLock;

/// Names in lines of text, the first release of the library that knows them, and the month in which that came out.
const CAME: &[(Library, &str, Release, Month)] = &[
    (Library::Torch, "empty_cache(", (0, 3, 0), (2017, 12)),
    (Library::Torch, "torch.utils.checkpoint", (0, 4, 0), (2018, 4)),
    (Library::Torch, "torch.no_grad(", (0, 4, 0), (2018, 4)),
    (Library::Torch, ".item()", (0, 4, 0), (2018, 4)),
    (Library::Torch, "memory_allocated(", (0, 4, 0), (2018, 4)),
    (Library::Torch, "memory_reserved(", (1, 4, 0), (2020, 1)),
    (Library::Torch, "reset_peak_memory_stats", (1, 4, 0), (2020, 1)),
    (Library::Torch, "memory_summary(", (1, 4, 0), (2020, 1)),
    (Library::Torch, "torch.cuda.amp", (1, 6, 0), (2020, 7)),
    (Library::Torch, "prefetch_factor", (1, 7, 0), (2020, 10)),
    (Library::Torch, "persistent_workers", (1, 7, 0), (2020, 10)),
    (Library::Torch, "gradient_as_bucket_view", (1, 7, 0), (2020, 10)),
    (Library::Torch, "set_per_process_memory_fraction", (1, 8, 0), (2021, 3)),
    (Library::Torch, "_ALLOC_CONF", (1, 8, 0), (2021, 3)),
    (Library::Torch, "bitsandbytes.", (1, 8, 0), (2021, 3)),
    (Library::Torch, "inference_mode(", (1, 9, 0), (2021, 6)),
    (Library::Torch, "bf16", (1, 10, 0), (2021, 10)),
    (Library::Torch, "bfloat16", (1, 10, 0), (2021, 10)),
    (Library::Torch, "save_on_cpu", (1, 10, 0), (2021, 10)),
    (Library::Torch, "torch.autocast(", (1, 10, 0), (2021, 10)),
    (Library::Torch, "max_split_size_mb", (1, 10, 0), (2021, 10)),
    (Library::Torch, "torchrun", (1, 10, 0), (2021, 10)),
    (Library::Torch, "use_reentrant", (1, 11, 0), (2022, 3)),
    (Library::Torch, "garbage_collection_threshold", (1, 12, 0), (2022, 6)),
    (Library::Torch, "roundup_power2_divisions", (1, 12, 0), (2022, 6)),
    (Library::Torch, "get_peft_model", (1, 13, 0), (2022, 10)),
    (Library::Torch, "torch.mps.", (2, 0, 0), (2023, 3)),
    (Library::Torch, "scaled_dot_product_attention", (2, 0, 0), (2023, 3)),
    (Library::Torch, "AdamW(params, fused=True)", (2, 0, 0), (2023, 3)),
    (Library::Torch, "torch.distributed.checkpoint", (2, 0, 0), (2023, 3)),
    (Library::Torch, "torch.compile(", (2, 0, 0), (2023, 3)),
    (Library::Torch, "_inductor", (2, 0, 0), (2023, 3)),
    (Library::Torch, "_record_memory_history", (2, 1, 0), (2023, 10)),
    (Library::Torch, "expandable_segments", (2, 1, 0), (2023, 10)),
    (Library::Torch, "mmap=True", (2, 1, 0), (2023, 10)),
    (Library::Torch, "assign=True", (2, 1, 0), (2023, 10)),
    (Library::Torch, "torchao.", (2, 2, 0), (2024, 1)),
    (Library::Torch, "cut_cross_entropy", (2, 4, 0), (2024, 7)),
    (Library::Torch, "fully_shard(", (2, 4, 0), (2024, 7)),
    (Library::Torch, "torch.optim.Adafactor", (2, 5, 0), (2024, 10)),
    (Library::Bitsandbytes, "bitsandbytes.", (0, 1, 0), (2021, 10)),
    (Library::Go, "GOMEMLIMIT", (1, 19, 0), (2022, 8)),
    (Library::TensorFlow, "TF_FORCE_GPU_ALLOW_GROWTH", (1, 14, 0), (2019, 6)),
    (Library::TensorFlow, "tf.recompute_grad", (2, 0, 0), (2019, 9)),
    (Library::TensorFlow, "tf.config.", (2, 0, 0), (2019, 9)),
    (Library::TensorFlow, "get_logical_device_configuration", (2, 4, 0), (2020, 12)),
    (Library::TensorFlow, "tf.keras.mixed_precision", (2, 4, 0), (2020, 12)),
    (Library::TensorFlow, "get_memory_info(\"GPU", (2, 5, 0), (2021, 5)),
    (Library::TensorFlow, "TF_GPU_ALLOCATOR", (2, 5, 0), (2021, 5)),
    (Library::Lightning, "Trainer(strategy=", (1, 5, 0), (2021, 11)),
    (Library::Lightning, "Trainer(inference_mode", (1, 8, 0), (2022, 11)),
    // Before, the name was fairscale's.
    (Library::Lightning, "strategy=\"fsdp\"", (2, 0, 0), (2023, 3)),
    (Library::Lightning, "-mixed\"", (2, 0, 0), (2023, 3)),
    (Library::Lightning, "-true\"", (2, 0, 0), (2023, 3)),
    (Library::Transformers, "per_device_train_batch_size", (2, 10, 0), (2020, 5)),
    (Library::Transformers, "per_device_eval_batch_size", (2, 10, 0), (2020, 5)),
    (Library::Transformers, "DataCollatorWithPadding", (3, 0, 0), (2020, 6)),
    (Library::Transformers, "eval_accumulation_steps", (3, 5, 0), (2020, 11)),
    (Library::Transformers, "group_by_length", (4, 2, 0), (2021, 1)),
    (Library::Transformers, "low_cpu_mem_usage", (4, 11, 0), (2021, 9)),
    (Library::Transformers, "gradient_checkpointing=True", (4, 11, 0), (2021, 9)),
    (Library::Transformers, "bf16=True", (4, 15, 0), (2021, 12)),
    (Library::Transformers, "optim=\"adafactor\"", (4, 15, 0), (2021, 12)),
    (Library::Transformers, "fsdp=\"full_shard", (4, 19, 0), (2022, 5)),
    (Library::Transformers, "device_map=\"auto\"", (4, 20, 0), (2022, 6)),
    (Library::Transformers, "adamw_bnb_8bit", (4, 19, 0), (2022, 5)),
    (Library::Transformers, "adamw_torch_fused", (4, 26, 0), (2023, 1)),
    (Library::Transformers, "preprocess_logits_for_metrics", (4, 17, 0), (2022, 3)),
    (Library::Transformers, "BitsAndBytesConfig", (4, 27, 0), (2023, 3)),
    (Library::Transformers, "load_in_4bit", (4, 30, 0), (2023, 5)),
    (Library::Transformers, "adamw_8bit", (4, 30, 0), (2023, 6)),
    (Library::Transformers, "fsdp_state_dict_type", (4, 26, 0), (2023, 1)),
    (Library::Transformers, "gradient_checkpointing_kwargs", (4, 35, 0), (2023, 11)),
    (Library::Transformers, "attn_implementation", (4, 36, 0), (2023, 12)),
    (Library::Transformers, "save_only_model", (4, 37, 0), (2024, 1)),
    (Library::Transformers, "dataloader_persistent_workers", (4, 37, 0), (2024, 1)),
    (Library::Transformers, "dataloader_prefetch_factor", (4, 38, 0), (2024, 2)),
    (Library::Transformers, "use_liger_kernel", (4, 45, 0), (2024, 9)),
    (Library::Transformers, "logits_to_keep", (4, 48, 0), (2025, 1)),
    (Library::Trl, "SFTConfig(", (0, 9, 0), (2024, 5)),
    (Library::Trl, "vllm_gpu_memory_utilization", (0, 14, 0), (2025, 1)),
    (Library::Trl, "activation_offloading", (0, 16, 0), (2025, 3)),
    (Library::Peft, "get_peft_model", (0, 1, 0), (2023, 2)),
    (Library::Peft, "all-linear", (0, 8, 0), (2024, 1)),
    (Library::Diffusers, "enable_attention_slicing", (0, 3, 0), (2022, 9)),
    (Library::Diffusers, "enable_model_cpu_offload", (0, 14, 0), (2023, 3)),
    (Library::Diffusers, "device_map=\"balanced\"", (0, 28, 0), (2024, 5)),
    (Library::Diffusers, "PipelineQuantizationConfig", (0, 34, 0), (2025, 6)),
    (Library::Datasets, "datasets.Dataset", (1, 0, 0), (2020, 9)),
    (Library::Jax, "live_arrays", (0, 4, 0), (2022, 12)),
    (Library::Jax, "NamedSharding", (0, 4, 1), (2022, 12)),
    (Library::Jax, "batch_size=1024)", (0, 4, 31), (2024, 7)),
    (Library::Jax, "XLA_CLIENT_MEM_FRACTION", (0, 4, 32), (2024, 9)),
    (Library::Ray, "RAY_memory_usage_threshold", (2, 2, 0), (2022, 12)),
    (Library::Xgboost, "QuantileDMatrix", (1, 7, 0), (2022, 10)),
    (Library::Xgboost, "ExtMemQuantileDMatrix", (3, 0, 0), (2025, 2)),
    (Library::Cudf, "cudf.set_option", (22, 8, 0), (2022, 8)),
    (Library::Cudf, "enable_cudf_spill", (22, 12, 0), (2022, 12)),
    (Library::Nccl, "NCCL_MAX_NCHANNELS", (2, 5, 0), (2019, 11)),
    (Library::Nccl, "NCCL_NVLS_ENABLE", (2, 17, 0), (2023, 3)),
    (Library::Nccl, "NCCL_CUMEM_ENABLE", (2, 18, 0), (2023, 4)),
    (Library::TensorRt, "--memPoolSize", (8, 4, 0), (2022, 6)),
    (Library::TensorRt, "set_memory_pool_limit", (8, 4, 0), (2022, 6)),
    (Library::Vllm, "--max-num-batched-tokens", (0, 1, 0), (2023, 6)),
    (Library::Vllm, "--enforce-eager", (0, 2, 3), (2023, 12)),
    (Library::Vllm, "--kv-cache-dtype", (0, 3, 0), (2024, 1)),
    (Library::Vllm, "--quantization fp8", (0, 4, 0), (2024, 4)),
    (Library::Vllm, "--cpu-offload-gb", (0, 5, 0), (2024, 7)),
    (Library::Vllm, "--enable-sleep-mode", (0, 7, 0), (2025, 1)),
    (Library::Ollama, "OLLAMA_NUM_PARALLEL", (0, 1, 33), (2024, 5)),
    (Library::Ollama, "OLLAMA_MAX_LOADED_MODELS", (0, 1, 33), (2024, 5)),
    (Library::Ollama, "ollama ps", (0, 1, 38), (2024, 5)),
    (Library::Ollama, "OLLAMA_FLASH_ATTENTION", (0, 1, 39), (2024, 5)),
    // Before, it printed one part, by an option.
    (Library::Ollama, "ollama show MODEL ", (0, 1, 45), (2024, 6)),
    (Library::Ollama, "ollama stop", (0, 3, 11), (2024, 9)),
    (Library::Ollama, "OLLAMA_KV_CACHE_TYPE", (0, 5, 0), (2024, 12)),
    (Library::Ollama, "OLLAMA_CONTEXT_LENGTH", (0, 5, 13), (2025, 3)),
    (Library::LlamaCpp, "-ctk ", (1620, 0, 0), (2023, 12)),
    (Library::LlamaCpp, "-ub ", (2409, 0, 0), (2024, 3)),
    (Library::LlamaCpp, "-fa ", (2775, 0, 0), (2024, 4)),
    (Library::LlamaCpp, "-fa on", (6325, 0, 0), (2025, 8)),
    // And 8u191 half a year later.
    (Library::Java, "MaxRAMPercentage", (10, 0, 0), (2018, 3)),
    (Library::Swift, "--train_type", (3, 0, 0), (2024, 12)),
    (Library::Swift, "--quant_method", (2, 4, 0), (2024, 8)),
];

/// Version of torch as (major, minor): the one printed, else the newest that the message's wording and the frames
/// allow.
pub(crate) fn torch(incident: &Incident) -> Option<(u16, u16)> {
    printed_torch(incident).or_else(|| torch_by_signs(incident))
}

/// The one that the log prints.
fn printed_torch(incident: &Incident) -> Option<(u16, u16)> {
    let version = incident.context.torch_version.get()?;
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    Some((parts.next()?, parts.next()?))
}

/// The newest that the message's wording and the frames allow.
fn torch_by_signs(incident: &Incident) -> Option<(u16, u16)> {
    let (event, context) = (&incident.event, &incident.context);
    let own = event.program.pytorch_allocator() == PytorchAllocator::Yes && !event.program.is_engine();
    let of_the_wording = event.versions.filter(|_| own).and_then(|versions| versions.to);
    let of_the_frames = context.frames.iter().filter_map(newest_torch).min();
    of_the_wording.into_iter().chain(of_the_frames).min()
}

/// True where the log shows that torch is at least of a release: it prints so, or its wording or its files are of that
/// one. `_call_impl` came with 1.6, `_tensor.py` with 1.9, `_wrapped_call_impl` with 2.1.
pub(crate) fn shows_torch(incident: &Incident, least: (u16, u16)) -> bool {
    let of_the_frames = incident.context.frames.iter().filter_map(|frame| match frame.function.as_str() {
        "_call_impl" => Some((1, 6)),
        "_wrapped_call_impl" => Some((2, 1)),
        _ => frame.path().ends_with("/torch/_tensor.py").then_some((1, 9)),
    });
    let of_the_wording = incident.event.versions.filter(|_| incident.event.on_pytorch()).and_then(|told| told.from);
    printed_torch(incident).into_iter().chain(of_the_wording).chain(of_the_frames).any(|shown| shown >= least)
}

/// The Python that failed: the one of the innermost frame whose path names it, else of any traceback around.
pub(crate) fn python(incident: &Incident) -> Option<(u8, u8)> {
    let context = &incident.context;
    context.frames.iter().rev().find_map(|frame| origin::python(&frame.file)).or(context.origin.python)
}

/// The last release of a library for a Python, and the month after which next to none came for it (by the wheels on
/// PyPI).
struct Last {
    python: (u8, u8),
    torch: Release,
    jax: Release,
    month: Month,
}

const LAST: [Last; 6] = [
    Last { python: (2, 7), torch: (1, 4, 0), jax: (0, 1, 0), month: (2020, 6) },
    Last { python: (3, 5), torch: (1, 5, 1), jax: (0, 1, 70), month: (2020, 12) },
    Last { python: (3, 6), torch: (1, 10, 2), jax: (0, 2, 20), month: (2022, 12) },
    Last { python: (3, 7), torch: (1, 13, 1), jax: (0, 3, 25), month: (2023, 9) },
    Last { python: (3, 8), torch: (2, 4, 1), jax: (0, 4, 13), month: (2024, 12) },
    Last { python: (3, 9), torch: (2, 8, 0), jax: (0, 4, 30), month: (2025, 12) },
];

/// What the Python of the failure allows of a library: its last release, where that is known, and a month.
fn last_for_python(incident: &Incident, library: Library) -> Option<(Option<Release>, Month)> {
    let python = python(incident)?;
    let last = LAST.iter().find(|last| python <= last.python)?;
    let release = match library {
        Library::Torch => Some(last.torch),
        Library::Jax => Some(last.jax),
        _ => None,
    };
    Some((release, last.month))
}

/// The newest release of a library that signs of the message, the frames and other lines allow, where they tell one.
fn newest_by_signs(incident: &Incident, library: Library) -> Option<Release> {
    let context = &incident.context;
    let shown = |clue| context.has(clue);
    let says = |words: &str| incident.event.message.contains(words);
    let has = |name: &str| context.frames.iter().any(|frame| frame.file.contains(name));
    match library {
        Library::Torch => torch_by_signs(incident).map(|(major, minor)| (major, minor, u16::MAX)),
        // The package's folder was `tensorflow_core` in 1.15 to 2.1. Keras by itself calls no tf.keras, and tells its
        // backend up to 2.3, which runs sessions.
        Library::TensorFlow => {
            let oldest = shown(Clue::TensorFlow1).then_some((1, 13, 0));
            let by_itself = context.origin.keras_by_itself.then_some((1, 15, 0));
            oldest.or(by_itself).or(has("/tensorflow_core/").then_some((2, 1, 0)))
        }
        // One file loaded the models until 0.4, which has a folder for it.
        Library::Vllm => (shown(Clue::EarlyVllm) || has("vllm/model_executor/model_loader.py")).then_some((0, 3, 0)),
        // Its loop of training was taken apart into `loops/` in 1.4; 2.0 has no Python 3.7.
        Library::Lightning => {
            let oldest = has("pytorch_lightning/trainer/training_loop").then_some((1, 3, 0));
            let early = context.origin.early_lightning.then_some((1, 6, 0));
            oldest.or(early).or(python(incident).is_some_and(|python| python <= (3, 7)).then_some((1, 9, 0)))
        }
        // None of its wheels is for a Python before 3.7.
        Library::Bitsandbytes => python(incident).is_some_and(|python| python <= (3, 6)).then_some((0, 0, 0)),
        // Its Trainer gave up fairscale in 4.36.
        Library::Transformers => has("/fairscale/").then_some((4, 35, 0)),
        // A method of a class since March 2025 (b4882), whose lines begin with `init:`.
        Library::LlamaCpp => context.origin.early_llama_cpp.then_some((4881, 0, 0)),
        // The monitor that raised this was replaced by one that ends workers.
        Library::Ray => says("RayOutOfMemoryError").then_some((1, 13, 0)),
        // The plugin became a part of the library in 0.72.
        Library::Xgboost => says("plugin/updater_gpu").then_some((0, 71, 0)),
        // From 22.02 on RMM names the kind of error: `out_of_memory: CUDA error at`.
        Library::Cudf => says("std::bad_alloc: CUDA error at").then_some((21, 12, 0)),
        _ => None,
    }
}

/// The month of the log; `None` where the wording of the message is of a later release, and the dates are those of
/// data.
fn day(incident: &Incident) -> Option<Month> {
    let told = incident.context.dated.value()?;
    let least = incident.event.versions.filter(|_| incident.event.on_pytorch()).and_then(|versions| versions.from);
    let later = least.is_some_and(|(major, minor)| {
        let came = |row: &&(Library, &str, Release, Month)| row.0 == Library::Torch && row.2 <= (major, minor, 0);
        CAME.iter().filter(came).map(|row| row.3).max().is_some_and(|month| month > told)
    });
    (!later).then_some(told)
}

/// The month in which conda built the torch that failed, which the path of its C++ sources tells in milliseconds:
/// `/opt/conda/conda-bld/pytorch_1493681908901/work/torch/lib/THC/generic/THCStorage.cu:66`.
fn built(incident: &Incident) -> Option<Month> {
    let (_, stamp) = incident.event.message.split_once("/pytorch_")?;
    let digits = stamp.get(..13).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let mut days = digits.parse::<u64>().ok()? / 86_400_000;
    // From March on, in years that end with February: the leap day is the last one, and months have fixed beginnings.
    days += 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    Some((u16::try_from(year).ok()?, u8::try_from(month).ok()?))
}

/// True where a release of the library, which came out in a month, may be at work.
pub(crate) fn may_run(incident: &Incident, library: Library, release: Release, month: Month) -> bool {
    let printed = match library {
        Library::Torch => printed_torch(incident).map(|(major, minor)| (major, minor, u16::MAX)),
        _ => incident.context.origin.releases.get(&library).copied(),
    };
    if let Some(printed) = printed {
        return printed >= release;
    }
    let by_python = last_for_python(incident, library);
    let newest = newest_by_signs(incident, library).into_iter().chain(by_python.and_then(|(newest, _)| newest)).min();
    let built = built(incident).filter(|_| library == Library::Torch);
    let last = day(incident).into_iter().chain(by_python.map(|(_, month)| month)).chain(built).min();
    newest.is_none_or(|newest| newest >= release) && last.is_none_or(|last| last >= month)
}

/// True where what came with this name may be at work.
pub(crate) fn knows(incident: &Incident, text: &str) -> bool {
    static NAMES: LazyLock<Needles> = LazyLock::new(|| Needles::new(CAME.iter().map(|(_, name, ..)| name)));
    NAMES
        .all(text.as_bytes())
        .filter_map(|found| CAME.get(found.number))
        .all(|(library, _, release, month)| may_run(incident, *library, *release, *month))
}

/// True where something shows that what came with this name is there: a release that the log prints, its files and
/// wording, its Python, or a day so long after that next to nobody runs what came before. [`knows`] only asks whether
/// anything speaks against it.
pub(crate) fn shows(incident: &Incident, text: &str) -> bool {
    let by_python = python(incident).and_then(|python| FIRST.iter().rev().find(|first| python >= first.0));
    let shown = |(library, _, release, (year, month)): &&(Library, &str, Release, Month)| {
        let printed = incident.context.origin.releases.get(library);
        let torch = *library == Library::Torch
            && (shows_torch(incident, (release.0, release.1))
                || by_python.is_some_and(|first| first.1 >= (release.0, release.1)));
        torch
            || printed.is_some_and(|printed| printed >= release)
            || day(incident).is_some_and(|day| day >= (year + SETTLED, *month))
    };
    knows(incident, text) && CAME.iter().filter(|row| text.contains(row.1)).all(|row| shown(&row))
}

/// Years after which a release is everywhere.
const SETTLED: u16 = 2;

/// The first release of torch for a Python (by the wheels on PyPI).
const FIRST: [((u8, u8), (u16, u16)); 5] =
    [((3, 9), (1, 8)), ((3, 10), (1, 11)), ((3, 11), (1, 13)), ((3, 12), (2, 2)), ((3, 13), (2, 5))];

/// The variable that sets the options of PyTorch's caching allocator: `PYTORCH_ALLOC_CONF` from 2.10 (the CUDA name is
/// read as well and wins), the family's own name before (PyTorch 2.10, CUDAAllocatorConfig.cpp).
pub(crate) fn conf_variable(incident: &Incident) -> Option<&'static str> {
    let accelerator = incident.event.accelerator();
    let renamed = matches!(accelerator, Accelerator::Cuda | Accelerator::Hip)
        && torch(incident).is_some_and(|version| version >= (2, 10))
        && !incident.context.alloc_conf.is_known();
    if renamed { Some("PYTORCH_ALLOC_CONF") } else { accelerator.torch_conf() }
}

/// The newest torch that has the file of a frame: `torch/tensor.py`, which is `_tensor.py` since 1.9, a module that is
/// called by `__call__` itself, which is `_call_impl` since 1.6, at a line that tells the release, and a loader that
/// waits in `_try_get_batch`, which is `_try_get_data` since 1.2.
fn newest_torch(frame: &Frame) -> Option<(u16, u16)> {
    let file = frame.path();
    if !file.contains("-packages/torch/") {
        return None;
    }
    let renamed = file.ends_with("/torch/tensor.py").then_some((1, 8));
    let module = file.ends_with("/torch/nn/modules/module.py");
    let called = module && frame.function == "__call__";
    let loads = file.ends_with("/torch/serialization.py") && frame.function == "load";
    let multiplies = file.ends_with("/torch/nn/functional.py") && frame.function == "linear";
    let by_line = match frame.function.as_str() {
        _ if multiplies && frame.line > FIRST_LINEAR => newest_at(&LINEAR, frame.line),
        "_call_impl" if module && frame.line > FIRST_CALL_IMPL => newest_at(&CALL_IMPL, frame.line),
        "__call__" if module && OF_1_2_OR_1_3.contains(&frame.line) => Some((1, 3)),
        "__call__" if module => newest_at(&CALL, frame.line),
        "backward" if file.ends_with("/torch/_tensor.py") && frame.line > FIRST_BACKWARD => {
            newest_at(&BACKWARD, frame.line)
        }
        _ if loads && frame.line >= FIRST_LOAD => newest_at(&LOAD, frame.line),
        _ => None,
    };
    let waits = file.ends_with("/dataloader.py") && frame.function == "_try_get_batch";
    let python = || origin::python(&file).and_then(|python| LAST.iter().find(|last| python <= last.python));
    let last = python().map(|last| (last.torch.0, last.torch.1));
    let named = called.then_some((1, 5)).into_iter().chain(waits.then_some((1, 1)));
    renamed.into_iter().chain(named).chain(by_line).chain(last).min()
}

/// The last line at which a call stands in a file of a release, and that release.
type LastLine = (u64, (u16, u16));

/// Where `Module._call_impl` calls the module in `torch/nn/modules/module.py`, with and without hooks: 722 in 1.6, 727
/// and 744 in 1.7, 889 in 1.8, 1051 and 1071 in 1.9, 1102 and 1120 in 1.10, 1110 and 1128 in 1.11, 1130 and 1148 in
/// 1.12, 1190 to 1212 in 1.13, 1501 in 2.0. From 2.1 on it stands behind `_wrapped_call_impl`, at 1520 and later.
const CALL_IMPL: [LastLine; 6] =
    [(760, (1, 7)), (910, (1, 8)), (1080, (1, 9)), (1150, (1, 12)), (1300, (1, 13)), (1510, (2, 0))];

/// No release has it before this one.
const FIRST_CALL_IMPL: u64 = 700;

/// Where `Module.__call__` did: 357 in 0.3, 491 in 0.4, 489 in 1.0 and 493 in 1.1; then 547 in 1.2, 541 in 1.3 and 532
/// in 1.4.
const CALL: [LastLine; 2] = [(400, (0, 3)), (495, (1, 1))];

/// Where `Tensor.backward` calls autograd in `torch/_tensor.py`: 255 in 1.9, 307 in 1.10, 363 in 1.11, 396 in 1.12;
/// past 480 from 1.13 on.
const BACKWARD: [LastLine; 4] = [(280, (1, 9)), (330, (1, 10)), (380, (1, 11)), (440, (1, 12))];

/// No release has it before this one.
const FIRST_BACKWARD: u64 = 200;

/// The lines of 1.2 and 1.3, between which and those before 1.4 has its own.
const OF_1_2_OR_1_3: std::ops::RangeInclusive<u64> = 540..=548;

/// Where `torch.load` hands an archive on, in `torch/serialization.py`: 529 in 1.4, 594 in 1.8, 607 in 1.9, 712 in
/// 1.11, 789 in 1.13, 809 in 2.0; past 1000 from 2.1 on.
const LOAD: [LastLine; 3] = [(620, (1, 10)), (740, (1, 12)), (840, (2, 0))];

/// Where `linear` calls the kernel in `torch/nn/functional.py`: 1370 in 1.3, 1372 in 1.4, 1610 in 1.5, 1674 and 1676 in
/// 1.6, 1690 and 1692 in 1.7, 1753 in 1.8, 1847 and 1848 in 1.9 and 1.10. From 1.11 on it is no Python at all.
const LINEAR: [LastLine; 6] =
    [(1400, (1, 4)), (1630, (1, 5)), (1680, (1, 6)), (1700, (1, 7)), (1780, (1, 8)), (1900, (1, 10))];

/// Releases before are not told apart.
const FIRST_LINEAR: u64 = 1300;

/// No release hands an archive on before this one.
const FIRST_LOAD: u64 = 500;

/// The newest release that has a call at a line; `None` where any may.
fn newest_at(lines: &[LastLine], line: u64) -> Option<(u16, u16)> {
    lines.iter().find(|(last, _)| line > 0 && line <= *last).map(|(_, release)| *release)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::trial::torch as failed;
    use crate::evidence::Span;

    #[test]
    fn what_came_after_the_day_of_the_log_is_not_written() {
        let mut incident = failed(&[]);
        assert!(knows(&incident, "with torch.inference_mode():"));
        incident.context.dated.note((2018, 12), Span::line(1));
        assert!(!knows(&incident, "with torch.inference_mode():") && knows(&incident, "with torch.no_grad():"));
        assert_eq!(torch(&incident), None, "which release ran is not known");
        incident.context.dated = crate::evidence::Known::Seen((2021, 6), Span::line(1));
        assert!(knows(&incident, "with torch.inference_mode():") && !knows(&incident, "expandable_segments:True"));
        incident.context.dated = crate::evidence::Known::Seen((2031, 1), Span::line(1));
        assert!(knows(&incident, "expandable_segments:True"));
    }

    #[test]
    fn the_oldest_monitor_of_ray_knows_no_threshold_of_the_newest() {
        let mut incident = failed(&[]);
        assert!(knows(&incident, "RAY_memory_usage_threshold=0.98"));
        incident.event.message = "ray.memory_monitor.RayOutOfMemoryError: More than 95% of the memory".into();
        assert!(!knows(&incident, "RAY_memory_usage_threshold=0.98"));
    }

    #[test]
    fn a_lightning_of_the_first_kind_knows_no_names_of_the_second() {
        let mut incident = failed(&[]);
        assert!(knows(&incident, "Trainer(precision=\"bf16-mixed\")"));
        let file = "/opt/env/lib/python3.7/site-packages/pytorch_lightning/trainer/training_loop.py";
        let function = "run_training_epoch".to_string();
        let frame = Frame { file: file.into(), line: 1, function, code: None, at: Span::line(1) };
        incident.context.frames.push(frame);
        assert!(!knows(&incident, "Trainer(precision=\"bf16-mixed\")"));
    }

    #[test]
    fn releases_come_one_after_another() {
        for (library, name, release, month) in CAME {
            let earlier = CAME.iter().find(|row| row.0 == *library && row.2 < *release && row.3 > *month);
            assert!(earlier.is_none(), "{name} of {release:?}, {month:?}: {earlier:?}");
        }
        assert!(LAST.windows(2).all(|pair| pair[0].python < pair[1].python && pair[0].month < pair[1].month));
    }

    #[test]
    fn the_python_of_a_failure_bounds_what_there_is() {
        let mut incident = failed(&[]);
        incident.context.origin.python = Some((3, 6));
        assert!(!knows(&incident, "DataLoader(..., mmap=True)") && knows(&incident, "torch.autocast("));
        assert!(!knows(&incident, "save_only_model=True") && !knows(&incident, "jax.lax.map(f, xs, batch_size=1024)"));
        incident.context.torch_version = crate::evidence::Known::Seen("2.1.0".to_string(), Span::line(1));
        assert!(knows(&incident, "mmap=True"), "what is printed counts before what follows from a path");
    }

    #[test]
    fn dates_before_the_wording_of_the_message_are_those_of_data() {
        let mut incident = failed(&[]);
        incident.context.dated.note((2019, 3), Span::line(1));
        assert!(!knows(&incident, "save_only_model=True"));
        incident.event.versions = Some(crate::dialect::Versions { from: Some((2, 2)), to: None });
        assert!(knows(&incident, "save_only_model=True"));
    }

    #[test]
    fn a_release_that_is_printed_decides() {
        let mut incident = failed(&[]);
        incident.context.origin.releases.insert(Library::Ollama, (0, 1, 30));
        assert!(!knows(&incident, "ollama ps") && knows(&incident, "PARAMETER num_ctx 1024"));
        incident.context.origin.releases.insert(Library::Ollama, (0, 4, 0));
        assert!(knows(&incident, "ollama ps   # then: ollama stop MODEL"));
    }
}
