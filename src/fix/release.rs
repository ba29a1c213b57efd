//! What a line needs of the program it is written for: a line that names what came later than the newest release which
//! the log allows is not offered.

use super::Knob;
use super::case::Case;
use crate::domain::{Program, Target};
use crate::incident::release;

/// Libraries on top of PyTorch, none of which runs on what came before.
const ON_TORCH_1: [Target; 6] =
    [Target::HfTrainer, Target::Trl, Target::Lightning, Target::DeepSpeed, Target::Accelerate, Target::LlamaFactory];

/// True where nothing in the line came after the newest release that the log allows.
pub fn known(case: &Case, knob: &Knob) -> bool {
    let of_torch_1 = ON_TORCH_1.contains(&knob.target);
    (!of_torch_1 || release::allows(case.incident, Program::Pytorch, (1, 0)))
        && release::knows(case.incident, &knob.line.en)
}
