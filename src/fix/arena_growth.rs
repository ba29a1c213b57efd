//! ONNX Runtime's arena, which doubles and never shrinks.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "arena-growth",
    class: Class::AllocConfig,
    title: || text!(en: "Let the arena grow by request, or do without it", zh: "让 arena 按请求增长，或不用 arena"),
    doc: || {
        text!(
            en: "ONNX Runtime's arena extends by powers of 2 and never gives memory back: one long input leaves it \
                 twice as large as its need for good. Growth by request, and shrinkage at the end of a run, avoid \
                 that at the cost of more calls to the driver.",
            zh: "ONNX Runtime 的 arena 按 2 的幂扩展且从不归还：一次长输入就会让它长期占用两倍于所需的显存。改为按请\
                 求扩展并在每次运行结束时收缩可避免，代价是更多驱动调用。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    // The options are those of the provider for NVIDIA.
    applies: |case| case.on_host() || case.accelerator() == Accelerator::Cuda,
    costs: Costs { slows: (0.0, 0.15), numerics: Numerics::Same },
    knobs: &[
        line(
            Target::OnnxRuntime,
            "providers=[(\"CUDAExecutionProvider\", {\"arena_extend_strategy\": \"kSameAsRequested\"})]",
        )
        .when("python"),
        said(
            Target::OnnxRuntime,
            "the execution provider's option arena_extend_strategy: kSameAsRequested",
            "执行提供程序的选项 arena_extend_strategy 设为 kSameAsRequested",
        )
        .when("other-language"),
        said(
            Target::OnnxRuntime,
            "config.pbtxt: parameters { key: \"gpu_mem_limit\" }, or fewer in instance_group { count }",
            "config.pbtxt：parameters { key: \"gpu_mem_limit\" }，或减少 instance_group { count }",
        )
        .when("triton"),
        line(
            Target::OnnxRuntime,
            "run_options.add_run_config_entry(\"memory.enable_memory_arena_shrinkage\", \"gpu:0\")",
        )
        .when("python"),
        line(Target::OnnxRuntime, "session_options.enable_cpu_mem_arena = False").when("host"),
    ],
    fixtures: &["onnxruntime/cuda", "onnxruntime/cpu"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let asked = case.requested().map(|requested| show(requested.middle()));
    let triton = case.clue(Clue::TritonServer);
    Draft::new(case, &FIX)
        .when("host", case.on_host())
        .when("triton", triton && !case.on_host())
        .when("python", case.shows_own_code() && !triton && !case.on_host())
        .when("other-language", !case.shows_own_code() && !triton && !case.on_host())
        .frees_unknown(text!(
            en: "up to half of what the arena holds; the log does not print that",
            zh: "最多为 arena 所占的一半；日志未打印"
        ))
        .because(match asked {
            Some(asked) => text!(
                en: "the arena doubles as it grows: for {asked} it may ask the driver for the next power of 2",
                zh: "arena 以翻倍方式增长：为 {asked} 可能向驱动申请下一个 2 的幂"
            ),
            None => text!(en: "the arena doubles as it grows and never shrinks", zh: "arena 以翻倍方式增长且从不收缩"),
        })
}
