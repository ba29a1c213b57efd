//! Free what other processes hold on the device.

use super::case::{Case, join, show};
use super::draft::Draft;
use super::{Advice, Certainty, Class, Fix};
use crate::account;
use crate::cause::CauseId;
use crate::domain::Target;
use crate::text;
use crate::units::Interval;

pub const FIX: Fix = Fix {
    id: "free-the-device",
    class: Class::FreeTheDevice,
    title: || text!(en: "Free what other processes hold on this GPU", zh: "释放其他进程占用的显存"),
    doc: || {
        text!(
            en: "Another process holds memory that this job needs. Stop it if it is yours, wait for it, or agree on shares. The pids of a message inside a container may be those of the host; one of the listed processes may even be the failing job itself.",
            zh: "另一个进程占用了本任务需要的显存。若是自己的进程就结束它，否则等待或协商配额。容器内报错里的 pid 可能是宿主机 pid；列出的进程甚至可能就是本任务自己。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.discrete_gpu() {
        return Advice::Silent;
    }
    let Some(others) = case.others() else {
        if let Some(pid) = case.ledger.self_listed_as {
            return Advice::WontHelp(text!(
                en: "process {pid} in the message is this job itself, seen from outside the container: killing it frees nothing for it",
                zh: "报错中的进程 {pid} 就是本任务自己（从容器外看到的 pid），结束它毫无用处"
            ));
        }
        return unnamed(case);
    };
    let (held, tool) = (show(others.middle()), case.accelerator().tool());
    let draft = Draft::new(
        case,
        &[
            (CauseId::OtherProcess, 0.9),
            (CauseId::Preallocation, 0.4),
            (CauseId::DuplicateModel, 0.3),
            (CauseId::Capacity, 0.1),
        ],
    )
    .frees(others, text!(en: "all that other processes hold: {held}", zh: "其他进程占用的全部：{held}"))
    .certainty(Certainty::Arithmetic);
    let draft = look_up(case).into_iter().fold(draft, |draft, command| draft.knob(Target::Shell, command));
    draft.knob(Target::Windows, format!("{tool}   # then end the listed programs in Task Manager")).because(text!(
        en: "other processes hold {held} of this GPU; their memory comes back at once when they end",
        zh: "其他进程占用了这块 GPU 的 {held}；进程一结束显存立即归还"
    ))
}

/// How to look the others up. A pid is named for ending only where it is surely not this job's.
fn look_up(case: &Case) -> Option<String> {
    let strangers = account::identity::strangers(&case.incident.event, case.ledger);
    let list = |pids: &[u64], between: &str| pids.iter().take(4).map(u64::to_string).collect::<Vec<_>>().join(between);
    let several = case.context.world_size.value().is_some_and(|ranks| ranks > 1) || case.incident.event.rank.is_some();
    if !strangers.sure.is_empty() {
        let (query, kill) = (list(&strangers.sure, ","), list(&strangers.sure, " "));
        let whose = if several { "yours, idle and no rank of this job" } else { "yours and idle" };
        return Some(format!("ps -o pid,user,etime,cmd -p {query}   # {whose}: kill {kill}"));
    }
    let query = Some(list(&strangers.doubtful, ",")).filter(|query| !query.is_empty())?;
    let whose = match case.ledger.self_listed_as {
        Some(_) => "pids of the host: look there, and end only what is no part of this job",
        None => "pids of the host; may be this very process: end only what is surely another one",
    };
    Some(format!("ps -o pid,user,etime,cmd -p {query}   # {whose}"))
}

/// Memory that nobody named holds, or findings that point to others without a figure.
fn unnamed(case: &Case) -> Advice {
    let amount = case.ledger.unexplained.map(|held| held.at_least_zero()).filter(|held| held.middle() > 0);
    let tool = case.accelerator().tool();
    let reason = text!(
        en: "the message does not say what others hold; {tool} at the time of the failure does",
        zh: "报错没有给出其他进程占用多少；出错时的 {tool} 可以看到"
    );
    Draft::new(case, &[(CauseId::OtherProcess, 0.75), (CauseId::Preallocation, 0.35)])
        .frees_if(
            amount.map(|held| {
                let shown = show(held.middle());
                (
                    Interval::between(0, held.high),
                    text!(en: "at most the {shown} that nobody named holds", zh: "最多是无人认领的 {shown}"),
                )
            }),
            reason,
        )
        .certainty(Certainty::Likely)
        .knob(Target::Ollama, "ollama ps   # then: ollama stop MODEL")
        .knob(Target::Shell, case.accelerator().processes())
        .because(join(
            text!(
                en: "the device was taken up by something other than this job: look who it is and end it",
                zh: "显存被本任务之外的程序占用：先看是谁，再结束它"
            ),
            case.situation(),
        ))
}
