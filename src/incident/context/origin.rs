//! When and on what a job ran, as far as lines around the failure say so in passing: dates, releases, the interpreter,
//! the kernel, the machine's devices and how many of them the job has. What is written for a job must be known to its
//! releases and to its machine.

use super::surroundings::of_tegra;
use super::width;
use crate::domain::{Accelerator, Library};
use crate::evidence::{Known, Span};
use crate::input::{Document, Line};
use std::collections::{BTreeMap, BTreeSet};

/// Year and month.
pub type Month = (u16, u8);
/// A release by its first three numbers.
pub type Release = (u16, u16, u16);

/// Lines that are looked at: the head of a log, where programs introduce themselves, and those around the failure.
const HEAD: usize = 200;
const BEFORE: usize = 400;
const BEHIND: usize = 100;
/// Bytes of a line within which the stamp of its time begins.
const STAMP_WITHIN: usize = 48;
/// Bytes of a line that are read.
const READ: usize = 4096;

/// Whose option sets how many compilers CMake's generator starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CmakeBy {
    Cmake,
    Colcon,
}

/// What lines around a failure tell of the job's age and of its machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Origin {
    /// Releases that the log prints.
    pub releases: BTreeMap<Library, Release>,
    /// The newest Python whose folder a traceback names.
    pub python: Option<(u8, u8)>,
    /// The kernel that printed a report.
    pub kernel: Option<(u16, u16)>,
    /// Its control groups are those of version 1: only they account for memory and swap in one line, and have a folder
    /// for memory.
    pub cgroup_v1: bool,
    /// Devices that the machine has, where a program or tool counts them.
    pub devices: Option<u64>,
    /// Host and device have one memory, and the machine has one device: Jetson, GB10, Strix Halo.
    pub one_memory: bool,
    /// The vendor of the devices that are named, where it is one.
    pub vendor: Option<Accelerator>,
    /// Bits of a weight, by the file or the type that llama.cpp prints as it loads one.
    pub gguf_bits: Option<u32>,
    /// Devices over which the job is spread: its ranks, its buffers by device, what an option says.
    pub spread: u64,
    /// Lines of MMEngine show, whose keys are none of what came before it.
    pub mmengine: bool,
    /// Spark speaks of the memory beside an executor's heap by the name that it had for YARN alone.
    pub spark_on_yarn: bool,
    /// NVLink SHARP shows, by its name or by a board that may have it.
    pub nvls: bool,
    /// A Lightning before 1.7: since then it names the kind of device behind `GPU available: True`, and before 1.6 it
    /// began with a small letter that it starts.
    pub early_lightning: bool,
    /// A llama.cpp of before March 2025, which names the function that makes the cache.
    pub early_llama_cpp: bool,
    /// ComfyUI keeps parts of the weights in host memory already.
    pub loaded_in_parts: bool,
    /// A node of Kubernetes ran short and evicted the pod: no limit of its own was in the way.
    pub evicted: bool,
    /// The shared entrance of a cluster: jobs are to be sent on from there.
    pub login_node: bool,
    /// What was killed ran in the group of the first process, where a systemd keeps nobody but itself: WSL starts all
    /// there.
    pub in_the_scope_of_init: bool,
    /// TensorRT-LLM behind Triton's server, whose settings stand in a `config.pbtxt`.
    pub triton_backend: bool,
    /// LMDeploy's cache is set by a number of entries, as in its first releases; later ones take a share.
    pub counts_cache_entries: bool,
    /// Nextflow starts the jobs, and writes what each asks of the batch system or container itself.
    pub nextflow: bool,
    /// Nextflow starts its processes on the machine itself: `executor >  local (1)`.
    pub nextflow_here: bool,
    /// The first process of its container: gunicorn's master has the pid 1.
    pub gunicorn_in_a_container: bool,
    /// A runner validates in a loop of its own, in which gradients are off: Catalyst's and fairseq's.
    pub validates_without_gradients: bool,
    /// A board without units for 16 bit is named: Kepler, Maxwell, Pascal.
    pub slow_in_16_bit: bool,
    /// The weights have 16 bits by llama.cpp's words or the type that they are loaded in.
    pub weights_in_16_bit: bool,
    /// What goes to the device is fed to a placeholder, not kept as a constant of the graph.
    pub fed: bool,
    /// A single buffer of more than 4 GiB was granted before.
    pub large_buffer_granted: bool,
    /// The command that started a container is typed at a prompt and sets no limit of memory.
    pub started_without_a_limit: bool,
    /// A listing of the devices shows no process on any of them.
    pub nobody_listed: bool,
    /// The query for the processes on the devices is in the log, with what it answered.
    pub processes_queried: bool,
    /// XLA lists buffers of 16 bits.
    pub buffers_in_16_bit: bool,
    /// The script of a batch job shows the memory that it asks for.
    pub asks_for_memory: bool,
    /// The command that submits it asks for memory, whatever the script says: `sbatch --mem=470g job.sh`.
    pub asked_by_command: bool,
    /// A service of Docker's swarm: `docker service ps metrics_db`.
    pub swarm: bool,
    /// The line by which it asks Slurm, and the same with twice as much.
    pub asked: Option<(String, String)>,
    /// The process of a Nextflow pipeline that failed, by the name that its configuration knows it by.
    pub nextflow_process: Option<String>,
    /// Compose starts the containers: a setting is one of a service in its file.
    pub composed: bool,
    /// A service that builds and tests what is pushed runs it.
    pub in_ci: bool,
    /// Commands are typed at the prompt of PowerShell.
    pub powershell: bool,
    /// The job runs in Ray's actors, of which several may share a device.
    pub actors: bool,
    /// Workers of Dask are started by its command.
    pub dask_by_command: bool,
    /// A traceback of Python's stands in the log, perhaps of what followed the failure.
    pub traceback: bool,
    /// CMake, or what drives it, starts the tool that builds.
    pub cmake: Option<CmakeBy>,
    /// What cargo was last told to do before the failure: a build within a folder repeats no installation, and builds
    /// no tests.
    pub cargo: Option<&'static str>,
    /// Spark's executors call cuDF from Java: its memory is set by keys of Spark's.
    pub spark_rapids: bool,
    /// Coins are mined: an epoch is one of the currency, and the table that does not fit has its size by it.
    pub mines: bool,
    /// Keras runs by itself, on a backend that it names, and is no part of TensorFlow.
    pub keras_by_itself: bool,
    /// Molecules are moved in a model that is finished: LAMMPS counts steps, and nothing is learnt.
    pub moves_molecules: bool,
    /// The line behind the failure at which somebody typed a device's tool at the prompt: what it lists was there when
    /// the job had ended.
    pub asked_afterwards: Option<u64>,
    /// Nobody has the rights of the administrator there: a cluster, its entrance, a notebook service.
    pub shared: bool,
}

