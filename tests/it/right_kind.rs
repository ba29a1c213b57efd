//! Changes and commands of the right kind: of the system, launcher, vendor and program that the log shows. One test for
//! each thing that was told to the wrong ones.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{FULL_CARD, lines_of, offers_for};
use crate::lines_around::{first_cause, incident, report};

#[test]
fn a_mac_is_told_no_command_of_linux() {
    let log = |prompt: &str| format!("{prompt} ~/kaggle $ ./solve train.conf\nzsh: killed     ./solve train.conf\n");
    let mac = report(&log("ann@mbp"));
    assert!(mac.contains("memorystatus") && mac.contains("PhysMem"), "{mac}");
    for tool in ["dmesg", "free -h", "/proc/", "fallocate"] {
        assert!(!mac.contains(tool), "{tool}: {mac}");
    }
    let other = report(&log("ann@box"));
    assert!(other.contains("dmesg") && other.contains("free -h"), "{other}");
    // A method for single cells is no system.
    assert!(report(&log("macosko@box")).contains("dmesg"));
}

#[test]
fn windows_is_told_no_command_of_linux_to_refute_by() {
    let log = "PS C:\\work> python C:\\work\\train.py\nMemoryError: Unable to allocate 7.45 GiB for an array with shape \
               (1000, 1000, 1000) and data type float64\n";
    let told = report(log);
    assert!(!told.contains("dmesg") && !told.contains("free -h") && !told.contains("ps -eo"), "{told}");
}

#[test]
fn a_service_of_compose_is_set_in_its_file() {
    let failed = "ERROR:  could not resize shared memory segment \"/PostgreSQL.1172048813\" to 3252224 bytes: No space \
                  left on device\n";
    let composed = lines_of(&format!("database_1  | starting\ndatabase_1  | {failed}"), "shm-size").join(" ");
    assert!(composed.contains("shm_size:") && !composed.contains("docker run"), "{composed}");
    let alone = lines_of(&format!("$ docker run postgres:11\n{failed}"), "shm-size").join(" ");
    assert!(alone.contains("docker run --shm-size"), "{alone}");
    // Rows of a table have bars behind their first column as well.
    let table = format!("$ docker run trainer\n0 | model | Linear | 4\nconv_1 | norm | 2\nconv_2 | norm | 2\n{failed}");
    assert!(!lines_of(&table, "shm-size").join(" ").contains("shm_size:"));
}

#[test]
fn both_options_of_a_command_are_written_as_it_writes_options() {
    let log = |command: &str| {
        format!(
            "$ python train.py {command}\nNamespace(batch_size=8, gradient_accumulation=1, lr=0.00015)\n\
             Traceback (most recent call last):\n  File \"train.py\", line 174, in main\n    \
             loss = model(batch, labels=batch).loss\n{FULL_CARD}"
        )
    };
    let lines = lines_of(&log("--batch_size 8"), "smaller-batch").join(" ");
    assert!(lines.contains("--batch_size 4 --gradient_accumulation 2"), "{lines}");
    let hyphens = lines_of(&log("--batch-size 8"), "smaller-batch").join(" ");
    assert!(hyphens.contains("--batch-size 4 --gradient-accumulation 2"), "{hyphens}");
}

#[test]
fn a_script_of_flax_has_no_option_to_accumulate() {
    let log = "$ python run_clm_flax.py --per_device_train_batch_size 256 --block_size 512\n\
               Traceback (most recent call last):\n  File \"run_clm_flax.py\", line 782, in main\n    \
               state, train_metric = p_train_step(state, batch)\n\
               jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used \
               18.45G of 15.94G hbm. Exceeded hbm capacity by 2.51G\n";
    let lines = lines_of(log, "smaller-batch").join(" ");
    assert!(lines.contains("--per_device_train_batch_size 128") && !lines.contains("accumulation"), "{lines}");
}

#[test]
fn reads_of_a_sequencer_are_no_chains() {
    let log = format!(
        "$ bonito basecaller /mnt/fast5/ ./models/q/ > run14.fasta\nTraceback (most recent call last):\n  \
         File \"/opt/env/bin/bonito\", line 10, in <module>\n    sys.exit(main())\n  \
         File \"/opt/env/lib/python3.6/site-packages/bonito/basecaller.py\", line 45, in main\n    \
         posteriors = model(gpu_data).exp().cpu()\n{FULL_CARD}"
    );
    assert!(!report(&log).contains("chain"), "{}", report(&log));
}

#[test]
fn what_is_mined_has_neither_batch_nor_steps() {
    let log = "./ethminer -U -P stratum1+tcp://wallet@pool.example:4444\n i 20:15:02 stratum    New epoch 233\n\
               cu 20:15:03 cuda-0     Set start epoch\n X 20:15:03 cuda-0     Error CUDA mining: CUDA error in func init \
               at line 126 out of memory\n";
    let (told, offers) = (report(log), offers_for(log));
    assert!(!told.contains("epoch 233 had been reached"), "{told}");
    assert!(!offers.contains(&"smaller-batch") && !offers.contains(&"less-at-once"), "{offers:?}");
    // A part of a sample is called so as well.
    let trains = offers_for(&format!("sampling stratum 3 of 8\nEpoch 4/10\n{FULL_CARD}"));
    assert!(trains.contains(&"smaller-batch"), "{trains:?}");
}

#[test]
fn what_cargo_installs_is_installed_anew() {
    let log = |command: &str| {
        format!(
            "$ {command}\n   Compiling clap v2.24.2\nerror: could not compile `clap`.\n$ dmesg | tail -1\n\
             [25103.413290] Out of memory: Killed process 18207 (rustc) total-vm:569112kB, anon-rss:339467kB, file-rss:0kB\n"
        )
    };
    let jobs = |command: &str| lines_of(&log(command), "fewer-at-once").join(" ");
    assert!(jobs("cargo install ripgrep").contains("cargo install --jobs 2"));
    assert!(jobs("cargo build").contains("cargo build --jobs 2"));
}

#[test]
fn a_cluster_that_the_script_makes_has_no_command() {
    let log = |worker: &str| {
        format!(
            "{worker}distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting\n\
             distributed.nanny - WARNING - Restarting worker\nTraceback (most recent call last):\n  \
             File \"/w/run.py\", line 1630, in estimate\n    results = client.gather(futures)\n\
             distributed.scheduler.KilledWorker: ('loop-7be0', <Worker 'tcp://127.0.0.1:40213', name: 3, memory: 0>)\n"
        )
    };
    let limit = |worker: &str| lines_of(&log(worker), "raise-runtime-limit").join(" ");
    assert!(limit("").contains("LocalCluster(memory_limit"), "{}", limit(""));
    assert!(limit("$ dask-worker tcp://127.0.0.1:8786 --memory-limit 4GB\n").contains("dask-worker --memory-limit"));
}

#[test]
fn what_is_asked_of_amds_devices_is_none_of_nvidias_tools() {
    let log =
        "[17:20:07] Auto-detected AMD OpenCL platform 0\n[17:20:40] GPU 3: Failed to allocate ethash DAG buffer.\n";
    assert!(!report(log).contains("nvidia-smi"), "{}", report(log));
}

#[test]
fn lm_studio_has_no_options_of_llama_cpp() {
    let log = "ops@bench:~$ lms log stream --source server | tail -3\n\
               ggml_backend_cuda_buffer_type_alloc_buffer: allocating 871.52 MiB on device 0: cudaMalloc failed: out of \
               memory\nalloc_tensor_range: failed to allocate CUDA0 buffer of size 913854464\n";
    let told = report(log);
    assert!(!told.contains("-ngl") && !told.contains("-sm layer"), "{told}");
}

#[test]
fn what_a_device_holds_when_the_job_has_ended_is_another_s() {
    let log = |used: &str| {
        format!(
            "ann@box:~$ ./solve\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 871.52 MiB on device 0: cudaMalloc \
             failed: out of memory\nann@box:~$ nvidia-smi --query-gpu=index,memory.used,memory.total \
             --format=csv,noheader\n0, {used} MiB, 32607 MiB\n"
        )
    };
    assert_eq!(first_cause(&log("32018")), "other_process");
    assert_ne!(first_cause(&log("18")), "other_process");
    // What somebody watched while it ran is no answer.
    assert_ne!(first_cause(&log("32018").replace("ann@box:~$ nvidia-smi", "watching nvidia-smi")), "other_process");
}

#[test]
fn a_machine_with_one_device_has_no_other_one() {
    let log = |second: &str| {
        format!(
            "index, name, memory.total [MiB], memory.used [MiB]\n0, NVIDIA RTX A2000, 12288 MiB, 11004 MiB\n{second}\
             ggml_backend_cuda_buffer_type_alloc_buffer: allocating 871.52 MiB on device 0: cudaMalloc failed: out of memory\n"
        )
    };
    assert!(!offers_for(&log("")).contains(&"other-device"));
    assert!(offers_for(&log("1, NVIDIA RTX A2000, 12288 MiB, 4 MiB\n")).contains(&"other-device"));
}

