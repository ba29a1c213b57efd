//! The command line: clap types, turned into plain options here and nowhere else.

mod chinese;
mod complete;
mod headroom;
mod mistakes;
mod run;

use crate::allocator::device::{Listing, Process};
use crate::allocator::version::Version;
use crate::domain::Headroom;
use crate::gpu::cuda::child;
use crate::gpu::trial;
use crate::gpu::verdict::{FailedJob, RULES};
use crate::host::{Root, warnings};
use crate::incident::context::{Given, Precision};
use crate::input::Source;
use crate::rehearse::launch::Values;
use crate::rehearse::model::Task;
use crate::rehearse::smi;
use crate::rehearse::view::{self, Level};
use crate::report::rules::Subject;
use crate::report::{Asked, Style, wording};
use crate::snapshot::diff::Moment;
use crate::text;
use crate::text::{Lang, Text};
use crate::units::{self, Base};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};
pub use complete::{CompletionShell, script};
pub use headroom::{DescribedRehearsal, HeadroomFormat, HeadroomOptions, HostOptions, ServingOptions, TrainingOptions};
pub use run::{AttachOptions, RunOptions, TopOptions, WatchOptions};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// What the user asked for, free of clap.
#[derive(Debug, Clone, PartialEq)]
pub enum Invocation {
    Explain(Box<ExplainOptions>),
    Rules(RulesOptions),
    /// The script that completes the command line.
    Completions(CompletionShell),
    /// The process that `probe` lets do what may hang or die.
    CudaChild,
    /// The process that reads the NVIDIA driver before `probe` itself does.
    NvmlTrial,
    /// The process between a rehearsal and its command, which enters the private view.
    RehearseView,
    /// The `nvidia-smi` of a rehearsed command.
    RehearseSmi,
    Replay(Box<ReplayOptions>),
    Diff(Box<DiffOptions>),
    Simulate(Box<SimulateOptions>),
    Probe(Box<ProbeOptions>),
    Headroom(Box<HeadroomOptions>),
    Rehearse(Box<RehearseOptions>),
    Run(Box<RunOptions>),
    Attach(Box<AttachOptions>),
    Top(Box<TopOptions>),
    /// The process beside a job of `run` that tells what the group gets.
    RunSentinel,
    /// The process that becomes a job of `run`.
    RunChild(Vec<OsString>),
}

/// How any command writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    pub style: Style,
    pub color: anstream::ColorChoice,
}

/// `oomdoc explain`.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainOptions {
    /// Empty where only snapshots are to be explained.
    pub sources: Vec<Source>,
    /// Memory snapshots of the same run, by which the diagnosis is proved or refuted.
    pub snapshots: Vec<Source>,
    pub format: ExplainFormat,
    pub given: Given,
    pub output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// One screen for people
    Terminal,
    /// For programs: docs/explain.schema.json
    Json,
    /// To paste into an issue
    Markdown,
    /// A self-contained page, with the curves that oomdoc run recorded and the snapshots that were read
    Html,
}

/// `oomdoc replay`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayOptions {
    pub sources: Vec<Source>,
    pub format: ReplayFormat,
    /// Only this device.
    pub device: Option<u32>,
    /// Holders to list.
    pub top: usize,
    pub what_if: WhatIfOptions,
    pub output: Output,
}

/// What `oomdoc replay` tries besides what was recorded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WhatIfOptions {
    /// False: nothing is simulated.
    pub wanted: bool,
    /// Settings to try; empty for the usual ones.
    pub confs: Vec<String>,
    /// Bytes of the device, where they cannot be told or another device is asked about.
    pub capacity: Option<u64>,
    /// Share of it that the program lets itself have.
    pub fraction: Option<f64>,
    /// PyTorch version to replay as, in place of the one that wrote the snapshot.
    pub torch: Option<String>,
    /// Which batch fits is asked, with that of the recording where it is given.
    pub batch: Option<Option<u64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReplayFormat {
    /// For people
    Terminal,
    /// For programs: docs/replay.schema.json
    Json,
    /// To paste into an issue
    Markdown,
    /// One file for the browser, with the timeline and the memory map
    Html,
}

/// `oomdoc diff`.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffOptions {
    pub before: Source,
    pub after: Source,
    pub moment: Moment,
    pub format: DiffFormat,
    /// Places to list.
    pub top: usize,
    pub fail_on: Option<GrowthLimit>,
    pub output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people
    Terminal,
    /// For programs: docs/diff.schema.json
    Json,
    /// For the comment on a pull request
    Markdown,
}

/// Growth that makes `oomdoc diff` fail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthLimit {
    /// Of the memory reserved, not of that in use.
    pub reserved: bool,
    pub most: GrowthMeasure,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GrowthMeasure {
    /// Of what there was before, 0.05 for 5 %.
    Share(f64),
    Bytes(u64),
}

impl GrowthLimit {
    /// True when going from one figure to the other exceeds the limit.
    pub fn exceeded(&self, before: u64, after: u64) -> bool {
        let growth = after.saturating_sub(before);
        match self.most {
            GrowthMeasure::Share(share) => growth > 0 && growth as f64 > share * before as f64,
            GrowthMeasure::Bytes(bytes) => growth > bytes,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProbeFormat {
    /// For people
    Terminal,
    /// For programs: docs/probe.schema.json
    Json,
    /// The same on one line, for collectors
    Jsonl,
    /// Metrics for the textfile collector of Prometheus
    Prometheus,
    /// To paste into an issue
    Markdown,
}

/// `oomdoc probe`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeOptions {
    /// Which GPUs; `None` = all.
    pub gpus: Option<Vec<GpuName>>,
    /// Seconds between readings.
    pub watch: Option<f64>,
    /// A saved output of `nvidia-smi`.
    pub from: Option<PathBuf>,
    /// Where `/proc` and `/sys` of the machine lie.
    pub root: Root,
    pub question: FailedJob,
    pub cuda: CudaOptions,
    /// Verdicts and warnings that make the exit code 1; `any` stands for all.
    pub fail_on: Vec<String>,
    pub format: ProbeFormat,
    pub output: Output,
}

/// The levels of a probe that take GPU memory, each of them only where it is asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CudaOptions {
    /// Create a context; the others imply it.
    pub context: bool,
    pub bench: bool,
    pub fill: bool,
    /// Go on although others use the device.
    pub busy_allowed: bool,
    /// The failure to re-create. Without `fill` by arithmetic alone.
    pub reproduce: Option<Source>,
    /// Upper bound in bytes of the buffers that kernels run over.
    pub buffer: Option<u64>,
    /// Seconds per device.
    pub seconds: u64,
}

/// How a user names a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GpuName {
    Index(u32),
    /// A UUID or the beginning of one.
    Uuid(String),
}

