//! A smaller problem at a time.

use super::prelude::*;
use crate::cause::nature::trains;

pub const FIX: Fix = Fix {
    id: "less-at-once",
    class: Class::Batch,
    title: || text!(en: "A smaller problem, or a part of it at a time", zh: "缩小问题规模，或一次只处理一部分"),
    doc: || {
        text!(
            en: "What a renderer, a simulation, a data frame or boosted trees put on the device grows with the rows, \
                 cells, atoms or pixels that are there at once: coarser, fewer, or one part after another.",
            zh: "渲染器、模拟程序、数据表或提升树放到设备上的内容随同时存在的行、网格、原子或像素数增长：\
                 可降低精细度、减少数量，或逐部分处理。"
        )
    },
    helps: &[Work::Compute],
    needs: &[Need::Gpu, Need::Tensor, Need::Pass],
    // Trees need all rows, and a loop that trains has a batch of its own.
    applies: |case| {
        case.works() == [Work::Compute]
            // Before there is a context there is nothing of which less could be done.
            && !case.sign(Sign::ContextCreation)
            && !case.is_state_vector()
            && !case.grows_trees()
            && !case.context.origin.mines
            && (!trains(case.incident) || case.only_asks())
    },
    costs: Costs { slows: (0.0, 0.3), numerics: Numerics::Benign },
    knobs: &[
        said(
            Target::OnnxRuntime,
            "less in each session.run(): fewer samples, or a smaller input",
            "每次 session.run() 处理更少：减少样本，或缩小输入",
        )
        .when("code"),
        said(
            Target::OnnxRuntime,
            "half as much in each run of the session, or a smaller input",
            "会话每次运行的数据减半，或缩小输入",
        )
        .when("sessions"),
        said(Target::OnnxRuntime, "config.pbtxt: a smaller max_batch_size", "config.pbtxt：减小 max_batch_size")
            .when("triton"),
        line(Target::Spark, "--conf spark.rapids.sql.concurrentGpuTasks=1")
            .note("or a smaller spark.rapids.sql.batchSizeBytes", "或减小 spark.rapids.sql.batchSizeBytes")
            .when("spark-rapids"),
        said(
            Target::Julia,
            "half as much at once: a smaller batch, array or grid",
            "一次处理减半：更小的批、数组或网格",
        ),
        said(
            Target::Cupy,
            "half as much at once: a smaller batch, array or grid",
            "一次处理减半：更小的批、数组或网格",
        ),
        said(Target::Program, "half as much at once: a smaller input or problem", "一次处理减半：缩小输入或问题规模")
            .when("untold"),
        said(Target::Program, "half as many rows at once", "一次处理的行数减半").when("rows"),
        said(
            Target::Program,
            "a lighter scene: smaller textures, fewer subdivisions and instances",
            "更轻的场景：更小的纹理、更少的细分和实例",
        )
        .when("scene"),
        said(Target::Program, "shorter pieces of sound, or a smaller model", "更短的音频片段，或更小的模型")
            .when("sound"),
        said(Target::Program, "fewer atoms on each device, or a smaller system", "减少每个设备上的原子数，或缩小体系")
            .when("atoms"),
        said(
            Target::Program,
            "fewer processes and threads on each GPU (-np of mpirun, --j), or smaller boxes",
            "减少每块 GPU 上的进程和线程数（mpirun 的 -np、--j），或缩小颗粒框",
        )
        .when("particles"),
        said(Target::Program, "fewer or smaller frames at once", "减少一次处理的帧数，或缩小画面").when("frames"),
        said(
            Target::Program,
            "fewer bytes for each stored vector (float16, product quantisation), or shards on several GPUs",
            "减少每个入库向量的字节数（float16、乘积量化），或分片到多块 GPU",
        )
        .when("index"),
    ],
    fixtures: &["julia/driver", "simulation/blender"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let concurrent = case.own_option(Quantity::Concurrent).filter(|option| option.value() > 1);
    let index = case.incident.event.of_an_index();
    let unit = unit(case).filter(|_| !index);
    let units = ["rows", "scene", "sound", "atoms", "particles", "frames"];
    let draft = Draft::new(case, &FIX)
        .own(concurrent.map(|option| option.with((option.value() / 8).max(1))))
        .was(concurrent.map(|option| option.value()));
    let draft = units.into_iter().fold(draft, |draft, name| draft.when(name, unit == Some(name)));
    draft
        .when("sessions", !case.shows_own_code() && !case.clue(Clue::TritonServer))
        .when("triton", case.clue(Clue::TritonServer))
        .when("untold", unit.is_none() && !index)
        .when("index", index)
        .frees_unknown(text!(
            en: "needs the size of the program's own data on the device",
            zh: "需要程序自身数据在设备上的大小"
        ))
        .because(join(
            text!(
                en: "what a program of this kind holds grows with what it works on at once",
                zh: "这类程序的占用随一次处理的数据量增长"
            ),
            case.situation(),
        ))
}

/// Of what there is less, by the subject or by what programs of this kind work on.
fn unit(case: &Case) -> Option<&'static str> {
    match case.subject() {
        Some(Subject::Sound) => return Some("sound"),
        Some(Subject::Atoms) => return Some("atoms"),
        Some(Subject::Video) => return Some("frames"),
        _ => {}
    }
    match case.program() {
        Program::Rapids | Program::DaskCuda => Some("rows"),
        Program::Relion => Some("particles"),
        Program::Blender | Program::LuxCore | Program::Octane | Program::Redshift => Some("scene"),
        Program::DavinciResolve | Program::Ffmpeg => Some("frames"),
        _ => None,
    }
}
