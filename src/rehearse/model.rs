//! A rehearsal without a program of the user's: a model is built from its configuration and trained, or asked, by a
//! program of ours, the agent's `model.py`, with the `transformers` of the user's Python.

use super::launch::{Exit, RawOutcome};
use super::torch;
use crate::domain::closed_set;
use crate::estimate::setup::{Attention, Lora, Precision};
use crate::estimate::states::Optimizer;
use crate::text;
use crate::text::Text;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The exit code of `model.py` where it can't do what was asked.
const PROBLEM: i32 = 215;
/// The module, found beside the agent's others.
const MODULE: &str = "oomdoc_rehearsal.model";
/// Packages that it can't do without.
const PACKAGES: [&str; 2] = ["torch", "transformers"];

closed_set! {
    /// What a model is made for.
    pub enum Task {
        CausalLm = "causal-lm",
        MaskedLm = "masked-lm",
        Seq2SeqLm = "seq2seq-lm",
        SequenceClassification = "sequence-classification",
        TokenClassification = "token-classification",
        QuestionAnswering = "question-answering",
        ImageClassification = "image-classification",
        SemanticSegmentation = "semantic-segmentation",
        AudioClassification = "audio-classification",
        SpeechSeq2Seq = "speech-seq2seq",
        Contrastive = "contrastive",
    }
}

/// A model and what is done with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// A configuration, a folder with one, or a name that the hub's cache knows.
    pub model: PathBuf,
    /// That which the configuration names, otherwise.
    pub task: Option<Task>,
    pub precision: Precision,
    pub optimizer: Optimizer,
    pub fused: bool,
    pub lora: Option<Lora>,
    /// Bits of quantised weights that are not trained: 4 or 8.
    pub quantised: Option<u8>,
    /// PEFT's `prepare_model_for_kbit_training` is called.
    pub prepared: bool,
    pub checkpointing: bool,
    pub attention: Attention,
    /// Tokens of a sample; 2048, or what the model was made for if that is less.
    pub sequence: Option<u64>,
    pub target_sequence: Option<u64>,
    pub image: Option<u64>,
    /// Share of the tokens that pads.
    pub padding: f64,
    /// Batches whose gradients are accumulated.
    pub accumulation: u64,
    /// ZeRO stage: 1 as `ZeroRedundancyOptimizer`, 2 and 3 as FSDP.
    pub stage: u8,
    /// Optimizer steps.
    pub steps: u32,
    /// No training: one pass without gradients.
    pub inference: bool,
    /// No training: this many tokens are generated.
    pub generate: Option<u64>,
}

impl Description {
    /// The command that rehearses it; `batch` is a number or what stands for one.
    pub fn command(&self, python: &OsStr, batch: &str) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![python.into(), "-m".into(), MODULE.into(), "--model".into()];
        words.push(self.model.clone().into());
        let mut put = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                words.push(format!("--{name}={value}").into());
            }
        };
        let number = |value: Option<u64>| value.map(|value| value.to_string());
        put("task", self.task.map(|task| task.id().to_owned()));
        put("batch", Some(batch.to_owned()));
        put("seq", number(self.sequence));
        put("target-seq", number(self.target_sequence));
        put("image-size", number(self.image));
        put("padding", (self.padding > 0.0).then(|| self.padding.to_string()));
        put("generate", number(self.generate));
        put("lora", self.lora.map(|lora| lora.rank.to_string()));
        put("lora-targets", self.lora.filter(|lora| !lora.all_linear).map(|_| "attention".to_owned()));
        put("quantised", self.quantised.map(|bits| bits.to_string()));
        put("accumulation", number(Some(self.accumulation).filter(|batches| *batches > 1)));
        put("zero", number(Some(self.stage.into()).filter(|stage| *stage > 0)));
        put("steps", number(Some(self.steps.into())));
        put("precision", Some(precision(self.precision).to_owned()));
        put("optimizer", Some(optimizer(self.optimizer).to_owned()));
        put("attention", (self.attention == Attention::Eager).then(|| "eager".to_owned()));
        let flags = [
            ("--fused", self.fused),
            ("--checkpointing", self.checkpointing),
            ("--inference", self.inference),
            ("--not-prepared", !self.prepared),
        ];
        words.extend(flags.iter().filter(|(_, set)| *set).map(|(flag, _)| OsString::from(flag)));
        words
    }
}

