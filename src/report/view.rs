//! What the JSON documents of the commands have in common. Each document is a type of its own, from which its schema in
//! `docs` is generated: the comments on its fields are the schema's descriptions.

use crate::reading::Reading;
use crate::text::{Lang, Text, is_obeyed};
use crate::units::Interval;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// A document as it is printed.
pub fn to_json(document: &impl Serialize) -> String {
    // Only a map whose keys are no text cannot be written, and no document has one.
    quiet(serde_json::to_string_pretty(document).unwrap_or_default()) + "\n"
}

/// A document on one line, of several that follow each other.
pub fn to_json_line(document: &impl Serialize) -> String {
    quiet(serde_json::to_string(document).unwrap_or_default()) + "\n"
}

/// The same document with what a terminal would obey written as its number, where serde_json writes it as it is: in a
/// string alone, but for the line ends between members.
fn quiet(json: String) -> String {
    let obeyed = |c: char| c != '\n' && is_obeyed(c);
    if !json.contains(obeyed) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        match c {
            c if obeyed(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// What wrote the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    #[schemars(extend("const" = "oomdoc"))]
    name: Cow<'static, str>,
    version: Cow<'static, str>,
}

impl Tool {
    pub fn this() -> Tool {
        Tool { name: Cow::Borrowed("oomdoc"), version: Cow::Borrowed(env!("CARGO_PKG_VERSION")) }
    }
}

impl Default for Tool {
    fn default() -> Tool {
        Tool { name: Cow::Borrowed(""), version: Cow::Borrowed("") }
    }
}

/// Bytes that may be negative; beyond what 64 bits hold, the nearest that they do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amount(pub i128);

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(bytes) => serializer.serialize_u64(bytes),
            Err(_) => serializer.serialize_i64(self.0.clamp(i64::MIN.into(), i64::MAX.into()) as i64),
        }
    }
}

impl JsonSchema for Amount {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer"})
    }
}

/// A count as an integer, a ratio as a fraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity(pub f64);

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // 9e15 is below 2^53, up to which a double holds every integer.
        if self.0.fract() == 0.0 && self.0.abs() < 9e15 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl JsonSchema for Quantity {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number"})
    }
}

/// Bytes between two bounds; negative where a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Range {
    pub low: Amount,
    pub high: Amount,
}

impl From<Interval> for Range {
    fn from(interval: Interval) -> Range {
        Range { low: Amount(interval.low), high: Amount(interval.high) }
    }
}

/// Bytes between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    pub low: u64,
    pub high: u64,
}

impl From<Interval> for Bounds {
    fn from(interval: Interval) -> Bounds {
        let clamped = |bytes: i128| bytes.clamp(0, u64::MAX.into()) as u64;
        Bounds { low: clamped(interval.low), high: clamped(interval.high) }
    }
}

impl From<Bounds> for Interval {
    fn from(bounds: Bounds) -> Interval {
        Interval::between(bounds.low.into(), bounds.high.into())
    }
}

/// A statement: an id that stays, and prose in the language of the report.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Said<'a> {
    pub id: &'a str,
    pub text: String,
}

impl Said<'_> {
    pub fn new<'a>(id: &'a str, text: &Text, lang: Lang) -> Said<'a> {
        Said { id, text: text.in_lang(lang).to_string() }
    }
}

/// A value that was read, or why it was not.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "{T}_or_unavailable")]
pub enum Read<T> {
    Value(T),
    Missing(Unavailable),
}

/// A reading that could not be taken.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Unavailable {
    /// The reason.
    pub unavailable: String,
}

impl<T> Read<T> {
    pub fn missing(why: &Text, lang: Lang) -> Read<T> {
        Read::Missing(Unavailable { unavailable: why.in_lang(lang).to_string() })
    }

    /// The reading with its value as the document has it.
    pub fn of<R>(reading: &Reading<R>, lang: Lang, value: impl FnOnce(&R) -> T) -> Read<T> {
        match reading {
            Ok(read) => Read::Value(value(read)),
            Err(reason) => Read::missing(&reason.why, lang),
        }
    }
}

impl<T: Clone> Read<T> {
    /// The reading as it is.
    pub fn same(reading: &Reading<T>, lang: Lang) -> Read<T> {
        Read::of(reading, lang, T::clone)
    }
}

/// The texts in one language.
pub fn texts<'a>(list: impl IntoIterator<Item = &'a Text>, lang: Lang) -> Vec<Cow<'a, str>> {
    list.into_iter().map(|text| Cow::Borrowed(text.in_lang(lang))).collect()
}

/// The schema of an object whose keys are the words of a closed set that `takes` accepts.
pub fn keyed<K: JsonSchema>(
    generator: &mut SchemaGenerator,
    takes: impl Fn(&str) -> bool,
    mut value: impl FnMut(&mut SchemaGenerator, &str) -> Schema,
) -> Schema {
    let words = K::json_schema(generator);
    let mut properties = serde_json::Map::new();
    for (word, description) in words_of(&words).into_iter().filter(|(word, _)| takes(word)) {
        let mut schema = value(generator, &word);
        if let Some(description) = description {
            schema.insert("description".into(), description.into());
        }
        properties.insert(word, schema.into());
    }
    json_schema!({"type": "object", "properties": properties})
}

/// The words of the schema of a closed set, with what is said of each.
fn words_of(schema: &Schema) -> Vec<(String, Option<String>)> {
    let text = |value: &serde_json::Value| value.as_str().map(str::to_string);
    let mut found = Vec::new();
    let parts = schema.get("oneOf").and_then(|parts| parts.as_array()).map_or_else(Vec::new, Clone::clone);
    for part in parts.iter().chain([schema.as_value()]) {
        let listed = part.get("enum").and_then(|list| list.as_array()).into_iter().flatten().filter_map(text);
        found.extend(listed.map(|word| (word, None)));
        found.extend(part.get("const").and_then(text).map(|word| (word, part.get("description").and_then(text))));
    }
    found
}
