//! What fresh reports, a thirty-fifth set and two readings had found wrong: heaps of a program's own, what the lines
//! beside a message show of it, and where a setting has its place; one test for each thing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for};
use crate::lines_around::{fails, first_cause, incident, report};

#[test]
fn names_in_a_stack_are_no_success() {
    let log = "System.OutOfMemoryException: Exception of type 'System.OutOfMemoryException' was thrown.\n   at \
               AudioTool.Mixer.Render(Int32 loops)\n--- End of stack trace from previous location where exception was \
               thrown ---\n   at System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess(Task task)\n   at \
               System.Runtime.CompilerServices.TaskAwaiter.HandleNonSuccessAndDebuggerNotification(Task task)\n   at \
               AudioTool.Main.<Render_Click>d__2.MoveNext()\n";
    assert!(fails(log));
}

#[test]
fn a_list_of_changes_at_a_prompt_is_no_failure_of_nodes() {
    let log = "$ cat CHANGELOG.md\n## 3.2\n* fix: JavaScript heap out of memory when bundling large projects\n";
    assert!(!fails(log));
    assert!(fails(
        "$ node build.js\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n"
    ));
}

#[test]
fn a_number_of_an_association_is_no_memory() {
    let log = "10[NET] received packet: from 198.51.100.40[500] (1108 bytes)\n10[MGR] failed to allocate SPI for new \
               IKE_SA\n11[NET] received packet: from 198.51.100.41[500] (1108 bytes)\n";
    assert!(!fails(log));
}

#[test]
fn a_service_that_answers_later_under_its_own_number_is_there_still() {
    let log = |later: &str| {
        format!(
            "Feb 26 03:10:41 mx opendkim[1210]: 7C0A11: malloc(): Cannot allocate memory\nFeb 26 {later} mx \
             opendkim[1210]: 8E119F: DKIM-Signature field added\n"
        )
    };
    assert!(!fails(&log("03:25:44")));
    assert!(fails(&log("03:10:42")));
}

#[test]
fn torch_7_tells_what_was_to_be_made_larger() {
    let log = "THNN.lua:109: $ Torch: not enough memory: you tried to reallocate 37GB. Buy new RAM! at \
               pkg/torch/lib/TH/THGeneral.c:251\n";
    assert_eq!(incident(log)["facts"]["requested_bytes"], 37u64 << 30);
    // Beside 37 GiB a swap file of 8 is nothing.
    assert!(!offers_for(log).contains(&"swap"));
}

#[test]
fn an_array_that_numpy_of_old_calls_too_big_is_a_failure() {
    let log = "$ python main.py breakout\nTraceback (most recent call last):\n  File \"main.py\", line 103, in \
               <module>\n mem = ReplayMemory(args.replay_size)\n  File \"replay.py\", line 12, in __init__\n    \
               self.screens = np.empty((size, 84, 84), dtype=np.uint8)\nValueError: array is too big.\n";
    assert_eq!(incident(log)["framework"], "numpy");
    assert_eq!(first_cause(log), "single_huge_allocation");
}

#[test]
fn a_heap_that_its_collector_says_is_full_is_the_limit() {
    let log = |used: u64| {
        format!(
            "note: GC: allocated {used}/16777216; fragmentation 2.1% [0 us]\nqueue.vhd:1092:3: fatal: out of memory \
             attempting to allocate 18136 byte object\n"
        )
    };
    assert_eq!(incident(&log(15_515_232))["facts"]["limit_bytes"], 16_777_216u64);
    assert_eq!(first_cause(&log(15_515_232)), "framework_limit");
    assert!(incident(&log(1_515_232))["facts"].get("limit_bytes").is_none());
}

#[test]
fn what_a_linter_of_android_tells_is_the_jvms_area() {
    let log = "The currently configured max heap space is '2 GiB' and the configured max metaspace is '512 \
               MiB'.\nExecution failed for task ':app:lintVitalAnalyzeRelease'.\n> Message: Metaspace\n> Stack: \
               OutOfMemoryError\n";
    assert_eq!(incident(log)["facts"]["limit_bytes"], 512u64 << 20);
    assert!(report(log).contains("MaxMetaspaceSize"), "{}", report(log));
}

