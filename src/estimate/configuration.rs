//! The shape of a model as its `config.json` (Hugging Face) describes it, and its exact number of parameters.
//!
//! Counted after the modules of transformers 5 and held against the counts that PyTorch gives for the same
//! configurations (`tests/headroom/results.json`). A `model_type` that is not listed here is an error, never a guess.

use super::architecture::{
    Activation, Architecture, Body, ConvolutionStyle, Convolutions, Quirks, Stored, Style, Transformer, Window,
    transformer,
};
use super::decoders;
use super::fields::{Fields, LARGEST};
use crate::text;
use crate::text::Text;
use serde_json::Value;

fn activation(name: Option<&str>) -> Activation {
    match name.unwrap_or("gelu") {
        "gelu_new" | "gelu_fast" | "quick_gelu" => Activation::WrittenOut,
        "relu" => Activation::Relu,
        _ => Activation::Fused,
    }
}

/// Weights and bias of a linear layer.
fn linear(from: f64, to: f64, bias: bool) -> f64 {
    from * to + if bias { to } else { 0.0 }
}

/// Which part of a configuration is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Whole,
    /// The language model of one that sees or hears too.
    Text,
}

/// Where multimodal configurations keep their language model.
const INNER: [&str; 4] = ["text_config", "llm_config", "language_config", "thinker_config"];

/// True for a model of images, sound or video beside text.
fn is_multimodal(config: &Value) -> bool {
    let other = |key: &str| {
        ["vision_config", "audio_config", "vision_tower", "mm_vision_tower", "vision_cfg", "visual"].contains(&key)
    };
    INNER.iter().any(|inner| config.get(inner).is_some_and(Value::is_object) && config.get("hidden_size").is_none())
        || config.as_object().is_some_and(|fields| {
            fields.iter().any(|(key, value)| other(key) && (value.is_object() || value.is_string()))
        })
}

/// Reads the shape out of a configuration.
///
/// # Errors
/// When the family is not known here, when a part of it is not counted, or when a size that its layers need is missing
/// or no size.
pub fn read(config: &Value, part: Part) -> Result<Architecture, Text> {
    let fields = Fields(config);
    if !config.is_object() {
        return Err(Text::new("it is no JSON object", "不是 JSON 对象"));
    }
    if is_multimodal(config) {
        if part == Part::Whole {
            return Err(Text::new(
                "a model of more than text: its vision or audio tower and the tokens of its inputs are not counted \
                 here; run the program with oomdoc rehearse, or ask about its language model alone with --text-only",
                "多模态模型：这里不计算其视觉或音频塔及其输入的 token；请用 oomdoc rehearse 运行该程序，\
                 或用 --text-only 只计算语言模型",
            ));
        }
        let inner = INNER.iter().find_map(|inner| config.get(inner)).filter(|inner| inner.is_object());
        if let Some(inner) = inner.filter(|inner| inner.get("model_type").is_some()) {
            // Quantisation is told once, for the whole.
            let mut inner = inner.clone();
            if let (Some(fields), Some(stored)) = (inner.as_object_mut(), config.get("quantization_config")) {
                fields.entry("quantization_config").or_insert_with(|| stored.clone());
            }
            return language_model(&Fields(&inner));
        }
    }
    language_model(&fields)
}

