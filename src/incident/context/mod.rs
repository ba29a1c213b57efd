//! What the rest of the log says about the run: program, batch, phase, settings, memory over time.

mod account;
mod amounts;
mod boxed;
mod command;
mod counters;
mod devices;
mod given;
mod intake;
mod keys;
mod option;
pub mod origin;
mod pairs;
mod pass;
mod phrases;
mod place;
mod progress;
mod reader;
mod readings;
mod section;
mod series;
mod settings;
mod side;
pub mod subject;
mod surroundings;
mod topics;
mod traceback;
mod trends;
mod width;

pub use given::Given;
pub use keys::examples as setting_examples;
pub use option::{Quantity, Spelled};
pub use reader::ContextReader;
pub use series::{Growth, Measure, Reading, Series, StepUnit};
pub use side::{Moment, SideReading, SideTable};
pub use subject::Subject;
pub use trends::{AnnouncedPool, Card, FreeReading, Trend, Unit};

/// The step that a line of output tells; where it tells an epoch alone, that.
#[cfg(target_os = "linux")]
pub(crate) fn progress_of_line(text: &str) -> Option<f64> {
    let progress = progress::read(text, false)?;
    progress.step.map(|step| step as f64).or(progress.epoch)
}

pub use crate::domain::Trainer;

use crate::dialect::Fact;
use crate::dialect::naming::Introductions;
use crate::domain::closed_set;
use crate::domain::trainer::Purpose;
use crate::evidence::{Known, Span};
use crate::input::gpu_tables::{GpuRow, LooseProcess, Partition};
use crate::units::Figure;
use std::borrow::Cow;
use std::collections::BTreeSet;

closed_set! {
    /// What the program was doing when it failed.
    pub enum Phase {
        /// Loading weights or moving the model to the device.
        Load = "load",
        /// Restoring a checkpoint.
        Resume = "resume",
        Forward = "forward",
        Loss = "loss",
        Backward = "backward",
        OptimizerStep = "optimizer-step",
        /// Training, part unknown.
        Train = "train",
        Validation = "validation",
        /// Saving a checkpoint.
        Checkpoint = "checkpoint",
        /// Inference or generation, not training.
        Inference = "inference",
        /// Turning finished latents into pixels or sound, the last stage of a generator.
        Decode = "decode",
        /// Compiling or autotuning kernels.
        Compile = "compile",
        /// Warm-up or CUDA graph capture of an engine.
        Warmup = "warmup",
        /// Reading data on the host, or moving it as a whole to the device.
        DataLoading = "data-loading",
        /// Ranks connect: a communicator is being set up, no tensor goes through it yet.
        CommunicatorSetup = "communicator-setup",
        /// The optimizer is set up and makes its own copies of the parameters, before the first step.
        OptimizerSetup = "optimizer-setup",
    }
}

closed_set! {
    /// Numeric precision of the run.
    pub enum Precision {
        Fp32 = "fp32",
        Fp16 = "fp16",
        Bf16 = "bf16",
        /// Automatic mixed precision, type not told.
        Mixed = "mixed",
        Int8 = "int8",
        Int4 = "int4",
        Fp8 = "fp8",
    }
}

closed_set! {
    /// The operating environment, where it changes what a message means.
    pub enum Platform {
        Linux = "linux",
        Windows = "windows",
        Wsl = "wsl",
        MacOs = "mac-os",
        Bsd = "bsd",
        Jetson = "jetson",
    }
}

/// One frame of a traceback, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub file: String,
    pub line: u64,
    pub function: String,
    /// The source line printed under it, if any.
    pub code: Option<String>,
    pub at: Span,
}

