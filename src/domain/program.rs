//! The programs whose memory runs out, and those that report it: one row each. Everything that depends on which program
//! it is asks its row; adding a program is adding a row.

use super::Accelerator;
use super::Target;
use std::collections::HashMap;
use std::sync::LazyLock;

pub use super::name::{Name, SHORT};

/// What a program is, as far as a diagnosis depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Trains and runs models: PyTorch, JAX, TensorFlow.
    TrainingFramework,
    /// Serves a model to others, with weights and a cache of keys and values.
    ServingEngine,
    /// A program for one purpose: a renderer, a simulation, a user interface of a model.
    Application,
    /// Simulates quantum states, whose size doubles with each qubit.
    QuantumSimulator,
    /// Code that other programs call.
    Library,
    /// Runs in the machine's memory: a data frame, a database, a compiler.
    HostProgram,
    /// A language's runtime or interpreter.
    Runtime,
    /// Starts jobs and enforces their limits. Its word on a death is proof, and names no program.
    Scheduler,
    /// Kills processes to save the machine. Its word on a death is proof, and names no program.
    OomKiller,
    /// A driver's or vendor's interface, where the program that used it does not show.
    GpuApi,
    /// Nothing shows which program it was.
    Unnamed,
}

/// Whether a program's device memory is PyTorch's caching allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PytorchAllocator {
    Yes,
    No,
    /// It depends on the version, the backend or what was run: only the report itself can tell.
    Sometimes,
}

/// How a program takes memory of its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceUse {
    /// As tensors and buffers are asked for.
    OnDemand,
    /// Most of the device at start, served from a pool of its own. `off` is the setting that turns that off.
    Preallocated { off: Option<&'static str> },
    /// A pool sized as a share of the device. `share` is the option that sets it.
    SizedPool { share: &'static str },
    /// The same, as a share of what the weights leave free.
    PoolOfFree { share: &'static str },
    /// Weights into fixed buffers, split over devices.
    FixedBuffers,
}

/// Where a use of memory is read, as an expression of the program's language or a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meter {
    /// What is in use now.
    pub now: &'static str,
    /// The most that was in use so far.
    pub peak: &'static str,
}

/// Whose figures a program's user can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// PyTorch's counters for the device at hand.
    Pytorch,
    /// The program's own.
    Own(Meter),
    /// Those of the device's driver.
    Driver,
    /// Those of the process: it has no device memory to speak of.
    Process,
}

/// Memory of a process, for programs that use no device.
pub const PROCESS_METER: Meter = Meter { now: "grep VmRSS /proc/PID/status", peak: "grep VmHWM /proc/PID/status" };

/// The language of a program's commands and settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Cpp,
    Elixir,
    Fortran,
    Go,
    Java,
    JavaScript,
    Julia,
    Python,
    R,
    Rust,
    /// Options on a command line or in a file of settings.
    Shell,
}

/// What is known of one program.
#[derive(Debug)]
struct Row {
    id: &'static str,
    /// Other names by which it is read.
    aliases: &'static [&'static str],
    /// What only its lines, frames and paths hold. A marker that ends in a letter or digit is a part of a longer word
    /// too.
    markers: &'static [&'static str],
    kind: Kind,
    pytorch: PytorchAllocator,
    device_use: DeviceUse,
    reads: Reads,
    /// The family of its devices where there is but one.
    accelerator: Option<Accelerator>,
    /// Whose knobs its user can turn, nearest first.
    targets: &'static [Target],
    languages: &'static [Language],
    /// Where it tells a limit of its own.
    limit: Option<&'static str>,
    /// The setting under which it keeps no pool that could be in pieces.
    unpooled: Option<&'static str>,
    /// The option that sets the length of its context.
    context: Option<&'static str>,
    /// It uses trained models and trains none.
    infers: bool,
}

impl Row {
    const fn new(id: &'static str, kind: Kind) -> Row {
        // Whoever kills or counts may have had any program under it.
        let pytorch = match kind {
            Kind::Scheduler | Kind::OomKiller | Kind::Unnamed => PytorchAllocator::Sometimes,
            _ => PytorchAllocator::No,
        };
        let reads = match kind {
            Kind::HostProgram | Kind::Runtime | Kind::Scheduler | Kind::OomKiller => Reads::Process,
            _ => Reads::Driver,
        };
        let languages: &[Language] = match kind {
            Kind::TrainingFramework | Kind::Library | Kind::QuantumSimulator => &[Language::Python],
            _ => &[Language::Shell],
        };
        Row {
            id,
            aliases: &[],
            markers: &[],
            kind,
            pytorch,
            device_use: DeviceUse::OnDemand,
            reads,
            accelerator: None,
            targets: &[],
            languages,
            limit: None,
            unpooled: None,
            context: None,
            infers: false,
        }
    }

    const fn aka(mut self, aliases: &'static [&'static str]) -> Row {
        self.aliases = aliases;
        self
    }

    const fn marked(mut self, markers: &'static [&'static str]) -> Row {
        self.markers = markers;
        self
    }

    const fn pytorch(mut self, pytorch: PytorchAllocator) -> Row {
        self.pytorch = pytorch;
        self
    }

    const fn takes(mut self, device_use: DeviceUse) -> Row {
        self.device_use = device_use;
        self
    }

    const fn reads(mut self, reads: Reads) -> Row {
        self.reads = reads;
        self
    }

    const fn own(self, now: &'static str, peak: &'static str) -> Row {
        self.reads(Reads::Own(Meter { now, peak }))
    }

    const fn on(mut self, accelerator: Accelerator) -> Row {
        self.accelerator = Some(accelerator);
        self
    }

    const fn targets(mut self, targets: &'static [Target]) -> Row {
        self.targets = targets;
        self
    }

    const fn speaks(mut self, languages: &'static [Language]) -> Row {
        self.languages = languages;
        self
    }

    const fn limit(mut self, limit: &'static str) -> Row {
        self.limit = Some(limit);
        self
    }

    const fn unpooled(mut self, unpooled: &'static str) -> Row {
        self.unpooled = Some(unpooled);
        self
    }

    const fn infers(mut self) -> Row {
        self.infers = true;
        self
    }

    const fn context(mut self, context: &'static str) -> Row {
        self.context = Some(context);
        self
    }
}

