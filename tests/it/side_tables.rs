//! Tables of memory that stand beside a failure in a log: every tool, before, among and behind the failure's lines.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary::{oomdoc, outcome};
use crate::fixes::offers_for;
use serde_json::Value;

const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB. GPU 0 has a total \
                       capacity of 23.69 GiB of which 402.00 MiB is free.";
const KILLED: &str = "[ 8123.4] Out of memory: Killed process 4123 (python) total-vm:90000000kB, anon-rss:61000000kB, \
                      file-rss:0kB, shmem-rss:0kB";

const INVOKED: &str =
    "[ 8123.1] python invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0";

/// A tool's name, what it prints, and where the report shows it: the list, and a row's figures of use and size in MiB.
struct Tool {
    name: &'static str,
    text: &'static str,
    list: &'static str,
    used: Option<u64>,
    total: Option<u64>,
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "nvidia-smi 470",
        text: "|   0  Tesla V100-SXM2...  On   | 00000000:1A:00.0 Off |                    0 |\n\
         | N/A   41C    P0    57W / 300W |  30511MiB / 32510MiB |     98%      Default |",
        list: "gpus",
        used: Some(30_511),
        total: Some(32_510),
    },
    Tool {
        name: "nvidia-smi 550",
        text: "|   0  NVIDIA GeForce RTX 3090        Off |   00000000:01:00.0 Off |                  N/A |\n\
         |  0%   45C    P8             25W /  350W |   20480MiB /  24576MiB |      3%      Default |",
        list: "gpus",
        used: Some(20_480),
        total: Some(24_576),
    },
    Tool {
        name: "nvidia-smi MIG",
        text: "| MIG devices:                                                                            |\n\
         |  0    1   0   0  |              19MiB / 19968MiB  | 42      0 |  3   0    2    0    0   |",
        list: "partitions",
        used: Some(19),
        total: Some(19_968),
    },
    Tool {
        name: "nvidia-smi -q",
        text: "GPU 00000000:01:00.0\n\
         FB Memory Usage\n\
         Total                             : 49140 MiB\n\
         Used                              : 47810 MiB",
        list: "gpus",
        used: Some(47_810),
        total: Some(49_140),
    },
    Tool {
        name: "nvidia-smi csv",
        text: "index, memory.used [MiB], memory.total [MiB]\n0, 7000 MiB, 48000 MiB",
        list: "gpus",
        used: Some(7000),
        total: Some(48_000),
    },
    Tool {
        name: "nvidia-smi csv,noheader",
        text: "$ nvidia-smi --query-gpu=index,memory.used,memory.total --format=csv,noheader\n0, 7000 MiB, 48000 MiB",
        list: "gpus",
        used: Some(7000),
        total: Some(48_000),
    },
    Tool {
        name: "gpustat",
        text: "[0] NVIDIA GeForce RTX 3090 | 61°C,  98 % | 22001 / 24576 MB | me(21000M)",
        list: "gpus",
        used: Some(22_001),
        total: Some(24_576),
    },
    Tool {
        name: "nvitop",
        text: "│   0  GeForce RTX 3090     Off  │ 00000000:01:00.0 Off │                  N/A │ MEM: ███ 26.2%\n\
         │ 30%   41C    P8    28W / 350W  │   6424MiB / 24576MiB │      3%      Default │ UTL: ▏ 3%",
        list: "gpus",
        used: Some(6424),
        total: Some(24_576),
    },
    Tool {
        name: "rocm-smi",
        text: "GPU[0]\t\t: VRAM Total Memory (B): 68702699520\nGPU[0]\t\t: VRAM Total Used Memory (B): 68130177024",
        list: "gpus",
        used: Some(64_974),
        total: Some(65_520),
    },
    Tool {
        name: "amd-smi monitor 6.2",
        text: "GPU  VRAM_USED  VRAM_TOTAL\n  0  196010 MB   196300 MB",
        list: "gpus",
        used: Some(196_010),
        total: Some(196_300),
    },
    Tool {
        name: "amd-smi metric",
        text: "GPU: 0\n    MEM_USAGE:\n        TOTAL_VRAM: 196592 MB\n        USED_VRAM: 196010 MB",
        list: "gpus",
        used: Some(196_010),
        total: Some(196_592),
    },
    Tool {
        name: "amd-smi 7",
        text: "| GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |\n\
         |   0       0       7        SPX/NPS1 | 0 %        N/A           283/196592 MB |",
        list: "gpus",
        used: Some(283),
        total: Some(196_592),
    },
    Tool {
        name: "xpu-smi",
        text: "| Device ID                   | 0          |\n| GPU Memory Used (MiB)       | 15980      |",
        list: "tables",
        used: Some(15_980),
        total: None,
    },
    Tool {
        name: "nvidia-smi-dmon",
        text: "# gpu     fb   bar1\n# Idx     MB     MB\n    0  23500     12",
        list: "tables",
        used: Some(23_500),
        total: None,
    },
    Tool {
        name: "npu-smi",
        text: "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n\
         | 0     910B3               | OK            | 93.6        36                0    / 0             |\n\
         | 0                         | 0000:C1:00.0  | 0           0    / 0          64990/ 65536         |",
        list: "gpus",
        used: Some(64_990),
        total: Some(65_536),
    },
    Tool {
        name: "free -h",
        text: "               total        used        free      shared  buff/cache   available\n\
         Mem:           503Gi       117Gi       9.5Gi       2.1Gi       376Gi       380Gi",
        list: "tables",
        used: Some(117 << 10),
        total: Some(503 << 10),
    },
    Tool {
        name: "free -m",
        text: "$ free -m\n\
         total       used       free     shared    buffers     cached\n\
         Mem:        129028     120511       8517          0        312       9021",
        list: "tables",
        used: Some(120_511),
        total: Some(129_028),
    },
    Tool {
        name: "free -g",
        text: "$ free -g\n\
         total        used        free      shared  buff/cache   available\n\
         Mem:            251         240           3           0           8           9",
        list: "tables",
        used: Some(240 << 10),
        total: Some(251 << 10),
    },
    Tool {
        name: "meminfo",
        text: "MemTotal:       527940608 kB\nMemFree:         1203344 kB",
        list: "tables",
        used: None,
        total: Some(515_567),
    },
    Tool {
        name: "df",
        text: "Filesystem      Size  Used Avail Use% Mounted on\nshm              64M   61M  3.2M  95% /dev/shm",
        list: "tables",
        used: Some(61),
        total: Some(64),
    },
    Tool {
        name: "kubectl top",
        text: "NAME          CPU(cores)   MEMORY(bytes)\ntrain-0       3987m        61234Mi",
        list: "tables",
        used: Some(61_234),
        total: None,
    },
    Tool {
        name: "kubectl describe node",
        text: "Capacity:\n  cpu:                64\n  memory:             263846912Ki",
        list: "tables",
        used: None,
        total: Some(257_663),
    },
    Tool {
        name: "docker stats",
        text: "CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT     MEM %     NET I/O\n\
         4f1e   train     801.20%   61GiB / 64GiB       95.62%    1MB / 2MB",
        list: "tables",
        used: Some(61 << 10),
        total: Some(64 << 10),
    },
];

