//! What a program does when its memory runs out, as far as that decides which advice is of use.

use super::case::Case;
use crate::dialect::Sign;
use crate::domain::closed_set;
use crate::domain::program::{Kind, Language, PytorchAllocator};
use crate::domain::{Program, Trainer};
use crate::incident::context::Clue;

closed_set! {
    /// A kind of work.
    pub enum Work {
        /// A model is trained.
        Training = "training",
        /// A model answers, in a program of its user's.
        Inference = "inference",
        /// An engine serves a model to others.
        Serving = "serving",
        /// Another program of a device: a renderer, a simulation, data frames, boosted trees.
        Compute = "compute",
        /// A Python program works on data in the machine's memory.
        Data = "data",
        /// A compiler or build.
        Build = "build",
        /// Any other program in the machine's memory: a database, a virtual machine, a service.
        Host = "host",
    }
}

/// Names of compilers, linkers and what starts them, as kernels and build tools print them.
const BUILDERS: &[&str] = &[
    "bazel", "c++", "cargo", "cc1", "cc1obj", "cc1plus", "cicc", "clang", "cmake", "collect2", "cudafe++", "f951",
    "g++", "gcc", "gmake", "gold", "javac", "ld", "ld.bfd", "ld.gold", "ld.lld", "link", "lld", "lto1", "make", "mold",
    "ninja", "nvcc", "ptxas", "rustc", "swiftc", "tsc", "webpack",
];

/// Names under which Python programs appear, beginnings included.
const PYTHON: &[&str] = &["python", "pypy", "pt_main_thread", "torchrun", "jupyter", "ipython", "ipykernel", "conda"];

/// True for the name of a process that runs Python.
fn interpreted(name: &str) -> bool {
    PYTHON.iter().any(|python| name.starts_with(python))
}

/// The kinds of work that the incident may be; never empty. Where nothing tells, all that its memory allows.
pub fn of(case: &Case) -> Vec<Work> {
    // An engine that is only built serves nobody yet.
    if case.engine().is_some() && !case.clue(Clue::BuildsEngine) {
        // What draws by ggml draws for whoever started it.
        let draws = case.clue(Clue::StableDiffusionCpp);
        return if draws { vec![Work::Serving, Work::Inference] } else { vec![Work::Serving] };
    }
    if case.on_host() { on_host(case) } else { on_device(case) }
}

fn on_device(case: &Case) -> Vec<Work> {
    let program = case.program();
    if case.works_without_a_model() {
        return vec![Work::Compute];
    }
    if case.clue(Clue::BuildsEngine) {
        return vec![Work::Build];
    }
    if case.trainer().is_some() || program.pytorch_allocator() == PytorchAllocator::Yes {
        return model(case);
    }
    match program.kind() {
        Kind::TrainingFramework => model(case),
        Kind::Library if case.training() => vec![Work::Training],
        Kind::Application | Kind::QuantumSimulator | Kind::HostProgram => vec![Work::Compute],
        Kind::Library if program.pytorch_allocator() == PytorchAllocator::No => vec![Work::Compute],
        _ => model(case).into_iter().chain([Work::Compute]).collect(),
    }
}

/// Training or inference, or either.
fn model(case: &Case) -> Vec<Work> {
    let only_infers = case.program().only_infers() || case.trainer().is_some_and(Trainer::only_draws);
    if only_infers {
        return vec![Work::Inference];
    }
    if case.training() {
        // Validation in training is inference as far as memory goes.
        return if case.evaluating() { vec![Work::Training, Work::Inference] } else { vec![Work::Training] };
    }
    if case.inference() { vec![Work::Inference] } else { vec![Work::Training, Work::Inference] }
}

