//! `oomdoc rehearse`: a training program runs a few steps on a simulated GPU, and the answer is whether it would fit a
//! real one.

mod described;

use super::explain::{self, FileEvents};
use super::proof::Proofs;
use crate::cli::{AddressOrders, Batches, RehearseFormat, RehearseOptions};
use crate::dialect::{self, Fact};
use crate::domain::Verdict;
use crate::incident::context::{Given, Precision};
use crate::input::{Document, Source};
use crate::rehearse::device;
use crate::rehearse::gpus::{self, Gpu};
use crate::rehearse::launch::{
    self, Addresses, DeviceModel, Exit, LaunchError, LaunchRequest, RawOutcome, Values, WarmFolder,
};
use crate::rehearse::model;
use crate::rehearse::outcome::{Answer, Assumed, End, Outside, Question, Run, Seen, Take};
use crate::rehearse::process::OomReport;
use crate::rehearse::remedy::{self, Remedy, Tried};
use crate::rehearse::search::{Search, Trial};
use crate::rehearse::view::{self, Level, View as FileView};
use crate::rehearse::warm::Warm;
use crate::report::Explanation;
use crate::report::gate::junit;
use crate::report::rehearse::{self as report, View};
use crate::report::view::to_json;
use crate::snapshot::analysis::SnapshotAnalysis;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Interval};
use anyhow::{Context, anyhow, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What stands for the batch in the command.
const PLACE: &str = "{batch}";
/// Offers that are looked at for one that can be rehearsed, and how many are.
const FIXES_LOOKED_AT: usize = 8;
const FIXES_TRIED: usize = 3;
/// Most that the reserved peaks of the two orders of addresses are taken to differ by, as a share: 12 % is the most that
/// was seen.
const ORDERS_DIFFER: f64 = 0.25;
/// Exit code after Ctrl-C, as shells have it.
pub(super) const INTERRUPTED: u8 = 130;

/// Rehearses and prints. The exit code: 0 fits, 1 does not, 2 bad usage, 3 cannot tell, 130 interrupted.
///
/// # Errors
/// When the question makes no sense, the program cannot be started, or standard output cannot be written.
pub fn run(options: &RehearseOptions) -> anyhow::Result<u8> {
    if options.like.as_deref() == Some("list") {
        let text = match options.format {
            RehearseFormat::Json => to_json(&report::json::gpus()),
            _ => report::terminal::gpus(options.output.style),
        };
        super::print(&text, &options.output)?;
        return Ok(0);
    }
    let rehearsed = match rehearse(options) {
        Ok(Some(rehearsed)) => rehearsed,
        Ok(None) => {
            unanswered(&Text::new("interrupted", "已中断"), options);
            return Ok(INTERRUPTED);
        }
        Err(error) => {
            unanswered(&Text::same(format!("{error:#}")), options);
            return Err(error);
        }
    };
    if let Some(folder) = &options.keep {
        keep(folder, &rehearsed.kept).with_context(|| folder.display().to_string())?;
    }
    let (text, code) = (rehearsed.text(options), rehearsed.answer.verdict.exit_code());
    // The runs' folders go before the report: whoever ends it while it waits for a reader leaves none behind.
    drop(rehearsed);
    super::print(&text, &options.output)?;
    Ok(code)
}

/// A document for the build server that is to read one, where there is no answer.
fn unanswered(why: &Text, options: &RehearseOptions) {
    let (checks, lang) = (report::unanswered(why), options.output.style.lang);
    let text = match options.format {
        RehearseFormat::Junit => junit::render(&checks, lang),
        RehearseFormat::Github => super::github_step(&checks, lang),
        RehearseFormat::Terminal | RehearseFormat::Json => return,
    };
    // Why there is no answer is what matters; that it could not be printed twice is not.
    let _ = super::print(&text, &options.output);
}

/// What came of it all, with the files of the runs that the report looks into.
pub(super) struct Rehearsed {
    answer: Answer,
    explanation: Option<Explanation>,
    kept: Vec<(Option<u64>, RawOutcome)>,
}

impl Rehearsed {
    /// The report in the format of the options.
    pub(super) fn text(&self, options: &RehearseOptions) -> String {
        let shown = self.answer.shown().map(|run| run.batch);
        let peak = self.kept.iter().find(|(batch, _)| Some(*batch) == shown).and_then(|(_, raw)| analysis(raw));
        let style = options.output.style;
        let view = View { answer: &self.answer, peak: peak.as_ref(), explanation: self.explanation.as_ref(), style };
        match options.format {
            RehearseFormat::Terminal => report::terminal::render(&view),
            RehearseFormat::Json => to_json(&report::json::document(&view)),
            RehearseFormat::Junit => junit::render(&report::checks(&view), style.lang),
            RehearseFormat::Github => super::github_step(&report::checks(&view), style.lang),
        }
    }
}

/// Makes all runs and puts them together; `None` where the user interrupted them.
///
/// # Errors
/// When the question makes no sense or the program cannot be started.
pub(super) fn rehearse(options: &RehearseOptions) -> anyhow::Result<Option<Rehearsed>> {
    let lang = options.output.style.lang;
    let told = |text: Text| anyhow!("{}", text.in_lang(lang));
    if !device::CARRIED {
        return Err(told(LaunchError::Unsupported.text()));
    }
    let options = &described::with_command(options).map_err(told)?;
    let question = question(options).map_err(told)?;
    let mut stage = Stage::new(options, &question).map_err(|error| told(error.text()))?;
    match stage.answer() {
        Ok((answer, explanation)) => Ok(Some(Rehearsed { answer, explanation, kept: stage.kept })),
        Err(Stop::Interrupted) => Ok(None),
        Err(Stop::LaunchRequest(error)) => Err(told(error.text())),
        Err(Stop::Model(problem)) => Err(told(problem.text())),
    }
}

/// Turns the command line into a question, or tells what is wrong with it.
fn question(options: &RehearseOptions) -> Result<Question, Text> {
    let gpu = match (&options.like, options.gpu_memory) {
        (Some(name), total) => Gpu::of(gpus::find(name).map_err(|error| error.text(name))?, total),
        (None, Some(total)) if total > 0 => Gpu::of_size(total),
        _ => {
            return Err(Text::new(
                "which GPU? Give --like \"RTX 3090\" (--like list prints all that are known) or --gpu-memory 24GiB",
                "要在哪款 GPU 上预演？请给出 --like \"RTX 3090\"（--like list 列出已知型号）或 --gpu-memory 24GiB",
            ));
        }
    };
    let headroom = options.headroom.share(gpu.capacity());
    if headroom >= 1.0 {
        let (room, capacity) = (options.headroom.text(), Bytes(gpu.capacity()));
        return Err(text!(
            en: "a headroom of {room} leaves nothing of the {capacity} of the GPU",
            zh: "余量 {room} 不会给这块 {capacity} 的 GPU 留下任何可用显存"
        ));
    }
    if options.command.is_empty() {
        return Err(Text::new(
            "which program? Put it after --, such as: oomdoc rehearse --like 3090 -- python train.py",
            "要预演哪个程序？请写在 -- 之后，例如：oomdoc rehearse --like 3090 -- python train.py",
        ));
    }
    let command: Vec<String> = options.command.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let has_place = command.iter().any(|part| part.contains(PLACE))
        || options.env.iter().filter_map(|(_, value)| value.as_ref()).any(|value| value.contains(PLACE));
    match (&options.batch, has_place) {
        (Some(_), false) => Err(no_place(&command)),
        (None, true) => Err(Text::new(
            "the command has {batch}, but no batches are given: --batch 8,16,32, --batch 1..64 or --find-batch",
            "命令中有 {batch}，但没有给出批大小：请用 --batch 8,16,32、--batch 1..64 或 --find-batch",
        )),
        _ => Ok(Question {
            gpu,
            gpus: options.gpus,
            headroom,
            steps: options.steps,
            world: options.world_size,
            command,
            range: match options.batch {
                Some(Batches::Between(from, to)) => Some((from, to)),
                _ => None,
            },
        }),
    }
}

/// Shows where `{batch}` belongs, if an argument looks like a batch.
fn no_place(command: &[String]) -> Text {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let about_batches = |name: &str| name.to_ascii_lowercase().contains("batch") || matches!(name, "-b" | "--bs");
    let mut shown: Vec<String> = command.to_vec();
    let mut found = false;
    for i in 0..command.len() {
        let Some(part) = command.get(i) else { continue };
        if let Some((name, value)) = part.split_once('=')
            && about_batches(name)
            && is_number(value)
        {
            shown[i] = format!("{name}={PLACE}");
            found = true;
        } else if about_batches(part)
            && let Some(next) = command.get(i + 1)
            && is_number(next)
        {
            shown[i + 1] = PLACE.to_string();
            found = true;
        }
    }
    if !found {
        shown.push("--batch-size {batch}".into());
    }
    let shown = shown.join(" ");
    match found {
        true => text!(
            en: "--batch needs {{batch}} in the command, here: {shown}",
            zh: "--batch 需要命令中有 {{batch}}，应写成：{shown}"
        ),
        false => text!(
            en: "--batch needs {{batch}} where the program takes its batch size, such as: {shown}",
            zh: "--batch 需要在程序的批大小参数处写 {{batch}}，例如：{shown}"
        ),
    }
}

/// Why rehearsing ended without an answer.
enum Stop {
    Interrupted,
    LaunchRequest(LaunchError),
    /// The model that was described can't be built.
    Model(model::Problem),
}

/// The best private view that can be had, and the folder in which it can. That of the agent alone is taken only where
/// it is asked for: it does not see what libraries write by themselves.
fn view(options: &RehearseOptions) -> Result<(FileView, Option<PathBuf>), LaunchError> {
    let offline = !options.network;
    // Without its own file nothing can stand between, which the agent can do without.
    let program = std::env::current_exe().ok();
    let at = |level| FileView { level, offline, program: program.clone() };
    if let Some(level) = options.view.filter(|level| level.redirects() || *level == Level::Off) {
        return Ok((at(level), None));
    }
    let Some(stage) = &program else { return Err(LaunchError::OnlyAgent) };
    let bases = launch::bases();
    let overlay = bases.iter().find(|base| view::can_be_had(stage, base, Level::Overlay, offline));
    if overlay.is_some() || options.view == Some(Level::Overlay) {
        return Ok((at(Level::Overlay), overlay.cloned()));
    }
    match bases.first().is_some_and(|base| view::can_be_had(stage, base, Level::Landlock, offline)) {
        true => Ok((at(Level::Landlock), None)),
        false => Err(LaunchError::OnlyAgent),
    }
}

/// How much of the device there is and what is taken before the program starts, in bytes.
#[derive(Clone, Copy)]
struct Room {
    total: u64,
    context: u64,
    others: u64,
}

/// The process from which runs are forked.
enum Warmth {
    Untried,
    Cold,
    Warm(Warm, #[expect(dead_code, reason = "the process's folder goes with it")] WarmFolder),
}

/// Everything that the runs share.
struct Stage<'a> {
    options: &'a RehearseOptions,
    question: &'a Question,
    outside: Outside,
    /// How the user's files are kept from the program, and where its private folders lie.
    view: FileView,
    base: Option<PathBuf>,
    /// Whether memory hangs on values that are read, once it was tried.
    assumed: Option<Assumed>,
    runs: Vec<Run>,
    /// The batch and the files of the runs that the report looks into: the largest that fits and the first that ran
    /// out.
    kept: Vec<(Option<u64>, RawOutcome)>,
    /// What further runs are forked from, once the first one has shown what is to be imported.
    warm: Warmth,
    /// Going on after the steps asked for showed nothing but more of the same in the first run.
    nothing_later: bool,
    /// Whether allocations are recorded for the place of the peak; off where PyTorch itself fails by it.
    records: bool,
    started: Instant,
    bar: ProgressBar,
}

impl<'a> Stage<'a> {
    fn new(options: &'a RehearseOptions, question: &'a Question) -> Result<Stage<'a>, LaunchError> {
        let outside = Outside::of(&question.gpu, question.world);
        let drawn = options.format == RehearseFormat::Terminal && std::io::stderr().is_terminal();
        let target = if drawn { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        if drawn {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        launch::sweep();
        let (view, base) = view(options)?;
        Ok(Stage {
            options,
            question,
            outside,
            view,
            base,
            assumed: None,
            runs: Vec::new(),
            kept: Vec::new(),
            warm: Warmth::Untried,
            nothing_later: false,
            records: true,
            started: Instant::now(),
            bar,
        })
    }

    /// Makes all runs and says what follows, with the first failure explained.
    fn answer(&mut self) -> Result<(Answer, Option<Explanation>), Stop> {
        let cut_short = self.rehearse()?;
        let runs = std::mem::take(&mut self.runs);
        let mut answer = Answer::of(self.question.clone(), runs, cut_short, self.started.elapsed().as_secs_f64());
        answer.view = self.view.clone();
        let mut explanation = answer.first_oom().map(|(run, oom)| {
            let raw = self.kept.iter().find(|(batch, _)| *batch == run.batch).map(|(_, raw)| raw);
            explain(oom, raw, run.batch)
        });
        if let Some(explanation) = &mut explanation {
            answer.tried = self.try_fixes(&answer, explanation)?;
        }
        self.bar.finish_and_clear();
        answer.seconds = self.started.elapsed().as_secs_f64();
        Ok((answer, explanation))
    }

    /// Makes all runs. The text says why not all were made that were wanted.
    fn rehearse(&mut self) -> Result<Option<Text>, Stop> {
        match self.options.batch.clone() {
            None => {
                self.run(None)?;
                Ok(None)
            }
            Some(Batches::List(batches)) => {
                for batch in batches {
                    if self.is_late() {
                        return Ok(Some(self.late()));
                    }
                    self.run(Some(batch))?;
                }
                Ok(None)
            }
            Some(Batches::Between(from, to)) => self.search(from, to),
        }
    }

    fn is_late(&self) -> bool {
        !self.runs.is_empty() && self.started.elapsed() > self.options.search_limit
    }

    fn late(&self) -> Text {
        let seconds = self.options.search_limit.as_secs();
        text!(
            en: "the search was cut short after {seconds} s (--search-limit)",
            zh: "搜索在 {seconds} 秒后停止（--search-limit）"
        )
    }

    fn search(&mut self, from: u64, to: u64) -> Result<Option<Text>, Stop> {
        let usable = self.question.gpu.capacity() as f64 * (1.0 - self.question.headroom);
        let mut search = Search::new(from, to, usable).starting_with(self.options.first_batch);
        while let Some(batch) = search.next() {
            if self.is_late() {
                return Ok(Some(self.late()));
            }
            let run = self.run(Some(batch))?;
            let needed = run.oom().is_none().then(|| run.needed().high as f64);
            let fits = match run.verdict {
                // A lower bound still tells which batches are too large.
                Verdict::Unknown if run.takes.iter().all(|take| take.end == End::Done) => true,
                // What keeps one batch from running keeps the others.
                Verdict::Unknown => return Ok(None),
                verdict => verdict == Verdict::Fits,
            };
            search.note(batch, Trial { fits, needed });
        }
        Ok(None)
    }

    /// Rehearses one batch and notes what came of it.
    fn run(&mut self, batch: Option<u64>) -> Result<&Run, Stop> {
        let lang = self.options.output.style.lang;
        let label = match batch {
            Some(batch) => text!(en: "batch {batch}", zh: "批大小 {batch}"),
            None => Text::new("the program runs", "程序运行中"),
        };
        self.bar.set_message(label.in_lang(lang).to_string());
        let started = Instant::now();
        let mut raws = self.takes(batch, self.as_expected(), self.records)?;
        let (gpu, headroom) = (&self.question.gpu, self.question.headroom);
        let capacity = gpu.capacity();
        let spread = gpu.total.half_width() * 2;
        let mut takes: Vec<Take> = raws.iter().map(|(addresses, raw)| self.take(*addresses, raw)).collect();
        if self.records && takes.iter().any(Take::fails_by_recording) {
            self.records = false;
            raws = self.takes(batch, self.as_expected(), false)?;
            takes = raws.iter().map(|(addresses, raw)| self.take(*addresses, raw)).collect();
        }
        if let (Some((_, raw)), Some(take), true) = (raws.first(), takes.first(), self.runs.is_empty()) {
            let complete = raw.processes.iter().filter_map(|process| process.complete);
            let complete = complete.max_by_key(|peak| peak.reserved_bytes);
            let same = complete.is_some_and(|peak| peak.reserved_bytes == take.reserved);
            let stages = take.stages;
            self.nothing_later = same && take.end == End::Done && !stages.whole && !stages.evaluated && !stages.saved;
        }
        let mut run = Run::of(batch, takes);
        self.try_other_values(&mut raws, &mut run)?;
        self.select_everything(&raws, &mut run)?;
        run.assumed = match run.assumed.take() {
            None => self.assume(&raws, &run, Values::Zeros)?,
            Some(Assumed::Instead { of: of @ End::Failed(_), values, .. }) => {
                self.assume(&raws, &run, values)?;
                Some(Assumed::Instead { of, values, alike: self.assumed == Some(Assumed::Same) })
            }
            settled => settled,
        };
        if run.cache_decides(capacity, headroom) {
            // The same device without the headroom, and with all estimates at their upper end.
            let outside = run.takes.iter().map(|take| take.outside.sum().high).max().unwrap_or(0);
            let margin = (capacity as f64 * headroom) as u64;
            let others = margin + (outside.max(0) as u64).saturating_sub(self.outside.simulated());
            let again = self.takes(batch, Room { others, ..self.as_expected() }, false)?;
            let ran = |(addresses, raw): &(Addresses, RawOutcome)| self.take(*addresses, raw).end == End::Done;
            run.pressed = Some(again.iter().all(ran));
        }
        if run.is_close(spread) {
            // The same where the estimates are kind: the largest device of the name, the smallest context.
            let low = run.takes.iter().map(|take| take.outside.sum().low).min().unwrap_or(0).max(0) as u64;
            let again = self.takes(batch, Room { total: capacity + spread, context: low, others: 0 }, false)?;
            let ran = |(addresses, raw): &(Addresses, RawOutcome)| self.take(*addresses, raw).end == End::Done;
            run.pressed = Some(again.iter().any(ran));
        }
        run.judge(capacity, headroom);
        run.seconds = started.elapsed().as_secs_f64();
        let line = report::terminal::progress(&run, self.question, self.options.output.style);
        self.bar.println(line);
        // The files of the run that the report will look into; those of others go.
        let deciding = run.takes.iter().position(|take| Some(take) == run.deciding()).unwrap_or(0);
        if deciding < raws.len() {
            let (_, raw) = raws.swap_remove(deciding);
            self.keep(&run, raw);
        }
        self.runs.push(run);
        Ok(&self.runs[self.runs.len() - 1])
    }

    /// Whether the program read values that nobody computed, and nobody said what they are to be.
    fn reads_unknown(&self, raw: &RawOutcome) -> bool {
        let mut traps = raw.processes.iter().flat_map(|process| &process.traps);
        let read = raw.device_calls.iter().any(|calls| calls.unknown_reads > 0);
        self.options.values == Values::Zeros && (read || traps.any(|trap| trap.kind == "scale-read"))
    }

    /// Where the program failed, or ran out of memory, after it had read values that nobody computed: does it go on
    /// with other ones? Then the run that did takes the place of the one that did not, as a lower bound.
    fn try_other_values(&self, raws: &mut Vec<(Addresses, RawOutcome)>, run: &mut Run) -> Result<(), Stop> {
        let (Some((order, raw)), Some(take)) = (raws.first(), run.takes.first()) else { return Ok(()) };
        let order = *order;
        let values: &[Values] = match take.end {
            End::Failed(_) => &[Values::Large, Values::Ones],
            End::OutOfMemory(_) if self.assumed != Some(Assumed::Same) => &[Values::Large],
            End::OutOfMemory(_) | End::Done | End::TimeUp => return Ok(()),
        };
        if !self.reads_unknown(raw) {
            return Ok(());
        }
        let steps = u64::from(self.options.steps);
        for values in values {
            let other = self.launch_with(*values, run.batch, order, raw, false)?;
            let seen = self.take(order, &other);
            // One that stops before it came as far as the other says nothing of it.
            if seen.end == End::Done && seen.steps >= take.steps && (seen.stages.whole || seen.steps >= steps) {
                run.assumed = Some(Assumed::Instead { of: take.end.clone(), values: *values, alike: false });
                run.takes = vec![seen];
                *raws = vec![(order, other)];
                return Ok(());
            }
        }
        Ok(())
    }

    /// A run with other values in place of those that are not computed. `briefly`: no further than the steps asked for.
    fn launch_with(
        &self,
        values: Values,
        batch: Option<u64>,
        order: Addresses,
        like: &RawOutcome,
        briefly: bool,
    ) -> Result<RawOutcome, Stop> {
        let mut request = self.request(batch, order, self.as_expected(), false);
        request.values = values;
        if briefly {
            request.ahead = Duration::ZERO;
        }
        // A loop that waits for a small value ends no more.
        request.time_limit = request.time_limit.min(Duration::from_secs_f64(like.seconds.clamp(0.0, 1e6) * 3.0 + 20.0));
        let raw = self.launch(&request).map_err(Stop::LaunchRequest)?;
        match raw.exit {
            Exit::Interrupted => Err(Stop::Interrupted),
            _ => Ok(raw),
        }
    }

    /// Where the program read values that nobody computed, the same again with others than `first`: does memory hang on
    /// them?
    fn assume(&mut self, raws: &[(Addresses, RawOutcome)], run: &Run, first: Values) -> Result<Option<Assumed>, Stop> {
        if let Some(Assumed::Same) = self.assumed {
            return Ok(None);
        }
        let Some((order, raw)) = raws.first() else { return Ok(None) };
        // What a described model reads are masks of its own making, which other values would contradict.
        let described = self.options.model.is_some();
        if described || !self.reads_unknown(raw) || run.oom().is_some() || !run.is_whole() {
            return Ok(None);
        }
        if let Warmth::Untried = self.warm {
            self.warm_up(&self.request(run.batch, *order, self.as_expected(), false), raw);
        }
        let stage: &Stage = self;
        let attempt = |values: Values| stage.assume_values(run, *order, raw, first, values);
        let other = if first == Values::Large { Values::Unit } else { Values::Large };
        let (mut assumed, mut agreed) = (Assumed::Same, false);
        for values in [other, Values::Negative, Values::Huge, Values::Mixed].chunks(stage.jobs()) {
            let tried = std::thread::scope(|scope| {
                let threads: Vec<_> = values.iter().map(|values| scope.spawn(|| attempt(*values))).collect();
                threads.into_iter().filter_map(|thread| thread.join().ok()).collect::<Result<Vec<_>, Stop>>()
            })?;
            agreed |= tried.contains(&Some(Assumed::Same));
            let otherwise = tried.into_iter().flatten().find(|tried| *tried != Assumed::Same);
            assumed = otherwise.unwrap_or(Assumed::Same);
            if assumed != Assumed::Same {
                break;
            }
        }
        // Where all the others are refused as well as zeros, there is nothing to compare with.
        if first != Values::Zeros && !agreed {
            return Ok(None);
        }
        self.assumed = Some(assumed.clone());
        Ok(Some(assumed))
    }

    /// Where selections by unknown values gave no rows, the same again with all that they can give: the figures then
    /// reach from the one to the other. Where that is another answer, or does not end well, it is not known.
    fn select_everything(&self, raws: &[(Addresses, RawOutcome)], run: &mut Run) -> Result<(), Stop> {
        let (Some((order, raw)), Some(take)) = (raws.first(), run.takes.first()) else { return Ok(()) };
        let bounded = run.takes.iter().all(|take| take.shortfalls(true).is_empty());
        let settled = run.oom().is_some() || run.assumed.is_some();
        if self.options.values != Values::Zeros || !bounded || settled || !take.selects_nothing() {
            return Ok(());
        }
        let other = self.launch_with(Values::Ones, run.batch, *order, raw, false)?;
        let most = self.take(*order, &other);
        let ended = most.end == End::Done && most.steps >= take.steps.min(u64::from(self.options.steps));
        if !ended || !most.shortfalls(false).is_empty() {
            return Ok(());
        }
        let (capacity, headroom) = (self.question.gpu.capacity(), self.question.headroom);
        let without = Verdict::of(run.needed(), capacity, headroom);
        let needed = most.needed();
        match Verdict::of(needed, capacity, headroom) == without {
            true => run.most = Some(most),
            false => run.assumed = Some(Assumed::Selections { needed: needed.high.max(0) as u64 }),
        }
        Ok(())
    }

    /// What comes of other values than `first`; `None` where the program refuses them, or ends there with less.
    fn assume_values(
        &self,
        run: &Run,
        order: Addresses,
        raw: &RawOutcome,
        first: Values,
        values: Values,
    ) -> Result<Option<Assumed>, Stop> {
        let (Some(take), bounded) = (run.takes.first(), run.most.is_some()) else { return Ok(None) };
        let other = self.launch_with(values, run.batch, order, raw, !take.stages.whole)?;
        let seen = self.take(order, &other);
        // Of a program that went on, only what lies within the steps asked for is the same work.
        let complete =
            raw.processes.iter().filter_map(|process| process.complete).max_by_key(|peak| peak.reserved_bytes);
        let base = match complete.filter(|_| !take.stages.whole) {
            Some(peak) => (peak.allocated_bytes, peak.reserved_bytes),
            None => (take.allocated, take.reserved),
        };
        let ended = seen.end == End::Done && seen.steps >= take.steps.min(u64::from(self.options.steps));
        // A program may well refuse what no loss or count can be: that says nothing of its memory.
        // Nor does it where selections were seen to keep nothing and to keep everything: other values contradict both.
        // One that ends at once where a value is out of all bounds needs no more for that either.
        let failed = matches!(seen.end, End::Failed(_));
        let stopped = seen.end == End::Done && seen.stages.whole && seen.allocated <= base.0 && seen.reserved <= base.1;
        // Where zeros are refused, so is what is now and then one of them.
        let refused = match values {
            Values::Huge => failed || stopped,
            Values::Negative => failed,
            Values::Mixed if first != Values::Zeros => failed,
            _ => failed && bounded,
        };
        // Where selections were seen to keep everything, the figures reach to what that needs.
        let same = match &run.most {
            Some(most) => seen.allocated <= most.allocated && seen.reserved <= most.reserved,
            None => (seen.allocated, seen.reserved) == base,
        };
        if refused {
            return Ok(None);
        }
        if ended && same {
            return Ok(Some(Assumed::Same));
        }
        let reads = take.traps.iter().filter(|trap| ["value-read", "scale-read"].contains(&trap.kind.as_str()));
        let places = reads.filter_map(|trap| trap.place.clone()).collect();
        Ok(Some(Assumed::Other { values, reserved: ended.then_some(seen.reserved), places }))
    }

    /// Rehearses the fixes that are offered first, where that needs no change of the program, until one helps. Where a
    /// smaller batch was seen to fit, that is the answer.
    fn try_fixes(&self, answer: &Answer, explanation: &mut Explanation) -> Result<Vec<Tried>, Stop> {
        let mut tried = Vec::new();
        let Some((failed, _)) = answer.first_oom() else { return Ok(tried) };
        let Some(take) = failed.deciding() else { return Ok(tried) };
        let raw = self.kept.iter().find(|(batch, _)| *batch == failed.batch).map(|(_, raw)| raw);
        let processes = || raw.into_iter().flat_map(|raw| &raw.processes);
        let observed = processes().find_map(|process| process.batch.as_ref());
        let loader = observed.filter(|batch| batch.from.as_deref() == Some("DataLoader"));
        let loader = loader.and_then(|batch| batch.observed);
        let setting = |name: &str| processes().find_map(|process| process.settings.get(name));
        let uses = setting("libraries").is_some_and(|libraries| libraries.get("transformers").is_some());
        let recomputes = setting("checkpointing").and_then(|value| value.as_bool()) == Some(true);
        let diagnosis = explanation.diagnoses.iter_mut().find(|diagnosis| diagnosis.incident.primary);
        let Some(plan) = diagnosis.map(|diagnosis| &mut diagnosis.plan) else { return Ok(tried) };
        if answer.largest.is_some() {
            return Ok(tried);
        }
        for ranked in plan.offers.iter().take(FIXES_LOOKED_AT) {
            let Some(remedy) = Remedy::of(ranked.fix.id, &ranked.offer, loader, uses && !recomputes) else { continue };
            let again = tried.iter().any(|tried: &Tried| tried.remedy == remedy);
            if again || tried.len() == FIXES_TRIED || self.started.elapsed() > self.options.search_limit {
                continue;
            }
            let title = (ranked.fix.title)();
            self.bar.set_message(title.in_lang(self.options.output.style.lang).to_string());
            let mut request = self.request(failed.batch, take.addresses, self.as_expected(), false);
            request.ahead = Duration::ZERO;
            request.remedy = Some(remedy.clone());
            let raw = launch::run(&request, None).map_err(Stop::LaunchRequest)?;
            if raw.exit == Exit::Interrupted {
                return Err(Stop::Interrupted);
            }
            let takes = vec![self.take(take.addresses, &raw)];
            let mut run = Run::of(failed.batch, takes);
            run.judge(self.question.gpu.capacity(), self.question.headroom);
            let came = Tried::of(ranked.fix.id, remedy, &run);
            let helps = came.helps();
            tried.push(came);
            if helps {
                break;
            }
        }
        remedy::settle(plan, &tried);
        Ok(tried)
    }

    /// The device as far as is known, the estimates at their middle.
    fn as_expected(&self) -> Room {
        Room { total: self.question.gpu.capacity(), context: self.outside.simulated(), others: 0 }
    }

    /// Keeps the files of the largest batch that fits and of the smallest that ran out of memory.
    fn keep(&mut self, run: &Run, raw: RawOutcome) {
        let verdict_of = |batch: Option<u64>| self.runs.iter().find(|run| run.batch == batch).map(|run| run.verdict);
        let same_kind = |other: &Option<u64>| verdict_of(*other) == Some(run.verdict);
        let rival = self.kept.iter().position(|(batch, _)| same_kind(batch));
        match rival {
            None => self.kept.push((run.batch, raw)),
            Some(at) => {
                let smaller_wins = run.verdict != Verdict::Fits;
                let wins = self.kept.get(at).is_some_and(|(batch, _)| (run.batch < *batch) == smaller_wins);
                if wins {
                    self.kept.remove(at);
                    self.kept.push((run.batch, raw));
                }
            }
        }
    }

    fn take(&self, addresses: Addresses, raw: &RawOutcome) -> Take {
        let seen =
            Seen { processes: &raw.processes, exit: raw.exit, stderr_tail: &raw.stderr_tail, seconds: raw.seconds };
        let mut take = Take::of(addresses, seen, &self.outside, self.options.steps);
        if let End::OutOfMemory(oom) = &take.end {
            take.missing = missing(&oom.message);
        }
        if let Some(growth) = &mut take.growth {
            growth.fill(self.question.gpu.capacity().saturating_sub(self.outside.simulated()));
        }
        take.changes = raw.changes.clone();
        take.kept_back = raw.kept_back.clone();
        take
    }

    /// Starts the process from which further runs are forked, where a run has shown what it is to import.
    fn warm_up(&mut self, request: &LaunchRequest, raw: &RawOutcome) {
        let ended = !matches!(self.take(request.addresses, raw).end, End::Failed(_) | End::TimeUp);
        let warm = if ended { launch::warm(request, raw) } else { None };
        self.warm = warm.map_or(Warmth::Cold, |(warm, folder)| Warmth::Warm(warm, folder));
    }

    /// One run, forked where that can be. A failure may come of the fork itself, so it counts only where the program
    /// fails when it is started anew.
    fn launch(&self, request: &LaunchRequest) -> Result<RawOutcome, LaunchError> {
        let warm = match &self.warm {
            Warmth::Warm(warm, _) => Some(warm),
            Warmth::Untried | Warmth::Cold => None,
        };
        let raw = launch::run(request, warm)?;
        match raw.forked && matches!(self.take(request.addresses, &raw).end, End::Failed(_)) {
            true => launch::run(request, None),
            false => Ok(raw),
        }
    }

    /// Runs at a time.
    fn jobs(&self) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.options.jobs.unwrap_or(if processors > 1 { 2 } else { 1 }).max(1)
    }

    /// The program with each order of addresses, at once where there are processors for it.
    fn takes(&mut self, batch: Option<u64>, room: Room, records: bool) -> Result<Vec<(Addresses, RawOutcome)>, Stop> {
        let orders: &[Addresses] = match self.options.addresses {
            AddressOrders::Both => &[Addresses::Up, Addresses::Down],
            AddressOrders::Up => &[Addresses::Up],
            AddressOrders::Down => &[Addresses::Down],
        };
        let jobs = self.jobs();
        let mut results: Vec<Result<RawOutcome, LaunchError>> = Vec::new();
        let more = orders.len() > 1 || self.options.batch.is_some();
        if let (Warmth::Untried, true, Some(first)) = (&self.warm, more, orders.first()) {
            // The first run of all shows what the others would import again.
            let request = self.request(batch, *first, room, records);
            let raw = launch::run(&request, None).map_err(Stop::LaunchRequest)?;
            self.warm_up(&request, &raw);
            results.push(Ok(raw));
        }
        let launch = |order: Addresses| self.launch(&self.request(batch, order, room, records));
        if let (true, true, Some(first)) = (self.options.batch.is_some(), results.is_empty(), orders.first()) {
            results.push(launch(*first));
        }
        let settled = match (results.first(), orders.first()) {
            (Some(Ok(raw)), Some(first)) => self.options.batch.is_some() && self.settles(&self.take(*first, raw)),
            _ => false,
        };
        let rest = if settled { &[] } else { orders.get(results.len()..).unwrap_or_default() };
        if jobs > 1 && rest.len() > 1 {
            results.extend(std::thread::scope(|scope| {
                let threads: Vec<_> = rest.iter().map(|order| scope.spawn(|| launch(*order))).collect();
                threads.into_iter().filter_map(|thread| thread.join().ok()).collect::<Vec<_>>()
            }));
        } else {
            results.extend(rest.iter().map(|order| launch(*order)));
        }
        let mut raws = Vec::new();
        for (order, result) in orders.iter().zip(results) {
            let raw = result.map_err(Stop::LaunchRequest)?;
            if raw.exit == Exit::Interrupted {
                return Err(Stop::Interrupted);
            }
            if let Some(problem) = model::Problem::of(&raw).filter(|_| self.options.model.is_some()) {
                return Err(Stop::Model(problem));
            }
            raws.push((*order, raw));
        }
        Ok(raws)
    }

    /// Whether a batch's answer is known from one order of addresses: it ran out of memory, or there is so much room
    /// that the other order can't take it. Of batches that are compared, few are near the limit.
    fn settles(&self, take: &Take) -> bool {
        let needed = take.needed();
        let more = (take.reserved as f64 * ORDERS_DIFFER) as i128;
        let needed = Interval { high: needed.high.saturating_add(more), ..needed };
        match take.end {
            End::OutOfMemory(_) => true,
            End::Done => Verdict::of(needed, self.question.gpu.capacity(), self.question.headroom) == Verdict::Fits,
            End::Failed(_) | End::TimeUp => false,
        }
    }

    /// The order of addresses in which the program goes on after the steps asked for.
    fn first_order(&self) -> Addresses {
        if self.options.addresses == AddressOrders::Down { Addresses::Down } else { Addresses::Up }
    }

    fn request(&self, batch: Option<u64>, addresses: Addresses, room: Room, records: bool) -> LaunchRequest {
        let gpu = &self.question.gpu;
        let options = self.options;
        let put = |part: &OsStr| match (batch, part.to_str()) {
            (Some(batch), Some(text)) => OsString::from(text.replace(PLACE, &batch.to_string())),
            _ => part.to_os_string(),
        };
        LaunchRequest {
            command: options.command.iter().map(|part| put(part)).collect(),
            device: DeviceModel {
                name: format!("NVIDIA {}", gpu.name),
                total: room.total,
                context: room.context,
                others: room.others,
                compute: gpu.compute,
                multiprocessors: gpu.multiprocessors,
                cudnn_workspace: 0,
            },
            devices: options.gpus,
            steps: options.steps,
            ahead: if addresses == self.first_order() && !self.nothing_later { options.ahead } else { Duration::ZERO },
            world_size: options.world_size,
            rank: 0,
            addresses,
            time_limit: options.time_limit,
            snapshot: records,
            values: options.values,
            answers: options.answers,
            quiet: !options.show_output,
            env: options
                .env
                .iter()
                .map(|(name, value)| (name.into(), value.as_ref().map(|value| put(OsStr::new(value)))))
                .collect(),
            view: self.view.clone(),
            base: self.base.clone(),
            remedy: None,
            torch: options.torch.clone(),
            torch_python: options.torch_python.clone(),
        }
    }
}

/// The snapshot of a run, analysed; `None` where there is none to read.
fn analysis(raw: &RawOutcome) -> Option<SnapshotAnalysis> {
    let path = raw.snapshots.iter().max_by_key(|path| std::fs::metadata(path).map_or(0, |meta| meta.len()))?;
    super::replay::peaks(&Source::File(path.clone()))
}

/// The message as a log holds it, after other lines.
fn as_log(message: &str, before: &str) -> Document {
    let known = ["OutOfMemoryError", "RuntimeError"].iter().any(|name| message.contains(name));
    let kind = if known { "" } else { "torch.OutOfMemoryError: " };
    Document::from_text("rehearsal", &format!("{before}{kind}{message}\n"))
}

/// What a message says was asked for, less what it says was free.
fn missing(message: &str) -> Option<u64> {
    let events = dialect::events(&as_log(message, ""));
    let facts = &events.first()?.facts;
    Some(facts.get(Fact::Requested)?.bytes.saturating_sub(facts.get(Fact::Free)?.bytes))
}

/// The diagnosis of an out-of-memory error of the program, with all that was seen of it.
fn explain(oom: &OomReport, raw: Option<&RawOutcome>, batch: Option<u64>) -> Explanation {
    let process = raw.and_then(|raw| raw.processes.iter().find(|process| process.oom.is_some()));
    let setting = |name: &str| process.and_then(|process| process.settings.get(name));
    let mut log = String::new();
    if setting("checkpointing").and_then(|value| value.as_bool()) == Some(true) {
        log.push_str("gradient_checkpointing: True\n");
    }
    if let Some(conf) = setting("alloc_conf").and_then(|value| value.as_str()).filter(|conf| !conf.is_empty()) {
        log.push_str(&format!("PYTORCH_CUDA_ALLOC_CONF={conf}\n"));
    }
    log.push_str("Traceback (most recent call last):\n");
    for frame in oom.stack.iter().rev() {
        let (place, function) = frame.rsplit_once(' ').unwrap_or((frame, "<module>"));
        if let Some((file, line)) = place.rsplit_once(':') {
            log.push_str(&format!("  File \"{file}\", line {line}, in {function}\n"));
        }
    }
    let document = as_log(&oom.message, &log);
    let given = Given {
        batch_size: batch.or_else(|| process?.batch.as_ref()?.observed),
        optimizer: process.and_then(|process| process.optimizers.first()).map(|optimizer| optimizer.class.clone()),
        // Autocast is on where a type is named.
        precision: setting("autocast").and_then(|value| value.as_str()).map(|_| Precision::Mixed),
        ..Given::default()
    };
    let snapshots: Vec<Source> = raw.into_iter().flat_map(|raw| &raw.snapshots).cloned().map(Source::File).collect();
    let mut out = explain::diagnose_with(vec![FileEvents::of(&document, &given)], &given, &mut Proofs::new(&snapshots));
    // The folder is private and goes; the name is that under which --keep keeps it.
    let name = |source: &mut String| {
        if let Some(file) = Path::new(source.as_str()).file_name().and_then(OsStr::to_str) {
            *source = kept_name(batch, file);
        }
    };
    out.snapshots.iter_mut().for_each(|snapshot| name(&mut snapshot.source));
    out.diagnoses.iter_mut().filter_map(|found| found.incident.recording.as_mut()).for_each(|it| name(&mut it.source));
    out
}

/// Copies the snapshots to where the user wants them.
fn keep(folder: &Path, kept: &[(Option<u64>, RawOutcome)]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (batch, raw) in kept {
        for path in &raw.snapshots {
            let Some(name) = path.file_name().and_then(OsStr::to_str) else { bail!("a snapshot without a name") };
            std::fs::copy(path, folder.join(kept_name(*batch, name)))?;
        }
    }
    Ok(())
}

/// The name of a kept snapshot.
fn kept_name(batch: Option<u64>, file: &str) -> String {
    match batch {
        Some(batch) => format!("batch-{batch}-{file}"),
        None => file.to_string(),
    }
}
