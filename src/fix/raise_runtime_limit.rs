//! The program's own ceiling.

use super::prelude::*;
use crate::dialect::naming;

pub const FIX: Fix = Fix {
    id: "raise-runtime-limit",
    class: Class::Limits,
    title: || text!(en: "Adjust the program's own limit", zh: "调整程序自身的上限"),
    doc: || {
        text!(
            en: "A heap limit (`-Xmx`, `--max-old-space-size`), a pool, a worker's memory limit or a fraction \
                 refuses before the machine is full.",
            zh: "堆上限（`-Xmx`、`--max-old-space-size`）、内存池、worker 限额或比例会在机器用尽之前拒绝申请。"
        )
    },
    helps: Work::ALL,
    needs: &[],
    applies: |case| {
        // Redis refuses by its limit in words of its own; elsewhere a larger one takes more of what ran out.
        let below = case.program() == Program::Redis && !case.sign(Sign::RefusedByLimit);
        !case.incident.event.of_a_count() && !below
    },
    costs: Costs { slows: (0.0, 0.0), numerics: Numerics::Same },
    knobs: &[
        line(Target::Java, "android:largeHeap=\"true\"")
            .note("in <application> of the manifest", "写在清单文件的 application 元素中")
            .when("android"),
        line(Target::Java, "-Xmx<below the container's limit>")
            .note("or -XX:MaxRAMPercentage=75", "或 -XX:MaxRAMPercentage=75")
            .when("contained"),
        line(Target::Java, "-Xmx<below the container's limit>").when("contained").older(),
        line(Target::Java, "{area}=<more>")
            .note(
                "among the JVM's options; Gradle's stand in org.gradle.jvmargs",
                "JVM 选项；Gradle 写在 org.gradle.jvmargs 中",
            )
            .when("area"),
        line(Target::Java, "org.gradle.jvmargs=-Xmx4g")
            .note("in gradle.properties: more than it is now", "写入 gradle.properties，须大于当前值")
            .when("gradle"),
        line(Target::Java, "JAVA_TOOL_OPTIONS=-Xmx{below} <your command>")
            .note(
                "every JVM reads it; -Xmx within the start script wins over it",
                "任何 JVM 都会读取；启动脚本内的 -Xmx 优先",
            )
            .when("by-script"),
        line(Target::Java, "-Xms<at most -Xmx> -Xmx{below}").when("both"),
        line(Target::Java, "-Xmx{below}").when("free"),
        line(Target::Spark, "--conf spark.driver.maxResultSize=4g")
            .note("or write the results out instead of collect()", "或把结果写出，而不是 collect()")
            .when("results"),
        line(Target::Spark, "--conf spark.executor.memoryOverhead=4g").when("overhead"),
        // Its name until Spark 2.3, in MiB; later ones read it as well.
        line(Target::Spark, "--conf spark.yarn.executor.memoryOverhead=4096").when("overhead-of-yarn"),
        line(Target::Spark, "yarn.nodemanager.vmem-check-enabled=false")
            .note(
                "in yarn-site.xml of the nodes, or a larger yarn.nodemanager.vmem-pmem-ratio",
                "写在各节点的 yarn-site.xml 中，或增大 yarn.nodemanager.vmem-pmem-ratio",
            )
            .when("addresses"),
        line(Target::Go, "GOMEMLIMIT=<nine tenths of the limit>")
            .note("collects earlier; lifts no limit of the system's", "更早回收；不会放开系统的限制")
            .unless("32-bit"),
        line(Target::TensorRt, "trtexec --memPoolSize=workspace:4096 …")
            .note("in MiB; before 8.4: --workspace=4096", "单位 MiB；8.4 之前为 --workspace=4096")
            .when("workspace"),
        line(Target::TensorRt, "trtexec --workspace=4096 …").note("in MiB", "单位 MiB").when("workspace").older(),
        line(Target::TensorRt, "config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 4 << 30)")
            .note("in a script of one's own", "在自己的脚本中")
            .when("workspace"),
        line(Target::TensorRt, "config.max_workspace_size = 4 << 30").when("workspace").older(),
        line(Target::Node, "NODE_OPTIONS=--max-old-space-size={heap}").when("by-its-heap"),
        line(Target::Node, "node --max-old-space-size={heap} ...")
            .note("in the command itself, where it is set now", "写在命令本身，现在就设在那里")
            .when("in-command"),
        line(Target::Node, "node --max-old-space-size={heap} ...").when("old-node"),
        line(Target::Dask, "dask-worker --memory-limit 0").note("or a larger one", "或设为更大的值").when("commanded"),
        line(Target::Dask, "LocalCluster(memory_limit=0)")
            .note(
                "or a larger one; Client(memory_limit=…) where it makes the cluster",
                "或设为更大的值；由 Client 建立集群时用 Client(memory_limit=…)",
            )
            .when("local-workers"),
        said(
            Target::Dask,
            "a larger memory limit where the workers are made: memory_limit= of a cluster, --memory-limit of a command",
            "在创建 worker 处增大内存上限：集群的 memory_limit=，或命令的 --memory-limit",
        )
        .when("elsewhere"),
        line(Target::Ray, "RAY_memory_usage_threshold=0.98")
            .note("for a short peak; above it the kernel kills", "用于短时峰值；再高则由内核杀进程")
            .when("monitored"),
        line(Target::Rapids, "rmm.reinitialize(pool_allocator=True, maximum_pool_size=<below the card's memory>)"),
        line(Target::Spark, "--conf spark.rapids.memory.gpu.allocFraction=0.95").when("spark-rapids"),
        line(Target::Cupy, "cupy.get_default_memory_pool().set_limit(fraction=0.95)"),
        line(Target::Julia, "ENV[\"JULIA_CUDA_HARD_MEMORY_LIMIT\"] = \"95%\"")
            .note("before using CUDA", "在 using CUDA 之前")
            .unless("host"),
        line(Target::TensorFlow, "TF_CUDA_HOST_MEM_LIMIT_IN_MB={pinned}").when("pinned"),
        line(Target::DaskCuda, "LocalCUDACluster(rmm_pool_size=<below the card's memory>, device_memory_limit=0.8)")
            .unless("host"),
        line(Target::OnnxRuntime, "gpu_mem_limit=<bytes>, arena_extend_strategy=\"kSameAsRequested\"").unless("host"),
        line(Target::Program, "tritonserver --cuda-memory-pool-byte-size=<device>:<bytes> ...")
            .note("64 MiB for each device unless set", "未设置时每个设备 64 MiB")
            .when("cuda-pool"),
        said(
            Target::Program,
            "a larger heap: -Xms and -Xmx alike in jvm.options, half of the RAM and 31g at most; or smaller requests",
            "增大堆：在 jvm.options 中把 -Xms 与 -Xmx 设为同一值，不超过内存的一半和 31g；或减小请求",
        )
        .when("breaker"),
        said(
            Target::OnnxRuntime,
            "a larger max_mem of the CPU arena, where OrtArenaCfg sets it",
            "在设置 OrtArenaCfg 处增大 CPU arena 的 max_mem",
        )
        .when("host"),
        said(
            Target::Pytorch,
            "a larger limit of the allocator behind torch.cuda.MemPool, or allocate outside of use_mem_pool()",
            "增大 torch.cuda.MemPool 背后分配器的上限，或在 use_mem_pool() 之外分配",
        )
        .when("custom"),
        said(
            Target::Program,
            "the 64-bit build of the program: one of 32 bits has addresses for 2 to 4 GiB",
            "改用该程序的 64 位版本：32 位程序只有 2 至 4 GiB 地址空间",
        )
        .when("32-bit"),
        said(
            Target::Program,
            "a larger value of the setting that limits it: in its command, its input or its configuration",
            "增大限制它的设置：在其命令、输入文件或配置中",
        )
        .when("unnamed"),
    ],
    fixtures: &["onnxruntime/limit", "rapids/pool"],
    advise,
};

