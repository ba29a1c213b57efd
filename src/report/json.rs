//! The JSON of the contract (`docs/explain.schema.json`), for programs.

use super::Explanation;
use crate::dialect::Facts;
use serde_json::{Map, Value, json};

/// The explanation as one JSON document.
pub fn render(explanation: &Explanation) -> Value {
    let incidents: Vec<Value> = explanation
        .diagnoses
        .iter()
        .map(|diagnosis| {
            let event = &diagnosis.incident.event;
            json!({
                "primary": diagnosis.incident.primary,
                "framework": event.framework,
                "dialect": event.dialect,
                "resource": event.resource.id(),
                "line": event.at.first,
                "message": event.message,
                "facts": facts(&event.facts),
                "causes": diagnosis.findings.iter().map(|finding| json!({
                    "id": finding.cause.id.id(),
                    "confidence": finding.confidence,
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({ "schema": "oomdoc.explain/1", "incidents": incidents })
}

fn facts(facts: &Facts) -> Value {
    let mut out = Map::new();
    for (fact, figure) in &facts.sizes {
        out.insert(fact.id().into(), figure.bytes.into());
    }
    if let Some(device) = facts.device.value() {
        out.insert("device".into(), device.into());
    }
    if !facts.other_processes.is_empty() {
        let list = facts.other_processes.iter().map(|p| json!({"pid": p.pid, "bytes": p.figure.bytes})).collect();
        out.insert("other_processes".into(), Value::Array(list));
    }
    if let Some(pid) = facts.pid.value() {
        out.insert("pid".into(), pid.into());
    }
    if let Some(name) = facts.process_name.get() {
        out.insert("process_name".into(), name.as_str().into());
    }
    if let Some(cgroup) = facts.cgroup.get() {
        out.insert("cgroup".into(), cgroup.as_str().into());
    }
    Value::Object(out)
}
