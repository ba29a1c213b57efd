//! Whether a program outlived a failure: what stands behind the message decides.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use oomdoc::command::explain::{FileEvents, diagnose};
use oomdoc::incident::context::Given;
use oomdoc::input::Document;
use oomdoc::report::json;
use oomdoc::text::Lang;
use proptest::prelude::*;
use serde_json::Value;

fn explain(text: &str) -> Value {
    let document = Document::from_text("-", text);
    let given = Given::default();
    let explanation = diagnose(vec![FileEvents::of(&document, &given)], &given);
    serde_json::to_value(json::document(&explanation, Lang::En)).unwrap()
}

/// The line of the failure that the job died of.
fn died_at(text: &str) -> Option<u64> {
    let report = explain(text);
    let incidents = report["incidents"].as_array().unwrap();
    for incident in incidents.iter().filter(|incident| incident["survived"] == true) {
        assert_eq!(incident["primary"], false, "{text}");
    }
    incidents.iter().find(|incident| incident["primary"] == true)?["line"].as_u64()
}

/// The lines of the failures that are told as outlived, as incidents or as notes.
fn outlived(text: &str) -> Vec<u64> {
    let report = explain(text);
    let of = |list: &str| {
        let list = report[list].as_array().unwrap().clone();
        list.into_iter().filter(|found| found["survived"] == true).filter_map(|found| found["line"].as_u64())
    };
    let mut lines: Vec<u64> = of("incidents").chain(of("harmless")).collect();
    lines.sort_unstable();
    lines
}

/// How programs print their progress: a step.
const LOOPS: &[fn(u32) -> String] = &[
    |i| format!("step {}/5000 loss 0.{:03}", 10 * i, 999 - i),
    |i| format!("2026-11-22 17:{:02}:{:02},123 INFO trainer: iteration {i} lr 3e-4", i / 60, i % 60),
    |i| format!("{{'loss': 1.25, 'epoch': {i}.0, 'learning_rate': 1e-05}}"),
    |i| format!("Train:  {:2}%|███       | {i}/100 [00:{:02}<01:40,  1.02s/it]", i, i % 60),
    // Words of no list.
    |i| format!("[quaxel] swept {} plaquettes, action {}.5", 64 * i, 900 - i),
    |i| format!("frob {i} zonked"),
];

/// How a program tells of a failure that it caught.
const CAUGHT: &[&str] = &[
    "CUDA out of memory. Tried to allocate 2.50 GiB (GPU 0; 23.69 GiB total capacity; 20.10 GiB already allocated; \
     1.20 GiB free; 20.90 GiB reserved in total by PyTorch)",
    "[quaxel] could not get device memory: cudaErrorMemoryAllocation: out of memory",
    "WARNING: step failed: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 15.77 GiB \
     of which 311.44 MiB is free.",
];

const RAISED: &str = "Traceback (most recent call last):\n  File \"/srv/own/fit.py\", line 88, in <module>\n    \
                      fit(net)\n  File \"/srv/own/fit.py\", line 61, in fit\n    y = net(x)\n\
                      torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 768.00 MiB. GPU 0 has a total \
                      capacity of 15.77 GiB of which 101.44 MiB is free. Process 77 has 15.66 GiB memory in use. Of the \
                      allocated memory 15.01 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but \
                      unallocated.\n";

const GOOD_ENDS: &[&str] = &[
    "Training complete.",
    "Process finished with exit code 0",
    "container trainer-1 exited with code 0",
    "Job finished successfully",
    "$ echo $?\n0",
    "[Done] exited with code=0 in 82.4 seconds",
    "训练完成",
];

/// What the script around a program says last, whatever became of the program.
const SCRIPT_ENDS: &[&str] = &[
    "Job finished at Sun Nov 22 13:00:00 UTC 2026",
    "All done",
    "+ echo 'All done'\nAll done",
    "done",
    "Finished.",
    "script completed",
    "Pipeline finished, elapsed 00:12:44",
    "任务结束",
];

const BAD_ENDS: &[&str] =
    &["Aborted (core dumped)", "container trainer-1 exited with code 1", "Killed", "exit status: 134"];

