//! Data that waits in host memory.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "keep-data-on-host",
    class: Class::Offload,
    title: || text!(en: "Keep the data in host memory until it is used", zh: "数据留在主机内存，用到时再移到设备"),
    doc: || {
        text!(
            en: "A data set, a video or a result that is moved to the device as a whole takes its full size there for \
                 as long as it lives. Leave it in host memory and move the part that a step needs; programs that load \
                 whole videos or scenes often have an option for that.",
            zh: "整个数据集、视频或结果移到设备后，会一直占用其全部大小。应留在主机内存，只移动每步需要的部分；\
                 加载整段视频或整个场景的程序往往自带相应选项。"
        )
    },
    helps: &[Work::Training, Work::Inference, Work::Compute],
    needs: &[Need::Gpu, Need::NoEngine, Need::Discrete],
    applies: |case| case.pytorch() && (case.host_option().is_some() || keeps(case)),
    costs: Costs { slows: (0.0, 0.2), numerics: Numerics::Same },
    knobs: &[
        line(Target::Pytorch, "{option}").when("option"),
        said(
            Target::Pytorch,
            "leave {name} on the CPU, and move the part that is used to the device",
            "{name} 留在 CPU，只把用到的部分移到设备",
        )
        .unless("option"),
    ],
    fixtures: &["fix/frames-of-a-video"],
    advise,
};

/// A large tensor of data that the failing line moves as a whole.
fn keeps(case: &Case) -> bool {
    case.data_moved().is_some() && Need::LargeRequest.met(case) && !case.absurd() && Need::OwnCode.met(case)
}

fn advise(case: &Case) -> Advice {
    let option = case.host_option();
    let draft = Draft::new(case, &FIX).when("option", option.is_some());
    let draft = match (option, case.data_moved()) {
        (Some(option), _) => draft.fill("option", option),
        (None, Some(name)) => draft.fill("name", name),
        (None, None) => return Advice::Silent,
    };
    draft
        .when("told", option.is_some())
        .of_request()
        .frees_if(
            case.requested().filter(|asked| asked.low > 0).map(|asked| {
                let shown = show(asked.middle());
                (
                    Interval::between(asked.low / 2, asked.high),
                    text!(en: "half or more of the {shown} moved at once", zh: "一次移动的 {shown} 的一半以上"),
                )
            }),
            text!(en: "as much as stays in host memory", zh: "等于留在主机内存的部分"),
        )
        .certainty(Certainty::Likely)
        .because(join(
            text!(
                en: "the failing line moves data to the device as a whole",
                zh: "出错的那一行把数据整体移到设备"
            ),
            case.situation(),
        ))
}