fn language_model(fields: &Fields) -> Result<Architecture, Text> {
    let Some(family) = fields.word(&["model_type"]) else {
        return Err(Text::new(
            "model_type is missing: is it the config.json of a model?",
            "缺少 model_type：这是模型的 config.json 吗？",
        ));
    };
    let family = match family {
        // The language models of what sees, under names of their own.
        "qwen2_vl" | "qwen2_vl_text" | "qwen2_5_vl" | "qwen2_5_vl_text" => "qwen2",
        "qwen3_vl" | "qwen3_vl_text" => "qwen3",
        "qwen3_vl_moe" | "qwen3_vl_moe_text" => "qwen3_moe",
        "mistral3" => "mistral",
        family => family,
    };
    let read = match family {
        "gpt2" => gpt2(fields),
        "llama" | "mistral" | "qwen2" | "qwen3" | "gemma" | "gemma2" | "gemma3_text" | "phi3" | "olmo2" | "smollm3"
        | "granite" => llama(fields, family),
        "gpt_neox" => neox(fields),
        "opt" => opt(fields),
        "bert" | "roberta" | "xlm-roberta" | "camembert" | "distilbert" => bert(fields, family),
        "t5" | "mt5" => t5(fields),
        "vit" => vit(fields),
        "resnet" => resnet(fields),
        "convnext" => convnext(fields),
        _ => decoders::read(fields, family).unwrap_or_else(|| {
            Err(text!(
                en: "models of type {family} are not known here; run the program with oomdoc rehearse, measure one or \
                     two batches, or give --params",
                zh: "不认识 {family} 类型的模型；请用 oomdoc rehearse 运行程序、实测一两个批大小，\
                     或用 --params 给出参数量"
            ))
        }),
    };
    let mut model = read?;
    model.family = family.to_string();
    let untied = matches!(family, "llama" | "mistral" | "qwen2" | "qwen3" | "gpt_neox" | "phi3" | "olmo2" | "granite");
    if let Body::Transformer(stack) | Body::EncoderDecoder { decoder: stack, .. } = &model.body
        && stack.language_head
        && fields.flag_or("tie_word_embeddings", !untied)
    {
        model.tied_embedding = stack.vocabulary * stack.hidden;
    }
    if let Body::Transformer(stack) = &mut model.body {
        stack.quirks.window = window(fields, family, stack.layers);
    }
    model.stored = stored(fields)?;
    Ok(model)
}

/// The layers with a sliding window.
fn window(f: &Fields, family: &str, layers: f64) -> Option<Window> {
    let tokens = f.size(&["sliding_window", "attention_chunk_size"]).ok()?;
    let listed = f.any(&["layer_types"]).and_then(Value::as_array).map(|kinds| {
        let narrow = |kind: &&Value| kind.as_str().is_some_and(|kind| kind.starts_with(['s', 'c']));
        kinds.iter().take(4096).filter(narrow).count() as f64
    });
    let pattern = |every: f64| {
        let every = f.number_or(&["sliding_window_pattern"], every).max(1.0);
        layers - (layers / every).floor()
    };
    let layers = listed.unwrap_or_else(|| match family {
        "mistral" | "mixtral" | "starcoder2" | "phi3" | "ministral" => layers,
        "qwen2" | "qwen3" | "qwen2_moe" | "qwen3_moe" if f.flag_or("use_sliding_window", false) => {
            (layers - f.number_or(&["max_window_layers"], 0.0)).max(0.0)
        }
        "gemma2" | "gpt_oss" => pattern(2.0),
        "gemma3_text" => pattern(6.0),
        "cohere2" | "olmo3" => pattern(4.0),
        _ => 0.0,
    });
    (layers > 0.0).then_some(Window { tokens, layers })
}

/// What `quantization_config` says of the stored weights.
fn stored(f: &Fields) -> Result<Option<Stored>, Text> {
    let Some(config) = f.inner("quantization_config") else { return Ok(None) };
    let method = config.word(&["quant_method"]).unwrap_or("unnamed").to_string();
    // Scales (and zero points) of 16 bit for each group.
    let grouped =
        |bits: f64, group: f64, of_group: f64| (bits + if group > 0.0 { of_group / group } else { 0.0 }) / 8.0;
    let group = config.number_or(&["group_size"], 128.0);
    let bits = config.number_or(&["bits", "w_bit", "weight_bits", "nbits"], 0.0);
    let width = match method.as_str() {
        "awq" | "gptq" | "hqq" | "auto-round" if bits > 0.0 => Some(grouped(bits, group, 16.0 + bits)),
        "bitsandbytes" if config.flag_or("load_in_4bit", false) => Some(0.5625),
        "bitsandbytes" if config.flag_or("load_in_8bit", false) => Some(1.03),
        "fp8" | "fbgemm_fp8" => Some(1.01),
        "mxfp4" => Some(4.25 / 8.0),
        "compressed-tensors" => config.inner("config_groups").and_then(|groups| {
            let first = groups.0.as_object()?.values().next()?;
            let weights = Fields(first).inner("weights")?;
            let bits = weights.number_or(&["num_bits"], 0.0);
            (bits > 0.0).then(|| grouped(bits, weights.number_or(&["group_size"], 0.0), 16.0 + bits))
        }),
        _ => None,
    };
    match width.filter(|width| (0.1..=4.0).contains(width)) {
        Some(width) => Ok(Some(Stored { method, width })),
        None => Err(text!(
            en: "its weights are quantised by {method} in a way that is not counted here: give the file of weights, or \
                 measure",
            zh: "其权重经 {method} 量化，这里无法计算：请给出权重文件，或实测"
        )),
    }
}

