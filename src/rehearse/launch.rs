//! Runs a command once on the simulated device and reads back what its processes tell.
//!
//! The command runs in a private view of the user's files ([`super::view`]) with what of the environment is harmless
//! ([`super::environment`]). Everything of ours lies in a private folder that is removed afterwards: the simulated
//! device and the libraries that stand in for NVIDIA's, the agent for the command's Python, the files that both write,
//! and the caches of compilers, whose entries would be poisoned by timings of kernels that never ran.
//!
//! The environment does it all, so it reaches every process that the command starts. Libraries are found through
//! `LD_LIBRARY_PATH`; PyTorch looks beside itself first (`DT_RPATH`), so the agent loads the stand-ins by their paths
//! before PyTorch is imported, and the loader takes what is loaded already. Nothing is preloaded: a shell, a compiler
//! or a program for another architecture runs as it always does.

use super::counters;
use super::elf::{self, Symbols};
use super::process::{self, ProcessReport};
use super::remedy::Remedy;
use super::stubs;
use super::torch::{self, Missing, Torch};
use super::view::changes::{self, Changes};
use super::view::{self, Level, View};
use super::warm::{self, Warm};
use super::{agent, device, environment, smi};
use crate::domain::closed_set;
use crate::order::InOrder;
use crate::system::{self, Noted, Signal};
use crate::text;
use crate::text::Text;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

closed_set! {
    /// What decides where blocks fall and is not known. The order in which the driver hands out addresses: no rule is
    /// documented, and PyTorch breaks ties by address. And whether cuBLAS's workspaces lie in the way: with `Down` they
    /// are so small that they never do.
    pub enum Addresses {
        Up = "up",
        Down = "down",
    }
}

closed_set! {
    /// What device memory reads as that nobody wrote, since nothing is computed.
    pub enum Values {
        Zeros = "zeros",
        Ones = "ones",
        /// Large numbers of every type: tried to see whether memory hangs on what is read.
        Large = "large",
        /// Negative numbers of every type: the other extreme.
        Negative = "negative",
        /// Larger than any loss or count: what is compared with a large number is so too.
        Huge = "huge",
        /// Now zero, now one, without a rule: what goes on as long as values keep their sign or order stops, and what
        /// waits for the same several times goes on.
        Mixed = "mixed",
        /// About one: for what refuses zeros, as a logarithm does.
        Unit = "unit",
    }
}

/// The device to be simulated. Sizes in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceModel {
    pub name: String,
    pub total: u64,
    /// What the CUDA context of each process takes.
    pub context: u64,
    /// What other programs take.
    pub others: u64,
    /// Compute capability: major, minor.
    pub compute: (u8, u8),
    pub multiprocessors: u32,
    /// What each convolution's plan asks for as workspace.
    pub cudnn_workspace: u64,
}

/// One run.
#[derive(Debug, Clone)]
pub struct LaunchRequest {
    pub command: Vec<OsString>,
    pub device: DeviceModel,
    pub devices: u32,
    /// Optimizer steps after which to stop; 0: run to the end.
    pub steps: u32,
    /// How long the program goes on after them, to see what comes later.
    pub ahead: Duration,
    pub world_size: Option<u32>,
    pub rank: u32,
    pub addresses: Addresses,
    /// The agent stops the program then; what still runs some seconds later (10 at most) is killed.
    pub time_limit: Duration,
    pub snapshot: bool,
    pub values: Values,
    /// The agent answers as a real GPU would where it knows how; otherwise `values` are read.
    pub answers: bool,
    /// The command's output is not shown; otherwise all of it goes to standard error.
    pub quiet: bool,
    /// Variables to set; one without a value passes as it is, even where it would be kept back.
    pub env: Vec<(OsString, Option<OsString>)>,
    pub view: View,
    /// Where the private folder is made; one of the usual places otherwise.
    pub base: Option<PathBuf>,
    /// A fix that is tried.
    pub remedy: Option<Remedy>,
    /// The folder of the PyTorch to use, where the command's interpreter should not be asked.
    pub torch: Option<PathBuf>,
    /// The interpreter to ask, where the command does not show it.
    pub torch_python: Option<PathBuf>,
}

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// Killed when its time was up.
    Stopped,
    /// The user interrupted it.
    Interrupted,
}

/// What the simulated device counted in one process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceCalls {
    pub pid: u64,
    pub launches: u64,
    /// Copies to the host of memory that the host never wrote: their values are not computed.
    pub unknown_reads: u64,
    /// Page-locked host bytes: the most there ever were.
    pub pinned_peak: u64,
    /// Managed bytes at the end, in no device's account.
    pub managed: u64,
    /// The program's own code read or wrote device memory directly, here.
    pub host_touch: Option<u64>,
    /// Per device: bytes in use at the end, at most, and requests that were refused. Contexts are not counted.
    pub devices: Vec<DeviceFigures>,
    /// Entry points of the driver that were asked for and are not simulated.
    pub unknown_entry_points: Vec<String>,
}

