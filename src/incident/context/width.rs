//! The width of weights that the name of a model's form tells: `model-Q4_K_M.gguf`, `model-exl2-3_0`, `model-AWQ`.

use super::Context;
use regex::Regex;
use std::sync::LazyLock;

/// Bits a weight in the names of ExLlama's forms: `exl2-3_0`, `exl2_4.65`, `2.4bpw-h6-exl2`.
static BITS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u)exl[23][-_]([1-8](?:[._][0-9]{1,2})?)\b|([1-8](?:[._][0-9]{1,2})?)[-_ ]?bpw").ok()
});

/// Bits that a name may tell for a weight besides those of the layers that stay wider (embeddings, the head).
const WIDER: f64 = 2.0;

impl Context {
    /// Bytes of a weight at the least and at the most, where the model's name or a file of its command tells that it
    /// is quantised.
    pub fn quantised_width(&self) -> Option<(f64, f64)> {
        self.form_names().find_map(bytes_of)
    }

    /// Bits of a weight by the name of a GGUF file or tag: `model-Q4_K_M.gguf`, `model:q8_0`, `IQ3_XXS`; by what was
    /// printed as it was loaded, else.
    pub fn gguf_bits(&self) -> Option<u32> {
        self.form_names().find_map(gguf_bits).or(self.origin.gguf_bits)
    }

    /// What may tell the form: the model's name, and files of the command, of which another option may set the width of
    /// a cache.
    fn form_names(&self) -> impl Iterator<Item = &str> {
        let files = self.command.get().into_iter().flat_map(|command| command.split_whitespace());
        self.model.get().map(String::as_str).into_iter().chain(files.filter(|word| word.ends_with(".gguf")))
    }
}

pub(super) fn gguf_bits(name: &str) -> Option<u32> {
    let name = name.to_ascii_lowercase();
    name.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|word| {
        let digit = word.strip_prefix("iq").or_else(|| word.strip_prefix('q'))?;
        digit.parse().ok().filter(|bits| (1..=8).contains(bits))
    })
}

/// Bytes of a weight in a form of that name. A form whose name has no figure is had in 2 to 8 bits.
fn bytes_of(name: &str) -> Option<(f64, f64)> {
    let name = name.to_ascii_lowercase();
    let of_bits = |least: f64, most: f64| Some((least / 8.0, (most + WIDER) / 8.0));
    if ["exl2", "exl3", "bpw"].iter().any(|form| name.contains(form)) {
        let found = BITS.as_ref().and_then(|form| form.captures(&name));
        let told =
            found.and_then(|found| found.get(1).or(found.get(2))?.as_str().replace('_', ".").parse::<f64>().ok());
        return told.map_or_else(|| of_bits(2.0, 8.0), |bits| of_bits(bits.floor(), bits));
    }
    if let Some(bits) = gguf_bits(&name) {
        return of_bits(f64::from(bits), f64::from(bits));
    }
    let word = |form: &str| name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == form);
    if name.contains("awq") || name.contains("bnb") || word("4bit") || word("int4") || word("nf4") {
        return of_bits(4.0, 8.0);
    }
    if word("8bit") || word("int8") || word("fp8") || word("w8a8") {
        return of_bits(8.0, 8.0);
    }
    ["gptq", "gguf"].iter().any(|form| name.contains(form)).then(|| of_bits(2.0, 8.0))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Span;

    #[test]
    fn the_name_of_a_form_tells_the_width_of_its_weights() {
        let of = |name: &str| {
            let mut context = Context::default();
            context.model.note(name.into(), Span::line(1));
            let rounded = |bits: f64| (bits * 100.0).round() / 100.0;
            context.quantised_width().map(|(least, most)| (least * 8.0, rounded(most * 8.0 - WIDER)))
        };
        assert_eq!(of("/models/heron-32B-exl2-3_0"), Some((3.0, 3.0)));
        assert_eq!(of("heron-70b-2.4bpw-h6-exl2"), Some((2.0, 2.4)));
        assert_eq!(of("heron-8b-exl2_4.65"), Some((4.0, 4.65)));
        assert_eq!(of("heron-7b-exl2"), Some((2.0, 8.0)));
        assert_eq!(of("heron-8b-Q5_K_M.gguf"), Some((5.0, 5.0)));
        assert_eq!(of("heron:8b-q8_0"), Some((8.0, 8.0)));
        assert_eq!(of("heron-7B-AWQ"), Some((4.0, 8.0)));
        assert_eq!(of("heron-7b-4bit-128g"), Some((4.0, 8.0)));
        assert_eq!(of("heron-13B-GPTQ"), Some((2.0, 8.0)));
        assert_eq!(of("heron-32B-FP8"), Some((8.0, 8.0)));
        assert_eq!(of("heron-7b"), None);
    }
}
