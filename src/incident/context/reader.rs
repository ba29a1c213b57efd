//! One pass over a document that collects every statement, and the choice among them for one failure.

use super::amounts::Amounts;
use super::command::{self, Launch};
use super::counters::Counters;
use super::devices::Devices;
use super::option::{Quantity, Spelled};
use super::origin::Origin;
use super::phrases;
use super::progress::{self, Progress};
use super::readings::{self, Readings};
use super::section::Sections;
use super::settings::{self, Parts, Setting, Source};
use super::side::{OF_MACHINE, SideTables};
use super::trends::Trends;
use super::{
    Clue, Context, Frame, Phase, Platform, Precision, Subject, Trainer, subject, surroundings, topics, traceback,
};
use crate::account::Board;
use crate::dialect::{Fact, field};
use crate::evidence::{Known, Span};
use crate::input::gpu_tables::Tables;
use crate::input::{Document, Line};
use crate::thin;
use crate::units::Figure;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// Statements of one kind, source and run that are kept; the first of a run counts, the others only show that it
/// changed.
const KEPT_OF_A_KIND: u8 = 4;
/// Progress lines kept; of a longer log every other one goes, and the last ones always stay.
const PROGRESS_AT_MOST: usize = 65_536;
/// Lines before and behind a failure whose amounts are of the run that failed.
const AMOUNTS_BEFORE: u64 = 400;
const AMOUNTS_BEHIND: u64 = 60;
/// Readings of side tables kept on either side of a failure.
const SIDE_AT_MOST: usize = 32;
/// Lines behind a message on which its exception goes on.
const OWN_WORDS: u64 = 6;
/// Progress lines looked at before a failure.
const PROGRESS_SEARCHED: usize = 512;

/// How many statements of a kind, source and run are kept so far.
type Kept = HashMap<(std::mem::Discriminant<Setting>, Option<Quantity>, Source, usize), u8>;

#[derive(Debug)]
struct Statement {
    setting: Setting,
    spelled: Option<Spelled>,
    source: Source,
    line: u64,
    run: usize,
}

#[derive(Debug, Clone, Copy)]
struct ProgressAt {
    line: u64,
    rank: Option<u32>,
    progress: Progress,
}

/// An opened block of a configuration whose next lines belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Kubernetes' `Limits:`.
    Limits,
    /// DeepSpeed's `"zero_optimization": {`.
    Zero,
    Fp16,
    Bf16,
    /// DeepSpeed's `"offload_optimizer": {` and `"offload_param": {`.
    Offload,
    /// `ulimit -v`, asked at a prompt.
    AddressLimit,
    /// A control group's limit, asked at a prompt.
    GroupLimit,
}

/// Reads a log once and gives the context of each of its failures.
pub struct ContextReader<'a> {
    document: &'a Document,
    launches: Vec<Launch>,
    statements: Vec<Statement>,
    progress: Vec<ProgressAt>,
    readings: Readings,
    /// Lines of requests that were answered.
    answered: Vec<u64>,
    trends: Trends,
    tables: Tables,
    side: SideTables,
    amounts: Amounts,
    devices: Devices,
    clues: Vec<(Clue, u64)>,
    /// What lines say that the job works on.
    subjects: Vec<(Subject, u64)>,
    trainers: Vec<(Trainer, u64)>,
    /// The document is a text about a failure rather than a log.
    write_up: bool,
    /// Lines that say that something was skipped or tried again.
    went_on: Vec<u64>,
    /// Lines that say that a model is being loaded, with a hash of what they say.
    loads: Vec<(u64, String, Option<u32>)>,
}

