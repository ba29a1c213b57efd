//! An incident as fixes look at it: what is missing, what holds it, which program's knobs count, and how likely each
//! cause is.

use super::cures::Table;
use super::need::Need;
use super::tools::{self, Tool};
use super::work::{self, Work};
use super::{Knob, Shell};
use crate::account::Ledger;
use crate::cause::mechanism::pool;
use crate::cause::nature::{self, JobKind};
use crate::cause::{CauseId, Finding, reading};
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::program::{Kind, Language, PytorchAllocator};
use crate::domain::trainer::Purpose;
use crate::domain::{Accelerator, Number, Program, System, Target};
use crate::incident::context::{Clue, Context, Frame, Phase, Precision, Subject, Trainer};
use crate::incident::{Incident, Recording, release};
use crate::snapshot::holders::{Category, Certainty};
use crate::text::Text;
use crate::units::{Bytes, Interval, about, signed};
use std::cell::OnceCell;

/// Share of the probability that no cause claimed which goes to the plain shortage of the resource.
const RESIDUAL: f64 = 0.8;

/// Trainers whose lines are shown beside PyTorch's own where the log leaves open which one runs.
const SUPPOSED: [Target; 4] = [Target::HfTrainer, Target::Lightning, Target::DeepSpeed, Target::Accelerate];

/// What nearly every fix asks of the same case, worked out at the first question: of the work on a log that is pasted
/// it was a quarter.
#[derive(Default)]
pub(super) struct Asked {
    trainer: OnceCell<Option<Trainer>>,
    engine_within: OnceCell<Option<Program>>,
    training: OnceCell<bool>,
    loading: OnceCell<bool>,
    pub(super) of_a_tool: OnceCell<bool>,
}

/// A borrowed view of one incident and its findings with the derived quantities that several fixes need.
pub struct Case<'a> {
    pub incident: &'a Incident,
    pub context: &'a Context,
    pub ledger: &'a Ledger,
    findings: &'a [Finding],
    works: Vec<Work>,
    pub(super) subject: Option<Subject>,
    /// The well-known program that runs, where one shows.
    pub(super) tool: Option<&'static Tool>,
    /// Asked for the parts of a combination, none of which need be enough alone.
    composing: bool,
    pub(super) asked: Asked,
}