#[test]
fn one_large_block_is_no_list_that_grows() {
    let log = |blocks: &[u64]| {
        let told: String =
            blocks.iter().map(|bytes| format!("tcmalloc: large alloc {bytes} bytes == 0x55e3 @ 0x7f3f\n")).collect();
        format!("{told}terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n")
    };
    let grows = |blocks: &[u64]| {
        let found = incident(&log(blocks));
        let read = found["mechanisms"].as_array().unwrap();
        read.iter().any(|one| one["level"] == "growing-blocks")
    };
    assert!(grows(&[1 << 31, 9 << 28 << 1]) && !grows(&[1 << 47]) && !grows(&[1 << 31, 1 << 31]));
}

#[test]
fn data_that_are_loaded_are_no_model() {
    let log = |what: &str| {
        format!(
            "Loading {what} (5210):  71%|#######   | 3694/5210 [26:37<12:02,  2.10it/s]\n./train.sh: line 3: 811 Killed\n"
        )
    };
    assert!(report(&log("data train")).contains("loading data"), "{}", report(&log("data train")));
    assert!(report(&log("checkpoint shards")).contains("loading the model"));
}

#[test]
fn what_is_made_before_the_first_step_is_no_step() {
    let log = "Creating 2048 environments: 100%|##########| 2048/2048 [00:21<00:00, 96.33it/s]\nterminate called after \
               throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n";
    assert!(!report(log).contains("2048 had been reached"), "{}", report(log));
}

#[test]
fn colabs_own_word_for_its_end_counts_before_a_restart() {
    let log = "tcmalloc: large alloc 1056964608 bytes == 0x55e3cc8f2000 @ 0x7f3f1ad541e7\nKernelRestarter: restarting \
               kernel (1/5), keep random ports\nYour session crashed after using all available RAM.\n";
    assert!(!report(log).contains("nothing in the log proves"), "{}", report(log));
}

#[test]
fn an_engine_that_borrows_layers_of_another_has_its_own_options() {
    let log = "$ python -m sglang.launch_server --model-path org/model --context-length 4096\n\
               [gpu=0] Capture cuda graph begin. This can take up to several minutes.\n\
               [gpu=0] Prefill batch. #new-seq: 5, #new-token: 15108, #cached-token: 5\nTraceback (most recent call last):\n  \
               File \"/opt/env/lib/python3.10/site-packages/sglang/srt/managers/tp_worker.py\", line 209, in exposed_step\n    \
               self.forward_step()\n  File \"/opt/env/lib/python3.10/site-packages/vllm/model_executor/layers/linear.py\", \
               line 134, in apply\n    return F.linear(x, layer.weight, bias)\ntorch.cuda.OutOfMemoryError: CUDA out of \
               memory. Tried to allocate 828.00 MiB. GPU \n";
    let told = report(log);
    assert!(told.contains("--mem-fraction-static"), "{told}");
    for other in ["--gpu-memory-utilization", "--max-num-seqs", "--enforce-eager", "warm-up or graph capture"] {
        assert!(!told.contains(other), "{other}: {told}");
    }
}

#[test]
fn a_pool_of_what_was_left_has_no_limit_of_its_own() {
    let log = |free: &str, pool: &str| {
        format!(
            "name: GeForce GTX 1080 major: 6 minor: 1 memoryClockRate(GHz): 1.7335\ntotalMemory: 7.92GiB freeMemory: {free}\n\
             W tensorflow/core/common_runtime/bfc_allocator.cc:275] Allocator (GPU_0_bfc) ran out of memory trying to \
             allocate 9.00MiB.  Current allocation summary follows.\n\
             I tensorflow/core/common_runtime/bfc_allocator.cc:674] Stats: \nLimit:                    {pool}\n\
             InUse:                    57802752\nMaxInUse:                 57802752\n\
             tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor of shape \
             [3,3,512,512] and type float\n"
        )
    };
    assert_eq!(first_cause(&log("152.31MiB", "60227584")), "other_process");
    // Of a device that was empty, a small pool is one that somebody asked for.
    assert_eq!(first_cause(&log("7.80GiB", "60227584")), "framework_limit");
}

#[test]
fn weights_that_come_back_to_the_device_are_no_pass() {
    let log = format!(
        "Traceback (most recent call last):\n  File \"/w/workers/policy.py\", line 205, in load_policy_model_to_gpu\n    \
         buffer.param_data.storage().resize_(buffer.param_data_size)\n{FULL_CARD}"
    );
    let offers = offers_for(&log);
    assert!(!offers.contains(&"gradient-checkpointing") && !offers.contains(&"smaller-batch"), "{offers:?}");
}

#[test]
fn no_actor_of_the_job_is_named_for_ending() {
    let log = |lead: &str| {
        format!(
            "{lead}\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of \
             23.06 GiB of which 19.97 MiB is free. Including non-PyTorch memory, this process has 1.77 GiB memory in use. \
             Process 39820 has 21.26 GiB memory in use. Of the allocated memory 1.31 GiB is allocated by PyTorch, and \
             92.70 MiB is reserved by PyTorch but unallocated.\n"
        )
    };
    let lines = |lead: &str| lines_of(&log(lead), "free-the-device").join(" ");
    assert!(lines("step 1").contains("kill 39820"), "{}", lines("step 1"));
    let of_ray = lines("ray.exceptions.RayTaskError(OutOfMemoryError): ray::Policy.step() (pid=41622)");
    assert!(!of_ray.contains("kill 39820") && of_ray.contains("39820"), "{of_ray}");
}

#[test]
fn what_a_program_would_say_is_no_failure() {
    let log =
        |command: &str| format!("ann@box:~$ {command}\nout of memory\ncannot decode tile, memory error\nann@box:~$ \n");
    let found = |command: &str| !incident(&log(command)).is_null();
    assert!(!found("strings $(which sox) | grep memory") && !found("tool --help | grep memory"));
    assert!(!found("grep -rn memory src/error.c"));
    assert!(found("./tool in.wav"));
    assert!(found("grep memory run.log"));
    assert!(found("./run --help-all > /dev/null") && found("man tool; ./tool in.wav"));
}

#[test]
fn names_say_what_figures_are_and_numbers_of_requests_are_none() {
    let facts = |log: &str| incident(log)["facts"].clone();
    let limited = facts("$ ulimit -v\n4194304\n$ ./solve\nsolve: out of memory\n");
    assert_eq!(limited["limit_bytes"], 4_u64 << 30, "{limited}");
    let table = facts("solve: out of memory\n$ free -m | sed -n 2p\nMem:           15879        2110       13330\n");
    assert_eq!(table["capacity_bytes"], 15_879_u64 << 20, "{table}");
    let peak =
        facts("placed (max_rss 1204.0 MiB, delta_rss +0.0 MiB)\nrouted (max_rss 2408.0 MiB)\nvpr: out of memory\n");
    assert_eq!(peak["peak_bytes"], 2408_u64 << 20, "{peak}");
    // 485 MiB in KiB, or 485 GiB in MiB.
    let open = facts(
        "solve: out of memory\n              total        used        free\nMem:         496582      427246       15137\n",
    );
    assert!(open["capacity_bytes"].is_null(), "{open}");
    let id = facts("ERROR Out of memory: exception processing requestId 71120002\n");
    assert!(id["requested_bytes"].is_null(), "{id}");
    let blocks = facts(
        "pool 0, shared memory, free/total blocks 65571/524288\nfio: out of memory, failed allocating random map\n",
    );
    assert!(blocks["free_bytes"].is_null() && blocks["capacity_bytes"].is_null(), "{blocks}");
}

#[test]
fn free_memory_below_its_floor_is_a_failure_and_so_is_a_need_above_what_there_is() {
    for log in [
        "Total free memory (2.10 GB) is below the threshold (4.00 GB) at Rank 3 !!\nThe program is going to be terminated\n",
        "e cl-0 Epoch 438 requires 4.49 GB memory. Only 3.95 GB available on device.\n",
        "ValueError: The configured object store size (12.04 GB) exceeds /dev/shm size (12.03 GB).\n",
    ] {
        assert!(!incident(log).is_null(), "{log}");
    }
}

#[test]
fn a_need_that_was_met_in_another_way_is_no_failure_and_a_faulty_module_is_none() {
    let met =
        "This model requires 24 GB memory. Only 16 GB available on your GPU, so we offload the rest.\nstep 1\nstep 2\n";
    assert!(incident(met).is_null(), "{}", incident(met));
    let module = "ECC: uncorrectable memory error, memory error count 3\n";
    assert!(incident(module).is_null(), "{}", incident(module));
}

