//! Place an asynchronous error.

use super::prelude::*;
use crate::domain::Accelerator;
use crate::domain::program::Language;

pub const FIX: Fix = Fix {
    id: "launch-blocking",
    class: Class::Diagnosis,
    title: || text!(en: "Run once with CUDA_LAUNCH_BLOCKING=1", zh: "用 CUDA_LAUNCH_BLOCKING=1 运行一次"),
    doc: || {
        text!(
            en: "Kernels run after the Python line that launched them; an error shows at a later line. Blocking \
                 launches make the traceback point at the culprit. It slows the run and frees nothing.",
            zh: "CUDA 内核在发起它的 Python 行之后才执行，错误会出现在更后面的行。阻塞式启动使 traceback 指向真正的\
                 位置。它会变慢，且不释放任何显存。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Gpu, Need::Running],
    applies: |case| case.short_of_no_bytes().is_none(),
    costs: Costs { slows: (0.1, 0.6), numerics: Numerics::Same },
    knobs: &[line(Target::Shell, "{variable} <your command>")
        .note("once, for the true traceback", "运行一次，得到真实的 traceback")],
    fixtures: &["pytorch/cuda-error"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let asynchronous = case.sign(Sign::Asynchronous)
        || case.sign(Sign::OtherCudaError)
        || case.sign(Sign::Disguised)
        || case.clue(Clue::DeviceAssert);
    if !asynchronous {
        let obeyed = case.accelerator() == Accelerator::Cuda;
        if obeyed && case.pytorch() && case.confidence(CauseId::Capacity) > 0.4 && case.requested().is_some() {
            return Advice::WontHelp(text!(
                en: "an allocation fails where it is asked for, not later as kernels do, and blocking launches free \
                     nothing",
                zh: "分配失败就发生在申请处（不像内核那样延后报告），阻塞式启动也不会释放显存"
            ));
        }
        return Advice::Silent;
    }
    // MXNet's engine runs beside Python whatever CUDA does, and its storage manager names the call.
    if case.program() == Program::Mxnet {
        return Advice::Silent;
    }
    // What no interpreter runs has no traceback: it names the file and the line itself, or nothing.
    let languages = case.program().languages();
    let interpreted = [Language::Python, Language::Julia].iter().any(|language| languages.contains(language));
    if !interpreted && case.context.frames.is_empty() {
        return Advice::Silent;
    }
    // A call that allocates is named and waits for its result: there is no later place to look for.
    if case.incident.event.names_the_allocating_call() {
        return Advice::Silent;
    }
    let Some(variable) = case.accelerator().blocking_launches() else { return Advice::Silent };
    Draft::new(case, &FIX)
        .frees_unknown(
            text!(en: "frees nothing: it shows which operation failed", zh: "不释放显存：用于显示是哪个操作出错"),
        )
        .certainty(Certainty::Likely)
        .fill("variable", variable)
        .because(text!(
            en: "the error may stem from an earlier operation: the device reports asynchronously",
            zh: "错误可能来自更早的操作：设备异步报告错误"
        ))
}
