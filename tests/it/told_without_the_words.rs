//! What a thirty-third set, fresh reports and a twenty-second reading had found wrong: pools, codes and limits that stand
//! for a lack of memory without saying so, and whose words they are; one test for each thing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for};
use crate::lines_around::{fails, first_cause, incident, report};

fn text(log: &str, field: &str) -> String {
    incident(log)[field].as_str().unwrap_or_default().to_string()
}

#[test]
fn a_chunk_of_paddles_pool_is_no_array() {
    let log = "Pass 0, batch 0\nPass 0, batch 1\nPass 0, batch 2\nPass 0, batch 3\npaddle.fluid.core.EnforceNotMet: enforce \
               allocating <= available failed, 9811238912 > 1490551808\nat \
               [/work/Paddle/paddle/fluid/platform/gpu_info.cc:89]\n";
    let told = incident(log);
    assert_eq!(told["facts"]["requested_bytes"], 9_811_238_912u64);
    assert_eq!(told["facts"]["free_bytes"], 1_490_551_808u64);
    assert_eq!(first_cause(log), "preallocation");
    // The number of a batch is not its size.
    assert!(told["context"].get("batch_size").is_none(), "{told}");
    assert!(!report(log).contains("the batch is 1"));
}

#[test]
fn a_pool_that_theano_could_not_make_is_its_setting() {
    let log = "$ THEANO_FLAGS=device=gpu,floatX=float32,lib.cnmem=1 python otto.py\nERROR (theano.sandbox.cuda): ERROR: Not \
               using GPU. Initialisation of device gpu failed:\ninitCnmem: cnmemInit call failed! \
               Reason=CNMEM_STATUS_OUT_OF_MEMORY. numdev=1\n";
    assert_eq!(first_cause(log), "preallocation");
}

#[test]
fn what_xla_launches_takes_its_memory_beside_the_pool() {
    let log = "RuntimeError: INTERNAL: Failed to launch CUDA kernel: fusion_12 with block dimensions: 128x1x1 and grid \
               dimensions: 1x1x1: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n";
    assert_eq!(text(log, "framework"), "jax");
    assert_eq!(first_cause(log), "preallocation");
}

#[test]
fn sources_of_jaxlib_are_jax_and_those_of_a_server_tensorflow() {
    let refused = "W external/org_tensorflow/tensorflow/core/common_runtime/bfc_allocator.cc:457] Allocator (GPU_0_bfc) ran \
                   out of memory trying to allocate 12.36GiB (rounded to 13271449600)requested by op\n";
    assert_eq!(text(refused, "framework"), "jax");
    let served = format!(
        "I tensorflow_serving/model_servers/server_core.cc:465] Adding/updating models.\n{}",
        refused.replace("requested by op", "requested by op conv1/Conv2D")
    );
    assert_eq!(text(&served, "framework"), "tensorflow");
}

#[test]
fn an_encoders_context_that_the_driver_refused_for_memory_is_read_by_its_number() {
    let log = |code: &str| {
        format!(
            "[h264_nvenc @ 0x5581c0] Failed creating CUDA context for NVENC: {code}\n[h264_nvenc @ 0x5581c0] No NVENC \
             capable devices found\n"
        )
    };
    assert!(fails(&log("0x2")));
    assert_eq!(text(&log("0x2"), "resource"), "gpu");
    // CUDA_ERROR_NO_DEVICE and CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES.
    assert!(!fails(&log("0x64")) && !fails(&log("0x2bd")));
}

#[test]
fn systemd_oomd_of_its_first_releases_tells_only_why_it_kills() {
    let log = "Apr 01 00:41:12 box systemd-oomd[1011]: Memory pressure for /user.slice/user-1000.slice/user@1000.service is \
               greater than 10 for more than 10 seconds and there was reclaim activity\nApr 01 00:41:13 box systemd[2140]: \
               libpod-9be1.scope: Deactivated successfully.\n";
    assert_eq!(text(log, "framework"), "systemd-oomd");
    assert_eq!(text(log, "resource"), "host");
}

#[test]
fn a_breaker_of_elasticsearch_5_tells_its_limit() {
    let log = "[WARN ][r.suppressed] path: /.kibana/config/5.0.2\norg.elasticsearch.common.breaker.CircuitBreakingException: \
               [parent] Data too large, data for [<http_request>] would be larger than limit of [1491035750/1.3gb]\n";
    assert_eq!(incident(log)["facts"]["limit_bytes"], 1_491_035_750u64);
    assert_eq!(first_cause(log), "framework_limit");
}

