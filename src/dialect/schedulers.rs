//! Schedulers other than Slurm and Kubernetes that enforce a memory limit: YARN with Spark, LSF, PBS, hosted notebooks.

use super::joined::Printed;
use super::labelled::{Labelled, spoken};
use super::wording::{self, Unit, WORDING, Wording};
use super::{Dialect, Event, Fact, Resource, Sign, field};
use crate::domain::Program;
use crate::evidence::Span;
use crate::input::Document;
use crate::units::{Base, Figure, MIB};

pub const DIALECT: Dialect = Dialect {
    name: "schedulers",
    triggers: &[
        "emory limit",
        "illed",
        "llocate ",
        "(?i)kb exceeded limit",
        "exceeded MEM usage ",
        "(?i)exceeding memory",
        "(?i)running beyond",
        "(?i) beyond the '",
        "(?i)physical memory used",
        "(?i)exceeded resource ",
        "(?i)memory resource limit",
        "(?i)exceeds job hard limit",
        "(?i)term_swap",
        "(?i)held due to oom",
        "(?i)periodic_hold",
        "(?i)periodic hold",
        "(?i)out-of-memory event",
        "(?i)is out of memory",
        "(?i)request_memory",
        "(?i)run out of memory",
        "(?i)ran out-of-memory",
        "(?i)low on memory",
        "(?i)with more memory",
        "(?i)process terminated by signal",
        "(?i)terminated for an unknown reason",
        "(?i)driver has stopped unexpectedly",
        "(?i)driver_not_responding",
        "(?i)lost communication with the server",
        "(?i)qsub: out of memory",
    ],
    read,
};

const LIMIT: &[Sign] = &[Sign::KilledWithProof, Sign::RefusedByLimit];
const GUESS: &[Sign] = &[Sign::KilledWithoutProof];