impl Origin {
    /// What the lines around a message tell, and the newest month that they are stamped with.
    pub fn around(document: &Document, at: Span) -> (Origin, Known<Month>) {
        let lines = &document.lines;
        let end = lines.partition_point(|line| line.number <= at.last);
        let near = end.saturating_sub(BEFORE)..(end + BEHIND).min(lines.len());
        let head = 0..HEAD.min(near.start);
        let (mut found, mut dated) = (Found::default(), Known::Unknown);
        for line in lines.get(head).into_iter().chain(lines.get(near)).flatten() {
            if let Some(month) = month(&line.text).or_else(|| stamped(&line.text))
                && dated.value().is_none_or(|newest| month >= newest)
            {
                dated = Known::Seen(month, Span::line(line.number));
            }
            found.take(line);
            if line.number < at.first {
                let stays = at_an_interpreter(&line.text).then_some(true);
                found.shown = stays.or_else(|| shows_a_log(&line.text)).or(found.shown);
                found.origin.cargo = told_to_cargo(&line.text).or(found.origin.cargo);
            } else if line.number > at.last && found.shown != Some(true) {
                let asked = found.origin.asked_afterwards;
                found.origin.asked_afterwards = asked.or(asks_a_tool(&line.text).then_some(line.number));
            }
        }
        (found.close(), dated)
    }
}

/// What is collected on the way.
#[derive(Default)]
struct Found {
    origin: Origin,
    vendors: BTreeSet<Accelerator>,
    /// Devices that `nvidia-smi -L` lists.
    listed: BTreeSet<u64>,
    /// The container that compose names at the start of the last line that it printed.
    service: Option<String>,
    /// The last command above the failure shows what another program logged, or was typed at an interpreter: the
    /// process may still run.
    shown: Option<bool>,
}