fn steps(of: usize, numbers: std::ops::Range<u32>) -> String {
    numbers.map(|i| LOOPS[of](i) + "\n").collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_caught_message_before_a_good_end_was_outlived(
        of in 0..LOOPS.len(), message in 0..CAUGHT.len(), end in 0..GOOD_ENDS.len(), more in 0_u32..30,
    ) {
        let log = format!("{}{}\n{}{}\n", steps(of, 1..9), CAUGHT[message], steps(of, 9..9 + more), GOOD_ENDS[end]);
        prop_assert_eq!(died_at(&log), None, "{}", log);
        prop_assert_eq!(outlived(&log), [9], "{}", log);
    }

    #[test]
    fn a_message_before_twenty_more_steps_was_outlived(of in 0..LOOPS.len(), message in 0..CAUGHT.len()) {
        let log = format!("{}{}\n{}", steps(of, 1..9), CAUGHT[message], steps(of, 9..29));
        prop_assert_eq!(died_at(&log), None, "{}", log);
        prop_assert_eq!(outlived(&log), [9], "{}", log);
    }

    #[test]
    fn a_traceback_as_the_last_thing_is_what_the_job_died_of(
        of in 0..LOOPS.len(), message in 0..CAUGHT.len(), more in 4_u32..30,
    ) {
        let before = format!("{}{}\n{}", steps(of, 1..9), CAUGHT[message], steps(of, 9..9 + more));
        let log = format!("{before}{RAISED}");
        prop_assert_eq!(died_at(&log), Some(before.lines().count() as u64 + 6), "{}", log);
        // What the net caught is said to be a part of a known failure near it.
        prop_assert!(outlived(&log) == [9] || message == 1, "{}", log);
    }

    #[test]
    fn a_message_before_a_death_was_not_outlived(
        of in 0..LOOPS.len(), message in 0..CAUGHT.len(), end in 0..BAD_ENDS.len(),
    ) {
        let log = format!("{}{}\n{}\n", steps(of, 1..9), CAUGHT[message], BAD_ENDS[end]);
        prop_assert_eq!(died_at(&log), Some(9), "{}", log);
        prop_assert_eq!(outlived(&log), [] as [u64; 0], "{}", log);
    }
}

#[test]
fn output_that_was_kept_back_is_no_sign_of_life() {
    // Standard output goes to a file in blocks: its last one is written when the process ends, behind the traceback.
    let log = format!("{}{RAISED}{}", steps(0, 1..40), steps(0, 40..90));
    assert_eq!(died_at(&log), Some(45));
    // A program that logs a traceback writes more than a block behind it, or carries the time.
    assert_eq!(died_at(&format!("{}{RAISED}{}", steps(0, 1..40), steps(0, 40..600))), None);
    let timed = format!("{}{RAISED}{}", steps(1, 1..40), steps(1, 40..90));
    let timed = timed.replace("Traceback", "2026-11-22 17:00:39,900 ERROR trainer: caught\nTraceback");
    assert_eq!(died_at(&timed), Some(46), "the message's own line carries no time");
    assert_eq!(died_at(&format!("{}{RAISED}Done.\n", steps(0, 1..40))), Some(45), "a shell's word");
    assert_eq!(died_at(&format!("{}{RAISED}Process finished with exit code 0\n", steps(0, 1..40))), None);
}

#[test]
fn steps_of_other_ranks_and_other_runs_are_no_sign_of_life() {
    let of_rank =
        |rank: u32, text: &str| text.lines().map(|line| format!("[rank{rank}]: {line}\n")).collect::<String>();
    let log = of_rank(0, &steps(0, 1..9))
        + &of_rank(1, &steps(0, 1..9))
        + &of_rank(1, CAUGHT[0])
        + &of_rank(0, &steps(0, 9..29));
    assert_eq!(died_at(&log), Some(17));
    let own = log + &of_rank(1, &steps(0, 9..29));
    assert_eq!(died_at(&own), None);
    let again = format!(
        "$ python fit.py\n{}{}\n$ python fit.py --batch-size 2\n{}",
        steps(0, 1..9),
        CAUGHT[0],
        steps(0, 1..60)
    );
    assert_eq!(died_at(&again), Some(10));
}

/// `echo "Job finished at $(date)"` closes many batch scripts: a failure before it was called outlived, and the report
/// said that there was none.
#[test]
fn the_last_words_of_the_script_around_it_are_no_sign_of_life() {
    const DEATHS: &[&str] = &[
        RAISED,
        "CUDA error: out of memory at main.cu:33\n",
        "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9000.00 MiB on device 0: cudaMalloc failed: out of \
         memory\nllama_model_load: error loading model: unable to allocate CUDA0 buffer\n",
    ];
    for death in DEATHS {
        for end in SCRIPT_ENDS {
            let log = format!("loading data\n{death}{end}\n");
            assert!(died_at(&log).is_some(), "{log}");
            assert!(outlived(&log).is_empty(), "{log}");
        }
    }
}