impl<'a> ContextReader<'a> {
    /// Collects every statement of the document in one pass over its lines.
    pub fn new(document: &'a Document) -> ContextReader<'a> {
        let mut reader = ContextReader {
            document,
            launches: Vec::new(),
            statements: Vec::new(),
            progress: Vec::new(),
            readings: Readings::default(),
            answered: Vec::new(),
            trends: Trends::default(),
            tables: Tables::default(),
            side: SideTables::default(),
            amounts: Amounts::default(),
            devices: Devices::default(),
            clues: Vec::new(),
            subjects: Vec::new(),
            trainers: Vec::new(),
            write_up: false,
            went_on: Vec::new(),
            loads: Vec::new(),
        };
        reader.collect();
        reader
    }

    fn collect(&mut self) {
        let document = self.document;
        let mut sections = Sections::default();
        let mut kept = Kept::new();
        let mut latest: HashMap<Option<u32>, Progress> = HashMap::new();
        let mut block: Option<(Block, u64)> = None;
        let mut command_until = 0;
        let mut table: Option<u64> = None;
        let (mut in_frame, mut installed_frame, mut of_a_library) = (false, false, false);
        let mut seen = Seen::default();
        let mut shapes = Shapes::default();
        let mut counters = Counters::default();
        for (position, line) in document.lines.iter().enumerate() {
            let text = line.text.as_str();
            let topics = topics::of(text);
            let advised = sections.advises(text, topics & topics::SECTION != 0);
            let message = topics & topics::MESSAGE != 0;
            if position >= command_until
                && !advised
                && !message
                && let Some(launch) = command::launch(document, position)
            {
                command_until = position + launch.lines;
                let named = settings::model_of_command(&launch.text);
                self.launches.push(launch);
                let name = named.iter().find_map(|setting| match setting {
                    Setting::Model(name) => Some(name.as_str()),
                    _ => None,
                });
                let continued = document.lines.get(position..command_until).unwrap_or(&[]);
                let at = name.and_then(|name| continued.iter().find(|line| line.text.contains(name)));
                let at = at.map_or(line.number, |line| line.number);
                for setting in named {
                    self.keep(setting, Source::Command, at, &mut kept);
                }
            }
            let command = position < command_until;
            let indented = text.starts_with([' ', '\t']);
            let frame = text.contains("File \"");
            if frame || !indented {
                in_frame = frame;
                // A notebook shows the lines around each frame's, those of libraries too.
                of_a_library = text.contains("-packages/") || text.contains("-packages\\");
                installed_frame = frame && of_a_library;
            }
            // `File "lib\spectrum.py", line 17`: a path with no drive, in a line that has no other word of a system.
            if frame && surroundings::windows_path(text) {
                self.keep(Setting::Platform(Platform::Windows), Source::Dump, line.number, &mut kept);
            }
            // `#batch=1` in a file of settings is not in force; `# batch_size : 1` is how some programs print theirs.
            let off =
                text.strip_prefix('#').is_some_and(|rest| rest.contains('=') && !rest.contains(char::is_whitespace));
            let own = !advised && !message && !installed_frame && !off;
            // A loop prints the same line again and again: what it states was stated the first times.
            let new =
                topics & (topics::SETTING | topics::CLUE) == 0 || command || shapes.is_new(text, self.launches.len());

            if own && new && (topics & topics::SETTING != 0 || command) {
                for (setting, source, spelled) in settings::read(text, line.number, command) {
                    self.keep_spelled(setting, spelled, source, line.number, &mut kept);
                }
                if !command && !in_frame {
                    for setting in phrases::read(text) {
                        self.keep(setting, Source::Words, line.number, &mut kept);
                    }
                }
            }
            if message && let Some(setting) = settings::of_message(text) {
                self.keep(setting, Source::Words, line.number, &mut kept);
            }
            if own && let Some(setting) = nested(text, line.number, &mut block) {
                self.keep(setting, Source::Dump, line.number, &mut kept);
            }
            let mut told = None;
            let begins = text.trim().eq_ignore_ascii_case("training");
            let tells = topics & topics::PROGRESS != 0 || begins || progress::maybe_row(text);
            if !message && !advised && !in_frame && tells {
                told = progress::read(text, topics & topics::PHASE != 0 || begins);
            }
            if topics & topics::PROGRESS != 0 {
                told = told.or_else(|| progress::of_a_message(text));
            }
            if told.is_none() && !message && !advised && !in_frame {
                told = counters.read(text);
            }
            if let Some(progress) = told.filter(|_| !progress::waits(text)) {
                if let Some(image) = progress.image {
                    self.keep(Setting::Image(image), Source::Dump, line.number, &mut kept);
                }
                let state = latest.entry(line.rank).or_default();
                state.merge(&progress);
                if let Some(bytes) = progress.gpu_memory {
                    let found = readings::Found::gpu_memory_column(bytes);
                    self.readings.take(&[found], line.number, line.rank, state);
                }
                self.note_progress(ProgressAt { line: line.number, rank: line.rank, progress });
            }
            if !message && topics & topics::READING != 0 {
                let found = readings::read(text, line.number);
                if !found.is_empty() {
                    let state = latest.get(&line.rank).or_else(|| latest.get(&None)).copied().unwrap_or_default();
                    self.readings.take(&found, line.number, line.rank, &state);
                }
            }
            if own && !in_frame && topics & (topics::READING | topics::SETTING) != 0 {
                let typed = command || text.trim_start().starts_with(['$', '%', '>']);
                self.amounts.take(text, line.number, typed);
                self.devices.take(text, line.number);
            }
            if own && !in_frame && topics & topics::CLUE != 0 {
                self.devices.take_board(text, line.number);
            }
            let may_load = topics & (topics::PHASE | topics::SETTING) != 0 && self.loads.len() < LOADS_AT_MOST;
            if own && !in_frame && may_load && tells_of_a_load(text) {
                self.loads.push((line.number, of_a_load(text), line.rank));
            }
            if !message && !advised && !in_frame {
                self.trends.take(text, line.number, line.rank);
            }
            if topics & topics::TABLES != 0 || self.tables.expects(text) {
                let known = self.tables.uses().len();
                self.tables.take(text, line.number);
                for told in self.tables.uses().get(known..).unwrap_or_default() {
                    self.side.take_device(*told);
                }
            }
            if topics & topics::TABLES != 0 || self.side.expects() {
                self.side.take(text, line.number);
            }
            if text.len() < REQUEST_AT_MOST && self.answered.len() < LOADS_AT_MOST && answers(text) {
                self.answered.push(line.number);
            }
            // fastai prints a table whose rows have no word of their own.
            let header = topics & topics::CLUE != 0 && text.contains("train_loss") && text.contains("valid_loss");
            if header {
                table = Some(line.number);
            } else if table.is_some_and(|header| line.number == header + 1) && surroundings::is_row_of_epochs(text) {
                self.clues.push((Clue::ValidatedBefore, line.number));
            }
            if topics & topics::CLUE != 0 && !advised && new {
                let foreign = message || of_a_library && indented;
                self.surroundings(text, line.number, (message, foreign), &mut seen, &mut kept);
            }
        }
        self.write_up = sections.is_write_up();
    }

    /// Takes what a line shows of the surroundings: a message's own words, and lines of a library's code, show less.
    fn surroundings(
        &mut self,
        text: &str,
        line: u64,
        (message, foreign): (bool, bool),
        seen: &mut Seen,
        kept: &mut Kept,
    ) {
        // Each is told once per run: what a log repeats on every line is looked at a few times only.
        let run = self.launches.len();
        if seen.run != run {
            *seen = Seen { run, ..Seen::default() };
        }
        let mut trainers = Vec::new();
        surroundings::trainers(text, &mut trainers);
        for trainer in trainers {
            if seen.trainers.insert(trainer) {
                self.trainers.push((trainer, line));
            }
        }
        let mut found = Vec::new();
        surroundings::platform(text, &mut found);
        for setting in found {
            self.keep(setting, Source::Dump, line, kept);
        }
        seen.loss_is_a_number |= surroundings::makes_a_number_of_the_loss(text);
        let mut clues = Vec::new();
        surroundings::clues(text, &mut clues);
        let in_messages = [
            Clue::DeviceAssert,
            Clue::TensorFlow1,
            Clue::TilesDecoding,
            Clue::GathersState,
            Clue::Wrapped,
            Clue::StableDiffusionCpp,
            Clue::NamesTiles,
            Clue::LocalWorkers,
            Clue::RayManaged,
            Clue::TritonServer,
        ];
        for clue in clues.into_iter().filter(|clue| !message || in_messages.contains(clue)) {
            // One large block grows from nothing: the next one must be larger.
            if clue == Clue::GrowingList && !seen.grows_to(surroundings::large_block(text)) {
                continue;
            }
            if clue == Clue::KeepsTensors && (foreign || seen.loss_is_a_number) {
                continue;
            }
            if seen.clues.insert(clue) {
                self.clues.push((clue, line));
            }
        }
        // Who logs a message says before it where it comes from; its own words are the allocator's.
        let own = if message { text.split_once("CUDA out of memory").map_or("", |(before, _)| before) } else { text };
        if let Some(subject) = subject::of_line(&own.to_ascii_lowercase())
            && seen.subjects.insert(subject)
        {
            self.subjects.push((subject, line));
        }
        if self.went_on.len() < 1024 && surroundings::went_on(text) {
            self.went_on.push(line);
        }
    }

    fn keep(&mut self, setting: Setting, source: Source, line: u64, kept: &mut Kept) {
        self.keep_spelled(setting, None, source, line, kept);
    }

    fn keep_spelled(&mut self, setting: Setting, spelled: Option<Spelled>, source: Source, line: u64, kept: &mut Kept) {
        let run = self.launches.len();
        let quantity = setting.quantity().map(|(quantity, _)| quantity);
        let count = kept.entry((std::mem::discriminant(&setting), quantity, source, run)).or_default();
        if *count < KEPT_OF_A_KIND {
            *count += 1;
            self.statements.push(Statement { setting, spelled, source, line, run });
        }
    }

    fn note_progress(&mut self, told: ProgressAt) {
        if self.progress.len() >= PROGRESS_AT_MOST {
            thin::halve(&mut self.progress);
        }
        self.progress.push(told);
    }

    /// True where a server of an engine starts or ends between two lines: what is behind is another process.
    fn server_between(&self, first: u64, last: u64) -> bool {
        let from = self.document.lines.partition_point(|line| line.number <= first);
        let lines = self.document.lines.iter().skip(from).take_while(|line| line.number < last);
        lines.map(|line| &line.text).any(|text| SERVERS.iter().any(|words| text.contains(words)))
    }

    /// How many programs were started above a line.
    pub fn runs_before(&self, line: u64) -> usize {
        self.launches.partition_point(|launch| launch.at.first < line)
    }

    /// The line on which the program was started whose run a line belongs to, 0 where none is shown.
    fn begun(&self, line: u64) -> u64 {
        let run = self.runs_before(line).checked_sub(1).and_then(|run| self.launches.get(run));
        run.map_or(0, |launch| launch.at.first)
    }

    /// The line on which the next program is started behind a line.
    pub fn next_run(&self, line: u64) -> u64 {
        self.launches
            .get(self.launches.partition_point(|launch| launch.at.first <= line))
            .map_or(u64::MAX, |l| l.at.first)
    }

    /// The first and the last of the lines between a failure's end `last` and `until` on which its loop got further
    /// than before it, if that are as many as prove it, `least`. `from_nothing`: steps count though none was told
    /// before.
    pub(in crate::incident) fn advanced(
        &self,
        at: Span,
        last: u64,
        (rank, least): (Option<u32>, usize),
        until: u64,
        from_nothing: bool,
    ) -> Option<(u64, u64)> {
        if self.write_up {
            return None;
        }
        let of_it = |told: &&ProgressAt| rank.is_none() || told.rank.is_none() || told.rank == rank;
        // An epoch of its own comes first; a line without one stands in the last that was told.
        let place = |told: &ProgressAt, epoch: f64| {
            let epoch = told.progress.epoch.unwrap_or(epoch);
            let step = told.progress.step;
            (told.progress.epoch.is_some() || step.is_some()).then(|| (epoch, step.unwrap_or(0)))
        };
        let before = self.progress.partition_point(|told| told.line < at.first);
        let since = self.begun(at.first);
        let mut reached: Option<(f64, u64)> = None;
        let earlier = self.progress[before.saturating_sub(PROGRESS_SEARCHED)..before].iter();
        for told in earlier.filter(of_it).filter(|told| told.line >= since) {
            if let Some(now) = place(told, reached.map_or(0.0, |(epoch, _)| epoch)) {
                reached = Some(now);
            }
        }
        if reached.is_none() && !from_nothing {
            return None;
        }
        let behind = self.progress.partition_point(|told| told.line <= last);
        let mut steps = 0;
        let mut first = None;
        for told in self.progress[behind..].iter().take(PROGRESS_SEARCHED).take_while(|told| told.line < until) {
            let phase = told.progress.phase;
            if !of_it(&told)
                || phase.is_some_and(|phase| matches!(phase, Phase::Load | Phase::DataLoading | Phase::Warmup))
            {
                continue;
            }
            let Some(now) = place(told, reached.map_or(0.0, |(epoch, _)| epoch)) else { continue };
            if reached.is_some_and(|reached| now <= reached) {
                continue;
            }
            reached = Some(now);
            steps += 1;
            let first = *first.get_or_insert(told.line);
            if steps >= least {
                return Some((first, told.line));
            }
        }
        None
    }

    /// The traceback that ends at a message, or within one that is printed twice; else the one that a report of it puts
    /// below, under a heading.
    pub fn frames_at(&self, at: Span, rank: Option<u32>) -> Vec<Frame> {
        let position = |number: u64| self.document.lines.partition_point(|line| line.number < number);
        let places =
            [Some(position(at.first)), (at.last > at.first).then(|| position(at.last)), self.below(at), self.above(at)];
        let frames = places.into_iter().flatten().map(|place| traceback::frames(self.document, place, rank));
        frames.into_iter().find(|frames| !frames.is_empty()).unwrap_or_default()
    }

    /// Where a traceback ends whose exception names the kind of error and leaves the message to a paragraph below, as
    /// Paddle's does: `RuntimeError: ResourceExhaustedError:`.
    fn above(&self, at: Span) -> Option<usize> {
        /// Lines between the exception and the message: blank ones, rules and a heading.
        const BETWEEN: usize = 5;
        let from = self.document.lines.partition_point(|line| line.number < at.first);
        let before = self.document.lines.get(from.saturating_sub(BETWEEN)..from)?;
        let between = |text: &str| {
            let text = text.trim_matches(['-', ' ', ':']);
            let headings = ["Error Message Summary", "The exception content is", "ResourceExhaustedError"];
            text.is_empty() || headings.contains(&text)
        };
        let at_end = before.iter().rposition(|line| !between(&line.text))?;
        let names_a_kind = |text: &str| {
            let mut words = text.split_whitespace();
            text.contains("Error:") && words.all(|word| word.ends_with("Error:"))
                // `SystemError: (Fatal) Operator conv2d_grad raises an paddle::memory::allocation::BadAlloc exception.`
                || text.contains("Error: (Fatal) Operator ") && text.contains(" raises an paddle::")
        };
        names_a_kind(&before.get(at_end)?.text).then(|| from - (before.len() - at_end))
    }

    /// Where a traceback ends that stands behind a message, under a heading of its own.
    fn below(&self, at: Span) -> Option<usize> {
        /// Lines between a message and the heading, and lines of a traceback that are looked at.
        const BETWEEN: usize = 3;
        const FRAMES: usize = 400;
        let from = self.document.lines.partition_point(|line| line.number <= at.last);
        let lines = self.document.lines.get(from..)?;
        let heads = |text: &str| text.trim_matches(['#', '*', ':', ' ']).eq_ignore_ascii_case("stack trace");
        let inside = |text: &str| text.trim().is_empty() || text.starts_with([' ', '\t']);
        let frames =
            |heading: usize| lines.iter().skip(heading).take(FRAMES).take_while(|line| inside(&line.text)).count();
        if let Some(at) = lines.iter().take(BETWEEN).position(|line| heads(&line.text)) {
            return Some(from + at + 1 + frames(at + 1));
        }
        // A message that somebody put above its own traceback, which then ends in no exception.
        let first = lines.first().filter(|line| line.text.trim_end() == "Traceback (most recent call last):")?;
        let count = frames(1);
        let end = lines.get(count + 1).filter(|line| line.rank == first.rank);
        let other = end.is_some_and(|line| field::is_exception(&line.text) || line.text.contains("Error"));
        (count > 0 && !other).then_some(from + 1 + count)
    }

    /// What the lines before a failure on this device told of it.
    pub fn device_told(&self, fact: Fact, device: Option<u32>, at: Span) -> Option<Figure> {
        self.devices.within(fact, device, at.first.saturating_sub(AMOUNTS_BEFORE), at.last)
    }

    /// The board that lines up to the end of a message name.
    pub fn board(&self, device: Option<u32>, at: Span) -> Option<&Board> {
        self.devices.board(device, at.last)
    }

    /// The context of the failure whose message stands at `at`. `previous` is the last line of the failure before it,
    /// if there was one: what was said before that belongs to another run when a program was started in between.
    pub fn at(&self, at: Span, rank: Option<u32>, previous: Option<u64>) -> Context {
        let mut context = Context::default();
        if let Some(rank) = rank {
            context.rank = Known::Seen(rank, at);
        }
        let run = self.runs_before(at.first);
        // The first run that can speak for this failure.
        let earliest = match previous {
            Some(previous) if self.runs_before(previous) < run => run,
            _ => 0,
        };
        let since = if earliest == 0 { 0 } else { self.launches.get(run - 1).map_or(0, |launch| launch.at.first) };
        self.launch(&mut context, run);
        self.apply_statements(&mut context, at, run, earliest);
        context.take_frames(self.frames_at(at, rank));
        // transformers' Trainer runs on Accelerate, which shows in the frames below.
        let calls = |frame: &Frame| frame.code.as_deref().is_some_and(|code| code.contains("trainer.train("));
        if let Known::Seen(trainer @ Trainer::Accelerate, _) = &mut context.trainer
            && context.frames.iter().any(calls)
        {
            *trainer = Trainer::HfTrainer;
        }
        self.apply_progress(&mut context, at, rank, since);
        one_sample_a_step(&mut context);
        if let Some(line) = self.sets_up_a_communicator(at, &context) {
            context.phase = Known::Seen(Phase::CommunicatorSetup, line);
        }
        context.gpus = self.tables.near(at.first);
        context.loose_processes = self.tables.loose_near(at.first);
        context.partitions = self.tables.partitions_near(at.first);
        self.apply_side(&mut context, at);
        context.amounts = self.amounts.within(at.first.saturating_sub(AMOUNTS_BEFORE), at.last + AMOUNTS_BEHIND, at);
        context.series = self.readings.between(since, at.last, rank);
        context.trends = self.trends.between(since, at.first, rank);
        context.cards = self.trends.cards(since, at.first);
        context.pools = self.trends.pools(since, at.first);
        context.free_told = self.trends.free();
        // A text about a failure tells its message first and what was read before below.
        let (from, to) = if self.write_up { (0, u64::MAX) } else { (since, at.first) };
        context.last_reading = self.readings.last_of_device(from, to, rank);
        self.apply_clues(&mut context, at, rank, since);
        // Threads share what a process holds: their number multiplies nothing.
        if context.has(Clue::WorkersAreThreads) {
            context.workers = Known::default();
        }
        let (origin, dated) = Origin::around(self.document, at);
        context.origin = origin;
        context.dated = dated;
        context
    }

    /// True for a message of a runtime that runs finished models; where a model is trained through it, its frames show.
    fn answers_by_its_runtime(&self, at: Span, context: &Context) -> bool {
        let learns = |frame: &Frame| {
            let file = frame.file.to_ascii_lowercase();
            file.contains("orttraining") || file.contains("ortmodule") || file.contains("onnxruntime/training")
        };
        let runs = |line: &Line| {
            let lower = line.text.to_ascii_lowercase();
            lower.contains("onnxruntime") && !lower.contains("orttraining")
        };
        self.lines(at.first, at.last).iter().any(runs) && !context.frames.iter().any(learns)
    }

    /// The line in which NCCL tells that it was setting up a communicator, where no pass called it.
    fn sets_up_a_communicator(&self, at: Span, context: &Context) -> Option<Span> {
        /// Lines of NCCL's own trace around the message.
        const AROUND: u64 = 8;
        const PLACES: [&str; 6] =
            ["init.cc:", "channel.cc:", "transport.cc:", "bootstrap.cc:", "transport/", "ncclCommInitRank"];
        let passes = |frame: &Frame| frame.function == "forward" || frame.function.ends_with("backward");
        if context.frames.iter().any(passes)
            || !matches!(context.phase.value(), None | Some(Phase::Train | Phase::Load))
            || context.step.value().is_some_and(|step| step > 0)
        {
            return None;
        }
        let told = self.lines(at.first.saturating_sub(AROUND), at.last + AROUND).iter().find(|line| {
            let (text, trace) = (line.text.as_str(), line.text.contains("NCCL INFO") && line.text.contains(" -> "));
            (trace || text.contains("NCCL WARN")) && PLACES.iter().any(|place| text.contains(place))
        });
        told.map(|line| Span::line(line.number))
    }

    /// The lines from one number to another, both inclusive.
    fn lines(&self, first: u64, last: u64) -> &'a [Line] {
        let from = self.document.lines.partition_point(|line| line.number < first);
        let to = self.document.lines.partition_point(|line| line.number <= last);
        self.document.lines.get(from..to).unwrap_or_default()
    }