#[test]
fn a_heap_that_was_set_for_what_ghc_compiled_is_its_limit() {
    let log =
        "$ make -C src GHCJOBS=16\nghc --make -j16 main.hs -o main +RTS -M4G -A128m -RTS\nghc: panic! heap overflow\n";
    assert_eq!(incident(log)["facts"]["limit_bytes"], 4u64 << 30);
    assert_eq!(first_cause(log), "framework_limit");
}

#[test]
fn buffers_above_what_metal_recommends_are_the_failure_below_an_assertion() {
    let log = |held: &str| {
        format!(
            "ggml_metal_init: recommendedMaxWorkingSetSize  =  5461.34 MB\nggml_metal_add_buffer: allocated 'data' \
             buffer, size =  3427.77 MB, offs =   4160536576, ( {held} /  \
             5461.34)\nGGML_ASSERT(ggml-metal.m:1645): false\n"
        )
    };
    assert_eq!(incident(&log("7524.40"))["resource"], "gpu");
    assert_eq!(incident(&log("7524.40"))["framework"], "llama.cpp");
    assert!(!fails(&log("4524.40")));
}

#[test]
fn nothing_asked_for_above_another_code_is_no_want_of_memory() {
    let log = "[guppy/info] CUDA device 0 reached memory limit while trying to allocate 0 bytes, currently at \
               64/11551440896\n[guppy/error] CUDA error at barcode_cuda.cpp:77: CUDA_ERROR_INVALID_VALUE. Error \
               initialising basecall server. Aborting.\n";
    assert!(!fails(log));
}

#[test]
fn a_make_without_a_number_starts_as_many_as_it_can() {
    let log = "$ ./all.sh\nmake -j -C src/kernels\nccache nvcc -O3 -lineinfo -c kernels.cu\nnvcc error   : 'cudafe++' \
               died due to signal 9 (Kill signal)\n";
    let mechanisms = incident(log)["mechanisms"].to_string();
    assert!(mechanisms.contains("side-by-side"), "{mechanisms}");
}

#[test]
fn an_exceptions_words_are_none_of_darknets() {
    let log = "$ ./stereo_img --im0 im0.png --im1 im1.png\nterminate called after throwing an instance of \
               'IuCudaException'\n  what():  IuException: CUDA Error: out of memory\n";
    assert_ne!(incident(log)["framework"], "darknet");
    assert_eq!(
        incident("$ ./darknet detect cfg/yolo.cfg yolo.weights dog.jpg\nCUDA Error: out of memory\n")["framework"],
        "darknet"
    );
}

#[test]
fn a_message_is_quoted_as_it_is_printed() {
    let log = "check failed: [20:33:44] tree.cu:171: out of memory: driver failed to allocate 1024 bytes on device 0\n";
    assert!(incident(log)["message"].as_str().unwrap().contains("out of memory"), "{}", incident(log)["message"]);
}

#[test]
fn advice_of_paddle_is_no_second_failure() {
    let log = "Out of memory error on GPU 0. Cannot allocate 674.796832MB memory on GPU 0, 21.780874GB memory has been \
               allocated and available memory is only 218.918650MB.\n\nPlease check whether there is any other process \
               using GPU 0.\n1. If yes, please stop them, or start PaddlePaddle on another GPU.\n2. If no, please \
               decrease the batch size of your model.\nIf the above ways do not solve the out of memory problem, you \
               can try to use CUDA managed memory. The command is `export FLAGS_use_cuda_managed_memory=false`.\n";
    assert!(!report(log).contains("Also"), "{}", report(log));
}

