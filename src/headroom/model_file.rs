//! The headers of files with weights: how many parameters of which width, and the shape where the file tells it.

use crate::text;
use crate::text::Text;
use serde_json::{Map, Value, json};

/// What a header says.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    pub parameters: f64,
    /// Bytes of all tensors.
    pub bytes: f64,
    /// A configuration as `config.json` has it, where the file names its architecture.
    pub config: Option<Value>,
}

/// Headers are at most this long (the format's own limit for safetensors is 100 MB).
pub const LONGEST_HEADER: u64 = 100_000_000;
/// No file has more tensors or metadata entries.
const MOST: u64 = 1 << 20;

/// The length of the JSON header of a safetensors file, from its first eight bytes.
///
/// # Errors
/// When it is longer than the format allows.
pub fn safetensors_header(first: [u8; 8]) -> Result<u64, Text> {
    let length = u64::from_le_bytes(first);
    if length == 0 || length > LONGEST_HEADER {
        return Err(text!(
            en: "at byte 0: a header of {length} bytes is no safetensors header (at most {LONGEST_HEADER})",
            zh: "第 0 字节处：{length} 字节的头部不是 safetensors 头部（最多 {LONGEST_HEADER}）"
        ));
    }
    Ok(length)
}

/// Reads the JSON header of a safetensors file.
///
/// # Errors
/// When it is damaged, with the tensor.
pub fn safetensors(header: &[u8]) -> Result<Weights, Text> {
    let value: Map<String, Value> = serde_json::from_slice(header).map_err(
        |error| text!(en: "at byte 8: the header is not JSON: {error}", zh: "第 8 字节处：头部不是 JSON：{error}"),
    )?;
    let (mut parameters, mut bytes) = (0.0, 0.0);
    let mut names = Shapes::default();
    for (name, tensor) in value.iter().filter(|(name, _)| *name != "__metadata__") {
        let wrong = || text!(en: "tensor {name:?} has no shape or offsets", zh: "张量 {name:?} 没有形状或偏移");
        let shape = tensor.get("shape").and_then(Value::as_array).ok_or_else(wrong)?;
        let mut elements = 1.0;
        for side in shape {
            elements *= side.as_u64().ok_or_else(wrong)? as f64;
        }
        let offsets = tensor.get("data_offsets").and_then(Value::as_array).ok_or_else(wrong)?;
        let at = |i: usize| offsets.get(i).and_then(Value::as_u64).ok_or_else(wrong);
        let (from, to) = (at(0)?, at(1)?);
        if to < from {
            return Err(text!(en: "tensor {name:?} ends before it begins", zh: "张量 {name:?} 的结尾在开头之前"));
        }
        names.note(name, shape.iter().filter_map(Value::as_u64).collect());
        parameters += elements;
        bytes += (to - from) as f64;
    }
    if parameters < 1.0 {
        return Err(Text::new("no tensors in it", "其中没有张量"));
    }
    Ok(Weights { parameters, bytes, config: names.config() })
}

/// The shapes of tensors that tell the shape of a decoder, by the names that transformers gives them.
#[derive(Default)]
struct Shapes {
    /// Highest layer and how many of them have a query matrix.
    layers: (u64, u64),
    of_first: Map<String, Value>,
    embedding: Option<(u64, u64)>,
    head: bool,
    last_norm: bool,
    /// Something that is not in a decoder of this kind, such as experts.
    other: bool,
}

impl Shapes {
    fn note(&mut self, name: &str, shape: Vec<u64>) {
        self.other |= name.contains("experts") || name.contains("vision") || name.contains("lora_");
        let pair = match shape.as_slice() {
            [a, b] => Some((*a, *b)),
            _ => None,
        };
        if name.ends_with("embed_tokens.weight") {
            self.embedding = pair;
        } else if name == "lm_head.weight" {
            self.head = true;
        } else if name.ends_with("model.norm.weight") {
            self.last_norm = true;
        }
        let Some((_, rest)) = name.split_once("model.layers.") else { return };
        let Some((number, part)) = rest.split_once('.') else { return };
        let Ok(number) = number.parse::<u64>() else { return };
        if part == "self_attn.q_proj.weight" {
            self.layers = (self.layers.0.max(number), self.layers.1.saturating_add(1));
        }
        if number == 0
            && let Some(first) = shape.first()
        {
            self.of_first.insert(part.to_string(), (*first).into());
        }
    }