    /// The command that started the run, or the only command of a text that quotes it after the message.
    fn launch(&self, context: &mut Context, run: usize) {
        let launch = match run.checked_sub(1) {
            Some(last) => self.launches.get(last),
            None if self.launches.len() == 1 => self.launches.first(),
            None => None,
        };
        if let Some(launch) = launch {
            context.command = Known::Seen(launch.text.clone(), launch.at);
            if let Some(program) = &launch.program {
                context.program = Known::Seen(program.clone(), launch.at);
            }
        }
    }

    fn apply_statements(&self, context: &mut Context, at: Span, run: usize, earliest: usize) {
        let last_run = if run == 0 && self.launches.len() == 1 { 1 } else { run };
        let mut chosen: Vec<&Statement> = self
            .statements
            .iter()
            .filter(|s| s.run <= last_run && (s.run >= earliest || s.setting.is_of_the_machine()))
            .collect();
        // Before the failure first, this run first, the launch command first; then as the log goes.
        // What the message itself says of its sample counts before all.
        let other = |s: &Statement| s.line < at.first || s.line > at.last;
        chosen.sort_by_key(|s| (s.line > at.last, other(s), Reverse(s.run), Reverse(s.source), s.line));
        let mut parts = Parts::default();
        for statement in &chosen {
            settings::apply(context, &mut parts, &statement.setting, Span::line(statement.line));
        }
        self.apply_trainer(context, at);
        let trainer = context.trainer.value();
        let deepspeed = trainer == Some(Trainer::DeepSpeed) || context.zero_stage.is_known();
        parts.settle(context, trainer == Some(Trainer::Ultralytics), deepspeed);
        for statement in &chosen {
            if let (Some((quantity, _)), Some(spelled)) = (statement.setting.quantity(), &statement.spelled) {
                context.spell(quantity, spelled);
            }
        }
    }

