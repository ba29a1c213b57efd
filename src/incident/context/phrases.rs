//! Techniques told in words: "LoRA fine-tuning with peft", "gradient checkpointing enabled", "loading the model in
//! 4-bit".
//!
//! A phrase counts as stated only where nothing around it says otherwise: no "without", no advice, no question, no
//! comparison. What a program prints as `key=value` is read by [`super::settings`], and counts more.

use super::Precision;
use super::settings::Setting;
use crate::dialect::field;

/// Words that make a line worth reading for phrases; each row of [`PHRASES`] holds one of them.
pub(super) const WORDS: &[&str] = &[
    "lora",
    "peft",
    "checkpointing",
    "recomputation",
    "zero",
    "4-bit",
    "4bit",
    "8-bit",
    "8bit",
    "16bit",
    "int8",
    "int4",
    "nf4",
    "gptq",
    "awq",
    "flash",
    "xformers",
    "sdpa",
    "bf16",
    "bfloat16",
    "fp16",
    "float16",
    "mixed precision",
    "amp",
    "fsdp",
    "offload",
    "offloading",
    "offloaded",
    "重计算",
    "检查点",
    "混合精度",
    "量化",
];

/// A row: words of which one must be there, words of which one must be there as well (none: no more is asked), and what
/// that states.
type Row = (&'static [&'static str], &'static [&'static str], fn() -> Setting);

const PHRASES: &[Row] = &[
    (&["loraconfig(", "qloraconfig(", "loraargs(enable=true"], &[], || Setting::Lora(true)),
    (
        &["lora", "peft"],
        &["fine-tun", "finetun", "using", "adapter", "train", "微调", "inject", "applied", "enabled", "with"],
        || Setting::Lora(true),
    ),
    (&["qlora"], &["fine-tun", "finetun", "using", "train", "微调", "with"], || Setting::Quantized(true)),
    (
        &[
            "gradient checkpointing",
            "activation checkpointing",
            "gradient_checkpointing",
            "activation recomputation",
            "激活重计算",
            "梯度检查点",
        ],
        &["enabl", "using", "with", "on", "active", "开启", "启用", "使用"],
        || Setting::Checkpointing(true),
    ),
    (&["zero-1", "zero stage 1", "zero 1"], &[], || Setting::Zero(1)),
    (&["zero-2", "zero stage 2", "zero 2"], &[], || Setting::Zero(2)),
    (&["zero-3", "zero stage 3", "zero 3"], &[], || Setting::Zero(3)),
    (&["4-bit", "4bit", "nf4", "int4"], &["model", "weights", "load", "base", "quanti", "量化"], || {
        Setting::Quantized(true)
    }),
    (&["8-bit", "8bit", "int8"], &["model", "weights", "load", "base", "quanti", "量化"], || {
        Setting::Quantized(true)
    }),
    (&["gptq", "awq"], &["model", "weights", "load", "checkpoint", "quanti", "量化"], || Setting::Quantized(true)),
    (
        &["flash attention", "flashattention", "flash-attention", "flash attn", "flash_attention_2"],
        &["using", "enabl", "with", "backend", "开启", "启用", "使用"],
        || Setting::Attention("flash attention".into()),
    ),
    (&["xformers"], &["memory efficient attention enabled", "using", "enabl"], || {
        Setting::Attention("xformers".into())
    }),
    // Lightning's own lines.
    (&["16bit"], &["native", "mixed precision", "(amp)"], || Setting::Precision(Precision::Fp16)),
    (&["mixed precision", "混合精度"], &["bf16", "bfloat16"], || Setting::Precision(Precision::Bf16)),
    (&["mixed precision", "混合精度"], &["fp16", "float16"], || Setting::Precision(Precision::Fp16)),
    (
        &["mixed precision", "automatic mixed precision", "混合精度"],
        &["using", "enabl", "with", "train", "开启", "启用", "使用"],
        || Setting::Precision(Precision::Mixed),
    ),
    (&["in bf16", "in bfloat16", "bf16 training", "using bf16", "using bfloat16"], &[], || {
        Setting::Precision(Precision::Bf16)
    }),
    (&["bfloat16", "bf16"], &["loading model", "model weights"], || Setting::Precision(Precision::Bf16)),
    (&["float16", "fp16"], &["loading model", "model weights"], || Setting::Precision(Precision::Fp16)),
    (
        &["offload"],
        &["optimizer state to cpu", "optimizer to cpu", "optimizer states to cpu", "optimizer to the cpu"],
        || Setting::Offload(true),
    ),
    (&["fsdp"], &["using", "wrapped", "wrapping", "full_shard", "enabled", "with"], || Setting::Fsdp(true)),
];