impl Found {
    fn take(&mut self, line: &Line) {
        let text = line.text.get(..READ).unwrap_or(&line.text);
        let origin = &mut self.origin;
        if let Some(rank) = line.rank {
            origin.spread = origin.spread.max(u64::from(rank) + 1);
        }
        let lower = text.to_ascii_lowercase();
        for (library, release) in releases(&lower) {
            let newest = origin.releases.entry(library).or_insert(release);
            *newest = release.max(*newest);
        }
        if text.trim_start().starts_with("File \"") {
            origin.python = origin.python.max(python(text));
        }
        origin.kernel = origin.kernel.max(kernel(text));
        origin.cgroup_v1 |= lower.contains("memory+swap: usage") || lower.contains("/sys/fs/cgroup/memory/");
        origin.devices = origin.devices.max(counted(&lower));
        if let Some(index) = listed(text) {
            self.listed.insert(index);
        }
        origin.one_memory |= ONE_MEMORY.iter().any(|name| lower.contains(name)) || of_tegra(&lower);
        origin.mmengine |= lower.contains("mmengine");
        origin.spark_on_yarn |= lower.contains("spark.yarn.executor.memoryoverhead");
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        origin.evicted |= says(&["the node was low on resource", "the node had condition: [memorypressure]"]);
        origin.spark_rapids |= says(&["com.nvidia.spark.rapids", "ai.rapids.cudf.", "spark.rapids."]);
        origin.login_node |= says(&["login node", "login-node"]) || prompt_of_a_login_node(&lower);
        origin.in_the_scope_of_init |= lower.contains("task_memcg=/init.scope,");
        origin.counts_cache_entries |= says(&["cache_chunk_size:", "[llamacachemanager]", "loading from workspace"]);
        origin.triton_backend |= says(&[
            "kv_cache_free_gpu_mem_fraction is not specified",
            "libtriton_tensorrtllm",
            "tritonserver/backends/",
            "tritonserver --model",
        ]);
        origin.nextflow |= says(&[
            "error executing process >",
            "n e x t f l o w",
            "nextflow ",
            "[nfcore_",
            ".command.run",
            ".command.log",
            ".command.sh",
            "nxf_",
        ]);
        origin.nextflow_here |= lower.trim_start().starts_with("executor >") && lower.contains(" local (");
        let of_gunicorn = ["worker (pid:", "booting worker", "worker timeout", "starting gunicorn", "listening at:"];
        origin.gunicorn_in_a_container |= lower.contains("] [1] [") && says(&of_gunicorn);
        origin.validates_without_gradients |= says(&["* epoch (valid)", "| valid on '", "/catalyst/"]);
        origin.slow_in_16_bit |= SLOW_IN_16_BIT.iter().any(|name| lower.contains(name));
        origin.weights_in_16_bit |= lower.contains("model ftype") && says(&["= f16", "= bf16"])
            || says(&["torch_dtype=torch.bfloat16", "torch_dtype=torch.float16"]);
        if lower.contains("loaded meta data") || lower.contains("file type") || lower.contains("model ftype") {
            origin.gguf_bits = origin.gguf_bits.or_else(|| gguf_bits_in(&lower));
        }
        origin.fed |= lower.contains("node: _recv_") && lower.contains("placeholder");
        origin.large_buffer_granted |= granted(&lower).is_some_and(|gigabytes| gigabytes > 4.3);
        origin.early_llama_cpp |= says(&["llama_kv_cache_init:", "llama_kv_cache_update_impl:"]);
        origin.loaded_in_parts |= says(&["loaded partially", "lowvram mode", "lowvram patches: "]);
        origin.early_lightning |= text.trim_start().starts_with("initializing distributed: GLOBAL_RANK")
            || lower.contains("gpu available: true, used:");
        origin.started_without_a_limit |= runs_without_a_limit(&lower);
        origin.nobody_listed |= lower.contains("no running processes found");
        origin.processes_queried |= lower.contains("nvidia-smi --query-compute-apps");
        origin.buffers_in_16_bit |= says(&["shape: bf16[", "shape: f16["]);
        origin.asks_for_memory |=
            lower.trim_start().starts_with('#') && says(&["sbatch --mem", "pbs -l mem", "-l h_vmem", "bsub -m "]);
        origin.asked_by_command |= says(&["$ sbatch ", "# sbatch "]) && lower.contains(" --mem");
        origin.swarm |= SWARM.iter().any(|command| lower.contains(command));
        origin.asked = origin.asked.take().or_else(|| asked_of_slurm(text));
        origin.nextflow_process = origin.nextflow_process.take().or_else(|| failed_process(text));
        // A name comes again: rows of a table have one each.
        let service = of_a_service(text).map(str::to_string);
        origin.composed |= says(&["docker-compose", "docker compose"]) || service.is_some() && service == self.service;
        self.service = service.or(self.service.take());
        origin.in_ci |= says(&["process completed with exit code", "##[error]", "/home/runner/work", "gitlab-runner"]);
        // `(env) PS D:\\work> `
        let prompt = text.strip_prefix('(').and_then(|text| text.split_once(") ")).map_or(text, |(_, prompt)| prompt);
        origin.powershell |=
            prompt.starts_with("PS>") || prompt.starts_with("PS ") && prompt.contains(":\\") && prompt.contains("> ");
        origin.actors |= says(&["ray::", "raytaskerror", "ray.exceptions"]);
        origin.dask_by_command |= says(&["dask-worker ", "dask worker tcp", "dask worker --", "dask-scheduler"]);
        origin.traceback |= text.contains("Traceback (most recent call last)");
        let drives = |words: &str| text.contains(words);
        let by = drives("cmake --build").then_some(CmakeBy::Cmake);
        let by = by.or(drives("colcon build").then_some(CmakeBy::Colcon));
        origin.cmake = origin.cmake.or(by);
        origin.mines |= MINING.iter().any(|word| lower.contains(word));
        origin.keras_by_itself |= text.contains("Using TensorFlow backend");
        origin.moves_molecules |= MOLECULES.iter().any(|word| lower.contains(word));
        origin.nvls |= lower.contains("nvls") || NVSWITCHED.iter().any(|name| lower.contains(name));
        origin.shared |= SHARED.iter().any(|sign| lower.contains(sign));
        origin.spread = origin.spread.max(spread(text, &lower)).max(listed_in_use(&lower));
        self.vendors.extend(VENDORS.iter().filter(|(name, _)| lower.contains(name)).map(|(_, vendor)| *vendor));
    }

    fn close(mut self) -> Origin {
        if self.origin.devices.is_none() && !self.listed.is_empty() {
            self.origin.devices = Some(self.listed.len() as u64);
        }
        let mut vendors = self.vendors.into_iter();
        self.origin.vendor = vendors.next().filter(|_| vendors.next().is_none());
        self.origin
    }
}

/// LAMMPS' own words, and the style by which it asks DeePMD's models.
const MOLECULES: [&str; 4] =
    ["setting up verlet run", "setting up cg style minimization", "pair_style deepmd", "lammps ("];

/// Words of programs that mine: the protocol of their pools, the tables of their algorithms.
const MINING: &[&str] = &[
    "stratum+",
    "stratum1+",
    "stratum mode",
    "ethash",
    "etchash",
    "kawpow",
    "dag buffer",
    "dag epoch",
    "buffer for dag",
    "dag for epoch",
    "dag generation",
    "generating dag",
    "spinning up miners",
    "dev::eth::",
    "cuda mining",
];

/// Names of machines and chips with one device and one memory for it and the host.
const ONE_MEMORY: &[&str] = &["nvidia gb10", "dgx spark", "jetson", "nvmap", "strix halo", "gfx1151"];

/// Boards with multicast over their switch.
const NVSWITCHED: &[&str] = &["h100", "h200", "h800", "h20 ", "b200", "gb200"];

/// Boards of Kepler, Maxwell and Pascal, none of which multiplies matrices in 16 bit faster than in 32.
const SLOW_IN_16_BIT: &[&str] = &[
    "tesla k",
    "tesla m",
    "tesla p",
    "gtx titan",
    "titan x",
    "gtx 6",
    "gtx 7",
    "gtx 9",
    "gtx 10",
    "quadro k",
    "quadro m",
    "quadro p",
];

/// The command at a prompt.
fn typed(text: &str) -> Option<&str> {
    let (prompt, typed) = text.split_once("$ ").or_else(|| text.split_once("# "))?;
    let named = prompt.is_empty() || prompt.contains('@') || prompt.starts_with(['(', '[']);
    let command = typed.trim_start().trim_start_matches("sudo ").trim_start_matches(['$', ' ']);
    command
        .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/'))
        .then_some(command)
        .filter(|_| named)
}

