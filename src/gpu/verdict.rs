//! What the readings of a GPU mean for a job that ran out of memory. One rule a row, tested in the order of the table:
//! limits come before neighbours, neighbours before leftovers, and demand comes last.

use super::attribution::{DRIVERS_OWN, Reason};
use super::visibility::Mapping;
use super::{Gpu, Survey, Virtualization, context_size, platform, products};
use crate::order::InOrder;
use crate::reading::Reading;
use crate::text::Text;
use crate::units::{Bytes, MIB};

/// What is known of the job whose failure is looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FailedJob {
    /// Bytes that it asks for.
    pub need: Option<u64>,
    /// Its process, as the driver numbers it.
    pub pid: Option<u32>,
    /// What PyTorch had reserved.
    pub reserved: Option<u64>,
    /// What of that was unallocated.
    pub idle: Option<u64>,
}

/// A judgement about one GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    pub id: &'static str,
    pub text: Text,
}

/// One row of the table.
pub struct Rule {
    pub id: &'static str,
    test: fn(&Case) -> Option<Text>,
}

struct Case<'a> {
    gpu: &'a Gpu,
    survey: &'a Survey,
    mapping: &'a Mapping,
    question: FailedJob,
}

/// The one judgement that finds nothing wrong.
pub const FITS_NOW: &str = "fits-now";

/// The table. Later rows are tested all the same: more than one thing can be wrong.
pub const RULES: &[Rule] = &[
    Rule { id: "quota", test: quota },
    Rule { id: "hidden-limit", test: hidden_limit },
    Rule { id: "neighbour", test: neighbour },
    Rule { id: "unexplained", test: unexplained },
    Rule { id: "overhead", test: overhead },
    Rule { id: "slice", test: slice },
    Rule { id: "wrong-device", test: wrong_device },
    Rule { id: "hardware", test: hardware },
    Rule { id: "unified-memory", test: unified_memory },
    Rule { id: "fragmentation-candidate", test: fragmentation },
    Rule { id: "demand", test: demand },
    Rule { id: FITS_NOW, test: fits_now },
];

/// All verdicts about a GPU, in the order of the table; faults of the hardware are told before any advice on memory.
pub fn verdicts(gpu: &Gpu, survey: &Survey, mapping: &Mapping, question: FailedJob) -> Vec<Judgement> {
    let case = Case { gpu, survey, mapping, question };
    let mut out: Vec<Judgement> = Vec::new();
    for rule in RULES {
        // The last two are what remains where nothing else holds the memory.
        let last = matches!(rule.id, "fragmentation-candidate" | "demand" | FITS_NOW);
        if last && out.iter().any(|verdict| !matches!(verdict.id, "slice" | "unified-memory" | "wrong-device")) {
            continue;
        }
        if let Some(text) = (rule.test)(&case) {
            out.push(Judgement { id: rule.id, text });
        }
    }
    out.order_by_key(|verdict| verdict.id != "hardware");
    out
}

impl Case<'_> {
    /// What is missing for the need: known only where a need was given.
    fn deficit(&self) -> Option<u64> {
        let free = self.gpu.memory.as_ref().ok()?.free;
        self.question.need.map(|need| need.saturating_sub(free))
    }

    /// Whether an amount is enough to matter: it would have covered what is missing, or, where nothing was asked, it is
    /// more than a tenth of the device.
    fn matters(&self, bytes: u64) -> bool {
        match (self.deficit(), &self.gpu.memory) {
            (Some(0), _) => false,
            (Some(deficit), _) => bytes >= deficit,
            (None, Ok(memory)) => bytes > memory.total / 10,
            (None, Err(_)) => false,
        }
    }
}