    fn apply_trainer(&self, context: &mut Context, at: Span) {
        let best = self
            .trainers
            .iter()
            .min_by_key(|(trainer, line)| (*line > at.last + 200, surroundings::rank_of(*trainer), *line));
        if let Some((trainer, line)) = best {
            context.trainer = Known::Seen(*trainer, Span::line(*line));
        }
    }

    /// The nearest progress before the failure, or in its own words, from lines of the same rank or of none.
    fn apply_progress(&self, context: &mut Context, at: Span, rank: Option<u32>, since: u64) {
        let before = self.progress.partition_point(|told| told.line < at.first);
        let own = self.progress[before..]
            .iter()
            .take_while(|told| told.line <= at.last + OWN_WORDS && told.progress.of_the_message);
        let before = before + own.count();
        let near = self.progress[..before]
            .iter()
            .rev()
            .take(PROGRESS_SEARCHED)
            .take_while(|told| told.line >= since)
            .filter(|told| rank.is_none() || told.rank.is_none() || told.rank == rank);
        let mut phase_told: Option<(Phase, Span)> = None;
        let mut wordless = true;
        let mut loaded = false;
        // A phase that was announced, as long as no further step was told since: progress bars print theirs again.
        let mut announced: Option<(Phase, Span)> = None;
        let (mut last_step, mut step_moved) = (None, false);
        // Nor one that a start of training was told since: a session saves its first checkpoint before any step.
        let mut begun = false;
        // Nor does one that belongs to an epoch before the last.
        let mut last_epoch = None;
        for told in near {
            let span = Span::line(told.line);
            let progress = &told.progress;
            step_moved |= matches!((last_step, progress.step), (Some(a), Some(b)) if a != b);
            last_step = last_step.or(progress.step);
            last_epoch = last_epoch.or(progress.epoch);
            if announced.is_none()
                && !step_moved
                && phase_told.is_none_or(|(phase, _)| phase == Phase::Train)
                && let Some(phase @ (Phase::Validation | Phase::Checkpoint | Phase::Resume | Phase::Decode)) =
                    progress.phase
                && (progress.step.is_none() || progress.step == last_step)
                && (progress.epoch.is_none() || progress.epoch == last_epoch)
                && !(begun && phase == Phase::Checkpoint)
            {
                announced = Some((phase, span));
            }
            begun |= progress.phase == Some(Phase::Train) && progress.step.is_none() && progress.epoch.is_none();
            if let Some(epoch) = progress.epoch {
                context.epoch.note(epoch as u64, span);
            }
            // Steps count within their epoch: those of a line above the epoch's are of the one before.
            let step_counts = context.epoch.span().is_none_or(|epoch| epoch == span);
            if let Some(step) = progress.step
                && step_counts
                && progress.phase.is_none_or(|phase| matches!(phase, Phase::Train | Phase::Validation))
            {
                if !context.step.is_known()
                    && let Some(steps) = progress.steps
                {
                    context.steps = Known::Seen(steps, span);
                }
                context.step.note(step, span);
            }
            if let Some(epochs) = progress.epochs {
                context.epochs.note(epochs, span);
            }
            wordless &= progress.phase != Some(Phase::Train) || progress.wordless;
            loaded |= progress.loaded;
            if phase_told.is_none() {
                phase_told =
                    progress.phase.filter(|phase| !(loaded && *phase == Phase::Load)).map(|phase| (phase, span));
            }
            if context.epoch.is_known()
                && context.step.is_known()
                && phase_told.is_some()
                && (step_moved || announced.is_some())
            {
                break;
            }
        }
        if self.write_up && !context.epoch.is_known() {
            // A text about a failure tells its message first and where it happened below.
            let after = self.progress[before..].iter().take(8);
            if let Some((i, told)) = after.clone().enumerate().find(|(_, told)| told.progress.epoch.is_some())
                && let Some(epoch) = told.progress.epoch
            {
                context.epoch = Known::Seen(epoch as u64, Span::line(told.line));
                if let Some(epochs) = told.progress.epochs {
                    context.epochs.note(epochs, Span::line(told.line));
                }
                phase_told = after
                    .skip(i)
                    .take_while(|next| next.line <= told.line + 4)
                    .filter_map(|next| next.progress.phase.map(|phase| (phase, Span::line(next.line))))
                    .last()
                    .or(phase_told);
            }
        }
        // What is moved right after the weights were read is the model, whatever its name.
        let moves = [".to(", ".cuda("].iter().any(|call| context.failing_code().contains(call));
        if loaded && moves && !context.phase.is_known() && phase_told.is_none() {
            context.phase = Known::Seen(Phase::Load, at);
        }
        let Some((phase, span)) = announced.or(phase_told) else { return };
        // `out = model(x)`: it is there, whatever was told of its loading.
        if phase == Phase::Load && calls_the_model(context.failing_code()) {
            return;
        }
        // What steps were printed before says nothing of a collective that no pass called.
        let between_ranks = context.frames.last().is_some_and(|frame| frame.file.ends_with("distributed_c10d.py"));
        if between_ranks && phase == Phase::Train {
            return;
        }
        // A bar of steps in a program that answers, whose frames show nothing that learns, counts steps of sampling.
        // A bar that is drawn again and again makes several lines of one number.
        let told = self.document.lines.partition_point(|line| line.number < span.first);
        let lines = || self.document.lines.iter().skip(told).take_while(|line| line.number <= span.first);
        let bare = || lines().any(|line| progress::is_bare_bar(&line.text));
        let draws = context
            .trainer
            .value()
            .is_some_and(|trainer| trainer.only_draws() || trainer == Trainer::Diffusers && bare());
        let predicts = self.clues.iter().any(|(clue, line)| *clue == Clue::Predicts && *line >= since);
        let answers = context.has(Clue::Predicts) || predicts || draws || self.answers_by_its_runtime(at, context);
        let samples = phase == Phase::Train && answers && !context.epoch.is_known();
        // The last step was done: what failed behind it is what comes after an epoch, or the next.
        let over = phase == Phase::Train && context.is_behind_the_last_step();
        match context.phase.value() {
            None if over => {}
            // A bar counts something, and whether anything is learnt by it other lines tell.
            None if !samples && phase == Phase::Train && wordless && !context.shows_training() => {}
            None => context.phase = Known::Seen(if samples { Phase::Inference } else { phase }, span),
            // A forward pass or a loss in a validation loop is validation.
            Some(Phase::Forward | Phase::Loss | Phase::Train)
                if matches!(phase, Phase::Validation | Phase::Inference | Phase::Decode | Phase::Warmup) =>
            {
                context.phase = Known::Seen(phase, span);
            }
            // A message that names the part of the step.
            Some(Phase::Train | Phase::Forward) if matches!(phase, Phase::Backward | Phase::OptimizerStep) => {
                context.phase = Known::Seen(phase, span);
            }
            // What a trainer renders between its steps is a look at how far it is.
            Some(Phase::Inference) if phase == Phase::Train && !samples && !wordless && context.renders() => {
                context.phase = Known::Seen(Phase::Validation, context.phase.span().unwrap_or(span));
            }
            Some(_) => {}
        }
    }

