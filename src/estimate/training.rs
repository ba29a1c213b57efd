//! The memory of a training step from a description alone: the phases of the step, what each holds, and which is the
//! highest.
//!
//! ```text
//! peak = max( weights + states + activations + casts + logits ,     when backward begins
//!             weights + states + gradients + one layer ,            when it ends
//!             weights + states + gradients + temporaries )          in optimizer.step
//! ```

use super::architecture::{Architecture, Body, Style, Transformer};
use super::kept::{self, Kept};
use super::logits;
use super::peak::Peak;
use super::setup::{Attention, Lora, Precision, Quantised, Setup};
use super::states::{Optimizer, Regime};
use crate::text::Text;
use crate::units::{Bytes, GIB, MIB};

/// One thing in memory at a moment, and the arithmetic behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    pub what: Text,
    /// With the user's figures: `124.4 M × 4 B`.
    pub formula: String,
    pub bytes: f64,
}

/// A moment of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    Forward,
    BackwardBegins,
    /// Where layers are recomputed one by one, or gradients have come while activations remain.
    BackwardRuns,
    BackwardEnds,
    Optimizer,
}

impl Moment {
    pub const ALL: [Moment; 5] =
        [Moment::Forward, Moment::BackwardBegins, Moment::BackwardRuns, Moment::BackwardEnds, Moment::Optimizer];

    pub fn text(self) -> Text {
        match self {
            Moment::Forward => Text::new("the end of forward", "前向结束时"),
            Moment::BackwardBegins => Text::new("the beginning of backward", "反向开始时"),
            Moment::BackwardRuns => Text::new("the middle of backward", "反向中途"),
            Moment::BackwardEnds => Text::new("the end of backward", "反向结束时"),
            Moment::Optimizer => Text::new("the optimizer's step", "优化器 step"),
        }
    }
}

/// What is in memory at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    pub moment: Moment,
    pub terms: Vec<Term>,
}

impl Phase {
    pub fn bytes(&self) -> f64 {
        self.terms.iter().map(|term| term.bytes).sum()
    }
}

/// cuBLAS's and cuBLASLt's workspaces and the small buffers of a step, bytes: 34 MiB measured with torch 2.11 on
/// compute capability 8.0; newer architectures take 32 MiB for the first alone.
const WORKSPACE: f64 = 34.0 * MIB as f64;

/// `124.4 M`.
fn count(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.3} G", n / 1e9),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n => format!("{n}"),
    }
}