fn quota(case: &Case) -> Option<Text> {
    let need = case.question.need;
    let reached = |limit: u64, used: u64| {
        let left = limit.saturating_sub(used);
        need.map_or(used as f64 >= 0.9 * limit as f64, |need| left < need)
    };
    let pci = case.gpu.pci.as_ref().ok().map(|pci| short_address(pci));
    if let (Ok(groups), Some(pci)) = (&case.survey.host.groups, &pci) {
        for group in &groups.groups {
            for device in
                group.devices.iter().filter(|device| device.region.to_ascii_lowercase().contains(pci.as_str()))
            {
                if let Ok(used) = device.current
                    && reached(device.limit, used)
                {
                    let (used, limit, path) = (Bytes(used), Bytes(device.limit), &group.path);
                    return Some(crate::text!(
                        en: "control group {path} limits this GPU's memory: {used} of {limit} used; free memory of the \
                             device does not help. Raise dmem.max.",
                        zh: "控制组 {path} 限制了此 GPU 的显存：{limit} 中已用 \
                             {used}；设备上的空闲显存无济于事。请提高 dmem.max。"
                    ));
                }
            }
        }
    }
    let processes = case.gpu.processes.as_ref().ok()?;
    processes.iter().find_map(|process| {
        let limit = mps_limit(process.mps_limit.as_deref()?, case.gpu.index)?;
        let used = process.bytes.clone().ok()?;
        let (pid, shown, of) = (process.pid, Bytes(used), Bytes(limit));
        reached(limit, used).then(|| {
            crate::text!(
                en: "process {pid} is limited by CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: {shown} of {of} used",
                zh: "进程 {pid} 受 CUDA_MPS_PINNED_DEVICE_MEM_LIMIT 限制：{of} 中已用 {shown}"
            )
        })
    })
}

/// `0=2G,1=512M`: the limit of one device; a bare size holds for all.
fn mps_limit(text: &str, index: u32) -> Option<u64> {
    text.split(',').find_map(|part| {
        let size = match part.split_once('=') {
            Some((device, size)) => (device.trim().parse() == Ok(index)).then_some(size)?,
            None => part,
        };
        crate::units::parse(size, crate::units::Base::Binary).map(|size| size.bytes).filter(|bytes| *bytes > 0)
    })
}

fn hidden_limit(case: &Case) -> Option<Text> {
    let free = case.gpu.memory.as_ref().ok()?.free;
    let cuda = case.gpu.cuda_free.clone().ok()?;
    let gap = free.checked_sub(cuda).filter(|gap| *gap > 256 * MIB)?;
    let (gap, free, cuda) = (Bytes(gap), Bytes(free), Bytes(cuda));
    Some(crate::text!(
        en: "CUDA offers {cuda}, the driver has {free} free: a limit or Windows' budget that is not visible here keeps \
             {gap} back",
        zh: "CUDA 可用 {cuda}，而驱动空闲 {free}：某个在此不可见的限制或 Windows 预算扣留了 {gap}"
    ))
}

fn neighbour(case: &Case) -> Option<Text> {
    let processes = case.gpu.processes.as_ref().ok()?;
    let mut foreign: Vec<(u64, &super::GpuProcess)> = processes
        .iter()
        .filter(|process| Some(process.pid) != case.question.pid)
        .filter_map(|process| Some((process.bytes.clone().ok()?, process)))
        .collect();
    foreign.order_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let sum = foreign.iter().fold(0u64, |sum, (bytes, _)| sum.saturating_add(*bytes));
    if foreign.is_empty() || !case.matters(sum) {
        return None;
    }
    let list: Vec<String> = foreign
        .iter()
        .take(3)
        .map(|(bytes, process)| {
            let pid = process.pid;
            let name = process.name().map(|name| format!(" ({name})")).unwrap_or_default();
            format!("{pid}{name} {}", Bytes(*bytes))
        })
        .collect();
    let (count, sum, list) = (foreign.len(), Bytes(sum), list.join(", "));
    let hold = if count == 1 { "process holds" } else { "processes hold" };
    let (which, which_zh) = if case.survey.host_pids { ("", "") } else { ("host ", "宿主机") };
    Some(crate::text!(
        en: "{count} {hold} {sum}: {which}pid {list}",
        zh: "{count} 个进程共占用 {sum}：{which_zh}进程 {list}"
    ))
}

fn unexplained(case: &Case) -> Option<Text> {
    let attribution = case.gpu.attribution.as_ref().ok()?;
    let worth = match case.deficit() {
        Some(_) => case.matters(attribution.unexplained),
        None => attribution.unexplained > DRIVERS_OWN,
    };
    if !worth || matches!(attribution.reason, Reason::Rounding | Reason::Instances | Reason::DriversOwn) {
        return None;
    }
    let (amount, why, why_zh) = (Bytes(attribution.unexplained), &attribution.text.en, &attribution.text.zh);
    Some(crate::text!(
        en: "{amount} in use by no listed process: {why}",
        zh: "{amount} 不属于任何已列出的进程：{why_zh}"
    ))
}

