//! Save without gathering the whole state in RAM.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "sharded-checkpoint",
    class: Class::Host,
    title: || text!(en: "Save checkpoints from host memory or in shards", zh: "从主机内存或分片保存检查点"),
    doc: || {
        text!(
            en: "A full state dict on rank 0 holds weights and optimizer state of all ranks in one process: 12–16 \
                 bytes for each parameter with Adam in mixed precision. Sharded saving writes what each rank holds \
                 already; a full copy can be put together later on a larger machine.",
            zh: "rank 0 上的完整 state dict 会把所有 rank 的权重和优化器状态放进一个进程：混合精度 Adam 每参数 \
                 12–16 字节。分片保存只写各 rank 已有的部分；之后可在大内存机器上合并。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Training],
    applies: |_| true,
    costs: Costs { slows: (-0.05, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Fsdp, "fsdp_state_dict_type: SHARDED_STATE_DICT"),
        line(Target::Accelerate, "fsdp_state_dict_type: SHARDED_STATE_DICT").unless("whole"),
        line(Target::Lightning, "Trainer(strategy=FSDPStrategy(state_dict_type=\"sharded\"))").when("fsdp"),
        line(Target::DeepSpeed, "\"stage3_gather_16bit_weights_on_model_save\": false")
            .note("zero_to_fp32.py puts it together later", "之后用 zero_to_fp32.py 合并")
            .when("gathers"),
        line(Target::HfTrainer, "save_only_model=True")
            .note("or fsdp_state_dict_type: SHARDED_STATE_DICT", "或 fsdp_state_dict_type: SHARDED_STATE_DICT")
            .unless("own-weights"),
        line(Target::HfTrainer, "fsdp_state_dict_type: SHARDED_STATE_DICT").when("in-parts"),
        line(Target::Pytorch, "with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT):")
            .note("around state_dict(), which then gathers nothing", "包住 state_dict()，这样不再汇集各分片")
            .when("unshards"),
        said(
            Target::Pytorch,
            "at {place}: copy each tensor with .cpu() as the state is gathered, rather than on the device",
            "位于 {place}：收集状态时逐个张量 .cpu()，而不是在设备上复制",
        ),
        line(Target::Pytorch, "torch.save({name: value.cpu() for name, value in model.state_dict().items()}, path)")
            .when("saves"),
        line(Target::Pytorch, "torch.distributed.checkpoint.save({\"model\": model.state_dict()}, checkpoint_id=path)")
            .unless("unshards"),
        said(
            Target::Program,
            "checkpoints in shards, or without the optimizer, by the program's own option where it has one",
            "分片保存检查点或不保存优化器：使用程序自带的选项（若有）",
        )
        .when("installed"),
    ],
    fixtures: &["context/deepspeed"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let saving = case.phase() == Some(Phase::Checkpoint);
    if case.resource() == Resource::Shm || !saving {
        return Advice::Silent;
    }
    if case.on_gpu() {
        // The first FSDP puts a unit together on the device before it copies anything.
        let unshards = case.of_the_first_fsdp()
            && case.context.frames.iter().any(|frame| {
                frame.function.contains("state_dict") && frame.path().contains("/torch/distributed/fsdp/")
            });
        // Copies that the user's own line makes on the device.
        let copies = ["clone(", "copy", "state_dict("].iter().any(|call| case.failing_code().contains(call));
        let draft = Draft::new(case, &FIX).when("fsdp", case.by_fsdp());
        let draft = match case.failing_line().filter(|_| copies && !unshards) {
            Some(place) => draft.when("own-weights", true).fill("place", place),
            // What every rank has a part of is its own: without the optimizer's state as large.
            None => draft.when("own-weights", case.reads_own_weights() || case.by_fsdp()),
        };
        // A model that no rank has a part of only has no shards to save.
        let whole = case.reads_own_weights() && !case.by_fsdp() && !case.several_devices();
        // What fairscale divides is no state of FSDP.
        let fairscale = case.frames_of("/fairscale/");
        return draft
            .when("whole", whole || fairscale)
            .when("in-parts", case.by_fsdp() && !fairscale)
            .when("unshards", unshards)
            .when(
                "saves",
                !unshards && case.shows_call(&["torch.save(", "state_dict("])
                    || case.context.frames.is_empty() && !case.of_a_tool(),
            )
            .frees_if(case.of_parameters(2.0, 16.0), case.ask_for_parameters())
            .because(text!(
                en: "it failed while a checkpoint was saved: copies of the state belong in RAM, or in shards",
                zh: "失败发生在保存检查点时：状态的副本应放在主机内存，或分片保存"
            ));
    }
    if !case.on_host() {
        return Advice::Silent;
    }
    // The setting is off unless the config says otherwise, and a config that tells the stage was printed.
    let gathers = case.clue(Clue::GathersOnSave) || !case.context.zero_stage.is_known();
    Draft::new(case, &FIX)
        .when("fsdp", case.by_fsdp())
        .when("gathers", gathers)
        .when("own-weights", case.reads_own_weights())
        .frees_if(case.of_parameters(12.0, 16.0), case.ask_for_parameters())
        .because(text!(
            en: "it died while a checkpoint was saved: gathering the state on one rank needs the whole of it in RAM \
                 at once",
            zh: "在保存检查点时被杀：把状态汇集到一个 rank 需要一次性放进内存"
        ))
}
