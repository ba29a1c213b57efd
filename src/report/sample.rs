//! A made-up explanation with every part filled, for the tests of the reports.

use super::{Diagnosis, Explanation, InputSummary};
use crate::account::{Contradiction, Entry, Holder, Invariant, Ledger};
use crate::cause::conclusion::Conclusion;
use crate::cause::decide::{Observation, Outcome};
use crate::cause::{Cause, CauseId, Finding};
use crate::dialect::{Event, Fact, Resource, Standing};
use crate::domain::Program;
use crate::domain::Target;
use crate::evidence::{Evidence, Known, Span};
use crate::fix::work::Work;
use crate::fix::{Advice, Certainty, Class, Costs, Fix, Frees, Knob, Numerics, Offer, Part, Plan, Ranked};
use crate::incident::context::{Frame, Phase};
use crate::incident::{Context, Incident};
use crate::input::Repair;
use crate::text::Text;
use crate::units::{Base, Figure, Interval, MIB, parse};

static FRAGMENTED: Cause = Cause {
    id: CauseId::Fragmentation,
    title: || Text::new("the cache is fragmented", "显存碎片化"),
    doc: || Text::new("Doc.", "文档。"),
    refute: |_| Text::default(),
    fixtures: &[],
};

static CAPACITY: Cause = Cause {
    id: CauseId::Capacity,
    title: || Text::new("the job does not fit the device", "任务超出显存容量"),
    doc: || Text::new("Doc.", "文档。"),
    refute: |_| Text::default(),
    fixtures: &[],
};

const fn fix(id: &'static str, class: Class, title: fn() -> Text) -> Fix {
    Fix {
        id,
        class,
        title,
        doc: || Text::new("Doc.", "文档。"),
        helps: Work::ALL,
        needs: &[],
        applies: |_| true,
        costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
        knobs: &[],
        fixtures: &[],
        advise: |_| Advice::Silent,
    }
}

static SEGMENTS: Fix = fix("expandable-segments", Class::AllocConfig, || {
    Text::new("let segments grow instead of fragmenting", "启用可扩展段，避免碎片")
});
static BATCH: Fix =
    fix("smaller-batch", Class::Batch, || Text::new("a smaller batch, accumulated", "减小批大小并用梯度累积补足"));
static RECOMPUTE: Fix = fix("recompute", Class::Activations, || {
    Text::new("recompute activations in the backward pass", "反向时重计算激活")
});
static WORKERS: Fix = fix("fewer-workers", Class::Host, || Text::new("fewer loader workers", "减少数据加载进程"));

fn figure(text: &str) -> Figure {
    parse(text, Base::Binary).unwrap().at(Span::line(412))
}

fn offer(frees: Frees, slowdown: (f64, f64), numerics: Numerics, knob: &str) -> Offer {
    Offer {
        title: None,
        frees,
        costs: Costs { slows: slowdown, numerics },
        certainty: Certainty::Likely,
        cures: 0.8,
        knobs: vec![
            Knob { target: Target::Pytorch, line: Text::same(knob) },
            Knob { target: Target::Shell, line: Text::same(format!("env X=1 \\\n    {knob}")) },
        ],
        why: Text::new(
            "3.56 GiB lie idle in blocks too small for 4.15 GiB; segments that grow can join them.",
            "3.56 GiB 缓存散落在小于 4.15 GiB 的块中；可扩展段可以把它们连起来。",
        ),
    }
}

fn evidence(id: &'static str, weight: f64, en: &str, zh: &str) -> Evidence {
    Evidence::new(id, weight, Text::new(en, zh)).at(Span::line(412))
}