impl Frame {
    /// The file with `/` between its folders, on Windows too.
    pub fn path(&self) -> Cow<'_, str> {
        if self.file.contains('\\') { self.file.replace('\\', "/").into() } else { Cow::Borrowed(&self.file) }
    }

    /// True for code of the user rather than of an installed package or the interpreter.
    pub fn is_user_code(&self) -> bool {
        let file = self.path();
        let code = self.code.as_deref().unwrap_or_default();
        // What a package installs to be typed: `/venv/bin/accelerate`, which does nothing but call it.
        let command = file.contains("/bin/") && !file.ends_with(".py")
            || ["sys.exit(cli())", "sys.exit(main())"].contains(&code.trim());
        !(file.is_empty()
            || command
            || ["/torch/nn/", "/torch/_", "/torch/utils/", "/torch/optim/"].iter().any(|part| file.contains(part))
            || file.contains("/site-packages/")
            || file.contains("/dist-packages/")
            || ["<frozen", "<decorator", "<__array", "<eval_with"].iter().any(|made| file.starts_with(made))
            || file.contains("/lib/python3")
            || file.contains("/lib/python2"))
    }
}

closed_set! {
    /// Something the surroundings of the failure show that is no value.
    pub enum Clue {
        /// `torch.no_grad()`, `inference_mode` or a validation loop that runs under them is visible.
        NoGradVisible = "no-grad-visible",
        /// `empty_cache` was already called.
        EmptyCacheTried = "empty-cache-tried",
        /// The author says that a smaller batch failed as well.
        SmallerBatchTried = "smaller-batch-tried",
        /// The failing frame concatenates or collects results over steps (`nested_concat`, `torch.cat` of predictions,
        /// `append(loss)`).
        Accumulates = "accumulates",
        /// The same program was killed at the same size several times, each long after the last.
        KilledApart = "killed-apart",
        /// Requests were answered before, by the same server: what is loaded fitted, and so did they.
        RequestsAnswered = "requests-answered",
        /// The code shown keeps a tensor of each step, with the graph that made it: `running_loss += loss`,
        /// `losses.append(loss_fn(…))`.
        KeepsTensors = "keeps-tensors",
        /// The failing frame is quadratic in something: attention scores, masks, dense adjacency, pairwise distance,
        /// interpolate of all masks.
        Quadratic = "quadratic",
        /// The failing frame makes logits or a loss over a vocabulary.
        VocabularyLogits = "vocabulary-logits",
        /// The failing frame creates optimizer state (`exp_avg`, `zeros_like(p`, `optimizer.step`).
        OptimizerState = "optimizer-state",
        /// The failing frame moves or copies a model or loads a checkpoint (`.to(device)`, `load_state_dict`,
        /// `torch.load`, `convert`).
        LoadsModel = "loads-model",
        /// A model is loaded more than once.
        LoadedTwice = "loaded-twice",
        /// A spawned child runs the script a second time, outside of a guard on `__main__`.
        SpawnedAgain = "spawned-again",
        /// The failing frame makes a second copy of a model: `deepcopy(model)`, `teacher = build()`.
        CopiesModel = "copies-model",
        /// A line announces a second model of the same kind: an average of the weights, a teacher, a reference.
        SecondModel = "second-model",
        /// A line says that the run goes on from a checkpoint.
        Resumed = "resumed",
        /// The failing frame makes a cache of keys and values.
        AllocatesCache = "allocates-cache",
        /// The failing frames pass a cache of keys and values on.
        ServesWithCache = "serves-with-cache",
        /// Compilers are at work: a build system's own words stand around the failure.
        Builds = "builds",
        /// An engine is built for a model: its compiler is at work, nothing is served.
        BuildsEngine = "builds-engine",
        /// TensorRT's builder left out tactics for want of the workspace that a setting gives it.
        ShortWorkspace = "short-workspace",
        /// DeepSpeed's config has whole weights gathered when a checkpoint is saved.
        GathersOnSave = "gathers-on-save",
        /// The script or its functions are named for prediction, sampling or a service.
        Predicts = "predicts",
        /// A server's words or paths stand around the failure.
        Serves = "serves",
        /// The program says how many devices it sees, and it is several.
        SeveralDevices = "several-devices",
        /// `load_from_checkpoint`/`torch.load` without `map_location`, or several ranks on one device.
        RanksOnOneDevice = "ranks-on-one-device",
        /// `DataParallel`, which gathers on its first device.
        DataParallel = "data-parallel",
        /// `DataParallel` warns of a device that is smaller than the others (torch/nn/parallel/data_parallel.py).
        UnequalDevices = "unequal-devices",
        /// An earlier assertion on the device, or an index out of range: what follows may be its echo.
        DeviceAssert = "device-assert",
        /// The same code went on after the failure: a skip, a retry, further steps.
        WentOn = "went-on",
        /// Graph capture or several CUDA graphs.
        CudaGraphs = "cuda-graphs",
        /// A cache of samples in RAM, in the loader or the data set.
        SampleCache = "sample-cache",
        /// The C allocator reports single blocks of a GiB and more, as when a list is enlarged again and again.
        GrowingList = "growing-list",
        /// A convolution workspace or autotuner is at work.
        ConvWorkspace = "conv-workspace",
        /// TensorFlow 1 is at work: its session, its way of naming a graph's nodes, or a date before TensorFlow 2.
        TensorFlow1 = "tensorflow-1",
        /// A GPU of NVIDIA's from before Ampere is named: it has neither bf16 nor fp8 nor flash attention.
        BeforeAmpere = "before-ampere",
        /// vLLM from before 0.4: its engine itself printed the number of blocks.
        EarlyVllm = "vllm-before-0.4",
        /// The engine is an object in Python: `LLM(model=…)`.
        EngineObject = "engine-object",
        /// The engine is started by another program, whose options are spelled its own way.
        Wrapped = "wrapped",
        /// stable-diffusion.cpp: ggml draws pictures, and there is neither a context nor a slot.
    StableDiffusionCpp = "stable-diffusion-cpp",
    /// Ray's actors are made by a library or trainer on top of it: no `ray.remote` of the user's.
        RayManaged = "ray-managed",
        /// A program names the option for tiles below its error, as Real-ESRGAN's scripts do.
        NamesTiles = "names-tiles",
        /// Demucs' command names the recording that it takes apart.
        SeparatesTracks = "separates-tracks",
        /// A workflow of nipype runs.
        Nipype = "nipype",
        /// A workflow of nipype runs an interface of niworkflows: fMRIPrep and its relatives.
        NiPreps = "nipreps",
        /// Lines of fairseq's loggers.
        Fairseq = "fairseq",
        /// Dask's workers were made by the script itself, on its own machine.
        LocalWorkers = "local-workers",
        /// gensim trains or counts words: its workers are threads on one model.
        WorkersAreThreads = "workers-are-threads",
        /// joblib's pool of processes.
        Joblib = "joblib",
        /// Go's profiler is spoken of.
        Pprof = "pprof",
        /// transformers' loader counts the files of a checkpoint.
        CheckpointShards = "checkpoint-shards",
        /// Triton's server runs the model.
        TritonServer = "triton-server",
        /// KoboldCpp has llama.cpp within, under options of its own.
        KoboldCpp = "kobold-cpp",
        /// A scene of Gaussians is fitted.
        Splats = "splats",
        /// Weights are held once for each NUMA node: `USE_NUMA=1`.
        CopyPerNode = "copy-per-node",
        /// A traceback starts in an installed command.
        InstalledCommand = "installed-command",
        /// A pipeline writes and submits the jobs of its steps: bcbio, NextDenovo, Cromwell.
        PipelineSubmits = "pipeline-submits",
        /// R calls Python's libraries: what its user writes is R.
        CalledFromR = "called-from-r",
        /// A simulator computes and draws on the GPU, in the process of whoever trains in it: Isaac Gym, Lab and Sim.
        GpuSimulator = "gpu-simulator",
        /// An exception of libtorch's ended the process: a program of C++, or a thread below Python.
        NativeProgram = "native-program",
        /// A JAX, TensorFlow or second framework shares the process.
        SecondFramework = "second-framework",
        /// Request sizes vary with the data (sequence lengths, image sizes, graph sizes).
        VariableShapes = "variable-shapes",
        /// The program is a server or notebook that holds earlier results.
        LongLived = "long-lived",
        /// Latents are decoded in tiles already.
        TilesDecoding = "tiles-decoding",
        /// The states of training are kept in 16 bit: ParlAI's and fairseq's `mem_efficient`, pure bf16.
        SixteenBitStates = "16-bit-states",
        /// A validation had come to its end before the failure: its result is printed.
        ValidatedBefore = "validated-before",
        /// A memory fraction is set to the whole of the device: it keeps nothing back.
        WholeFraction = "whole-fraction",
        /// The run goes on from a checkpoint and is still in the first epoch since then.
        FirstEpochSinceResume = "first-epoch-since-resume",
        /// JIT-Unspill of dask-cuda is at work, which must not be had together with cuDF's own spilling.
        JitUnspill = "jit-unspill",
        /// Kubernetes runs it: its tools, its agent, or the name of a pod stand in the log.
        Pod = "pod",
        /// A batch system or a cluster's own file systems show: nobody is root there.
        Cluster = "cluster",
        /// Several processes work side by side: `n_jobs=8`, `15 parallel processing`, `mpirun -n 16`.
        SideBySide = "side-by-side",
        /// That batch system is Slurm.
        SlurmJob = "slurm-job",
        /// A microcontroller's firmware prints it: there is no system on which anything could be typed.
        Microcontroller = "microcontroller",
        /// The process has addresses of 32 bits: 2 to 4 GiB, whatever the machine has.
        ThirtyTwoBit = "32-bit",
        /// A notebook in somebody else's cloud: Colab, Kaggle.
        HostedNotebook = "hosted-notebook",
        /// Layers were unfrozen: from there on a step is other work.
        Unfrozen = "unfrozen",
        /// Inputs are marked `volatile`, which PyTorch no longer heeds: a pass without a backward pass keeps what one
        /// needs.
        VolatileIgnored = "volatile-ignored",
        /// It is Google's Colab.
        Colab = "colab",
        /// A step of an image's build: what the machine has is set outside of it.
        ImageBuild = "image-build",
        /// A line says that data are read: a data set, its parts, its samples.
        ReadsData = "reads-data",
        /// pip or conda installs packages.
        Installs = "installs",
        /// conda looks for versions that fit together, in one process.
        SolvesPackages = "solves-packages",
        /// A library of the system could not be loaded into the process: a module is being imported.
        LoadsLibrary = "loads-library",
        /// Cargo builds.
        Cargo = "cargo",
        /// make builds.
        Make = "make",
        /// Arch Linux's makepkg starts the build, and whatever tool builds with it.
        Makepkg = "makepkg",
        /// make was started at a prompt without an option for more than one job.
        OneJob = "one-job",
        /// The same with such an option, in the command or in its environment: `make clean` may stand above it.
        SeveralJobs = "several-jobs",
        /// make gave up with other jobs under way.
        WaitsForJobs = "waits-for-jobs",
        /// Ninja builds.
        Ninja = "ninja",
        /// Bazel builds.
        Bazel = "bazel",
        /// An engine has several devices: a second worker of a tensor-parallel group, or a second device's buffers.
        SeveralWorkers = "several-workers",
        /// FSDP copies its parameters into a state dict.
        GathersState = "gathers-state",
        /// A model is named in a form of 4 bits: AWQ, GPTQ, MXFP4.
        FourBits = "four-bits",
        /// Activations are computed anew in the backward pass: a traceback goes through the library that does it.
        Recomputes = "recomputes",
        /// A tensor of one picture or clip is printed: its first dimension is 1.
        OneSample = "one-sample",
        /// A loss holds a penalty on gradients, which are differentiated once more.
        GradientPenalty = "gradient-penalty",
    }
}