fn overhead(case: &Case) -> Option<Text> {
    let pid = case.question.pid?;
    let reserved = case.question.reserved?;
    let process = case.gpu.processes.as_ref().ok()?.iter().find(|process| process.pid == pid)?;
    let outside = process.bytes.clone().ok()?.checked_sub(reserved)?;
    let (low, high) = context_size::overhead(case.gpu.multiprocessors.clone().ok()?);
    let expected = low.midpoint(high);
    if outside as f64 <= 1.5 * expected as f64 {
        return None;
    }
    let (outside, low, high) = (Bytes(outside), Bytes(low), Bytes(high));
    Some(crate::text!(
        en: "process {pid} holds {outside} beside PyTorch's cache, where context and modules typically take {low} … \
             {high}: NCCL buffers of each process group, CUDA graphs and libraries outside PyTorch come first",
        zh: "进程 {pid} 在 PyTorch 缓存之外占用 {outside}，而上下文与模块通常只需 {low} … {high}：请先检查各进程组的 \
             NCCL 缓冲、CUDA graph 以及 PyTorch 之外的\
             库"
    ))
}

fn slice(case: &Case) -> Option<Text> {
    let memory = case.gpu.memory.as_ref().ok()?;
    let name = case.gpu.name.as_ref().ok()?;
    let nominal = products::nominal(name)?;
    if memory.total as f64 >= 0.97 * nominal as f64 {
        return None;
    }
    let (total, sold) = (Bytes(memory.total), Bytes(nominal));
    let (en, zh) = if case.gpu.virtualization == Ok(Virtualization::VGpu) {
        ("a vGPU profile gives this machine a part of the board", "vGPU 配置只分配了显卡的一部分")
    } else if case.gpu.ecc.as_ref().is_ok_and(|ecc| ecc.enabled) && products::ecc_costs_memory(name) {
        ("error correction (ECC) of this board is kept in the same memory", "此显卡的 ECC 校验数据占用同一块显存")
    } else {
        ("an instance, a vGPU profile or error correction takes the rest", "其余部分被实例划分、vGPU 配置或 ECC 占用")
    };
    Some(crate::text!(en: "{total} of nominally {sold}: {en}", zh: "标称 {sold}，实际 {total}：{zh}"))
}

fn wrong_device(case: &Case) -> Option<Text> {
    let list = case.survey.visibility.list.as_deref().unwrap_or_default();
    let instances = list.split(',').filter(|entry| entry.trim().starts_with("MIG-")).count();
    if case.gpu.mig.as_ref().is_ok_and(|mig| mig.enabled) {
        let parent = case
            .mapping
            .entries
            .iter()
            .any(|entry| entry.gpu == case.gpu.index && entry.instance.is_none() && !entry.written.is_empty());
        if parent {
            return Some(crate::text!(
                en: "CUDA_VISIBLE_DEVICES={list} names the divided GPU; programs need the UUID of one instance (MIG-…, \
                     nvidia-smi -L)",
                zh: "CUDA_VISIBLE_DEVICES={list} 指向被划分的整块 GPU；程序需要某个实例的 UUID（MIG-…，见 nvidia-smi \
                     -L）"
            ));
        }
        if instances > 1 {
            return Some(crate::text!(
                en: "CUDA_VISIBLE_DEVICES names {instances} MIG instances; CUDA programs of older stacks use the first \
                     alone",
                zh: "CUDA_VISIBLE_DEVICES 列出了 {instances} 个 MIG 实例；较旧的 CUDA 程序只会使用第一个"
            ));
        }
    }
    // The list is one for all GPUs: told once.
    let is_first = case.survey.gpus.first().is_some_and(|first| first.index == case.gpu.index);
    if is_first && case.mapping.stopped_at.is_some() {
        return case.mapping.text();
    }
    None
}

