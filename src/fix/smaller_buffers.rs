//! A service's own caches.

use super::prelude::*;
use super::work::runs_python;

pub const FIX: Fix = Fix {
    id: "smaller-buffers",
    class: Class::Host,
    title: || text!(en: "Bound the service's own caches and buffers", zh: "限制服务自身的缓存与缓冲"),
    doc: || {
        text!(
            en: "Databases, caches and search engines size their buffers from a setting or from the machine's whole \
                 memory, which inside a container is not theirs. Buffers, connections × memory of each, and the page \
                 cache that counts against a limit must fit together.",
            zh: "数据库、缓存和搜索引擎按设置或按整机内存确定缓冲大小，而在容器中整机内存并不归它们所有。缓冲、连接数 \
                 × 每个连接的内存，以及计入上限的页缓存必须合在一起放得下。"
        )
    },
    helps: &[Work::Host, Work::Training, Work::Inference, Work::Data],
    needs: &[Need::Ram, Need::Process],
    applies: |case| (case.works().contains(&Work::Host) || installs(case)) && !case.incident.event.never_began(),
    costs: Costs { slows: (0.0, 0.3), numerics: Numerics::Same },
    knobs: &[
        line(Target::Shell, "pip install --no-cache-dir ...")
            .note("pip reads a whole package into memory to put it into its cache", "pip 会把整个包读入内存以写入缓存")
            .when("pip"),
        line(Target::Shell, "innodb_buffer_pool_size = <half of the limit>")
            .note("in my.cnf", "写入 my.cnf")
            .when("mysql"),
        line(Target::Shell, "shared_buffers = <a quarter of the limit>, work_mem = 4MB")
            .note(
                "in postgresql.conf; work_mem counts per sort and connection",
                "写入 postgresql.conf；work_mem 按每个排序和连接计",
            )
            .when("postgres"),
        line(Target::Shell, "maxmemory <two thirds of the limit>")
            .note(
                "in redis.conf; a snapshot copies what changes meanwhile",
                "写入 redis.conf；快照期间会复制被改动的部分",
            )
            .when("redis"),
        line(Target::Shell, "storage.wiredTiger.engineConfig.cacheSizeGB: <half of the limit>")
            .note("in mongod.conf", "写入 mongod.conf")
            .when("mongo"),
        line(Target::Java, "-Xmx<three quarters of the limit>")
            .note("the rest is for threads, classes and buffers", "其余留给线程、类和缓冲"),
        line(Target::Node, "NODE_OPTIONS=--max-old-space-size=<MB below the limit>"),
        line(Target::Go, "GOMEMLIMIT=<nine tenths of the limit>"),
        said(
            Target::Program,
            "set the program's cache, buffer and connection limits below its memory limit",
            "把程序的缓存、缓冲和连接数上限设到内存上限以下",
        )
        .when("service"),
        said(
            Target::Program,
            "by the program's own options: smaller caches, fewer workers, connections or objects at once",
            "用程序自身的选项：更小的缓存，更少的 worker、连接或一次处理的对象",
        )
        .when("unknown"),
        said(
            Target::Program,
            "smaller buffers (of TLS, frames, text), made once at start and kept; external RAM where the board has it",
            "更小的缓冲区（TLS、帧、文本），启动时一次分配并一直保留；板上若有外部 RAM 则使用它",
        )
        .when("board"),
    ],
    fixtures: &["fix/database-killed"],
    advise,
};

/// Programs by the beginnings of their processes' names.
const SERVICES: [(&str, &str); 6] = [
    ("mysql", "mysql"),
    ("mariadb", "mysql"),
    ("postgres", "postgres"),
    ("redis", "redis"),
    ("valkey", "redis"),
    ("mongo", "mongo"),
];

/// True where pip was installing packages when the kill came.
fn installs(case: &Case) -> bool {
    case.installs() && !case.clue(Clue::LoadsLibrary) && !case.clue(Clue::SolvesPackages)
}

fn advise(case: &Case) -> Advice {
    if installs(case) {
        return Draft::new(case, &FIX)
            .when("pip", true)
            .frees_unknown(text!(en: "as much as the largest package", zh: "等于最大的安装包"))
            .because(text!(
                en: "what is killed is pip itself, which holds the package that it has downloaded",
                zh: "被杀死的是 pip 自身，它在内存中持有下载的包"
            ));
    }
    if case.incident.on_a_board() {
        return Draft::new(case, &FIX)
            .titled(text!(en: "Smaller or fewer buffers", zh: "更小或更少的缓冲区"))
            .when("board", true)
            .frees_unknown(text!(
                en: "what the buffers take, and the holes between them",
                zh: "缓冲区所占以及它们之间的空洞"
            ))
            .because(text!(
                en: "a heap of some hundred KiB is soon in pieces: what is made and freed again and again cuts it up",
                zh: "几百 KiB 的堆很快会碎片化：反复分配和释放会把它切碎"
            ));
    }
    if case.sign(Sign::RefusedByLimit) {
        return Advice::Withheld(text!(
            en: "the program's own limit refused it: a lower one would refuse it sooner",
            zh: "是程序自身的上限拒绝了请求：上限更低只会更早拒绝"
        ));
    }
    let kind = |name: &str| SERVICES.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, kind)| *kind);
    let killed = case.incident.event.facts.process_name.get().map(|name| name.to_ascii_lowercase());
    let service = killed.and_then(|name| kind(&name)).or_else(|| kind(case.program().id()));
    let draft = Draft::new(case, &FIX);
    let draft = match service {
        Some(kind) => draft.when(kind, true),
        None => draft,
    };
    // A program that is in no list may have no such setting.
    let unknown = service.is_none() && case.victim().is_none_or(|program| program.targets().is_empty());
    if unknown && (!case.alone_in_its_container() || runs_python(case) || case.training()) {
        return Advice::Silent;
    }
    draft
        .when("unknown", unknown)
        .when("service", !unknown)
        .weight(if unknown { 0.6 } else { 1.0 })
        .frees_unknown(text!(
            en: "what the caches hold; the program's own statistics tell",
            zh: "缓存所占；以程序自身的统计为准"
        ))
        .because(text!(
            en: "a service keeps what it is allowed to: its caches must fit its limit",
            zh: "服务会用满允许的缓存：缓存必须放得进它的上限"
        ))
}