#[test]
fn a_heap_of_erlangs_is_the_machines_memory() {
    let log = "=erl_crash_dump:0.3\nFri Aug  4 10:07:22 2017\nSlogan: eheap_alloc: Cannot allocate 785773080 bytes of memory \
               (of type \"heap\").\nSystem version: Erlang/OTP 19 [erts-8.3.2] [64-bit] [smp:8:8] [hipe]\n";
    assert_eq!(text(log, "resource"), "host");
    assert_eq!(incident(log)["facts"]["requested_bytes"], 785_773_080u64);
}

#[test]
fn what_was_typed_above_a_message_is_the_line_that_failed() {
    let log = ">>> import keras_nlp\n>>> lm = keras_nlp.models.GemmaCausalLM.from_preset(\"gemma2_27b_en\")\nXlaRuntimeError: \
               RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 4.48G. That was not possible. \
               There are 2.35G free.; (0x0x0_HBM0)\n";
    assert_eq!(incident(log)["context"]["phase"]["value"], "load");
    // Nothing was computed yet.
    assert!(!offers_for(log).contains(&"shorter-sequences"), "{:?}", offers_for(log));
}

#[test]
fn several_linkers_that_were_killed_ran_at_once() {
    let killed = "collect2: fatal error: ld terminated with signal 9 [Killed]\ncompilation terminated.\n";
    let one = format!("[ 98%] Linking CXX executable ../../bin/opt\n{killed}make[2]: *** [bin/opt] Error 1\n");
    let two = format!("{one}[ 98%] Linking CXX executable ../../bin/llc\n{killed}make[2]: *** [bin/llc] Error 1\n");
    assert_ne!(first_cause(&one), "host_workers");
    assert_eq!(first_cause(&two), "host_workers");
}

#[test]
fn a_library_that_windows_cannot_back_in_training_is_a_workers() {
    let log = |command: &str| {
        format!(
            "PS C:\\yolo> python {command}\nOSError: [WinError 1455] The paging file is too small for this operation to \
             complete. Error loading \"C:\\envs\\yolo\\lib\\site-packages\\torch\\lib\\cudnn_adv_train64_8.dll\" or one of its \
             dependencies.\n"
        )
    };
    assert!(offers_for(&log("train.py --batch 16 --epochs 3")).contains(&"fewer-workers"));
    assert!(!offers_for(&log("detect.py --source 0")).contains(&"fewer-workers"));
}

#[test]
fn a_variable_of_options_tells_the_heap_that_java_has() {
    let log = "HOSTNAME=kafka-connect-0\nKAFKA_HEAP_OPTS=-Xms512M -Xmx8g\njava.lang.OutOfMemoryError: Java heap space\n\tat \
               java.nio.HeapByteBuffer.<init>(HeapByteBuffer.java:57)\n";
    assert_eq!(incident(log)["facts"]["limit_bytes"], 8u64 << 30);
}

#[test]
fn a_piece_that_a_program_left_out_and_went_on_is_no_failure() {
    let failed = "CUDA out of memory. Tried to allocate 8.77 GiB (GPU 0; 14.76 GiB total capacity; 9.11 GiB already allocated; \
                  4.13 GiB free; 9.55 GiB reserved in total by PyTorch)";
    let chain = |end: &str| {
        format!("INFO:root:2214 residues in this chain.\nINFO:root:Failed to generate out/a.pdb due to {failed}\n{end}")
    };
    assert!(!fails(&chain(
        "INFO:root:Skipping...\nINFO:root:Predicting 2th chain in proteome.fasta\nINFO:root:188 residues in this \
         chain.\nINFO:root:Saved\nINFO:root:Done!\n"
    )));
    assert!(fails(&chain("")));
    assert!(fails(&chain("Skipping cleanup of 4 temporary files\nDone\n")), "what is skipped is no piece of the work");
    assert!(fails(&chain("no checkpoint found, skipping\nDone\n")), "nor is this");
    assert!(fails(&chain("Partial results are saved in /tmp/out\n")), "what there was is kept");
}