/// True for a command at a prompt that shows what a program logged, false for another command.
fn shows_a_log(text: &str) -> Option<bool> {
    const VIEWERS: [&str; 14] = [
        "tail",
        "head",
        "cat",
        "less",
        "more",
        "grep",
        "zgrep",
        "sed",
        "awk",
        "journalctl",
        "dmesg",
        "docker",
        "kubectl",
        "lms",
    ];
    let command = typed(text)?;
    let tool = command.split_whitespace().next().unwrap_or_default();
    Some(VIEWERS.contains(&tool) || command.ends_with('&'))
}

/// True for a line that was typed at Python's or IPython's prompt.
fn at_an_interpreter(text: &str) -> bool {
    text.starts_with(">>> ") || text.starts_with("In [")
}

/// True for a command at a prompt that shows how full the devices are: `ann@host:~$ nvidia-smi`.
fn asks_a_tool(text: &str) -> bool {
    const TOOLS: [&str; 6] = ["nvidia-smi", "rocm-smi", "amd-smi", "gpustat", "nvitop", "xpu-smi"];
    let Some(typed) = typed(text) else { return false };
    let tool = typed.split_whitespace().next().unwrap_or_default();
    // A listing of names alone shows no use. `# while it ran`: of another moment.
    TOOLS.contains(&tool) && !typed.contains(" -L") && !typed.contains('#')
}

/// The container that compose names before a line of its: `web_1` of `web_1       | started`.
fn of_a_service(text: &str) -> Option<&str> {
    let name = text.split_once(" | ")?.0.trim_end();
    let (service, number) = name.rsplit_once(['_', '-'])?;
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.');
    let named = service.starts_with(|c: char| c.is_ascii_lowercase()) && service.bytes().all(plain);
    let numbered = (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    (named && numbered).then_some(name)
}

/// True for a command at a prompt, a root's `#` included, that starts a container and sets no limit of memory.
fn runs_without_a_limit(lower: &str) -> bool {
    let typed = lower.trim_start().trim_start_matches(['#', '$', ' ']).trim_start_matches("sudo ");
    (typed.starts_with("docker run ") || typed.starts_with("podman run "))
        && !["--memory", " -m ", " -m=", "--kernel-memory"].iter().any(|limit| typed.contains(limit))
}

/// Gigabytes of a buffer that a program says it was given: `malloc 6 GB: OK`.
fn granted(lower: &str) -> Option<f64> {
    let (before, after) = lower.split_once(" gb")?;
    let asked = before.contains("alloc") && after.trim_end().ends_with("ok");
    before.rsplit(' ').next().filter(|_| asked)?.parse().ok()
}

/// Commands of Docker's swarm. `docker service` alone is as often the daemon: `restarting docker service`.
const SWARM: &[&str] = &[
    "docker service ps ",
    "docker service logs ",
    "docker service update ",
    "docker service create ",
    "docker service inspect ",
    "docker service ls",
    "docker stack deploy ",
    "docker stack ps ",
    "docker stack services ",
];

/// What cargo is told to do, by a command as it is typed or as a script shows it: `$ cargo test --jobs 7`.
fn told_to_cargo(text: &str) -> Option<&'static str> {
    const TOLD: [&str; 8] = ["build", "install", "test", "run", "check", "bench", "doc", "clippy"];
    text.match_indices("cargo").find_map(|(at, cargo)| {
        let (lead, rest) = (&text[..at], &text[at + cargo.len()..]);
        let begins = lead.is_empty() || lead.ends_with([' ', '/', '`', '"']);
        let rest = rest.strip_prefix([' ', '-']).filter(|_| begins)?;
        let whole = |rest: &str| !rest.starts_with(char::is_alphanumeric);
        TOLD.into_iter().find(|call| rest.strip_prefix(call).is_some_and(whole))
    })
}

/// Names of options that list the devices of a run.
const LISTS: &[&str] = &["--gpus", "--gpu", "--gpu_ids", "--gpu-ids", "--gpu_id", "--devices", "--device", "'device':"];

/// Devices that an option lists, `--gpu 0,1,2`, and the highest index of a rank in NCCL's lines: `host:41:97 [3] NCCL`.
fn listed_in_use(lower: &str) -> u64 {
    let lists = LISTS.iter().flat_map(|name| lower.match_indices(name).map(move |(at, _)| at + name.len()));
    let counts = lists.filter_map(|at| {
        let after = lower.get(at..)?.strip_prefix([' ', '='])?.trim_start_matches([' ', '\'', '"', '[']);
        let list: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
        let indices: BTreeSet<u64> = list.split(',').filter_map(|index| index.parse().ok()).collect();
        indices.iter().all(|index| *index < 64).then_some(indices.len() as u64).filter(|count| *count > 1)
    });
    let of_nccl = || {
        let (_, index) = lower.split_once("] nccl ")?.0.rsplit_once('[')?;
        index.parse::<u64>().ok().filter(|index| *index < 64).map(|index| index + 1)
    };
    counts.chain(of_nccl()).max().unwrap_or(0)
}

/// Folders and words of machines whose users are guests.
const SHARED: &[&str] = &[
    "/scratch/",
    "/gpfs/",
    "/lustre/",
    "login node",
    "/content/",
    "/kaggle/",
    "slurmstepd",
    "srun: ",
    "sbatch ",
    "slurm_job",
    "pbs_",
    "/var/spool/slurm",
];

