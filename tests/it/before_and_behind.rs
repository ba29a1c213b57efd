//! What a thirty-first set, fresh reports and a nineteenth reading had found wrong, mostly about what had ended before a
//! message or had not begun: one test for each thing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for};
use crate::lines_around::{fails, first_cause, incident, report};

fn named(log: &str) -> String {
    incident(log)["framework"].as_str().unwrap_or_default().to_string()
}

#[test]
fn paddles_workers_run_out_of_shared_memory_too() {
    let bus = "ERROR: Unexpected BUS error encountered in DataLoader worker. This might be caused by insufficient shared \
               memory (shm), please check whether use_shared_memory is set and storage space in /dev/shm is enough\n";
    let mapped = "ERROR:root:DataLoader reader thread failed((Unavailable) Memory map failed when rebuild shared \
                  memory.\n  [Hint: Expected ptr != ((void *) -1)] (at /paddle/memory/allocation/mmap_allocator.cc:97)\n";
    for log in [bus, mapped] {
        let found = incident(log);
        assert_eq!((named(log).as_str(), found["resource"].as_str()), ("paddle", Some("shm")), "{log}");
        let lines = lines_of(log, "shm-size");
        assert!(lines.iter().any(|line| line.contains("use_shared_memory=False")), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("set_sharing_strategy")), "{lines:?}");
    }
}

#[test]
fn a_driver_that_is_too_old_is_no_lack_of_memory() {
    let log = |reason: &str| {
        format!("E0814 06:10:27.4 1 manager.cc:192] failed to allocate pinned system memory: {reason}\n")
    };
    assert!(!fails(&log("CUDA driver version is insufficient for CUDA runtime version")));
    assert!(!fails(&log("no CUDA-capable device is detected")));
    assert!(fails(&log("out of memory")));
}

#[test]
fn a_program_may_ask_behind_what_it_says() {
    let log =
        "$ ./grid_base.x -c circuit_q40 -d 16\nnot enough memory: is the number of qubits too large?\n$ echo $?\n1\n";
    assert!(fails(log));
    assert!(!fails("Out of memory: is my batch too large?\n"));
    let aside = "Error: libgrid: failed to create the ring buffer for CPU '41'. (If you get memory allocation errors try \
                 to reduce the buffer dimension) (errno: 12 | message: Cannot allocate memory)\n";
    assert!(fails(aside));
    assert!(!fails("Info: (If you get memory allocation errors try to reduce the buffer dimension)\n"));
}

#[test]
fn what_was_rescued_or_made_again_was_outlived() {
    let play = |recap: &str| {
        format!(
            "TASK [Load the whole file] ****\nAn exception occurred during task execution. The error was: MemoryError\n\
             fatal: [edge3]: FAILED! => {{\"changed\": false, \"rc\": 1}}\nTASK [Fetch it in pieces] ****\nPLAY RECAP ****\n\
             edge3  : ok=4    changed=2    unreachable=0    failed={recap}    ignored=0\n"
        )
    };
    assert!(!fails(&play("0    skipped=0    rescued=1")));
    assert!(fails(&play("1    skipped=0    rescued=0")));
    let rescued = play("0    skipped=0    rescued=1");
    for other in ["edge1", "edge4"] {
        let failed = format!(
            "{other}  : ok=3    changed=0    unreachable=0    failed=1    skipped=0    rescued=0    ignored=0\n"
        );
        let both = match other < "edge3" {
            true => rescued.replace("edge3  : ", &format!("{failed}edge3  : ")),
            false => format!("{rescued}{failed}"),
        };
        assert!(fails(&both), "what was rescued on one machine failed on {other}");
    }
    let luigi = |end: &str| {
        format!(
            "luigi-interface - INFO - Task Dedupe_12 died unexpectedly with exit code -9\n===== Luigi Execution Summary \
             =====\nScheduled 3 tasks of which:\n{end}\n"
        )
    };
    assert!(!fails(&luigi("This progress looks :) because there were failed tasks but they all succeeded in a retry")));
    assert!(fails(&luigi("This progress looks :( because there were failed tasks")));
}

#[test]
fn what_stands_in_brackets_is_no_rank_and_no_program() {
    let redis = "[5204] 28 Jan 02:10:31.107 # Can't save in background: fork: Cannot allocate memory\n\
                 [5204] 28 Jan 02:10:37.044 * 10 changes in 300 seconds. Saving...\n\
                 [5204] 28 Jan 02:10:37.291 # Can't save in background: fork: Cannot allocate memory\n";
    assert_eq!((named(redis).as_str(), &incident(redis)["rank"]), ("redis", &serde_json::Value::Null));
    assert!(!offers_for(redis).contains(&"raise-runtime-limit"), "no limit refused anything");
    let game = "info    |21:40:17: [realmain:1180] Using WZlog.txt debug file\n\
                fatal   |22:31:55: [sound_CreateDecoder:131] Out of memory\nAborted\n";
    assert_ne!(named(game), "realmain");
}