/// The context of an incident. Each value knows the line it was seen on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    /// The script or module that was run.
    pub program: Known<String>,
    /// The launch command as typed.
    pub command: Known<String>,
    /// Other programs that introduce themselves around the message.
    pub introduced: Introductions,
    pub trainer: Known<Trainer>,
    pub torch_version: Known<String>,
    /// Year and month that the log itself prints at the failure: no release came from later.
    pub dated: Known<(u16, u8)>,
    /// What else tells when and on which machine it ran.
    pub origin: origin::Origin,
    pub platform: Known<Platform>,
    /// True when the log shows a container (Docker, Kubernetes, Singularity).
    pub container: Known<bool>,

    /// Samples per step and process.
    pub batch_size: Known<u64>,
    pub eval_batch_size: Known<u64>,
    pub accumulation: Known<u64>,
    pub sequence_length: Known<u64>,
    /// Side of a square image, or the larger side, in pixels.
    pub image_size: Known<u64>,
    /// Environments of a simulator, graphs, or other things batched under another name, with that name.
    pub other_batch: Known<(String, u64)>,

    /// Settings in the words in which the run was given them; see [`Context::option`].
    pub options: std::collections::BTreeMap<Quantity, Spelled>,

    /// Data-loading workers per process.
    pub workers: Known<u64>,
    pub prefetch: Known<u64>,
    pub pin_memory: Known<bool>,
    pub persistent_workers: Known<bool>,
    /// Bytes of one sample, where told.
    pub sample_size: Known<Figure>,
    pub samples: Known<u64>,
    pub cache_size: Known<Figure>,

    /// Steps from one checkpoint to the next, and from one evaluation to the next.
    pub save_every: Known<u64>,
    pub evaluate_every: Known<u64>,
    /// Training processes in all.
    pub world_size: Known<u64>,
    /// Devices that an engine's option splits each layer over.
    pub parallel: Known<u64>,
    /// Training processes on this node.
    pub local_processes: Known<u64>,
    pub rank: Known<u32>,

    pub epoch: Known<u64>,
    pub epochs: Known<u64>,
    pub step: Known<u64>,
    pub steps: Known<u64>,
    pub phase: Known<Phase>,

    pub precision: Known<Precision>,
    pub optimizer: Known<String>,
    pub gradient_checkpointing: Known<bool>,
    pub attention: Known<String>,
    pub lora: Known<bool>,
    pub quantized: Known<bool>,
    pub zero_stage: Known<u8>,
    pub fsdp: Known<bool>,
    pub cpu_offload: Known<bool>,
    pub compile: Known<bool>,
    pub model: Known<String>,
    /// Number of parameters of the model.
    pub parameters: Known<f64>,

    /// The value of PYTORCH_CUDA_ALLOC_CONF, PYTORCH_ALLOC_CONF or PYTORCH_HIP_ALLOC_CONF.
    pub alloc_conf: Known<String>,
    pub visible_devices: Known<String>,
    /// Devices that a configuration or a command asks for by number, `device: cuda:3`, with the line that does first.
    pub meant_devices: std::collections::BTreeMap<u32, Span>,
    /// A memory limit of the job: Slurm --mem, container limit, ulimit.
    pub memory_limit: Known<Figure>,
    /// The same where it is one on addresses, `ulimit -v`.
    pub address_limit: Known<Figure>,
    /// The one that the program said at its start to keep to.
    pub own_limit: Known<Figure>,
    /// What the program itself said it would need of the machine's memory, at the least.
    pub announced_need: Known<Figure>,
    /// What it then found free, at the least.
    pub announced_free: Known<Figure>,
    /// RAM of the machine.
    pub host_total: Known<Figure>,
    /// Whether no line prints it: it was computed from an amount in use and its share.
    pub host_total_is_computed: bool,
    /// What may be had of the device, where a line at the start tells it.
    pub device_total: Known<Figure>,
    /// The share of it that an engine takes, as it prints its product.
    pub device_share: Known<Figure>,

    /// The traceback that ends at the failure, outermost frame first.
    pub frames: Vec<Frame>,
    pub gpus: Vec<GpuRow>,
    /// Processes that are listed for devices of which no row is there.
    pub loose_processes: Vec<LooseProcess>,
    /// Parts of GPUs (MIG) in a table near the failure.
    pub partitions: Vec<Partition>,
    /// Amounts of memory that lines around the failure tell by their names, whatever program prints them.
    pub amounts: Vec<(Fact, Figure)>,
    /// Tables of the machine's memory, wherever the document has them.
    pub side: Vec<SideReading>,
    pub series: Vec<Series>,
    /// What the program printed again and again under names that no series has.
    pub trends: Vec<Trend>,
    /// What the last line that names several devices says of each, and that line.
    pub cards: Option<(u64, Vec<Card>)>,
    /// Pools and caches whose size was announced above the failure.
    pub pools: Vec<AnnouncedPool>,
    /// Free memory of numbered devices, wherever the document tells of it.
    pub free_told: Vec<FreeReading>,
    /// The last reading of GPU memory before the failure, and its line.
    pub last_reading: Option<(u64, u64)>,
    pub clues: std::collections::BTreeMap<Clue, Span>,
    /// What the job works on, by what its lines say.
    pub subject: Option<Subject>,
}