/// Words that only devices of one vendor have: names of boards, of its driver and of its back ends.
const VENDORS: &[(&str, Accelerator)] = &[
    ("radeon", Accelerator::Hip),
    ("amd opencl", Accelerator::Hip),
    ("advanced micro devices", Accelerator::Hip),
    ("amd instinct", Accelerator::Hip),
    ("rocm_driver.cc", Accelerator::Hip),
    // Files of its runtime, clr.
    ("rocdevice.cpp", Accelerator::Hip),
    ("hip_memory.cpp", Accelerator::Hip),
    ("hiperror", Accelerator::Hip),
    ("rocm devices", Accelerator::Hip),
    ("rocm-smi", Accelerator::Hip),
    ("amd-smi", Accelerator::Hip),
    ("platform rocm", Accelerator::Hip),
    ("hip_visible_devices", Accelerator::Hip),
    ("rocm0 ", Accelerator::Hip),
    ("gfx90a", Accelerator::Hip),
    ("gfx942", Accelerator::Hip),
    ("gfx1030", Accelerator::Hip),
    ("gfx1100", Accelerator::Hip),
    ("torch.xpu", Accelerator::Xpu),
    ("device='xpu", Accelerator::Xpu),
    ("device=\"xpu", Accelerator::Xpu),
    ("xpu:", Accelerator::Xpu),
    ("xpu-smi", Accelerator::Xpu),
    ("platform xpu", Accelerator::Xpu),
    ("ze_affinity_mask", Accelerator::Xpu),
    ("intel(r) arc", Accelerator::Xpu),
    ("intel(r) data center gpu", Accelerator::Xpu),
    ("intel_extension_for_pytorch", Accelerator::Xpu),
    ("torch_npu", Accelerator::Npu),
    ("npu:", Accelerator::Npu),
    ("npu-smi", Accelerator::Npu),
    ("platform npu", Accelerator::Npu),
    ("ascend_rt_visible_devices", Accelerator::Npu),
    ("ascend910", Accelerator::Npu),
    ("\"ascend\"", Accelerator::Npu),
    ("'ascend'", Accelerator::Npu),
    ("nvidia", Accelerator::Cuda),
    ("geforce", Accelerator::Cuda),
    ("tesla ", Accelerator::Cuda),
    ("quadro", Accelerator::Cuda),
    ("cuda_driver.cc", Accelerator::Cuda),
    ("cudamalloc", Accelerator::Cuda),
];

/// The number that a text begins with.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.get(..digits)?.parse().ok()
}

/// `1.13.1+cu117` as three numbers, of which the last may be missing.
fn release(text: &str) -> Option<Release> {
    let mut parts = text.trim_start_matches('v').split('.');
    let (major, minor) = (number(parts.next()?)?, number(parts.next()?)?);
    Some((major, minor, parts.next().and_then(number).unwrap_or(0)))
}

/// Libraries as pip spells them.
const OF_PIP: &[(&str, Library)] = &[
    ("tensorflow", Library::TensorFlow),
    ("tensorflow-gpu", Library::TensorFlow),
    ("pytorch-lightning", Library::Lightning),
    ("transformers", Library::Transformers),
    ("trl", Library::Trl),
    ("peft", Library::Peft),
    ("diffusers", Library::Diffusers),
    ("datasets", Library::Datasets),
    ("jax", Library::Jax),
    ("ray", Library::Ray),
    ("xgboost", Library::Xgboost),
    ("vllm", Library::Vllm),
    ("ms-swift", Library::Swift),
];

/// What stands before a release in lines with which programs introduce themselves.
const INTRODUCED: &[(&str, Library)] = &[
    ("nccl version ", Library::Nccl),
    ("transformers version: ", Library::Transformers),
    ("`transformers` version: ", Library::Transformers),
    ("peft version: ", Library::Peft),
    ("diffusers version: ", Library::Diffusers),
    ("vllm api server version ", Library::Vllm),
    ("llm engine (v", Library::Vllm),
];

/// The releases that a line prints.
fn releases(lower: &str) -> Vec<(Library, Release)> {
    let mut found = Vec::new();
    for (words, library) in INTRODUCED {
        let told = lower.split_once(words).and_then(|(_, after)| release(after));
        found.extend(told.map(|release| (*library, release)));
    }
    // `Listening on 127.0.0.1:11434 (version 0.1.30)`.
    if lower.contains("listening on") {
        let told = lower.split_once("(version ").and_then(|(_, after)| release(after));
        found.extend(told.map(|release| (Library::Ollama, release)));
    }
    // `/usr/local/go-1.13/src/…`, `go version go1.18.3 linux/amd64`, `Build runtime version: go1.17`.
    let go = lower.split_once("/go-1.").or_else(|| lower.split_once(" go1.")).or_else(|| lower.split_once("/go1."));
    let minor = go.and_then(|(_, after)| number::<u16>(after)).filter(|minor| (1..100).contains(minor));
    found.extend(minor.map(|minor| (Library::Go, (1, minor, u16::MAX))));
    // A string's two words stand in braces since Go 1.17 (registers), each with a question mark since 1.18.
    if let Some((_, after)) = lower.split_once("runtime.throw(").filter(|_| go.is_none()) {
        let newest = if after.starts_with("0x") { Some(16) } else { after.starts_with("{0x").then_some(17) };
        let newest = newest.filter(|_| !after.contains('?'));
        found.extend(newest.map(|minor| (Library::Go, (1, minor, u16::MAX))));
    }
    // The package's folder in 1.15 to 2.1.
    found.extend(lower.contains("-packages/tensorflow_core/").then_some((Library::TensorFlow, (2, 1, 0))));
    // `[TensorRT v8401]`; the last two digits are of the patch.
    if let Some(code) = lower.split_once("[tensorrt v").and_then(|(_, after)| number::<u32>(after)) {
        let (major, minor) =
            if code >= 100_000 { (code / 10_000, code / 100 % 100) } else { (code / 1000, code / 100 % 10) };
        found.push((Library::TensorRt, (major as u16, minor as u16, 0)));
    }
    // `build: 4567 (0a1b2c3d)`, `main: build = 2345 (…)`.
    let build = ["build: ", "build = "].iter().find_map(|words| lower.split_once(words));
    if let Some(build) = build.filter(|(_, after)| after.contains(" (")).and_then(|(_, after)| number::<u16>(after)) {
        found.push((Library::LlamaCpp, (build, 0, 0)));
    }
    // A list of what is installed, not what somebody should install.
    if lower.contains("==") && !lower.contains("install") {
        for word in lower.split_whitespace() {
            let Some((name, after)) = word.split_once("==") else { continue };
            let library = OF_PIP.iter().find(|(of_pip, _)| *of_pip == name);
            found.extend(library.and_then(|(_, library)| Some((*library, release(after)?))));
        }
    }
    found
}

