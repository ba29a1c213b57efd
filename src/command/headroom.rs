//! `oomdoc headroom`: does a batch fit a GPU with room to spare, and what is the largest that does.

use crate::cli::{HeadroomFormat, HeadroomOptions};
use crate::estimate::architecture::{self, Architecture};
use crate::estimate::fit::{Counted, Fit};
use crate::estimate::states::Optimizer;
use crate::estimate::training::{Precision, Setup, Training};
use crate::headroom::measurements::{self, Measurement};
use crate::headroom::{Assessment, Basis, CONTEXT, Curve, Device, Headroom, Question, assess};
use crate::input::{self, Source};
use crate::report::headroom as report;
use crate::text::{Lang, Text};
use crate::units::Interval;
use anyhow::anyhow;
use std::path::Path;

/// Room that is kept free where the user names none.
const DEFAULT_HEADROOM: Headroom = Headroom::Share(0.05);

/// Collects what is known, answers and prints. The exit code: 0 it fits with the headroom asked for, 1 it does not,
/// 3 what is known does not tell.
///
/// # Errors
/// When an input cannot be read or is not what it should be, or standard output cannot be written.
pub fn run(options: &HeadroomOptions) -> anyhow::Result<u8> {
    let lang = options.output.style.lang;
    let assessment = answer(options).map_err(|why| why.into_error(lang))?;
    let view = report::View { style: options.output.style, explain: options.explain };
    let text = match options.format {
        HeadroomFormat::Json => format!("{:#}\n", report::json::render(&assessment, view)),
        HeadroomFormat::Terminal => report::terminal::render(&assessment, view),
        HeadroomFormat::Markdown => report::markdown::render(&assessment, view),
    };
    super::print(&text, &options.output)?;
    Ok(assessment.verdict.exit_code())
}

/// Why there is no answer: unreadable input, or input that is not what it should be.
enum Why {
    Read(anyhow::Error),
    Told(Text),
}

impl Why {
    fn into_error(self, lang: Lang) -> anyhow::Error {
        match self {
            Why::Read(error) => error,
            Why::Told(text) => anyhow!("{}", text.in_lang(lang)),
        }
    }
}

impl From<Text> for Why {
    fn from(text: Text) -> Why {
        Why::Told(text)
    }
}

fn answer(options: &HeadroomOptions) -> Result<Assessment, Why> {
    let question = Question {
        batch: options.batch,
        device: device(options),
        headroom: options.headroom.unwrap_or(DEFAULT_HEADROOM),
    };
    if let Some(fit) = measured(options)? {
        return Ok(assess(question, Basis::Measurements, &Curve::Measured(fit)));
    }
    let Some(training) = described(options)? else {
        return Err(Text::new(
            "nothing to go by: give --measure 8=7.2GiB, --measurements FILE or --model config.json (oomdoc headroom --help)",
            "没有可依据的信息：请给出 --measure 8=7.2GiB、--measurements 文件或 --model config.json（见 oomdoc headroom --help）",
        )
        .into());
    };
    Ok(assess(question, Basis::Model, &Curve::Described(Box::new(training))))
}

fn device(options: &HeadroomOptions) -> Option<Device> {
    let capacity = options.device.memory?;
    Some(Device {
        name: String::new(),
        capacity,
        context: options.device.context.map_or(CONTEXT, Interval::exactly),
        others: options.device.others,
    })
}

fn read_text(path: &Path) -> Result<String, Why> {
    let source = if path.as_os_str() == "-" { Source::Stdin } else { Source::File(path.to_path_buf()) };
    input::read_text(&source).map_err(|error| Why::Read(error.into()))
}

fn measured(options: &HeadroomOptions) -> Result<Option<Fit>, Why> {
    let evidence = &options.evidence;
    let mut found: Vec<Measurement> = Vec::new();
    for text in &evidence.measured {
        found.push(measurements::pair(text)?);
    }
    for path in &evidence.measurement_files {
        found.extend(measurements::file(&path.display().to_string(), &read_text(path)?)?);
    }
    if found.is_empty() {
        return Ok(None);
    }
    // Figures that count different things make no curve: the user's word, else the first that says, decides.
    let counted = evidence
        .counted
        .or_else(|| found.iter().find_map(|measurement| measurement.counted))
        .unwrap_or(Counted::Allocated);
    let points = found.iter().filter(|m| m.counted.is_none_or(|own| own == counted)).map(|m| m.point).collect();
    let fit = Fit::new(points, counted);
    fit.map(Some).ok_or_else(|| Text::new("no measured peak can be used", "没有可用的实测峰值").into())
}

fn described(options: &HeadroomOptions) -> Result<Option<Training>, Why> {
    let Some(path) = &options.evidence.model else { return Ok(None) };
    let name = path.display().to_string();
    let text = read_text(path)?;
    let config: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| crate::text!(en: "{name}: not JSON: {error}", zh: "{name}：不是 JSON：{error}"))?;
    let model = architecture::read(&config)
        .map_err(|why| Text::new(format!("{name}: {}", why.en), format!("{name}：{}", why.zh)))?;
    Ok(Some(Training { setup: setup(options, &model), model }))
}

fn setup(options: &HeadroomOptions, model: &Architecture) -> Setup {
    let given = &options.training;
    let sequence = given.sequence.map_or_else(|| model.max_positions.unwrap_or(512.0), |n| n as f64);
    Setup {
        precision: given.precision.unwrap_or(Precision::Fp32),
        optimizer: given.optimizer.unwrap_or(Optimizer::Adam),
        fused: given.fused,
        lora: given.lora,
        checkpointing: given.checkpointing,
        attention: given.attention,
        sequence,
        target_sequence: given.target_sequence.map_or(sequence, |n| n as f64),
        image: given.image.map(|side| side as f64),
        stage: given.stage,
        ranks: given.ranks.unwrap_or(1),
        accumulates: given.accumulates,
    }
}
