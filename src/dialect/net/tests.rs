use super::*;
use crate::dialect;

fn caught(log: &str) -> Option<Event> {
    let document = Document::from_text("-", log);
    dialect::events(&document).into_iter().find(|event| event.has(Sign::Generic) && event.standing == Standing::Failure)
}

#[test]
fn a_program_in_no_list_is_read_by_its_words() {
    let event = caught(
        "gridtool 2.1 starts\n[GridTool] ERROR: not enough GPU memory on device 1: need 5.00 GiB, 1.00 GiB free of 8.00 GiB\nAborted\n",
    )
    .unwrap();
    assert_eq!((event.program.id(), event.resource), ("gridtool", Resource::Gpu));
    let get = |fact| event.facts.get(fact).map(|figure| figure.bytes >> 30);
    assert_eq!((get(Fact::Requested), get(Fact::Free), get(Fact::Capacity)), (Some(5), Some(1), Some(8)));
    assert_eq!(event.facts.device.value(), Some(1));
}

#[test]
fn other_languages_and_interfaces_are_heard() {
    for (line, resource) in [
        ("错误：显存不足，需要 5 GiB", Resource::Gpu),
        ("ошибка: недостаточно памяти на GPU", Resource::Gpu),
        ("Fehler: nicht genügend Speicher auf der GPU", Resource::Gpu),
        ("clEnqueueNDRangeKernel failed: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)", Resource::Gpu),
        ("error: Cannot allocate memory (ENOMEM)", Resource::Host),
        ("clCreateBuffer failed: -4", Resource::Gpu),
        ("vkAllocateMemory returned VkResult -2", Resource::Gpu),
        ("CreateCommittedResource failed, hr=0x8007000E, D3D12 device", Resource::Gpu),
    ] {
        let log = format!("{line}\n");
        let document = Document::from_text("-", &log);
        let events = dialect::events(&document);
        let event = events.iter().find(|event| event.standing == Standing::Failure);
        assert_eq!(event.map(|event| event.resource), Some(resource), "{line}");
    }
}

#[test]
fn what_reports_no_failure_is_not_caught() {
    for line in [
        "# how to avoid out of memory errors",
        "except gridlib.OutOfMemory:",
        "test_out_of_memory PASSED",
        "num_ooms: 0, out of memory: 0",
        "  --oom-score-adj N  set the score (out of memory)",
        "Set this if you run out of memory on a GPU",
        "Why do I get out of memory?",
        "WARNING: not enough memory for a plan of 2.0 GiB, retrying with a smaller one",
        "gridtool: warning: allocating more than half of available memory (10 GiB)",
        "INFO: out of memory guard is on",
    ] {
        assert_eq!(caught(&format!("{line}\nstep 1/9\nstep 2/9\nstep 3/9\n")), None, "{line}");
    }
}

fn sizes(event: &Event) -> Vec<(Fact, u64)> {
    event.facts.sizes.iter().map(|(fact, figure)| (*fact, figure.bytes >> 20)).collect()
}

#[test]
fn a_question_unsays_nothing_that_an_earlier_sentence_has_stated() {
    assert!(caught("gridtool: failed to allocate 12 MiB. Out of memory?\n").is_some());
    assert!(caught("gridtool: Out of memory?\n").is_none());
}

#[test]
fn a_message_in_a_frame_of_bars_is_read_with_the_lines_that_continue_it() {
    let log = "+----------------------------------+\n| Error: out of memory allocating  |\n\
               |   2048 MiB for the mesh          |\n+----------------------------------+\n";
    assert_eq!(sizes(&caught(log).unwrap()), vec![(Fact::Requested, 2048)]);
    let row = "| gridtool | out of memory | 2048 MiB |\n";
    assert!(caught(row).is_none(), "a row of a table reports nothing");
}

