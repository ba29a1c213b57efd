//! What a change is written with is held against what the log prints: a setting that is in force, a limit that lies
//! elsewhere, a release that does not know it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary::{oomdoc, outcome};
use crate::every_log::every_log;
use crate::fixes::{lines_of, offers_for};

/// `prefetch_factor` came with PyTorch 1.7, and workers that do not stay are the default.
#[test]
fn arguments_of_a_loader_are_those_of_the_release_that_shows() {
    let failed = |python: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"/w/fit.py\", line 9, in <module>\n    for x in loader:\n  File \
            \"/v/lib/{python}/site-packages/torch/utils/data/dataloader.py\", line 511, in _try_get_data\nRuntimeError: \
            DataLoader worker (pid 88) is killed by signal: Bus error.\n"
        )
    };
    assert_eq!(lines_of(&failed("python3.6"), "fewer-workers"), ["DataLoader(..., num_workers=2)"]);
    assert_eq!(lines_of(&failed("python3.10"), "fewer-workers"), ["DataLoader(..., num_workers=2, prefetch_factor=1)"]);
}

/// A machine's memory was enlarged for a heap, a desktop, a login node and a guest of Windows.
#[test]
fn memory_is_raised_where_the_limit_lies() {
    let of = |text: &str| {
        ["raise-host-limit", "fewer-at-once", "swap", "raise-runtime-limit"].map(|fix| lines_of(text, fix).join("\n"))
    };
    let gradle = of("* What went wrong:\nOut of memory. Java heap space\n");
    assert!(gradle.concat().starts_with("org.gradle.jvmargs="), "{gradle:?}");
    let killed = |group: &str, name: &str| {
        format!(
            "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg={group},\
            task={name},pid=421,uid=0\nOut of memory: Killed process 421 ({name}) total-vm:5598039kB, \
            anon-rss:3598039kB, file-rss:4kB, shmem-rss:0kB, UID:0 pgtables:27322kB oom_score_adj:0\n"
        )
    };
    let plain = of(&killed("/user.slice/a.scope", "worker"));
    assert!(plain[0].contains("free -h") && plain[2].contains("swapon"), "{plain:?}");
    let guest = of(&killed("/init.scope", "python"));
    assert!(guest[0].contains(".wslconfig") && guest[2].is_empty(), "{guest:?}");
    let desktop = of(&killed("/system.slice/sddm.service", "kwin_x11"));
    assert!(!desktop.concat().contains("allocation") && !desktop[1].starts_with("ps "), "{desktop:?}");
    let login = of("#### On login node\nterminate called after throwing an instance of 'std::bad_alloc'\n");
    assert!(login[0].contains("batch job") && login[2].is_empty(), "{login:?}");
    let old =
        of("CPU: 0 PID: 2 Comm: a Not tainted 2.6.32-431.el6.x86_64 #1\nOut of memory: Killed process 421 (worker) \
        total-vm:598039kB, anon-rss:398039kB, file-rss:4kB\n");
    assert!(old[0].contains("free -m"), "{old:?}");
}

/// Processes of the whole machine were listed for a limit that counts a group's own, an executor's, a container's.
#[test]
fn only_what_counts_against_the_limit_is_made_fewer() {
    let spark = "ExecutorLostFailure (executor 13 exited caused by one of the running tasks) Reason: Container killed by \
        YARN for exceeding memory limits. 20.0 GB of 20 GB physical memory used. Consider boosting \
        spark.executor.memoryOverhead.\n";
    assert!(lines_of(spark, "fewer-at-once").concat().contains("spark.executor.cores"));
    let gunicorn = "[2026-01-07 21:14:06 +0000] [1] [ERROR] Worker (pid:61) was sent SIGKILL! Perhaps out of memory?\n";
    assert!(lines_of(gunicorn, "fewer-at-once").concat().starts_with("gunicorn --workers"));
    assert!(lines_of(gunicorn, "swap").is_empty());
    let evicted = "Killed\nThe node was low on resource: memory. Container a was using 3Gi.\n$ kubectl get pods\n";
    let lines = lines_of(evicted, "raise-host-limit").concat();
    assert!(lines.contains("requests") && !lines.contains("limits"), "{lines}");
    let started = "# docker run --rm -d -p 2700:2700 asr:latest\nKilled\n";
    assert!(!lines_of(started, "raise-host-limit").concat().contains("--memory"));
    assert!(lines_of("# docker run --rm -m 2g asr:latest\nKilled\n", "raise-host-limit").concat().contains("--memory"));
}

