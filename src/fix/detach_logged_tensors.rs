//! Let go of the graph.

use super::prelude::*;
use super::replayed;

pub const FIX: Fix = Fix {
    id: "detach-logged-tensors",
    class: Class::Leak,
    title: || text!(en: "Detach what is kept across steps", zh: "跨步保存的张量要 detach"),
    doc: || {
        text!(
            en: "A loss or output that is appended, summed or returned with its graph keeps that step's activations \
                 alive: measured one full set of activations per kept loss. `.item()`, `.detach()`, or `.cpu()` \
                 for tensors.",
            zh: "把带计算图的 loss 或输出存进列表、累加或返回，会让该步的全部激活一直存活：实测每保留一个 loss 就多\
                 一整份激活。使用 `.item()`、`.detach()`，张量再 `.cpu()`。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::NoEngine, Need::Loaded, Need::OwnCode],
    // What a session returns are NumPy's arrays and numbers.
    applies: |case| suspected(case) && !let_go_already(case) && !case.of_sessions(),
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Pytorch, "losses.append(loss.item())")
            .note("no tensor that came from {place}", "不要保留来自 {place} 的张量"),
        line(Target::Pytorch, "losses.append(loss.data[0])")
            .note("no Variable that came from {place}", "不要保留来自 {place} 的 Variable")
            .older(),
        said(
            Target::Pytorch,
            "drop what {grown} makes when its step is over, or keep it in host memory (.cpu())",
            "每步结束后丢弃 {grown} 产生的张量，或改存到主机内存（.cpu()）",
        )
        .when("grown"),
        line(Target::Pytorch, "{kept_as}")
            .note("at {kept_at}: keep no tensor with its graph", "位于 {kept_at}：不要保留带计算图的张量"),
        line(Target::Pytorch, "running_loss += loss.item()")
            .note(
                "not += loss; outputs.append(out.detach().cpu())",
                "不要 += loss；输出用 outputs.append(out.detach().cpu())",
            )
            .when("summed"),
        line(Target::Pytorch, "running_loss += loss.data[0]")
            .note("not += loss", "不要 += loss")
            .when("summed")
            .older(),
        line(Target::Pytorch, "outputs.append(out.detach().cpu())")
            .note("not append(out); drop what is no longer needed", "不要 append(out)；不再需要的及时丢弃")
            .when("kept"),
        said(
            Target::Pytorch,
            "keep what {function} stores in host memory, and move a batch to the device when it is used",
            "{function} 存下的数据留在主机内存，用到时再把一个批次移到设备",
        )
        .when("stored"),
        line(Target::Lightning, "self.validation_outputs.append(out.detach().cpu())")
            .note("and clear() it in on_validation_epoch_end", "并在 on_validation_epoch_end 中 clear()")
            .unless("in-training"),
        line(Target::Lightning, "self.losses.append(loss.item())")
            .note(
                "in training_step: no tensor with its graph; clear() the list in on_train_epoch_end",
                "在 training_step 中：不保留带计算图的张量；在 on_train_epoch_end 中 clear()",
            )
            .when("in-training"),
        said(
            Target::Program,
            "what hooks, losses and metrics of your own keep across steps: detached, and in host memory",
            "自己的 hook、损失和指标跨步保留的内容：先 detach，再放到主机内存",
        )
        .when("by-hooks"),
        line(Target::TensorFlow, "losses.append(float(loss))").note("not the tensor", "不要存张量"),
        line(Target::Jax, "losses.append(float(loss))").note("not the array", "不要存数组"),
    ],
    fixtures: &["context/leak", "context/notebook"],
    advise,
};

/// From this share on growth is a cause worth a change; below it, something must show that tensors are kept.
const LIKELY: f64 = 0.35;

fn suspected(case: &Case) -> bool {
    case.confidence(CauseId::LeakGrowth) >= LIKELY
        || case.clue(Clue::Accumulates)
        || case.clue(Clue::KeepsTensors)
        || storing(case).is_some()
        || case.proof().is_some_and(|recording| recording.growth.is_some())
}

/// True where nothing with a graph can be kept: an evaluation under `no_grad`, results that are gathered on purpose,
/// Keras' own sums, and its own loop.
fn let_go_already(case: &Case) -> bool {
    let fits = case.program() == Program::Tensorflow && case.shows_call(&[".fit("]);
    (case.evaluating() && case.decorated()) || case.gathers_results() || keras_sums(case) || fits
}

