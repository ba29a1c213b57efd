//! Let go of the graph.

use super::case::{Case, join};
use super::draft::Draft;
use super::replayed;
use super::{Advice, Certainty, Class, Fix};
use crate::cause::CauseId;
use crate::domain::Target;
use crate::incident::context::Clue;
use crate::text;

pub const FIX: Fix = Fix {
    id: "detach-logged-tensors",
    class: Class::Leak,
    title: || text!(en: "Detach what is kept across steps", zh: "跨步保存的张量要 detach"),
    doc: || {
        text!(
            en: "A loss or output that is appended, summed or returned with its graph keeps that step's activations alive: measured one full set of activations per kept loss. `.item()`, `.detach()`, or `.cpu()` for tensors.",
            zh: "把带计算图的 loss 或输出存进列表、累加或返回，会让该步的全部激活一直存活：实测每保留一个 loss 就多一整份激活。使用 `.item()`、`.detach()`，张量再 `.cpu()`。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_gpu() || case.engine().is_some() || case.loading() {
        return Advice::Silent;
    }
    let weight = if case.clue(Clue::Accumulates) { 1.2 } else { 1.0 };
    // Activations that outlive their step are kept by a graph, and the snapshot knows which line made them.
    let kept =
        case.proof().filter(|recording| recording.growth.is_some()).and_then(|recording| recording.passes_kept());
    let weight = if kept.is_some_and(|(_, passes)| passes >= 5) { 1.35 } else { weight };
    let pytorch = match kept {
        Some((held, _)) => format!("losses.append(loss.item())   # no tensor that came from {}", held.place.en),
        None => "running_loss += loss.item()   # not += loss; outputs.append(out.detach().cpu())".to_string(),
    };
    let now = case.incident.event.meter().now;
    Draft::new(case, &[(CauseId::LeakGrowth, 0.65)])
        .weight(weight)
        .frees_if(
            replayed::growth_freed(case),
            text!(
                en: "growth per step times steps; two readings of `{now}` some steps apart give it",
                zh: "每步增长 × 步数；相隔若干步读取两次 `{now}` 即可得到"
            ),
        )
        .certainty(Certainty::Likely)
        .knob(Target::Pytorch, pytorch)
        .knob(
            Target::Lightning,
            "self.validation_outputs.append(out.detach().cpu())   # and clear() it in on_validation_epoch_end",
        )
        .knob(Target::TensorFlow, "losses.append(float(loss))   # not the tensor")
        .knob(Target::Jax, "losses.append(float(loss))   # not the array")
        .because(join(
            text!(
                en: "memory grows over steps: something kept from each step still holds its graph",
                zh: "显存随步数增长：每步保留的某个对象仍引用着计算图"
            ),
            replayed::grows(case).unwrap_or_default(),
        ))
}