/// A framework that trains.
const fn framework(id: &'static str) -> Row {
    Row::new(id, Kind::TrainingFramework)
}

/// An engine that serves a model, with the share of the device that it takes.
const fn engine(id: &'static str, device_use: DeviceUse) -> Row {
    Row::new(id, Kind::ServingEngine).takes(device_use)
}

/// A program for one purpose.
const fn application(id: &'static str) -> Row {
    Row::new(id, Kind::Application)
}

/// An application in Python whose device memory is PyTorch's.
const fn pytorch_application(id: &'static str, targets: &'static [Target]) -> Row {
    Row::new(id, Kind::Application)
        .pytorch(PytorchAllocator::Yes)
        .reads(Reads::Pytorch)
        .speaks(&[Language::Python])
        .targets(targets)
}

const fn library(id: &'static str) -> Row {
    Row::new(id, Kind::Library)
}

const fn host(id: &'static str) -> Row {
    Row::new(id, Kind::HostProgram)
}

const fn runtime(id: &'static str, language: &'static [Language]) -> Row {
    Row::new(id, Kind::Runtime).speaks(language)
}

const fn scheduler(id: &'static str) -> Row {
    Row::new(id, Kind::Scheduler)
}

const fn killer(id: &'static str) -> Row {
    Row::new(id, Kind::OomKiller)
}

const fn gpu_api(id: &'static str) -> Row {
    Row::new(id, Kind::GpuApi).speaks(&[Language::Cpp])
}

const fn pool(share: &'static str) -> DeviceUse {
    DeviceUse::SizedPool { share }
}

/// A program that is in no list: nothing is known of it but its name.
const UNLISTED: Row = Row::new("", Kind::Application);

macro_rules! programs {
    ($($Word:ident = $row:expr;)+) => {
        /// A program: one that is known, or one whose name was read from the text.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Program {
            $($Word,)+
            /// In no list: an executable's name, a package's folder.
            Unlisted(Name),
        }

        impl Program {
            /// Every program that has a row.
            pub const LISTED: &'static [Program] = &[$(Program::$Word),+];

            const fn row(&self) -> &'static Row {
                match self {
                    $(Program::$Word => &const { $row },)+
                    Program::Unlisted(_) => &const { UNLISTED },
                }
            }
        }
    };
}

use Language::{Cpp, Elixir, Fortran, Go, Java, JavaScript, Julia, Python, R, Rust, Shell};
use PytorchAllocator::{Sometimes, Yes};