/// Free bytes of /dev/shm from which on a request of unknown size is taken to have had room; a container has 64 MiB in
/// all unless it is told otherwise.
const ENOUGH_SHARED: u64 = 4 << 30;

impl Context {
    pub fn has(&self, clue: Clue) -> bool {
        self.clues.contains_key(&clue)
    }

    /// The innermost frame of the user's own code.
    pub fn user_frame(&self) -> Option<&Frame> {
        self.frames.iter().rev().find(|frame| frame.is_user_code())
    }

    /// The code of that line, where it is printed.
    pub fn failing_code(&self) -> &str {
        self.user_frame().and_then(|frame| frame.code.as_deref()).unwrap_or_default()
    }

    /// What a table of devices prints as the memory of the one that failed, or of all, if it is the same. Where some
    /// are hidden, the program counts them in another way than the table. Of unlike devices it may do so anyway (CUDA
    /// puts the fastest first, the table goes by the bus): nothing can be proved by the size of a numbered one.
    pub fn listed_total(&self, device: Option<u32>) -> Option<Figure> {
        let index = device.filter(|_| !self.visible_devices.is_known());
        let mut of = self.gpus.iter().filter(|gpu| index.is_none_or(|index| gpu.index == index));
        let one = of.next()?.total;
        of.all(|other| other.total.bytes == one.bytes).then_some(one)
    }

