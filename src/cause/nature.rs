//! What an incident is by the program behind it: who asked whom for memory, what kind of job it was, and the few things
//! that only a message's own shape tells. Everything in the causes that depends on a program's name stands here.

use crate::dialect::{Event, Resource, Sign};
use crate::incident::Incident;
use crate::incident::context::{Clue, Phase, Trainer};

/// The kinds of failure, by who asked whom for memory. Priors are set for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Asker {
    /// A program asked its device for a tensor or buffer: PyTorch, Paddle, CuPy, CUDA.jl, MLX …
    Tensor,
    /// The same under a framework that takes most of the device at start and serves from its own pool: XLA, TensorFlow.
    PooledTensor,
    /// An inference engine that sizes a pool: vLLM, SGLang, TensorRT-LLM, LMDeploy, TGI.
    Engine,
    /// A program that loads weights into fixed buffers and splits them over devices: llama.cpp, Ollama, ExLlama.
    WeightBuffers,
    /// The key/value cache of an engine.
    KvCache,
    /// RAM of the machine or of a container.
    Host,
    /// /dev/shm.
    Shm,
    /// Shared memory on the chip, per thread block.
    OnChip,
}

impl Asker {
    pub const ALL: [Asker; 8] = [
        Asker::Tensor,
        Asker::PooledTensor,
        Asker::Engine,
        Asker::WeightBuffers,
        Asker::KvCache,
        Asker::Host,
        Asker::Shm,
        Asker::OnChip,
    ];

    /// The name in the file of weights.
    pub const fn id(self) -> &'static str {
        match self {
            Asker::Tensor => "tensor",
            Asker::PooledTensor => "pooled-tensor",
            Asker::Engine => "engine",
            Asker::WeightBuffers => "weight-buffers",
            Asker::KvCache => "kv-cache",
            Asker::Host => "host",
            Asker::Shm => "shm",
            Asker::OnChip => "on-chip",
        }
    }
}

pub fn asker(incident: &Incident) -> Asker {
    match incident.event.resource {
        Resource::KvCache => Asker::KvCache,
        Resource::Host | Resource::Cgroup => Asker::Host,
        Resource::Shm => Asker::Shm,
        Resource::CudaSharedMemory => Asker::OnChip,
        Resource::Gpu => match incident.event.framework {
            "jax" | "tensorflow" | "exla" | "xla" => Asker::PooledTensor,
            "vllm" | "sglang" | "tensorrt-llm" | "lmdeploy" | "tgi" => Asker::Engine,
            "llama.cpp" | "ollama" | "exllama" => Asker::WeightBuffers,
            _ => Asker::Tensor,
        },
    }
}

/// True where the device's memory is meant.
pub fn on_gpu(incident: &Incident) -> bool {
    matches!(asker(incident), Asker::Tensor | Asker::PooledTensor | Asker::Engine | Asker::WeightBuffers)
}

/// The kind of job, as its user would name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobKind {
    Training,
    Inference,
    /// A server that answers requests.
    Serving,
    /// A program planned as a whole by a compiler.
    Compiled,
    /// A program of the machine without a device.
    Host,
    /// A job, pod or container whose scheduler reports it.
    Scheduler,
}

impl JobKind {
    /// The name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            JobKind::Training => "training",
            JobKind::Inference => "inference",
            JobKind::Serving => "serving",
            JobKind::Compiled => "compiled",
            JobKind::Host => "host",
            JobKind::Scheduler => "scheduler",
        }
    }
}

/// The kind of job as far as the program, the phase and the log's own words tell.
pub fn job_kind(incident: &Incident) -> Option<JobKind> {
    let event = &incident.event;
    let context = &incident.context;
    let trainer = context.trainer.value();
    let scheduler = matches!(
        event.framework,
        "slurm" | "kubernetes" | "docker" | "ray" | "dask" | "spark" | "lsf" | "pbs" | "aws-lambda" | "yarn"
    );
    let engine = matches!(asker(incident), Asker::Engine | Asker::KvCache)
        || matches!(trainer, Some(Trainer::Vllm | Trainer::Sglang))
        || matches!(event.framework, "ollama" | "triton-server");
    let pictures = matches!(trainer, Some(Trainer::Diffusers | Trainer::ComfyUi | Trainer::StableDiffusionWebUi));
    let trains = matches!(
        context.phase.value(),
        Some(
            Phase::Backward | Phase::OptimizerStep | Phase::Train | Phase::Loss | Phase::Validation | Phase::Checkpoint
        )
    ) || context.optimizer.is_known()
        || context.epoch.is_known()
        || context.epochs.is_known()
        || context.accumulation.is_known()
        || context.zero_stage.is_known()
        || context.gradient_checkpointing.is_known()
        || context.has(Clue::OptimizerState)
        || event.has(Sign::DataLoaderWorker)
        || matches!(
            trainer,
            Some(
                Trainer::HfTrainer
                    | Trainer::Trl
                    | Trainer::Lightning
                    | Trainer::DeepSpeed
                    | Trainer::Ultralytics
                    | Trainer::Megatron
                    | Trainer::LlamaFactory
                    | Trainer::Swift
                    | Trainer::Fsdp
                    | Trainer::MmEngine
                    | Trainer::Fastai
                    | Trainer::NeMo
            )
        );
    Some(if engine {
        JobKind::Serving
    } else if !super::reading::one_piece(incident) {
        JobKind::Compiled
    } else if scheduler {
        JobKind::Scheduler
    } else if trains && !pictures {
        JobKind::Training
    } else if pictures
        || context.phase.value() == Some(Phase::Inference)
        || matches!(asker(incident), Asker::WeightBuffers)
    {
        JobKind::Inference
    } else if asker(incident) == Asker::Host {
        JobKind::Host
    } else {
        return None;
    })
}