/// `oomdoc rehearse`.
#[derive(Debug, Clone, PartialEq)]
pub struct RehearseOptions {
    /// Bytes that CUDA reports as the total, in place of those of the GPU.
    pub gpu_memory: Option<u64>,
    /// The GPU to play, as the user calls it; `list` prints the table.
    pub like: Option<String>,
    /// GPUs of the machine.
    pub gpus: u32,
    /// Ranks to pretend.
    pub world_size: Option<u32>,
    /// Room that is to stay free.
    pub headroom: Headroom,
    /// Optimizer steps to run; 0 = until the program ends.
    pub steps: u32,
    /// How long the program goes on after them.
    pub ahead: Duration,
    pub batch: Option<Batches>,
    /// With which batch a search begins.
    pub first_batch: Option<u64>,
    pub addresses: AddressOrders,
    pub time_limit: Duration,
    /// After this, no further batch is tried.
    pub search_limit: Duration,
    /// Variables to set; one without a value passes as it is.
    pub env: Vec<(String, Option<String>)>,
    /// How files are kept from the program; `None`: the best that there is.
    pub view: Option<Level>,
    /// The program may reach the network, and hubs and loggers are not told to stay offline.
    pub network: bool,
    pub values: Values,
    /// Answer as a real GPU would where a program asks what is known, such as whether rows are packed.
    pub answers: bool,
    /// Folder for the memory snapshots.
    pub keep: Option<PathBuf>,
    /// The torch package to look at, in place of the interpreter's own.
    pub torch: Option<PathBuf>,
    pub torch_python: Option<PathBuf>,
    /// Runs at once.
    pub jobs: Option<usize>,
    /// Let the program's output through.
    pub show_output: bool,
    pub format: RehearseFormat,
    pub output: Output,
    /// A description in place of the command, and how it is trained.
    pub model: Option<ModelOptions>,
    pub training: TrainingOptions,
    pub command: Vec<OsString>,
}

/// A model to be rehearsed without a program.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOptions {
    pub model: PathBuf,
    pub task: Option<Task>,
    /// Share of the tokens that pads.
    pub padding: f64,
    /// One pass without gradients.
    pub inference: bool,
    /// Tokens to be generated.
    pub generate: Option<u64>,
    /// The Python that has transformers; the first on the path otherwise.
    pub python: Option<PathBuf>,
}

/// Which batches to rehearse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Batches {
    /// Each of them.
    List(Vec<u64>),
    /// The largest that fits, from one to the other.
    Between(u64, u64),
}

/// In which orders the driver may hand out addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AddressOrders {
    /// Upwards and downwards, and the larger need decides
    Both,
    /// Upwards only
    Up,
    /// Downwards only
    Down,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RehearseFormat {
    /// One screen for people
    Terminal,
    /// For programs: docs/rehearse.schema.json
    Json,
    /// JUnit XML for build servers
    Junit,
    /// Annotations of GitHub Actions, and its step summary
    Github,
}

/// `oomdoc rules`.
#[derive(Debug, Clone, PartialEq)]
pub struct RulesOptions {
    pub id: Option<String>,
    /// Only the rules of one kind.
    pub subject: Option<Subject>,
    pub format: RulesFormat,
    pub output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RulesFormat {
    /// Wrapped for the terminal
    Terminal,
    /// For programs: docs/rules.schema.json
    Json,
    /// As it stands in docs/causes.md and docs/fixes.md
    Markdown,
}

/// `oomdoc simulate`.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulateOptions {
    pub trace: Source,
    /// Bytes of the device.
    pub capacity: u64,
    /// Bytes of this process's CUDA context.
    pub context: u64,
    pub others: Vec<Process>,
    /// Bytes in use that NVML lists for nobody.
    pub hidden: u64,
    pub listing: Listing,
    /// Index of the device, as error texts print it.
    pub device: u8,
    pub conf: String,
    pub torch: Version,
    pub fraction: Option<f64>,
    /// Side streams that exist.
    pub streams: u32,
    pub no_caching: bool,
    pub stop_on_oom: bool,
    pub fail_on_oom: bool,
    pub format: SimulateFormat,
    pub output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SimulateFormat {
    /// Peaks, errors and fragmentation for people
    Summary,
    /// One JSON object for each request and one for the end
    #[value(alias = "json")]
    Jsonl,
    /// The requests themselves, nothing run: those of a memory snapshot, to be changed and run again
    Trace,
}

/// The grammar, for shell completions and man pages.
pub fn command(lang: Lang) -> clap::Command {
    match lang {
        Lang::En => Cli::command(),
        Lang::Zh => chinese::translated(Cli::command()),
    }
}

/// Reads the command line. Prints help, the version or a usage error and leaves the process where that is all to do.
pub fn parse() -> Invocation {
    complete::answer();
    // No subcommand of the grammar: nobody is to see it in the help, in completions or in man pages.
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next().as_ref().and_then(|name| name.to_str()) {
        Some(child::NAME) => return Invocation::CudaChild,
        Some(trial::NAME) => return Invocation::NvmlTrial,
        Some(run::SENTINEL) => return Invocation::RunSentinel,
        Some(view::NAME) => return Invocation::RehearseView,
        Some(smi::NAME) => return Invocation::RehearseSmi,
        Some(run::CHILD) => return Invocation::RunChild(arguments.collect()),
        _ => {}
    }
    let line = with_command(std::env::args_os().collect());
    let lang = asked_language(&line);
    let parsed = match lang {
        Lang::En => Cli::try_parse_from(line),
        Lang::Zh => command(lang).try_get_matches_from(line).and_then(|matches| Cli::from_arg_matches(&matches)),
    };
    parsed.map_or_else(|error| told(error, lang), |cli| cli.command.into())
}

/// The language of the help, by the option where it stands and else as for reports.
fn asked_language(line: &[OsString]) -> Lang {
    let words: Vec<&str> = line.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--").collect();
    let behind = words.windows(2).filter(|pair| pair[0] == "--lang").map(|pair| pair[1]);
    let said = behind.chain(words.iter().filter_map(|word| word.strip_prefix("--lang="))).next_back();
    let said = said.map(str::to_string).or_else(|| std::env::var("OOMDOC_LANG").ok());
    match said.as_deref() {
        Some("zh") => Lang::Zh,
        Some("en") => Lang::En,
        _ => locale().as_deref().map(Lang::from_locale).unwrap_or_default(),
    }
}

/// Prints help, the version or what is wrong with the line, and ends the process.
fn told(error: clap::Error, lang: Lang) -> ! {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
    if lang == Lang::En {
        error.exit();
    }
    if !matches!(error.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand) {
        error.apply::<mistakes::InChinese>().exit();
    }
    let columns = terminal_size::terminal_size_of(std::io::stdout()).map_or(100, |(width, _)| width.0.into());
    let page = chinese::page(&error.render().to_string(), columns.min(100));
    // A reader that has gone away wanted no more.
    let _ = if error.use_stderr() {
        std::io::stderr().write_all(page.as_bytes())
    } else {
        std::io::stdout().write_all(page.as_bytes())
    };
    std::process::exit(error.exit_code());
}

/// `oomdoc train.log` is `oomdoc explain train.log`: nobody who pastes a file's name knows of commands yet. Only for
/// what lies there and is no command, so that a misspelt command is still told as one.
fn with_command(mut line: Vec<OsString>) -> Vec<OsString> {
    if let Some(first) = line.get(1)
        && !Cli::command().get_subcommands().any(|known| *first == *known.get_name())
        && std::path::Path::new(first).exists()
    {
        line.insert(1, "explain".into());
    }
    line
}

/// A command line, its first word the program's name.
///
/// # Errors
/// Where the grammar does not know it.
pub fn parse_from<I: IntoIterator<Item = S>, S: Into<OsString> + Clone>(line: I) -> Result<Invocation, clap::Error> {
    Ok(Cli::try_parse_from(line)?.command.into())
}

impl From<Command> for Invocation {
    fn from(command: Command) -> Invocation {
        match command {
            Command::Explain(args) => Invocation::Explain(Box::new((*args).into())),
            Command::Rules(args) => Invocation::Rules(args.into()),
            Command::Completions { shell } => Invocation::Completions(shell),
            Command::Replay(args) => Invocation::Replay(Box::new((*args).into())),
            Command::Diff(args) => Invocation::Diff(Box::new((*args).into())),
            Command::Simulate(args) => Invocation::Simulate(Box::new((*args).into())),
            Command::Probe(args) => Invocation::Probe(Box::new((*args).into())),
            Command::Headroom(args) => Invocation::Headroom(Box::new((*args).into())),
            Command::Rehearse(args) => Invocation::Rehearse(Box::new((*args).into())),
            Command::Run(args) => Invocation::Run(Box::new((*args).into())),
            Command::Attach(args) => Invocation::Attach(Box::new((*args).into())),
            Command::Top(args) => Invocation::Top(Box::new((*args).into())),
        }
    }
}

#[derive(Parser)]
#[command(
    name = "oomdoc",
    version,
    about = "A doctor for out-of-memory failures of machine-learning jobs",
    long_about = None,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Examples:
  oomdoc explain train.log            what ran out, where every byte was, why, what to change;
                                      oomdoc train.log is short for it
  python train.py 2>&1 | oomdoc explain
  oomdoc rules fragmentation          what a cause means and how to tell it from others
  oomdoc replay snapshot.pickle       the peak of a memory snapshot and who held it
  oomdoc diff old.pickle new.pickle   what grew between two of them
  oomdoc simulate trace.txt --capacity 24GiB
                                      what PyTorch's allocator would do with a list of requests
  oomdoc probe                        who holds the memory of this machine's GPUs right now
  oomdoc headroom --model config.json --batch 16 --gpu T4
                                      does batch 16 fit a T4, and what is the largest that does;
                                      closer with peaks that were measured: --measure 8=7.2GiB
  oomdoc rehearse --like 3090 -- python train.py
                                      would it fit that GPU? a few real steps, without any GPU
  oomdoc run -- python train.py       the job as it is; a diagnosis when its memory runs out

Exit codes of explain: 0 an incident was found, 1 none, 2 bad usage or unreadable input."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Explain the out-of-memory failure in a log: what ran out, why, and what to change
    Explain(Box<ExplainArgs>),
    /// List the causes and fixes that oomdoc knows, or print the documentation of one
    Rules(RulesArgs),
    /// Replay a PyTorch memory snapshot: the true peak, who held it, what was fragmented, what other settings would do
    Replay(Box<ReplayArgs>),
    /// What grew between two memory snapshots, by the place in the program
    Diff(Box<DiffArgs>),
    /// Run a list of allocations through PyTorch's caching allocator on a device of any size
    Simulate(Box<SimulateArgs>),
    /// Read the GPUs and memory of this machine: who holds what, what nobody explains, what limits apply
    Probe(Box<ProbeArgs>),
    /// Does batch N fit a GPU with room to spare, and what is the largest that does
    Headroom(Box<headroom::HeadroomArgs>),
    /// Run a training program for a few steps on a simulated GPU: would it fit, and up to which batch
    Rehearse(Box<RehearseArgs>),
    /// Run a job unchanged, and explain why when its memory runs out
    Run(Box<run::RunArgs>),
    /// Watch a process that already runs, as run does, until it ends
    Attach(Box<run::AttachArgs>),
    /// Show what a running job holds, at every moment
    Top(Box<run::TopArgs>),
    /// Print the script that completes commands, GPUs, rules and settings in a shell
    #[command(after_help = "Examples:
  source <(oomdoc completions bash)                        in ~/.bashrc; zsh alike
  oomdoc completions fish > ~/.config/fish/completions/oomdoc.fish
  oomdoc completions powershell | Out-String | Invoke-Expression")]
    Completions {
        #[arg(value_enum, value_name = "SHELL")]
        shell: CompletionShell,
    },
}