fn on_host(case: &Case) -> Vec<Work> {
    let loader = case.sign(Sign::DataLoaderWorker) || case.context.workers.is_known() || case.trainer().is_some();
    if case.sign(Sign::CompilerKilled) || case.context.builds() && case.sign(Sign::KilledWithoutProof) {
        return vec![Work::Build];
    }
    // A service of the system itself reads nobody's data.
    let facts = &case.incident.event.facts;
    let of_the_system = |name: &String| name.rsplit('/').next().is_some_and(|unit| unit.starts_with("systemd-"));
    if [facts.cgroup.get(), facts.process_name.get()].into_iter().flatten().any(of_the_system) {
        return vec![Work::Host];
    }
    let program = case.program();
    let victim = case.incident.event.facts.process_name.get().map(|name| name.to_ascii_lowercase());
    if !program.names_itself()
        && let Some(name) = victim
    {
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        if interpreted(name) {
            return python(case, loader);
        }
        if BUILDERS.contains(&name) {
            return vec![Work::Build];
        }
        return match case.victim() {
            Some(program) if program.names_itself() => of_program(case, program, loader),
            // A worker has the name that its author gave it.
            _ if loader => python(case, loader),
            _ => vec![Work::Host],
        };
    }
    of_program(case, program, loader)
}

/// True where the process that was killed has the name of an installed command, whose user sets options and writes no
/// lines. Interpreters, and what PyTorch, Ray and their like name their processes, run code of the user's own.
pub(super) fn runs_under_its_own_name(case: &Case) -> bool {
    let Some(name) = case.incident.event.facts.process_name.get() else { return false };
    let name = name.to_ascii_lowercase();
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let named_by_its_script = name.contains("::") || name.contains(".py") || name.contains("(") || name == "sh";
    let program = case.program();
    // Ray and Dask name a worker after the task that it runs.
    let cluster = matches!(program, Program::Ray | Program::Dask);
    !interpreted(name)
        && !name.starts_with("pt_data")
        && !named_by_its_script
        && !cluster
        && case.context.frames.is_empty()
}

/// By the row of the program that ran out of the machine's memory.
fn of_program(case: &Case, program: Program, loader: bool) -> Vec<Work> {
    let speaks_python = program.languages().contains(&Language::Python);
    match program.kind() {
        Kind::TrainingFramework => python(case, loader),
        Kind::ServingEngine => vec![Work::Serving],
        _ if program == Program::Gcc => vec![Work::Build],
        Kind::Application if program.pytorch_allocator() != PytorchAllocator::No => python(case, loader),
        Kind::HostProgram if program.pytorch_allocator() == PytorchAllocator::Sometimes => python(case, loader),
        Kind::HostProgram if speaks_python && !loader => vec![Work::Data],
        Kind::HostProgram | Kind::Library | Kind::Runtime if speaks_python => python(case, loader),
        Kind::HostProgram | Kind::Runtime | Kind::Application | Kind::QuantumSimulator => vec![Work::Host],
        _ if loader || runs_python(case) => python(case, loader),
        _ => vec![Work::Training, Work::Inference, Work::Data, Work::Build, Work::Host],
    }
}

/// True where the log shows a Python script, by its command or a traceback.
pub(super) fn runs_python(case: &Case) -> bool {
    let context = case.context;
    let script = |text: &String| text.contains("python") || text.contains(".py");
    let victim = case.incident.event.facts.process_name.get();
    victim.is_some_and(|name| interpreted(&name.to_ascii_lowercase()))
        || context.command.get().is_some_and(script)
        || context.program.get().is_some_and(script)
        // What TorchScript runs, a program of C++ may have loaded.
        || context.frames.iter().any(|frame| !frame.path().contains("__torch__"))
}

/// A Python program in the machine's memory: loaders are training's, the rest may be anything that Python does.
fn python(case: &Case, loader: bool) -> Vec<Work> {
    if loader || case.training() {
        return vec![Work::Training];
    }
    if case.program().only_infers() || case.diffusion() || case.loading() {
        return vec![Work::Inference, Work::Training];
    }
    vec![Work::Training, Work::Inference, Work::Data]
}