fn gpt2(f: &Fields) -> Result<Architecture, Text> {
    let h = f.size(&["n_embd", "hidden_size"])?;
    let layers = f.size(&["n_layer", "num_hidden_layers"])?;
    let heads = f.size(&["n_head", "num_attention_heads"])?;
    let i = f.size_or(&["n_inner"], 4.0 * h)?;
    let v = f.size(&["vocab_size"])?;
    let positions = f.size_or(&["n_positions", "max_position_embeddings"], 1024.0)?;
    let matrices = linear(h, 3.0 * h, true) + linear(h, h, true) + linear(h, i, true) + linear(i, h, true);
    let layer = matrices + 4.0 * h;
    let language = !f.head().contains("Classification");
    let stack = Transformer {
        style: Style::Gpt2,
        layers,
        hidden: h,
        heads,
        kv_heads: heads,
        head_size: h / heads,
        mlp: i,
        gated: false,
        activation: activation(f.word(&["activation_function"]).or(Some("gelu_new"))),
        dropout: f.number_or(&["resid_pdrop"], 0.1) > 0.0,
        attention_dropout: f.number_or(&["attn_pdrop"], 0.1) > 0.0,
        vocabulary: v,
        language_head: language,
        quirks: Quirks::default(),
        layer_parameters: layer,
    };
    let outside = v * h + positions * h + 2.0 * h;
    Ok(transformer(stack, matrices, outside, if language { v * h } else { 0.0 }, v * h, Some(positions)))
}

fn llama(f: &Fields, family: &str) -> Result<Architecture, Text> {
    let h = f.size(&["hidden_size"])?;
    let layers = f.size(&["num_hidden_layers"])?;
    let heads = f.size(&["num_attention_heads"])?;
    let kv_heads = f.size_or(&["num_key_value_heads"], heads)?;
    let head_size = f.size_or(&["head_dim"], if family.starts_with("gemma") { 256.0 } else { h / heads })?;
    let i = f.size(&["intermediate_size"])?;
    let v = f.size(&["vocab_size"])?;
    let bias = f.flag_or("attention_bias", family == "qwen2");
    let (q, kv) = (heads * head_size, kv_heads * head_size);
    // Qwen 2 has no bias on the output projection.
    let attention = linear(h, q, bias) + 2.0 * linear(h, kv, bias) + linear(q, h, bias && family != "qwen2");
    let mlp_bias = f.flag_or("mlp_bias", false);
    let mlp = 2.0 * linear(h, i, mlp_bias) + linear(i, h, mlp_bias);
    let norms = match family {
        "gemma2" | "gemma3_text" => 4.0 * h,
        _ => 2.0 * h,
    };
    let head_norms = match family {
        "qwen3" | "gemma3_text" => 2.0 * head_size,
        "olmo2" => q + kv,
        _ => 0.0,
    };
    let layer = attention + mlp + norms + head_norms;
    let tied = f.flag_or("tie_word_embeddings", family.starts_with("gemma") || family == "smollm3");
    let head = f.head();
    let language = !head.contains("Classification") && !head.ends_with("Model") || head.is_empty();
    let own_head = language && !tied;
    let stack = Transformer {
        style: Style::Llama,
        layers,
        hidden: h,
        heads,
        kv_heads,
        head_size,
        mlp: i,
        gated: true,
        activation: activation(f.word(&["hidden_activation", "hidden_act"]).or(Some("silu"))),
        dropout: f.number_or(&["resid_pdrop"], 0.0) > 0.0,
        attention_dropout: f.number_or(&["attention_dropout"], 0.0) > 0.0,
        vocabulary: v,
        language_head: language,
        quirks: Quirks {
            further_norms: if matches!(family, "gemma2" | "gemma3_text") { 2.0 } else { 0.0 },
            wide_norms: family.starts_with("gemma"),
            head_norms: matches!(family, "qwen3" | "olmo2" | "gemma3_text"),
            fused_projection: family == "phi3",
            soft_capped: family == "gemma2",
            ..Quirks::default()
        },
        layer_parameters: layer,
    };
    let outside = v * h * if own_head { 2.0 } else { 1.0 } + h;
    let positions = f.size(&["max_position_embeddings"]).ok();
    Ok(transformer(stack, attention + mlp, outside, if language { v * h } else { 0.0 }, v * h, positions))
}

