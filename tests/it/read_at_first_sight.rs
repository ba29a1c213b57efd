//! What a fifteenth and a sixteenth set, fresh reports and readings of a hundred outputs had found wrong: one test for
//! each thing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{FULL_CARD, lines_of, offers_for};
use crate::lines_around::{fails, first_cause, incident, report, run};
use serde_json::Value;

/// The figures of the incident that is asked about.
fn facts(log: &str) -> Value {
    let told: Value = serde_json::from_str(&run(&["explain", "--format", "json"], log)).unwrap();
    let asked = told["incidents"].as_array().unwrap().iter().find(|found| found["primary"] == true);
    asked.map(|found| found["facts"].clone()).unwrap_or_default()
}

#[test]
fn of_a_kernels_kills_the_newest_is_asked_about_whatever_command_stands_above() {
    let kill = |at: &str, pid: u32| {
        format!(
            "[{at}] Memory cgroup out of memory: Killed process {pid} (bins) total-vm:462872890kB, anon-rss:35653{pid}0kB, \
             file-rss:111595kB, shmem-rss:0kB, UID:1009 pgtables:142994kB oom_score_adj:0\n"
        )
    };
    let two = |first: &str, second: &str| {
        format!("$ sudo dmesg -T | grep 'Memory cgroup out of memory'\n{}{}", kill(first, 11), kill(second, 22))
    };
    assert_eq!(facts(&two("Mon Mar  9 22:10:13 2026", "Tue Mar 10 03:44:51 2026"))["pid"], 22);
    assert_eq!(facts(&two("Mon Mar  9 22:10:13 2026", "Mon Mar  9 22:10:14 2026"))["pid"], 11);
}

#[test]
fn a_killed_step_is_outlived_where_the_whole_work_succeeded() {
    let log = |end: &str| {
        format!(
            "[Pipeline] sh\n+ node build.js\nsh: line 1:   411 Killed                  node build.js\nERROR: script returned \
             exit code 137\nRetrying\n+ node build.js\nbundle written to dist/app.js in 41.2s\nFinished: {end}\n"
        )
    };
    assert!(!fails(&log("SUCCESS")));
    assert!(fails(&log("FAILURE")));
}

#[test]
fn a_class_named_for_memory_that_is_a_test_is_no_failure() {
    let log = |class: &str| format!("[ERROR] com.acme.cache.{class}\n[INFO] done\n");
    assert!(!fails(&log("OutOfMemoryHandlerTest")));
    assert!(fails("Exception in thread \"main\" com.acme.cache.OutOfMemoryException\n"));
}

#[test]
fn supervisord_names_itself_as_the_sender() {
    let log =
        |killing: &str| format!("{killing}\n2024-01-15 18:00:14,266 INFO stopped: worker (terminated by SIGKILL)\n");
    assert!(!fails(&log("2024-01-15 18:00:14,260 WARN killing 'worker' (51) with SIGKILL")));
    assert!(fails(&log("2024-01-15 18:00:14,260 INFO worker is busy")));
}

#[test]
fn a_program_of_c_plus_plus_gets_no_lines_of_python() {
    let native = format!(
        "$ caller --device cuda:0 reads/\nterminate called after throwing an instance of \
                          'c10::CUDAOutOfMemoryError'\n  what():  {}",
        FULL_CARD.trim_start_matches("torch.OutOfMemoryError: ")
    );
    let told = report(&native);
    for word in ["torch.autocast", "with torch.", ".detach()"] {
        assert!(!told.contains(word), "{word} in {told}");
    }
}

#[test]
fn pbs_is_asked_for_addresses_above_what_was_used() {
    let log = "=>> PBS: job killed: vmem 3473327964 exceeded limit 2147483648\n";
    let lines = lines_of(log, "raise-host-limit").join("\n");
    assert!(lines.contains("#PBS -l vmem=3975mb"), "{lines}");
}

#[test]
fn what_xla_reserved_in_the_same_process_is_told_by_its_share() {
    let log = "  File \"/w/torch_xla/core/dynamo_bridge.py\", line 165, in _maybe_move_tensors_to_device\n    moved_tensor = \
               tensor.to(target_device)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 160.00 MiB. GPU 0 has a \
               total capacity of 15.77 GiB of which 81.48 MiB is free. Process 27116 has 15.69 GiB memory in use. Of the \
               allocated memory 3.35 GiB is allocated by PyTorch, and 232.45 MiB is reserved by PyTorch but unallocated.\n";
    assert_eq!(first_cause(log), "preallocation");
}

#[test]
fn too_many_to_fit_is_a_need_and_what_should_be_free_is_not_free() {
    let log = "  0:28:25.367   698M / 7G    ERROR   K-mer Counting   The reads contain too many k-mers to fit into available \
               memory. You need approx. 74.7885GB of free RAM to assemble your dataset\n";
    let facts = facts(log);
    assert!(facts["free_bytes"].is_null(), "{facts}");
    assert!(!facts["requested_bytes"].is_null(), "{facts}");
}

#[test]
fn a_checkpoint_before_the_first_step_is_not_where_it_failed() {
    let log = "INFO:tensorflow:Starting Session.\nINFO:tensorflow:Saving checkpoint to path train/model.ckpt\n\
               INFO:tensorflow:Starting Queues.\nINFO:tensorflow:global_step/sec: 0\n2018-03-04 14:02:51.631204: W \
               tensorflow/core/framework/op_kernel.cc:1192] Resource exhausted: OOM when allocating tensor with \
               shape[1,1024,51,38]\n";
    assert!(!report(log).contains("saving a checkpoint"), "{}", report(log));
    let folder = "Saving checkpoints to: outputs/run\nCaching / undistorting train images ━━ 61%\n./train.sh: line 2: 2870164 \
                  Killed ns-train splatfacto\n";
    assert!(!report(folder).contains("saving a checkpoint"), "{}", report(folder));
}

#[test]
fn a_runtimes_own_heap_is_what_was_full() {
    let log = "Exception in thread \"main\" java.lang.OutOfMemoryError: GC overhead limit exceeded\n";
    assert!(report(log).starts_with("The program's own heap is full"), "{}", report(log));
}

#[test]
fn data_that_is_read_whole_has_no_wrong_shape() {
    let log = |code: &str| {
        format!(
            "Mem:            15G        1.3G         12G         41M        1.9G         13G\nTraceback (most recent call \
             last):\n  File \"/home/a/bones.py\", line 62, in <module>\n    {code}\nMemoryError: Unable to allocate 29.6 GiB \
             for an array with shape (7945928928,) and data type float32\n"
        )
    };
    let read = log("data = np.load('joints.npy')");
    assert_eq!(first_cause(&read), "host_memory");
    assert!(!offers_for(&read).contains(&"fix-the-shape"));
    assert_eq!(first_cause(&log("y = pdist(x, 'cosine')")), "single_huge_allocation");
}