fn hardware(case: &Case) -> Option<Text> {
    let gpu = case.gpu;
    let mut en = Vec::new();
    let mut zh = Vec::new();
    let mut add = |text: Text| {
        en.push(text.en);
        zh.push(text.zh);
    };
    if let Ok(ecc) = &gpu.ecc
        && let Ok(count) = ecc.volatile_uncorrected
        && count > 0
    {
        add(crate::text!(
            en: "{count} uncorrectable memory error(s) since the driver was loaded",
            zh: "驱动加载以来有 {count} 个不可纠正的显存错误"
        ));
    }
    if let Ok(rows) = &gpu.remapped {
        if rows.failed {
            add(Text::new(
                "remapping a memory row failed: the board is to be replaced",
                "显存行重映射失败：应更换显卡",
            ));
        } else if rows.pending {
            add(Text::new("a memory row is to be remapped: the GPU needs a reset", "有显存行等待重映射：GPU 需要重置"));
        }
    }
    if let (Ok(log), Ok(pci)) = (&case.survey.host.kernel, &gpu.pci) {
        let address = short_address(pci);
        let last = log.xids.iter().rev().find(|xid| xid.is_hardware() && address.starts_with(xid.pci.as_str()));
        if let Some(xid) = last {
            let (number, meaning) = (xid.number, xid.meaning());
            let (said, said_zh) = (meaning.en, meaning.zh);
            add(crate::text!(
                en: "the kernel's log has Xid {number}, which by NVIDIA's catalogue usually means: {said}",
                zh: "内核日志中有 Xid {number}，按 NVIDIA 的 Xid 列表通常表示：{said_zh}"
            ));
        }
    }
    if en.is_empty() {
        return None;
    }
    let (en, zh) = (en.join("; "), zh.join("；"));
    Some(crate::text!(
        en: "{en}. See to this before any advice on memory.",
        zh: "{zh}。请先处理硬件问题，再考虑显存建议。"
    ))
}

fn unified_memory(case: &Case) -> Option<Text> {
    let host = case.survey.host.memory.as_ref();
    if !platform::is_unified(case.gpu, host.ok().map(|memory| memory.total)) {
        return None;
    }
    let available: Reading<u64> = host.map_err(Clone::clone).and_then(|memory| memory.available.clone());
    Some(match available {
        Ok(bytes) => {
            let bytes = Bytes(bytes);
            crate::text!(
                en: "GPU and processor share the memory: {bytes} are available (MemAvailable). CUDA counts the file \
                     cache as used; what the host holds is the first suspect",
                zh: "GPU 与 CPU 共享内存：可用 {bytes}（MemAvailable）。CUDA 会把文件缓存计为已用；首先应检查主机侧占用"
            )
        }
        Err(reason) => {
            let (en, zh) = (reason.why.en, reason.why.zh);
            crate::text!(
                en: "GPU and processor share the memory; how much is available is not known: {en}",
                zh: "GPU 与 CPU 共享内存；可用量未知：{zh}"
            )
        }
    })
}

fn fragmentation(case: &Case) -> Option<Text> {
    let need = case.question.need?;
    let idle = case.question.idle?;
    let free = case.gpu.memory.as_ref().ok()?.free;
    if idle < need || free >= need {
        return None;
    }
    let (idle, need) = (Bytes(idle), Bytes(need));
    Some(crate::text!(
        en: "{idle} lie idle in PyTorch's cache for a request of {need}: fragmentation is possible; `oomdoc probe \
             --reproduce` on a memory snapshot of the failure proves or refutes it, these sums do not",
        zh: "PyTorch 缓存中有 {idle} 空闲，而请求为 {need}：可能是碎片化；对失败时的显存快照运行 `oomdoc probe \
             --reproduce` 才能证实或推翻，仅凭总和不能"
    ))
}