#[test]
fn one_linker_is_no_crowd_of_compilers() {
    let log = |killed: &str| {
        format!("   Compiling ayb v0.1.9\ncollect2: fatal error: {killed} terminated with signal 9 [Killed]\n")
    };
    assert!(!report(&log("ld")).contains("a compiler was killed"), "{}", report(&log("ld")));
    assert!(report("c++: fatal error: Killed signal terminated program cc1plus\n").contains("compiler"));
}

#[test]
fn the_device_s_own_message_counts_before_the_exception_around_it() {
    let log = "Traceback (most recent call last):\n  File \"D:\\w\\bot.py\", line 25, in <module>\n    state = \
               paddle.load(path)\nMemoryError: \n\n----------------------\nError Message Summary:\n----------------------\n\
               ResourceExhaustedError: \n\nOut of memory error on GPU 0. Cannot allocate 50.000000MB memory on GPU 0, \
               11.999512GB memory has been allocated and available memory is only 0.000000B.\n\nPlease check whether there \
               is any other process using GPU 0.\nIf the above ways do not solve the out of memory problem, you can try to \
               use CUDA managed memory.\n";
    let told = report(log);
    assert!(told.starts_with("GPU 0 ran out of memory") && !told.contains("A request for host memory"), "{told}");
}

#[test]
fn what_a_log_is_read_with_is_no_job_that_ended() {
    let log = |viewer: &str| {
        format!(
            "ann@box:~$ {viewer}\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 871.52 MiB on device 0: cudaMalloc \
             failed: out of memory\nann@box:~$ nvidia-smi --query-gpu=index,memory.used,memory.total \
             --format=csv,noheader\n0, 32018 MiB, 32607 MiB\n"
        )
    };
    assert_eq!(first_cause(&log("./solve")), "other_process");
    assert_ne!(first_cause(&log("journalctl -u serve -n 3")), "other_process");
}

#[test]
fn a_small_shared_memory_that_is_empty_may_still_be_too_small() {
    let log = |size: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"/w/run.py\", line 4, in <module>\n    buffer = RawArray('B', n)\n\
             OSError: [Errno 28] No space left on device: '/dev/shm/pym-41-x'\n$ df -h /dev/shm\n\
             Filesystem      Size  Used Avail Use% Mounted on\nshm             {size}     0   {size}   0% /dev/shm\n"
        )
    };
    assert!(offers_for(&log("64M")).contains(&"shm-size"), "{:?}", offers_for(&log("64M")));
}

#[test]
fn a_compiled_program_has_no_line_of_python() {
    let log = "[==========] Running 118 tests from 24 test suites.\n[ RUN      ] OrcWriterTest.Footer\n\
               C++ exception with description \"std::bad_alloc: out_of_memory: RMM failure at:/opt/env/include/rmm/mr/device/\
               pool_memory_resource.hpp:269: Maximum pool size exceeded\" thrown in the test body.\n";
    let told = report(log);
    assert!(!told.contains("rmm.reinitialize") && !told.contains("rmm.mr."), "{told}");
}

#[test]
fn a_pipeline_on_jax_takes_no_argument_of_pytorch() {
    let log = "Traceback (most recent call last):\n  File \"/w/bulk.py\", line 104, in draw\n    images = pipeline(prompt_ids, \
               params, rng, jit=True).images\n  File \"/v/lib/python3.10/site-packages/diffusers/pipelines/stable_diffusion/\
               pipeline_flax_stable_diffusion.py\", line 315, in __call__\n    images = _p_generate(\n\
               jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 9.71G of \
               7.48G hbm. Exceeded hbm capacity by 2.23G\n";
    let told = report(log);
    for line in ["enable_tiling", "torch_dtype", "num_images_per_prompt", ".split("] {
        assert!(!told.contains(line), "{line}: {told}");
    }
}

#[test]
fn variables_are_set_as_the_shell_at_the_prompt_sets_them() {
    let log = |prompt: &str| {
        format!(
            "{prompt} solve.exe\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 871.52 MiB on device 0: cudaMalloc \
             failed: out of memory\nC:\\w\\x\n"
        )
    };
    let lines = |prompt: &str| lines_of(&log(prompt), "other-device").join(" ");
    assert!(lines("PS C:\\w>").contains("$env:CUDA_VISIBLE_DEVICES"), "{}", lines("PS C:\\w>"));
    assert!(lines("C:\\w>").contains("set CUDA_VISIBLE_DEVICES"), "{}", lines("C:\\w>"));
}

#[test]
fn what_was_free_before_a_pool_was_taken_contradicts_no_refusal() {
    let log = "totalMemory: 7.92GiB freeMemory: 6.60GiB\nW tensorflow/core/common_runtime/bfc_allocator.cc:275] Allocator \
               (GPU_0_bfc) ran out of memory trying to allocate 1.10GiB.  Current allocation summary follows.\n";
    let told = report(log);
    assert!(!told.contains("is printed as free although") && !told.contains("were refused although"), "{told}");
}

#[test]
fn a_full_file_is_shared_memory_where_what_follows_names_it_so() {
    let log = |file: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"/v/lib/python3.9/site-packages/pandarallel/core.py\", line 263, in \
             closure\n    pickle.dump(chunk, file_descriptor)\nOSError: [Errno 28] No space left on device\n\n\
             During handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  \
             File \"/v/lib/python3.9/site-packages/pandarallel/core.py\", line 274, in closure\n    os.unlink(name)\n\
             FileNotFoundError: [Errno 2] No such file or directory: '{file}'\n"
        )
    };
    assert_eq!(first_cause(&log("/dev/shm/pandarallel_input_x.pickle")), "shared_memory");
    assert!(incident(&log("/tmp/pandarallel_input_x.pickle")).is_null());
}

#[test]
fn a_script_that_trains_a_diffusion_model_has_no_pipeline() {
    let log = format!(
        "$ accelerate launch train_concepts.py --resolution 512\nLoading pipeline components\n  \
         num batches each epoch = 5\nTraceback (most recent call last):\n  File \"train_concepts.py\", line 812, in main\n    \
         accelerator.backward(loss)\n  File \"/v/lib/python3.10/site-packages/torch/autograd/__init__.py\", line 197, in \
         backward\n{FULL_CARD}"
    );
    let told = report(&log);
    assert!(!told.contains("pipe.") && !told.contains("pipe("), "{told}");
}

#[test]
fn a_script_of_ones_own_gives_an_engine_arguments_and_no_options() {
    let log = |file: &str, inner: &str| {
        format!(
            "INFO worker.py:267] the current vLLM instance can use total_gpu_memory (8.00GiB) x gpu_memory_utilization (0.70) \
             = 5.60GiB\nTraceback (most recent call last):\n  File \"{file}\", line 71, in <module>\n    llm = build(cfg)\n  \
             File \"/v/lib/python3.12/site-packages/vllm/{inner}\", line 421, in _initialize_kv_caches\n    x()\n\
             ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing \
             the engine.\n"
        )
    };
    let own = lines_of(&log("/w/factory_cli.py", "engine/llm_engine.py"), "raise-engine-memory").join(" ");
    assert!(own.contains("LLM(..., gpu_memory_utilization=") && !own.contains("--gpu-memory"), "{own}");
    let served = lines_of(&log("/v/bin/vllm", "entrypoints/openai/api_server.py"), "raise-engine-memory").join(" ");
    assert!(served.contains("--gpu-memory-utilization"), "{served}");
}

#[test]
fn what_programs_say_of_windows_is_believed() {
    let heads = [
        "20201231 18:20:44 T-Rex NVIDIA GPU miner v0.19.4  -  [CUDA v11.10 | Windows]",
        "Platform: x86_64-w64-mingw32/x64 (64-bit)",
        "Running under: Windows 8.1 x64 (build 9600)",
        "[error] [FFmpeg] [libplacebo @ 000001f80c47a2c0] Failed to create image",
    ];
    for head in heads {
        let told = report(&format!("{head}\nError: cannot allocate vector of size 4.2 Gb\n"));
        for tool in ["free -h", "ps -eo", "/proc/", "fallocate"] {
            assert!(!told.contains(tool), "{head}: {tool}: {told}");
        }
    }
    let other = report("[libplacebo @ 0x55d1c47a2c0] opened\nError: cannot allocate vector of size 4.2 Gb\n");
    assert!(other.contains("free -h"), "{other}");
}

#[test]
fn spark_sets_its_device_memory_by_keys_of_its_own() {
    let log = "Caused by: java.lang.OutOfMemoryError: Could not allocate native memory: std::bad_alloc: RMM failure at:\
               /src/rmm/mr/device/pool_memory_resource.hpp:196: Maximum pool size exceeded\n\
               \tat ai.rapids.cudf.Table.writeParquetChunk(Native Method)\n\
               \tat com.nvidia.spark.rapids.ColumnarOutputWriter.writeBatch(ColumnarOutputWriter.scala:137)\n";
    let told = report(log);
    assert!(told.contains("spark.rapids.") && !told.contains("rmm.") && !told.contains("cudf.set_option"), "{told}");
}

