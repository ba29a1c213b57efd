//! Fewer samples per validation step.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "smaller-eval-batch",
    class: Class::Evaluation,
    title: || text!(en: "Smaller evaluation batch", zh: "减小验证批大小"),
    doc: || {
        text!(
            en: "Validation has its own batch size: the HF Trainer's default is 8, Ultralytics uses twice the \
                 training batch for most tasks. It matters only when validation is what fails.",
            zh: "验证有单独的批大小：HF Trainer 默认 8，Ultralytics 对大多数任务使用训练批的两倍。只有失败发生在验证\
                 阶段时才有意义。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::NoEngine, Need::Loaded],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.05), numerics: Numerics::Same },
    knobs: &[
        line(Target::HfTrainer, "per_device_eval_batch_size={tried}"),
        line(Target::Axolotl, "eval_batch_size: {tried}"),
        line(Target::Lightning, "DataLoader(val_set, batch_size={tried})")
            .note("what val_dataloader() returns", "由 val_dataloader() 返回"),
        line(Target::Ultralytics, "val=False")
            .note("validate afterwards: yolo val batch=<half>", "训练后单独验证：yolo val batch=<减半>"),
        line(Target::Fastai, "learn.data = src.databunch(val_bs={tried})").when("fastai-1"),
        line(Target::Fastai, "learn.dls = dblock.dataloaders(path, val_bs={tried})").unless("fastai-1"),
        line(Target::Pytorch, "val_loader = DataLoader(val_set, batch_size={tried})").when("loader"),
        said(Target::Pytorch, "half as many samples in each step of evaluation", "验证时每步的样本数减半").when("set"),
        said(Target::Pytorch, "smaller pieces of each picture: fewer rays at a time", "渲染图片时每块的光线数更少")
            .when("rays"),
        line(Target::MmEngine, "val_dataloader.batch_size=1").when("mmengine"),
        said(
            Target::Program,
            "fewer samples at once in the evaluation, by the program's own option",
            "验证时一次处理更少的样本，使用程序自带的选项",
        ),
        said(
            Target::Pytorch,
            "fewer samples at once in the evaluation, where it takes several",
            "若验证时一次处理多个样本，减少样本数",
        )
        .when("unset"),
    ],
    fixtures: &["context/ultralytics", "context/ranks"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // The results of all samples come together, whatever the batch they were made in.
    if case.gathers_results() {
        return Advice::Silent;
    }
    if !case.evaluating() {
        if case.training() && matches!(case.phase(), Some(Phase::Backward | Phase::OptimizerStep)) {
            return Advice::WontHelp(text!(
                en: "it failed in training, which the evaluation batch has no part in",
                zh: "失败发生在训练阶段，与验证批大小无关"
            ));
        }
        return Advice::Silent;
    }
    let batch = case.context.eval_batch_size.value().or(case.context.batch_size.value());
    if batch == Some(1) {
        return Advice::WontHelp(text!(en: "the evaluation batch is 1 already", zh: "验证批大小已经是 1"));
    }
    let tried = batch.map_or("<half>".to_string(), |batch| (batch / 2).max(1).to_string());
    let (loader, rays) = (Need::Loader.met(case), case.subject() == Some(Subject::Rays));
    let told = case.context.eval_batch_size.value();
    let own = told.and_then(|batch| case.own_option_with(Quantity::EvalBatch, batch, (batch / 2).max(1)));
    // Of a command that only evaluates, its one batch is that of the evaluation.
    let own = own.or_else(|| {
        let alone = told.is_none() && !case.named_for_training() && !case.context.epoch.is_known();
        case.own_option(Quantity::Batch).filter(|option| alone && option.in_command())?;
        case.own_option_halved(Quantity::Batch)
    });
    Draft::new(case, &FIX)
        .own(own)
        .when("mmengine", case.on_mmengine())
        .frees_if(
            case.share_of_activations(
                0.0,
                0.4,
                text!(en: "half of the evaluation's activations", zh: "验证激活的一半"),
            ),
            case.ask_for_peak(),
        )
        .when("fastai-1", case.first_fastai())
        .when("set", batch.is_some() && !loader)
        .when("rays", rays)
        .when("unset", batch.is_none() && !loader && !rays)
        .fill("tried", tried)
        .because(text!(
            en: "it failed in validation, which has a batch of its own; results do not depend on it",
            zh: "失败发生在验证阶段，它有自己的批大小；结果不受影响"
        ))
}