#[derive(Args)]
struct OutputArgs {
    /// Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG
    #[arg(long, value_enum, value_name = "LANG", default_value = "auto", env = "OOMDOC_LANG", hide_env_values = true)]
    lang: LangArg,
    /// When to colour; auto colours terminals and respects NO_COLOR
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    color: When,
    /// Columns to fill [default: those of the terminal, else 80]
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(40..=400))]
    width: Option<u16>,
    /// Hide users, machines and folders; auto: in Markdown
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "always", hide_possible_values = true)]
    redact: When,
}

/// The same, of a command that shows no more than the terminal holds.
#[derive(Args)]
struct ScreenArgs {
    #[command(flatten)]
    output: OutputArgs,
    /// Lines to fill [default: those of the terminal, else as many as there are]
    #[arg(long, value_name = "LINES", value_parser = clap::value_parser!(u16).range(10..=1000))]
    height: Option<u16>,
}

#[derive(Clone, Copy, ValueEnum)]
enum LangArg {
    Auto,
    En,
    Zh,
}

#[derive(Clone, Copy, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc explain train.log                     one screen; -v for everything behind it
  oomdoc explain slurm-*.out logs/             several files, a folder with a log for each rank: one report
  kubectl logs trainer-0 | oomdoc explain      a pipe; without one, paste and press Ctrl-D
  oomdoc explain train.log -s oom.pickle       with the memory snapshot of the run
  oomdoc explain -f json train.log | jq '.incidents[] | select(.primary).causes[0]'
  oomdoc explain --workers 36 --processes 3 --sample-bytes 133.59MB --host-memory 256GB killed.log

Sizes: 133.59MB and 133.59MiB are both 133.59 * 2^20 bytes. Counts of parameters: 350M, 7B.
Exit codes: 0 an incident was explained, 1 none in the input, 2 bad usage or unreadable input.")]
struct ExplainArgs {
    /// Logs to read, also .gz; - or nothing reads standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What to print
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "terminal", hide_possible_values = true)]
    #[arg(help = "What to print: terminal, json, markdown or html")]
    format: ExplainFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Memory snapshot of the run, which proves or refutes it; may be repeated
    #[arg(short, long, value_name = "FILE")]
    snapshot: Vec<PathBuf>,
    /// Everything: all evidence, formulas, the account, what was ruled out
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    output: ScreenArgs,
    #[command(flatten)]
    given: GivenArgs,
}

#[derive(Args)]
#[command(next_help_heading = "What the log does not say")]
struct GivenArgs {
    /// Samples per step and process
    #[arg(long, value_name = "N", value_parser = count)]
    batch_size: Option<u64>,
    /// Steps of gradient accumulation
    #[arg(long, value_name = "N", value_parser = count)]
    accumulation: Option<u64>,
    /// Tokens per sample
    #[arg(long, value_name = "N", value_parser = count)]
    seq_len: Option<u64>,
    /// Pixels of the longer side
    #[arg(long, value_name = "N", value_parser = count)]
    image_size: Option<u64>,
    /// Data-loading workers per process
    #[arg(long, value_name = "N")]
    workers: Option<u64>,
    /// Batches that each worker prefetches
    #[arg(long, value_name = "N")]
    prefetch: Option<u64>,
    /// Training processes on this machine
    #[arg(long, value_name = "N", value_parser = count)]
    processes: Option<u64>,
    /// Size of one loaded sample
    #[arg(long, value_name = "SIZE", value_parser = size)]
    sample_bytes: Option<u64>,
    /// Samples of the data set
    #[arg(long, value_name = "N", value_parser = count)]
    samples: Option<u64>,
    /// Size of a cache of samples in RAM
    #[arg(long, value_name = "SIZE", value_parser = size)]
    cache: Option<u64>,
    /// RAM of the machine or limit of the container
    #[arg(long, value_name = "SIZE", value_parser = size)]
    host_memory: Option<u64>,
    /// Parameters of the model
    #[arg(long, value_name = "COUNT", value_parser = parameters)]
    params: Option<f64>,
    /// Optimizer, such as adamw
    #[arg(long, value_name = "NAME")]
    optimizer: Option<String>,
    /// Precision: fp32, fp16, bf16, mixed, fp8, int8 or int4
    #[arg(long, value_enum, value_name = "TYPE", hide_possible_values = true, ignore_case = true)]
    precision: Option<PrecisionArg>,
}