programs! {
    // Frameworks that train.
    Pytorch = framework("pytorch").aka(&["torch"]).pytorch(Yes).reads(Reads::Pytorch).targets(&[Target::Pytorch]);
    PytorchXla = framework("pytorch-xla").aka(&["torch_xla", "torch-xla"]).on(Accelerator::Tpu)
        .own("torch_xla.core.xla_model.get_memory_info()", "torch_xla.core.xla_model.get_memory_info()");
    Jax = framework("jax").aka(&["jaxlib", "flax", "xla"])
        .takes(DeviceUse::Preallocated { off: Some("XLA_PYTHON_CLIENT_PREALLOCATE=false") })
        .own(
            "jax.local_devices()[0].memory_stats()[\"bytes_in_use\"]",
            "jax.local_devices()[0].memory_stats()[\"peak_bytes_in_use\"]",
        )
        .targets(&[Target::Jax])
        .limit("echo $XLA_CLIENT_MEM_FRACTION $XLA_PYTHON_CLIENT_MEM_FRACTION")
        .unpooled("XLA_PYTHON_CLIENT_ALLOCATOR=platform")
        .marked(&["jaxlib", "jax.errors", "external/xla/xla/", "jax/_src", "pjrt_stream_executor"]);
    Tensorflow = framework("tensorflow").aka(&["tf", "keras"])
        .takes(DeviceUse::Preallocated { off: Some("TF_FORCE_GPU_ALLOW_GROWTH=true") })
        .own(
            "tf.config.experimental.get_memory_info(\"GPU:0\")[\"current\"]",
            "tf.config.experimental.get_memory_info(\"GPU:0\")[\"peak\"]",
        )
        .targets(&[Target::TensorFlow])
        .limit("tf.config.get_logical_device_configuration(gpu)")
        .unpooled("TF_GPU_ALLOCATOR=cuda_malloc_async")
        .marked(&["tensorflow/core/", "tensorflow.python", "external/local_tsl", "external/local_xla",
            "tensorflow/python", "site-packages/keras/", "site-packages/tensorflow/"]);
    Exla = framework("exla").aka(&["nx", "axon"]).takes(DeviceUse::Preallocated { off: None })
        .targets(&[Target::Exla]).speaks(&[Elixir]).unpooled("XLA_PYTHON_CLIENT_ALLOCATOR=platform");
    Paddle = framework("paddle").aka(&["paddlepaddle"])
        .own("paddle.device.cuda.memory_allocated()", "paddle.device.cuda.max_memory_allocated()")
        .marked(&["paddle::", "/paddle/paddle/", "site-packages/paddle/", "PaddlePaddle"]);
    Mxnet = framework("mxnet")
        .marked(&["mxnet.base", "libmxnet", "/mxnet/", "MXNetError", "mxnet::"]);
    Mlx = framework("mlx").on(Accelerator::Mps).own("mx.get_active_memory()", "mx.get_peak_memory()")
        .targets(&[Target::Mlx]).limit("mx.metal.device_info()")
        .marked(&["[metal::malloc]", "mlx.core", "site-packages/mlx", "mlx_lm", "[METAL] Command buffer",
            "[malloc_or_wait]", "omlx", "memory_guard_tier", "libmlx", "mlx-lm"]);
    Mindspore = framework("mindspore")
        .own("mindspore.hal.memory_allocated()", "mindspore.hal.max_memory_allocated()")
        .marked(&["mindspore"]);
    Oneflow = framework("oneflow")
        .marked(&["oneflow"]);
    Tinygrad = framework("tinygrad")
        .marked(&["tinygrad"]);
    Caffe = framework("caffe").speaks(&[Cpp]);
    Darknet = framework("darknet").speaks(&[Cpp])
        .marked(&["darknet"]);
    Candle = framework("candle").speaks(&[Rust])
        .marked(&["candle_core", "candle-core"]);
    Burn = framework("burn").aka(&["cubecl"]).speaks(&[Rust])
        .marked(&["burn_cuda", "burn-cuda", "cubecl"]);

    // Engines that serve a model.
    Vllm = engine("vllm", pool("--gpu-memory-utilization")).pytorch(Yes).targets(&[Target::Vllm])
        .context("--max-model-len")
        .marked(&["site-packages/vllm/", "/vllm/vllm/", "(EngineCore", "vllm/v1", "vllm/worker", "cumem_allocator.cpp",
            "(APIServer pid="]);
    Sglang = engine("sglang", pool("--mem-fraction-static")).pytorch(Yes).targets(&[Target::Sglang])
        .context("--context-length")
        .marked(&["sglang/srt", "sgl-workspace", "sglang.srt"]);
    Tgi = engine("tgi", pool("--cuda-memory-fraction")).aka(&["text-generation-inference"]).pytorch(Yes)
        .targets(&[Target::Tgi]).context("--max-total-tokens")
        .marked(&["text_generation_launcher", "text_generation_router", "text_generation_server", "shard-manager"]);
    TensorRtLlm = engine("tensorrt-llm", DeviceUse::PoolOfFree { share: "free_gpu_memory_fraction" })
        .aka(&["trtllm", "tensorrt_llm"])
        .pytorch(Sometimes).targets(&[Target::TensorRtLlm]).on(Accelerator::Cuda).context("--max_seq_len")
        .marked(&["[TensorRT-LLM]", "[TRT-LLM]", "tensorrt_llm", "TllmException", "tllmBuffers"]);
    Lmdeploy = engine("lmdeploy", pool("--cache-max-entry-count")).aka(&["turbomind"]).pytorch(Sometimes)
        .targets(&[Target::Lmdeploy]).context("--session-len")
        .marked(&["lmdeploy", "[TM][", "turbomind"]);
    LlamaCpp = engine("llama.cpp", DeviceUse::FixedBuffers).aka(&["llamacpp", "llama-cpp", "llama-server", "llama-cli"])
        .targets(&[Target::LlamaCpp]).context("-c")
        .marked(&["ggml_", "ggml-", "llama_model_load", "llama_kv_cache", "llama_init_from", "llama.cpp",
            "llama-server", "llama_context", "llama_new_context", "common_init_from", "llama_cpp"]);
    Ollama = engine("ollama", DeviceUse::FixedBuffers).targets(&[Target::Ollama]).context("num_ctx")
        .marked(&["github.com/ollama/ollama", ".ollama/", "source=server.go", "source=sched.go", "ollama serve",
            "/ollama/", "ollama["]);
    Exllama = engine("exllama", DeviceUse::FixedBuffers).aka(&["exllamav2", "exllamav3"]).pytorch(Yes)
        .targets(&[Target::Exllama]).context("max_seq_len")
        .marked(&["exllamav2", "exllamav3", "exllama_kernels"]);
    MlcLlm = engine("mlc-llm", DeviceUse::OnDemand).aka(&["mlc_llm"])
        .marked(&["mlc_llm", "mlc-llm", "mlc-chat", "mlc_chat"]);
    Ktransformers = engine("ktransformers", DeviceUse::FixedBuffers).pytorch(Yes)
        .marked(&["ktransformers", "balance_serve"]);
    Aphrodite = engine("aphrodite", pool("--gpu-memory-utilization")).pytorch(Yes).context("--max-model-len");
    TabbyApi = engine("tabbyapi", DeviceUse::FixedBuffers).pytorch(Yes).context("max_seq_len");
    KoboldCpp = engine("koboldcpp", DeviceUse::FixedBuffers).context("--contextsize")
        .marked(&["koboldcpp", "KoboldCpp", "gpttype_load_model"]);
    LmStudio = engine("lm-studio", DeviceUse::FixedBuffers).aka(&["lmstudio"])
        .marked(&["LM Studio", "LM STUDIO", "lmstudio", "[LMSInternal]"]);
    LocalAi = engine("localai", DeviceUse::FixedBuffers).aka(&["local-ai"]);
    Llamafile = engine("llamafile", DeviceUse::FixedBuffers).context("-c");
    Gpt4All = engine("gpt4all", DeviceUse::FixedBuffers);
    Jan = engine("jan", DeviceUse::FixedBuffers);
    MistralRs = engine("mistral.rs", DeviceUse::OnDemand).aka(&["mistralrs", "mistralrs-server"])
        .marked(&["mistralrs", "mistral.rs"]);
    TritonServer = engine("triton-server", DeviceUse::OnDemand).aka(&["tritonserver", "triton-inference-server"])
        .pytorch(Sometimes).on(Accelerator::Cuda)
        .marked(&["tritonserver", "tritonclient", "triton_python_backend_shm", "[TritonServer]",
            "triton-inference-server", "pinned_memory_manager.cc", "cuda_memory_manager.cc"]);
    TorchServe = engine("torchserve", DeviceUse::OnDemand).pytorch(Yes);
    TextEmbeddings = engine("text-embeddings-inference", DeviceUse::OnDemand);

    // Programs around PyTorch.
    HfTrainer = pytorch_application("hf-trainer", &[Target::HfTrainer, Target::Accelerate, Target::Pytorch]);
    Trl = pytorch_application("trl", &[Target::Trl, Target::HfTrainer, Target::Accelerate, Target::Pytorch]);
    Lightning = pytorch_application("lightning", &[Target::Lightning, Target::Pytorch]).aka(&["pytorch-lightning"]);
    DeepSpeed = pytorch_application("deepspeed", &[Target::DeepSpeed, Target::HfTrainer, Target::Pytorch])
        .marked(&["site-packages/deepspeed/", "deepspeed.runtime"]);
    Megatron = pytorch_application("megatron", &[Target::Megatron, Target::Pytorch]).aka(&["megatron-lm"])
        .marked(&["megatron/core", "megatron/training", "Megatron-LM"]);
    Nemo = pytorch_application("nemo", &[Target::Lightning, Target::Pytorch]);
    Ultralytics = pytorch_application("ultralytics", &[Target::Ultralytics, Target::Pytorch]).aka(&["yolo"]);
    LlamaFactory = pytorch_application("llamafactory", &[Target::LlamaFactory, Target::HfTrainer, Target::Pytorch])
        .aka(&["llama-factory"]);
    Swift = pytorch_application("ms-swift", &[Target::Swift, Target::HfTrainer, Target::Pytorch]);
    Axolotl = pytorch_application("axolotl", &[Target::Axolotl, Target::DeepSpeed]);
    Unsloth = pytorch_application("unsloth", &[Target::Trl, Target::HfTrainer, Target::Pytorch]);
    Torchtune = pytorch_application("torchtune", &[Target::Pytorch]);
    Torchtitan = pytorch_application("torchtitan", &[Target::Pytorch]);
    Verl = pytorch_application("verl", &[Target::Fsdp, Target::Vllm, Target::Pytorch]);
    OpenRlhf = pytorch_application("openrlhf", &[Target::DeepSpeed, Target::Vllm, Target::Pytorch]);
    MmEngine = pytorch_application("mmengine", &[Target::MmEngine, Target::Pytorch]).aka(&["mmdetection"]);
    Detectron2 = pytorch_application("detectron2", &[Target::Pytorch]);
    Fastai = pytorch_application("fastai", &[Target::Fastai, Target::Pytorch]);
    Fairseq = pytorch_application("fairseq", &[Target::Pytorch]);
    Espnet = pytorch_application("espnet", &[Target::Pytorch]);
    SpeechBrain = pytorch_application("speechbrain", &[Target::Pytorch]);
    NnUnet = pytorch_application("nnunet", &[Target::Pytorch]).aka(&["nnunetv2"]);
    Diffusers = pytorch_application("diffusers", &[Target::Diffusers, Target::Accelerate, Target::Pytorch]);
    ComfyUi = pytorch_application("comfyui", &[Target::ComfyUi])
        .marked(&["ComfyUI/", "!!! Exception during processing"]).infers();
    SdWebUi = pytorch_application("sd-webui", &[Target::SdWebUi])
        .aka(&["stable-diffusion-webui", "automatic1111", "forge"]).infers();
    InvokeAi = pytorch_application("invokeai", &[Target::Diffusers]).infers();
    Fooocus = pytorch_application("fooocus", &[]).infers();
    KohyaSs = pytorch_application("kohya-ss", &[Target::Accelerate, Target::Pytorch]).aka(&["sd-scripts"]);
    TextGenerationWebUi = pytorch_application("text-generation-webui", &[]).aka(&["oobabooga"])
        .pytorch(Sometimes).infers();
    Whisper = pytorch_application("whisper", &[Target::Pytorch]).aka(&["openai-whisper"]).infers();
    WhisperX = pytorch_application("whisperx", &[]).pytorch(Sometimes).infers();
    Nerfstudio = pytorch_application("nerfstudio", &[Target::Pytorch]);
    Gsplat = pytorch_application("gsplat", &[Target::Pytorch]).aka(&["gaussian-splatting"]);
    OpenFold = pytorch_application("openfold", &[Target::DeepSpeed, Target::Pytorch]);
    IsaacLab = pytorch_application("isaaclab", &[Target::Pytorch]).aka(&["isaac-lab"]).pytorch(Sometimes)
        .marked(&["isaaclab"]);
    IsaacGym = pytorch_application("isaacgym", &[Target::Pytorch]).pytorch(Sometimes)
        .marked(&["isaacgym"]);
    IsaacSim = application("isaac-sim").aka(&["physx"]).pytorch(Sometimes)
        .marked(&["omni.physx", "[carb.", "PxgCudaDevice", "[omni.", "gpu.foundation", "isaacsim", "PhysX"]);
    Sb3 = pytorch_application("stable-baselines3", &[Target::Pytorch]);

    // Programs for one purpose that bring their own memory.
    WhisperCpp = application("whisper.cpp").speaks(&[Cpp])
        .marked(&["whisper_model_load", "whisper_init", "whisper.cpp", "whisper_kv_cache", "whisper_full"]);
    FasterWhisper = application("faster-whisper").aka(&["ctranslate2"]).speaks(&[Python])
        .marked(&["ctranslate2", "CTranslate2", "faster_whisper", "CUDA failed with error",
            "cuBLAS failed with status"]);
    SdCpp = application("stable-diffusion.cpp").aka(&["sd.cpp"]).speaks(&[Cpp])
        .marked(&["stable-diffusion.cpp", "ggml_extend.hpp"]);
    AlphaFold = application("alphafold").aka(&["colabfold"]).takes(DeviceUse::Preallocated {
        off: Some("XLA_PYTHON_CLIENT_PREALLOCATE=false"),
    }).targets(&[Target::Jax]).speaks(&[Python])
        .marked(&["run_alphafold", "/alphafold/"]);
    Blender = application("blender")
        .marked(&["Blender", "intern/cycles", "Fra:", "System is out of GPU", "blender"]);
    LuxCore = application("luxcore").aka(&["luxcorerender"])
        .marked(&["[LuxCore]", "[LuxRays]"]);
    Octane = application("octane")
        .marked(&["Octane"]);
    Redshift = application("redshift")
        .marked(&["Redshift"]);
    DavinciResolve = application("davinci-resolve").aka(&["resolve"])
        .marked(&["DaVinci"]);
    Ffmpeg = application("ffmpeg")
        .marked(&["ffmpeg", "_nvenc @", "cuvid @", "AVHWDeviceContext @", "AVHWFramesContext @", "[AVHW"]);
    Colmap = application("colmap").speaks(&[Cpp])
        .marked(&["colmap", "COLMAP"]);
    Metashape = application("metashape")
        .marked(&["Metashape", "metashape"]);
    InstantNgp = application("instant-ngp").speaks(&[Cpp])
        .marked(&["instant-ngp", "Uncaught exception: /"]);
    Lammps = application("lammps").speaks(&[Cpp])
        .marked(&["LAMMPS", "lammps", "ERROR on proc", "ERROR on one proc", "Last command:"]);
    Gromacs = application("gromacs").aka(&["gmx"]).speaks(&[Cpp])
        .marked(&["GROMACS", "gmx mdrun", "src/gromacs/", "gromacs.org"]);
    Namd = application("namd").aka(&["namd2", "namd3"]).speaks(&[Cpp])
        .marked(&["NAMD"]);
    Amber = application("amber").aka(&["pmemd.cuda"]).speaks(&[Fortran])
        .marked(&["pmemd.cuda", "GpuBuffer::Allocate", "gpuAllocate", "pmemd"]);
    OpenMm = application("openmm").aka(&["simtk"]).speaks(&[Python])
        .marked(&["openmm", "OpenMM"]);
    Relion = application("relion").aka(&["relion_refine"]).speaks(&[Cpp])
        .marked(&["relion_refine", "CudaCustomAllocator", "/relion/", "ran out of memory on the GPU(s)"]);
    CryoSparc = application("cryosparc")
        .marked(&["cryosparc"]);
    OpenFoam = application("openfoam").speaks(&[Cpp])
        .marked(&["FOAM FATAL", "OpenFOAM"]);
    QuantumEspresso = application("quantum-espresso").speaks(&[Fortran])
        .marked(&["Program PWSCF"]);
    Vasp = application("vasp").speaks(&[Fortran]);
    Hashcat = application("hashcat")
        .marked(&["hashcat"]);
    Matlab = application("matlab");
    Cuquantum = Row::new("cuquantum", Kind::QuantumSimulator).aka(&["custatevec"]).targets(&[Target::Cuquantum])
        .marked(&["custatevec", "CUSTATEVEC_STATUS", "cuquantum"]);
    PennyLane = Row::new("pennylane", Kind::QuantumSimulator).targets(&[Target::PennyLane])
        .marked(&["pennylane", "PennyLane"]);
    Qiskit = Row::new("qiskit", Kind::QuantumSimulator).aka(&["qiskit-aer"]).targets(&[Target::Qiskit])
        .marked(&["qiskit_aer", "qiskit"]);
    CudaQ = Row::new("cudaq", Kind::QuantumSimulator).aka(&["cuda-quantum"]);

    // Libraries.
    Julia = library("julia").aka(&["cuda.jl"]).own("CUDA.pool_status()", "CUDA.pool_status()").speaks(&[Julia])
        .targets(&[Target::Julia]).limit("ENV[\"JULIA_CUDA_HARD_MEMORY_LIMIT\"]")
        .unpooled("JULIA_CUDA_MEMORY_POOL=none")
        .marked(&["CUDA.jl", "CuArrays", ".julia/packages", "Stacktrace:"]);
    Cupy = library("cupy").aka(&["chainer"])
        .own("cupy.get_default_memory_pool().used_bytes()", "cupy.get_default_memory_pool().total_bytes()")
        .targets(&[Target::Cupy]).limit("cupy.get_default_memory_pool().get_limit()")
        .marked(&["cupy.cuda", "cupy_backends", "cupy/cuda", "site-packages/cupy", "chainer"]);
    Numba = library("numba")
        .marked(&["numba.cuda", "numba/cuda", "site-packages/numba/"]);
    PyCuda = library("pycuda")
        .marked(&["pycuda"]);
    Rapids = library("rapids").aka(&["cudf", "cuml", "cugraph", "rmm"]).on(Accelerator::Cuda)
        .targets(&[Target::Rapids]).limit("rmm.mr.get_current_device_resource()")
        .marked(&["site-packages/cudf", "site-packages/cuml", "cudf/", "cuml/", "libcuml", "raft::", "raft/", "rmm/mr",
            "rmm/", "RMM failure", "CUDF failure", "rmm::", "librmm", "pylibcudf", "ai.rapids.cudf", "cugraph",
            "/rmm/"]);
    DaskCuda = library("dask-cuda").aka(&["dask_cuda"]).on(Accelerator::Cuda)
        .targets(&[Target::DaskCuda]).limit("rmm.mr.get_current_device_resource()")
        .marked(&["dask_cuda", "dask-cuda"]);
    Xgboost = library("xgboost").targets(&[Target::Xgboost])
        .marked(&["xgboost", "XGBoost"]);
    LightGbm = library("lightgbm").targets(&[Target::LightGbm])
        .marked(&["[LightGBM]", "lightgbm", "LightGBM"]);
    Catboost = library("catboost").targets(&[Target::Catboost])
        .marked(&["catboost", "CatBoost", "NCudaLib"]);
    OnnxRuntime = library("onnxruntime").targets(&[Target::OnnxRuntime]).limit("session.get_provider_options()")
        .marked(&["onnxruntime", "ONNXRuntimeError", "[E:onnxruntime", "bfc_arena.cc", "onnxruntime-web"]);
    TensorRt = library("tensorrt").aka(&["trt"]).on(Accelerator::Cuda).targets(&[Target::TensorRt]).limit("tegrastats")
        .marked(&["[TRT]", "[TensorRT]", "nvinfer", "trtexec", "[defaultAllocator.cpp"]);
    OpenVino = library("openvino").on(Accelerator::Xpu)
        .marked(&["openvino"]);
    Tvm = library("tvm");
    Triton = library("triton").pytorch(Sometimes).targets(&[Target::Triton])
        .marked(&["triton/runtime", "triton.runtime", "triton/compiler"]);
    FlagGems = library("flaggems").pytorch(Yes);
    OpenCv = library("opencv").speaks(&[Cpp, Python])
        .marked(&["cv::Exception", "OpenCV", "cv::cuda"]);
    Faiss = library("faiss").speaks(&[Cpp, Python])
        .marked(&["faiss::", "StandardGpuResources", "faiss/gpu"]);
    Taichi = library("taichi")
        .marked(&["taichi", "Taichi"]);
    Warp = library("warp")
        .marked(&["site-packages/warp/", "Warp CUDA error", "Warp error"]);
    Open3d = library("open3d").speaks(&[Cpp, Python])
        .marked(&["open3d", "Open3D"]);
    TinyCudaNn = library("tiny-cuda-nn").aka(&["tinycudann"]).speaks(&[Cpp, Python])
        .marked(&["tiny-cuda-nn", "tinycudann", "tcnn"]);
    Bitsandbytes = library("bitsandbytes").pytorch(Sometimes)
        .marked(&["bitsandbytes"]);
    FlashInfer = library("flashinfer").pytorch(Sometimes)
        .marked(&["flashinfer", "AlignedAllocator"]);
    TransformerEngine = library("transformer-engine").aka(&["transformer_engine"]).pytorch(Sometimes)
        .marked(&["transformer_engine"]);
    Thrust = library("thrust").aka(&["cub"]).speaks(&[Cpp])
        .marked(&["thrust::", "THRUST_", "cub::"]);
    Optix = library("optix").speaks(&[Cpp])
        .marked(&["OPTIX_ERROR_", "Optix call", "optix"]);
    Ncnn = library("ncnn").speaks(&[Cpp])
        .marked(&["queueC=", "ncnn"]);
    WebGpu = library("webgpu").aka(&["dawn"])
        .marked(&["WebGPU", "GPUValidationError", "GPUOutOfMemoryError", "[Device].Create", "dawn::"]);
    Wgpu = library("wgpu").speaks(&[Rust])
        .marked(&["wgpu error", "wgpu_core", "wgpu-hal", "wgpu-core", "wgpu_hal"]);
    AmdGpu = library("amdgpu.jl").speaks(&[Julia]).on(Accelerator::Hip)
        .marked(&["@ AMDGPU", "packages/AMDGPU"]);
    Kokkos = library("kokkos").speaks(&[Cpp])
        .marked(&["Kokkos"]);
    Dgl = library("dgl").pytorch(Sometimes)
        .marked(&["dgl._ffi", "libdgl", "dgl/", "DGLError"]);
    Spacy = library("spacy").pytorch(Sometimes)
        .marked(&["site-packages/spacy/"]);
    HuggingFace = library("huggingface").aka(&["transformers", "safetensors"]).pytorch(Sometimes);
    Nccl = library("nccl").speaks(&[Cpp]).on(Accelerator::Cuda);
    Grpc = library("grpc").reads(Reads::Process);

    // Programs in the machine's memory.
    Numpy = host("numpy").speaks(&[Python]).targets(&[Target::Numpy, Target::Python]);
    Pandas = host("pandas").speaks(&[Python]).targets(&[Target::Python]);
    Polars = host("polars").speaks(&[Python]).targets(&[Target::Python])
        .marked(&["polars-"]);
    ScikitLearn = host("scikit-learn").aka(&["sklearn"]).speaks(&[Python]).targets(&[Target::Python]);
    PyArrow = host("pyarrow").aka(&["arrow"]).speaks(&[Python]);
    OpenBlas = host("openblas").speaks(&[Cpp]);
    DuckDb = host("duckdb")
        .marked(&["duckdb."]);
    Hdf5 = host("hdf5").aka(&["h5py"]).speaks(&[Python]);
    Postgres = host("postgresql").aka(&["postgres"]);
    Redis = host("redis");
    Elasticsearch = host("elasticsearch").aka(&["opensearch"]).speaks(&[Java]);
    Joblib = host("joblib").aka(&["loky"]).speaks(&[Python]).targets(&[Target::Python]);
    Celery = host("celery").aka(&["billiard"]).speaks(&[Python]);
    Gunicorn = host("gunicorn").speaks(&[Python]);
    Uwsgi = host("uwsgi");
    Pm2 = host("pm2").speaks(&[JavaScript]);
    Jupyter = host("jupyter").aka(&["jupyterlab", "ipykernel"]).speaks(&[Python]).pytorch(Sometimes);
    VsCode = host("vscode").aka(&["vscode-jupyter"]).pytorch(Sometimes);
    RStudio = host("rstudio").aka(&["rsession"]).speaks(&[Language::R]);
    Dask = host("dask").speaks(&[Python]).targets(&[Target::Dask]);
    Ray = host("ray").speaks(&[Python]).pytorch(Sometimes).targets(&[Target::Ray]);
    Spark = host("spark").aka(&["pyspark"]).speaks(&[Java, Python]).targets(&[Target::Spark]);
    Gcc = host("gcc").aka(&["cc1plus", "ld"]).speaks(&[Shell]);
    Clang = host("clang").aka(&["llvm"]);
    Nvcc = host("nvcc").aka(&["cicc", "ptxas"]);
    Msvc = host("msvc");
    Jemalloc = host("jemalloc").speaks(&[Cpp]);
    Tcmalloc = host("tcmalloc").speaks(&[Cpp]);
    Mimalloc = host("mimalloc").speaks(&[Cpp]);
    Python = runtime("python", &[Python]).aka(&["python3"]).pytorch(Sometimes);
    Java = runtime("java", &[Java]).aka(&["jvm"]).targets(&[Target::Java])
        .limit("jcmd PID VM.flags | grep -o MaxHeapSize=[0-9]*");
    Node = runtime("node", &[JavaScript]).aka(&["nodejs"]).targets(&[Target::Node])
        .limit("node -p 'v8.getHeapStatistics().heap_size_limit'");
    Go = runtime("go", &[Go]).targets(&[Target::Go]);
    Rust = runtime("rust", &[Rust]);
    R = runtime("r", &[R]);

    // Who starts jobs, and who kills them.
    Slurm = scheduler("slurm").targets(&[Target::Slurm]);
    Kubernetes = scheduler("kubernetes").aka(&["k8s"]).targets(&[Target::Kubernetes]);
    Docker = scheduler("docker").targets(&[Target::Docker]);
    Lsf = scheduler("lsf");
    Pbs = scheduler("pbs");
    HtCondor = scheduler("htcondor").aka(&["condor"]);
    Sge = scheduler("sge").aka(&["gridengine", "uge"]);
    Yarn = scheduler("yarn").aka(&["hadoop"]).targets(&[Target::Spark]);
    Podman = scheduler("podman").aka(&["conmon"]).targets(&[Target::Docker]);
    Containerd = scheduler("containerd").targets(&[Target::Docker]);
    Runc = scheduler("runc").targets(&[Target::Docker]);
    Crun = scheduler("crun").targets(&[Target::Docker]);
    Systemd = scheduler("systemd");
    Airflow = scheduler("airflow");
    Nextflow = scheduler("nextflow");
    AwsLambda = scheduler("aws-lambda");
    AzureMl = scheduler("azureml").aka(&["azure-ml"]);
    Databricks = scheduler("databricks").targets(&[Target::Spark]);
    SageMaker = scheduler("sagemaker");
    VertexAi = scheduler("vertex-ai").aka(&["vertex"]);
    Colab = scheduler("colab").aka(&["google-colab"]);
    Kaggle = scheduler("kaggle");
    GithubActions = scheduler("github-actions").aka(&["actions-runner"]);
    GitlabRunner = scheduler("gitlab-runner");
    Windows = scheduler("windows");
    Wsl = scheduler("wsl").aka(&["wsl2"]);
    LinuxKernel = killer("linux-kernel");
    SystemdOomd = killer("systemd-oomd");
    EarlyOom = killer("earlyoom");
    Nohang = killer("nohang");
    Oomd = killer("oomd");
    MacOs = killer("macos").aka(&["jetsam"]);

    // Drivers' interfaces, where the program does not show.
    Cuda = gpu_api("cuda").pytorch(Sometimes).on(Accelerator::Cuda);
    Rocm = gpu_api("rocm").aka(&["hip"]).pytorch(Sometimes).on(Accelerator::Hip);
    Sycl = gpu_api("sycl").aka(&["oneapi", "level-zero"]).pytorch(Sometimes).on(Accelerator::Xpu)
        .targets(&[Target::Sycl]).limit("clinfo | grep -i 'max memory allocation'");
    Ascend = gpu_api("ascend").aka(&["cann"]).pytorch(Sometimes).on(Accelerator::Npu);
    Metal = gpu_api("metal").pytorch(Sometimes).on(Accelerator::Mps).targets(&[Target::Metal]);
    OpenCl = gpu_api("opencl").limit("clinfo | grep -i 'max memory allocation'");
    Vulkan = gpu_api("vulkan");

    Generic = Row::new("generic", Kind::Unnamed);
}