#[test]
fn texts_that_only_speak_of_it_are_left_alone() {
    for log in [
        ">>> help(Upsampler)\nclass Upsampler(builtins.object)\n |  Args:\n |      tile (int): As too large images result in \
         the out of GPU memory issue, this first crops the input.\n |      pad (int): Default: 0.\n>>> \n",
        "$ pdftotext -f 353 -l 353 manual.pdf - | head\nERROR 101:      memory allocation error.\n                There is \
         not enough physical memory in the computer to analyze the study area.\nERROR 103:      cannot solve it.\n",
        "Exception: Input Error 411: no memory allocated for results\n",
        "\tWith acc backend: CUDA (no memory pool allocator)\nNode 0: Begin Initialization\n",
        "-FaultInjectionCount:-1   Number\n    Injects an out of memory at the specified allocation\n",
        "ERROR service/oom-killer[oom]: memory pressure: critical, usage: 41 MiB, resetting network\nINFO inbound/tun: \
         connection\nDEBUG service/oom-killer[oom]: memory pressure: normal, usage: 21 MiB\n",
    ] {
        assert!(!fails(log), "{log}");
    }
}

#[test]
fn refusals_of_structures_and_null_pointers_are_heard() {
    for log in [
        "readFasta: Failed to alloc seq of length 1732145923\n/usr/local/bin/makedb: line 466: 20117 Segmentation fault      \
         (core dumped) mkbwt -n 16\n",
        "Error: memory.cpp/safemalloc() called from file src/common/memory.h, line 209: malloc() returned nullptr for a size \
         of 3435973836 bytes.\n",
        "[struct stat=\"ERROR\", msg=\"Allocation failed for file info structs.\"]\nmake: *** [final/mosaic.fits] Error 1\n",
        "GRID VM: Could not allocate new interpreter\n",
    ] {
        assert!(fails(log), "{log}");
    }
}

#[test]
fn on_a_mac_processes_are_listed_with_its_own_tools() {
    let log = "Traceback (most recent call last):\n  File \
               \"/Users/elif/seg/lib/python3.11/site-packages/batchgenerators/dataloading/nondet_multi_threaded_augmenter.py\", \
               line 103, in results_loop\n    raise RuntimeError(\"One or more background workers are no longer alive. \
               Exiting.\")\nRuntimeError: One or more background workers are no longer alive. Exiting.\n";
    let told = report(log);
    assert!(!told.contains("--sort=-rss"), "{told}");
    assert!(!told.contains("was killed"), "{told}");
}

#[test]
fn no_traceback_is_promised_where_no_interpreter_runs() {
    let log = "[2022:08:09:19:27:41]: Error: Couldn't allocate cuda array: cudaErrorMemoryAllocation:out of memory\n";
    assert!(lines_of(log, "launch-blocking").is_empty());
}

#[test]
fn autocast_is_not_advised_to_a_torch_that_lacks_it_on_metal() {
    let log = |version: &str| {
        format!(
            "$ pip list | grep torch\ntorch                     {version}\nmira@MacBook-Air cut % python process.py \
             talk.wav\nRuntimeError: MPS backend out of memory (MPS allocated: 7.42 GB, other allocations: 1.27 GB, max \
             allowed: 9.07 GB). Tried to allocate 552.35 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to \
             disable upper limit for memory allocations (may cause system failure).\n"
        )
    };
    assert!(!report(&log("2.1.0")).contains("autocast"));
    assert!(report(&log("2.6.0")).contains("autocast"));
}

#[test]
fn what_a_session_of_tensorflow_returns_keeps_no_tensor() {
    let log = "INFO:tensorflow:global step 47217: loss = 1.8034 (0.402 sec/step)\nINFO:tensorflow:global step 47218: loss = \
               1.9034 (0.402 sec/step)\nTraceback (most recent call last):\n  File \
               \"/home/ann/det/lib/python3.6/site-packages/tensorflow/python/client/session.py\", line 1370, in _do_call\n    \
               raise type(e)(node_def, op, message)\ntensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when \
               allocating tensor with shape[32,960,10,10] and type float on \
               /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n";
    assert!(lines_of(log, "detach-logged-tensors").is_empty());
}

#[test]
fn a_handle_of_cudnn_that_theanos_pool_leaves_no_room_for() {
    let log = "RuntimeError: ('The following error happened while compiling the node', GpuDnnConvGradW{algo='none', \
               inplace=True}(GpuContiguous.0), '\\n', 'could not create cuDNN handle: CUDNN_STATUS_INTERNAL_ERROR')\n$ cat \
               ~/.theanorc\n[gpuarray]\npreallocate = 1\n";
    assert_eq!(first_cause(log), "preallocation");
    assert_eq!(text(log, "framework"), "theano");
}