#[test]
fn the_state_printed_before_a_message_gives_what_is_free() {
    let failed = "ERROR gridtool: failed to allocate 2048 MiB on the GPU\n";
    let state = |free: u32, total: u32| format!("GPU memory: {free} MiB free of {total} MiB\ntile 1\ntile 2\n");
    let told = |log: &str| sizes(&caught(log).unwrap());
    let whole = vec![(Fact::Requested, 2048), (Fact::Capacity, 8192), (Fact::Free, 512)];
    assert_eq!(told(&format!("{}{failed}", state(512, 8192))), whole);
    let early = vec![(Fact::Requested, 2048), (Fact::Capacity, 8192)];
    assert_eq!(told(&format!("{}{failed}", state(4096, 8192))), early, "there was room then");
    let two = format!("{}{}{failed}", state(512, 8192), state(512, 16384));
    assert_eq!(told(&two), vec![(Fact::Requested, 2048)], "two devices");
}

#[test]
fn a_list_of_needs_counts_where_it_bears_the_message_out() {
    let list =
        |asked: u32| format!("- available: 900 MB\n- requirement: {asked} MB\nERROR gridtool: not enough memory\n");
    assert_eq!(sizes(&caught(&list(2000)).unwrap()), vec![(Fact::Requested, 2000), (Fact::Free, 900)]);
    assert!(!sizes(&caught(&list(200)).unwrap()).contains(&(Fact::Free, 900)));
}

#[test]
fn a_nought_counts_cases_or_numbers_what_stands_before_it() {
    assert!(caught("gridtool: 0 out of memory\n").is_none());
    assert!(caught("gridtool: node 0 out of memory\n").is_some());
    assert!(caught("gridtool: rank 0 failed to allocate 12 MiB\n").is_some());
}

#[test]
fn words_of_any_kind_may_say_which_memory_ran_out() {
    assert!(caught("gridtool: out of pre-allocated memory\n").is_some());
    assert!(caught("gridtool ran out of usable tile memory\n").is_some());
    assert!(caught("gridtool made out of recycled tile memory\n").is_none());
}

#[test]
fn what_is_said_to_suffice_is_needed() {
    let event = caught("gridtool: out of memory. Run it on a machine with at least 8 GB\n").unwrap();
    assert_eq!(sizes(&event), vec![(Fact::Needed, 8192)]);
    let event = caught("gridtool: out of memory with at least 8 GB free\n").unwrap();
    assert_eq!(sizes(&event), vec![(Fact::Free, 8192)]);
}

#[test]
fn a_devices_memory_as_it_was_printed_at_the_start_is_its_capacity() {
    let failed = "mesh done\nGPU error: out of memory\n";
    let told = |log: &str| sizes(&caught(log).unwrap());
    assert_eq!(told(&format!("Total global memory: 8.00 GiB\n{failed}")), vec![(Fact::Capacity, 8192)]);
    assert_eq!(told(&format!("VRAM: 8.00 GiB\nVRAM: 6.00 GiB\n{failed}")), vec![], "two devices");
    for other in ["GPU memory used: 8.00 GiB", "GPU memory: 8.00 GiB (3 cards)"] {
        let told = told(&format!("{other}\n{failed}"));
        assert!(told.iter().all(|(fact, _)| *fact != Fact::Capacity), "{other}: {told:?}");
    }
}