    /// The machine's memory is the same whenever it was read.
    fn apply_side(&self, context: &mut Context, at: Span) {
        let all = self.side.all();
        let before = all.partition_point(|reading| reading.line < at.first);
        context.side = all[before.saturating_sub(SIDE_AT_MOST)..(before + SIDE_AT_MOST).min(all.len())].to_vec();
        if !context.host_total.is_known() {
            let told = OF_MACHINE.iter().find_map(|of| all.iter().find(|reading| reading.of == *of)?.total);
            if let Some(total) = told {
                context.host_total = Known::Seen(total, total.at);
            }
        }
    }

    fn apply_clues(&self, context: &mut Context, at: Span, rank: Option<u32>, since: u64) {
        let told = self.subjects.iter().filter(|(_, line)| *line >= since && *line <= at.last);
        context.subject = told.map(|(subject, _)| *subject).min();
        for (clue, line) in &self.clues {
            // A device-side assertion explains what comes after it, not before.
            let in_time = match clue {
                Clue::DeviceAssert => *line <= at.last + 20,
                Clue::ValidatedBefore => *line < at.first,
                _ => true,
            };
            if *line >= since && in_time {
                context.clues.entry(*clue).or_insert(Span::line(*line));
            }
        }
        if let (Some(epoch), Some(told), true) =
            (context.epoch.value(), context.epoch.span(), context.has(Clue::Resumed))
        {
            let before = self.progress.partition_point(|told| told.line < at.first);
            let near =
                self.progress[..before].iter().rev().take(PROGRESS_SEARCHED).take_while(|told| told.line >= since);
            if near.filter_map(|told| told.progress.epoch).all(|other| other as u64 == epoch) {
                context.clues.entry(Clue::FirstEpochSinceResume).or_insert(told);
            }
        }
        let place = |line: u64| self.answered.partition_point(|answered| *answered < line);
        let answered = self.answered.get(place(self.begun(at.first))..place(at.first)).unwrap_or(&[]);
        if let [first, .., last] = answered
            && answered.len() >= ANSWERED
        {
            context.clues.entry(Clue::RequestsAnswered).or_insert(Span::lines(*first, *last));
        }
        let run = self.runs_before(at.first);
        let same_run = |line: u64| self.runs_before(line) == run;
        let skipped = self.went_on.partition_point(|line| *line < at.first);
        if let Some(line) = self.went_on.get(skipped).filter(|line| **line <= at.last + 20) {
            context.clues.entry(Clue::WentOn).or_insert(Span::line(*line));
        }
        let after = self.progress.partition_point(|told| told.line <= at.last);
        let (step, epoch) = (context.step.value().unwrap_or(0), context.epoch.value().unwrap_or(0));
        if !self.write_up
            && let Some(told) = self.progress[after..].iter().take(64).find(|told| {
                let later = told.progress.step.is_some_and(|s| s > step)
                    && told.progress.epoch.is_none_or(|e| e as u64 >= epoch)
                    || told.progress.epoch.is_some_and(|e| e as u64 > epoch);
                later && same_run(told.line) && (rank.is_none() || told.rank == rank)
            })
        {
            context.clues.entry(Clue::WentOn).or_insert(Span::line(told.line));
        }
        // Of several models that are loaded one after the other, the same words tell of each.
        let of_this_run = self.loads.iter().filter(|(line, ..)| *line >= since && *line < at.first);
        let files = of_this_run.flat_map(|(_, said, _)| said.split_whitespace()).filter(|word| of_a_model_file(word));
        if files.collect::<BTreeSet<_>>().len() > 1 {
            return;
        }
        let mut loaded: HashMap<(&str, Option<u32>), u64> = HashMap::new();
        for (line, said, of) in self.loads.iter().take(4096).filter(|(line, ..)| *line >= since && *line < at.first) {
            if rank.is_some() && of.is_some() && *of != rank {
                continue;
            }
            let single =
                context.local_processes.value().unwrap_or(1) == 1 && context.world_size.value().unwrap_or(1) == 1;
            if let Some(first) = loaded.insert((said.as_str(), *of), *line)
                && (single || of.is_some())
                && same_run(first)
                && !self.server_between(first, *line)
            {
                context.clues.entry(Clue::LoadedTwice).or_insert(Span::lines(first, *line));
            }
        }
    }
}

