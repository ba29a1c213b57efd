//! A data set that goes to the card as a constant.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "stream-the-data",
    class: Class::Loading,
    title: || text!(en: "Feed the data in batches, not as a constant", zh: "分批输入数据，不要整体作为常量"),
    doc: || {
        text!(
            en: "An array given to TensorFlow as a whole becomes a constant on the device, data set and all. A \
                 pipeline that reads from files or a generator keeps only a few batches there.",
            zh: "整个数组直接传给 TensorFlow 时，会作为常量整体放到设备上。从文件或生成器读取的数据管道只在设备上保\
                 留几个批次。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu],
    applies: |case| {
        let copied = case.incident.event.facts.numbers.contains_key(&Number::ConstantCopied);
        (copied || case.incident.event.of_a_constant()) && !case.context.origin.fed
    },
    costs: Costs { slows: (0.0, 0.1), numerics: Numerics::Same },
    knobs: &[
        line(Target::Jax, "f = jax.jit(lambda data: ...); f(data)")
            .note("pass the array as an argument, do not close over it", "把数组作为参数传入，不要由闭包捕获"),
        line(
            Target::TensorFlow,
            "with tf.device(\"CPU\"): ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(64).prefetch(2)",
        )
        .unless("session"),
        said(
            Target::TensorFlow,
            "feed the data in parts through a placeholder, not as one constant",
            "通过 placeholder 分批输入数据，而不是作为一个常量",
        )
        .when("session"),
    ],
    fixtures: &["tensorflow/dst-tensor"],
    advise,
};

fn advise(case: &Case) -> Advice {
    Draft::new(case, &FIX)
        .of_request()
        .frees_if(
            case.requested().map(|requested| (requested, text!(en: "the constant itself", zh: "该常量本身"))),
            text!(en: "all of the data set but a few batches", zh: "除几个批次外的整个数据集"),
        )
        .certainty(Certainty::Likely)
        .because(text!(
            en: "it failed while copying an array to the device as a constant",
            zh: "失败发生在将数组作为常量拷贝到设备时"
        ))
}