#[test]
fn what_a_log_says_of_memory_where_nothing_failed_is_left_alone() {
    for line in [
        "Memory limit: 16 GiB",
        "memory limit set to 80% of 64 GB",
        "I0601 08:31:19.700412 12 memory.cpp:651] Discarded OOM notifier for container 6a0e",
        "insufficient memory bandwidth on this platform, expect slow performance",
        "[PASS] returns ENOMEM when the arena is full",
        "failed to allocate a connection",
        "worker failed, exit status: -12",
        "heap size 4096 MB, max 8192 MB, used 1201 MB",
        "allocated 12.4 GiB in 312 blocks, 0 failed",
        "allocator: 1201 allocations, 1201 frees, no failures",
        "cache full, dropping the oldest 12 entries",
        "buffer full, waiting for the consumer",
        "connection pool exhausted, 12 clients wait",
        "INFO retry budget exhausted for peer 3, giving the request back",
        "ERROR no space left on device: /scratch",
        "ERROR disk quota exceeded for user ann",
        "ERROR rate limit exceeded: 60 requests per minute",
        "ERROR request body exceeds the maximum of 32 MB",
        "ERROR upload of 5 GB rejected: larger than the limit of 2 GB",
        "ERROR too many open files",
        "ERROR could not allocate port 8080: already in use",
        "ERROR failed to allocate an IP address from the subnet",
        "ERROR failed to allocate 4 GPUs for the job: none is free",
        "ERROR unable to reserve a slot in the queue",
        "ERROR cannot extend the lease: it has expired",
        "ERROR cannot create directory: permission denied",
        "ERROR cannot resize the window below 40 columns",
        "ERROR context length exceeded: 9120 of 8192 tokens",
        "ERROR message too large: 1201 bytes, limit 1024",
        "ERROR stack overflow in the parser at depth 512",
        "ERROR register allocation failed for kernel grow_mesh",
        "WARNING memory usage at 91 %, threshold 90 %",
        "WARNING swap is not enabled",
        "WARNING low memory mode is on",
        "running in low-memory mode",
        "  --max-memory N   stop reading when the memory used exceeds N MB",
        "  -m, --mem-limit  memory limit in MB (default: 80% of RAM)",
        "Usage: gridtool [--mem GB] [--no-mmap]",
        "Increase --heap if the solver runs short of memory",
        "This option may need up to 3 GB of memory",
        "Recommended: at least 16 GB of RAM",
        "Minimum requirements: 8 GB of RAM, 20 GB of disk",
        "System check: 64 GB of RAM, minimum 8 GB: passed",
        "estimated memory requirement: 12.1 GiB of 24.0 GiB",
        "needs 3.1 GB of memory, 20.4 GB available",
        "requires 512 MB of GPU memory; the device has 8192 MB",
        "peak memory 12.1 GiB, limit 16.0 GiB",
        "max RSS 1201 MB (limit 4096 MB)",
        "memory: used 12 GB, free 52 GB, total 64 GB",
        "oom_score_adj is 300",
        "OOM killer is enabled in this cgroup",
        "vm.overcommit_memory = 1",
        "MemFree: 1201 kB",
        "oom_kill 0",
        "0 out-of-memory events since the start",
        "no out-of-memory errors in the last 30 days",
        "the test 'fails when memory is exhausted' passed",
        "test alloc::returns_null_on_failure ... ok",
        "ok 12 - malloc failure is reported to the caller",
        "def on_memory_exhausted(self):",
        "raise GridMemoryError(\"not enough memory\")",
        "* Fixed a crash when allocation of the index failed",
        "- Out of memory errors are now reported with the file's name",
        "See the manual, chapter 4: what to do when memory is exhausted",
        "the garbage collector freed 312 MB, heap at 40 %",
        "page cache dropped: 12 GB freed",
        "evicting 3 blocks from the cache, limit 8 GB reached",
        "spilled 12 GB to disk, memory budget 8 GB",
        "waiting for memory: 3 jobs queued",
        "job 12: requested 16 GB, allocated 16 GB on node 3",
        "mlock is not permitted, pages may be swapped",
        "huge pages are not available, using 4 kB pages",
        "[rank0]: Memory usage after step 100: allocated 21.4 GiB, reserved 38.2 GiB, max allocated 36.9 GiB",
        "INFO 03-02 10:11:12 gpu_executor.py:122] # GPU blocks: 7781, # CPU blocks: 512",
        "DeepSpeedCPUAdam: offloading optimizer states, host memory needed 48 GB, available 503 GB",
        "WARNING: gradient buffer of 2.00 GB is larger than bucket size 0.50 GB, splitting",
        "Memory pool limit set to 40 % of device memory (9.6 GiB)",
        "INFO: Cache size limit exceeded, pruning oldest entries (12.1 GiB -> 9.8 GiB)",
        "cache: 9.8 GiB of 10 GiB used, removing 1204 files",
        "2026-03-02T10:11:12Z INFO gc: freed 312 MiB, heap 812 MiB of 4096 MiB",
        "[GC (Allocation Failure) [PSYoungGen: 524800K->21504K(611840K)] 524800K->21512K(2010112K), 0.0123 secs]",
        "[Full GC (Ergonomics) [PSYoungGen: 10752K->0K(141824K)] 120 ms]",
        "[12.312s][info][gc] GC(41) Pause Young (Allocation Failure) 712M->201M(1024M) 5.1ms",
        "10:11:12.118 [main] INFO c.a.App - Max memory: 4096 MB, total memory: 512 MB, free memory: 301 MB",
        "LOG:  checkpoint complete: wrote 81204 buffers (12.4%); 0 WAL file(s) added",
        "LOG:  temporary file: path \"base/pgsql_tmp/pgsql_tmp4711.0\", size 1073741824",
        "WARNING: overcommit_memory is set to 0! Background save may fail under low memory condition.",
        "# Memory: used_memory:1204118 used_memory_human:1.15M maxmemory:0 maxmemory_policy:noeviction",
        "redis: maxmemory limit reached? no. evicted_keys:0",
        "npm notice: package size limit 10 MB, unpacked 4.1 MB",
        "The upload exceeds the maximum size of 512 MB and was split",
        "error: request entity too large: limit 1048576 bytes, got 2097152",
        "ERROR: build cache export skipped: manifest larger than 4 MB",
        "##[warning]You are running low on disk space. Free space left: 87 MB",
        "tests/test_alloc.py::test_raises_when_memory_exhausted PASSED",
        "[ RUN      ] AllocatorTest.FailsWhenOutOfMemory",
        "[       OK ] AllocatorTest.FailsWhenOutOfMemory (3 ms)",
        "ok 41 - realloc failure returns NULL # TODO",
        "test result: ok. 81 passed; 0 failed; 2 ignored; memory 41 MiB",
        "--- PASS: TestMemoryLimitExceeded (0.02s)",
        "rect_out_of_memory_box,11.3,11.3,120.4,40.1",
        "RangeError: Memory limit exceeded (expected)",
        "This error occurs when execution of a query exceeds the limit on the memory consumed by a single query.",
        "Message 33: error - real array memory allocation failure\n\nAction:\n\nTry more nodes.",
        "$ hg log -l1\nsummary:     intro, notes on out of memory",
        "PASS src/memory.test.js (12.1 s) heap size 212 MB",
        "  ✓ throws if allocation failed (3 ms)",
        "Collected 3 tracebacks of MemoryError in the last 30 days, all resolved",
        "kernel: Memory: 65783468K/67035136K available (14339K kernel code, 2400K rwdata)",
        "kernel: Memory cgroup out of memory handling enabled",
        "kernel: Mem-Info: printed on request",
        "kernel: swap_info: 8388604k swap on /dev/sda2. Priority:-2 extents:1",
        "systemd[1]: session-12.scope: Consumed 12min CPU time, 31.4G memory peak, 0B memory swap peak.",
        "systemd[1]: train.service: Memory limit 64.0G, tasks limit 4915",
        "containerd: memory limit for container 9b1d is 2147483648 bytes",
        "I0302 10:11:12.118920 21877 memory.cpp:479] Updated 'memory.limit_in_bytes' to 160MB for container 0a1d",
        "k8s: Requests: memory 16Gi; Limits: memory 32Gi",
        "Node has sufficient memory available, KubeletHasSufficientMemory",
        "Normal   NodeHasSufficientMemory  kubelet  Node node14 status is now: NodeHasSufficientMemory",
        "slurm: job 4711 requested 64G, AllocTRES=cpu=16,mem=64G",
        "sacct: MaxRSS 12041180K ReqMem 64G State COMPLETED",
        "Some weights were not used, memory saved: 1.2 GB",
        "tuner: trial 12 pruned: needs 30 GB, more than the 24 GB budget",
        "autotune: config BLOCK_M=256 skipped (needs 228 KiB shared memory, limit 99 KiB)",
        "ptxas info    : 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
        "nvcc warning : memory space qualifiers ignored, 12 bytes stack frame",
        "Model requires at least 24 GB of VRAM for bf16; found 80 GB",
        "Detected 24564 MB of VRAM, enabling fp8 to fit in memory",
        "VRAM usage: 22.1 / 24.0 GB, unloading the text encoder",
        "Requested to load AutoencoderKL, 319.11 MB, loaded completely 9.2 GB usable",
        "loaded partially 5120.4 MB usable, 1204.1 MB offloaded, lowvram patches: 0",
        "llm_load_tensors: offloaded 33/33 layers to GPU, CUDA0 buffer size = 4095.05 MiB",
        "sched_reserve: CUDA0 compute buffer size = 560.01 MiB",
        "The limit of 4 concurrent jobs was reached; waiting for memory to be released",
        "Too many requests in flight: 512 of 512, memory 41 %",
        "Reached the maximum of 100 epochs; peak memory 12.1 GiB",
        "stopped: the token budget of 8192 is exhausted, heap at 12 %",
        "Insufficient permissions to lock memory: raise memlock or ignore",
        "WARN  heap dump on OutOfMemoryError is enabled: /var/dumps",
        "  -XX:+HeapDumpOnOutOfMemoryError -XX:MaxRAMPercentage=75.0",
        "Buffer pool of 512 MB created, 32768 pages, 31002 free",
        "InnoDB: Initializing buffer pool, total size = 128M, instances = 1, chunk size = 128M",
        "mem: total 503.5Gi used 41.2Gi free 301.1Gi available 458.0Gi",
        "failed to create image thumbnail: unsupported format (67108864 bytes)",
        "Failed to create tensor cache entry of size 1204: key exists",
        "GET /metrics 200 1204118 bytes memory_limit_exceeded_total 0",
        "memory_limit_exceeded_total{pool=\"query\"} 0",
        "oom_events_total 0",
        "thrashing_detected: false",
        "excessive memory traffic on node 3: 312 GB/s",
        "data refused: 3 items (schema mismatch), memory usage high-water 41 %",
    ] {
        let log = format!("starting\n{line}\nreading input.dat\nstep 1 of 3\nstep 2 of 3\nstep 3 of 3\n");
        assert_eq!(caught(&log), None, "{line}");
        let events = dialect::events(&Document::from_text("-", &format!("starting\n{line}\n")));
        let failures = events.iter().filter(|event| event.standing == Standing::Failure).count();
        assert_eq!(failures, 0, "at the end: {line}");
    }
}

