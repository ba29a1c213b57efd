//! Fewer loader processes, fewer batches ahead.

use super::need::torch_loader;
use super::prelude::*;
use crate::account::LoaderAccount;
use crate::estimate::loader::Loader;
use crate::incident::release;

pub const FIX: Fix = Fix {
    id: "fewer-workers",
    class: Class::Host,
    title: || text!(en: "Fewer worker processes, less prefetch", zh: "减少 worker 进程与预取"),
    doc: || {
        text!(
            en: "Each worker holds its own copies of what it touches and `prefetch_factor` batches. Workers hold no \
                 GPU memory unless they touch CUDA themselves. `num_workers=0` is the proof: if the failure stays, \
                 workers are not it.",
            zh: "每个 worker 都保有自己触碰过的数据副本和 `prefetch_factor` 个批。除非 worker 自己使用 CUDA，否则不\
                 占显存。`num_workers=0` 可作验证：若仍失败，就与 worker 无关。"
        )
    },
    helps: &[Work::Training],
    needs: &[],
    applies: |case| {
        let starts = case.context.starts_a_child() || case.clue(Clue::LoadsLibrary) && case.training();
        (Need::Loader.met(case) || starts) && !case.reads_the_data_set()
    },
    costs: Costs { slows: (0.0, 0.4), numerics: Numerics::Same },
    knobs: &[
        line(Target::HfTrainer, "dataloader_num_workers={tried}, dataloader_prefetch_factor=1").when("hf-prefetch"),
        line(Target::HfTrainer, "dataloader_num_workers={tried}").unless("hf-prefetch"),
        line(Target::Ultralytics, "workers={tried}"),
        line(Target::MmEngine, "train_dataloader.num_workers={tried}").when("mmengine"),
        line(Target::MmEngine, "data.workers_per_gpu={tried}").unless("mmengine"),
        line(
            Target::Pytorch,
            "DataLoader(..., num_workers={tried}, prefetch_factor={prefetch}, persistent_workers=False)",
        )
        .when("persistent"),
        // Workers end with each epoch unless they are told to stay.
        line(Target::Pytorch, "DataLoader(..., num_workers={tried}, prefetch_factor={prefetch})").when("torch"),
        line(Target::Pytorch, "DataLoader(..., num_workers={tried})").when("early"),
        line(Target::Python, "ProcessPoolExecutor(max_workers={tried})")
            .note(
                "multiprocessing.Pool({tried}), joblib n_jobs={tried}",
                "multiprocessing.Pool({tried})、joblib n_jobs={tried}",
            )
            .when("pool"),
        line(Target::Python, "Parallel(n_jobs={tried}, pre_dispatch=\"n_jobs\")").when("joblib"),
        said(Target::Program, "{tried} worker processes", "{tried} 个 worker 进程").when("untold"),
    ],
    fixtures: &["pytorch-host/worker-killed-with-report", "kernel/memcg-workers"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // The kernel's table counts the processes that have the victim's name, which torch gives its workers.
    let of_torch = |name: &String| name.starts_with("pt_data_worker");
    let listed = || {
        let alike = case.incident.event.facts.number(Number::TableLikeNamedCount)? as u64;
        case.incident.event.facts.process_name.get().is_some_and(of_torch).then_some(alike).filter(|alike| *alike > 0)
    };
    let workers = case.context.workers.value().or_else(listed);
    if case.on_gpu() {
        if workers.is_some_and(|workers| workers > 0) && case.training() {
            let workers = workers.unwrap_or_default();
            return Advice::WontHelp(text!(
                en: "the {workers} loader workers and pinned buffers live in host memory, not on the GPU",
                zh: "{workers} 个 worker 与锁页缓冲都在主机内存，不在显存"
            ));
        }
        return Advice::Silent;
    }
    if !case.on_host() {
        return Advice::Silent;
    }
    if workers == Some(0) {
        return Advice::Withheld(text!(en: "num_workers is 0 already", zh: "num_workers 已经是 0"));
    }
    let account = case.ledger.loader;
    if let Some(account) = account.filter(|account| account.fits() && account.batch_known) {
        let most = show(account.need.in_the_end().high);
        let all = show(account.limit.middle());
        return Advice::Withheld(text!(
            en: "by their settings the loaders take {most} at most, of {all}",
            zh: "按其设置，数据加载最多占用 {most}，而总共有 {all}"
        ));
    }
    let fitting = account.and_then(|account| account.workers_that_fit).filter(|fitting| Some(*fitting) < workers);
    // Eight for each process keep most steps fed; where no number fits, fewer divide the caches.
    let half = workers.map(|workers| if account.is_some() { (workers / 2).min(8) } else { workers / 2 });
    let tried = fitting.or(half).unwrap_or(2);
    let enough = account.is_none_or(|account| account.workers_that_fit.is_some());
    let loader = case.sign(Sign::DataLoaderWorker) || workers.is_some() || case.phase() == Some(Phase::DataLoading);
    if !enough && let Some(workers) = workers {
        return Advice::WontHelp(text!(
            en: "no number of workers is enough while caches have no bound: fewer than {workers} only take longer to \
                 fill the memory",
            zh: "缓存不设上限时，任何 worker 数都不够：少于 {workers} 个只是更晚填满内存"
        ));
    }
    // A child that fails as it starts may be anybody's.
    let spawned = !loader && case.frames_of("multiprocessing/spawn.py");
    let torch = torch_loader(case) && Need::OwnCode.met(case) && Need::Loader.met(case) && !spawned;
    let early = !release::shows(case.incident, "prefetch_factor persistent_workers");
    let persistent = torch && case.context.persistent_workers.value() == Some(true);
    let pool = case.sign(Sign::PoolWorkerKilled) || runs_a_pool(case);
    Draft::new(case, &FIX)
        .when("loader", loader)
        .when("mmengine", case.on_mmengine())
        .when("torch", torch && !early && !persistent)
        .when("persistent", persistent)
        .when("early", torch && early && !persistent)
        .when("hf-prefetch", release::shows(case.incident, "dataloader_prefetch_factor"))
        .when("forks", case.forks_loaders())
        .when("pool", !torch && pool && !case.clue(Clue::Joblib))
        .when("joblib", !torch && pool && case.clue(Clue::Joblib))
        .when("untold", !torch && !pool)
        // A program that shows no loader may have none.
        .weight(if loader || case.training() || !case.on_host() { 1.0 } else { 0.6 })
        .certainty(if fitting.is_some() { Certainty::Likely } else { Certainty::RuleOfThumb })
        .frees_if(
            account.map(|account| saved(&account, tried)),
            text!(
                en: "(private pages + prefetch × batch) per worker; the log does not give these, PSS in \
                     /proc/PID/smaps_rollup does",
                zh: "每个 worker 为（私有页 + prefetch × 批）；日志未给出，可看 /proc/PID/smaps_rollup 的 PSS"
            ),
        )
        .fill("prefetch", if tried == 0 { "None" } else { "1" })
        // DataLoader's own name for it has more to be set beside it.
        .own(
            workers
                .filter(|_| !torch || !of_a_loader(case))
                .and_then(|workers| case.own_option_with(Quantity::Workers, workers, tried)),
        )
        .own(case.option_behind("num_workers").filter(|_| case.own_option(Quantity::Workers).is_none()).map(|option| {
            let spelled = if option.contains('-') { "   # or with _ for -, as the script spells it" } else { "" };
            format!("{option} {tried}{spelled}")
        }))
        .fill("tried", tried)
        .was(workers)
        .because(match workers {
            Some(workers) if fitting.is_some() => text!(
                en: "num_workers={workers} in each process does not fit, {tried} does by the formula",
                zh: "每个进程 {workers} 个 worker 放不下，按公式 {tried} 个放得下"
            ),
            Some(workers) => text!(
                en: "each worker holds its own copies and prefetched batches: {tried} instead of {workers} in each \
                     process",
                zh: "每个 worker 都有自己的副本与预取批：每个进程先试 {tried} 个，而不是 {workers} 个"
            ),
            None => text!(
                en: "every worker holds its own copies and prefetched batches: try {tried}",
                zh: "每个 worker 都有自己的副本与预取批：先试 {tried}"
            ),
        })
}

/// True where the number of workers stands in code as the argument of a loader.
fn of_a_loader(case: &Case) -> bool {
    case.own_option(Quantity::Workers).is_some_and(|option| option.name() == "num_workers")
}

/// True where the traceback goes through a pool of Python's processes.
fn runs_a_pool(case: &Case) -> bool {
    let pools = ["concurrent/futures", "multiprocessing/pool", "joblib/", "loky/"];
    case.context.frames.iter().any(|frame| pools.iter().any(|pool| frame.path().contains(pool)))
}

/// What the workers that go take with them: their own pages, prefetched batches and caches as they are after one epoch
/// at least, in the end at most.
fn saved(account: &LoaderAccount, tried: u64) -> (Interval, Text) {
    let loader = account.loader;
    let rest = Loader { workers: tried, ..loader }.need();
    let gone = loader.workers.saturating_sub(tried);
    let (processes, prefetch, batch) = (loader.processes, loader.prefetch, show(loader.batch_bytes().middle()));
    let range = Interval::between(
        account.need.without_caches().low - rest.without_caches().low,
        (account.need.in_the_end() - rest.in_the_end()).middle().max(0),
    );
    (
        range,
        text!(
            en: "{processes} × {gone} workers × (own pages + {prefetch} batches of {batch} each), and their caches",
            zh: "{processes} × {gone} 个 worker ×（私有页 + 每个预取 {prefetch} 批、每批 {batch}），以及它们的缓存"
        ),
    )
}
