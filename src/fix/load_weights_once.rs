//! One copy of the weights on the host.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "load-weights-once",
    class: Class::Loading,
    title: || text!(en: "Load weights without a second copy", zh: "加载权重时不留第二份"),
    doc: || {
        text!(
            en: "`low_cpu_mem_usage`, safetensors and `mmap=True` avoid holding the state dict beside the model; on \
                 a node, every rank that loads by itself takes another copy.",
            zh: "`low_cpu_mem_usage`、safetensors 和 `mmap=True` 可避免 state dict 与模型同时存在；同一节点上每个独\
                 立加载的进程都会多一份。"
        )
    },
    helps: &[Work::Training, Work::Inference, Work::Serving],
    needs: &[Need::Ram],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::HfTrainer, "AutoModel.from_pretrained(..., low_cpu_mem_usage=True, torch_dtype=\"auto\")"),
        line(Target::Vllm, "--load-format safetensors")
            .note("and not fastsafetensors/prefetch on a small host", "小内存主机不要用 fastsafetensors/prefetch"),
        line(
            Target::Pytorch,
            "torch.load(path, map_location=\"cpu\", mmap=True); model.load_state_dict(state, assign=True)",
        )
        .when("read"),
        said(
            Target::Pytorch,
            "read the weights without a second copy: memory-mapped, straight into the model, one process at a time",
            "读取权重时不留第二份副本：内存映射、直接装入模型、各进程依次进行",
        )
        .when("unshown"),
        line(Target::Pytorch, "from_pretrained(..., torch_dtype=torch.bfloat16, low_cpu_mem_usage=True)").when("hub"),
        said(
            Target::Pytorch,
            "16-bit weights and low_cpu_mem_usage, by the program's own option, or where it calls from_pretrained()",
            "16 位权重加 low_cpu_mem_usage：用程序自带的选项，或写在它调用 from_pretrained() 之处",
        )
        .when("hub-unshown"),
        line(Target::Shell, "unset USE_NUMA")
            .note(
                "one copy of the weights, not one for each NUMA node; read in the build: build and install again",
                "权重只留一份，而不是每个 NUMA 节点一份；编译时读取：需重新编译安装",
            )
            .when("per-node"),
    ],
    fixtures: &["launcher/killed-then-report"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.moves_to_the_host() {
        return Advice::Silent;
    }
    let loading = case.loading();
    let per_node = case.clue(Clue::CopyPerNode);
    if !loading && !per_node && case.confidence(CauseId::DuplicateModel) < 0.05 || case.builds_a_model() {
        return Advice::Silent;
    }
    // By then `from_pretrained()` has returned: what is read is what training has saved.
    if case.phase() == Some(Phase::Resume) && !case.reads_a_checkpoint() {
        return Advice::Silent;
    }
    let hub = case.pretrained() || case.of_the_hub() || case.clue(Clue::CheckpointShards);
    let called = case.shows_call(&["from_pretrained"]) || case.shows_own_code();
    let read = case.shows_own_code() && case.reads_a_checkpoint();
    Draft::new(case, &FIX)
        .when("read", !hub && read)
        .when("unshown", !hub && !read)
        .when("loading", loading || per_node)
        .when("per-node", per_node)
        .when("hub", hub && called)
        .when("hub-unshown", hub && !called)
        .frees_if(case.of_parameters(2.0, 4.0), case.ask_for_parameters())
        .because(text!(
            en: "while loading, checkpoint and model both lie in host memory, once per process",
            zh: "加载期间检查点与模型同时在主机内存中，每个进程一份"
        ))
}
