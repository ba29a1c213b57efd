//! What forward keeps for backward, tensor by tensor, for the layers of transformers 5 as PyTorch runs them.
//!
//! Each part is the tensor that an operation saves: a linear layer its input (unless its weights are frozen), a norm
//! its input, softmax and ReLU their result, dropout a mask of one byte. Under autocast every linear layer makes a
//! 16-bit copy of its own of a 32-bit input, and the residual stream stays 32 bit. Held against measured slopes in
//! `tests/it/headroom.rs`.

use super::architecture::{Activation, ConvolutionStyle, Convolutions, Style, Transformer};
use super::setup::{Attention, Lora, Precision, Setup};
use crate::text::Text;

/// One thing that is kept: bytes per token (or per image), and how they come about.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    pub what: Text,
    pub bytes: f64,
}

/// The widths, in bytes, that a precision gives the tensors of a layer.
#[derive(Debug, Clone, Copy)]
struct Widths {
    /// Of what matrices are multiplied in.
    compute: f64,
    /// Of the residual stream.
    residual: f64,
    /// Of what linear layers return: that of matrices, but quantised ones return what they were given.
    results: f64,
    /// Autocast: 32-bit inputs are copied for each linear layer.
    casts: bool,
}

impl Widths {
    fn of(setup: &Setup) -> Widths {
        let (compute, residual, casts) = match setup.effective() {
            Precision::Fp32 => (4.0, 4.0, false),
            Precision::Mixed => (2.0, 4.0, true),
            Precision::Pure16 | Precision::MasterWeights => (2.0, 2.0, false),
        };
        let results = if setup.wide_results() { residual } else { compute };
        Widths { compute, residual, results, casts }
    }
}

/// Which linear layers of a layer keep their input, and how wide.
struct Inputs {
    widths: Widths,
    lora: Option<Lora>,
}

impl Inputs {
    /// `n` linear layers that read one normalised tensor of `width` elements.
    fn shared(&self, n: f64, width: f64, adapted: bool) -> f64 {
        let Widths { compute, casts, .. } = self.widths;
        match (self.lora, casts) {
            (None, true) => n * 2.0 * width,
            (None, false) => compute * width,
            (Some(_), _) if !adapted => 0.0,
            (Some(_), true) => n * 2.0 * width,
            // Adapters are 32-bit: each makes a copy of its 16-bit input.
            (Some(_), false) if compute < 4.0 => n * 4.0 * width,
            (Some(_), false) => compute * width,
        }
    }

    /// A linear layer whose input is in compute precision already and kept by nobody else.
    fn own(&self, width: f64, adapted: bool) -> f64 {
        let Widths { compute, casts, .. } = self.widths;
        match self.lora {
            None => compute * width,
            Some(_) if !adapted => 0.0,
            Some(_) if casts => 2.0 * width,
            Some(_) => 4.0 * width,
        }
    }

    /// The same where another operation keeps that tensor: only a copy counts.
    fn copied(&self, width: f64, adapted: bool) -> f64 {
        match self.lora {
            None => 0.0,
            Some(_) => self.own(width, adapted) - if self.widths.compute >= 4.0 { 4.0 * width } else { 0.0 },
        }
        .max(0.0)
    }
}

