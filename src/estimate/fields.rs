//! Values of a configuration file: dimensions within bounds, under the names that families give them.

use crate::text;
use crate::text::Text;
use serde_json::Value;

/// Largest value that a dimension may have; beyond it a file is damaged or made up, and products would lose digits.
pub(super) const LARGEST: f64 = (1u64 << 24) as f64;

/// Reads values of a configuration, with the names under which different families keep them.
pub(super) struct Fields<'a>(pub(super) &'a Value);

impl<'a> Fields<'a> {
    /// The fields of an object inside.
    pub(super) fn inner(&self, name: &str) -> Option<Fields<'a>> {
        self.0.get(name).filter(|inner| inner.is_object()).map(Fields)
    }

    pub(super) fn any(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.0.get(name).filter(|value| !value.is_null()))
    }

    /// A dimension: a whole number from 1 to [`LARGEST`].
    pub(super) fn size(&self, names: &[&str]) -> Result<f64, Text> {
        let shown = names.first().copied().unwrap_or_default();
        match self.any(names) {
            Some(value) => dimension(value).ok_or_else(|| {
                text!(
                    en: "{shown} is {value}, not a whole number from 1 to 16777216",
                    zh: "{shown} 为 {value}，不是 1 到 16777216 之间的整数"
                )
            }),
            None => Err(text!(en: "{shown} is missing", zh: "缺少 {shown}")),
        }
    }

    pub(super) fn size_or(&self, names: &[&str], otherwise: f64) -> Result<f64, Text> {
        if self.any(names).is_some() { self.size(names) } else { Ok(otherwise) }
    }

    pub(super) fn number_or(&self, names: &[&str], otherwise: f64) -> f64 {
        self.any(names).and_then(Value::as_f64).filter(|value| value.is_finite()).unwrap_or(otherwise)
    }

    pub(super) fn flag_or(&self, name: &str, otherwise: bool) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(otherwise)
    }

    pub(super) fn word(&self, names: &[&str]) -> Option<&str> {
        self.any(names).and_then(Value::as_str)
    }

    pub(super) fn sizes(&self, name: &str) -> Result<Vec<f64>, Text> {
        let list = self.0.get(name).and_then(Value::as_array);
        let sizes: Option<Vec<f64>> = list.map(|list| list.iter().take(64).filter_map(dimension).collect());
        match sizes {
            Some(sizes) if !sizes.is_empty() && list.is_some_and(|list| list.len() == sizes.len()) => Ok(sizes),
            _ => Err(text!(en: "{name} is not a list of sizes", zh: "{name} 不是尺寸列表")),
        }
    }

    /// The first of `architectures`, which tells the head.
    pub(super) fn head(&self) -> &str {
        self.0.get("architectures").and_then(|list| list.get(0)).and_then(Value::as_str).unwrap_or_default()
    }
}

fn dimension(value: &Value) -> Option<f64> {
    value.as_f64().filter(|size| (1.0..=LARGEST).contains(size) && size.fract() == 0.0)
}
