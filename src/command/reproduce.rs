//! `oomdoc probe --reproduce LOG`: the state of the allocator behind a message, for the fragmentation experiment.

use super::explain::{self, FileEvents};
use crate::gpu::twin::{Reproduction, Sums};
use crate::incident::context::Given;
use crate::input::{self, Source};
use crate::ledger::Holder;
use crate::text;
use crate::text::{Lang, Text};

use anyhow::bail;

/// Reads the primary failure of a log and makes the states that its figures stand for.
///
/// # Errors
/// When the log cannot be read, holds no failure of GPU memory, or its message prints too little.
pub fn read(source: &Source, lang: Lang) -> anyhow::Result<Reproduction> {
    let document = input::read_with_progress(source, &mut |_, _| {})?;
    let given = Given::default();
    let explanation = explain::diagnose(vec![FileEvents::of(&document, &given)], &given);
    let on_device = explanation.diagnoses.iter().map(|diagnosis| &diagnosis.incident);
    let Some(incident) =
        on_device.filter(|incident| incident.event.resource.on_device()).max_by_key(|incident| incident.primary)
    else {
        bail!("{}", text!(en: "no failure of GPU memory in the input", zh: "输入中没有显存不足的失败").in_lang(lang));
    };
    let ledger = &incident.ledger;
    let need = |value: Option<crate::units::Interval>, what: Text| match value {
        Some(value) => Ok(value),
        None => {
            let what = what.in_lang(lang);
            let text = text!(
                en: "the message does not print {what}, without which nothing can be worked out",
                zh: "消息中没有{what}，无法推算"
            );
            Err(anyhow::anyhow!("{}", text.in_lang(lang)))
        }
    };
    let sums = Sums {
        requested: need(ledger.requested, Text::new("the request", "请求量"))?,
        free: need(ledger.free, Text::new("free memory", "空闲显存"))?,
        allocated: need(ledger.allocated, Text::new("allocated memory", "已分配量"))?,
        // Free blocks of private pools serve only their own graphs.
        cached: need(ledger.amount(Holder::Cached).or(ledger.cached), Text::new("cached memory", "缓存量"))?,
    };
    Ok(Reproduction::new(sums, incident.event.at.first))
}