#[test]
fn a_programs_own_estimate_is_held_against_what_there_was() {
    let log = |need: &str| {
        format!(
            "UserWarning: This system does not have apparently enough memory to store the complete replay buffer {need} > \
             12.88GB\n  warnings.warn(\nstep 368000\nKilled\n"
        )
    };
    assert!(report(&log("56.45GB")).contains("had estimated at least 52."), "{}", report(&log("56.45GB")));
    assert!(!report(&log("6.45GB")).contains("had estimated"), "{}", report(&log("6.45GB")));
}

#[test]
fn a_pool_that_would_be_exceeded_is_the_limit_and_not_the_server() {
    let log = "Error: Exceeded memory pool capacity. Can't grow q_4 capacity with 32.00MB. This will exceed its memory pool \
               capacity 8.00GB, current capacity 7.98GB.\n";
    assert_eq!(facts(log)["requested_bytes"], 32u64 << 20, "{}", facts(log));
    assert_eq!(facts(log)["limit_bytes"], 8u64 << 30, "{}", facts(log));
}

#[test]
fn a_point_that_cannot_part_thousands_shows_what_the_others_are() {
    let log = |total: &str| {
        format!(
            "ERR allocation failed while requesting 4294967296 bytes of memory; out of memory(mem_free=512.125MiB mem_tot={total}MiB)\n"
        )
    };
    assert_eq!(facts(&log("11020.125"))["free_bytes"], (512u64 << 20) + (1 << 17));
    assert!(facts(&log("11"))["free_bytes"].is_null());
}

#[test]
fn what_is_less_than_required_is_what_there_was() {
    let log = "[ERROR] device reserved memory 1024  MiB is less than runtime required memory 4096 MiB\nbackend exited, code -6\n";
    let facts = facts(log);
    assert_eq!(
        (facts["free_bytes"].as_u64(), facts["requested_bytes"].as_u64()),
        (Some(1 << 30), Some(4 << 30)),
        "{facts}"
    );
}

#[test]
fn the_rank_of_an_adapter_is_no_process() {
    let log = format!("train_args: world_size=1, lora=LoraArgs(enable=True, rank=64, dropout=0.0)\n{FULL_CARD}");
    assert!(incident(&log)["rank"].is_null(), "{}", incident(&log)["rank"]);
}

#[test]
fn sparks_results_are_the_drivers_and_no_workers_limit() {
    let log = "ERROR TaskSetManager - Total size of serialized results of 2623 tasks (1084.1 MB) is bigger than \
               spark.driver.maxResultSize (1024.0 MB)\n";
    assert!(!report(log).contains("one worker"), "{}", report(log));
    let lines = lines_of(log, "raise-runtime-limit").join("\n");
    assert!(lines.contains("spark.driver.maxResultSize") && !lines.contains("memoryOverhead"), "{lines}");
}

#[test]
fn attention_that_runs_is_not_what_to_switch_on() {
    let log = "Using pytorch attention\n  File \"/ComfyUI/comfy/ldm/modules/attention.py\", line 490, in attention_pytorch\n    out \
               = torch.nn.functional.scaled_dot_product_attention(q, k, v)\ntorch.OutOfMemoryError: HIP out of memory. Tried to \
               allocate 633.55 GiB. GPU 0 has a total capacity of 117.60 GiB of which 75.05 GiB is free. Of the allocated \
               memory 39.12 GiB is allocated by PyTorch, and 2.89 GiB is reserved by PyTorch but unallocated.\n";
    let lines = lines_of(log, "fused-attention").join("\n");
    assert!(lines.contains("--use-split-cross-attention") && !lines.contains("--use-pytorch"), "{lines}");
}

#[test]
fn who_writes_r_gets_no_lines_of_python() {
    let log = "> model %>% fit_generator(train, epochs = 10)\nError in py_call_impl(callable, dots$args, dots$keywords) : \
               ResourceExhaustedError: OOM when allocating tensor with shape[6272,512] and type float on \
               /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n";
    for word in ["tf.recompute_grad", "model.fit(", "set_global_policy"] {
        assert!(!report(log).contains(word), "{word} in {}", report(log));
    }
}

#[test]
fn a_pipeline_that_submits_its_steps_sets_their_memory() {
    let log = |name: &str| {
        format!(
            "[INFO] {name} start...\nslurmstepd: error: Detected 1 oom_kill event in StepId=10940052.0. Some of the step \
                 tasks have been OOM Killed.\n"
        )
    };
    assert!(!report(&log("nextDenovo")).contains("#SBATCH"), "{}", report(&log("nextDenovo")));
    assert!(report(&log("aligner")).contains("#SBATCH"));
}

#[test]
fn every_rank_makes_a_segment_of_its_own() {
    let log = |ranks: u32| {
        format!(
            "Filesystem      Size  Used Avail Use% Mounted on\nshm              16M     0   16M   0% /dev/shm\nworld_size: \
                 {ranks}\nRuntimeError: NCCL error: Error while creating shared memory segment /dev/shm/nccl-Qk2vTd (size \
                 7340384)\n"
        )
    };
    assert_eq!(first_cause(&log(8)), "shared_memory");
}

#[test]
fn a_maximum_that_jumps_as_validation_begins_has_not_grown() {
    let row =
        |head: &str, at: u32, most: u32| format!("{head}:  [{at}/314]  eta: 0:08:41  loss: 11.2  max mem: {most}\n");
    let mut log: String = (0..4).map(|at| row("Epoch: [0]", at * 10, 38_644)).collect();
    log.extend((0..4).map(|at| row("Test", at * 10, 61_208)));
    log += FULL_CARD;
    assert!(!report(&log).contains("readings rise"), "{}", report(&log));
}

#[test]
fn an_image_is_built_by_no_container_that_one_runs() {
    let log = " > [3/5] RUN conda install -c conda-forge -y pandas:\n#6 178.4 Solving environment: ...working... Killed\nexecutor \
               failed running [/bin/sh -c conda install -c conda-forge -y pandas]: exit code: 137\n";
    assert!(!report(log).contains("docker run"), "{}", report(log));
}

#[test]
fn addresses_of_a_killed_process_are_no_memory_that_it_held() {
    let log = "docker run --memory 16g image\n[ 3936.393455] Memory cgroup out of memory: Killed process 16597 (python3) \
               total-vm:83886080kB, anon-rss:16522744kB, file-rss:13296kB, shmem-rss:0kB, UID:0 pgtables:1152kB\n";
    let lines = lines_of(log, "raise-host-limit").join("\n");
    assert!(lines.contains("24G") && !lines.contains("96G"), "{lines}");
}

#[test]
fn a_user_called_isaac_is_no_simulator() {
    let card = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 23.18 GiB total capacity; \
                3.94 GiB already allocated; 1.59 MiB free; 3.97 GiB reserved in total by PyTorch)\n";
    let log = |folder: &str| format!("  File \"/{folder}/train.py\", line 109, in main\n    loss.backward()\n{card}");
    assert!(!report(&log("home/isaac")).contains("simulator"), "{}", report(&log("home/isaac")));
    assert!(run(&["explain", "-v"], &log("home/a/isaacgym")).contains("simulator"));
}

