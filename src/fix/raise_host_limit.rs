//! More memory for the job.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "raise-host-limit",
    class: Class::Host,
    title: || text!(en: "More memory for the job", zh: "给任务更多内存"),
    doc: || {
        text!(
            en: "Slurm's `--mem`, Kubernetes' `resources.limits.memory` and Docker's `--memory` kill at their own \
                 line, far below the machine's RAM. Raise it to the measured peak and a fifth more. If usage \
                 climbs over hours, a higher limit only moves the kill.",
            zh: "Slurm 的 `--mem`、Kubernetes 的 `resources.limits.memory`、Docker 的 `--memory` 在各自的上限处杀进\
                 程，远低于机器内存。调到实测峰值再加五分之一。若占用持续数小时上升，提高上限只是推迟被杀。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Ram, Need::NoOwnLimit],
    // No machine is bought for one array that is far larger than the job.
    applies: |case| {
        case.confidence(CauseId::SingleHugeAllocation) < 0.8
            && !case.asks_beyond_machines()
            && !case.of_a_java_heap()
            && !case.kept_to_a_budget()
            && !case.incident.event.of_a_count()
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Shell, "free -h")
            .note("then a machine or an allocation with more RAM", "然后换内存更大的机器或配额")
            .when("free"),
        line(Target::Shell, "top -l 1 | grep PhysMem")
            .note("then a machine with more RAM", "然后换内存更大的机器")
            .when("mac"),
        line(Target::Shell, "top -b | head").note("then a machine with more RAM", "然后换内存更大的机器").when("bsd"),
        // procps had no -h before 2011.
        line(Target::Shell, "free -m")
            .note("then a machine or an allocation with more RAM", "然后换内存更大的机器或配额")
            .when("free-of-old"),
        said(
            Target::Shell,
            "more RAM for the machine, or the desktop's program restarted before it has grown so far",
            "给机器增加内存，或在桌面程序涨到这么多之前重启它",
        )
        .when("desktop"),
        said(
            Target::Shell,
            "more memory for WSL: memory= below [wsl2] in .wslconfig on Windows, then wsl --shutdown",
            "给 WSL 更多内存：在 Windows 的 .wslconfig 的 [wsl2] 下设置 memory=，再执行 wsl --shutdown",
        )
        .when("wsl"),
        said(
            Target::Shell,
            "raise the memory limit of the container that it runs in, where it has one; else more RAM for its machine",
            "若所在容器设有内存上限则提高它；否则给其机器增加内存",
        )
        .when("inside"),
        said(
            Target::Shell,
            "more RAM for the machine, or less beside it: no limit of the container was met",
            "给机器增加内存，或减少同机的其他占用：并未触及容器自身的上限",
        )
        .when("inside-global"),
        said(
            Target::Shell,
            "run it in a batch job that asks for enough memory: a login node is for all, and holds each user short",
            "提交为申请足够内存的批处理作业：登录节点由所有人共用，对每个用户都有限制",
        )
        .when("login"),
        said(
            Target::Shell,
            "a runtime with more RAM, where the service has one (Colab: Runtime → Change runtime type → High-RAM)",
            "若服务提供，换内存更大的运行时（Colab：Runtime → Change runtime type → High-RAM）",
        )
        .when("notebook"),
        said(Target::Shell, "a larger runner for the job", "为该任务换更大的 runner").when("ci"),
        said(
            Target::Shell,
            "more memory for what builds the image (Docker Desktop: Settings → Resources → Memory)",
            "给构建镜像的环境更多内存（Docker Desktop：Settings → Resources → Memory）",
        )
        .when("image"),
        said(
            Target::Shell,
            "more memory for the board or virtual machine, or a smaller initramfs and less reserved memory (cma=)",
            "给开发板或虚拟机更多内存，或缩小 initramfs、减少保留内存（cma=）",
        )
        .when("boot"),
        said(
            Target::Shell,
            "ask the batch system for more memory than the peak: a job has what it asked for, not the node's",
            "向批处理系统申请超过峰值的内存：任务只有所申请的部分，而不是整个节点",
        )
        .when("cluster"),
        line(Target::Shell, "#PBS -l mem={tried}{lower}b")
            .note("PBS Pro: in the statement of the chunk, select=1:mem=…", "PBS Pro：写在 select=1:mem=… 中")
            .when("pbs"),
        line(Target::Shell, "#PBS -l vmem={tried}{lower}b")
            .note(
                "address space counts here, mem= does not; pvmem= where the site limits each process",
                "此处计的是地址空间，mem= 不起作用；站点按进程限制时用 pvmem=",
            )
            .when("pbs-vmem"),
        line(Target::Shell, "#$ -l h_vmem={tried}{unit}").note("for each slot", "每个 slot 的量").when("sge"),
        line(Target::Shell, "#BSUB -M {tried}{unit}B -R \"rusage[mem={tried}{unit}B]\"")
            .note("before LSF 10 a bare number in the site's unit", "LSF 10 之前只写数字，单位由站点规定")
            .when("lsf"),
        line(Target::Shell, "request_memory = {tried}{unit}B")
            .note("in the submit file", "写入提交文件")
            .when("htcondor"),
        said(
            Target::Windows,
            "more RAM: systeminfo tells how much the machine has",
            "增加内存：systeminfo 会显示机器现有多少",
        )
        .when("no-limit"),
        said(
            Target::Shell,
            "raise the memory limit of the container, job or service to {tried} {unit}iB",
            "把容器、任务或服务的内存上限提高到 {tried} {unit}iB",
        )
        .when("whose"),
        said(
            Target::Shell,
            "raise the memory limit of the container, job or service to its peak + 20 %",
            "把容器、任务或服务的内存上限提高到峰值 + 20 %",
        )
        .when("whose-and-how-much"),
        line(Target::Linux, "systemctl set-property <unit> MemoryMax={tried}{unit}").when("unit"),
        line(Target::Linux, "systemctl set-property <unit> MemoryMax=<peak + 20 %>").when("unit-unread"),
        line(Target::Linux, "systemctl edit user@.service: [Service] ManagedOOMMemoryPressureLimit=80%")
            .note(
                "it ended this for pressure, not at a limit; ManagedOOMPreference=avoid spares a unit",
                "它因内存压力而非上限结束了该单元；ManagedOOMPreference=avoid 可保护某个单元",
            )
            .when("pressure"),
        said(Target::Shell, "ask the scheduler for the peak + 20 % of memory", "向调度器申请峰值 + 20 % 的内存")
            .when("scheduler"),
        line(Target::Shell, "process { withName: '{process}' { memory = '{tried} {unit}B' } }")
            .note("in a file for nextflow run -c", "写入 nextflow run -c 的文件")
            .when("nextflow"),
        line(Target::Shell, "process { withName: '{process}' { memory = '<more>' } }")
            .note("in a file for nextflow run -c; the peak + 20 %", "写入 nextflow run -c 的文件；取峰值 + 20 %")
            .when("nextflow-unread"),
        line(Target::Shell, "{twice}").when("asked"),
        line(Target::Slurm, "sbatch --mem={tried}{unit} ...")
            .note(
                "in place of the --mem or --mem-per-cpu given there; the script's own lines give way to it",
                "代替命令行中已有的 --mem 或 --mem-per-cpu；它优先于脚本中的设置",
            )
            .when("submitted"),
        line(Target::Slurm, "#SBATCH --mem={tried}{unit}")
            .note("instead of --mem-per-cpu, where that is set", "若原来设的是 --mem-per-cpu，则用它代替")
            .when("scripted"),
        line(Target::Slurm, "#SBATCH --mem=<peak + 20 %>")
            .note("sacct -j {job} --format=MaxRSS shows the peak", "峰值可用 sacct -j {job} --format=MaxRSS 查看")
            .when("slurm-unread"),
        said(
            Target::Slurm,
            "more memory for that step in the settings of the pipeline that submits it (sacct -j {job} -o MaxRSS)",
            "在提交该步骤的流程的设置中给它更多内存（sacct -j {job} -o MaxRSS）",
        )
        .when("pipeline"),
        line(Target::Kubernetes, "resources: {limits: {memory: {tried}{unit}i}}"),
        line(Target::Kubernetes, "resources: {limits: {memory: <peak + 20 %>}}").unless("told"),
        line(Target::Kubernetes, "resources: {requests: {memory: <peak + 20 %>}}")
            .note("it then lands on a node with that much to spare", "这样会调度到有足够余量的节点")
            .when("requests-untold"),
        said(
            Target::Kubernetes,
            "a node with more memory to spare, or fewer pods on it",
            "换内存更充裕的节点，或减少其上的 pod",
        )
        .when("evicted"),
        line(Target::Docker, "mem_limit: {tried}{unit}")
            .note("below the service in docker-compose.yml", "写在 docker-compose.yml 的该服务下")
            .when("composed"),
        line(Target::Docker, "docker run --memory={tried}{unit} ...").unless("composed"),
        line(Target::Docker, "docker run --memory=<peak + 20 %> ...")
            .note("or without --memory", "或去掉 --memory")
            .when("docker-unread"),
        said(
            Target::Ray,
            "nodes with more RAM; @ray.remote(memory=<bytes>) keeps tasks that do not fit from starting",
            "换内存更大的节点；@ray.remote(memory=<bytes>) 可避免放不下的任务启动",
        )
        .unless("managed"),
        said(Target::Ray, "nodes with more RAM", "换内存更大的节点").when("managed"),
    ],
    fixtures: &["context/deepspeed", "host/crash-loop"],
    advise,
};