fn precision(precision: Precision) -> &'static str {
    match precision {
        Precision::Fp32 => "fp32",
        Precision::Mixed => "mixed",
        Precision::Pure16 => "bf16",
        Precision::MasterWeights => "master",
    }
}

fn optimizer(optimizer: Optimizer) -> &'static str {
    match optimizer {
        Optimizer::Sgd => "sgd",
        Optimizer::SgdMomentum => "sgd-momentum",
        Optimizer::Adam => "adamw",
        Optimizer::AmsGrad => "amsgrad",
        Optimizer::RmsProp => "rmsprop",
        Optimizer::Adagrad => "adagrad",
        Optimizer::Lion => "lion",
        Optimizer::Adafactor => "adafactor",
        Optimizer::Adam8bit => "adamw8bit",
    }
}

/// The Pythons that a shell would start here.
fn pythons() -> impl Iterator<Item = PathBuf> {
    ["python3", "python"].into_iter().filter_map(|name| torch::on_path(OsStr::new(name)))
}

/// The first of them that a model can be rehearsed with: it has a PyTorch for CUDA, and transformers.
pub fn able_python() -> Option<PathBuf> {
    let question = format!("import importlib.util as u; assert all(map(u.find_spec, {PACKAGES:?}))");
    pythons().find(|python| {
        let mut ask = Command::new(python);
        ask.args(["-c", &question]).stdin(Stdio::null()).stderr(Stdio::null());
        ask.status().is_ok_and(|status| status.success()) && torch::find(&[python.into()], None, None).is_ok()
    })
}

/// That one, or else the first of all, which then says what it lacks.
pub fn python() -> Option<PathBuf> {
    able_python().or_else(|| pythons().next())
}

/// What was built.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Built {
    pub class: String,
    pub parameters: u64,
    pub trainable_parameters: u64,
}

impl Built {
    /// As the process tells it among its settings.
    pub fn of(settings: &serde_json::Map<String, serde_json::Value>) -> Option<Built> {
        Built::deserialize(settings.get("model")?).ok()
    }
}

/// Why there was nothing to rehearse.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Problem {
    problem: String,
    name: String,
    detail: String,
}

impl Problem {
    /// What `model.py` said at its end.
    pub fn of(raw: &RawOutcome) -> Option<Problem> {
        if raw.exit != Exit::Code(PROBLEM) {
            return None;
        }
        raw.stderr_tail.lines().rev().find_map(|line| serde_json::from_str(line).ok())
    }