#[test]
fn a_thread_below_python_that_ends_it_leaves_its_lines_editable() {
    let log = |command: &str| {
        format!(
            "$ {command}\nterminate called after throwing an instance of 'c10::CUDAOutOfMemoryError'\n  what():  {}",
            FULL_CARD.trim_start_matches("torch.OutOfMemoryError: ")
        )
    };
    let lines = |command: &str| lines_of(&log(command), "mixed-precision").join("\n");
    assert!(lines("python train.py").contains("autocast"), "{}", lines("python train.py"));
    assert!(!lines("caller reads/").contains("autocast"), "{}", lines("caller reads/"));
}

#[test]
fn locked_pages_and_forbidden_threads_are_no_want_of_memory() {
    let locked = include_str!("../../fixtures/logs/runtimes/locked-memory.log");
    let said = report(locked);
    assert!(said.contains("A request to lock pages into RAM was refused."), "{said}");
    assert!(said.contains("ulimit -l unlimited") && !said.contains("swapfile"), "{said}");
    assert_eq!(first_cause(locked), "framework_limit");
    let forbidden = include_str!("../../fixtures/logs/runtimes/jvm-thread-forbidden.log");
    assert_eq!(first_cause(forbidden), "driver_or_unrelated");
    assert!(!report(forbidden).contains("-Xmx"));
}

#[test]
fn of_several_jobs_that_ended_so_the_last_is_asked_about() {
    let log = "JobID             State ExitCode     ReqMem    Elapsed \n\
               ------------ ---------- -------- ---------- ---------- \n\
               7710021      OUT_OF_ME+    0:125        16G   00:46:20 \n\
               7710388      OUT_OF_ME+    0:125        40G   02:39:51 \n\
               slurmstepd: error: Detected 1 oom_kill event in StepId=7710388.batch. Some of the step tasks have been OOM Killed.\n";
    assert_eq!(facts(log)["limit_bytes"], 40_u64 << 30);
    assert!(
        lines_of(log, "raise-host-limit")[0].starts_with("#SBATCH --mem=60G"),
        "{:?}",
        lines_of(log, "raise-host-limit")
    );
}

#[test]
fn a_count_times_a_size_is_what_was_asked_for() {
    for (line, bytes) in [
        ("vtkFloatArray (0x9f3a6b0): Unable to allocate 5050186860 elements of size 4 bytes.", 20_200_747_440_u64),
        ("Error: mymalloc_big: failed to allocate 4 x 544477862 bytes", 2_177_911_448),
    ] {
        assert_eq!(facts(&format!("ERROR: In array.txx, line 308\n{line}\n"))["requested_bytes"], bytes, "{line}");
    }
}

#[test]
fn an_address_that_is_not_mapped_is_no_shortage() {
    assert!(!fails(
        "(gdb) p names\nPython Exception <class 'gdb.MemoryError'>: Cannot access memory at address 0x6c65\n"
    ));
}

#[test]
fn a_check_against_all_the_memory_is_a_failure_without_units() {
    assert!(fails(
        "AssertionError: Cannot estimate KV cache capacity. The model weight size 2149941248.0 may be larger than GPU \
         memory size 25383469056\n"
    ));
    assert!(fails("- Device #1: Device does not provide enough allocatable device-memory for this attack\n"));
}

#[test]
fn what_is_asked_for_above_a_programs_own_limit_is_refused_by_it() {
    let log = "  0:00:00.003     4M / 4M    INFO    General   (memory_limit.cpp : 49)   Memory limit set to 2 Gb\n\
               0:03:29.480    74M / 861M  ERROR  K-mer Counting  (kmer_data.cpp : 353)   The reads contain too many k-mers \
               to fit into available memory. You need approx. 2.82889GB of free RAM to assemble your dataset\n";
    assert_eq!(first_cause(log), "framework_limit");
}

#[test]
fn no_activations_are_left_where_the_weights_are_all_that_is_allocated() {
    let log = "trainable params: 10,567,680 || all params: 5,449,958,304 || trainable%: 0.1939\n\
               Traceback (most recent call last):\n  \
               File \"/opt/env/lib/python3.12/site-packages/transformers/trainer.py\", line 4020, in training_step\n    \
               loss = self.compute_loss(model, inputs)\n\
               RuntimeError: MPS backend out of memory (MPS allocated: 9.76 GiB, other allocations: 494.40 KiB, max \
               allowed: 9.75 GiB). Tried to allocate 256 bytes on shared pool.\n";
    let offers = offers_for(log);
    for id in ["gradient-checkpointing", "smaller-batch", "qlora", "eight-bit-optimizer"] {
        assert!(!offers.contains(&id), "{id}: {offers:?}");
    }
    assert!(!report(log).contains("Ampere"));
}

#[test]
fn options_of_an_example_are_for_who_runs_it() {
    let log = |script: &str| {
        format!(
            "$ accelerate launch {script} --resolution 768\n\
             Loading pipeline components...: 100%|█████| 7/7 [00:03<00:00]\n\
             Steps:   0%|          | 0/800 [00:00<?, ?it/s]\nTraceback (most recent call last):\n  \
             File \"/home/me/work/{script}\", line 702, in main\n    accelerator.backward(loss)\n{FULL_CARD}"
        )
    };
    let shown =
        |script: &str| lines_of(&log(script), "gradient-checkpointing").contains(&"--gradient_checkpointing".into());
    assert!(shown("train_dreambooth_lora.py"));
    assert!(!shown("fit_avatar.py"));
}

#[test]
fn a_disk_mounted_as_scratch_is_no_cluster() {
    let log = |place: &str| {
        format!(
            "$ ./extract {place}/planet.pbf\nKilled\nMar  5 06:12:40 route kernel: Out of memory: Kill process 13418 (extract) \
             score 491 or sacrifice child\nMar  5 06:12:40 route kernel: Killed process 13418, UID 0, (extract) \
             total-vm:133759454kB, anon-rss:76180581kB, file-rss:302kB\n"
        )
    };
    let said = |place: &str| lines_of(&log(place), "raise-host-limit").join(" ").contains("batch system");
    assert!(said("/scratch/me") && !said("/mnt/scratch"));
}

#[test]
fn a_block_is_no_lock() {
    for line in ["engine: unable to allocate block memory for 512 MB", "store: out of memory: no block pages left"] {
        let said = report(&format!("{line}\n"));
        assert!(!said.contains("ulimit -l") && !said.contains("lock pages into RAM"), "{said}");
    }
}

#[test]
fn weights_far_above_what_is_allocated_are_not_there_as_16_bits() {
    // 8 G parameters in 4 bits, which nothing in the log says.
    let log = format!(
        "trainable params: 41,943,040 || all params: 8,030,261,248 || trainable%: 0.52\n\
         Traceback (most recent call last):\n  \
         File \"/opt/env/lib/python3.12/site-packages/transformers/trainer.py\", line 4020, in training_step\n    \
         loss = self.compute_loss(model, inputs)\n{}",
        FULL_CARD
    );
    assert!(!report(&log).contains("weights alone"), "{}", report(&log));
}