/// Schedulers and hosted platforms with one sentence each.
const TABLE: &[Wording] = &[
    // The server's log and mail of PBS; the kilobytes are 1024 bytes.
    Wording {
        says: &["exceededlimit"],
        and: &["vmem", "kb"],
        near: &["pbs"],
        slug: "pbs-memory-limit",
        program: Program::Pbs,
        resource: Resource::Cgroup,
        signs: LIMIT,
        figures: &[
            (Fact::TotalVm, "vmemjobtotal", Unit::Printed(Base::Binary)),
            (Fact::TotalVm, "vmem", Unit::Printed(Base::Binary)),
            (Fact::Limit, "exceededlimit", Unit::Printed(Base::Binary)),
        ],
        ..WORDING
    },
    Wording {
        says: &["exceededlimit"],
        and: &["mem", "kb"],
        near: &["pbs"],
        slug: "pbs-memory-limit",
        program: Program::Pbs,
        resource: Resource::Cgroup,
        signs: LIMIT,
        figures: &[
            (Fact::Used, "memjobtotal", Unit::Printed(Base::Binary)),
            (Fact::Used, "mem", Unit::Printed(Base::Binary)),
            (Fact::Limit, "exceededlimit", Unit::Printed(Base::Binary)),
        ],
        ..WORDING
    },
    // Torque's, in bytes.
    Wording {
        says: &["pbs:jobkilled:vmem"],
        and: &["exceededlimit"],
        slug: "pbs-memory-limit",
        program: Program::Pbs,
        resource: Resource::Cgroup,
        signs: LIMIT,
        figures: &[(Fact::TotalVm, "vmem", Unit::Of(1)), (Fact::Limit, "exceededlimit", Unit::Of(1))],
        ..WORDING
    },
    Wording {
        says: &["pbs:jobkilled:mem", "pbs:jobkilled:pmem"],
        and: &["exceededlimit"],
        slug: "pbs-memory-limit",
        program: Program::Pbs,
        resource: Resource::Cgroup,
        signs: LIMIT,
        figures: &[(Fact::Used, "mem", Unit::Of(1)), (Fact::Limit, "exceededlimit", Unit::Of(1))],
        ..WORDING
    },
    Wording {
        says: &["jobexceededresourcemem", "jobexceededresourcevmem", "jobexceededresourcepmem"],
        slug: "pbs-memory-limit",
        program: Program::Pbs,
        resource: Resource::Cgroup,
        signs: LIMIT,
        ..WORDING
    },
    Wording {
        says: &["jobexceededamemoryresourcelimit"],
        slug: "pbs-memory-limit",
        program: Program::Pbs,
        signs: LIMIT,
        figures: &[
            (Fact::TotalVm, "resources_used.vmem=", Unit::Printed(Base::Binary)),
            (Fact::Used, "resources_used.mem=", Unit::Printed(Base::Binary)),
            (Fact::Limit, "req_information.total_memory.0=", Unit::Printed(Base::Binary)),
            (Fact::Limit, "resource_list.mem=", Unit::Printed(Base::Binary)),
        ],
        lines: 16,
        ..WORDING
    },
    Wording { says: &["qsub:outofmemory"], slug: "pbs-qsub", program: Program::Pbs, ..WORDING },
    // Grid Engine prints bytes as decimals.
    Wording {
        says: &["exceedsjobhardlimit\"h_vmem\"", "exceedsjobhardlimit\"s_vmem\""],
        slug: "sge-memory-limit",
        program: Program::Sge,
        resource: Resource::Cgroup,
        signs: LIMIT,
        figures: &[(Fact::TotalVm, "\"(", Unit::Of(1)), (Fact::Limit, "limit:", Unit::Of(1))],
        ..WORDING
    },
    Wording {
        says: &["exceedsjobhardlimit\"h_rss\"", "exceedsjobhardlimit\"s_rss\""],
        slug: "sge-memory-limit",
        program: Program::Sge,
        resource: Resource::Cgroup,
        signs: LIMIT,
        figures: &[(Fact::Used, "\"(", Unit::Of(1)), (Fact::Limit, "limit:", Unit::Of(1))],
        ..WORDING
    },
    // HTCondor: MB and Mb are 2^20, a limit without a unit is in bytes.
    Wording {
        says: &["gonememory", "hasgoneovercgroupmemorylimitof", "hasgoneovermemorylimitof"],
        slug: "htcondor-memory-limit",
        program: Program::HtCondor,
        resource: Resource::Cgroup,
        signs: LIMIT,
        figures: &[(Fact::Limit, "memorylimitof", Unit::Of(MIB)), (Fact::Used, "lastmeasuredusage", Unit::Of(MIB))],
        ..WORDING
    },
    Wording {
        says: &["evictingjobbecausesystemisoutofmemory"],
        slug: "htcondor-node-memory",
        program: Program::HtCondor,
        signs: &[Sign::KilledWithProof],
        figures: &[(Fact::Used, "usageis", Unit::Of(MIB)), (Fact::Limit, "limitis", Unit::Of(1))],
        ..WORDING
    },
    Wording {
        says: &["workernodeisoutofmemory"],
        slug: "htcondor-node-memory",
        program: Program::HtCondor,
        signs: &[Sign::KilledWithProof],
        ..WORDING
    },
    Wording {
        says: &[
            "jobwasheldduetooomevent",
            "jobhasencounteredanout-of-memoryevent",
            "jobwasoomkilledbycgroupmemorylimit",
        ],
        slug: "htcondor-memory-limit",
        program: Program::HtCondor,
        resource: Resource::Cgroup,
        signs: LIMIT,
        ..WORDING
    },
    // What a pool's policy says of a job that it holds; the figure behind it is in a unit of the policy's own.
    Wording {
        says: &["periodic_holdduetomemory", "periodicholdduetomemory"],
        slug: "htcondor-memory-limit",
        program: Program::HtCondor,
        resource: Resource::Cgroup,
        signs: LIMIT,
        ..WORDING
    },
    Wording {
        says: &["memoryusageexceededrequest_memory"],
        slug: "htcondor-memory-limit",
        program: Program::HtCondor,
        signs: LIMIT,
        ..WORDING
    },
    Wording {
        says: &["term_swap:jobkilled"],
        slug: "lsf-swap-limit",
        program: Program::Lsf,
        resource: Resource::Cgroup,
        signs: LIMIT,
        ..WORDING
    },
    Wording {
        says: &["isunderoombecauseitexceededitsphysicalmemorylimit"],
        slug: "yarn-container-killed",
        program: Program::Yarn,
        resource: Resource::Cgroup,
        signs: LIMIT,
        ..WORDING
    },
    // Maui counts memory in MiB (`MEM`), whatever the job's owner wrote. Above a soft limit it only tells.
    Wording {
        says: &["exceededmemusagehardlimit"],
        slug: "maui-memory-limit",
        program: Program::Pbs,
        resource: Resource::Cgroup,
        signs: LIMIT,
        figures: &[(Fact::Used, "limit(", Unit::Of(1 << 20)), (Fact::Limit, ">", Unit::Of(1 << 20))],
        ..WORDING
    },
    // Hosted platforms.
    Wording {
        says: &["processterminatedbysignal"],
        and: &["signal=-9"],
        slug: "airflow-task-killed",
        program: Program::Airflow,
        signs: GUESS,
        ..WORDING
    },
    Wording {
        says: &["itmayhaverunoutofmemory(oom)"],
        slug: "azureml-terminated",
        program: Program::AzureMl,
        signs: GUESS,
        ..WORDING
    },
    Wording {
        says: &["thereplica"],
        and: &["ranout-of-memoryandexited"],
        slug: "vertex-ai-out-of-memory",
        program: Program::VertexAi,
        signs: &[Sign::KilledWithProof],
        ..WORDING
    },
    Wording {
        says: &["replicaslowonmemory:"],
        and: &["exitedwithanon-zerostatusof9"],
        lines: 2,
        slug: "vertex-ai-out-of-memory",
        program: Program::VertexAi,
        signs: &[Sign::KilledWithProof],
        ..WORDING
    },
    Wording {
        says: &["pleaseuseaninstancetypewithmorememory"],
        slug: "sagemaker-instance-memory",
        program: Program::SageMaker,
        signs: &[Sign::KilledWithProof],
        ..WORDING
    },
    Wording {
        says: &["thesparkdriverhasstoppedunexpectedlyandisrestarting"],
        slug: "databricks-driver-restarted",
        program: Program::Databricks,
        signs: GUESS,
        ..WORDING
    },
    Wording {
        says: &["driver_not_responding"],
        and: &["duetogc"],
        slug: "databricks-driver-collecting",
        program: Program::Databricks,
        signs: GUESS,
        ..WORDING
    },
    Wording {
        says: &["lostcommunicationwiththeserver"],
        and: &["starvesitforcpu/memory"],
        slug: "github-runner-lost",
        program: Program::GithubActions,
        signs: &[Sign::EndUntold, Sign::KilledWithoutProof],
        ..WORDING
    },
    Wording {
        says: &["terminatedforanunknownreason"],
        and: &["bytheexternalsystem"],
        slug: "nextflow-terminated",
        program: Program::Nextflow,
        signs: GUESS,
        ..WORDING
    },
];

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let start = |dialect, program| {
        let mut event = field::event(document, position, dialect, program, Resource::Cgroup);
        event.sign(Sign::KilledWithProof);
        event.sign(Sign::RefusedByLimit);
        event
    };
    if let Some(event) = yarn(document, position, start) {
        return Some(event);
    }
    if line.contains("TERM_MEMLIMIT") {
        let mut event = start("lsf-memory-limit", Program::Lsf);
        let report = || field::before(position, 30).chain(field::behind(document, position, 30));
        for (fact, label) in [(Fact::Limit, "TotalRequestedMemory:"), (Fact::Peak, "MaxMemory:")] {
            let printed = report().find_map(|at| {
                let message = field::joined(document, at, 1);
                let from = message.after(label, 0)?;
                let (printed, end) = message.size_at(from, Base::Binary)?;
                // Whole, or with two decimals: three digits behind a point are thousands, which LSF never sets apart.
                let decimals = message
                    .squeezed
                    .get(from..end)?
                    .split_once('.')
                    .map_or(0, |(_, rest)| rest.bytes().take_while(u8::is_ascii_digit).count());
                match printed {
                    Printed::Size(figure) if decimals <= 2 => Some(figure),
                    _ => None,
                }
            });
            if let Some(figure) = printed {
                event.facts.note(fact, figure);
            }
        }
        // `bjobs -l` sets the figure below its heading.
        let heading = report().find(|at| field::text(document, *at).trim() == "MEMLIMIT");
        if let Some(below) = heading.map(|at| at + 1)
            && let Some((Printed::Size(figure), _)) = field::joined(document, below, 1).size_at(0, Base::Binary)
        {
            event.facts.note(Fact::Limit, figure);
        }
        return Some(event);
    }
    // A hosted Space tells its limit, a hosted notebook only that it had one.
    let behind = line.split_once("Memory limit exceeded (").map(|(_, behind)| behind);
    if behind.is_some_and(|size| size.starts_with(|c: char| c.is_ascii_digit())) {
        let mut event = start("space-memory-limit", Program::HuggingFace);
        if let Some(size) =
            Labelled::at(document, position, 2).figure("memorylimitexceeded(", Unit::Printed(Base::Binary))
        {
            event.facts.note(Fact::Limit, Figure { half_width: 0, ..size });
        }
        return Some(event);
    }
    if line.contains("tried to allocate more memory than is available") {
        return Some(Event { resource: Resource::Host, ..start("notebook-memory-limit", Program::Kaggle) });
    }
    wording::read(document, position, TABLE)
}

