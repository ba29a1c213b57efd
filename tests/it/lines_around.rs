//! What the lines around a message show, so that no output may contradict it: a table of processes, a size that is called
//! too small, a budget of the program's own, a step at which a checkpoint is due.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary::{oomdoc, outcome};
use crate::fixes::{lines_of, offers_for};
use serde_json::Value;

/// What the program prints of a log that is piped to it.
pub fn run(arguments: &[&str], log: &str) -> String {
    outcome(oomdoc().args(arguments).arg("-").write_stdin(log)).1
}

pub fn report(log: &str) -> String {
    run(&["explain", "-v"], log)
}

/// The first incident of the JSON report.
pub fn incident(log: &str) -> Value {
    let told: Value = serde_json::from_str(&run(&["explain", "--format", "json"], log)).unwrap();
    told["incidents"][0].clone()
}

pub fn first_cause(log: &str) -> String {
    incident(log)["causes"][0]["id"].as_str().unwrap_or_default().to_string()
}

const FULL: &str = "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 15.78 GiB total capacity; 14.02 GiB \
                    already allocated; 210.00 MiB free; 14.30 GiB reserved in total by PyTorch)\n";

#[test]
fn a_setting_that_is_called_too_small_is_the_limit() {
    for (line, limit) in [
        ("FATAL: work_mem (4096 kB) too small, need at least 8192 kB", 4096 << 10),
        ("ERROR: memory pool size (64 MB) is too small; 96 MB required", 64 << 20),
        ("error: heap_size 1048576 is not large enough", 1 << 20),
    ] {
        let told = incident(&format!("$ ./gridtool run.in\nreading the mesh\n{line}\n"));
        assert_eq!(told["facts"]["limit_bytes"], limit, "{line}: {told}");
        assert!(told["facts"]["capacity_bytes"].is_null(), "a pool is no machine: {told}");
    }
    for harmless in [
        "INFO cache of 12 MB is too small for best performance, 64 MB recommended",
        "WARNING: swap is too small",
        "error: inflate buffer of 65536 bytes is too small, need 131072",
        "minimum 2 GB of RAM required (3.8 GB found)",
        "Required memory: 12.5 GB, available memory: 31.2 GB",
    ] {
        assert!(incident(&format!("$ ./gridtool run.in\n{harmless}\n")).is_null(), "{harmless}");
    }
}

#[test]
fn the_need_of_a_whole_job_is_no_single_request() {
    let log = "$ ./gridtool run.in\nJob needs 128 GB of RAM, node has 64 GB. Exiting.\n";
    assert_eq!(first_cause(log), "host_memory");
    assert!(!offers_for(log).contains(&"fix-the-shape"));
}

#[test]
fn what_a_heap_or_a_container_has_is_no_machines_size() {
    for line in [
        "ERROR: insufficient memory: 4 GB needed, total heap 2 GB",
        "ERROR: this step requires 16 GB of memory, the container has 8 GB",
        "Error: model requires 24 GB of GPU memory, GPU has 16 GB",
    ] {
        let log = format!("$ ./gridtool run.in\n{line}\n");
        let told = incident(&log);
        assert!(told["causes"][0]["confidence"].as_f64().unwrap() < 0.9, "nothing is proved: {told}");
        assert!(!report(&log).contains("by its own account; the machine has"), "{}", report(&log));
    }
}

#[test]
fn top_tells_its_figures_in_the_unit_that_begins_the_row() {
    let log = "[Parallel(n_jobs=12)]: Done 67362 tasks      | elapsed: 41.6min\njoblib.externals.loky.process_executor.\
               BrokenProcessPool: A process in the executor was terminated abruptly, the pool is not usable anymore.\n$ top\n\
               KiB Mem : 33554432 total,    65536 free, 33488896 used,     3396 buff/cache\n";
    let told = incident(log);
    assert_eq!(told["facts"]["capacity_bytes"], 32u64 << 30, "{told}");
}

#[test]
fn processes_that_a_list_shows_on_two_devices_are_ranks_that_crowd_the_first() {
    let rows = [(0, 500, 9000), (0, 501, 700), (0, 502, 700), (1, 501, 9000), (2, 502, 9000)];
    let rows: String =
        rows.map(|(gpu, pid, mib)| format!("|    {gpu}   {pid}      C   python   {mib}MiB |\n")).concat();
    let log = format!(
        "=> loaded checkpoint 'a.pth' (epoch 3)\n| Processes:              GPU Memory |\n{rows}RuntimeError: CUDA out of memory.\n"
    );
    assert_eq!(first_cause(&log), "wrong_device");
}