impl<'a> Case<'a> {
    pub fn new(incident: &'a Incident, findings: &'a [Finding]) -> Case<'a> {
        let context = &incident.context;
        let ledger = &incident.ledger;
        let tool = tools::of(incident);
        let (works, asked) = (Vec::new(), Asked::default());
        let mut case =
            Case { incident, context, ledger, findings, works, subject: None, tool, composing: false, asked };
        case.subject = case.look_for_subject();
        case.works = work::of(&case);
        // What was asked before the case was whole may have another answer.
        case.asked = Asked::default();
        case
    }

    /// The same case, asked for parts of a combination.
    pub fn for_combinations(&self) -> Case<'a> {
        let Case { incident, context, ledger, findings, subject, tool, .. } = *self;
        let (works, asked) = (self.works.clone(), Asked::default());
        Case { incident, context, ledger, findings, works, subject, tool, composing: true, asked }
    }

    pub fn composing(&self) -> bool {
        self.composing
    }

    /// The kinds of work that it may be.
    pub fn works(&self) -> &[Work] {
        &self.works
    }

    pub fn resource(&self) -> Resource {
        self.incident.event.resource
    }

    pub fn on_device(&self) -> bool {
        self.resource().on_device()
    }

    pub fn on_gpu(&self) -> bool {
        self.resource() == Resource::Gpu
    }

    pub fn on_host(&self) -> bool {
        self.resource().on_host()
    }

    pub fn program(&self) -> Program {
        self.incident.event.program
    }

    /// The memory snapshot of this very failure, where there is one.
    pub fn proof(&self) -> Option<&'a Recording> {
        self.incident.proof()
    }

    pub fn sign(&self, sign: Sign) -> bool {
        self.incident.event.has(sign)
    }

    pub fn clue(&self, clue: Clue) -> bool {
        self.context.has(clue)
    }

    pub fn phase(&self) -> Option<Phase> {
        self.context.phase.value()
    }

    /// The trainer that the log shows, or whose arguments the command gives.
    pub fn trainer(&self) -> Option<Trainer> {
        *self.asked.trainer.get_or_init(|| self.look_for_trainer())
    }

    fn look_for_trainer(&self) -> Option<Trainer> {
        // transformers' examples without its Trainer have that option too.
        let by_command = || {
            let gives =
                |command: &String| command.contains("--per_device_train_batch_size") && !command.contains("no_trainer");
            self.context.command.get().is_some_and(gives) && !self.own_loop("transformers/trainer")
        };
        self.trainer_seen().or_else(|| by_command().then_some(Trainer::HfTrainer))
    }

    /// True where FSDP wraps the model: each rank holds a part of it.
    pub(super) fn by_fsdp(&self) -> bool {
        self.context.fsdp.value() == Some(true)
    }

    /// ZeRO's stage, 0 to 3: FSDP divides what the third does.
    pub(super) fn sharding_stage(&self) -> u8 {
        self.context.zero_stage.value().unwrap_or(if self.by_fsdp() { 3 } else { 0 })
    }

    /// Probability of a cause: its finding's confidence, and for the resource's plain shortage a share of what no cause
    /// claims.
    pub fn confidence(&self, cause: CauseId) -> f64 {
        let found: f64 =
            self.findings.iter().filter(|finding| finding.cause.id == cause).map(|finding| finding.confidence).sum();
        if cause != self.plain_shortage() {
            return found.clamp(0.0, 1.0);
        }
        let claimed: f64 = self.findings.iter().map(|finding| finding.confidence).sum();
        (found + (1.0 - claimed).max(0.0) * RESIDUAL).clamp(0.0, 1.0)
    }

    /// The cause that stands for "simply too much" of this resource.
    fn plain_shortage(&self) -> CauseId {
        match self.resource() {
            Resource::Gpu => CauseId::Capacity,
            Resource::Host | Resource::Cgroup => CauseId::HostMemory,
            Resource::Shm | Resource::CudaSharedMemory => CauseId::SharedMemory,
            Resource::KvCache => CauseId::KvCache,
        }
    }

    /// Σ P(cause) × P(cured | cause) over a fix's table, in 0 … 1.
    pub fn cures(&self, table: &Table) -> f64 {
        table.iter().map(|(cause, cured)| self.confidence(*cause) * cured).sum::<f64>().clamp(0.0, 1.0)
    }

    /// The account's value, or the printed figure where the account leaves it open and does not doubt it.
    fn figure(&self, settled: Option<Interval>, fact: Fact) -> Option<Interval> {
        let printed = || self.incident.event.facts.get(fact).filter(|_| self.ledger.trusts(fact));
        settled.or_else(|| printed().map(|figure| figure.interval()))
    }

    pub fn capacity(&self) -> Option<Interval> {
        self.figure(self.ledger.capacity, Fact::Capacity)
    }

    pub fn requested(&self) -> Option<Interval> {
        self.figure(self.ledger.requested, Fact::Requested)
    }

    pub fn free(&self) -> Option<Interval> {
        self.figure(self.ledger.free, Fact::Free)
    }

    pub fn allocated(&self) -> Option<Interval> {
        self.figure(self.ledger.allocated, Fact::Allocated)
    }

    pub fn cached(&self) -> Option<Interval> {
        self.figure(self.ledger.cached, Fact::ReservedUnallocated).map(|cached| cached.at_least_zero())
    }

    pub fn others(&self) -> Option<Interval> {
        self.ledger.others.map(|others| others.at_least_zero()).filter(|others| others.high > 0)
    }

    /// What was missing, lower bound to upper bound: at best all of the cache could have served, at worst none of it.
    /// The true peak may lie beyond the request that failed, so even the upper bound is one-sided.
    pub fn missing(&self) -> Option<Interval> {
        if let (Some(needed), Some(available)) =
            (self.incident.event.facts.get(Fact::Needed), self.incident.event.facts.get(Fact::Available))
        {
            return Some((needed.interval() - available.interval()).at_least_zero());
        }
        let requested = self.requested()?;
        let short = self.ledger.short_of_free.or_else(|| Some(requested - self.free()?))?.at_least_zero();
        let with_cache = self
            .ledger
            .short_of_free_and_cached
            .or_else(|| Some(short - self.cached()?))
            .unwrap_or(Interval::exactly(0))
            .at_least_zero();
        Some(Interval::between(with_cache.low, short.high.max(with_cache.high)))
    }

    /// Probability in 0 … 1 that freeing an amount somewhere in `range` covers what was missing, with a twentieth of
    /// what is in use as a margin for the unseen rest of the peak. 1 where the log does not tell what was missing.
    pub fn reach(&self, range: Interval) -> f64 {
        let Some(missing) = self.missing() else { return 1.0 };
        if range.high < missing.low || range.high <= 0 {
            return 0.0;
        }
        let margin = self.allocated().map_or(0, |allocated| allocated.middle() / 20);
        let enough = (missing.high + margin).max(1);
        if range.low >= enough {
            return 1.0;
        }
        let middle = (range.low.max(0) + range.high) as f64 / 2.0;
        (middle / enough as f64).clamp(0.05, 1.0)
    }

    /// True when a log shows training: a trainer, a loss, a backward pass, an optimizer.
    pub fn training(&self) -> bool {
        *self.asked.training.get_or_init(|| self.looks_like_training())
    }

    fn looks_like_training(&self) -> bool {
        if self.engine().is_some() {
            return false;
        }
        // Gradients and optimizer states in memory are training, whatever the log says.
        if self.proof().is_some_and(|recording| {
            recording.holds(Category::Optimizer)
                || recording
                    .holders
                    .iter()
                    .any(|held| held.category == Category::Gradients && held.certainty > Certainty::Guess)
        }) {
            return true;
        }
        if matches!(self.phase(), Some(Phase::Inference | Phase::Decode | Phase::Warmup)) || self.only_asks() {
            return false;
        }
        match nature::job_kind(self.incident) {
            Some(JobKind::Training) => true,
            // What a compiler plans may be a step of training as well.
            Some(JobKind::Compiled) => nature::trains(self.incident),
            // A diffusion model is trained where gradients or an optimizer show.
            Some(JobKind::Inference) => {
                self.diffusion()
                    && (self.named_for_training()
                        || matches!(self.phase(), Some(Phase::Backward | Phase::OptimizerStep | Phase::Loss))
                        || self.clue(Clue::OptimizerState)
                        || self.context.optimizer.is_known())
            }
            _ => false,
        }
    }

    /// True where the script that runs is one that trains, by its name.
    pub(super) fn named_for_training(&self) -> bool {
        let script = |text: &str| {
            text.split_whitespace().any(|word| {
                let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
                name == "--do_train"
                    || name.ends_with(".py") && (name.starts_with("train") || name.contains("finetune"))
            })
        };
        let told = [self.context.program.get(), self.context.command.get()];
        told.into_iter().flatten().any(|text| script(text))
            || self.context.frames.first().is_some_and(|first| script(&first.file))
    }

    /// True when the log shows that it is not training, or shows nothing that looks like it.
    pub fn inference(&self) -> bool {
        self.engine().is_some()
            || matches!(self.phase(), Some(Phase::Inference | Phase::Decode | Phase::Warmup))
            || self.diffusion() && !self.training()
            || self.only_asks()
            || (self.clue(Clue::Predicts) || self.clue(Clue::Serves)) && !self.training()
    }

    pub fn evaluating(&self) -> bool {
        self.phase() == Some(Phase::Validation)
    }

    /// True while weights go to the device: no activation exists yet, so no batch matters.
    pub fn loading(&self) -> bool {
        *self.asked.loading.get_or_init(|| self.looks_like_loading())
    }

    fn looks_like_loading(&self) -> bool {
        if self.moves_data() {
            return false;
        }
        matches!(self.phase(), Some(Phase::Load | Phase::Resume))
            || (self.phase().is_none() && (self.clue(Clue::LoadsModel) || self.places_a_model()))
            || matches!(self.phase(), None | Some(Phase::Train | Phase::Forward)) && self.builds_a_model()
            || self.says_loading()
            || self.patches_weights()
            || self.sign(Sign::Initializer)
            // A program that is no engine says so of its weights.
            || self.on_gpu() && self.engine().is_none() && self.sign(Sign::EngineStartup)
    }

    /// True where the failing line makes a model and moves it to the device: `net = Net().cuda()`.
    fn places_a_model(&self) -> bool {
        self.placed().is_some()
    }

    /// The class or loader that makes the model which the failing line moves to the device.
    pub(super) fn placed(&self) -> Option<&'a str> {
        let code = self.context.user_frame().and_then(|frame| frame.code.as_deref()).unwrap_or_default();
        let moved = code.find(").cuda(").or_else(|| code.find(").to(")).and_then(|at| code.get(..at));
        // What is called before it is moved: a class, by its capital letter, or a loader.
        let called = moved.and_then(|made| made.split_once('(')).map(|(called, _)| called);
        let name = called.and_then(|called| called.rsplit(['.', ' ', '=']).next()).unwrap_or_default();
        let makes = name.starts_with(|c: char| c.is_ascii_uppercase()) || name == "from_pretrained";
        makes.then_some(name)
    }

    /// True where the script is named for pre-training.
    pub fn pretrains(&self) -> bool {
        let named = |text: &str| {
            let text = text.to_ascii_lowercase();
            text.contains("pretrain.py") || text.contains("pretrain_") || text.contains("pre_train")
        };
        let script = [self.context.program.get(), self.context.command.get()];
        script.into_iter().flatten().any(|text| named(text))
            || self.context.frames.iter().any(|frame| frame.is_user_code() && named(&frame.file))
    }

    /// True where the update of an averaged copy of the weights failed: the pass before it is over.
    pub fn averaging(&self) -> bool {
        let named = |frame: &Frame| {
            let function = frame.function.to_ascii_lowercase();
            function.split('_').any(|word| word == "ema") || function.contains("moving_average")
        };
        self.context.user_frame().is_some_and(named)
    }

    /// True for a simulator of quantum states, whose one array nothing makes smaller but fewer qubits.
    pub fn is_state_vector(&self) -> bool {
        self.program().kind() == Kind::QuantumSimulator
    }

    pub fn diffusion(&self) -> bool {
        self.purpose() == Some(Purpose::Diffusion)
    }

    /// What the framework around the loop is used for, where one is known.
    fn purpose(&self) -> Option<Purpose> {
        self.trainer().map(Trainer::purpose)
    }

    /// True when the memory in question is PyTorch's caching allocator on a GPU, so that its options count.
    pub fn caching_allocator(&self) -> bool {
        self.on_gpu()
            && !self.sign(Sign::Mps)
            && !self.sign(Sign::Xpu)
            && !self.sign(Sign::Npu)
            && !self.sign(Sign::AsyncBackend)
            && !self.sign(Sign::ContextCreation)
            && match self.program().pytorch_allocator() {
                PytorchAllocator::Yes if !self.program().is_engine() => true,
                // An engine says so only by the figures of PyTorch's message that it quotes.
                PytorchAllocator::Yes => self.allocated().is_some(),
                PytorchAllocator::Sometimes => self.program().is_engine() && self.allocated().is_some(),
                PytorchAllocator::No => false,
            }
    }

    /// True where the program is PyTorch's, and its user writes the lines that allocate.
    pub fn pytorch(&self) -> bool {
        self.program().pytorch_allocator() == PytorchAllocator::Yes && !self.program().is_engine()
    }

    /// True where PyTorch may be under it: the program is built on it, or could be and something in the log speaks of
    /// it. Whoever killed a process on the host leaves open what it ran, unless the process has the name of another
    /// program.
    pub fn may_be_pytorch(&self) -> bool {
        match self.program().pytorch_allocator() {
            PytorchAllocator::Yes => true,
            PytorchAllocator::No => false,
            PytorchAllocator::Sometimes => {
                let named = self.victim();
                let another = named.is_some_and(|program| {
                    program.kind() != Kind::Application && program.pytorch_allocator() == PytorchAllocator::No
                });
                let spoken = self.trainer().is_some()
                    || self.context.torch_version.is_known()
                    || self.context.alloc_conf.is_known()
                    || self.caching_allocator();
                spoken || self.on_host() && !another
            }
        }
    }

    /// The family of the device.
    pub fn accelerator(&self) -> Accelerator {
        self.incident.event.accelerator()
    }

    /// The inference engine whose memory it is.
    pub fn engine(&self) -> Option<Program> {
        self.engine_around().or_else(|| self.engine_within())
    }

    /// The engine that is the program itself.
    pub fn engine_around(&self) -> Option<Program> {
        let around = self.trainer().and_then(Trainer::engine);
        around.or_else(|| Some(self.program()).filter(Program::is_engine))
    }

    /// The engine in whose own code it failed: a trainer that samples keeps one in its process.
    pub fn engine_within(&self) -> Option<Program> {
        *self.asked.engine_within.get_or_init(|| self.look_for_engine_within())
    }

    fn look_for_engine_within(&self) -> Option<Program> {
        let file = self.context.frames.last()?.path();
        let within = |program: &&Program| program.markers().iter().any(|marker| file.contains(marker));
        // It borrows layers of vLLM's.
        let of_sglang = |frame: &Frame| frame.path().contains("/sglang/srt/");
        if self.context.frames.iter().any(of_sglang) {
            return Some(Program::Sglang);
        }
        Program::LISTED.iter().filter(|program| program.is_engine()).find(within).copied()
    }

    /// True where a program refused to load a model because the machine's memory would not hold it.
    pub fn model_beyond_ram(&self) -> bool {
        self.sign(Sign::ModelBeyondRam)
    }

    pub fn windows(&self) -> bool {
        self.incident.on_windows()
    }

    /// True where a device refused what it had free, on Windows or what looks like it, and no limit is printed: there
    /// device memory must be backed by RAM or page file, which ran short.
    pub(super) fn short_of_commit(&self) -> bool {
        let windows = self.windows() || reading::looks_like_wddm(self.incident);
        let refused = reading::refused_although_free(self.incident) && !reading::limited(self.incident);
        windows && self.on_gpu() && refused
    }

    /// The number of the batch job, where the log tells it.
    pub fn job(&self) -> String {
        self.incident.job().map_or_else(|| "JOB".to_string(), |job| job.to_string())
    }

    pub fn macos(&self) -> bool {
        self.incident.system() == System::MacOs
    }

    /// True on FreeBSD and its kin, which have few of Linux' tools and files.
    pub fn bsd(&self) -> bool {
        self.incident.system() == System::Bsd
    }

    pub fn precision(&self) -> Option<Precision> {
        self.context.precision.value()
    }

    /// Version of torch as (major, minor): the one printed, else the newest that the log allows.
    pub fn torch_version(&self) -> Option<(u16, u16)> {
        release::torch(self.incident)
    }

    /// True where one sample is worked on at a time, under whatever name the setting has.
    pub fn one_at_a_time(&self) -> bool {
        match self.context.batch_size.value() {
            Some(batch) => batch <= 1,
            None => match self.context.other_batch.get() {
                Some((_, count)) => *count <= 1,
                _ if self.draws_one() => true,
                _ if self.clue(Clue::OneSample) && !self.training() => true,
                // Layers put the samples first: a tensor of several dimensions whose first is 1 is of one sample.
                None => self.incident.event.facts.number(Number::FirstDimension).is_some_and(|first| first <= 1.0),
            },
        }
    }

    /// True where the command asks for one sample.
    fn draws_one(&self) -> bool {
        self.sets_to_one(&["--n_samples", "--n-samples", "--num_samples", "--batch-size", "--batch_size"])
    }

    /// True where the command gives one of some options as 1, behind a blank or an equals sign.
    pub(super) fn sets_to_one(&self, options: &[&str]) -> bool {
        let Some(command) = self.context.command.get() else { return false };
        let words: Vec<&str> = command.split_whitespace().collect();
        words.windows(2).any(|pair| options.contains(&pair[0]) && pair[1] == "1")
            || words
                .iter()
                .any(|word| word.split_once('=').is_some_and(|(name, one)| options.contains(&name) && one == "1"))
    }

    /// The program that was killed, by the name that whoever reports the kill gives it.
    pub fn victim(&self) -> Option<Program> {
        let name = self.incident.event.facts.process_name.get()?;
        Program::named(name.rsplit(['/', '\\']).next().unwrap_or(name))
    }

    /// The targets whose knobs this incident's user can turn, nearest first.
    pub fn targets(&self) -> Vec<Target> {
        let program = self.program();
        let mut targets: Vec<Target> = self.trainer().map_or(Vec::new(), |trainer| trainer.targets().to_vec());
        // Their launchers start any loop: the arguments of the Trainer count only where it is seen.
        if matches!(self.trainer(), Some(Trainer::DeepSpeed | Trainer::Accelerate)) {
            targets.retain(|target| *target != Target::HfTrainer);
        }
        // A pipeline or trainer on JAX takes none of PyTorch's calls and arguments.
        if program == Program::Jax {
            targets.retain(|target| !matches!(target, Target::Diffusers | Target::HfTrainer | Target::Pytorch));
        }
        if self.context.origin.spark_rapids {
            targets.push(Target::Spark);
        }
        // The process has another framework's pool beside its own memory.
        if self.context.pools.iter().any(|pool| pool.of_tensorflow) {
            targets.push(Target::TensorFlow);
        }
        if self.fastai_before_the_first() {
            targets.retain(|target| *target != Target::Fastai);
        }
        if program.kind() == Kind::Scheduler {
            // Its limit is the one that was hit.
            targets.splice(0..0, program.targets().iter().copied());
        } else {
            targets.extend(program.targets());
        }
        if !program.names_itself()
            && let Some(victim) = self.victim()
        {
            targets.splice(0..0, victim.targets().iter().copied());
        }
        if self.windows() {
            targets.push(Target::Windows);
        }
        targets.push(Target::Shell);
        if self.context.origin.spark_rapids {
            targets.retain(|target| !matches!(target, Target::Rapids | Target::DaskCuda));
        }
        targets.retain(|target| self.allows(*target));
        // Where nothing tells who set the limit, all of them are shown.
        let last = [Target::Docker, Target::Kubernetes, Target::Slurm, Target::Linux];
        targets.extend(last.into_iter().filter(|set| self.allows(*set)));
        targets
    }

    /// The scheduler or container runtime that holds the job to its limits, where the messages or the control group's
    /// path name one.
    pub fn warden(&self) -> Option<Program> {
        let event = &self.incident.event;
        let named = |event: &Event| event.program.kind() == Kind::Scheduler;
        let reporter = std::iter::once(event).chain(&self.incident.followers).find(|event| named(event));
        let paths: [(&str, Program); 7] = [
            ("slurm", Program::Slurm),
            ("kubepods", Program::Kubernetes),
            ("docker", Program::Docker),
            ("libpod", Program::Podman),
            ("htcondor", Program::HtCondor),
            (".service", Program::Systemd),
            ("user.slice", Program::Systemd),
        ];
        let path = event.facts.cgroup.get().map(|path| path.to_ascii_lowercase()).unwrap_or_default();
        let by_path = || paths.iter().find(|(part, _)| path.contains(part)).map(|(_, program)| *program);
        // Only Slurm counts the kills of a step.
        let counted = || event.facts.numbers.contains_key(&Number::OomEvents).then_some(Program::Slurm);
        reporter.map(|event| event.program).or_else(by_path).or_else(counted)
    }

    /// False for the settings of another scheduler or runtime than the one that holds the job to its limits.
    fn allows(&self, target: Target) -> bool {
        let systems =
            [Target::Shell, Target::Linux, Target::Windows, Target::Docker, Target::Kubernetes, Target::Slurm];
        if self.incident.on_a_board() && systems.contains(&target) {
            return false;
        }
        let theirs = [Target::Docker, Target::Kubernetes, Target::Slurm];
        if !theirs.contains(&target) {
            return true;
        }
        if self.context.origin.nextflow {
            return false;
        }
        match self.warden() {
            Some(warden) => warden.targets().contains(&target),
            // A card runs out under any of them, the machine itself outside of all.
            None => self.resource() != Resource::Host,
        }
    }

    /// Sorts knobs so that those of this incident's programs come first, and drops those of programs that the log rules
    /// out. A message of PyTorch alone leaves open which trainer ran; one of CUDA or the operating system, which
    /// framework. At most five remain; none where the fix has no knob for what runs here.
    pub fn order(&self, mut knobs: Vec<Knob>) -> Vec<Knob> {
        let mut targets = self.targets();
        let program = self.program();
        // Where any program may have been killed, nothing speaks for one in Python.
        let python = self.works.iter().any(|work| matches!(work, Work::Training | Work::Inference | Work::Data))
            && !self.works.contains(&Work::Host);
        let interpreter = program.kind() == Kind::Runtime && program.languages().contains(&Language::Python);
        if self.trainer().is_none() && self.engine().is_none() {
            if program != Program::Jax && self.pytorch()
                || python && (!program.names_itself() || interpreter) && self.may_be_pytorch()
            {
                targets.extend([Target::Python, Target::Numpy, Target::Pytorch]);
                // What only trains says nothing to a program that answers, or whose traceback shows no training.
                let shown = self.training() || self.context.frames.is_empty();
                if self.works.contains(&Work::Training) && shown {
                    targets.extend([Target::HfTrainer, Target::Lightning, Target::DeepSpeed, Target::Accelerate]);
                }
            } else if interpreter {
                targets.extend([Target::Python, Target::Numpy]);
            } else if program == Program::Paddle && self.resource() == Resource::Shm {
                targets.push(Target::Python);
            }
        }
        // What any program understands comes last: a knob of its own is better.
        targets.push(Target::Program);
        let place = |knob: &Knob| targets.iter().position(|target| *target == knob.target);
        knobs.retain(|knob| place(knob).is_some());
        let native = self.native_program();
        if native || !Need::OwnCode.met(self) {
            knobs.retain(|knob| {
                let of_python = matches!(knob.target, Target::Rapids | Target::Cupy | Target::DaskCuda);
                knob.is_a_setting() && !(native && of_python)
            });
        }
        knobs.sort_by_key(place);
        // A trainer that nothing shows is named behind a line for the framework itself, never alone.
        let seen = self.trainer().map_or(&[][..], Trainer::targets);
        let supposed = |knob: &Knob| SUPPOSED.contains(&knob.target) && !seen.contains(&knob.target);
        if knobs.first().is_some_and(supposed) {
            knobs.retain(|knob| !supposed(knob));
        }
        // Whose loop is run by settings turns this one: lines around a loop of the user's own have no place.
        let by_settings = |knob: &Knob| knob.target != Target::Pytorch && seen.contains(&knob.target);
        if self.driven() && knobs.first().is_some_and(by_settings) {
            knobs.retain(|knob| knob.target != Target::Pytorch);
        }
        if knobs.len() > 1 && knobs.iter().any(|knob| knob.target != Target::Program) {
            knobs.retain(|knob| knob.target != Target::Program);
        }
        // What is made of a command's arguments alone is nobody's code.
        if self.arguments_alone() {
            knobs.retain(|knob| knob.target != Target::Pytorch);
        }
        // Another trainer of TRL's has a configuration of another name, with other arguments.
        let of_trl = |frame: &Frame| {
            let file = frame.path();
            file.contains("/trl/trainer/") && !file.ends_with("/sft_trainer.py") && !file.ends_with("/utils.py")
        };
        if self.context.frames.iter().any(of_trl) {
            knobs.retain(|knob| !knob.line.en.starts_with("SFTConfig("));
        }
        if self.set_by_options() {
            knobs = knobs.into_iter().map(Knob::for_options).collect();
        }
        if self.is_a_guest() {
            knobs.retain(|knob| !knob.line.en.contains("sudo "));
        }
        if self.windows() {
            let shell = if self.context.origin.powershell { Shell::PowerShell } else { Shell::Cmd };
            knobs = knobs.into_iter().filter_map(|knob| knob.for_windows(shell)).collect();
        }
        if self.macos() || self.bsd() {
            knobs.retain(Knob::works_beyond_linux);
        }
        knobs.truncate(5);
        knobs
    }

    /// True for a device that NVIDIA's or AMD's tools list processes of.
    pub fn discrete_gpu(&self) -> bool {
        let metal = self.program() == Program::Metal;
        self.on_device() && !metal && matches!(self.accelerator(), Accelerator::Cuda | Accelerator::Hip)
    }

    /// The physical bound of anything that can be freed here: the device, the limit, or the machine.
    pub fn bound(&self) -> Option<Interval> {
        if self.on_device() {
            return self.capacity();
        }
        self.capacity()
            .or_else(|| self.incident.event.facts.get(Fact::Limit).map(|figure| figure.interval()))
            .or_else(|| self.context.memory_limit.get().map(|figure| figure.interval()))
            .or_else(|| self.context.host_total.get().map(|figure| figure.interval()))
    }

    /// What the job itself holds at the failure and could give up at the most, as far as the figures tell: all of it,
    /// or all but the weights.
    pub fn held(&self, but_weights: bool) -> Option<Interval> {
        if !self.on_device() {
            return None;
        }
        let process = || self.incident.event.facts.get(Fact::Process).map(|figure| figure.interval());
        let held = self.allocated().or_else(process)?;
        // What the program set aside for a pool of its own is given back by a smaller pool and by nothing else.
        let pool = pool::announced(self.incident, false).map_or(0, |(pool, _)| pool.bytes as i128);
        let held = Interval::between(held.low - pool, held.high - pool);
        let held = if held.high <= 0 { self.allocated().or_else(process)? } else { held.at_least_zero() };
        if !but_weights {
            return Some(held);
        }
        let each = match self.precision() {
            _ if self.context.quantized.value() == Some(true) => 0.5,
            Some(Precision::Int4 | Precision::Int8) => 0.5,
            Some(Precision::Fp32) => 4.0,
            _ => 2.0,
        };
        let sharded = self.by_fsdp() || self.context.zero_stage.value() == Some(3);
        let ranks = if sharded { self.context.world_size.value().unwrap_or(1).max(1) } else { 1 };
        let weights = self.context.parameters.value().unwrap_or(0.0) * each / ranks as f64;
        let rest = (held - Interval::exactly(weights as u64)).at_least_zero();
        // Weights of which only a part is on this device leave the question open.
        Some(if rest.high == 0 { held } else { rest })
    }

    /// What the framework holds at the failure together with the request: the least that this step needs.
    pub fn demand(&self) -> Option<Interval> {
        Some(self.allocated()? + self.requested()?)
    }

    /// What the framework could have used at all: free and reserved, both by the message.
    pub fn usable(&self) -> Option<Interval> {
        let reserved =
            self.figure(self.ledger.reserved, Fact::Reserved).or_else(|| Some(self.allocated()? + self.cached()?));
        Some(self.free()? + reserved?)
    }
}

