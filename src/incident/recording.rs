//! What a memory snapshot says about an incident: the same failure seen from inside the allocator, or why it is
//! another.
//!
//! A plain value. The command reads the snapshot and fills it in; causes weigh it, fixes take their arithmetic from it.

use crate::domain::named_variants;
use crate::snapshot::holders::{Category, Certainty};
use crate::snapshot::what_if::Change;
use crate::text;
use crate::text::Text;
use crate::units::Bytes;

named_variants! {
    /// How a snapshot stands to the incident.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Standing {
        /// It recorded this very failure.
        SameFailure = "same-failure",
        /// It recorded no failed request: what it tells is of its peak, and proves nothing about the failure.
        NoFailure = "no-failure",
        /// It is of another failure or device; why, with both figures.
        Other(Text) = "other",
    }
}

/// Memory that one place in the program holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldAt {
    /// The innermost line of the program's own code and what it ran: `model.py:41 forward → linear.py:134 forward`.
    pub place: Text,
    /// False where only code of libraries, or no stack at all, was recorded.
    pub own_code: bool,
    pub bytes: u64,
    pub blocks: u64,
    pub category: Category,
    pub certainty: Certainty,
}

/// How the recorded requests end under other circumstances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The request that failed is served.
    Serves {
        /// Most bytes reserved in the whole recording.
        peak_reserved: u64,
        /// True when every later request is served as well.
        to_the_end: bool,
    },
    /// A request fails, this one or an earlier one.
    Fails { bytes: u64 },
    /// The limit of the device is known too roughly, or the simulation was given up.
    Unclear,
    /// PyTorch refuses the settings.
    Refused(Text),
}

/// One variation that was simulated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    pub change: Change,
    /// What was varied, for people.
    pub name: Text,
    /// Allocator settings in force.
    pub conf: String,
    pub verdict: Verdict,
    /// Bytes of reserved memory less than the recorded settings would have needed for the request; negative when more.
    pub saves: Option<i128>,
}

impl Trial {
    pub fn serves(&self) -> bool {
        matches!(self.verdict, Verdict::Serves { .. })
    }
}

/// Memory that grows over the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rise {
    /// True when the windows are steps of the optimizer, false for equal stretches of the recording.
    pub by_steps: bool,
    /// Least bytes in use in the first and in the last window.
    pub first: u64,
    pub last: u64,
    /// Steps from the first to the last, or stretches.
    pub windows: usize,
    /// Bytes that one of them adds.
    pub per_window: u64,
    /// Where it grows and by how many bytes, largest first.
    pub places: Vec<(Text, u64)>,
}

/// What one device of a snapshot says about an incident.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The snapshot's path as given.
    pub source: String,
    pub device: u32,
    pub standing: Standing,
    /// Entry of the failed request, counted from 0, else of the peak; `None` where the peak lies before the trace or no
    /// trace was kept.
    pub event: Option<u32>,
    pub events: usize,
    /// The failed request, rounded as the trace has it, and what the device had free.
    pub requested: Option<u64>,
    pub device_free: Option<u64>,
    /// Bytes of blocks in use at that moment, those that wait for other streams included.
    pub active: u64,
    pub reserved: u64,
    /// Free bytes in the allocator's segments.
    pub cached: u64,
    pub cached_in_private_pools: u64,
    /// Free pieces, and the largest.
    pub pieces: u64,
    pub largest_piece: u64,
    /// Bytes that the allocator could have of the device: at least, and at most where its limit was reached.
    pub budget: Option<(u64, Option<u64>)>,
    /// Bytes that no allocator can do without at that moment: what the program asked for, the failed request included.
    pub least: u64,
    /// Most bytes reserved before, and so had of the driver at some time.
    pub peak_reserved: Option<u64>,
    /// True when the recording starts with an empty device, so that nothing happened before it.
    pub from_the_start: bool,
    /// Steps of the optimizer that the recording marks.
    pub steps: usize,
    /// Settings of the allocator, where the snapshot keeps them.
    pub conf: Option<String>,
    pub expandable: bool,
    /// True when the simulator fails on the same requests as the record: only then do its variations prove anything.
    pub faithful: bool,
    pub trials: Vec<Trial>,
    pub growth: Option<Rise>,
    /// The largest first.
    pub holders: Vec<HeldAt>,
    /// Bytes by kind, the largest first, with the least certainty of what went in.
    pub categories: Vec<(Category, u64, Certainty)>,
    /// What is missing of the record.
    pub notes: Vec<Text>,
}