/// One device's figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceFigures {
    pub used: u64,
    pub peak: u64,
    pub refused: u64,
    pub served: u64,
}

/// What is known after a run. Its folder, and with it the snapshots, goes when this is dropped.
#[derive(Debug)]
pub struct RawOutcome {
    pub processes: Vec<ProcessReport>,
    /// By process, in the order of their pids.
    pub device_calls: Vec<DeviceCalls>,
    pub exit: Exit,
    /// The last 64 KiB that the command wrote to standard error.
    pub stderr_tail: String,
    pub seconds: f64,
    /// Absolute paths.
    pub snapshots: Vec<PathBuf>,
    /// What it wrote and removed in its view.
    pub changes: Changes,
    /// Variables of the user's environment that it did not get.
    pub kept_back: Vec<String>,
    /// It was forked from a warm process.
    pub forked: bool,
    folder: PrivateFolder,
}

impl RawOutcome {
    /// Where the result files lie, as long as this lives.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Why nothing was run.
#[derive(Debug)]
pub enum LaunchError {
    /// This program was built for another system than Linux on x86-64.
    Unsupported,
    NoCommand,
    /// No PyTorch that could be rehearsed. An interpreter without any is no error.
    Torch(Missing),
    /// No folder that libraries can be loaded from.
    Folder(io::Error),
    Start {
        program: OsString,
        error: io::Error,
    },
    /// Nothing here keeps a program that is no Python from the user's files.
    Unprotected {
        program: OsString,
    },
    /// Only Python's own writes could be kept from the user's files, and nobody asked for that.
    OnlyAgent,
    /// The private view broke after it had been tried.
    View(String),
}

impl LaunchError {
    pub fn text(&self) -> Text {
        match self {
            LaunchError::Unsupported => text!(
                en: "rehearse needs Linux on x86-64: its simulated GPU is a library for that system alone",
                zh: "rehearse 需要 x86-64 上的 Linux：其模拟 GPU 是只用于该系统的共享库"
            ),
            LaunchError::NoCommand => text!(en: "no command was given", zh: "没有给出命令"),
            LaunchError::Torch(missing) => missing_text(missing),
            LaunchError::Folder(error) => text!(
                en: "there is no temporary folder that libraries can be loaded from ({error}): set TMPDIR",
                zh: "没有可以从中加载共享库的临时目录（{error}）：请设置 TMPDIR"
            ),
            LaunchError::Start { program, error } => {
                let program = program.to_string_lossy();
                text!(en: "{program} does not start: {error}", zh: "无法启动 {program}：{error}")
            }
            LaunchError::Unprotected { program } => {
                let program = program.to_string_lossy();
                text!(
                    en: "nothing here keeps what {program} writes from your files: this system allows neither user \
                         namespaces nor Landlock. Start Python directly, or give --allow-writes",
                    zh: "此处无法让 {program} 的写入避开你的文件：系统既不允许用户命名空间，也不支持 Landlock。\
                         请直接启动 Python，或使用 --allow-writes"
                )
            }
            LaunchError::OnlyAgent => text!(
                en: "nothing here keeps all writes from your files: this system allows neither user namespaces nor \
                     Landlock. --view agent runs the program and keeps off what Python itself writes, but not what \
                     libraries write by themselves; --allow-writes keeps off nothing",
                zh: "此处无法让所有写入避开你的文件：系统既不允许用户命名空间，也不支持 Landlock。--view agent \
                     可以运行程序并挡住 Python 自身的写入，但挡不住库自行写入的内容；--allow-writes 则不作任何保护"
            ),
            LaunchError::View(message) => text!(
                en: "the private view of the files could not be made: {message}",
                zh: "无法建立文件的私有视图：{message}"
            ),
        }
    }
}

fn missing_text(missing: &Missing) -> Text {
    match missing {
        Missing::Interpreter => text!(
            en: "no Python interpreter was found for the command: give PyTorch's folder with --torch",
            zh: "没有找到该命令使用的 Python 解释器：请用 --torch 指定 PyTorch 所在目录"
        ),
        Missing::Failed { interpreter, message } => text!(
            en: "{interpreter} does not say where PyTorch is ({message}): give its folder with --torch",
            zh: "{interpreter} 没有给出 PyTorch 的位置（{message}）：请用 --torch 指定其目录"
        ),
        Missing::Torch { interpreter } => text!(
            en: "{interpreter} has no PyTorch: install one there, NVIDIA's packages are not needed: \
                 pip install --no-deps torch",
            zh: "{interpreter} 中没有安装 PyTorch：请在其中安装，不需要 NVIDIA 的软件包：pip install --no-deps torch"
        ),
        Missing::CpuBuild { version } => text!(
            en: "this torch is a CPU build ({version}), which allocates no GPU memory, and nothing stands in for that. \
                 A CUDA build beside it is enough, without a GPU and without NVIDIA's packages: make an environment \
                 with python -m venv --system-site-packages cuda, install torch there from an index that has that \
                 build with pip install --no-deps --ignore-installed torch, and rehearse cuda/bin/python",
            zh: "这个 torch 是 CPU 版（{version}），不会分配显存，也没有替代办法。另装一个 CUDA 版即可，\
                 不需要 GPU，也不需要 NVIDIA 的软件包：python -m venv --system-site-packages cuda，\
                 从提供 CUDA 版的索引执行 pip install --no-deps --ignore-installed torch，\
                 再预演 cuda/bin/python"
        ),
        Missing::Rocm { version } => text!(
            en: "this torch is built for ROCm ({version}); only CUDA builds can be rehearsed: \
                 pip install --no-deps torch",
            zh: "这个 torch 是 ROCm 版（{version}）；只能预演 CUDA 版：pip install --no-deps torch"
        ),
        Missing::Isolated { option } => text!(
            en: "python {option} does not load the part of the rehearsal that runs inside it: leave {option} out",
            zh: "python {option} 不会加载预演需要在其中运行的部分：请去掉 {option}"
        ),
        Missing::Musl { interpreter } => text!(
            en: "{interpreter} is built for musl; PyTorch with CUDA exists for the GNU C library only",
            zh: "{interpreter} 基于 musl；支持 CUDA 的 PyTorch 只有 GNU C 库（glibc）版本"
        ),
        Missing::StaticRuntime { version } => text!(
            en: "torch {version} has the CUDA runtime built in, where it can't be replaced: use torch 2.0 or later",
            zh: "torch {version} 静态链接了 CUDA 运行时，无法替换：请使用 torch 2.0 或更高版本"
        ),
        Missing::Unreadable { folder, message } => {
            let folder = folder.display();
            text!(en: "{folder} is no readable PyTorch: {message}", zh: "{folder} 不是可读的 PyTorch：{message}")
        }
    }
}

/// How the names of private folders begin.
const PREFIX: &str = "oomdoc-rehearse-";
/// Locked as long as the rehearsal of the folder lives.
const OWNER: &str = "owner";

/// A folder of our own, removed with everything in it when it is dropped.
#[derive(Debug)]
struct PrivateFolder {
    path: PathBuf,
    _owner: fs::File,
}

impl PrivateFolder {
    fn made_in(base: &Path) -> io::Result<PrivateFolder> {
        let mut builder = tempfile::Builder::new();
        system::for_owner_only(builder.prefix(PREFIX));
        let folder = builder.tempdir_in(base)?;
        // Named when it is locked: whoever sweeps meanwhile would take it for one that was left behind.
        let unnamed = folder.path().join("unlocked");
        let owner = fs::File::create(&unnamed)?;
        // Without locks, as on some network file systems, nobody sweeps.
        let _ = owner.try_lock();
        fs::rename(&unnamed, folder.path().join(OWNER))?;
        Ok(PrivateFolder { path: folder.keep().canonicalize()?, _owner: owner })
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        remove_all(&self.path);
    }
}

/// Removes a folder also where folders in it were left without rights, as overlays and programs leave them.
fn remove_all(folder: &Path) {
    if fs::remove_dir_all(folder).is_ok() {
        return;
    }
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        let _ = system::set_mode(&path, 0o700);
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    let _ = fs::remove_dir_all(folder);
}

/// The usual places for a folder that code may be loaded from, best first.
pub fn bases() -> Vec<PathBuf> {
    let places = [
        Some(std::env::temp_dir()),
        Some("/dev/shm".into()),
        std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from),
        std::env::home_dir().map(|home| home.join(".cache")),
    ];
    places.into_iter().flatten().filter(|place| system::runs_code(place)).collect()
}