#[test]
fn a_child_that_starts_is_told_by_its_other_frames_too() {
    let log = "Traceback (most recent call last):\n  File \"C:\\Anaconda3\\lib\\multiprocessing\\spawn.py\", line 125, in _main\n    \
               prepare(preparation_data)\n  File \"C:\\Anaconda3\\lib\\multiprocessing\\spawn.py\", line 236, in prepare\n    \
               _fixup_main_from_path(data['init_main_from_path'])\n  File \"C:\\Anaconda3\\lib\\multiprocessing\\spawn.py\", line \
               287, in _fixup_main_from_path\n    main_content = runpy.run_path(main_path,\nOSError: [WinError 1455] The paging \
               file is too small for this operation to complete. Error loading \
               \"C:\\Anaconda3\\lib\\site-packages\\torch\\lib\\cudnn_adv.dll\" or one of its dependencies.\n";
    assert_eq!(first_cause(log), "host_workers");
    assert!(offers_for(log).contains(&"fewer-workers"));
}

#[test]
fn text_of_a_fixed_width_takes_four_bytes_a_letter() {
    let log = "Traceback (most recent call last):\n  File \"/srv/pages/extractor.py\", line 124, in labels\n    return \
               np.array(all_html)\nMemoryError: Unable to allocate array with shape (27109,) and data type <U1884285\n";
    assert_eq!(incident(log)["facts"]["requested_bytes"], 27_109u64 * 1_884_285 * 4);
    assert_eq!(first_cause(log), "single_huge_allocation");
}

#[test]
fn sizes_in_three_dimensions_that_no_machine_has_were_meant_by_nobody() {
    let log = "Error using imResampleMex\nRequested 880554195162x14446375007443760620x3082935754914582857 (17179869184.0GB) array \
               exceeds maximum array size preference.\n";
    assert_ne!(first_cause(log), "framework_limit");
}

#[test]
fn an_out_of_memory_error_over_a_notebooks_traceback_is_a_devices() {
    let log = "---------------------------------------------------------------------------\nOutOfMemoryError                          \
               Traceback (most recent call last)\n~\\AppData\\Local\\Temp/ipykernel_9120/1177340262.py in <module>\n----> 2 \
               probe.show(ax=ax)\n\nc:\\work\\abtem\\abtem\\waves.py in build(self, normalize)\n-> 2132             return \
               self._build_convential(normalize=normalize)\n";
    assert_eq!(text(log, "resource"), "gpu");
}

#[test]
fn electrons_window_and_postgresqls_record_tell_of_it_in_their_own_words() {
    let gone = "Render process is gone\n\nError: Reason: oom, Exit Code: -536870904\n    at App.<anonymous> \
                (app\\global_errors.js:94:7)\n";
    assert_eq!(text(gone, "resource"), "host");
    let record = "WARNING:  Parse error Record 1: Input Record 1: Rejected - column 2. invalid memory alloc request size \
                  1096285184\nNOTICE: BULK LOAD END\n";
    assert_eq!(incident(record)["facts"]["requested_bytes"], 1_096_285_184u64);
}

#[test]
fn mappings_end_at_the_kernels_default() {
    let counted = "$ ./maploop\n65478th iteration, Error number: 12\nCannot allocate memory\n";
    assert!(offers_for(counted).contains(&"raise-ulimit"), "{:?}", offers_for(counted));
    assert!(report(counted).contains("vm.max_map_count"));
    let java = "# There is insufficient memory for the Java Runtime Environment to continue.\n# Native memory allocation (mmap) \
                failed to map 16384 bytes for committing reserved memory.\n";
    assert!(report(java).contains("vm.max_map_count"));
    assert_eq!(first_cause(java), "framework_limit");
    assert!(!report(&java.replace("16384", "268435456")).contains("vm.max_map_count"));
}

#[test]
fn a_runner_that_lost_contact_was_not_seen_to_be_killed() {
    let log = "X The hosted runner lost communication with the server. Anything in your workflow that terminates the runner \
               process, starves it for CPU/Memory, or blocks its network access can cause this error.\n";
    assert!(!report(log).contains("SIGKILL"));
}