#[test]
fn the_size_of_a_numbered_device_among_unlike_ones_proves_nothing() {
    let log = |second: &str| {
        format!(
            "index, name, memory.total [MiB], memory.used [MiB]\n0, NVIDIA RTX A2000, 12288 MiB, 4 MiB\n1, {second}, 4 MiB\n\
             ggml_backend_cuda_buffer_type_alloc_buffer: allocating 30000.00 MiB on device 0: cudaMalloc failed: out of memory\n"
        )
    };
    let known = |second: &str| incident(&log(second))["derived"].get("capacity").is_some();
    assert!(known("NVIDIA RTX A2000, 12288 MiB") && !known("NVIDIA A100 80GB PCIe, 81920 MiB"));
}

#[test]
fn a_drivers_code_behind_a_date_is_no_later_job() {
    let log = "JobID             State ExitCode     ReqMem    Elapsed \n\
               ------------ ---------- -------- ---------- ---------- \n\
               7710388      OUT_OF_ME+    0:125        40G   02:39:51 \n\
               2024-05-01 10:00:00.1: E cuda_driver.cc:806] failed to allocate 2.00G bytes: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n";
    let told: Value = serde_json::from_str(&run(&["explain", "--format", "json"], log)).unwrap();
    let kinds = told["incidents"].as_array().unwrap().iter().map(|found| found["facts"]["limit_bytes"].as_u64());
    assert!(kinds.flatten().any(|limit| limit == 40 << 30), "{told}");
}

#[test]
fn what_an_exception_only_supposes_is_no_failure() {
    assert!(!fails("ConnectionError: the server may be out of memory\n"));
}

#[test]
fn what_joblib_cannot_write_where_shared_memory_is_full_is_no_disk() {
    let log = |free: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"/w/score.py\", line 57, in <module>\n    run(jobs)\n  \
             File \"/v/lib/python3.10/site-packages/joblib/_memmapping_reducer.py\", line 332, in __call__\n    \
             dump(a, filename)\nOSError: [Errno 28] No space left on device\n$ df -h /dev/shm\n\
             Filesystem                 Size  Used Avail Use% Mounted on\nshm                         64M   {free} /dev/shm\n"
        )
    };
    assert!(fails(&log("64M     0 100%")));
    assert!(!fails(&log("12M   52M  19%")));
}

#[test]
fn a_step_of_an_image_build_prints_behind_its_number() {
    let log = |line: &str| format!("#17 [build 9/11] RUN ./optimise.sh assets/\n{line}\n#17 ERROR: exit code: 1\n");
    assert!(fails(&log("#17 31.09 Error code: 2 (BITSTREAM_OUT_OF_MEMORY: Out of memory re-allocating byte buffer)")));
}

#[test]
fn what_cannot_spill_found_no_way_on() {
    let log = |may: &str| {
        format!(
            "UserException: RESOURCE ERROR: One or more nodes ran out of memory while executing the query.\n\n\
             Single Phase Hash Aggregate operator {may} spill. Memory limit: 268435456 so far allocated: 253500000.\n"
        )
    };
    assert!(fails(&log("can not")));
    assert!(!fails(&log("begins to")));
}

#[test]
fn heaps_of_vulkan_tell_the_devices_own() {
    let log = "[libplacebo @ 0x1f80c47a2c0] Allocation of size   15M failed: VK_ERROR_OUT_OF_DEVICE_MEMORY!\n\
               [libplacebo @ 0x1f80c47a2c0] Memory heaps supported by device:\n\
               [libplacebo @ 0x1f80c47a2c0]     0: flags 0x1 size 8018M\n\
               [libplacebo @ 0x1f80c47a2c0]     1: flags 0x0 size   15G\n";
    assert_eq!(facts(log)["capacity_bytes"], 8018u64 << 20);
    // Cut behind the word.
    assert!(fails(
        "0: flags 0x1 size \nerror: VK_ERROR_OUT_OF_DEVICE_MEMORY: failed to allocate 512 MiB of device memory\n"
    ));
}

#[test]
fn a_banner_tells_what_the_device_has_beside_the_messages_figures() {
    let log = "  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes, VRAM: 24244 MiB\n\
               ggml_backend_cuda_buffer_type_alloc_buffer: allocating 871.52 MiB on device 0: cudaMalloc failed: out of \
               memory\n";
    assert_eq!(facts(log)["capacity_bytes"], 24244u64 << 20);
    let two = log.replace(
        "ggml_backend",
        "  Device 1: NVIDIA T4, compute capability 7.5, VMM: yes, VRAM: 15110 MiB\nggml_backend",
    );
    assert_eq!(facts(&two)["capacity_bytes"], 24244u64 << 20);
    // Which one it was is not told.
    let unnumbered = two.replace("on device 0: ", "");
    assert!(facts(&unnumbered)["capacity_bytes"].is_null(), "{}", facts(&unnumbered));
}

#[test]
fn a_bare_refusal_has_the_figures_of_the_generic_line_beside_it() {
    let log = "buffer :error: allocate_buffer: failed to allocate buffer of size 33792 KB\nTraceback (most recent call \
               last):\n  File \"/home/a/flow.py\", line 412, in main\n    tb.start()\nMemoryError: std::bad_alloc\n";
    assert_eq!(facts(log)["requested_bytes"], 33792u64 << 10);
    // Nobody says what a process that was killed had asked for.
    let killed = "pool: failed to allocate buffer of size 33792 KB\nbash: line 3: 4711 Killed    ./flow\n";
    assert!(facts(killed)["requested_bytes"].is_null() || first_cause(killed) != "single_huge_allocation");
}

#[test]
fn a_group_that_tells_no_limit_has_the_one_of_its_command() {
    let kill = "Memory cgroup out of memory: Killed process 70112 (yices) total-vm:4589844kB, anon-rss:4160156kB, \
                file-rss:3012kB, shmem-rss:0kB, UID:1000 pgtables:8204kB oom_score_adj:200\n";
    for command in
        ["docker run --rm -m 4g solver big.nia", "systemd-run --scope -q -p MemoryMax=4294967296 yices big.nia"]
    {
        assert_eq!(
            facts(&format!("$ {command}\nKilled\n[91120.110499] {kill}"))["limit_bytes"],
            4u64 << 30,
            "{command}"
        );
    }
}

#[test]
fn a_limit_on_addresses_is_none_of_the_group() {
    let log = "$ ulimit -v 60000000\nKilled\n[91120.110499] Memory cgroup out of memory: Killed process 70112 (yices) \
               total-vm:4589844kB, anon-rss:4160156kB, file-rss:3012kB, shmem-rss:0kB, UID:1000 pgtables:8204kB \
               oom_score_adj:200\n";
    assert!(facts(log)["limit_bytes"].is_null(), "{}", facts(log));
}

#[test]
fn roots_prompt_is_no_heading() {
    let log = |prompt: &str| {
        format!("{prompt} ulimit -v 4194304\n{prompt} signzone -S se.zone\nsignzone: fatal: out of memory\n")
    };
    assert_eq!(facts(&log("#"))["limit_bytes"], 4u64 << 30);
    assert_eq!(facts(&log("#")), facts(&log("$")));
    // The rest of the number is lost: it is none.
    assert!(facts(&log("#").replace("4194304", "4 194 304"))["limit_bytes"].is_null());
}

