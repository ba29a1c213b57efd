//! What runs on the host or beside PyTorch: pipelines, schedulers, compilers, databases, chemistry, miners.

use super::{Tool, WITHOUT_BATCHES, option};
use crate::domain::Target;
use crate::fix::knob::{Line, line, said};
use crate::incident::context::Clue;

/// Frames of video have neither weights nor batches.
const NOT_OF_ENCODERS: &[&str] = &[
    "smaller-batch",
    "mixed-precision",
    "weight-quantisation",
    "weight-offload",
    "chunk-the-operation",
    "launch-blocking",
];

/// Changes of which none makes a miner's table smaller: its size is the protocol's, on every GPU.
const OF_A_FIXED_SIZE: &[&str] = &[
    "smaller-batch",
    "less-at-once",
    "more-devices",
    "mixed-precision",
    "weight-quantisation",
    "weight-offload",
    "chunk-the-operation",
    "read-less-at-once",
    "fewer-workers",
];

/// Changes that make no heap larger which a program limits itself.
const OF_A_HEAP_OF_ITS_OWN: &[&str] =
    &["smaller-batch", "mixed-precision", "fewer-workers", "chunk-the-operation", "raise-host-limit", "swap"];

const WTDBG2: Line = option("wtdbg2 -x sq -g <size> -X 40 -S 8 ...")
    .note("-g: the genome's; without it -X leaves out no read", "-g 为基因组大小；没有它 -X 不会略去读段");

const BAZEL_JOBS: Line = line(Target::Shell, "bazel build --jobs=2 --local_resources=memory=<MB> ...")
    .note("older releases: --local_ram_resources=<MB>", "旧版本：--local_ram_resources=<MB>");

const NEXUSMINER_GPUS: Line = said(
    Target::Program,
    "fewer workers of \"hardware\": \"gpu\" in miner.conf for one NexusMiner",
    "在 miner.conf 中减少单个 NexusMiner 的 \"hardware\": \"gpu\" 的 worker",
);

const XMRIG_BLOCKS: Line = option("\"threads\": 32, \"blocks\": <half>").note(
    "config.json, cuda → rx; then \"threads\": 16, last \"dataset_host\": true",
    "config.json 的 cuda → rx；再试 \"threads\": 16，最后 \"dataset_host\": true",
);

const FILECOIN_BATCH: Line = line(Target::Shell, "export FIL_PROOFS_MAX_GPU_COLUMN_BATCH_SIZE=200000").note(
    "400000 unless set; FIL_PROOFS_MAX_GPU_TREE_BATCH_SIZE=350000 of 700000",
    "默认 400000；FIL_PROOFS_MAX_GPU_TREE_BATCH_SIZE=350000，默认 700000",
);

const FILECOIN_ON_THE_CPU: Line = said(
    Target::Shell,
    "last: columns on the CPU, without FIL_PROOFS_USE_GPU_COLUMN_BUILDER=1",
    "最后：在 CPU 上构建列，去掉 FIL_PROOFS_USE_GPU_COLUMN_BUILDER=1",
);

const MONGOSHAKE: Line = option("incr_sync.fetcher.buffer_capacity = 64").note(
    "256 unless set; incr_sync.worker.batch_queue_size = 16; collector.conf",
    "默认 256；incr_sync.worker.batch_queue_size = 16；collector.conf",
);

const TRITON_ORT_MODEL: Line = said(
    Target::Program,
    "at the start a model exported in fp16 or int8, or fewer models; in a request a smaller max_batch_size",
    "启动时：导出为 fp16 或 int8 的模型，或减少模型数；请求时：减小 max_batch_size",
);

const TRITON_INSTANCES: Line = option("instance_group [ { count: 1 kind: KIND_GPU } ]")
    .note("config.pbtxt: each instance has the weights", "config.pbtxt：每个实例一份权重");

const MACE_MODEL: Line = said(
    Target::Program,
    "a smaller MACE model (L0 in place of L2), made for LAMMPS in float32, or fewer atoms",
    "更小的 MACE 模型（用 L0 代替 L2），以 float32 为 LAMMPS 导出，或减少原子数",
);

const CNV_FACETS_SNPS: Line = said(
    Target::Program,
    "fewer SNPs: a VCF of common ones at -vcf, or a larger --nbhd-snp (250 unless set, 500 for whole genomes)",
    "更少的 SNP：-vcf 用常见 SNP 的 VCF，或加大 --nbhd-snp（默认 250，全基因组可用 500）",
);

const DRUID_BUFFERS: Line = option("druid.processing.buffer.sizeBytes=<smaller>").note(
    "direct memory: it × (numThreads + numMergeBuffers + 1)",
    "直接内存：它 ×（numThreads + numMergeBuffers + 1）",
);

const GO_PACKAGES: Line = line(Target::Shell, "GOGC=50 go build -p 1 ...")
    .note("one package at a time; GOMEMLIMIT exists since Go 1.19", "一次编译一个包；GOMEMLIMIT 自 Go 1.19 起才有");

const BOOMER_RPC: Line = said(
    Target::Program,
    "no memory is short: start it with --rpc=zeromq as the master speaks, whose greeting was read as a length",
    "并不缺内存：主节点用 ZeroMQ，其握手被当作长度读取；请用 --rpc=zeromq 启动",
);

const OCTAVE_LINE: Line = said(
    Target::Program,
    "at the line that it names: no array of N × N; sparse(), single() or a part at a time",
    "在其指出的那一行：避免 N × N 的数组；用 sparse()、single() 或分批计算",
);

const GARNET_SIZES: Line = option("GarnetServer --memory 1g --index 64m")
    .note("16g of log and an index of 128m or more unless set", "日志默认 16g，索引默认 128m 或更多");

const QDRANT_URING: Line = said(
    Target::Program,
    "where it cannot make a UringReader: storage.performance.async_scorer: false, or no limit of locked memory",
    "若无法创建 UringReader：storage.performance.async_scorer: false，或取消锁定内存的上限",
);

const QDRANT_ON_DISK: Line = option("\"vectors\": { \"on_disk\": true }")
    .note("of a collection; then hnsw_config's on_disk", "集合的设置；再设 hnsw_config 的 on_disk");

const MANTICORE_TABLES: Line =
    option("rt_mem_limit = <smaller>").note("of each real-time table; 128M unless set", "每个实时表的设置，默认 128M");

const STAR_INDEX: Line = said(
    Target::Program,
    "an index of many contigs: --genomeChrBinNbits <bits>, then --genomeSAsparseD 2; else a machine with more RAM",
    "contig 很多的索引：--genomeChrBinNbits <bits>，再试 --genomeSAsparseD 2；否则换内存更大的机器",
);

const CHROMIUM_SHM: Line = said(
    Target::Program,
    "in a container: docker run --shm-size=1g, or --disable-dev-shm-usage of the browser; else more RAM",
    "容器中：docker run --shm-size=1g，或浏览器的 --disable-dev-shm-usage；否则增加内存",
);

const OPS_MANAGER_HEAP: Line = said(
    Target::Program,
    "smaller -Xms<size> and -Xmx<size> in JAVA_MMS_UI_OPTS of conf/mms.conf, or fewer programs beside it",
    "在 conf/mms.conf 的 JAVA_MMS_UI_OPTS 中减小 -Xms<size> 与 -Xmx<size>，或减少同机的其他程序",
);

const MITSUBA_SAMPLES: Line = said(
    Target::Program,
    "samples_per_pass 1 in the scene's integrator, a smaller film; or a variant without autodiff: -m gpu_rgb",
    "场景的 integrator 中设 samples_per_pass 1、减小 film；或用不带 autodiff 的变体：-m gpu_rgb",
);

const SUNSHINE_RESOLUTION: Line = said(
    Target::Program,
    "a lower resolution of the stream, set in the client (Moonlight); fewer programs on this GPU",
    "在客户端（Moonlight）降低串流分辨率；减少该 GPU 上的其他程序",
);

const FFMPEG_DEVICE: Line = option("-hwaccel_device <index>")
    .note("before -i; and -gpu <index> of the encoder", "写在 -i 之前；编码器另加 -gpu <index>");

const CANU_STAGE: Line = said(
    Target::Program,
    "of a job that canu submits: <stage>Memory=<GB>: cnsMemory where utgcns ran, redMemory for red.*.out, batMemory \
     for bat.*.out; else more RAM",
    "canu 提交的作业：<stage>Memory=<GB>：utgcns 用 cnsMemory，red.*.out 用 redMemory，bat.*.out 用 batMemory；\
     否则增加内存",
);

const PSDR_SAMPLES: Line = option("\"spp\": 4, \"sppe\": 4, \"sppse\": 4").note(
    "examples/config.py, in AD of the test; a larger \"npass\" makes up for it",
    "examples/config.py 中该测试的 AD；用更大的 \"npass\" 弥补",
);

const MUMMER: Line = said(
    Target::Program,
    "nucmer without --maxmatch, -t <fewer>, --batch=<number> (bases of the reference at a time); else more RAM",
    "nucmer 去掉 --maxmatch、-t <fewer>、--batch=<number>（每次处理的参考碱基数）；否则增加内存",
);

const NTHITS: Line = said(
    Target::Program,
    "fewer bits for each k-mer: nthits -b 16 or less; where it counts 0 distinct k-mers, check the reads; else RAM",
    "每个 k-mer 用更少的位：nthits -b 16 或更小；若统计出 0 个不同 k-mer，先检查 reads；否则增加内存",
);

const MEGAHIT: Line = said(
    Target::Program,
    "megahit --kmin-1pass, which is slower; then --k-min 27 --min-count 3 --no-mercy; else more RAM",
    "megahit --kmin-1pass（更慢）；再试 --k-min 27 --min-count 3 --no-mercy；否则增加内存",
);

const GHC_HEAP: Line = option("+RTS -M<more> -RTS")
    .note("of ghc, where -M bounds it now; or fewer jobs: a smaller -j", "ghc 的选项（现由 -M 限制）；或减小 -j");

const NVC_HEAP: Line = option("nvc -H 64m ...").note(
    "before -e and -r, more than it is now: 16m once; VUnit: nvc.heap_size",
    "写在 -e、-r 之前，须大于当前值（旧版默认 16m）；VUnit 用 nvc.heap_size",
);

const NUCLEI_AT_ONCE: Line = option("nuclei -c 5 -bs 5 -rl 50 ...")
    .note("25, 25 and 150 unless set; and fewer targets in each run", "默认 25、25、150；并减少每次的目标数");

const SEURAT_DENSE: Line = said(
    Target::Program,
    "SCTransform with conserve.memory = TRUE, ScaleData of the variable features alone; else part of the cells \
     (SketchData of Seurat 5), or more RAM",
    "SCTransform 加 conserve.memory = TRUE，ScaleData 只用高变特征；否则只取部分细胞（Seurat 5 的 SketchData），\
     或增加内存",
);

const CANU_CONSENSUS: Line = option("cnsMemory=<GB>")
    .note("of canu, which is started again: more than utgcns had", "canu 的参数，改后重新运行：须大于 utgcns 已有的");

const ORT_BUILD: Line =
    line(Target::Shell, "./build.sh ... --nvcc_threads 1 --cmake_extra_defines CMAKE_CUDA_ARCHITECTURES=80").note(
        "80: that of your GPU alone; then onnxruntime_USE_FLASH_ATTENTION=OFF",
        "80 换成你的 GPU 的架构；再加 onnxruntime_USE_FLASH_ATTENTION=OFF",
    );

const LOLMINER_CARD: Line = option("--devices <index>").note(
    "a card with more memory than the DAG; else a coin of a smaller one; AMD, 4 GB: --4g-alloc-size <MB>",
    "显存大于 DAG 的显卡；否则换 DAG 更小的币种；4 GB 的 AMD 卡：--4g-alloc-size <MB>",
);

const CARD_FOR_THE_DAG: Line = said(
    Target::Program,
    "nothing else on the card: the display on the processor's own graphics; Linux leaves more of it free than Windows",
    "显卡上不留其他占用：显示器接到核显；Linux 比 Windows 留出更多显存",
);

const DORADO_BATCH: Line = option("dorado basecaller --batchsize <smaller> ...")
    .note("0, as it is unless set, chooses by the free memory", "默认 0：按空闲显存自动选择");

const POSTGRES_SEGMENT: Line = said(
    Target::Shell,
    "in a container: docker run --shm-size={inside}g; a service of a swarm: docker service update --mount-add \
     type=tmpfs,dst=/dev/shm,tmpfs-size=<bytes> <name>; a pod: an emptyDir of medium Memory; else sudo mount -o \
     remount,size={size}G /dev/shm",
    "容器：docker run --shm-size={inside}g；swarm 服务：docker service update --mount-add \
     type=tmpfs,dst=/dev/shm,tmpfs-size=<bytes> <name>；pod：medium 为 Memory 的 emptyDir；否则 sudo mount -o \
     remount,size={size}G /dev/shm",
);

const KUBELET_RESERVED: Line = said(
    Target::Kubernetes,
    "memory: <more> in kubeReserved of the kubelet's configuration, or --kube-reserved=memory=<more>: where that is \
     enforced, it is this group's limit",
    "在 kubelet 配置的 kubeReserved 中设 memory: <more>，或 --kube-reserved=memory=<more>：启用时它就是该组的上限",
);

const DOVECOT_ADDRESSES: Line = option("service indexer-worker { vsz_limit = 2G }").note(
    "default_vsz_limit unless set, whatever the RAM; 0: no limit; then doveadm reload",
    "默认取 default_vsz_limit，与内存大小无关；0 为不限；之后 doveadm reload",
);

const BCC_DEADLOCK_MAPS: Line = line(Target::Shell, "sed -i 's/2097152/65536/' deadlock.c").note(
    "its map of threads takes 264 bytes of kernel memory each, at the start; or a newer bcc",
    "线程表一开始就按每项 264 字节占用内核内存；或升级 bcc",
);