#[test]
fn what_comes_with_a_program_is_about_it() {
    for log in [
        "$ sed -n 855,861p README.md\n#### Flag `--compressed-caching`\n\nSet this to false if your build fails\nwith an out of \
         memory error. Defaults to true.\n\n$ /kaniko/executor version\n",
        "$ lynx -dump /usr/share/doc/3proxy/html/howtoe.html | sed -n '/codes/,/^$/p'\n     * 21 - memory allocation failed\n     \
         * 90 - unexpected system error\n",
        "    :param autoregressive_batch_size: how many samples to generate. Lower this if you are seeing\n                      \
                        GPU OOM errors. Larger numbers generates slightly faster.\n",
        "WARNING: Your system has a limit for maximum amount of locked memory!\n         This might cause Ardour to run out of \
         memory before your system runs\n         out of memory. You can view the memory limit with 'ulimit -l'\n",
        "[2026-08-22 10:14:09.800] dbg open-files.cc:87 Full preallocation failed: No space left on device (28)\n",
        "failed to sufficiently increase receive buffer size (was: 208 kiB, wanted: 2048 kiB, got: 416 kiB).\n",
    ] {
        assert!(!fails(log), "{log}");
    }
    assert!(fails("Loading the index, this may take a while\nout of memory\n"), "no sentence that goes on");
    // What somebody keeps may be a log.
    assert!(fails("$ cat notes.md\nterminate called after throwing an instance of 'std::bad_alloc'\n"));
}

#[test]
fn a_command_in_brackets_runs_and_a_code_of_137_is_a_kill() {
    let brackets = "$ cat grow.js\nvar a = [];\n$ (ulimit -v 200000; mujs grow.js)\nout of memory\n$ echo $?\n1\n";
    assert!(fails(brackets));
    let code = "ERROR: external program called by OrthoFinder returned an error code: 137\n\nstdout\n------\nb''\nstderr\n------\n\
                b'Killed\\n'\n";
    assert!(fails(code));
    let daemon = "Command failed:\nBuck2 daemon was killed by an OOM killer due to high memory pressure (the kernel reported \
                  killing daemon PID 81022).\n";
    assert_eq!(text(daemon, "resource"), "host");
}

#[test]
fn emscriptens_heap_that_may_not_grow_is_a_limit() {
    let log = "Cannot enlarge memory arrays. Either (1) compile with  -s TOTAL_MEMORY=X  with X higher than the current value \
               50331648, (2) compile with  -s ALLOW_MEMORY_GROWTH=1  which adjusts the size at runtime but prevents some \
               optimizations, (3) set Module.TOTAL_MEMORY to a higher value before the program runs, or if you want malloc \
               to return NULL (0) instead of this abort, compile with  -s ABORTING_MALLOC=0\n";
    assert_eq!(text(log, "framework"), "emscripten");
    assert_eq!(first_cause(log), "framework_limit");
    assert!(report(log).contains("ALLOW_MEMORY_GROWTH=1"));
}

#[test]
fn a_heap_of_java_that_python_reports_is_its_limit() {
    let log = "Traceback (most recent call last):\n  File \"cellprofiler\\pipeline.pyc\", line 2024, in prepare_run\n  File \
               \"cellprofiler\\modules\\metadata.pyc\", line 545, in prepare_run\nJavaException: Java heap space\n";
    assert_eq!(first_cause(log), "framework_limit");
}

#[test]
fn what_libcpp_calls_more_than_supported_is_a_request_that_failed() {
    let log = "libc++abi: terminating with uncaught exception of type std::length_error: allocator<T>::allocate(size_t n) 'n' \
               exceeds maximum supported size\n";
    assert!(fails(log));
    assert!(!fails("upload refused: the file exceeds maximum supported size\n"));
}

#[test]
fn oracles_shared_pool_is_a_setting() {
    let log = "ORA-04031: unable to allocate 1036152 bytes of shared memory (\"shared pool\",\"unknown object\",\"PDB Dynamic \
               He\",\"Alloc/Free SWRF Metric CHBs\")\n";
    assert_eq!((text(log, "framework").as_str(), first_cause(log).as_str()), ("oracle", "framework_limit"));
    assert!(report(log).contains("sga_target"));
    let own = "ORA-04030: out of process memory when trying to allocate 16328 bytes (koh-kghu call ,kollalos)\n";
    assert_ne!(first_cause(own), "framework_limit");
}

