//! What would decide between causes that the log leaves open: one observation each, with what each outcome means.

use super::conclusion::{Conclusion, candidates};
use super::fragmentation::growing_segments;
use super::mechanism::MECHANISMS;
use super::nature::{Asker, JobKind, asker, job_kind, warms_up_before_its_pool};
use super::reading::{pool_off, refused_although_free, size};
use super::{CauseId, Finding};
use crate::dialect::{Fact, Sign};
use crate::domain::program::{DeviceUse, Language, PytorchAllocator};
use crate::domain::{Accelerator, Number, Program};
use crate::incident::context::{Clue, Frame, Phase, Quantity, Trainer};
use crate::incident::{Incident, release};
use crate::text;
use crate::text::Text;
use crate::units::{GIB, Interval};

/// One outcome of an observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What one would see.
    pub see: Text,
    /// Which cause it then is.
    pub then: CauseId,
}

/// An observation that decides, made for one incident.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// A short name, for programs.
    pub id: &'static str,
    /// The command or change.
    pub act: Text,
    /// Whose command it is, as fixes name their targets.
    pub target: &'static str,
    pub outcomes: Vec<Outcome>,
}

impl Observation {
    /// How many of the outcomes, in the order of their causes, tell two of them apart.
    pub fn fewest(&self) -> usize {
        let first = self.outcomes.first().map(|outcome| &outcome.see);
        self.outcomes.iter().position(|outcome| Some(&outcome.see) != first).map_or(usize::MAX, |at| at + 1)
    }
}

