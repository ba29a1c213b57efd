//! One copy of the gradients.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "ddp-bucket-view",
    class: Class::Sharding,
    title: || text!(en: "DDP: gradients as views of the buckets", zh: "DDP：梯度作为通信桶的视图"),
    doc: || {
        text!(
            en: "DDP keeps gradients and a copy in its buckets; `gradient_as_bucket_view=True` keeps one: up to 4 \
                 bytes per 32-bit parameter.",
            zh: "DDP 同时保存梯度和桶中的副本；`gradient_as_bucket_view=True` 只留一份：每个 32 位参数最多省 4 字节。"
        )
    },
    helps: &[Work::Training],
    needs: &[Need::Training, Need::Loaded],
    applies: |case| case.learns(),
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Lightning, "DDPStrategy(gradient_as_bucket_view=True)"),
        line(Target::Accelerate, "DistributedDataParallelKwargs(gradient_as_bucket_view=True)"),
        line(Target::Pytorch, "DistributedDataParallel(model, gradient_as_bucket_view=True)"),
    ],
    fixtures: &["context/ultralytics", "context/ranks"],
    advise,
};

/// True for a script that evaluates, by its name: nothing has gradients there. Within a run of training the buckets
/// stay while it validates.
fn only_evaluates(case: &Case) -> bool {
    let first = case.context.frames.first().map(|frame| &frame.file);
    let names = [case.context.program.get(), first].into_iter().flatten();
    let mut scripts = names.filter_map(|path| path.rsplit(['/', '\\']).next());
    case.evaluating() && scripts.any(|name| ["eval", "test"].iter().any(|start| name.starts_with(start)))
}

fn advise(case: &Case) -> Advice {
    let sharded = case.context.zero_stage.is_known() || case.by_fsdp();
    let ranks = case.context.world_size.value().or(case.context.local_processes.value());
    if !case.on_gpu()
        || !case.training()
        || only_evaluates(case)
        || sharded
        || ranks.is_none_or(|ranks| ranks < 2)
        || !case.pytorch()
    {
        return Advice::Silent;
    }
    Draft::new(case, &FIX).frees_if(case.of_parameters(2.0, 4.0), case.ask_for_parameters()).because(
        text!(en: "gradients lie in memory twice: as tensors and in the buckets", zh: "梯度存了两份：张量与通信桶"),
    )
}
