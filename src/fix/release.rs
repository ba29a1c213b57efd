//! What a line needs of the program it is written for: a line that names what came later than the newest release which
//! the log allows is not offered.

use super::Knob;
use super::case::Case;
use crate::domain::{Library, Target};
use crate::incident::release;

/// Libraries on top of PyTorch, none of which runs on what came before 1.0, or on a Python before 3.6.
const ON_TORCH_1: [Target; 7] = [
    Target::HfTrainer,
    Target::Trl,
    Target::Lightning,
    Target::DeepSpeed,
    Target::Accelerate,
    Target::LlamaFactory,
    Target::Axolotl,
];

/// True where nothing in the line came after the newest release that the log allows.
pub fn known(case: &Case, knob: &Knob) -> bool {
    let of_torch_1 = ON_TORCH_1.contains(&knob.target);
    let torch_1 = || release::may_run(case.incident, Library::Torch, (1, 0, 0), (2018, 12));
    let python_3_6 = || release::python(case.incident).is_none_or(|python| python >= (3, 6));
    (!of_torch_1 || torch_1() && python_3_6()) && release::knows(case.incident, &knob.line.en)
}
