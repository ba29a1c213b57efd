//! What fixes say where a memory snapshot of the very failure has been replayed: arithmetic in place of likelihood.

use super::Certainty;
use super::case::{Case, show};
use crate::incident::recording::{Pieces, Trial, Verdict};
use crate::snapshot::holders::Category;
use crate::snapshot::what_if::Change;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Interval};

/// What replaying the failure with some allocator settings says of them.
pub enum Replayed<'r> {
    /// The request is served: what that saves, and the sentence that says so.
    Serves { trial: &'r Trial, saves: Interval, formula: Text, why: Text, certainty: Certainty },
    /// It fails all the same.
    Fails(Text),
}

/// The best of the trials with settings that `wanted` accepts; `None` where none was made, or none says anything sure.
pub fn settings<'r>(case: &Case<'r>, wanted: impl Fn(&str) -> bool) -> Option<Replayed<'r>> {
    let recording = case.proof()?;
    let cite = recording.cite();
    let asked = Bytes(recording.requested?);
    let tried: Vec<&Trial> = recording.settings().filter(|trial| wanted(&trial.conf)).collect();
    let best = tried.iter().filter(|trial| trial.serves()).max_by_key(|trial| trial.saves);
    if let Some(trial) = best
        && let Verdict::Serves { peak_reserved, to_the_end } = trial.verdict
        && let Some(saves) = trial.saves
    {
        let peak = Bytes(peak_reserved);
        let had = Bytes(recording.reserved.saturating_add(recording.device_free?));
        let conf = &trial.conf;
        let needed = show(i128::from(peak_reserved) + saves);
        let rest = if to_the_end {
            Text::default()
        } else {
            Text::new("; a later request fails", "；但之后的申请失败")
        };
        let limits = recording.limits_of_the_replay();
        let whole = recording.from_the_start;
        let (proved, proved_zh) = if whole { ("proved by replay", "重放证实") } else { ("replayed", "重放") };
        return Some(Replayed::Serves {
            trial,
            saves: Interval::between(if whole { saves } else { saves.min(0) }, saves),
            certainty: if whole { Certainty::Arithmetic } else { Certainty::Likely },
            formula: text!(
                en: "{needed} that the recorded settings would have needed − {peak} with {conf}",
                zh: "原设置需要的 {needed} − {conf} 下的 {peak}"
            ),
            why: Text::new(
                format!(
                    "{proved} ({}): the same requests are served, {peak} reserved at most of {had} to be had{}{}",
                    cite.en, rest.en, limits.en
                ),
                format!(
                    "{proved_zh}（{}）：同样的申请可以满足，最多保留 {peak}，而可用 {had}{}{}",
                    cite.zh, rest.zh, limits.zh
                ),
            ),
        });
    }
    if let Some(Pieces::TooLittle) = recording.pieces()
        && tried.is_empty()
    {
        let (cached, free) = (Bytes(recording.cached), Bytes(recording.device_free?));
        return Some(Replayed::Fails(Text::new(
            format!(
                "{cached} cached and {free} free are together less than the {asked} requested ({}): no allocator \
                     option can serve it",
                cite.en
            ),
            format!("缓存的 {cached} 加空闲的 {free} 不到申请的 {asked}（{}）：任何分配器选项都无法满足", cite.zh),
        )));
    }
    let failed = tried.iter().find_map(|trial| match trial.verdict {
        Verdict::Fails { bytes } => Some((&trial.conf, Bytes(bytes))),
        _ => None,
    })?;
    if tried.iter().any(|trial| !matches!(trial.verdict, Verdict::Fails { .. } | Verdict::Refused(_))) {
        return None;
    }
    let (conf, on) = failed;
    Some(Replayed::Fails(Text::new(
        format!("replayed with {conf}, the same requests fail all the same, on {on} ({})", cite.en),
        format!("以 {conf} 重放同样的申请，依然失败于 {on}（{}）", cite.zh),
    )))
}

/// What halving the activations does: bytes saved and the formula.
pub fn half_batch(case: &Case) -> Option<(Interval, Text)> {
    let recording = case.proof()?;
    let trial = recording.trial(|trial| trial.change == Change::HalfBatch)?;
    let Verdict::Serves { peak_reserved, .. } = trial.verdict else { return None };
    let saves = trial.saves?;
    let (peak, needed) = (Bytes(peak_reserved), show(i128::from(peak_reserved) + saves));
    let cite = recording.cite();
    Some((
        Interval::between(saves, saves),
        Text::new(
            format!(
                "replayed with activations of half the size: {peak} reserved at most instead of {needed} ({})",
                cite.en
            ),
            format!("以减半的激活重放：最多保留 {peak}，而非 {needed}（{}）", cite.zh),
        ),
    ))
}

/// The place that holds most of the activations, as a clause.
pub fn activations(case: &Case) -> Option<Text> {
    let recording = case.proof()?;
    let held = recording.top_of(Category::Activations)?;
    let (bytes, cite) = (Bytes(held.bytes), recording.cite());
    Some(Text::new(
        format!("{bytes} of activations are held by {} ({})", held.place.en, cite.en),
        format!("其中 {bytes} 激活由 {} 持有（{}）", held.place.zh, cite.zh),
    ))
}

/// What recomputing the activations that the snapshot shows would free.
pub fn recomputed(case: &Case) -> Option<(Interval, Text)> {
    let recording = case.proof()?;
    let bytes = recording.categories.iter().find(|(category, ..)| *category == Category::Activations)?.1;
    let (all, cite) = (Bytes(bytes), recording.cite());
    let held = Interval::exactly(bytes);
    Some((
        Interval::between(held.scale(0.6).low, held.scale(0.9).high),
        Text::new(
            format!("60–90 % of the {all} that the stacks show to be activations ({})", cite.en),
            format!("调用栈显示为激活的 {all} 的 60–90 %（{}）", cite.zh),
        ),
    ))
}

/// Where memory grows, as a clause.
pub fn grows(case: &Case) -> Option<Text> {
    let recording = case.proof()?;
    let rise = recording.growth.as_ref()?;
    let (place, bytes) = rise.places.first()?;
    let (bytes, cite) = (Bytes(*bytes), recording.cite());
    Some(Text::new(
        format!("{bytes} of the growth come from {} ({})", place.en, cite.en),
        format!("增长中的 {bytes} 来自 {}（{}）", place.zh, cite.zh),
    ))
}

/// What is freed where the place that grows lets go of what earlier steps left: from its growth between the first and
/// last stretch looked at to all that it holds.
pub fn growth_freed(case: &Case) -> Option<(Interval, Text)> {
    let recording = case.proof()?;
    let (place, grown) = recording.growth.as_ref()?.places.first()?;
    let held = recording.holders.iter().filter(|held| held.place == *place);
    let held = held.map(|held| held.bytes).fold(0, u64::saturating_add).max(*grown);
    let (from, to, cite) = (Bytes(*grown), Bytes(held), recording.cite());
    Some((
        Interval::between(i128::from(*grown), i128::from(held)),
        Text::new(
            format!("{} grew by {from} and holds {to} ({})", place.en, cite.en),
            format!("{} 增长了 {from}，共持有 {to}（{}）", place.zh, cite.zh),
        ),
    ))
}