/// A size the way every text here prints it.
pub fn show(bytes: i128) -> String {
    signed(bytes)
}

/// A count of bytes as PyTorch prints it.
pub fn bytes(count: u64) -> String {
    Bytes(count).to_string()
}

/// A range cut to what physically is there.
pub fn clamp_to(range: Interval, bound: Option<Interval>) -> Interval {
    let range = range.at_least_zero();
    match bound {
        Some(bound) => Interval::between(range.low.min(bound.high.max(0)), range.high.min(bound.high.max(0))),
        None => range,
    }
}

/// Two statements, one after the other.
pub fn join(first: Text, second: Text) -> Text {
    if first.is_empty() {
        return second;
    }
    if second.is_empty() {
        return first;
    }
    Text::new(format!("{}; {}", first.en, second.en), format!("{}；{}", first.zh, second.zh))
}

impl Case<'_> {
    /// What the failing moment held and wanted, with every figure that is known; empty where none is.
    pub fn situation(&self) -> Text {
        match (self.allocated(), self.requested(), self.capacity()) {
            (Some(a), Some(r), Some(c)) => {
                let (a, r, c) = (show(a.middle()), show(r.middle()), show(c.middle()));
                crate::text!(
                    en: "{a} were allocated and {r} more requested, of {c}",
                    zh: "已分配 {a}，又申请 {r}，总容量 {c}"
                )
            }
            (None, Some(r), Some(c)) => {
                let (r, c) = (show(r.middle()), show(c.middle()));
                crate::text!(en: "{r} were requested, of {c}", zh: "申请 {r}，总容量 {c}")
            }
            (_, Some(r), None) => {
                let r = show(r.middle());
                crate::text!(en: "{r} were requested", zh: "申请了 {r}")
            }
            _ => Text::default(),
        }
    }

    /// All that the cache keeps unused, at the most: what giving it back or arranging it anew can yield.
    pub fn of_the_cache(&self) -> Option<(Interval, Text)> {
        let cached = self.cached()?;
        let shown = about(cached);
        let formula = crate::text!(
            en: "at most the {shown} that is cached and not allocated",
            zh: "最多为已缓存但未分配的 {shown}"
        );
        Some((Interval::between(0, cached.high), formula))
    }

    /// `low` and `high` shares of what is allocated, with the formula, where that figure is known.
    pub fn share_of_allocated(&self, low: f64, high: f64, what: Text) -> Option<(Interval, Text)> {
        let allocated = self.allocated().filter(|allocated| allocated.low > 0)?;
        let range = Interval::between(allocated.scale(low).low, allocated.scale(high).high);
        let total = show(allocated.middle());
        let (from, to) = ((low * 100.0).round(), (high * 100.0).round());
        Some((
            range,
            Text::new(
                format!("{} at {from}–{to} % of {total} allocated (rule of thumb)", what.en),
                format!("{}：已分配 {total} 的 {from}–{to} %（经验值）", what.zh),
            ),
        ))
    }

    /// The most that activations can be of what is allocated: the weights take 2 bytes a parameter at the least, where
    /// they are whole on this device and nothing speaks of fewer bits. Where that is well above what is allocated, they
    /// are not: `None`.
    pub fn activations_at_most(&self) -> Option<i128> {
        let context = self.context;
        let in_parts = self.by_fsdp()
            || context.zero_stage.value().is_some_and(|stage| stage >= 3)
            || context.cpu_offload.value() == Some(true)
            || context.world_size.value().is_some_and(|ranks| ranks > 1)
            || self.dispatched();
        let narrow = self.quantised() || matches!(self.precision(), Some(Precision::Int4 | Precision::Int8));
        let count = context.parameters.value().filter(|count| *count >= 1e8 && !in_parts && !narrow)?;
        let allocated = self.allocated().filter(|allocated| allocated.low > 0)?;
        // A model's name rounds its count, up or down.
        let each = if count % 1e8 == 0.0 { 1.9 } else { 2.0 };
        let weights = (count * each) as i128;
        (weights <= allocated.high + allocated.high / 10).then(|| (allocated.high - weights).max(0))
    }

    /// A share of the activations, by [`Self::share_of_allocated`], of what the weights leave to them; `None` where
    /// that is nothing.
    pub fn share_of_activations(&self, low: f64, high: f64, what: Text) -> Option<(Interval, Text)> {
        let (range, formula) = self.share_of_allocated(low, high, what)?;
        let Some(most) = self.activations_at_most().filter(|most| *most < range.high) else {
            return Some((range, formula));
        };
        let left = show(most);
        (most > 0).then(|| {
            let (en, zh) = (formula.en, formula.zh);
            let formula = crate::text!(
                en: "{en}, and no more than the {left} that the weights leave",
                zh: "{zh}，且不超过权重之外的 {left}"
            );
            (Interval::between(range.low.min(most), most), formula)
        })
    }

    /// The user's line that failed, as `file:line`, where the traceback names it.
    pub fn failing_line(&self) -> Option<String> {
        let frame = self.context.user_frame().filter(|frame| frame.line > 0)?;
        let file = frame.file.rsplit(['/', '\\']).next().unwrap_or_default();
        Some(format!("{file}:{}", frame.line))
    }

    /// The figure to ask for where activations cannot be told from states.
    pub fn ask_for_peak(&self) -> Text {
        let peak = self.incident.meter().peak;
        crate::text!(
            en: "the log does not separate activations from states; `{peak}` after a step at a smaller batch would",
            zh: "日志无法区分激活与模型状态；在较小批大小下跑一步后查看 `{peak}` 即可算出"
        )
    }
}

