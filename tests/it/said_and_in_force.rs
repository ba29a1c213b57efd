//! What is said beside a message and what is in force: marks between digits, limits that never held, work that was skipped,
//! kinds of programs. One test for each thing that a reading of outputs or of damaged logs had found wrong.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for};
use crate::lines_around::{first_cause, incident, report, run};
use serde_json::Value;

fn facts(log: &str) -> Value {
    incident(log)["facts"].clone()
}

#[test]
fn lsf_sets_no_thousands_off_by_a_point() {
    let report = |peak: &str| {
        facts(&format!(
            "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n    Max Memory :             {peak} MB\n"
        ))
    };
    assert!(report("23.647")["peak_bytes"].is_null(), "a thousandth of what it was");
    assert_eq!(report("23647")["peak_bytes"], 23_647u64 << 20);
    assert_eq!(report("512.50")["peak_bytes"], (512u64 << 20) + (1 << 19));
}

#[test]
fn the_first_element_of_a_shape_is_no_size() {
    let log = "Traceback (most recent call last):\nResourceExhaustedError: OOM when allocating tensor with \
               shape[1532,128,2049,2] and type float on GPU:0\nworker 7 goes on\nRuntimeError: CUDA Error: out of memory at \
               /workspace/csrc/cumem_allocator.cpp:62\n";
    let told: Value = serde_json::from_str(&run(&["explain", "--format", "json"], log)).unwrap();
    for found in told["incidents"].as_array().unwrap() {
        assert_ne!(found["facts"]["requested_bytes"], 1532, "{found}");
    }
}

#[test]
fn a_request_that_another_writer_cuts_off_is_unknown() {
    let log = "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you \
               tried to allocate 57600000[I 2021-07-21 14:10:22 data:173] ready\n";
    assert!(facts(log)["requested_bytes"].is_null(), "{}", facts(log));
}

#[test]
fn tasks_that_may_lie_on_many_nodes_give_no_limit_of_one() {
    let log = |nodes: &str| {
        format!(
            "#SBATCH --ntasks=128{nodes}\n#SBATCH --mem-per-cpu=4096M\nslurmstepd: error: Detected 1 oom-kill event(s) in \
             StepId=1042215.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.\n"
        )
    };
    assert!(facts(&log(""))["limit_bytes"].is_null());
    assert_eq!(facts(&log(" --nodes=4"))["limit_bytes"], 128u64 << 30);
}

#[test]
fn a_whole_that_is_computed_from_a_share_is_no_printed_figure() {
    let log = "[2025-09-10 18:03:22,927] [INFO] CPU Virtual Memory:  used = 30.73 GB, percent = 8.3%\n[ERROR] failed \
               (exitcode: -9) local_rank: 0 (pid: 451) of binary: /usr/bin/python\n";
    assert!(facts(log)["capacity_bytes"].is_null(), "{}", facts(log));
    assert!(run(&["explain", "--format", "json"], log).contains("host_total_bytes"), "the account has it");
}

#[test]
fn who_waits_for_a_server_does_no_work() {
    let log = "Native memory allocation (mmap) failed to map 1025966080 bytes for committing reserved memory.\nwaiting for \
               Search to be up (1/30)\nwaiting for Search to be up (2/30)\nwaiting for Search to be up (3/30)\nwaiting for \
               Search to be up (4/30)\n";
    assert!(!report(log).contains("outlived"), "{}", report(log));
    assert!(report(&log.replace("waiting for Search to be up", "step")).contains("outlived"), "a step is work");
}

#[test]
fn what_was_skipped_and_is_counted_as_failed_was_not_survived() {
    let log = |failed: u32| {
        format!(
            "GPU available: True (cuda), used: True\nLOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0]\n\
             Predicting DataLoader 0:   0%|   | 0/1 [00:00<?, ?it/s]\n\
             Predicting DataLoader 0:   0%|   | 0/1 [00:00<?, ?it/s]| WARNING: ran out of memory, skipping batch\n\
             Number of failed examples: {failed}\n"
        )
    };
    let told = incident(&log(1));
    assert_eq!(told["kind"], "inference", "{told}");
    assert!(incident(&log(0)).is_null());
}

