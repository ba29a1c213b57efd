//! A model's description in place of a program.

use super::PLACE;
use crate::cli::{ModelOptions, RehearseOptions, TrainingOptions};
use crate::estimate::setup::{Attention, Precision, Quantised};
use crate::estimate::states::Optimizer;
use crate::rehearse::model::{self, Description};
use crate::text::Text;
use std::time::Duration;

/// Steps that show the peak: the first makes the optimizer's state, the second runs beside it.
const STEPS: u32 = 3;

/// The options with the command that a description stands for, where there is one.
pub(super) fn with_command(options: &RehearseOptions) -> Result<RehearseOptions, Text> {
    let mut options = options.clone();
    let Some(asked) = &options.model else {
        return match options.training == TrainingOptions::default() {
            true => Ok(options),
            false => Err(Text::new(
                "how a model is trained is said of a description: give --model too. A program says it itself",
                "训练方式的选项只用于模型描述：请同时给出 --model；程序则由自身决定",
            )),
        };
    };
    let Some(python) = asked.python.clone().or_else(model::python) else {
        return Err(Text::new(
            "there is no python3 to build the model with: name one with --python",
            "没有可用来构建模型的 python3：请用 --python 指定",
        ));
    };
    if options.steps == 0 {
        options.steps = STEPS;
    }
    let batch = if options.batch.is_some() { PLACE } else { "1" };
    options.command = description(asked, &options).command(python.as_os_str(), batch);
    // The program does nothing else.
    options.ahead = Duration::ZERO;
    Ok(options)
}

fn description(asked: &ModelOptions, options: &RehearseOptions) -> Description {
    let training = &options.training;
    let quantised = training.lora.and_then(|lora| lora.quantised);
    Description {
        model: asked.model.clone(),
        task: asked.task,
        precision: training.precision.unwrap_or(Precision::Fp32),
        optimizer: training.optimizer.unwrap_or(Optimizer::Adam),
        fused: training.fused,
        lora: training.lora,
        quantised: quantised.map(Quantised::bits),
        prepared: training.prepared != Some(false),
        checkpointing: training.checkpointing,
        attention: training.attention.unwrap_or(Attention::Fused),
        sequence: training.sequence,
        target_sequence: training.target_sequence,
        image: training.image,
        padding: asked.padding,
        accumulation: training.accumulation.unwrap_or(1),
        stage: training.stage,
        steps: options.steps,
        inference: asked.inference,
        generate: asked.generate,
    }
}
