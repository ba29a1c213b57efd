//! Keep the killer away from a process that holds little.

use super::case::Case;
use super::draft::Draft;
use super::{Advice, Class, Fix};
use crate::cause::CauseId;
use crate::dialect::Sign;
use crate::domain::Program;
use crate::domain::Target;
use crate::text;

pub const FIX: Fix = Fix {
    id: "choose-the-victim",
    class: Class::Host,
    title: || text!(en: "Protect the bystander, bound the process that fills memory", zh: "保护被误杀的进程，限制真正占内存的进程"),
    doc: || {
        text!(
            en: "earlyoom and systemd-oomd may choose by name, unit or score rather than by size. An avoid list or a negative `oom_score_adj` spares a process; the shortage stays, so the process that fills memory needs a limit of its own (`systemd-run --scope -p MemoryMax=…`).",
            zh: "earlyoom 和 systemd-oomd 可能按名称、单元或分数而不是按占用选择目标。avoid 列表或负的 `oom_score_adj` 可保护某个进程；但内存仍然不足，因此要给真正占内存的进程单独设限（`systemd-run --scope -p MemoryMax=…`）。"
        )
    },
    advise: |incident, findings| advise(&Case::new(incident, findings)),
};

fn advise(case: &Case) -> Advice {
    if !case.on_host() || !case.sign(Sign::KilledWithProof) || case.confidence(CauseId::OtherProcess) < 0.15 {
        return Advice::Silent;
    }
    let name = case.incident.event.facts.process_name.get().map_or("NAME", String::as_str);
    // The name goes into a regular expression on a command line.
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).collect();
    let mut draft = Draft::new(case, &[(CauseId::OtherProcess, 0.45), (CauseId::LeakGrowth, 0.05)])
        .frees_unknown(text!(en: "frees nothing: it chooses who is killed", zh: "不释放内存：它决定杀谁"))
        .knob(Target::Linux, format!("earlyoom --avoid '^{name}$'   # in /etc/default/earlyoom"))
        .knob(Target::Linux, "systemctl edit UNIT: [Service] ManagedOOMPreference=avoid   # and MemoryMax= for the unit that fills memory");
    if case.program() == Program::LinuxKernel {
        draft = draft.knob(Target::Shell, "echo -500 > /proc/PID/oom_score_adj   # as root, of the process to spare");
    }
    draft.because(text!(
        en: "the process that was killed held next to nothing of what was in use",
        zh: "被杀的进程几乎没有占用内存"
    ))
}