#[test]
fn a_crash_report_of_minecraft_tells_what_its_heap_is() {
    let log = "java.lang.OutOfMemoryError: Java heap space\n---- Minecraft Crash Report ----\nDetails:\n\tMemory: 41943040 \
               bytes (40 MB) / 2041577472 bytes (1947 MB) up to 2059403264 bytes (1964 MB)\n";
    let told = facts(log);
    assert_eq!((&told["free_bytes"], &told["limit_bytes"]), (&Value::from(41_943_040), &Value::from(2_059_403_264u64)));
}

#[test]
fn a_limit_that_a_command_or_its_environment_sets_is_told() {
    for (command, limit) in [
        ("$ SURREAL_MEMORY_THRESHOLD=2684354560 surreal start", 2_684_354_560u64),
        ("$ mksquashfs /srv/tree tree.sqsh -b 1M -mem 512M", 512 << 20),
    ] {
        assert_eq!(facts(&format!("{command}\nFATAL: out of memory, aborting\n"))["limit_bytes"], limit, "{command}");
    }
    // Advice sets nothing.
    let advice =
        "dump.zst : Frame requires too much memory for decoding\ndump.zst : Use --long=31 or --memory=2048MB\n";
    assert!(facts(advice)["limit_bytes"].is_null());
}

#[test]
fn gigabytes_of_an_early_dask_are_powers_of_ten() {
    let log = |limit: &str| {
        format!(
            "distributed.worker - WARNING - Memory use is high but worker has no data to store to disk.  Process memory: \
             {limit} -- Worker memory limit: {limit}\ndistributed.nanny - WARNING - Worker exceeded 95% memory budget. \
             Restarting\n"
        )
    };
    assert_eq!(facts(&log("3.48 GB"))["limit_bytes"], 3_480_000_000u64);
    assert_eq!(facts(&log("4.00 GiB"))["limit_bytes"], 4u64 << 30);
}

#[test]
fn the_cache_of_a_line_with_several_sizes_is_the_one_that_is_called_so() {
    let log = format!(
        "INFO worker.py:241] model weights take 7.36GiB; PyTorch activation peak memory takes 2.48GiB; the rest of the \
         memory reserved for KV Cache is 4.76GiB.\n{FULL_CARD}"
    );
    assert!(!report(&log).contains("KV cache of 7.36"), "{}", report(&log));
}

#[test]
fn a_name_is_the_one_that_most_often_was_right_where_it_shows_so() {
    let program = |log: &str| incident(log)["framework"].as_str().map(str::to_string);
    let scan = "ann@box:~$ (ulimit -v 3145728; gridscan -r -p 8 rules.idx /evidence)\nTrojan_A /evidence/a91.exe\nerror \
                scanning /evidence/hiberfil.sys: not enough memory\nTrojan_A /evidence/a92.exe\n";
    assert_eq!(program(scan).as_deref(), Some("gridscan"));
}

#[test]
fn a_number_two_of_cuda_is_its_error_for_memory() {
    assert!(fails("RuntimeError: /src/gridlib/indice.cu 125\ncuda execution failed with error 2\n"));
    assert!(fails("mesh.cu:12: CUDA error 2\n"));
    for other in ["make: *** [cuda/all] Error 2\n", "mesh.cu:12: CUDA error 209\n", "CUDA error 2 (unknown symbol)\n"] {
        assert!(!fails(other), "{other}");
    }
}

#[test]
fn an_allocator_that_failed_is_known_by_its_name() {
    assert!(fails("MCU 'board' shutdown: alloc_chunk failed\n"));
    assert!(fails("gridtool: error: dma_alloc_coherent() failed for queue 3\n"));
    assert!(!fails("error: alloc_context_test was not found\n"));
    assert!(fails("=>workspace_init(L:2904) :could not allocate pw->back with size 848\n"));
    assert!(!fails("=>seats_init(L:2904) :could not allocate seats\n"));
}

#[test]
fn stacks_of_data_that_are_set_overflow() {
    assert!(fails("Fatal Error: global stack overflow (size: 32768 Kb, environment variable used: GLOBALSZ)\n"));
    assert!(!fails("warning: possible stack overflow in parser\n"));
}

#[test]
fn states_that_succeed_one_another_are_no_success() {
    let log = "Error: gridtool ran out of memory.  It won't help if some state has an enormous\nnumber of successor \
               states.\nFinished in 04min 02s\n";
    assert!(fails(log));
}

#[test]
fn a_remark_at_the_prompt_and_a_full_disk_are_no_failure() {
    assert!(!fails("$ # colleagues got \"FATAL ERROR: Out of memory\" here, so convert before\n$ convert a b\n"));
    assert!(!fails(
        "java.io.IOException: Unable to allocate 7700000000 more bytes for the queue\n\tat \
         org.x.Queue.ensureDiskAvailable(Queue.java:921)\n"
    ));
}

#[test]
fn a_queue_that_may_not_be_opened_is_not_full() {
    let log = "node:1 [0] include/shm.h:27 NCCL WARN Call to shm_open failed : Permission denied\n\
               node:1 [0] include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-1 (size 4460544)\n";
    assert!(!fails(log));
}

#[test]
fn what_is_gone_without_a_word_may_have_been_killed() {
    for log in [
        "* What went wrong:\nGradle build daemon disappeared unexpectedly (it may have been killed or may have crashed)\n",
        "$ bazel test //...\nServer terminated abruptly (error code: 14, error message: '', log file: '/c/server/jvm.out')\n",
        "level=ERROR source=sched.go:388 msg=\"error loading llama server\" error=\"llama runner process no longer running: -1 \"\n",
    ] {
        assert!(fails(log), "{log}");
        assert!(crate::lines_around::report(log).contains("nothing in the log proves"), "{log}");
    }
}

#[test]
fn a_table_of_addresses_that_go_cannot_set_aside_met_a_limit_on_them() {
    let log = "fatal error: failed to reserve page summary memory\n\nruntime stack:\nruntime.throw(0x55a2c6, 0x25)\n";
    assert_eq!(crate::lines_around::first_cause(log), "framework_limit");
    let windows = "PS C:\\work> python .\\rank.py\nTraceback (most recent call last):\n  File \"C:\\Users\\ana\\Programs\\Python\\\
                   Python36-32\\lib\\site-packages\\pandas\\io\\parsers.py\", line 451, in _read\nMemoryError\n";
    assert_eq!(crate::lines_around::first_cause(windows), "framework_limit");
}

#[test]
fn what_a_tpu_can_reserve_lies_in_one_piece() {
    let log = "Exception in device=TPU:4: RESOURCE_EXHAUSTED: Attempting to reserve 6.61G at the bottom of memory. That was \
               not possible. There are 6.92G free, 0B reserved, and 3.40G reservable.\n  File \
               \"/usr/lib/python3.8/site-packages/torch_xla/distributed/xla_multiprocessing.py\", line 329, in \
               _mp_start_fn\n";
    assert_eq!(facts(log)["largest_free_chunk_bytes"], 3_650_722_202_u64, "{}", facts(log));
    assert_eq!(first_cause(log), "fragmentation", "{}", report(log));
    assert!(!report(log).contains("tf.") && !report(log).contains("nvidia-smi"), "{}", report(log));
}