#[test]
fn maui_tells_what_was_used_and_the_limit() {
    let log = |kind: &str| format!("PBS Job Id: 7.mgr\njob 7 exceeded MEM usage {kind} limit (2591 > 1126)\n");
    let told = incident(&log("hard"));
    assert_eq!(told["framework"], "pbs", "{told}");
    assert_eq!(
        (&told["facts"]["limit_bytes"], &told["facts"]["extra"]["used_bytes"]),
        (&(1126u64 << 20).into(), &(2591u64 << 20).into())
    );
    assert!(incident(&log("soft")).is_null(), "a soft limit ends nothing");
}

#[test]
fn a_limit_is_lifted_by_the_setting_that_the_program_calls_it() {
    for (log, line) in [
        (
            "Out of Memory Error: failed to allocate data of size 256.0 MiB (265.5 MiB/476.8 MiB used)\n",
            "SET memory_limit = '<more>'",
        ),
        ("RuntimeError: Aborted due to the lack of CPU swap space. Please increase the swap space.\n", "swap_space="),
        (
            "EXITING because of fatal ERROR: not enough memory for BAM sorting: \nSOLUTION: re-run STAR with at least \
             --limitBAMsortRAM 40320399959\n",
            "--limitBAMsortRAM",
        ),
        (
            "  SPAdes version: 3.14.1\n======= SPAdes pipeline started.\nterminate called after throwing an instance of \
             'std::bad_alloc'\n  what():  std::bad_alloc\n",
            "-m <more GB>",
        ),
    ] {
        assert_eq!(first_cause(log), "framework_limit", "{}", report(log));
        assert!(lines_of(log, "raise-runtime-limit").iter().any(|told| told.contains(line)), "{}", report(log));
    }
}

#[test]
fn a_segment_that_would_fill_most_of_shared_memory_needs_more_of_it() {
    let log = |bytes: u64| {
        format!(
            "$ docker run -d --name pg postgres:10\nERROR:  could not resize shared memory segment \"/PostgreSQL.14\" to \
             {bytes} bytes: No space left on device\nFilesystem      Size  Used Avail Use% Mounted on\nshm              64M  \
             8.0K   64M   1% /dev/shm\n"
        )
    };
    let offers = offers_for(&log(51_949_568));
    assert!(offers.contains(&"shm-size") && !offers.contains(&"clear-shared-files"), "{offers:?}");
    assert!(!offers_for(&log(4096)).contains(&"shm-size"), "there is room for many of these");
}

#[test]
fn llvm_within_a_driver_builds_nothing() {
    let alone =
        "hashcat (v5.1.0) starting...\n* Device #1: GeForce GTX 1080 Ti, 9152/11264 MB\nLLVM ERROR: out of memory\n";
    assert!(!report(alone).contains("compiler"), "{}", report(alone));
    let build = "[ 41%] Building CXX object lib/a.cpp.o\nLLVM ERROR: out of memory\nninja: build stopped\n";
    assert!(report(build).contains("compiler"), "{}", report(build));
}

#[test]
fn a_solver_of_packages_is_no_build_and_no_pip() {
    let log = "#6 178.4 Solving environment: ...working... Killed\nexecutor failed running [/bin/sh -c conda install -y \
               mlflow]: exit code: 137\nmake: *** [build] Error 17\n";
    let told = report(log);
    assert!(!told.contains("MAX_JOBS") && !told.contains("compiler") && !told.contains("pip install"), "{told}");
}

#[test]
fn expandable_segments_are_off_on_rocm() {
    let log = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.98 GiB \
               of which 120.00 MiB is free. Of the allocated memory 10.02 GiB is allocated by PyTorch, and 5.30 GiB is \
               reserved by PyTorch but unallocated.\n";
    assert!(!offers_for(log).contains(&"expandable-segments"), "{}", report(log));
    assert!(offers_for(&log.replace("HIP", "CUDA")).contains(&"expandable-segments"));
}

