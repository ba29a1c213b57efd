//! What fresh reports, a thirty-seventh set and two readings had found wrong: messages that come to nothing by the
//! words around them, systems that a stack or a library's name shows, phases, and figures; one test for each thing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary::oomdoc;
use crate::fixes::lines_of;
use crate::lines_around::{fails, first_cause, incident, report};

/// What a machine for a language tells of its collections, which speak of memory.
const COLLECTS: &str = "$ vm --verbose run.st\ngc: old space exhausted memory, 12% full after 0.02 s, saved 3 MB\ngc: new \
                        space 4 MB\n12.5\nran in 0.41 s\n$ ls\nrun.st\n";

#[test]
fn a_message_among_words_behind_which_nothing_fails_is_none() {
    assert!(!fails(COLLECTS));
    assert!(report(COLLECTS).contains("which nothing failed"), "{}", report(COLLECTS));
    let ended =
        COLLECTS.lines().take(2).collect::<Vec<_>>().join("\n") + "\nvm: exited with 1\nAborted (core dumped)\n";
    assert!(fails(&ended), "what ends behind its message failed");
}

#[test]
fn a_job_that_failed_is_not_doubted_by_the_words_of_its_output() {
    let told = |end: &str| {
        let script = format!("printf '%s' '{COLLECTS}'; {end}");
        let output = oomdoc().args(["run", "--", "sh", "-c", &script]).output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(told("exit 3").contains("memory was refused"), "{}", told("exit 3"));
    assert!(!told("exit 0").contains("memory was refused"));
}

#[test]
fn a_line_that_stands_alone_is_doubted_by_no_words() {
    assert!(fails("icond: warning: no memory left for 3 previews, out of memory\n"));
}

#[test]
fn what_was_read_from_an_address_stands_before_its_failure() {
    assert!(fails("Error: While downloading https://example.org/bundle.run: Not enough memory\n"));
    assert!(!fails("See https://example.org/faq if you run out of memory\n"));
}

#[test]
fn a_heap_whose_records_were_overwritten_lacks_no_memory() {
    assert!(!fails(
        "$ python repro.py\n*** Error in `python': malloc(): memory corruption: 0x00000000715c2e40 ***\nAborted (core \
         dumped)\n"
    ));
}

#[test]
fn a_system_is_told_by_nodes_name_for_it_a_stacks_language_and_a_librarys_name() {
    let logs = [
        "The window terminated unexpectedly (reason: 'oom', code: '-536870904')\n\nOS version: Windows_NT x64 \
         10.0.19045\n",
        "System.OutOfMemoryException: Eine Ausnahme vom Typ \"System.OutOfMemoryException\" wurde ausgelöst.\n   bei \
         System.Text.StringBuilder.Append(String value)\n   bei Sicherung.Lauf.Bericht()\n",
        "MemoryError: Unable to allocate 8.37 GiB for an array with shape (2, 769, 730140) and data type complex64\n  \
         File \"tonwerk.py\", line 45, in start\n  File \"lib\\spektrum.py\", line 17, in verbinden\n",
        "libc++abi.dylib: terminating with uncaught exception of type std::bad_alloc: std::bad_alloc\nAbort trap: 6\n",
    ];
    for log in logs {
        let told = incident(log);
        let platform = told["context"]["platform"]["value"].as_str().unwrap_or_default().to_owned();
        assert!(["windows", "mac-os"].contains(&platform.as_str()), "{platform} of {log}");
        assert!(!lines_of(log, "swap").iter().any(|line| line.contains("fallocate")), "{log}");
        assert!(!lines_of(log, "raise-host-limit").iter().any(|line| line.contains("free -h")), "{log}");
    }
}

#[test]
fn threads_of_gensim_are_no_processes() {
    let log = "$ python vectors.py --workers 8\n2015-06-18 21:07:11,531 : INFO : PROGRESS: at sentence #0, processed 0 \
               words and 0 word types\n2015-06-18 21:07:11,604 : INFO : PROGRESS: at sentence #10000, processed 49811 \
               words and 16217 word types\nKilled\n";
    assert!(lines_of(log, "fewer-workers").is_empty());
    let other = log.replace("PROGRESS: at sentence", "reading sentence");
    assert!(!lines_of(&other, "fewer-workers").is_empty());
}

#[test]
fn nodes_old_words_are_for_its_own_limit_where_it_collected_in_vain() {
    let log = "$ node index.js feeds/all.json\n   19377 ms: Mark-sweep 1412.2 (1471.4) -> 1411.9 (1471.4) MB, 846.4 / \
               0 ms [last resort gc].\nFATAL ERROR: CALL_AND_RETRY_LAST Allocation failed - process out of memory\n";
    assert_eq!(first_cause(log), "framework_limit");
    let lines = lines_of(log, "raise-runtime-limit");
    assert_eq!(lines, ["node --max-old-space-size=4096 ..."], "NODE_OPTIONS came with Node 8");
    let bare = "FATAL ERROR: CALL_AND_RETRY_LAST Allocation failed - process out of memory\n";
    assert_ne!(first_cause(bare), "framework_limit");
}

#[test]
fn the_account_below_a_program_that_a_tpu_could_not_load_is_read() {
    let log = "     15         xm.optimizer_step(optimizer)\nRuntimeError: Resource exhausted: From \
               /job:tpu_worker/replica:0/task:0:\nAttempting to reserve 3.87G at the bottom of memory. That was not \
               possible. There are 2.04G free, 0B reserved, and 2.04G reservable.; \nHBM capacity 8.00G:\n       \
               Top-of-Memory reserved:  529.00M (     554,696,704 bytes)\n          Currently allocated:    5.96G (   \
               6,402,281,472 bytes)\n          Program requirement:    3.87G (   4,152,936,448 bytes)\n; attempting \
               reservation for program memory\n\nTotal hbm usage >= 10.73G:\n    program                    4.25G \n";
    let told = incident(log);
    assert_eq!(told["facts"]["requested_bytes"], 4_152_936_448u64);
    assert_eq!(told["facts"]["allocated_bytes"], 6_402_281_472u64);
    assert_eq!(told["facts"]["capacity_bytes"], 8u64 << 30);
    assert_eq!(told["framework"], "pytorch-xla");
}

#[test]
fn a_bitmap_is_no_map_of_elements() {
    let log = "Error: [TexPool::Alloc] failed to allocate bitmap of size 122340835 from pool of total size 536870912\n";
    assert_eq!(incident(log)["facts"]["requested_bytes"], 122_340_835u64);
}

#[test]
fn the_bound_of_a_table_that_was_had_is_no_limit() {
    let log = "Allocated 1 hashtable units (max memory: 4 GB)\n[CORE] Exception bad_alloc occured in thread 17. This \
               usually means you ran out of physical or virtual memory\n";
    assert!(incident(log)["facts"]["limit_bytes"].is_null());
}

#[test]
fn a_phase_is_what_the_frames_do_and_not_what_was_loaded_before() {
    let vocodes = "Loading model weights at vocoder/saved_models/best.pt\nTraceback (most recent call last):\n  File \
                   \"/home/ada/rtvc/toolbox/__init__.py\", line 258, in vocode\n    wav = \
                   vocoder.infer_waveform(spec)\nRuntimeError: CUDA out of memory. Tried to allocate 372.00 MiB (GPU 0; \
                   1.96 GiB total capacity; 936.55 MiB already allocated; 212.17 MiB free; 110.09 MiB cached)\n";
    assert_eq!(incident(vocodes)["context"]["phase"]["value"], "inference");
    let runs = "Traceback (most recent call last):\n  File \"main.py\", line 70, in run\n    Trainer(gen, dis, \
                loader).run()\nRuntimeError: memory error in alloc: out of memory\n";
    assert_ne!(incident(runs)["context"]["phase"]["value"], "load");
    let prepares = "Traceback (most recent call last):\n  File \"/home/ada/tuner/utils.py\", line 190, in \
                    _prepare_fp8_state_dict\n    prepared[key] = value.to(device=device)\ntorch.OutOfMemoryError: CUDA \
                    out of memory. Tried to allocate 50.00 MiB. GPU 0 has a total capacity of 15.93 GiB of which 8.60 \
                    MiB is free.\n";
    assert_ne!(incident(prepares)["context"]["phase"]["value"], "checkpoint");
}

#[test]
fn what_a_jvm_commits_as_it_starts_is_the_heap_that_it_begins_with() {
    let log = "# There is insufficient memory for the Java Runtime Environment to continue.\n# Native memory allocation \
               (mmap) failed to map 2012479488 bytes for committing reserved memory.\nOpenJDK 64-Bit Server VM warning: \
               INFO: os::commit_memory(0x00000000880c0000, 2012479488, 0) failed; error='Cannot allocate memory' \
               (errno=12)\n";
    let lines = lines_of(log, "raise-runtime-limit");
    assert!(lines.iter().any(|line| line.starts_with("-Xms<at most -Xmx> -Xmx")), "{lines:?}");
}

#[test]
fn cargo_does_again_what_it_was_told_to() {
    let log = "$ cargo test --jobs 7\n   Compiling grid v0.1.0 (/home/ada/grid)\nerror: linking with `cc` failed: exit \
               status: 1\n  = note: collect2: fatal error: ld terminated with signal 9 [Killed]\n";
    assert_eq!(lines_of(log, "fewer-at-once"), ["cargo test --jobs 2"]);
}

#[test]
fn the_innermost_of_gradles_causes_is_heard() {
    let log = "FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task \
               ':app:mergeDexDebug'.\n> Could not resolve all files for configuration ':app:debug'.\n   > Execution \
               failed for JetifyTransform: /home/ada/.gradle/caches/a.jar.\n      > Java heap space\n";
    assert_eq!(first_cause(log), "framework_limit");
    assert!(lines_of(log, "raise-runtime-limit").iter().any(|line| line.starts_with("org.gradle.jvmargs=")));
    assert!(!fails("The chart shows\n> Java heap space\n"));
}

#[test]
fn a_lock_that_found_no_space_lies_in_shared_memory() {
    let log = "Traceback (most recent call last):\n  File \"/usr/lib/python3.7/multiprocessing/context.py\", line 67, in \
               Lock\n    return Lock(ctx=self.get_context())\n  File \"/usr/lib/python3.7/multiprocessing/synchronize.py\", \
               line 59, in __init__\n    unlink_now)\nOSError: [Errno 28] No space left on device\n";
    assert_eq!(first_cause(log), "shared_memory");
}

#[test]
fn an_array_of_many_samples_is_no_mistake_of_its_shape() {
    let log = |shape: &str| {
        format!("$ python dqn.py\nMemoryError: Unable to allocate array with shape ({shape}) and data type float32\n")
    };
    assert_eq!(first_cause(&log("515000, 84, 84")), "host_memory");
    assert_eq!(first_cause(&log("2016, 2016, 2016")), "single_huge_allocation");
}

#[test]
fn a_message_behind_which_nothing_stands_is_doubted_by_no_words() {
    let log: String =
        COLLECTS.lines().skip(2).chain(COLLECTS.lines().take(2)).map(|line| format!("{line}\n")).collect();
    assert!(fails(&log), "{log}");
}

#[test]
fn cargo_repeats_the_last_command_before_the_failure_wherever_it_lies() {
    let log = "$ cargo check\n    Finished dev profile\n$ ~/.cargo/bin/cargo bench --jobs 7\n   Compiling grid v0.1.0\nerror: \
               linking with `cc` failed: exit status: 1\n  = note: collect2: fatal error: ld terminated with signal 9 \
               [Killed]\n$ cargo clean\n$ cargo build\n";
    assert_eq!(lines_of(log, "fewer-at-once"), ["cargo bench --jobs 2"]);
}

#[test]
fn a_library_that_is_installed_makes_no_threads_of_a_loaders_workers() {
    let log =
        "$ pip list | grep -E 'gensim|torch'\ngensim 4.3.2\ntorch 2.1.0\n$ python train.py --num-workers 16\nKilled\n";
    assert!(lines_of(log, "fewer-workers").iter().any(|line| line.contains("was 16")));
}

#[test]
fn a_library_of_macs_that_a_loader_names_elsewhere_is_no_mac() {
    let log = "Cannot find libraries: libgrid.dylib, libgrid.so in /home/ada/grid\nstd::bad_alloc\nterminate called after \
               throwing an instance of 'std::bad_alloc'\nAborted (core dumped)\n";
    assert_eq!(incident(log)["context"]["platform"]["value"], "linux");
}