#[test]
fn a_command_behind_windows_prompt_is_another_programs_matter() {
    let log = "C:\\wav>flac --keep-foreign-metadata s.wav\ns.wav: ERROR reading foreign metadata: out of memory\nC:\\wav>flac \
               s.wav\ns.wav: wrote 2504110201 bytes, ratio=0.595\n";
    assert!(
        !crate::lines_around::report(log).contains("No out-of-memory failure"),
        "{}",
        crate::lines_around::report(log)
    );
}

#[test]
fn the_column_behind_a_figure_is_no_word_for_it() {
    let log = "$ ./duk-low sensors.js\nError: alloc failed\n   0:   10    80B | free    0     0B | used   10    80B | waste     \
               4B\n";
    assert_eq!(crate::lines_around::incident(log)["facts"]["used_bytes"], serde_json::Value::Null);
}

#[test]
fn numbers_in_names_and_in_parts_of_a_pair_are_no_sizes() {
    let of = |log: &str, fact: &str| crate::lines_around::incident(log)["facts"][fact].clone();
    let queue =
        "error [QB] qb_rb_open:cmap-request-2210-2244-22: shm connection FAILED: No space left on device (28)\n";
    assert_eq!(of(queue, "requested_bytes"), serde_json::Value::Null);
    let passed = "$ cmalign -g a.cm b.fa\nError: alignment matrices need 59500.00 Mb > 1024.00 Mb limit.\n";
    assert_eq!(of(passed, "limit_bytes"), 1024u64 << 20);
    assert_eq!(of(passed, "requested_bytes"), 59500u64 << 20);
}

#[test]
fn paddles_message_below_two_headings_belongs_to_the_traceback() {
    let log = "2021-11-30 [INFO] [EVAL] #Images: 62 mIoU: 0.7388\nTraceback (most recent call last):\n  File \
               \"/w/core/train.py\", line 203, in train\n    loss.backward()\nSystemError: (Fatal) Operator conv2d_grad raises \
               an paddle::memory::allocation::BadAlloc exception.\nThe exception content is\n:ResourceExhaustedError:\n\nOut \
               of memory error on GPU 0. Cannot allocate 997.312740MB memory on GPU 0, 10.128234GB memory has been allocated \
               and available memory is only 479.750000MB.\n";
    assert_eq!(crate::lines_around::incident(log)["context"]["phase"]["value"], "backward");
}

#[test]
fn the_month_of_may_supposes_nothing() {
    for log in [
        "Fri May  3 21:02:11 2024 grid: Out of memory!\n",
        "[Worker #8 May 3 21:02] Error allocating memory for FFT data.\n",
        "grid 3 May 21:02: out of memory\n",
    ] {
        assert!(fails(log), "{log}");
    }
    assert!(!fails("grid: this may lead to out of memory\n"));
    assert!(!fails("worker 3 may run out of memory\n"), "a number before it is no day");
}

#[test]
fn who_searches_a_log_for_words_has_not_said_them() {
    for typed in [
        "ann@box:~$ dmesg -T | grep -i -E 'oom|out of memory'",
        "$ grep -ri 'out of memory' /var/log/syslog",
        "# journalctl -k | egrep 'Out of memory'",
        "PS C:\\work> Select-String 'out of memory' run.log",
    ] {
        assert!(!fails(&format!("starting\n{typed}\n$ true\n")), "{typed}");
        let found = "grid: out of memory allocating 4096 bytes";
        assert!(fails(&format!("starting\n{typed}\n{found}\n")), "what it found counts: {typed}");
    }
}

#[test]
fn a_line_that_begins_with_a_hyphen_and_a_time_is_no_item_of_a_list() {
    assert!(fails("- 15:04:10.226 ERROR: \tCould not allocate memory for 'array for input sequences'.\n"));
    assert!(!fails("- Out of memory errors are now reported with the file's name\n"));
}

#[test]
fn an_exit_code_in_hexadecimal_is_none_of_success() {
    let log = "      1 [main] make 20112 C:\\cygwin64\\bin\\make.exe: *** fatal error in forked process - couldn't allocate heap, \
               Win32 error 1455, base 0xA00000000\n    801 [main] make 1411 dofork: child -1 - forked process 20112 died \
               unexpectedly, retry 0, exit code 0x100, errno 11\nmake: fork: Resource temporarily unavailable\n";
    assert!(fails(log));
}

#[test]
fn too_many_allocations_are_no_lack_of_memory() {
    let of = |code: i32| incident(&format!("[0 GTX 1650]  queueC=2[8]\nvkAllocateMemory failed {code}\n"));
    assert_eq!(of(-10)["causes"][0]["id"], "framework_limit");
    assert_eq!(of(-10)["resource"], "gpu");
    assert!(report("vkAllocateMemory failed -10\n").starts_with("The GPU was asked for more allocations"));
    assert_eq!(of(-1)["resource"], "host");
}

#[test]
fn refusals_of_calls_by_their_names_are_heard() {
    for (log, resource) in [
        ("ERROR: VirtualAlloc commit failed.\n", "host"),
        ("failed to calloc 1449551462 bytes\n", "host"),
        ("RuntimeError: Cuda error: 2[cudaMalloc(&m_gpuPtr, bytes);]\n", "gpu"),
        (
            "Error using parallel.gpu.CUDAKernel/feval\nMaximum variable size allowed on the device is exceeded.\n",
            "gpu",
        ),
        ("Syntax Error (411): Illegal character\nBogus memory allocation size\n", "host"),
        ("ERROR [step bwa] Cannot make job: Requested at least 32000 ram but only 15000 available\n", "host"),
        ("1050981.0 nadia 11/7 22:48 Job put on hold by SYSTEM_PERIODIC_HOLD due to memory usage 3060000.\n", "cgroup"),
    ] {
        assert!(fails(log), "{log}");
        assert_eq!(incident(log)["resource"], resource, "{log}");
    }
}

#[test]
fn a_warning_is_a_failure_where_what_follows_fails() {
    let log = |then: &str| {
        format!(
            "nodes 84021 elements 78400\nWARNING LinSOE : ran out of memory for A (size,super,sub) (252063, 240119, 240119)\n\
             {then}OpenSees > \n> \n> \n"
        )
    };
    assert!(fails(&log("WARNING setLinks: setSize() failed\nanalyze() - domainChanged failed at step 0 of 10\n")));
    assert!(!fails(&log("record 1/22 scale 1.0\nrecord 2/22 scale 1.0\nrecord 22/22 scale 1.0\n")));
}

#[test]
fn what_ran_out_in_the_past_is_told_and_what_runs_out_is_supposed() {
    assert!(fails("solver crashed when it ran out of memory\n"));
    assert!(fails("Job 12 was terminated when it exceeded the memory limit\n"));
    assert!(!fails("  -t tile-size   lower it when the GPU runs out of memory\n"));
}