#[test]
fn the_last_step_is_no_step_that_failed() {
    let log = |bar: &str| {
        format!(
            "$ python train.py --epochs 4\nEpoch 1/4\n{bar} - loss: 0.4112\nRuntimeError: CUDA out of memory. Tried to \
             allocate 512.00 MiB (GPU 0; 10.76 GiB total capacity; 9.10 GiB already allocated; 210.00 MiB free; 9.30 GiB \
             reserved in total by PyTorch)\n"
        )
    };
    let during = report(&log("211/387 [====>......]"));
    assert!(during.contains("ran out of memory in training") && during.contains("step 211 had been"), "{during}");
    let behind = report(&log("387/387 [==========]"));
    assert!(!behind.contains("ran out of memory in training") && !behind.contains("step 387 had been"), "{behind}");
    assert!(!report(&log("[==== 387/387 ====>]  Tot: 3m11s | Step: 864ms")).contains("step 864"));
}

#[test]
fn a_model_that_did_not_load_has_seen_no_batch() {
    let shard = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 128.00 MiB (GPU 0; 15.77 GiB total \
                 capacity; 15.52 GiB already allocated; 13.75 MiB free; 15.55 GiB reserved in total by PyTorch)\n rank=0\n\
                 Error: ShardCannotStart\n2023-08-19T07:41:55Z ERROR text_generation_launcher: Shard 0 failed to start\n";
    assert!(report(shard).contains("while loading the model"));
    assert!(!offers_for(shard).contains(&"fewer-sequences"));
    let session = "UNAVAILABLE: Internal: onnxruntime error 6: Exception during initialization: bfc_arena.cc:368 Failed to \
                   allocate memory for requested buffer of size 268435456\n";
    assert!(report(session).contains("while loading the model"));
}

#[test]
fn a_stack_of_go_tells_what_the_system_refused_and_its_age() {
    let log = |throw: &str| {
        format!(
            "fatal error: runtime: out of memory\n\nruntime stack:\nruntime.throw({throw})\n\t/usr/local/go/src/runtime/\
             panic.go:1116 +0x72\nruntime.sysMap(0xc078000000, 0x4000000, 0x1160418)\n\truntime/mem_linux.go:169 +0xc6\n\
             runtime.largeAlloc(0x21d70, 0xc000010101, 0x7fd0a4b96092)\n\truntime/malloc.go:1177 +0x92\n"
        )
    };
    assert_eq!(incident(&log("0xc541a5, 0x16"))["facts"]["requested_bytes"], 0x400_0000);
    let heap_limit = |throw: &str| report(&log(throw)).contains("GOMEMLIMIT");
    assert!(!heap_limit("0xc541a5, 0x16"), "Go 1.16 and before");
    assert!(!heap_limit("{0xc541a5, 0x16}"), "Go 1.17");
    assert!(heap_limit("{0xc541a5?, 0x16?}"));
}

#[test]
fn windows_shows_by_nodes_addresses_and_its_code_for_nothing_left_to_commit() {
    let node = "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n\
                 1: 00007FF70B1FB106 node::OnFatalError+1318\n 2: 00007FF70BD99C67 v8::Function::NewInstance+423\n";
    assert!(lines_of(node, "raise-runtime-limit").iter().any(|line| line.starts_with("set NODE_OPTIONS")));
}

#[test]
fn a_carve_out_is_an_apus_and_no_cards() {
    let card = |all: &str| {
        format!(
            "HIP out of memory. Tried to allocate 72.00 MiB. GPU 0 has a total capacity of {all} of which 0 bytes is free. \
             Of the allocated memory 300.80 MiB is allocated by PyTorch, and 142.10 MiB is reserved by PyTorch but \
             unallocated.\n"
        )
    };
    let offered = |log: &str| offers_for(log).iter().take(3).any(|offer| *offer == "carve-out");
    assert!(offered(&card("512.00 MiB")));
    assert!(!offered(&card("15.98 GiB")));
    let vulkan = "llama_kv_cache_init: AMD Radeon RX 5600 XT KV buffer size =   124.50 MiB\n\
                  ggml_vulkan: Device memory allocation of size 2312044544 failed.\n\
                  ggml_vulkan: Requested buffer size exceeds device memory allocation limit: ErrorOutOfDeviceMemory\n";
    assert!(!offered(vulkan));
}

#[test]
fn a_kill_tells_the_shared_memory_that_the_process_held() {
    let killed = "[421907.1] Out of memory: Killed process 51320 (python) total-vm:81503100kB, anon-rss:23416248kB, \
                  file-rss:73476kB, shmem-rss:15446024kB, UID:1000 pgtables:79588kB oom_score_adj:0\n";
    let told = report(killed).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("holding 22.33 GiB and 14.73 GiB of shared memory"), "{told}");
    assert_eq!(first_cause(killed), "host_memory");
}

#[test]
fn a_container_shows_by_the_name_of_its_host_to_anybody() {
    let log = |host: &str| format!("(kge) ada@{host}:~/wd$ python embed.py\nReading triples....\nKilled\n");
    let swap = |log: &str| offers_for(log).contains(&"swap");
    assert!(swap(&log("node7")));
    assert!(!swap(&log("9c41e07b2d55")));
}