/// A width of a few bytes without needless decimals.
fn width(bytes: f64) -> String {
    let text = format!("{bytes:.2}");
    format!("{} B", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A model with the way it is trained.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    pub model: Architecture,
    pub setup: Setup,
}

/// Parameters of the adapters: on each adapted matrix `rank · (in + out)`.
fn adapter_parameters(stack: &Transformer, lora: Lora, cross: bool) -> f64 {
    let (h, q, kv, i) = (stack.hidden, stack.query_width(), stack.kv_width(), stack.mlp);
    let attention = (h + q) + 2.0 * (h + kv) + (q + h);
    let mlp = if stack.gated { 3.0 } else { 2.0 } * (h + i);
    let each = attention * if cross { 2.0 } else { 1.0 } + if lora.all_linear { mlp } else { 0.0 };
    stack.layers * lora.rank * each
}

impl Training {
    /// Parameters that are trained.
    pub fn trainable(&self) -> f64 {
        match (self.setup.lora, &self.model.body) {
            (None, _) => self.model.parameters,
            (Some(lora), Body::Transformer(stack)) => adapter_parameters(stack, lora, false),
            (Some(lora), Body::EncoderDecoder { encoder, decoder }) => {
                adapter_parameters(encoder, lora, false) + adapter_parameters(decoder, lora, true)
            }
            (Some(_), Body::Convolutions(_)) => self.model.parameters,
        }
    }

    fn regime(&self) -> Regime {
        let optimizer = self.setup.optimizer;
        match self.setup.precision {
            // Adapters are 32-bit whatever the frozen weights are.
            _ if self.setup.lora.is_some() => Regime::full_precision(optimizer),
            Precision::Fp32 | Precision::Mixed => Regime::full_precision(optimizer),
            Precision::Pure16 => {
                let state = if optimizer == Optimizer::Adam8bit { 1.0 } else { 0.5 } * optimizer.state();
                Regime { weights: 2.0, gradients: 2.0, optimizer: state }
            }
            Precision::MasterWeights => Regime::with_master_weights(optimizer),
        }
    }

    /// Bytes per frozen parameter that is not quantised.
    fn frozen_width(&self) -> f64 {
        match self.setup.effective() {
            Precision::Fp32 | Precision::Mixed => 4.0,
            Precision::Pure16 | Precision::MasterWeights => 2.0,
        }
    }

    /// The frozen weights with their formula.
    fn frozen(&self) -> (String, f64) {
        let (whole, wide) = (self.model.parameters, self.frozen_width());
        let Some(quantised) = self.setup.quantised() else {
            return (format!("{} × {}", count(whole), width(wide)), whole * wide);
        };
        let in_layers = self.layers_total().min(whole);
        let (outside, narrow) = (whole - in_layers, quantised.width.1);
        let formula = format!("{} × {} + {} × {}", count(in_layers), width(narrow), count(outside), width(wide));
        (formula, in_layers * narrow + outside * wide)
    }

    /// Each part of the model states per device: weights, gradients, optimizer, temporaries of the step.
    fn states(&self) -> [Term; 4] {
        let regime = self.regime();
        let (stage, ranks) = (self.setup.stage, self.setup.ranks.max(1) as f64);
        let share = |from: u8| if stage >= from { ranks } else { 1.0 };
        let trained = self.trainable();
        let each = |what: Text, bytes: f64, from: u8| {
            let n = share(from);
            let over = if n > 1.0 { format!(" ÷ {n}") } else { String::new() };
            Term { what, formula: format!("{} × {}{over}", count(trained), width(bytes)), bytes: trained * bytes / n }
        };
        let mut weights = each(Text::new("weights", "权重"), regime.weights, 3);
        if self.setup.lora.is_some() {
            let (formula, frozen) = self.frozen();
            let over = if share(3) > 1.0 { format!(" ÷ {}", share(3)) } else { String::new() };
            weights.formula = format!("({formula}){over} + {}", weights.formula);
            weights.bytes += frozen / share(3);
        }
        let mut gradients = each(Text::new("gradients", "梯度"), regime.gradients, 2);
        if stage == 0 && ranks > 1.0 {
            // Buckets of distributed data parallelism are a second copy unless they are views.
            gradients.bytes *= 2.0;
            gradients.formula += " × 2";
        }
        let temporaries = if self.setup.fused {
            0.0
        } else {
            self.setup.optimizer.foreach_temporaries() * regime.gradients.min(4.0) / 4.0
        };
        let mut step = each(Text::new("temporaries of the optimizer's step", "优化器 step 的临时张量"), temporaries, 1);
        if self.setup.optimizer == Optimizer::Adafactor && self.setup.lora.is_none() {
            // Takes one tensor after the other: its update and a square of it (measured with torch 2.11).
            let (largest, own) = (self.model.largest_tensor, regime.gradients);
            step.formula = format!("2 × {} × {}", count(largest), width(own));
            step.bytes = 2.0 * largest * own;
        }
        [weights, gradients, each(Text::new("optimizer state", "优化器状态"), regime.optimizer, 1), step]
    }

    /// What forward keeps, and what one layer adds while backward goes through it, for `batch` samples.
    fn activations(&self, batch: f64) -> (Vec<Term>, f64) {
        let setup = &self.setup;
        match &self.model.body {
            Body::Transformer(stack) => {
                let sequence = stack.quirks.fixed_tokens.unwrap_or(setup.sequence);
                self.stack(stack, batch, sequence, None, Text::new("layers", "层"))
            }
            Body::EncoderDecoder { encoder, decoder } => {
                let (source, target) = (setup.sequence, setup.target_sequence);
                let (mut terms, one) =
                    self.stack(encoder, batch, source, None, Text::new("encoder layers", "编码器层"));
                let (more, other) =
                    self.stack(decoder, batch, target, Some(source), Text::new("decoder layers", "解码器层"));
                terms.extend(more);
                (terms, one.max(other))
            }
            Body::Convolutions(network) => {
                let side = setup.image.or(network.image).unwrap_or(224.0);
                let parts = kept::convolutions(network, setup, side);
                let terms = parts
                    .into_iter()
                    .map(|Kept { what, bytes }| Term {
                        what,
                        formula: format!("{batch} × {}", Bytes(bytes as u64)),
                        bytes: batch * bytes,
                    })
                    .collect();
                (terms, batch * kept::last_map(network, setup, side))
            }
        }
    }

    fn stack(
        &self,
        stack: &Transformer,
        batch: f64,
        sequence: f64,
        cross: Option<f64>,
        what: Text,
    ) -> (Vec<Term>, f64) {
        let setup = &self.setup;
        let tokens = batch * sequence;
        let of_layer: f64 = kept::layer(stack, setup, sequence, cross).iter().map(|part| part.bytes).sum();
        // Gradients of the MLP's width in flight while backward goes through a layer.
        let compute = if setup.effective() == Precision::Fp32 || setup.wide_results() { 4.0 } else { 2.0 };
        let in_flight = tokens * (stack.mlp * compute + 2.0 * stack.hidden * 4.0);
        let mut terms = Vec::new();
        let layers = stack.layers;
        let kept_by_one = if setup.checkpointing { kept::boundary(stack, setup) } else { of_layer };
        terms.push(Term {
            what: Text::new(
                if setup.checkpointing {
                    format!("inputs of recomputed {}", what.en)
                } else {
                    format!("activations of the {}", what.en)
                },
                if setup.checkpointing {
                    format!("重计算的{}的输入", what.zh)
                } else {
                    format!("{}的激活", what.zh)
                },
            ),
            formula: format!("{layers} × {} × {}", count(tokens), width(kept_by_one)),
            bytes: layers * tokens * kept_by_one,
        });
        if stack.style == Style::T5 && setup.attention == Attention::Fused && !setup.checkpointing {
            // Position biases are spread out for every layer, but not for every sample.
            let bias = stack.heads * sequence * sequence * compute;
            terms.push(Term {
                what: Text::new("position biases", "位置偏置"),
                formula: format!("{layers} × {}", Bytes(bias as u64)),
                bytes: layers * bias,
            });
        }
        // Embedding, final norm and the head's input.
        let ends = kept::boundary(stack, setup) * 2.0 + 2.0 * stack.hidden;
        terms.push(Term {
            what: Text::new("embeddings and final norm", "嵌入与最后的归一化"),
            formula: format!("{} × {}", count(tokens), width(ends)),
            bytes: tokens * ends,
        });
        let one = in_flight + if setup.checkpointing { tokens * of_layer } else { 0.0 };
        (terms, one)
    }

    /// Logits of a step, kept and in flight: at the end of forward and when backward begins.
    fn logits(&self, batch: f64) -> Option<(Term, Term)> {
        let stack = match &self.model.body {
            Body::Transformer(stack) => stack,
            Body::EncoderDecoder { decoder, .. } => decoder,
            Body::Convolutions(_) => return None,
        };
        if !stack.language_head {
            return None;
        }
        let sequence = match self.model.body {
            Body::EncoderDecoder { .. } => self.setup.target_sequence,
            _ => self.setup.sequence,
        };
        let tokens = batch * sequence;
        let term = |what: Text, each: f64, bytes: f64| Term {
            what,
            formula: format!("{} × {} × {}", count(tokens), count(stack.vocabulary), width(each)),
            bytes,
        };
        // Decoders make 32-bit logits of their own accord; elsewhere the loss takes them as they are, and autocast
        // makes only its result 32-bit.
        let upcast = !matches!(stack.style, Style::Bert | Style::T5);
        let (forward, backward) = match self.setup.effective() {
            Precision::Fp32 => (8.0, 12.0),
            _ if upcast => (10.0, 12.0),
            Precision::Mixed => (6.0, 10.0),
            Precision::Pure16 | Precision::MasterWeights => (4.0, 6.0),
        };
        // Capped logits keep the result of tanh.
        let capped = if stack.quirks.soft_capped { 2.0 } else { 0.0 };
        let (forward, backward) = (forward + capped, backward + capped);
        let logit = tokens * stack.vocabulary;
        let begins = logits::peak(tokens as u64, stack.vocabulary as u64) * backward / 12.0;
        Some((
            term(Text::new("logits and their loss", "logits 与损失"), forward, forward * logit),
            term(Text::new("logits, their loss and gradients", "logits、损失及其梯度"), backward, begins),
        ))
    }

    /// The moments of a step with what each holds, for `batch` samples per process.
    pub fn phases(&self, batch: u64) -> Vec<Phase> {
        let batch = batch as f64;
        let setup = &self.setup;
        let [weights, gradients, optimizer, temporaries] = self.states();
        let workspace = Term {
            what: Text::new("workspaces and small buffers", "工作区与小缓冲"),
            formula: Bytes(WORKSPACE as u64).to_string(),
            bytes: WORKSPACE,
        };
        let mut always = vec![weights, optimizer, workspace];
        if setup.stage >= 3 && setup.ranks > 1 {
            let unit = self.layer_parameters();
            always.push(Term {
                what: Text::new("two gathered layers and a layer's gradients", "两个已聚合的层与一层的梯度"),
                formula: format!("{} × 8 B", count(unit)),
                bytes: unit * 8.0,
            });
        }
        let early = if setup.accumulates { vec![gradients.clone()] } else { Vec::new() };
        let casts = |parameters: f64| Term {
            what: Text::new("16-bit copies of weights under autocast", "autocast 的 16 位权重副本"),
            formula: format!("{} × 2 B", count(parameters)),
            bytes: parameters * 2.0,
        };
        let mixed = setup.effective() == Precision::Mixed;
        let in_layers = self.layers_total();
        let outside_matrices = (self.model.matrix_parameters - in_layers).max(0.0);
        if setup.quantised().is_some() {
            // Multiplied as 16-bit copies, one after the other.
            let largest = self.largest_matrix_of_a_layer();
            always.push(Term {
                what: Text::new("one quantised matrix unpacked", "解包的一个量化矩阵"),
                formula: format!("{} × 2 B", count(largest)),
                bytes: 2.0 * largest,
            });
        }
        let (activations, one_layer) = self.activations(batch);
        let logits = self.logits(batch);
        let layer = Term {
            what: if setup.checkpointing {
                Text::new("one layer recomputed, with its gradients", "重计算的一层及其梯度")
            } else {
                Text::new("gradients inside of a layer", "层内的梯度")
            },
            formula: Bytes(one_layer.max(0.0) as u64).to_string(),
            bytes: one_layer,
        };

        let assemble = |moment: Moment, parts: Vec<Vec<Term>>| {
            let mut terms = always.clone();
            terms.extend(parts.into_iter().flatten());
            terms.retain(|term| term.bytes > 0.0);
            Phase { moment, terms }
        };
        let cast_outside = || vec![casts(outside_matrices)];
        let cast_all = match (mixed, setup.quantised()) {
            (true, None) => vec![casts(self.model.matrix_parameters)],
            (true, Some(_)) => cast_outside(),
            _ => Vec::new(),
        };
        // What the graph keeps of them: recomputed layers keep none.
        let cast_kept = if mixed && setup.checkpointing { cast_outside() } else { cast_all.clone() };
        let (forward_logits, backward_logits) = match logits {
            Some((forward, backward)) => (vec![forward], vec![backward]),
            None => (Vec::new(), Vec::new()),
        };
        let mut phases = vec![
            assemble(Moment::Forward, vec![early.clone(), activations.clone(), cast_all, forward_logits]),
            assemble(
                Moment::BackwardBegins,
                vec![early.clone(), activations.clone(), cast_kept.clone(), backward_logits],
            ),
        ];
        // Within the layers: the gradients of what lies behind are there, the activations of what lies before too.
        let (head, each) = (if setup.lora.is_some() { 0.0 } else { outside_matrices }, self.regime().gradients);
        let behind = Term {
            what: Text::new("gradients of the head", "输出层的梯度"),
            formula: format!("{} × {}", count(head), width(each)),
            bytes: head * each,
        };
        let behind = if setup.accumulates { Vec::new() } else { vec![behind] };
        phases.push(assemble(Moment::BackwardRuns, vec![early, behind, activations, cast_kept, vec![layer.clone()]]));
        let tied = if setup.lora.is_some() { 0.0 } else { self.model.tied_embedding };
        let width_of_gradient = self.regime().gradients;
        // The head's gradient waits for the embedding's, and their sum is a third; a decoder's come together early.
        let copies = if matches!(self.model.body, Body::EncoderDecoder { .. }) { 1.0 } else { 2.0 };
        let twice = Term {
            what: Text::new("gradients of the tied embedding before they are added", "共享词嵌入在相加之前的梯度"),
            formula: format!("{copies} × {} × {}", count(tied), width(width_of_gradient)),
            bytes: copies * tied * width_of_gradient,
        };
        phases.push(assemble(Moment::BackwardEnds, vec![vec![gradients.clone(), twice, layer]]));
        phases.push(assemble(Moment::Optimizer, vec![vec![gradients, temporaries]]));
        phases
    }

    /// Parameters of the widest matrix inside of a layer.
    fn largest_matrix_of_a_layer(&self) -> f64 {
        match &self.model.body {
            Body::Transformer(stack) | Body::EncoderDecoder { decoder: stack, .. } => {
                stack.hidden * stack.mlp.max(stack.query_width())
            }
            Body::Convolutions(_) => self.model.largest_tensor,
        }
    }

    /// Parameters of the matrices inside of layers.
    fn layers_total(&self) -> f64 {
        match &self.model.body {
            Body::Transformer(stack) => stack.layers * stack.layer_parameters,
            Body::EncoderDecoder { encoder, decoder } => {
                encoder.layers * encoder.layer_parameters + decoder.layers * decoder.layer_parameters
            }
            Body::Convolutions(_) => self.model.parameters,
        }
    }

    fn layer_parameters(&self) -> f64 {
        match &self.model.body {
            Body::Transformer(stack) => stack.layer_parameters,
            Body::EncoderDecoder { decoder, .. } => decoder.layer_parameters,
            Body::Convolutions(_) => self.model.parameters / 16.0,
        }
    }

    /// The highest moment, for `batch` samples per process.
    pub fn highest(&self, batch: u64) -> Option<Phase> {
        self.phases(batch).into_iter().max_by(|a, b| a.bytes().total_cmp(&b.bytes()))
    }

    /// What the allocator hands out at the highest moment. `low` and `high` carry the formulas' error (see the
    /// constants), `high` also logits that the program keeps and what the allocator holds beyond what it hands out.
    pub fn peak(&self, batch: u64) -> Peak {
        let peak = self.peak_as_told(batch);
        // T5 has a fused form in later releases of transformers alone.
        let may_be_eager = !self.setup.attention_known && self.setup.attention == Attention::Fused;
        if !may_be_eager || !self.model.is_t5() {
            return peak;
        }
        let setup = Setup { attention: Attention::Eager, ..self.setup };
        let eager = Training { setup, model: self.model.clone() }.peak_as_told(batch);
        Peak { high: peak.high.max(eager.high), ..peak }
    }

    fn peak_as_told(&self, batch: u64) -> Peak {
        let peak = self.peak_as_set_up(batch);
        let Some(quantised) = self.setup.quantised() else { return peak };
        // The low end is that of the more frugal ways that the description leaves open.
        let frugal = Quantised {
            width: (quantised.width.0, quantised.width.0),
            prepared: Some(quantised.prepared == Some(true)),
        };
        let lora = self.setup.lora.map(|lora| Lora { quantised: Some(frugal), ..lora });
        let least = Training { setup: Setup { lora, ..self.setup }, model: self.model.clone() };
        Peak { low: peak.low.min(least.peak_as_set_up(batch).low), ..peak }
    }

    fn peak_as_set_up(&self, batch: u64) -> Peak {
        let phases = self.phases(batch);
        let bytes = |moment: Moment| phases.iter().find(|p| p.moment == moment).map_or(0.0, Phase::bytes);
        let allocated = phases.iter().map(Phase::bytes).fold(0.0, f64::max);
        let fixed = bytes(Moment::Optimizer);
        let grows = Moment::ALL[..3].iter().map(|moment| bytes(*moment)).fold(0.0, f64::max);
        // Blocks of the one kind of moment do not always serve the other: gradients and temporaries against
        // activations.
        let states: f64 = self.states()[..1].iter().chain(&self.states()[2..3]).map(|term| term.bytes).sum();
        let unshared = (fixed - states).min(grows - states).max(0.0);
        let convolutions = matches!(self.model.body, Body::Convolutions(_));
        let error_up = if convolutions { ERROR_UP_CONVOLUTIONS } else { ERROR_UP };
        let own_blocks = if self.setup.checkpointing { UNSHARED_RECOMPUTED } else { UNSHARED };
        let kept_output = self.logits(batch as f64).map_or(0.0, |(_, backward)| backward.bytes / 12.0 * 4.0);
        if self.model.guessed {
            // States are known; what grows with the batch may be half of it or three times as much.
            let rest = (allocated - fixed).max(0.0);
            // Weights, gradients and optimizer states are there together at the optimizer's step, whatever the model's
            // shape.
            let together: f64 = self.states()[..3].iter().map(|term| term.bytes).sum();
            let low = (together * 0.9).min(allocated);
            return Peak {
                low,
                expected: allocated * super::peak::HELD_BEYOND + super::peak::HELD_FLOOR,
                high: 1.1 * fixed + 3.0 * (grows - states).max(rest) + 0.3 * GIB as f64,
            };
        }
        Peak {
            low: allocated * (1.0 - ERROR_DOWN),
            expected: allocated * super::peak::HELD_BEYOND + super::peak::HELD_FLOOR,
            high: allocated * (1.0 + error_up) + own_blocks * unshared + kept_output + 0.15 * GIB as f64,
        }
    }
}

/// How far the formulas of a known family overstate what is allocated, as a share.
const ERROR_DOWN: f64 = 0.06;
/// How far reserved memory lies above what the formulas give, as a share: their own error and segments.
const ERROR_UP: f64 = 0.13;
/// The same for convolutions, whose maps differ more in size.
const ERROR_UP_CONVOLUTIONS: f64 = 0.25;
/// Share of what the optimizer's step and backward could have in common that they do not, most seen; and the same where
/// layers are recomputed, which leaves blocks of sizes that the step cannot use.
const UNSHARED: f64 = 0.4;
const UNSHARED_RECOMPUTED: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::configuration::{Part, read};
    use crate::units::{self, Base};
    use serde_json::json;

    /// Between what and what a printed formula lies, since its figures are rounded: a sum of products, the first of
    /// which may be a sum in parentheses.
    fn value(formula: &str) -> [f64; 2] {
        let factor = |text: &str| -> [f64; 2] {
            let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
            let about = |scale: f64, rounding: f64| {
                let number = number.parse::<f64>().unwrap_or_else(|_| panic!("{text} in {formula}"));
                [scale * (number - rounding), scale * (number + rounding)]
            };
            match unit {
                "" => about(1.0, 0.0),
                "B" => about(1.0, 0.005),
                "M" => about(1e6, 0.05),
                "G" => about(1e9, 0.0005),
                _ => {
                    let size = units::parse(text, Base::Binary).unwrap_or_else(|| panic!("{text} in {formula}"));
                    [size.bytes as f64 - size.half_width as f64, size.bytes as f64 + size.half_width as f64]
                }
            }
        };
        let product = |text: &str| text.split(" × ").map(factor).fold([1.0, 1.0], |a, b| [a[0] * b[0], a[1] * b[1]]);
        let over = |of: [f64; 2], by: &str| of.map(|end| end / factor(by)[0]);
        let sum = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        if let Some((inside, after)) = formula.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            let (by, more) = after.split_once(" + ").unwrap_or((after, ""));
            let inside = by.strip_prefix(" ÷ ").map_or(value(inside), |by| over(value(inside), by));
            return if more.is_empty() { inside } else { sum(inside, value(more)) };
        }
        let quotient = |text: &str| match text.split_once(" ÷ ") {
            Some((of, by)) => over(product(of), by),
            None => product(text),
        };
        formula.split(" + ").map(quotient).fold([0.0, 0.0], sum)
    }

    fn models() -> Vec<Architecture> {
        let configs = [
            json!({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32,
                "num_key_value_heads": 8, "intermediate_size": 8192, "vocab_size": 128_256}),
            json!({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257,
                "n_positions": 1024}),
            json!({"model_type": "t5", "d_model": 512, "d_ff": 2048, "d_kv": 64, "num_heads": 8, "num_layers": 6,
                "vocab_size": 32128}),
        ];
        let read = |config: &_| read(config, Part::Whole).unwrap_or_else(|why| panic!("{config}: {}", why.en));
        configs.iter().map(read).chain([1e6, 1e9].map(Architecture::of_size)).collect()
    }

    fn setups() -> Vec<Setup> {
        let plain = Setup {
            precision: Precision::Fp32,
            optimizer: Optimizer::Adam,
            fused: false,
            lora: None,
            checkpointing: false,
            attention: Attention::Fused,
            attention_known: true,
            sequence: 512.0,
            target_sequence: 128.0,
            image: None,
            stage: 0,
            ranks: 1,
            accumulates: false,
        };
        let adapted = |quantised| Some(Lora { rank: 16.0, all_linear: true, quantised });
        vec![
            plain,
            Setup { sequence: 8.0, target_sequence: 8.0, ..plain },
            Setup { precision: Precision::Mixed, attention: Attention::Eager, accumulates: true, ..plain },
            Setup { precision: Precision::Pure16, optimizer: Optimizer::Adam8bit, checkpointing: true, ..plain },
            Setup { optimizer: Optimizer::Adafactor, ranks: 2, ..plain },
            Setup { precision: Precision::MasterWeights, stage: 2, ranks: 4, fused: true, ..plain },
            Setup { precision: Precision::Pure16, lora: adapted(None), stage: 3, ranks: 4, ..plain },
            Setup { precision: Precision::MasterWeights, stage: 3, ranks: 8, ..plain },
            Setup { precision: Precision::Pure16, lora: adapted(None), ..plain },
            Setup { precision: Precision::Mixed, lora: adapted(Some(Quantised::FOUR_BIT)), ..plain },
            Setup {
                precision: Precision::Mixed,
                lora: adapted(Some(Quantised::EIGHT_BIT)),
                checkpointing: true,
                ..plain
            },
        ]
    }

    /// Users check the arithmetic by the formulas, so these must be what was computed.
    #[test]
    fn every_figure_is_what_its_printed_formula_comes_to() {
        for (model, setup) in models().iter().flat_map(|model| setups().into_iter().map(move |setup| (model, setup))) {
            for phase in (Training { model: model.clone(), setup }).phases(3) {
                for Term { what, formula, bytes } in &phase.terms {
                    let [low, high] = value(formula);
                    let fits = low - 1.0 <= *bytes && *bytes <= high + 1.0;
                    assert!(fits, "{}: {formula} is {low} to {high}, not {bytes}", what.en);
                }
            }
        }
    }

    /// 8 layers of each kind, fp32, 384 tokens and 96 of the answer: transformers 4.51 reserved this much, in MiB.
    #[test]
    fn the_range_of_a_t5_whose_attention_nobody_named_holds_scores_that_are_written_out() {
        let config = json!({"model_type": "t5", "d_model": 512, "d_ff": 2048, "d_kv": 64, "num_heads": 8,
            "num_layers": 8, "num_decoder_layers": 8, "vocab_size": 64_000});
        let model = read(&config, Part::Whole).unwrap_or_else(|why| panic!("{}", why.en));
        let plain = Setup { sequence: 384.0, target_sequence: 96.0, attention_known: false, ..setups()[0] };
        for (batch, reserved) in [(4, 2788.0), (8, 4084.0), (16, 7096.0), (32, 12710.0)] {
            let peak = |setup| Training { model: model.clone(), setup }.peak(batch);
            let (open, eager) = (peak(plain), peak(Setup { attention: Attention::Eager, ..plain }));
            let reserved = reserved * MIB as f64;
            assert!(open.low < reserved && reserved < open.high, "batch {batch}: {open:?}");
            assert!((eager.expected / reserved - 1.0).abs() < 0.06, "batch {batch}: {eager:?}");
            let fused = peak(Setup { attention_known: true, ..plain });
            assert!(fused.high < open.high && fused.expected == open.expected, "batch {batch}: {fused:?}");
        }
    }

    #[test]
    fn counts_are_printed_in_the_largest_unit_that_they_fill() {
        assert_eq!([999_999.0, 1e6, 1e9 - 1e5, 1e9].map(count), ["999999", "1.0 M", "999.9 M", "1.000 G"]);
    }

    #[test]
    fn the_range_of_a_peak_is_in_order_whatever_the_model() {
        let sizes = [1e3, 1e6, 1e9, 1e11].map(Architecture::of_size);
        for (model, setup) in
            sizes.iter().chain(&models()).flat_map(|model| setups().into_iter().map(move |s| (model, s)))
        {
            for batch in [1, 64] {
                let peak = Training { model: model.clone(), setup }.peak(batch);
                assert!(
                    0.0 < peak.low && peak.low <= peak.expected && peak.expected <= peak.high,
                    "{setup:?}: {peak:?}"
                );
            }
        }
    }
}
