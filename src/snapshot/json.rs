//! Snapshots that were saved as JSON: what `torch.cuda.memory_snapshot()` returns, or the whole dictionary.

use super::SnapshotError;
use super::store::{Store, Value};
use crate::text;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::io::Read;

/// Reads one JSON value into the same objects that a pickle gives.
///
/// # Errors
/// Where the text is no JSON or ends early, with its line and column.
pub fn read(reader: impl Read) -> Result<(Store, Value), SnapshotError> {
    let mut store = Store::new();
    let mut json = serde_json::Deserializer::from_reader(std::io::BufReader::with_capacity(256 << 10, reader));
    let root = Node(&mut store).deserialize(&mut json).map_err(|error| SnapshotError {
        offset: None,
        text: text!(en: "is no JSON snapshot: {error}", zh: "不是有效的 JSON 快照：{error}"),
    })?;
    Ok((store, root))
}

struct Node<'s>(&'s mut Store);

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a memory snapshot")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Wide(value), Value::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Str(self.0.strings.intern(value.as_bytes())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Node(self.0))? {
            items.push(item);
        }
        let list = self.0.list().map_err(|error| A::Error::custom(error.text.en))?;
        self.0.extend(list, &items).map_err(|error| A::Error::custom(error.text.en))?;
        Ok(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(key) = map.next_key_seed(Node(self.0))? {
            items.push(key);
            items.push(map.next_value_seed(Node(self.0))?);
        }
        let dict = self.0.dict().map_err(|error| A::Error::custom(error.text.en))?;
        self.0.set(dict, &items).map_err(|error| A::Error::custom(error.text.en))?;
        Ok(dict)
    }
}
