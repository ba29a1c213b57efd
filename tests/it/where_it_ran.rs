//! What a thirty-second set, fresh reports and a twentieth reading had found wrong, mostly about the system and the
//! program that a message came from: one test for each thing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for};
use crate::lines_around::{fails, first_cause, incident, report};

fn text(log: &str, field: &str) -> String {
    incident(log)[field].as_str().unwrap_or_default().to_string()
}

#[test]
fn who_tried_again_and_left_the_user_at_a_prompt_is_gone() {
    let log = |end: &str| {
        format!(
            "D:\\llm>D:\\llm\\koboldcpp.exe -m model.gguf -c 153000 --usecuda\nWelcome to KoboldCpp - Version 1.102\n\
             ggml_backend_cuda_buffer_type_alloc_buffer: allocating 12800.00 MiB on device 0: cudaMalloc failed: out of \
             memory\ngraph_reserve: failed to allocate compute buffers\nllama_context: compute buffer allocation failed, \
             retrying without pipeline parallelism\n{end}\n"
        )
    };
    for prompt in ["D:\\llm>", "ann@box:~/llm$", "[root@box llm]#", "$ echo $?"] {
        assert!(fails(&log(&format!("\n{prompt}"))), "{prompt}");
    }
    assert!(!fails(&log("llama_context:      CUDA0 compute buffer size =  4304.00 MiB\nmain: server is listening\n")));
}

#[test]
fn a_heap_of_javas_is_named_by_whose_stack_it_is() {
    let heap = |stack: &str| format!("java.lang.OutOfMemoryError: Java heap space\n{stack}\n");
    for (stack, name) in [
        (
            "\tat org.apache.hadoop.hbase.regionserver.RSRpcServices.scan(RSRpcServices.java:33)\n\tat \
             org.apache.hadoop.hbase.ipc.RpcServer.call(RpcServer.java:92)",
            "hbase",
        ),
        ("\tat com.bigdata.io.DirectBufferPool.allocate(DirectBufferPool.java:26)", "blazegraph"),
        ("\tat org.opensolver.mesh.Builder.grow(Builder.java:12)", "opensolver"),
    ] {
        assert_eq!(text(&heap(stack), "program"), name, "{stack}");
        assert_eq!(text(&heap(stack), "framework"), "java");
    }
    // A class that runs is of its package's program, and a folder of classes is no program.
    let run = format!("$ java -Xmx500m -cp grid-parser.jar:lib/* org.gridparse.Main a.txt\n{}", heap(""));
    assert_eq!(text(&run, "program"), "gridparse");
}

#[test]
fn frames_tell_windows_by_their_drive() {
    let go = "runtime: out of memory: cannot allocate 17179869184-byte block (17243280508 in use)\nfatal error: out of \
              memory\n\nruntime stack:\nruntime.throw(0x7f1b7a, 0xd)\n\tD:/go/src/runtime/panic.go:605 +0x9c\n";
    let julia = "ERROR: Out of GPU memory\nStacktrace:\n  [1] throw_api_error(res::CUDA.cudaError_enum)\n    @ CUDA \
                 E:\\.julia\\packages\\CUDA\\Wfi8S\\lib\\cudadrv\\libcuda.jl:28\n";
    for log in [go, julia] {
        assert_eq!(incident(log)["context"]["platform"]["value"], "windows", "{log}");
        let told = report(log);
        assert!(!told.contains("free -h") && !told.contains("swapon"), "{told}");
    }
    let unix = go.replace("D:/", "/usr/local/");
    assert_ne!(incident(&unix)["context"]["platform"]["value"], "windows");
}

