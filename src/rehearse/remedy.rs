//! Fixes that a rehearsal tries itself before they are said first: those that need no change of the program, because
//! they are a variable of the environment, the loader's batch, or a switch that a library has.

use super::outcome::Run;
use crate::domain::Verdict;
use crate::fix::{Offer, Plan, Ranked};
use crate::order::InOrder;
use crate::text;
use crate::text::Text;
use crate::units::{Bytes, Interval};

/// What the program is run with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// A variable of its environment.
    Variable(String, String),
    /// Loaders that were made with the first batch are made with the second.
    Batch(u64, u64),
    /// Models of transformers recompute their activations.
    Checkpointing,
}

impl Remedy {
    /// How an offer can be tried. `loader` is the batch that a loader was seen to use.
    pub fn of(id: &str, offer: &Offer, loader: Option<u64>, transformers: bool) -> Option<Remedy> {
        let variable = offer.knobs.iter().find_map(|knob| {
            let (name, value) = knob.line.en.trim().strip_prefix("export ")?.split_once('=')?;
            let plain = !value.contains(|c: char| c.is_whitespace() || "$`\"'<".contains(c));
            plain.then(|| Remedy::Variable(name.to_owned(), value.to_owned()))
        });
        variable.or_else(|| match id {
            "smaller-batch" | "gradient-accumulation" => {
                loader.filter(|batch| *batch > 1).map(|batch| Remedy::Batch(batch, batch / 2))
            }
            "gradient-checkpointing" => transformers.then_some(Remedy::Checkpointing),
            _ => None,
        })
    }

    /// What is changed, in words.
    pub fn text(&self) -> Text {
        match self {
            Remedy::Variable(name, value) => Text::same(format!("{name}={value}")),
            Remedy::Batch(from, to) => text!(
                en: "a batch of {to} in place of {from}",
                zh: "批大小由 {from} 改为 {to}"
            ),
            Remedy::Checkpointing => Text::new("gradient checkpointing", "激活重计算"),
        }
    }

    /// The line of the settings that asks the agent for it.
    pub fn setting(&self) -> Option<String> {
        match self {
            Remedy::Variable(..) => None,
            Remedy::Batch(from, to) => Some(format!("loader_batch={from}:{to}\n")),
            Remedy::Checkpointing => Some("checkpointing=1\n".to_owned()),
        }
    }
}

/// A fix and what came of its rehearsal.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    pub fix: &'static str,
    pub remedy: Remedy,
    pub verdict: Verdict,
    /// What it then needs; `None` where it ran out of memory again.
    pub needed: Option<Interval>,
}

impl Tried {
    pub fn of(fix: &'static str, remedy: Remedy, run: &Run) -> Tried {
        let needed = run.oom().is_none().then(|| run.needed());
        // A lower bound proves nothing.
        let verdict = if run.oom().is_none() && !run.is_whole() { Verdict::Unknown } else { run.verdict };
        Tried { fix, remedy, verdict, needed }
    }

    pub fn helps(&self) -> bool {
        matches!(self.verdict, Verdict::Fits | Verdict::Tight)
    }

    /// What came of it, in words.
    pub fn text(&self) -> Text {
        let what = self.remedy.text();
        let (en, zh) = (what.en, what.zh);
        match (self.verdict, self.needed) {
            (Verdict::Fits | Verdict::Tight, Some(needed)) => {
                let most = Bytes(needed.high.max(0) as u64);
                text!(
                    en: "rehearsed with {en}: it runs and needs up to {most}",
                    zh: "已用 {zh} 预演：能够运行，最多需要 {most}"
                )
            }
            (Verdict::DoesNotFit, _) => text!(
                en: "rehearsed with {en}: it still runs out of memory",
                zh: "已用 {zh} 预演：仍然显存不足"
            ),
            _ => text!(
                en: "rehearsed with {en}: whether it then fits can't be told",
                zh: "已用 {zh} 预演：无法判断是否放得下"
            ),
        }
    }
}

/// Puts what was proved first, and what was refuted among what does not help.
pub fn settle(plan: &mut Plan, tried: &[Tried]) {
    let of = |ranked: &Ranked| tried.iter().find(|tried| tried.fix == ranked.fix.id);
    let (mut refuted, mut offers) = (Vec::new(), Vec::new());
    for mut ranked in plan.offers.drain(..) {
        match of(&ranked) {
            Some(tried) if tried.verdict == Verdict::DoesNotFit => refuted.push((ranked.fix, tried.text())),
            Some(tried) => {
                let said = tried.text();
                let why = &mut ranked.offer.why;
                *why = Text::new(format!("{}; {}", said.en, why.en), format!("{}；{}", said.zh, why.zh));
                offers.push((!tried.helps(), ranked));
            }
            None => offers.push((true, ranked)),
        }
    }
    offers.order_by_key(|(later, _)| *later);
    plan.offers = offers.into_iter().map(|(_, ranked)| ranked).collect();
    plan.wont_help.splice(0..0, refuted);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::{Certainty, FIXES, Frees, Knob};

    fn offer(line: &str) -> Offer {
        let knob = Knob { target: crate::domain::Target::Shell, line: Text::same(line) };
        let costs = FIXES[0].costs;
        let unknown = || Text::new("why", "原因");
        Offer {
            title: None,
            frees: Frees::Unknown(unknown()),
            costs,
            certainty: Certainty::Likely,
            cures: 0.9,
            knobs: vec![knob],
            why: unknown(),
        }
    }

    #[test]
    fn only_what_needs_no_change_of_the_program_is_tried() {
        let of = |id, line: &str| Remedy::of(id, &offer(line), Some(8), false);
        let variable = Remedy::Variable("PYTORCH_CUDA_ALLOC_CONF".into(), "expandable_segments:True".into());
        let line = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
        assert_eq!(of("expandable-segments", line), Some(variable));
        assert_eq!(of("nccl-buffers", "export A=0 B=8"), None, "several at once");
        assert_eq!(of("smaller-batch", "batch_size=4"), Some(Remedy::Batch(8, 4)));
        assert_eq!(Remedy::of("smaller-batch", &offer(""), Some(1), false), None);
        assert_eq!(of("gradient-checkpointing", ""), None, "nothing here has the switch");
    }

    #[test]
    fn what_was_refuted_is_not_offered_and_what_was_proved_comes_first() {
        let ranked = |at: usize| Ranked { fix: FIXES[at], offer: offer(""), value: 1.0, look: false };
        let mut plan = Plan { offers: (0..4).map(ranked).collect(), ..Plan::default() };
        let tried =
            |at: usize, verdict, needed| Tried { fix: FIXES[at].id, remedy: Remedy::Checkpointing, verdict, needed };
        let needed = Some(Interval::exactly(5));
        settle(&mut plan, &[tried(1, Verdict::DoesNotFit, None), tried(3, Verdict::Fits, needed)]);
        let order: Vec<&str> = plan.offers.iter().map(|ranked| ranked.fix.id).collect();
        assert_eq!(order, [FIXES[3].id, FIXES[0].id, FIXES[2].id]);
        assert!(plan.offers[0].offer.why.en.starts_with("rehearsed with gradient checkpointing: it runs"));
        assert_eq!(plan.wont_help[0].0.id, FIXES[1].id);
    }
}