impl Program {
    /// The program of this name: a listed one by its id or an alias, else one named from the text. Nothing where the
    /// text has no letter or digit that a name could be made of.
    pub fn named(text: &str) -> Option<Program> {
        /// Looked up for every word that may be a name: a walk over the rows took a third of a log of many failures.
        static BY_NAME: LazyLock<HashMap<&str, Program>> = LazyLock::new(|| {
            let named = |program: &Program| {
                let row = program.row();
                let names = std::iter::once(row.id).chain(row.aliases.iter().copied());
                names.map(move |name| (name, *program)).collect::<Vec<_>>()
            };
            // Of two rows with one name the first counts.
            Program::LISTED.iter().rev().flat_map(named).collect()
        });
        let name = Name::new(text)?;
        Some(BY_NAME.get(name.as_str()).copied().unwrap_or(Program::Unlisted(name)))
    }

    /// What only its lines, frames and paths hold.
    pub fn markers(&self) -> &'static [&'static str] {
        self.row().markers
    }

    /// The name in JSON.
    pub fn id(&self) -> &str {
        match self {
            Program::Unlisted(name) => name.as_str(),
            _ => self.row().id,
        }
    }

    pub fn kind(&self) -> Kind {
        self.row().kind
    }

    pub fn is_engine(&self) -> bool {
        self.kind() == Kind::ServingEngine
    }

    /// True for programs that kill or report kills: their word on the death of another process is proof.
    pub fn is_warden(&self) -> bool {
        matches!(self.kind(), Kind::OomKiller | Kind::Scheduler)
    }

    /// True where the name tells which program it was that ran out, rather than who noticed it or what it called.
    pub fn names_itself(&self) -> bool {
        !self.is_warden() && !matches!(self.kind(), Kind::GpuApi | Kind::Unnamed)
    }

    /// True where it only carries out what another program asks: a language's runtime, its arrays, an allocator, the
    /// system.
    pub fn runs_others(&self) -> bool {
        use Program::{Jemalloc, Mimalloc, Numpy, Pandas, PyArrow, Tcmalloc, Windows};
        matches!(self.kind(), Kind::Runtime | Kind::Library)
            || matches!(self, Jemalloc | Mimalloc | Numpy | Pandas | PyArrow | Tcmalloc | Windows)
    }

    /// True for what trains or infers by PyTorch under a name of its own.
    pub fn is_application_of_pytorch(&self) -> bool {
        self.kind() == Kind::Application && self.pytorch_allocator() == PytorchAllocator::Yes
    }

    pub fn pytorch_allocator(&self) -> PytorchAllocator {
        self.row().pytorch
    }

    pub fn device_use(&self) -> DeviceUse {
        self.row().device_use
    }

    /// True for an engine whose warm-up, with the largest batch that its settings allow, comes before its cache is
    /// sized.
    pub fn warms_up_before_its_pool(&self) -> bool {
        matches!(self, Program::Tgi)
    }

    /// True for frameworks that take most of the device at start.
    pub fn preallocates(&self) -> bool {
        matches!(self.device_use(), DeviceUse::Preallocated { .. })
    }

    /// True for engines whose pool is a share of the whole device.
    pub fn sizes_pool_by_device(&self) -> bool {
        matches!(self.device_use(), DeviceUse::SizedPool { .. })
    }

    /// The family of its devices, where there is but one.
    pub fn accelerator(&self) -> Option<Accelerator> {
        self.row().accelerator
    }

    /// True where its user reads PyTorch's own counters.
    pub fn reads_pytorch(&self) -> bool {
        self.row().reads == Reads::Pytorch
    }

    /// Where its user reads how much of a device of this family it uses.
    pub fn meter(&self, accelerator: Accelerator) -> Meter {
        match self.row().reads {
            Reads::Pytorch => accelerator.torch_meter(),
            Reads::Own(meter) => meter,
            Reads::Driver => accelerator.driver_meter(),
            Reads::Process => PROCESS_METER,
        }
    }

    /// Whose knobs its user can turn, nearest first.
    pub fn targets(&self) -> &'static [Target] {
        self.row().targets
    }

    /// The languages of its commands and settings.
    pub fn languages(&self) -> &'static [Language] {
        self.row().languages
    }

    /// Where it tells a limit of its own.
    pub fn own_limit(&self) -> Option<&'static str> {
        self.row().limit
    }

    /// The setting under which it keeps no pool that could be in pieces.
    pub fn unpooled(&self) -> Option<&'static str> {
        self.row().unpooled
    }

    /// True for applications that use trained models and train none.
    pub fn only_infers(&self) -> bool {
        self.row().infers
    }

    /// The option that sets the length of its context.
    pub fn context_option(&self) -> Option<&'static str> {
        self.row().context
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.id())
    }
}