    /// A configuration, where every layer and both ends are in the file. The size of a head is told by its norm alone;
    /// without one it is that of most models, which moves neither the cache nor what fused attention keeps.
    fn config(&self) -> Option<Value> {
        let (vocabulary, hidden) = self.embedding?;
        let (last, counted) = self.layers;
        if self.other || !self.last_norm || counted != last.checked_add(1)? {
            return None;
        }
        let of = |part: &str| self.of_first.get(part).and_then(Value::as_u64).filter(|size| *size > 0);
        let (queries, keys) = (of("self_attn.q_proj.weight")?, of("self_attn.k_proj.weight")?);
        let fits = |size: &u64| *size > 0 && queries.is_multiple_of(*size) && keys.is_multiple_of(*size);
        let normed = of("self_attn.q_norm.weight").filter(|size| *size < queries);
        let head = normed.into_iter().chain([128, 64, 80, 96]).find(fits)?;
        Some(json!({
            "model_type": if normed.is_some() { "qwen3" } else { "llama" },
            "architectures": ["ForCausalLM"],
            "hidden_size": hidden,
            "num_hidden_layers": counted,
            "num_attention_heads": queries / head,
            "num_key_value_heads": keys / head,
            "head_dim": head,
            "intermediate_size": of("mlp.gate_proj.weight")?,
            "vocab_size": vocabulary,
            "attention_bias": self.of_first.contains_key("self_attn.q_proj.bias"),
            "tie_word_embeddings": !self.head,
        }))
    }
}

/// Where reading of a GGUF header stands.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: u64) -> Result<&'a [u8], Text> {
        let at = self.at;
        let end = usize::try_from(n).ok().and_then(|n| at.checked_add(n));
        let taken = end.and_then(|end| self.bytes.get(at..end));
        self.at = end.unwrap_or(at);
        taken.ok_or_else(|| text!(en: "at byte {at}: the header ends early", zh: "第 {at} 字节处：头部提前结束"))
    }

    fn u32(&mut self) -> Result<u32, Text> {
        Ok(self.take(4)?.try_into().map_or(0, u32::from_le_bytes))
    }

    fn u64(&mut self) -> Result<u64, Text> {
        Ok(self.take(8)?.try_into().map_or(0, u64::from_le_bytes))
    }

    fn string(&mut self) -> Result<String, Text> {
        let length = self.u64()?;
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// A metadata value; arrays are passed over.
    fn value(&mut self, kind: u32) -> Result<Option<Value>, Text> {
        Ok(match kind {
            0 | 1 | 7 => Some(self.take(1)?.first().copied().unwrap_or(0).into()),
            2 | 3 => Some(self.take(2)?.try_into().map_or(0, u16::from_le_bytes).into()),
            4 => Some(self.u32()?.into()),
            5 => Some((self.u32()? as i32).into()),
            6 => Some(f64::from(f32::from_bits(self.u32()?)).into()),
            8 => Some(self.string()?.into()),
            10 => Some(self.u64()?.into()),
            11 => Some((self.u64()? as i64).into()),
            12 => Some(f64::from_bits(self.u64()?).into()),
            9 => {
                let (of, length) = (self.u32()?, self.u64()?);
                let width = match of {
                    0 | 1 | 7 => 1,
                    2 | 3 => 2,
                    4..=6 => 4,
                    10..=12 => 8,
                    8 => 0,
                    _ => return Err(self.unknown("array", of)),
                };
                if width > 0 {
                    self.take(length.saturating_mul(width))?;
                } else {
                    for _ in 0..length {
                        let length = self.u64()?;
                        self.take(length)?;
                    }
                }
                // Lengths of vocabularies are told by their token lists.
                Some(json!({ "length": length }))
            }
            _ => return Err(self.unknown("value", kind)),
        })
    }

    fn unknown(&self, what: &str, kind: u32) -> Text {
        let at = self.at;
        text!(en: "at byte {at}: no {what} has type {kind}", zh: "第 {at} 字节处：没有类型为 {kind} 的值")
    }
}

