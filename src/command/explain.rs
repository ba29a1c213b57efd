//! `oomdoc explain`: from a pasted log to a diagnosis and ranked fixes.

use super::progress::Progress;
use super::proof::Proofs;
use super::replay;
use crate::cause::conclusion::{self, Conclusion};
use crate::cause::decide;
use crate::cli::{ExplainFormat, ExplainOptions, Output};
use crate::dialect::stated;
use crate::domain::Sign;
use crate::host::{Root, processes};
use crate::incident::context::Given;
use crate::incident::timeline::Header;
use crate::incident::{Incident, Timeline, job, observed};
use crate::input::Source;
use crate::order::InOrder;
use crate::report::replay::Replayed;
use crate::report::view::to_json;
use crate::report::{self, Asked, Diagnosis, Explanation, InputSummary, Style};
use crate::system;
use crate::text::{Lang, Text};
use crate::{cause, dialect, fix, incident, input, input::Document};
use rayon::prelude::*;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::sync::Arc;

/// Reads, diagnoses and prints. The exit code: 0 an incident was found, 1 none, 2 a file could not be read.
///
/// # Errors
/// When no input could be read at all, or standard output cannot be written.
pub fn run(options: &ExplainOptions) -> anyhow::Result<u8> {
    let style = options.output.style;
    if options.sources.contains(&Source::Stdin) && std::io::stdin().is_terminal() {
        system::expect_paste();
        let hint = Text::new(
            "Paste the log or the error message, then press Ctrl-D (or name a file: oomdoc explain train.log).",
            "请粘贴日志或报错信息，然后按 Ctrl-D（也可以直接给出文件：oomdoc explain train.log）。",
        );
        let _ = writeln!(std::io::stderr(), "{}", hint.in_lang(style.lang));
    }
    // A snapshot that stands among the logs is read as what it is.
    let (dropped, sources): (Vec<Source>, Vec<Source>) =
        input::expand(&options.sources).into_iter().partition(replay::is_pickle);
    let progress = Progress::new(&sources);
    // Each document is dropped as soon as its incidents are read, so that thousands of logs need the memory of a few.
    let read: Vec<anyhow::Result<FileEvents>> = side_by_side(sources.iter().collect(), |source| {
        if let Some(watched) = watched(source)? {
            return Ok(watched);
        }
        let document = dialect::reader().read_with_progress(source, &mut progress.meter())?;
        Ok(FileEvents::of(&document, &options.given))
    });
    drop(progress);
    let mut files = Vec::new();
    let mut failures = Vec::new();
    for outcome in read {
        match outcome {
            Ok(file) => files.push(file),
            Err(error) => failures.push(error),
        }
    }
    if files.is_empty()
        && let Some(first) = failures.pop()
    {
        failures.iter().for_each(|error| super::complain(error, style.lang));
        return Err(first);
    }
    failures.iter().for_each(|error| super::complain(error, style.lang));
    if !files.is_empty() && files.iter().all(|file| file.summary.bytes == 0) {
        empty_input(&files, style.lang);
    }

    let snapshots = [options.snapshots.as_slice(), &dropped, &recorded(&files)].concat();
    let mut proofs = Proofs::new(&snapshots);
    let explanation = diagnose_with(files, &options.given, &mut proofs);
    let unusable = !failures.is_empty() || !proofs.failures.is_empty();
    let failed =
        std::mem::take(&mut proofs.failures).into_iter().map(|(source, error)| error.context_of(&source, style.lang));
    let failed: Vec<anyhow::Error> = failed.collect();
    if explanation.inputs.is_empty() && explanation.snapshots.is_empty() {
        return failed.into_iter().next().map_or(Ok(super::UNUSABLE), Err);
    }
    failed.iter().for_each(|error| super::complain(error, style.lang));
    match options.format {
        ExplainFormat::Json => {
            super::print(&to_json(&report::json::document(&explanation, style.lang)), &options.output)?
        }
        ExplainFormat::Terminal => super::print(&report::terminal::render(&explanation, style), &options.output)?,
        ExplainFormat::Markdown => super::print(&report::markdown::render(&explanation, style.lang), &options.output)?,
        ExplainFormat::Html => super::write(&page(&explanation, &snapshots, &options.output), &options.output)?,
    }
    Ok(match (unusable, explanation.diagnoses.is_empty()) {
        (true, _) => super::UNUSABLE,
        (false, true) => 1,
        (false, false) => 0,
    })
}