#[test]
fn words_of_success_that_are_denied_show_no_success() {
    let warned = "Warning: not enough memory to train. Needs 26 GB out of 8 GB\n\tNot enough memory. Skipping it.\n";
    let none = "Warning: grid did not successfully train any models\n";
    let ended = "RuntimeError: no models were trained successfully\n";
    assert!(caught(&format!("{warned}{none}{ended}")).is_some());
    assert!(caught(&format!("{warned}{none}Traceback (most recent call last):\n{ended}")).is_some());
    assert!(caught(&format!("{warned}fitting the next one\nsaved to models/\n")).is_none());
}

#[test]
fn plans_codes_and_checks_that_failed_are_heard() {
    for line in [
        "grid: mesh.cpp:33: grow: Assertion `(size_t)n * sizeof(int) < getAvailableMemory()' failed.",
        "RuntimeError: Could not load the mesh status=4 message=Allocation Failure",
        "Couldn't init a test: Low mem for result. aborting.",
        "[  101.118219] gridgpu 0000:01:00.0: solver[4711]: validate: -12",
        "gridgpu: probe failed with error -12",
        "ERROR 5 (HY000): Kein Speicher vorhanden (8388608 Bytes benötigt). Bitte Server neu starten",
        "sort: minnet är slut, inte tillräckligt med minne",
        "Failed to allocate connection structures",
        "pan: reached -DMEMLIM bound",
        "Error: model requires 38.2 GB VRAM, GPU has 24.0 GB",
        "RuntimeError: OOM during training step 3 times in a row, aborting training",
        "Java heap memory threshold reached, terminating. (Adjustment.prec)",
        "[ERROR] Error: the isolate exceeded its memory limit due to overflowing the storage cache.",
        "W0107 17:57:40.437475 12 load.cpp:94] part failed, id=4, err_msg=Memory exceed limit. Used: 9, Limit: 8",
        "I0811 17:05:41.004817 12 memory.cpp:661] OOM detected for the terminated container 4711",
        "circular buffers grow to 1531904 B which is beyond max L1 size of 1499136 B",
        "working set size > client RAM limit: 8012.30MB > 7012.20MB",
        "Memory limit exceeded: The limit is too low to initialize spilling operator. Minimum is 136 MB.",
        "Il n'a pas été possible d'allouer une zone mémoire de 12 Mo",
        "La mémoire totale est insuffisante",
    ] {
        assert!(caught(&format!("reading\n{line}\n")).is_some(), "{line}");
    }
    let raised = "RuntimeError: GRID_STATUS_ALLOCATOR_FAILURE in mesh.h:355\nStacktrace (2 entries):\n";
    let stack = "[frame 0]: /v/libgrid.so(+0xb4) [0x7fa5]\n[frame 1]: /v/libgrid.so(+0xb5) [0x7fa6]\n";
    assert!(caught(&format!("Test: [12/391]\n{raised}{stack}")).is_some());
    let none = "ABORTED: cannot allocate mem for nlist\n0 successful operations.\n";
    assert!(caught(none).is_some());
}