/// Removes what rehearsals left behind that were killed, and ends what of them still runs.
pub fn sweep() {
    for base in bases() {
        for entry in fs::read_dir(base).into_iter().flatten().flatten() {
            let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
            let Ok(owner) = fs::File::open(entry.path().join(OWNER)) else { continue };
            if ours && owner.try_lock().is_ok() {
                kill_strays(&entry.path(), None);
                remove_all(&entry.path());
            }
        }
    }
}

fn private_folder(base: Option<&Path>) -> io::Result<PrivateFolder> {
    let mut refusal = io::Error::from(io::ErrorKind::PermissionDenied);
    for place in base.map(Path::to_path_buf).into_iter().chain(bases()) {
        match PrivateFolder::made_in(&place) {
            Ok(folder) => return Ok(folder),
            Err(error) => refusal = error,
        }
    }
    Err(refusal)
}

/// The libraries' folder inside ours.
const LIBRARIES: &str = "lib";
const AGENT: &str = "agent";
/// Programs that answer as they would beside the simulated device, such as `nvidia-smi`.
const PROGRAMS: &str = "bin";
const SETTINGS: &str = "settings";
const RESULTS: &str = "results";
/// The file name of the simulated device.
const SHIM: &str = "liboomdoc_device.so";

/// PyTorch and the stand-ins for it, kept for the next run of the same command.
type Prepared = (Option<Torch>, BTreeMap<String, Vec<u8>>);