/// Words that turn a phrase into its contrary, into advice, or into talk about something else.
const NOT_STATED: &[&str] = &[
    " without",
    " not ",
    "n't",
    " no ",
    "disabl",
    " off ",
    "false",
    "=none",
    ": none",
    "unless",
    "instead",
    "try",
    "consider",
    "should",
    "could",
    "would",
    "might",
    " may ",
    "recommend",
    "suggest",
    "if you",
    " set ",
    "avoid",
    "fail",
    "error",
    "cannot",
    "unsupported",
    "incompatible",
    "deprecated",
    "?",
    " vs ",
    "import ",
    "available",
    "not installed",
    "ignored",
    "planned",
    "没有",
    "未",
    "不",
    "建议",
    "可以",
    "如果",
    "尝试",
    "关闭",
    "考虑",
];

/// A longer line is prose or a dump; phrases of programs are short.
const LONGEST: usize = 240;

/// What a line states in words.
pub(super) fn read(text: &str) -> Vec<Setting> {
    if text.len() > LONGEST {
        return Vec::new();
    }
    let lower = format!(" {} ", field::without_month(&text.to_lowercase()));
    // A path, a module or an option that bears the name states nothing.
    if ["site-packages", "file \"", ".py:", "--", "http"].iter().any(|mark| lower.contains(mark))
        || NOT_STATED.iter().any(|word| lower.contains(word))
    {
        return Vec::new();
    }
    let named = |words: &[&str]| words.iter().any(|word| stands(&lower, word));
    PHRASES
        .iter()
        .filter(|(one, other, _)| named(one) && (other.is_empty() || other.iter().any(|word| lower.contains(word))))
        .map(|(.., setting)| setting())
        .collect()
}

/// True where a word stands by itself: "lora" and "LoRA微调", not "exploratory". A word of letters ends where no letter
/// or digit goes on.
fn stands(text: &str, word: &str) -> bool {
    let open = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        open(before) && (open(after) || word.ends_with(['(', '-']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lora(text: &str) -> bool {
        read(text).contains(&Setting::Lora(true))
    }

    #[test]
    fn lora_in_words_is_in_force() {
        for text in [
            "LoRA fine-tuning with peft, LoraConfig(r=16)",
            "Using LoRA lora_r=8",
            "LoRA 微调，秩 16",
            "[INFO] Fine-tuning method: LoRA adapters",
        ] {
            assert!(lora(text), "{text}");
        }
        for text in [
            "you could use LoRA instead",
            "full fine-tuning without LoRA",
            "exploratory training run",
            "peft is not installed, LoRA unavailable",
            "from peft import LoraConfig",
            "建议使用 LoRA 微调",
            "  File \"/opt/site-packages/peft/tuners/lora/layer.py\", line 10, in forward",
        ] {
            assert!(!lora(text), "{text}");
        }
    }

    #[test]
    fn other_techniques_are_read_in_words() {
        let one = |text: &str| read(text).into_iter().next();
        assert_eq!(one("Gradient checkpointing enabled."), Some(Setting::Checkpointing(true)));
        assert_eq!(one("已开启梯度检查点"), Some(Setting::Checkpointing(true)));
        assert_eq!(one("Gradient checkpointing: disabled"), None);
        assert_eq!(one("Using ZeRO-2 over 8 ranks"), Some(Setting::Zero(2)));
        assert_eq!(one("loading the base model in 4-bit"), Some(Setting::Quantized(true)));
        assert_eq!(one("Using flash attention"), Some(Setting::Attention("flash attention".into())));
        assert_eq!(one("training with mixed precision (bf16)"), Some(Setting::Precision(Precision::Bf16)));
        assert_eq!(one("saved checkpoint of step 4"), None);
    }

    #[test]
    fn each_phrase_has_a_word_that_makes_its_line_read() {
        for (one, ..) in PHRASES {
            for phrase in *one {
                assert!(WORDS.iter().any(|word| phrase.contains(word)), "{phrase}");
            }
        }
    }
}