/// A stack whose heads share neither keys nor values and whose MLP has no gate, of so many hidden dimensions, heads and
/// dimensions of the MLP.
fn multi_head(f: &Fields, style: Style, [hidden, heads, mlp]: [f64; 3]) -> Result<Transformer, Text> {
    Ok(Transformer {
        style,
        layers: f.size(&["num_hidden_layers"])?,
        hidden,
        heads,
        kv_heads: heads,
        head_size: hidden / heads,
        mlp,
        gated: false,
        activation: activation(f.word(&["hidden_act"])),
        dropout: false,
        attention_dropout: false,
        vocabulary: 0.0,
        language_head: false,
        quirks: Quirks::default(),
        layer_parameters: 0.0,
    })
}

fn neox(f: &Fields) -> Result<Architecture, Text> {
    let h = f.size(&["hidden_size"])?;
    let heads = f.size(&["num_attention_heads"])?;
    let i = f.size(&["intermediate_size"])?;
    let v = f.size(&["vocab_size"])?;
    let bias = f.flag_or("attention_bias", true);
    let matrices = linear(h, 3.0 * h, bias) + linear(h, h, bias) + linear(h, i, true) + linear(i, h, true);
    let layer = matrices + 4.0 * h;
    let dropout = f.number_or(&["hidden_dropout"], 0.0) > 0.0;
    let stack = Transformer {
        dropout,
        attention_dropout: f.number_or(&["attention_dropout"], 0.0) > 0.0,
        vocabulary: v,
        language_head: true,
        quirks: Quirks { fused_projection: true, ..Quirks::default() },
        layer_parameters: layer,
        ..multi_head(f, Style::NeoX, [h, heads, i])?
    };
    let tied = f.flag_or("tie_word_embeddings", false);
    let outside = v * h * if tied { 1.0 } else { 2.0 } + 2.0 * h;
    Ok(transformer(stack, matrices, outside, v * h, v * h, f.size(&["max_position_embeddings"]).ok()))
}

fn opt(f: &Fields) -> Result<Architecture, Text> {
    let h = f.size(&["hidden_size"])?;
    let heads = f.size(&["num_attention_heads"])?;
    let i = f.size(&["ffn_dim"])?;
    let v = f.size(&["vocab_size"])?;
    let e = f.size_or(&["word_embed_proj_dim"], h)?;
    let positions = f.size_or(&["max_position_embeddings"], 2048.0)?;
    let matrices = 4.0 * linear(h, h, true) + linear(h, i, true) + linear(i, h, true);
    let layer = matrices + 4.0 * h;
    let projections = if e == h { 0.0 } else { 2.0 * e * h };
    let final_norm = if f.flag_or("do_layer_norm_before", true) { 2.0 * h } else { 0.0 };
    let dropout = f.number_or(&["dropout"], 0.1) > 0.0;
    let stack = Transformer {
        style: Style::Opt,
        layers: f.size(&["num_hidden_layers"])?,
        hidden: h,
        heads,
        kv_heads: heads,
        head_size: h / heads,
        mlp: i,
        gated: false,
        activation: activation(f.word(&["activation_function"]).or(Some("relu"))),
        dropout,
        attention_dropout: f.number_or(&["attention_dropout"], 0.0) > 0.0,
        vocabulary: v,
        language_head: true,
        quirks: Quirks::default(),
        layer_parameters: layer,
    };
    let outside = v * e + (positions + 2.0) * h + projections + final_norm;
    Ok(transformer(stack, matrices, outside, v * e + projections, v * e, Some(positions)))
}

