//! `--check` and `--update`: the budgets of a repository.

use super::{Why, answer, gate, print};
use crate::cli::{HeadroomFormat, HeadroomOptions};
use crate::command::progress::Progress;
use crate::command::replay;
use crate::domain::Verdict;
use crate::headroom::Assessment;
use crate::headroom::budget::{self, Baseline, Budget};
use crate::input::{self, Source, TextKind};
use crate::order::InOrder;
use crate::report::headroom::{self as report, Checked, Growth};
use crate::report::view::to_json;
use crate::snapshot::diff::{Moment, compare, side};
use crate::text;
use crate::text::{Lang, Text};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Places that are named as the cause of a growth.
const PLACES: usize = 5;

/// Answers every budget, or makes the present peaks the baseline.
pub fn run(options: &HeadroomOptions) -> Result<u8, Why> {
    let path = &options.budget.file;
    let name = path.display().to_string();
    if path.as_os_str() != "-" && !path.exists() {
        // The smallest file that answers: whoever has none yet has no example either.
        let example =
            "[[budget]]\nname = \"train\"\ngpu = \"T4\"\nbatch = 16\nmeasurements = \"peaks.csv\"   # batch,peak_bytes";
        return Err(text!(
            en: "there is no {name} here. It holds the options of oomdoc headroom, such as\n\n{example}",
            zh: "此处没有 {name}。其中写 oomdoc headroom 的选项，例如\n\n{example}"
        )
        .into());
    }
    let text =
        input::read_text(&Source::File(path.clone()), TextKind::Document).map_err(|error| Why::Read(error.into()))?;
    let budgets = budget::read(&name, &text)?;
    let wanted: Vec<(usize, &Budget)> = budgets
        .iter()
        .enumerate()
        .filter(|(_, budget)| options.budget.name.as_ref().is_none_or(|name| *name == budget.name))
        .collect();
    if wanted.is_empty() {
        let wish = options.budget.name.clone().unwrap_or_default();
        return Err(text!(en: "{name}: no budget is named {wish:?}", zh: "{name}：没有名为 {wish:?} 的预算").into());
    }
    if wanted.len() > 1 && !options.evidence.is_empty() {
        return Err(text!(
            en: "{name} has {} budgets: say with --name which one the files on the command line are for",
            zh: "{name} 中有 {} 个预算：请用 --name 指明命令行给出的文件属于哪一个",
            wanted.len()
        )
        .into());
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut checked = Vec::new();
    for (place, budget) in wanted {
        checked.push((place, one(budget, folder, &name, options)?));
    }
    if options.budget.update {
        return update(options, &text, &checked);
    }
    let lang = options.output.style.lang;
    let all: Vec<Checked> = checked.into_iter().map(|(_, (checked, _))| checked).collect();
    let view = report::View { style: options.output.style, explain: options.explain };
    let out = match options.format {
        HeadroomFormat::Json => to_json(&report::json::budgets(&all, view)),
        HeadroomFormat::Terminal => report::budgets::terminal(&all, view),
        HeadroomFormat::Markdown => report::budgets::markdown(&all, view),
        format => gate(&report::budgets::checks(&all), format, lang),
    };
    print(&out, &options.output).map_err(Why::Read)?;
    let verdict = Verdict::of_all(all.iter().map(Checked::verdict)).unwrap_or(Verdict::Fits);
    Ok(verdict.exit_code())
}

/// One budget answered, with the options that it stands for.
fn one(
    budget: &Budget,
    folder: &Path,
    file: &str,
    options: &HeadroomOptions,
) -> Result<(Checked, HeadroomOptions), Why> {
    let place = || format!("{file}:{}: {}", budget.line, budget.name);
    let mut own = HeadroomOptions::from_words(&budget.words)
        .map_err(|why| Why::Told(Text::new(format!("{}: {}", place(), why.en), format!("{}：{}", place(), why.zh))))?;
    own.evidence = if options.evidence.is_empty() { own.evidence.below(folder) } else { options.evidence.clone() };
    own.output = options.output.clone();
    // A baseline must not hang on what Python the machine has.
    own.rehearsal = None;
    if own.device.gpu.is_none() && own.device.memory.is_none() {
        own.device = options.device.clone();
    }
    let assessment = answer(&own).map_err(|why| {
        let error = why.into_error(options.output.style.lang);
        Why::Told(Text::same(format!("{}: {error:#}", place())))
    })?;
    let growth = match (&budget.baseline, assessment.peak) {
        (Some(baseline), Some(peak)) if assessment.batch == Some(baseline.batch) => {
            let share = peak.expected / (baseline.peak.max(1) as f64) - 1.0;
            let names = if share > budget.tolerance {
                grown(budget, folder, &own, options.output.style.lang)?
            } else {
                Vec::new()
            };
            Some(Growth { before: baseline.peak, share, tolerance: budget.tolerance, places: names })
        }
        _ => None,
    };
    let checked = Checked {
        name: budget.name.clone(),
        place: (file.to_string(), budget.line),
        baseline: budget.baseline,
        assessment,
        growth,
    };
    Ok((checked, own))
}

/// The snapshot of the batch that is asked about, else the one of the largest batch.
fn snapshot_of(own: &HeadroomOptions) -> Option<&PathBuf> {
    let snapshots = &own.evidence.snapshots;
    let exact = snapshots.iter().find(|(batch, _)| Some(*batch) == own.batch);
    exact.or(snapshots.iter().max_by_key(|(batch, _)| *batch)).map(|(_, path)| path)
}

/// What grew since the snapshot of the baseline; empty where there is none on either side.
fn grown(budget: &Budget, folder: &Path, own: &HeadroomOptions, lang: Lang) -> Result<Vec<Text>, Why> {
    let Some((old, new)) = budget.baseline_snapshot.as_ref().map(|path| folder.join(path)).zip(snapshot_of(own)) else {
        return Ok(Vec::new());
    };
    if !old.is_file() {
        return Ok(Vec::new());
    }
    let take = |path: &Path| {
        let source = Source::File(path.to_path_buf());
        let progress = Progress::new(std::slice::from_ref(&source));
        let (snapshot, _) =
            replay::read(&source, &progress).map_err(|error| Why::Read(error.context_of(&source, lang)))?;
        Ok::<_, Why>(side(&snapshot, Moment::Peak))
    };
    let devices = compare(take(&old)?, take(new)?);
    let mut entries: Vec<_> = devices.iter().flat_map(|device| &device.entries).collect();
    entries.order_by_key(|entry| std::cmp::Reverse(entry.sides.growth()));
    let grown = entries.into_iter().filter(|entry| entry.sides.growth() > 0).take(PLACES);
    Ok(grown.map(crate::report::diff::growth_line).collect())
}

/// Writes a file anew, wholly or not at all: beside it first, then in its place.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // The file that a link points to, not the link.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(bytes)?;
    if let Ok(old) = std::fs::metadata(&path) {
        beside.as_file().set_permissions(old.permissions())?;
    }
    beside.as_file().sync_all()?;
    beside.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

fn update(options: &HeadroomOptions, text: &str, checked: &[(usize, (Checked, HeadroomOptions))]) -> Result<u8, Why> {
    let path = &options.budget.file;
    let mut baselines = Vec::new();
    for (place, (checked, own)) in checked {
        let Assessment { batch: Some(batch), peak: Some(peak), .. } = checked.assessment else { continue };
        baselines.push((*place, Baseline { batch, peak: peak.expected as u64 }));
        let _ = own;
    }
    let new = budget::with_baselines(text, &baselines)?;
    let unwritable = |path: &Path, error: std::io::Error| {
        let name = path.display();
        Why::Told(text!(en: "{name}: cannot be written: {error}", zh: "{name}：无法写入：{error}"))
    };
    replace(path, new.as_bytes()).map_err(|error| unwritable(path, error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let budgets = budget::read(&path.display().to_string(), text)?;
    for (place, (_, own)) in checked {
        let kept =
            budgets.get(*place).and_then(|budget| budget.baseline_snapshot.as_ref()).map(|kept| folder.join(kept));
        if let Some((kept, new)) = kept.zip(snapshot_of(own))
            && kept != *new
        {
            let bytes = std::fs::read(new).map_err(|error| unwritable(new, error))?;
            replace(&kept, &bytes).map_err(|error| unwritable(&kept, error))?;
        }
    }
    let lang = options.output.style.lang;
    let mut out = String::new();
    for (_, (checked, _)) in checked {
        out.push_str(report::budgets::updated(checked).in_lang(lang));
        out.push('\n');
    }
    print(&out, &options.output).map_err(Why::Read)?;
    Ok(0)
}