fn prepare(request: &LaunchRequest, shim: &[u8]) -> Result<Arc<Prepared>, LaunchError> {
    type Key = (Vec<OsString>, Option<PathBuf>, Option<PathBuf>, Option<OsString>);
    static LAST: Mutex<Option<(Key, Arc<Prepared>)>> = Mutex::new(None);
    let named = request.env.iter().rev().find(|(name, _)| name == "PYTHONPATH");
    let python_path = named.and_then(|(_, value)| value.clone());
    let words = torch::deciding_words(&request.command);
    let key = (words, request.torch.clone(), request.torch_python.clone(), python_path.clone());
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, prepared)) = &*last
        && *known == key
    {
        return Ok(Arc::clone(prepared));
    }
    let asked = match &request.torch_python {
        Some(python) => vec![python.clone().into_os_string()],
        None => request.command.clone(),
    };
    let torch = match torch::find(&asked, request.torch.as_deref(), python_path.as_deref()) {
        Ok(torch) => Some(torch),
        // A command without any PyTorch runs all the same: it may be no Python at all.
        Err(Missing::Interpreter | Missing::Torch { .. } | Missing::Failed { .. }) => None,
        Err(missing) => return Err(LaunchError::Torch(missing)),
    };
    let exports = elf::parse_bytes(shim, Symbols::Exports).map(|library| library.exports).unwrap_or_default();
    let defined: BTreeSet<String> = exports.into_iter().collect();
    let program = request.command.first().and_then(|program| torch::asked_by(program));
    let importers = torch.iter().flat_map(|torch| &torch.importers).chain(&program);
    let mut files = BTreeMap::new();
    for (name, stub) in stubs::plan(importers, &defined) {
        let bytes = stubs::write(&name, SHIM, &stub)
            .map_err(|error| LaunchError::Folder(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        files.insert(name, bytes);
    }
    let prepared = Arc::new((torch, files));
    *last = Some((key, Arc::clone(&prepared)));
    Ok(prepared)
}

/// Writes the libraries; returns their names in the order in which they can be loaded.
fn write_libraries(folder: &Path, shim: &[u8], stubs: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    fs::create_dir(folder)?;
    fs::write(folder.join(SHIM), shim)?;
    for (name, bytes) in stubs {
        fs::write(folder.join(name), bytes)?;
    }
    // Compilers look for the driver without its version.
    system::symlink("libcuda.so.1", &folder.join("libcuda.so"))
}

fn write_agent(folder: &Path) -> io::Result<()> {
    for (name, text) in agent::files() {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

/// Writes the programs that stand in for NVIDIA's: scripts that start this program.
fn write_programs(folder: &Path, program: &Path) -> io::Result<()> {
    let bin = folder.join(PROGRAMS);
    fs::create_dir(&bin)?;
    let quoted = |path: &Path| {
        let text = path.to_string_lossy().replace('\'', r"'\''");
        format!("'{text}'")
    };
    let path = bin.join("nvidia-smi");
    let script = format!("#!/bin/sh\nexec {} {} {} \"$@\"\n", quoted(program), smi::NAME, quoted(folder));
    fs::write(&path, script)?;
    system::set_mode(&path, 0o755)
}

/// A list of folders with one more in front.
pub(crate) fn before(folder: &Path, list: Option<OsString>) -> OsString {
    let mut result = folder.as_os_str().to_owned();
    if let Some(list) = list.filter(|list| !list.is_empty()) {
        result.push(":");
        result.push(list);
    }
    result
}

/// What the simulated device and the agent are asked to do, as lines of `name=value` in the private folder: both find
/// the file from their own place, so that nothing of it shows in the command's environment.
fn settings(request: &LaunchRequest, torch: Option<&Torch>) -> String {
    let device = &request.device;
    let flag = |set: bool| if set { "1" } else { "0" }.to_owned();
    let rows = [
        ("total", device.total.to_string()),
        ("context", device.context.to_string()),
        ("others", device.others.to_string()),
        ("devices", request.devices.to_string()),
        ("cc", format!("{}.{}", device.compute.0, device.compute.1)),
        ("sms", device.multiprocessors.to_string()),
        ("name", device.name.replace('\n', " ")),
        ("addresses", request.addresses.id().to_owned()),
        ("values", request.values.id().to_owned()),
        ("cuda", torch.map_or(13_000, |torch| torch.cuda).to_string()),
        ("cudnn", torch.map_or(91_900, |torch| torch.cudnn).to_string()),
        ("cudnn_workspace", device.cudnn_workspace.to_string()),
        ("view", request.view.level.id().to_owned()),
        ("offline", flag(request.view.offline)),
        ("owner", std::process::id().to_string()),
        ("steps", request.steps.to_string()),
        ("ahead", request.ahead.as_secs_f64().to_string()),
        ("time", request.time_limit.as_secs_f64().to_string()),
        ("answers", if request.answers { "yes" } else { "none" }.to_owned()),
        ("snapshot", flag(request.snapshot)),
        ("rank", request.rank.to_string()),
        ("world", request.world_size.unwrap_or(0).to_string()),
    ];
    let rows = rows.iter().map(|(name, value)| format!("{name}={value}\n"));
    rows.chain(request.remedy.as_ref().and_then(Remedy::setting)).collect()
}

/// What PyTorch takes the size of cuBLAS's workspaces from. They have 8 MiB, one for each thread that multiplies, are
/// cut from whatever block is free when the thread begins, and are kept: three of 24 measured runs took 500 to 600 MiB
/// more or less than with them, and what is reserved with addresses downwards and small ones
/// (docs/rehearse-accuracy.md).
const WORKSPACES: (&str, &str) = ("CUBLAS_WORKSPACE_CONFIG", ":16:8");

/// The environment of the command; returns what was kept back.
fn environment(command: &mut Command, request: &LaunchRequest, folder: &Path) -> Vec<String> {
    let named = |name: &str| request.env.iter().rev().find(|(known, _)| known == name);
    let of_user = |name: &str| named(name).and_then(|(_, value)| value.clone()).or_else(|| std::env::var_os(name));
    let mut kept_back = Vec::new();
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if environment::is_kept_back(&text) && named(&text).is_none() {
            command.env_remove(&name);
            kept_back.push(text.into_owned());
        }
    }
    kept_back.order_by(Ord::cmp);
    if request.view.offline {
        command.envs(environment::OFFLINE.iter().filter(|(name, _)| named(name).is_none()).copied());
    }
    if request.view.level.redirects() {
        command.env("TMPDIR", folder.join(view::TEMPORARY));
    }
    let libraries = folder.join(LIBRARIES);
    // The graphics processors of this machine are hidden or chosen by it; the simulated ones are not meant.
    command.env_remove("CUDA_VISIBLE_DEVICES");
    for (name, value) in &request.env {
        if let Some(value) = value.clone().or_else(|| std::env::var_os(name)) {
            command.env(name, value);
        }
    }
    if let Some(Remedy::Variable(name, value)) = &request.remedy {
        command.env(name, value);
    }
    for (name, place) in [("LD_LIBRARY_PATH", LIBRARIES), ("PYTHONPATH", AGENT), ("PATH", PROGRAMS)] {
        command.env(name, before(&folder.join(place), of_user(name)));
    }
    if request.addresses == Addresses::Down && of_user(WORKSPACES.0).is_none() {
        command.env(WORKSPACES.0, WORKSPACES.1);
    }
    if of_user("PYTHONHASHSEED").is_none() {
        // Sets are in the same order in each of the runs that are compared.
        command.env("PYTHONHASHSEED", "0");
    }
    command.env("TRITON_LIBCUDA_PATH", &libraries);
    for (name, cache) in [("TRITON_CACHE_DIR", "triton"), ("TORCHINDUCTOR_CACHE_DIR", "inductor")] {
        command.env(name, folder.join(cache));
    }
    kept_back
}

/// The end of an output, kept while it passes.
type Tail = Arc<Mutex<VecDeque<u8>>>;
const KEPT: usize = 64 << 10;

/// Reads an output to its end on a thread of its own. A process that outlives the command may keep it open, so nobody
/// waits for the thread for long.
fn follow(mut output: impl Read + Send + 'static, show: bool) -> (Tail, std::thread::JoinHandle<()>) {
    let tail = Tail::default();
    let kept = Arc::clone(&tail);
    let reader = std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length) = output.read(&mut buffer) {
            let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
            if show {
                // A closed terminal is no reason to stop the command.
                let _ = io::stderr().write_all(bytes);
            }
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(bytes);
            let surplus = kept.len().saturating_sub(KEPT);
            kept.drain(..surplus);
        }
    });
    (tail, reader)
}