    /// The option by which nvidia-smi is asked of the device that the program counts as `device`, with a blank before
    /// it: of those left visible the one at that place. Nothing where no device is told.
    pub fn asked_of(&self, device: Option<u32>) -> String {
        let visible = |at: u32| self.visible_devices.get().and_then(|all| all.split(',').nth(at as usize));
        let own = |at: u32| visible(at).map_or_else(|| at.to_string(), |own| own.trim().to_string());
        device.map(|at| format!(" -i {}", own(at))).unwrap_or_default()
    }

    /// Where a table lists processes on this device of which each has another device of its own: ranks that load onto
    /// the first, or make a context there. One program that is spread over devices has the same others as its kin.
    pub fn ranks_listed_on(&self, device: u32) -> Option<Span> {
        let Some(here) = self.gpus.iter().find(|row| row.index == device) else {
            return self.loose_ranks_on(device);
        };
        let lists = |row: &GpuRow, pid: u64| row.processes.iter().any(|(listed, ..)| *listed == pid);
        let mut own: Vec<u32> = Vec::new();
        for (pid, ..) in &here.processes {
            let elsewhere: Vec<u32> =
                self.gpus.iter().filter(|row| row.index != device && lists(row, *pid)).map(|row| row.index).collect();
            if let [only] = elsewhere[..]
                && !own.contains(&only)
            {
                own.push(only);
            }
        }
        (own.len() >= 2).then_some(here.used.at)
    }