/// What one layer keeps of each token in a sequence of `sequence` tokens. `cross` is the length of the sequence that a
/// decoder layer also attends to.
pub fn layer(stack: &Transformer, setup: &Setup, sequence: f64, cross: Option<f64>) -> Vec<Kept> {
    let widths = Widths::of(setup);
    let w = widths.compute;
    let h = stack.hidden;
    let inputs = Inputs { widths, lora: setup.lora };
    let attention_adapted = setup.lora.is_some();
    let mlp_adapted = setup.lora.is_some_and(|lora| lora.all_linear);
    let trains = setup.lora.is_none();
    let (q, kv) = (stack.query_width(), stack.kv_width());
    let mut parts = Vec::new();
    let mut keep = |en: &str, zh: &str, bytes: f64| {
        if bytes > 0.0 {
            parts.push(Kept { what: Text::new(en, zh), bytes });
        }
    };

    keep("norms", "归一化层", norms(stack, widths, trains, cross.is_some()));
    keep(
        "inputs of the query, key and value matrices",
        "Q、K、V 投影的输入",
        match stack.style {
            Style::Gpt2 | Style::NeoX => inputs.shared(1.0, h, attention_adapted),
            _ => inputs.shared(3.0, h, attention_adapted),
        },
    );
    // With one projection for all three, rotated queries and keys are copies while the values keep the whole alive.
    let rotated = if stack.quirks.fused_projection { q + kv } else { 0.0 };
    let qkv = (q + 2.0 * kv + rotated) * w;
    let repeats = stack.kv_heads < stack.heads && (setup.attention == Attention::Eager || w >= 4.0);
    keep("queries, keys and values", "查询、键和值", if repeats { 3.0 * q * w } else { qkv });
    let scores = score_bytes(stack, setup, widths);
    if stack.style == Style::Llama && w >= 4.0 && repeats && setup.attention == Attention::Fused {
        // No fused kernel takes grouped heads in 32 bit: the plain form runs instead.
        keep("attention scores", "注意力得分", stack.heads * sequence * 4.0);
    } else if setup.attention == Attention::Eager {
        keep("attention scores", "注意力得分", stack.heads * sequence * scores);
    } else {
        keep("log-sum-exp of fused attention", "融合注意力的 log-sum-exp", 4.0 * stack.heads);
    }
    // GPT-NeoX puts rotated and unrotated parts together in an order that makes the output projection copy its input.
    let copies = if stack.style == Style::NeoX { 2.0 } else { 1.0 };
    keep("attention output", "注意力输出", copies * q * w + inputs.copied(q, attention_adapted));
    if let Some(other) = cross {
        // The keys and values of the other sequence are counted per token of this one.
        let share = if sequence > 0.0 { other / sequence } else { 0.0 };
        let values = inputs.shared(1.0, h, attention_adapted) + inputs.shared(2.0, h, attention_adapted) * share;
        keep("cross attention", "交叉注意力", values + q * w * (2.0 + 2.0 * share));
        if setup.attention == Attention::Eager {
            keep("cross attention scores", "交叉注意力得分", stack.heads * other * scores);
        }
    }
    if stack.dropout {
        let masks = if cross.is_some() { 3.0 } else { 2.0 };
        keep("dropout masks", "dropout 掩码", masks * h);
    }
    mlp(stack, setup, &inputs, widths, mlp_adapted, &mut keep);
    parts
}

fn norms(stack: &Transformer, widths: Widths, trains: bool, cross: bool) -> f64 {
    let h = stack.hidden;
    let each = match stack.style {
        Style::Llama | Style::T5 => {
            // Computed in 32 bit from a copy of the residual; the weight's gradient needs the normalised tensor.
            let normalised = match trains {
                true if stack.quirks.wide_norms => 4.0,
                true => widths.residual,
                false => 0.0,
            };
            let original = if stack.style == Style::T5 && widths.residual < 4.0 { widths.residual } else { 0.0 };
            4.0 + normalised + original
        }
        _ => widths.residual,
    };
    let count = match stack.style {
        // Both branches of a parallel layer read the same residual.
        Style::NeoX => 1.0,
        _ if cross => 3.0,
        _ => 2.0 + stack.quirks.further_norms,
    };
    // Mean and reciprocal deviation of each token come on top.
    let heads = match stack.quirks.head_norms {
        true => (stack.query_width() + stack.kv_width()) * if trains { 4.0 + widths.compute } else { 4.0 },
        false => 0.0,
    };
    count * (each * h + 8.0) + heads
}

/// Bytes kept for each score of unfused attention.
fn score_bytes(stack: &Transformer, setup: &Setup, widths: Widths) -> f64 {
    let w = widths.compute;
    let capped = if stack.quirks.soft_capped { w } else { 0.0 };
    let softmax = match (stack.style, setup.effective()) {
        (Style::Gpt2 | Style::T5, Precision::Pure16 | Precision::MasterWeights) => 2.0,
        _ => 4.0,
    };
    let product = if stack.attention_dropout {
        1.0 + w
    } else if softmax > w {
        w
    } else {
        0.0
    };
    softmax + product + capped
}

