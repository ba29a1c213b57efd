//! What is printed around a PyTorch job when the host, a container or shared memory runs out: figures to the byte, one
//! event for one death, and the lines that only look like one.

use crate::binary;

use binary::grows_linearly;
use oomdoc::dialect::{self, Event, Resource, Sign, Standing};
use oomdoc::domain::Number;
use oomdoc::input::{Document, Source};

fn document(log: &str) -> Document {
    let path = format!("{}/fixtures/logs/{log}.log", env!("CARGO_MANIFEST_DIR"));
    dialect::reader().read(&Source::File(path.into())).expect("the fixture")
}

fn failures(log: &str) -> Vec<Event> {
    dialect::events(&document(log)).into_iter().filter(|event| event.standing == Standing::Failure).collect()
}

/// What an event tells, as `name=value`, sorted.
fn told(event: &Event) -> Vec<String> {
    let facts = &event.facts;
    let mut all: Vec<String> =
        facts.sizes.iter().map(|(fact, f)| format!("{}={}", fact.id().trim_end_matches("_bytes"), f.bytes)).collect();
    all.extend(facts.pid.value().map(|pid| format!("pid={pid}")));
    all.extend(facts.process_name.get().map(|name| format!("name={}", name.replace(' ', "_"))));
    all.extend(facts.cgroup.get().map(|path| format!("cgroup={path}")));
    all.sort();
    all
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// `limit=2GiB pid=7` as [`told`] writes it.
fn expected(text: &str) -> Vec<String> {
    let mut all: Vec<String> = text
        .split_whitespace()
        .map(|field| {
            let (name, value) = field.split_once('=').expect("name=value");
            let scaled = [("KiB", KIB), ("MiB", MIB), ("GiB", GIB)]
                .iter()
                .find_map(|(unit, factor)| value.strip_suffix(unit)?.parse::<f64>().ok().map(|n| n * *factor as f64));
            scaled.map_or(field.to_string(), |bytes| format!("{name}={}", bytes.round() as u64))
        })
        .collect();
    all.sort();
    all
}

/// One failure of a fixture: log, dialect's slug, program, resource, lines of the message, figures and names.
type Case = (&'static str, &'static str, &'static str, Resource, (u64, u64), &'static str);

#[rustfmt::skip]
const FIRST_FAILURES: &[Case] = &[
    ("kernel/memcg-workers", "kernel-oom-kill", "linux-kernel", Resource::Cgroup, (2, 32),
     "pid=7310 name=python3 cgroup=/train.slice/job-31.scope limit=2GiB used=2GiB total_vm=5920880KiB anon_rss=559200KiB file_rss=45600KiB shmem_rss=0KiB"),
    ("kernel/global-wrapped-syslog", "kernel-oom-kill", "linux-kernel", Resource::Host, (1, 15),
     "pid=51180 name=python_train.py capacity=16GiB total_vm=25241600KiB anon_rss=14396416KiB file_rss=4096KiB shmem_rss=0KiB"),
    ("kernel/child-of-the-chosen", "kernel-oom-kill", "linux-kernel", Resource::Host, (1, 2),
     "pid=3377 name=sh total_vm=4340KiB anon_rss=0KiB file_rss=96KiB"),
    ("kernel/memcg-3x-docker", "kernel-oom-kill", "linux-kernel", Resource::Cgroup, (1, 10),
     "pid=8117 name=python cgroup=/docker/4f0c2b limit=512MiB used=512MiB total_vm=841600KiB anon_rss=523520KiB file_rss=2080KiB"),
    ("kernel/rhel6-old-table", "kernel-oom-kill", "linux-kernel", Resource::Host, (1, 3),
     "pid=771 name=trainer total_vm=901120KiB anon_rss=440320KiB file_rss=512KiB"),
    ("kernel/only-oom-kill-line", "kernel-oom-kill", "linux-kernel", Resource::Cgroup, (1, 3),
     "pid=660012 name=ray::Trainer_(1 cgroup=/user.slice/ray total_vm=10GiB anon_rss=2032MiB file_rss=16MiB shmem_rss=0KiB"),
    ("kernel/no-killable", "kernel-oom-kill", "linux-kernel", Resource::Host, (1, 4), "capacity=256MiB"),
    ("pytorch-host/worker-killed-with-report", "dataloader-worker", "pytorch", Resource::Cgroup, (4, 4),
     "pid=40211 name=pt_data_worker total_vm=6GiB anon_rss=3GiB file_rss=8MiB shmem_rss=64MiB"),
    ("pytorch-host/worker-bus-error", "torch-shared-file", "pytorch", Resource::Shm, (1, 1), "pid=340"),
    ("pytorch-host/cpu-allocator", "pytorch-cpu-allocator", "pytorch", Resource::Host, (1, 1), "requested=9GiB"),
    ("pytorch-host/checkpoint-mapping", "torch-shared-file", "pytorch", Resource::Host, (1, 1), "requested=13476839424"),
    ("pytorch-host/nccl-segment", "nccl-shm", "pytorch", Resource::Shm, (3, 3), "requested=31.5MiB"),
    ("launcher/torchrun-two-ranks", "torchrun-sigkill", "pytorch", Resource::Host, (2, 2), "pid=912"),
    ("launcher/killed-then-report", "kernel-oom-kill", "linux-kernel", Resource::Host, (4, 4),
     "pid=6001 name=python3 total_vm=40GiB anon_rss=30GiB file_rss=0KiB shmem_rss=0KiB"),
    ("slurm/step-killed", "slurm-cgroup-oom", "slurm", Resource::Cgroup, (6, 6), "pid=52110 limit=24GiB"),
    ("slurm/accounting-limit", "slurm-memory-limit", "slurm", Resource::Cgroup, (1, 1), "used=17179870KiB limit=16GiB"),
    ("kubernetes/described-pod", "container-oom-killed", "kubernetes", Resource::Cgroup, (8, 8), "limit=24GiB"),
    ("kubernetes/evicted", "kubernetes-eviction", "kubernetes", Resource::Host, (3, 3), "process=20MiB free=60MiB limit=100MiB"),
    ("ray/monitor", "ray-memory-monitor", "ray", Resource::Host, (1, 2),
     "pid=50505 name=RolloutWorker.sample process=6.25GiB used=60.5GiB capacity=62.75GiB"),
    ("oom-daemons/earlyoom", "earlyoom", "earlyoom", Resource::Host, (4, 4), "pid=20200 name=python free=1500MiB capacity=31900MiB process=21000MiB"),
    ("oom-daemons/systemd-oomd", "systemd-oomd", "systemd-oomd", Resource::Host, (1, 1),
     "cgroup=/user.slice/user-1000.slice/app.scope used=33285996544 capacity=33554432000"),
];

#[test]
fn the_first_failure_of_each_log_is_read_to_the_byte() {
    for (log, slug, framework, resource, lines, figures) in FIRST_FAILURES {
        let failures = failures(log);
        let event = failures.first().unwrap_or_else(|| panic!("{log}: nothing found"));
        assert_eq!((event.wording(), event.program.id(), event.resource), (*slug, *framework, *resource), "{log}");
        assert_eq!((event.at.first, event.at.last), *lines, "{log}");
        assert_eq!(told(event), expected(figures), "{log}");
        assert!(!event.message.is_empty() && !event.message.contains('\n'), "{log}");
    }
}

#[test]
fn one_death_is_one_failure() {
    for (log, slug, _, _, _, _) in FIRST_FAILURES {
        // Two reports of one allocator, and one whose kernel report is the proof of the program's own words.
        let expected = match *log {
            "pytorch-host/cpu-allocator" | "pytorch-host/worker-killed-with-report" => 2,
            _ => 1,
        };
        assert_eq!(failures(log).len(), expected, "{log} ({slug}): {:#?}", failures(log));
    }
    assert_eq!(failures("kernel/two-kills-grep").len(), 2);
}

#[test]
fn what_only_looks_like_a_failure_is_none_and_says_why_in_both_languages() {
    for log in [
        "kernel/not-a-failure",
        "pytorch-host/workers-ordinary-ends",
        "launcher/stopped-on-purpose",
        "slurm/not-a-failure",
        "runtimes/not-a-failure",
    ] {
        for event in dialect::events(&document(log)) {
            assert_eq!(event.standing, Standing::Harmless, "{log}: {}", event.message);
            let because = event.harmless_because.expect("a reason");
            assert!(!because.en.is_empty() && !because.zh.is_empty() && because.en != because.zh, "{log}");
        }
    }
    let reasons = dialect::events(&document("pytorch-host/workers-ordinary-ends")).len();
    assert_eq!(reasons, 5, "the source line of a traceback is no message");
}

#[test]
fn the_task_table_tells_who_holds_the_memory() {
    let event = &failures("kernel/memcg-workers")[0];
    let number = |number: Number| event.facts.number(number).unwrap_or_else(|| panic!("{number}"));
    let page = 4096.0;
    let workers = f64::from(4 * 88_600 - 40 * (1 + 2 + 3));
    assert_eq!(number(Number::PageSize), page);
    assert_eq!((number(Number::TableTasks), number(Number::TableLikeNamedCount)), (5.0, 4.0));
    assert_eq!(number(Number::TableLikeNamedSum), workers * page);
    assert_eq!(number(Number::TableSum), (workers + 139_800.0) * page);
    assert_eq!((number(Number::TableTopPid), number(Number::TableTopRss)), (7310.0, 139_800.0 * page));
    assert_eq!(number(Number::Anon), (workers + 139_800.0) * page);
    assert_eq!(number(Number::Shmem), 1_064_960.0);
    assert!((number(Number::VictimShareOfLimit) - 139_800.0 * page / (2.0 * GIB as f64)).abs() < 1e-9);
    assert_eq!(event.facts.largest_process.get().map(String::as_str), Some("python3"));
    assert_eq!(event.facts.trigger_process.get().map(String::as_str), Some("pt_data_worker"));

    let global = &failures("kernel/global-wrapped-syslog")[0];
    assert_eq!(global.facts.trigger_process.get().map(String::as_str), Some("kworker-io"));
    assert_eq!(global.facts.number(Number::SlabUnreclaimable), Some(40_960.0 * page));
    assert_eq!(global.facts.number(Number::SwapFree), Some(0.0));
    let child = &failures("kernel/child-of-the-chosen")[0];
    assert_eq!((child.facts.number(Number::ChosenPid), child.facts.number(Number::Score)), (Some(3301.0), Some(911.0)));
}

#[test]
fn a_kill_is_proved_or_said_to_be_unproved() {
    assert!(failures("launcher/torchrun-two-ranks")[0].has(Sign::KilledWithoutProof));
    for log in [
        "slurm/step-killed",
        "kubernetes/described-pod",
        "kernel/memcg-workers",
        "pytorch-host/worker-killed-with-report",
    ] {
        assert!(failures(log)[0].has(Sign::KilledWithProof), "{log}");
        assert!(!failures(log)[0].has(Sign::KilledWithoutProof), "{log}");
    }
}

#[test]
fn a_program_and_the_kernel_tell_one_story() {
    for (log, framework) in
        [("pytorch-host/worker-killed-with-report", "pytorch"), ("launcher/killed-then-report", "linux-kernel")]
    {
        let document = document(log);
        let (incidents, _) = oomdoc::incident::assemble(&document, dialect::events(&document));
        assert_eq!(incidents.len(), 1, "{log}");
        assert_eq!(incidents[0].event.program.id(), framework, "{log}");
    }
}

/// Every fixture of these programs cut at every eighth byte: no cut may panic, and none may invent a figure.
#[test]
fn a_log_may_end_anywhere() {
    for (log, ..) in FIRST_FAILURES {
        let path = format!("{}/fixtures/logs/{log}.log", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("the fixture");
        for end in (0..text.len()).step_by(8).filter(|end| text.is_char_boundary(*end)) {
            for event in dialect::events(&Document::from_text("-", &text[..end])) {
                assert!(event.at.first <= event.at.last, "{log} cut at {end}");
            }
        }
    }
}

/// One line of each kind thousands of times: the work grows with the log, not with its square.
#[test]
fn repeated_lines_take_linear_time() {
    let lines = [
        "x invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/a,task_memcg=/a,task=x,pid=1,uid=0",
        "Out of memory: Kill process 12 (x) score 9 or sacrifice child",
        "Killed process 12 (x) total-vm:4kB, anon-rss:0kB, file-rss:0kB",
        "RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed.",
        "RuntimeError: DataLoader worker (pid(s) 7) exited unexpectedly",
        "  exitcode  : -9 (pid: 7)",
        "exited with code 137",
        "Killed",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.",
        "srun: error: n: task 0: Out Of Memory",
        "      Reason:       OOMKilled",
        "Memory on the node was 1.00GB / 2.00GB (0.5), Ray killed this worker",
        "OSError: [Errno 28] No space left on device",
        "distributed.scheduler.KilledWorker: Attempted to run task 'x' on 4 different workers",
    ];
    for line in lines {
        let line_feed = format!("{line}\n");
        grows_linearly(line, |n| {
            dialect::events(&Document::from_text("-", &line_feed.repeat(n)));
        });
    }
}