#[test]
fn a_server_of_models_is_told_no_line_of_code() {
    let log = "$ xinference-local --host 0.0.0.0 --port 9997\n\
               2024-07-22 10:31:48,119 xinference.model.llm.transformers.utils 412 ERROR    Batch inference out of memory.\n\
               Traceback (most recent call last):\n  File \"/v/lib/python3.10/site-packages/xinference/model/llm/transformers/\
               utils.py\", line 501, in batch_inference_one_step\n    _batch_inference_one_step_internal(\n\
               torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.50 GiB. GPU 0 has a total capacity of \
               23.66 GiB of which 505.00 MiB is free.\n";
    let told = report(log);
    for line in ["from_pretrained", "inference_mode"] {
        assert!(!told.contains(line), "{line}: {told}");
    }
}

#[test]
fn an_early_build_of_llama_cpp_is_told_none_of_the_later_options() {
    let log = |build: u32| {
        format!(
            "$ ./bin/main -m a.Q5_K.gguf -n 512 -ngl 35\nmain: build = {build} (24a447e)\n\
             llm_load_tensors: VRAM used: 4731.60 MiB\nllama_kv_cache_init: VRAM kv self = 256.00 MB\n\
             CUDA error: out of memory\n  current device: 0, in function ggml_cuda_pool_malloc at ggml-cuda.cu:6662\n"
        )
    };
    let early = report(&log(1578));
    assert!(!early.contains("-ub ") && !early.contains("-ctk") && !early.contains("-fa "), "{early}");
    assert!(report(&log(3000)).contains("-ub "), "{}", report(&log(3000)));
}

#[test]
fn tensorflows_pool_in_the_same_process_is_no_other_process() {
    let log = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1525] Created device /job:localhost/replica:0/task:0/device:\
               GPU:0 with 14113 MB memory:  -> device: 0, name: Tesla T4\nTraceback (most recent call last):\n  \
               File \"toy.py\", line 41, in <module>\n    ind = torch.from_numpy(d).to(device)\n\
               RuntimeError: CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 14.76 GiB total capacity; 0 bytes \
               already allocated; 4.75 MiB free; 0 bytes reserved in total by PyTorch)\n";
    assert_eq!(first_cause(log), "preallocation");
    let lines = lines_of(log, "preallocation-fraction").join(" ");
    assert!(lines.to_ascii_lowercase().contains("allow_growth"), "{lines}");
    // Without its word for it they are somebody's.
    let (_, without) = log.split_once('\n').unwrap();
    assert_eq!(first_cause(without), "other_process");
}

#[test]
fn a_device_that_is_full_when_the_job_has_ended_is_anothers() {
    let log = |used: u32| {
        format!(
            "Traceback (most recent call last):\n  File \"train.py\", line 90, in main\n    model = Net().to(device)\n\
             RuntimeError: CUDA error: out of memory\n(nano) ops@t4box:~/net$ nvidia-smi\n\
             |   0  Tesla T4            Off  | 00000000:3B:00.0 Off |                    0 |\n\
             | N/A   61C    P0    31W /  70W |  {used}MiB / 15109MiB |      7%      Default |\n\
             |    0   N/A  N/A     20911      C   ./recoserver                     {used}MiB |\n"
        )
    };
    let sure = |used: u32| incident(&log(used))["causes"][0]["confidence"].as_f64().unwrap();
    assert_eq!(first_cause(&log(15009)), "other_process");
    assert!(sure(15009) > 0.8 && sure(9009) < sure(15009), "{} {}", sure(15009), sure(9009));
}

#[test]
fn a_list_of_processes_in_csv_shows_ranks_on_one_device() {
    let log = format!(
        "$ python -m torch.distributed.launch --nproc_per_node=4 train.py\nTraceback (most recent call last):\n  \
         File \"train.py\", line 189, in train\n    pred = net(img)\n\
         RuntimeError: CUDA out of memory. Tried to allocate 256.00 MiB (GPU 0; 10.92 GiB total capacity; 5.33 GiB already \
         allocated; 151.50 MiB free; 102.87 MiB cached)\n\
         $ nvidia-smi --query-compute-apps=gpu_bus_id,pid,used_memory --format=csv\n{}",
        "gpu_bus_id, pid, used_gpu_memory [MiB]\n\
         00000000:05:00.0, 8120, 6021 MiB\n00000000:05:00.0, 8121, 1660 MiB\n00000000:05:00.0, 8122, 1660 MiB\n\
         00000000:06:00.0, 8121, 5944 MiB\n00000000:09:00.0, 8122, 5944 MiB\n\
         00000000:0A:00.0, 8123, 5944 MiB\n"
    );
    let found = incident(&log);
    let clues = found["context"]["clues"].as_array().unwrap().clone();
    assert!(clues.iter().any(|clue| clue["id"] == "ranks-on-one-device"), "{clues:?}");
    assert!(found["causes"].as_array().unwrap().iter().take(2).any(|cause| cause["id"] == "wrong_device"), "{found}");
    // Which device a place is, is not told: of another number of processes than the job started it may be anybody's.
    let other = incident(&log.replace("nproc_per_node=4", "nproc_per_node=2"));
    assert!(!other["context"]["clues"].to_string().contains("ranks-on-one-device"), "{other}");
}

#[test]
fn a_launcher_is_no_command_of_the_package_that_it_is_named_for() {
    let log = "$ torchrun --nproc_per_node=2 train.py --epochs 3\nstep 12 loss 0.3\nTraceback (most recent call last):\n  \
               File \"/v/lib/python3.10/site-packages/torch/nn/functional.py\", line 1457, in relu\n    \
               result = torch.relu(input)\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU \
               0; 23.69 GiB total capacity; 20.75 GiB already allocated; 480.00 MiB free; 21.90 GiB reserved in total by \
               PyTorch)\n";
    assert!(offers_for(log).contains(&"ddp-bucket-view"), "{:?}", offers_for(log));
}

#[test]
fn what_has_no_room_beside_the_failed_process_was_taken_later() {
    let log = format!(
        "Traceback (most recent call last):\n  File \"train.py\", line 9, in main\n    y = net(x)\n{FULL_CARD}\
         ann@box:~$ nvidia-smi\n\
         |   0  NVIDIA A5000        Off  | 00000000:3B:00.0 Off |                    0 |\n\
         | N/A   61C    P0    31W /  70W |  23900MiB / 24256MiB |      7%      Default |\n\
         |    0   N/A  N/A     20911      C   python                     23900MiB |\n"
    );
    let found = incident(&log);
    assert!(!found["mechanisms"].to_string().contains("device-afterwards"), "{found}");
}

#[test]
fn a_device_is_watched_by_the_tool_of_its_system() {
    let failed = "error: VK_ERROR_OUT_OF_DEVICE_MEMORY: failed to allocate 512 MiB of device memory\n";
    let windows = report(&format!("Running under: Windows 10 x64 (build 19045)\n{failed}"));
    assert!(windows.contains("Get-Counter"), "{windows}");
    let orin = report(
        "  Device 0: Orin, compute capability 8.7, VMM: yes\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 871.52 \
         MiB on device 0: cudaMalloc failed: out of memory\n",
    );
    assert!(!orin.contains("`nvidia-smi --query-gpu"), "{orin}");
}

#[test]
fn a_larger_device_frees_nothing_of_what_is_used() {
    let log = "Traceback (most recent call last):\n  File \"infer.py\", line 9, in main\n    y = net(x)\n\
               RuntimeError: CUDA out of memory. Tried to allocate 1.76 GiB (GPU 0; 5.79 GiB total capacity; 2.83 GiB already \
               allocated; 1.35 GiB free; 2.95 GiB reserved in total by PyTorch)\n";
    let told = report(log);
    let at = told.find("A GPU with more memory");
    assert!(at.is_none_or(|at| !told[at..].lines().next().unwrap_or_default().contains("frees ")), "{told}");
}

#[test]
fn paths_with_slashes_and_words_of_r_are_of_windows_too() {
    let python = "  File \"E:/code/main.py\", line 94, in <module>\n    preds_all = torch.cat(preds, dim=0)\nRuntimeError: \
                  [enforce fail at CPUAllocator.cpp:79] data. DefaultCPUAllocator: not enough memory: you tried to \
                  allocate 6165626880 bytes.\n";
    assert!(!report(python).contains("ps -o rss"), "{}", report(python));
    let r = "> memory.limit(size = 8000)\nError in memory.limit(size = 8000) : \n  don't be silly!: your machine has a 4Gb \
             address limit\nError: cannot allocate vector of size 299.6 Mb\n";
    assert!(!report(r).contains("fallocate") && !report(r).contains("free -h"), "{}", report(r));
    // Elsewhere the call only warns.
    let linux = "> memory.limit(size = 8000)\nWarning message:\n'memory.limit()' is not supported on this platform\nError: \
                 cannot allocate vector of size 299.6 Mb\n";
    assert!(report(linux).contains("free -h"), "{}", report(linux));
}