#[test]
fn a_checkpoint_that_is_due_is_told_and_not_growth() {
    let log = "$ accelerate launch train.py --save_steps 200 --per_device_train_batch_size 2\n  5%|▍         | 200/4443 \
               [11:03:52<252:38:40, 214.35s/it]\nE0614 03:21:09.771000 96240 \
               torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 3 (pid: 96420) of \
               binary: /opt/venv/bin/python3.11\n";
    assert!(report(log).contains("a checkpoint is due every 200 steps"), "{}", report(log));
    assert_ne!(first_cause(log), "leak_growth");
    assert!(!report(&log.replace(" 200/4443", " 217/4443")).contains("is due"));
}

#[test]
fn a_step_after_layers_were_unfrozen_is_other_work_than_the_steps_before() {
    let log = format!(
        "Epoch 50/50\n46/46 [====] - 58s 1s/step - loss: 17.2\nUnfreeze all of the layers.\nEpoch 51/100\n{FULL}"
    );
    assert!(!report(&log).contains("the same work fitted before"), "{}", report(&log));
    let frozen = log.replace("Unfreeze all of the layers.\n", "");
    assert!(report(&frozen).contains("the same work fitted before"));
}

#[test]
fn an_input_that_is_marked_volatile_keeps_its_graph() {
    let log = format!(
        "test.py:87: UserWarning: volatile was removed and now has no effect. Use `with torch.no_grad():` instead.\n  x = \
         Variable(data, volatile=True)\nTraceback (most recent call last):\n  File \"test.py\", line 88, in main\n    scores \
         = net(x)\n{FULL}"
    );
    assert!(report(&log).contains("marks its inputs volatile"), "{}", report(&log));
    let offers = offers_for(&log);
    assert!(offers.iter().take(2).any(|id| *id == "no-grad-in-eval"), "{offers:?}");
}

#[test]
fn a_batch_norm_is_no_convolution() {
    let log = format!(
        "Traceback (most recent call last):\n  File \"/opt/venv/lib/python3.8/site-packages/torch/nn/functional.py\", line \
         2056, in batch_norm\n    training, momentum, eps, torch.backends.cudnn.enabled\n{FULL}"
    );
    assert!(!report(&log).contains("convolution"), "{}", report(&log));
}

#[test]
fn a_traceback_below_its_message_is_its_own() {
    let log = format!(
        "{FULL}Traceback (most recent call last):\n  File \"src/train.py\", line 14, in <module>\n    main()\n  File \
         \"src/train.py\", line 5, in main\n    trainer = PairwiseTrainer(model, data)\n"
    );
    assert!(report(&log).contains("while loading the model"), "{}", report(&log));
    assert!(!offers_for(&log).contains(&"smaller-batch"), "there is no batch yet");
    // One that ends in an exception of its own belongs to that.
    let other = format!("{log}ValueError: no such column\n");
    assert!(!report(&other).contains("while loading the model"));
}

#[test]
fn a_group_at_its_limit_has_no_killed_process_that_nobody_names() {
    let log = "Killed\n$ dmesg | tail\n[44131.902118] memory: usage 131072kB, limit 131072kB, failcnt 15220\n[44131.902120] \
               Memory cgroup stats for /kubepods/pod7c1f:\n[44131.902131] anon 107401216\n[44131.902131] file 3985408\n";
    let told = report(log);
    assert!(!told.contains("nothing in the log proves"), "{told}");
    assert!(!told.contains("the killed process"), "{told}");
}

#[test]
fn the_budget_of_a_worker_is_not_the_machines_memory() {
    let log = "distributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:38915 (pid=271) exceeded 95% memory budget. \
               Restarting...\ndistributed.nanny - WARNING - Restarting worker\n";
    let told = report(log);
    assert!(told.starts_with("The limit of one worker was reached"), "{told}");
    assert!(!told.contains("ulimit -v"), "{told}");
}

#[test]
fn a_refused_thread_is_looked_for_among_the_limits_of_threads() {
    let log = "terminate called after throwing an instance of 'std::system_error'\nfatal: pthread_create failed: cannot \
               allocate memory for a new thread\n";
    let told = report(log);
    assert!(told.contains("pids.max"), "{told}");
    assert_eq!(first_cause(log), "framework_limit");
}

