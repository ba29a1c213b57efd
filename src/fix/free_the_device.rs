//! Free what other processes hold on the device.

use super::prelude::*;
use crate::account;
use crate::incident::context::Platform;

pub const FIX: Fix = Fix {
    id: "free-the-device",
    class: Class::FreeTheDevice,
    title: || text!(en: "Free what other processes hold on this GPU", zh: "释放其他进程占用的显存"),
    doc: || {
        text!(
            en: "Another process holds memory that this job needs. Stop it if it is yours, wait for it, or agree on \
                 shares. The pids of a message inside a container may be those of the host; one of the listed \
                 processes may even be the failing job itself.",
            zh: "另一个进程占用了本任务需要的显存。若是自己的进程就结束它，否则等待或协商配额。容器内报错里的 pid 可\
                 能是宿主机 pid；列出的进程甚至可能就是本任务自己。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Running, Need::OthersHold],
    // Who else uses a device of Vulkan shows whatever its vendor.
    applies: |case| {
        case.discrete_gpu() || case.on_gpu() && matches!(case.accelerator(), Accelerator::Any | Accelerator::Xpu)
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Shell, "ps -o pid,user,etime,cmd -p {query}")
            .note("if it is no part of this job: kill {kill}", "若不属于本任务：kill {kill}")
            .when("alone"),
        line(Target::Shell, "ps -o pid,user,etime,cmd -p {query}")
            .note(
                "yours, idle and no rank of this job: kill {kill}",
                "若属于你、已空闲且不是本任务的 rank：kill {kill}",
            )
            .when("ranks"),
        line(Target::Shell, "ps -o pid,user,etime,cmd -p {query}")
            .note(
                "Ray's other actors are parts of this job, an engine that samples for it too: end only what is none",
                "Ray 的其他 actor（包括为本任务采样的引擎）都属于本任务：只结束不属于它的进程",
            )
            .when("actors"),
        line(Target::Shell, "ps -o pid,user,etime,cmd -p {query}")
            .note(
                "pids of the host: look there, and end only what is no part of this job",
                "这些是宿主机 pid：在宿主机上查看，只结束不属于本任务的进程",
            )
            .when("outside"),
        line(Target::Shell, "ps -o pid,user,etime,cmd -p {query}")
            .note(
                "pids of the host; may be this very process: end only what is surely another one",
                "这些是宿主机 pid，可能就是本进程：只结束确定是其他程序的进程",
            )
            .when("doubtful"),
        line(Target::Windows, "{tool}")
            .note("then end the listed programs in Task Manager", "然后在任务管理器中结束列出的程序")
            .when("named"),
        said(
            Target::Windows,
            "Task Manager → Details → column \"Dedicated GPU memory\": end what is not needed",
            "任务管理器 → 详细信息 →“专用 GPU 内存”列：结束不需要的程序",
        )
        .unless("named"),
        line(Target::Ollama, "ollama ps").note("then: ollama stop MODEL", "然后：ollama stop MODEL").unless("named"),
        line(Target::Ollama, "ollama ps").unless("named").older(),
        line(Target::Shell, "{processes}").when("listed"),
        said(
            Target::Shell,
            "the system's own list of programs that use the GPU (on Linux: nvtop); end what is not needed",
            "系统自带的 GPU 进程列表（Linux 上用 nvtop）；结束不需要的程序",
        )
        .when("any"),
        line(Target::Shell, "free -h")
            .note(
                "one memory for the host and the GPU: stop other programs; what is cached of files counts as well",
                "主机与 GPU 共用一块内存：结束其他程序；文件缓存也占用它",
            )
            .when("one-memory"),
    ],
    fixtures: &["context/neighbour", "tensorflow/device-full"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let Some(others) = case.others() else {
        if let Some(pid) = case.ledger.self_listed_as {
            return Advice::WontHelp(text!(
                en: "process {pid} in the message is this job itself, seen from outside the container: killing it \
                     frees nothing for it",
                zh: "报错中的进程 {pid} 就是本任务自己（从容器外看到的 pid），结束它毫无用处"
            ));
        }
        // The tool's own listing, where it is in the log, shows whether there is anybody.
        if case.context.origin.nobody_listed {
            return Advice::Withheld(text!(
                en: "the tool's listing in the log shows no process on any device",
                zh: "日志中的设备工具没有列出任何进程"
            ));
        }
        // What the query of this change answers stands there already.
        if case.context.origin.processes_queried {
            return Advice::Withheld(text!(
                en: "the log shows the query for the processes on the device, and its answer",
                zh: "日志中已有查询设备上进程的命令及其结果"
            ));
        }
        return unnamed(case);
    };
    if case.ranks_on_one_device() {
        return Advice::WontHelp(text!(
            en: "the other processes on this GPU are ranks of this job: each needs a device of its own",
            zh: "这块 GPU 上的其他进程是本任务的 rank：应让每个 rank 使用自己的设备"
        ));
    }
    let held = show(others.middle());
    look_up(case, Draft::new(case, &FIX).when("named", true))
        .frees(others, text!(en: "all that other processes hold: {held}", zh: "其他进程占用的全部：{held}"))
        .certainty(Certainty::Arithmetic)
        .because(text!(
            en: "other processes hold {held} of this GPU; their memory comes back at once when they end",
            zh: "其他进程占用了这块 GPU 的 {held}；进程一结束显存立即归还"
        ))
}

/// How to look the others up. A pid is named for ending only where it is surely not this job's.
fn look_up<'a>(case: &Case, draft: Draft<'a>) -> Draft<'a> {
    let strangers = account::identity::strangers(&case.incident.event, case.ledger);
    let list = |pids: &[u64], between: &str| pids.iter().take(4).map(u64::to_string).collect::<Vec<_>>().join(between);
    let several = case.context.world_size.value().is_some_and(|ranks| ranks > 1) || case.incident.event.rank.is_some();
    if !strangers.sure.is_empty() {
        let ranks = match several {
            _ if case.context.origin.actors => "actors",
            true => "ranks",
            false => "alone",
        };
        return draft
            .when(ranks, true)
            .fill("query", list(&strangers.sure, ","))
            .fill("kill", list(&strangers.sure, " "));
    }
    let query = list(&strangers.doubtful, ",");
    if query.is_empty() {
        return draft;
    }
    let whose = if case.ledger.self_listed_as.is_some() { "outside" } else { "doubtful" };
    draft.when(whose, true).fill("query", query)
}