#[test]
fn of_the_smallest_side_there_is_no_smaller_one() {
    let log = "$ th neural_style.lua -gpu 0 -image_size 16\ncuda runtime error (2) : out of memory at \
               THC/generic/THCStorage.cu:66\nstack traceback:\n\t[C]: in function 'resize'\n";
    assert!(!lines_of(log, "smaller-images").iter().any(|line| line.contains("32")));
    // Lua has neither of Python's.
    assert!(!report(log).contains("gc.collect()"), "{}", report(log));
}

#[test]
fn a_command_that_submits_asks_for_memory_before_its_script() {
    let log = "$ sbatch --partition=local --mem=470g gpu.sh\n/var/spool/slurm/d/job02377/slurm_script: line 10: 36209 \
               Killed    dorado basecaller model pod5\nslurmstepd: error: Detected 1 oom-kill event(s) in \
               StepId=2377.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory \
               handler.\n";
    let lines = lines_of(log, "raise-host-limit");
    assert!(lines.iter().any(|line| line.contains("sbatch --mem=705G")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("#SBATCH")), "{lines:?}");
}

#[test]
fn a_service_of_a_swarm_mounts_its_shared_memory() {
    let log = "$ docker service logs metrics_db --tail 1\nmetrics_db.1.k2v0w9x@swarm-02    | ERROR:  could not resize \
               shared memory segment \"/PostgreSQL.318205577\" to 4194304 bytes: No space left on device\n";
    let lines = lines_of(log, "shm-size");
    assert!(lines.iter().any(|line| line.contains("--mount-add type=tmpfs")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("--shm-size")), "{lines:?}");
}

#[test]
fn a_vector_of_rs_is_as_large_as_its_data() {
    let log = "Error: cannot allocate vector of size 25.8 Gb\nExecution halted\n";
    assert!(!offers_for(log).contains(&"fix-the-shape"));
}

#[test]
fn a_cache_of_llama_cpp_that_has_no_slot_left_is_full() {
    let slot = "[Error: could not find a KV slot for the batch (try reducing the size of the batch or increase the \
                context)]\n";
    assert_eq!(incident(slot)["resource"], "kv-cache");
    let halved = "update_slots : failed to find free space in the KV cache, retrying with smaller n_batch = \
                  64\nupdate_slots : failed to decode the batch, n_batch = 1, ret = 1\n";
    assert_eq!(incident(halved)["resource"], "kv-cache");
}

#[test]
fn a_kernel_of_inductor_that_asks_for_too_much_is_named_in_place_of_what_it_asks_for() {
    let log = "torch._inductor.exc.InductorError: RuntimeError: No valid triton configs. \nOutOfMemoryError: out of \
               resource: triton_per_fused_add_7\nRequired: 334323 Hardware limit:232448 Reducing block sizes or \
               `num_stages` may help.\n";
    let told = incident(log);
    assert_eq!(told["facts"]["requested_bytes"], 334_323u64);
    assert_eq!(told["facts"]["limit_bytes"], 232_448u64);
}

#[test]
fn a_buffer_of_xmrig_that_the_device_allows_nobody_is_a_failure() {
    let log = "opencl   error CL_INVALID_BUFFER_SIZE when calling clCreateBuffer with buffer size 3016207872\nopencl   \
               thread #0 failed with error CL_INVALID_BUFFER_SIZE\nopencl   disabled (failed to start threads)\n";
    assert!(fails(log));
}

#[test]
fn darknet_that_finds_no_algorithm_lacks_the_memory_for_one() {
    let log = "$ ./darknet detector train obj.data yolo.cfg darknet53.conv.74\n Error: cuDNN isn't found FWD algo for \
               convolution. \n";
    assert_eq!(incident(log)["framework"], "darknet");
}

#[test]
fn an_address_below_32_mib_is_of_web_assembly() {
    let log = |stack: &str| {
        format!(
            "runtime: out of memory: cannot allocate 4194304-byte block (3932160 in use)\nfatal error: out of \
             memory\n\ngoroutine 1 [running]:\nruntime.throw({{0x57aad, 0xd}})\n        \
             /usr/lib/go/src/runtime/panic.go:1101 +0x3 fp={stack} sp={stack} pc=0x14b60003\n"
        )
    };
    assert!(report(&log("0x23f11bc4")).contains("64-bit"));
    assert!(!report(&log("0x475ad8")).contains("64-bit"));
}