/// What the replay says about pieces being in the way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pieces<'r> {
    /// These settings serve the request that failed, and this share of the budget is then in use, 0 … 1.
    InTheWay { trial: &'r Trial, full: f64 },
    /// No settings serve it; so many were tried.
    NotInTheWay { tried: usize },
    /// Free and cached memory together are less than the request: no settings can help, whether or not any were tried.
    TooLittle,
}

impl Recording {
    /// True when it recorded the very failure of the incident.
    pub fn proves(&self) -> bool {
        self.standing == Standing::SameFailure
    }

    /// Variations of the allocator's settings that the simulation can be believed about.
    pub fn settings(&self) -> impl Iterator<Item = &Trial> {
        let believed = self.proves() && self.faithful;
        self.trials.iter().filter(move |trial| believed && trial.change == Change::Settings)
    }

    /// The variation with this change, where the simulation can be believed.
    pub fn trial(&self, wanted: impl Fn(&Trial) -> bool) -> Option<&Trial> {
        self.trials.iter().filter(|_| self.proves() && self.faithful).find(|trial| wanted(trial))
    }

    /// What it says about fragmentation; `None` where it is not of this failure, or says nothing sure.
    pub fn pieces(&self) -> Option<Pieces<'_>> {
        let (requested, free) = (self.requested.filter(|_| self.proves())?, self.device_free?);
        let usable = self.cached.saturating_sub(self.cached_in_private_pools);
        if free.saturating_add(usable) < requested {
            return Some(Pieces::TooLittle);
        }
        // Of several that serve it, the one that needs least.
        let best = self.settings().filter(|trial| trial.serves()).max_by_key(|trial| trial.saves);
        if let Some(trial) = best {
            let budget = self.reserved.saturating_add(free).max(1);
            let full = self.active.saturating_add(requested) as f64 / budget as f64;
            return Some(Pieces::InTheWay { trial, full });
        }
        let tried = self.settings().filter(|trial| matches!(trial.verdict, Verdict::Fails { .. })).count();
        let open = self.settings().any(|trial| trial.verdict == Verdict::Unclear);
        (tried > 0 && !open).then_some(Pieces::NotInTheWay { tried })
    }

    /// What the replay of another setting cannot know, as the end of a sentence: how the blocks that were there when
    /// the recording began would lie under it. Empty where it begins with an empty device.
    pub fn limits_of_the_replay(&self) -> Text {
        if self.from_the_start {
            return Text::default();
        }
        text!(
            en: "; the recording begins late: what was held then is packed anew, so that this is the most the setting \
                 could have done",
            zh: "；记录开始较晚：当时已有的块被重新排列，因此这是该设置能达到的最好结果"
        )
    }

    /// Bytes that the allocator had before and could not have any more when it failed: somebody outside of it took
    /// them.
    pub fn taken_meanwhile(&self) -> Option<u64> {
        let free = self.device_free.filter(|_| self.proves())?;
        self.peak_reserved?.checked_sub(self.reserved.saturating_add(free)).filter(|bytes| *bytes > 0)
    }

    /// Blocks of activations that one line keeps for each tensor of parameters, where both are told: about one or a few
    /// after one pass, many where several passes (or the steps of a recurrence) are kept.
    pub fn passes_kept(&self) -> Option<(&HeldAt, u64)> {
        let blocks = |category: Category| {
            let held = self.holders.iter().filter(move |held| held.category == category);
            held.map(|held| held.blocks).sum::<u64>()
        };
        let held = self.top_of(Category::Activations)?;
        let parameters = blocks(Category::Parameters);
        (parameters > 0).then(|| (held, held.blocks / parameters))
    }

    /// The place that holds most in the program's own code.
    pub fn top_holder(&self) -> Option<&HeldAt> {
        self.holders.iter().find(|held| held.own_code)
    }

    /// The place that holds most of one kind of memory.
    pub fn top_of(&self, category: Category) -> Option<&HeldAt> {
        self.holders.iter().find(|held| held.own_code && held.category == category)
    }

    pub fn holds(&self, category: Category) -> bool {
        self.holders.iter().any(|held| held.category == category)
    }

    /// An amount as a share of everything in use, 0 … 1.
    pub fn share(&self, bytes: u64) -> f64 {
        let held = self.categories.iter().map(|(_, bytes, _)| *bytes).fold(0, u64::saturating_add);
        bytes as f64 / self.active.max(held).max(1) as f64
    }

    /// The entry as people count, from 1.
    pub fn entry(&self) -> Option<u64> {
        self.event.map(|event| u64::from(event) + 1)
    }

    /// Where a statement rests: the file's name and the entry.
    pub fn cite(&self) -> Text {
        let name = self.name();
        match self.entry() {
            Some(entry) => text!(en: "snapshot {name}, entry {entry}", zh: "快照 {name} 第 {entry} 条"),
            None => text!(en: "snapshot {name}", zh: "快照 {name}"),
        }
    }

    /// The file's name without its folders.
    pub fn name(&self) -> &str {
        self.source.rsplit(['/', '\\']).next().unwrap_or(&self.source)
    }

    /// What it is to the incident, in a sentence with its figures.
    pub fn about(&self) -> Text {
        let (gpu, name) = (self.device, self.name());
        match &self.standing {
            Standing::SameFailure => {
                let (cached, pieces, largest) = (Bytes(self.cached), self.pieces, Bytes(self.largest_piece));
                let entry = self.entry().unwrap_or_default();
                match pieces {
                    0 => text!(
                        en: "{name} recorded this failure (entry {entry}, GPU {gpu}): nothing was cached",
                        zh: "{name} 记录了本次失败（第 {entry} 条，GPU {gpu}）：缓存中没有空闲"
                    ),
                    1 => text!(
                        en: "{name} recorded this failure (entry {entry}, GPU {gpu}): {cached} were cached, in one piece",
                        zh: "{name} 记录了本次失败（第 {entry} 条，GPU {gpu}）：缓存中空闲 {cached}，为一整块"
                    ),
                    _ => text!(
                        en: "{name} recorded this failure (entry {entry}, GPU {gpu}): {cached} were cached, in {pieces} pieces of {largest} at most",
                        zh: "{name} 记录了本次失败（第 {entry} 条，GPU {gpu}）：缓存中空闲 {cached}，分成 {pieces} 块，最大 {largest}"
                    ),
                }
            }
            Standing::NoFailure => {
                let active = Bytes(self.active);
                let moment = match (self.entry(), self.peak_reserved) {
                    (Some(entry), _) => text!(en: "its peak (entry {entry})", zh: "峰值（第 {entry} 条）"),
                    (None, None) => Text::new("its end (it has no history)", "结束时（没有历史记录）"),
                    (None, Some(_)) => Text::new("its start", "开始时"),
                };
                let (en, zh) = (moment.en, moment.zh);
                Text::new(
                    format!(
                        "{name} holds no failed request, so it proves nothing here; at {en} {active} were in use on GPU {gpu}"
                    ),
                    format!("{name} 中没有失败的申请，不能作为证据；其{zh} GPU {gpu} 占用 {active}"),
                )
            }
            Standing::Other(why) => why.clone(),
        }
    }
}