/// Of several containers one ends well whatever became of the others.
#[test]
fn a_container_that_ended_well_does_not_stand_for_the_one_that_did_not() {
    let log = format!("{RAISED}trainer-1 exited with code 1\nredis-1 exited with code 0\n");
    assert!(died_at(&log).is_some(), "{log}");
    assert!(outlived(&log).is_empty(), "{log}");
}

#[test]
fn a_killed_process_never_outlived_it() {
    let kill = "[ 8123.401] Out of memory: Killed process 4123 (python) total-vm:90000000kB, anon-rss:61000000kB, file-rss:0kB, shmem-rss:0kB\n";
    let log = format!("{}{kill}{}Training complete.\nexit code 0\n", steps(0, 1..9), steps(0, 9..60));
    assert_eq!(died_at(&log), Some(9));
}

#[test]
fn searches_for_a_batch_that_fits_are_outlived() {
    for log in [
        "Trying batch size 64\nCUDA out of memory. Tried to allocate 3.00 GiB.\nBatch size 64 failed, trying batch size 32\n\
         Batch size 32 succeeded\nstep 1/400\nstep 2/400\nstep 3/400\nstep 4/400\n",
        "Running with batch size 128\nRuntimeError: CUDA out of memory. Tried to allocate 9.00 GiB.\nDecreasing batch size to: 64.\n\
         epoch 0 step 10/90\nepoch 0 step 20/90\nepoch 0 step 30/90\nepoch 0 step 40/90\nTraining complete\n",
        "trial 3 finished value 0.61\ntrial 4 finished value 0.60\ntrial 5 failed: CUDA out of memory. Tried to allocate 1.00 GiB.\n\
         trial 6 finished value 0.59\ntrial 7 finished value 0.58\ntrial 8 finished value 0.60\ntrial 9 finished value 0.57\n",
    ] {
        assert_eq!(died_at(log), None, "{log}");
        assert_eq!(outlived(log).len(), 1, "{log}");
    }
}

#[test]
fn the_report_says_that_it_was_outlived_and_where_that_shows() {
    let log = format!("{}{}\n{}", steps(0, 1..9), CAUGHT[0], steps(0, 9..29));
    let document = Document::from_text("-", &log);
    let given = Given::default();
    let explanation = diagnose(vec![FileEvents::of(&document, &given)], &given);
    let shown = oomdoc::report::markdown::render(&explanation, Lang::En);
    assert!(shown.contains("the program outlived it: line 10 shows that its work went on"), "{shown}");
    assert_eq!(explain(&log)["incidents"][0]["survived_line"], 10);
}

#[test]
fn somebody_who_tells_how_it_went_on_is_no_end_of_the_run() {
    let told = [
        "After I set expandable_segments the training finished successfully.",
        "With this we were able to complete the whole run.",
        "## Summary: all experiments now done on one card, thanks!",
        "通过这些设置，可以成功完成真正的训练，而不是之前的方式。",
        "这样任务就能成功结束。",
        "the job was submitted on Monday by the group that keeps the cluster, and what it did was completed",
    ];
    for text in told {
        let text = format!("{}\nsome words about it\n{text}\n", CAUGHT[0]);
        assert_eq!((died_at(&text), outlived(&text)), (Some(1), vec![]), "{text}");
    }
}

#[test]
fn what_is_tried_again_and_comes_through_was_outlived() {
    let tried = [
        "vkAllocateMemory failed -2\n[upscale] exited with 139, trying tile 400\nframes/1.png -> out/1.png done\n",
        "amrex::Abort::1::CUDA error 2 in file AMReX_Arena.cpp line 169: out of memory !!!\nrun.sh: failed with 6, trying \
         again with a small arena\nSTEP 400 ends.\nrun.sh: done\n",
    ];
    for log in tried {
        assert_eq!((died_at(log), outlived(log).len()), (None, 1), "{log}");
    }
    let ended = [
        // The second try failed, and what a reader is told to try is no try.
        "vkAllocateMemory failed -2\n[upscale] failed, trying tile 400\n[upscale] exited with 139\ncleanup done\n",
        "vkAllocateMemory failed -2\nplease try again with smaller tiles\ncleanup done\n",
        "vkAllocateMemory failed -2\nit failed again\nall 3 runs done\n",
        "vkAllocateMemory failed -2\n[upscale] trying tile 400\ncopying logs: done\n",
        "vkAllocateMemory failed -2\n[upscale] trying tile 400\nerror: tile too large\nscript done\n",
    ];
    for log in ended {
        assert_eq!(died_at(log), Some(1), "{log}");
    }
}