#[derive(Clone, Copy, ValueEnum)]
enum PrecisionArg {
    Fp32,
    Fp16,
    Bf16,
    Mixed,
    Fp8,
    Int8,
    Int4,
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc replay snapshot.pickle                    peaks, holders, fragmentation, what other settings would do
  oomdoc replay snapshots/                         a folder with a snapshot for each rank
  oomdoc replay --conf expandable_segments:True --conf max_split_size_mb:512 snapshot.pickle
  oomdoc replay --capacity 24GiB snapshot.pickle   would it fit another GPU?
  oomdoc replay --format html snapshot.pickle > report.html

Snapshots come from torch.cuda.memory._record_memory_history() and \
torch.cuda.memory._dump_snapshot(\"snapshot.pickle\").
Exit codes: 0 replayed, 2 bad usage or unreadable input.")]
struct ReplayArgs {
    /// Snapshots to read: pickle or JSON, also .gz; - reads standard input
    #[arg(value_name = "SNAPSHOT", required = true)]
    files: Vec<PathBuf>,
    /// What to print
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "terminal", hide_possible_values = true)]
    #[arg(help = "What to print: terminal, json, markdown or html")]
    format: ReplayFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Only this device
    #[arg(long, value_name = "N")]
    device: Option<u32>,
    /// Holders to list
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u16).range(1..=1000))]
    top: u16,
    /// Everything: all notes, whole stacks
    #[arg(short, long)]
    verbose: bool,
    /// Only what was recorded: nothing is simulated, so how well the simulator foresees the record is not said either
    #[arg(long, conflicts_with_all = ["conf", "capacity", "torch", "batch_scale"])]
    no_what_if: bool,
    /// Allocator settings to try in place of the usual ones; may be repeated
    #[arg(long, value_name = "CONF", add = ArgValueCompleter::new(complete::settings))]
    conf: Vec<String>,
    /// Size of the device
    #[arg(long, value_name = "SIZE", value_parser = size)]
    capacity: Option<u64>,
    /// Share of the device that the program lets itself have (set_per_process_memory_fraction), 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "capacity")]
    fraction: Option<f64>,
    /// Which batch fits the device; BATCH is that of the recording
    #[arg(long, value_name = "BATCH", num_args = 0..=1, require_equals = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    batch_scale: Option<Option<u64>>,
    /// PyTorch version to replay as [default: the newest that writes such a snapshot]
    #[arg(long, value_name = "VERSION")]
    torch: Option<String>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc diff before.pickle after.pickle
  oomdoc diff --at peak --fail-on 'growth>5%' main.pickle branch.pickle
  oomdoc diff --fail-on 'reserved>200MiB' --format markdown main.pickle branch.pickle

Exit codes: 0 compared, 1 it grew more than --fail-on allows, 2 bad usage or unreadable input.")]
struct DiffArgs {
    /// Snapshot to compare with; - reads standard input
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// Snapshot to look at
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// Which moment to compare: the end of the recording or its peak
    #[arg(long, value_enum, value_name = "MOMENT", default_value = "end")]
    at: MomentArg,
    /// Growth that makes the exit code 1: growth>5%, growth>200MiB, reserved>5%
    #[arg(long, value_name = "LIMIT", value_parser = growth_limit)]
    fail_on: Option<GrowthLimit>,
    /// What to print
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "terminal", hide_possible_values = true)]
    #[arg(help = "What to print: terminal, json or markdown")]
    format: DiffFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Places to list
    #[arg(long, value_name = "N", default_value = "12", value_parser = clap::value_parser!(u16).range(1..=1000))]
    top: u16,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum MomentArg {
    End,
    Peak,
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc rules                      every cause and fix, one line each
  oomdoc rules fragmentation        one of them in full
  oomdoc rules --only fixes
  oomdoc rules alloc-conf           every option of PYTORCH_CUDA_ALLOC_CONF
  oomdoc rules fragmentation --format markdown --lang zh")]
struct RulesArgs {
    /// Id of a cause or fix; without it, list all
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::rules))]
    id: Option<String>,
    /// List only causes or only fixes
    #[arg(long, value_enum, value_name = "KIND")]
    only: Option<Subject>,
    /// What to print
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "terminal", hide_possible_values = true)]
    #[arg(help = "What to print: terminal, json or markdown")]
    format: RulesFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Args)]
#[command(after_help = "A trace has one request a line:
  a ID SIZE [STREAM]   allocate            f ID              free
  r ID STREAM          record_stream       e                 empty_cache
  m FRACTION           memory fraction     c SETTINGS        allocator settings
  pb, pe, pr POOL      begin, end, release a private pool    p 1, p 0  hold events back, let them pass
  s                    snapshot            z                 reset the peaks

Examples:
  oomdoc simulate trace.txt --capacity 24GiB
  oomdoc simulate trace.txt --capacity 24GiB --conf expandable_segments:True --torch 2.8
  oomdoc simulate oom.pickle --capacity 24GiB            the requests that a snapshot recorded
  oomdoc simulate oom.pickle --capacity 24GiB --format trace > trace.txt
  oomdoc simulate - --capacity 8GiB --context 412MiB --format jsonl < trace.txt

Exit codes: 0 done, 1 an out-of-memory error with --fail-on oom, 2 bad usage or an unreadable trace.")]
struct SimulateArgs {
    /// Requests to run, or a memory snapshot that recorded them; - reads standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Memory of the device
    #[arg(long, value_name = "SIZE", value_parser = size)]
    capacity: u64,
    /// Memory that the CUDA context of this process takes
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0")]
    context: u64,
    /// Other processes on the device, as pid:bytes
    #[arg(long, value_name = "PID:SIZE,…", value_parser = process, value_delimiter = ',')]
    others: Vec<Process>,
    /// Memory in use that NVML lists for no process
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0")]
    hidden: u64,
    /// How NVML lists this process: self, another pid, none, or missing for no NVML at all
    #[arg(long, value_name = "HOW", value_parser = listing, default_value = "self")]
    nvml: Listing,
    /// Index of the device, as error texts print it
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: u8,
    /// Settings as in PYTORCH_CUDA_ALLOC_CONF
    #[arg(long, value_name = "CONF", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    #[arg(add = ArgValueCompleter::new(complete::settings))]
    conf: String,
    /// Release of PyTorch, 2.0 to 2.15
    #[arg(long, value_name = "VERSION", value_parser = torch, default_value = "2.15")]
    torch: Version,
    /// Memory fraction set before the first request, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    fraction: Option<f64>,
    /// Streams besides the default one
    #[arg(long, value_name = "N", default_value_t = 4)]
    streams: u32,
    /// Cache nothing, as with PYTORCH_NO_CUDA_MEMORY_CACHING=1
    #[arg(long)]
    no_caching: bool,
    /// Stop at the first out-of-memory error; otherwise the failed request is skipped
    #[arg(long)]
    stop_on_oom: bool,
    /// What makes the exit code 1
    #[arg(long, value_name = "WHAT")]
    fail_on: Option<FailOn>,
    /// What to print
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "summary", hide_possible_values = true)]
    #[arg(help = "What to print: summary, jsonl, or the trace itself")]
    format: SimulateFormat,
    /// Short for --format jsonl
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum FailOn {
    /// An out-of-memory error
    Oom,
}

