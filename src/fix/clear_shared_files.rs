//! Files in shared memory that nobody needs any more.

use super::prelude::*;
use crate::account::Holder;

pub const FIX: Fix = Fix {
    id: "clear-shared-files",
    class: Class::Host,
    title: || text!(en: "Remove leftover files from /dev/shm and tmpfs", zh: "清理 /dev/shm 与 tmpfs 中的残留文件"),
    doc: || {
        text!(
            en: "A file in /dev/shm or another tmpfs is memory of the container or machine until it is deleted; \
                 killing the process that wrote it frees nothing. Workers that were killed leave `torch_*`, \
                 `nccl-*` and `sem.*` files behind; a Ray object store or a RAM disk counts in the same way.",
            zh: "/dev/shm 或其他 tmpfs 中的文件在删除之前一直占用容器或主机内存；杀掉写入它的进程并不会释放。被杀的 \
                 worker 会留下 `torch_*`、`nccl-*`、`sem.*` 文件；Ray 对象存储和内存盘同样计入。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[line(Target::Shell, "ls -lS /dev/shm | head").note(
        "then delete what no running process maps: lsof +D /dev/shm",
        "然后删除没有进程映射的文件：lsof +D /dev/shm",
    )],
    fixtures: &["host/group-of-shared-files", "context/steady"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let held = case.ledger.amount(Holder::SharedFiles);
    // A container that is removed at its end starts with an empty one.
    let fresh = |command: &String| command.contains("docker run") && command.contains("--rm");
    if held.is_none() && case.context.command.get().is_some_and(fresh) {
        return Advice::Silent;
    }
    if case.sign(Sign::SystemV) {
        return Advice::Silent;
    }
    // `df` shows that next to nothing is there.
    if held.is_none() && case.context.shared_memory().is_some_and(|(used, total, _)| used < total / 10) {
        return Advice::Silent;
    }
    if !case.on_host() || case.resource() != Resource::Shm && held.is_none() {
        return Advice::Silent;
    }
    let amount = held.map(|held| {
        let shown = bytes(held.middle_bytes());
        (
            Interval::between(0, held.high),
            text!(
                en: "up to the {shown} of shared files, as far as nobody uses them",
                zh: "最多为共享文件的 {shown}，取决于其中有多少已无人使用"
            ),
        )
    });
    Draft::new(case, &FIX)
        .when("held", held.is_some())
        .frees_if(
            amount,
            text!(
                en: "what `du -sh /dev/shm` shows beyond the live job",
                zh: "`du -sh /dev/shm` 中不属于当前任务的部分"
            ),
        )
        .certainty(if held.is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
        .because(match held {
            Some(held) => {
                let shown = bytes(held.middle_bytes());
                text!(
                    en: "{shown} of the limit are files in memory, which no killed process gives back",
                    zh: "上限中有 {shown} 是内存文件，杀进程并不会释放"
                )
            }
            None => text!(en: "runs that were killed leave their segments behind", zh: "被杀的任务会残留共享内存段"),
        })
}