#[test]
fn what_made_do_or_tells_of_another_time_is_left_alone() {
    for log in [
        "reading\n Not enough memory to run with 16 processors, using  9.\n iteration 1\n Normal termination\n",
        "$ grep -n exhausted t.sh\n34:\t\t-e not-inline:\"grid: memory exhausted\\n\" \\\n35:\t\tgrid\n",
        "From: Ann\nSubject: [PATCH v2] avoid it\nDate: today\n\nfails with:\n\ngrid: memory exhausted\n",
        "[gl copy] could not allocate oversize buffer on device 0: GL_SUCCESS\nframe 12\nframe 13\n",
        " mémoire totale demandée       :     512.00 Mo\n step 1\n",
    ] {
        assert!(caught(log).is_none(), "{log}");
    }
    let failed = "h grid: Error: mmap(size=217500000) failed with file a.cache: Cannot allocate memory\n";
    let on = "h grid: connect from local\nh grid: saved mail to Inbox\nh grid: logged in\n";
    assert!(caught(&format!("{failed}{failed}{on}")).is_none(), "the same again is no death");
}

#[test]
fn a_box_is_read_as_one_and_the_tighter_of_two_limits_counts() {
    let boxed = "!----!\n!  Erreur lors de l'allocation. Il n'a pas été possible d'allouer   !\n\
                 !  une zone mémoire de longueur 2048 Mo, on dépasse la limite   !\n\
                 !  fixée à 1024 Mo et on occupe déjà 512 Mo.      !\n!----!\n";
    let told = vec![(Fact::Requested, 2048), (Fact::Limit, 1024), (Fact::Used, 512)];
    assert_eq!(sizes(&caught(boxed).unwrap()), told);
    let two = "grid: failed to allocate 64 MiB\nMemory left in process limit: 9216 MiB\n\
               Memory left in query limit: 4 MiB\n";
    assert_eq!(sizes(&caught(two).unwrap()), vec![(Fact::Requested, 64), (Fact::Free, 4)]);
}

