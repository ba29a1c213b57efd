//! Through host memory, once.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "load-to-cpu",
    class: Class::Loading,
    title: || text!(en: "Load the checkpoint to the CPU first", zh: "先把检查点加载到 CPU"),
    doc: || {
        text!(
            en: "`torch.load` puts tensors back on the device they were saved from: every rank's copy onto GPU 0, \
                 beside the model itself. `map_location=\"cpu\"` with `mmap=True` avoids it; delete the loaded \
                 dictionary afterwards.",
            zh: "`torch.load` 会把张量放回保存时的设备：所有进程的副本都落到 GPU 0，与模型本身并\
                 存。`map_location=\"cpu\"` 加 `mmap=True` 可避免；加载后删除该字典。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu],
    // The checkpoint itself is being read, or was read before and may still lie beside the model.
    applies: |case| {
        let resumed = case.clue(Clue::Resumed) && !case.inference();
        let beside = case.loading() || case.confidence(CauseId::DuplicateModel) >= 0.15;
        let ranks = case.clue(Clue::RanksOnOneDevice)
            && (case.context.frames.is_empty() || resumed && case.confidence(CauseId::WrongDevice) >= 0.5);
        case.pytorch() && !case.trainer_reads() && (case.reads_a_checkpoint() || resumed && beside || ranks)
    },
    costs: Costs { slows: (0.0, 0.01), numerics: Numerics::Same },
    knobs: &[
        line(Target::Lightning, "Model.load_from_checkpoint(path, map_location=\"cpu\")").when("by-lightning"),
        line(
            Target::Pytorch,
            "state = torch.load(path, map_location=\"cpu\"); optimizer.load_state_dict(state); del state",
        )
        .when("optimizer"),
        line(
            Target::Pytorch,
            "state = torch.load(path, map_location=\"cpu\", mmap=True); model.load_state_dict(state); del state",
        ),
        line(
            Target::Pytorch,
            "state = torch.load(path, map_location=\"cpu\"); model.load_state_dict(state); del state",
        ),
        line(Target::Pytorch, "{module}.set_device(int(os.environ[\"LOCAL_RANK\"]))")
            .note("before anything moves to the device", "在任何张量移到设备之前")
            .when("ranks"),
    ],
    fixtures: &["cause/ranks-on-card-0"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let ranks = if case.clue(Clue::RanksOnOneDevice) { 1.3 } else { 1.0 };
    Draft::new(case, &FIX)
        // Apple's devices have no ranks to choose between.
        .when(
            "by-lightning",
            case.trainer() == Some(Trainer::Lightning) && !case.frames_of("/megatron/") && !case.frames_of("/nemo/"),
        )
        .when("optimizer", matches!(case.phase(), Some(Phase::Load | Phase::Resume)) && case.restores_an_optimizer())
        .when("ranks", case.accelerator() != Accelerator::Mps)
        .weight(ranks)
        .frees_if(case.of_parameters(2.0, 4.0), case.ask_for_parameters())
        .certainty(Certainty::Likely)
        .because(join(
            text!(
                en: "a checkpoint loaded onto the GPU lies beside the model, once per rank",
                zh: "加载到显存的检查点与模型并存，每个进程一份"
            ),
            case.situation(),
        ))
}