/// Bits of an element of GGUF's tensor types, scales included (ggml's block sizes).
fn gguf_bits(kind: u32) -> Option<f64> {
    Some(match kind {
        0 => 32.0,
        1 | 30 => 16.0,
        2 => 4.5,
        3 => 5.0,
        6 => 5.5,
        7 => 6.0,
        8 => 8.5,
        9 => 9.0,
        10 => 2.625,
        11 => 3.4375,
        12 => 4.5,
        13 => 5.5,
        14 => 6.5625,
        15 => 9.125,
        16 => 2.0625,
        17 => 2.3125,
        18 => 3.0625,
        19 => 1.5625,
        20 | 40 => 4.5,
        21 => 3.4375,
        22 => 2.5625,
        24 => 8.0,
        25 => 16.0,
        26 => 32.0,
        27 | 28 => 64.0,
        29 => 1.75,
        34 => 1.6875,
        35 => 2.0625,
        23 | 39 => 4.25,
        _ => return None,
    })
}

/// Reads the beginning of a GGUF file, as far as the list of tensors goes.
///
/// # Errors
/// When it is damaged or longer than what was given, with the byte.
pub fn gguf(bytes: &[u8]) -> Result<Weights, Text> {
    let mut reader = Reader { bytes, at: 0 };
    if reader.take(4)? != b"GGUF" {
        return Err(Text::new("at byte 0: no GGUF file", "第 0 字节处：不是 GGUF 文件"));
    }
    let version = reader.u32()?;
    if !(2..=3).contains(&version) {
        return Err(
            text!(en: "at byte 4: GGUF version {version} is not known", zh: "第 4 字节处：不认识 GGUF 版本 {version}"),
        );
    }
    let (tensors, entries) = (reader.u64()?, reader.u64()?);
    if tensors > MOST || entries > MOST {
        return Err(text!(
            en: "at byte 8: {tensors} tensors and {entries} entries cannot be",
            zh: "第 8 字节处：{tensors} 个张量与 {entries} 个条目不可能"
        ));
    }
    let mut metadata = Map::new();
    for _ in 0..entries {
        let key = reader.string()?;
        let kind = reader.u32()?;
        if let Some(value) = reader.value(kind)? {
            metadata.insert(key, value);
        }
    }
    let (mut parameters, mut total) = (0.0, 0.0);
    for _ in 0..tensors {
        let name = reader.string()?;
        let sides = reader.u32()?;
        if sides > 8 {
            return Err(text!(en: "tensor {name:?} has {sides} dimensions", zh: "张量 {name:?} 有 {sides} 维"));
        }
        let mut elements = 1.0;
        for _ in 0..sides {
            elements *= reader.u64()? as f64;
        }
        let kind = reader.u32()?;
        reader.u64()?;
        let bits = gguf_bits(kind).ok_or_else(
            || text!(en: "tensor {name:?} has the unknown type {kind}", zh: "张量 {name:?} 的类型 {kind} 未知"),
        )?;
        parameters += elements;
        total += elements * bits / 8.0;
    }
    if parameters < 1.0 {
        return Err(Text::new("no tensors in it", "其中没有张量"));
    }
    Ok(Weights { parameters, bytes: total, config: config(&metadata) })
}