/// The report as on a terminal, above the curves of the records and the page of the snapshots that could be read.
fn page(explanation: &Explanation, snapshots: &[Source], output: &Output) -> String {
    let style = Style { width: PAGE_COLUMNS, height: None, unicode: true, asked: Asked::Page, ..output.style };
    // The plot in characters has no place beside the drawn one.
    let told = report::terminal::without_timeline(explanation, style);
    let told = anstream::adapter::strip_str(&told).to_string();
    let above = report::replay::html::Above { told, curves: report::timeline::html::curves(explanation, style) };
    let replayed: Vec<Replayed> = snapshots.iter().filter_map(|source| replay::for_page(source, output)).collect();
    let view = report::replay::View { top: 8, style };
    report::replay::html::render(Some(&above), &replayed, view)
}

/// Columns of the report on a page.
const PAGE_COLUMNS: usize = 100;

fn empty_input(files: &[FileEvents], lang: Lang) {
    let name = files.first().map(|file| file.summary.source.clone()).unwrap_or_default();
    let text = crate::text!(
        en: "{name} is empty; programs print memory errors to standard error: pipe with 2>&1",
        zh: "{name} 为空；程序的显存报错通常写到标准错误，管道请加 2>&1"
    );
    let _ = writeln!(std::io::stderr(), "{}", crate::text::inert(text.in_lang(lang)));
}

/// What one input holds, its text no longer needed.
pub struct FileEvents {
    summary: InputSummary,
    incidents: Vec<Incident>,
    harmless: Vec<dialect::Event>,
    /// A failure that the text or the user only tells of; counts where no input holds a message. In a place of its own,
    /// several kilobytes that most of a hundred thousand files don't need.
    told: Option<Box<Incident>>,
    /// What `oomdoc run` saw, where the input is its record.
    observed: Option<Arc<Timeline>>,
}

/// What a record of `oomdoc run` tells, where the file is one.
fn watched(source: &Source) -> anyhow::Result<Option<FileEvents>> {
    let Some(path) = source.lasting() else { return Ok(None) };
    let Ok(file) = std::fs::File::open(path) else { return Ok(None) };
    let mut file = BufReader::new(file);
    if !file.fill_buf().is_ok_and(observed::is_record) {
        return Ok(None);
    }
    let bytes = file.get_ref().metadata().map_or(0, |metadata| metadata.len());
    let (mut timeline, output) = observed::read_record(file)?;
    timeline.running = timeline.end.is_none() && still_runs(&timeline.header);
    let mut events = FileEvents::watched(&output, Arc::new(timeline));
    events.summary.source = source.to_string();
    events.summary.bytes = bytes;
    Ok(Some(events))
}

/// Whether the job of a record runs on this machine at this moment.
fn still_runs(header: &Header) -> bool {
    let root = Root::default();
    let here = root.text("proc/sys/kernel/hostname").ok();
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64());
    // The age of a process is told in whole seconds, and its record may begin just before it.
    let age = (since - header.began - 2.0).max(0.0) as u64;
    here.as_deref().map(str::trim) == header.host.as_deref() && processes::has_run_for(&root, header.pid, age)
}

impl FileEvents {
    /// The failures of a job's output, with what was seen of the job.
    pub fn watched(output: &str, timeline: Arc<Timeline>) -> FileEvents {
        let document = dialect::reader().text("-", output);
        let mut events = FileEvents::of(&document, &Given::default());
        events.told = None;
        observed::attach(&document, &mut events.incidents, &mut events.harmless, &timeline);
        events.observed = Some(timeline);
        events
    }

    /// Reads the failures of a document and their context.
    pub fn of(document: &Document, given: &Given) -> FileEvents {
        let (incidents, harmless) = incident::assemble(document, dialect::events(document));
        let outlived = harmless.iter().any(|event| event.has(Sign::CaughtAndContinued));
        let told = if incidents.is_empty() && !outlived { told(document, given) } else { None };
        FileEvents { summary: InputSummary::from(document), incidents, harmless, told, observed: None }
    }
}