fn bert(f: &Fields, family: &str) -> Result<Architecture, Text> {
    let h = f.size(&["hidden_size", "dim"])?;
    let heads = f.size(&["num_attention_heads", "n_heads"])?;
    let i = f.size(&["intermediate_size", "hidden_dim"])?;
    let v = f.size(&["vocab_size"])?;
    let e = f.size_or(&["embedding_size"], h)?;
    let positions = f.size(&["max_position_embeddings"])?;
    let types = if family == "distilbert" { 0.0 } else { f.size_or(&["type_vocab_size"], 2.0)? };
    let matrices = 4.0 * linear(h, h, true) + linear(h, i, true) + linear(i, h, true);
    let layer = matrices + 4.0 * h;
    let head = f.head();
    let labels =
        f.0.get("id2label")
            .and_then(Value::as_object)
            .map(|labels| labels.len() as f64)
            .filter(|n| *n > 0.0)
            .unwrap_or_else(|| f.number_or(&["num_labels"], 2.0).clamp(1.0, LARGEST));
    let language = head.contains("MaskedLM") || head.contains("PreTraining") || head.contains("CausalLM");
    let pooled = matches!(family, "bert");
    let top = if language {
        linear(h, h, true) + 2.0 * h + v
    } else if head.contains("SequenceClassification") {
        // BERT pools in the base model, the others in the head: one square matrix each way.
        linear(h, h, true) + linear(h, labels, true)
    } else if head.contains("TokenClassification") || head.contains("QuestionAnswering") {
        linear(h, labels, true)
    } else if pooled {
        linear(h, h, true)
    } else {
        0.0
    };
    let projection = if e == h { 0.0 } else { linear(e, h, true) };
    let dropout = f.number_or(&["hidden_dropout_prob", "dropout"], 0.1) > 0.0;
    let stack = Transformer {
        style: Style::Bert,
        layers: f.size(&["num_hidden_layers", "n_layers"])?,
        hidden: h,
        heads,
        kv_heads: heads,
        head_size: h / heads,
        mlp: i,
        gated: false,
        activation: activation(f.word(&["hidden_act", "activation"])),
        dropout,
        attention_dropout: f.number_or(&["attention_probs_dropout_prob", "attention_dropout"], 0.1) > 0.0,
        vocabulary: v,
        language_head: language,
        quirks: Quirks::default(),
        layer_parameters: layer,
    };
    let outside = (v + positions + types) * e + 2.0 * e + projection + top;
    let decoder = if language { v * h } else { 0.0 };
    Ok(transformer(stack, matrices, outside, top + decoder, v * e, Some(positions)))
}