/// The mount namespace of a view. Its number is not given to another one as long as this holds it open.
struct Namespace {
    link: PathBuf,
    _held: fs::File,
}

impl Namespace {
    /// That of a child which has entered its view; `None` before.
    fn of(child: u32, folder: &Path) -> Option<Namespace> {
        let noted = PathBuf::from(fs::read_to_string(folder.join(view::NAMESPACE)).ok()?);
        let path = format!("/proc/{child}/ns/mnt");
        let held = fs::File::open(&path).ok()?;
        (fs::read_link(path).ok()? == noted).then_some(Namespace { link: noted, _held: held })
    }
}

/// Ends what left the child's group: launchers such as torchrun give each worker a session of its own, and daemons
/// clean their environment. They are known by the view's namespace, or by our folder in their environment.
fn kill_strays(folder: &Path, namespace: Option<&Namespace>) {
    let ours = folder.as_os_str().as_encoded_bytes();
    let names_folder = |variable: &[u8]| {
        let value = variable.iter().position(|byte| *byte == b'=').and_then(|at| variable.get(at + 1..));
        value.is_some_and(|value| value.strip_prefix(ours).is_some_and(|rest| rest.starts_with(b"/")))
    };
    // What starts another process while we look is seen in the next round.
    for _ in 0..8 {
        let mut found = false;
        let Ok(entries) = fs::read_dir("/proc") else { return };
        for entry in entries.flatten() {
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let Some(pid) = pid else { continue };
            // Another user's process shows neither; a dead one has none.
            let in_view = || {
                namespace
                    .is_some_and(|known| fs::read_link(entry.path().join("ns/mnt")).is_ok_and(|it| it == known.link))
            };
            let environment = || fs::read(entry.path().join("environ")).unwrap_or_default();
            if in_view() || environment().split(|byte| *byte == 0).any(names_folder) {
                found |= system::signal_process(pid, Signal::Kill);
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The exit code of a stage that could not enter its view; no program of the usual kind ends with it.
pub const VIEW_FAILED: u8 = 213;

/// How long processes have to end by themselves after they were asked.
const GRACE: Duration = Duration::from_secs(3);
/// How long after the time limit the agent may take to write what it knows.
fn extension(limit: Duration) -> Duration {
    (limit / 4).clamp(Duration::from_secs(1), Duration::from_secs(10))
}

/// Waits for the child, its time limit or an interruption.
/// In between, `look` sees it alive.
fn wait(
    child: &mut Running<'_>,
    limit: Duration,
    noted: &Noted,
    mut look: impl FnMut(&Running<'_>),
) -> io::Result<(Option<ExitStatus>, Exit)> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    let cause = loop {
        if let Some(status) = child.try_wait()? {
            let exit = status.code().map_or_else(|| Exit::Signal(system::ended_by(status).unwrap_or(0)), Exit::Code);
            return Ok((Some(status), exit));
        }
        if noted.came() {
            break Exit::Interrupted;
        }
        if started.elapsed() > limit.saturating_add(extension(limit)) {
            break Exit::Stopped;
        }
        look(child);
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    system::signal_group(child.id(), if cause == Exit::Interrupted { Signal::Interrupt } else { Signal::Terminate });
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), cause));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok((None, cause))
}

/// A process that runs the command.
enum Running<'w> {
    Own(Child),
    /// A child of the warm process, in the view that the holder holds open.
    Forked {
        warm: &'w Warm,
        pid: u32,
        holder: Option<Child>,
    },
}

impl Running<'_> {
    fn id(&self) -> u32 {
        match self {
            Running::Own(child) => child.id(),
            Running::Forked { pid, .. } => *pid,
        }
    }

    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match self {
            Running::Own(child) => child.try_wait(),
            Running::Forked { warm, pid, .. } => Ok(warm.ended(*pid)),
        }
    }

    /// After its group was killed: takes note of its end, and lets the view go.
    fn end(&mut self) {
        match self {
            Running::Own(child) => {
                let _ = child.wait();
            }
            Running::Forked { holder, .. } => {
                if let Some(holder) = holder {
                    let _ = holder.kill();
                    let _ = holder.wait();
                }
            }
        }
    }
}