#[test]
fn a_way_out_that_is_told_before_the_message_counts() {
    let log = "WARN GPU FFT failed! Falling back to CPU... Error: Ocl Error:\n\nError executing: clEnqueueRead\n\n\
               Status error code: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)\n\nINFO proof: finish\nINFO seal: finish\n";
    assert!(caught(log).is_none());
    let tried = "Failed allocating 11.0GB, trying to use smaller size. More system memory can help.\n";
    assert!(caught(&format!("{tried}test PASSed!\nno errors\n")).is_none());
    assert!(caught("Failed allocating 11.0GB, trying to allocate the mesh.\n").is_some());
}

#[test]
fn what_a_shell_is_told_next_is_another_programs() {
    let failed = "ann@host:~$ grid -m 64M\nfailed to mmap with 12 (Cannot allocate memory)\n";
    assert!(caught(&format!("{failed}ann@host:~$ grid -m 1M\nstep 1/2\nstep 2/2\nwrote out.bin\n")).is_some());
    assert!(caught(&format!("{failed}step 1/2\nstep 2/2\nwrote out.bin\n")).is_none());
}

#[test]
fn the_c_librarys_sentence_is_heard_in_other_languages() {
    for line in [
        "diff: mémoire épuisée",
        "diff: memoria agotada",
        "sort: Speicher erschöpft",
        "grep: память исчерпана",
        "FEHLER: G_malloc: Kann nicht 2272853112 Byte auf init_vars.c:134 reservieren",
    ] {
        assert!(caught(&format!("{line}\n")).is_some(), "{line}");
    }
    assert!(caught("FEHLER: Kann nicht auf die Datei zugreifen, 12 Byte gelesen\n").is_none());
}