/// The Python whose folder a path names: `/lib/python3.6/`, `\Python37\`.
pub fn python(path: &str) -> Option<(u8, u8)> {
    path.split(['/', '\\']).find_map(|folder| {
        let version = folder.to_ascii_lowercase();
        let version = version.strip_prefix("python")?;
        match version.split_once('.') {
            Some((major, minor)) => Some((major.parse().ok()?, minor.parse().ok()?)),
            None => Some((
                version.get(..1)?.parse().ok()?,
                version.get(1..).filter(|minor| !minor.is_empty())?.parse().ok()?,
            )),
        }
    })
}

/// The kernel of a report's line `CPU: 0 PID: 20077 Comm: python Not tainted 5.4.0-77-generic #86-Ubuntu`.
fn kernel(text: &str) -> Option<(u16, u16)> {
    let (_, after) = text.split_once("ainted")?;
    let told =
        after.split_whitespace().find(|word| word.contains('-') && word.starts_with(|c: char| c.is_ascii_digit()));
    let (major, minor, _) = release(told?)?;
    Some((major, minor))
}

/// Devices that a program counts: `found 1 CUDA devices`, `Found 2 Vulkan devices`, `Num GPUs Available:  1`.
fn counted(lower: &str) -> Option<u64> {
    let found = lower.split_once("found ").and_then(|(_, after)| {
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let kinds = [" cuda devices", " vulkan devices", " rocm devices", " sycl devices", " hip devices"];
        kinds.iter().any(|kind| rest.starts_with(kind)).then(|| number(after)).flatten()
    });
    found.or_else(|| {
        let (_, after) = ["num gpus available:", "cuda.device_count:", "cuda.device_count() ="]
            .iter()
            .find_map(|words| lower.split_once(words))?;
        number(after.trim_start())
    })
}

/// A row of `nvidia-smi -L`: `GPU 0: Tesla V100-PCIE-32GB (UUID: …)`.
fn listed(text: &str) -> Option<u64> {
    let after = text.trim_start().strip_prefix("GPU ")?;
    let boards = ["NVIDIA ", "Tesla ", "GeForce ", "Quadro ", "A100", "H100", "GRID "];
    let name = after.split_once(": ")?.1;
    boards.iter().any(|board| name.starts_with(board)).then(|| number(after)).flatten()
}

/// Bits by the name of a file, `… from /models/a-Q4_K_M.gguf (version GGUF V3)`, or of a type: `file type = Q4_K -
/// Medium`.
fn gguf_bits_in(lower: &str) -> Option<u32> {
    let file = || lower.split_whitespace().find(|word| word.ends_with(".gguf"));
    let told = lower.split_once("type").and_then(|(_, rest)| rest.split_once('=')).map(|(_, name)| name);
    width::gguf_bits(told.or_else(file)?)
}

/// Names of settings that spread a model or a job over devices, or start one process for each.
const SPREADS: &[&str] = &[
    "tensor_parallel_size",
    "tensor-parallel-size",
    "tensor_para_size",
    "tensor_model_parallel_size",
    "tensor-model-parallel-size",
    "tp_size",
    "tp-size",
    "--tp",
    "num-shard",
    "num_shard",
    "nproc_per_node",
    "nproc-per-node",
    "num_local_procs",
    "--num_gpus",
    "--gpus",
];

/// Devices that a job is spread over, by one line: an option, a buffer on the device of the highest index.
fn spread(text: &str, lower: &str) -> u64 {
    let told = SPREADS.iter().flat_map(|name| lower.match_indices(name).map(move |(at, _)| (name, at)));
    let told = told.filter_map(|(name, at)| {
        let after = lower.get(at + name.len()..)?;
        let after =
            after.strip_prefix(['=', ':', ' ', '\'', '"']).map(|rest| rest.trim_start_matches([' ', '=', ':']))?;
        // Neither a list of devices nor a share.
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix([',', '.']);
        let goes_on = rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        number::<u64>(after).filter(|count| *count <= 64 && !goes_on)
    });
    // `CUDA1 buffer size`, `CUDA14 KV buffer size`.
    let buffers = text.match_indices("CUDA").filter_map(|(at, word)| {
        let after = text.get(at + word.len()..)?;
        let index = number::<u64>(after)?;
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let words = rest.trim_start().get(..32).unwrap_or(rest.trim_start());
        (rest.starts_with(' ') && words.contains("buffer") && index < 64).then_some(index + 1)
    });
    // `DP7 TP7]`, in front of a line of SGLang's.
    let tensor = text
        .split_once(" TP")
        .map(|(_, after)| after)
        .filter(|after| after.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(']'));
    let tensor = tensor.and_then(number::<u64>).filter(|index| *index < 64).map(|index| index + 1);
    // `replica_1`, of Keras' model on several devices.
    let replicas = text.split_once("replica_").and_then(|(_, after)| number::<u64>(after)).filter(|index| *index < 64);
    told.chain(buffers).chain(tensor).chain(replicas.map(|index| index + 1)).max().unwrap_or(0)
}