/// A private folder with all that a run needs.
fn laid_out(request: &LaunchRequest, prepared: &Prepared, shim: &[u8]) -> io::Result<PrivateFolder> {
    let folder = private_folder(request.base.as_deref())?;
    let at = |name: &str| folder.path().join(name);
    write_libraries(&at(LIBRARIES), shim, &prepared.1)?;
    write_agent(&at(AGENT))?;
    if let Some(stage) = &request.view.program {
        write_programs(folder.path(), stage)?;
    }
    fs::write(at(SETTINGS), settings(request, prepared.0.as_ref()))?;
    [RESULTS, view::FOLDER, view::TEMPORARY].iter().try_for_each(|name| fs::create_dir(at(name)))?;
    Ok(folder)
}

/// The command, started through the stage that enters a view of this level.
fn staged(request: &LaunchRequest, level: Level, folder: &Path, command: &[OsString]) -> Command {
    let (program, arguments) = match (&request.view.program, command.split_first()) {
        (Some(stage), _) => {
            let mut words = view::arguments(level, request.view.offline, folder);
            words.push("--".into());
            (stage.as_os_str(), [words, command.to_vec()].concat())
        }
        (None, Some((program, arguments))) => (program.as_os_str(), arguments.to_vec()),
        (None, None) => (OsStr::new(""), Vec::new()),
    };
    let mut staged = Command::new(program);
    staged.args(arguments);
    system::leads_group(&mut staged);
    staged
}

/// Starts a process that imports what a run of this command imported, for further runs to be forked from; `None` where
/// that can't be.
pub fn warm(request: &LaunchRequest, outcome: &RawOutcome) -> Option<(Warm, WarmFolder)> {
    let can_enter = matches!(request.view.level, Level::Overlay | Level::Off) && request.view.program.is_some();
    let interpreter = request.command.first().is_some_and(|word| torch::is_interpreter(word));
    let list = outcome.folder().join(RESULTS).join(warm::LIST);
    if !can_enter || !interpreter || !list.is_file() {
        return None;
    }
    let shim = device::shim()?;
    let prepared = prepare(request, &shim).ok()?;
    let folder = laid_out(request, &prepared, &shim).ok()?;
    let kept = folder.path().join(warm::LIST);
    fs::copy(list, &kept).ok()?;
    let text = settings(request, prepared.0.as_ref()) + &format!("warm={}\n", kept.to_str()?);
    fs::write(folder.path().join(SETTINGS), text).ok()?;
    let mut command = staged(request, Level::Off, folder.path(), &request.command);
    environment(&mut command, request, folder.path());
    let patience = Duration::from_secs_f64(30.0 + 3.0 * outcome.seconds.clamp(0.0, 1e5));
    Some((Warm::start(command, patience).ok()?, WarmFolder(folder)))
}