#[test]
fn what_is_denied_or_stands_in_a_trace_is_no_failure() {
    assert!(caught("print('no memory errors so far')\nno memory errors so far\n").is_none());
    let call = "vaultd/8121 mmap(len: 8589934592, prot: READ|WRITE) = -1 ENOMEM (Cannot allocate memory)\n";
    assert!(
        caught(&format!("{call}vaultd/8121 mmap(len: 4096) = 0x7f1c\nvaultd/8121 write(fd: 2) = 61\nb\n")).is_none()
    );
}

#[test]
fn advice_behind_a_message_is_no_way_on() {
    let failed = "Caused by: org.grid.GridOutOfMemoryException: Out of memory in data region, try the following:\n";
    assert!(caught(&format!("{failed}  ^-- Enable eviction or expiration\n  ^-- Reduce the load\n")).is_some());
}

#[test]
fn a_known_programs_next_attempt_is_a_way_on() {
    let log =
        "trying batch 512: CUDA out of memory, trying 256\nbatch fits\nepoch 1/10 loss 0.4\nepoch 2/10 loss 0.3\n";
    let events = dialect::events(&Document::from_text("-", log));
    assert_eq!(events.first().map(|event| event.standing), Some(Standing::Harmless));
}

#[test]
fn a_job_that_a_scheduler_leaves_out_is_no_failure() {
    let left = "10:13:01 [grid] Mesh needs 7000.00 MB RAM but only 4000.00 MB is available for use.\n";
    assert!(caught(&format!("{left}10:13:06 [tile] Computation finished\n10:13:06 [tile] Starting task\n")).is_none());
    assert!(caught(&format!("10:12:00 [grid] loading\n{left}")).is_some());
}

#[test]
fn an_error_that_is_quoted_within_another_is_reported() {
    let quoted = "called `Result::unwrap()` on an `Err` value: Proofs(\"GPU Error: Cuda Error: out of memory\")\n";
    assert!(caught(&format!("thread 'main' panicked at src/a.rs:1:10:\n{quoted}")).is_some());
    assert!(caught("    log(\"out of memory\")\nstep 1\nstep 2\n").is_none());
}