    /// The same by a list of processes alone.
    fn loose_ranks_on(&self, device: u32) -> Option<Span> {
        // Devices that are numbered by their order are this job's where as many processes are listed as it started.
        if self.loose_processes.iter().any(|listed| !listed.numbered) {
            let pids: BTreeSet<u64> = self.loose_processes.iter().map(|listed| listed.pid).collect();
            let launched = self.local_processes.value().or(self.world_size.value());
            if launched != Some(pids.len() as u64) {
                return None;
            }
        }
        let of = |pid: u64| self.loose_processes.iter().filter(move |listed| listed.pid == pid);
        let here = || self.loose_processes.iter().filter(|listed| listed.gpu == device);
        let mut own: Vec<u32> = here()
            .filter(|listed| of(listed.pid).count() == 2)
            .filter_map(|listed| of(listed.pid).find(|other| other.gpu != device))
            .map(|other| other.gpu)
            .collect();
        own.sort_unstable();
        own.dedup();
        here().next().filter(|_| own.len() >= 2).map(|listed| Span::line(listed.line))
    }

    /// True where the failing frames draw a picture of a scene.
    pub(super) fn renders(&self) -> bool {
        let draws =
            |name: &str| ["render_path", "render_image", "render_full", "render_view", "visualize"].contains(&name);
        self.frames.iter().rev().take(8).any(|frame| draws(frame.function.rsplit('.').next().unwrap_or_default()))
    }

