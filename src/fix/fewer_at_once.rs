//! Fewer processes at a time.

use super::prelude::*;
use crate::account::{Entry, Holder};
use crate::cause::decide::shows_several_processes;
use crate::incident::context::origin::CmakeBy;

pub const FIX: Fix = Fix {
    id: "fewer-at-once",
    class: Class::Host,
    title: || text!(en: "Run fewer jobs or processes at once", zh: "减少同时运行的任务或进程"),
    doc: || {
        text!(
            en: "Several processes on one machine add up. Stagger their starts, lower the parallelism, or give each \
                 a share.",
            zh: "同一台机器上的多个进程占用相加。错开启动、降低并行度，或给每个任务分配份额。"
        )
    },
    helps: Work::ALL,
    needs: &[Need::Ram, Need::Process],
    applies: |case| {
        // The tasks of one executor share the limit of its own.
        // What all results come to together is the same in any order.
        (Need::NoOwnLimit.met(case) || case.targets().contains(&Target::Spark))
            && !case.incident.event.of_sparks_results()
            && case.confidence(CauseId::SingleHugeAllocation) < 0.8
            && !case.filled_by_the_kernel()
            && !one_holds_all(case)
            && !holds_nearly_all(case)
            && several_run(case)
            && case.context.makes_one_by_one().is_none()
            && !in_parts(case)
            && !alone_in_its_group(case)
            && !case.alone_in_its_container()
            // A notebook of a cloud is alone on its machine.
            && !case.clue(Clue::HostedNotebook)
            // Java counts its own heap, whoever runs beside it.
            && !case.of_a_java_heap()
            && !case.started_without_a_limit()
    },
    costs: Costs { slows: (0.0, 0.5), numerics: Numerics::Same },
    knobs: &[
        line(Target::Ray, "ray.remote(num_cpus=2)")
            .note("fewer tasks at a time", "减少同时运行的任务")
            .unless("managed"),
        said(
            Target::Ray,
            "fewer workers on a node, by the setting of the library that makes them",
            "减少每个节点上的 worker 数，用创建它们的库自己的设置",
        )
        .when("managed"),
        line(Target::Dask, "LocalCluster(n_workers=<fewer>, memory_limit=\"auto\")").when("local-workers"),
        said(
            Target::Dask,
            "fewer workers or threads on a machine, or a larger --memory-limit of each, where the workers are started",
            "在启动 worker 处减少每台机器上的 worker 或线程数，或加大各自的 --memory-limit",
        )
        .unless("local-workers"),
        line(Target::Shell, "cargo {cargo} --jobs 2").when("cargo"),
        line(Target::Shell, "bazel build --jobs=2 ...").when("bazel"),
        line(Target::Shell, "MAX_JOBS=2 pip install ...")
            .note("read by builds of extensions of PyTorch", "PyTorch 扩展的构建会读取它")
            .when("pip"),
        line(Target::Shell, "ninja -j2").when("ninja"),
        line(Target::Shell, "cmake --build . -j 2").when("cmake"),
        line(Target::Shell, "colcon build --parallel-workers 2").when("colcon"),
        line(Target::Shell, "MAKEFLAGS=-j2 CARGO_BUILD_JOBS=2 makepkg ...")
            .note("what make and cargo read of it", "make 与 cargo 会读取它们")
            .when("makepkg"),
        line(Target::Shell, "make -j2").when("make"),
        said(
            Target::Shell,
            "fewer compilers at once, by the build tool's own option for jobs",
            "用构建工具自身的并行选项减少同时运行的编译器",
        )
        .when("some-build"),
        said(
            Target::Shell,
            "fewer processes within the job at a time; those of other jobs do not count against its limit",
            "减少本任务内同时运行的进程；其他任务的进程不计入它的上限",
        )
        .when("job"),
        said(
            Target::Shell,
            "fewer processes within the group at a time; those outside of it do not count against its limit",
            "减少同一控制组内同时运行的进程；组外的进程不计入它的上限",
        )
        .when("group"),
        said(
            Target::Spark,
            "fewer tasks in an executor at a time (spark.executor.cores), or more partitions",
            "减少每个 executor 同时运行的任务（spark.executor.cores），或增加分区数",
        ),
        line(Target::Shell, "gunicorn --workers <fewer> --max-requests 1000 ...").when("gunicorn"),
        said(
            Target::Shell,
            "fewer programs at once: those of the desktop stay open until somebody closes them",
            "减少同时打开的程序：桌面程序会一直开着，直到有人关闭",
        )
        .when("desktop"),
        line(Target::Shell, "ps -eo pid,rss,cmd --sort=-rss | head")
            .note("then run fewer of them at a time", "然后减少同时运行的进程")
            .when("machine"),
        line(Target::Shell, "top -l 1 -o mem -n 10 -stats pid,command,mem")
            .note("then run fewer of them at a time", "然后减少同时运行的进程")
            .when("mac"),
        line(Target::Shell, "ps -axm -o pid,rss,command | head")
            .note("then run fewer of them at a time", "然后减少同时运行的进程")
            .when("bsd"),
    ],
    fixtures: &["host/bystander", "ray/monitor"],
    advise,
};