#[test]
fn an_option_that_did_not_reach_node_is_not_its_limit() {
    let log = |size: u32| {
        format!(
            "$ npx --max_old_space_size={size} site build docs\n<--- Last few GCs --->\n[24187:0x34d7190]   161803 ms: \
             Mark-sweep 1416.7 (1492.7) -> 1416.4 (1474.6) MB, 1207.5 / 0.0 ms  (average mu = 0.131) last resort GC in old \
             space requested\nFATAL ERROR: CALL_AND_RETRY_LAST Allocation failed - JavaScript heap out of memory\n"
        )
    };
    assert!(facts(&log(8192))["limit_bytes"].is_null());
    assert_eq!(facts(&log(1500))["limit_bytes"], 1500u64 << 20);
}

#[test]
fn what_iterates_is_not_training_for_that() {
    let log = "RELION version: 3.1.0\n Expectation iteration 1 of 25\nKERNEL_ERROR: out of memory in \
               /opt/src/acc/utilities_impl.h at line 253 (error-code 2)\n";
    assert!(!report(log).contains("training"), "{}", report(log));
}

#[test]
fn words_of_limits_and_codes_before_their_call_are_seen() {
    let told = facts("Memory limit (268435456) hit upon malloc(4194304) when 267000000 already allocated.\n");
    let want = [("limit_bytes", 268_435_456u64), ("requested_bytes", 4_194_304), ("allocated_bytes", 267_000_000)];
    assert!(want.iter().all(|(key, bytes)| told[key] == *bytes), "{told}");
    for log in [
        "Error -4: clCreateBuffer (padbuffer8), decrease TC or increase LG\nFailed to init GPU thread 1, disabling device 0\n",
        "Error: buffer size exceeds device limit\n",
        "Error: Metal error Failed to create metal resource: Buffer\n",
    ] {
        assert_eq!(incident(log)["resource"], "gpu", "{}", report(log));
    }
    assert!(incident("Error -5: clCreateBuffer (padbuffer8)\n").is_null(), "another code");
}

#[test]
fn who_was_ended_above_a_limit_held_the_second_figure() {
    let told = facts("Exceeded soft memory limit of 128 MB with 141 MB after servicing 60 requests total\n");
    assert_eq!((&told["limit_bytes"], &told["process_bytes"]), (&(128u64 << 20).into(), &(141u64 << 20).into()));
    let told =
        facts("[W] Pod root-118 has used 2147483648 of 2146435072 bytes of memory; reporting as stuck due to OOM.\n");
    assert_eq!((&told["limit_bytes"], &told["process_bytes"]), (&2_146_435_072u64.into(), &2_147_483_648u64.into()));
}

#[test]
fn a_cache_that_is_thinned_out_goes_on() {
    let log = "24:19:008 EmuThread    W[G3D]: TextureCache.cpp:728 Texture cache ran out of GPU memory; decimating\n25:02:114 \
               EmuThread    I[SAVESTATE]: SaveState.cpp:866 Saved state\n";
    assert!(incident(log).is_null(), "{}", report(log));
}

#[test]
fn a_model_that_is_loaded_is_not_loading() {
    let log = "Loading model: D:\\models\\a.gguf\nVRAM free: 6.17 GB\nModel loaded\nCreating context...\nFailed to start: \
               InsufficientMemoryError: A context size of 4096 with 4 sequences is too large for the available VRAM\n";
    assert!(!report(log).contains("while loading"), "{}", report(log));
}

#[test]
fn steps_that_are_evaluated_are_not_told_to_be() {
    let log = "Traceback (most recent call last):\n  File \"/opt/mlx_lm/tuner/trainer.py\", line 313, in train\n    \
               mx.eval(state, losses, n_tokens)\nRuntimeError: [metal::malloc] Resource limit (499000) exceeded.\n";
    assert!(!offers_for(log).contains(&"evaluate-each-step"), "{}", report(log));
}