impl serde::Serialize for Program {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl schemars::JsonSchema for Program {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Program".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let known: Vec<_> = Program::LISTED.iter().map(Program::id).collect();
        schemars::json_schema!({
            "description": "A program by its lower-case name: one of the examples, or another that a kernel's or a \
                            scheduler's report names.",
            "type": "string",
            "minLength": 1,
            "examples": known,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_programs_share_a_name() {
        let mut seen = BTreeSet::new();
        for program in Program::LISTED {
            for name in program.row().aliases.iter().chain([&program.row().id]) {
                assert!(seen.insert(*name), "{name} stands twice");
                assert_eq!(Name::new(name).expect("a name").as_str(), *name);
                assert_eq!(Program::named(name), Some(*program));
            }
        }
    }

    #[test]
    fn a_program_in_no_list_keeps_its_name() {
        let named = |text: &str| Program::named(text).map(|program| program.id().to_string());
        assert_eq!(named("PyTorch").as_deref(), Some("pytorch"));
        assert_eq!(named("My Solver (v2)").as_deref(), Some("my-solver-v2"));
        assert_eq!(named("解算器 x").as_deref(), Some("x"));
        assert_eq!(named(&"a".repeat(100)), Some("a".repeat(32)));
        assert_eq!(named("--"), None);
        assert_eq!(named("求解"), None);
        let unlisted = Program::named("my_solver").expect("a name");
        assert_eq!(unlisted.meter(Accelerator::Xpu), Accelerator::Xpu.driver_meter());
        assert_eq!(unlisted.pytorch_allocator(), PytorchAllocator::No);
        assert!(unlisted.names_itself() && unlisted.targets().is_empty());
    }

    #[test]
    fn only_programs_on_pytorch_read_its_counters() {
        for program in Program::LISTED {
            let torch = |text: &str| text.starts_with("torch.");
            for accelerator in Accelerator::ALL {
                let meter = program.meter(*accelerator);
                if torch(meter.now) || torch(meter.peak) {
                    assert_ne!(program.pytorch_allocator(), PytorchAllocator::No, "{program}");
                }
            }
            if program.targets().contains(&Target::Pytorch) {
                assert_ne!(program.pytorch_allocator(), PytorchAllocator::No, "{program}");
            }
        }
    }
}