/// The application or engine around the framework, where the log shows one.
pub fn program(incident: &Incident) -> Option<&'static str> {
    Some(match incident.context.trainer.value()? {
        Trainer::PlainPytorch => return None,
        Trainer::HfTrainer => "hf-trainer",
        Trainer::Trl => "trl",
        Trainer::Accelerate => "accelerate",
        Trainer::Lightning => "lightning",
        Trainer::DeepSpeed => "deepspeed",
        Trainer::Ultralytics => "ultralytics",
        Trainer::Megatron => "megatron",
        Trainer::LlamaFactory => "llamafactory",
        Trainer::Swift => "swift",
        Trainer::Fsdp => "fsdp",
        Trainer::Diffusers => "diffusers",
        Trainer::ComfyUi => "comfyui",
        Trainer::StableDiffusionWebUi => "sd-webui",
        Trainer::MmEngine => "mmengine",
        Trainer::Fastai => "fastai",
        Trainer::NeMo => "nemo",
        Trainer::Vllm => "vllm",
        Trainer::Sglang => "sglang",
    })
}

/// What only the shape of a message tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// What could not be had is the buffer of the key/value cache itself.
    CacheBuffer,
    /// A worker of a pool of processes was killed.
    PoolWorker,
    /// A compiler of a build was killed.
    BuildCompiler,
    /// A virtual machine could not commit its heap.
    CommittedHeap,
    /// One buffer exceeds the largest that the device makes.
    BufferLimit,
    /// A server failed on a batch while it served.
    WhileServing,
    /// One device had less free than its neighbours at start.
    UnequalDevices,
    /// A program refused by its own count of the machine's memory.
    OwnCount,
    /// A program's own estimate of what it puts on the device.
    OwnEstimate,
    /// A board's allocator of contiguous memory.
    Contiguous,
    /// The driver refused the growth of a framework's pool.
    PoolGrowth,
    /// A framework's pool was being made.
    PoolMade,
    /// A pool is configured beneath which the driver refused.
    PoolConfigured,
    /// A simulator's state of n qubits.
    StateVector,
    /// The first buffer of weights found no room.
    FirstBuffer,
    /// An engine sizes its cache as a share of what is free.
    ShareOfFree,
}

/// True where the message's shape shows a mark.
pub fn shows(event: &Event, mark: Mark) -> bool {
    match mark {
        Mark::CacheBuffer => {
            matches!(event.dialect, "llamacpp-kv-buffer" | "sglang-batch-too-large")
                || event.dialect == "trtllm-executor-creation" && event.resource == Resource::KvCache
        }
        Mark::PoolWorker => matches!(event.dialect, "joblib-worker-killed" | "process-pool-broken"),
        Mark::BuildCompiler => event.dialect == "compiler-killed",
        Mark::CommittedHeap => event.dialect == "jvm-native",
        Mark::BufferLimit => event.dialect.ends_with("buffer-size"),
        Mark::WhileServing => event.dialect == "sglang-scheduler-exception",
        Mark::UnequalDevices => event.dialect == "sglang-unbalanced",
        Mark::OwnCount => event.dialect == "ollama-system-memory",
        Mark::OwnEstimate => event.framework == "ollama",
        Mark::Contiguous => event.dialect.ends_with("nvmap"),
        Mark::PoolGrowth => event.dialect == "xla-driver-refused",
        Mark::PoolMade => event.dialect.starts_with("rapids") && event.has(Sign::EngineStartup),
        Mark::PoolConfigured => {
            event.dialect.starts_with("rapids")
                && event.dialect != "rapids-pool"
                && event.facts.numbers.contains_key("pool_configured")
        }
        Mark::StateVector => matches!(event.framework, "cuquantum" | "pennylane" | "qiskit"),
        Mark::FirstBuffer => event.dialect == "llamacpp-cuda-buffer-alloc" && event.has(Sign::EngineStartup),
        Mark::ShareOfFree => event.dialect == "trtllm-executor-creation" && event.resource == Resource::KvCache,
    }
}