/// Memory snapshots held against the failures of watched jobs: those of one machine's ranks.
const SNAPSHOTS_READ: usize = 8;

/// The memory snapshots that watched jobs left, of those that ended first, as far as they are still there.
pub(super) fn recorded(files: &[FileEvents]) -> Vec<Source> {
    let mut watched: Vec<&Arc<Timeline>> =
        files.iter().filter_map(|file| file.observed.as_ref()).filter(|timeline| timeline.failed()).collect();
    watched.order_by(|a, b| a.ended_at().total_cmp(&b.ended_at()));
    let paths = watched.iter().flat_map(|timeline| timeline.snapshots()).map(std::path::Path::new);
    let there = paths.filter(|path| path.extension().is_some_and(|kind| kind == "pickle") && path.is_file());
    there.take(SNAPSHOTS_READ).map(|path| Source::File(path.into())).collect()
}

/// A failure without a message: stated in prose, or asked about by options whose figures do not fit the host's memory.
fn told(document: &Document, given: &Given) -> Option<Box<Incident>> {
    let stated = stated::read(document);
    let asked = || given.describes_loaders().then(|| stated::asked(document));
    let event = stated.or_else(asked)?;
    let (mut incidents, _) = incident::assemble(document, vec![event]);
    let mut incident = incidents.pop()?;
    incident.context.override_with(given);
    incident.ledger.add_loader(&incident.event, &incident.context.loader_settings());
    let fits = incident.ledger.loader.is_none_or(|account| account.fits());
    (incident.event.has(Sign::Stated) || !fits).then(|| Box::new(incident))
}

/// Diagnoses every failure of one job's logs, with the values that the user gave in place of those read from them.
pub fn diagnose(files: Vec<FileEvents>, given: &Given) -> Explanation {
    diagnose_with(files, given, &mut Proofs::new(&[]))
}

/// What one failure comes of and what would change it, however it was read.
pub(crate) fn judge(input: usize, mut incident: Incident, given: &Given) -> Diagnosis {
    incident.context.override_with(given);
    incident.ledger.add_loader(&incident.event, &incident.context.loader_settings());
    let findings = cause::rank(&incident);
    let conclusion = conclusion::conclude(&incident, &findings);
    let decide = match conclusion {
        Conclusion::Proved => Vec::new(),
        _ => decide::observations(&incident, &findings, conclusion),
    };
    let plan = fix::plan(&incident, &findings);
    Diagnosis { input, incident, findings, conclusion, decide, plan }
}

/// The same with what memory snapshots prove of it. Without logs, the snapshots' own failures are diagnosed.
pub(super) fn diagnose_with(mut files: Vec<FileEvents>, given: &Given, proofs: &mut Proofs) -> Explanation {
    if files.iter().all(|file| file.incidents.is_empty())
        && let Some(file) = files.iter_mut().find(|file| file.told.is_some())
    {
        file.incidents.extend(file.told.take().map(|told| *told));
    }
    let mut explanation = Explanation::default();
    let without_logs = files.is_empty();
    let mut incidents = Vec::with_capacity(files.len());
    for file in files {
        incidents.push(job::FileIncidents { source: file.summary.source.clone(), incidents: file.incidents });
        if let Some(timeline) = file.observed {
            explanation.watched.push((file.summary.source.clone(), timeline));
        }
        explanation.inputs.push(file.summary);
        explanation.harmless.extend(file.harmless);
    }
    let mut incidents = job::join(incidents);
    if without_logs {
        incidents = proofs.incidents();
    } else {
        proofs.join(&mut incidents);
    }
    explanation.snapshots = std::mem::take(&mut proofs.read);
    if without_logs {
        explanation.inputs = explanation.snapshots.iter().map(InputSummary::from).collect();
    }
    explanation.diagnoses = side_by_side(incidents, |(input, incident)| judge(input, incident, given));
    explanation
}

/// What a function makes of each, in their order, on all processors. One alone needs no threads, which took a seventh
/// of the time of a pasted message, most of it in waiting for work.
fn side_by_side<T: Send, R: Send>(all: Vec<T>, made: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if all.len() < 2 { all.into_iter().map(made).collect() } else { all.into_par_iter().map(made).collect() }
}