#[test]
fn who_falls_back_to_the_cpu_and_comes_through_outlived_it() {
    let log = "server stderr: ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory\nmodel load failed with GPU \
               enabled, falling back to CPU: server died during model loading\nlistening on 127.0.0.1:61204\n";
    assert_eq!(died_at(&format!("{log}transcription finished in 412.7s\n")), None);
    assert_eq!(died_at(log), Some(1), "no line shows an end");
    for behind in ["wrote crash report to /tmp/a.txt", "0 failed, 3 errors\nfinished"] {
        assert_eq!(died_at(&format!("{log}{behind}\n")), Some(1), "{behind}");
    }
}

#[test]
fn the_good_end_of_another_command_at_a_prompt_is_none_of_the_first() {
    let log = "C:\\gfx>mitsuba -D spp=256 cbox.xml\nCaught a critical exception: cuda_malloc(): out of memory!\n\n\
               C:\\gfx>mitsuba -D spp=4 cbox.xml\nRendering finished. (took 3.98s)\n";
    assert_eq!(died_at(log), Some(2));
}

/// A sensor that had gone on for half a minute, by its own lines, was told to have died of one refusal.
#[test]
fn a_service_that_writes_on_for_half_a_minute_is_still_there() {
    let log = |rest: &str| {
        format!(
            "Jul 19 03:22:10 ids1 quaxel[7718]: processing packets\n\
             Jul 19 04:05:31 ids1 quaxel[7718]: unable to allocate 144 bytes of memory for a new node\n{rest}"
        )
    };
    let later = |what: &str| {
        log(&format!("Jul 19 04:05:32 ids1 quaxel[7718]: 10.2.3.4 seen\nJul 19 04:06:31 ids1 quaxel[7718]: {what}\n"))
    };
    assert_eq!(died_at(&later("10.2.3.9 seen")), None);
    // A line of another, one that tells of an end, and none.
    for rest in [later("restarting"), log("Jul 19 04:30:31 ids1 CRON[9]: (root) CMD (true)\n"), log("")] {
        assert_eq!(died_at(&rest), Some(2), "{rest}");
    }
}

/// What a program says on the message's own line it does about it, and that its work came to an end, was not read
/// together.
#[test]
fn a_retry_that_is_announced_in_the_message_counts() {
    let log = |end: &str| {
        format!(
            "WARN reader: cannot read block 7 from w4: failed to allocate 2097152 bytes of direct memory: out of memory, \
             will retry elsewhere\nINFO reader: block 7 read, 67108864 bytes\n{end}"
        )
    };
    assert_eq!(died_at(&log("INFO job: stage 1 finished in 9.110 s\n")), None);
}

/// What Prometheus says of a metric was taken for a failure.
#[test]
fn a_metric_of_failures_is_none() {
    let metrics = "# HELP quaxel_oom_total Amount of containers killed because they ran out of memory (OOM)\n\
        # TYPE quaxel_oom_total counter\nquaxel_oom_total 0\n";
    assert_eq!(died_at(metrics), None);
}

/// `To reduce the request size …` below a server's last words was taken for what it did about it.
#[test]
fn a_hint_is_no_way_on() {
    let log = "2025-01-09 10:41:17.218 CST [31422] FATAL:  could not map anonymous shared memory: 无法分配内存\n\
        2025-01-09 10:41:17.218 CST [31422] HINT:  This error usually means that the request exceeded available memory, \
        swap space, or huge pages. To reduce the request size, reduce the server's use, perhaps by reducing shared_buffers.\n\
        2025-01-09 10:41:17.218 CST [31422] LOG:  database system is shut down\n";
    assert_eq!(died_at(log), Some(1));
}

/// A pipeline that sums up its tasks was taken for one that outlived its failure, though the sum tells of a failed one.
#[test]
fn a_sum_of_tasks_is_no_good_end() {
    let log = "[9e/0c4471] process > POLISH (s2)     [ 75%] 3 of 4\n\
        Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n\tat a.B.c(B.java:29)\n\
        Completed at: 19-Apr-2024 22:10:41\nDuration    : 2h 11m 4s\nSucceeded   : 13\nFailed      : 1\n";
    assert_eq!(died_at(log), Some(2));
}