fn advise(case: &Case) -> Advice {
    if let Some(why) = case.beyond_its_addresses() {
        return Advice::WontHelp(why);
    }
    if case.incident.event.met_a_process_limit() {
        return Advice::WontHelp(text!(
            en: "the system's limit on this kind of process was hit, not the machine's memory",
            zh: "触及的是系统对此类进程的上限，而不是机器内存"
        ));
    }
    let facts = &case.incident.event.facts;
    // A node that runs short evicts pods whatever their limits: what is printed is the node's own threshold.
    let evicted = case.evicted();
    let printed = facts.get(Fact::Limit).filter(|_| !evicted);
    let limit = printed.or(case.context.memory_limit.get().copied()).map(|figure| figure.bytes);
    let by_settings = case.ledger.loader.filter(|account| !account.fits()).map(|account| {
        let need = account.need.in_the_end().high;
        // Beyond four times what there is, nobody buys memory for copies.
        if need > account.limit.middle().saturating_mul(4) { None } else { u64::try_from(need / 9 * 10).ok() }
    });
    if by_settings == Some(None) {
        return Advice::WontHelp(text!(
            en: "copies in every process outgrow any machine: the settings must change, not the limit",
            zh: "每个进程各存一份会超过任何机器的内存：要改的是设置而不是上限"
        ));
    }
    if let Some(share) = case.refused_far_below_all().filter(|_| limit.is_none()) {
        return Advice::WontHelp(text!(
            en: "the last reading is {share} % of memory: a limit refused the request, which more RAM does not move",
            zh: "最后一次读数只占内存的 {share} %：是某个上限拒绝了申请，增加内存不会改变它"
        ));
    }
    // Less than what was used when it was stopped is no limit to ask for. Addresses are no use of memory, but where PBS
    // counts them: a CUDA process reserves more than the machine has.
    let addresses = facts.get(Fact::TotalVm).filter(|_| case.program() == Program::Pbs);
    let of_addresses = facts.get(Fact::Used).is_none() && addresses.is_some();
    let used = facts.get(Fact::Used).or(addresses).map(|figure| figure.bytes);
    let beyond = used.zip(limit).map(|(used, limit)| (used.saturating_add(used / 5), limit.saturating_add(limit / 2)));
    let by_use = beyond.filter(|(used, half)| used > half && !evicted).map(|(used, _)| used);
    let more = by_settings.flatten().or(by_use).or(limit.map(|limit| limit.saturating_add(limit / 2)));
    // Whole GiB, or MiB where the limit is small.
    let (tried, unit) = match more {
        Some(more) if more < 4 * GIB => (more.div_ceil(MIB).max(1), "M"),
        Some(more) => (more.div_ceil(GIB), "G"),
        None => (0, "G"),
    };
    let warden = case.warden();
    let service = warden == Some(Program::Systemd);
    let pressure = case.program() == Program::SystemdOomd;
    let anybody = warden.is_none() && case.resource() == Resource::Cgroup;
    let whole = limit.is_none() && case.resource() == Resource::Host;
    let boot = whole && case.incident.event.no_process_to_kill();
    let (notebook, image) = (case.clue(Clue::HostedNotebook), case.clue(Clue::ImageBuild));
    let login = whole && case.context.origin.login_node;
    let cluster = whole && warden.is_none() && case.on_a_cluster() && !notebook && !image && !login;
    // On the machine itself a process has a limit only where the pipeline sets one.
    let nextflow = case.context.origin.nextflow && !(case.context.origin.nextflow_here && limit.is_none());
    // What the script asks for is the limit, where none is printed.
    let asked = case.context.origin.asked.as_ref().filter(|_| cluster && limit.is_none());
    let wsl = whole && case.in_wsl();
    let inside = whole && warden.is_none() && case.in_a_container() && !notebook && !image;
    let desktop = whole && case.of_the_desktop() && !wsl;
    let old = case.context.origin.kernel.is_some_and(|kernel| kernel < (3, 0));
    // Their own words, where there is a figure to write; Slurm's lines stand by themselves.
    let words = warden.and_then(|warden| match warden {
        Program::Pbs if of_addresses => Some("pbs-vmem"),
        Program::Pbs => Some("pbs"),
        Program::Sge => Some("sge"),
        Program::Lsf => Some("lsf"),
        Program::HtCondor => Some("htcondor"),
        _ => None,
    });
    let elsewhere = case.context.origin.in_ci
        || nextflow
        || boot
        || notebook
        || image
        || cluster
        || login
        || wsl
        || inside
        || desktop
        || words.is_some();
    let free = case.resource() == Resource::Host && !elsewhere;
    let of_linux = !case.macos() && !case.bsd();
    let by_command = case.context.origin.asked_by_command && !case.clue(Clue::PipelineSubmits);
    let draft = Draft::new(case, &FIX)
        .when("pipeline", case.clue(Clue::PipelineSubmits))
        .when("submitted", more.is_some() && by_command)
        .when("scripted", !case.clue(Clue::PipelineSubmits) && !by_command)
        .when("slurm-unread", more.is_none() && !case.clue(Clue::PipelineSubmits))
        .when("no-limit", whole)
        .when("free", free && !old && of_linux)
        .when("free-of-old", free && old && of_linux)
        .when("mac", free && case.macos())
        .when("bsd", free && case.bsd())
        .when("login", login)
        .when("nextflow", nextflow && more.is_some())
        .when("nextflow-unread", nextflow && more.is_none())
        .when("wsl", wsl)
        .when("inside", inside && case.program() != Program::LinuxKernel)
        .when("inside-global", inside && case.program() == Program::LinuxKernel)
        .when("desktop", desktop)
        .when("boot", boot)
        .when("notebook", notebook)
        .when("ci", whole && case.context.origin.in_ci)
        .when("image", image && limit.is_none() && !notebook && !case.context.origin.in_ci)
        .when("cluster", cluster && asked.is_none())
        .when("asked", asked.is_some())
        .fill("job", case.job())
        .fill("twice", asked.map_or("", |(_, twice)| twice.as_str()))
        .fill("process", case.context.origin.nextflow_process.as_deref().unwrap_or("NAME"))
        .when("scheduler", words.is_some() && more.is_none())
        .when("docker-unread", more.is_none() && !case.started_without_a_limit() && !image)
        .when("composed", case.context.origin.composed)
        .when("evicted", evicted)
        // What the pod asked for is told by the change of the request where it is printed.
        .when("requests-untold", evicted && !case.incident.event.evicted())
        .when("managed", case.clue(Clue::RayManaged))
        .when("told", evicted || more.is_some())
        .when("whose", anybody && more.is_some())
        .when("whose-and-how-much", anybody && more.is_none())
        .when("unit", service && more.is_some())
        .when("pressure", pressure)
        .when("unit-unread", service && more.is_none() && !pressure);
    let draft = match more {
        Some(_) => {
            let draft = words.into_iter().fold(draft, |draft, words| draft.when(words, true));
            draft.when("computed", true).fill("tried", tried).fill("unit", unit).fill("lower", unit.to_lowercase())
        }
        None => draft,
    };
    // What took hours to fill the limit fills a larger one a few hours later.
    let grew =
        if facts.number(Number::LifetimeSeconds).is_some_and(|seconds| seconds > 6.0 * 3600.0) { 0.5 } else { 1.0 };
    // A runtime that stops at its own heap limit is in nobody's way.
    let own = case.program().own_limit().is_some() && case.confidence(CauseId::FrameworkLimit) > 0.5;
    let grew = if own { grew * 0.2 } else { grew };
    let cgroup = if case.resource() == Resource::Cgroup || limit.is_some() { 1.0 } else { 0.5 };
    draft
        .weight(cgroup * grew)
        .frees_unknown(text!(en: "frees nothing: it raises the limit", zh: "不释放内存：它提高上限"))
        .because(match limit {
            _ if by_settings.flatten().is_some() => text!(
                en: "by their settings the loaders need {tried} {unit}iB with a tenth of room",
                zh: "按其设置，数据加载连同一成余量需要 {tried} {unit}iB"
            ),
            Some(_) if by_use.is_some() => {
                let held = used.map(bytes).unwrap_or_default();
                text!(
                    en: "it held {held} when it was stopped; a fifth more is {tried} {unit}iB",
                    zh: "被终止时它占用 {held}；再加五分之一为 {tried} {unit}iB"
                )
            }
            Some(limit) => {
                let shown = bytes(limit);
                text!(
                    en: "the job was held to {shown}; half as much again is {tried} {unit}iB",
                    zh: "任务被限制在 {shown}；增加一半为 {tried} {unit}iB"
                )
            }
            None => match case.context.host_total.get().filter(|_| whole) {
                Some(total) => {
                    let shown = show(total.interval().middle());
                    text!(
                        en: "the machine has {shown}, and less was left of it than the job needed",
                        zh: "机器有 {shown} 内存，剩余的少于任务所需"
                    )
                }
                None => text!(
                    en: "the job needed more host memory than it may use; the log does not print the limit",
                    zh: "任务需要的主机内存超过允许值；日志没有打印上限"
                ),
            },
        })
}