/// The private folder of a warm process.
#[derive(Debug)]
pub struct WarmFolder(#[expect(dead_code, reason = "removed when it is dropped")] PrivateFolder);

/// A command that was started: its outputs, and what it did not get of the environment.
type Started<'w> = (Running<'w>, [Box<dyn Read + Send>; 2], Vec<String>);

/// Forks the command from a warm process; `None` where it can't be, and nothing has run.
fn forked<'w>(request: &LaunchRequest, warm: &'w Warm, folder: &Path) -> Option<Started<'w>> {
    if !warm.is_fit() {
        return None;
    }
    let mut described = Command::new("");
    let kept_back = environment(&mut described, request, folder);
    let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for (name, value) in described.get_envs() {
        match value {
            Some(value) => variables.insert(name.to_owned(), value.to_owned()),
            None => variables.remove(name),
        };
    }
    let text = |word: &OsString| word.to_str().map(str::to_owned);
    let variables: Option<BTreeMap<String, String>> =
        variables.iter().map(|(name, value)| Some((text(name)?, text(value)?))).collect();
    let words: Option<Vec<String>> = request.command.iter().map(text).collect();
    let streams = ["out", "err"].map(|name| folder.join(name));
    for stream in &streams {
        system::make_fifo(stream).ok()?;
    }
    let holder = match request.view.level {
        Level::Overlay => Some(hold(request, folder)?),
        _ => None,
    };
    let description = serde_json::json!({
        "folder": folder.to_str()?, "command": words?, "environment": variables?, "out": streams[0].to_str()?,
        "err": streams[1].to_str()?, "view": holder.as_ref().map_or(0, Child::id), "broken": warm::BROKEN,
        "here": std::env::current_dir().ok()?.to_str()?,
    });
    // Opening one end of such a stream waits for the other.
    let readers = streams.clone().map(|path| std::thread::spawn(move || fs::File::open(path)));
    let pid = warm.fork(folder, &description);
    let asked = Instant::now();
    while pid.is_some() && asked.elapsed() < GRACE && !readers.iter().all(|reader| reader.is_finished()) {
        std::thread::sleep(Duration::from_millis(1));
    }
    // Where nobody else opens the other end, we do; for a reader it is the end of the stream then.
    for stream in streams.iter().zip(&readers).filter(|(_, reader)| !reader.is_finished()).map(|(stream, _)| stream) {
        let _ = fs::File::options().write(true).read(true).open(stream);
    }
    let [out, err] = readers.map(|reader| reader.join().ok().and_then(Result::ok));
    let running = Running::Forked { warm, pid: pid?, holder };
    Some((running, [Box::new(out?), Box::new(err?)], kept_back))
}

/// Starts a process that enters the view and holds it open; waits until it has.
fn hold(request: &LaunchRequest, folder: &Path) -> Option<Child> {
    // The words of the command name folders to be laid over.
    let mut command = staged(request, Level::Overlay, folder, &[&[view::HOLD.into()], &*request.command].concat());
    environment(&mut command, request, folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut holder = command.spawn().ok()?;
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        if Namespace::of(holder.id(), folder).is_some() {
            return Some(holder);
        }
        if holder.try_wait().ok()?.is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let _ = holder.kill();
    let _ = holder.wait();
    None
}

/// Starts the command.
fn start(request: &LaunchRequest, folder: &Path) -> io::Result<Started<'static>> {
    let mut command = staged(request, request.view.level, folder, &request.command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let kept_back = environment(&mut command, request, folder);
    let mut child = command.spawn()?;
    let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::Error::from(io::ErrorKind::BrokenPipe));
    };
    Ok((Running::Own(child), [Box::new(out), Box::new(err)], kept_back))
}

