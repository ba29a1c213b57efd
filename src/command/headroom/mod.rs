//! `oomdoc headroom`: does a batch fit a GPU with room to spare, and what is the largest that does.

mod budget;
mod evidence;
mod rehearsal;
mod rehearsed;

use super::print;
use super::rehearse::INTERRUPTED;
use crate::cli::{HeadroomFormat, HeadroomOptions};
use crate::domain::Headroom;
use crate::headroom::{Assessment, Question, assess};
use crate::report::gate::{Checks, junit, sarif};
use crate::report::headroom as report;
use crate::report::view::to_json;
use crate::text::{Lang, Text};
use anyhow::anyhow;

/// Collects what is known, answers and prints. The exit code: 0 it fits with the headroom asked for, 1 it does not,
/// 3 what is known does not tell.
///
/// # Errors
/// When an input cannot be read or is not what it should be, or standard output cannot be written.
pub fn run(options: &HeadroomOptions) -> anyhow::Result<u8> {
    let lang = options.output.style.lang;
    if options.budget.check || options.budget.update {
        return budget::run(options).map_err(|why| refused(why, options));
    }
    let assessment = match answer(options) {
        Err(Why::Interrupted) => return Ok(INTERRUPTED),
        answer => answer.map_err(|why| refused(why, options))?,
    };
    let view = report::View { style: options.output.style, explain: options.explain };
    let text = match options.format {
        HeadroomFormat::Json => to_json(&report::json::document(&assessment, view)),
        HeadroomFormat::Terminal => report::terminal::render(&assessment, view),
        HeadroomFormat::Markdown => report::markdown::render(&assessment, view),
        format => {
            let check = report::check(&assessment, Text::new("headroom", "显存余量"), None);
            gate(&report::checks(vec![check]), format, lang)
        }
    };
    print(&text, &options.output)?;
    Ok(assessment.verdict.exit_code())
}

/// The formats that build servers read.
fn gate(checks: &Checks, format: HeadroomFormat, lang: Lang) -> String {
    match format {
        HeadroomFormat::Sarif => to_json(&sarif::render(checks, lang)),
        HeadroomFormat::Github => super::github_step(checks, lang),
        _ => junit::render(checks, lang),
    }
}

/// The error, after a document that tells it where a build server is to read one.
fn refused(why: Why, options: &HeadroomOptions) -> anyhow::Error {
    let lang = options.output.style.lang;
    let error = why.into_error(lang);
    let gates = [HeadroomFormat::Junit, HeadroomFormat::Sarif, HeadroomFormat::Github];
    if gates.contains(&options.format) {
        let name = Text::new("headroom", "显存余量");
        let told = Checks::unanswered("oomdoc headroom", name, &Text::same(format!("{error:#}")));
        // The error itself is what matters; that it could not be printed twice is not.
        let _ = print(&gate(&told, options.format, lang), &options.output);
    }
    error
}

/// Why there is no answer: unreadable input, or input that is not what it should be.
enum Why {
    Read(anyhow::Error),
    Told(Text),
    /// The user interrupted a rehearsal.
    Interrupted,
}

impl Why {
    fn into_error(self, lang: Lang) -> anyhow::Error {
        match self {
            Why::Read(error) => error,
            Why::Told(text) => anyhow!("{}", text.in_lang(lang)),
            Why::Interrupted => anyhow!("{}", Text::new("interrupted", "已中断").in_lang(lang)),
        }
    }
}

impl From<Text> for Why {
    fn from(text: Text) -> Why {
        Why::Told(text)
    }
}

fn answer(options: &HeadroomOptions) -> Result<Assessment, Why> {
    let host = options.host.as_ref().map(|host| evidence::host(host, options.batch)).transpose()?;
    let found = evidence::collect(options)?;
    let question = Question {
        batch: options.batch,
        device: evidence::device(options, found.as_ref())?,
        headroom: options.headroom.unwrap_or(Headroom::DEFAULT),
        failures: found.as_ref().map(|found| found.failures.clone()).unwrap_or_default(),
        share: options.serving.as_ref().and_then(|serving| serving.share).unwrap_or(1.0),
        taken: found.as_ref().and_then(|found| found.taken.clone()),
        source: found.as_ref().and_then(|found| found.source.clone()),
        described: found.as_ref().and_then(|found| found.described.clone()),
    };
    match (found, host) {
        (Some(found), host) => {
            let assessment = assess(question, found.basis, &found.curve);
            Ok(match host {
                Some(host) => assessment.with_host(host),
                None => assessment,
            })
        }
        (None, Some(host)) => Ok(Assessment::of_host(question, host)),
        (None, None) => Err(Text::new(
            "nothing to go by: give --rehearsal, --snapshot 8=a.pickle, --measure 8=7.2GiB, --measurements FILE, --log FILE, --model FILE, --params 7B, or --sample-bytes for the host (oomdoc headroom --help)",
            "没有可依据的信息：请给出 --rehearsal、--snapshot 8=a.pickle、--measure 8=7.2GiB、--measurements 文件、--log 文件、--model 文件、--params 7B，或用 --sample-bytes 检查主机内存（见 oomdoc headroom --help）",
        )
        .into()),
    }
}
