//! One instance for all.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "share-one-model",
    class: Class::Loading,
    title: || text!(en: "Keep one instance of the model", zh: "只保留一个模型实例"),
    doc: || {
        text!(
            en: "A model made anew per request, per fold or per worker adds up. Make it once, delete the old one \
                 before the next, unload what idles.",
            zh: "每次请求、每折或每个 worker 都新建模型会不断累加。只建一次，新建前删除旧的，卸载闲置的。"
        )
    },
    helps: &[Work::Training, Work::Inference, Work::Serving],
    needs: &[Need::Device],
    // Another process that is proved to hold the memory leaves no copy to look for.
    // What is put back into an optimizer are its states.
    applies: |case| case.confidence(CauseId::DuplicateModel) >= 0.1 && !case.restores_an_optimizer(),
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Ollama, "OLLAMA_MAX_LOADED_MODELS=1 ollama serve"),
        line(Target::Vllm, "--enable-sleep-mode").note(
            "when colocated with training: llm.sleep(level=1) before each step",
            "与训练同卡时，每步之前调用 llm.sleep(level=1)",
        ),
        said(
            Target::SdWebUi,
            "Settings → Checkpoints: maximum number of checkpoints loaded = 1",
            "Settings → Checkpoints：最多加载的检查点数 = 1",
        ),
        line(Target::Pytorch, "del model; gc.collect(); {module}.empty_cache()")
            .note("before the next one is made", "在创建下一个之前")
            .when("drops"),
        line(Target::Pytorch, "if __name__ == \"__main__\":")
            .note(
                "around all that the script runs: a spawned child reads the file again",
                "放在脚本执行部分之前：spawn 的子进程会再次读取该文件",
            )
            .when("spawned"),
        said(
            Target::Pytorch,
            "keep the second copy of the weights in host memory, or drop it once it has been read",
            "第二份权重放在主机内存，或读取后立即释放",
        )
        .when("beside"),
    ],
    fixtures: &["cause/second-copy"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let module = case.accelerator().torch_module();
    let spawned = case.clue(Clue::SpawnedAgain);
    // What is copied cannot go before the copy is made.
    let copies = case.copies_a_model();
    let twice = if spawned || case.clue(Clue::LoadedTwice) { 1.2 } else { 1.0 };
    Draft::new(case, &FIX)
        .when("engine", case.engine().is_some())
        .when("spawned", spawned)
        .when("drops", !case.training() && !spawned && !copies)
        .when("beside", case.training() || copies)
        .weight(twice)
        .frees_if(case.of_parameters(2.0, 4.0), case.ask_for_parameters())
        .certainty(Certainty::Likely)
        .fill("module", module)
        .because(text!(en: "more than one copy of a model holds memory", zh: "不止一份模型副本占用内存"))
}