fn mlp(
    stack: &Transformer,
    setup: &Setup,
    inputs: &Inputs,
    widths: Widths,
    adapted: bool,
    keep: &mut impl FnMut(&str, &str, f64),
) {
    let (w, i, h) = (widths.compute, stack.mlp, stack.hidden);
    let matrices = if stack.gated { 2.0 } else { 1.0 };
    keep("inputs of the MLP", "MLP 的输入", inputs.shared(matrices, h, adapted));
    // Written out, GELU keeps its input, tanh, and both factors of the product; `pow` is 32-bit under autocast.
    let written_out = match setup.effective() {
        Precision::Fp32 => 16.0,
        Precision::Mixed => 14.0,
        _ => 8.0,
    };
    let steps = match stack.activation {
        Activation::WrittenOut => written_out * i,
        Activation::Fused => widths.results * i,
        // Its result is what the next matrix reads.
        Activation::Relu => 0.0,
    };
    keep("steps of the MLP's activation", "MLP 激活函数的中间量", steps);
    let wide = setup.effective() == Precision::Mixed && stack.activation == Activation::WrittenOut;
    let result = if wide { 4.0 } else { widths.results };
    if stack.gated {
        keep("both factors of the gate", "门控的两个因子", (result + widths.results) * i);
    }
    if stack.style == Style::T5 {
        // Dropout inside of the MLP: a mask, and a copy that the second matrix reads.
        let kept_result = if stack.activation == Activation::Relu { w * i } else { 0.0 };
        keep("dropout inside of the MLP", "MLP 内部的 dropout", i + kept_result);
    }
    keep(
        "input of the second MLP matrix",
        "MLP 第二个矩阵的输入",
        match stack.activation {
            // ReLU keeps its result for itself even where the matrix after it is frozen.
            Activation::Relu if setup.lora.is_some() && !adapted => w * i,
            _ => inputs.own(i, adapted),
        },
    );
}

/// Input of a layer that is recomputed: all that is kept of it, per token.
pub fn boundary(stack: &Transformer, setup: &Setup) -> f64 {
    Widths::of(setup).residual * stack.hidden
}

/// What a convolutional network keeps of one image with sides of `side` pixels.
pub fn convolutions(network: &Convolutions, setup: &Setup, side: f64) -> Vec<Kept> {
    let w = Widths::of(setup).compute;
    let mut parts = Vec::new();
    let mut keep = |what: Text, bytes: f64| parts.push(Kept { what, bytes });
    match network.style {
        ConvolutionStyle::ConvNext => {
            keep(Text::new("images", "图像"), side * side * network.channels * (4.0 + if w < 4.0 { w } else { 0.0 }));
            let mut map = (side / network.stem).floor();
            for (number, (depth, width)) in (1..).zip(&network.stages) {
                if number > 1 {
                    map = (map / 2.0).floor();
                }
                let elements = map * map * width;
                // Convolution input, norm input (32-bit under autocast), two matrix inputs of 1 and 4 widths, GELU
                // input, scaled output.
                let norm_input = if setup.effective() == Precision::Mixed { 4.0 } else { w };
                let per_element = 11.0 * w + norm_input;
                keep(
                    crate::text!(
                        en: "stage {number}, {depth} blocks of {width} × {map}²",
                        zh: "第 {number} 阶段，{depth} 个块，{width} × {map}²"
                    ),
                    // Between stages a norm and a convolution, of which autocast copies the inputs too.
                    depth * elements * per_element
                        + elements * (2.0 * w + norm_input + if w < norm_input { w } else { 0.0 }),
                );
            }
        }
        ConvolutionStyle::Bottleneck | ConvolutionStyle::Basic => {
            let mut map = (side / 2.0).ceil();
            let images = side * side * network.channels * (4.0 + if w < 4.0 { w } else { 0.0 });
            let stem = map * map * network.stem;
            map = (map / 2.0).ceil();
            let pooled = map * map * network.stem;
            // Convolution and activation; the pool keeps its result and an index of eight bytes.
            keep(Text::new("stem", "stem"), images + 2.0 * stem * w + pooled * (w + 8.0));
            for (stage, (depth, width)) in network.stages.iter().enumerate() {
                let before = map;
                if stage > 0 {
                    map = (map / 2.0).ceil();
                }
                let out = map * map * width;
                let inner = if network.style == ConvolutionStyle::Basic { *width } else { (width / 4.0).floor() };
                let small = map * map * inner;
                let wide_small = before * before * inner;
                // Each convolution keeps its result for the batch norm, each activation its own for the next
                // convolution.
                let (first, other) = match network.style {
                    ConvolutionStyle::Basic => (2.0 * small + 2.0 * out, 2.0 * small + 2.0 * out),
                    _ => (2.0 * wide_small + 2.0 * small + 2.0 * out, 4.0 * small + 2.0 * out),
                };
                let shortcut = out;
                let number = stage + 1;
                keep(
                    crate::text!(
                        en: "stage {number}, {depth} blocks of {width} × {map}²",
                        zh: "第 {number} 阶段，{depth} 个块，{width} × {map}²"
                    ),
                    (first + shortcut + (depth - 1.0) * other) * w,
                );
            }
        }
    }
    parts
}