const ALISTAT_SEQUENCES: Line = said(
    Target::Program,
    "fewer sequences, by -n and a file of their names: 4 bytes are taken for each pair, in both orders, and twice with \
     -d; no RAM serves more than 46340 of them",
    "用 -n 加名称文件减少序列：每对序列（两个方向）占 4 字节，用 -d 时加倍；超过 46340 条时内存再大也不行",
);

const MEILISEARCH_INDEXING: Line = option("--max-indexing-memory 1Gb").note(
    "MEILI_MAX_INDEXING_MEMORY; since 0.27, two thirds of the RAM in all unless set",
    "或 MEILI_MAX_INDEXING_MEMORY；自 0.27 起，默认为总内存的三分之二",
);

const OPENHAB_JVM: Line = option("EXTRA_JAVA_OPTS=\"-XX:MaxMetaspaceSize=<more>\"").note(
    "/etc/default/openhab2 of the Linux package, beside what it has; then restart the service",
    "Linux 软件包写在 /etc/default/openhab2，保留已有内容；再重启服务",
);

pub(super) const TOOLS: &[Tool] = &[
    // Dovecot's indexer, whose limit is one of addresses. Seen in grosjo/fts-xapian, its issues 128 (its maintainer:
    // default_vsz_limit), 136 and 39 (vsz_limit of the service alone). Neither RAM nor swap makes it larger.
    Tool {
        name: "Dovecot's indexer-worker",
        files: &[],
        scripts: &["dovecot: indexer-worker"],
        clue: None,
        rows: &[
            ("raise-host-limit", DOVECOT_ADDRESSES),
            ("raise-ulimit", DOVECOT_ADDRESSES),
            ("raise-runtime-limit", DOVECOT_ADDRESSES),
        ],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers", "chunk-the-operation", "swap"],
    },
    // bcc's deadlock before its pull request 3455, after which the size is the user's. Seen in iovisor/bcc, its issue
    // 3453 (2097152 × (8 + 256) bytes; a smaller number ran). A map is kernel memory, which is not swapped.
    Tool {
        name: "bcc's deadlock",
        files: &[],
        scripts: &["could not open bpf map: thread_to_held_mutexes"],
        clue: None,
        rows: &[("raise-host-limit", BCC_DEADLOCK_MAPS)],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers", "chunk-the-operation", "swap"],
    },
    // AliStat. Seen in thomaskf/AliStat, src/Partition.cpp at 6fdd165: Cij and, with -d, Pij are `new int[n * n]`, with
    // a product of 32 bits, whatever -t and -i ask for; README.md (-n: only sequences of these names).
    Tool {
        name: "AliStat",
        files: &[],
        scripts: &["alistat"],
        clue: None,
        rows: &[("raise-host-limit", ALISTAT_SEQUENCES), ("read-less-at-once", ALISTAT_SEQUENCES)],
        lacks: WITHOUT_BATCHES,
    },
    // Meilisearch. Seen in meilisearch/documentation, its issue 1581 (v0.27: --max-indexing-memory) and its page on
    // options (2/3 of the memory), and in meilisearch/meilisearch, issue 1899: on Windows so much is committed at once.
    Tool {
        name: "Meilisearch",
        files: &[],
        scripts: &["meilisearch", "meilisearch.exe"],
        clue: None,
        rows: &[
            ("raise-host-limit", MEILISEARCH_INDEXING),
            ("read-less-at-once", MEILISEARCH_INDEXING),
            ("smaller-buffers", MEILISEARCH_INDEXING),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // openHAB as a package's service: EXTRA_JAVA_OPTS in /etc/default/openhab2 (openhab/openhab-linuxpkg). Of a JVM's
    // areas beside the heap only that of its classes is told by this line.
    Tool {
        name: "openHAB at its metaspace",
        files: &[],
        scripts: &["openhab"],
        clue: None,
        rows: &[("raise-runtime-limit", OPENHAB_JVM.when("area"))],
        lacks: WITHOUT_BATCHES,
    },
    // Chromium, and what carries it. Seen in its base/process/memory.cc: these words, behind FATAL. Docker gives
    // /dev/shm 64 MB, and Chromium's processes share memory by it unless --disable-dev-shm-usage is given; by
    // WebPageTest.agent's issue 327 more memory did not help. It stands before programs that run beside it.
    Tool {
        name: "Chromium",
        files: &[],
        scripts: &["Out of memory. size="],
        clue: None,
        rows: &[("raise-host-limit", CHROMIUM_SHM), ("shm-size", CHROMIUM_SHM)],
        lacks: WITHOUT_BATCHES,
    },
    // Ruffle, a player of Flash in a page, whose GPU is the browser's: no index of a device, no command. Seen in
    // ruffle-rs/ruffle, its issues 9187 (the option preferredRenderer, which falls back to the next), 17815 and 20577
    // (label wgpu-oom), and its types for the web ("webgpu", "wgpu-webgl", "webgl", "canvas").
    Tool {
        name: "Ruffle",
        files: &["/ruffle/"],
        scripts: &["ruffle", "ruffle_web"],
        clue: None,
        rows: &[
            (
                "free-the-device",
                said(
                    Target::Program,
                    "close other tabs and windows of the browser, then load the page again",
                    "关闭浏览器的其他标签页和窗口，再重新加载页面",
                ),
            ),
            (
                "less-at-once",
                option("window.RufflePlayer.config = { preferredRenderer: \"webgl\" }").note(
                    "in the page, before Ruffle's own script; then \"canvas\"",
                    "写在页面中 Ruffle 脚本之前；再试 \"canvas\"",
                ),
            ),
        ],
        lacks: &[
            "smaller-batch",
            "mixed-precision",
            "fewer-workers",
            "chunk-the-operation",
            "other-device",
            "kill-zombies",
            "weight-quantisation",
            "record-a-snapshot",
        ],
    },
    // AWS Lambda: the memory size is the function's, 128 to 10240 MB, and CPU goes with it. Its command line interface,
    // page lambda update-function-configuration (--function-name, --memory-size). Nothing can be typed where it runs.
    Tool {
        name: "AWS Lambda",
        files: &[],
        scripts: &["aws-lambda"],
        clue: None,
        rows: &[(
            "raise-host-limit",
            line(Target::Shell, "aws lambda update-function-configuration --function-name <name> --memory-size <MB>")
                .note(
                    "above the Memory Size of the REPORT line, 10240 at most",
                    "大于 REPORT 行的 Memory Size，至多 10240",
                ),
        )],
        lacks: &["swap", "record-a-snapshot", "raise-ulimit", "choose-the-victim", "shm-size"],
    },
    // R's own limit, of releases whose message names the function that moves it: R's page memlimits (megabytes, Inf for
    // none; below what is in use it does nothing), and Memory for R_MAX_VSIZE. Older ones have the variable alone.
    Tool {
        name: "R's vector limit",
        files: &[],
        scripts: &["vector memory limit of "],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            option("mem.maxVSize(<MB>)").note(
                "below the RAM; for good R_MAX_VSIZE=<size> in ~/.Renviron",
                "低于内存；长期设置为 ~/.Renviron 中的 R_MAX_VSIZE=<size>",
            ),
        )],
        lacks: WITHOUT_BATCHES,
    },
    // Nextcloud's occ in its container, where php.ini takes memory_limit from PHP_MEMORY_LIMIT, which sudo and su leave
    // out: PHP then keeps 2 MiB and fails at the loader of its libraries. nextcloud/docker's issues 1413, 1818 and
    // 1833.
    Tool {
        name: "Nextcloud's occ",
        files: &[],
        scripts: &["/3rdparty/composer/autoload_real.php"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            line(Target::Shell, "sudo -E -u www-data php occ ...").note(
                "-E keeps the container's PHP_MEMORY_LIMIT; else php -d memory_limit=512M occ ...",
                "-E 保留容器的 PHP_MEMORY_LIMIT；否则 php -d memory_limit=512M occ ...",
            ),
        )],
        lacks: WITHOUT_BATCHES,
    },
    // PHP 7 and later keeps 2 MiB, a chunk of its heap, where memory_limit is less (php/php-src, Zend/zend_alloc.c);
    // and a value with a unit that it does not know, MB for M, counts otherwise (its issue 7860). A limit of 2 MiB is
    // nobody's wish.
    Tool {
        name: "PHP at its least limit",
        files: &[],
        scripts: &["Allowed memory size of 2097152 bytes exhausted"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            said(
                Target::Program,
                "mend memory_limit in the php.ini that php --ini names: a number and one letter, 512M; 512MB counts as \
                 512 bytes, and 2 MiB is what PHP keeps at least",
                "改正 php --ini 所示 php.ini 中的 memory_limit：数字加一个字母，如 512M；512MB 会被当作 512 字节，\
                 而 2 MiB 是 PHP 的最低值",
            ),
        )],
        lacks: WITHOUT_BATCHES,
    },
    // Claymore's miner, of which no source is public: its words at the DAG of Ethash, which has a size of the epoch and
    // grows. No option of its is given.
    Tool {
        name: "Claymore's miner",
        files: &[],
        scripts: &["cannot allocate big buffer for DAG"],
        clue: None,
        rows: &[(
            "other-device",
            said(
                Target::Program,
                "a card with more memory than the DAG has, or a coin of a smaller one",
                "显存大于 DAG 的显卡，或 DAG 更小的币种",
            ),
        )],
        lacks: OF_A_FIXED_SIZE,
    },
    // MongoDB Ops Manager, whose JVM is called mms-app. Seen in its conf/mms.conf, as scripts and MongoDB's operator
    // edit it (JAVA_MMS_UI_OPTS; by the operator's tests its heap is computed from the limit of the container).
    Tool {
        name: "MongoDB Ops Manager",
        files: &[],
        scripts: &["mms-app"],
        clue: None,
        rows: &[
            (
                "raise-host-limit",
                said(
                    Target::Program,
                    "a larger machine; in Kubernetes a memory request of the pods as large as they grow",
                    "更大的机器；Kubernetes 中把 Pod 的 memory request 设为其实际用量",
                ),
            ),
            ("fewer-at-once", OPS_MANAGER_HEAP),
            ("smaller-buffers", OPS_MANAGER_HEAP),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Sunshine, which streams a desktop. Seen in LizardByte/Sunshine, src/platform/linux/cuda.cu at 01e218d
    // (tex_t::make: an array of the picture's height and pitch). The client asks for the resolution.
    Tool {
        name: "Sunshine",
        files: &[],
        scripts: &["sunshine", "Couldn't allocate cuda array: "],
        clue: None,
        rows: &[("smaller-batch", SUNSHINE_RESOLUTION), ("less-at-once", SUNSHINE_RESOLUTION)],
        lacks: &[
            "other-device",
            "mixed-precision",
            "smaller-images",
            "chunk-the-operation",
            "weight-quantisation",
            "launch-blocking",
        ],
    },
    // psdr-cuda, whose wavefronts have the words of Mitsuba 2. Seen in uci-rendering/psdr-cuda, examples/config.py at
    // 3340699 (spp, sppe, sppse and npass in "AD" of a test); by its issue 7 sppse 64 is too many for 11 GB, 4 of
    // each fit, and more passes make the estimate as clean.
    Tool {
        name: "psdr-cuda",
        files: &["/psdr-cuda/"],
        scripts: &["psdr_test.py"],
        clue: None,
        rows: &[
            ("less-at-once", PSDR_SAMPLES),
            ("smaller-batch", PSDR_SAMPLES),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a smaller width and height of the film in the scene's file",
                    "在场景文件中减小 film 的 width 与 height",
                ),
            ),
        ],
        lacks: &["mixed-precision", "weight-quantisation", "chunk-the-operation", "gradient-checkpointing"],
    },
    // Mitsuba 2 and its wavefronts. Seen in mitsuba-renderer's documentation of the integrators (samples_per_pass
    // divides the samples of each pixel into passes) and of the variants (gpu_autodiff_* keep what derivatives need).
    Tool {
        name: "Mitsuba 2",
        files: &[],
        scripts: &["mitsuba", "mitsuba.exe"],
        clue: None,
        rows: &[("less-at-once", MITSUBA_SAMPLES), ("smaller-batch", MITSUBA_SAMPLES)],
        lacks: &["mixed-precision", "weight-quantisation", "chunk-the-operation", "launch-blocking"],
    },
    // GHC's runtime, at the limit that -M sets. Its own words end in this semicolon (rts/hooks/OutOfHeap.c):
    // "NAME: Heap exhausted;", "Use `+RTS -M<size>' to increase it.". GHCRTS is read as what stands between +RTS and
    // -RTS; a program that was linked without -rtsopts refuses both.
    Tool {
        name: "GHC's runtime",
        files: &[],
        scripts: &[": Heap exhausted;"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            option("+RTS -M<size> -RTS")
                .note(
                    "behind its arguments, or GHCRTS=-M<size> before it",
                    "写在其参数之后，或环境变量 GHCRTS=-M<size>",
                )
                .unless("area"),
        )],
        lacks: WITHOUT_BATCHES,
    },
    // GHC itself at the limit that -M sets for it, in the words of its panic. B-Lang-org/bsc's pull request 256 (4 GB,
    // as it ends even with one job), mit-plv/fiat-crypto's issue 2230 (+RTS -M7G). Neither RAM nor swap is short.
    Tool {
        name: "GHC at its own limit",
        files: &[],
        scripts: &["ghc: panic! heap overflow", "ghc.exe: panic! heap overflow"],
        clue: None,
        rows: &[
            ("raise-runtime-limit", GHC_HEAP),
            ("fewer-at-once", option("ghc -j<fewer> ...").note("all jobs share one heap", "所有任务共用一个堆")),
        ],
        lacks: OF_A_HEAP_OF_ITS_OWN,
    },
    // nvc, which simulates VHDL in a heap of its own. Seen in nickg/nvc, src/rt/mspace.c and src/jit/jit-core.c ("out
    // of memory attempting to allocate %zu byte object", and its hint: -H), issues 515 (16 MB unless set) and 1003;
    // VUnit's vunit/sim_if/nvc.py at 012b49e (-H 64m unless nvc.heap_size is set, before -e).
    Tool {
        name: "nvc",
        files: &[],
        scripts: &["fatal: out of memory attempting to allocate ", "Fatal: out of memory attempting to allocate "],
        clue: None,
        rows: &[("raise-runtime-limit", NVC_HEAP)],
        lacks: OF_A_HEAP_OF_ITS_OWN,
    },
    // Octave, which says the same where an array would be too large for its index and where the system refuses it.
    // It names the script's line behind "error: called from".
    Tool {
        name: "Octave",
        files: &[],
        scripts: &["out of memory or dimension too large for Octave's index type"],
        clue: None,
        rows: &[
            ("raise-host-limit", OCTAVE_LINE),
            ("fix-the-shape", OCTAVE_LINE),
            ("less-at-once", OCTAVE_LINE),
            ("read-less-at-once", OCTAVE_LINE),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Garnet, Microsoft's server for Redis' protocol. Seen in microsoft/garnet, libs/host/defaults.conf at 00b882b
    // (MemorySize 16g, IndexSize 128m; older releases have a larger index) and issue 310 (-i and -m where memory is
    // short). Both are reserved when it starts.
    Tool {
        name: "Garnet",
        files: &[],
        scripts: &["GarnetServer.exe", "GarnetServer", "garnet-server", "garnet-server.exe"],
        clue: None,
        rows: &[("raise-host-limit", GARNET_SIZES), ("smaller-buffers", GARNET_SIZES), ("less-at-once", GARNET_SIZES)],
        lacks: WITHOUT_BATCHES,
    },
    // Manticore, and Sphinx, of which it was made. Seen in Manticore's manual, Searchd and settings of tables
    // (rt_mem_limit 128M, access_plain_attrs mmap_preread) and in src/sphinxstd.cpp: "out of memory (unable to allocate
    // ... bytes)", behind FATAL.
    Tool {
        name: "Manticore or Sphinx",
        files: &[],
        scripts: &["searchd", "FATAL: out of memory (unable to allocate "],
        clue: None,
        rows: &[
            ("smaller-buffers", MANTICORE_TABLES),
            (
                "smaller-buffers",
                option("access_plain_attrs = mmap")
                    .note("Manticore: mmap_preread reads it all at first", "Manticore：默认 mmap_preread 会先全部读入"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Qdrant. Seen in qdrant/qdrant, config/config.yaml at 00bb9b7 (storage.performance.async_scorer false unless set:
    // it uses io_uring; collection.vectors.on_disk; hnsw_index.on_disk) and issue 2350: io_uring's memory is locked,
    // and what it says of free memory then is no figure of the machine's.
    Tool {
        name: "Qdrant",
        files: &[],
        scripts: &["Optimization error: Out of memory, free: "],
        clue: None,
        rows: &[
            ("raise-host-limit", QDRANT_URING),
            ("raise-host-limit", QDRANT_ON_DISK),
            ("smaller-buffers", QDRANT_ON_DISK),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // itzg/docker-minecraft-server, README.md and docs/configuration/jvm-options.md: MEMORY sets both -Xms and -Xmx, 1G
    // unless set; INIT_MEMORY and MAX_MEMORY one each.
    Tool {
        name: "itzg's image of Minecraft",
        files: &[],
        scripts: &["itzg/minecraft-server"],
        clue: None,
        rows: &[
            ("raise-runtime-limit", option("docker run -e MEMORY=<more> ...").when("larger")),
            (
                "raise-runtime-limit",
                option("docker run -e MEMORY=512M ...").note("1G unless set", "默认 1G").when("smaller"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Minecraft: its launcher gives Java 1 to 2 GB, below Installations → Edit → More Options → JVM Arguments; a server
    // has it in the command that starts it.
    Tool {
        name: "Minecraft",
        files: &[],
        scripts: &["minecraft"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("-Xmx<size>")
                    .note(
                        "more than now; launcher: Installations → Edit → More Options → JVM Arguments; server: its \
                         command",
                        "大于当前值；启动器：Installations → Edit → More Options → JVM Arguments；服务器：启动命令",
                    )
                    .when("larger"),
            ),
            (
                "raise-runtime-limit",
                option("-Xms<size> -Xmx<size>")
                    .note(
                        "less than is free; launcher: Installations → Edit → More Options → JVM Arguments; server: its \
                         command",
                        "小于空闲内存；启动器：Installations → Edit → More Options → JVM Arguments；服务器：启动命令",
                    )
                    .when("smaller"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // ONNX Runtime's own build, told by the targets of its makefiles. Seen in microsoft/onnxruntime,
    // tools/ci_build/build_args.py at 03876ad (--parallel, --cmake_extra_defines; nvcc's threads are options of their
    // own), pull request 17419 (each of nvcc's threads takes 4 to 6 GB in flash attention) and issue 18579.
    Tool {
        name: "ONNX Runtime's build",
        files: &["/onnxruntime_providers_cuda_obj.dir/", "/onnxruntime_providers_cuda.dir/"],
        scripts: &["--nvcc_threads", "--flash_nvcc_threads", "--cudnn_home"],
        clue: None,
        rows: &[("fewer-at-once", ORT_BUILD), ("less-at-once", ORT_BUILD)],
        lacks: &["smaller-batch", "mixed-precision"],
    },
    // Triton's ONNX Runtime backend. Its containers build the library in /workspace/onnxruntime, the wheels elsewhere.
    // Seen in triton-inference-server/onnxruntime_backend, README.md at 013d274 (parameters of config.pbtxt:
    // arena_extend_strategy "1" grows by what is asked for, gpu_mem_limit; deprecated, and still read) and Triton's
    // model configuration (instance_group, max_batch_size). A model that does not load has not run.
    Tool {
        name: "Triton's ONNX Runtime backend",
        files: &["/workspace/onnxruntime/"],
        scripts: &["onnx runtime error 6: Exception during initialization"],
        clue: None,
        rows: &[
            ("less-at-once", TRITON_ORT_MODEL),
            ("smaller-batch", TRITON_ORT_MODEL),
            ("weight-quantisation", TRITON_ORT_MODEL),
            ("fewer-at-once", TRITON_INSTANCES),
            ("share-one-model", TRITON_INSTANCES),
            (
                "arena-growth",
                option("parameters { key: \"arena_extend_strategy\" value: { string_value: \"1\" } }")
                    .note("config.pbtxt: grows by what is asked for", "config.pbtxt：按请求大小增长"),
            ),
            ("arena-growth", TRITON_INSTANCES),
        ],
        lacks: &["chunk-the-operation", "fix-the-shape", "no-grad-in-eval", "mixed-precision"],
    },
    // TensorRT-LLM's cache of blocks in C++, from the end of 2023 on: it is reserved already, so that a larger share or
    // a shorter sequence is what remains. Seen in NVIDIA/TensorRT-LLM, cpp/tensorrt_llm/batch_manager (these
    // words), benchmarks of gptSessionBenchmark that give --kv_cache_free_gpu_mem_fraction, and its issue 694. Lengths
    // are built in: --max_input_len and --max_output_len of build.py, --max_seq_len of trtllm-build since 0.11.
    Tool {
        name: "TensorRT-LLM's blocks in C++",
        files: &[],
        scripts: &["Can't allocate new blocks. No free blocks left. ("],
        clue: None,
        rows: &[
            (
                "raise-engine-memory",
                option("--kv_cache_free_gpu_mem_fraction 0.95").note(
                    "gptSessionBenchmark and gptManagerBenchmark, where they have it",
                    "gptSessionBenchmark 与 gptManagerBenchmark（若该版本有）",
                ),
            ),
            (
                "max-model-len",
                option("--max_input_len <fewer> --max_output_len <fewer>").note(
                    "build.py; since 0.11 --max_seq_len of trtllm-build",
                    "build.py；0.11 起为 trtllm-build 的 --max_seq_len",
                ),
            ),
            (
                "fewer-sequences",
                option("--max_batch_size <fewer>").note("as many as ran: built anew", "用跑通过的数量重新构建"),
            ),
        ],
        lacks: &["lower-engine-memory", "weight-offload", "smaller-batch", "mixed-precision"],
    },
    // LAMMPS with pair_style mace. Seen in ACEsuit/mace, mace/cli/create_lammps_model.py at 1191c93 (.double(); later
    // releases have --dtype float32), its issues 229, 238 (no_domain_decomposition is for one process), 476 and 487 (a
    // cell of 520 atoms fits, one of more than 10,000 does not). The style has no option for its precision.
    Tool {
        name: "LAMMPS with MACE",
        files: &["/mace/calculators/lammps_mace.py", "/pair_mace.cpp", "/pair_mace_kokkos.cpp"],
        scripts: &["mace_create_lammps_model"],
        clue: None,
        rows: &[
            ("less-at-once", MACE_MODEL),
            ("smaller-batch", MACE_MODEL),
            ("weight-quantisation", MACE_MODEL),
            ("fix-the-shape", MACE_MODEL),
        ],
        lacks: &["mixed-precision", "chunk-the-operation", "gradient-checkpointing", "no-grad-in-eval"],
    },
    // cnv_facets. Seen in dariober/cnv_facets, README.md at 10ec9ae: memory goes with the number of SNPs (37 million
    // take some 15 GB); -vcf takes the common ones, --nbhd-snp keeps one of an interval (500 for whole genomes). It is
    // written in R, and who runs it writes none.
    Tool {
        name: "cnv_facets",
        files: &[],
        scripts: &["cnv_facets.R", "--snp-nprocs"],
        clue: None,
        rows: &[
            ("read-less-at-once", CNV_FACETS_SNPS),
            ("less-at-once", CNV_FACETS_SNPS),
            ("fix-the-shape", CNV_FACETS_SNPS),
        ],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "fewer-workers"],
    },
    // Druid. Seen in apache/druid: docs/configuration/index.md and distribution/docker/environment
    // (druid.indexer.runner.javaOptsArray, a list, of the processes that run tasks), its pull requests 6588 and 7606
    // (direct memory is sizeBytes for each of numThreads, numMergeBuffers and one more). Services have jvm.config.
    Tool {
        name: "Druid",
        files: &[],
        scripts: &["druid"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("druid.indexer.runner.javaOptsArray=[..., \"{area}=<more>\"]").note(
                    "tasks: runtime.properties of the MiddleManager; services: jvm.config",
                    "任务：MiddleManager 的 runtime.properties；服务：jvm.config",
                ),
            ),
            ("raise-runtime-limit", DRUID_BUFFERS.when("area")),
            (
                "raise-runtime-limit",
                option("druid.indexer.runner.javaOptsArray=[..., \"-Xmx<size>\"]")
                    .note(
                        "tasks: runtime.properties of the MiddleManager; services: jvm.config",
                        "任务：MiddleManager 的 runtime.properties；服务：jvm.config",
                    )
                    .unless("area"),
            ),
            ("smaller-buffers", DRUID_BUFFERS),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Elasticsearch in docker compose, whose lines begin with a service's name. Seen in elastic/elasticsearch, its pull
    // request 51867: in a container ES_JAVA_OPTS is preferred, and it wins over jvm.options. Kibana's JSON tells
    // what its Elasticsearch refused.
    Tool {
        name: "Elasticsearch in docker compose",
        files: &[],
        scripts: &[
            "kibana_1 | {\"type\":\"log\"",
            "kibana-1 | {\"type\":\"log\"",
            "elasticsearch_1 | ",
            "elasticsearch-1 | ",
            "es01_1 | ",
            "es01-1 | ",
        ],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            option("ES_JAVA_OPTS=\"-Xms<size> -Xmx<size>\"")
                .note(
                    "environment of Elasticsearch's service, half of its memory",
                    "写在 Elasticsearch 服务的 environment，不超过其内存一半",
                )
                .unless("area"),
        )],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers"],
    },
    // Gradle's daemons at the area of their classes, which has a limit of its own: where org.gradle.jvmargs is set, it
    // replaces all that Gradle sets by itself (gradle/gradle's issue 19750), so that both stand in it.
    Tool {
        name: "Gradle's daemon at its metaspace",
        files: &[],
        scripts: &["will expire after the build after running out of JVM Metaspace"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            option("org.gradle.jvmargs=-Xmx4g -XX:MaxMetaspaceSize=2g")
                .note("in gradle.properties: neither less than it is now", "写入 gradle.properties，均不小于当前值"),
        )],
        lacks: WITHOUT_BATCHES,
    },
    // Gradle's daemons, which end at a full heap, and Kotlin's compiler in them. Its own advice names
    // org.gradle.jvmargs; kotlin.daemon.jvmargs is of Kotlin's Gradle plugin (its kotlinDaemonJvmArguments).
    Tool {
        name: "Gradle's daemon",
        files: &[],
        scripts: &[
            "Expiring Daemon because JVM heap space is exhausted",
            "will expire after the build after running out of JVM heap space",
            "Not enough memory to run compilation.",
        ],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("org.gradle.jvmargs=-Xmx4g")
                    .note("in gradle.properties: more than it is now", "写入 gradle.properties，须大于当前值"),
            ),
            (
                "raise-runtime-limit",
                option("kotlin.daemon.jvmargs=-Xmx2g")
                    .note("Kotlin's own daemon, where it is the one that is full", "Kotlin 自己的守护进程，若是它满了"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Go's command (go help build): -p is how many programs it runs at once, as many as there are processors unless
    // set. GOGC is read by the compiler too; GOMEMLIMIT came with Go 1.19.
    Tool {
        name: "go build",
        files: &[],
        // Not the command's name: `go run` and `go test` run what was built.
        scripts: &["/compile: signal: killed", "/link: signal: killed"],
        clue: None,
        rows: &[("fewer-at-once", GO_PACKAGES), ("raise-runtime-limit", GO_PACKAGES), ("less-at-once", GO_PACKAGES)],
        lacks: WITHOUT_BATCHES,
    },
    // boomer, a worker for Locust in Go. Its issue 33 (2018): with --rpc=socket it reads a master's greeting of ZeroMQ,
    // FF 00 00 00, as the length of a message and asks for it. The option's value tells it.
    Tool {
        name: "boomer",
        files: &[],
        scripts: &["--rpc socket"],
        clue: None,
        rows: &[
            ("raise-host-limit", BOOMER_RPC),
            ("fix-the-shape", BOOMER_RPC),
            ("less-at-once", BOOMER_RPC),
            ("read-less-at-once", BOOMER_RPC),
        ],
        lacks: &[
            "swap",
            "raise-runtime-limit",
            "smaller-batch",
            "mixed-precision",
            "fewer-workers",
            "fewer-at-once",
            "chunk-the-operation",
        ],
    },
    // Portage (man make.conf): what make is called with; emerge's own --jobs counts packages.
    Tool {
        name: "Portage",
        files: &["/var/tmp/portage/"],
        scripts: &["emerge", "ebuild"],
        clue: None,
        rows: &[(
            "fewer-at-once",
            option("MAKEOPTS=\"-j1\"").note("in /etc/portage/make.conf", "写入 /etc/portage/make.conf"),
        )],
        lacks: WITHOUT_BATCHES,
    },
    // makepkg, libmakepkg/util/config.sh: of the environment it keeps the folders, PKGEXT, PACKAGER and CARCH; a
    // MAKEFLAGS of makepkg.conf wins, and without one make runs a single job. cargo and ninja read variables of their
    // own.
    Tool {
        name: "makepkg",
        files: &[],
        scripts: &["makepkg"],
        clue: Some(Clue::Makepkg),
        rows: &[(
            "fewer-at-once",
            option("MAKEFLAGS=\"-j2\"").note(
                "in ~/.makepkg.conf, over /etc/makepkg.conf; cargo: CARGO_BUILD_JOBS=2 makepkg",
                "写入 ~/.makepkg.conf，优先于 /etc/makepkg.conf；cargo 用 CARGO_BUILD_JOBS=2 makepkg",
            ),
        )],
        lacks: &["smaller-batch", "mixed-precision"],
    },
    // LLVM's own build by Ninja, told by what it links. Seen in llvm/llvm-project, its page on CMake:
    // LLVM_PARALLEL_LINK_JOBS is of Ninja's pools alone (make -j bounds all jobs), LLVM_USE_LINKER=lld,
    // CMAKE_BUILD_TYPE Debug unless set, whose executables take most to link.
    Tool {
        name: "LLVM's build",
        files: &[
            "/tools/llc/cmakefiles/llc.dir/llc.cpp",
            "/tools/lli/cmakefiles/lli.dir/lli.cpp",
            "/tools/opt/cmakefiles/opt.dir/opt.cpp",
            "/tools/bugpoint/cmakefiles/bugpoint.dir/bugpoint.cpp",
            "/tools/llvm-exegesis/cmakefiles/",
            "/tools/clang/tools/driver/cmakefiles/clang.dir/driver.cpp",
        ],
        scripts: &[],
        clue: None,
        rows: &[(
            "fewer-at-once",
            line(Target::Shell, "cmake -DLLVM_PARALLEL_LINK_JOBS=1 ...").note(
                "with Ninja, else make -j1; CMAKE_BUILD_TYPE=Release, LLVM_USE_LINKER=lld",
                "用于 Ninja，否则 make -j1；CMAKE_BUILD_TYPE=Release、LLVM_USE_LINKER=lld",
            ),
        )],
        lacks: &["smaller-batch", "mixed-precision"],
    },
    // Composer, bin/composer at eba7baa (2026-08) and doc/articles/troubleshooting.md: it sets its limit itself, to
    // COMPOSER_MEMORY_LIMIT, or to 1.5 GB where php.ini has less. A composer.json with narrower versions needs less.
    Tool {
        name: "Composer",
        files: &["/composer/bin/composer", "/src/composer/dependencyresolver/rulesetgenerator.php"],
        scripts: &["composer", "composer.phar"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            line(Target::Shell, "COMPOSER_MEMORY_LIMIT=-1 composer ...")
                .note("or php -d memory_limit=-1 composer.phar ...", "或 php -d memory_limit=-1 composer.phar ...")
                .unless("area"),
        )],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers"],
    },
    // wtdbg2 at b77c565 (2.5), wtdbg.c: -g 0, without which -X 50 (the best of so much depth) leaves no read out; -S
    // 4 (one of so many k-mers is kept), -x presets, which stand before other options; -t 4. wtdbg2.pl asks for -g.
    Tool {
        name: "wtdbg2",
        files: &[],
        scripts: &["wtdbg2", "wtdbg2.pl"],
        clue: None,
        rows: &[
            ("read-less-at-once", WTDBG2),
            ("fix-the-shape", WTDBG2),
            ("less-at-once", WTDBG2),
            ("fewer-at-once", option("wtdbg2 -t <fewer> ...")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // ffmpeg's frames on a GPU, by the name of the context that gives them (libavutil/hwcontext_cuda.c). Each output of
    // a command has an encoder with frames of its own.
    Tool {
        name: "ffmpeg's device memory",
        files: &[],
        scripts: &["[AVHWDeviceContext @ "],
        clue: None,
        rows: &[
            (
                "less-at-once",
                said(
                    Target::Program,
                    "fewer outputs in one command, one encoder after another; then -surfaces 8 behind -c:v h264_nvenc",
                    "减少一条命令中的输出，编码器依次运行；再在 -c:v h264_nvenc 之后加 -surfaces 8",
                ),
            ),
            ("other-device", FFMPEG_DEVICE),
        ],
        lacks: NOT_OF_ENCODERS,
    },
    // ffmpeg's encoders and decoders of NVIDIA, libavcodec/nvenc_h264.c and cuviddec.c: -surfaces (0 to 64; by itself
    // as many as the settings ask for), -gpu of the encoder, -hwaccel_device of the decoder. keylase/nvidia-patch's
    // README lowers -surfaces to 8 for "CreateBitstreamBuffer failed: out of memory (10)".
    Tool {
        name: "ffmpeg",
        files: &[],
        scripts: &["ffmpeg", "ffmpeg.exe"],
        clue: None,
        rows: &[
            (
                "less-at-once",
                option("-surfaces 8").note(
                    "behind -c:v h264_nvenc; before -i for h264_cuvid",
                    "写在 -c:v h264_nvenc 之后；h264_cuvid 写在 -i 之前",
                ),
            ),
            (
                "less-at-once",
                said(
                    Target::Program,
                    "fewer encoders at a time: drivers of GeForce bound their number; -c:v libx264 needs none",
                    "减少同时的编码器：GeForce 驱动限制其数量；-c:v libx264 不占用",
                ),
            ),
            ("other-device", FFMPEG_DEVICE),
        ],
        lacks: NOT_OF_ENCODERS,
    },
    // Redis, redis.conf at 4f8cdc2 (2024-10): maxmemory-policy is noeviction unless set, under which writes are refused
    // once maxmemory is reached; a cache may drop what is used least. Both can be set while it runs. What keeps jobs in
    // it loses them by any other policy (sidekiq issue 5558): the limit comes first.
    Tool {
        name: "Redis",
        files: &[],
        scripts: &["redis", "redis-server"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("maxmemory <more>").note(
                    "below the RAM: redis.conf, or redis-cli CONFIG SET",
                    "低于内存：redis.conf，或 redis-cli CONFIG SET",
                ),
            ),
            (
                "raise-runtime-limit",
                option("maxmemory-policy allkeys-lru")
                    .note("a cache alone: it drops keys, and jobs of a queue", "仅用于缓存：会丢弃键，队列则丢失任务"),
            ),
        ],
        lacks: &["smaller-batch", "mixed-precision"],
    },
    // MongoShake at acbaf60 (2.8.4), conf/collector.conf: incr_sync.fetcher.buffer_capacity 256 documents in a buffer
    // at least, incr_sync.worker.batch_queue_size 64, incr_sync.adaptive.batching_max_size 1024, incr_sync.worker 8,
    // full_sync.reader.collection_parallel 6 and write_document_parallel 8, document_batch_size 128.
    Tool {
        name: "MongoShake",
        files: &["/mongoshake/collector/", "/mongoshake/v2/collector/"],
        scripts: &["collector.linux", "collector.windows", "collector.darwin"],
        clue: None,
        rows: &[
            ("read-less-at-once", MONGOSHAKE),
            ("smaller-buffers", MONGOSHAKE),
            (
                "fewer-at-once",
                option("full_sync.reader.collection_parallel = 2")
                    .note("6 unless set; collector.conf", "默认 6；collector.conf"),
            ),
        ],
        lacks: &["smaller-batch", "mixed-precision"],
    },
    // fMRIPrep and what else is built on niworkflows: processes of nipype's MultiProc plugin.
    Tool {
        name: "NiPreps",
        files: &["/niworkflows/", "/fmriprep/"],
        scripts: &["fmriprep"],
        clue: Some(Clue::NiPreps),
        rows: &[
            ("fewer-workers", option("--nprocs 2 --omp-nthreads 2")),
            ("fewer-at-once", option("--nprocs 2 --omp-nthreads 2")),
        ],
        lacks: &[],
    },
    Tool {
        name: "nipype",
        files: &["/nipype/"],
        scripts: &[],
        clue: Some(Clue::Nipype),
        rows: &[
            (
                "fewer-workers",
                option("workflow.run(plugin=\"MultiProc\", plugin_args={\"n_procs\": 2, \"memory_gb\": <GB>})"),
            ),
            (
                "fewer-at-once",
                option("workflow.run(plugin=\"MultiProc\", plugin_args={\"n_procs\": 2, \"memory_gb\": <GB>})"),
            ),
        ],
        lacks: &[],
    },
    // TensorRT-LLM's benchmark in C++ reads an engine that is built already.
    Tool {
        name: "gptManagerBenchmark",
        files: &[],
        scripts: &["gptManagerBenchmark", "gptSessionBenchmark"],
        clue: None,
        rows: &[("lower-engine-memory", option("--kv_cache_free_gpu_mem_fraction {tried}"))],
        lacks: &["more-devices", "max-model-len", "kv-cache-dtype"],
    },
    // MUMmer 4's nucmer. Seen in its usage (4.0.0beta2): -t all cores, --batch=BASES "from the reference", --maxmatch;
    // mummer4/mummer's issues 98 (-t 32 --maxmatch: more RAM), 47 and 86 (fewer threads).
    Tool {
        name: "MUMmer",
        files: &[],
        scripts: &["nucmer"],
        clue: None,
        rows: &[
            ("raise-host-limit", MUMMER),
            ("read-less-at-once", option("nucmer --batch=<number> ...").note("without --maxmatch", "去掉 --maxmatch")),
            ("fewer-at-once", option("nucmer -t <fewer> ...").note("all cores unless set", "默认用全部核心")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // ntHits. Seen in bcgsc/ntHits, README.md (-b 16, -t 16, -k 64), and BirolLab/ntHits' issue 10 (-b36: a lower -b).
    Tool {
        name: "ntHits",
        files: &[],
        scripts: &["nthits", "ntHits"],
        clue: None,
        rows: &[("raise-host-limit", NTHITS), ("read-less-at-once", NTHITS)],
        lacks: WITHOUT_BATCHES,
    },
    // MEGAHIT, by the words of its graph's builder. Seen in its usage (1.2.9): --min-count 2, --k-min 21, --no-mercy,
    // --kmin-1pass; voutcn/megahit's issues 97 and 164 (--kmin-1pass). Its -m bounds no more than what it sorts in.
    Tool {
        name: "MEGAHIT",
        files: &[],
        scripts: &["megahit", "megahit_sdbg_build", "megahit_core", "Adding mercy edges..."],
        clue: None,
        rows: &[
            ("raise-host-limit", MEGAHIT),
            ("read-less-at-once", option("megahit --kmin-1pass ...").note("slower", "更慢")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // STAR, source/parametersDefault (2.7.0d): genomeChrBinNbits (18; min(18, log2(GenomeLength/NumberOfReferences))
    // for many of them, its issue 103), genomeSAsparseD, limitBAMsortRAM, limitGenomeGenerateRAM (31 GB), genomeLoad,
    // limitIObufferSize (for each thread), outBAMsortingBinsN (50), outSAMtype; its release notes name the bins first
    // in the release after 2.5.0a, and say that more of them need less RAM. Own line: "..... started STAR run".
    // raise-runtime-limit is in setting.rs by the message. Reads are streamed: there is no batch.
    Tool {
        name: "STAR",
        files: &[],
        scripts: &["STAR", "STARlong"],
        clue: None,
        rows: &[
            ("raise-host-limit", STAR_INDEX),
            (
                "read-less-at-once",
                option("STAR --runMode genomeGenerate --genomeSAsparseD 2 ...")
                    .note("a sparser index, made anew; then 3: slower", "重建更稀疏的索引；再试 3：更慢"),
            ),
            (
                "read-less-at-once",
                option("STAR ... --outBAMsortingBinsN 200")
                    .note("or BAM Unsorted, sorted afterwards", "或先输出 BAM Unsorted，之后再排序"),
            ),
            ("fewer-at-once", option("STAR ... --runThreadN <fewer>")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // SPAdes, docs/running.md (3.15): -t (16 unless set), -m in GB (250 unless set; it stops there); --restart-from
    // last may change these two, --continue may not. A log shows share/spades/spades_pipeline/support.py. Scripts
    // as named in that page. setting.rs gives -m for a bad_alloc. It has no option that reads fewer reads.
    Tool {
        name: "SPAdes",
        files: &["/spades_pipeline/"],
        scripts: &["spades.py", "metaspades.py", "rnaspades.py", "plasmidspades.py"],
        clue: None,
        rows: &[(
            "fewer-at-once",
            option("spades.py --restart-from last -t <fewer> -o <output>")
                .note("16 threads unless set", "默认 16 个线程"),
        )],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers", "chunk-the-operation", "read-less-at-once"],
    },
    // Canu's consensus, where utgcns shows: the stage is cns. marbl/canu's issues 1750 (jobs of it take more than was
    // asked for) and 1934 (killed in Slurm).
    Tool {
        name: "Canu's consensus",
        files: &[],
        scripts: &["utgcns"],
        clue: None,
        rows: &[
            ("raise-host-limit", CANU_CONSENSUS),
            ("fewer-at-once", option("cnsConcurrency=1").note("of canu, without a grid", "canu 的参数，不用集群时")),
        ],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers", "chunk-the-operation", "raise-runtime-limit"],
    },
    // Canu: src/pipelines/canu/Defaults.pm (maxMemory, maxThreads, merylMemory, redMemory, batMemory,
    // readSamplingCoverage)
    // and documentation/source/parameter-reference.rst ({prefix}Memory in GB of one job, {prefix}Threads,
    // {prefix}Concurrency, the last without a grid only). These options have no hyphen. What a scheduler ended is a job
    // of canu's own, named for its stage (issues 594 and 1480); maxMemory bounds stages and gives none more.
    Tool {
        name: "Canu",
        files: &[],
        scripts: &["canu", "bogart", "meryl", "overlapInCore"],
        clue: None,
        rows: &[
            ("raise-host-limit", CANU_STAGE),
            // Its stages in Java; else it is the line above once more.
            ("raise-runtime-limit", CANU_STAGE.when("java")),
            (
                "read-less-at-once",
                option("maxMemory=<GB> maxThreads=<fewer>").note(
                    "bounds every stage; readSamplingCoverage=<x> reads less",
                    "限制每个步骤；readSamplingCoverage=<x> 少读",
                ),
            ),
            (
                "fewer-at-once",
                option("<stage>Concurrency=1").note(
                    "cns, cor, cormhap, obtovl, red, oea, …: without a grid",
                    "cns、cor、cormhap、obtovl、red、oea 等：不用集群时",
                ),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // gedi, on which PRICE runs. Seen in erhard-lab/gedi, Gedi/gedi at 20bcfd0: the script sets -Xmx itself, to 16G or
    // to what -mem gives, an option that stands before the program's name (erhard-lab/price's issue 17).
    Tool {
        name: "gedi",
        files: &[],
        scripts: &["gedi"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            option("gedi -mem <size> -e ...")
                .note(
                    "16G unless set; before -e, below the memory that there is",
                    "默认 16G；写在 -e 之前，低于可用内存",
                )
                .unless("area"),
        )],
        lacks: WITHOUT_BATCHES,
    },
    // Seurat, whose residuals and scaled data are dense: genes × cells. Seen in satijalab/seurat, R/preprocessing.R
    // (conserve.memory FALSE: if TRUE the residuals of all genes are never made at once; slower), its issues 2997
    // (ScaleData of the variable features alone) and 9164 (SketchData of counts that BPCells keeps on disk);
    // satijalab/sctransform's issue 202.
    Tool {
        name: "Seurat",
        files: &[],
        scripts: &["seurat"],
        clue: None,
        rows: &[
            ("raise-host-limit", SEURAT_DENSE),
            ("read-less-at-once", SEURAT_DENSE),
            ("less-at-once", SEURAT_DENSE),
        ],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers", "chunk-the-operation", "fix-the-shape"],
    },
    // Dorado. Seen in nanoporetech/dorado, its issues 240 (RAM: better since 0.3.1), 270 (smaller pod5 files in each
    // run meanwhile) and 1344 (--batchsize 0).
    Tool {
        name: "Dorado",
        files: &[],
        scripts: &["dorado"],
        clue: None,
        rows: &[
            ("smaller-batch", DORADO_BATCH),
            ("less-at-once", DORADO_BATCH),
            (
                "read-less-at-once",
                said(
                    Target::Program,
                    "a release after 0.3.1, which keeps less; or fewer and smaller pod5 files in each run",
                    "用 0.3.1 之后的版本（占用更少）；或每次运行处理更少、更小的 pod5 文件",
                ),
            ),
        ],
        lacks: &["mixed-precision", "fewer-workers", "chunk-the-operation", "weight-offload", "fix-the-shape"],
    },
    // nuclei. Seen in projectdiscovery/nuclei, its usage (-c templates at once 25, -bs hosts at once for each 25, -rl
    // requests a second 150) and issues 4756 and 2567.
    Tool {
        name: "nuclei",
        files: &[],
        scripts: &["nuclei"],
        clue: None,
        rows: &[
            ("fewer-at-once", NUCLEI_AT_ONCE),
            ("read-less-at-once", NUCLEI_AT_ONCE),
            ("less-at-once", NUCLEI_AT_ONCE),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // GATK 4, the launcher `gatk`: --java-options takes one string, put before -jar. Own line: "Using GATK jar /…".
    // GenomicsDB's own memory is none of the heap's (broadinstitute/gatk's issue 7542).
    Tool {
        name: "GATK",
        files: &[],
        scripts: &["gatk"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            option("gatk --java-options '-Xmx<size>' <tool> ...")
                .note(
                    "more than now, below the job's memory; gendb:// takes more beside it",
                    "大于当前值，低于作业内存；gendb:// 还需堆外内存",
                )
                .unless("area"),
        )],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation"],
    },
    // samtools sort, doc/samtools-sort.1 (1.21.1): -m "per thread", 768 MiB unless set, 1M at least; -@ threads;
    // -T. What does not fit goes to temporary files (-T).
    Tool {
        name: "samtools",
        files: &[],
        scripts: &["samtools"],
        clue: None,
        rows: &[
            (
                "read-less-at-once",
                option("samtools sort -@ <fewer> -m 512M ...").note("-m counts for each thread", "-m 按每个线程计"),
            ),
            (
                "fewer-at-once",
                option("samtools sort -@ <fewer> -m 512M ...").note("-m counts for each thread", "-m 按每个线程计"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // minimap2, minimap2.1 (man page of 2.1.1): -I bases of the target in RAM (4G then, 8G in later usages), -K
    // bases of a mini-batch, -t. An .mmi keeps the -I that it was built with. Users pair a small -I with
    // --split-prefix.
    Tool {
        name: "minimap2",
        files: &[],
        scripts: &["minimap2"],
        clue: None,
        rows: &[
            (
                "read-less-at-once",
                option("minimap2 -I 2G -K 100M ...")
                    .note("-I where the index is built: an .mmi keeps its own", "-I 用在建索引时：.mmi 保留建立时的值"),
            ),
            ("fewer-at-once", option("minimap2 -t <fewer> -K 100M ...")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // BWA: usage of `bwa mem` and bwa-mem2: -K input bases of a batch, whatever the threads; without it the batch
    // grows with -t. Not in the first `mem` (fastmap.c of 2013 has no option at all): since when was not seen.
    Tool {
        name: "BWA",
        files: &[],
        scripts: &["bwa", "bwa-mem2"],
        clue: None,
        rows: &[
            (
                "read-less-at-once",
                option("bwa mem -K 10000000 -t <fewer> ...")
                    .note("bases of a batch; the index stays as large", "每批碱基数；索引大小不变"),
            ),
            ("fewer-at-once", option("bwa mem -t <fewer> ...")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Kraken 2, scripts/kraken2: --memory-mapping (-M of `classify`), --threads; scripts/kraken2-build:
    // --max-db-size in bytes (with --build/--standard/--special). The database is loaded into RAM otherwise.
    Tool {
        name: "Kraken 2",
        files: &[],
        scripts: &["kraken2", "kraken2-build"],
        clue: None,
        rows: &[
            ("read-less-at-once", option("--memory-mapping").note("reads it from the disk instead", "改为从磁盘读取")),
            (
                "read-less-at-once",
                option("kraken2-build --build --max-db-size <bytes> --db <name>")
                    .note("a database of a downsampled library", "对库降采样得到的数据库"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Trinity, `Trinity` (perl, its usage): --max_memory 10G (bounds Jellyfish and sorting), --CPU,
    // --bflyHeapSpaceMax (4G), --bflyCPU, --normalize_by_read_set (named there for want of RAM), --min_kmer_cov
    // (1). Normalising is on by itself since September 2016. Its parts show as Inchworm, Chrysalis and
    // Butterfly.jar, whose -Xmx it writes itself.
    Tool {
        name: "Trinity",
        files: &[],
        scripts: &["Trinity", "butterfly"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("Trinity --bflyHeapSpaceMax <size> --bflyCPU <fewer> ...")
                    .note("4G for each Butterfly unless set", "每个 Butterfly 默认 4G")
                    .unless("area"),
            ),
            (
                "read-less-at-once",
                option("Trinity --normalize_by_read_set --min_kmer_cov 2 ...")
                    .note("k-mers that occur once are left out", "只出现一次的 k-mer 不参与组装"),
            ),
            ("fewer-at-once", option("Trinity --CPU <fewer> --max_memory <GB>G ...")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Cell Ranger runs on Martian (martian-lang/martian, cmd/mrp/main.go): --localmem=NUM in GB, --localcores=NUM
    // for local jobs, --maxjobs=NUM for clusters, --monitor kills what exceeds its request. cellranger count has
    // the first two (10x' page of 1.2 and wrappers in R). Own line: "Pipestance failed. Error log at:".
    Tool {
        name: "Cell Ranger",
        files: &[],
        scripts: &["cellranger", "mrp"],
        clue: None,
        rows: &[(
            "fewer-at-once",
            option("cellranger count --localmem=<GB> --localcores=<fewer> ...")
                .note("GB that its stages may ask for together", "各步骤合计可申请的 GB"),
        )],
        lacks: &["smaller-batch", "mixed-precision", "chunk-the-operation", "read-less-at-once"],
    },
    // Nextflow: what a process asks is in raise_host_limit.rs. Its own JVM: the launcher `nextflow` reads NXF_OPTS
    // (and NXF_JVM_ARGS), and unsets JAVA_TOOL_OPTIONS: the general line for it would do nothing. Of a heap that is
    // full within a task this row says nothing: only a line of Nextflow's own heap should lead here. docs/reference at
    // 2aad02f (2026-08): maxForks of a process, executor.queueSize; local tasks are bounded by the CPUs alone.
    Tool {
        name: "Nextflow",
        files: &[],
        scripts: &["nextflow"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                line(Target::Shell, "NXF_OPTS=-Xmx<size> nextflow run ... -resume")
                    .note("of Nextflow itself; a task's tool has its own", "Nextflow 自身的堆；任务中的工具另有设置")
                    .unless("area"),
            ),
            (
                "fewer-at-once",
                option("process { withName: '<name>' { maxForks = 1 } }").note(
                    "nextflow run -c FILE; of all: executor { queueSize = 2 }",
                    "nextflow run -c FILE；全部任务：executor { queueSize = 2 }",
                ),
            ),
        ],
        lacks: &[],
    },
    // Snakemake's executor for LSF, BEFH/snakemake-executor-plugin-lsf at 243a3e6 (2026-03), README.md: mem_mb is
    // passed as -R rusage[mem=…], for each CPU unless SNAKEMAKE_LSF_MEMFMT is perjob, which asks for memory and sets
    // no limit: a site's MEMLIMIT stays (bqueues -l). lsf_extra goes to bsub as it stands.
    Tool {
        name: "Snakemake's LSF plugin",
        files: &["/snakemake_executor_plugin_lsf/"],
        scripts: &["--executor lsf"],
        clue: None,
        rows: &[
            (
                "raise-host-limit",
                option("snakemake --set-resources \"<rule>:lsf_extra='-M <MB>MB'\" ...")
                    .note("the limit itself; the queue's: bqueues -l", "限制本身；队列的限制：bqueues -l"),
            ),
            (
                "fewer-at-once",
                option("snakemake --resources mem_mb=<MB> -j <fewer> ...")
                    .note("holds back rules whose mem_mb do not fit", "mem_mb 放不下的规则会等待"),
            ),
        ],
        lacks: &[],
    },
    // Snakemake, docs/executing/cli.rst: --set-resources RULE:RESOURCE=VALUE (mem_mb, mem), --default-resources,
    // --set-threads, --cores; the same keys in a profile (a list or a map). snakemake-executor-plugin-slurm and
    // -lsf, docs/further.md: mem_mb → sbatch --mem, mem_mb_per_cpu → --mem-per-cpu; LSF: -R rusage[mem=…].
    // --resources mem_mb=<MB> (usages in pipelines) bounds what runs together. Files: src/snakemake/ of its
    // repository. The scripts of rules are the user's: `lacks` stays empty.
    Tool {
        name: "Snakemake",
        files: &["/snakemake/executors/", "/snakemake/jobs.py", "/snakemake/dag.py", "/snakemake/cli.py"],
        scripts: &["snakemake"],
        clue: None,
        rows: &[
            (
                "raise-host-limit",
                option("snakemake --set-resources <rule>:mem_mb=<MB> ...")
                    .note("the peak + 20 %; by Slurm's and LSF's plugin", "取峰值 + 20 %；由 Slurm、LSF 插件传递"),
            ),
            (
                "fewer-at-once",
                option("snakemake --resources mem_mb=<MB> --cores <fewer> ...")
                    .note("holds back rules whose mem_mb do not fit", "mem_mb 放不下的规则会等待"),
            ),
        ],
        lacks: &[],
    },
    // Cromwell, docs/RuntimeAttributes.md: runtime { memory: "4G" }, 2G unless set, of no effect on the Local
    // backend by its table; maxRetries. Release notes of 56: workflow option memory_retry_multiplier with
    // system.memory-retry-error-keys (before: <backend>.config.memory-retry.*). concurrent-job-limit stands in a
    // backend's config (its examples).
    Tool {
        name: "Cromwell",
        files: &[],
        scripts: &["cromwell"],
        clue: None,
        rows: &[
            (
                "raise-host-limit",
                option("runtime { memory: \"<GB> GB\" }").note(
                    "in the task's WDL, or in default_runtime_attributes",
                    "写在任务的 WDL 或 default_runtime_attributes 中",
                ),
            ),
            (
                "fewer-at-once",
                option("concurrent-job-limit = <fewer>")
                    .note("in the backend's config block", "写在 backend 的 config 块中"),
            ),
        ],
        lacks: &[],
    },
    // bcbio-nextgen: resources: default: {memory, cores} in bcbio_system.yaml or the sample's YAML, -n cores of the
    // run (its issues 3719, 3727, changelog). Memory counts for each core: its log, "Configuring 1 jobs to run,
    // using 32 cores each with 192.1g of memory reserved for each job", came of 6 GB × 32.
    Tool {
        name: "bcbio-nextgen",
        files: &[],
        scripts: &["bcbio_nextgen.py"],
        clue: None,
        rows: &[(
            "fewer-at-once",
            option("bcbio_nextgen.py <sample>.yaml -n <fewer>").note(
                "resources: default: memory in the YAML is for each core",
                "YAML 中 resources: default: memory 按每核计",
            ),
        )],
        lacks: &["smaller-batch", "mixed-precision"],
    },
    // Maven, apache-maven/src/bin/mvn: MAVEN_OPTS goes to its own JVM. Tests run in other JVMs:
    // maven-surefire-plugin and -failsafe-plugin, <argLine>, <forkCount> (2.15 and later; argLine is of no effect
    // with forkCount 0).
    Tool {
        name: "Maven",
        files: &[],
        scripts: &["mvn"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                line(Target::Shell, "MAVEN_OPTS=-Xmx<size> mvn ...")
                    .note(
                        "its tests: <argLine>-Xmx<size></argLine> of surefire",
                        "测试：surefire 的 <argLine>-Xmx<size></argLine>",
                    )
                    .unless("area"),
            ),
            (
                "fewer-at-once",
                option("<forkCount>1</forkCount>").note(
                    "JVMs of tests at a time, of surefire and failsafe",
                    "surefire 与 failsafe 同时运行的测试 JVM 数",
                ),
            ),
        ],
        lacks: &["smaller-batch", "mixed-precision", "read-less-at-once"],
    },
    // sbt, its launcher's usage: -mem <integer> in MB (1024 in later ones, 1536 once) sets -Xms, -Xmx and the code
    // cache; --mem in 1.x' launchers of today.
    Tool {
        name: "sbt",
        files: &[],
        scripts: &["sbt"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            option("sbt -mem <MB> ...").note("1024 unless set", "默认 1024").unless("area"),
        )],
        lacks: &["smaller-batch", "mixed-precision", "read-less-at-once"],
    },
    // Bazel's server that went without a word, under as many actions as the machine has cores: no Java heap was full,
    // and a larger one leaves less for them. --jobs and --local_resources as below.
    Tool {
        name: "Bazel's server",
        files: &[],
        scripts: &["Server terminated abruptly"],
        clue: None,
        rows: &[("raise-runtime-limit", BAZEL_JOBS), ("fewer-at-once", BAZEL_JOBS)],
        lacks: &["smaller-batch", "mixed-precision"],
    },
    // Bazel: docs/memory (configure/memory): --host_jvm_args is a startup option, before the command; three flags
    // that keep less. ExecutionOptions.java: --local_ram_resources in MB (67 % of RAM unless set);
    // --local_resources=memory=<MB> in builds pinned to 8.3.1. fewer_at_once.rs has `bazel build --jobs=2 ...`
    // already: this row holds that and the RAM.
    Tool {
        name: "Bazel",
        files: &[],
        scripts: &["bazel"],
        clue: None,
        rows: &[
            ("fewer-at-once", BAZEL_JOBS),
            (
                "raise-runtime-limit",
                line(Target::Shell, "bazel --host_jvm_args=-Xmx<size> build ...")
                    .note("before the command: Bazel's own server", "写在子命令之前：Bazel 自身的服务进程")
                    .unless("area"),
            ),
            (
                "smaller-buffers",
                line(Target::Shell, "bazel build --discard_analysis_cache --notrack_incremental_state ...").note(
                    "and --nokeep_state_after_build: later builds start anew",
                    "并加 --nokeep_state_after_build：之后从头构建",
                ),
            ),
        ],
        lacks: &["smaller-batch", "mixed-precision"],
    },
    // Next.js, docs/01-app/02-guides/memory-usage.mdx: experimental.webpackMemoryOptimizations since 15.0.0
    // (14.2.32 refuses the key, and Turbopack does without it), experimental.webpackBuildWorker on by itself since
    // 14.1 unless webpack is configured, productionBrowserSourceMaps, experimental.serverSourceMaps;
    // experimental.cpus in users' configurations. Node's heap keeps the general line (NODE_OPTIONS).
    Tool {
        name: "Next.js",
        files: &["/node_modules/next/dist/"],
        scripts: &["next"],
        clue: None,
        rows: &[
            (
                "read-less-at-once",
                option("experimental: { webpackMemoryOptimizations: true }").note(
                    "in next.config.js, since 15; no source maps",
                    "写在 next.config.js，自 15 起；并关闭 source map",
                ),
            ),
            ("fewer-at-once", option("experimental: { cpus: 1 }").note("in next.config.js", "写在 next.config.js 中")),
        ],
        lacks: &["smaller-batch", "mixed-precision"],
    },
    // Vite: build.rollupOptions.maxParallelFileOps and build.sourcemap (users' vite.config.js, several with a
    // remark on memory). Its default was not seen.
    Tool {
        name: "Vite",
        files: &[],
        scripts: &["vite"],
        clue: None,
        rows: &[(
            "read-less-at-once",
            option("build: { sourcemap: false, rollupOptions: { maxParallelFileOps: 2 } }")
                .note("in vite.config.js", "写在 vite.config.js 中"),
        )],
        lacks: &["smaller-batch", "mixed-precision"],
    },
    // Jenkins' controller as a service of systemd: Environment="JAVA_OPTS=…" in
    // /etc/systemd/system/jenkins.service.d/override.conf (installers). What a build runs has its own settings.
    Tool {
        name: "Jenkins",
        files: &[],
        scripts: &["jenkins"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            line(Target::Linux, "systemctl edit jenkins: [Service] Environment=\"JAVA_OPTS=-Xmx<size>\"")
                .note("the controller; a build's tool has its own", "控制器自身；构建工具另有设置")
                .unless("area"),
        )],
        lacks: &[],
    },
    // Airflow, kubernetes_executor.rst of the provider cncf.kubernetes: executor_config={"pod_override": V1Pod} of
    // a task, container "base", or pod_template_file in [kubernetes_executor]. AIRFLOW__CELERY__WORKER_CONCURRENCY
    // (16 in a table of a deployment) = [celery] worker_concurrency. DAGs are the user's code: `lacks` stays empty.
    Tool {
        name: "Airflow",
        files: &["/airflow/providers/cncf/kubernetes/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "raise-host-limit",
                said(
                    Target::Kubernetes,
                    "executor_config={\"pod_override\": k8s.V1Pod(…)} of the task: resources of container base",
                    "任务的 executor_config={\"pod_override\": k8s.V1Pod(…)}：容器 base 的 resources",
                ),
            ),
            (
                "fewer-at-once",
                line(Target::Shell, "AIRFLOW__CELERY__WORKER_CONCURRENCY=<fewer>")
                    .note("tasks of one Celery worker", "一个 Celery worker 的任务数"),
            ),
        ],
        lacks: &[],
    },
    // Dagster, docs of customizing-your-deployment: tag dagster-k8s/config on a job (K8sRunLauncher) or an op
    // (k8s_job_executor; a job's tag does not reach step pods), runK8sConfig.containerConfig.resources in Helm's
    // values. multiprocess_executor.configured({"max_concurrent": n}) in users' code.
    Tool {
        name: "Dagster",
        files: &["/dagster_k8s/"],
        scripts: &["dagster"],
        clue: None,
        rows: &[
            (
                "raise-host-limit",
                line(
                    Target::Kubernetes,
                    "dagster-k8s/config: {container_config: {resources: {limits: {memory: <size>}}}}",
                )
                .note(
                    "a tag of the job, or of the op by k8s_job_executor",
                    "作业的标签；用 k8s_job_executor 时为 op 的标签",
                ),
            ),
            (
                "fewer-at-once",
                option("multiprocess_executor.configured({\"max_concurrent\": 2})")
                    .note("as executor_def of the job", "作为作业的 executor_def"),
            ),
        ],
        lacks: &[],
    },
    // Argo Workflows, docs/workflow-controller-configmap.yaml: executor.resources of the containers init and wait
    // (since 2.3), parallelism of workflows (since 2.3). The main container's limit stands in its template.
    Tool {
        name: "Argo Workflows",
        files: &[],
        scripts: &["argo"],
        clue: None,
        rows: &[
            (
                "raise-host-limit",
                said(
                    Target::Kubernetes,
                    "the container's resources in its template; init, wait: executor.resources in \
                     workflow-controller-configmap",
                    "模板中容器的 resources；init 与 wait：workflow-controller-configmap 的 executor.resources",
                ),
            ),
            (
                "fewer-at-once",
                line(Target::Kubernetes, "parallelism: <fewer>")
                    .note("workflows at a time, in the same ConfigMap", "同时运行的 workflow 数，写在同一 ConfigMap"),
            ),
        ],
        lacks: &[],
    },
    // The kubelet where it is itself what the kernel ends. Seen in Kubernetes' page on reserving compute resources
    // (kubeReserved, kubeReservedCgroup, enforceNodeAllocatable) and awslabs/amazon-eks-ami's pull request 419, in
    // which /podruntime.slice had too little.
    Tool {
        name: "kubelet",
        files: &[],
        scripts: &["(kubelet) total-vm:"],
        clue: None,
        rows: &[("raise-host-limit", KUBELET_RESERVED)],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers"],
    },
    // Elasticsearch, docs/reference/setup/advanced-configuration.asciidoc (8.x): files *.options in jvm.options.d,
    // -Xms and -Xmx alike, half of the memory at most; the root jvm.options is not to be edited; ES_JAVA_OPTS wins
    // over them. It IGNORES JAVA_TOOL_OPTIONS and JAVA_OPTS: the general line for a start script does nothing here.
    // OpenSearch has config/jvm.options.d as well, and OPENSEARCH_JAVA_OPTS. raise_runtime_limit.rs names
    // jvm.options in "breaker".
    Tool {
        name: "Elasticsearch or OpenSearch",
        files: &[],
        scripts: &["elasticsearch", "opensearch", "CircuitBreakingException: [parent] Data too large"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                said(
                    Target::Program,
                    "config/jvm.options.d/heap.options: -Xms<size> and -Xmx<size>, alike, half of the RAM at most",
                    "config/jvm.options.d/heap.options 中设相同的 -Xms<size> 与 -Xmx<size>：不超过内存一半",
                )
                .note("before 7.7: config/jvm.options", "7.7 之前：config/jvm.options")
                .unless("area"),
            ),
            (
                "smaller-buffers",
                said(
                    Target::Program,
                    "smaller -Xms<size> and -Xmx<size>, alike, in config/jvm.options.d/heap.options",
                    "在 config/jvm.options.d/heap.options 中减小相同的 -Xms<size> 与 -Xmx<size>",
                ),
            ),
        ],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers"],
    },
    // Kafka, bin/kafka-server-start.sh: KAFKA_HEAP_OPTS, -Xmx1G -Xms1G unless set.
    Tool {
        name: "Kafka",
        files: &[],
        scripts: &["kafka-server-start.sh"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                line(Target::Shell, "KAFKA_HEAP_OPTS='-Xms<size> -Xmx<size>' bin/kafka-server-start.sh ...")
                    .note("1G unless set", "默认 1G")
                    .unless("area"),
            ),
            (
                "smaller-buffers",
                line(Target::Shell, "KAFKA_HEAP_OPTS='-Xms<size> -Xmx<size>' bin/kafka-server-start.sh ...")
                    .note("below the limit; 1G unless set", "低于上限；默认 1G"),
            ),
        ],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers"],
    },
    // Solr, solr/bin/solr.in.sh: SOLR_HEAP="512m" (an example; it wins over SOLR_JAVA_MEM).
    Tool {
        name: "Solr",
        files: &[],
        scripts: &["solr"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("SOLR_HEAP=\"<size>\"")
                    .note("in solr.in.sh; wins over SOLR_JAVA_MEM", "写在 solr.in.sh；优先于 SOLR_JAVA_MEM")
                    .unless("area"),
            ),
            (
                "smaller-buffers",
                option("SOLR_HEAP=\"<size>\"").note("in solr.in.sh, below the limit", "写在 solr.in.sh，低于上限"),
            ),
        ],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers"],
    },
    // Neo4j 5: server.memory.heap.initial_size, .max_size, server.memory.pagecache.size, db.memory.transaction.max
    // and dbms.memory.transaction.total.max in conf/neo4j.conf (users' files). Names before 5 were not seen.
    Tool {
        name: "Neo4j",
        files: &[],
        scripts: &["neo4j", "neo4j-admin"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("server.memory.heap.max_size=<size>")
                    .note(
                        "in neo4j.conf; transactions: dbms.memory.transaction.total.max, one db.memory.transaction.max",
                        "写在 neo4j.conf；全部事务 dbms.memory.transaction.total.max，单个 db.memory.transaction.max",
                    )
                    .unless("area"),
            ),
            (
                "smaller-buffers",
                option("server.memory.pagecache.size=<size>").note(
                    "in neo4j.conf (5); heap and page cache together below the limit",
                    "写在 neo4j.conf（5）；堆与页缓存之和低于上限",
                ),
            ),
        ],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers"],
    },
    // InnoDB where its pool is refused at the start: linuxserver/docker-mariadb's issue 29 (256M on a Raspberry Pi;
    // 128M starts), docker-library/mysql's issue 248 (the 128M that it has unless set); options behind the image's name
    // are mysqld's (docker-library/docs, mysql).
    Tool {
        name: "InnoDB's buffer pool",
        files: &[],
        scripts: &["annot allocate memory for the buffer pool"],
        clue: None,
        rows: &[(
            "smaller-buffers",
            line(Target::Shell, "innodb_buffer_pool_size = <half>").note(
                "of now, 128M unless set; in my.cnf, or docker run mysql --innodb-buffer-pool-size=<half>",
                "现值（默认 128M）的一半；写入 my.cnf，或 docker run mysql --innodb-buffer-pool-size=<half>",
            ),
        )],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers"],
    },
    // MySQL and MariaDB on small machines: performance_schema = OFF beside innodb_buffer_pool_size (users' my.cnf for
    // low memory; MySQL has it on from 5.6.6 on, where it takes some 400 MB with a table cache of the default size).
    // A pool of half of the limit may be more than the 128M that it has unless set. In the place of
    // smaller_buffers.rs.
    Tool {
        name: "MySQL or MariaDB",
        files: &[],
        scripts: &["mysqld", "mariadbd"],
        clue: None,
        rows: &[
            (
                "smaller-buffers",
                line(Target::Shell, "performance_schema = OFF")
                    .note("in my.cnf; and a smaller max_connections", "写入 my.cnf；并减小 max_connections"),
            ),
            (
                "smaller-buffers",
                line(Target::Shell, "innodb_buffer_pool_size = <half of the limit>")
                    .note("in my.cnf, if that is less than now: 128M unless set", "写入 my.cnf，须小于现值：默认 128M"),
            ),
        ],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers"],
    },
    // Sentry's ClickHouse, told by snuba, which asks it. Seen in getsentry/self-hosted, docker-compose.yml at 005c493
    // (MAX_MEMORY_USAGE_RATIO 0.3, which its comment would have raised where much is asked) and clickhouse/config.xml
    // (it is max_server_memory_usage_to_ram_ratio).
    Tool {
        name: "Sentry's ClickHouse",
        files: &["/usr/src/snuba/"],
        scripts: &["snuba-api-1 | ", "snuba-api_1 | ", "snuba-api | "],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("MAX_MEMORY_USAGE_RATIO: 0.5").note(
                    "environment of clickhouse in docker-compose.yml: 0.3 of the host's RAM as it comes",
                    "docker-compose.yml 中 clickhouse 的 environment：原为主机内存的 0.3",
                ),
            ),
            ("smaller-buffers", option("mark_cache_size: <smaller>").note("and the other caches", "以及其他缓存")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // ClickHouse at the limit of the whole server. Seen in ClickHouse/ClickHouse, programs/server/Server.cpp: unless
    // set it is max_server_memory_usage_to_ram_ratio (0.9) of what the machine or container has, and a larger
    // max_server_memory_usage is lowered to that. The words are those of its releases since and before 24.10. Its count
    // may drift from what it holds (issue 77102); memory_worker_correct_memory_tracker, off unless set, corrects it.
    Tool {
        name: "ClickHouse at its server's limit",
        files: &[],
        scripts: &["(total) memory limit exceeded", "Memory limit (total) exceeded"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                said(
                    Target::Program,
                    "more memory for the container or machine: the limit is max_server_memory_usage_to_ram_ratio of \
                     it, 0.9 unless set; raise that where it is less",
                    "给容器或机器更多内存；上限为其 max_server_memory_usage_to_ram_ratio（默认 0.9），若更低则调高",
                ),
            ),
            (
                "raise-runtime-limit",
                option("max_server_memory_usage_to_ram_ratio: 0.95").note("0.9 unless set", "默认 0.9"),
            ),
            (
                "raise-runtime-limit",
                option("max_server_memory_usage: <more>")
                    .note("only where it was set lower, as a round figure is", "仅当它曾被设得更低：整数上限多是如此"),
            ),
            (
                "raise-runtime-limit",
                option("memory_worker_correct_memory_tracker: true")
                    .note("where the RSS that it prints lies far below the limit", "若其打印的 RSS 远低于上限"),
            ),
            ("smaller-buffers", option("mark_cache_size: <smaller>").note("and the other caches", "以及其他缓存")),
            ("fewer-at-once", option("SET max_threads = <fewer>").note("of one query", "单个查询的线程数")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // ClickHouse: max_bytes_before_external_group_by, max_bytes_before_external_sort (0 in tests that turn it off),
    // users pair 5 GB with a max_memory_usage of 10 GB; max_threads, max_block_size.
    // max_bytes_ratio_before_external_* in newer ones. setting.rs raises the limits.
    Tool {
        name: "ClickHouse",
        files: &[],
        scripts: &["clickhouse-server", "clickhouse-client", "clickhouse"],
        clue: None,
        rows: &[
            (
                "read-less-at-once",
                option("SET max_bytes_before_external_group_by = <half of max_memory_usage>").note(
                    "and max_bytes_before_external_sort: the rest goes to disk",
                    "以及 max_bytes_before_external_sort：其余写到磁盘",
                ),
            ),
            ("fewer-at-once", option("SET max_threads = <fewer>").note("of one query", "单个查询的线程数")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Greenplum. Seen in greenplum-db/gpdb, src/backend/utils/mmgr/memprot.c ("failed to allocate … from system":
    // malloc was refused; "available" is what is left of its own quota) and its page on gp_vmem_protect_limit: (swap +
    // RAM × vm.overcommit_ratio) × 0.9, divided by the segments of a host. statement_mem is of one statement.
    Tool {
        name: "Greenplum",
        files: &[],
        scripts: &["greenplum"],
        clue: None,
        rows: &[
            (
                "raise-host-limit",
                line(Target::Shell, "sysctl vm.overcommit_ratio=<more>")
                    .note("with vm.overcommit_memory = 2, on each host", "配合 vm.overcommit_memory = 2，每台主机"),
            ),
            (
                "raise-host-limit",
                line(Target::Shell, "gpconfig -c gp_vmem_protect_limit -v <MB>").note(
                    "MB of a segment, at most (swap + RAM × ratio) × 0.9 / segments",
                    "每个 segment 的 MB 数，至多（交换区 + 内存 × 比例）× 0.9 / segment 数",
                ),
            ),
            (
                "fewer-at-once",
                option("SET statement_mem = '<MB>MB'").note("less; or fewer clients", "调小；或减少客户端"),
            ),
            (
                "read-less-at-once",
                option("SET statement_mem = '<MB>MB'").note("less: the rest goes to disk", "调小：其余写到磁盘"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // PostgreSQL's segments for parallel queries lie in /dev/shm, which a container has 64 MB of. A swarm's service has
    // no --shm-size (moby/moby's issue 26714), and a mount of tmpfs in its place (its issue 35271).
    Tool {
        name: "PostgreSQL's segments",
        files: &[],
        scripts: &["could not resize shared memory segment"],
        clue: None,
        rows: &[("shm-size", POSTGRES_SEGMENT.when("untold"))],
        lacks: WITHOUT_BATCHES,
    },
    // Ollama of the time when its sources lay in jmorganca/ollama, until 0.1.2x: `ollama show` takes one of --license,
    // --modelfile and others (ollama/ollama, cmd/cmd.go of that time); OLLAMA_NUM_PARALLEL, `ollama ps` and a quantised
    // cache came later. Paths of its sources stand in its messages.
    Tool {
        name: "Ollama of its first year",
        files: &["/jmorganca/ollama/"],
        scripts: &["/jmorganca/ollama/"],
        clue: None,
        rows: &[
            (
                "weight-quantisation",
                line(Target::Ollama, "ollama show --modelfile MODEL")
                    .note("names the file; then run a tag with fewer bits", "显示所用文件；再换位数更少的标签"),
            ),
            (
                "max-model-len",
                line(Target::Ollama, "PARAMETER num_ctx {shown}")
                    .note("or options: {\"num_ctx\": …}", "或 options: {\"num_ctx\": …}"),
            ),
            (
                "free-the-device",
                line(Target::Shell, "nvidia-smi").note(
                    "ends in \"version mismatch\" after a driver's update: restart the machine first",
                    "若报 version mismatch（更新过驱动）：先重启机器",
                ),
            ),
        ],
        lacks: &["fewer-sequences", "kv-cache-dtype", "share-one-model"],
    },
    // Prometheus, docs/command-line/prometheus.md (2.5x or 3.0): --query.max-concurrency 20, --query.max-samples
    // 50000000, --rules.max-concurrent-evals 4, --storage.remote.read-concurrent-limit 10;
    // --enable-feature=auto-gomemlimit keeps to nine tenths of the container's limit (whether later releases do so
    // by themselves was not seen). None was seen that bounds what its head holds.
    Tool {
        name: "Prometheus",
        files: &[],
        scripts: &["prometheus"],
        clue: None,
        rows: &[
            (
                "read-less-at-once",
                option("prometheus --query.max-samples=<fewer> ...").note("50000000 unless set", "默认 50000000"),
            ),
            (
                "fewer-at-once",
                option("prometheus --query.max-concurrency=<fewer> ...").note("20 unless set", "默认 20"),
            ),
            (
                "smaller-buffers",
                option("prometheus --enable-feature=auto-gomemlimit ...")
                    .note("collects earlier; the series that it holds stay", "更早回收；持有的时间序列不变"),
            ),
        ],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers"],
    },
    // DuckDB's command: SET temp_directory, preserve_insertion_order, threads (users' scripts); setting.rs raises
    // memory_limit. In Python it is a library in the user's script: no files.
    Tool {
        name: "DuckDB's command",
        files: &[],
        scripts: &["duckdb"],
        clue: None,
        rows: &[
            (
                "read-less-at-once",
                option("SET temp_directory = '<folder>'; SET preserve_insertion_order = false")
                    .note("spills to disk; SET threads = <fewer> as well", "溢出到磁盘；并 SET threads = <fewer>"),
            ),
            ("fewer-at-once", option("SET threads = <fewer>")),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // MATLAB: "Requested 92416x92416 (63.6GB) array exceeds maximum array size preference (62.7GB)": its preference
    // stands among those of the workspace (mathworks.com, set-workspace-and-variable-preferences); Java's heap:
    // Preferences → MATLAB → General → Java Heap Memory (R2021a; Settings, Java Runtime Environment Settings
    // later). Scripts are the user's own: `lacks` stays empty.
    Tool {
        name: "MATLAB",
        files: &[],
        scripts: &["matlab", "matlab.exe", "MATLAB"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            said(
                Target::Program,
                "Preferences → MATLAB → Workspace: the array size limit; of Java: General → Java Heap Memory",
                "预设 → MATLAB → 工作区：数组大小限制；Java：常规 → Java 堆内存",
            )
            .when("host"),
        )],
        lacks: &[],
    },
    // Quantum ESPRESSO, INPUT_PW (several releases): diago_david_ndim in &ELECTRONS, 4 unless set in older ones and
    // 2 in newer ones; 2 is the least, and meant for want of memory. The names of its commands are known, not seen.
    Tool {
        name: "Quantum ESPRESSO",
        files: &[],
        scripts: &["pw.x", "ph.x", "cp.x"],
        clue: None,
        rows: &[
            (
                "read-less-at-once",
                option("diago_david_ndim = 2")
                    .note("in &ELECTRONS; 4 unless set in older releases", "写在 &ELECTRONS；旧版默认 4"),
            ),
            (
                "less-at-once",
                option("diago_david_ndim = 2")
                    .note("in &ELECTRONS; 4 unless set in older releases", "写在 &ELECTRONS；旧版默认 4"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // VASP (its wiki and guide): KPAR does not distribute data: each group holds all of it (since 5.3.2); NPAR as
    // many as cores keeps the projectors on each core, NCORE (since 5.2.13) divides them (not with OpenMP or GPUs);
    // ISYM=2 and LCHARG=F in "Not enough memory, what to do"; MAXMEM in MB of a rank, for GW and RPA alone (2800 in
    // 5.4.4 and older, by itself since 6).
    Tool {
        name: "VASP",
        files: &[],
        scripts: &["vasp_std", "vasp"],
        clue: None,
        rows: &[
            (
                "read-less-at-once",
                option("KPAR = 1").note(
                    "in INCAR; on CPUs a larger NCORE; LCHARG = .FALSE.",
                    "写在 INCAR；CPU 上增大 NCORE；LCHARG = .FALSE.",
                ),
            ),
            (
                "less-at-once",
                option("KPAR = 1").note("in INCAR: k-points one after another", "写在 INCAR：k 点逐个计算"),
            ),
            (
                "raise-runtime-limit",
                option("MAXMEM = <MB>").note("of one rank; GW and RPA only", "每个 rank；仅 GW 与 RPA"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // CP2K: &HF &MEMORY MAX_MEMORY, MB of one MPI rank (cp2k's notes on libint, users' inputs): as much as is
    // needed keeps the integrals in core. Fewer ranks with more threads (psmp): a user's guide only.
    Tool {
        name: "CP2K",
        files: &[],
        scripts: &["cp2k.psmp", "cp2k"],
        clue: None,
        rows: &[
            (
                "read-less-at-once",
                option("&HF &MEMORY MAX_MEMORY <MB>")
                    .note("of each MPI rank; hybrid functionals only", "每个 MPI rank；仅杂化泛函"),
            ),
            (
                "fewer-at-once",
                said(
                    Target::Program,
                    "fewer MPI ranks with more OpenMP threads each (cp2k.psmp): each rank holds its own integrals",
                    "减少 MPI rank 并增加各自的 OpenMP 线程（cp2k.psmp）：每个 rank 各持有一份积分",
                ),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Gaussian: %Mem and %NProcShared stand before the route (inputs of 03 and 09). setting.rs reads %mem where the
    // message names it. Names of g03 and g16 by analogy with g09: only g09 was seen as a command.
    Tool {
        name: "Gaussian",
        files: &[],
        scripts: &["g09", "g16", "g03"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("%Mem=<GB>GB")
                    .note("first lines of the input; below the job's memory", "输入文件开头；低于作业内存"),
            ),
            (
                "fewer-at-once",
                option("%NProcShared=<fewer>").note("and %Mem below the job's memory", "并使 %Mem 低于作业内存"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // ORCA (faccts.de, tutorials/first_steps/memory of 6.1): %MaxCore in MB for each core, 4096 unless set; it may
    // take more, so 80 % of what there is; some modules stop with too little. %pal nprocs n end (inputs).
    Tool {
        name: "ORCA",
        files: &[],
        scripts: &["orca"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("%maxcore <MB>")
                    .note("for each core; all together 80 % of the memory", "按每核计；合计占内存的 80 %"),
            ),
            (
                "fewer-at-once",
                option("%pal nprocs <fewer> end").note("%maxcore counts for each of them", "%maxcore 按每个进程计"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // NWChem (manual, Memory): what stands there is of each process; total is divided among stack, heap and global.
    Tool {
        name: "NWChem",
        files: &[],
        scripts: &["nwchem"],
        clue: None,
        rows: &[
            (
                "raise-runtime-limit",
                option("memory total <MB> mb").note("in the input; of each process", "写在输入文件；按每个进程计"),
            ),
            (
                "fewer-at-once",
                option("mpirun -np <fewer> nwchem ...")
                    .note("the memory of the input counts for each of them", "输入文件中的 memory 按每个进程计"),
            ),
        ],
        lacks: WITHOUT_BATCHES,
    },
    // Psi4, doc/sphinxman/source/psithoninput.rst: memory 2 Gb in the input (256 Mb unless set in that release).
    Tool {
        name: "Psi4",
        files: &[],
        scripts: &["psi4"],
        clue: None,
        rows: &[(
            "raise-runtime-limit",
            option("memory <GB> Gb").note("in the input; below the job's memory", "写在输入文件；低于作业内存"),
        )],
        lacks: WITHOUT_BATCHES,
    },
    // GROMACS: gmx mdrun -nb cpu -pme cpu -bonded cpu -update cpu (users' scripts). Nothing was seen that makes the
    // system on a GPU smaller.
    Tool {
        name: "GROMACS",
        files: &[],
        scripts: &["gmx", "gmx_mpi", "mdrun"],
        clue: None,
        rows: &[(
            "other-device",
            option("gmx mdrun -nb cpu -pme cpu -bonded cpu -update cpu ...").note("on the CPU", "在 CPU 上运行"),
        )],
        lacks: &["smaller-batch", "mixed-precision", "fewer-workers", "chunk-the-operation", "smaller-images"],
    },
    // ethminer, ethminer/main.cpp: -L,--dag-load-mode 0 parallel, 1 sequential (GPUs one after another), 2 single;
    // once by words. Its DAG has the size of the epoch, on every GPU: no smaller problem, no other number, no share
    // of GPUs. What failed names functions of its own. PhoenixMiner is closed: nothing of its options was verified, so
    // none is given.
    Tool {
        name: "ethminer",
        files: &[],
        scripts: &["ethminer", "ethminer.exe", "dev::eth::CUDAMiner", "dev::eth::CLMiner"],
        clue: None,
        rows: &[(
            "fewer-at-once",
            option("ethminer -L 1 ...").note("DAG on one GPU after another", "DAG 逐个 GPU 生成"),
        )],
        lacks: OF_A_FIXED_SIZE,
    },
    Tool {
        name: "PhoenixMiner",
        files: &[],
        scripts: &["PhoenixMiner", "PhoenixMiner.exe"],
        clue: None,
        rows: &[],
        lacks: OF_A_FIXED_SIZE,
    },
    // lolMiner, which is closed: its words at the DAG, and Lolliedieb/lolMiner-releases' issues 102, 132, 151 and 198:
    // --4g-alloc-size of 4-GB cards helped none of NVIDIA's, where zombie mode does not work; ETC has a smaller DAG.
    // --devices chooses cards (issue 155). What lacks room is the card, where it says so of the epoch.
    Tool {
        name: "lolMiner on a card below the DAG",
        files: &[],
        scripts: &["insufficient memory for DAG epoch "],
        clue: None,
        rows: &[("other-device", LOLMINER_CARD)],
        lacks: &[
            "smaller-batch",
            "less-at-once",
            "more-devices",
            "mixed-precision",
            "weight-quantisation",
            "weight-offload",
            "chunk-the-operation",
            "read-less-at-once",
            "fewer-workers",
            "swap",
        ],
    },
    // Where one of several cards fails whose memory suffices, it was Windows' page file: issues 160, 231, 284 and 1432.
    Tool {
        name: "lolMiner",
        files: &[],
        scripts: &[
            "lolMiner",
            "lolMiner.exe",
            "Allocation of DAG failed with error",
            "error when allocating memory or building DAG",
        ],
        clue: None,
        rows: &[("other-device", LOLMINER_CARD)],
        lacks: OF_A_FIXED_SIZE,
    },
    // T-Rex, which is closed: its words at the DAG, and trexminer/T-Rex's issues 1007 (its author: something else holds
    // it, or Windows' driver; Linux), 1360 and 1363 (the display on the processor's graphics), 280 (more RAM).
    Tool {
        name: "T-Rex",
        files: &[],
        scripts: &[
            "t-rex",
            "t-rex.exe",
            "does not have enough free memory to hold the DAG",
            "not enough memory to hold the full DAG",
        ],
        clue: None,
        rows: &[
            ("free-the-device", CARD_FOR_THE_DAG),
            (
                "other-device",
                said(
                    Target::Program,
                    "a card with more memory than the DAG has, or a coin of a smaller one",
                    "显存大于 DAG 的显卡，或 DAG 更小的币种",
                ),
            ),
        ],
        lacks: OF_A_FIXED_SIZE,
    },
    // GMiner, which is closed: its words for each GPU, and develsoftware/GMinerRelease's issue 614: on Ethereum Classic
    // the epoch that Ethash counts is twice Etchash's, whose DAG fits. --algo etchash stands in many users' commands.
    Tool {
        name: "GMiner",
        files: &[],
        scripts: &[
            "gminer",
            "Error on GPU0: out of memory",
            "Error on GPU1: out of memory",
            "Error on GPU2: out of memory",
            "Error on GPU3: out of memory",
            "Error on GPU4: out of memory",
            "Error on GPU5: out of memory",
        ],
        clue: None,
        rows: &[
            (
                "other-device",
                said(
                    Target::Program,
                    "at a pool of Ethereum Classic --algo etchash: as Ethash its epoch counts twice; else a card with \
                     more memory than the DAG has",
                    "在以太经典矿池用 --algo etchash：按 Ethash 计 epoch 会翻倍；否则换显存大于 DAG 的显卡",
                ),
            ),
            ("free-the-device", CARD_FOR_THE_DAG),
        ],
        lacks: OF_A_FIXED_SIZE,
    },
    // NexusMiner. Seen in Nexusoft/NexusMiner, src/config/src/config/config.cpp and validator.cpp: a worker has
    // "hardware" and, for gpu, "device", and nothing to halve. By its issue 9 it is the machine's memory and Windows'
    // page file that do not suffice for so many GPUs.
    Tool {
        name: "NexusMiner",
        files: &["/nexusminer/"],
        scripts: &["NexusMiner", "NexusMiner.exe"],
        clue: None,
        rows: &[
            (
                "less-at-once",
                said(
                    Target::Windows,
                    "a larger page file: some GB for each GPU that mines",
                    "更大的页面文件：每个挖矿 GPU 需数 GB",
                ),
            ),
            ("less-at-once", NEXUSMINER_GPUS),
            ("fewer-at-once", NEXUSMINER_GPUS),
        ],
        lacks: &[
            "smaller-batch",
            "more-devices",
            "mixed-precision",
            "weight-quantisation",
            "weight-offload",
            "chunk-the-operation",
            "read-less-at-once",
            "fewer-workers",
        ],
    },
    // XMRig on CUDA. Seen in xmrig/xmrig, src/backend/cuda/CudaBackend.cpp ("mem:" is free of all) and its issues 1595,
    // 1355 and 1693: threads × blocks of "rx" each take a scratchpad (blocks are twice the processors of the card by
    // itself); "dataset_host" keeps RandomX' 2 GiB in host memory, slowly.
    Tool {
        name: "XMRig",
        files: &["/xmrig/"],
        scripts: &["xmrig", "xmrig.exe"],
        clue: None,
        rows: &[("less-at-once", XMRIG_BLOCKS), ("smaller-batch", XMRIG_BLOCKS), ("weight-offload", XMRIG_BLOCKS)],
        lacks: &["mixed-precision", "more-devices", "chunk-the-operation", "weight-quantisation", "shorter-sequences"],
    },
    // Filecoin's proofs. Seen in filecoin-project/rust-fil-proofs, README.md: MAX_GPU_COLUMN_BATCH_SIZE 400000 and
    // MAX_GPU_TREE_BATCH_SIZE 700000, each with the prefix FIL_PROOFS_; USE_GPU_COLUMN_BUILDER is off unless set. The
    // sector's size is fixed. storage-proofs-porep and bellperson are told by its messages, Lotus runs it.
    Tool {
        name: "Filecoin's proofs",
        files: &["/rust-fil-proofs/"],
        scripts: &["storage-proofs-porep", "lotus-worker", "lotus-miner", "lotus-bench"],
        clue: None,
        rows: &[
            ("less-at-once", FILECOIN_BATCH),
            ("less-at-once", FILECOIN_ON_THE_CPU),
            ("smaller-batch", FILECOIN_BATCH),
            ("smaller-batch", FILECOIN_ON_THE_CPU),
        ],
        lacks: &["mixed-precision", "more-devices", "chunk-the-operation", "weight-quantisation", "weight-offload"],
    },
    // hashcat, docs/hashcat-help.md (7.1.2): -w 1 to 4 (2 unless set), -n, -u, -T (since 5.1.0), -O (limits the
    // passwords' length), -d, --scrypt-tmto. It refuses -n without --force ("The manual use of the -n option (or
    // --kernel-accel) is outdated").
    Tool {
        name: "hashcat",
        files: &[],
        scripts: &["hashcat", "hashcat.exe", "hashcat.bin", "hashcat64", "hashcat64.exe", "hashcat64.bin"],
        clue: None,
        rows: &[
            ("less-at-once", option("hashcat -w 1 ...").note("then -n 1 -u 1 --force", "再试 -n 1 -u 1 --force")),
            ("less-at-once", option("hashcat --scrypt-tmto=3 ...").note("scrypt only: slower", "仅 scrypt：更慢")),
            ("smaller-batch", option("hashcat -w 1 ...").note("then -n 1 -u 1 --force", "再试 -n 1 -u 1 --force")),
            (
                "less-at-once",
                option("hashcat -d <number>,<number> ...")
                    .note("without the device that it names", "去掉其指出的那块设备"),
            ),
            ("other-device", option("hashcat -d <number> ...").note("-I lists them", "-I 列出设备")),
        ],
        lacks: &["mixed-precision", "more-devices", "fewer-workers", "chunk-the-operation", "shorter-sequences"],
    },
    // trtexec, samples/trtexec/README.md and its usage (8.4 to 10.3): --minShapes, --optShapes, --maxShapes,
    // --shapes need a dynamic input; a static model has the shapes that it was exported with. --fp16, not beside
    // --stronglyTyped. --streams runs that many at a time. --memPoolSize=workspace:<MiB> (--workspace gone in 10.3)
    // is in raise_runtime_limit.rs. --loadEngine: only shapes within the engine's profile.
    Tool {
        name: "trtexec",
        files: &[],
        scripts: &["trtexec", "trtexec.exe"],
        clue: None,
        rows: &[
            (
                "narrower-profile",
                option("trtexec --minShapes=<spec> --optShapes=<spec> --maxShapes=<smaller spec> ...").note(
                    "spec: <input>:1x3x640x640; a static model: export it smaller",
                    "spec：<input>:1x3x640x640；静态模型须以更小形状导出",
                ),
            ),
            (
                "smaller-batch",
                option("trtexec --shapes=<input>:<half>x3x640x640 ...")
                    .note("dynamic inputs; a static model: export it smaller", "动态输入；静态模型须以更小形状导出"),
            ),
            (
                "less-at-once",
                option("trtexec --shapes=<input>:<half>x3x640x640 ...")
                    .note("dynamic inputs; a static model: export it smaller", "动态输入；静态模型须以更小形状导出"),
            ),
            (
                "mixed-precision",
                option("trtexec --fp16 ...").note("not beside --stronglyTyped", "不能与 --stronglyTyped 同用"),
            ),
        ],
        lacks: &["weight-offload", "more-devices", "chunk-the-operation", "fused-attention", "fewer-workers"],
    },
];