impl From<SimulateArgs> for SimulateOptions {
    fn from(args: SimulateArgs) -> SimulateOptions {
        SimulateOptions {
            trace: if args.trace.as_os_str() == "-" { Source::Stdin } else { Source::File(args.trace) },
            capacity: args.capacity,
            context: args.context,
            others: args.others,
            hidden: args.hidden,
            listing: args.nvml,
            device: args.device,
            conf: args.conf,
            torch: args.torch,
            fraction: args.fraction,
            streams: args.streams,
            no_caching: args.no_caching,
            stop_on_oom: args.stop_on_oom,
            fail_on_oom: args.fail_on.is_some(),
            format: if args.json { SimulateFormat::Jsonl } else { args.format },
            output: args.output.plain(false),
        }
    }
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc probe                          all GPUs and the host; changes nothing, uses no GPU memory
  oomdoc probe --gpu 3                  one of them; also 0,2 or a UUID
  oomdoc probe --need 2GiB --pid 4242   would it fit now, and who is in the way
  oomdoc probe --watch                  a live table; Ctrl-C ends it
  oomdoc probe --from nvidia-smi.txt    a saved nvidia-smi (table, CSV or -q) in place of this machine's GPUs
  oomdoc probe --fail-on hardware --fail-on shm
  oomdoc probe --bench                  also what only CUDA can tell; refused on a GPU in use
  oomdoc probe --reproduce oom.pickle   was it fragmentation? with --allow-fill tried on the GPU
  docker run -v /:/host:ro … oomdoc probe --root /host

Exit codes: 0 readings were taken, 1 a verdict of --fail-on was found, 2 bad usage or unreadable input, \
3 there is no GPU or driver to read, 4 refused: the GPU is in use, and the CUDA part was asked for.")]
struct ProbeArgs {
    /// GPUs to show, as nvidia-smi counts: 3 or 0,2 or a UUID, or all
    #[arg(long, value_name = "GPUS", default_value = "all", value_parser = gpu_names)]
    gpu: GpuNames,
    /// Read again every so many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1", value_parser = interval)]
    watch: Option<f64>,
    /// Read a saved output of nvidia-smi instead of this machine's GPUs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["watch"])]
    from: Option<PathBuf>,
    /// Folder below which /proc and /sys of the machine lie
    #[arg(long, value_name = "FOLDER", default_value = "/")]
    root: PathBuf,
    /// What to print
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "terminal", hide_possible_values = true)]
    #[arg(help = "What to print: terminal, json, jsonl, prometheus or markdown")]
    format: ProbeFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Verdict or warning that makes the exit code 1, or any; may be repeated
    #[arg(long, value_name = "VERDICT", value_parser = verdict, value_delimiter = ',')]
    #[arg(add = ArgValueCandidates::new(complete::verdicts))]
    fail_on: Vec<String>,
    /// Everything that was read, and why other readings are missing
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    output: ScreenArgs,
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    cuda: CudaArgs,
}

#[derive(Args)]
#[command(next_help_heading = "What only CUDA can tell; refused on a GPU in use by others")]
struct CudaArgs {
    /// Create a CUDA context, which takes 100 to 600 MiB meanwhile: its cost, and what CUDA calls free
    #[arg(long, conflicts_with_all = ["watch", "from"])]
    cuda: bool,
    /// Also measure bandwidth and allocation times and check memory, on small buffers for some seconds
    #[arg(long, conflicts_with_all = ["watch", "from"])]
    bench: bool,
    /// Also fill the device up to a margin: largest block, and --reproduce on the device
    #[arg(long, conflicts_with_all = ["watch", "from"])]
    allow_fill: bool,
    /// Go on although other processes use the GPU; their next allocation may fail
    #[arg(long)]
    allow_busy: bool,
    /// Was it fragmentation? Works out the failure in a log or a memory snapshot, with --allow-fill on the device too
    #[arg(long, value_name = "LOG|SNAPSHOT", conflicts_with_all = ["watch", "from"])]
    reproduce: Option<PathBuf>,
    /// Largest buffer of --bench
    #[arg(long, value_name = "SIZE", value_parser = buffer)]
    buffer: Option<u64>,
    /// Seconds for the CUDA part of each GPU
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    time_limit: u64,
}

impl From<CudaArgs> for CudaOptions {
    fn from(args: CudaArgs) -> CudaOptions {
        let stdin_or = |path: PathBuf| if path.as_os_str() == "-" { Source::Stdin } else { Source::File(path) };
        CudaOptions {
            context: args.cuda || args.bench || args.allow_fill,
            bench: args.bench,
            fill: args.allow_fill,
            busy_allowed: args.allow_busy,
            reproduce: args.reproduce.map(stdin_or),
            buffer: args.buffer,
            seconds: args.time_limit,
        }
    }
}

/// A size of at least 1 MiB.
fn buffer(text: &str) -> Result<u64, Refused> {
    match size(text)? {
        bytes if bytes >= units::MIB => Ok(bytes),
        _ => Err(text!(en: "must be at least 1 MiB", zh: "至少 1 MiB").into()),
    }
}

#[derive(Args)]
#[command(next_help_heading = "The job in question")]
struct JobArgs {
    /// Its process, as the driver numbers it
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// What it asks for
    #[arg(long, value_name = "SIZE", value_parser = size)]
    need: Option<u64>,
    /// What PyTorch has reserved
    #[arg(long, value_name = "SIZE", value_parser = size)]
    reserved: Option<u64>,
    /// What of that is unallocated
    #[arg(long, value_name = "SIZE", value_parser = size)]
    idle: Option<u64>,
}

/// `all`, or names separated by commas.
#[derive(Debug, Clone)]
struct GpuNames(Option<Vec<GpuName>>);

fn gpu_names(text: &str) -> Result<GpuNames, Refused> {
    if text == "all" {
        return Ok(GpuNames(None));
    }
    let name = |part: &str| match part.trim() {
        "" => Err(text!(
            en: "an empty name; write 3 or 0,2 or a UUID, or all",
            zh: "名称为空；请写 3、0,2、UUID 或 all"
        )),
        part => Ok(part.parse().map_or_else(|_| GpuName::Uuid(part.to_string()), GpuName::Index)),
    };
    Ok(GpuNames(Some(text.split(',').map(name).collect::<Result<_, _>>()?)))
}

fn interval(text: &str) -> Result<f64, Refused> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err(text!(en: "must be between 0.01 and 86400 seconds", zh: "须在 0.01 到 86400 秒之间").into()),
    }
}

fn verdict(text: &str) -> Result<String, Refused> {
    let known: Vec<&str> =
        RULES.iter().map(|rule| rule.id).chain(warnings::IDS.iter().copied()).chain(std::iter::once("any")).collect();
    if known.contains(&text) { Ok(text.to_string()) } else { Err(none_of(&known)) }
}

impl From<ProbeArgs> for ProbeOptions {
    fn from(args: ProbeArgs) -> ProbeOptions {
        ProbeOptions {
            gpus: args.gpu.0,
            watch: args.watch,
            from: args.from,
            root: Root::at(args.root),
            question: FailedJob {
                need: args.job.need,
                pid: args.job.pid,
                reserved: args.job.reserved,
                idle: args.job.idle,
            },
            cuda: args.cuda.into(),
            fail_on: args.fail_on,
            format: if args.json { ProbeFormat::Json } else { args.format },
            output: args.output.shared_if(args.verbose, args.format == ProbeFormat::Markdown),
        }
    }
}

#[derive(Args)]
#[command(after_help = "Examples:
  oomdoc rehearse --like \"RTX 3090\" -- python train.py
  oomdoc rehearse --like 3090 --find-batch -- python train.py --batch-size {batch}
  oomdoc rehearse --gpu-memory 24GiB --batch 8,16,32 -- python train.py --batch-size {batch}
  oomdoc rehearse --like \"A100 80GB\" --world-size 8 -- python train_fsdp.py
  oomdoc rehearse --like T4 --format junit -- python train.py > rehearsal.xml
  oomdoc rehearse --like 4090 --model config.json --precision bf16 --lora 16 --seq 2048 --find-batch
  oomdoc rehearse --like list