/// Year and month of a date at the start of a line: `[2018-12-10 12:30:30,221 INFO]`, `2024/03/05 08:00:01`.
pub(super) fn month(text: &str) -> Option<Month> {
    date(text.trim_start_matches(['[', '(', ' ', '"']).get(..10)?)
}

/// `2018-12-10`, `2024/03/05`.
fn date(date: &str) -> Option<Month> {
    let separator = ['-', '/'].into_iter().find(|sign| date.get(4..5) == Some(sign.encode_utf8(&mut [0; 4])))?;
    let mut parts = date.split(separator);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |part: &str, count: usize| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
    let whole = digits(year, 4) && digits(month, 2) && digits(day, 2) && parts.next().is_none();
    of_a_run(year.parse().ok().filter(|_| whole)?, month.parse().ok()?)
}

/// `[lea@login1 ~]$`: the machine's own name.
fn prompt_of_a_login_node(lower: &str) -> bool {
    let host = lower.split(['$', '#', '>']).next().and_then(|prompt| prompt.split_once("@login"));
    host.is_some_and(|(user, rest)| {
        let typed = lower.len() > user.len() + "@login".len() + rest.len();
        let number = rest.trim_start_matches('-').trim_start_matches(|c: char| c.is_ascii_digit());
        typed && user.len() <= LONGEST_PROMPT && (number.is_empty() || number.starts_with([' ', ':', '.', ']']))
    })
}

/// Letters of a prompt before the name of its machine: an environment's name and the user's.
const LONGEST_PROMPT: usize = 48;

/// Years in which a job may have run, and months that there are.
fn of_a_run(year: u16, month: u8) -> Option<Month> {
    ((2015..2100).contains(&year) && (1..=12).contains(&month)).then_some((year, month))
}

/// Year and month of a stamp further within a line: a whole date with the time beside it, in the orders
/// `2024-04-18T03:37:45`, `06/14/2023 03:12:02`, `Thu Jun 10 15:12:07 2021`. A date without a time may be anything.
fn stamped(text: &str) -> Option<Month> {
    let head = text.get(..text.len().min(STAMP_WITHIN * 2)).unwrap_or_default();
    head.match_indices("20").filter(|(at, _)| *at < STAMP_WITHIN).find_map(|(at, _)| {
        let before = head.get(..at)?;
        let bound = !before.ends_with(|c: char| c.is_ascii_alphanumeric());
        let year: u16 = head.get(at..at + 4)?.parse().ok().filter(|_| bound)?;
        let time = |text: &str| {
            let bytes = text.as_bytes();
            bytes.len() >= 5 && bytes[2] == b':' && [0, 1, 3, 4].iter().all(|i| bytes[*i].is_ascii_digit())
        };
        if let Some(date_and_time) = head.get(at..at + 10).and_then(date) {
            let after = head.get(at + 10..)?.trim_start_matches(['T', ' ', '-', ',', '_']);
            return time(after).then_some(date_and_time);
        }
        let after = head.get(at + 4..)?.trim_start_matches([' ', '-', ',']);
        if let Some(day) = before.len().checked_sub(6).and_then(|from| before.get(from..)).filter(|_| time(after)) {
            let mut parts = day.trim_end_matches('/').split('/');
            let (first, second): (u8, u8) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            // Which of the two is the day, only a number above 12 tells: the later month is the safe one.
            let month = [first, second].into_iter().filter(|part| *part <= 12).max()?;
            return of_a_run(year, month);
        }
        let mut words = before.split_whitespace().rev();
        let (clock, _, month) = (words.next()?, words.next()?, words.next()?);
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let month = MONTHS.iter().position(|name| month.trim_start_matches('[') == *name)? + 1;
        time(clock).then(|| of_a_run(year, month as u8)).flatten()
    })
}

/// `#SBATCH --mem-per-cpu=4096M   # a remark` as it stands, without the remark, and with twice the amount.
fn asked_of_slurm(text: &str) -> Option<(String, String)> {
    let (options, _) = text.trim().split_once("   ").unwrap_or((text.trim(), ""));
    let (name, amount) = options.strip_prefix("#SBATCH ")?.trim().split_once('=')?;
    let digits = amount.bytes().take_while(u8::is_ascii_digit).count();
    let unit = amount.get(digits..).filter(|unit| matches!(*unit, "" | "K" | "M" | "G" | "T" | "MB" | "GB"))?;
    let twice = amount.get(..digits)?.parse::<u64>().ok().filter(|amount| *amount > 0)?.checked_mul(2)?;
    matches!(name, "--mem" | "--mem-per-cpu" | "--mem-per-gpu")
        .then(|| (format!("{name}={amount}"), format!("#SBATCH {name}={twice}{unit}")))
}

