//! What ranks tell each other of their sizes.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "same-collectives",
    class: Class::Libraries,
    title: || {
        text!(
            en: "The same collective calls on every rank, each on its own device",
            zh: "每个 rank 按相同顺序调用集合通信，并各用自己的设备"
        )
    },
    doc: || {
        text!(
            en: "Before ranks send each other objects they exchange lengths. Where one rank is in another call, or all \
                 share a device, what arrives is no length, and a buffer of that size is asked for.",
            zh: "各 rank 互发对象之前会先交换长度。若某个 rank 处在另一个调用中，或所有 rank 共用一个设备，收到的就不是\
                 长度，却会按它申请缓冲区。"
        )
    },
    helps: &[Work::Training, Work::Inference],
    needs: &[Need::Gpu, Need::NoEngine, Need::OwnCode],
    applies: |case| case.absurd() && case.context.exchanges_objects(),
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[line(Target::Pytorch, "{module}.set_device(int(os.environ[\"LOCAL_RANK\"]))").note(
        "before the first collective; and no rank may skip one or call another",
        "在第一次集合通信之前；任何 rank 都不能漏掉或改调其他集合通信",
    )],
    fixtures: &["fix/exchanged-lengths"],
    advise,
};

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .frees_unknown(text!(
            en: "nothing: what was asked for is no object's size",
            zh: "不释放内存：申请的大小并非任何对象的大小"
        ))
        .because(text!(
            en: "the buffer that was asked for is as large as a length that the ranks exchanged",
            zh: "申请的缓冲区大小来自各 rank 交换的长度"
        ))
}
