//! Fewer samples at once, with accumulation to keep the effective batch.

use super::Knob;
use super::prelude::*;
use super::replayed;
use crate::cause::nature::trains;
use crate::estimate::{batch, states};

pub const FIX: Fix = Fix {
    id: "smaller-batch",
    class: Class::Batch,
    title: || text!(en: "Smaller batch", zh: "减小批大小"),
    doc: || {
        text!(
            en: "Activations grow with the batch: `peak(b) = c + k·b`. From one failure at batch b only a one-sided \
                 estimate follows: at most `b·(usable − c)/(allocated + requested − c)`, and a fifth less as a \
                 first try. Accumulating over micro-steps keeps the effective batch; batch normalisation and \
                 contrastive losses still see the small one. A batch does nothing about weights and optimizer \
                 state.",
            zh: "激活随批大小增长：`peak(b) = c + k·b`。由批大小 b 处的一次失败只能得到单侧估计：至多 `b·(可用 − \
                 c)/(已分配 + 申请 − c)`，首次尝试再减五分之一。用多个微步累积梯度可保持等效批大小；但 BatchNorm 和\
                 对比损失看到的仍是小批。批大小对权重和优化器状态没有影响。"
        )
    },
    helps: &[Work::Training, Work::Inference, Work::Data, Work::Compute],
    needs: &[Need::NoEngine, Need::Tensor],
    applies: |case| (case.on_host() || case.on_gpu()) && !case.sign(Sign::AbsurdRequest),
    costs: Costs { slows: (0.0, 0.3), numerics: Numerics::Benign },
    knobs: &[
        line(Target::HfTrainer, "per_device_train_batch_size={batch}, gradient_accumulation_steps={steps}")
            .when("trains"),
        line(Target::Trl, "per_device_train_batch_size={batch}, gradient_accumulation_steps={steps}").when("trains"),
        line(Target::LlamaFactory, "per_device_train_batch_size: {batch}\ngradient_accumulation_steps: {steps}")
            .when("trains"),
        line(Target::Axolotl, "micro_batch_size: {batch}\ngradient_accumulation_steps: {steps}").when("trains"),
        line(Target::Swift, "--per_device_train_batch_size {batch} --gradient_accumulation_steps {steps}"),
        line(Target::Lightning, "DataLoader(batch_size={batch}); Trainer(accumulate_grad_batches={steps})")
            .when("trains"),
        line(
            Target::DeepSpeed,
            "\"train_micro_batch_size_per_gpu\": {batch}, \"gradient_accumulation_steps\": {steps}",
        )
        .when("in-json"),
        line(Target::Accelerate, "Accelerator(gradient_accumulation_steps={steps})")
            .note("with a batch size of {batch}", "同时批大小设为 {batch}")
            .when("accumulates"),
        line(Target::Ultralytics, "batch={total}")
            .note("of all GPUs together; it accumulates to nbs=64 by itself", "所有 GPU 合计；会自动累积到 nbs=64")
            .when("several"),
        line(Target::Ultralytics, "batch={total}")
            .note("accumulates to nbs=64 by itself", "自动累积到 nbs=64")
            .when("alone"),
        line(Target::Megatron, "--micro-batch-size {batch}").when("megatron"),
        line(Target::Megatron, "--batch-size {batch}").when("megatron-1"),
        line(Target::MmEngine, "train_dataloader.batch_size={batch}, optim_wrapper.accumulative_counts={steps}")
            .when("mmengine"),
        line(Target::MmEngine, "data.samples_per_gpu={batch}")
            .note("imgs_per_gpu in MMDetection 1", "MMDetection 1 中为 imgs_per_gpu")
            .unless("mmengine"),
        line(Target::Diffusers, "--train_batch_size={batch} --gradient_accumulation_steps={steps}")
            .when("example-script"),
        line(Target::Diffusers, "pipe(..., num_images_per_prompt=1)")
            .note("and one prompt at a time", "且每次一个提示")
            .when("drawn-by-a-pipe"),
        line(Target::Fastai, "dls = learn.dls.new(bs={batch}); learn.add_cb(GradientAccumulation({effective}))")
            .unless("fastai-1"),
        line(Target::Fastai, "learn.data = src.databunch(bs={batch})").when("fastai-1"),
        line(Target::TensorFlow, "model.fit(..., batch_size={batch})").when("fits"),
        said(
            Target::TensorFlow,
            "half as many samples in each call of the model, where it takes several",
            "每次调用模型的样本数减半（若一次处理多个）",
        )
        .when("keras-calls"),
        said(
            Target::TensorFlow,
            "half as many samples in each feed_dict, where it holds several",
            "每个 feed_dict 中的样本数减半（若有多个）",
        )
        .when("feeds"),
        said(Target::TensorFlow, "half as many samples in each step", "每步样本数减半").when("session-steps"),
        line(Target::Jax, "batch_size = {batch}")
            .note(
                "optax.MultiSteps(optimizer, {steps}) keeps the effective batch",
                "optax.MultiSteps(optimizer, {steps}) 保持等效批大小",
            )
            .when("known-in-jax"),
        line(Target::Jax, "batch_size = {batch}").when("calls-in-jax"),
        said(Target::Jax, "half as many samples in each step", "每步样本数减半").when("unknown-in-jax"),
        line(Target::Pytorch, "{name}={tried}"),
        line(Target::Pytorch, "DataLoader(..., batch_size={total})")
            .note("DataParallel divides it over the GPUs", "DataParallel 会把它分到各卡")
            .when("divided-loader"),
        line(Target::Pytorch, "batch_size = {total}")
            .note("DataParallel divides it over the GPUs", "DataParallel 会把它分到各卡")
            .when("divided-elsewhere"),
        line(Target::Pytorch, "DataLoader(..., batch_size={batch})")
            .note(
                "loss / {accumulated}, optimizer.step() every {accumulated} steps",
                "loss / {accumulated}，每 {accumulated} 步 optimizer.step()",
            )
            .when("loader-training"),
        line(Target::Pytorch, "DataLoader(..., batch_size={batch})").when("loader-only"),
        line(Target::Pytorch, "batch_size = {batch}")
            .note(
                "loss / {accumulated}, optimizer.step() every {accumulated} steps",
                "loss / {accumulated}，每 {accumulated} 步 optimizer.step()",
            )
            .when("training"),
        line(Target::Pytorch, "batch_size = {batch}").when("calls"),
        said(
            Target::Pytorch,
            "half as many samples in each step, gradients accumulated over twice as many steps",
            "每步样本数减半，梯度累积的步数加倍",
        )
        .when("unknown-in-training"),
        said(
            Target::Pytorch,
            "half as many samples in each call of the model, where it takes several",
            "每次调用模型的样本数减半（若一次处理多个）",
        )
        .when("unknown-in-calls"),
        said(Target::Program, "batch size {batch}", "批大小 {batch}").when("known"),
        said(Target::Program, "half as many samples in each training step", "每个训练步的样本数减半").when("elsewhere"),
        said(Target::SdWebUi, "batch size 1: one picture at a time", "批大小设为 1：一次只生成一张"),
        said(
            Target::ComfyUi,
            "the node that makes the latent: batch_size 1, or fewer frames",
            "生成 latent 的节点：batch_size 设为 1，或减少帧数",
        )
        .when("pictures"),
        said(
            Target::ComfyUi,
            "the node that makes the latent: batch_size 1, or a shorter duration",
            "生成 latent 的节点：batch_size 设为 1，或缩短时长",
        )
        .when("sound"),
        said(Target::ComfyUi, "fewer frames, in the node that makes the latent", "在生成 latent 的节点中减少帧数")
            .when("video"),
    ],
    fixtures: &["candle/weights", "cause/simulator-beside"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.on_host() {
        return on_host(case);
    }
    // The batch of training is not there yet.
    if case.context.caches_data() {
        return Advice::Silent;
    }
    // An array that a compiled program keeps as a constant is as large, whatever the batch.
    if case.incident.event.of_a_constant() {
        return Advice::Silent;
    }
    if let Some(why) = case.activations_gone() {
        return Advice::WontHelp(why);
    }
    if !Need::Pass.met(case) && !case.loading() {
        return Advice::Silent;
    }
    // Trees are grown on all rows at once, and a currency's table has the size that it has.
    if case.grows_trees() || case.context.origin.mines {
        return Advice::Silent;
    }
    let learns_elsewhere = case.works() == [Work::Compute];
    if learns_elsewhere && (!trains(case.incident) || case.only_asks()) {
        return Advice::Silent;
    }
    if let Some(asked) = case.requested().filter(|_| case.still_beyond(share(case))) {
        let share = share(case);
        let need = asked.low;
        let (part, asked) = (show((asked.low as f64 * share) as i128), show(asked.middle()));
        // How many samples there are is not known: fewer than half may still be some.
        if let Some(all) = case.capacity().filter(|_| !batch_known(case)) {
            let parts = (need + all.low.max(1) - 1) / all.low.max(1) * 2;
            let why = text!(
                en: "half of the batch leaves {part} of the {asked} requested, more than the device has: it would take \
                     1/{parts} of it or less, if what is large is the batch",
                zh: "批大小减半后，申请的 {asked} 仍有 {part}，超过设备容量：若过大的是批，需要降到 1/{parts} 或更小"
            );
            return if parts > FEW_PARTS { Advice::WontHelp(why) } else { Advice::Withheld(why) };
        }
        return Advice::WontHelp(text!(
            en: "at {share:.2} of the batch {part} of the {asked} requested are left, still more than the device has",
            zh: "批大小降到 {share:.2} 时，申请的 {asked} 仍有 {part}，超过设备容量"
        ));
    }
    if case.brings_weights_back() {
        return Advice::Silent;
    }
    if case.loading() {
        let resumes = case.phase() == Some(Phase::Resume);
        return Advice::WontHelp(if resumes {
            text!(
                en: "it failed while a checkpoint was restored: no batch was there yet",
                zh: "失败发生在恢复检查点时：此时还没有任何批数据"
            )
        } else {
            text!(
                en: "it failed while weights went to the device: no batch was there yet",
                zh: "失败发生在权重加载到设备时：此时还没有任何批数据"
            )
        });
    }
    if case.sign(Sign::EverySizeTried) {
        return Advice::WontHelp(text!(
            en: "the program tried every size down to one sample by itself",
            zh: "程序已自行尝试过所有批大小，直到单个样本"
        ));
    }
    if let Some(other) = case.evaluating().then_some(case.context.eval_batch_size.value()).flatten() {
        return Advice::Withheld(text!(
            en: "it failed in validation at batch {other}: see smaller-eval-batch",
            zh: "失败发生在验证阶段（批大小 {other}）：见 smaller-eval-batch"
        ));
    }
    // Between steps of training it is the evaluation's own batch that lies on the device: see smaller-eval-batch.
    if case.evaluating() && (case.pytorch() || case.trainer().is_some_and(Trainer::has_a_batch_for_evaluation)) {
        return Advice::Silent;
    }
    if !case.context.batch_size.is_known() && !case.context.other_batch.is_known() && case.one_at_a_time() {
        if case.clue(Clue::OneSample) {
            return Advice::WontHelp(text!(
                en: "one sample is worked on: the first dimension of the printed tensor is 1",
                zh: "一次只处理一个样本：打印的张量第一维为 1"
            ));
        }
        if case.incident.event.facts.number(Number::FirstDimension).is_none_or(|first| first > 1.0) {
            return Advice::WontHelp(
                text!(en: "the command asks for one sample already", zh: "命令已指定每次一个样本"),
            );
        }
        return Advice::WontHelp(text!(
            en: "the tensor that was refused is of one sample: its first dimension is 1",
            zh: "被拒绝的张量只含一个样本：第一维为 1"
        ));
    }
    if !batch_known(case) && case.trainer().is_none_or(|trainer| trainer == Trainer::PlainPytorch) {
        if let Some(less) = instead_of_a_batch(case) {
            return less_at_once(case, less);
        }
        if case.at_once() == AtOnce::One {
            return Advice::Silent;
        }
    }
    let learns = case.training() && !case.evaluating();
    let divided = case.clue(Clue::DataParallel) && !case.parallel_on_one_device();
    let session = case.of_sessions();
    let fits = case.fits();
    let draft = Draft::new(case, &FIX)
        .when("example-script", case.runs_an_example_of_diffusers())
        // Of a device that the weights fill no batch is the larger part.
        .weight(if case.weights_fill() { 0.4 } else { 1.0 })
        .when("diffusion", case.diffusion())
        .when("drawn-by-a-pipe", case.shows_a_pipeline() && !case.training())
        .when("elsewhere", learns_elsewhere || learns)
        // Whose own line goes backward does not accumulate by it.
        .when(
            "accumulates",
            learns && (!case.shows_call(&["backward("]) || case.shows_call(&["accelerator.backward("])),
        )
        .when("fits", learns && (!session || fits))
        .when("feeds", session && !fits && case.shows_call(&["feed_dict"]))
        .when("session-steps", session && !fits && !case.shows_call(&["feed_dict"]))
        .when("keras-calls", !learns && !session)
        .when("several", learns && devices(case) > 1)
        .when("alone", learns && devices(case) <= 1)
        .when("fastai-1", case.first_fastai())
        // NeMo answers as well, without those options.
        .when("megatron", learns && !case.first_megatron())
        .when("megatron-1", case.first_megatron())
        .when("mmengine", case.on_mmengine())
        .when("video", case.subject() == Some(Subject::Video))
        .when("pictures", !case.of_sound() && case.subject() != Some(Subject::Video))
        // Under another trainer's settings the numbers of this file must agree with them, or are "auto".
        .when("in-json", learns && case.trainer() == Some(Trainer::DeepSpeed) && !case.set_by_its_command())
        .when("divided-loader", divided && Need::Loader.met(case))
        .when("divided-elsewhere", divided && !Need::Loader.met(case));
    if let Some((name, count)) = case.context.other_batch.get().cloned()
        && !case.context.batch_size.is_known()
        && count > 1
    {
        let tried = first(case, count).unwrap_or(count / 2).max(1);
        return draft
            .own(case.own_option_with(Quantity::OtherBatch, count, tried))
            .fill("name", &name)
            .fill("tried", tried)
            .was(Some(count))
            .frees_if(saved(case, count, tried), case.ask_for_peak())
            .certainty(Certainty::Likely)
            .because(text!(
                en: "{name} {count} → {tried}: memory grows with it",
                zh: "{name} {count} → {tried}：显存随之增长"
            ));
    }
    if let Some((name, _)) = case.context.other_batch.get().filter(|_| case.one_at_a_time()) {
        return Advice::WontHelp(text!(en: "{name} is 1 already", zh: "{name} 已经是 1"));
    }
    let Some(batch) = case.context.batch_size.value() else {
        let half = text!(en: "<half>", zh: "<减半>");
        return draft
            .weight(0.75)
            .frees_if(replayed::half_batch(case).or_else(|| halved(case)), case.ask_for_peak())
            .when("unknown-in-training", learns && !divided)
            .when("unknown-in-calls", !learns && !divided)
            .when("unknown-in-jax", true)
            .fill_text("batch", half.clone())
            .fill_text("total", half)
            .fill_text("effective", text!(en: "<as before>", zh: "<不变>"))
            .fill_text("steps", text!(en: "<twice>", zh: "<加倍>"))
            .because(join(
                text!(
                    en: "activations grow with the batch; its size is not in the log, so halve it",
                    zh: "激活随批大小增长；日志里没有批大小，先减半"
                ),
                replayed::activations(case).unwrap_or_else(|| case.situation()),
            ));
    };
    // The program tried another one itself, and that went well.
    if let Some(line) = case.context.batch_size.span().filter(|at| at.first > case.incident.event.at.last)
        && case.incident.survived.is_some()
    {
        let line = line.first;
        return Advice::WontHelp(text!(
            en: "line {line} shows that the program went on with a batch of {batch} by itself",
            zh: "第 {line} 行显示程序已自行以批大小 {batch} 继续运行"
        ));
    }
    if batch <= 1 {
        return Advice::WontHelp(text!(en: "the batch is {batch} already", zh: "批大小已经是 {batch}"));
    }
    let tried = first(case, batch).unwrap_or(batch / 2).clamp(1, batch - 1);
    let effective = batch.saturating_mul(case.context.accumulation.value().unwrap_or(1));
    let split = batch::split(effective, tried).unwrap_or(batch::Split { batch: 1, accumulation: effective });
    let (b, a) = (split.batch, split.accumulation);
    let loads = Need::Loader.met(case);
    let again = if case.clue(Clue::SmallerBatchTried) { 0.2 } else { 1.0 };
    let each = devices(case);
    let all = if each > 1 {
        let (before, after) = (batch.saturating_mul(each), b.saturating_mul(each));
        text!(
            en: " on each of {each} GPUs ({before} → {after} in all)",
            zh: "（{each} 张卡各自；合计 {before} → {after}）"
        )
    } else {
        Text::default()
    };
    let how = if learns {
        Text::new(
            format!("batch {batch} → {b}{}, accumulated over {a} steps", all.en),
            format!("批大小 {batch} → {b}{}，累积 {a} 步", all.zh),
        )
    } else {
        Text::new(format!("batch {batch} → {b}{}", all.en), format!("批大小 {batch} → {b}{}", all.zh))
    };
    draft
        .own(own_words(case, batch, b, learns.then_some(a)))
        .when("known", true)
        .when("known-in-jax", learns)
        .when("calls-in-jax", !learns)
        .when("loader-training", learns && loads && !divided)
        .when("loader-only", !learns && loads && !divided)
        .when("training", learns && !loads && !divided)
        .when("calls", !learns && !loads && !divided)
        .weight(again)
        .frees_if(halved_exactly(case, batch, b).or_else(|| saved(case, batch, b)), case.ask_for_peak())
        .certainty(if first(case, batch).is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
        .fill("batch", b)
        .fill("total", b.saturating_mul(each))
        .fill("effective", effective)
        .fill("steps", a)
        .fill("accumulated", a)
        .because(join(
            join(
                how,
                text!(
                    en: "one failure bounds the peak from below only, so this is a first try",
                    zh: "一次失败只给出峰值的下界，因此这是首次尝试值"
                ),
            ),
            replayed::activations(case).unwrap_or_else(|| case.situation()),
        ))
}

/// What is made less where the log shows no batch: of what the job works on, in its own words; `None` where there is a
/// batch, and where a shorter or smaller input is a change of its own.
fn instead_of_a_batch(case: &Case) -> Option<Text> {
    let at_once = case.at_once();
    Some(match case.subject() {
        _ if case.works_by_windows() && !case.training() => text!(
            en: "smaller windows or tiles, or fewer of them in each call",
            zh: "缩小窗口或分块，或减少每次调用处理的块数"
        ),
        Some(Subject::Rays) => text!(
            en: "fewer rays in each step, and in each piece of a picture",
            zh: "减少每步的光线数，以及渲染图片时每块的光线数"
        ),
        Some(Subject::Environments) => {
            text!(en: "fewer environments side by side", zh: "减少并行的环境数量")
        }
        Some(Subject::Atoms) => text!(
            en: "fewer atoms on each device: more devices, or a smaller system",
            zh: "减少每个设备上的原子数：使用更多设备，或缩小体系"
        ),
        Some(Subject::Gaussians) => return None,
        // A graph is one sample; many small ones are joined into one. A batch of a chain's features is of one chain.
        Some(Subject::Graph) => text!(
            en: "fewer nodes and edges at once: a smaller batch of graphs, sampled neighbours, or a part of the graph",
            zh: "一次处理更少的节点和边：减小图的批大小、邻居采样，或只取图的一部分"
        ),
        Some(Subject::Proteins) if !case.training() => text!(
            en: "a shorter chain or a part of it, or fewer chains where it takes several",
            zh: "更短的序列或其中一段；若一次处理多条，减少条数"
        ),
        _ if at_once == AtOnce::Several => return None,
        Some(Subject::Points) => {
            text!(
                en: "fewer points at once: larger voxels, or a part of the cloud",
                zh: "一次处理更少的点：增大体素，或只取点云的一部分"
            )
        }
        Some(_) if at_once == AtOnce::One => return None,
        Some(Subject::Pictures) if case.masks_by_points() => text!(
            en: "fewer points at once: SamAutomaticMaskGenerator(..., points_per_batch=16)",
            zh: "减少一次处理的点数：SamAutomaticMaskGenerator(..., points_per_batch=16)"
        ),
        Some(Subject::Pictures) => {
            text!(en: "fewer pictures at once, where it takes several", zh: "若一次处理多张图片，减少张数")
        }
        Some(Subject::Video) => text!(en: "fewer frames at once", zh: "减少一次处理的帧数"),
        Some(Subject::Sound) => {
            text!(en: "shorter pieces of sound at once, or fewer of them", zh: "一次处理更短或更少的音频片段")
        }
        Some(Subject::Speech) => {
            text!(en: "a shorter text in each call: sentence by sentence", zh: "缩短每次调用的文本：逐句合成")
        }
        Some(Subject::Proteins) => return None,
        Some(Subject::Text) => text!(en: "fewer texts at once, or shorter ones", zh: "一次处理更少或更短的文本"),
        None => text!(
            en: "half as much at once: a smaller batch where there is one, else smaller inputs",
            zh: "一次处理减半：有批大小就减小批大小，否则缩小输入"
        ),
    })
}

/// The advice where no batch shows.
fn less_at_once(case: &Case, less: Text) -> Advice {
    Draft::new(case, &FIX)
        .titled(text!(en: "Less at once", zh: "减少一次处理的量"))
        .weight(0.75)
        .frees_if(replayed::half_batch(case).or_else(|| halved(case)), case.ask_for_peak())
        .line(Knob { target: Target::Program, line: less })
        .because(join(
            text!(
                en: "what the device holds grows with what is worked on at once; how much that is, the log does not \
                     tell",
                zh: "设备上的占用随一次处理的量增长；日志没有说明这个量"
            ),
            replayed::activations(case).unwrap_or_else(|| case.situation()),
        ))
}

/// The batch as the option that the log shows, and behind it the number of steps over which gradients are accumulated:
/// by the option that shows, or by the one that goes with that name of a batch.
fn own_words(case: &Case, batch: u64, tried: u64, steps: Option<u64>) -> Option<String> {
    /// transformers' and diffusers' scripts, and DeepSpeed's configuration.
    const ACCUMULATED: [&str; 3] =
        ["per_device_train_batch_size", "train_micro_batch_size_per_gpu", "per_gpu_train_batch_size"];
    let option = case.own_option(Quantity::Batch)?;
    let smaller = case.own_option_with(Quantity::Batch, batch, tried)?;
    let name = option.name().trim_start_matches('-').replace('-', "_");
    let scripts = name == "train_batch_size" && case.trainer() == Some(Trainer::Diffusers);
    // Ultralytics' accumulates to a size of its own by itself.
    let steps = steps.filter(|steps| *steps > 1 && case.trainer() != Some(Trainer::Ultralytics));
    let accumulated = steps.and_then(|steps| match case.own_option(Quantity::Accumulation) {
        // Both are options of the command, though one of them shows only in what the script prints of its settings.
        Some(printed) if option.name().starts_with('-') && !printed.name().starts_with('-') => {
            let hyphens = option.name().trim_start_matches('-').contains('-');
            let name = if hyphens { printed.name().replace('_', "-") } else { printed.name().to_string() };
            Some(option.beside(&name, steps))
        }
        Some(accumulation) => Some(accumulation.with(steps)),
        // The Flax scripts have no such option.
        None if case.program() == Program::Jax => None,
        None if scripts || ACCUMULATED.contains(&name.as_str()) => {
            Some(option.beside("gradient_accumulation_steps", steps))
        }
        None => None,
    });
    Some(accumulated.map_or(smaller.clone(), |steps| format!("{smaller}{}{steps}", option.between())))
}

/// A batch may well have so many samples that one of these parts is left of it.
const FEW_PARTS: i128 = 16;

fn batch_known(case: &Case) -> bool {
    case.context.batch_size.is_known() || case.context.other_batch.is_known()
}

/// The batch to try as a share of the batch now; a half where it is not known.
pub(super) fn share(case: &Case) -> f64 {
    match case.context.batch_size.value().filter(|batch| *batch > 1) {
        Some(batch) => first(case, batch).unwrap_or(batch / 2).clamp(1, batch - 1) as f64 / batch as f64,
        None => 0.5,
    }
}

/// Devices over which a total batch is divided.
fn devices(case: &Case) -> u64 {
    case.context.world_size.value().or(case.context.local_processes.value()).unwrap_or(1).max(1)
}

/// What the replay of the failure with half the activations says, where it is half the batch that is tried.
fn halved_exactly(case: &Case, batch: u64, tried: u64) -> Option<(Interval, Text)> {
    if tried * 2 == batch { replayed::half_batch(case) } else { None }
}

/// On the host a batch counts in the loaders' queues only.
fn on_host(case: &Case) -> Advice {
    let queue = case.ledger.loader.filter(|account| account.batch_known && account.loader.batch > 1);
    if let Some(account) = queue
        && account.need.queue.middle() * 3 > account.limit.middle()
        && let Some(batch) = account.batch_that_fits.filter(|batch| *batch < account.loader.batch)
    {
        let was = account.loader.batch;
        let rest = crate::estimate::loader::Loader { batch, ..account.loader }.need();
        return Draft::new(case, &FIX)
            .when("host", true)
            .when("loader-training", true)
            .fill("batch", batch)
            .fill("accumulated", was.div_ceil(batch.max(1)))
            .was(Some(was))
            .frees(
                Interval::between(
                    account.need.without_caches().low - rest.without_caches().low,
                    account.need.without_caches().high - rest.without_caches().high,
                ),
                text!(
                    en: "prefetched batches of {batch} instead of {was} samples",
                    zh: "预取批次由每批 {was} 个样本减为 {batch} 个"
                ),
            )
            .certainty(Certainty::Likely)
            .because(text!(
                en: "prefetched batches alone fill a third of memory and more",
                zh: "仅预取批次就占去三分之一以上的内存"
            ));
    }
    // Where the batch is not known, the queues may well be what fills memory.
    let open = case.ledger.loader.is_some_and(|account| !account.batch_known);
    // Tensors in RAM that were refused are those of the batch as well.
    let queues = case.sign(Sign::DataLoaderWorker) || case.sign(Sign::PinnedHost);
    let killed = case.incident.event.killed();
    if case.resource() == Resource::Shm || !case.learns() || open || queues || !killed || case.requested().is_some() {
        return Advice::Silent;
    }
    Advice::WontHelp(text!(
        en: "in RAM the batch counts only in the loaders' queues",
        zh: "在内存中，批大小只影响数据加载的预取队列"
    ))
}

/// The batch to try by the failing moment's figures.
fn first(case: &Case, batch: u64) -> Option<u64> {
    let allocated = case.allocated()?.middle() as f64;
    let requested = case.requested()?.middle() as f64;
    let usable = case.usable().or(case.capacity())?.middle() as f64;
    batch::first_try(batch, allocated, requested, usable, constant(case))
}

/// What does not depend on the batch, where the number of parameters is known: full-precision weights alone in
/// inference, the usual states in training.
fn constant(case: &Case) -> f64 {
    let Some(parameters) = case.context.parameters.value() else { return 0.0 };
    if !case.training() || case.context.lora.value() == Some(true) {
        return 2.0 * parameters;
    }
    let optimizer = case.context.optimizer.get().and_then(|name| states::Optimizer::named(name));
    let regime = states::Regime::full_precision(optimizer.unwrap_or(states::Optimizer::Adam));
    let stage = case.sharding_stage();
    parameters * regime.sharded(stage, case.context.world_size.value().unwrap_or(1))
}

/// k·Δb: at most the share of the demand that goes with the samples, at least half of that.
fn saved(case: &Case, from: u64, to: u64) -> Option<(Interval, Text)> {
    let demand = case.demand()?;
    let c = constant(case).min(demand.low.max(0) as f64);
    let share = (from - to.min(from)) as f64 / from.max(1) as f64;
    let most = (demand.high as f64 - c) * share;
    let low = if c > 0.0 { most * 0.8 } else { most * 0.4 };
    let (d, k) = (show(demand.middle()), show(c as i128));
    Some((
        Interval::between(low as i128, most as i128),
        text!(
            en: "at most (allocated + requested − constant)·(1 − {to}/{from}) = ({d} − {k})·{share:.2}; less as far \
                 as states that the log does not show are larger",
            zh: "最多（已分配 + 申请 − 常量）·(1 − {to}/{from}) = ({d} − {k})·{share:.2}；日志未显示的状态越大，节省\
                 越少"
        ),
    ))
}

/// Half of the demand at most, where the batch is unknown: the request that failed shrinks with the batch as well.
fn halved(case: &Case) -> Option<(Interval, Text)> {
    let demand = case.demand()?;
    let shown = show(demand.middle());
    Some((
        Interval::between(0, demand.scale(0.5).high),
        text!(
            en: "at most half of allocated + requested = {shown} for half the batch",
            zh: "批大小减半最多省下（已分配 + 申请）{shown} 的一半"
        ),
    ))
}