#[test]
fn a_home_on_some_image_of_a_disk_is_no_mac() {
    let log = |path: &str| format!("$ gridscan -r {path}\ngridscan: error scanning {path}/a.sys: not enough memory\n");
    assert!(!report(&log("/evidence/C/Users/ana")).contains("PhysMem"));
    assert!(report(&log("/Users/ana/evidence")).contains("PhysMem"));
}

#[test]
fn python_2_has_no_tracemalloc() {
    let log = |version: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"/usr/lib/python{version}/site-packages/gridlib/mesh.py\", line 5, \
             in grow\n    rows.append(row)\nMemoryError\n"
        )
    };
    assert!(!report(&log("2.7")).contains("tracemalloc"));
}

#[test]
fn a_program_that_calls_libtorch_has_no_lines_of_python() {
    let log = format!(
        "Reading data file ...\n  54000 atoms\nException: The following operation failed in the TorchScript \
         interpreter.\nTraceback of TorchScript (most recent call last):\n  File \"code/__torch__/nn/convolution.py\", line \
         31, in forward\n    message = (self.convolution).forward(x, edge_attr, weight, )\n{FULL_CARD}"
    );
    let told = report(&log);
    assert!(!told.contains("torch.autocast") && !told.contains("_record_memory_history"), "{told}");
}

#[test]
fn a_small_shared_memory_is_empty_again_when_who_filled_it_has_ended() {
    let log = "$ docker run -d postgres:16\nERROR:  could not resize shared memory segment \"/PostgreSQL.2031775516\" to \
               16777216 bytes: No space left on device\n$ df -h /dev/shm\nFilesystem      Size  Used Avail Use% Mounted \
               on\nshm              64M  3.6M   61M   6% /dev/shm\n";
    assert!(offers_for(log).contains(&"shm-size"), "{:?}", offers_for(log));
}

#[test]
fn layers_of_a_stack_are_frozen_by_its_own_names() {
    let log = format!(
        "$ torchrun train.py --model_name_or_path meta-llama/Llama-2-7b --model_max_length 2048\nTraceback (most recent \
         call last):\n  File \"train.py\", line 9, in main\n    trainer.train()\n  File \"/v/site-packages/transformers/\
         models/llama/modeling_llama.py\", line 800, in forward\n    loss = self.lm_head(x)\n{FULL_CARD}"
    );
    assert!(!lines_of(&log, "freeze-layers").join(" ").contains("model.encoder"), "{}", report(&log));
}

#[test]
fn a_network_has_begun_when_caffe_solves() {
    let log = "I0101 10:00:00.000 12 solver.cpp:279] Solving VGG\nF0101 10:00:05.000 12 syncedmem.cpp:78] Check failed: \
               error == cudaSuccess (2 vs. 0)  out of memory\n";
    assert!(!report(log).contains("while loading the model"), "{}", report(log));
}

#[test]
fn a_segment_of_system_v_is_no_file_in_dev_shm() {
    let log = "FATAL:  could not create shared memory segment: No space left on device\nDETAIL:  Failed system call was \
               shmget(key=1, size=56, 03600).\n";
    let told = report(log);
    assert!(told.contains("ipcs -lm") && told.contains("kernel.shmmni"), "{told}");
    assert!(!told.contains("/dev/shm is full") && !told.contains("shm-size"), "{told}");
    assert!(told.contains("ipcs -lm; ipcs -mu") && !told.contains("df -h /dev/shm"), "{told}");
    let posix = report(
        "ERROR:  could not resize shared memory segment \"/PostgreSQL.17\" to 16777216 bytes: No space left on device\n",
    );
    assert!(posix.contains("df -h /dev/shm"), "{posix}");
}

#[test]
fn an_executor_that_is_killed_at_the_sum_of_its_settings_needs_another_setting() {
    let log = "ERROR YarnClusterScheduler: Lost executor 7 on node-2: Container killed by YARN for exceeding memory \
               limits. 11.0 GB of 11 GB physical memory used. Consider boosting spark.yarn.executor.memoryOverhead.\n";
    assert_eq!(first_cause(log), "framework_limit", "{}", report(log));
}

#[test]
fn an_engine_that_measures_its_peak_has_made_no_cache_yet() {
    let log = format!(
        "Traceback (most recent call last):\n  File \"/v/site-packages/vllm/worker/worker.py\", line 223, in \
         determine_num_available_blocks\n    self.model_runner.profile_run()\n  File \"/v/site-packages/vllm/\
         model_executor/models/a.py\", line 41, in forward\n    x = self.vision(pixel_values)\n{FULL_CARD}"
    );
    let causes = crate::lines_around::incident(&log)["causes"].clone();
    let share = |id: &str| {
        causes
            .as_array()
            .unwrap()
            .iter()
            .find(|cause| cause["id"] == id)
            .map_or(0.0, |c| c["confidence"].as_f64().unwrap())
    };
    assert!(share("kv_cache") < 0.05 && share("preallocation") < 0.1, "{causes}");
}

#[test]
fn states_that_are_sharded_over_an_unknown_number_of_devices_may_fit() {
    let log = "$ accelerate launch --config_file fsdp.yaml sft.py --model ./DeepSeek-Prover-V2-7B --bf16\n[rank0]: Traceback \
               (most recent call last):\n[rank0]:   File \"sft.py\", line 67, in <module>\n[rank0]:     trainer.train()\n\
               [rank0]:   File \"/v/site-packages/torch/distributed/fsdp/_flat_param.py\", line 1334, in \
               _alloc_padded_unsharded_flat_param\n[rank0]:     _alloc_storage(unsharded_flat_param, size)\n[rank0]: \
               torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 384.00 MiB. GPU 0 has a total capacity of \
               9.68 GiB of which 93.81 MiB is free. Including non-PyTorch memory, this process has 9.51 GiB memory in \
               use. Of the allocated memory 6.55 GiB is allocated by PyTorch, and 2.60 GiB is reserved by PyTorch but \
               unallocated.\n";
    let told = report(log);
    assert!(!told.contains("never fit") && !told.contains("model.encoder"), "{told}");
    assert!(offers_for(log).contains(&"expandable-segments"), "{told}");
}

#[test]
fn what_drives_cmake_is_told_how_many_jobs_to_start() {
    let log = |command: &str| {
        format!(
            "$ {command}\n[ 61%] Building CXX object src/a.cc.o\nc++: fatal error: Killed signal terminated program \
             cc1plus\ncompilation terminated.\ngmake: *** [Makefile:156: all] Error 2\n"
        )
    };
    let first = |command: &str| lines_of(&log(command), "fewer-at-once").join(" ");
    assert!(first("cmake --build build --target all -j").contains("cmake --build . -j 2"));
    assert!(first("colcon build").contains("--parallel-workers 2"));
    assert!(first("make -j").contains("make -j2"));
}

#[test]
fn a_script_that_builds_an_engine_has_no_trtexec() {
    let refused = "[TRT] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::161] Error Code 2: OutOfMemory (no further \
                   information)\n";
    let script = format!(
        "{refused}Traceback (most recent call last):\n  File \"net_trt.py\", line 71, in <module>\n    engine = \
         build_engine(runtime)\nTypeError: deserialize_cuda_engine(): incompatible function arguments\n"
    );
    let lines = lines_of(&script, "narrower-profile").join(" ");
    assert!(lines.contains("profile.set_shape(") && !lines.contains("trtexec"), "{lines}");
    assert!(lines_of(refused, "narrower-profile").join(" ").contains("trtexec"));
}

#[test]
fn a_size_told_long_before_a_bare_refusal_is_not_what_ran_out() {
    let filler = "reading the input\n".repeat(6);
    let log = format!(
        "Info: Total memory                 7840.2 MB\n{filler}terminate called after throwing an instance of \
         'std::bad_alloc'\n  what():  std::bad_alloc\nAborted (core dumped)\n"
    );
    assert!(!report(&log).contains("RAM ran out"), "{}", report(&log));
}

#[test]
fn megatron_is_told_by_its_arguments_alone() {
    let log = format!(
        "$ torchrun pretrain_gpt.py --use-distributed-optimizer --micro-batch-size 2\n successfully loaded checkpoint from \
         /ckpt at iteration 4200\nTraceback (most recent call last):\n  File \"/w/Megatron-LM/megatron/training/training.py\", \
         line 9, in train_step\n    optimizer.step()\n{FULL_CARD}"
    );
    for fix in ["eight-bit-optimizer", "lighter-optimizer", "freeze-layers"] {
        assert!(!offers_for(&log).contains(&fix), "{fix}: {}", report(&log));
    }
    assert!(!report(&log).contains("4200 had been reached"), "{}", report(&log));
}