    /// True where compilers ran: what a package's solver was started from by `make` is no build.
    pub fn builds(&self) -> bool {
        self.has(Clue::Builds) && !self.has(Clue::SolvesPackages)
    }

    /// True where half of /dev/shm or more was free when it was looked at, which may have been after the failure, and
    /// twice what was asked for would have fitted: those who share memory ask more than once.
    pub fn shared_memory_has_room(&self, asked: Option<Figure>) -> bool {
        // Every rank makes its own, and one that is alone more than one.
        let ranks = self.local_processes.value().or(self.world_size.value()).unwrap_or(2).max(2);
        let asked = asked.map(|asked| asked.bytes.saturating_mul(ranks));
        // What was asked for may be more than all of a small one.
        let fits = |room: u64| asked.map_or(room >= ENOUGH_SHARED, |asked| asked < room);
        // Docker's 64 MiB are full in a moment, and empty again when who filled them has ended.
        const SMALL: u64 = 512 << 20;
        let little = |total: u64| asked.is_some_and(|asked| asked < total / 1024);
        self.shared_memory()
            .is_some_and(|(used, total, _)| (total >= SMALL || little(total)) && used < total / 2 && fits(total - used))
    }

    /// What of /dev/shm was in use, its size, and the line, by the last row of `df` that tells of it.
    pub fn shared_memory(&self) -> Option<(u64, u64, u64)> {
        self.shared_memory_rows().filter_map(|row| Some((row.used?.bytes, row.total?.bytes, row.line))).next_back()
    }

    /// The size of /dev/shm, by the last row of `df` that tells it.
    pub fn shared_memory_total(&self) -> Option<Figure> {
        self.shared_memory_rows().filter_map(|row| row.total).next_back()
    }

    /// What a tool showed of the machine's RAM, where the log has one such reading: of several each is of a moment of
    /// its own. [`Moment::of`] tells when it was read.
    pub fn read_of_the_machine(&self) -> Option<&SideReading> {
        let mut readings = self.side.iter().filter(|row| side::OF_MACHINE.contains(&row.of) && row.subject.is_none());
        readings.next().filter(|_| readings.next().is_none())
    }

    fn shared_memory_rows(&self) -> impl DoubleEndedIterator<Item = &SideReading> {
        self.side.iter().filter(|row| row.of == SideTable::Df && row.subject.as_deref() == Some("/dev/shm"))
    }

    /// True where frozen models go over the data before training, for what they make of it to be kept.
    pub fn caches_data(&self) -> bool {
        self.frames.iter().any(|frame| traceback::caches_data(&frame.function))
    }

    /// True where a child process failed as it imported the program anew, which is how they are started on Windows.
    pub fn starts_a_child(&self) -> bool {
        // A paste may begin below the first of them.
        let starts =
            |frame: &&Frame| matches!(frame.function.as_str(), "spawn_main" | "_fixup_main_from_path" | "prepare");
        self.frames.iter().filter(starts).any(|frame| frame.file.contains("multiprocessing"))
    }

    /// True where ranks send each other objects, whose lengths they exchange first.
    pub fn exchanges_objects(&self) -> bool {
        self.exchange().is_some()
    }

    /// Where the traceback shows it.
    pub fn exchange(&self) -> Option<Span> {
        const EXCHANGES: [&str; 5] =
            ["gather_object", "all_gather_object", "broadcast_object_list", "scatter_object_list", "recv_object_list"];
        // DETR's own, which makes room for the pickled results of each rank.
        let pickled = |frame: &Frame| {
            frame.function == "all_gather" && frame.code.as_deref().is_some_and(|code| code.contains("torch.uint8"))
        };
        let exchanges = |frame: &&Frame| EXCHANGES.contains(&frame.function.as_str()) || pickled(frame);
        self.frames.iter().rev().take(3).find(exchanges).map(|frame| frame.at)
    }