/// Where an epoch has as many steps as there are samples, each step takes one.
fn one_sample_a_step(context: &mut Context) {
    let (Some(steps), Some(at), Some(samples)) = (context.steps.value(), context.steps.span(), context.samples.value())
    else {
        return;
    };
    // The steps of an epoch stand on its own line; those of a whole run count all epochs.
    let of_epoch = context.epoch.span() == Some(at);
    if of_epoch && steps == samples && steps > 1 && context.world_size.value().unwrap_or(1) == 1 {
        context.batch_size.note(1, at);
    }
}

/// Lines that differ in their digits only are of one shape; of each, only the first few of a run are read for
/// statements.
#[derive(Default)]
struct Shapes {
    run: usize,
    seen: HashMap<u64, u8>,
}

impl Shapes {
    const READ_OF_A_SHAPE: u8 = 8;
    const SHAPES_AT_MOST: usize = 1 << 16;

    fn is_new(&mut self, text: &str, run: usize) -> bool {
        if self.run != run || self.seen.len() >= Shapes::SHAPES_AT_MOST {
            self.run = run;
            self.seen.clear();
        }
        // FNV-1a over what is no digit; a collision only leaves a repeated line unread.
        let hash = text
            .bytes()
            .filter(|byte| !byte.is_ascii_digit())
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let count = self.seen.entry(hash).or_default();
        *count = count.saturating_add(1);
        *count <= Shapes::READ_OF_A_SHAPE
    }
}