/// `Container killed by YARN for exceeding memory limits. A GB of B GB physical memory used`, or NodeManager's own
/// words. The figures are 2^30 bytes (`TraditionalBinaryPrefix`).
fn yarn(document: &Document, position: usize, start: impl Fn(&'static str, Program) -> Event) -> Option<Event> {
    const SAID: [&str; 6] = [
        "exceedingmemorylimits",
        "exceedingphysicalmemorylimits",
        "exceedingvirtualmemorylimits",
        "beyondphysicalmemorylimits",
        "beyondvirtualmemorylimits",
        "bbeyondthe'",
    ];
    let at = spoken(document, position, &SAID)?;
    let lines = Labelled::at(document, position.saturating_sub(1), 4);
    // What is said of a container stands in front: `… for exceeding memory limits. If running in a container, …`.
    let said = SAID.iter().filter_map(|words| lines.lower.find(words)).min().unwrap_or(0);
    let of_a_container = lines.lower.get(..said).is_some_and(|before| before.contains("container"));
    if !(of_a_container && lines.lower.contains("memorylimit")) {
        return None;
    }
    let by_spark = ["YarnAllocator", "TaskSetManager", "ExecutorLostFailure", "YarnScheduler", "killed by YARN"];
    let around = || field::before(position + 1, 6).chain(field::behind(document, position, 6));
    let spark = around().any(|at| by_spark.iter().any(|word| field::text(document, at).contains(word)));
    let mut event = start("yarn-container-killed", if spark { Program::Spark } else { Program::Yarn });
    event.at = Span::lines(at.first.min(event.at.first), at.last.max(event.at.last));
    let pid = lines.count("[pid=").map(|(pid, _)| pid);
    field::note_pid(&mut event, pid);
    let message = &lines.text;
    // Spark repeats the limit without its kind; the figures behind it tell.
    let only_virtual = message.contains("virtualmemoryused") && !message.contains("physicalmemoryused");
    let of_virtual = only_virtual
        || lines.lower.contains("beyondvirtualmemorylimits")
        || lines.lower.contains("'virtual'memorylimit");
    if of_virtual {
        event.sign(Sign::AddressSpaceLimit);
    }
    let (which, used_is) =
        if of_virtual { ("virtualmemoryused", Fact::TotalVm) } else { ("physicalmemoryused", Fact::Used) };
    if let Some(end) = message.find(which, 0)
        && let Some((Printed::Size(limit), from)) = message.size_before(end, Base::Binary)
    {
        event.facts.note(Fact::Limit, limit);
        let used = message.squeezed.get(..from).filter(|text| text.ends_with("of")).map(|text| text.len() - "of".len());
        if let Some((Printed::Size(used), _)) = used.and_then(|end| message.size_before(end, Base::Binary)) {
            event.facts.note(used_is, used);
        }
    }
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(log: &str) -> (Option<u64>, Option<u64>) {
        let document = Document::from_text("-", log);
        let event = (0..document.lines.len()).find_map(|position| read(&document, position)).unwrap();
        let bytes = |fact| event.facts.get(fact).map(|figure| figure.bytes);
        (bytes(Fact::Used).or(bytes(Fact::Peak)), bytes(Fact::Limit))
    }

    #[test]
    fn each_scheduler_in_its_units() {
        assert_eq!(facts("Memory limit exceeded (16Gi)"), (None, Some(16 << 30)));
        assert_eq!(
            facts(
                "Container killed by YARN for exceeding memory limits. 5.5 GB of 5 GB physical memory used. Consider boosting"
            ),
            (Some(11 << 29), Some(5 << 30))
        );
        assert_eq!(
            facts(
                "Container [pid=9,containerID=c] is running beyond physical memory limits. Current usage: 2.5 GB of 2 GB physical memory used; 4.0 GB of 4.2 GB virtual memory used. Killing container."
            ),
            (Some(5 << 29), Some(2 << 30))
        );
        assert_eq!(
            facts(
                "Container killed by YARN for exceeding memory limits. 7.0 GB of 4.5 GB virtual memory used. Consider \
                 boosting spark.yarn.executor.memoryOverhead."
            ),
            (None, Some(9 << 29))
        );
        assert_eq!(
            facts("=>> PBS: job killed: mem 2097152kb exceeded limit 1048576kb"),
            (Some(2 << 30), Some(1 << 30))
        );
        assert_eq!(
            facts("=>> PBS: job killed: mem 2147483648 exceeded limit 1073741824\n$ ls\n"),
            (Some(2 << 30), Some(1 << 30))
        );
        assert_eq!(
            facts(
                "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n    Max Memory :             512 MB"
            ),
            (Some(512 << 20), None)
        );
    }
}
