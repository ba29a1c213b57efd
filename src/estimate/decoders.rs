//! Decoders whose weights and cache are counted from their `config.json`, but not what their layers keep for backward:
//! mixtures of experts, latent attention, and layers that differ from Llama's. They answer questions about serving.

use super::architecture::{Activation, Architecture, Quirks, Style, Transformer, transformer};
use super::fields::Fields;
use crate::text::Text;

/// A family that is known here.
struct Family {
    name: &'static str,
    /// The MLP has three matrices, not two.
    gated: bool,
    /// The head is the embedding's matrix where the configuration does not say.
    tied: bool,
}

const fn family(name: &'static str, gated: bool, tied: bool) -> Family {
    Family { name, gated, tied }
}

const FAMILIES: &[Family] = &[
    family("arcee", false, false),
    family("bloom", false, true),
    family("codegen", false, false),
    family("cohere", true, true),
    family("cohere2", true, true),
    family("deepseek_v2", true, false),
    family("deepseek_v3", true, false),
    family("exaone4", true, false),
    family("falcon", false, true),
    family("glm", true, false),
    family("glm4", true, false),
    family("glm4_moe", true, false),
    family("gpt_bigcode", false, true),
    family("gpt_neo", false, true),
    family("gpt_oss", true, false),
    family("gptj", false, false),
    family("granitemoe", true, false),
    family("internlm2", true, false),
    family("internlm3", true, false),
    family("ministral", true, false),
    family("mixtral", true, false),
    family("mpt", false, true),
    family("nemotron", false, false),
    family("olmo", true, false),
    family("olmo3", true, false),
    family("olmoe", true, false),
    family("persimmon", false, false),
    family("phi", false, false),
    family("phimoe", true, false),
    family("qwen2_moe", true, false),
    family("qwen3_moe", true, false),
    family("seed_oss", true, false),
    family("stablelm", true, false),
    family("starcoder2", false, true),
];

/// The shape of a decoder of one of these families; `None` of any other.
pub(super) fn read(f: &Fields, name: &str) -> Option<Result<Architecture, Text>> {
    let family = FAMILIES.iter().find(|family| family.name == name)?;
    Some(shape(f, family))
}

fn shape(f: &Fields, family: &Family) -> Result<Architecture, Text> {
    let h = f.size(&["hidden_size", "n_embd", "d_model"])?;
    let layers = f.size(&["num_hidden_layers", "n_layer", "n_layers", "num_layers"])?;
    let heads = f.size(&["num_attention_heads", "n_head", "n_heads", "num_heads"])?;
    let kv_heads = key_heads(f, family.name, heads)?;
    let head_size = f.size_or(&["head_dim"], h / heads)?;
    let i = f.size_or(&["intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim"], inner(f, h))?;
    let v = f.size(&["vocab_size"])?;
    let positions = f.size(&["max_position_embeddings", "n_positions", "max_seq_len", "seq_length"]).ok();
    let matrices = if family.gated { 3.0 } else { 2.0 };

    let latent = latent(f)?;
    let attention = match &latent {
        Some(latent) => latent.parameters(h, heads),
        None => 2.0 * h * (heads + kv_heads) * head_size,
    };
    let dense = matrices * h * i;
    let (sparse_layers, sparse) = experts(f, h, i, layers, matrices)?.unwrap_or((0.0, 0.0));
    let in_layers = layers * (attention + 2.0 * h) + (layers - sparse_layers) * dense + sparse_layers * sparse;

    let tied = f.flag_or("tie_word_embeddings", family.tied);
    let learned_positions =
        if matches!(family.name, "gpt_bigcode" | "gpt_neo") { positions.unwrap_or(0.0) * h } else { 0.0 };
    let outside = v * h * if tied { 1.0 } else { 2.0 } + h + learned_positions;
    let stack = Transformer {
        style: Style::Llama,
        layers,
        hidden: h,
        heads,
        kv_heads,
        head_size,
        mlp: i,
        gated: family.gated,
        activation: Activation::Fused,
        dropout: false,
        attention_dropout: false,
        vocabulary: v,
        language_head: true,
        quirks: Quirks { latent: latent.map(|latent| latent.cached()), ..Quirks::default() },
        layer_parameters: in_layers / layers,
    };
    let mut model = transformer(stack, in_layers / layers, outside, v * h, v * h, positions);
    model.serves_only = true;
    Ok(model)
}

/// Width of the MLP where the configuration gives a ratio or nothing.
fn inner(f: &Fields, hidden: f64) -> f64 {
    hidden * f.number_or(&["expansion_ratio"], 4.0).clamp(1.0, 64.0)
}

fn key_heads(f: &Fields, family: &str, heads: f64) -> Result<f64, Text> {
    match family {
        // One head of keys and values for all, but in the newer form of the family.
        "falcon" if f.flag_or("new_decoder_architecture", false) => f.size_or(&["num_kv_heads"], heads),
        "falcon" | "gpt_bigcode" => Ok(if f.flag_or("multi_query", true) { 1.0 } else { heads }),
        "mpt" => f.inner("attn_config").map_or(Ok(heads), |attention| attention.size_or(&["kv_n_heads"], heads)),
        _ => f.size_or(&["num_key_value_heads", "num_kv_heads"], heads),
    }
}

/// Attention over a compressed key and value (DeepSeek).
struct Latent {
    query_rank: Option<f64>,
    rank: f64,
    /// Parts of a head with rotated positions, without, and of the values.
    rotated: f64,
    plain: f64,
    value: f64,
}

fn latent(f: &Fields) -> Result<Option<Latent>, Text> {
    if f.any(&["kv_lora_rank"]).is_none() {
        return Ok(None);
    }
    Ok(Some(Latent {
        query_rank: f.size(&["q_lora_rank"]).ok(),
        rank: f.size(&["kv_lora_rank"])?,
        rotated: f.size(&["qk_rope_head_dim"])?,
        plain: f.size(&["qk_nope_head_dim"])?,
        value: f.size(&["v_head_dim"])?,
    }))
}

impl Latent {
    fn parameters(&self, h: f64, heads: f64) -> f64 {
        let query = heads * (self.rotated + self.plain);
        let queries = self.query_rank.map_or(h * query, |rank| rank * (h + query));
        let keys = h * (self.rank + self.rotated) + self.rank * heads * (self.plain + self.value);
        queries + keys + heads * self.value * h
    }

    /// Elements that a layer's cache holds of a token: one latent and the rotated part, for all heads together.
    fn cached(&self) -> f64 {
        self.rank + self.rotated
    }
}

/// The layers with experts, and the parameters of one of them.
fn experts(f: &Fields, h: f64, dense: f64, layers: f64, matrices: f64) -> Result<Option<(f64, f64)>, Text> {
    let names = ["num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"];
    if f.any(&names).is_none() {
        return Ok(None);
    }
    let number = f.size(&names)?;
    let width = f.size_or(&["moe_intermediate_size"], dense)?;
    let shared = f.number_or(&["n_shared_experts", "num_shared_experts"], 0.0).clamp(0.0, 1024.0) * width
        + f.number_or(&["shared_expert_intermediate_size"], 0.0).clamp(0.0, 1e7);
    let one = matrices * h * (number * width + shared) + h * number;
    let first = f.number_or(&["first_k_dense_replace"], 0.0).clamp(0.0, layers);
    let step = f.number_or(&["decoder_sparse_step", "moe_layer_freq"], 1.0).max(1.0);
    Ok(Some((((layers - first) / step).floor(), one)))
}