/// What was already told in the current run.
#[derive(Default)]
struct Seen {
    run: usize,
    trainers: std::collections::HashSet<Trainer>,
    clues: std::collections::HashSet<Clue>,
    subjects: std::collections::HashSet<Subject>,
    /// Bytes of the last large block that was reported.
    block: Option<u64>,
    /// The code shown keeps the loss as a number from where it is made.
    loss_is_a_number: bool,
}

impl Seen {
    /// True where a large block is larger than the one reported before it.
    fn grows_to(&mut self, block: Option<u64>) -> bool {
        let before = std::mem::replace(&mut self.block, block);
        before.zip(block).is_some_and(|(before, now)| now > before)
    }
}

impl Setting {
    /// True for what belongs to the machine and outlives a run.
    fn is_of_the_machine(&self) -> bool {
        matches!(
            self,
            Setting::HostTotal(_)
                | Setting::HostTotalByShare(_)
                | Setting::TorchVersion(_)
                | Setting::Platform(_)
                | Setting::Container
                | Setting::MemoryLimit(_)
                | Setting::AddressLimit(_)
                | Setting::OwnLimit(_)
        )
    }
}

/// Lines that tell of loads, at most.
const LOADS_AT_MOST: usize = 4096;

/// True for a line that says that a model is or was loaded, or how many parameters it has.
fn tells_of_a_load(text: &str) -> bool {
    if starts_an_engine(text) {
        return true;
    }
    if text.len() > 300 {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    // `llama_model_loader: - type q4_K:  193 tensors`: an entry of a list, which has others like it.
    if says(&["_loader: - "]) {
        return false;
    }
    // A bar is rewritten as it goes, and its end is printed once or twice; it starts once.
    let under_way = lower.contains('%') && !says(&[" 0%|", " 0% "]);
    let loads = says(&["load"]) && says(&["model", "weights", "checkpoint", "shard", "safetensors", "pipeline"]);
    let counts = says(&["number of param", "param count", "total params", "trainable params", " parameters"]);
    !under_way
        && (loads
            && !says(&[
                "dataset",
                "dataloader",
                "unload",
                "offload",
                "download",
                "tokenizer",
                "vocab",
                "config",
                "failed",
            ])
            || counts && lower.bytes().any(|byte| byte.is_ascii_digit()))
}

/// What a server of an engine prints when it starts and when it has ended.
const SERVERS: [&str; 4] =
    ["API server version", "Started server process", "Finished server process", "Uvicorn running"];

/// vLLM's line for each engine that a process makes, with the model behind it, 0.1 to 0.11. Of several ranks of data
/// each has one.
fn starts_an_engine(text: &str) -> bool {
    let words = ["Initializing an LLM engine", "Initializing a V1 LLM engine"];
    let found = words.iter().find_map(|words| text.find(words));
    found.is_some_and(|at| !text[..at].contains("_DP"))
}

/// True for the name of a file that holds a whole model, which no shard's does.
fn of_a_model_file(word: &str) -> bool {
    let ends = [".safetensors", ".ckpt", ".gguf"].iter().any(|end| word.ends_with(end));
    const PARTS: [&str; 10] =
        ["-of-", "model.safetensors", "unet", "vae", "encoder", "transformer", "clip", "t5", "lora", "adapter"];
    ends && !PARTS.iter().any(|part| word.to_ascii_lowercase().contains(part))
}

/// Requests that were answered before a failure from which on they tell that what is loaded fits.
const ANSWERED: usize = 3;
/// Longer lines are no server's line of a request.
const REQUEST_AT_MOST: usize = 600;

/// True for a server's line of a request that was answered: `"POST /v1/chat/completions HTTP/1.1" 200 OK`.
fn answers(text: &str) -> bool {
    let Some((request, status)) = text.split_once(" HTTP/") else { return false };
    let asked = request.rsplit(['"', ' ']).nth(1).is_some_and(|method| method == "POST");
    asked && status.get(3..).is_some_and(|rest| rest.trim_start_matches('"').trim_start().starts_with("200"))
}

/// What a line says of a load: without its time, process and speed, but with the sizes and counts that tell one model
/// from another.
fn of_a_load(text: &str) -> String {
    let mut said = String::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let word = word.trim_matches(|c: char| matches!(c, '{' | '}' | ',' | '"' | '(' | ')' | ':' | '|'));
        let numbered = word.bytes().any(|byte| byte.is_ascii_digit());
        let unit = words.peek().map_or("", |next| next.trim_matches(|c: char| !c.is_ascii_alphabetic()));
        let sized = ["GiB", "GB", "MiB", "MB", "B", "M", "parameters", "params"].contains(&unit);
        let plain = word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'/' | b'M' | b'B' | b'G'));
        // Seconds since 1970.
        let time = word.parse::<f64>().is_ok_and(|value| (1.4e9..2.2e9).contains(&value) && word.contains('.'));
        let speed = time || word.contains(['[', ']', '<']) || word.ends_with("s/it") || word.ends_with("it/s");
        let size_or_share = plain && (sized || word.len() >= 5 || word.contains('/'));
        if speed || numbered && !size_or_share && !word.contains(".safetensors") {
            said.extend(word.chars().filter(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '/')).take(64));
        } else {
            said.push_str(word);
        }
        said.push(' ');
        if said.len() > 240 {
            break;
        }
    }
    said
}