#[test]
fn a_service_that_fails_at_something_else_goes_on_behind_its_warning() {
    let log = |stamp: &str| {
        format!(
            "{stamp}WARNING cache: out of memory, entry dropped\n{stamp}ERROR http: request failed: 404\n\
             {stamp}listening\n{stamp}listening\n{stamp}listening\n"
        )
    };
    assert!(!fails(&log("2024-05-03 21:02:11 ")));
}

#[test]
fn a_test_that_swallows_the_words_is_no_failure() {
    assert!(!fails("PASS  src/limit.test.ts\n    ✓ swallows \"grid: out of memory\" (11 ms)\n"));
}

#[test]
fn frames_of_a_video_that_is_predicted_train_nothing() {
    let log = format!(
        "from ultralytics.models.sam import SAM2VideoPredictor\nvideo 1/1 (frame 256/43574) /home/r/a.mp4: 1024x1024 1 0, \
         680.5ms\nvideo 1/1 (frame 257/43574) /home/r/a.mp4: 1024x1024 1 0, 679.0ms\n{FULL_CARD}"
    );
    let told = report(&log);
    assert!(!told.contains("in training") && !told.contains("a training job"), "{told}");
}

#[test]
fn a_command_typed_at_windows_prompt_is_not_broken_between_words() {
    let log = "E:\\shake-v2.8.4>collector.windows  -verbose 0 -conf=E:\\shake-v2.8.4\\collector.conf\nruntime: VirtualAlloc of \
               17113088 bytes failed with errno=1455\nfatal error: out of memory\n";
    assert_eq!(incident(log)["line"], 2);
}

#[test]
fn what_the_twenty_third_set_prints_is_heard() {
    for log in [
        "400 Resources exceeded during query execution: The query could not be executed in the allotted memory. Peak \
         usage: 131% of limit.\n",
        "Protein Database error: Cannot memory map /Volumes/data/nr.79.phr. Number of files opened: 251\n",
        "[error] Process: <0.1.0> on node 'a@b', Context: maximum heap size reached, Max Heap Size: 8388607, Kill: true\n",
        " *** Error 70021 (OTH+21) (processor #     0)\n     Memory is set 12000000 words short\n",
    ] {
        assert!(fails(log), "{log}");
    }
}

#[test]
fn what_is_done_without_or_once_more_with_less_is_no_failure() {
    for log in [
        "gyp ERR! stack Error: spawn ENOMEM\ngyp ERR! not ok\nnpm WARN optional SKIPPING OPTIONAL DEPENDENCY: \
         bufferutil@1.2.1 install: Exit status 1\n\nadded 811 packages in 102.4s\n",
        "ERROR rcmgr limits were exceeded 412 times with error \"system: cannot reserve memory: limit exceeded\".\nERROR \
         rcmgr Limits are no longer being exceeded.\n",
        "WARN MemoryStore: Not enough space to cache rdd_26_118 in memory! (computed 9.5 MB so far)\nWARN BlockManager: \
         Persisting block to disk instead.\nINFO Shutting down engine\nMark done. Elapsed time: 39.90 minutes.\n",
        "COQC a.v\nWarning: Native compiler failed with error: Cannot allocate memory\n[native-compiler-failed]\nCOQC b.v\n\
         COQC c.v\nCOQC d.v\nCOQC e.v\n",
        "INFO report begun\nWARN station 288: attempt 1 of 3 failed, again in 5000 ms\n\njava.sql.SQLException: Query memory \
         exhausted\n\tat com.acme.Report.load(Report.java:91)\n\nINFO station 288: 3600 rows\nINFO all written\n",
        "WARNING - encode: CUDA out of memory. Tried to allocate 2.00 GiB.\nWARNING - batch 512 -> 256, starting this shard \
         again\nBatches: 100%|##########| 779/779 [25:11<00:00,  1.94s/it]\n199424 embeddings written to corpus.npy\n",
    ] {
        assert!(!fails(log), "{log}");
    }
}

#[test]
fn what_is_typed_in_python_or_found_in_sources_is_no_message() {
    assert!(!fails(
        ">>> q = m.encode([\"CUDA out of memory when encoding\", \"how to bake bread\"])\ntensor([[0.6121]])\n"
    ));
    let search = "$ rg -n -i 'out of memory|bad_alloc' src docs | head\nsrc/pool.cc:88:    throw std::bad_alloc();\n\
                  src/pool.cc:140:  LOG(ERROR) << \"out of memory: cannot grow pool to \" << want;\n";
    assert!(!fails(search));
    assert!(fails(
        "$ grep -n 'out of memory' run/train.log\nrun/train.log:140:ERROR: out of memory: cannot grow pool\n"
    ));
}

#[test]
fn prose_with_the_twenty_third_sets_words_is_no_failure_and_a_banner_is_one() {
    for log in ["Your abstract is 20 words short of the limit\n", "The whole table fits in the allotted memory.\n"] {
        assert!(!fails(log), "{log}");
    }
    assert!(fails(">>> Out of memory: cannot allocate 3221225472 bytes\n"));
}

/// That it ended is told, and only why is guessed.
#[test]
fn a_guessed_reason_of_an_end_is_a_report() {
    assert!(fails(
        "RuntimeError: grid-server was stopped by the operating system (signal 9), most likely out of memory. Try less.\n"
    ));
    assert!(!fails("With 4 GiB it is likely out of memory soon.\n"));
}

/// Compose's own stop was taken for a kill by the kernel.
#[test]
fn who_stops_a_service_is_known() {
    assert!(!fails("$ sudo docker-compose -f a.yml stop web\nStopping web ... done\n        \"ExitCode\": 137,\n"));
    assert!(fails("$ sudo docker-compose -f a.yml logs web\nweb exited with code 137\n"));
}

/// The twenty-ninth set's own words for it, and a report's fields in bold, which were taken for headings.
#[test]
fn what_the_twenty_ninth_set_prints_is_heard() {
    for log in [
        "ERROR - Cannot request memory (Xms 4096 kb, Xmx 8192 kb) from system for job orders\nERROR - Job run failed!\n",
        "$ gridvm -m 16G vm0\nUnable to setup memory (12)\n",
        "gridtables: Memory allocation problem.\n",
        "Loading database information...Failed attempt to allocate 97582101764bytes;\n",
        "- **Exception Message:** Could not allocate tensor with 2073600000 bytes. There is not enough GPU video memory \
         available!\n## Stack Trace\n",
    ] {
        assert!(fails(log), "{log}");
    }
    assert!(!fails("- **Not enough memory**: close other windows first.\n"), "a heading");
}

/// A warning above was joined with the alert below it, and the whole taken for a warning.
#[test]
fn a_level_behind_a_servers_name_begins_a_message() {
    let log = "[WARN] ulimit is currently set to \"1024\". For better performance set it to at least \"4096\" using it\n\
               nginx: [alert] mmap(MAP_ANON|MAP_SHARED, 134217728) failed (12: Cannot allocate memory)\n\
               [ERR] Could not start Grid\n";
    assert!(fails(log));
}