fn t5(f: &Fields) -> Result<Architecture, Text> {
    let h = f.size(&["d_model"])?;
    let heads = f.size(&["num_heads"])?;
    let d = f.size(&["d_kv"])?;
    let i = f.size(&["d_ff"])?;
    let v = f.size(&["vocab_size"])?;
    let layers = f.size(&["num_layers"])?;
    let decoder_layers = f.size_or(&["num_decoder_layers"], layers)?;
    let kind = f.word(&["feed_forward_proj"]).unwrap_or("relu");
    let gated = kind.starts_with("gated-");
    let act = match kind.trim_start_matches("gated-") {
        // transformers makes `gated-gelu` the written-out form.
        "gelu" if gated => Activation::WrittenOut,
        other => activation(Some(other)),
    };
    let attention = 4.0 * h * heads * d;
    let mlp = h * i * if gated { 3.0 } else { 2.0 };
    let buckets = f.size_or(&["relative_attention_num_buckets"], 32.0)? * heads;
    let encoder_layer = attention + mlp + 2.0 * h;
    let decoder_layer = 2.0 * attention + mlp + 3.0 * h;
    let tied = f.flag_or("tie_word_embeddings", true);
    let dropout = f.number_or(&["dropout_rate"], 0.1) > 0.0;
    let stack = |layers: f64, layer_parameters: f64, language_head: bool| Transformer {
        style: Style::T5,
        layers,
        hidden: h,
        heads,
        kv_heads: heads,
        head_size: d,
        mlp: i,
        gated,
        activation: act,
        dropout,
        attention_dropout: dropout,
        vocabulary: v,
        language_head,
        quirks: Quirks::default(),
        layer_parameters,
    };
    let body = Body::EncoderDecoder {
        encoder: stack(layers, encoder_layer, false),
        decoder: stack(decoder_layers, decoder_layer, true),
    };
    let in_layers = layers * encoder_layer + decoder_layers * decoder_layer;
    Ok(Architecture {
        family: String::new(),
        body,
        parameters: in_layers + v * h * if tied { 1.0 } else { 2.0 } + 2.0 * buckets + 2.0 * h,
        matrix_parameters: layers * (attention + mlp) + decoder_layers * (2.0 * attention + mlp) + v * h,
        largest_tensor: (v * h).max(h * i),
        max_positions: None,
        tied_embedding: 0.0,
        guessed: false,
        serves_only: false,
        stored: None,
    })
}

fn vit(f: &Fields) -> Result<Architecture, Text> {
    let h = f.size(&["hidden_size"])?;
    let heads = f.size(&["num_attention_heads"])?;
    let i = f.size_or(&["intermediate_size"], 4.0 * h)?;
    let image = f.size(&["image_size"])?;
    let patch = f.size(&["patch_size"])?;
    let channels = f.size_or(&["num_channels"], 3.0)?;
    let side = (image / patch).floor().max(1.0);
    let tokens = side * side + 1.0;
    let labels = labels(f);
    let matrices = 4.0 * linear(h, h, true) + linear(h, i, true) + linear(i, h, true);
    let layer = matrices + 4.0 * h;
    let top = if f.head().contains("Classification") { linear(h, labels, true) } else { 0.0 };
    let embedding = linear(channels * patch * patch, h, true);
    let dropout = f.number_or(&["hidden_dropout_prob"], 0.0) > 0.0;
    let stack = Transformer {
        dropout,
        attention_dropout: f.number_or(&["attention_probs_dropout_prob"], 0.0) > 0.0,
        vocabulary: labels,
        quirks: Quirks { fixed_tokens: Some(tokens), ..Quirks::default() },
        layer_parameters: layer,
        ..multi_head(f, Style::Vit, [h, heads, i])?
    };
    let outside = embedding + h + tokens * h + 2.0 * h + top;
    Ok(transformer(stack, matrices, outside, embedding + top, i * h, None))
}

fn labels(f: &Fields) -> f64 {
    let listed = f.0.get("id2label").and_then(Value::as_object).map(|labels| labels.len() as f64);
    listed.filter(|n| *n > 0.0).unwrap_or_else(|| f.number_or(&["num_labels"], 1000.0).clamp(1.0, LARGEST))
}