/// Memory that nobody named holds, or findings that point to others without a figure.
fn unnamed(case: &Case) -> Advice {
    let amount = case.ledger.unexplained.map(|held| held.at_least_zero()).filter(|held| held.middle() > 0);
    let (tool, one) = (case.incident.device_tool(), case.one_memory());
    let (en, zh) = (&tool.en, &tool.zh);
    // Vulkan runs on every system.
    let linux = case.context.platform.value() == Some(Platform::Linux);
    let any = case.accelerator() == Accelerator::Any && !linux;
    let reason = text!(
        en: "the message does not say what others hold; {en} at the time of the failure does",
        zh: "报错没有给出其他进程占用多少；出错时的 {zh} 可以看到"
    );
    Draft::new(case, &FIX)
        .when("table-nearly-fits", table_nearly_fits(case))
        .when("listed", !one && !any)
        .when("any", !one && any)
        .when("one-memory", one)
        .frees_if(
            amount.map(|held| {
                let shown = show(held.middle());
                (
                    Interval::between(0, held.high),
                    text!(en: "at most the {shown} that no process named here holds", zh: "最多是无人认领的 {shown}"),
                )
            }),
            reason,
        )
        .certainty(Certainty::Likely)
        .because(join(
            text!(
                en: "the device was taken up by something other than this job: find out what it is and end it",
                zh: "显存被本任务之外的程序占用：先看是谁，再结束它"
            ),
            case.situation(),
        ))
}

/// What a desktop and its windows hold of a card: 61, 134, 168 and 705 MiB in the four tables of nvidia-smi that list
/// them in the reports.
const DESKTOP: i128 = 705 << 20;

/// True where a miner's table, which has one size, lacks no more than a desktop holds.
fn table_nearly_fits(case: &Case) -> bool {
    let lacks = case.requested().zip(case.free()).map(|(asked, free)| asked.middle() - free.middle());
    case.context.origin.mines && lacks.is_some_and(|lacks| (0..=DESKTOP).contains(&lacks))
}
