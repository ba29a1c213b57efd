//! What a thirtieth set, fresh reports of which many are three lines long and an eighteenth reading had found wrong: one
//! test for each thing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for};
use crate::lines_around::{fails, first_cause, incident, report};

/// What the log is named after, and what ran out.
fn named(log: &str) -> (String, String) {
    let found = incident(log);
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_string();
    (text("framework"), text("resource"))
}

#[test]
fn source_that_is_shown_or_found_is_no_message() {
    let found = "~/src/grid$ git grep -n -i 'out of memory' src/core\n\
                 src/core/things.cpp:107:    error_string(\"x\"), Out of memory in grid_alloc\n";
    assert!(!fails(found));
    let shown = "$ sed -n '121,131p' src/errors.c\n    {\n        grid: error: memory exhausted,\n";
    assert!(!fails(shown));
    assert!(fails("$ cat grid.log\ngrid: error: memory exhausted\n"));
    assert!(fails("$ python grid.py\ngrid: error: memory exhausted\n"));
    assert!(fails("$ cat mesh.py | grid -\ngrid: error: memory exhausted\n"), "the reader of the pipe says it");
}

#[test]
fn a_command_goes_on_behind_a_backslash() {
    let typed =
        "$ gridplot kills.png --title x \\\n    LINE1:k#ff0000:\"error: cannot allocate memory\" \\\n    AREA:m\n";
    assert!(!fails(typed));
    assert!(fails(&format!("{typed}gridplot: error: cannot allocate memory\n")));
    assert!(fails("C:\\work>grid.exe C:\\data\\\ngrid: error: cannot allocate memory\n"), "a folder");
}

#[test]
fn an_assertion_that_failed_may_be_of_a_refusal() {
    assert!(fails(
        "Assertion failed: Failed to allocate 8812000000 bytes for N8TileE\nSegmentation fault (core dumped)\n"
    ));
    assert!(!fails("assert out_of_memory == 0\nok\n"));
}

#[test]
fn a_test_that_expects_it_and_a_palette_are_no_failures() {
    assert!(!fails("PASS: hugetest\nOut of Memory!  Trying to continue... (expected by oomtest)\nPASS: leaktest\n"));
    assert!(!fails("$ gridterm -bg wheat\ngridterm: Cannot allocate color \"wheat\"\n$ ls\n"));
}

#[test]
fn a_build_server_without_memory_leaves_the_file_to_the_client() {
    let log = "ICECC[20114] 10:02:11: building myself, but telling localhost\n\
               ICECC[20114] 10:02:11: the server ran out of memory, recompiling locally\n[100%] Built target app\n";
    assert!(!fails(log));
}

#[test]
fn a_code_of_vulkans_is_read_whole() {
    let log = |code: &str| format!("gpu-id = 0\nvkAllocateMemory failed {code}\nvkAllocateMemory failed {code}\n");
    assert!(!fails(&log("-1000072003")), "an external handle");
    assert_eq!(named(&log("-1")), ("ncnn".into(), "host".into()));
    assert_eq!(named(&log("-2")), ("ncnn".into(), "gpu".into()));
    assert!(fails(&log("-10")));
}

#[test]
fn more_programs_are_heard() {
    let merge = "RuntimeError: The Merge buffer is too big for Intel(R) UHD Graphics 630 Intersect device (i.e. \
                 CL_DEVICE_MAX_MEM_ALLOC_SIZE=402653184): try to reduce related parameters\n";
    assert_eq!(named(merge).1, "gpu");
    let backend = "10:20:44.871 [Error] Self-Start ComfyUI on port 7821 failed.\n10:20:44.880 [Warning] Your system memory \
                   usage exceeded 97% just before the backend process failed. This might indicate a memory overload.\n";
    assert_eq!(named(backend).1, "host");
    assert!(fails("RuntimeError: FINUFFT malloc size requested greater than MAX_NF\n"));
    let ray = "ValueError: After taking into account object store and redis memory usage, the amount of memory on this node \
               available for tasks and actors (-12.11 GB) is less than -35% of total. You can adjust these settings with \
               ray.init(memory=<bytes>, object_store_memory=<bytes>).\n";
    assert_eq!(named(ray), ("ray".into(), "host".into()));
    let nccl =
        "gpu7:3309:3727 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device\n";
    assert_eq!(named(nccl).1, "shm");
}

#[test]
fn a_kill_stands_behind_what_was_being_done_and_has_its_number_on_a_mac() {
    assert!(fails("$ kraken2 --db pluspf x.fastq.gz\nLoading database information...Killed\n$ ls\n"));
    let mac = "$ python -m spacy train en train.json dev.json\nKilled: 9\n";
    assert!(fails(mac));
    assert!(!report(mac).contains("free -h"), "macOS has no free");
    let count = format!("jobs killed: 9\n{}", mac.replace("Killed: 9", "Killed"));
    assert!(report(&count).contains("free -h"), "a count is no signal");
}

#[test]
fn a_fork_that_processes_ran_out_for_and_a_shared_file_that_was_not_opened_are_none_of_memory() {
    assert!(!fails("Can't save in background: fork: Resource temporarily unavailable\n"));
    assert!(fails("Can't save in background: fork: Cannot allocate memory\n"));
    assert!(!fails("RuntimeError: unable to open shared memory object </torch_30418_2215> in read-write mode\n"));
}