No GPU and no CUDA libraries are needed, only the program's own PyTorch. Kernels do not compute: memory is real, \
values are not. A program that reads values is run up to four times more, with other ones in their place; where its \
memory depends on them, the answer says so.

What is run is your command itself, with all that it does on the processor: it reads your data and runs your code. \
It works on a private view of the files: what it writes, renames or removes is dropped at the end and listed. It has \
no network, no credentials and none of a job's variables (RANK, MASTER_ADDR, SLURM_*); hubs and loggers are told that \
they are offline.
--allow-writes, --allow-network and --env NAME give each back.
Exit codes: 0 fits with the headroom asked for, 1 does not, 2 bad usage, 3 cannot tell, 130 interrupted.")]
struct RehearseArgs {
    /// GPU to play, such as "RTX 3090"; list prints all that are known
    #[arg(long, value_name = "GPU", add = ArgValueCandidates::new(complete::played_gpus))]
    like: Option<String>,
    /// Memory of the GPU, as CUDA reports it
    #[arg(long, value_name = "SIZE", value_parser = size)]
    gpu_memory: Option<u64>,
    /// Batches to rehearse: 8,16,32 each, or 1..64 for the largest that fits; stands for {batch} in the command
    #[arg(long, value_name = "BATCHES", value_parser = batches)]
    batch: Option<Batches>,
    /// The largest batch that fits, of any size: short for --batch 1..4096
    #[arg(long, conflicts_with = "batch")]
    find_batch: bool,
    /// Room to keep free: 5% or 2GiB
    #[arg(long, value_name = "ROOM", default_value = "5%")]
    headroom: Headroom,
    /// Optimizer steps to run; 0 runs the program to its end
    #[arg(long, value_name = "N", default_value_t = 3)]
    steps: u32,
    /// How long the program goes on after these steps, to see evaluation, saving and later steps too; 0s: it stops
    #[arg(long, value_name = "TIME", value_parser = duration_or_none, default_value = "15s")]
    ahead: Duration,
    /// GPUs of the machine [default: the world size, else the processes that a launcher starts, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    gpus: Option<u32>,
    /// Ranks to pretend: one process runs as rank 0 of that many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    world_size: Option<u32>,
    /// Orders of device addresses to rehearse: both, up or down
    #[arg(long, value_enum, value_name = "ORDER", default_value = "both", hide_possible_values = true)]
    addresses: AddressOrders,
    /// Longest time of one run
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m")]
    time_limit: Duration,
    /// After this time no further batch is tried
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30m")]
    search_limit: Duration,
    /// Environment of the program; a name alone lets a variable pass that would be kept back; may be repeated
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = passed)]
    env: Vec<(String, Option<String>)>,
    /// Let the program write, rename and remove your files; otherwise it works on a private view of them
    #[arg(long)]
    allow_writes: bool,
    /// Let the program reach the network; otherwise it has none, and hubs and loggers are told so
    #[arg(long)]
    allow_network: bool,
    /// How your files are kept from the program: auto, overlay (namespaces), landlock, or agent (Python alone)
    #[arg(long, value_enum, value_name = "HOW", default_value = "auto", hide_possible_values = true)]
    #[arg(conflicts_with = "allow_writes")]
    view: ViewArg,
    /// What values read from the simulated GPU are: zeros or ones
    #[arg(long, value_enum, value_name = "VALUES", default_value = "zeros", hide_possible_values = true)]
    values: ValuesArg,
    /// What a program is told that asks what a real GPU is known to answer, such as whether rows are packed or
    /// gradients finite: likely (that answer), or none (the values above)
    #[arg(long, value_enum, value_name = "ANSWERS", default_value = "likely", hide_possible_values = true)]
    answers: AnswersArg,
    /// Keep the memory snapshots in this folder
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// The torch package, where it is not the one that the program's Python imports
    #[arg(long, value_name = "FOLDER")]
    torch: Option<PathBuf>,
    /// The Python that imports torch, where the command hides it
    #[arg(long, value_name = "PYTHON")]
    torch_python: Option<PathBuf>,
    /// Runs at once [default: 2 where there are two processors]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: Option<u16>,
    /// Let the program's own output through, to standard error
    #[arg(long)]
    show_output: bool,
    /// What to print
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "terminal", hide_possible_values = true)]
    #[arg(help = "What to print: terminal, json, junit or github")]
    format: RehearseFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Everything: whole stacks, all holders, all that was assumed
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    training: headroom::TrainingArgs,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Args)]
#[command(next_help_heading = "A description in place of a program: built from its configuration, without weights")]
struct ModelArgs {
    /// The model: a config.json of transformers, timm or diffusers, a folder with one, or a name that is in the hub's
    /// cache
    #[arg(long, value_name = "MODEL", conflicts_with = "command")]
    model: Option<PathBuf>,
    /// What it is made for, such as causal-lm, masked-lm, seq2seq-lm or image-classification [default: as configured]
    #[arg(long, value_name = "TASK", requires = "model", value_parser = task)]
    task: Option<Task>,
    /// No training: this many tokens are generated for each sample
    #[arg(long, value_name = "N", requires = "model", value_parser = count)]
    generate: Option<u64>,
    /// No training: one pass without gradients
    #[arg(long, requires = "model")]
    inference: bool,
    /// Share of the tokens that pads, 0 to 0.5
    #[arg(long, value_name = "SHARE", requires = "model", value_parser = padding, default_value = "0")]
    #[arg(hide_default_value = true)]
    padding: f64,
    /// The Python that has PyTorch and transformers [default: python3]
    #[arg(long, value_name = "PYTHON", requires = "model")]
    python: Option<PathBuf>,
}

fn task(text: &str) -> Result<Task, Refused> {
    text.parse().map_err(|_| none_of(&Task::ALL.iter().map(|task| task.id()).collect::<Vec<_>>()))
}

fn padding(text: &str) -> Result<f64, Refused> {
    share(text).ok().filter(|share| *share <= 0.5).ok_or_else(|| no_share("0.5"))
}