#[test]
fn nobody_is_told_to_kill_a_process_that_may_be_his_own() {
    let log = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.06 GiB \
               of which 19.97 MiB is free. Including non-PyTorch memory, this process has 1.77 GiB memory in use. Process 5403 \
               has 21.26 GiB memory in use. Of the allocated memory 1.31 GiB is allocated by PyTorch, and 92.70 MiB is \
               reserved by PyTorch but unallocated.\n";
    let line = lines_of(log, "free-the-device").join("\n");
    assert!(line.contains("if it is no part of this job: kill 5403"), "{line}");
}

#[test]
fn what_pads_a_buffer_is_told_with_how_to_lay_it_out() {
    let log = "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 42.90G of \
               16.00G hbm. Exceeded hbm capacity by 26.90G.\n\nTotal hbm usage >= 42.90G:\n    reserved        528.00M\n    \
               program          42.38G\n    arguments       unknown size\n\n  Largest program allocations in hbm:\n\n  1. \
               Size: 32.00G\n     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}\n     Unpadded size: 1.00G\n     Extra memory due \
               to padding: 31.00G (32.0x expansion)\n";
    let line = lines_of(log, "fix-the-shape").join("\n");
    assert!(line.contains("padded to 32 times its data"), "{line}");
}

#[test]
fn more_ram_is_not_offered_for_a_request_beyond_all_machines() {
    let log = "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 930. GiB for an array with shape (16252928, 1, 3, \
               128, 40) and data type float32\n";
    let offers = offers_for(log);
    assert!(!offers.iter().any(|id| ["raise-host-limit", "swap"].contains(id)), "{offers:?}");
}

#[test]
fn a_mapping_of_one_page_was_refused_for_their_number() {
    let log = "RuntimeError: unable to mmap 4096 bytes from file </torch_362411_2871093355_63350>: Cannot allocate memory (12)\n";
    assert_eq!(first_cause(log), "framework_limit");
    assert!(lines_of(log, "raise-ulimit").join("\n").contains("vm.max_map_count"));
    assert!(!report(log).contains("ulimit -v"), "{}", report(log));
    let whole = log.replace("4096", "4096000000");
    assert!(!report(&whole).contains("max_map_count"));
}

#[test]
fn a_pool_of_descriptors_is_no_memory_of_the_card() {
    let log =
        "RSX: Vulkan API call failed with unrecoverable error: Out of pool memory (VK_ERROR_OUT_OF_POOL_MEMORY_KHR)\n";
    assert!(report(log).contains("no memory ran out"), "{}", report(log));
}

#[test]
fn a_vocabulary_that_is_read_for_both_sides_is_no_second_model() {
    let line = "[2020-05-05 17:12:50] [data] Loading vocabulary from JSON/Yaml file ./models/a/vocab.yml\n";
    assert!(!report(&format!("{line}{line}{FULL}")).contains("same load twice"));
}

#[test]
fn less_than_nothing_is_asked_for_by_mistake() {
    let log = "LAMMPS (18 Jun 2019)\nERROR on proc 1: Failed to allocate -159139584 bytes for array _ncachex \
               (src/memory.cpp:64)\n";
    assert!(["driver_or_unrelated", "single_huge_allocation"].contains(&first_cause(log).as_str()), "{}", report(log));
}

#[test]
fn a_worker_of_nnunet_that_is_gone_is_a_failure() {
    let log = "RuntimeError: Some background worker is 6 feet under. Yuck. \nOK jokes aside.\n";
    assert_eq!(first_cause(log), "host_workers");
    assert!(report(log).contains("nothing in the log proves"), "{}", report(log));
}

#[test]
fn a_second_engine_in_one_process_is_a_second_copy() {
    let engine =
        "INFO 11-23 09:40:12 llm_engine.py:72] Initializing an LLM engine with config: model='org/net-1b', dtype=f16\n";
    let log = |between: &str| {
        format!(
            "{engine}INFO 11-23 09:40:21 llm_engine.py:207] # GPU blocks: 5570, # CPU blocks: 1365\n{between}{engine}\
             Traceback (most recent call last):\n  File \"/v/site-packages/vllm/worker/worker.py\", line 70, in \
             init_model\n    self.model = get_model(self.model_config)\n{FULL}"
        )
    };
    assert_eq!(first_cause(&log("")), "duplicate_model", "{}", report(&log("")));
    // Another run has a process of its own, and so has a server that was started again.
    assert_ne!(first_cause(&log("$ python serve.py\n")), "duplicate_model");
    let again = "INFO:     Shutting down\nINFO:     Finished server process [1]\n";
    assert_ne!(first_cause(&log(again)), "duplicate_model", "{}", report(&log(again)));
}