#[test]
fn the_writers_number_is_read_where_loggers_put_it() {
    let pid = |line: &str| caught(line).unwrap().facts.pid.value();
    for (line, number) in [
        ("2026-04-11 07:52:12 gridtool[4711]: out of memory\n", Some(4711)),
        ("[20:14:31] [4123] [ERROR] out of GPU memory\n", Some(4123)),
        ("2026-03-02 17:26:12.012 [4211] main/103 F> failed to allocate 9 MB: Cannot allocate memory\n", Some(4211)),
        ("2026-03-02 17:26:12 UTC [4211] ERROR:  out of memory\n", Some(4211)),
        ("gridtool: out of memory in worker (pid 812)\n", Some(812)),
        ("gridtool: out of memory in pid 812 and pid 813\n", None),
        ("gridtool executing on box, pid 812\nreading\nmmap: Cannot allocate memory\n", Some(812)),
        ("child pid 812 died\nmmap: Cannot allocate memory\n", None),
        ("[rank 3] [12] gridtool: out of memory\n", None),
        ("gridtool [4711 MB]: out of memory\n", None),
    ] {
        assert_eq!(pid(line), number, "{line}");
    }
}

#[test]
fn a_report_of_the_memory_before_the_message_tells_its_state() {
    let report = "=====\nAvailable memory on node 0, free + buffers :  411209 MiB\n\
                  Device memory allocated by the solver :   6031 MiB\n\
                  Free memory on the default device      :    812 MiB\n=====\n";
    let failed = "ERROR gridtool: failed to allocate 2048 MiB on the GPU\n";
    let told = |log: &str| sizes(&caught(log).unwrap());
    let state = vec![(Fact::Requested, 2048), (Fact::Free, 812), (Fact::Allocated, 6031)];
    assert_eq!(told(&format!("{report}{failed}")), state);
    let early = "Free memory on the default device      :  5812 MiB\ntile 1\ntile 2\n";
    assert_eq!(told(&format!("{early}{failed}")), vec![(Fact::Requested, 2048)], "there was room then");
    let other = "Free memory of device 1 : 100 MiB\ntile 1\ntile 2\n";
    assert_eq!(told(&format!("{report}{other}{failed}")), vec![(Fact::Requested, 2048), (Fact::Allocated, 6031)]);
    let step = "step 12 GPU memory: 5812 MiB\n";
    assert_eq!(told(&format!("{step}{failed}")), vec![(Fact::Requested, 2048)], "what is used at a step");
}

#[test]
fn a_number_that_begins_a_text_may_have_lost_digits() {
    assert_eq!(sizes(&caught("22 MiB could not be allocated: out of memory\n").unwrap()), vec![]);
    let whole = "grid 1\n22 MiB could not be allocated: out of memory\n";
    assert_eq!(sizes(&caught(whole).unwrap()), vec![(Fact::Requested, 22)]);
}

#[test]
fn figures_that_can_be_read_in_two_ways_contradict_others() {
    let report =
        "Device memory allocated by A :  6,031 MiB\nDevice memory allocated by B :    812 MiB\ntile 1\ntile 2\n";
    let log = format!("start\n{report}ERROR gridtool: GPU out of memory\n");
    assert_eq!(sizes(&caught(&log).unwrap()), vec![]);
}

#[test]
fn the_one_device_that_the_lines_before_name_is_the_messages() {
    let device = |log: &str| caught(log).unwrap().facts.device.value();
    assert_eq!(device("Attached to device 3\nERROR: GPU out of memory\n"), Some(3));
    assert_eq!(device("device 0: a\ndevice 1: b\nERROR: GPU out of memory\n"), None);
    assert_eq!(device("ERROR: out of memory on CUDA device 03:00.0\n"), None);
    assert_eq!(device("ERROR: out of memory on CUDA device 3: 4 GiB\n"), Some(3));
}

#[test]
fn what_comes_after_decides() {
    let failed = "ERROR: gridtool: out of memory\n";
    assert!(caught(failed).is_some());
    assert!(caught(&format!("{failed}step 12/20\nstep 13/20\nsaved to out.bin\n")).is_none());
    let warned = "WARNING gridtool: could not allocate 2.0 GiB\n";
    assert!(caught(&format!("{warned}terminate called after throwing\nAborted (core dumped)\n")).is_some());
    assert!(caught(&format!("{warned}step 12/20\nstep 13/20\n")).is_none());
}
