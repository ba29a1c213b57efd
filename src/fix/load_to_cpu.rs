//! Through host memory, once.

use super::case::{Case, join};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::{Accelerator, Target};
use crate::incident::context::Clue;
use crate::text;

pub const FIX: Fix = Fix {
    id: "load-to-cpu",
    class: Class::Loading,
    title: || text!(en: "Load the checkpoint to the CPU first", zh: "先把检查点加载到 CPU"),
    doc: || {
        text!(
            en: "`torch.load` puts tensors back on the device they were saved from: every rank's copy onto GPU 0, beside the model itself. `map_location=\"cpu\"` with `mmap=True` avoids it; delete the loaded dictionary afterwards.",
            zh: "`torch.load` 会把张量放回保存时的设备：所有进程的副本都落到 GPU 0，与模型本身并存。`map_location=\"cpu\"` 加 `mmap=True` 可避免；加载后删除该字典。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || !case.pytorch() || case.engine().is_some() {
        return Advice::Silent;
    }
    if !case.loading() && !case.clue(Clue::LoadsModel) && !case.clue(Clue::RanksOnOneDevice) {
        return Advice::Silent;
    }
    let ranks = if case.clue(Clue::RanksOnOneDevice) { 1.3 } else { 1.0 };
    // Apple's devices have no ranks to choose between.
    let module = Some(case.accelerator()).filter(|family| *family != Accelerator::Mps).map(Accelerator::torch_module);
    let draft = Draft::new(
        case,
        &[
            (CauseId::TransientPeak, 0.55),
            (CauseId::DuplicateModel, 0.5),
            (CauseId::WrongDevice, 0.6),
            (CauseId::Capacity, 0.25),
            (CauseId::OtherProcess, 0.15),
        ],
    )
    .weight(ranks)
    .frees_if(case.of_parameters(2.0, 4.0), case.ask_for_parameters())
    .slows(0.0, 0.01)
    .certainty(Certainty::Likely)
    .knob(Target::Lightning, "Model.load_from_checkpoint(path, map_location=\"cpu\")")
    .knob(
        Target::Pytorch,
        "state = torch.load(path, map_location=\"cpu\", mmap=True); model.load_state_dict(state); del state",
    );
    let draft = match module {
        Some(module) => draft.knob(
            Target::Pytorch,
            format!("{module}.set_device(int(os.environ[\"LOCAL_RANK\"]))   # before anything moves to the device"),
        ),
        None => draft,
    };
    draft.because(join(text!(en: "a checkpoint loaded onto the GPU lies beside the model, once per rank", zh: "加载到显存的检查点与模型并存，每个进程一份"), case.situation()))
}