    pub fn text(&self) -> Text {
        let Problem { problem, name, detail } = self;
        let why = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
        match problem.as_str() {
            "package" => text!(
                en: "the Python that builds the model has no {name}{why}: install it there, or name another Python \
                     with --python",
                zh: "用来构建模型的 Python 中没有 {name}{why}：请在其中安装，或用 --python 指定其他 Python"
            ),
            "missing" => text!(
                en: "{name}: there is no such file, nor a folder with a config.json",
                zh: "{name}：没有这个文件，也没有含 config.json 的目录"
            ),
            "unreadable" => text!(en: "{name} is no JSON{why}", zh: "{name} 不是 JSON{why}"),
            "no-type" => text!(
                en: "{name} names no model_type: it is no configuration of transformers, and neither one of timm \
                     (architecture) nor of diffusers (_class_name)",
                zh: "{name} 中没有 model_type：不是 transformers 的模型配置，也不是 timm（architecture）或 \
                     diffusers（_class_name）的配置"
            ),
            "library-option" => text!(
                en: "{name} is for models of transformers, not of {detail}",
                zh: "{name} 只用于 transformers 的模型，不用于 {detail} 的模型"
            ),
            "type" => text!(
                en: "transformers {detail} knows no model of the type {name}",
                zh: "transformers {detail} 不支持 {name} 类型的模型"
            ),
            "configuration" => text!(
                en: "no model can be built from {name}: {detail}",
                zh: "无法由 {name} 构建模型：{detail}"
            ),
            "no-task" => text!(
                en: "the configuration does not say what {name} is to be trained for: give --task",
                zh: "配置中没有说明 {name} 的训练任务：请用 --task 指定"
            ),
            "task-of-model" => text!(
                en: "transformers has no model for the task {name} with a {detail}",
                zh: "transformers 没有与 {detail} 对应的 {name} 任务模型"
            ),
            "inputs" => text!(
                en: "the model takes {name}, and what that looks like is not known here: rehearse a program of yours",
                zh: "模型的输入是 {name}，这里不知道其形状：请改为预演你自己的程序"
            ),
            "too-long" => text!(
                en: "the model has positions for {detail} tokens: --seq {name} is too long",
                zh: "模型只有 {detail} 个位置：--seq {name} 过长"
            ),
            "checkpointing" => text!(en: "{name} has no gradient checkpointing", zh: "{name} 不支持激活重计算"),
            "generate" => text!(en: "{name} does not generate", zh: "{name} 不能生成文本"),
            "lora" => {
                text!(en: "PEFT puts no adapters on {name}: {detail}", zh: "PEFT 无法为 {name} 添加适配器：{detail}")
            }
            "no-attention" => text!(
                en: "no layers of attention were recognised in {name}: use --lora-targets all",
                zh: "没有识别出 {name} 的注意力层：请用 --lora-targets all"
            ),
            "optimizer" => text!(en: "the optimizer {name} can't be made{why}", zh: "无法创建优化器 {name}{why}"),
            "quantised-training" => text!(
                en: "quantised weights are not trained themselves: give --lora too, or --inference",
                zh: "量化后的权重本身不参与训练：请同时给出 --lora，或使用 --inference"
            ),
            "sharded-quantised" => text!(
                en: "quantised weights are not sharded here: leave out --zero",
                zh: "此处不支持对量化权重分片：请去掉 --zero"
            ),
            _ => text!(en: "{problem}: {name}{why}", zh: "{problem}：{name}{why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::setup::Quantised;

    fn plain() -> Description {
        Description {
            model: "config.json".into(),
            task: None,
            precision: Precision::Fp32,
            optimizer: Optimizer::Adam,
            fused: false,
            lora: None,
            quantised: None,
            prepared: true,
            checkpointing: false,
            attention: Attention::Fused,
            sequence: None,
            target_sequence: None,
            image: None,
            padding: 0.0,
            accumulation: 1,
            stage: 0,
            steps: 3,
            inference: false,
            generate: None,
        }
    }

    #[test]
    fn a_description_becomes_a_command() {
        let words = |description: &Description| {
            let words = description.command(OsStr::new("python3"), "{batch}");
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            words(&plain()),
            "python3 -m oomdoc_rehearsal.model --model config.json --batch={batch} --steps=3 --precision=fp32 \
             --optimizer=adamw"
        );
        let lora = Lora { rank: 16.0, all_linear: false, quantised: Some(Quantised::FOUR_BIT) };
        let all = Description {
            task: Some(Task::CausalLm),
            precision: Precision::Pure16,
            lora: Some(lora),
            quantised: Some(4),
            checkpointing: true,
            sequence: Some(2048),
            stage: 2,
            prepared: false,
            ..plain()
        };
        assert_eq!(
            words(&all),
            "python3 -m oomdoc_rehearsal.model --model config.json --task=causal-lm --batch={batch} --seq=2048 \
             --lora=16 --lora-targets=attention --quantised=4 --zero=2 --steps=3 --precision=bf16 --optimizer=adamw \
             --checkpointing --not-prepared"
        );
    }

    #[test]
    fn every_option_and_problem_of_the_program_is_known_on_both_sides() {
        let files = super::super::agent::files();
        let program = files.iter().find(|(name, _)| name.ends_with("/model.py")).map_or("", |(_, text)| text);
        for task in Task::ALL {
            assert!(program.contains(&format!("    \"{task}\": \"AutoModel")), "{task}");
        }
        assert!(program.contains(&format!("PROBLEM = {PROBLEM}\n")));
        // Those of other libraries raise what they are handed: `problem`.
        let texts = files.iter().filter(|(name, _)| name.ends_with("/model.py") || name.ends_with("/families.py"));
        let kinds =
            texts.flat_map(|(_, text)| text.split("roblem(\"").skip(1).filter_map(|rest| rest.split('"').next()));
        for kind in kinds {
            let problem = Problem { problem: kind.into(), name: "x".into(), detail: "y".into() };
            assert!(!problem.text().en.starts_with(&format!("{kind}: ")), "{kind} has no words");
        }
    }
}