#[test]
fn on_bsd_nothing_of_linux_is_typed_and_its_limit_on_data_is_told() {
    let log = |system: &str| {
        format!(
            "$ ./configure && gmake\ngmake[2]: Entering directory '/home/ines/grid'\n  CXX      src/mesh.lo\nLLVM ERROR: \
             out of memory\nAllocation failed\n$ uname -sr\n{system}\n"
        )
    };
    let bsd = log("OpenBSD 7.1");
    let told = report(&bsd);
    for line in ["free -h", "fallocate", "/proc/", "make -j2"] {
        assert!(!told.contains(line), "{line} in {told}");
    }
    assert!(lines_of(&bsd, "raise-ulimit").iter().any(|line| line.starts_with("ulimit -d")), "{told}");
    assert!(report(&log("Linux 6.1.0")).contains("free -h"));
    for elsewhere in ["found netcat-openbsd 1.2", "starting guest FreeBSD 14.0 on images"] {
        assert_ne!(incident(&log(elsewhere))["context"]["platform"]["value"], "bsd", "{elsewhere}");
    }
}

#[test]
fn make_behind_another_command_runs_one_compiler_at_a_time_unless_it_is_told_more() {
    let log = |make: &str| {
        format!("$ ./configure && {make}\ngmake[2]: Entering directory '/home/ines/grid'\nLLVM ERROR: out of memory\n")
    };
    assert!(!offers_for(&log("gmake")).contains(&"fewer-at-once"));
    assert!(offers_for(&log("gmake -j8")).contains(&"fewer-at-once"));
}

#[test]
fn what_the_kernel_counts_is_no_lack_of_memory() {
    let maps = "[2281907] FATAL: out of memory (unable to allocate 41943048 bytes)\n[2318264] WARNING: prealloc failed: \
                failed to mmap file 'var/items.169.spa': Cannot allocate memory (length=4526572)\n";
    assert!(lines_of(maps, "raise-ulimit").iter().any(|line| line.contains("vm.max_map_count")));
    let ring = "DEBUG segment::common::error_logging] Error while: Creating UringReader\nERROR collection] Optimization \
                error: Out of memory, free: 9223372032880730112, IO Error: Cannot allocate memory (os error 12)\n";
    assert!(lines_of(ring, "raise-ulimit").iter().any(|line| line.starts_with("ulimit -l")));
    assert_eq!(first_cause(ring), "framework_limit");
    assert!(!report(ring).contains("TiB"), "a counter below nought is no size");
    let map = "java.lang.OutOfMemoryError: Map failed\n\tat java.base/sun.nio.ch.FileChannelImpl.map0(Native Method)\n";
    assert!(lines_of(map, "raise-ulimit").iter().any(|line| line.contains("vm.max_map_count")));
}

#[test]
fn the_first_epoch_of_a_run_shows_nothing_that_fitted_before() {
    let log = |command: &str| {
        format!(
            "$ python train.py {command}\nEpoch 11/40\nTraceback (most recent call last):\n  File \"train.py\", line 90, \
             in <module>\n    out = model(x)\nRuntimeError: CUDA out of memory. Tried to allocate 256.00 MiB (GPU 0; 7.92 \
             GiB total capacity; 6.94 GiB already allocated; 112.38 MiB free; 7.05 GiB reserved in total by PyTorch)\n"
        )
    };
    assert!(report(&log("--lr 0.1")).contains("epoch 11 had been reached"));
    for begins in ["--start_epoch 11", "--start-epoch=11", "-initial_epoch 11"] {
        assert!(!report(&log(begins)).contains("had been reached"), "{begins}");
    }
}

#[test]
fn a_banner_that_says_testing_is_of_what_follows() {
    let log = "$ th main.lua -ds kitti\n [========= 3000/3000 ======>]  Tot: 7h7m | Step: 83ms\ntrain epoch 11   err \
               0.103182   lr 0.003\n\n===> testing...\nTHCudaCheck FAIL file=THCStorage.cu line=66 error=2 : out of \
               memory\n./networks/SpatialConvolution1_fw.lua:19: cuda runtime error (2) : out of memory at \
               THCStorage.cu:66\n";
    assert_eq!(first_cause(log), "transient_peak");
    assert!(offers_for(log).contains(&"smaller-eval-batch"));
}

#[test]
fn the_drivers_words_alone_are_anybodys() {
    let bare = "$ python train_end2end.py --gpus 0\ncudaMalloc failed: out of memory\n";
    assert_ne!(text(bare, "framework"), "llama.cpp");
    let torn = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 512.00 MiB on device 0:\ncudaMalloc failed: out of \
                memory\n";
    assert_eq!(text(torn, "framework"), "llama.cpp");
}