#[test]
fn a_limit_that_the_program_speaks_of_is_none_of_the_shells() {
    let log = "$ ./gridtool -b 64\nERROR gridtool: memory limit exceeded: cannot allocate 32.0 MiB more\n";
    assert!(!report(log).contains("ulimit -v unlimited"), "{}", report(log));
}

#[test]
fn a_step_that_tells_both_losses_is_one_of_training() {
    let log = format!("step 3100/7500 training loss = 1.871944 validation loss = 1.998310 (1.58 s)\n{FULL_CARD}");
    assert!(!report(&log).contains("in validation"), "{}", report(&log));
}

#[test]
fn a_count_of_cells_is_no_size_of_the_machine() {
    let log = "[fill_matrix]: failed to allocate matrices of height 188204 and width 391022 for a total cell count of \
               73591904488\n[fill_matrix]: is the problem too big for your virtual or physical memory?\nterminate called \
               after throwing an instance of 'std::bad_alloc'\n";
    assert!(!report(log).contains("68.5"), "{}", report(log));
}

#[test]
fn what_is_no_heap_of_a_jvm_has_an_option_of_its_own() {
    for (said, option, area) in [
        ("java.lang.OutOfMemoryError: Metaspace", "-XX:MaxMetaspaceSize=", "metaspace is full"),
        ("java.lang.OutOfMemoryError: Direct buffer memory", "-XX:MaxDirectMemorySize=", "direct memory is full"),
        (
            "java.lang.OutOfMemoryError: Compressed class space",
            "-XX:CompressedClassSpaceSize=",
            "space of classes is full",
        ),
        ("java.lang.OutOfMemoryError: PermGen space", "-XX:MaxPermSize=", "permanent generation is full"),
    ] {
        let told = report(&format!("$ java -Xmx4g -jar app.jar\nException in thread \"main\" {said}\n"));
        assert!(told.contains(option) && told.contains(area), "{told}");
        assert!(!told.contains("-Xmx<") && !told.contains("MaxHeapSize"), "{told}");
    }
    let heap = report("$ java -Xmx4g -jar app.jar\njava.lang.OutOfMemoryError: Java heap space\n");
    assert!(heap.contains("-Xmx") && heap.contains("own heap is full"), "{heap}");
    let gradle = "java.lang.OutOfMemoryError: Metaspace\norg.gradle.jvmargs=-Xmx6144m -XX:MaxMetaspaceSize=512m\n";
    assert!(report(gradle).contains("the limit is 512.00 MiB"), "{}", report(gradle));
}

#[test]
fn gdi_says_out_of_memory_of_a_rectangle_as_well() {
    let drawn = "ExceptionName:System.OutOfMemoryException\nExceptionMessage:Out of memory.\nExceptionStackTrace:   at \
                 System.Drawing.Bitmap.Clone(Rectangle rect, PixelFormat format)\n   at App.Main()\n";
    assert!(report(drawn).contains("No out-of-memory failure"), "{}", report(drawn));
    let other =
        drawn.replace("System.Drawing.Bitmap.Clone(Rectangle rect, PixelFormat format)", "App.Table.Grow(Int32 rows)");
    assert!(!report(&other).contains("No out-of-memory failure"), "{}", report(&other));
}

#[test]
fn a_copy_to_the_host_that_does_not_wait_is_page_locked() {
    let log = |code: &str| {
        format!(
            "!!! Exception during processing !!! CUDA error: out of memory\n\nTraceback (most recent call last):\n  File \
             \"/w/nodes.py\", line 1410, in forward\n    {code}\nRuntimeError: CUDA error: out of memory\n"
        )
    };
    let offloads = log("block.to(self.offload_device, non_blocking=self.non_blocking)");
    assert!(report(&offloads).contains("page-locked"));
    let of_a_job = offloads.replace("!!! Exception during processing !!! ", "Error running job: ");
    assert!(report(&of_a_job).starts_with("A request for page-locked"), "{}", report(&of_a_job));
    assert!(!report(&log("block.to(self.device, non_blocking=self.non_blocking)")).contains("page-locked"));
}

#[test]
fn cann_asks_for_memory_of_its_own_device() {
    let log = "ERROR 2026-04-11-20:05:25.110.206 Memory_Allocation_Failure(EL0004): Failed to allocate memory requested by GE \
               module.\n        Call rtMalloc fail, purpose: page caching, type = 2, size:3156279296, device_id:0[FUNC:Alloc]\n";
    assert!(report(log).starts_with("NPU 0 ran out of memory"), "{}", report(log));
}

#[test]
fn a_program_that_any_device_holds_is_not_too_large() {
    let log = "E xla/pjrt/pjrt_stream_executor_client.cc:2040] Execution of replica 0 failed: RESOURCE_EXHAUSTED: Out of memory \
               while trying to allocate 188160000 bytes.\nBufferAssignment OOM Debugging.\nBufferAssignment stats:\n             \
               parameter allocation:  179.44MiB\n              constant allocation:         0B\n        maybe_live_out \
               allocation:  179.44MiB\n     preallocated temp allocation:         0B\n                 total allocation:  \
               358.89MiB\n";
    assert!(!report(log).contains("too large for"), "{}", report(log));
    assert!(report(log).contains("a sliver of any device"), "{}", report(log));
}

#[test]
fn a_bus_error_says_no_more_than_that_shared_memory_may_be_full() {
    let log = "ERROR text_generation_launcher: Download process was signaled to shutdown with signal 7\n";
    assert!(report(log).starts_with("Shared memory (/dev/shm) may be full"), "{}", report(log));
}

#[test]
fn gdi_is_believed_where_no_rectangle_or_file_is_named() {
    let log = "System.OutOfMemoryException: Out of memory.\n   at System.Drawing.Gdip.CheckStatus(Int32 status)\n   at \
               System.Drawing.Graphics.DrawImage(Image image, Rectangle rect)\n";
    assert!(!report(log).contains("No out-of-memory failure"), "{}", report(log));
}

#[test]
fn who_makes_one_thing_at_a_time_cannot_make_fewer() {
    let log = |typed: &str, behind: &str| {
        format!(
            "ann@box:~/bot/build$ {typed}\n[ 62%] Building CXX object CMakeFiles/core.dir/Contact.cpp.o\n\
             c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n\
             make[2]: *** [CMakeFiles/core.dir/build.make:479: CMakeFiles/core.dir/Contact.cpp.o] Error 1\n{behind}\
             make: *** [Makefile:130: all] Error 2\n"
        )
    };
    let jobs = |typed: &str, behind: &str| lines_of(&log(typed, behind), "fewer-at-once").join(" ");
    assert_eq!(jobs("cmake --build . --target install", ""), "");
    assert_eq!(jobs("sudo make install", ""), "");
    assert!(jobs("make -j8", "").contains("make -j2"));
    for typed in ["make clean\nann@box:~/bot/build$ make -j8", "export MAKEFLAGS=-j8\nann@box:~/bot/build$ make"] {
        assert!(jobs(typed, "").contains("make -j2"), "{typed}");
    }
    assert!(
        jobs("make", "make[2]: *** Waiting for unfinished jobs....\n").contains("make -j2"),
        "MAKEFLAGS may be set"
    );
}

#[test]
fn a_first_request_refused_with_room_left_was_in_nobodys_way() {
    let log = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 5.91 GiB \
               of which 3.80 GiB is free. Including non-PyTorch memory, this process has 435.54 MiB memory in use. Of the \
               allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.\n";
    let told = report(log).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!told.contains("already taken") && !told.contains("has been given back"), "{told}");
    assert!(told.contains("held nothing yet") && told.contains("PyTorch has nothing cached"), "{told}");
    assert!(!told.contains("print the shapes"), "{told}");
}

#[test]
fn no_swap_is_added_to_a_notebook_of_a_cloud() {
    let log = "0: Loading prior\n\nYour session crashed after using all available RAM.\n";
    assert!(!report(log).contains("fallocate"), "{}", report(log));
}

#[test]
fn a_pool_of_mindspore_is_of_the_device_that_the_log_names() {
    let log = |before: &str| {
        format!(
            "{before}[ERROR] PRE_ACT(88120,python):2025-02-03 [mem_dynamic_allocator.cc:392] TotalUsedMemStatistics : \
             24478128640 plus TotalUsedByEventMemStatistics : 0 and plus alloc size : 99550220800 is more than total mem size \
             : 61079552000.\n"
        )
    };
    assert!(!report(&log("")).contains("nvidia-smi"), "{}", report(&log("")));
    let ascend = report(&log("context.set_context(device_target=\"Ascend\")\n"));
    assert!(ascend.starts_with("The NPU ran out of memory"), "{ascend}");
}