/// A validation that a failing line is in.
fn validated(before: &str) -> String {
    format!(
        "{before}Traceback (most recent call last):\n  File \"/w/run.py\", line 9, in <module>\n    evaluate(net)\n  File \
        \"/w/run.py\", line 5, in evaluate\n    y = net(x)\nRuntimeError: CUDA out of memory. Tried to allocate 64.00 \
        MiB (GPU 0; 7.80 GiB total capacity; 7.10 GiB already allocated; 40.00 MiB free; 7.20 GiB reserved in total by \
        PyTorch)\n"
    )
}

#[test]
fn gradients_that_a_runner_switches_off_are_not_switched_off_again() {
    assert!(offers_for(&validated("")).contains(&"no-grad-in-eval"));
    for shown in ["0/10 * Epoch (valid):   3% 1/32 [00:01<00:09, loss=1.2]\n", "| epoch 001 | valid on 'dev' subset\n"]
    {
        assert!(!offers_for(&validated(shown)).contains(&"no-grad-in-eval"), "{shown}");
    }
}

#[test]
fn no_speed_is_promised_to_boards_without_units_for_16_bit() {
    for log in every_log() {
        let text = log.text();
        let old =
            ["Tesla K", "Tesla M", "Tesla P", "GTX 10", "GTX 9", "GTX TITAN"].iter().any(|name| text.contains(name));
        let diagnoses = log.explanation.diagnoses.iter().filter(|_| old && text.lines().count() < 200);
        let mut offered = diagnoses.take(1).flat_map(|diagnosis| &diagnosis.plan.offers);
        let offered = offered.find(|ranked| ranked.fix.id == "mixed-precision");
        assert!(offered.is_none_or(|ranked| ranked.offer.costs.slows.0 >= 0.0), "{}", log.name());
    }
}

/// One index was printed for jobs over several devices.
#[test]
fn devices_that_are_listed_are_all_in_use() {
    let failed = |shown: &str| {
        format!(
            "{shown}Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in main\n    x = net(y)\nRuntimeError: \
            CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 7.80 GiB total capacity; 1.10 GiB already allocated; \
            40.00 MiB free; 1.20 GiB reserved in total by PyTorch)\n"
        )
    };
    let of = |shown: &str| lines_of(&failed(shown), "other-device").concat();
    assert!(of("$ python a.py --gpu 0\n").contains("--gpu <index>"));
    for shown in ["$ python a.py --gpu 0,1,2\n", "node:41:97 [3] NCCL INFO init.cc:274 -> 1\n"] {
        assert!(of(shown).contains("<an index for each"), "{shown}: {}", of(shown));
    }
}

#[test]
fn nobody_is_ended_where_the_listing_shows_nobody() {
    let text = |listing: &str| format!("{listing}CUDA error: out of memory\nabort at src/train.cc:90\n");
    assert!(offers_for(&text("")).contains(&"free-the-device"));
    let listed = offers_for(&text("|  No running processes found                                       |\n"));
    assert!(!listed.contains(&"free-the-device"), "{listed:?}");
}

/// A fraction was raised to the whole where PyTorch's message shows that none is set.
#[test]
fn a_fraction_is_raised_where_one_is_set() {
    for log in every_log() {
        let text = log.text();
        if text.contains("Tried to allocate") && !text.contains("allowed") && !text.contains("fraction") {
            let raised = log.lines().iter().any(|line| line.contains("set_per_process_memory_fraction(1.0)"));
            assert!(!raised, "{}", log.name());
        }
    }
}