/// The user's line that keeps something of every step, as it is to be written: `history.append(loss)` with
/// `loss.item()`, `total += loss` likewise, a tensor of another name on the host.
fn kept_line(case: &Case) -> Option<String> {
    let code = case.failing_code().trim();
    let alone = |held: &str| {
        let scalar = held.to_ascii_lowercase().ends_with("loss");
        let plain = !held.is_empty() && held.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
        plain.then(|| if scalar { format!("{held}.item()") } else { format!("{held}.detach().cpu()") })
    };
    if let Some((list, rest)) = code.split_once(".append(") {
        let held = rest.strip_suffix(')')?;
        return Some(format!("{list}.append({})", alone(held)?));
    }
    let (sum, held) = code.split_once(" += ")?;
    held.to_ascii_lowercase().ends_with("loss").then(|| alone(held)).flatten().map(|held| format!("{sum} += {held}"))
}

/// Names of functions that put something away for later, as replay buffers and caches have them.
const STORING: &[&str] = &["append", "cache", "memorize", "push", "record", "remember", "save", "store"];

/// The user's function that moves what it stores to the device, where the failing line is in one.
fn storing(case: &Case) -> Option<String> {
    let frame = case.context.user_frame()?;
    let code = frame.code.as_deref()?;
    let moves = code.contains(".cuda(") || code.contains(".to(");
    let named = STORING.iter().any(|name| frame.function.to_ascii_lowercase().contains(name));
    (moves && named).then(|| format!("{}()", frame.function))
}

/// True where Keras runs the loop: it keeps plain numbers.
fn keras_sums(case: &Case) -> bool {
    case.program() == Program::Tensorflow && case.fits()
}

fn advise(case: &Case) -> Advice {
    let weight = if case.clue(Clue::Accumulates) { 1.2 } else { 1.0 };
    // Activations that outlive their step are kept by a graph, and the snapshot knows which line made them.
    let growth = case.proof().and_then(|recording| recording.growth.as_ref());
    let grown = growth.and_then(|growth| growth.places.first()).map(|(place, _)| place);
    let kept = case
        .proof()
        .filter(|recording| recording.growth.is_some())
        .and_then(|recording| recording.passes_kept())
        // One pass is there at any time: it is what grows only where many are, or where the growth comes from it.
        .filter(|(held, passes)| *passes >= 5 || grown.is_none_or(|grown| *grown == held.place));
    let weight = if kept.is_some_and(|(_, passes)| passes >= 5) { 1.35 } else { weight };
    // OpenMMLab's runner has the loop; what its user adds are hooks, losses and metrics.
    let draft = Draft::new(case, &FIX).when("by-hooks", case.trainer() == Some(Trainer::MmEngine));
    let draft = match (kept, grown) {
        (Some((held, _)), _) => draft.when("placed", true).fill_text("place", held.place.clone()),
        (None, Some(grown)) => draft.when("grown", true).fill_text("grown", grown.clone()),
        (None, None) => draft,
    };
    let now = case.incident.meter().now;
    let line = kept_line(case).filter(|_| kept.is_none() && grown.is_none());
    let told = kept.is_some() || grown.is_some() || line.is_some();
    let draft = match line.zip(case.failing_line()) {
        Some((line, place)) => draft.fill("kept_as", line).fill("kept_at", place),
        None => draft,
    };
    let stores = storing(case).filter(|_| !told);
    let draft = match &stores {
        Some(function) => draft.when("stored", true).fill("function", function),
        None => draft,
    };
    let draft = draft
        .when("in-training", case.training() && !case.evaluating())
        // A trainer, and Keras' `fit`, have the loop and its sums themselves.
        .when("summed", !told && stores.is_none() && case.training() && !case.driven() && !case.fits())
        .when("kept", !told && stores.is_none() && !case.training());
    draft
        .weight(weight)
        .frees_if(
            replayed::growth_freed(case),
            text!(
                en: "growth per step times steps; two readings of `{now}` some steps apart give it",
                zh: "每步增长 × 步数；相隔若干步读取两次 `{now}` 即可得到"
            ),
        )
        .certainty(Certainty::Likely)
        .because(join(
            text!(
                en: "memory grows over steps: something kept from each step still holds its graph",
                zh: "显存随步数增长：每步保留的某个对象仍引用着计算图"
            ),
            replayed::grows(case).unwrap_or_default(),
        ))
}