#[test]
fn what_a_program_has_killed_itself_is_no_shells_word() {
    assert!(!fails(
        "[error] <0.122.0>@grid_monitor:do_kill/2:295 Killed 1 process(es) consuming more than 48112 message(s)\n"
    ));
    assert!(fails("./run.sh: line 295: 4711 Killed                  grid --all\n"));
}

/// The collector tries smaller and smaller growth: the last is what it could not do without.
#[test]
fn of_a_collectors_tries_the_last_is_the_request() {
    let log = "$ gridlang build\nGC Warning: Failed to expand heap by 16777216 bytes\n\
               GC Warning: Failed to expand heap by 8388608 bytes\nGC Warning: Failed to expand heap by 81920 bytes\n\
               GC Warning: Out of Memory! Heap size: 2043 MiB. Returning NULL!\nInvalid memory access (signal 11)\n";
    assert_eq!(facts(log)["requested_bytes"], 81_920);
}

#[test]
fn the_only_size_of_a_refusal_is_what_it_asked_for() {
    let of = |log: &str| facts(log)["requested_bytes"].clone();
    assert_eq!(
        of("[error] Failed to allocate aligned buffer of dimensions 40000 x 20000 (3200000000 bytes)\n"),
        3_200_000_000u64
    );
    assert_eq!(of("Mar  3 04:19:40 gw gridd[811]: fatal out of memory (1048576 bytes)\n"), 1 << 20);
}

/// Metal's own code was taken for that of a device of NVIDIA's, whose tools no Mac has.
#[test]
fn metals_code_below_llama_cpps_start_is_its_own() {
    let log = "llama_new_context_with_model: n_ctx      = 131072\nllama_new_context_with_model: n_batch    = 2048\n\
               llama_new_context_with_model: flash_attn = 0\nllama_new_context_with_model: freq_scale = 1\n[...]\n\n\n\n\
               error: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)\n";
    let told = run(&["explain"], log);
    assert!(told.contains("-c ") && !told.contains("nvidia-smi") && !told.contains("CUDA_VISIBLE"), "{told}");
}

/// ggml's first back end for Metal, in one buffer.
#[test]
fn a_buffer_above_metals_largest_is_a_failure() {
    let log = "$ ./main -m 33B.bin -ngl 1\nggml_metal_add_buffer: buffer 'data' size 18666799104 is larger than buffer maximum \
               of 17179869184\n";
    let facts = facts(log);
    assert_eq!(
        (&facts["requested_bytes"], &facts["limit_bytes"]),
        (&18_666_799_104u64.into(), &17_179_869_184u64.into())
    );
}

/// An option on the command line reaches nothing that a web server runs.
#[test]
fn phps_limit_is_raised_where_it_is_read() {
    let failed = "PHP Fatal error:  Allowed memory size of 268435456 bytes exhausted (tried to allocate 95558171 bytes) in a.php on \
                  line 3\n";
    let line = |log: &str| run(&["explain"], log).contains("php -d memory_limit");
    assert!(line(failed) && line(&format!("$ php artisan import\n{failed}")));
    assert!(!line(&format!("[19-Oct-2023 08:40:41 UTC] {failed}")));
    assert!(!line(&format!("FastCGI sent in stderr: \"{}\"\n", failed.trim())));
}

/// A setting that came later than the runtime which the log shows.
#[test]
fn an_old_go_has_no_soft_limit() {
    let failed = |go: &str| {
        format!(
            "runtime: out of memory: cannot allocate 1073741824-byte block (8589934592 in use)\nfatal error: out of memory\n\n\
             goroutine 1 [running]:\nruntime.throw({{0x1?, 0x2?}})\n\t/usr/local/{go}/src/runtime/panic.go:774 +0x72\n"
        )
    };
    assert!(run(&["explain"], &failed("go")).contains("GOMEMLIMIT"));
    assert!(!run(&["explain"], &failed("go-1.13")).contains("GOMEMLIMIT"));
}

/// The code by which Windows has nothing left to commit.
#[test]
fn gos_runtime_names_windows() {
    let log = "runtime: VirtualAlloc of 1048576 bytes failed with errno=1455\nfatal error: out of memory\n\nruntime stack:\n\
               runtime.sysUsed(0xc0, 0x1)\n\t/go/src/runtime/mem_windows.go:83 +0x1ab\n";
    let told = run(&["explain"], log);
    assert!(!told.contains("fallocate") && !told.contains("free -h"), "{told}");
}

/// ComfyUI falls back to tiles by itself: the node with that name does no more.
#[test]
fn who_decodes_in_tiles_is_not_told_to() {
    let log = |function: &str| {
        format!(
            "Error occurred when executing VAEDecode:\n\nAllocation on device 0 would exceed allowed memory. (out of memory)\n\
             Currently allocated : 1.23 GiB\nRequested : 256.00 MiB\nDevice limit : 2.00 GiB\nFree (according to CUDA): 0 bytes\n\n\
             File \"C:\\ComfyUI\\execution.py\", line 154, in recursive_execute\noutput_data = get_output_data(obj)\n\
             File \"C:\\ComfyUI\\comfy\\sd.py\", line 207, in {function}\npixel_samples = self.first_stage_model.decode(x)\n"
        )
    };
    assert!(run(&["explain"], &log("decode")).contains("VAE Decode (Tiled)"));
    assert!(!run(&["explain"], &log("decode_tiled_")).contains("use the node VAE Decode (Tiled)"));
}

/// A process's own limit on a phone is no lack of the machine's memory.
#[test]
fn a_limit_of_the_system_on_a_process_is_met_by_no_larger_machine() {
    let log = "15:40:32.226  kernel: memorystatus: exceeded mem limit: ActiveHard 50 MB (fatal)\n\
               15:40:32.229  kernel: killing_specific_process pid 2204 [Tunnel] ... 51200KB\n";
    let told = run(&["explain"], log);
    assert!(told.starts_with("The system's limit on a process was reached"), "{told}");
    assert!(!told.contains("PhysMem # then") && !told.contains("PhysMem   # then"), "{told}");
}

/// One slot is set already.
#[test]
fn a_setting_of_the_command_is_not_told_again() {
    let log = |slots: &str| {
        format!(
            "$ ./llama-server -m a.gguf -ngl 99 {slots}\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 8515.00 MiB on device 0: \
             cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 8928591040\n\
             graph_reserve: failed to allocate compute buffers\n"
        )
    };
    assert!(run(&["explain"], &log("")).contains("-np 1"));
    assert!(!run(&["explain"], &log("--parallel 1")).contains("-np 1"));
}

/// What a listing holds is left alone where the words alone tell it: a framework's own message stands below any command,
/// as where somebody shows which commit ran.
#[test]
fn a_frameworks_message_below_a_listing_is_read() {
    let log = format!("$ git log -1 --oneline\nabc1234 fix the loader\n\n{FULL_CARD}");
    assert!(fails(&log));
    assert!(!fails("$ git log -3 --oneline\nabc1234 grid: out of memory in mesh_alloc, free it\n"));
}