fn advise(case: &Case) -> Advice {
    // WebAssembly's memory is no part of JavaScript's heap.
    if case.program() == Program::Node && case.sign(Sign::AddressSpaceLimit) {
        return Advice::Silent;
    }
    // A heap that starts larger than its limit is refused: both move together.
    let command = case.context.command.get().map(String::as_str).unwrap_or_default();
    let option = |name: &str| command.split_whitespace().find(|word| word.starts_with(name)).map(str::to_string);
    let (starts_large, set) = (option("-Xms").is_some(), option("-Xmx"));
    // `bin/tool -f data`, `tool --in a`: the options of such a command are the tool's, and the JVM's stand within it.
    let first = command.split_whitespace().next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    let names_a_script = !(name.is_empty() || naming::is_wrapper(name) || command.contains(" -jar "));
    let by_script = names_a_script && !starts_large && set.is_none() && !case.windows();
    // Above what the job asked for, the batch system kills before the heap is full.
    let below = match case.in_a_job_of_a_size() {
        true => text!(en: "<below the job's memory>", zh: "<低于作业申请的内存>"),
        false => text!(en: "<below the machine's memory>", zh: "<低于机器内存>"),
    };
    let contained = case.resource() == Resource::Cgroup || case.context.container.value() == Some(true);
    // What is no heap has an option of its own.
    let area = case.incident.event.java_area().map(|(_, option)| option);
    // Twice what it held, in whole GiB: Node's own limit is 2 to 4 GiB unless set.
    let used = case.incident.event.facts.get(Fact::Used).map_or(0, |used| used.bytes / MIB);
    let heap = (used * 2).div_ceil(1024).max(4) * 1024;
    let (gradle, android) = (case.incident.event.of_gradle(), case.incident.event.on_android());
    let heap_elsewhere = gradle || android || area.is_some();
    let addresses = case.sign(Sign::AddressSpaceLimit);
    let of_yarn = case.context.origin.spark_on_yarn;
    let results = case.incident.event.of_sparks_results();
    // What the command gives Node wins over the variable.
    let in_command = command.contains("--max-old-space-size=");
    let old = case.incident.event.of_an_old_node();
    // An engine's share of the device has a change of its own.
    let share =
        |line: &String| ["mem-fraction", "memory-utilization", "memory_utilization"].iter().any(|of| line.contains(of));
    let named = case.incident.event.facts.setting.get();
    if named.is_some_and(share) {
        return Advice::Silent;
    }
    let commanded = case.context.origin.dask_by_command;
    let local = case.clue(Clue::LocalWorkers);
    let heaped = case.resource() != Resource::Cgroup && !case.sign(Sign::KilledWithProof);
    // Refused by the system, not by its own limit.
    let refused = case.targets().contains(&Target::Java) && area.is_none() && case.incident.event.of_a_jvms_start();
    // What a JVM commits as it starts is the heap that it begins with.
    let begins_too_large = starts_large || refused && !by_script;
    let draft = Draft::new(case, &FIX);
    let draft = if refused { draft.titled(text!(en: "A smaller heap", zh: "减小堆")) } else { draft };
    draft
        // What the message names is the runtime's; a program upon it may have a variable or a policy of its own.
        .own(named.filter(|_| !case.has_a_setting_of_its_own(FIX.id)).cloned())
        // A program in no list that says that its own limit refused, and not by which setting.
        .when(
            "unnamed",
            named.is_none()
                && case.sign(Sign::Generic)
                && case.sign(Sign::RefusedByLimit)
                && !case.sign(Sign::BufferSizeLimit)
                && !case.incident.of_32_bits(),
        )
        .when("commanded", commanded)
        .when("local-workers", !commanded && local)
        .when("elsewhere", !commanded && !local)
        .when("32-bit", case.incident.of_32_bits())
        // What a group's limit ended never reached the heap's.
        .when("by-its-heap", heaped && !in_command && !old)
        .when("old-node", heaped && !in_command && old)
        .when("in-command", heaped && in_command)
        .fill("heap", heap)
        .when("java", case.targets().contains(&Target::Java))
        .when("host", case.on_host())
        .when("breaker", case.program() == Program::Elasticsearch)
        // The host's allocator for copies to a device, by its name or its own sign.
        .when("pinned", case.sign(Sign::PinnedHost) || case.incident.event.of_the_pinned_pool())
        .when("area", area.is_some())
        .fill_text("area", Text::same(area.unwrap_or_default()))
        .when("gradle", gradle && area.is_none())
        .when("android", android)
        .when("contained", contained && !heap_elsewhere)
        .when("by-script", !contained && !heap_elsewhere && by_script)
        .when("both", !contained && !heap_elsewhere && begins_too_large)
        .when("smaller", refused)
        .when("larger", !refused && area.is_none())
        .when("free", !contained && !heap_elsewhere && !begins_too_large && !by_script)
        // The monitor kills at a threshold of its own, below the machine's memory.
        .when("monitored", case.program() == Program::Ray && !case.sign(Sign::KilledWithoutProof))
        .when("cuda-pool", case.program() == Program::TritonServer && case.on_gpu() && case.sign(Sign::RefusedByLimit))
        .when("custom", case.sign(Sign::CustomAllocator))
        .when("addresses", addresses)
        .when("results", results)
        .when("workspace", case.clue(Clue::ShortWorkspace))
        .when("overhead", !addresses && !of_yarn && !results)
        .when("overhead-of-yarn", !addresses && of_yarn && !results)
        .fill_text("below", below)
        .was(set.filter(|_| area.is_none()))
        // Twice what it is: 64 GiB unless set.
        .fill("pinned", case.capacity().map_or(i128::from(64 * GIB), |limit| limit.middle()) / i128::from(MIB) * 2)
        .frees_unknown(match refused {
            true => text!(en: "as much as the heap is smaller", zh: "等于堆减小的量"),
            false => text!(en: "frees nothing: it raises the limit", zh: "不释放内存：它提高上限"),
        })
        .because(join(
            match refused {
                true => text!(
                    en: "the JVM asked the system for more than it has: a smaller heap asks for less",
                    zh: "JVM 向系统申请的内存超过了系统所有：更小的堆申请得更少"
                ),
                false => text!(en: "the program stops at a limit of its own", zh: "程序停在了自己设定的上限"),
            },
            case.situation(),
        ))
}
