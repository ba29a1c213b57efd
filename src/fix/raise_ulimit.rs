//! Lift an address-space limit.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "raise-ulimit",
    class: Class::Limits,
    title: || text!(en: "Lift ulimit -v or the commit limit", zh: "放开 ulimit -v 或提交上限"),
    doc: || {
        text!(
            en: "`ulimit -v` bounds addresses, not memory: CUDA alone reserves more than the machine's RAM. Strict \
                 overcommit refuses sparse mappings that would never be filled.",
            zh: "`ulimit -v` 限制的是地址空间而非内存：仅 CUDA 就会预留超过机器内存的地址。严格的 overcommit 会拒绝\
                 永远不会填满的稀疏映射。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Shell, "sudo sysctl vm.max_map_count=1048576").when("mappings"),
        line(Target::Shell, "sudo sysctl -w kernel.shmmni=32768 kernel.shmall=18446744073692774399")
            .note(
                "ipcs -m lists the segments, ipcrm removes what nobody uses",
                "ipcs -m 列出共享段，ipcrm 删除无人使用的",
            )
            .when("segments"),
        line(Target::Shell, "ulimit -l unlimited")
            .note(
                "docker run --ulimit memlock=-1; in a unit LimitMEMLOCK=infinity",
                "docker run --ulimit memlock=-1；systemd 单元中 LimitMEMLOCK=infinity",
            )
            .when("locks"),
        line(Target::Shell, "ulimit -u 65535")
            .note(
                "docker run --pids-limit -1; in a unit TasksMax=infinity",
                "docker run --pids-limit -1；systemd 单元中 TasksMax=infinity",
            )
            .when("threads"),
        line(Target::Shell, "ulimit -v unlimited")
            .note("and: sysctl vm.overcommit_memory=1", "以及 sysctl vm.overcommit_memory=1")
            .when("addresses"),
        line(Target::Shell, "ulimit -d $(ulimit -H -d)")
            .note(
                "more: datasize of the user's class in /etc/login.conf",
                "更多：/etc/login.conf 中该用户登录类的 datasize",
            )
            .when("datasize"),
    ],
    fixtures: &["runtimes/locked-memory", "runtimes/windows-commit", "host/system-v", "host/ring"],
    advise,
};

/// A limit that is lifted by the line of this circumstance.
fn lifting<'a>(case: &'a Case<'a>, circumstance: &'static str) -> Draft<'a> {
    Draft::new(case, &FIX)
        .when(circumstance, true)
        .frees_unknown(text!(en: "frees nothing: it raises the limit", zh: "不释放内存：它提高上限"))
}

fn advise(case: &Case) -> Advice {
    if case.sign(Sign::MappingsRanOut) {
        return lifting(case, "mappings").titled(text!(en: "Allow more mappings", zh: "允许更多内存映射")).because(
            text!(
                en: "the kernel counts a process's mappings, 65530 unless set, and each mapped file is one",
                zh: "内核限制每个进程的映射数量（默认 65530），每个映射的文件各占一个"
            ),
        );
    }
    if case.incident.event.refuses_a_tiny_mapping() && !case.windows() {
        return lifting(case, "mappings")
            .titled(text!(en: "Allow more mappings", zh: "允许更多内存映射"))
            .weight(0.8)
            .because(text!(
                en: "a few pages were refused: where memory is left, the process has the 65530 mappings that the \
                     kernel allows unless set",
                zh: "被拒绝的只有几页：若内存仍有余，则该进程已达到内核默认允许的 65530 个映射"
            ));
    }
    if case.incident.event.refuses_to_lock() && !case.windows() {
        return lifting(case, "locks").titled(text!(en: "Allow more locked memory", zh: "允许锁定更多内存")).because(
            text!(
                en: "a user may lock 64 KiB to 8 MiB of pages unless the limit is raised, whatever is free",
                zh: "除非提高上限，普通用户只能锁定 64 KiB 到 8 MiB，与空闲内存无关"
            ),
        );
    }
    if case.incident.event.refuses_a_thread() && !case.incident.event.forbids_a_thread() && !case.windows() {
        return lifting(case, "threads").titled(text!(en: "Allow more threads", zh: "允许更多线程")).because(text!(
            en: "a thread was refused: a user, a container and a unit may each have so many",
            zh: "被拒绝的是新线程：用户、容器和 systemd 单元各有线程数上限"
        ));
    }
    if case.sign(Sign::SystemV) {
        return lifting(case, "segments")
            .titled(text!(en: "Allow more shared segments", zh: "允许更多共享内存段"))
            .because(text!(
                en: "the kernel counts System V's segments and their pages; /dev/shm holds none of them",
                zh: "内核对 System V 共享段的个数和页数设有上限；它们不在 /dev/shm 中"
            ));
    }
    if case.windows() && case.sign(Sign::AddressSpaceLimit) {
        return Advice::Withheld(text!(
            en: "Windows has no ulimit: its page file bounds what may be committed",
            zh: "Windows 没有 ulimit：可提交的总量由页面文件决定"
        ));
    }
    if case.incident.of_32_bits() {
        return Advice::Withheld(text!(
            en: "a program of 32 bits has no more addresses, whatever limit is lifted",
            zh: "32 位程序没有更多地址，放开任何上限都无济于事"
        ));
    }
    let killed = case.incident.event.killed();
    if case.bsd() && case.resource() == Resource::Host && !killed {
        return lifting(case, "datasize").titled(text!(en: "Allow more data", zh: "允许更多数据")).because(text!(
            en: "each process of a user may have so much data, whatever is free",
            zh: "用户的每个进程只能有这么多数据，与空闲内存无关"
        ));
    }
    // A runtime that stops at a heap limit of its own, or a model that RAM does not hold, asked for no address.
    let own = case.program().own_limit().is_some() || case.engine().is_some();
    // Who was killed was refused no address.
    let limited = case.sign(Sign::AddressSpaceLimit) && case.resource() == Resource::Host;
    let refused = case.requested().is_some() && !killed && case.resource() == Resource::Host;
    // A limit that the message prints is the program's: the system's refusal names none.
    let printed = case.incident.event.facts.get(Fact::Limit).is_some();
    // One that the message calls a limit, and not of addresses, is the program's too.
    let told = case.sign(Sign::RefusedByLimit) && !limited;
    let suspected = refused && !own && !printed && !told && case.confidence(CauseId::FrameworkLimit) > 0.3;
    let far_below = case.refused_far_below_all().is_some();
    if case.on_gpu() || case.windows() || !(limited || suspected || far_below) {
        return Advice::Silent;
    }
    lifting(case, "addresses")
        .when("limited", limited)
        .when("far-below", far_below)
        .weight(if limited || far_below { 1.0 } else { 0.3 })
        .because(text!(
            en: "the limit is on addresses or commitments, not on RAM",
            zh: "受限的是地址空间或提交量，而不是物理内存"
        ))
}