/// The maps of the last stage of a convolutional network, bytes for one image: gradients of them are what backward adds
/// while everything is still kept.
pub fn last_map(network: &Convolutions, setup: &Setup, side: f64) -> f64 {
    let w = Widths::of(setup).compute;
    let shrunk = match network.style {
        ConvolutionStyle::ConvNext => network.stem,
        _ => 4.0,
    };
    let halvings = network.stages.len().saturating_sub(1) as i32;
    let map = (side / shrunk / 2f64.powi(halvings)).ceil();
    network.stages.last().map_or(0.0, |(_, width)| 4.0 * map * map * width * w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::architecture::{Architecture, Body};
    use crate::estimate::states::Optimizer;

    const HEADS: f64 = 16.0;

    /// What is kept under a name, per token and element of `width`, by a decoder with a quarter of the heads for keys.
    fn kept(name: &str, precision: Precision, change: impl Fn(&mut Transformer, &mut Setup)) -> f64 {
        let Body::Transformer(mut stack) = Architecture::of_size(1e9).body else { panic!("a decoder") };
        (stack.heads, stack.kv_heads, stack.head_size) = (HEADS, HEADS / 4.0, 64.0);
        let mut setup = Setup {
            precision,
            optimizer: Optimizer::Adam,
            fused: false,
            lora: None,
            checkpointing: false,
            attention: Attention::Fused,
            attention_known: true,
            sequence: 128.0,
            target_sequence: 128.0,
            image: None,
            stage: 0,
            ranks: 1,
            accumulates: false,
        };
        change(&mut stack, &mut setup);
        let parts = layer(&stack, &setup, 128.0, None);
        let part = parts.iter().find(|part| part.what.en == name).unwrap_or_else(|| panic!("{name} is kept"));
        let width = match name {
            "queries, keys and values" | "attention output" => HEADS * 64.0,
            "inputs of the MLP" => stack.hidden,
            _ => stack.mlp,
        };
        part.bytes / width
    }

    /// Under autocast `pow` returns 32 bits: a GELU written out by hand keeps a wide result, a fused one does not.
    #[test]
    fn a_gate_keeps_what_the_activation_returned() {
        let gate = |activation: Activation, precision| {
            kept("both factors of the gate", precision, |stack, _| stack.activation = activation)
        };
        assert_eq!(gate(Activation::Fused, Precision::Mixed), 2.0 + 2.0);
        assert_eq!(gate(Activation::WrittenOut, Precision::Mixed), 4.0 + 2.0);
        assert_eq!(gate(Activation::WrittenOut, Precision::Pure16), 2.0 + 2.0);
        assert_eq!(gate(Activation::Fused, Precision::Fp32), 4.0 + 4.0);
    }

    /// Keys and values of grouped heads are spread out where no kernel takes them as they are.
    #[test]
    fn grouped_heads_are_repeated_for_the_plain_form_and_in_32_bit() {
        let all =
            |precision, attention| kept("queries, keys and values", precision, |_, setup| setup.attention = attention);
        assert_eq!(all(Precision::Pure16, Attention::Fused), 2.0 * (1.0 + 2.0 / 4.0));
        assert_eq!(all(Precision::Pure16, Attention::Eager), 2.0 * 3.0);
        assert_eq!(all(Precision::Fp32, Attention::Fused), 4.0 * 3.0);
        assert_eq!(all(Precision::Fp32, Attention::Eager), 4.0 * 3.0);
    }

    /// Autocast copies the 32-bit input for each matrix that reads it.
    #[test]
    fn each_matrix_of_the_mlp_has_its_own_copy_under_autocast() {
        let inputs = |gated, precision| kept("inputs of the MLP", precision, |stack, _| stack.gated = gated);
        assert_eq!([inputs(true, Precision::Mixed), inputs(false, Precision::Mixed)], [4.0, 2.0]);
        assert_eq!([inputs(true, Precision::Fp32), inputs(false, Precision::Fp32)], [4.0, 4.0]);
    }

    /// Adapters are 32-bit: in 16 bit they need a copy of what they read, in 32 bit they share it.
    #[test]
    fn an_adapter_copies_a_narrow_input() {
        let output = |lora, precision| kept("attention output", precision, |_, setup| setup.lora = lora);
        let adapters = Some(Lora { rank: 16.0, all_linear: false, quantised: None });
        assert_eq!([output(None, Precision::Pure16), output(adapters, Precision::Pure16)], [2.0, 2.0 + 4.0]);
        assert_eq!([output(None, Precision::Fp32), output(adapters, Precision::Fp32)], [4.0, 4.0]);
    }
}