/// `Error executing process > 'NFCORE_RNASEQ:ALIGN_STAR:STAR_ALIGN (liver_1)'`: `STAR_ALIGN`.
fn failed_process(text: &str) -> Option<String> {
    let (_, quoted) = text.split_once("Error executing process > '")?;
    let name = quoted.split(['\'', ' ']).next()?.rsplit(':').next()?;
    (!name.is_empty()).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_stands_at_the_start_of_a_line() {
        assert_eq!(month("[2018-12-10 12:30:30,221 INFO] Step 10000"), Some((2018, 12)));
        assert_eq!(month("2024/03/05 08:00:01 start"), Some((2024, 3)));
        assert_eq!(month("2024-13-05 08:00:01"), None);
        assert_eq!(month("2024-1300050"), None);
        assert_eq!(month("loss 2024-03-05"), None);
        assert_eq!(month("日期 2024-03-05"), None);
    }

    #[test]
    fn a_date_with_a_time_is_a_stamp_wherever_it_begins() {
        for (text, month) in [
            ("time=2024-04-18T03:37:45.819+04:00 level=ERROR", (2024, 4)),
            ("[GIN] 2024/03/03 - 14:02:55 | 200 |", (2024, 3)),
            ("[09/16/2022-10:45:54] [W] [TRT] Tactic", (2022, 9)),
            ("06/14/2023 03:12:02 - WARNING - __main__ -", (2023, 6)),
            ("Thu Jun 10 15:12:07 2021", (2021, 6)),
            ("[Mon Jun 12 22:51:19 2019] oom_reaper", (2019, 6)),
        ] {
            assert_eq!(stamped(text), Some(month), "{text}");
        }
        for text in [
            "checkpoint of 2019-06-12 is read",
            "Python 3.6.9 (default, Jan 26 2021, 15:33:00)",
            "Linux version 5.4.0 #86-Ubuntu SMP Thu Jun 17 02:35:03 UTC 2021",
            "BIOS 1.11.1-1 04/01/2014",
            "step 2024 of 3000: 12:30",
        ] {
            assert_eq!(stamped(text), None, "{text}");
        }
    }

    #[test]
    fn releases_are_read_where_programs_introduce_themselves() {
        let one = |text: &str| releases(&text.to_ascii_lowercase()).into_iter().next();
        assert_eq!(one("NCCL version 2.7.3+cuda11.0"), Some((Library::Nccl, (2, 7, 3))));
        assert_eq!(one("msg=\"Listening on [::]:11434 (version 0.1.30)\""), Some((Library::Ollama, (0, 1, 30))));
        assert_eq!(one("&&&& RUNNING TensorRT.trtexec [TensorRT v8203] #"), Some((Library::TensorRt, (8, 2, 0))));
        assert_eq!(one("build: 4567 (0a1b2c3d) with cc"), Some((Library::LlamaCpp, (4567, 0, 0))));
        assert_eq!(one("transformers==4.28.1"), Some((Library::Transformers, (4, 28, 1))));
        assert_eq!(one("pip install transformers==4.28.1"), None);
    }

    #[test]
    fn devices_are_counted_by_what_spreads_over_them() {
        assert_eq!(spread("  CUDA3 KV buffer size = 11 MiB", ""), 4);
        assert_eq!(spread("", "--nproc_per_node=4 train.py"), 4);
        assert_eq!(spread("", "tensor_parallel_size=2, seed=0"), 2);
        assert_eq!(spread("[2025-07-05 11:02:34 DP7 TP7] Load weight end.", ""), 8);
        assert_eq!(spread("", "tp_size 0.5 --gpus 0,1"), 0);
        assert_eq!(counted("ggml_cuda_init: found 1 cuda devices:"), Some(1));
        assert_eq!(listed("GPU 1: Tesla V100-PCIE-32GB (UUID: GPU-1)"), Some(1));
        assert_eq!(listed("GPU 1: out of memory"), None);
    }

    #[test]
    fn devices_of_a_list_are_all_in_use() {
        assert_eq!(listed_in_use("python a.py --gpu 0,1,2 --lr 0.1"), 3);
        assert_eq!(listed_in_use("{'device': '0,1', 'lr': 0.1}"), 2);
        assert_eq!(listed_in_use("--gpus 0,"), 0);
        assert_eq!(listed_in_use("--gpu 1"), 0);
        assert_eq!(listed_in_use("host:41:97 [3] nccl warn cuda failure"), 4);
    }

    #[test]
    fn a_buffer_that_was_granted_has_a_size() {
        assert_eq!(granted("alloc 6.5 gb: ok"), Some(6.5));
        assert_eq!(granted("alloc 6.5 gb: failed"), None);
    }

    #[test]
    fn interpreters_and_kernels_are_named_by_folders_and_reports() {
        assert_eq!(python("File \"/opt/conda/lib/python3.6/site-packages/a.py\""), Some((3, 6)));
        assert_eq!(python("C:\\Python37\\Lib\\site-packages\\a.py"), Some((3, 7)));
        assert_eq!(python("/home/user/python/a.py"), None);
        let report = "CPU: 4 PID: 6 Comm: uwsgi Not tainted 5.4.0-77-generic #86-Ubuntu";
        assert_eq!(kernel(report), Some((5, 4)));
        let tainted = "Comm: python Kdump: loaded Tainted: G   ---- T 3.10.0-957.12.2.el7.x86_64 #1";
        assert_eq!(kernel(tainted), Some((3, 10)));
    }

    #[test]
    fn what_a_batch_script_asks_for_is_asked_twice() {
        let twice = |text: &str| asked_of_slurm(text).map(|(_, twice)| twice);
        let line = "#SBATCH --mem-per-cpu=4096M   # memory; default unit is megabytes";
        assert_eq!(twice(line).as_deref(), Some("#SBATCH --mem-per-cpu=8192M"));
        assert_eq!(twice("#SBATCH --mem=64G").as_deref(), Some("#SBATCH --mem=128G"));
        for other in ["#SBATCH --time=04:00", "#SBATCH --mem=0", "--mem=64G", "#SBATCH --mem=lots"] {
            assert_eq!(twice(other), None, "{other}");
        }
    }

    #[test]
    fn the_process_of_a_pipeline_is_named_as_its_configuration_does() {
        let of = |text: &str| failed_process(text);
        let line = "Error executing process > 'NFCORE_RNASEQ:RNASEQ:ALIGN_STAR:STAR_ALIGN (liver_1)'";
        assert_eq!(of(line).as_deref(), Some("STAR_ALIGN"));
        assert_eq!(of("Error executing process > 'star (B6_405)'").as_deref(), Some("star"));
        assert_eq!(of("executing process > star"), None);
    }
}