#[test]
fn an_option_is_spelled_as_the_script_has_it() {
    let log = "Traceback (most recent call last):\n  File \"train.py\", line 221, in <module>\n    \
               num_workers=opt.num_workers\n  File \"train.py\", line 131, in train\n    pred = model(imgs)\nRuntimeError: \
               DataLoader worker (pid 3177) is killed by signal: Killed.\n";
    assert!(lines_of(log, "fewer-workers").iter().any(|line| line.starts_with("--num-workers 2")));
}

#[test]
fn a_service_of_compose_has_its_devices_there() {
    let log = "# docker-compose.yml\n#  image: acme/sub\n$ docker logs sub | tail -1\nINFO:root:Error processing a.avi: CUDA \
               failed with error out of memory\n";
    let lines = lines_of(log, "other-device");
    assert!(lines.iter().all(|line| !line.contains("CUDA_VISIBLE_DEVICES")), "{lines:?}");
}

#[test]
fn nextflow_on_the_machine_itself_sets_no_limit() {
    let log = |executor: &str| {
        format!(
            "executor >  {executor} (1)\nError executing process > 'registration:ashlar'\n\nCaused by:\n  Process \
             `registration:ashlar` terminated with an error exit status (137)\n"
        )
    };
    let memory = |log: &str| lines_of(log, "raise-host-limit").iter().any(|line| line.contains("withName"));
    assert!(!memory(&log("local")));
    assert!(memory(&log("slurm")));
}

#[test]
fn models_built_in_one_graph_are_counted_by_its_variables() {
    let log = |count: u64| {
        format!(
            "W tensorflow/core/common_runtime/executor.cc:1076] Compute status: Resource exhausted: OOM when allocating \
             tensor with shape\n\t [[Node: sub_94 = Sub[T=DT_FLOAT, _device=\"/job:localhost/task:0/gpu:0\"](sub_94/x, \
             Variable_{count}/read)]]\n"
        )
    };
    assert_eq!(first_cause(&log(2014)), "leak_growth");
    assert!(offers_for(&log(2014)).contains(&"release-earlier-rounds"));
    assert_ne!(first_cause(&log(14)), "leak_growth");
}

#[test]
fn a_program_goes_on_without_what_it_could_not_have() {
    let solver = "SCS v3.2.4\nFailed to allocate memory for AA.\nWARN: aa_init returned NULL, no acceleration applied.\n \
                  225| 2.0e-05  1.1e-04  3.3e-05  1.2e+00  1.0e+00  4.01e+00\nstatus:  solved\n";
    assert!(!fails(solver));
    let twice = " *ERROR   990: PROGRAMMING ERROR IN SUBROUTINE ALLOCATE_L1\n               CANNOT ALLOCATE MEMORY TO ARRAY \
                 MGG. IT IS ALREADY ALLOCATED\n";
    assert!(!fails(twice));
    assert!(fails("> *Error*: Not enough memory to read deep_i_212.ldac\nmake: *** [astrom] Error 1\n"));
}

#[test]
fn a_share_is_raised_where_that_is_enough_and_the_chunk_is_cut_where_it_is_not() {
    let log = |weights: u32, buffers: u32| {
        format!(
            "$ mlc_llm serve ./model\nTVMError: Check failed: (output_res.IsOk()) is false: Insufficient GPU memory error: \
             The available single GPU memory is 20400.000 MB, which is less than the sum of model weight size \
             ({weights}.000 MB) and temporary buffer size ({buffers}.000 MB).\n1. You can set a larger \
             \"gpu_memory_utilization\" value.\n"
        )
    };
    let share = |log: &str| lines_of(log, "raise-engine-memory").join(" ");
    assert!(share(&log(6000, 14600)).contains("gpu_memory_utilization=0.87"), "{}", share(&log(6000, 14600)));
    assert_eq!(share(&log(12000, 14600)), "");
    assert!(offers_for(&log(12000, 14600)).contains(&"fewer-sequences"));
    assert!(!offers_for(&log(21000, 600)).contains(&"fewer-sequences"), "the weights alone are too large");
}