/// A kind of observation. Its position in [`TESTS`] is its price: the cheapest stands first.
struct Test {
    id: &'static str,
    /// What to do, and whose command it is; `None` where it cannot be done for this incident.
    act: fn(&Incident) -> Option<(&'static str, Text)>,
    /// The causes of which it tells whether they hold; of a pair without one of them it says nothing. Empty where it
    /// tells any two apart.
    about: &'static [CauseId],
    /// What one sees under each cause. Causes with the same words cannot be told apart by it.
    outcomes: &'static [(CauseId, &'static str, &'static str)],
}

/// Outcomes that several causes share.
mod see {
    pub const FALLS: (&str, &str) =
        ("all but some hundred MiB are free once the job has stopped", "任务停止后除几百 MiB 外全部空闲");
    pub const ROOM: (&str, &str) = ("it has room", "它还有空间");
    pub const AS_MEANT: (&str, &str) = ("they are as meant", "与预期一致");
    pub const AS_BEFORE: (&str, &str) = ("it fails as before", "与之前一样失败");
    pub const EARLY: (&str, &str) = ("the peak is level, near the device's size", "峰值平稳，接近设备容量");
    pub const FULL: (&str, &str) = ("it is level, near the device's size", "保持平稳，接近设备容量");
    pub const RISES: (&str, &str) = ("what is allocated rises from step to step", "已分配量逐步上升");
    pub const PEAK_JUMPS: (&str, &str) = (
        "the peak jumps in one phase, what is allocated after it is as before",
        "峰值在某个阶段突增，之后已分配量如前",
    );
    pub const JUMPS: (&str, &str) = ("it jumps in one phase and falls back", "在某个阶段突增后回落");
    pub const TWICE: (&str, &str) = ("twice the weights are held right after loading", "加载后即占用权重的两倍");
    pub const WEIGHTS: (&str, &str) = ("the weights alone: the step needs the rest", "仅有权重：其余是该步骤的需求");
    pub const FAR_BELOW_THE_TOOL: (&str, &str) = (
        "what is reserved is far below what the device's own tool counts for this process",
        "保留量远低于设备工具统计的本进程用量",
    );
    pub const SMALL_ON_A_FULL_DEVICE: (&str, &str) =
        ("all of it is small while the device's tool shows the device full", "自身占用很小，而设备工具显示已满");
    pub const FIXED_SHARE: (&str, &str) =
        ("what is reserved stands at a fixed share of the device from the start", "保留量从一开始就是设备的固定比例");
    pub const FAR: (&str, &str) =
        ("it stands far below the device until the failing line", "直到失败处都远低于设备容量");
}

use CauseId::{
    Capacity, DriverOrUnrelated, DuplicateModel, Fragmentation, FrameworkLimit, HostMemory, HostWorkers, KvCache,
    LeakGrowth, NonFramework, OtherProcess, Preallocation, SharedMemory, SingleHugeAllocation, TransientPeak,
    WrongDevice,
};

/// Every kind of observation, the cheapest first.
const TESTS: &[Test] = &[
    Test {
        id: "kernel-log",
        act: |incident| {
            // Where memory was refused nobody was killed, and the kernel has nothing to tell.
            let killed = asker(incident) == Asker::Host && incident.event.has(Sign::KilledWithoutProof);
            // The log of a cluster's node is nobody's to read there.
            let (system, elsewhere) = (incident.system(), incident.context.has(Clue::Cluster) || in_slurm(incident));
            system.kills().filter(|_| killed && !elsewhere).map(|kills| (system.target().id(), Text::same(kills)))
        },
        about: &[],
        outcomes: &[
            (
                DriverOrUnrelated,
                "no line of that moment: something else killed it",
                "没有当时的记录：是被别的原因杀死的",
            ),
            (
                HostMemory,
                "it names this process, which held most of the memory",
                "记录指向本进程，且它占用了大部分内存",
            ),
            (
                HostWorkers,
                "it names one of several like-named processes, which share the memory",
                "记录指向多个同名进程之一，内存由它们分占",
            ),
            (OtherProcess, "its table of tasks shows that another process held most", "任务表显示其他进程占用最多"),
            (SharedMemory, "shmem stands for most of the memory", "shmem 占去大部分内存"),
        ],
    },
    Test {
        id: "account-of-the-job",
        act: |incident| {
            let killed = asker(incident) == Asker::Host && incident.event.has(Sign::KilledWithoutProof);
            let job = incident.job().map_or_else(|| "<job>".to_string(), |job| job.to_string());
            let account = format!("sacct -j {job} --format=JobID,State,ExitCode,ReqMem,MaxRSS");
            (killed && in_slurm(incident)).then(|| ("slurm", Text::same(account)))
        },
        about: &[],
        outcomes: &[
            (
                DriverOrUnrelated,
                "MaxRSS is far below ReqMem: something else ended it",
                "MaxRSS 远低于 ReqMem：是别的原因",
            ),
            (
                HostMemory,
                "OUT_OF_MEMORY, or MaxRSS of one process at ReqMem",
                "OUT_OF_MEMORY，或单个进程的 MaxRSS 达到 ReqMem",
            ),
            (
                HostWorkers,
                "OUT_OF_MEMORY, MaxRSS of each process being a part of ReqMem",
                "OUT_OF_MEMORY，而每个进程的 MaxRSS 只是 ReqMem 的一部分",
            ),
            (
                LeakGrowth,
                "OUT_OF_MEMORY, and a job of half the length has a lower MaxRSS",
                "OUT_OF_MEMORY，而时长减半的作业 MaxRSS 更低",
            ),
        ],
    },
    Test {
        id: "memory-at-start",
        act: |incident| {
            let nobody = incident.event.facts.number(Number::NoKillableProcess).is_some();
            nobody.then(|| {
                (
                    "linux",
                    text!(
                        en: "the kernel's line `Memory: <available>/<whole> available` as it starts",
                        zh: "内核启动时的 `Memory: …/… available` 一行"
                    ),
                )
            })
        },
        about: &[DriverOrUnrelated],
        outcomes: &[
            (
                HostMemory,
                "less than the board has, or most of it taken by the initramfs and what is reserved",
                "少于板上的内存，或大部分被 initramfs 与保留内存占去",
            ),
            (
                DriverOrUnrelated,
                "most of it is available: a driver or the kernel itself took it since",
                "大部分可用：之后被驱动或内核自身占去",
            ),
        ],
    },
    Test {
        id: "limits",
        act: |incident| {
            // A limit that the log prints and shows to be reached is known, and one that the program names is its own.
            let event = &incident.event;
            let named = event.facts.setting.is_known() || event.kept_to_a_budget();
            if reached_its_limit(incident) || named || incident.on_a_board() {
                return None;
            }
            if event.has(Sign::MappingsRanOut) {
                let command = "cat /proc/sys/vm/max_map_count; wc -l < /proc/<pid>/maps   # just before it fails";
                return Some(("linux", Text::same(command)));
            }
            if event.refuses_to_lock() && !incident.on_windows() {
                let command = "ulimit -l   # in the shell, container or unit that starts it";
                return Some(("linux", Text::same(command)));
            }
            if event.refuses_a_thread() && !incident.on_windows() {
                let command = "ulimit -u; cat /sys/fs/cgroup/pids.max; cat /proc/sys/kernel/threads-max";
                return Some(("linux", Text::same(command)));
            }
            let system = incident.system();
            (asker(incident) == Asker::Host).then(|| (system.target().id(), Text::same(system.limits())))
        },
        about: &[FrameworkLimit, Preallocation, OtherProcess],
        outcomes: &[
            (
                FrameworkLimit,
                "one of the limits is below what the machine has, and is about what the job held",
                "其中一个上限低于整机内存，且接近任务的占用",
            ),
            (
                HostMemory,
                "no limit but the machine's own memory, or the job's as meant",
                "除整机内存（或按预期设置的上限）外没有其他限制",
            ),
            (OtherProcess, "little is available although the job does not run", "任务未运行时可用内存已很少"),
            (
                Preallocation,
                "what is available is less than the heap that the program takes at start",
                "可用内存少于程序启动时预留的堆",
            ),
        ],
    },
    Test {
        // The search swallowed every message; one of them tells where the bytes were.
        id: "the-message-itself",
        act: |incident| {
            incident.event.has(Sign::EverySizeTried).then(|| {
                (
                    "pytorch",
                    text!(
                        en: "run once with a batch of 1 and without the search (auto_find_batch_size=False), for \
                             PyTorch's own message",
                        zh: "以批大小 1、关闭搜索（auto_find_batch_size=False）运行一次，查看 PyTorch 自身的报错"
                    ),
                )
            })
        },
        about: &[],
        outcomes: &[
            (Capacity, "what is allocated fills the device", "已分配量占满设备"),
            (TransientPeak, "the request is a large part of the device", "申请量占设备的很大一部分"),
            (SingleHugeAllocation, "the request alone is beyond the device", "单次申请就超过设备容量"),
            (LeakGrowth, "none at first: it comes after many steps", "起初没有：多步之后才出现"),
            (Fragmentation, "much is reserved and unallocated", "大量已保留而未分配"),
            (OtherProcess, "little is allocated, and other processes are listed", "已分配很少，并列出其他进程"),
            (WrongDevice, "it names another device than the one meant", "指出的设备不是所期望的"),
            (DriverOrUnrelated, "another error", "另一种错误"),
        ],
    },
    Test {
        id: "encoder-sessions",
        act: |incident| {
            incident.event.has(Sign::SessionsRanOut).then(|| {
                (
                    "shell",
                    text!(
                        en: "nvidia-smi --query-gpu=encoder.stats.sessionCount --format=csv   # as it fails",
                        zh: "nvidia-smi --query-gpu=encoder.stats.sessionCount --format=csv   # 失败时执行"
                    ),
                )
            })
        },
        about: &[DriverOrUnrelated],
        outcomes: &[
            (DriverOrUnrelated, "as many sessions run as the driver allows", "会话数已达驱动允许的上限"),
            (FrameworkLimit, "several run, as many as a setting allows", "有多个会话，已达某项设置的上限"),
            (Capacity, "one session or none runs", "会话至多一个"),
        ],
    },
    Test {
        id: "shared-memory-use",
        act: |incident| {
            let event = &incident.event;
            let shares = event.has(Sign::DataLoaderWorker)
                || incident.context.workers.is_known()
                || job_kind(incident) == Some(JobKind::Training);
            // Who printed how much of it was in use has answered.
            let answered = event.facts.get(Fact::ShmemRss).is_some() || incident.on_windows();
            let here = asker(incident) == Asker::Shm || asker(incident) == Asker::Host && shares;
            (!answered && here && !event.has(Sign::SystemV)).then(|| {
                ("shell", text!(en: "df -h /dev/shm   # while the job runs", zh: "df -h /dev/shm   # 在任务运行时"))
            })
        },
        about: &[SharedMemory],
        outcomes: &[
            (SharedMemory, "/dev/shm is nearly full", "/dev/shm 接近用满"),
            (HostMemory, see::ROOM.0, see::ROOM.1),
            (HostWorkers, see::ROOM.0, see::ROOM.1),
            (LeakGrowth, see::ROOM.0, see::ROOM.1),
            (FrameworkLimit, see::ROOM.0, see::ROOM.1),
            (DriverOrUnrelated, see::ROOM.0, see::ROOM.1),
        ],
    },
    Test {
        id: "shared-segments",
        act: |incident| {
            let listed = text!(
                en: "ipcs -lm; ipcs -mu   # the limits, and what is in use",
                zh: "ipcs -lm; ipcs -mu   # 上限与已用量"
            );
            incident.event.has(Sign::SystemV).then_some(("shell", listed))
        },
        about: &[SharedMemory],
        outcomes: &[
            (SharedMemory, "the segments or their pages come up to a limit", "段数或页数已达上限"),
            (HostMemory, "both are far below", "二者都远低于上限"),
            (HostWorkers, "both are far below", "二者都远低于上限"),
            (LeakGrowth, "both are far below", "二者都远低于上限"),
            (FrameworkLimit, "both are far below", "二者都远低于上限"),
            (DriverOrUnrelated, "both are far below", "二者都远低于上限"),
        ],
    },
    Test {
        id: "device-without-the-job",
        act: |incident| {
            // Where device and machine share their memory the rest of the machine always holds some of it.
            let event = &incident.event;
            let own = event.accelerator() != Accelerator::Mps && !event.has(Sign::UnifiedMemory);
            let tool = incident.device_tool();
            (own && running(incident)).then(|| {
                let (en, zh) = (tool.en, tool.zh);
                let (en, zh) = (format!("{en}   # with this job stopped"), format!("{zh}   # 停止本任务后执行"));
                ("shell", Text::new(en, zh))
            })
        },
        about: &[OtherProcess, WrongDevice, HostMemory],
        outcomes: &[
            (
                OtherProcess,
                "a GiB or more is still in use: stop or move who holds it",
                "仍有 1 GiB 以上被占用：停止或移走占用者",
            ),
            (
                HostMemory,
                "the device has room: ask how much RAM the machine has left",
                "设备仍有空闲：再查看主机内存还剩多少",
            ),
            (WrongDevice, "this device is in use while another one is idle", "本设备被占用而另一设备空闲"),
            (Capacity, see::FALLS.0, see::FALLS.1),
            (Fragmentation, see::FALLS.0, see::FALLS.1),
            (LeakGrowth, see::FALLS.0, see::FALLS.1),
            (TransientPeak, see::FALLS.0, see::FALLS.1),
            (SingleHugeAllocation, see::FALLS.0, see::FALLS.1),
            (DuplicateModel, see::FALLS.0, see::FALLS.1),
            (NonFramework, see::FALLS.0, see::FALLS.1),
            (Preallocation, see::FALLS.0, see::FALLS.1),
            (KvCache, see::FALLS.0, see::FALLS.1),
            (FrameworkLimit, see::FALLS.0, see::FALLS.1),
            (DriverOrUnrelated, see::FALLS.0, see::FALLS.1),
        ],
    },
    // The pool of SGLang is what the weights leave, whatever the context.
    Test {
        id: "cache-room",
        act: |incident| {
            let sglang = incident.event.program == Program::Sglang;
            (asker(incident) == Asker::KvCache && pooled(incident) && sglang).then(|| {
                (
                    "program",
                    text!(
                        en: "start once with the engine's share of the device at 0.95, and read `avail mem` behind \
                             \"Load weight end\"",
                        zh: "将引擎的显存占比设为 0.95 启动一次，并查看 \"Load weight end\" 之后的 `avail mem`"
                    ),
                )
            })
        },
        about: &[],
        outcomes: &[
            (FrameworkLimit, "it starts", "可以启动"),
            (KvCache, "it still lacks cache, and several GB are available", "缓存仍不足，而尚有数 GB 可用"),
            (Capacity, "it still lacks cache, and next to nothing is available", "缓存仍不足，且几乎没有可用显存"),
            (OtherProcess, "it says that less is free than its share", "提示空闲少于其份额"),
            (Preallocation, "it fails after the cache was made, in warm-up", "缓存建好之后在预热时失败"),
            (TransientPeak, "it starts, and fails on a long request", "可以启动，遇到长请求时失败"),
        ],
    },
    Test {
        id: "cache-settings",
        act: |incident| {
            let sglang = incident.event.program == Program::Sglang;
            (asker(incident) == Asker::KvCache && pooled(incident) && !sglang).then(|| {
                (
                    "program",
                    text!(
                        en: "start once with the engine's share of the device at 0.95, the context unchanged",
                        zh: "将引擎的显存占比设为 0.95 启动一次，上下文长度不变"
                    ),
                )
            })
        },
        about: &[],
        outcomes: &[
            (FrameworkLimit, "it starts", "可以启动"),
            (KvCache, "it still lacks cache, and starts with half the context", "缓存仍不足，而上下文减半后可以启动"),
            (Capacity, "it still lacks cache, even with half the context", "缓存仍不足，上下文减半也不行"),
            (OtherProcess, "it says that less is free than its share", "提示空闲少于其份额"),
            (Preallocation, "it fails after the cache was made, in warm-up", "缓存建好之后在预热时失败"),
            (TransientPeak, "it starts, and fails on a long request", "可以启动，遇到长请求时失败"),
        ],
    },
    Test {
        id: "longer-context",
        act: |incident| {
            incident.event.has(Sign::BeyondContext).then(|| {
                (
                    "program",
                    text!(
                        en: "start once with a context longer than the request and its answer",
                        zh: "以比请求加回答更长的上下文启动一次"
                    ),
                )
            })
        },
        about: &[],
        outcomes: &[
            (KvCache, "it answers, or finds no memory for the longer cache", "可以回答，或没有内存容纳更长的缓存"),
            (FrameworkLimit, "it refuses at the same length: another limit holds", "在同样长度处拒绝：另有上限"),
            (Capacity, "it finds no memory for its weights", "没有内存容纳权重"),
        ],
    },
    Test {
        id: "pool-off",
        act: |incident| {
            let setting = pool_off(incident).filter(|_| running(incident))?;
            // A variable; a line of code has blanks.
            let set = if incident.on_windows() && !setting.contains(' ') { "set " } else { "" };
            Some(("shell", text!(en: "{set}{setting}   # for one run", zh: "{set}{setting}   # 仅运行一次")))
        },
        about: &[Preallocation],
        outcomes: &[
            (Preallocation, "it runs", "可以运行"),
            (Capacity, "it fails at the same place", "在同一处失败"),
            (
                OtherProcess,
                "it fails at the same place, and the device's tool lists others",
                "在同一处失败，且设备工具列出其他进程",
            ),
            (TransientPeak, "it fails only in one phase", "仅在某个阶段失败"),
            (SingleHugeAllocation, "it fails on the same single request", "在同一个请求上失败"),
            (LeakGrowth, "it fails later than before", "比之前更晚失败"),
        ],
    },
    Test {
        id: "smaller-share",
        act: |incident| {
            // A share that bounds the warm-up as well leaves less for what failed.
            // One that had served fitted at its start.
            let sized = asker(incident) == Asker::Engine
                && !warms_up_before_its_pool(incident)
                && !loads(incident)
                && !serves(incident)
                && incident.context.step.value().is_none_or(|step| step <= 1);
            (pooled(incident) && sized).then(|| {
                (
                    "program",
                    text!(
                        en: "start once with the engine's share of the device a tenth lower",
                        zh: "将引擎的显存占比降低一成启动一次"
                    ),
                )
            })
        },
        about: &[Preallocation, NonFramework, KvCache],
        outcomes: &[
            (Preallocation, "it runs", "可以运行"),
            (NonFramework, "it fails as before, with as much outside its pool", "与之前一样失败，池外占用不变"),
            (Capacity, "it finds too little memory for its weights", "放不下权重"),
            (KvCache, "it finds too little memory for its cache", "放不下缓存"),
            (FrameworkLimit, "it fails at a lower figure than before", "在比之前更低的数值处失败"),
            (DriverOrUnrelated, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (OtherProcess, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (LeakGrowth, "it fails later than before", "比之前更晚失败"),
        ],
    },
    Test {
        id: "smaller-share-in-service",
        act: |incident| {
            (pooled(incident) && asker(incident) == Asker::Engine && serves(incident)).then(|| {
                (
                    "program",
                    text!(
                        en: "start with the engine's share of the device a tenth lower, and send the same requests",
                        zh: "将引擎的显存占比降低一成后启动，并发送同样的请求"
                    ),
                )
            })
        },
        about: &[Preallocation, KvCache, Capacity],
        outcomes: &[
            (Preallocation, "it serves them: the pool had left too little beside it", "可以服务：此前池外剩余太少"),
            (KvCache, "it serves them: the pool had left too little beside it", "可以服务：此前池外剩余太少"),
            (TransientPeak, "it serves them, but for the longest", "除最长的请求外均可服务"),
            (LeakGrowth, "it fails later than before", "比之前更晚失败"),
            (Capacity, "it finds too little memory for its weights or its cache", "放不下权重或缓存"),
            (NonFramework, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (OtherProcess, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (FrameworkLimit, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (SingleHugeAllocation, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (DriverOrUnrelated, see::AS_BEFORE.0, see::AS_BEFORE.1),
        ],
    },
    Test {
        id: "one-short-request",
        act: |incident| {
            let starting = incident.event.has(Sign::EngineStartup)
                || incident.event.has(Sign::EngineWarmup)
                || incident.event.has(Sign::GraphCapture)
                || is_made(incident);
            let loading = matches!(incident.context.phase.value(), Some(Phase::Load | Phase::Warmup));
            (asker(incident) == Asker::Engine && !starting && !loading).then(|| {
                (
                    "program",
                    text!(
                        en: "send one short request alone, right after the start",
                        zh: "启动后立即只发一个短请求"
                    ),
                )
            })
        },
        about: &[TransientPeak, LeakGrowth, SingleHugeAllocation],
        outcomes: &[
            (TransientPeak, "it is answered", "可以回答"),
            (SingleHugeAllocation, "it is answered", "可以回答"),
            (LeakGrowth, "it is answered, and fails after many like it", "可以回答，但在多次同样的请求后失败"),
            (Capacity, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (Preallocation, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (KvCache, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (OtherProcess, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (FrameworkLimit, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (NonFramework, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (DriverOrUnrelated, see::AS_BEFORE.0, see::AS_BEFORE.1),
        ],
    },
    Test {
        id: "fewer-at-warm-up",
        act: |incident| {
            let warm = incident.event.has(Sign::EngineWarmup) || incident.context.phase.value() == Some(Phase::Warmup);
            (asker(incident) == Asker::Engine && warm).then(|| {
                (
                    "program",
                    text!(
                        en: "start once with a quarter of the concurrent sequences and batched tokens",
                        zh: "将并发序列数与批内 token 数降到四分之一启动一次"
                    ),
                )
            })
        },
        about: &[TransientPeak],
        outcomes: &[
            (TransientPeak, "it starts", "可以启动"),
            (Preallocation, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (Capacity, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (KvCache, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (OtherProcess, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (DriverOrUnrelated, see::AS_BEFORE.0, see::AS_BEFORE.1),
        ],
    },
    Test {
        // While weights go to the device there are no steps to read at and no batch to make smaller: their size is what
        // the account is held against.
        id: "size-of-the-weights",
        act: |incident| {
            if !loads(incident) || !running(incident) {
                return None;
            }
            // An engine's pool hides its weights behind it, and its files tell their size.
            if pooled(incident) && !incident.event.on_pytorch() {
                let files = text!(
                    en: "du -shL <model>   # its files, against what the device has",
                    zh: "du -shL <model>   # 模型文件大小，与设备容量比较"
                );
                return Some(("shell", files));
            }
            // What was refused although it was free is not decided by its size.
            let here =
                asker(incident) == Asker::Tensor && incident.event.on_pytorch() && !refused_although_free(incident);
            here.then(|| {
                let piped = |frame: &Frame| frame.code.as_deref().is_some_and(|code| code.contains("pipe"));
                let all = match incident.context.trainer.value() {
                    Some(Trainer::Diffusers) if incident.context.frames.iter().any(piped) => {
                        "for m in pipe.components.values() if hasattr(m, 'parameters') for p in m.parameters()"
                    }
                    _ => "for p in model.parameters()",
                };
                (
                    "pytorch",
                    text!(
                        en: "load once onto the CPU and print(sum(p.numel() * p.element_size() {all}) / 2**30)",
                        zh: "先加载到 CPU，再 print(sum(p.numel() * p.element_size() {all}) / 2**30)"
                    ),
                )
            })
        },
        about: &[],
        outcomes: &[
            (Capacity, "about as much as was allocated, or more than the device has", "与已分配量相当，或超过设备容量"),
            (DuplicateModel, "at most half of what was allocated", "至多为已分配量的一半"),
            (TransientPeak, "less than the device has, and it fits once moved there", "小于设备容量，移过去即可放下"),
            (
                LeakGrowth,
                "less than what was allocated, and an earlier round had loaded it before",
                "小于已分配量，且此前的轮次已加载过",
            ),
            (OtherProcess, "more than was free, although it would fit the empty device", "大于空闲量，但空设备放得下"),
            (
                WrongDevice,
                "more than was free here, although another device is empty",
                "大于此设备的空闲量，而另一设备空闲",
            ),
            (FrameworkLimit, "it would fit the device, and not the limit", "设备放得下，而上限不允许"),
            (Preallocation, "it would fit the device, and not what the pool left", "设备放得下，而内存池未留出空间"),
            (SingleHugeAllocation, "far less than the request that was refused", "远小于被拒绝的申请"),
            (Fragmentation, "less than was free and cached together", "小于空闲与缓存之和"),
            (NonFramework, "it would fit beside all but what lies outside the allocator", "除分配器之外的占用外放得下"),
            (DriverOrUnrelated, "less than was free", "小于空闲量"),
        ],
    },
    Test {
        // In the first step its end is never reached.
        id: "before-the-first-step",
        act: |incident| {
            let (target, line) = per_step(incident);
            (target == "pytorch" && in_first_step(incident) && !loads(incident) && reads_each_step(incident)).then(|| {
                (
                    target,
                    text!(en: "{line}   # after loading, before the first step", zh: "{line}   # 加载后、第一步之前"),
                )
            })
        },
        about: &[DuplicateModel, NonFramework, OtherProcess, Preallocation],
        outcomes: &[
            (Capacity, see::WEIGHTS.0, see::WEIGHTS.1),
            (TransientPeak, see::WEIGHTS.0, see::WEIGHTS.1),
            (LeakGrowth, see::WEIGHTS.0, see::WEIGHTS.1),
            (Fragmentation, see::WEIGHTS.0, see::WEIGHTS.1),
            (SingleHugeAllocation, see::WEIGHTS.0, see::WEIGHTS.1),
            (FrameworkLimit, see::WEIGHTS.0, see::WEIGHTS.1),
            (DuplicateModel, see::TWICE.0, see::TWICE.1),
            (NonFramework, see::FAR_BELOW_THE_TOOL.0, see::FAR_BELOW_THE_TOOL.1),
            (OtherProcess, see::SMALL_ON_A_FULL_DEVICE.0, see::SMALL_ON_A_FULL_DEVICE.1),
            (
                Preallocation,
                "what is reserved stands at a fixed share of the device already",
                "保留量已是设备的固定比例",
            ),
        ],
    },
    Test {
        // What comes once, or only now and then, is read where it stands: the ends of steps never see it.
        id: "around-the-call",
        act: |incident| {
            let (target, line) = per_step(incident);
            (target == "pytorch" && stands_apart(incident) && running(incident) && !loads(incident)).then(|| {
                (
                    target,
                    text!(
                        en: "{line}   # just before the call that fails, and in an except block around it",
                        zh: "{line}   # 在出错的调用之前，以及包住它的 except 块中"
                    ),
                )
            })
        },
        about: &[],
        outcomes: &[
            (
                LeakGrowth,
                "more is allocated before it each time that it is reached",
                "每次到达这里之前的已分配量都更多",
            ),
            (Fragmentation, "before it much more is reserved than allocated", "调用之前保留量远高于已分配量"),
            (Capacity, "most of the device is allocated before it", "调用之前设备大部分已分配"),
            (
                TransientPeak,
                "before it there is room, which several tensors of the call fill",
                "调用之前有空间，被该调用的多个张量占满",
            ),
            (
                SingleHugeAllocation,
                "before it there is room, and the one request is for more",
                "调用之前有空间，而单次申请超过了它",
            ),
            (DuplicateModel, "before it twice the weights are allocated", "调用之前已分配权重的两倍"),
            (NonFramework, see::FAR_BELOW_THE_TOOL.0, see::FAR_BELOW_THE_TOOL.1),
            (OtherProcess, see::SMALL_ON_A_FULL_DEVICE.0, see::SMALL_ON_A_FULL_DEVICE.1),
            (Preallocation, see::FIXED_SHARE.0, see::FIXED_SHARE.1),
            (
                FrameworkLimit,
                "what is reserved ends at a value well below the device's size",
                "保留量停在明显低于设备容量的值",
            ),
            (WrongDevice, "it is another device that was meant", "本应使用另一设备"),
        ],
    },
    Test {
        // The states of an optimizer are as large whatever the batch; what it works with for a moment is not needed
        // where it takes one parameter after the other.
        id: "one-parameter-at-a-time",
        act: |incident| {
            let steps = incident.context.phase.value() == Some(Phase::OptimizerStep);
            (steps && incident.event.on_pytorch() && running(incident)).then(|| {
                (
                    "pytorch",
                    text!(
                        en: "foreach=False   # in the optimizer, for one run",
                        zh: "foreach=False   # 在优化器中设置，仅运行一次"
                    ),
                )
            })
        },
        about: &[TransientPeak],
        outcomes: &[
            (TransientPeak, "it runs", "可以运行"),
            (Capacity, "it fails in the same step", "在同一步失败"),
            (LeakGrowth, "it fails a few steps later", "若干步之后失败"),
            (DuplicateModel, "it fails in the same step", "在同一步失败"),
            (Fragmentation, "it fails with much reserved and unused", "失败时仍有大量保留而未使用"),
            (
                OtherProcess,
                "it fails in the same step, and the device's tool lists others",
                "在同一步失败，且设备工具列出其他进程",
            ),
        ],
    },
    Test {
        // A graph of TensorFlow's names the optimizer's node, and has no switch for how it works.
        id: "plain-sgd",
        act: |incident| {
            let steps = incident.context.phase.value() == Some(Phase::OptimizerStep);
            let other = incident.event.program == Program::Tensorflow;
            (steps && other && running(incident)).then(|| {
                (
                    "program",
                    text!(
                        en: "run once with SGD without momentum, which keeps no states",
                        zh: "用不带动量的 SGD 运行一次：它不保存任何状态"
                    ),
                )
            })
        },
        about: &[TransientPeak],
        outcomes: &[
            (
                Capacity,
                "it runs: weights, gradients and states together were too much",
                "可以运行：权重、梯度与状态合计放不下",
            ),
            (TransientPeak, "it fails in the same update", "在同一次更新中失败"),
            (LeakGrowth, "it fails some steps later", "若干步之后失败"),
            (
                OtherProcess,
                "it fails in the same update, and the device's tool lists others",
                "在同一次更新中失败，且设备工具列出其他进程",
            ),
            (
                Preallocation,
                "it fails in the same update, and the device's tool lists others",
                "在同一次更新中失败，且设备工具列出其他进程",
            ),
        ],
    },
    Test {
        // The message has told how much is cached: a reading would say it again.
        id: "growing-segments",
        act: |incident| {
            let ledger = &incident.ledger;
            let within = ledger.cached.zip(ledger.requested).is_some_and(|(cached, asked)| cached.high >= asked.low);
            let variable = growing_segments(incident).filter(|_| within && running(incident) && !loads(incident))?;
            let line = format!("{variable}=expandable_segments:True");
            Some(("shell", text!(en: "{line}   # for one run", zh: "{line}   # 仅运行一次")))
        },
        about: &[Fragmentation],
        outcomes: &[
            (Fragmentation, "it runs", "可以运行"),
            (Capacity, "it fails at the same place, with little cached", "在同一处失败，缓存很少"),
            (TransientPeak, "it fails at the same place, with little cached", "在同一处失败，缓存很少"),
            (SingleHugeAllocation, "it fails on the same request", "在同一个请求上失败"),
            (LeakGrowth, "it fails later than before, with little cached", "比之前更晚失败，缓存很少"),
            (DuplicateModel, "it fails at the same place, with little cached", "在同一处失败，缓存很少"),
            (NonFramework, "it fails with as much outside the allocator", "失败且分配器之外的占用不变"),
            (OtherProcess, "it fails with as much held by others", "失败且其他进程的占用不变"),
            (FrameworkLimit, "it fails at the same limit", "在同一上限处失败"),
        ],
    },
    Test {
        id: "per-step-reading",
        act: |incident| {
            let (target, line) = per_step(incident);
            (target == "pytorch" && has_steps_behind(incident)).then(|| (target, each_step(incident, &line)))
        },
        about: &[],
        outcomes: &[
            (LeakGrowth, see::RISES.0, see::RISES.1),
            (Fragmentation, "what is allocated stays level while what is reserved rises", "已分配量平稳，而保留量上升"),
            (Capacity, see::EARLY.0, see::EARLY.1),
            (TransientPeak, see::PEAK_JUMPS.0, see::PEAK_JUMPS.1),
            (DuplicateModel, see::TWICE.0, see::TWICE.1),
            (
                SingleHugeAllocation,
                "the peak stands far below the device until the failing line",
                "直到失败处峰值都远低于设备容量",
            ),
            (
                NonFramework,
                "what is reserved stays far below what the device's own tool counts for this process",
                "保留量远低于设备工具统计的本进程用量",
            ),
            (
                OtherProcess,
                "what is reserved stays small while the device's tool shows the device full",
                "保留量很小，而设备工具显示已满",
            ),
            (Preallocation, see::FIXED_SHARE.0, see::FIXED_SHARE.1),
            (
                FrameworkLimit,
                "what is reserved never passes a value well below the device's size",
                "保留量从未超过某个明显低于设备容量的值",
            ),
        ],
    },
    Test {
        // The device's own tool gives one figure, which tells what is reserved from what is in use no more than this.
        id: "device-reading",
        act: |incident| {
            let (target, line) = per_step(incident);
            (target != "pytorch" && has_steps_behind(incident)).then(|| (target, each_step(incident, &line)))
        },
        about: &[],
        outcomes: &[
            (LeakGrowth, "it rises from step to step", "逐步上升"),
            (
                Fragmentation,
                "it rises to the device's size although the steps are alike",
                "虽然各步相同，占用仍逐渐升到设备容量",
            ),
            (Capacity, see::FULL.0, see::FULL.1),
            (TransientPeak, see::JUMPS.0, see::JUMPS.1),
            (DuplicateModel, see::TWICE.0, see::TWICE.1),
            (SingleHugeAllocation, see::FAR.0, see::FAR.1),
            (NonFramework, "it rises before the program works on anything", "程序开始处理之前就上升"),
            (OtherProcess, "it stands high before the program starts", "程序启动之前就很高"),
            (Preallocation, "it jumps to a fixed share of the device at the start", "启动时跳到设备的固定比例"),
            (
                FrameworkLimit,
                "it never passes a value well below the device's size",
                "从未超过某个明显低于设备容量的值",
            ),
        ],
    },
    Test {
        id: "no-workers",
        act: |incident| {
            if !matches!(asker(incident), Asker::Host | Asker::Shm) {
                return None;
            }
            // Dask, joblib and databases have workers as well, and no loader.
            let torch = incident.event.program.pytorch_allocator() != PytorchAllocator::No;
            let loader = incident.event.has(Sign::DataLoaderWorker)
                || torch && incident.context.workers.value().is_some_and(|n| n > 0);
            if loader {
                return Some((
                    "pytorch",
                    text!(en: "num_workers=0   # for one run", zh: "num_workers=0   # 仅运行一次"),
                ));
            }
            // Where nothing shows several processes there may be none to take away.
            shows_several_processes(incident).then(|| {
                ("program", text!(en: "run once with one worker or process", zh: "用单个 worker 或进程运行一次"))
            })
        },
        about: &[HostWorkers, SharedMemory],
        outcomes: &[
            (HostWorkers, "it runs, with a fraction of the memory", "可以运行，占用大幅下降"),
            (HostMemory, "it fails at about the same place", "在差不多的位置失败"),
            (LeakGrowth, "it fails later, memory having risen all along", "更晚失败，内存一路上升"),
            (SharedMemory, "it runs, and memory is hardly less", "可以运行，而内存占用几乎不变"),
            (SingleHugeAllocation, "it fails on the same request", "在同一个请求上失败"),
        ],
    },
    Test {
        // One request that is a part of the machine by itself: what there is tells more than how it came to be used.
        id: "request-against-memory",
        act: |incident| {
            let (target, command) = (incident.system().target().id(), incident.system().limits());
            let asked = size(large_request(incident)?);
            let seen = incident.observed.is_some() || incident.event.facts.get(Fact::Free).is_some();
            (!seen).then(|| (target, text!(en: "{command}   # against {asked}", zh: "{command}   # 与 {asked} 比较")))
        },
        about: &[],
        outcomes: &[
            (SingleHugeAllocation, "the machine has less in all", "整机内存也不够"),
            (HostMemory, "the machine has more in all, and less of it is available", "整机内存足够，但可用内存不足"),
            (FrameworkLimit, "a limit stands below it, more being available", "某个上限低于它，而可用内存更多"),
            (LeakGrowth, "less is available each time that it is reached", "每次到达这里时可用内存都更少"),
            (
                HostWorkers,
                "the machine has more in all, and like-named processes hold it",
                "整机内存足够，但被同名进程占用",
            ),
            (
                OtherProcess,
                "the machine has more in all, and another program holds it",
                "整机内存足够，但被其他程序占用",
            ),
            (TransientPeak, "enough is available until just before", "直到申请之前可用内存都足够"),
        ],
    },
    Test {
        id: "resident-memory-over-time",
        act: |incident| {
            // Who was there has seen it, and what fails in an import is over before anybody can look; one request of
            // many GiB is nothing that can be watched to come.
            let seen = incident.observed.is_some()
                || incident.context.imports()
                || large_request(incident).is_some()
                || incident.on_a_board();
            (!seen && matches!(asker(incident), Asker::Host | Asker::Shm)).then(|| {
                let (target, list) = (incident.system().target().id(), incident.system().processes());
                (target, text!(en: "{list}   # once a minute while it runs", zh: "{list}   # 运行期间每分钟一次"))
            })
        },
        about: &[],
        outcomes: &[
            (
                LeakGrowth,
                "the job's own figure goes on rising while the same work is repeated",
                "在重复同样工作的过程中，本任务的占用仍持续上升",
            ),
            (
                HostMemory,
                "one process rises while it reads or makes its data, to more than there is",
                "某个进程在读取或生成数据时上升，超过可用内存",
            ),
            (HostWorkers, "many like-named processes share it", "由许多同名进程分占"),
            (OtherProcess, "somebody else's process stands above it", "其他进程排在前面"),
            (SingleHugeAllocation, "it is small until the moment it fails", "失败之前一直很小"),
            (
                FrameworkLimit,
                "it stops at the same value each time, memory being available",
                "每次都停在同一数值，而内存仍有可用",
            ),
            (TransientPeak, "it jumps in one phase", "在某个阶段突增"),
            (Preallocation, "it is small, its virtual size is not", "常驻内存很小而虚拟内存很大"),
            (KvCache, "it jumps when the context is made", "创建上下文时突增"),
            (Capacity, "it reaches its level while weights are loaded", "加载权重时达到该水平"),
            (DuplicateModel, "it jumps twice by the size of the model", "两次按模型大小突增"),
        ],
    },
    Test {
        id: "heap-of-the-board",
        act: |incident| {
            incident.on_a_board().then(|| {
                (
                    "program",
                    text!(
                        en: "print the free heap and its largest block, at start and before the call that fails",
                        zh: "在启动时和失败的调用之前打印空闲堆及最大空闲块"
                    ),
                )
            })
        },
        about: &[],
        outcomes: &[
            (
                Fragmentation,
                "more is free than was asked for, and no block is as large",
                "空闲总量够，但没有足够大的块",
            ),
            (HostMemory, "less is free than was asked for, from the start", "从一开始空闲量就少于请求"),
            (LeakGrowth, "less is free each time that it is reached", "每次到达时空闲量都更少"),
            (SingleHugeAllocation, "the heap is smaller than the request in all", "整个堆小于请求"),
            (FrameworkLimit, "a pool of the program's own is full, the heap is not", "程序自己的池已满而堆未满"),
        ],
    },
    Test {
        id: "more-memory",
        act: |incident| {
            (asker(incident) == Asker::Host && incident.observed.is_some()).then(|| {
                (
                    "program",
                    text!(
                        en: "run once with half of the data, or with twice the memory",
                        zh: "用一半的数据或两倍的内存运行一次"
                    ),
                )
            })
        },
        about: &[],
        outcomes: &[
            (
                LeakGrowth,
                "it fails at the same level, or rises to the new limit as well",
                "在同一水平失败，或同样升到新的上限",
            ),
            (HostMemory, "it runs, at a level that follows the data", "可以运行，占用随数据量变化"),
            (HostWorkers, "many like-named processes share what is held", "占用由许多同名进程分占"),
            (SingleHugeAllocation, "it fails on one request, far above the rest", "在远大于其余的单次请求上失败"),
            (TransientPeak, "it rises in one phase only", "仅在某个阶段上升"),
            (SharedMemory, "files in memory make up what is held", "占用主要是内存中的文件"),
            (OtherProcess, "somebody else's process holds what is missing", "缺口被其他进程占用"),
        ],
    },
    Test {
        id: "shapes",
        act: |incident| {
            // Only a request that was refused has shapes: a process that was killed has no failing line, and neither
            // weights nor a checkpoint have inputs.
            let refused = match asker(incident) {
                _ if incident.event.ran_out_of_a_count() => false,
                Asker::Tensor | Asker::PooledTensor => !builds(incident),
                Asker::Host => incident.event.facts.get(Fact::Requested).is_some(),
                _ => false,
            };
            let phase = incident.context.phase.value();
            // Of a compiled program nobody prints anything.
            let program = incident.event.program;
            let python = program.languages().contains(&Language::Python) || !incident.context.frames.is_empty();
            // What the message prints is not asked for.
            let told =
                incident.event.shape().is_some() || incident.event.facts.numbers.contains_key(&Number::FirstDimension);
            if !refused
                || told
                // A request that would have had room fails whatever its shape is.
                || refused_although_free(incident)
                || !python && !program.languages().is_empty()
                || matches!(phase, Some(Phase::Load | Phase::Resume | Phase::Checkpoint | Phase::CommunicatorSetup))
            {
                return None;
            }
            let place = incident.context.user_frame().map(|frame| format!("{}:{}", frame.file, frame.line));
            Some((
                "program",
                match place {
                    Some(place) => {
                        text!(en: "print the shapes of the inputs at {place}", zh: "打印 {place} 处输入的形状")
                    }
                    None => text!(en: "print the shapes of the inputs at the failing line", zh: "打印失败处输入的形状"),
                },
            ))
        },
        about: &[],
        outcomes: &[
            (
                SingleHugeAllocation,
                "a dimension is larger than meant, or enters twice (pairs)",
                "某一维大于预期，或出现两次（成对）",
            ),
            (Capacity, see::AS_MEANT.0, see::AS_MEANT.1),
            (TransientPeak, see::AS_MEANT.0, see::AS_MEANT.1),
            (HostMemory, see::AS_MEANT.0, see::AS_MEANT.1),
            (LeakGrowth, see::AS_MEANT.0, see::AS_MEANT.1),
            (Fragmentation, see::AS_MEANT.0, see::AS_MEANT.1),
            (DuplicateModel, "they are a model's weights", "是模型的权重"),
            (DriverOrUnrelated, "they are tiny", "非常小"),
        ],
    },
    Test {
        id: "batch-of-one",
        act: |incident| {
            let one = incident.context.batch_size.value() == Some(1);
            let data = !(asker(incident) == Asker::Tensor && incident.event.on_pytorch() && loads(incident));
            // What an optimizer asks for is as large as its parameters, and its states stay.
            let of_data = data && !sets_up(incident) && incident.context.phase.value() != Some(Phase::OptimizerStep);
            (of_data
                && !incident.event.has(Sign::EverySizeTried)
                && !incident.event.ran_out_of_a_count()
                && matches!(asker(incident), Asker::Tensor | Asker::PooledTensor))
            .then(|| {
                (
                    "program",
                    if builds(incident) {
                        text!(en: "build once for a batch of 1 and half the length", zh: "以批大小 1、长度减半构建一次")
                    } else if one {
                        text!(en: "run once at half the size or length", zh: "以一半的尺寸或长度运行一次")
                    } else {
                        text!(
                            en: "run once with a batch of 1 (or half the size or length)",
                            zh: "以批大小 1（或一半的尺寸、长度）运行一次"
                        )
                    },
                )
            })
        },
        about: &[],
        outcomes: &[
            (Capacity, "it runs", "可以运行"),
            (LeakGrowth, "it runs, and fails many steps later", "可以运行，但若干步之后仍失败"),
            (DuplicateModel, "it fails at the same place, in loading", "在同一处失败（加载阶段）"),
            (OtherProcess, "it fails at the same place with as much in use", "在同一处失败，占用不变"),
            (WrongDevice, "it fails at the same place on the same device", "在同一设备同一处失败"),
            (NonFramework, "it fails with as much outside the allocator", "失败且分配器之外的占用不变"),
            (
                SingleHugeAllocation,
                "it fails on a request as large as before, or far smaller by the square",
                "在同样大小的请求上失败，或按平方缩小",
            ),
            (TransientPeak, "it fails in the same phase with a smaller request", "在同一阶段失败，但请求更小"),
            (Preallocation, "it fails at start with the same figures", "启动时以同样的数字失败"),
            (FrameworkLimit, "it fails at the same limit", "在同一上限处失败"),
            (DriverOrUnrelated, "it fails with the same message at once", "立即以同样的信息失败"),
            (Fragmentation, "it fails with much reserved and unused", "失败时仍有大量保留而未使用"),
        ],
    },
    Test {
        id: "half-the-context",
        act: |incident| {
            let event = &incident.event;
            let program = event.program;
            // A pool that is a share of the device is as large whatever the context, and weights have none.
            let buffers = program.device_use() == DeviceUse::FixedBuffers && !event.has(Sign::WeightsBuffer);
            let cached = match asker(incident) {
                Asker::KvCache => buffers && !event.has(Sign::BeyondContext),
                Asker::WeightBuffers => buffers,
                Asker::Host => program.is_engine() && !event.has(Sign::WeightsBuffer),
                _ => false,
            };
            // What draws has no context.
            let cached = cached && !incident.context.has(Clue::StableDiffusionCpp);
            cached.then(|| {
                ("program", text!(en: "start once with half the context length", zh: "将上下文长度减半启动一次"))
            })
        },
        about: &[],
        outcomes: &[
            (KvCache, "it starts", "可以启动"),
            (Capacity, "it fails on a buffer of the same size", "在同样大小的缓冲区失败"),
            (
                SingleHugeAllocation,
                "it fails on a buffer that has shrunk with the context, and is still too large",
                "在随上下文缩小、但仍然过大的缓冲区失败",
            ),
            (FrameworkLimit, "it fails on a buffer of the same size", "在同样大小的缓冲区失败"),
            (OtherProcess, "it fails on the first buffer", "在第一个缓冲区就失败"),
            (HostMemory, "it fails while weights are loaded", "加载权重时失败"),
            (TransientPeak, "it starts, and fails on a long prompt", "可以启动，遇到长提示时失败"),
            (Preallocation, "it fails at start with the same figures", "启动时以同样的数字失败"),
            (DriverOrUnrelated, "it fails with the same message at once", "立即以同样的信息失败"),
            (LeakGrowth, "it starts, and fails later than before", "可以启动，比之前更晚失败"),
        ],
    },
    Test {
        id: "limit-settings",
        act: |incident| {
            let shown = incident.event.facts.get(Fact::Limit).is_some()
                || incident.context.has(Clue::WholeFraction)
                || incident.context.option(Quantity::Share).is_some();
            (running(incident) && !shown).then(|| {
                ("shell", text!(
                    en: "search the program and its environment for a memory fraction, a pool size or a partition of \
                         the device",
                    zh: "在程序和环境中查找显存占比、内存池大小或设备分区设置"
                ))
            })
        },
        about: &[FrameworkLimit, Preallocation],
        outcomes: &[
            (FrameworkLimit, "one is set, below the device's size", "设置了低于设备容量的上限"),
            (Preallocation, "a pool takes a fixed share at start", "某个内存池在启动时占用固定份额"),
            (Capacity, "none is set", "均未设置"),
            (OtherProcess, "none is set, and others are on the device", "均未设置，且设备上另有进程"),
            (DriverOrUnrelated, "none is set, and memory was free", "均未设置，且显存有空闲"),
            (
                NonFramework,
                "none is set, and the process holds more than its framework",
                "均未设置，而进程占用多于框架",
            ),
        ],
    },
    Test {
        id: "blocking-launches",
        act: |incident| {
            let variable = incident.event.accelerator().blocking_launches()?;
            (asker(incident) == Asker::Tensor && running(incident)).then(|| {
                (
                    "shell",
                    text!(
                        en: "{variable}   # for one run with the smallest batch",
                        zh: "{variable}   # 以最小批大小运行一次"
                    ),
                )
            })
        },
        about: &[DriverOrUnrelated],
        outcomes: &[
            (DriverOrUnrelated, "another error shows, at another line", "在别处出现另一个错误"),
            (Capacity, "the same message comes with the device nearly full", "设备接近占满时出现同样的信息"),
            (OtherProcess, "the same message comes at the first request", "在第一个请求处出现同样的信息"),
            (LeakGrowth, "the same message comes later", "更晚出现同样的信息"),
            (
                SingleHugeAllocation,
                "the same message comes at the same line, the device far from full",
                "在同一行出现同样的信息，而设备远未占满",
            ),
            (TransientPeak, "the same message comes in the same phase", "在同一阶段出现同样的信息"),
            (Preallocation, "the same message comes after a pool was made", "在内存池建好之后出现同样的信息"),
            (NonFramework, "the same message comes from a library's own call", "由库自身的调用报出同样的信息"),
        ],
    },
    // The last resorts: what comes before is cheaper, and not for every program.
    Test {
        id: "a-quarter-of-the-length",
        act: |incident| {
            let fixed = incident.event.has(Sign::BeyondContext);
            (incident.event.resource.on_device() && !fixed).then(|| {
                (
                    "program",
                    text!(
                        en: "run once with a quarter of the length, one request at a time",
                        zh: "以四分之一的长度、每次一个请求运行一次"
                    ),
                )
            })
        },
        about: &[KvCache],
        outcomes: &[
            (KvCache, "it runs", "可以运行"),
            (Capacity, "it fails as before, while weights are loaded", "加载权重时与之前一样失败"),
            (DuplicateModel, "it fails as before, with twice the weights held", "与之前一样失败，占用为权重的两倍"),
            (LeakGrowth, "it runs, and fails later than before", "可以运行，比之前更晚失败"),
            (TransientPeak, "it runs, and fails on a long prompt", "可以运行，遇到长提示时失败"),
            (SingleHugeAllocation, "it fails on a request that is smaller by as much", "在按比例变小的请求上失败"),
            (FrameworkLimit, "it fails at the same limit", "在同一上限处失败"),
            (Preallocation, "it fails at start with the same figures", "启动时以同样的数字失败"),
            (OtherProcess, "it fails with as much in use by others", "失败，其他进程占用不变"),
            (NonFramework, "it fails with as much outside the allocator", "失败，分配器之外的占用不变"),
            (Fragmentation, "it fails with much reserved and unused", "失败时仍有大量保留而未使用"),
            (DriverOrUnrelated, "it fails with the same message at once", "立即以同样的信息失败"),
        ],
    },
    Test {
        id: "size-of-the-model-file",
        act: |incident| {
            let buffer = incident.event.program.device_use() == DeviceUse::FixedBuffers
                && incident.event.facts.get(Fact::Requested).is_some();
            let size = match incident.event.program {
                Program::Ollama => text!(en: "ollama list   # the model's size", zh: "ollama list   # 模型大小"),
                _ => text!(en: "look up the size of the model's file", zh: "查看模型文件的大小"),
            };
            buffer.then_some(("program", size))
        },
        about: &[Capacity],
        outcomes: &[
            (Capacity, "as large as the buffer that was refused, or larger", "与被拒绝的缓冲区相当或更大"),
            (SingleHugeAllocation, "far smaller than that buffer", "远小于该缓冲区"),
            (KvCache, "far smaller than that buffer", "远小于该缓冲区"),
            (TransientPeak, "far smaller than that buffer", "远小于该缓冲区"),
            (OtherProcess, "far smaller than the device", "远小于设备容量"),
        ],
    },
    Test {
        id: "half-the-picture",
        act: |incident| {
            let draws = incident.context.has(Clue::StableDiffusionCpp);
            draws.then(|| ("program", text!(en: "draw once at half the width and height", zh: "以一半的宽高绘制一次")))
        },
        about: &[],
        outcomes: &[
            (SingleHugeAllocation, "it runs", "可以运行"),
            (TransientPeak, "it runs", "可以运行"),
            (FrameworkLimit, "it fails on a smaller request, at the same limit", "在更小的请求上、同一上限处失败"),
            (Capacity, "it fails as before, while weights are loaded", "加载权重时与之前一样失败"),
            (OtherProcess, "it fails as before, with as much in use by others", "与之前一样失败，其他进程占用不变"),
            (LeakGrowth, "it runs, and fails after many pictures", "可以运行，绘制多张后失败"),
        ],
    },
    Test {
        id: "one-round-in-a-new-process",
        act: |incident| {
            let before = incident.event.facts.number(Number::RoundsBefore)?;
            (before >= 1.0)
                .then(|| ("program", text!(en: "run this round alone, in a new process", zh: "在新进程中只运行这一轮")))
        },
        about: &[LeakGrowth],
        outcomes: &[
            (LeakGrowth, "it runs", "可以运行"),
            (Capacity, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (SingleHugeAllocation, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (TransientPeak, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (OtherProcess, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (HostMemory, see::AS_BEFORE.0, see::AS_BEFORE.1),
            (FrameworkLimit, see::AS_BEFORE.0, see::AS_BEFORE.1),
        ],
    },
];

/// True for an engine that had started: what was sized then found room.
fn serves(incident: &Incident) -> bool {
    incident.event.has(Sign::WhileServing) || incident.context.phase.value() == Some(Phase::Inference)
}

/// True where what a process held is printed beside a limit that it came up to.
fn reached_its_limit(incident: &Incident) -> bool {
    let facts = &incident.event.facts;
    let held = [Fact::Process, Fact::AnonRss, Fact::Allocated].into_iter().find_map(|fact| facts.get(fact));
    let up_to = |limit: u64, held: u64| held.saturating_mul(10) >= limit.saturating_mul(9);
    facts.get(Fact::Limit).zip(held).is_some_and(|(limit, held)| up_to(limit.bytes, held.bytes))
}

/// True where Slurm runs the job.
fn in_slurm(incident: &Incident) -> bool {
    incident.event.program == Program::Slurm || incident.context.has(Clue::SlurmJob)
}

/// True where an engine's own constructor was still at work.
fn is_made(incident: &Incident) -> bool {
    const MADE: [&str; 6] = [
        "from_engine_args",
        "_initialize_kv_caches",
        "init_memory_pool",
        "_init_engine",
        "run_engine_core",
        "init_device",
    ];
    incident.context.frames.iter().any(|frame| MADE.contains(&frame.function.rsplit('.').next().unwrap_or("")))
}

/// A refused request of RAM that is a large part of a machine by itself.
fn large_request(incident: &Incident) -> Option<Interval> {
    const LARGE: i128 = 8 * GIB as i128;
    let refused = asker(incident) == Asker::Host && !incident.event.has(Sign::KilledWithProof);
    incident.ledger.requested.filter(|asked| refused && asked.low >= LARGE)
}

/// True where the program ran on a device when it failed: while a compiler plans, nothing is held yet.
fn running(incident: &Incident) -> bool {
    super::nature::on_gpu(incident) && super::nature::one_piece(incident)
}

/// True where a reading after each step says something: weights that go into fixed buffers have no steps.
fn reads_each_step(incident: &Incident) -> bool {
    running(incident) && asker(incident) != Asker::WeightBuffers && !builds(incident)
}

/// True where a reading is reached more than once before the failure.
fn has_steps_behind(incident: &Incident) -> bool {
    // The device's own tool reads what a pool took at the start, whatever is in it.
    let hidden =
        asker(incident) == Asker::PooledTensor && incident.meter() == incident.event.accelerator().driver_meter();
    reads_each_step(incident) && !loads(incident) && !in_first_step(incident) && !stands_apart(incident) && !hidden
}

/// True where what failed comes once, or now and then: an evaluation, a save, one prediction of a script.
fn stands_apart(incident: &Incident) -> bool {
    match incident.context.phase.value() {
        Some(Phase::Validation | Phase::Checkpoint | Phase::Decode | Phase::DataLoading) => true,
        Some(Phase::CommunicatorSetup | Phase::OptimizerSetup) => true,
        Some(Phase::Inference) => job_kind(incident) != Some(JobKind::Serving),
        _ => false,
    }
}

/// True where data goes to the device as a whole, ranks connect or an optimizer is set up: no step has begun.
fn sets_up(incident: &Incident) -> bool {
    match incident.context.phase.value() {
        Some(Phase::DataLoading) => incident.event.resource.on_device(),
        phase => matches!(phase, Some(Phase::CommunicatorSetup | Phase::OptimizerSetup)),
    }
}

/// True while weights go to the device, before any work on data.
fn loads(incident: &Incident) -> bool {
    match incident.context.phase.value() {
        Some(phase) => matches!(phase, Phase::Load | Phase::Resume),
        None => incident.context.has(Clue::LoadsModel),
    }
}

/// True where the log shows that no step of training had come to its end.
fn in_first_step(incident: &Incident) -> bool {
    let context = &incident.context;
    let trains = job_kind(incident) == Some(JobKind::Training);
    let apart = matches!(context.phase.value(), Some(Phase::Validation | Phase::Checkpoint | Phase::Decode));
    let first =
        context.step.value().is_some_and(|step| step <= 1) && context.epoch.value().is_none_or(|epoch| epoch <= 1);
    trains && first && !apart && !context.has(Clue::Resumed)
}

/// True while an engine is built: it has neither steps nor inputs.
fn builds(incident: &Incident) -> bool {
    incident.context.has(Clue::BuildsEngine)
}

/// A line that prints a reading, with when to print it. A tool that is asked from outside sees the middle of a step as
/// well.
fn each_step(incident: &Incident, line: &str) -> Text {
    if line == incident.event.accelerator().driver_meter().now {
        // NVIDIA's tool repeats itself.
        let again = if line.starts_with("nvidia-smi ") { " -l 1" } else { "" };
        return text!(en: "{line}{again}   # each second while it runs", zh: "{line}{again}   # 运行期间每秒一次");
    }
    match job_kind(incident) {
        Some(JobKind::Serving) => text!(
            en: "{line}   # after loading and after each request",
            zh: "{line}   # 加载后及每个请求后各打印一次"
        ),
        // A script that answers once has nothing that comes again.
        Some(JobKind::Inference) => text!(
            en: "{line}   # after loading and before the call that fails",
            zh: "{line}   # 加载后及出错的调用之前各打印一次"
        ),
        _ => text!(
            en: "{line}   # after loading and at the end of each step",
            zh: "{line}   # 加载后及每步结束时各打印一次"
        ),
    }
}

/// Workers of a pool or like-named processes, by what the log tells of them.
pub(crate) fn shows_several_processes(incident: &Incident) -> bool {
    const TOLD_BY: &[&str] = &["worker-died", "like-named-tasks", "processes"];
    MECHANISMS.iter().any(|mechanism| TOLD_BY.contains(&mechanism.id) && (mechanism.read)(incident).is_some())
}

/// True where a frame, a release or a trainer shows that PyTorch is at work.
fn shows_pytorch(incident: &Incident) -> bool {
    let context = &incident.context;
    incident.event.speaks_of_torch()
        || context.torch_version.is_known()
        || context.trainer.is_known()
        || context.alloc_conf.is_known()
        || context.frames.iter().any(|frame| frame.path().contains("/torch/"))
}

/// The line that prints what the program uses, and whose it is.
fn per_step(incident: &Incident) -> (&'static str, String) {
    let event = &incident.event;
    let meter = incident.meter();
    // An engine's user has no prompt inside it: the device's own tool tells.
    if !event.on_pytorch() || !meter.now.starts_with("torch") {
        return ("program", meter.now.to_string());
    }
    // Of NCCL's lines alone it is not known whose they are: JAX and TensorFlow call it as well.
    if event.has(Sign::Nccl) && !shows_pytorch(incident) {
        return ("program", event.accelerator().driver_meter().now.to_string());
    }
    // The name until 1.3.
    let known = release::knows(incident, "memory_summary( memory_reserved(");
    let accelerator = event.accelerator();
    let line = match accelerator {
        Accelerator::Mps => format!("print({}, torch.mps.driver_allocated_memory())", meter.now),
        Accelerator::Tpu => format!("print({})", meter.now),
        // What is allocated and what is reserved, now and at the peak, in which alone a phase that falls back shows.
        Accelerator::Cuda | Accelerator::Hip | Accelerator::Any if known => {
            "print(torch.cuda.memory_summary(abbreviated=True))".to_string()
        }
        other => {
            let reserved = if known { "reserved" } else { "cached" };
            format!("print({}, {}.memory_{reserved}())", meter.now, other.torch_module())
        }
    };
    ("pytorch", line)
}

/// Observations offered at most.
const OFFERED: usize = 3;

/// The observations that would decide between the candidates, the cheapest first: each tells at least two of them
/// apart, and together they tell as many as can be.
pub fn observations(incident: &Incident, findings: &[Finding], conclusion: Conclusion) -> Vec<Observation> {
    let printed = candidates(findings, conclusion);
    // A kill that nothing proves to be memory's: whether it is stands first.
    let bare_kill = incident.event.has(Sign::KilledWithoutProof) && !printed.contains(&DriverOrUnrelated);
    let mut found: Vec<Observation> = Vec::new();
    let mut open: Vec<(CauseId, CauseId)> = Vec::new();
    for (i, a) in printed.iter().enumerate() {
        open.extend(printed.iter().skip(i + 1).map(|b| (*a, *b)));
    }
    open.extend(printed.iter().filter(|_| bare_kill).map(|cause| (*cause, DriverOrUnrelated)));
    for test in TESTS {
        if found.len() >= OFFERED || open.is_empty() {
            break;
        }
        let decides = |pair: &(CauseId, CauseId)| separates(test, incident, pair.0, pair.1);
        // Whether it was memory at all is for the test that the kernel answers; the others tell printed causes apart.
        let asks_whether = bare_kill && found.is_empty();
        if !open.iter().any(decides) {
            continue;
        }
        // Of the first cause each says what one would see.
        if !asks_whether && printed.first().is_some_and(|first| see(test, incident, *first).is_none()) {
            continue;
        }
        let Some((target, act)) = (test.act)(incident) else { continue };
        open.retain(|pair| !decides(pair));
        let also = asks_whether.then_some(DriverOrUnrelated);
        let asked: Vec<CauseId> = printed.iter().copied().chain(also).collect();
        found.push(Observation { id: test.id, act, target, outcomes: outcomes(test, incident, &asked) });
    }
    found
}

/// What each candidate would show.
fn outcomes(test: &Test, incident: &Incident, candidates: &[CauseId]) -> Vec<Outcome> {
    let shown = |cause: &CauseId| see(test, incident, *cause).map(|(en, zh)| (*cause, Text::new(en, zh)));
    candidates.iter().filter_map(shown).map(|(then, see)| Outcome { see, then }).collect()
}

/// What one sees under a cause; `None` where it tells nothing of it.
fn see(test: &Test, incident: &Incident, cause: CauseId) -> Option<(&'static str, &'static str)> {
    // An engine that sets a share of the device aside fills it from the start, whatever the cause.
    let filled = [Preallocation, Capacity, KvCache, FrameworkLimit].contains(&cause) && pooled(incident);
    if filled && READINGS.contains(&test.id) {
        return None;
    }
    test.outcomes.iter().find(|(of, ..)| *of == cause).map(|(_, en, zh)| (*en, *zh))
}

/// Observations that read how much of the device is in use.
const READINGS: [&str; 2] = ["per-step-reading", "device-reading"];

/// True where the engine at work sets a share of the device aside.
fn pooled(incident: &Incident) -> bool {
    let around = incident.context.trainer.value().and_then(Trainer::engine);
    let uses = around.unwrap_or(incident.event.program).device_use();
    matches!(uses, DeviceUse::SizedPool { .. } | DeviceUse::PoolOfFree { .. })
}

fn separates(test: &Test, incident: &Incident, a: CauseId, b: CauseId) -> bool {
    let told = test.about.is_empty() || test.about.contains(&a) || test.about.contains(&b);
    told && matches!((see(test, incident, a), see(test, incident, b)), (Some(a), Some(b)) if a != b)
}

#[cfg(test)]
mod tests {
    use super::super::trial::{FULL_CARD, event, host, settled, torch};
    use super::super::{rank, weights::Weights};
    use super::*;
    use crate::dialect::Resource;
    use crate::domain::Program;
    use crate::evidence::{Known, Span};

    /// One incident of each asker whose resource leaves something to decide.
    fn incidents() -> Vec<Incident> {
        let mut first_step = torch(&FULL_CARD);
        first_step.context.phase = Known::Seen(Phase::Backward, Span::line(9));
        first_step.context.step = Known::Seen(0, Span::line(8));
        let mut validating = torch(&FULL_CARD);
        validating.context.phase = Known::Seen(Phase::Validation, Span::line(9));
        let mut stepping = torch(&FULL_CARD);
        stepping.context.phase = Known::Seen(Phase::OptimizerStep, Span::line(9));
        let mut loading = torch(&FULL_CARD);
        loading.context.phase = Known::Seen(Phase::Load, Span::line(9));
        vec![
            torch(&FULL_CARD),
            first_step,
            validating,
            stepping,
            loading,
            settled(event(Program::Jax, Resource::Gpu, &[])),
            settled(event(Program::Vllm, Resource::Gpu, &[])),
            settled(event(Program::LlamaCpp, Resource::Gpu, &[])),
            settled(event(Program::Vllm, Resource::KvCache, &[])),
            host(&[]),
            settled(event(Program::Pytorch, Resource::Shm, &[])),
        ]
    }

    /// Pairs of one asker whose priors are so low that they never stand first and second.
    const SELDOM: f64 = -2.6;

    #[test]
    fn every_pair_that_may_stand_first_has_an_observation_that_tells_it_apart() {
        let mut missing = Vec::new();
        for incident in incidents() {
            let asker = asker(&incident);
            let priors = Weights::get().priors(asker);
            let can = |cause: &CauseId| priors[*cause as usize].is_some_and(|prior| prior >= SELDOM);
            let causes: Vec<CauseId> = CauseId::ALL.iter().copied().filter(can).collect();
            for (i, a) in causes.iter().enumerate() {
                for b in &causes[i + 1..] {
                    if !TESTS.iter().any(|test| separates(test, &incident, *a, *b) && (test.act)(&incident).is_some()) {
                        missing.push(format!("{}: {} or {}", asker.id(), a.id(), b.id()));
                    }
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }

    #[test]
    fn observations_come_cheapest_first_and_name_what_each_outcome_means() {
        let incident = torch(&[]);
        let findings = rank(&incident);
        let observations = observations(&incident, &findings, Conclusion::Open);
        assert!(!observations.is_empty() && observations.len() <= OFFERED);
        let place = |id: &str| TESTS.iter().position(|test| test.id == id);
        assert!(observations.windows(2).all(|pair| place(pair[0].id) < place(pair[1].id)));
        for observation in &observations {
            assert!(observation.outcomes.len() >= 2, "{}", observation.id);
        }
    }

    /// After the end of a job the device's tool shows the same whatever of the job's own filled the device.
    #[test]
    fn a_look_at_the_device_is_asked_for_only_where_it_tells_printed_causes_apart() {
        let incident = torch(&[]);
        let offered = |first, second| {
            let mut findings = rank(&incident);
            findings.retain(|finding| [first, second].contains(&finding.cause.id));
            observations(&incident, &findings, Conclusion::Open).into_iter().map(|test| test.id).collect::<Vec<_>>()
        };
        for pair in [(Capacity, SingleHugeAllocation), (Capacity, TransientPeak), (Capacity, LeakGrowth)] {
            assert!(!offered(pair.0, pair.1).contains(&"device-without-the-job"), "{pair:?}");
        }
        assert_eq!(offered(Capacity, OtherProcess).first(), Some(&"device-without-the-job"));
    }

    /// A reading at the end of each step is never printed where the first fails, and loading has no batch.
    #[test]
    fn nothing_is_to_be_read_behind_the_failing_point() {
        for incident in incidents() {
            let context = &incident.context;
            let loads = context.phase.value() == Some(Phase::Load);
            let apart = context.phase.value() == Some(Phase::Validation);
            let steps = context.phase.value() == Some(Phase::OptimizerStep);
            if !loads && !apart && !steps && !context.step.is_known() {
                continue;
            }
            for test in TESTS {
                let Some((_, act)) = (test.act)(&incident) else { continue };
                assert!(steps || !act.en.contains("end of each step"), "{}", test.id);
                assert!(!(loads || steps) || !act.en.contains("batch of 1"), "{}", test.id);
            }
        }
    }

    #[test]
    fn the_kernels_log_is_asked_for_only_where_somebody_was_killed() {
        let refused = host(&[(Fact::Requested, "9.10 GiB"), (Fact::Free, "7.80 GiB")]);
        let kernel = TESTS.iter().find(|test| test.id == "kernel-log").expect("the test");
        assert_eq!((kernel.act)(&refused), None);
    }

    #[test]
    fn an_engine_on_pytorch_is_read_by_the_devices_tool_and_not_by_an_expression() {
        let engine = settled(event(Program::Sglang, Resource::Gpu, &super::super::trial::FULL_CARD));
        let (_, line) = per_step(&engine);
        assert!(!line.contains("print(") && line.contains("nvidia-smi"), "{line}");
        assert!(per_step(&torch(&FULL_CARD)).1.starts_with("print(torch.cuda.memory_summary("));
    }

    #[test]
    fn a_bare_kill_asks_for_the_kernels_log_first() {
        let mut kill = host(&[]);
        kill.event.sign(Sign::KilledWithoutProof);
        let findings = rank(&kill);
        assert_eq!(observations(&kill, &findings, Conclusion::Open).first().map(|first| first.id), Some("kernel-log"));
    }
}