fn context(log: &str) -> Value {
    let (code, out, _) = outcome(oomdoc().args(["explain", "--format", "json", "-"]).write_stdin(log));
    assert_eq!(code, 0, "{log}");
    let report: Value = serde_json::from_str(&out).unwrap();
    report["incidents"][0]["context"].clone()
}

#[test]
fn every_tools_table_is_read_with_its_moment() {
    for Tool { name, text, list, used, total } in TOOLS {
        let message = if *list == "tables" { KILLED } else { MESSAGE };
        let logs = [
            ("before", format!("step 1\n{text}\nstep 2\nstep 3\n{message}\n")),
            // A monitor that writes into the kernel's report.
            ("at", format!("step 1\n{INVOKED}\n{text}\n{KILLED}\n")),
            ("after", format!("step 1\n{message}\n$ look\n{text}\n")),
        ];
        for (moment, log) in logs {
            let context = context(&log);
            let row = &context[*list][0];
            assert_eq!(row["moment"], moment, "{name}: {context:#}");
            if ["xpu-smi", "nvidia-smi-dmon"].contains(name) {
                assert_eq!(row["source"], *name);
            }
            assert_eq!(row["used_bytes"].as_u64(), used.map(|mib| mib << 20), "{name} {moment}");
            assert_eq!(row["total_bytes"].as_u64(), total.map(|mib| mib << 20), "{name} {moment}");
        }
    }
}

#[test]
fn steps_above_a_kill_are_no_part_of_the_kernels_report() {
    let log = format!("step 1\nstep 2\nepoch 3\n{KILLED}\n");
    let (_, out, _) = outcome(oomdoc().args(["explain", "--format", "json", "-"]).write_stdin(log));
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["incidents"][0]["line"], 4);
}

/// What the message tells of others was so at the failure; a table of idle cards, read later, withheld the advice.
#[test]
fn an_idle_table_does_not_outweigh_the_message() {
    let table = "[0] NVIDIA GeForce RTX 2070 | 45°C,   0 % |   131 /  7987 MB |\n";
    let others = |message: &str| offers_for(&format!("{message}\n$ gpustat\n{table}")).contains(&"free-the-device");
    assert!(others(
        "RuntimeError: CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 7.80 GiB total capacity; 1.10 GiB already \
         allocated; 40.00 MiB free; 1.20 GiB reserved in total by PyTorch)"
    ));
    assert!(!others("RuntimeError: CUDA error: out of memory"));
}