#[derive(Clone, Copy, ValueEnum)]
enum ValuesArg {
    Zeros,
    Ones,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ViewArg {
    Auto,
    Overlay,
    Landlock,
    Agent,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AnswersArg {
    Likely,
    None,
}

impl From<RehearseArgs> for RehearseOptions {
    fn from(args: RehearseArgs) -> RehearseOptions {
        RehearseOptions {
            gpu_memory: args.gpu_memory,
            like: args.like,
            gpus: args
                .gpus
                .unwrap_or_else(|| args.world_size.or_else(|| launched(&args.command)).unwrap_or(1).clamp(1, 8)),
            world_size: args.world_size,
            headroom: args.headroom,
            steps: args.steps,
            ahead: args.ahead,
            batch: args.batch.or(args.find_batch.then_some(Batches::Between(1, 4096))),
            first_batch: None,
            addresses: args.addresses,
            time_limit: args.time_limit,
            search_limit: args.search_limit,
            env: args.env,
            view: match args.view {
                _ if args.allow_writes => Some(Level::Off),
                ViewArg::Auto => None,
                ViewArg::Overlay => Some(Level::Overlay),
                ViewArg::Landlock => Some(Level::Landlock),
                ViewArg::Agent => Some(Level::Agent),
            },
            network: args.allow_network,
            values: match args.values {
                ValuesArg::Zeros => Values::Zeros,
                ValuesArg::Ones => Values::Ones,
            },
            answers: args.answers == AnswersArg::Likely,
            keep: args.keep,
            torch: args.torch,
            torch_python: args.torch_python,
            jobs: args.jobs.map(usize::from),
            show_output: args.show_output,
            format: if args.json { RehearseFormat::Json } else { args.format },
            output: args.output.plain(args.verbose),
            model: args.model.model.map(|model| ModelOptions {
                model,
                task: args.model.task,
                padding: args.model.padding,
                inference: args.model.inference,
                generate: args.model.generate,
                python: args.model.python,
            }),
            training: args.training.into(),
            command: args.command,
        }
    }
}

/// How many processes a launcher in the command starts on this machine, each with a GPU of its own.
fn launched(command: &[OsString]) -> Option<u32> {
    const OPTIONS: [&str; 5] =
        ["--nproc-per-node", "--nproc_per_node", "--num_processes", "--num-processes", "--num_gpus"];
    let mut words = command.iter().map(|word| word.to_str().unwrap_or(""));
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if OPTIONS.contains(&name) {
            return value.or_else(|| words.next())?.parse().ok();
        }
    }
    None
}

/// `8`, `8,16,32`, `1..64`.
fn batches(text: &str) -> Result<Batches, Refused> {
    let usage = || text!(en: "write 8, 8,16,32 or 1..64", zh: "请写 8、8,16,32 或 1..64");
    let one = |text: &str| match text.trim().parse::<u64>() {
        Ok(batch) if (1..=1 << 24).contains(&batch) => Ok(batch),
        _ => Err(usage()),
    };
    if let Some((from, to)) = text.split_once("..") {
        let (from, to) = (one(from)?, one(to.trim_start_matches('='))?);
        return match from <= to {
            true => Ok(Batches::Between(from, to)),
            false => Err(text!(en: "the range is empty", zh: "范围为空").into()),
        };
    }
    let mut list = text.split(',').map(one).collect::<Result<Vec<u64>, Text>>()?;
    list.sort_unstable();
    list.dedup();
    match list.len() {
        ..=64 => Ok(Batches::List(list)),
        _ => Err(text!(en: "at most 64 batches", zh: "最多 64 个 batch").into()),
    }
}

/// `90`, `90s`, `10m`, `1.5h`.
fn duration(text: &str) -> Result<Duration, Refused> {
    let text = text.trim();
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(n) if (1.0..=604_800.0).contains(&(n * unit)) => Ok(Duration::from_secs_f64(n * unit)),
        _ => Err(text!(
            en: "write 90s, 10m or 1h, from 1s to 7 days",
            zh: "请写 90s、10m 或 1h，从 1 秒到 7 天"
        )
        .into()),
    }
}

/// The same, or 0 for none.
fn duration_or_none(text: &str) -> Result<Duration, Refused> {
    match text.trim() {
        "0" | "0s" => Ok(Duration::ZERO),
        text => duration(text),
    }
}

/// `NAME=VALUE`, or `NAME` for a variable that passes as it is.
fn passed(text: &str) -> Result<(String, Option<String>), Refused> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), Some(value.to_string()))),
        None if !text.is_empty() => Ok((text.to_string(), None)),
        _ => Err(text!(en: "write NAME=VALUE, or NAME", zh: "请写 NAME=VALUE 或 NAME").into()),
    }
}

impl From<ExplainArgs> for ExplainOptions {
    fn from(args: ExplainArgs) -> ExplainOptions {
        let mut sources: Vec<Source> = args.files.into_iter().map(source).collect();
        if sources.is_empty() && args.snapshot.is_empty() {
            sources.push(Source::Stdin);
        }
        ExplainOptions {
            sources,
            snapshots: args.snapshot.into_iter().map(Source::File).collect(),
            format: if args.json { ExplainFormat::Json } else { args.format },
            given: args.given.into(),
            output: args.output.shared_if(args.verbose, args.format == ExplainFormat::Markdown),
        }
    }
}

impl From<ReplayArgs> for ReplayOptions {
    fn from(args: ReplayArgs) -> ReplayOptions {
        ReplayOptions {
            sources: args.files.into_iter().map(source).collect(),
            format: if args.json { ReplayFormat::Json } else { args.format },
            device: args.device,
            top: args.top.into(),
            what_if: WhatIfOptions {
                wanted: !args.no_what_if,
                confs: args.conf,
                capacity: args.capacity,
                fraction: args.fraction,
                torch: args.torch,
                batch: args.batch_scale,
            },
            output: args.output.shared_if(args.verbose, args.format == ReplayFormat::Markdown),
        }
    }
}

impl From<DiffArgs> for DiffOptions {
    fn from(args: DiffArgs) -> DiffOptions {
        DiffOptions {
            before: source(args.before),
            after: source(args.after),
            moment: match args.at {
                MomentArg::End => Moment::End,
                MomentArg::Peak => Moment::Peak,
            },
            format: if args.json { DiffFormat::Json } else { args.format },
            top: args.top.into(),
            fail_on: args.fail_on,
            output: args.output.shared_if(false, args.format == DiffFormat::Markdown),
        }
    }
}

/// `growth>5%`, `reserved>200MiB`.
fn growth_limit(text: &str) -> Result<GrowthLimit, Refused> {
    let usage = || {
        Refused(text!(
            en: "not a limit; write growth>5%, growth>200MiB or reserved>5%",
            zh: "不是上限；请写 growth>5%、growth>200MiB 或 reserved>5%"
        ))
    };
    let (what, most) = text.split_once('>').ok_or_else(usage)?;
    let reserved = match what.trim() {
        "growth" => false,
        "reserved" => true,
        _ => return Err(usage()),
    };
    let most = most.trim();
    let most = match most.strip_suffix('%') {
        Some(percent) => match percent.trim().parse::<f64>() {
            Ok(percent) if percent.is_finite() && percent >= 0.0 => GrowthMeasure::Share(percent / 100.0),
            _ => return Err(usage()),
        },
        None => GrowthMeasure::Bytes(size(most).map_err(|_| usage())?),
    };
    Ok(GrowthLimit { reserved, most })
}

fn source(path: PathBuf) -> Source {
    if path.as_os_str() == "-" { Source::Stdin } else { Source::File(path) }
}

impl From<GivenArgs> for Given {
    fn from(args: GivenArgs) -> Given {
        Given {
            batch_size: args.batch_size,
            accumulation: args.accumulation,
            sequence_length: args.seq_len,
            image_size: args.image_size,
            workers: args.workers,
            prefetch: args.prefetch,
            processes: args.processes,
            sample_bytes: args.sample_bytes,
            samples: args.samples,
            cache_bytes: args.cache,
            host_bytes: args.host_memory,
            parameters: args.params,
            optimizer: args.optimizer,
            precision: args.precision.map(|precision| match precision {
                PrecisionArg::Fp32 => Precision::Fp32,
                PrecisionArg::Fp16 => Precision::Fp16,
                PrecisionArg::Bf16 => Precision::Bf16,
                PrecisionArg::Mixed => Precision::Mixed,
                PrecisionArg::Fp8 => Precision::Fp8,
                PrecisionArg::Int8 => Precision::Int8,
                PrecisionArg::Int4 => Precision::Int4,
            }),
        }
    }
}

impl From<RulesArgs> for RulesOptions {
    fn from(args: RulesArgs) -> RulesOptions {
        RulesOptions {
            id: args.id,
            subject: args.only,
            format: if args.json { RulesFormat::Json } else { args.format },
            output: args.output.plain(false),
        }
    }
}

impl OutputArgs {
    fn plain(self, verbose: bool) -> Output {
        self.shared_if(verbose, false)
    }

