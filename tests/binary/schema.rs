//! Documents held against the schemas in `docs`.

use jsonschema::Validator;
use serde_json::Value;
use std::collections::BTreeSet;

/// A schema of `docs`, and which of its properties have been seen in documents.
///
/// It is stricter than what is published in one point: an object may hold no property that the schema does not describe,
/// so that nothing stays undocumented.
pub struct Schema {
    name: String,
    whole: Value,
    validator: Validator,
    seen: BTreeSet<String>,
}

/// A schema as it stands in `docs`.
fn published(name: &str) -> Value {
    let path = super::root().join(format!("docs/{name}.schema.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Lets objects hold nothing but what is described.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(parts) => {
            if parts.contains_key("properties") && parts["properties"].is_object() && parts.contains_key("type") {
                parts.insert("additionalProperties".into(), false.into());
            }
            parts.values_mut().for_each(close);
        }
        Value::Array(parts) => parts.iter_mut().for_each(close),
        _ => {}
    }
}

impl Schema {
    pub fn of(name: &str) -> Schema {
        let mut whole = published(name);
        close(&mut whole);
        // A schema may point at its neighbours in `docs`.
        let mut neighbour = published("explain");
        close(&mut neighbour);
        let base = "https://oomdoc.invalid/";
        let registry = jsonschema::Registry::new()
            .add(format!("{base}explain.schema.json"), neighbour)
            .unwrap()
            .prepare()
            .unwrap();
        let validator = jsonschema::options()
            .with_base_uri(format!("{base}{name}.json"))
            .with_registry(&registry)
            .build(&whole)
            .unwrap();
        Schema { name: name.to_string(), whole, validator, seen: BTreeSet::new() }
    }

    /// What is wrong with a document.
    pub fn complaints(&self, document: &Value) -> Vec<String> {
        let tell = |error: jsonschema::ValidationError<'_>| format!("{}: {error}", error.instance_path());
        self.validator.iter_errors(document).map(tell).collect()
    }

    /// Fails where a document is not as described.
    pub fn check(&mut self, document: &Value, case: &str) {
        let wrong = self.complaints(document);
        assert!(wrong.is_empty(), "{case}: {}", wrong.join("\n"));
        let mut seen = std::mem::take(&mut self.seen);
        self.walk(&self.whole, document, "", &mut seen);
        self.seen = seen;
    }

    /// Fails where a property was in no document, but for those that are excused, each with a reason. A name that ends in a
    /// star stands for all that begin so, a star within for whatever is there.
    pub fn complete(&self, excused: &[(&str, &str)]) {
        self.complete_among(|_| true, excused);
    }

    /// The same of the properties of some definitions.
    pub fn complete_among(&self, mine: impl Fn(&str) -> bool, excused: &[(&str, &str)]) {
        let mut all = BTreeSet::new();
        self.properties(&self.whole, "", &mut BTreeSet::new(), &mut all);
        all.retain(|property| mine(property.split('.').next().unwrap()));
        assert!(all.len() > 10, "{}: the schema has another form now", self.name);
        let stands_for = |name: &str, property: &str| match name.split_once('*') {
            Some((start, end)) => property.starts_with(start) && property.ends_with(end),
            None => property == name,
        };
        let unseen: Vec<_> = all
            .iter()
            .filter(|property| !self.seen.contains(*property))
            .filter(|property| !excused.iter().any(|(name, _)| stands_for(name, property)))
            .collect();
        assert!(unseen.is_empty(), "{}: no document has {unseen:#?}", self.name);
        for (name, why) in excused {
            let needed = all.iter().any(|property| stands_for(name, property) && !self.seen.contains(property));
            assert!(needed, "{}: {name} needs no excuse ({why})", self.name);
        }
    }

    /// All properties that the schema has, as `Definition.property`.
    fn properties(&self, schema: &Value, at: &str, visited: &mut BTreeSet<String>, found: &mut BTreeSet<String>) {
        if let Some(name) = definition(schema)
            && visited.insert(name.to_string())
        {
            self.properties(&self.whole["$defs"][name], name, visited, found);
        }
        for part in parts(schema) {
            self.properties(part, at, visited, found);
        }
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            let place = format!("{at}.{name}");
            self.properties(inner, &place, visited, found);
            found.insert(place);
        }
    }

    /// Those that a document has.
    fn walk(&self, schema: &Value, document: &Value, at: &str, found: &mut BTreeSet<String>) {
        if let Some(name) = definition(schema) {
            self.walk(&self.whole["$defs"][name], document, name, found);
        }
        for choice in CHOICES.iter().flat_map(|choice| schema[choice].as_array().into_iter().flatten()) {
            self.walk(choice, document, at, found);
        }
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            if let Some(value) = document.get(name) {
                let place = format!("{at}.{name}");
                self.walk(inner, value, &place, found);
                found.insert(place);
            }
        }
        if schema["items"].is_object() {
            for value in document.as_array().into_iter().flatten() {
                self.walk(&schema["items"], value, at, found);
            }
        }
    }
}

const CHOICES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// The name of the definition that a schema points at.
fn definition(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// The schemas inside a schema, but for those of its properties.
fn parts(schema: &Value) -> impl Iterator<Item = &Value> {
    let choices = CHOICES.iter().flat_map(|choice| schema[choice].as_array().into_iter().flatten());
    choices.chain(schema.get("items"))
}