#[test]
fn a_cause_without_a_sign_brings_no_test_of_another_kind_of_program() {
    let log = "[h264_nvenc @ 0x5601a7f0e2c0] dl_fn->cuda_dl->cuCtxCreate(&ctx->cu_context_internal, 0, cu_device) failed -> \
               CUDA_ERROR_OUT_OF_MEMORY: out of memory\n";
    let told = report(log).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Without a sign of it in the log"), "{told}");
    for words in ["half the batch", "shapes of the inputs", "MIG", "checkpoint", "every step", " ? "] {
        assert!(!told.contains(words), "{words}: {told}");
    }
}

#[test]
fn a_radeon_of_windows_is_asked_by_no_tool_of_rocm() {
    let log = "[engine/RenderSystem] Physical Device: AMD Radeon(TM) Graphics (integrated)\n[engine/Engine] OUT OF VIDEO \
               MEMORY! ( vmaAllocateMemory )\n";
    let told = report(log);
    assert!(told.contains("Task Manager") && !told.contains("rocm-smi") && !told.contains("HIP_VISIBLE"), "{told}");
}

#[test]
fn a_session_of_tensorflow_on_windows_knows_nothing_of_the_second() {
    let log = |separator: &str| {
        format!(
            "2021-03-15 11:04:50.212770: W tensorflow/core/common_runtime/bfc_allocator.cc:419] Allocator (GPU_0_bfc) ran out \
             of memory trying to allocate 36.92MiB.\n  File \"C:{separator}envs{separator}lib{separator}site-packages\
             {separator}tensorflow{separator}python{separator}client{separator}session.py\", line 1365, in _do_call\n"
        )
    };
    let told = report(&log("\\"));
    for name in ["get_memory_info", "mixed_precision", "cuda_malloc_async", "recompute_grad"] {
        assert!(!told.contains(name), "{name}: {told}");
    }
}

#[test]
fn the_day_on_which_conda_built_torch_bounds_what_it_knows() {
    let log = |stamp: &str| {
        format!(
            "RuntimeError: cuda runtime error (2) : out of memory at /py/conda-bld/pytorch_{stamp}/work/ops/alloc.cu:66\n"
        )
    };
    // By the day alone: May 2017, before 0.3 and its `memory_allocated`; and February 2023.
    assert!(!report(&log("1493681908901")).contains("memory_allocated"), "{}", report(&log("1493681908901")));
    assert!(report(&log("1677000000000")).contains("memory_"), "{}", report(&log("1677000000000")));
}

#[test]
fn what_only_trains_is_told_to_no_program_that_answers() {
    let log = format!(
        "Traceback (most recent call last):\n  File \"/home/a/diarize.py\", line 9, in <module>\n    said = \
         pipeline(sound)\n  File \"/opt/py/lib/python3.10/site-packages/pyannote/audio/pipelines/speaker.py\", line 12, in \
         apply\n    return self.model(chunks)\n{FULL_CARD}"
    );
    let told = report(&log);
    assert!(!told.contains("Trainer(precision") && !told.contains("Accelerator("), "{told}");
}

#[test]
fn what_is_killed_for_pressure_met_no_limit() {
    let log = "avril 16 20:31:12 systemd-oomd[1044]: Killed /user.slice/user-1000.slice/user@1000.service/app.slice/\
               tmux-spawn.scope due to memory pressure for /user.slice/user-1000.slice/user@1000.service being 71.05% > \
               50.00% for > 20s with reclaim activity\n";
    let told = report(log);
    assert!(told.contains("ManagedOOMMemoryPressureLimit") && !told.contains("MemoryMax=<"), "{told}");
    assert!(told.contains("the killer's own line says that RAM ran short"), "{told}");
}

#[test]
fn a_login_node_and_the_output_of_a_job_are_no_machine_of_ones_own() {
    let failed = "RuntimeError: DataLoader worker (pid 30871) is killed by signal: Killed. \n";
    assert!(report(failed).contains("fallocate"), "{}", report(failed));
    for before in ["[lea@login1 ~]$ cat out.txt\n", "$ tail slurm-4418206.out\n"] {
        assert!(!report(&format!("{before}{failed}")).contains("fallocate"), "{before}");
    }
}

#[test]
fn a_variable_that_no_program_sees_chooses_no_device() {
    let log = |line: &str| format!("$ cat run.sh\n{line}\npython main.py\n$ sh run.sh\n{FULL_CARD}");
    let seen = |line: &str| report(&log(line)).contains("visible devices");
    assert!(!seen("CUDA_VISIBLE_DEVICES=\"7\""));
    assert!(seen("export CUDA_VISIBLE_DEVICES=\"7\"") && seen("CUDA_VISIBLE_DEVICES=\"7\" python main.py"));
}

#[test]
fn an_engine_that_prefills_whole_prompts_is_told_no_smaller_batch_of_tokens() {
    let log = |version: &str| {
        format!(
            "INFO 06-16 20:41:07 llm_engine.py:100] Initializing an LLM engine (v{version}) with config: model='m', \
             max_num_seqs=256\n  File \"/opt/py/lib/python3.10/site-packages/vllm/worker/model_runner.py\", line 164, in \
             profile_run\n    self.execute_model(seqs, kv_caches)\n{FULL_CARD}"
        )
    };
    let told = |version: &str| lines_of(&log(version), "fewer-sequences").join(" ");
    assert!(!told("0.4.2").contains("max-num-batched-tokens"), "{}", told("0.4.2"));
    assert!(!told("0.4.2").is_empty() && told("0.9.2").contains("batched-tokens"), "{}", told("0.9.2"));
}

#[test]
fn what_the_kernel_printed_is_not_looked_up_once_more() {
    let log = "Out of memory: Killed process 4242 (influxd) total-vm:9000000kB, anon-rss:7600000kB, file-rss:0kB\n";
    assert!(!report(log).contains("dmesg"), "{}", report(log));
}

#[test]
fn what_a_monitor_reads_is_not_the_machines_memory() {
    let log = |line: &str| {
        format!(
            "{line}\nMemoryError: Unable to allocate 7.45 GiB for an array with shape (1000, 1000, 1000) and data type float64\n"
        )
    };
    let total = |line: &str| incident(&log(line))["context"]["host_total_bytes"]["value"].clone();
    for line in ["RAM: 64 GB", "* RAM: 64 GB", "- RAM: 64GB"] {
        assert_eq!(total(line), 64_u64 << 30, "{line}");
    }
    for line in ["RAM: 3 GB", "step 4 RAM: 16 GB", "- RAM: 12.4 GB", "RAM: 16 GB / 64 GB"] {
        assert!(total(line).is_null(), "{line}: {}", total(line));
    }
}

#[test]
fn a_card_that_refuses_beside_room_on_windows_wants_a_page_file() {
    let log = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of \
               4.00 GiB of which 2.43 GiB is free. Of the allocated memory 854.55 MiB is allocated by PyTorch, and 25.74 MiB \
               is reserved by PyTorch but unallocated.\n";
    assert!(lines_of(log, "swap").join(" ").contains("page file"));
    assert_eq!(lines_of(log, "expandable-segments"), Vec::<String>::new());
}

#[test]
fn an_engine_built_from_its_sources_is_no_script_that_calls_it() {
    let log = "(EngineCore pid=9127) ERROR Traceback (most recent call last):\n(EngineCore pid=9127) ERROR   File \
               \"/vllm-workspace/vllm/vllm/v1/engine/core.py\", line 1091, in run_engine_core\n(EngineCore pid=9127) ERROR     \
               engine_core = EngineCoreProc(*args)\n(EngineCore pid=9127) ERROR ValueError: No available memory for the cache \
               blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n";
    let lines = lines_of(log, "raise-engine-memory").join(" ");
    assert!(lines.contains("--gpu-memory-utilization") && !lines.contains("LLM("), "{lines}");
}

#[test]
fn a_jobs_number_stands_in_what_asks_for_it() {
    let log = "slurmstepd: error: Detected 1 oom_kill event in StepId=45491738.batch. Some of the step tasks have been OOM \
               Killed.\n";
    let told = report(log);
    assert!(told.contains("sstat -a -j 45491738") && !told.contains("-j JOB"), "{told}");
}

#[test]
fn javascripts_heap_holds_no_memory_of_webassembly() {
    let log = "RangeError: WebAssembly.Instance(): Out of memory: wasm memory\n";
    assert_eq!(lines_of(log, "raise-runtime-limit"), Vec::<String>::new());
}

#[test]
fn a_shell_on_a_machine_that_windows_named_is_wsl() {
    let log = |host: &str| format!("ann@{host}:~/work$ ./solve\nKilled\n");
    assert!(report(&log("DESKTOP-7R2K9QX")).contains(".wslconfig"));
    assert!(!report(&log("desktop-of-ann")).contains(".wslconfig"));
}

#[test]
fn a_mac_with_a_card_has_no_tool_of_its_vendors() {
    let log = |home: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"{home}/ann/work/train.py\", line 9, in <module>\n    y = net(x)\n\
             RuntimeError: CUDA out of memory.\n"
        )
    };
    let stopped = "# with this job stopped";
    let (mac, other) = (report(&log("/Users")), report(&log("/home")));
    assert!(other.contains(&format!("nvidia-smi   {stopped}")), "{other}");
    assert!(mac.contains(stopped) && !mac.contains(&format!("nvidia-smi   {stopped}")), "{mac}");
}