/// Where all but this part of the account (1/10) is one process with its page tables and files, nobody runs beside it
/// whom to stop would help.
const BESIDE: i128 = 10;

/// True where something shows that there are several: who runs alone has nobody to run less of.
fn several_run(case: &Case) -> bool {
    let managers = [Program::Ray, Program::Dask, Program::Spark, Program::Kubernetes];
    let beside = case.confidence(CauseId::HostWorkers) + case.confidence(CauseId::OtherProcess);
    shows_several_processes(case.incident)
        || case.works() == [Work::Build]
        || case.clue(Clue::SideBySide)
        || managers.contains(&case.program())
        || case.context.origin.gunicorn_in_a_container
        || case.of_the_desktop()
        || beside >= SEVERAL
        // What a small victim did not hold, others did.
        || case.incident.event.facts.get(Fact::AnonRss).is_some_and(|held| held.interval().middle() < LARGE)
}

/// From this share on other processes are named as a cause.
const SEVERAL: f64 = 0.15;

fn one_holds_all(case: &Case) -> bool {
    let Some(whole) = case.ledger.bound.or(case.ledger.capacity) else { return false };
    let of_one = |entry: &&Entry| matches!(entry.holder, Holder::Victim | Holder::Kernel | Holder::FileCache);
    let held: i128 = case.ledger.entries.iter().filter(of_one).map(|entry| entry.amount.low).sum();
    case.ledger.amount(Holder::Victim).is_some() && whole.high - held <= whole.high / BESIDE
}

/// Where one process was killed that held this much, and nothing else of its kind shows, it is the machine's load.
const LARGE: i128 = 8 * GIB as i128;

/// One victim that held nearly all that there was, by the machine's size or by a program that reads its weights.
fn holds_nearly_all(case: &Case) -> bool {
    let facts = &case.incident.event.facts;
    let figure = |fact: Fact| facts.get(fact).map(|figure| figure.interval().middle());
    let Some(held) = figure(Fact::AnonRss) else { return false };
    let several = facts.number(Number::TableLikeNamedCount).is_some_and(|tasks| tasks >= 2.0)
        || case.sign(Sign::DataLoaderWorker)
        || case.context.world_size.value().is_some_and(|ranks| ranks > 1);
    let all = case.context.host_total.get().map(|all| all.interval().middle());
    match all {
        Some(all) => !several && held * 5 >= all * 4,
        None => !several && held >= LARGE && case.handles_weights(),
    }
}

/// What partitioned states take together is as much with fewer ranks.
fn in_parts(case: &Case) -> bool {
    case.context.zero_stage.value() == Some(3) && case.context.cpu_offload.value() == Some(true)
}

/// The kernel's table of a group lists all its tasks.
fn alone_in_its_group(case: &Case) -> bool {
    case.incident.event.resource == Resource::Cgroup
        && case.incident.event.facts.number(Number::TableTasks).is_some_and(|tasks| tasks <= 1.0)
}

/// The tool that builds, by the log's own words; the one that starts the others comes first.
fn builder(case: &Case) -> &'static str {
    let tools = [
        (Clue::Makepkg, "makepkg"),
        (Clue::Cargo, "cargo"),
        (Clue::Bazel, "bazel"),
        (Clue::Installs, "pip"),
        (Clue::Ninja, "ninja"),
        (Clue::Make, "make"),
    ];
    let by_command = case.context.origin.cmake.map(|by| match by {
        CmakeBy::Cmake => "cmake",
        CmakeBy::Colcon => "colcon",
    });
    let by_words = || tools.into_iter().find(|(clue, _)| case.clue(*clue)).map(|(_, tool)| tool);
    by_command.or_else(by_words).unwrap_or("some-build")
}

fn advise(case: &Case) -> Advice {
    let draft = Draft::new(case, &FIX).fill("cargo", case.context.origin.cargo.unwrap_or("build"));
    // A batch system holds each job to a limit of its own.
    let job = case.in_a_batch_job();
    let draft = match case.works() == [Work::Build] {
        true => draft.when("build", true).when(builder(case), true),
        false => {
            let gunicorn = case.context.origin.gunicorn_in_a_container;
            let spark = case.targets().contains(&Target::Spark);
            let group = case.resource() == Resource::Cgroup && !job && !spark;
            let desktop = case.of_the_desktop();
            let machine = !(job || gunicorn || group || spark || desktop);
            draft
                .when("executor", spark)
                .when("job", job)
                .when("gunicorn", gunicorn)
                .when("group", group && !gunicorn)
                .when("desktop", desktop && !group)
                .when("machine", machine && !case.macos() && !case.bsd())
                .when("mac", machine && case.macos())
                .when("bsd", machine && case.bsd())
        }
    };
    draft
        .when("cluster", matches!(case.program(), Program::Ray | Program::Dask))
        .when("local-workers", case.clue(Clue::LocalWorkers))
        .when("managed", case.clue(Clue::RayManaged))
        .frees_unknown(text!(
            en: "what each further process holds; ps or the kernel's table tells",
            zh: "每个多余进程的占用；ps 或内核表可见"
        ))
        .because(text!(en: "memory of processes that run side by side adds up", zh: "并行进程的内存占用相加"))
}