fn demand(case: &Case) -> Option<Text> {
    let need = case.question.need?;
    let memory = case.gpu.memory.as_ref().ok()?;
    if memory.free >= need || case.question.idle.is_some_and(|idle| idle >= need) {
        return None;
    }
    let (asked, free) = (Bytes(need), Bytes(memory.free));
    if need > memory.total {
        let total = Bytes(memory.total);
        return Some(crate::text!(
            en: "{asked} are more than the {total} of this GPU: the job asks for more than there is",
            zh: "需要 {asked}，超过此 GPU 的 {total}：作业本身需求过大"
        ));
    }
    let own = |pid: u32| case.question.pid == Some(pid);
    let listed = match &case.gpu.processes {
        Ok(processes) => processes,
        Err(reason) => {
            let (en, zh) = (&reason.why.en, &reason.why.zh);
            return Some(crate::text!(
                en: "{free} free for {asked}; who is in the way is not known: {en}",
                zh: "需要 {asked}，空闲 {free}；占用者未知：{zh}"
            ));
        }
    };
    let others: Vec<_> = listed.iter().filter(|process| !own(process.pid)).collect();
    let pids = |of: &[u32]| of.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let untold: Vec<u32> = others.iter().filter(|process| process.bytes.is_err()).map(|process| process.pid).collect();
    if !untold.is_empty() {
        let list = pids(&untold);
        return Some(crate::text!(
            en: "{free} free for {asked}; who is in the way is not known: the memory of process {list} is not reported",
            zh: "需要 {asked}，空闲 {free}；占用者未知：没有给出进程 {list} 的显存"
        ));
    }
    let held =
        others.iter().filter_map(|process| process.bytes.as_ref().ok()).fold(0u64, |sum, b| sum.saturating_add(*b));
    if held > 0 {
        let together = Bytes(memory.free.saturating_add(held));
        let (list, held) = (pids(&others.iter().map(|process| process.pid).collect::<Vec<_>>()), Bytes(held));
        return Some(crate::text!(
            en: "{free} free for {asked}; process {list} holds {held}, and even without it there would be {together}",
            zh: "需要 {asked}，空闲 {free}；进程 {list} 占用 {held}，即使没有它也只有 {together}"
        ));
    }
    Some(crate::text!(
        en: "{free} free for {asked}, and no limit, neighbour or leftover holds the rest: the job asks for more than \
             there is",
        zh: "需要 {asked}，空闲 {free}，且没有限制、其他进程或残留占用：作业本身需求过大"
    ))
}

fn fits_now(case: &Case) -> Option<Text> {
    let need = case.question.need?;
    let memory = case.gpu.memory.as_ref().ok()?;
    if memory.free < need {
        return None;
    }
    let (need, free) = (Bytes(need), Bytes(memory.free));
    Some(crate::text!(en: "{need} fit now: {free} are free", zh: "{need} 现在放得下：空闲 {free}"))
}

/// `00000000:3B:00.0` as the kernel writes it: `0000:3b:00.0`.
fn short_address(pci: &str) -> String {
    let lower = pci.to_ascii_lowercase();
    match lower.split_once(':') {
        Some((domain, rest)) => {
            format!("{:0>4}:{rest}", domain.get(domain.len().saturating_sub(4)..).unwrap_or(domain))
        }
        None => lower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::visibility::Visibility;
    use crate::gpu::{Driver, Memory, Source};
    use crate::host::{Host, Root};
    use crate::reading::unavailable;
    use crate::units::GIB;

    fn ids(gpu: &Gpu, question: FailedJob) -> Vec<&'static str> {
        let no = || unavailable("not asked", "未读取");
        let visibility = Visibility::default();
        let mapping = Mapping::of(&visibility, std::slice::from_ref(gpu));
        let survey = Survey {
            source: Source::Nvml,
            driver: Driver { version: no(), nvml: no(), cuda: no() },
            gpus: vec![gpu.clone()],
            degraded: None,
            others: Vec::new(),
            host: Host::read(&Root::at("/nowhere")),
            visibility,
            holders: unavailable("not asked", "未读取"),
            host_pids: true,
            notes: Vec::new(),
        };
        verdicts(gpu, &survey, &mapping, question).iter().map(|verdict| verdict.id).collect()
    }

    #[test]
    fn a_limit_shows_where_cuda_offers_less_than_the_driver_has_free() {
        let mut gpu = Gpu::unread(0, &Text::new("not asked", "未读取").into());
        gpu.memory = Memory::new(24 * GIB, Some(0), 4 * GIB, 20 * GIB);
        gpu.cuda_free = Ok(20 * GIB - 200 * MIB);
        assert_eq!(ids(&gpu, FailedJob::default()), [""; 0]);
        gpu.cuda_free = Ok(9 * GIB);
        assert_eq!(ids(&gpu, FailedJob::default()), ["hidden-limit"]);
    }

    #[test]
    fn limits_of_the_multi_process_service_are_read_for_each_device() {
        assert_eq!(mps_limit("0=2G,1=512M", 1), Some(512 * MIB));
        assert_eq!(mps_limit("2G", 3), Some(2 * GIB));
        assert_eq!(mps_limit("0=2G", 1), None);
        assert_eq!(short_address("00000000:3B:00.0"), "0000:3b:00.0");
    }
}