    /// True where the last step that was told is the last of all, and no traceback shows what came behind it.
    pub fn is_behind_the_last_step(&self) -> bool {
        let last = self.steps.value().filter(|steps| *steps >= 2);
        last.is_some() && self.step.value() == last && self.frames.is_empty()
    }

    /// True where something besides a count of steps shows that a model is trained.
    pub fn shows_training(&self) -> bool {
        let words = ["train", "finetun", "fine_tun", "fine-tun", "sft", "dpo", "lora"];
        let says = |text: &str| {
            let lower = text.to_ascii_lowercase();
            words.iter().any(|word| lower.contains(word))
        };
        let told = [self.program.get(), self.command.get()].into_iter().flatten();
        self.epoch.is_known()
            || self.epochs.is_known()
            || self.optimizer.is_known()
            || self.accumulation.is_known()
            || self.zero_stage.is_known()
            || self.lora.is_known()
            || self.gradient_checkpointing.is_known()
            || self.has(Clue::OptimizerState)
            || self.trainer.value().is_some_and(|trainer| trainer.purpose() == Purpose::Training)
            || told.into_iter().any(|text| says(text))
            || self.frames.iter().any(|frame| says(&frame.function) || frame.is_user_code() && says(&frame.file))
    }

    /// Where an engine measures the peak of its largest batch: its pool and its cache are not made yet.
    pub fn profiles_an_engine(&self) -> Option<Span> {
        self.frames.iter().find(|frame| traceback::profiles_an_engine(&frame.function)).map(|frame| frame.at)
    }

    /// True where a module was being imported.
    pub fn imports(&self) -> bool {
        let code = self.failing_code();
        code.starts_with("import ") || code.starts_with("from ") && code.contains(" import ")
    }
}

impl Context {
    /// Where make was started for one job at a time; it waited for no other when it gave up.
    pub fn makes_one_by_one(&self) -> Option<Span> {
        let several = self.has(Clue::SeveralJobs) || self.has(Clue::WaitsForJobs);
        self.clues.get(&Clue::OneJob).copied().filter(|_| self.has(Clue::Make) && !several)
    }

    /// True where the command has the run begin with this epoch: `-start_epoch 11`, `--initial_epoch=11`.
    pub fn starts_at(&self, epoch: u64) -> bool {
        const NAMES: [&str; 5] = ["start_epoch", "begin_epoch", "initial_epoch", "epoch_start", "resume_epoch"];
        let Some(command) = self.command.get() else { return false };
        let mut words = command.split([' ', '=']).skip_while(|word| {
            let name = word.trim_start_matches('-').replace('-', "_");
            !NAMES.contains(&name.as_str())
        });
        words.nth(1).and_then(|value| value.parse().ok()) == Some(epoch)
    }

    /// True where the script that runs is named for prediction or evaluation, and no function in the traceback learns.
    pub fn runs_to_predict(&self) -> bool {
        traceback::script_predicts(&self.frames).is_some()
    }

    /// Puts in the traceback and what it shows: the phase and the kind of allocation.
    pub fn take_frames(&mut self, frames: Vec<Frame>) {
        if let Some((phase, at)) = traceback::phase(&frames) {
            self.phase = Known::Seen(phase, at);
        }
        traceback::clues(&frames, &mut self.clues);
        traceback::shards(&frames, self);
        if let Some(at) = traceback::predicts(&frames) {
            self.clues.entry(Clue::Predicts).or_insert(at);
        }
        if !self.program.is_known()
            && let Some(main) = frames
                .iter()
                .find(|frame| frame.function == "<module>" && frame.is_user_code() && !frame.file.starts_with('<'))
        {
            self.program = Known::Seen(main.file.clone(), main.at);
        }
        if !self.trainer.is_known()
            && surroundings::plain(&frames)
            && let Some(first) = frames.first()
        {
            self.trainer = Known::Seen(Trainer::PlainPytorch, first.at);
        }
        self.frames = frames;
    }
}