/// Numbers were printed that may lie above the ones in force.
#[test]
fn a_limit_is_told_as_a_number_where_the_present_one_is_known() {
    for log in every_log() {
        for number in ["--max-batch-size 32", "--max_num_tokens 4096", "--fit on"] {
            assert!(!log.lines().iter().any(|line| line.contains(number)), "{}: {number}", log.name());
        }
    }
    let warmed = "ERROR warmup{max_input_length=64 max_prefill_tokens=256}:warmup: text_generation_client: \
        router/client/src/lib.rs:33: Server error: Not enough memory to handle 256 prefill tokens. You need to decrease \
        `--max-batch-prefill-tokens`\n";
    assert_eq!(lines_of(warmed, "fewer-sequences"), ["--max-batch-prefill-tokens 128"]);
}

/// `TF_FORCE_GPU_ALLOW_GROWTH` of TensorFlow 1.14 was asked for in a check, `memory_summary()` of PyTorch for NCCL alone.
#[test]
fn checks_name_what_the_program_has() {
    let printed = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, text).unwrap();
        outcome(oomdoc().arg("explain").arg("-v").arg(&path)).1
    };
    let nccl = "node:44:48 [3] include/alloc.h:48 NCCL WARN Cuda failure 'out of memory'\n";
    assert!(!printed(nccl).contains("memory_summary"), "{}", printed(nccl));
    let frames =
        "  File \"/v/lib/python3.10/site-packages/torch/distributed/distributed_c10d.py\", line 9, in barrier\n";
    let under = format!("Traceback (most recent call last):\n{frames}RuntimeError: NCCL error\n{nccl}");
    assert!(!printed(&under).is_empty());
    let tensorflow = |day: &str| {
        format!(
            "{day} 12:19:50.1: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1053] Created TensorFlow device\n{day} \
            12:19:51.2: E tensorflow/stream_executor/cuda/cuda_driver.cc:936] failed to allocate 11.00G (11811160064 \
            bytes) from device: CUDA_ERROR_OUT_OF_MEMORY\n"
        )
    };
    let old = printed(&tensorflow("2018-05-18"));
    assert!(!old.contains("TF_FORCE_GPU_ALLOW_GROWTH"), "{old}");
    assert!(printed(&tensorflow("2022-05-18")).contains("TF_FORCE_GPU_ALLOW_GROWTH"));
}

#[test]
fn the_pool_of_an_engine_in_the_making_has_no_sequences() {
    let of = |function: &str| {
        offers_for(&format!(
            "Traceback (most recent call last):\n  File \"/v/lib/python3.12/site-packages/sglang/srt/model_executor/\
             model_runner.py\", line 1100, in {function}\n    self.buffer = torch.zeros(\ntorch.OutOfMemoryError: CUDA out of \
             memory. Tried to allocate 32.00 MiB. GPU 0 has a total capacity of 23.76 GiB of which 13.13 MiB is free.\n"
        ))
    };
    assert!(of("forward").contains(&"fewer-sequences"));
    assert!(!of("init_memory_pool").contains(&"fewer-sequences"));
}

#[test]
fn workers_of_vllm_are_several() {
    let of = |worker: &str| {
        lines_of(
            &format!(
                "(EngineCore pid=151) INFO engine started\n({worker} pid=160) INFO [gpu_worker.py:75] loaded\nTraceback (most \
                 recent call last):\n  File \"/v/lib/python3.12/site-packages/vllm/v1/engine/core.py\", line 1129, in run\n    \
                 go()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 140.00 MiB. GPU 0 has a total capacity \
                 of 23.76 GiB of which 13.13 MiB is free.\n"
            ),
            "more-devices",
        )
        .concat()
    };
    assert!(of("Worker").contains("--tensor-parallel-size 2"), "{}", of("Worker"));
    assert!(of("Worker_TP0").contains("--tensor-parallel-size <more>"), "{}", of("Worker_TP0"));
}
