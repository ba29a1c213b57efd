//! Simulations and renderers on a GPU: LAMMPS, Kokkos, quantum circuit simulators, Blender's Cycles, LuxCore.

use super::notice::{PHRASE, Phrase, first_of};
use super::{Dialect, Event, Fact, Resource, Sign};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::units::{Base, Figure, MIB, size};

pub const DIALECT: Dialect = Dialect {
    name: "simulation",
    triggers: &[
        "nsufficient memory",
        "GPU memory",
        "out of memory",
        "Out of memory",
        "OUT_OF_",
        "llocate ",
        "cudaErrorMemoryAllocation",
    ],
    read,
};

const PHRASES: [Phrase; 15] = [
    Phrase {
        words: &["Insufficientmemoryonaccelerator"],
        dialect: "lammps-accelerator",
        program: Program::Lammps,
        lines: 1,
        ..PHRASE
    },
    // A texture per call that is never freed: handles, not bytes.
    Phrase {
        words: &["cudaCreateTextureObject"],
        and: &["cudaErrorMemoryAllocation"],
        dialect: "kokkos-texture",
        program: Program::Kokkos,
        signs: &[Sign::Disguised, Sign::HandlesRanOut],
        lines: 3,
        ..PHRASE
    },
    Phrase {
        words: &["Kokkosfailedtoallocatememoryforlabel"],
        and: &["MemorySpacenamed\"Host"],
        dialect: "kokkos-host",
        program: Program::Kokkos,
        resource: Resource::Host,
        sizes: &[(Fact::Requested, "Allocationofsize")],
        ..PHRASE
    },
    Phrase {
        words: &["Kokkosfailedtoallocatememoryforlabel"],
        dialect: "kokkos-space",
        program: Program::Kokkos,
        sizes: &[(Fact::Requested, "Allocationofsize")],
        ..PHRASE
    },
    Phrase {
        words: &["ERRORononeproc:Failedtoallocate", "ERROR:Failedtoallocate"],
        and: &["bytesforarray"],
        dialect: "lammps-array",
        program: Program::Lammps,
        resource: Resource::Host,
        sizes: &[(Fact::Requested, "Failedtoallocate")],
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["[custatevec]%outofmemory", "custatevec"],
        and: &["outofmemory"],
        dialect: "custatevec",
        program: Program::Cuquantum,
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["ErrorinPennyLaneLightning:outofmemory", "PennyLaneLightning"],
        and: &["outofmemory"],
        dialect: "pennylane-lightning",
        program: Program::PennyLane,
        lines: 1,
        ..PHRASE
    },
    Phrase {
        words: &["Insufficientmemorytoruncircuit"],
        and: &["Requiredmemory:"],
        dialect: "aer-insufficient-memory",
        program: Program::Qiskit,
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["SystemisoutofGPUmemory"],
        dialect: "blender-gpu",
        program: Program::Blender,
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["OutofmemoryincuCtxCreate"],
        dialect: "blender-context",
        program: Program::Blender,
        signs: &[Sign::Disguised, Sign::ContextCreation],
        lines: 2,
        ..PHRASE
    },
    // A stream or module is no memory of the scene: the driver has none left for itself. The context is there by then.
    Phrase {
        words: &["OutofmemoryincuStreamCreate", "OutofmemoryincuModuleLoad"],
        dialect: "blender-driver",
        program: Program::Blender,
        signs: &[Sign::Disguised],
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &[
            "OutofmemoryincuMem",
            "Outofmemoryincuda",
            "OutofmemoryinhipMalloc",
            "OutofmemoryincuArray",
            "OutofmemoryincuLaunch",
        ],
        dialect: "blender-call",
        program: Program::Blender,
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["CUDAdriverAPIerrorCUDA_ERROR_OUT_OF_MEMORY", "CUDAdriverAPIerror"],
        and: &["OUT_OF_MEMORY", "LuxCore"],
        dialect: "luxcore",
        program: Program::LuxCore,
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["CUDAdriverAPIerrorCUDA_ERROR_OUT_OF_MEMORY", "CUDAdriverAPIerror"],
        and: &["OUT_OF_MEMORY", "luxrays"],
        dialect: "luxcore",
        program: Program::LuxCore,
        lines: 2,
        ..PHRASE
    },
    Phrase {
        words: &["OutofmemoryincuMemAlloc"],
        dialect: "blender-call",
        program: Program::Blender,
        lines: 2,
        ..PHRASE
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let (mut event, notice) = first_of(document, position, &PHRASES)?;
    match event.dialect {
        "lammps-accelerator" => lammps_device(document, position, &mut event),
        "aer-insufficient-memory" => {
            // `max memory: 128747M (Host) + 40536M (GPU)`: with a GPU both hold the state, and no figure is printed for
            // both.
            let max = notice.text.after("maxmemory:", 0).and_then(|at| notice.text.count_at(at));
            let host = max.map_or(0, |(count, _)| count);
            let required = notice.text.after("Requiredmemory:", 0).and_then(|at| notice.text.count_at(at));
            // Whole MiB: a mark in the number stands between groups of digits, if anything.
            let required = required.filter(|(_, end)| notice.text.squeezed[*end..].starts_with('M'));
            if let Some(bytes) = required.and_then(|(count, _)| count.checked_mul(MIB)) {
                event.facts.note(Fact::Requested, Figure { bytes, half_width: MIB, at: event.at });
            }
            let gpu = notice.text.after("M(Host)+", 0).and_then(|at| notice.text.count_at(at)).map_or(0, |(n, _)| n);
            if gpu == 0 {
                event.resource = Resource::Host;
            }
            if let Some(bytes) = host.checked_mul(MIB).filter(|n| *n > 0 && gpu == 0) {
                event.facts.note(Fact::Capacity, Figure { bytes, half_width: MIB, at: event.at });
            }
        }
        dialect if dialect.starts_with("blender") => scene(document, position, &mut event),
        _ => {}
    }
    Some(event)
}

/// `Device 0: Tesla V100-PCIE-32GB, 80 CUs, 31/32 GB, 1.4 GHZ`: free and total, cut to whole GB.
fn lammps_device(document: &Document, position: usize, event: &mut Event) {
    let from = position.saturating_sub(60);
    let lines = document.lines.get(from..position).unwrap_or_default();
    let Some(line) = lines.iter().rev().find(|line| line.text.starts_with("Device ") && line.text.contains(" CUs, "))
    else {
        return;
    };
    let Some((front, _)) = line.text.split_once(" GB,") else { return };
    let Some((free, total)) = front.rsplit(' ').next().and_then(|pair| pair.split_once('/')) else { return };
    let at = Span::line(line.number);
    for (fact, number) in [(Fact::Free, free), (Fact::Capacity, total)] {
        if let Some(size) = size(number, "GB", Base::Binary) {
            event.facts.note(fact, size.at(at));
        }
    }
    event.signs.remove(&Sign::NoFigures);
}

/// `Fra:1 Mem:219.36M (Peak 1.34G)`: what Blender counts of the scene, on the host.
fn scene(document: &Document, position: usize, event: &mut Event) {
    let from = position.saturating_sub(30);
    let lines = document.lines.get(from..=position).unwrap_or_default();
    let Some(line) = lines.iter().rev().find(|line| line.text.contains("Mem:") && line.text.contains("(Peak ")) else {
        return;
    };
    let at = Span::line(line.number);
    for (name, label) in [(Number::Scene, "Mem:"), (Number::ScenePeak, "(Peak ")] {
        if let Some(size) = super::field::size_after(&line.text, label, Base::Binary) {
            event.facts.numbers.insert(name, (size.bytes as f64, at));
        }
    }
}
