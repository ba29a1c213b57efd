//! Keep the killer away from a process that holds little.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "choose-the-victim",
    class: Class::Host,
    title: || {
        text!(
            en: "Protect the bystander, bound the process that fills memory",
            zh: "保护被误杀的进程，限制真正占内存的进程"
        )
    },
    doc: || {
        text!(
            en: "earlyoom and systemd-oomd may choose by name, unit or score rather than by size. An avoid list or \
                 a negative `oom_score_adj` spares a process; the shortage stays, so the process that fills memory \
                 needs a limit of its own (`systemd-run --scope -p MemoryMax=…`).",
            zh: "earlyoom 和 systemd-oomd 可能按名称、单元或分数而不是按占用选择目标。avoid 列表或负的 \
                 `oom_score_adj` 可保护某个进程；但内存仍然不足，因此要给真正占内存的进程单独设限（`systemd-run \
                 --scope -p MemoryMax=…`）。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Ram],
    applies: |case| {
        // Ray and the schedulers kill by their own rules.
        matches!(case.program(), Program::LinuxKernel | Program::EarlyOom | Program::Nohang | Program::SystemdOomd)
            && case.sign(Sign::KilledWithProof)
            && case.confidence(CauseId::OtherProcess) >= 0.15
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Linux, "earlyoom --avoid '^{name}$'")
            .note("in /etc/default/earlyoom", "写入 /etc/default/earlyoom")
            .when("earlyoom"),
        line(Target::Linux, "systemctl edit UNIT: [Service] ManagedOOMPreference=avoid")
            .note("and MemoryMax= for the unit that fills memory", "并给占内存的单元设 MemoryMax=")
            .when("systemd"),
        line(Target::Shell, "echo -500 > /proc/PID/oom_score_adj")
            .note("as root, of the process to spare", "以 root 对要保护的进程执行")
            .when("kernel"),
    ],
    fixtures: &["host/bystander"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let name = case.incident.event.facts.process_name.get().map_or("NAME", String::as_str);
    // The name goes into a regular expression on a command line.
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).collect();
    Draft::new(case, &FIX)
        .when("earlyoom", matches!(case.program(), Program::EarlyOom | Program::Nohang))
        .when("systemd", case.program() == Program::SystemdOomd)
        .when("kernel", case.program() == Program::LinuxKernel)
        .fill("name", name)
        .frees_unknown(text!(en: "frees nothing: it chooses who is killed", zh: "不释放内存：它决定杀谁"))
        .because(text!(
            en: "the process that was killed held next to nothing of what was in use",
            zh: "被杀的进程几乎没有占用内存"
        ))
}