fn resnet(f: &Fields) -> Result<Architecture, Text> {
    let widths = f.sizes("hidden_sizes")?;
    let depths = f.sizes("depths")?;
    if widths.len() != depths.len() {
        return Err(Text::new("hidden_sizes and depths differ in length", "hidden_sizes 与 depths 长度不同"));
    }
    let stem = f.size_or(&["embedding_size"], 64.0)?;
    let channels = f.size_or(&["num_channels"], 3.0)?;
    let basic = f.word(&["layer_type"]) == Some("basic");
    // A convolution without bias and its batch norm of two parameters a channel.
    let conv = |from: f64, to: f64, kernel: f64| from * to * kernel * kernel + 2.0 * to;
    let mut parameters = conv(channels, stem, 7.0);
    let mut largest: f64 = 0.0;
    let mut from = stem;
    let down_in_first = f.flag_or("downsample_in_first_stage", false);
    for (stage, (width, depth)) in widths.iter().zip(&depths).enumerate() {
        let shrinks = stage > 0 || down_in_first;
        let first = if basic {
            conv(from, *width, 3.0) + conv(*width, *width, 3.0)
        } else {
            let inner = (*width / 4.0).floor();
            conv(from, inner, 1.0) + conv(inner, inner, 3.0) + conv(inner, *width, 1.0)
        };
        let other = if basic {
            2.0 * conv(*width, *width, 3.0)
        } else {
            let inner = (*width / 4.0).floor();
            conv(*width, inner, 1.0) + conv(inner, inner, 3.0) + conv(inner, *width, 1.0)
        };
        let shortcut = if from != *width || shrinks { conv(from, *width, 1.0) } else { 0.0 };
        parameters += first + shortcut + (*depth - 1.0) * other;
        largest = largest.max(if basic { width * width * 9.0 } else { width * width / 16.0 * 9.0 });
        from = *width;
    }
    let top = linear(from, labels(f), true);
    parameters += top;
    Ok(Architecture {
        family: String::new(),
        parameters,
        matrix_parameters: parameters,
        largest_tensor: largest.max(top),
        max_positions: None,
        tied_embedding: 0.0,
        guessed: false,
        serves_only: false,
        stored: None,
        body: Body::Convolutions(Convolutions {
            style: if basic { ConvolutionStyle::Basic } else { ConvolutionStyle::Bottleneck },
            stages: depths.into_iter().zip(widths).collect(),
            stem,
            channels,
            image: f.size(&["image_size"]).ok(),
        }),
    })
}

fn convnext(f: &Fields) -> Result<Architecture, Text> {
    let widths = f.sizes("hidden_sizes")?;
    let depths = f.sizes("depths")?;
    if widths.len() != depths.len() {
        return Err(Text::new("hidden_sizes and depths differ in length", "hidden_sizes 与 depths 长度不同"));
    }
    let channels = f.size_or(&["num_channels"], 3.0)?;
    let patch = f.size_or(&["patch_size"], 4.0)?;
    let mut parameters = 0.0;
    let mut from = None;
    let mut largest: f64 = 0.0;
    for (width, depth) in widths.iter().zip(&depths) {
        parameters += match from {
            None => linear(channels * patch * patch, *width, true) + 2.0 * width,
            Some(from) => 2.0 * from + linear(from * 4.0, *width, true),
        };
        let scale = if f.number_or(&["layer_scale_init_value"], 1e-6) > 0.0 { *width } else { 0.0 };
        let block = linear(49.0, *width, true)
            + 2.0 * width
            + linear(*width, 4.0 * width, true)
            + linear(4.0 * width, *width, true)
            + scale;
        parameters += depth * block;
        largest = largest.max(4.0 * width * width);
        from = Some(*width);
    }
    let last = from.unwrap_or(0.0);
    parameters += 2.0 * last + linear(last, labels(f), true);
    Ok(Architecture {
        family: String::new(),
        parameters,
        matrix_parameters: parameters,
        largest_tensor: largest,
        max_positions: None,
        tied_embedding: 0.0,
        guessed: false,
        serves_only: false,
        stored: None,
        body: Body::Convolutions(Convolutions {
            style: ConvolutionStyle::ConvNext,
            stages: depths.into_iter().zip(widths).collect(),
            stem: patch,
            channels,
            image: f.size(&["image_size"]).ok(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_model_that_sees_is_told_by_a_tower_or_by_an_inner_language_model() {
        for config in [
            json!({"model_type": "llama", "hidden_size": 64, "vision_config": {"hidden_size": 32}}),
            json!({"model_type": "llava", "text_config": {"hidden_size": 64}}),
            json!({"model_type": "llava_llama", "hidden_size": 64, "mm_vision_tower": "clip-large"}),
        ] {
            let why = read(&config, Part::Whole).expect_err("its tower is not counted");
            assert!(why.en.starts_with("a model of more than text"), "{config}: {}", why.en);
        }
    }
}