/// A PyTorch failure on a card of 44.53 GiB, with causes, fixes, context, a follower, and a harmless message.
pub fn explanation() -> Explanation {
    let mut event = Event::new("pytorch-of-which", Program::Pytorch, Resource::Gpu, Span::line(412));
    event.message =
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.15 GiB. GPU 0 has a total capacity \
                     of 44.53 GiB of which 3.84 GiB is free. <b>|</b> [x](y)"
            .into();
    event.facts.device = Known::Seen(0, Span::line(412));
    for (fact, text) in [
        (Fact::Requested, "4.15 GiB"),
        (Fact::Capacity, "44.53 GiB"),
        (Fact::Free, "3.84 GiB"),
        (Fact::Process, "40.68 GiB"),
        (Fact::Allocated, "36.78 GiB"),
        (Fact::ReservedUnallocated, "3.56 GiB"),
    ] {
        event.facts.note(fact, figure(text));
    }
    event.facts.numbers.insert(crate::domain::Number::RestartCount, (3.0, Span::line(412)));

    let amount = |text: &str| figure(text).interval();
    let entry = |holder, text: &str| Entry {
        holder,
        amount: amount(text),
        basis: Text::new("printed by the message", "报错中打印"),
    };
    let ledger = Ledger {
        capacity: Some(amount("44.53 GiB")),
        entries: vec![
            entry(Holder::Allocated, "36.78 GiB"),
            entry(Holder::Cached, "3.56 GiB"),
            entry(Holder::NonFramework, "348.16 MiB"),
            entry(Holder::Free, "3.84 GiB"),
        ],
        contradictions: vec![Contradiction {
            id: Invariant::FreeServesRequest,
            resolved: true,
            in_doubt: &[],
            text: Text::new(
                "the allocator was told that 3.84 GiB are free and still asked for 4.15 GiB",
                "驱动报告空闲 3.84 GiB，而申请为 4.15 GiB",
            ),
            lines: vec![412],
        }],
        requested: Some(amount("4.15 GiB")),
        free: Some(amount("3.84 GiB")),
        short_of_free: Some(amount("4.15 GiB") - amount("3.84 GiB")),
        ..Ledger::default()
    };
    let context = Context {
        phase: Known::Seen(Phase::Backward, Span::line(400)),
        batch_size: Known::Seen(64, Span::GIVEN),
        frames: vec![Frame {
            file: "/home/ada/fold/train.py".into(),
            line: 181,
            function: "update_nodes".into(),
            code: Some("messages = torch.cat(parts, dim=0)".into()),
            at: Span::line(409),
        }],
        ..Context::default()
    };
    let mut follower = Event::new("torchrun", Program::Pytorch, Resource::Gpu, Span::line(420));
    follower.standing = Standing::Follower;
    follower.message = "ChildFailedError".into();
    let mut harmless = Event::new("xla-retry", Program::Tensorflow, Resource::Gpu, Span::line(8));
    harmless.message = "allocator ran out of memory, retrying without a workspace".into();
    harmless.make_harmless(Text::new("the retry worked", "重试成功"));

    let findings = vec![
        Finding {
            cause: &FRAGMENTED,
            confidence: 0.613,
            proved: false,
            evidence: vec![
                evidence(
                    "cache",
                    1.8,
                    "free and cached together are 7.40 GiB, more than the 4.15 GiB asked for",
                    "空闲加缓存共 7.40 GiB，多于申请的 4.15 GiB",
                ),
                evidence(
                    "progress",
                    0.9,
                    "the first failure came in epoch 5: the same step had fitted four times over",
                    "第 5 个 epoch 才失败：相同的步骤此前成功过四轮",
                ),
                evidence("pieces", -0.4, "only 8% of the device is cached", "缓存只占 8%"),
            ],
            refute: Text::new(
                "with expandable_segments:True the same run fails at the same step with free and cached below the \
                 request",
                "设置 expandable_segments:True 后，同一步仍失败，且空闲加缓存小于申请量",
            ),
        },
        Finding {
            cause: &CAPACITY,
            confidence: 0.287,
            proved: false,
            evidence: vec![evidence("own-tensors", 0.7, "83% of the device is allocated", "83% 的显存已分配")],
            refute: Text::new("a batch of half the size fails too", "批大小减半后仍失败"),
        },
    ];
    let range = |low: u64, high: u64| Frees::Bytes {
        of: Part::Whole,
        range: Interval::between((low * MIB) as i128, (high * MIB) as i128),
        formula: Text::new("0.9 … 1 × 3.56 GiB cached", "缓存 3.56 GiB 的 0.9 … 1 倍"),
    };
    let offers = vec![
        Ranked {
            fix: &SEGMENTS,
            offer: offer(
                range(3280, 3645),
                (0.0, 0.02),
                Numerics::Same,
                "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            ),
            value: 3.0,
            look: false,
        },
        Ranked {
            fix: &BATCH,
            offer: offer(range(0, 9000), (0.0, 0.1), Numerics::Benign, "--batch-size 32 --accumulate 2"),
            value: 2.0,
            look: false,
        },
        Ranked {
            fix: &RECOMPUTE,
            offer: offer(
                Frees::Unknown(Text::new("needs the size of the activations", "需要激活的大小")),
                (0.2, 0.35),
                Numerics::Same,
                "model.gradient_checkpointing_enable()",
            ),
            value: 1.0,
            look: false,
        },
    ];
    Explanation {
        inputs: vec![InputSummary {
            source: "runs/train.log".into(),
            bytes: 48_123,
            lines: 431,
            encoding: "utf-8".into(),
            repairs: vec![Repair::Ansi],
        }],
        diagnoses: vec![Diagnosis {
            input: 0,
            incident: Incident { followers: vec![follower], ledger, ..Incident::alone(event, context) },
            findings,
            conclusion: Conclusion::Likely,
            decide: vec![Observation {
                id: "per-step-reading",
                act: Text::new("print(allocated) | after each step", "print(allocated) | 每步之后"),
                target: "pytorch",
                outcomes: vec![
                    Outcome { see: Text::new("it stays level", "保持平稳"), then: CauseId::Fragmentation },
                    Outcome { see: Text::new("it is high at once", "立即很高"), then: CauseId::Capacity },
                ],
            }],
            plan: Plan {
                offers,
                wont_help: vec![(
                    &WORKERS,
                    Text::new("loader workers use the machine's RAM, not the card's", "加载进程占用主机内存，而非显存"),
                )],
                withheld: vec![(&RECOMPUTE, Text::new("already on", "已开启"))],
            },
        }],
        harmless: vec![harmless],
        snapshots: Vec::new(),
        watched: Vec::new(),
    }
}