#[test]
fn what_works_on_a_cache_computes() {
    let log = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 10063.00 MiB on device 1: cudaMalloc failed: out of \
               memory\nggml_gallocr_reserve_n: failed to allocate CUDA1 buffer of size 10551820288\n\
               llama_kv_cache_update_impl: failed to allocate compute buffers\n";
    assert_ne!(first_cause(log), "kv_cache");
    let told = report(log);
    assert!(!told.contains("-fa on"), "the option took no value yet: {told}");
}

#[test]
fn a_go_module_under_a_name_of_its_own_names_its_program() {
    let log = "fatal error: set memory region failed: out of memory\n\nruntime stack:\n\
               runtime.throw({0x12a8f41?, 0x0?})\n\tGOROOT/src/runtime/panic.go:1077 +0x5c\n\
               gridvm.dev/gridvm/pkg/sentry/kvm.handle(0xc000123400, 0x7f1200000000)\n";
    assert_eq!(named(log).0, "gridvm");
}

#[test]
fn a_miners_table_and_a_solvers_residuals_are_no_training() {
    let miner = "GPU #0: GeForce GTX 1060 3GB\nSetting DAG epoch #181 for GPU0\nCreate GPU buffer for GPU0\nCUDA error - \
                 cannot allocate big buffer for DAG. Check readme.txt for possible solutions.\n";
    let solver = "***** Belos Iterative Solver:  Pseudo Block Gmres\nIter   0, [ 1] :    1.000000e+00\n\
                  Iter   1, [ 1] :    2.666342e-04\nKokkos failed to allocate memory for label \"x\".  Allocation using \
                  MemorySpace named \"Cuda\" failed with the following error:  Allocation of size 1.305 G failed, likely due \
                  to insufficient memory.\n";
    for log in [miner, solver] {
        let told = report(log);
        assert!(!told.contains("training"), "{told}");
    }
}

#[test]
fn a_machine_that_windows_named_has_no_free() {
    let r = "> clust <- clustering(data = data, n = 10)\nError: cannot allocate vector of size 183.6 Mb\n\
             1: In for (i in 1L:d2) { :\n  closing unused connection 10 (<-DESKTOP-K41QWZP:11460)\n";
    let tf = "2019-05-02 10:11:12.123456: W .\\tensorflow/core/common_runtime/gpu/gpu_host_allocator.h:44] could not \
              allocate pinned host memory of size: 34359738368\n";
    for log in [r, tf] {
        let told = report(log);
        assert!(!told.contains("free -h") && !told.contains("fallocate"), "{told}");
    }
}

#[test]
fn a_server_of_built_engines_takes_no_option_of_the_builder() {
    let log = "$ tritonserver --model-repository=/models\n[TensorRT-LLM][INFO] Loaded engine size: 14043 MiB\n\
               [TensorRT-LLM][ERROR] 1: [defaultAllocator.cpp::allocate::20] Error Code 1: Cuda Runtime (out of memory)\n\
               [TensorRT-LLM][WARNING] Requested amount of GPU memory (14723068212 bytes) could not be allocated.\n";
    let told = report(log);
    for option in ["--max_batch_size", "--tp_size", "kv_cache_config"] {
        assert!(!told.contains(option), "{option}: {told}");
    }
}

#[test]
fn a_setting_that_the_refusal_names_is_the_one_to_raise() {
    let neo4j = "Neo.TransientError.General.MemoryPoolOutOfMemoryError\nThe allocation of an extra 47.4 GiB would use more \
                 than the limit 4.2 GiB. Currently using 891.1 MiB. dbms.memory.transaction.total.max threshold reached\n";
    let lines = lines_of(neo4j, "raise-runtime-limit");
    assert!(lines.iter().any(|line| line.contains("dbms.memory.transaction.total.max")), "{lines:?}");
    let spark = "19/06/10 08:52:18 ERROR TaskSetManager: Total size of serialized results of 3116 tasks (1074.0 MB) is \
                 bigger than spark.driver.maxResultSize (1024.0 MB)\n";
    assert!(!offers_for(spark).contains(&"fewer-at-once"), "their sum is the same");
}

#[test]
fn what_trains_takes_no_option_of_the_prediction() {
    let log = "$ nnUNetv2_train 004 3d_fullres 0 -tr nnUNetTrainer -device cuda\nRuntimeError: One or more background \
               workers are no longer alive. Exiting. Please check the print statements above for the actual error message\n";
    let lines = lines_of(log, "fewer-workers");
    assert!(lines.iter().any(|line| line.contains("nnUNet_n_proc_DA")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("-npp")), "{lines:?}");
}

#[test]
fn a_service_that_stamps_its_lines_and_writes_on_is_still_there() {
    let log = |rest: &str| {
        format!(
            "Tue Jun  4 09:10:01 2024 : Debug : (77)  EXPAND %x\nTue Jun  4 09:10:01 2024 : ERROR : (77)  Failed to \
             allocate buffer for unescaped string\n{rest}"
        )
    };
    let on = "Tue Jun  4 09:10:04 2024 : Auth : (78) Login OK\nTue Jun  4 09:15:00 2024 : Info : slot 4 opened\n";
    assert!(!fails(&log(on)));
    assert!(fails(&log("")));
    assert!(fails(&log("Tue Jun  4 09:15:00 2024 : Info : Exiting normally\n")));
}

#[test]
fn every_device_on_which_it_failed_needs_another() {
    let log = "gpu7:411205:416003 [0] include/alloc.h:228 NCCL WARN Cuda failure 2 'out of memory'\n\
               gpu7:411632:415999 [4] include/alloc.h:228 NCCL WARN Cuda failure 2 'out of memory'\n";
    assert!(!report(log).contains("CUDA_VISIBLE_DEVICES=<index> "));
}