#[test]
fn more_than_an_exabyte_is_no_size() {
    let log = "process.c:12: fork: Cannot allocate memory\nRuntimeError: CUDA out of memory. Tried to allocate more than 1EB \
               memory.\n";
    let told: Value = serde_json::from_str(&run(&["explain", "--format", "json"], log)).unwrap();
    for found in told["incidents"].as_array().unwrap() {
        assert!(found["facts"]["requested_bytes"].is_null(), "{found}");
    }
}

#[test]
fn a_process_that_must_be_this_one_is_its_own_use() {
    let log = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 14.00 MiB. GPU 0 has a total capacity of 39.56 \
               GiB of which 896.00 KiB is free. Process 104523 has 39.55 GiB memory in use. Of the allocated memory 37.39 \
               GiB is allocated by PyTorch, and 1.27 GiB is reserved by PyTorch but unallocated.\n";
    let told = facts(log);
    assert_eq!(told["process_bytes"], told["other_processes"][0]["bytes"], "{told}");
    let stranger = facts(&log.replace("37.39", "2.39").replace("39.55", "20.00"));
    assert!(stranger["process_bytes"].is_null(), "both fit: {stranger}");
}

#[test]
fn what_a_job_used_of_its_limit_is_what_its_processes_held() {
    let log = "Container killed by YARN for exceeding memory limits. 5.5 GB of 5 GB physical memory used. Consider boosting \
               spark.yarn.executor.memoryOverhead.\n";
    let told = facts(log);
    assert_eq!(
        (told["process_bytes"].as_u64(), told["limit_bytes"].as_u64()),
        (Some(11 << 29), Some(5 << 30)),
        "{told}"
    );
}

#[test]
fn a_size_that_ray_checks_is_in_thousands() {
    let log = "ValueError: The configured object store size (12.0473665536 GB) exceeds /dev/shm size (12.047345664 GB). This \
               will harm performance.\n";
    let told = facts(log);
    assert_eq!(told["limit_bytes"], 12_047_345_664u64, "{told}");
    assert!(told["requested_bytes"].as_u64().unwrap().abs_diff(12_047_366_554) <= 1, "{told}");
}

#[test]
fn a_bare_kill_in_a_pods_log_is_proved_by_the_kernels_report_below() {
    let log = "$ kubectl logs triton-0 -p\nI0405 02:11:36.710466 1 pinned_memory_manager.cc:240] Pinned memory pool is created\n\
               Killed\n$ ssh node-2 sudo dmesg | tail\n[44131.902118] memory: usage 131072kB, limit 131072kB, failcnt 15220\n\
               [44131.902120] Memory cgroup stats for /kubepods/burstable/pod7c1f0e52:\n[44131.902131] anon 107401216\n";
    let told = report(log);
    assert!(!told.contains("nothing in the log proves"), "{told}");
    assert_eq!(incident(log)["resource"], "cgroup", "{told}");
}

#[test]
fn a_device_that_hashcat_lists_has_so_many_mebibytes() {
    let log = "* Device #1: GeForce GTX 960M, 500/2002 MB allocatable, 5MCU\nInitializing device kernels and memory...\
               clEnqueueNDRangeKernel(): CL_MEM_OBJECT_ALLOCATION_FAILURE\n";
    assert_eq!(facts(log)["capacity_bytes"], 2002u64 << 20, "{}", facts(log));
}

#[test]
fn work_space_that_is_counted_in_words_is_no_figure_of_bytes() {
    let told = |log: &str| facts(log)["requested_bytes"].clone();
    assert!(told("insufficient memory: LWORK needs 402653184\n").is_null());
    assert!(told("out of memory: requested 402653184 words\n").is_null());
    assert_eq!(told("out of memory: requested 402653184 for the list of passwords\n"), 402_653_184);
}

#[test]
fn a_code_with_two_figures_behind_it_says_nothing_is_free() {
    let told = facts("ERROR: HOST_NOT_ENOUGH_FREE_MEMORY(34688000, 4096000): cannot allocate memory\n");
    assert!(told["free_bytes"].is_null(), "{told}");
}
