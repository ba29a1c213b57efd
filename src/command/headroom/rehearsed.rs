//! A description answered by a rehearsal: the model is built from its configuration by the user's transformers and
//! trained on a simulated GPU, where a Python for that is found. Exact where formulas know the family, and an answer
//! where they don't.

use super::evidence::Taken;
use super::{Why, rehearsal};
use crate::cli::{
    AddressOrders, Batches, DescribedRehearsal, HeadroomOptions, ModelOptions, RehearseFormat, RehearseOptions,
    TrainingOptions,
};
use crate::command::rehearse;
use crate::domain::Headroom;
use crate::estimate::setup::{Attention, Precision};
use crate::estimate::states::Optimizer;
use crate::headroom::TargetDevice;
use crate::rehearse::launch::Values;
use crate::rehearse::model;
use crate::text;
use crate::text::Text;
use std::path::Path;
use std::time::Duration;

/// A device that holds every batch of interest, so that each shows what it needs instead of running out of memory. What
/// the GPU asked about has less is what is to stay free.
const ROOMY: u64 = 1 << 40;
/// The largest batch that is sought, unless a larger one is asked about.
const LARGEST_SOUGHT: u64 = 4096;

/// What came of it.
pub enum Outcome {
    /// Peaks, and how they came about.
    Peaks(rehearsal::Rehearsal, Text),
    /// Nothing, and why not.
    Nothing(Text),
}

/// Rehearses the model that the options describe, where they ask for training and a Python can.
///
/// # Errors
/// When the user interrupted it.
pub fn of(options: &HeadroomOptions, device: Option<&TargetDevice>) -> Result<Outcome, Why> {
    let Some(choice) = &options.rehearsal else {
        return Ok(Outcome::Nothing(Text::new("by formulas, without a rehearsal", "按公式计算，未预演")));
    };
    let Some(path) = options.evidence.model.as_ref().filter(|path| is_configuration(path)) else {
        return Ok(Outcome::Nothing(Text::new(
            "by formulas: only a config.json can be rehearsed",
            "按公式计算：只有 config.json 可以预演",
        )));
    };
    if options.text_only {
        return Ok(Outcome::Nothing(Text::new(
            "by formulas: a part of a model is not rehearsed",
            "按公式计算：不预演模型的一部分",
        )));
    }
    let Some(python) = choice.python.clone().or_else(model::able_python) else {
        return Ok(Outcome::Nothing(Text::new(
            "by formulas: no python3 here has PyTorch for CUDA and transformers to rehearse it with (--python)",
            "按公式计算：此处没有装有 CUDA 版 PyTorch 和 transformers、可用于预演的 python3（--python）",
        )));
    };
    let name = python.display().to_string();
    let failed = |why: &str, zh: &str| {
        Ok(Outcome::Nothing(Text::new(
            format!("by formulas, since the rehearsal gave no answer: {why}"),
            format!("按公式计算，因为预演没有结果：{zh}"),
        )))
    };
    let asked = request(options, choice, path, &python, device);
    let rehearsed = match rehearse::rehearse(&asked) {
        Ok(Some(rehearsed)) => rehearsed,
        Ok(None) => return Err(Why::Interrupted),
        Err(error) => {
            let why = format!("{error:#}");
            return failed(&why, &why);
        }
    };
    let json = rehearsed.text(&RehearseOptions { format: RehearseFormat::Json, ..asked });
    match rehearsal::read(&json, options.batch) {
        Ok(read) if !read.points.is_empty() => Ok(Outcome::Peaks(
            read,
            text!(
                en: "rehearsed: built by the transformers of {name} and trained on a simulated GPU",
                zh: "已预演：由 {name} 的 transformers 构建，在模拟 GPU 上训练"
            ),
        )),
        Ok(_) => failed("no batch reached its peak", "没有批大小到达峰值"),
        Err(why) => failed(&why.en, &why.zh),
    }
}

/// Files of weights hold no model that could be built.
fn is_configuration(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
    !matches!(end.as_str(), "safetensors" | "gguf") && path.as_os_str() != "-"
}

/// The batch asked about first, and from there the largest that fits, where there is a device that it is to fit.
fn request(
    options: &HeadroomOptions,
    choice: &DescribedRehearsal,
    path: &Path,
    python: &Path,
    device: Option<&TargetDevice>,
) -> RehearseOptions {
    let (batch, room) = match device {
        None => (Batches::List(vec![options.batch.unwrap_or(1)]), 0),
        Some(device) => {
            let kept = options.headroom.unwrap_or(Headroom::DEFAULT).share(device.capacity).clamp(0.0, 1.0);
            let usable = (device.capacity as f64 * (1.0 - kept)) as u64;
            let most = LARGEST_SOUGHT.max(options.batch.unwrap_or(1));
            (Batches::Between(1, most), ROOMY.saturating_sub(usable.saturating_sub(device.others)))
        }
    };
    RehearseOptions {
        gpu_memory: Some(ROOMY),
        like: options.device.gpu.clone(),
        gpus: options.training.ranks.and_then(|ranks| u32::try_from(ranks).ok()).unwrap_or(1).clamp(1, 16),
        world_size: options.training.ranks.and_then(|ranks| u32::try_from(ranks).ok()).filter(|ranks| *ranks > 1),
        headroom: Headroom::Bytes(room),
        steps: 0,
        ahead: Duration::ZERO,
        batch: Some(batch),
        first_batch: options.batch,
        addresses: AddressOrders::Both,
        time_limit: choice.limit,
        search_limit: choice.limit,
        env: Vec::new(),
        view: None,
        network: false,
        values: Values::Zeros,
        answers: true,
        keep: None,
        torch: None,
        torch_python: None,
        jobs: None,
        show_output: false,
        format: RehearseFormat::Terminal,
        output: options.output.clone(),
        model: Some(ModelOptions {
            model: path.to_path_buf(),
            task: None,
            padding: 0.0,
            inference: false,
            generate: None,
            python: Some(python.to_path_buf()),
        }),
        training: training(options),
        command: Vec::new(),
    }
}

/// How it is trained, with the formulas' words where the user said nothing.
fn training(options: &HeadroomOptions) -> TrainingOptions {
    let given = &options.training;
    let quantised = given.lora.is_some_and(|lora| lora.quantised.is_some());
    let otherwise = if quantised { Precision::Mixed } else { Precision::Fp32 };
    TrainingOptions { precision: Some(given.precision.unwrap_or(otherwise)), ..given.clone() }
}

/// What a rehearsal takes for granted of a model that formulas don't know.
pub fn taken(options: &HeadroomOptions) -> Text {
    let given = &options.training;
    let mut taken = Taken::default();
    taken.add(
        given.sequence.is_some(),
        match given.sequence {
            Some(tokens) => text!(en: "{tokens} tokens a sample", zh: "每个样本 {tokens} 个 token"),
            None => Text::new("2048 tokens a sample, or what it was made for", "每个样本 2048 个 token，或模型的上限"),
        },
    );
    taken.add(given.precision.is_some(), training(options).precision.unwrap_or(Precision::Fp32).text());
    taken.add(given.optimizer.is_some(), Text::same(given.optimizer.unwrap_or(Optimizer::Adam).name()));
    taken.add(given.attention.is_some(), given.attention.unwrap_or(Attention::Fused).text());
    taken.add(given.checkpointing, recomputes(given.checkpointing));
    taken.text()
}

/// Whether layers are recomputed.
pub fn recomputes(checkpointing: bool) -> Text {
    match checkpointing {
        true => Text::new("layers recomputed", "重计算各层"),
        false => Text::new("nothing recomputed", "不做重计算"),
    }
}