#[test]
fn a_setting_that_is_commented_out_is_not_in_force() {
    let log = |batch: &str| {
        format!(
            "$ ./darknet detector train cfg/obj.data cfg/yolo-obj.cfg\n   6 CUDA Error: out of memory\ndarknet: ./src/cuda.c:36: \
             check_error: Assertion `0' failed.\n$ head -4 cfg/yolo-obj.cfg\n[net]\n{batch}\nwidth=416\n"
        )
    };
    let said = "the batch is 1 already";
    assert!(report(&log("batch=1")).contains(said));
    assert!(!report(&log("#batch=1\nbatch=64")).contains(said));
}

#[test]
fn a_limit_that_is_printed_is_no_want_of_a_page_file() {
    let log = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 8.00 GiB \
               of which 4.43 GiB is free. 4.00 GiB allowed; Of the allocated memory 3.50 GiB is allocated by PyTorch, and \
               25.74 MiB is reserved by PyTorch but unallocated.\n";
    assert_eq!(lines_of(log, "swap"), Vec::<String>::new());
}

#[test]
fn a_banner_that_tells_of_a_pod_is_heard_and_a_remark_behind_code_is_not() {
    let first = |log: &str| incident(log);
    assert_eq!(first(">>> pod web-1 was OOMKilled\n")["resource"], "cgroup");
    assert!(report(">>> model.save(\"small\")   # fits now, before it was OOMKilled\n").contains("No out-of-memory"));
}

#[test]
fn a_prompt_in_a_container_is_told_no_mount_of_the_host() {
    let log = |host: &str| {
        format!(
            "root@{host}:/work# python train.py\nRuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It \
             is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"
        )
    };
    let lines = |host: &str| lines_of(&log(host), "shm-size").join(" ");
    assert!(!lines("3f1c5be2a9d1").contains("mount -o remount"), "{}", lines("3f1c5be2a9d1"));
    assert!(lines("gridnode").contains("mount -o remount"), "{}", lines("gridnode"));
}

#[test]
fn a_script_in_lua_is_told_no_line_of_python() {
    let log = "$ th train.lua -batch_size 50\n/root/torch/install/bin/luajit: /root/torch/install/share/lua/5.1/nn/Container.lua:67:\n\
               In 5 module of nn.Sequential:\ncuda runtime error (2) : out of memory at \
               /tmp/luarocks_cutorch/THC/generic/THCStorage.cu:66\nstack traceback:\n\t[C]: in function 'error'\n\ttrain.lua:120: \
               in main chunk\n";
    let told = report(log);
    for line in ["torch.cuda.", "model.to(", "with torch.", "DataLoader("] {
        assert!(!told.contains(line), "{line}: {told}");
    }
}

#[test]
fn a_program_that_is_set_by_a_file_is_told_the_arguments_alone() {
    let log = |how: &str| {
        format!(
            "$ python train.py{how}\nEpoch 1: step 10 loss 0.51\nTraceback (most recent call last):\n  File \"train.py\", line 9, in \
             <module>\n    for batch in loader:\nRuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.\n"
        )
    };
    let written = lines_of(&log(""), "fewer-workers").join(" ");
    let set = lines_of(&log(" --config grid.yaml"), "fewer-workers").join(" ");
    assert!(written.contains("DataLoader(") && !set.contains("DataLoader("), "{written} / {set}");
    assert!(set.contains("num_workers="), "{set}");
}

#[test]
fn a_worker_that_exited_unexpectedly_met_no_bus_error() {
    let log = "Epoch 1: step 10 loss 0.51\nRuntimeError: DataLoader worker (pid(s) 4711, 4712) exited unexpectedly\n";
    assert!(!report(log).to_lowercase().contains("bus error"), "{}", report(log));
}

/// A builder that leaves out tactics for want of workspace is told to take more of it, and no smaller shapes.
#[test]
fn a_builder_short_of_workspace_is_given_more() {
    let log = "&&&& RUNNING TensorRT.trtexec [TensorRT v8201] # trtexec --onnx=a.onnx --workspace=64\n[02/01/2022-10:41:37] [I] \
               [TRT] Some tactics do not have sufficient workspace memory to run. Increasing workspace size may increase \
               performance, please check verbose output.\n[02/01/2022-10:43:09] [E] Error[10]: \
               [optimizer.cpp::computeCosts::2011] Error Code 10: Internal Error (Could not find any implementation for node \
               ArgMax_260.)\n&&&& FAILED TensorRT.trtexec [TensorRT v8201]\n";
    assert!(report(log).contains("--workspace=4096") && !report(log).contains("--maxShapes"), "{}", report(log));
}

#[test]
fn v8s_trace_of_a_collection_is_no_failure_of_its_own() {
    let log = "[31877:0x130008000]     9780 ms: Mark-Compact (reduce) 1427.9 (1453.8) -> 1427.4 (1453.9) MB, 58.31 / 0.00 ms  \
               (average mu = 0.351, current mu = 0.277) allocation failure; scavenge might not succeed\n\n<--- JS stacktrace \
               --->\n\n# Fatal JavaScript out of memory: Reached heap limit\n";
    assert!(report(log).starts_with("The program's own"), "{}", report(log));
}

#[test]
fn lines_of_a_list_are_no_load_told_twice() {
    let log = "llama_model_loader: - type  f32:   65 tensors\nllama_model_loader: - type q4_K:  193 tensors\n\
               llama_model_loader: - type q6_K:   33 tensors\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 4176.95 MiB on \
               device 0: cudaMalloc failed: out of memory\n";
    assert!(!report(log).contains("same load twice"), "{}", report(log));
}

#[test]
fn a_kernel_that_finds_nobody_to_kill_is_asked_what_it_had_at_its_start() {
    let log = |last: &str| {
        format!(
            "[    4.120000] 65536 pages RAM\n[    4.120400] Tasks state (memory values in pages):\n[    4.120800] [  pid  ]   \
             uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n[    4.121200] {last}\n"
        )
    };
    let told = report(&log("Out of memory and no killable processes..."));
    assert!(told.contains("available` as it starts"), "{told}");
    let killed = "[  411.2] Out of memory: Killed process 871 (solve) total-vm:9000000kB, anon-rss:8000000kB, file-rss:0kB, \
                  shmem-rss:0kB, UID:0 pgtables:16000kB oom_score_adj:0\n";
    assert!(!report(killed).contains("as it starts"), "{}", report(killed));
}

#[test]
fn an_engine_of_its_own_memory_is_asked_for_the_size_of_its_files() {
    let log = "$ CUDA_VISIBLE_DEVICES=3,4 lmdeploy serve api_server /srv/model/big-70B --backend turbomind\nTraceback (most \
               recent call last):\n  File \"/opt/lmdeploy/lmdeploy/serve/async_engine.py\", line 198, in \
               _build_turbomind\n    self.engine = tm.TurboMind.from_pretrained(\n  File \
               \"/opt/lmdeploy/lmdeploy/turbomind/turbomind.py\", line 145, in _create_weight_func\n    \
               model_comm.create_shared_weights(device_id, rank)\nRuntimeError: [TM][ERROR] CUDA runtime error: out of \
               memory /opt/lmdeploy/src/turbomind/utils/memory_utils.cu:32\n";
    let told = report(log);
    assert!(told.contains("du -shL <model>"), "{told}");
    // Its pool is made behind the weights.
    for useless in ["lower-engine-memory", "fewer-sequences"] {
        assert!(!offers_for(log).contains(&useless), "{told}");
    }
    // Of PyTorch's own weights the script knows the size.
    let own = format!("  File \"train.py\", line 9, in <module>\n    model.to('cuda')\n{FULL_CARD}\n");
    assert!(!report(&own).contains("du -shL"), "{}", report(&own));
}

#[test]
fn a_miners_table_that_nearly_fits_wants_the_card_for_itself() {
    let log = |free: &str| {
        format!(
            "20220221 19:02:44 T-Rex NVIDIA GPU miner\n20220221 19:02:44 + GPU #0: [ID=0] Gigabyte GeForce RTX 2060\n20220221 \
             19:02:46 ERROR: Can't find nonce with device [ID=0, GPU #0], Device does not have enough free memory to hold \
             the DAG for epoch 65. Required: 4.98 GB, free: {free} GB.\n"
        )
    };
    let cured = |free: &str| {
        let found = offers_for(&log(free));
        found.iter().position(|id| *id == "free-the-device")
    };
    assert_eq!(cured("4.92"), Some(0), "{}", report(&log("4.92")));
    // What lacks more is no desktop's.
    assert_ne!(cured("1.92"), Some(0), "{}", report(&log("1.92")));
}
