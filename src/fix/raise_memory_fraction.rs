//! A cap refused, not the device.

use super::case::clamp_to;
use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "raise-memory-fraction",
    class: Class::Limits,
    title: || text!(en: "Raise or remove the memory fraction", zh: "提高或取消显存比例限制"),
    doc: || {
        text!(
            en: "With a fraction set, PyTorch refuses before the driver is asked. Find who sets it: \
                 `set_per_process_memory_fraction`, `per_process_memory_fraction` in the allocator's options, or a \
                 scheduler's share.",
            zh: "设置了比例后，PyTorch 在询问驱动之前就会拒绝。先找到是谁设置的：`set_per_process_memory_fraction`、\
                 分配器选项 `per_process_memory_fraction`，或调度器的份额。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu, Need::NoEngine, Need::Running, Need::Limit],
    applies: |case| {
        !case.sign(Sign::Mps)
            && !case.sign(Sign::ExpandableReserve)
            && !case.sign(Sign::CustomAllocator)
            // Intel's devices refuse single buffers, not shares: see carve-out.
            && !matches!(case.accelerator(), Accelerator::Tpu | Accelerator::Xpu)
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Jax, "export XLA_CLIENT_MEM_FRACTION=.95")
            .note("older name: XLA_PYTHON_CLIENT_MEM_FRACTION", "旧名 XLA_PYTHON_CLIENT_MEM_FRACTION"),
        line(Target::Jax, "export XLA_PYTHON_CLIENT_MEM_FRACTION=.95").older(),
        line(Target::TensorFlow, "config.gpu_options.per_process_gpu_memory_fraction = 0.95").when("session"),
        line(
            Target::TensorFlow,
            "tf.config.set_logical_device_configuration(gpu, \
                 [tf.config.LogicalDeviceConfiguration(memory_limit=<MB>)])",
        ),
        line(Target::Pytorch, "{module}.set_per_process_memory_fraction(1.0)").unless("whole"),
    ],
    fixtures: &["pytorch/allowed"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let cap =
        case.ledger.cap.or_else(|| case.incident.event.facts.get(Fact::FractionLimit).map(|figure| figure.interval()));
    let room = cap.zip(case.capacity()).map(|(cap, capacity)| {
        let (limit, total) = (show(cap.middle()), show(capacity.middle()));
        (
            // What others hold is not to be had, whatever the limit.
            clamp_to((capacity - cap).at_least_zero(), case.free()),
            text!(
                en: "capacity {total} − limit {limit}, as far as it is free",
                zh: "总容量 {total} − 上限 {limit}，以空闲部分为限"
            ),
        )
    });
    let sliver = case.program() == Program::Tensorflow
        && case.incident.event.facts.get(Fact::Limit).is_some_and(|limit| limit.bytes < GIB);
    // PyTorch's message names what is "allowed" wherever a fraction is set; without that word there is none.
    let whole = cap.is_none() && case.pytorch() && case.requested().is_some() && case.capacity().is_some();
    let draft = Draft::new(case, &FIX).when("sliver", sliver).when("whole", whole);
    let draft = draft.frees_if(room, text!(en: "the message does not print the limit", zh: "报错没有打印上限"));
    draft.certainty(if cap.is_some() { Certainty::Arithmetic } else { Certainty::RuleOfThumb }).because(match cap {
        Some(cap) => {
            let limit = show(cap.middle());
            text!(en: "a limit of {limit} applies, below what the device has", zh: "生效的上限为 {limit}，低于设备容量")
        }
        None if sliver => text!(
            en: "the pool is a sliver of any GPU: what others left of it, or a fraction that the program sets",
            zh: "内存池只有任何 GPU 的一小部分：要么是其他进程剩下的，要么是程序设置了比例"
        ),
        None => text!(en: "a limit below the device's memory seems to apply", zh: "似乎有低于设备容量的上限在生效"),
    })
}