impl Case<'_> {
    /// True when activations of a training step may be at stake: on a GPU, past loading, not known to be inference.
    pub fn training_step(&self) -> bool {
        self.on_gpu() && !self.inference() && !self.loading() && !self.evaluating() && self.learns()
    }

    /// True for frameworks that train and failures that are a program's own.
    pub fn learns(&self) -> bool {
        self.program().kind() == Kind::TrainingFramework || self.trainer().is_some()
    }

    /// 1 where the log proves training, less where it only does not rule it out.
    pub fn if_training(&self) -> f64 {
        if self.training() { 1.0 } else { 0.45 }
    }

    /// True when a language model is at work, by the trainer, the clues or the sequence length.
    pub fn language_model(&self) -> bool {
        self.trainer().is_some_and(Trainer::trains_language_models)
            || self.clue(Clue::VocabularyLogits)
            || self.clue(Clue::ServesWithCache)
            || self.context.sequence_length.is_known()
            || self.context.lora.is_known()
            || self.context.frames.iter().any(|frame| {
                frame.path().contains("/transformers/")
                    && (frame.function.contains("CausalLM")
                        || frame.code.as_deref().is_some_and(|code| code.contains("lm_head")))
            })
    }

    /// True for a language model that the log shows to be one stack of layers, as LLaMA and its kin are.
    pub fn decoder_only(&self) -> bool {
        const STACKS: &[&str] =
            &["llama", "llava", "mistral", "mixtral", "qwen", "gemma", "olmo", "internlm", "deepseek"];
        // `phi` stands in `graphics` and `delphi` too.
        let phi = |word: &str| word.strip_prefix("phi").is_some_and(|end| end.bytes().all(|b| b.is_ascii_digit()));
        let stacked = |text: &str| -> bool {
            let lower = text.to_ascii_lowercase();
            STACKS.iter().any(|stack| lower.contains(stack))
                || lower.split(|c: char| !c.is_ascii_alphanumeric()).any(phi)
        };
        let of_frames = || self.context.frames.iter().any(|frame| stacked(&frame.path()));
        let of_command = || self.context.command.get().is_some_and(|command: &String| stacked(command));
        self.language_model() && (of_frames() || of_command())
    }

    /// True where a trainer of language models runs, or a model that transformers makes.
    pub fn trains_on_text(&self) -> bool {
        let of_transformers = |frame: &Frame| frame.path().contains("/transformers/models/");
        self.trainer().is_some_and(Trainer::trains_language_models) || self.context.frames.iter().any(of_transformers)
    }

    /// True for a language model, or one of half a billion parameters and more: its states are what fills a device.
    pub fn large_model(&self) -> bool {
        self.language_model() || self.context.parameters.value().is_some_and(|count| count >= 5e8)
    }

    /// Parameters times bytes each, with the formula, where the number of parameters is known.
    pub fn of_parameters(&self, low: f64, high: f64) -> Option<(Interval, Text)> {
        let count = self.context.parameters.value().filter(|count| *count > 0.0)?;
        let billions = format!("{:.2}", count / 1e9);
        let bytes = if low == high { format!("{low}") } else { format!("{low}–{high}") };
        Some((
            Interval::between((count * low) as i128, (count * high) as i128),
            crate::text!(
                en: "{bytes} bytes × {billions} G parameters",
                zh: "每参数 {bytes} 字节 × {billions} G 参数"
            ),
        ))
    }

    /// The figure to ask for where the number of parameters decides.
    pub fn ask_for_parameters(&self) -> Text {
        if !self.may_be_pytorch() {
            return Text::new("the log does not give the number of parameters", "日志没有给出参数量");
        }
        crate::text!(
            en: "the log does not give the number of trainable parameters; sum(p.numel() for p in \
                 model.parameters() if p.requires_grad) does",
            zh: "日志没有给出可训练参数量；用 sum(p.numel() for p in model.parameters() if p.requires_grad) 可得"
        )
    }
}
