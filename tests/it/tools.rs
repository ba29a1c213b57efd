//! Changes for well-known programs are the options that their documentation gives.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{FULL_CARD, lines_of, offers_for};
use oomdoc::fix::FIXES;
use oomdoc::fix::knob::Line;
use oomdoc::fix::tools::{self, Tool};
use oomdoc::incident::context::Clue;
use std::collections::BTreeSet;

/// What a line of the program's own says, for those that are told by one.
fn said(clue: Clue) -> &'static str {
    match clue {
        Clue::SeparatesTracks => "Separating track a.mp3\n",
        Clue::NamesTiles => "If you encounter CUDA out of memory, try to set --tile with a smaller number.\n",
        Clue::NiPreps => {
            "220103-10:00:01,100 nipype.workflow INFO: [Node] Running \"n\" (\"niworkflows.interfaces.a.B\")\n"
        }
        Clue::Nipype => "220103-10:00:01,100 nipype.workflow INFO: [Node] Running \"n\"\n",
        _ => "",
    }
}

/// How a program dies of the host's memory, or of a heap of its own.
const ON_THE_HOST: [&str; 5] = [
    "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\nAborted (core dumped)\n",
    "Killed\n[ 812.1] Out of memory: Killed process 4242 (work) total-vm:90000000kB, anon-rss:60000000kB, file-rss:0kB, \
     shmem-rss:0kB, UID:1000 pgtables:200000kB oom_score_adj:0\n",
    "java.lang.OutOfMemoryError: Java heap space\n\tat a.B.c(B.java:1)\n",
    "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n",
    "CUDA error: out of memory\n",
];

/// Logs of a program: its batch, its training and its evaluation fail on a full card, and it is killed.
fn logs(tool: &Tool) -> Vec<String> {
    // What stands in a message of its own, no message of these tells.
    let first = tool.scripts.iter().find(|script| script.starts_with('-') || !script.contains([' ', '/', ':']));
    if tool.files.is_empty() && first.is_none() {
        return Vec::new();
    }
    let command = first.map(|script| match script {
        script if script.ends_with(".py") => format!("$ python {script} --data in\n"),
        option if option.starts_with('-') => format!("$ python run.py {option} --data in\n"),
        script => format!("$ ./{script} --data in\n"),
    });
    let shown = command.unwrap_or_default() + tool.clue.map_or("", said);
    let file = tool.files.first().map_or("/w/run.py".to_string(), |part| match part.ends_with('/') {
        true => format!("/home/ada{part}train.py"),
        false => format!("/home/ada{part}"),
    });
    let under = |called: &str, code: &str| {
        format!(
            "{shown}Traceback (most recent call last):\n  File \"{file}\", line 31, in {called}\n    {code}\n  File \
            \"/v/lib/python3.11/site-packages/torch/nn/modules/module.py\", line 1739, in _wrapped_call_impl\n    \
            return self._call_impl(*args, **kwargs)\n{FULL_CARD}"
        )
    };
    let mut logs = vec![
        under("train", "loss.backward()"),
        under("main", "out = net(image)"),
        under("validate", "loss = evaluate(net, val_loader)"),
        under("main", "model.to(device)"),
    ];
    if !shown.is_empty() {
        logs.push(format!("{shown}{FULL_CARD}"));
        for message in ON_THE_HOST {
            logs.push(format!("{shown}{message}"));
        }
        logs.push(format!(
            "{shown}concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated \
            abruptly while the future was running or pending.\n"
        ));
    }
    logs
}

#[test]
fn every_row_names_a_change_that_there_is() {
    let known: BTreeSet<&str> = FIXES.iter().map(|fix| fix.id).collect();
    for tool in tools::all() {
        let rows: BTreeSet<&str> = tool.rows.iter().map(|(fix, _)| *fix).collect();
        let lacks: BTreeSet<&str> = tool.lacks.iter().copied().collect();
        assert!(rows.union(&lacks).all(|fix| known.contains(fix)), "{}", tool.name);
        assert!(rows.is_disjoint(&lacks), "{}", tool.name);
        assert!(!tool.files.is_empty() || !tool.scripts.is_empty(), "{}", tool.name);
    }
}

/// True where the line is written under a circumstance alone.
fn depends(line: &Line) -> bool {
    !line.holds(&[]) || !line.holds(&["trains", "before-ampere", "area", "host"])
}