#[test]
fn a_count_that_goes_on_behind_a_load_is_none_of_it() {
    let log = "> loading model\n> calling: 118 reads [03:41,  1.88s/ reads]\nRuntimeError: CUDA out of memory. Tried \
               to allocate 460.00 MiB (GPU 0; 5.79 GiB total capacity; 3.57 GiB already allocated; 299.12 MiB free; \
               4.70 GiB reserved in total by PyTorch)\n";
    assert!(!report(log).contains("while weights went to the device"), "{}", report(log));
}

#[test]
fn a_pool_of_some_hundred_mib_is_made_of_what_others_left() {
    let log = "I tensorflow/core/common_runtime/bfc_allocator.cc:647] Stats:\nLimit:                   \
               594153472\nInUse: 594153472\nMaxInUse:                594153472\nNumAllocs:                      \
               64\n\nResourceExhaustedError: OOM when allocating tensor with shape[4096] and type float on \
               /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n";
    assert_eq!(first_cause(log), "other_process");
}

#[test]
fn a_thread_that_jemalloc_may_not_start_is_no_memory() {
    let log = "<jemalloc>: arena 0 background thread creation failed (11)\nOpenBLAS blas_thread_init: RLIMIT_NPROC 128 \
               current, 128 max\n";
    assert!(!fails(log));
}

#[test]
fn a_table_of_a_miner_is_what_it_asked_for() {
    let log = "Device 0:\n    Name:    GeForce GTX 1050 Ti\n    Memory:  4036 MByte\n    Active:  true (Selected \
               Algorithm: ETHash)\nStart Mining...\n     Done (2698 ms), size of new DAG: 4112 MByte\nGPU 0: \
               insufficient memory for DAG epoch 386.\n";
    assert_eq!(first_cause(log), "capacity");
    assert_eq!(incident(log)["facts"]["requested_bytes"], 4112u64 << 20);
    assert_eq!(incident(log)["facts"]["capacity_bytes"], 4036u64 << 20);
}

#[test]
fn a_make_that_another_one_starts_for_one_job_is_alone() {
    let log = "$ ./all.sh\nmake -j 1 -C src/kernels\nnvcc -O3 -c kernels.cu\nnvcc error   : 'cudafe++' died \
               due to signal 9 (Kill signal)\n";
    let told = incident(log);
    assert!(!told["mechanisms"].to_string().contains("side-by-side"), "{told}");
    assert!(!told["context"].to_string().contains("several-jobs"), "{told}");
}

#[test]
fn a_failure_below_a_history_that_was_looked_at_is_heard() {
    let log = "$ git log -1 --oneline\n4f2c1aa train: larger crops\npython train.py\nCUDA error: out of memory\n";
    assert!(fails(log));
}

#[test]
fn a_log_is_none_of_what_comes_with_a_program() {
    for name in ["news.err", "news.err.gz", "history.log"] {
        let log = format!("$ zless /var/log/{name}\ninnd: failed to malloc 40960 bytes: Cannot allocate memory\n");
        assert!(fails(&log), "{name}");
    }
    assert!(!fails(
        "$ zless /usr/share/doc/grid/changelog.Debian.gz\n  failed to malloc: Cannot allocate memory (#12)\n"
    ));
}

#[test]
fn the_daemon_of_docker_is_no_swarm() {
    let log = "restarting docker service after the change\n$ docker run --rm img python train.py\nRuntimeError: \
               DataLoader worker (pid 41) is killed by signal: Bus error. It is possible that dataloader's workers \
               are out of shared memory.\n";
    assert!(!lines_of(log, "shm-size").iter().any(|line| line.contains("docker service update")));
}
