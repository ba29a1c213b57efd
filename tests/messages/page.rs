//! `docs/messages.md`, written from the shapes.

use super::shapes::{Outcome, PARTS, Program};
use std::collections::BTreeSet;
use std::fmt::Write;

const NOTES: &str = include_str!("notes.md");

/// The page on what programs print when memory runs out.
pub fn page(programs: &[Program]) -> String {
    let shapes = || programs.iter().flat_map(|program| &program.shapes);
    let seen = shapes().filter(|shape| shape.source.seen).count();
    let mut out = format!(
        "# Messages of programs that run out of memory\n\n\
         Generated from `tests/messages` by `UPDATE=1 cargo test --test it generated::`; the tests draw logs from the \
         same files.\n\n\
         {} programs, {} wordings, {seen} of them looked up in the programs' sources or printed logs, {} from general knowledge.\n",
        programs.len(),
        shapes().count(),
        shapes().count() - seen,
    );
    for part in PARTS {
        let title = match part {
            "gpu" => "GPU programs and engines",
            "host" => "Hosts, schedulers and runtimes",
            "unlisted" => "Programs in no list",
            _ => "Tables beside a failure",
        };
        let _ = write!(
            out,
            "\n## {title}\n\n\
             | program | kind | wordings | failures, survived, harmless | looked up | versions | sources | how it shows in a log |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        );
        for program in programs.iter().filter(|program| program.part == part) {
            out.push_str(&row(program));
        }
    }
    out.push_str("\n## Figures that mean something else than one would think\n\n");
    for program in programs.iter().filter(|program| !program.meanings.is_empty()) {
        let _ = writeln!(out, "- {}", program.program);
        for meaning in &program.meanings {
            let _ = writeln!(out, "  - {meaning}");
        }
    }
    let _ = write!(out, "\n{NOTES}");
    out
}

fn row(program: &Program) -> String {
    let count = |outcome| program.shapes.iter().filter(|shape| shape.outcome == outcome).count();
    let distinct = |values: &mut dyn Iterator<Item = &String>| {
        let values: BTreeSet<&str> = values.map(String::as_str).filter(|value| !value.is_empty()).collect();
        values.into_iter().collect::<Vec<_>>().join("; ")
    };
    let cells = [
        program.program.clone(),
        program.kind.clone(),
        program.shapes.len().to_string(),
        format!("{}, {}, {}", count(Outcome::Failure), count(Outcome::Survived), count(Outcome::Harmless)),
        program.shapes.iter().filter(|shape| shape.source.seen).count().to_string(),
        distinct(&mut program.shapes.iter().map(|shape| &shape.versions)),
        distinct(&mut program.shapes.iter().map(|shape| &shape.source.repo)),
        program.markers.clone(),
    ];
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}