/// Settings of a block that was opened a few lines above.
fn nested(text: &str, line: u64, block: &mut Option<(Block, u64)>) -> Option<Setting> {
    let trimmed = text.trim();
    // Asked at a prompt, the shell answers on the next line, in KiB.
    if trimmed.ends_with("ulimit -v") {
        *block = Some((Block::AddressLimit, line));
        return None;
    }
    // So does the file of a control group, in bytes.
    let reads = trimmed.contains("cat /sys/fs/cgroup/");
    if reads && ["/memory.max", "/memory.limit_in_bytes"].iter().any(|file| trimmed.ends_with(file)) {
        *block = Some((Block::GroupLimit, line));
        return None;
    }
    if trimmed.ends_with('{') || trimmed.ends_with(':') {
        let opened = if trimmed.starts_with("Limits") || trimmed.starts_with("limits") {
            Some(Block::Limits)
        } else if trimmed.contains("zero_optimization") {
            Some(Block::Zero)
        } else if trimmed.contains("fp16") && !trimmed.contains("bf16") {
            Some(Block::Fp16)
        } else if trimmed.contains("bf16") {
            Some(Block::Bf16)
        } else if trimmed.contains("offload_optimizer") || trimmed.contains("offload_param") {
            Some(Block::Offload)
        } else {
            None
        };
        if opened.is_some() {
            *block = opened.map(|kind| (kind, line));
        }
        return None;
    }
    let (kind, opened) = (*block)?;
    if line > opened + 4 {
        *block = None;
        return None;
    }
    if kind == Block::AddressLimit {
        *block = None;
        return trimmed.parse::<u64>().ok().and_then(|_| address_limit(trimmed, line));
    }
    if kind == Block::GroupLimit {
        *block = None;
        // Of a group without a limit the old file holds the largest number of pages.
        let bytes: u64 = trimmed.parse().ok().filter(|bytes| *bytes < 1 << 60)?;
        return Some(Setting::MemoryLimit(Figure { bytes, half_width: 0, at: Span::line(line) }));
    }
    let (key, value) = trimmed.split_once(':')?;
    let key = key.trim().trim_matches(['"', '\'']);
    let value = value.trim().trim_end_matches(',').trim_matches(['"', '\'']);
    match (kind, key) {
        (Block::Limits, "memory") => memory_limit(value, line),
        (Block::Zero, "stage") => value.parse().ok().filter(|stage| *stage <= 3).map(Setting::Zero),
        (Block::Fp16, "enabled") if value == "true" => Some(Setting::Precision(Precision::Fp16)),
        (Block::Bf16, "enabled") if value == "true" => Some(Setting::Precision(Precision::Bf16)),
        (Block::Offload, "device") => match value {
            "cpu" | "nvme" => Some(Setting::Offload(true)),
            "none" => Some(Setting::Offload(false)),
            _ => None,
        },
        _ => None,
    }
}

fn memory_limit(value: &str, line: u64) -> Option<Setting> {
    let figure: Figure = settings::kubernetes_size(value, Span::line(line))?;
    Some(Setting::MemoryLimit(figure))
}

fn address_limit(kibibytes: &str, line: u64) -> Option<Setting> {
    settings::sized(kibibytes, Some("KiB"), Span::line(line))
        .map(|figure| Setting::AddressLimit(settings::exact(figure)))
}

impl Progress {
    /// Takes over what a later line tells.
    fn merge(&mut self, later: &Progress) {
        if later.epoch.is_some() && later.epoch != self.epoch {
            // A new epoch starts its steps over.
            self.step = None;
            self.steps = None;
        }
        self.epoch = later.epoch.or(self.epoch);
        self.epochs = later.epochs.or(self.epochs);
        self.step = later.step.or(self.step);
        self.steps = later.steps.or(self.steps);
        self.phase = later.phase.or(self.phase);
    }
}

/// True for a line of code that hands something to a model: `aux = model(x).data`, `self.net(x)`.
fn calls_the_model(code: &str) -> bool {
    ["model(", "net("].iter().any(|call| {
        code.match_indices(call).any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceback_within_or_below_its_message_is_the_messages() {
        let innermost = |log: &str, first: u64, last: u64| {
            let document = Document::from_text("test", log);
            let frames = ContextReader::new(&document).frames_at(Span::lines(first, last), None);
            frames.last().map(|frame| frame.function.clone())
        };
        let below = "Exception Message: Allocation on device\n## Stack Trace\n  File \"nodes.py\", line 9, in decode\n\
                     \x20   waves = vae.decode(x)\n\n## System\n";
        assert_eq!(innermost(below, 1, 1).as_deref(), Some("decode"));
        let twice = "failed to allocate 32.00MiB\nTraceback (most recent call last):\n  File \"a.py\", line 2, in \
                     __init__\n    self.state = make()\nRuntimeError: failed to allocate 32.00MiB\n";
        assert_eq!(innermost(twice, 1, 5).as_deref(), Some("__init__"));
        assert_eq!(innermost("out of memory\nsomething else\n  File \"a.py\", line 2, in f\n", 1, 1), None);
    }

    #[test]
    fn loads_are_equal_by_what_was_loaded_and_not_by_when() {
        let same = |a: &str, b: &str| tells_of_a_load(a) && tells_of_a_load(b) && of_a_load(a) == of_a_load(b);
        assert!(same(
            "INFO 11-22 06:14:29 run.py:47] Starting to load model...",
            "INFO 11-22 06:14:31 run.py:47] Starting to load model..."
        ));
        assert!(same("number of parameters: 94.83M", "number of parameters: 94.83M"));
        assert!(!same("number of parameters: 94.83M", "number of parameters: 12.10M"));
        assert!(same(
            "{\"ts\": 1795328768.062, \"event\": \"model_loaded\", \"parameters\": 22389640}",
            "{\"ts\": 1795328769.871, \"event\": \"model_loaded\", \"parameters\": 22389640}"
        ));
        assert!(!tells_of_a_load("Loading checkpoint shards: 100%|██████| 3/3 [00:02<00:00]"), "printed once or twice");
        assert!(same(
            "Loading checkpoint shards:   0%|      | 0/3 [00:00<?, ?it/s]",
            "Loading checkpoint shards:   0%|      | 0/3 [00:00<?, ?it/s]"
        ));
    }
}