/// The metadata of a GGUF file under the names of `config.json`. The layers of all its families keep the same tensors
/// as those of Llama as far as the cache and the weights go.
fn config(metadata: &Map<String, Value>) -> Option<Value> {
    let family = metadata.get("general.architecture")?.as_str()?;
    let value = |key: &str| metadata.get(&format!("{family}.{key}")).filter(|value| value.is_number()).cloned();
    let heads = value("attention.head_count")?;
    let tokens = metadata.get("tokenizer.ggml.tokens").and_then(|list| list.get("length")).cloned();
    let mut out = Map::new();
    // A mixture of experts or latent attention is more than Llama's layers are.
    let experts = value("expert_count").filter(|count| count.as_u64().is_some_and(|count| count > 1));
    let latent = value("attention.kv_lora_rank");
    let kind = if latent.is_some() {
        "deepseek_v2"
    } else if experts.is_some() {
        "mixtral"
    } else {
        "llama"
    };
    out.insert("model_type".into(), kind.into());
    if let Some(rank) = latent {
        let rotated = value("rope.dimension_count")?;
        let plain = value("attention.key_length")?.as_u64()?.checked_sub(rotated.as_u64()?)?;
        out.insert("kv_lora_rank".into(), rank);
        out.insert("qk_rope_head_dim".into(), rotated);
        out.insert("qk_nope_head_dim".into(), plain.max(1).into());
        out.insert("v_head_dim".into(), value("attention.value_length")?);
    }
    for (key, of) in [
        ("num_local_experts", "expert_count"),
        ("moe_intermediate_size", "expert_feed_forward_length"),
        ("n_shared_experts", "expert_shared_count"),
        ("first_k_dense_replace", "leading_dense_block_count"),
    ] {
        if let Some(number) = value(of).filter(|_| experts.is_some()) {
            out.insert(key.into(), number);
        }
    }
    out.insert("hidden_size".into(), value("embedding_length")?);
    out.insert("num_hidden_layers".into(), value("block_count")?);
    out.insert("num_attention_heads".into(), heads.clone());
    out.insert("num_key_value_heads".into(), value("attention.head_count_kv").unwrap_or(heads));
    out.insert("intermediate_size".into(), value("feed_forward_length")?);
    out.insert("vocab_size".into(), value("vocab_size").or(tokens)?);
    if let Some(length) = value("attention.key_length") {
        out.insert("head_dim".into(), length);
    }
    if let Some(length) = value("context_length") {
        out.insert("max_position_embeddings".into(), length);
    }
    Some(Value::Object(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::configuration::{Part, read};

    #[test]
    fn safetensors_headers() {
        let header =
            br#"{"__metadata__": {"format": "pt"}, "a": {"dtype": "BF16", "shape": [4, 8], "data_offsets": [0, 64]}}"#;
        assert_eq!(safetensors(header), Ok(Weights { parameters: 32.0, bytes: 64.0, config: None }));
        assert!(safetensors_header(u64::MAX.to_le_bytes()).is_err());
        assert!(safetensors_header([0; 8]).is_err());
        for wrong in [
            "{",
            "[]",
            "{}",
            r#"{"a": 3}"#,
            r#"{"a": {"shape": [-1], "data_offsets": [0, 1]}}"#,
            r#"{"a": {"shape": [1], "data_offsets": [9, 1]}}"#,
        ] {
            assert!(safetensors(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_shape_of_a_decoder_is_read_from_its_tensors() {
        let header = |layers: &[u32], more: &str| {
            let mut tensors = vec![
                r#""model.embed_tokens.weight": {"shape": [1000, 256], "data_offsets": [0, 9]}"#.to_string(),
                r#""model.norm.weight": {"shape": [256], "data_offsets": [0, 9]}"#.to_string(),
            ];
            for layer in layers {
                for (name, shape) in [
                    ("self_attn.q_proj", "[256, 256]"),
                    ("self_attn.k_proj", "[64, 256]"),
                    ("mlp.gate_proj", "[512, 256]"),
                ] {
                    let name = format!("model.layers.{layer}.{name}.weight");
                    tensors.push(format!(r#""{name}": {{"shape": {shape}, "data_offsets": [0, 9]}}"#));
                }
            }
            format!("{{{}{more}}}", tensors.join(", "))
        };
        let shape = |text: &str| safetensors(text.as_bytes()).expect("a header").config;
        let whole = read(&shape(&header(&[0, 1, 2], "")).expect("a shape"), Part::Whole).expect("an architecture");
        let crate::estimate::architecture::Body::Transformer(stack) = whole.body else { panic!("layers") };
        assert_eq!((stack.layers, stack.kv_width(), stack.mlp), (3.0, 64.0, 512.0));
        assert_eq!(whole.tied_embedding, 256_000.0);
        // A part of several files, and what is more than a decoder.
        assert_eq!(shape(&header(&[1, 2], "")), None);
        let experts = r#", "model.layers.0.mlp.experts.0.w1.weight": {"shape": [2, 2], "data_offsets": [0, 9]}"#;
        assert_eq!(shape(&header(&[0, 1], experts)), None);
    }

    fn text(out: &mut Vec<u8>, text: &str) {
        out.extend((text.len() as u64).to_le_bytes());
        out.extend(text.as_bytes());
    }

    fn file() -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3u32.to_le_bytes());
        out.extend(1u64.to_le_bytes());
        let numbers = [
            ("embedding_length", 64u32),
            ("block_count", 2),
            ("attention.head_count", 4),
            ("attention.head_count_kv", 2),
            ("feed_forward_length", 128),
            ("vocab_size", 100),
        ];
        out.extend((numbers.len() as u64 + 1).to_le_bytes());
        text(&mut out, "general.architecture");
        out.extend(8u32.to_le_bytes());
        text(&mut out, "qwen2");
        for (name, value) in numbers {
            text(&mut out, &format!("qwen2.{name}"));
            out.extend(4u32.to_le_bytes());
            out.extend(value.to_le_bytes());
        }
        text(&mut out, "blk.0.w");
        out.extend(2u32.to_le_bytes());
        out.extend(64u64.to_le_bytes());
        out.extend(32u64.to_le_bytes());
        out.extend(8u32.to_le_bytes());
        out.extend(0u64.to_le_bytes());
        out
    }

    #[test]
    fn gguf_headers_whole_and_cut_anywhere() {
        let file = file();
        let weights = gguf(&file).expect("a header");
        assert_eq!((weights.parameters, weights.bytes), (2048.0, 2176.0));
        let shape = read(&weights.config.expect("a shape"), Part::Whole).expect("an architecture");
        assert_eq!(shape.family, "llama");
        for end in 0..file.len() {
            assert!(gguf(&file[..end]).is_err(), "{end}");
        }
    }

    /// A file with one tensor of 2,560 elements for each type.
    fn of_types(types: &[u32]) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(3u32.to_le_bytes());
        out.extend((types.len() as u64).to_le_bytes());
        out.extend(0u64.to_le_bytes());
        for kind in types {
            text(&mut out, &format!("blk.{kind}.w"));
            out.extend(2u32.to_le_bytes());
            out.extend(256u64.to_le_bytes());
            out.extend(10u64.to_le_bytes());
            out.extend(kind.to_le_bytes());
            out.extend(0u64.to_le_bytes());
        }
        out
    }

    /// Elements and bytes of a block of each type: `type_size` and `blck_size` of ggml.
    #[test]
    fn the_bytes_of_every_type_are_those_of_its_blocks() {
        let blocks: [(u32, f64, f64); 33] = [
            (0, 1.0, 4.0),      // F32
            (1, 1.0, 2.0),      // F16
            (2, 32.0, 18.0),    // Q4_0: 2 + 16
            (3, 32.0, 20.0),    // Q4_1: 4 + 16
            (6, 32.0, 22.0),    // Q5_0: 2 + 4 + 16
            (7, 32.0, 24.0),    // Q5_1: 4 + 4 + 16
            (8, 32.0, 34.0),    // Q8_0: 2 + 32
            (9, 32.0, 36.0),    // Q8_1: 4 + 32
            (10, 256.0, 84.0),  // Q2_K
            (11, 256.0, 110.0), // Q3_K
            (12, 256.0, 144.0), // Q4_K
            (13, 256.0, 176.0), // Q5_K
            (14, 256.0, 210.0), // Q6_K
            (15, 256.0, 292.0), // Q8_K
            (16, 256.0, 66.0),  // IQ2_XXS
            (17, 256.0, 74.0),  // IQ2_XS
            (18, 256.0, 98.0),  // IQ3_XXS
            (19, 256.0, 50.0),  // IQ1_S
            (20, 32.0, 18.0),   // IQ4_NL
            (21, 256.0, 110.0), // IQ3_S
            (22, 256.0, 82.0),  // IQ2_S
            (23, 256.0, 136.0), // IQ4_XS
            (24, 1.0, 1.0),     // I8
            (25, 1.0, 2.0),     // I16
            (26, 1.0, 4.0),     // I32
            (27, 1.0, 8.0),     // I64
            (28, 1.0, 8.0),     // F64
            (29, 256.0, 56.0),  // IQ1_M
            (30, 1.0, 2.0),     // BF16
            (34, 256.0, 54.0),  // TQ1_0
            (35, 256.0, 66.0),  // TQ2_0
            (39, 32.0, 17.0),   // MXFP4
            (40, 64.0, 36.0),   // NVFP4
        ];
        let mut sum = 0.0;
        for (kind, elements, bytes) in blocks {
            let weights = gguf(&of_types(&[kind])).unwrap_or_else(|error| panic!("{kind}: {}", error.en));
            assert_eq!((weights.parameters, weights.bytes), (2560.0, 2560.0 / elements * bytes), "{kind}");
            sum += weights.bytes;
        }
        let all = gguf(&of_types(&blocks.map(|(kind, ..)| kind))).expect("a header");
        assert_eq!((all.parameters, all.bytes), (33.0 * 2560.0, sum));
        assert!(gguf(&of_types(&[4])).expect_err("no type of ggml any more").en.contains("unknown type 4"));
        assert!(gguf(&of_types(&[])).expect_err("nothing in it").en.contains("no tensors"));
    }
}
