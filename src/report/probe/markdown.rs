//! The probe to paste into an issue: a table of GPUs, the verdicts, the host.

use super::Findings;
use crate::reading::Reading;
use crate::report::markdown::escape;
use crate::text::{Lang, Text};
use crate::units::Bytes;

/// The findings as Markdown.
pub fn render(findings: &Findings, lang: Lang) -> String {
    let pick = |en: &str, zh: &str| Text::new(en, zh).in_lang(lang).to_string();
    let mut out = format!("## oomdoc probe {}\n", env!("CARGO_PKG_VERSION"));
    if let Some(degraded) = findings.survey.degraded {
        out += &format!("\n{}\n", escape(degraded.text().in_lang(lang)));
    }
    for note in &findings.survey.notes {
        out += &format!("\n{}\n", escape(note.text.in_lang(lang)));
    }
    if !findings.shown.is_empty() {
        out += &format!(
            "\n| GPU | {} | {} | {} | {} | {} | {} |\n| --- | --- | --- | --- | --- | --- | --- |\n",
            pick("name", "名称"),
            pick("in use", "已用"),
            pick("reserved", "保留"),
            pick("free", "空闲"),
            pick("total", "总量"),
            pick("unexplained", "无归属"),
        );
    }
    let missing = |why: &Text| format!("{}: {}", pick("not available", "不可用"), escape(why.in_lang(lang)));
    let bytes = |value: Reading<u64>| match value {
        Ok(bytes) => Bytes(bytes).to_string(),
        Err(reason) => missing(&reason.why),
    };
    for gpu in &findings.shown {
        let memory = gpu.memory.clone();
        let name = match &gpu.name {
            Ok(name) => escape(name),
            Err(reason) => missing(&reason.why),
        };
        let reserved = match &memory {
            Ok(memory) => memory.reserved.map_or("-".to_string(), |bytes| Bytes(bytes).to_string()),
            Err(_) => "-".into(),
        };
        out += &format!(
            "| {} | {name} | {} | {reserved} | {} | {} | {} |\n",
            gpu.index,
            bytes(memory.clone().map(|memory| memory.allocated())),
            bytes(memory.clone().map(|memory| memory.free)),
            bytes(memory.map(|memory| memory.total)),
            bytes(gpu.attribution.clone().map(|attribution| attribution.unexplained)),
        );
    }
    let mut rows = |head: &str, rows: &[super::cuda::Row]| {
        out += &format!("\n### {head}\n\n");
        for row in rows {
            out += &format!("- {}: {}\n", row.label.in_lang(lang), escape(row.text.in_lang(lang)));
        }
    };
    for (gpu, part) in findings.shown.iter().zip(&findings.cuda) {
        if let Some(part) = part {
            rows(&format!("GPU {}: CUDA", gpu.index), &super::cuda::lines(part));
        }
    }
    if let Some(part) = &findings.cuda_alone {
        rows("CUDA", &super::cuda::lines(part));
    }
    if let Some(reproduction) = &findings.reproduction {
        let head = pick("Was it fragmentation?", "是碎片化吗？");
        rows(&head, &super::cuda::reproduction_lines(reproduction, findings.measured()));
    }
    for (gpu, verdicts) in findings.shown.iter().zip(&findings.verdicts) {
        for verdict in verdicts {
            out += &format!("\n- GPU {}, **{}**: {}\n", gpu.index, verdict.id, escape(verdict.text.in_lang(lang)));
        }
        for process in gpu.processes.iter().flatten() {
            let name = process.name().map_or_else(|reason| missing(&reason.why), |name| escape(&name));
            out += &format!("\n- GPU {}, pid {}: {} ({name})\n", gpu.index, process.pid, bytes(process.bytes.clone()));
        }
    }
    for other in &findings.survey.others {
        let (used, total) = (bytes(other.used.clone()), bytes(other.total.clone()));
        out += &format!("\n- {}: {used} / {total}. {}\n", escape(&other.name), other.maker.text().in_lang(lang));
    }
    if !matches!(findings.survey.source, crate::gpu::Source::File(_)) {
        out += &format!("\n### {}\n", pick("Host", "主机"));
        match &findings.survey.host.memory {
            Ok(memory) => {
                let available = bytes(memory.available.clone());
                out += &format!("\n- RAM: {available} / {}\n", Bytes(memory.total));
            }
            Err(reason) => out += &format!("\n- RAM: {}\n", missing(&reason.why)),
        }
        for warning in &findings.warnings {
            out += &format!("\n- **{}**: {}\n", warning.id, escape(warning.text.in_lang(lang)));
        }
    }
    out
}