#[test]
fn a_well_known_program_is_changed_by_the_options_that_it_has() {
    let (mut silent, mut wrong) = (Vec::new(), Vec::new());
    for tool in tools::all() {
        let mut printed = 0;
        for log in logs(tool) {
            let offered = offers_for(&log);
            let lacking = tool.lacks.iter().filter(|fix| offered.contains(fix));
            wrong.extend(lacking.map(|fix| format!("{}: {fix} for\n{log}", tool.name)));
            for (fix, _) in tool.rows.iter().filter(|(fix, _)| offered.contains(fix)) {
                let lines = lines_of(&log, fix);
                let templates = tool.rows.iter().filter(|(of, _)| of == fix).map(|(_, line)| line.template().en);
                let starts: Vec<String> =
                    templates.map(|line| line.split('{').next().unwrap_or_default().to_string()).collect();
                let as_written = |line: &String| starts.iter().any(|start| line.starts_with(start.as_str()));
                // A row that needs a figure or a circumstance gives way to words where it is not given.
                let needs =
                    tool.rows.iter().any(|(of, line)| of == fix && (line.template().en.contains('{') || depends(line)));
                if !(needs || lines.iter().all(as_written)) {
                    wrong.push(format!("{}: {fix}: {lines:?} for\n{log}", tool.name));
                }
                printed += usize::from(lines.iter().all(as_written));
            }
        }
        if printed == 0 && !tool.rows.is_empty() {
            silent.push(tool.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Weights in host memory, an engine's start, a pod's end: what these have lines for, only whole logs show.
    let in_whole_logs = [
        "VS Code's window",
        "SwarmUI",
        "SUEWS in QGIS",
        "OpenFold's scripts",
        "LM Studio",
        "GPUStack",
        "Home Assistant's Ollama integration",
        "napari's button for labels",
        "SimBA",
        "Kaldi on a shared GPU",
        "Kaldi on a GPU of its own",
        "DeepRL's replay",
        "simple_dqn",
        "PhysX on a GPU",
        "GluonCV",
        "Dovecot's indexer-worker",
        "bcc's deadlock",
        "openHAB at its metaspace",
        "Chromium",
        "R's vector limit",
        "Nextcloud's occ",
        "PHP at its least limit",
        "Claymore's miner",
        "GHC's runtime",
        "GHC at its own limit",
        "nvc",
        "Octave",
        "Manticore or Sphinx",
        "Qdrant",
        "itzg's image of Minecraft",
        "TensorRT-LLM's blocks in C++",
        "cnv_facets",
        "Elasticsearch in docker compose",
        "Gradle's daemon at its metaspace",
        "Gradle's daemon",
        "go build",
        "LLVM's build",
        "ffmpeg's device memory",
        "gptManagerBenchmark",
        "Kraken 2",
        "Bazel's server",
        "Vite",
        "Airflow",
        "Argo Workflows",
        "kubelet",
        "InnoDB's buffer pool",
        "Sentry's ClickHouse",
        "ClickHouse at its server's limit",
        "PostgreSQL's segments",
        "Ollama of its first year",
        "lolMiner on a card below the DAG",
        "gensim's Doc2Vec",
        "gensim's Word2Vec",
        "nvdiffrast's rasteriser",
        "XGBoost's GPU predictor",
        "MXNet's DataLoader",
        "PaddlePaddle's pool of 2018",
        "Theano's CNMeM",
        "Theano's libgpuarray",
        "CUDA.jl's error",
        "Knet",
        "llama-cpp-python's wheels",
        "FAISS on a GPU",
        "Theano's softmax",
        "NeMo's ASR models",
        "anndata",
        "SuPy",
        "PyCaret",
        "Netty",
        "PyTorch's extensions",
    ];
    assert_eq!(silent, in_whole_logs);
}

#[test]
fn a_switch_that_the_command_gives_is_not_offered_again() {
    let killed = |command: &str| {
        format!(
            "$ python {command}\nTraceback (most recent call last):\n  File \"/w/train_dreambooth.py\", line 812, in \
            <module>\n    optimizer.step()\n  File \"/v/lib/python3.11/site-packages/torch/optim/adamw.py\", line \
            162, in step\n    state[\"exp_avg\"] = torch.zeros_like(p)\n{FULL_CARD}"
        )
    };
    let lines = |command: &str| lines_of(&killed(command), "eight-bit-optimizer");
    assert_eq!(lines("train_dreambooth.py --instance_data_dir in"), ["--use_8bit_adam"]);
    assert!(lines("train_dreambooth.py --instance_data_dir in --use_8bit_adam").is_empty());
}

#[test]
fn the_words_of_a_loop_of_ones_own_are_no_trainer() {
    let told = |logger: &str| {
        format!(
            "06/18/2023 10:00:00 - INFO - {logger} - ***** Running training *****\nTraceback (most recent call last):\n  \
            File \"/w/tune.py\", line 9, in <module>\n    main()\n  File \"/w/tune.py\", line 7, in main\n    \
            loss.backward()\n{FULL_CARD}"
        )
    };
    let lines = |logger: &str| lines_of(&told(logger), "mixed-precision").join("\n");
    assert!(!lines("__main__").starts_with("bf16=True"), "{}", lines("__main__"));
}

#[test]
fn workers_of_a_cluster_are_not_made_anew_by_the_script() {
    let killed = "distributed.nanny - WARNING - Restarting worker\ndistributed.scheduler.KilledWorker: Attempted to run \
        task ('a', 0) on 3 different workers, but all those workers died while running it.\n";
    let lines = |worker: &str| {
        let told = format!("distributed.core - INFO - Removing comms to {worker}\n");
        lines_of(&format!("{told}{killed}"), "fewer-at-once").join("\n")
    };
    assert!(!lines("tls://10.0.0.9:40331").contains("LocalCluster("), "{}", lines("tls://10.0.0.9:40331"));
    assert!(lines("tcp://127.0.0.1:40331").contains("LocalCluster("), "{}", lines("tcp://127.0.0.1:40331"));
}

/// The last frames of a log of PyTorch, on a full card.
fn within(files: &[&str]) -> String {
    let frames: String =
        files.iter().map(|file| format!("  File \"{file}\", line 12, in run\n    x = f(x)\n")).collect();
    format!("Traceback (most recent call last):\n{frames}{FULL_CARD}")
}

#[test]
fn a_program_is_told_by_the_killed_process() {
    let killed = "RuntimeError: DataLoader worker (pid 629) is killed by signal: Killed.\n$ dmesg -T | tail -1\n\
        [Sat Nov 19 10:41:22 2022] Memory cgroup out of memory: Killed process 629 (onmt_train) \
        total-vm:13595580kB, anon-rss:6295572kB, file-rss:77660kB, shmem-rss:16kB, UID:0 pgtables:12932kB \
        oom_score_adj:0\n";
    let lines = lines_of(killed, "fewer-workers").join("\n");
    assert!(lines.starts_with("num_workers: 0"), "{lines}");
}

#[test]
fn a_program_is_told_by_an_option_that_it_alone_has() {
    let log = |options: &str| format!("$ python train.py {options}\n{}", within(&["train.py"]));
    let lines = |options: &str| lines_of(&log(options), "smaller-batch").join("\n");
    let (with, without) = (lines("--data-dir=/d --not-restore-last"), lines("--data-dir=/d"));
    assert!(with.starts_with("--batch-size 5"), "{with}");
    assert!(!without.contains("--batch-size 5"), "{without}");
}

#[test]
fn a_message_of_the_programs_own_tells_it() {
    let solving = "I0101 10:00:00.000 12 solver.cpp:279] Solving VGG\nF0101 10:00:05.000 12 syncedmem.cpp:78] Check \
        failed: error == cudaSuccess (2 vs. 0)  out of memory\n";
    let lines = lines_of(solving, "smaller-batch").join("\n");
    assert!(lines.contains("train.prototxt"), "{lines}");
}

#[test]
fn words_that_a_program_alone_prints_tell_it() {
    let window = "Not enough GPU RAM free (812MB free, need at least 2048MB)\n";
    let lines = lines_of(window, "smaller-batch").join("\n");
    assert!(lines.contains("Refinement"), "{lines}");
    let mined = "cu 09:10:11 cuda-1   Unexpected error CUDA error in func dev::eth::CUDAMiner::initEpoch_internal at \
        line 123 out of memory on CUDA device 02:00.0\n";
    assert!(!offers_for(mined).contains(&"smaller-batch"), "{:?}", offers_for(mined));
    let server = "2025.01.02 03:04:05.000006 [ 7 ] {} <Error> Merge: Code: 241. DB::Exception: (total) memory limit \
        exceeded: would use 1.90 GiB (attempt to allocate chunk of 4194304 bytes), current RSS: 1.80 GiB, maximum: \
        1.80 GiB. (MEMORY_LIMIT_EXCEEDED)\n";
    let lines = lines_of(server, "raise-runtime-limit").join("\n");
    assert!(lines.starts_with("more memory for the container"), "{lines}");
}

#[test]
fn a_program_is_told_by_keys_that_it_alone_has() {
    let log = |key: &str| {
        format!(
            "(raylet) A worker died or was killed while executing a task by an unexpected system error. To \
            troubleshoot the problem, check the logs for the dead worker. Worker PID: 4111 Worker exit type: \
            SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. \
            There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high \
            memory usage.\nError executing job \
            with overrides: ['data.train_batch_size=16', '{key}=1024']\n"
        )
    };
    let lines = |key: &str| lines_of(&log(key), "raise-host-limit").join("\n");
    let (with, without) = (lines("data.max_prompt_length"), lines("data.max_length"));
    assert!(with.contains("param_offload=false"), "{with}");
    assert!(!without.contains("param_offload"), "{without}");
}

#[test]
fn a_program_is_told_by_the_configuration_in_its_command() {
    let log = |file: &str| format!("$ python tools/train.py -c {file}\n{}", within(&["tools/train.py"]));
    let lines = |file: &str| lines_of(&log(file), "smaller-batch").join("\n");
    let (with, without) = (lines("configs/det/det_mv3_db.yml"), lines("configs/my.yml"));
    assert!(with.starts_with("Train.loader.batch_size_per_card"), "{with}");
    assert!(!without.contains("batch_size_per_card"), "{without}");
}

#[test]
fn releases_and_relatives_of_a_program_have_options_of_their_own() {
    let old = within(&["/home/ana/mt/singleprocess_train.py", "/home/ana/mt/fairseq/trainer.py"]);
    let lines = lines_of(&old, "smaller-batch").join("\n");
    assert!(lines.starts_with("--max-tokens <half>") && !lines.contains("--update-freq"), "{lines}");
    let torch7 = "/opt/torch/bin/luajit: /opt/torch/share/lua/5.1/fairseq/optim/nag.lua:41: cuda runtime error (2) : \
        out of memory at /opt/torch/extra/cutorch/lib/THC/generic/THCStorage.cu:66\n";
    let lines = lines_of(torch7, "smaller-batch").join("\n");
    assert!(lines.starts_with("-maxbatch"), "{lines}");
    let killed = "$ ketos segtrain -f alto a.xml\nRuntimeError: DataLoader worker (pid(s) 31) exited unexpectedly\n";
    let lines = lines_of(killed, "fewer-workers").join("\n");
    assert!(lines.contains("--workers 0"), "{lines}");
}

/// What its own heap, a service's file or a miner's card refuses was answered by RAM, `-Xmx` or a smaller problem.
#[test]
fn a_limit_within_a_program_is_moved_by_its_own_option() {
    let nvc = "a.vhd:1092:3: fatal: out of memory attempting to allocate 18136 byte object\n";
    let offered = offers_for(nvc);
    assert!(!offered.contains(&"swap"), "{offered:?}");
    let lines = |log: &str, fixes: &[&str]| fixes.iter().map(|fix| lines_of(log, fix).join("\n")).collect::<String>();
    let of_nvc = lines(nvc, &["raise-runtime-limit", "raise-host-limit"]);
    assert!(of_nvc.starts_with("nvc -H 64m"), "{of_nvc}");
    let of_ghc = lines("ghc: panic! heap overflow\n", &["raise-runtime-limit", "raise-host-limit"]);
    assert!(of_ghc.starts_with("+RTS -M<more> -RTS"), "{of_ghc}");
    let heap = "$ gedi -e Price -reads a.bam -genomic hg38\njava.lang.OutOfMemoryError: Java heap space\n";
    let of_gedi = lines(heap, &["raise-runtime-limit"]);
    assert!(of_gedi.starts_with("gedi -mem <size>"), "{of_gedi}");
    let limit = "PHP Fatal error:  Allowed memory size of 2097152 bytes exhausted (tried to allocate 4096 bytes) in \
        /a/b.php on line 70\n";
    let of_php = lines(limit, &["raise-runtime-limit"]);
    assert!(of_php.starts_with("mend memory_limit"), "{of_php}");
    let daemon = "The Daemon will expire after the build after running out of JVM heap space.\n";
    let of_gradle = lines(daemon, &["raise-runtime-limit"]);
    assert!(of_gradle.starts_with("org.gradle.jvmargs"), "{of_gradle}");
    let asked = "snuba-api-1  | DB::Exception: (total) memory limit exceeded: would use 4.59 GiB\n";
    let of_sentry = lines(asked, &["raise-runtime-limit"]);
    assert!(of_sentry.starts_with("MAX_MEMORY_USAGE_RATIO"), "{of_sentry}");
}

#[test]
fn a_table_of_a_fixed_size_wants_the_card_for_itself() {
    let trex = "ERROR: Can't find nonce with device [ID=0, GPU #0], Device does not have enough free memory to hold \
        the DAG for epoch 65. Required: 4.98 GB, free: 4.92 GB.\n";
    assert!(!offers_for(trex).contains(&"less-at-once"), "{:?}", offers_for(trex));
    let lines = lines_of(trex, "free-the-device").join("\n");
    assert!(lines.contains("display"), "{lines}");
    let lolminer = |said: &str| format!("Selected Algorithm: Ethash\nGPU 3: {said}\n");
    let of_several = lolminer("Allocation of DAG failed with error: Memory object allocation failure");
    assert!(lines_of(&of_several, "swap").join("\n").contains("page file"), "{:?}", offers_for(&of_several));
}

#[test]
fn a_segment_of_a_database_has_room_in_a_service_as_well() {
    let refused = "ERROR:  could not resize shared memory segment \"/PostgreSQL.318205577\" to 4194304 bytes: No space \
        left on device\n";
    let lines = lines_of(refused, "shm-size").join("\n");
    assert!(lines.contains("docker service update --mount-add"), "{lines}");
}

/// `composer update` was to be run as `php -d memory_limit=… composer update`, which PHP does not find.
#[test]
fn a_program_upon_a_runtime_is_set_by_its_own_variable() {
    let spent = "Fatal error: Allowed memory size of 1610612736 bytes exhausted (tried to allocate 4096 bytes) in /a/b.php \
        on line 1\n";
    let lines = |before: &str| lines_of(&format!("{before}{spent}"), "raise-runtime-limit").join("\n");
    assert!(lines("$ composer update\n").contains("COMPOSER_MEMORY_LIMIT=-1"), "{}", lines("$ composer update\n"));
    assert!(lines("").contains("memory_limit=<more>"), "{}", lines(""));
}

/// A logger's name, and the files in lines around a message, tell who runs a framework.
#[test]
fn a_program_introduces_itself_around_a_frameworks_message() {
    let in_16_bit = |log: &str| offers_for(log).contains(&"mixed-precision");
    assert!(in_16_bit(FULL_CARD));
    // SLEAP has no option for it.
    let logger = "2024-05-01 12:00:00 - sleap.nn.training - INFO - Starting";
    let frame = "  File \"C:\\env\\site-packages\\sleap\\nn\\training.py\", line 93, in train";
    for log in [format!("{logger}\n{FULL_CARD}"), format!("{FULL_CARD}\nTraceback:\n{frame}\n")] {
        assert!(!in_16_bit(&log), "{log}");
    }
}

#[test]
fn a_reader_of_files_has_a_parameter_of_its_own() {
    let read = "Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\n  File \
        \"/v/site-packages/anndata/_io/h5ad.py\", line 265, in read_h5ad\n    rdasp.read_elem(f[k])\n  File \
        \"/v/site-packages/h5py/_hl/dataset.py\", line 743, in __getitem__\n    return self._fast_reader.read(args)\n\
        MemoryError: Unable to allocate 10.1 GiB for an array with shape (316593, 8563) and data type float32\n";
    let lines = lines_of(read, "read-less-at-once").join("\n");
    assert!(lines.contains("backed=\"r\""), "{lines}");
}

#[test]
fn a_program_is_told_by_the_value_of_an_option() {
    // YOLACT has no option for 16 bit, and its train.py has a name like any.
    let in_16_bit = |config: &str| {
        let log = format!("$ python train.py --config={config}\n{FULL_CARD}");
        offers_for(&log).contains(&"mixed-precision")
    };
    assert!(in_16_bit("my_config"));
    assert!(!in_16_bit("yolact_base_config"));
    // A greeting of ZeroMQ was read as the length of a message.
    let run = |rpc: &str| {
        format!("./load --master-host=127.0.0.1 --rpc={rpc}\nfatal error: runtime: out of memory\n\nruntime stack:\n")
    };
    let lines = |rpc: &str| lines_of(&run(rpc), "raise-host-limit").join("\n");
    assert!(lines("socket").contains("--rpc=zeromq"), "{}", lines("socket"));
    assert!(!lines("zeromq").contains("--rpc"), "{}", lines("zeromq"));
}

#[test]
fn what_makes_an_array_inside_a_program_is_its_own_data() {
    let matrix = "$ python run_recbole.py --dataset=gowalla --model=LightGCN\nMemoryError: Unable to allocate 521. GiB \
        for an array with shape (109235, 1280970) and data type float32\n";
    let lines = lines_of(matrix, "read-less-at-once").join("\n");
    assert!(lines.starts_with("--user_inter_num_interval"), "{lines}");
    let buffer = "Traceback (most recent call last):\n  File \
        \"c:\\env\\lib\\site-packages\\mlagents\\trainers\\buffer.py\", line 39, in extend\n    self += \
        list(np.array(data))\nMemoryError\n";
    let lines = lines_of(buffer, "raise-host-limit").join("\n");
    assert!(lines.starts_with("buffer_size"), "{lines}");
}

/// A replay memory is made whole before the first step, and nothing is read.
#[test]
fn a_replay_memory_has_a_size_to_set() {
    let made = "Traceback (most recent call last):\n  File \"src/main.py\", line 103, in <module>\n    mem = \
        ReplayMemory(args.replay_size, args)\n  File \"/home/ada/simple_dqn/src/replay_memory.py\", line 12, in \
        __init__\n    self.screens = np.empty((self.size, 84, 84), dtype = np.uint8)\nMemoryError\n";
    let lines = lines_of(made, "raise-host-limit").join("\n");
    assert!(lines.starts_with("--replay_size 500000"), "{lines}");
    let flown = "$ python DQNdrone.py\nMemoryError: Unable to allocate array with shape (500000, 84, 84) and data type \
        float32\n";
    let lines = lines_of(flown, "read-less-at-once").join("\n");
    assert!(lines.starts_with("DeepQAgent(..., memory_size="), "{lines}");
}

#[test]
fn workers_are_fewer_by_the_option_of_who_starts_them() {
    let died = "RuntimeError: Background workers died. Look for the error message further up! If there is none then \
        your RAM was full and the worker was killed by the OS. Use fewer workers or get more RAM in that case!\n";
    let lines = lines_of(died, "fewer-workers").join("\n");
    assert!(lines.starts_with("-npp 1 -nps 1"), "{lines}");
    let sent = |package: &str| {
        format!(
            "multiprocessing.pool.RemoteTraceback:\n\"\"\"\nTraceback (most recent call last):\n  File \
            \"/v/lib/python3.6/multiprocessing/pool.py\", line 119, in worker\n    result = (True, func(*args, \
            **kwds))\n  File \"/v/site-packages/{package}/data/dataloader.py\", line 142, in _worker_fn\n    \
            dump(batch)\n  File \"/v/site-packages/mxnet/gluon/data/dataloader.py\", line 64, in reduce_ndarray\n    \
            pid = data._to_shared_mem()\nmxnet.base.MXNetError: Failed to allocate CPU Memory\n"
        )
    };
    let lines = |package: &str| lines_of(&sent(package), "fewer-workers").join("\n");
    assert!(lines("gluoncv").starts_with("--num-workers 1"), "{}", lines("gluoncv"));
    assert!(lines("mine").starts_with("DataLoader(..., num_workers=1)"), "{}", lines("mine"));
}

/// Darknet's words many print: its files are not theirs.
#[test]
fn who_copied_a_message_is_not_changed_as_the_first_to_print_it() {
    let stereo = "$ ./stereo_img --im0 a.png --im1 b.png\nterminate called after throwing an instance of \
        'IuCudaException'\n  what():  IuException: CUDA Error: out of memory\n";
    let lines = lines_of(stereo, "smaller-images").join("\n");
    assert!(lines.starts_with("--disp-max 64"), "{lines}");
    let lines = lines_of(stereo, "other-device").join("\n");
    assert!(lines.starts_with("--gpu <index>"), "{lines}");
    let own = "$ ./darknet detector train a.data a.cfg\nCUDA Error: out of memory\n";
    let lines = lines_of(own, "smaller-batch").join("\n");
    assert!(lines.contains("[net]"), "{lines}");
}

#[test]
fn what_a_command_or_window_works_on_at_once_is_its_own_to_say() {
    let part = within(&["/v/bin/umx", "/w/openunmix/cli.py", "/w/openunmix/model.py"]);
    let lines = lines_of(&part, "smaller-batch").join("\n");
    assert!(lines.starts_with("--duration 60"), "{lines}");
    assert!(!offers_for(&part).contains(&"chunk-the-operation"), "{:?}", offers_for(&part));
    let window = within(&["E:\\Flowframes\\FlowframesData\\pkgs\\rife-cuda\\model\\RIFE.py"]);
    let lines = lines_of(&window, "smaller-batch").join("\n");
    assert!(lines.contains("Maximum Video Size"), "{lines}");
    assert!(!offers_for(&window).contains(&"mixed-precision"), "{:?}", offers_for(&window));
    let posed = within(&["/root/FoundationPose/learning/training/predict_score.py"]);
    assert!(!offers_for(&posed).contains(&"mixed-precision"), "{:?}", offers_for(&posed));
    let predicted = "terminate called after throwing an instance of 'thrust::system::system_error'\n  what():  \
        /workspace/src/predictor/../common/device_helpers.cuh(523): out of memory\n";
    let lines = lines_of(predicted, "less-at-once").join("\n");
    assert!(lines.contains("cpu_predictor"), "{lines}");
}

#[test]
fn who_starts_a_program_sets_its_limits() {
    let daemon = "Expiring Daemon because JVM heap space is exhausted\n";
    let lines = lines_of(daemon, "raise-runtime-limit").join("\n");
    assert!(lines.starts_with("org.gradle.jvmargs"), "{lines}");
    let refused = |service: &str| {
        format!(
            "{service}{{\"type\":\"log\",\"message\":\"Failed to poll: [circuit_breaking_exception] [parent] Data too \
            large, data for [<http_request>] would be [257296337/245.3mb], which is larger than the limit of \
            [255013683/243.1mb]\"}}\n"
        )
    };
    let lines = |service: &str| lines_of(&refused(service), "raise-runtime-limit").join("\n");
    assert!(lines("kibana_1         | ").starts_with("ES_JAVA_OPTS"), "{}", lines("kibana_1         | "));
    assert!(!lines("").contains("ES_JAVA_OPTS"), "{}", lines(""));
    // What a shell exports does not reach the container.
    let docker = "I0228 09:11:40.120833 139901127710464 run_docker.py:247] 2022-02-28 00:11:40.120211: E \
        external/org_tensorflow/tensorflow/stream_executor/cuda/cuda_driver.cc:764] failed to alloc 1462056704 bytes \
        unified memory; result: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n";
    assert!(!offers_for(docker).contains(&"preallocation-fraction"), "{:?}", offers_for(docker));
    let lines = lines_of(docker, "other-device").join("\n");
    assert!(lines.starts_with("--gpu_devices=<index>"), "{lines}");
}

#[test]
fn a_validation_in_batches_of_its_own_is_made_smaller() {
    let log = "$ th Train.lua -epochSave -validationSetLMDBPath test/\nTHCudaCheck FAIL \
        file=/tmp/cutorch/lib/THC/generic/THCStorage.cu line=66 error=2 : out of memory\n";
    let lines = lines_of(log, "less-at-once").join("\n");
    assert!(lines.starts_with("-validationBatchSize"), "{lines}");
}

#[test]
fn a_conversion_of_voices_is_cut_into_seconds() {
    let log = "$ python inference_main.py -n song.wav\n#=====segment start, 126.01s======\nTraceback (most recent call \
        last):\n  File \"/w/inference_main.py\", line 88, in main\n    out = svc_model.infer(spk, tran)\n  File \
        \"/w/inference/infer_tool.py\", line 177, in infer\n    audio = self.net_g_ms.infer(c, f0=f0)\n";
    let log = format!("{log}{FULL_CARD}");
    assert!(!offers_for(&log).contains(&"no-grad-in-eval"), "{:?}", offers_for(&log));
    let lines = lines_of(&log, "shorter-sequences").join("\n");
    assert!(lines.is_empty() || lines.starts_with("--clip 30"), "{lines}");
}

#[test]
fn words_of_its_own_tell_a_program_behind_a_container_or_a_service() {
    let refused = "3:52PM DBG GRPC(1f4e-127.0.0.1:43217): stderr ggml_backend_cuda_buffer_type_alloc_buffer: \
        allocating 5674.93 MiB on device 0: cudaMalloc failed: out of memory\n";
    let lines = lines_of(refused, "weight-offload").join("\n");
    assert!(lines.starts_with("gpu_layers:"), "{lines}");
    let film = "INFO:root:Error processing or transcribing /films/a.mkv: CUDA failed with error out of memory\n";
    let lines = lines_of(film, "less-at-once").join("\n");
    assert!(lines.starts_with("CONCURRENT_TRANSCRIPTIONS=1"), "{lines}");
    let heap = "Dec 08 09:41:52 h work[1207]: work: Heap exhausted;\nDec 08 09:41:52 h work[1207]: work: Current \
        maximum heap size is 1610612736 bytes (1536 MB).\nDec 08 09:41:52 h work[1207]: work: Use `+RTS -M<size>' to \
        increase it.\n";
    let lines = lines_of(heap, "raise-runtime-limit").join("\n");
    assert!(lines.starts_with("+RTS -M<size> -RTS"), "{lines}");
}

/// In between, `--workers` is refused.
#[test]
fn loaders_of_yolov3_had_another_option_before_2020() {
    let killed = |file: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"train.py\", line 221, in <module>\n    train()\n  File \
            \"{file}\", line 186, in forward\n    x = module(x)\nRuntimeError: DataLoader worker (pid 3177) is killed by \
            signal: Killed.\n"
        )
    };
    let lines = |file: &str| lines_of(&killed(file), "fewer-workers").join("\n");
    assert!(lines("/w/yolov3/models.py").starts_with("--num-workers 2"), "{}", lines("/w/yolov3/models.py"));
    let later = lines("/w/yolov3/models/yolo.py");
    assert!(later.starts_with("--workers"), "{later}");
}

#[test]
fn an_index_on_the_gpu_is_kept_in_16_bit() {
    let refused = "RuntimeError: Error in void faiss::gpu::allocMemorySpaceV(faiss::gpu::MemorySpace, void**, size_t) \
        at gpu/utils/MemorySpace.cpp:26: Error: 'err == cudaSuccess' failed: failed to cudaMalloc 48475952 bytes \
        (error 2 out of memory)\n";
    let lines = lines_of(refused, "less-at-once").join("\n");
    assert!(lines.starts_with("co = faiss.GpuClonerOptions()"), "{lines}");
}

#[test]
fn the_folder_that_a_library_was_built_in_tells_it() {
    let refused = "CUDA error 2 at /home/runner/work/llama-cpp-python-cuBLAS-wheels/vendor/llama.cpp/ggml-cuda.cu:\
        7950: out of memory\ncurrent device: 0\n";
    let lines = lines_of(refused, "weight-offload").join("\n");
    assert!(lines.starts_with("Llama(..., n_gpu_layers="), "{lines}");
    // Without that folder it is llama.cpp's own program.
    let own = refused.replace("llama-cpp-python-cuBLAS-wheels", "llama.cpp");
    let lines = lines_of(&own, "weight-offload").join("\n");
    assert!(!lines.contains("Llama("), "{lines}");
}

#[test]
fn a_pools_own_piece_is_made_smaller_by_its_flag() {
    let piece = "paddle.fluid.core.EnforceNotMet: enforce allocating <= available failed, 10303192827 > 1582301185\n";
    let log = format!("$ python train.py\n{piece}$ nvidia-smi | grep MiB\n|  9962MiB / 11471MiB |\n");
    for fix in ["fix-the-shape", "preallocation-fraction"] {
        let lines = lines_of(&log, fix).join("\n");
        assert!(lines.is_empty() || lines.starts_with("export FLAGS_fraction_of_gpu_memory_to_use="), "{lines}");
    }
}

#[test]
fn queues_in_a_configuration_hold_decoded_pictures() {
    let run = |option: &str| {
        format!(
            "$ python train.py --logtostderr {option}=a.config\nINFO:tensorflow:global step 34: loss = 0.5 (2.0 \
            sec/step)\ntensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with \
            shape[1,1080,1920,3]\n\t [[Node: ToFloat = Cast[DstT=DT_FLOAT, SrcT=DT_UINT8, \
            _device=\"/job:localhost/replica:0/task:0/device:CPU:0\"](ExpandDims)]]\n"
        )
    };
    let lines = |option: &str| lines_of(&run(option), "raise-host-limit").join("\n");
    let (with, without) = (lines("--pipeline_config_path"), lines("--config"));
    assert!(with.contains("batch_queue_capacity"), "{with}");
    assert!(!without.contains("batch_queue_capacity"), "{without}");
}

#[test]
fn a_program_that_tells_itself_has_its_own_way() {
    let killed = "2024-09-12T08:40:16.702Z REPORT RequestId: 1b9d Duration: 19459.04 ms Billed Duration: 19460 ms \
        Memory Size: 2688 MB Max Memory Used: 2607 MB\nError Runtime exited with error: signal: \
        killed\nRuntime.ExitError\n";
    let lines = lines_of(killed, "raise-host-limit").join("\n");
    assert!(lines.starts_with("aws lambda update-function-configuration"), "{lines}");
    let vectors = "Error: vector memory limit of 100.0 Gb reached, see mem.maxVSize()\n";
    let lines = lines_of(vectors, "raise-runtime-limit").join("\n");
    assert!(lines.starts_with("mem.maxVSize("), "{lines}");
    let loader = "Fatal error: Allowed memory size of 2097152 bytes exhausted (tried to allocate 446464 bytes) in \
        /var/www/html/3rdparty/composer/autoload_real.php on line 35\n";
    let lines = lines_of(loader, "raise-runtime-limit").join("\n");
    assert!(lines.starts_with("sudo -E -u www-data php occ"), "{lines}");
    let shared = "[169:185:0221/101744.307839:FATAL:memory.cc(22)] Out of memory. size=262144\n";
    let lines = lines_of(shared, "raise-host-limit").join("\n");
    assert!(lines.contains("--disable-dev-shm-usage"), "{lines}");
}

#[test]
fn darknets_own_message_tells_it() {
    let refused =
        " 608 x 608 \nCUDA status Error: file: ./src/dark_cuda.c : () : line: 373\n\n CUDA Error: out of memory\n";
    let lines = lines_of(refused, "smaller-batch").join("\n");
    assert!(lines.contains("subdivisions=64"), "{lines}");
}

#[test]
fn parallel_worlds_and_samples_are_what_a_simulator_or_renderer_has_fewer_of() {
    let physics =
        "$ python train.py\nPxgCudaDeviceMemoryAllocator fail to allocate memory 343932928 bytes!! Result = 2\n";
    let lines = lines_of(physics, "less-at-once").join("\n");
    assert!(lines.contains("num_envs"), "{lines}");
    let rendered = "$ python psdr_test.py bunny\nTraceback (most recent call last):\n  File \
        \"/home/ada/psdr-cuda/examples/run_test.py\", line 129, in run_ad\n    img = integrator.renderD(sc, \
        0)\nRuntimeError: cuda_malloc(): out of memory!\n";
    let lines = lines_of(rendered, "less-at-once").join("\n");
    assert!(lines.starts_with("\"spp\": 4"), "{lines}");
}

/// A `demo.py` many projects have; a script of Lua stands behind `th`.
#[test]
fn a_script_of_a_common_name_is_told_by_the_engine_that_fails() {
    let refused = "F0226 09:14:21.340177 11820 syncedmem.cpp:64] Check failed: error == cudaSuccess (2 vs. 0)  out of \
        memory\n*** Check failure stack trace: ***\n";
    let lines = |script: &str| lines_of(&format!("$ ./tools/{script}\n{refused}"), "smaller-batch").join("\n");
    assert!(lines("demo.py").contains("--net zf"), "{}", lines("demo.py"));
    assert!(!lines("detect.py").contains("--net zf"), "{}", lines("detect.py"));
    let other = format!("$ python tools/demo.py\n{}", within(&["tools/demo.py"]));
    assert!(!lines_of(&other, "smaller-images").join("\n").contains("TEST.SCALES"), "a demo of PyTorch's");
    let style = "$ th neural_style.lua -image_size 256 -gpu 0\nError in CuDNN: CUDNN_STATUS_ALLOC_FAILED\n";
    let lines = lines_of(style, "less-at-once").join("\n");
    assert!(lines.starts_with("-optimizer adam"), "{lines}");
}

#[test]
fn what_else_would_help_stands_beside_more_memory() {
    let ended = "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\nAborted \
        (core dumped)\n";
    let lines = |before: &str| lines_of(&format!("{before}{ended}"), "raise-host-limit").join("\n");
    let aligned = lines("$ nucmer -t 32 --maxmatch -p a f1.fa f2.fa\n");
    assert!(aligned.contains("without --maxmatch"), "{aligned}");
    let assembled = lines("    [cx1_seq2sdbg.cpp          : 455]     Adding mercy edges...\n");
    assert!(assembled.contains("--kmin-1pass"), "{assembled}");
    assert!(!lines("").contains("--kmin-1pass"), "{}", lines(""));
}

#[test]
fn a_limit_of_a_librarys_own_is_a_plain_number() {
    let refused = "io.netty.util.internal.OutOfDirectMemoryError: failed to allocate 16777216 byte(s) of direct memory \
        (used: 7594610823, max: 7606370304)\n\tat io.netty.util.internal.PlatformDependent.a(PlatformDependent.java:1)\n";
    let lines = lines_of(refused, "raise-runtime-limit").join("\n");
    assert!(lines.starts_with("-Dio.netty.maxDirectMemory=<bytes>"), "{lines}");
    let pool = "$ docker logs mariadb 2>&1 | grep ERROR\n[ERROR] InnoDB: Cannot allocate memory for the buffer pool\n$ \
        grep buffer_pool_size config/custom.cnf\ninnodb_buffer_pool_size = 256M\n";
    let lines = lines_of(pool, "smaller-buffers").join("\n");
    assert!(lines.starts_with("innodb_buffer_pool_size = <half>"), "{lines}");
}