/// Runs a command once, forked from a warm process where there is one.
///
/// # Errors
/// Where nothing could be run; what the command itself does wrong is in the outcome.
pub fn run(request: &LaunchRequest, warm: Option<&Warm>) -> Result<RawOutcome, LaunchError> {
    let shim = device::shim().ok_or(LaunchError::Unsupported)?;
    let program = request.command.first().ok_or(LaunchError::NoCommand)?;
    let prepared = prepare(request, &shim)?;
    if request.view.level == Level::Agent && !torch::starts_python(&request.command) {
        return Err(LaunchError::Unprotected { program: program.clone() });
    }
    let folder = laid_out(request, &prepared, &shim).map_err(LaunchError::Folder)?;
    // Without a handler the folder stays behind when the user interrupts.
    let noted = Noted::from_now_on(&[Signal::Interrupt, Signal::Terminate, Signal::HangUp])
        .map_err(|error| LaunchError::Start { program: program.clone(), error })?;
    let started = Instant::now();
    let begun = match warm.and_then(|warm| forked(request, warm, folder.path())) {
        Some(begun) => Ok(begun),
        None => start(request, folder.path()),
    };
    let outcome = begun.and_then(|(mut running, [output, errors], kept_back)| {
        let (_, output) = follow(output, !request.quiet);
        let (tail, errors) = follow(errors, !request.quiet);
        let mut namespace = None;
        let waited = wait(&mut running, request.time_limit, &noted, |running| {
            let id = match running {
                Running::Forked { holder: Some(holder), .. } => holder.id(),
                _ => running.id(),
            };
            namespace = namespace.take().or_else(|| Namespace::of(id, folder.path()));
        });
        system::signal_group(running.id(), Signal::Kill);
        // The group is killed: this returns at once.
        running.end();
        kill_strays(folder.path(), namespace.as_ref());
        let seconds = started.elapsed().as_secs_f64();
        let (_, exit) = waited?;
        let asked = Instant::now();
        for reader in [&output, &errors] {
            while !reader.is_finished() && asked.elapsed() < Duration::from_secs(1) {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        let tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        let tail = String::from_utf8_lossy(&tail.iter().copied().collect::<Vec<u8>>()).into_owned();
        Ok((exit, tail, seconds, kept_back, matches!(running, Running::Forked { .. })))
    });
    drop(noted);
    let (exit, stderr_tail, seconds, kept_back, was_forked) =
        outcome.map_err(|error| LaunchError::Start { program: program.clone(), error })?;
    if was_forked && exit == Exit::Code(i32::from(warm::BROKEN)) {
        return run(request, None);
    }
    let results = folder.path().join(RESULTS);
    if let Ok(number) = fs::read_to_string(results.join(view::NOT_STARTED)) {
        let error = io::Error::from_raw_os_error(number.trim().parse().unwrap_or(0));
        return Err(LaunchError::Start { program: program.clone(), error });
    }
    if request.view.program.is_some() && exit == Exit::Code(i32::from(VIEW_FAILED)) {
        return Err(LaunchError::View(stderr_tail.trim().to_owned()));
    }
    let changes = changes::read(folder.path());
    let processes = process::read_all(&results);
    let named = processes.iter().filter_map(|process| process.snapshot.as_deref());
    // A name only: a process does not choose another folder.
    let snapshots = named.filter_map(|name| Path::new(name).file_name()).map(|name| results.join(name));
    let snapshots = snapshots.filter(|path| path.is_file()).collect();
    let device_calls = device_calls(&results);
    Ok(RawOutcome {
        processes,
        device_calls,
        exit,
        stderr_tail,
        seconds,
        snapshots,
        changes,
        kept_back,
        forked: was_forked,
        folder,
    })
}

/// Counter files that are read at most.
const MOST_PROCESSES: usize = 4096;

fn device_calls(folder: &Path) -> Vec<DeviceCalls> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let counters =
        |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with("device-") && name.ends_with(".bin"));
    let mut calls: Vec<DeviceCalls> = entries
        .flatten()
        .filter(|entry| counters(&entry.file_name()))
        .take(MOST_PROCESSES)
        .filter_map(|entry| {
            let mut bytes = Vec::new();
            fs::File::open(entry.path()).ok()?.take(counters::LENGTH as u64).read_to_end(&mut bytes).ok()?;
            DeviceCalls::read(&bytes)
        })
        .collect();
    calls.order_by_key(|calls| calls.pid);
    calls
}

impl DeviceCalls {
    /// Reads the table that the simulated device keeps; `None` for anything else.
    pub fn read(bytes: &[u8]) -> Option<DeviceCalls> {
        let word = |place: usize| {
            let bytes = bytes.get(place * 8..place * 8 + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        if bytes.len() != counters::LENGTH || word(0)? != counters::MAGIC {
            return None;
        }
        let figure = |device: usize, figure: usize| word(counters::ROWS + device * counters::ROW + figure);
        let mut devices = Vec::new();
        for device in 0..counters::DEVICES {
            devices.push(DeviceFigures {
                used: figure(device, counters::USED)?,
                peak: figure(device, counters::PEAK)?,
                refused: figure(device, counters::REFUSED)?,
                served: figure(device, counters::SERVED)?,
            });
        }
        while devices.last().is_some_and(|figures| *figures == DeviceFigures::default()) {
            devices.pop();
        }
        let names = bytes.get(counters::WORDS * 8..)?;
        let length = usize::try_from(word(counters::NAMES)?).ok()?.min(names.len());
        let names = String::from_utf8_lossy(names.get(..length)?).into_owned();
        Some(DeviceCalls {
            pid: word(counters::PID)?,
            launches: word(counters::LAUNCHES)?,
            unknown_reads: word(counters::UNKNOWN_READS)?,
            pinned_peak: word(counters::PINNED_PEAK)?,
            managed: word(counters::MANAGED)?,
            host_touch: word(counters::HOST_TOUCH).filter(|address| *address != 0),
            devices,
            unknown_entry_points: names.lines().map(str::to_owned).collect(),
        })
    }
}
