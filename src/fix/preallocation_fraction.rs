//! Don't take it all.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "preallocation-fraction",
    class: Class::Limits,
    title: || text!(en: "Limit framework preallocation", zh: "限制框架的显存预分配"),
    doc: || {
        text!(
            en: "JAX takes 75 % of the device at its first operation, TensorFlow nearly all. Two such processes, or \
                 one beside PyTorch, starve each other. Growth on demand costs fragmentation near the limit; the \
                 variables must be set before the framework is imported.",
            zh: "JAX 首次运算时占用设备的 75 %，TensorFlow 几乎全占。两个这样的进程，或与 PyTorch 同时使用，会互相挤\
                 占。按需增长在接近上限时更易碎片化；变量必须在导入框架之前设置。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu, Need::Running],
    // A TPU's runtime knows none of these; and a process that could not even make a context has no pool of its own.
    applies: |case| {
        let outside = [CauseId::Preallocation, CauseId::NonFramework];
        let suspected = outside.iter().any(|cause| case.confidence(*cause) >= SUSPECTED);
        case.accelerator() != Accelerator::Tpu
            && suspected
            && (!case.sign(Sign::ContextCreation) || case.sign(Sign::ForeignLibrary))
    },
    costs: Costs { slows: (0.0, 0.1), numerics: Numerics::Same },
    knobs: &[
        line(Target::Jax, "export XLA_PYTHON_CLIENT_PREALLOCATE=false").note(
            "or XLA_CLIENT_MEM_FRACTION=.40 (older: XLA_PYTHON_CLIENT_MEM_FRACTION)",
            "或 XLA_CLIENT_MEM_FRACTION=.40（旧名 XLA_PYTHON_CLIENT_MEM_FRACTION）",
        ),
        line(Target::Jax, "export XLA_PYTHON_CLIENT_PREALLOCATE=false")
            .note("or XLA_PYTHON_CLIENT_MEM_FRACTION=.40", "或 XLA_PYTHON_CLIENT_MEM_FRACTION=.40")
            .older(),
        line(Target::TensorFlow, "config.gpu_options.allow_growth = True")
            .note("of the session's tf.ConfigProto()", "写在会话的 tf.ConfigProto() 上")
            .when("session-alone"),
        // Between 1.14, which reads it, and the end of 1.x a log's day does not tell whether there is a session.
        line(Target::TensorFlow, "export TF_FORCE_GPU_ALLOW_GROWTH=true").when("of-either"),
        line(Target::TensorFlow, "export TF_FORCE_GPU_ALLOW_GROWTH=true")
            .note(
                "or tf.config.experimental.set_memory_growth(gpu, True)",
                "或 tf.config.experimental.set_memory_growth(gpu, True)",
            )
            .unless("session"),
        line(Target::Exla, "config :exla, :clients, cuda: [platform: :cuda, preallocate: false]")
            .note("or memory_fraction: 0.4", "或 memory_fraction: 0.4"),
    ],
    fixtures: &["cuda/nccl", "jax/constant"],
    advise,
};

/// From this share on a pool, or what a library misses beside one, is a cause worth a change.
const SUSPECTED: f64 = 0.06;

/// True unless most of the device was free: a pool that was refused has taken nothing.
fn has_taken(case: &Case) -> bool {
    case.capacity().zip(case.free()).is_none_or(|(capacity, free)| free.low * 2 < capacity.high)
}

fn advise(case: &Case) -> Advice {
    let session = case.of_sessions();
    let between = case.context.dated.value().is_some_and(|day| ((2019, 7)..(2021, 1)).contains(&day));
    let either = session && !case.clue(Clue::TensorFlow1) && between;
    Draft::new(case, &FIX)
        .when("session-alone", session && !either)
        .when("of-either", either)
        .frees_if(
            case.capacity().filter(|_| has_taken(case)).map(|capacity| {
                let total = show(capacity.middle());
                (
                    Interval::between(0, capacity.scale(0.75).high),
                    text!(
                        en: "up to 75 % of {total}",
                        zh: "最多 {total} 的 75 %"
                    ),
                )
            }),
            text!(en: "up to 75 % of the device", zh: "最多设备的 75 %"),
        )
        .certainty(Certainty::Likely)
        .because(text!(
            en: "a framework that takes the device up front leaves nothing for the others",
            zh: "预先占满设备的框架不给其他程序留余量"
        ))
}