    /// `shared` is said of a form that is made to be shown to others.
    fn shared_if(self, verbose: bool, shared: bool) -> Output {
        let locale = locale();
        Output {
            style: Style {
                lang: match self.lang {
                    LangArg::En => Lang::En,
                    LangArg::Zh => Lang::Zh,
                    LangArg::Auto => locale.as_deref().map(Lang::from_locale).unwrap_or_default(),
                },
                width: self.width.map_or_else(terminal_width, usize::from),
                height: None,
                verbose,
                unicode: locale.as_deref().is_none_or(wording::locale_shows_unicode),
                redact: match self.redact {
                    When::Auto => shared,
                    When::Always => true,
                    When::Never => false,
                },
                asked: Asked::by_environment(),
            },
            color: match self.color {
                When::Auto => anstream::ColorChoice::Auto,
                When::Always => anstream::ColorChoice::Always,
                When::Never => anstream::ColorChoice::Never,
            },
        }
    }
}

impl ScreenArgs {
    fn plain(self, verbose: bool) -> Output {
        self.shared_if(verbose, false)
    }

    fn shared_if(self, verbose: bool, shared: bool) -> Output {
        let mut output = self.output.shared_if(verbose, shared);
        output.style.height = self.height.map(usize::from).or_else(terminal_height);
        output
    }
}

/// The locale as POSIX orders its variables, else what the system's settings say.
fn locale() -> Option<String> {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .or_else(sys_locale::get_locale)
}

/// Columns of the terminal on standard output, 80 where it is none. Lines beyond 120 columns are hard to read.
fn terminal_width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(80, |(width, _)| usize::from(width.0).clamp(40, 120))
}

/// Lines of the terminal on standard output, less the one for the prompt; `None` where it is none.
fn terminal_height() -> Option<usize> {
    let (_, height) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(usize::from(height.0).saturating_sub(1).max(10)).filter(|_| height.0 > 1)
}

/// Why a value of the command line was refused.
#[derive(Debug, PartialEq)]
struct Refused(Text);

impl From<Text> for Refused {
    fn from(text: Text) -> Refused {
        Refused(text)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.en)
    }
}

impl std::error::Error for Refused {}

fn count(text: &str) -> Result<u64, Refused> {
    match text.parse::<u64>() {
        Ok(0) => Err(text!(en: "must be at least 1", zh: "至少为 1").into()),
        Ok(n) => Ok(n),
        Err(_) => Err(text!(en: "not a whole number", zh: "不是整数").into()),
    }
}

/// A size; a bare number is bytes.
fn bytes(text: &str) -> Result<u64, Refused> {
    let parsed = units::parse(text, Base::Binary).map(|size| size.bytes);
    parsed.ok_or_else(|| {
        text!(en: "not a size; write 512MiB or 133.59MB", zh: "不是大小；请写 512MiB 或 133.59MB").into()
    })
}

/// A size of a device or a part of it, of which a few bytes are none: somebody forgot the unit.
fn size(text: &str) -> Result<u64, Refused> {
    let parsed = bytes(text)?;
    let bare = text.trim().ends_with(|last: char| last.is_ascii_digit() || last == '.');
    if bare && (1..1 << 20).contains(&parsed) {
        let number = text.trim();
        return Err(text!(
            en: "has no unit: write {number}GiB or {number}MiB",
            zh: "缺少单位：请写 {number}GiB 或 {number}MiB"
        )
        .into());
    }
    Ok(parsed)
}

fn process(text: &str) -> Result<Process, Refused> {
    let usage = || text!(en: "write PID:SIZE, such as 4242:3GiB", zh: "请写 PID:SIZE，例如 4242:3GiB");
    let (pid, bytes) = text.split_once(':').ok_or_else(usage)?;
    let pid = pid.trim().parse().map_err(|_| text!(en: "not a process id", zh: "不是进程号"))?;
    Ok(Process { pid, bytes: size(bytes)? })
}

fn listing(text: &str) -> Result<Listing, Refused> {
    match text {
        "self" => Ok(Listing::Itself),
        "none" => Ok(Listing::Absent),
        "missing" => Ok(Listing::NoLibrary),
        pid => pid.parse().map(Listing::As).map_err(|_| {
            text!(en: "write self, none, missing or a process id", zh: "请写 self、none、missing 或进程号").into()
        }),
    }
}

fn torch(text: &str) -> Result<Version, Refused> {
    let usage = || text!(en: "not a version; write 2.11 or 2.11.0", zh: "不是版本号；请写 2.11 或 2.11.0");
    let version = Version::parse(text).ok_or_else(usage)?;
    if version < Version::OLDEST || version.from(Version::NEWEST.major, Version::NEWEST.minor + 1) {
        let [oldest, newest] =
            [Version::OLDEST, Version::NEWEST].map(|version| format!("{}.{}", version.major, version.minor));
        return Err(text!(en: "known are {oldest} to {newest}", zh: "已知版本为 {oldest} 到 {newest}").into());
    }
    Ok(version)
}

fn share(text: &str) -> Result<f64, Refused> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| no_share("1"))
}

fn no_share(most: &str) -> Refused {
    Refused(text!(en: "not a number from 0 to {most}", zh: "不是 0 到 {most} 之间的数"))
}

fn none_of(known: &[&str]) -> Refused {
    Refused(Text::new(format!("not one of {}", known.join(", ")), format!("可选：{}", known.join("、"))))
}

fn parameters(text: &str) -> Result<f64, Refused> {
    let text = text.trim();
    let (number, factor) = match text.char_indices().last() {
        Some((i, 'k' | 'K')) => (&text[..i], 1e3),
        Some((i, 'm' | 'M')) => (&text[..i], 1e6),
        Some((i, 'b' | 'B' | 'g' | 'G')) => (&text[..i], 1e9),
        Some((i, 't' | 'T')) => (&text[..i], 1e12),
        _ => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(n) if n.is_finite() && n > 0.0 => Ok(n * factor),
        _ => Err(text!(en: "not a count of parameters; write 350M or 7B", zh: "不是参数量；请写 350M 或 7B").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sentence that is broken by hand is broken again, and raggedly, on a terminal that is narrower.
    #[test]
    fn the_terminal_breaks_the_sentences_of_the_help() {
        let mut commands = vec![command(Lang::En), command(Lang::Zh)];
        while let Some(command) = commands.pop() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = help.lines().collect();
            let whole = |line: &str| line.ends_with(['.', ':', '。', '：']) || line.starts_with(' ') || line.is_empty();
            let broken = lines.iter().zip(lines.iter().skip(1)).find(|(line, next)| !whole(line) && !next.is_empty());
            assert_eq!(broken, None, "{}", command.get_name());
            commands.extend(command.get_subcommands().cloned());
        }
    }

    #[test]
    fn the_grammar_is_sound() {
        [Lang::En, Lang::Zh].into_iter().for_each(|lang| command(lang).debug_assert());
    }

    #[test]
    fn counts_and_sizes_of_the_command_line() {
        assert_eq!(parameters("7B"), Ok(7e9));
        assert_eq!(parameters("350 M"), Ok(3.5e8));
        assert!(parameters("-1B").is_err() && parameters("B").is_err() && parameters("").is_err());
        assert_eq!(size("256GB"), Ok(256 << 30));
        assert!(size("much").is_err());
        assert!(count("0").is_err());
    }

    #[test]
    fn no_file_means_standard_input_and_so_does_a_dash() {
        for line in [vec!["oomdoc", "explain"], vec!["oomdoc", "explain", "-"]] {
            let Command::Explain(args) = Cli::parse_from(line).command else { panic!("explain") };
            assert_eq!(ExplainOptions::from(*args).sources, [Source::Stdin]);
        }
    }
}
