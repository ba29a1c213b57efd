//! Room in /dev/shm.

use super::prelude::*;
use crate::estimate::loader;

pub const FIX: Fix = Fix {
    id: "shm-size",
    class: Class::Host,
    title: || text!(en: "Enlarge /dev/shm", zh: "增大 /dev/shm"),
    doc: || {
        text!(
            en: "Loader workers hand batches over through /dev/shm, which Docker and Kubernetes limit to 64 MiB by \
                 default. It needs `1.5 × ranks × (workers × prefetch + 2) × bytes of a batch`, and NCCL some \
                 more. It counts against the container's memory limit.",
            zh: "DataLoader 的 worker 通过 /dev/shm 传递批数据，Docker 和 Kubernetes 默认只给 64 MiB。所需为 `1.5 × \
                 进程数 × (workers × prefetch + 2) × 每批字节数`，NCCL 另需一些。它计入容器的内存上限。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Shell, "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: {size}Gi}}]")
            .note("in the pod's template, mounted at /dev/shm", "写入 pod 模板，挂载到 /dev/shm")
            .when("pod"),
        line(Target::Shell, "shm_size: \"{size}gb\"")
            .note("below the service in docker-compose.yml", "写在 docker-compose.yml 的该服务下")
            .when("composed"),
        line(Target::Shell, "docker service update --mount-add type=tmpfs,dst=/dev/shm,tmpfs-size={bytes} <service>")
            .when("swarm"),
        line(Target::Shell, "docker run --shm-size={size}g ...")
            .note("or --ipc=host", "或 --ipc=host")
            .when("container"),
        line(Target::Shell, "sudo mount -o remount,size={size}G /dev/shm").when("outside"),
        line(Target::Shell, "sudo mount -o remount,size={size}G /dev/shm")
            .note(
                "in a container: docker run --shm-size={inside}g; in a pod: an emptyDir of medium Memory there",
                "在容器中：docker run --shm-size={inside}g；在 pod 中：该处挂载 medium 为 Memory 的 emptyDir",
            )
            .when("untold"),
        said(
            Target::Shell,
            "ask those who run the cluster for a larger /dev/shm on the node, or clear what old jobs left in it",
            "请集群管理员增大节点的 /dev/shm，或清理旧任务留在其中的文件",
        )
        .when("cluster"),
        line(Target::Python, "paddle.io.DataLoader(..., use_shared_memory=False)")
            .note("if the mount cannot be changed; slower", "无法修改挂载时使用；更慢")
            .when("paddle"),
        line(Target::Python, "torch.multiprocessing.set_sharing_strategy(\"file_system\")")
            .note("if the mount cannot be changed", "无法修改挂载时使用")
            .unless("paddle"),
    ],
    fixtures: &["context/steady", "pytorch-host/nccl-segment"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if case.resource() != Resource::Shm && case.confidence(CauseId::SharedMemory) < 0.05 {
        if case.on_host() && case.sign(Sign::DataLoaderWorker) {
            // It "exited unexpectedly": by which signal is not told, and a bus error is one.
            if case.sign(Sign::EndUntold) {
                return Advice::Silent;
            }
            if case.sign(Sign::KilledWithoutProof) {
                return Advice::WontHelp(text!(
                    en: "a full /dev/shm ends a worker with a bus error; this one was killed",
                    zh: "/dev/shm 用满时 worker 会因总线错误（bus error）结束，而这个 worker 是被杀死的"
                ));
            }
            return Advice::WontHelp(text!(
                en: "the worker was killed for RAM; /dev/shm is part of that RAM, so more of it makes room for nothing",
                zh: "worker 因内存不足被杀；/dev/shm 本身就占用这部分内存，调大它不会腾出空间"
            ));
        }
        return Advice::Silent;
    }
    if case.resource() == Resource::Cgroup {
        return Advice::WontHelp(text!(
            en: "files in /dev/shm count against the limit that was hit: a larger /dev/shm does not raise it",
            zh: "/dev/shm 中的文件计入触及的上限：调大 /dev/shm 并不能提高这个上限"
        ));
    }
    if case.resource() == Resource::CudaSharedMemory || case.sign(Sign::SystemV) {
        return Advice::Silent;
    }
    let computed =
        case.context.sample_size.get().zip(case.context.batch_size.value()).zip(case.context.workers.value()).map(
            |((sample, batch), workers)| {
                let prefetch = case.context.prefetch.value().unwrap_or(loader::DEFAULT_PREFETCH);
                let ranks = case.context.local_processes.value().unwrap_or(1);
                loader::shm_size(ranks, workers, prefetch, sample.bytes.saturating_mul(batch))
            },
        );
    // What is there was not enough, whatever the rule says.
    let there = in_force(case);
    let least = there.map_or(1, |total| total.div_ceil(GIB).saturating_mul(2));
    // Half of its RAM is what a machine gives by itself (tmpfs(5)): less would shrink it.
    let machine =
        case.context.host_total.get().filter(|_| there.is_none() && !case.in_a_container() && !case.in_a_pod());
    let inside = computed.map_or(8, |need| need.div_ceil(GIB)).max(least);
    let size = machine.map_or(inside, |ram| inside.max(ram.bytes / 4 * 3 / GIB));
    let basis = match (computed, there) {
        _ if size > inside => {
            text!(
                en: "half of the RAM is a machine's default: three quarters of it for a try",
                zh: "整机默认为内存的一半：先试四分之三"
            )
        }
        (None, Some(there)) => {
            let there = bytes(there);
            text!(en: "{there} were not enough: twice as much for a try", zh: "{there} 不够：先试两倍")
        }
        (Some(need), _) => {
            let need = bytes(need);
            text!(
                en: "workers × prefetch × batch bytes come to {need} with a margin of half",
                zh: "workers × prefetch × 批字节数（含一半余量）为 {need}"
            )
        }
        (None, None) => {
            text!(
                en: "{size} GiB is a rule of thumb: the log does not give the bytes of a batch",
                zh: "{size} GiB 是经验值：日志没有给出每批字节数"
            )
        }
    };
    if case.context.shared_memory_has_room(case.incident.event.facts.get(Fact::Requested))
        && let Some((used, total, line)) = case.context.shared_memory()
    {
        let (used, total) = (bytes(used), bytes(total));
        return Advice::WontHelp(text!(
            en: "of {total} {used} were in use by line {line}: look while the job runs, and inside of its container",
            zh: "第 {line} 行显示 {total} 中只用了 {used}：应在任务运行时、在其容器内查看"
        ));
    }
    let (pod, container) = (case.in_a_pod(), case.in_a_container() && !case.in_a_pod());
    // A service of a swarm has no option for it (moby's issue 26714), but may mount one of its own.
    let swarm = case.context.origin.swarm && !pod;
    let container = container && !swarm;
    let cluster = case.on_a_cluster() && !case.in_a_container();
    // It is the machine's own then.
    let of_the_host = container && case.context.command.get().is_some_and(|command| command.contains("ipc=host"));
    Draft::new(case, &FIX)
        .frees_unknown(text!(en: "frees nothing: it raises the limit", zh: "不释放内存：它提高上限"))
        .certainty(if computed.is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
        .when("pod", pod)
        .when("swarm", swarm)
        .fill("bytes", size.saturating_mul(GIB))
        .when("composed", container && !of_the_host && case.context.origin.composed)
        .when("container", container && !of_the_host && !case.context.origin.composed)
        .when("outside", case.on_wsl_itself() || of_the_host)
        .when("cluster", cluster)
        .when("paddle", case.program() == Program::Paddle)
        .when("untold", !pod && !swarm && !container && !cluster && !case.on_wsl_itself())
        .fill("size", size)
        .fill("inside", inside)
        .because(basis)
}

/// The size of /dev/shm, by a table of the log or by what the container was started with.
fn in_force(case: &Case) -> Option<u64> {
    let listed = case.context.shared_memory().map(|(_, total, _)| total);
    let started = || {
        let (_, given) = case.context.command.get()?.split_once("--shm-size")?;
        let size = given.trim_start_matches(['=', ' ']).split_whitespace().next()?;
        crate::units::parse(&format!("{size}B"), crate::units::Base::Binary).map(|size| size.bytes)
    };
    listed.or_else(started)
}
