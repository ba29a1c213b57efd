//! `oomdoc explain`: from a pasted log to a diagnosis and ranked fixes.

use super::progress::Progress;
use crate::cli::{ExplainFormat, ExplainOptions};
use crate::incident::context::Given;
use crate::input::Source;
use crate::report::{self, Diagnosis, Explanation, InputSummary};
use crate::text::{Lang, Text};
use crate::{cause, dialect, fix, incident, input, input::Document};
use rayon::prelude::*;
use std::io::{IsTerminal, Write};

/// Reads, diagnoses and prints. The exit code: 0 an incident was found, 1 none, 2 a file could not be read.
///
/// # Errors
/// When no input could be read at all, or standard output cannot be written.
pub fn run(options: &ExplainOptions) -> anyhow::Result<u8> {
    let style = options.output.style;
    if options.sources.contains(&Source::Stdin) && std::io::stdin().is_terminal() {
        let hint = Text::new(
            "Paste the log or the error message, then press Ctrl-D on a line of its own (or name a file: oomdoc explain train.log).",
            "请粘贴日志或报错信息，然后在新的一行按 Ctrl-D（也可以直接给出文件：oomdoc explain train.log）。",
        );
        let _ = writeln!(std::io::stderr(), "{}", hint.in_lang(style.lang));
    }
    let progress = Progress::new(&options.sources);
    let read: Vec<anyhow::Result<Document>> =
        options.sources.par_iter().map(|source| input::read_with_progress(source, &mut progress.meter())).collect();
    drop(progress);
    let mut documents = Vec::new();
    let mut failures = Vec::new();
    for outcome in read {
        match outcome {
            Ok(document) => documents.push(document),
            Err(error) => failures.push(error),
        }
    }
    if documents.is_empty()
        && let Some(first) = failures.pop()
    {
        failures.iter().for_each(|error| super::complain(error, style.lang));
        return Err(first);
    }
    failures.iter().for_each(|error| super::complain(error, style.lang));
    if documents.iter().all(|document| document.bytes == 0) {
        empty_input(&documents, style.lang);
    }

    let explanation = combine(documents.par_iter().map(|document| diagnose(document, &options.given)).collect());
    let text = match options.format {
        ExplainFormat::Json => format!("{:#}\n", report::json::render(&explanation, style.lang)),
        ExplainFormat::Terminal => report::terminal::render(&explanation, style),
        ExplainFormat::Markdown => report::markdown::render(&explanation, style.lang),
    };
    super::print(&text, &options.output)?;
    Ok(match (failures.is_empty(), explanation.diagnoses.is_empty()) {
        (false, _) => super::UNUSABLE,
        (true, true) => 1,
        (true, false) => 0,
    })
}

fn empty_input(documents: &[Document], lang: Lang) {
    let name = documents.first().map(|document| document.source.clone()).unwrap_or_default();
    let text = crate::text!(
        en: "{name} is empty; programs print memory errors to standard error: pipe with 2>&1",
        zh: "{name} 为空；程序的显存报错通常写到标准错误，管道请加 2>&1"
    );
    let _ = writeln!(std::io::stderr(), "{}", text.in_lang(lang));
}

/// Diagnoses every failure in one document, with the values that the user gave in place of those read from it.
pub fn diagnose(document: &Document, given: &Given) -> Explanation {
    let (incidents, harmless) = incident::assemble(document, dialect::events(document));
    let diagnoses = incidents
        .into_iter()
        .map(|mut incident| {
            incident.context.override_with(given);
            let findings = cause::rank(&incident);
            let plan = fix::plan(&incident, &findings);
            Diagnosis { input: 0, incident, findings, plan }
        })
        .collect();
    Explanation { inputs: vec![InputSummary::from(document)], diagnoses, harmless }
}

/// Several files as one report, in the order given. The first file with a failure keeps its primary incident.
pub fn combine(parts: Vec<Explanation>) -> Explanation {
    let mut whole = Explanation { inputs: Vec::new(), diagnoses: Vec::new(), harmless: Vec::new() };
    for part in parts {
        let offset = whole.inputs.len();
        let primary_known = whole.primary().is_some();
        whole.inputs.extend(part.inputs);
        whole.diagnoses.extend(part.diagnoses.into_iter().map(|mut diagnosis| {
            diagnosis.input += offset;
            diagnosis.incident.primary &= !primary_known;
            diagnosis
        }));
        whole.harmless.extend(part.harmless);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_files_have_one_primary_incident() {
        let part = || {
            let mut explanation = diagnose(&Document::from_text("a.log", ""), &Given::default());
            let event = dialect::Event::new("test", "pytorch", dialect::Resource::Gpu, crate::evidence::Span::line(1));
            explanation.diagnoses.push(Diagnosis {
                input: 0,
                incident: incident::Incident {
                    primary: true,
                    event,
                    followers: Vec::new(),
                    ranks: Vec::new(),
                    context: incident::Context::default(),
                    ledger: crate::ledger::Ledger::default(),
                },
                findings: Vec::new(),
                plan: fix::Plan::default(),
            });
            explanation
        };
        let whole = combine(vec![part(), part()]);
        let primaries: Vec<bool> = whole.diagnoses.iter().map(|d| d.incident.primary).collect();
        assert_eq!(primaries, [true, false]);
        assert_eq!(whole.diagnoses[1].input, 1);
    }
}
