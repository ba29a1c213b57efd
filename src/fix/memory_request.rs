//! A memory request that keeps a pod from being evicted first.

use super::prelude::*;

pub const FIX: Fix = Fix {
    id: "memory-request",
    class: Class::Limits,
    title: || text!(en: "Request the memory that the pod uses", zh: "按实际用量设置内存 request"),
    doc: || {
        text!(
            en: "When a node runs short, the kubelet evicts pods whose use exceeds their request first, however \
                 small they are: a request of 0 is always exceeded. Request what the pod uses; with the limit \
                 equal to the request it is among the last.",
            zh: "节点内存不足时，kubelet 先驱逐用量超过 request 的 pod，不论其大小：request 为 0 总是被超过。按实际\
                 用量设置 request；limit 等于 request 时最后才会被驱逐。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |_| true,
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[line(Target::Kubernetes, "resources: {requests: {memory: {amount}}}")],
    fixtures: &["kubernetes/evicted"],
    advise,
};

fn advise(case: &Case) -> Advice {
    let facts = &case.incident.event.facts;
    let Some(request) = facts.number(Number::MemoryRequest) else { return Advice::Silent };
    let used = facts.get(Fact::Used).or(facts.get(Fact::Process)).map(|figure| figure.bytes);
    if used.is_some_and(|used| used as f64 <= request) {
        return Advice::Silent;
    }
    let wanted = used.map(|used| (used.saturating_add(used / 4)).div_ceil(MIB).max(1));
    let amount = wanted.map_or("<peak + 25 %>".to_string(), |mib| format!("{mib}Mi"));
    let request_shown = bytes(request as u64);
    Draft::new(case, &FIX)
        .fill("amount", amount)
        .frees_unknown(text!(
            en: "frees nothing: it reserves the memory on a node that has it",
            zh: "不释放内存：在有余量的节点上预留内存"
        ))
        .because(text!(
            en: "the node ran short and the pod used more than the {request_shown} it requests",
            zh: "节点内存不足，而该 pod 的用量超过了其 request {request_shown}"
        ))
}