#[test]
fn pages_that_the_jvm_may_not_map_are_no_lack_of_memory() {
    let log = |why: &str| {
        format!(
            "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x00006f1d2a4b1000, 2555904, 1) failed; error='{why}\n#\n# \
             There is insufficient memory for the Java Runtime Environment to continue.\n# Native memory allocation (mmap) \
             failed to map 2555904 bytes for committing reserved memory.\n"
        )
    };
    assert!(
        !fails(&log("Operation not permitted' (errno=1)")),
        "{}",
        report(&log("Operation not permitted' (errno=1)"))
    );
    assert!(fails(&log("Cannot allocate memory' (errno=12)")));
}

#[test]
fn an_allocator_of_the_host_is_no_devices() {
    let log = ">>> from faster_whisper import WhisperModel\n>>> model = WhisperModel(\"large-v3\", device=\"cuda\", \
               compute_type=\"float16\")\nmkl_malloc: failed to allocate memory\n";
    assert_eq!(text(log, "resource"), "host");
    let msvc = "    pipe = openvino_genai.Text2ImagePipeline(args.model_dir, device)\nRuntimeError: Exception from \
                src\\inference\\src\\cpp\\core.cpp:113:\nException from src\\core\\src\\runtime\\allocator.cpp:79:\nbad \
                allocation\n";
    assert_eq!(text(msvc, "resource"), "host");
}

#[test]
fn an_input_that_divides_the_memory_is_a_limit() {
    let log = |deck: &str| {
        format!(
            "          Northwest Computational Chemistry Package (NWChem) 7.0.2\n\n{deck}\ntask scf energy\n\n \
             fock_rep_txs: insufficient memory            179833403\n"
        )
    };
    assert_eq!(first_cause(&log("memory total 2000 mb global 700 mb")), "framework_limit");
    assert!(report(&log("memory total 2000 mb global 700 mb")).contains("memory total <MB> mb"));
    assert_ne!(first_cause(&log("memory of the molecule")), "framework_limit");
}

#[test]
fn a_builder_of_an_index_that_gives_up_has_failed() {
    let log = "Ran out of memory; automatically trying more memory-economical parameters.\nCould not find approrpiate bmax/dcv \
               settings for building this index.\nPlease try indexing this reference on a computer with more memory.\nError: \
               Encountered internal HISAT2 exception (#1)\n";
    assert!(fails(log));
}

#[test]
fn a_crash_between_dashes_is_no_option() {
    assert!(fails("---crashlog(std::system_error(Out of device memory))---\nGPU: GeForce GTX 750\n"));
}

#[test]
fn an_image_of_a_swapchain_is_the_devices() {
    let log =
        "Encountered Vulkan error c4641cbd while creating swapchain: Failed to allocate memory for Vulkan image\n";
    assert_eq!(text(log, "resource"), "gpu");
}

#[test]
fn the_line_of_a_function_is_no_size() {
    let log = "W Adreno-GSL: <gsl_ldd_control:549>: ioctl fd 58 code 0xc0300945 (IOCTL_KGSL_GPUOBJ_ALLOC) failed: errno 12 Out \
               of memory\nE Adreno-GSL: <gsl_memory_alloc_pure:2354>: GSL MEM ERROR: kgsl_sharedmem_alloc ioctl failed.\nE \
               libc++abi: terminating with uncaught exception of type tvm::runtime::InternalError:\n";
    let told = incident(log);
    assert!(told["facts"].get("requested_bytes").is_none(), "{told}");
}

#[test]
fn a_marker_within_a_word_names_nobody() {
    let log = "Error out of memory at /work/Install_Tools/charmm/source/fftdock/cuda_grid_lig.cu:174  in generating ligand grids \
               using GPU\n";
    assert_ne!(text(log, "framework"), "rapids");
    assert_ne!(text(&log.replace("charmm/source", "aircraft/mesh"), "framework"), "rapids");
}

#[test]
fn a_call_of_cudas_driver_is_the_devices() {
    assert_eq!(text("MemoryError: cuMemAlloc failed: out of memory\n", "resource"), "gpu");
}

#[test]
fn bounce_buffers_have_the_size_of_their_parameter() {
    let log = "[   12.470000] RKNPU fde40000.npu: swiotlb buffer is full (sz: 6422528 bytes)\n";
    assert_eq!(first_cause(log), "framework_limit");
    assert!(report(log).contains("swiotlb=<more slots"), "{}", report(log));
}
