//! What a change is written with must be there: words of a container, a batch system or a build tool, data that are
//! read, a pass that may be under way, a model of which there are other forms.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for};
use oomdoc::dialect::Fact;
use oomdoc::fix::Ranked;
use oomdoc::incident::Incident;

/// What an offer is written with and the log does not show, by its raw text in lower case.
pub(crate) fn out_of_words(incident: &Incident, ranked: &Ranked, text: &str) -> Vec<String> {
    let id = ranked.fix.id;
    let lines = || ranked.offer.knobs.iter().map(|knob| knob.line.en.as_str());
    let shows = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let mut wrong = Vec::new();
    let mut rule = |broken: bool, what: &str| {
        if broken {
            wrong.push(format!("{id}: {what}: {}", lines().next().unwrap_or_default()));
        }
    };
    let container = ["docker", "containerd", "kube", "podman", "libpod", "singularity", "apptainer", "pod"];
    let runs = lines().any(|line| line.starts_with("docker run --shm-size"));
    // The prompt of a host that Docker named: `root@3f1c5be2a9d1:/work#`.
    let named = |prompt: &str| {
        let host = prompt.split([':', ' ', '#', ']']).next().unwrap_or_default();
        host.len() == 12 && host.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let prompted = text.split("root@").skip(1).any(named);
    rule(runs && !shows(&container) && !prompted, "a container that nothing shows");
    let elsewhere = ["kubectl", "slurmstepd", "#sbatch", "colab", "executor failed running", "'/bin/sh -c"];
    rule(lines().any(|line| line.contains("swapon")) && shows(&elsewhere), "swap where nobody is root");
    let builders = [("cargo build", "cargo"), ("make -j", "make"), ("ninja -j", "ninja"), ("bazel build", "bazel")];
    let builder = builders.iter().find(|(line, _)| lines().any(|written| written.starts_with(line)));
    rule(builder.is_some_and(|(_, name)| !shows(&[name, "rustc"])), "a build tool that nothing shows");
    let data = ["data", "image", "sample", "csv", "parquet", "worker", "epoch", "load", "read", "数据"];
    let held = !incident.context.frames.is_empty() || incident.event.facts.get(Fact::Requested).is_some();
    rule(id == "read-less-at-once" && !held && !shows(&data), "data of which nothing shows");
    rule(id == "read-less-at-once" && shows(&["pip install", "pip3 install"]) && !held, "data of an installation");
    let recomputes = shows(&["torch/utils/checkpoint.py"]);
    rule(id == "gradient-checkpointing" && recomputes, "checkpointing, which is in force");
    let decorated = text.lines().any(|line| line.contains("grad_mode.py") && line.contains("decorate_context"));
    rule(id == "no-grad-in-eval" && decorated, "gradients that are off");
    let gathers = shows(&["failed to clone() tensor"]);
    rule(gathers && ["smaller-batch", "gradient-checkpointing"].contains(&id), "activations beside a state dict");
    rule(lines().any(|line| line.contains("{tried}")), "a blank that nobody filled");
    wrong
}

/// A line with which a worker's bus error ends, without anything around it.
const BUS_ERROR: &str = "RuntimeError: DataLoader worker (pid 5127) is killed by signal: Bus error. It is possible that \
    dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n";

#[test]
fn shared_memory_is_enlarged_in_the_words_of_where_it_is() {
    let bare = lines_of(BUS_ERROR, "shm-size");
    assert!(bare.first().is_some_and(|line| line.starts_with("sudo mount -o remount")), "{bare:?}");
    assert!(!bare.iter().any(|line| line.starts_with("docker")), "{bare:?}");
    let pod = lines_of(&format!("$ kubectl -n lab logs trainer\n{BUS_ERROR}"), "shm-size");
    assert!(pod.first().is_some_and(|line| line.contains("medium: Memory")), "{pod:?}");
    let docker = lines_of(&format!("$ docker run --gpus all trainer\n{BUS_ERROR}"), "shm-size");
    assert!(docker.first().is_some_and(|line| line.starts_with("docker run --shm-size")), "{docker:?}");
}

/// A kill by the kernel of one process.
const KILLED: &str = "Killed\n[118206.040260] Out of memory: Killed process 512744 (python3) total-vm:5598039kB, \
    anon-rss:3598039kB, file-rss:4kB, shmem-rss:0kB, UID:0 pgtables:27322kB oom_score_adj:0\n";

#[test]
fn data_are_read_in_pieces_where_data_are_read() {
    let with = offers_for(&format!("$ python3 fit.py\nLoading dataset...\n{KILLED}"));
    assert!(with.contains(&"read-less-at-once"), "{with:?}");
    for shown in ["$ python3 talk.py\nLoading Whisper model: base\n", "$ python3 walk.py\n"] {
        let without = offers_for(&format!("{shown}{KILLED}"));
        assert!(!without.contains(&"read-less-at-once"), "{shown}: {without:?}");
    }
}

#[test]
fn an_installation_is_told_to_keep_no_cache() {
    let text = "Collecting torch\n  Downloading torch-2.0.1-cp310-cp310-manylinux1_x86_64.whl (619.9 MB)\nKilled\nThe \
        command '/bin/sh -c pip3 install -r needed.txt' returned a non-zero code: 137\n";
    let lines = lines_of(text, "smaller-buffers");
    assert!(lines.iter().any(|line| line.contains("--no-cache-dir")), "{lines:?}");
    let offers = offers_for(text);
    assert!(!offers.contains(&"read-less-at-once") && !offers.contains(&"swap"), "{offers:?}");
}

#[test]
fn a_build_is_slowed_by_the_tool_that_builds() {
    let text = "error: could not compile `solver` (bin \"solver\")\n\nCaused by:\n  process didn't exit successfully: \
        `rustc --crate-name solver src/main.rs` (signal: 9, SIGKILL: kill)\n";
    let lines = lines_of(text, "fewer-at-once");
    assert!(lines.first().is_some_and(|line| line == "cargo build --jobs 2"), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("ninja") || line.contains("make")), "{lines:?}");
}

#[test]
fn a_batch_system_is_asked_in_its_own_words() {
    let lines = lines_of("=>> PBS: job killed: mem 34603008kb exceeded limit 33554432kb\n", "raise-host-limit");
    assert!(lines.first().is_some_and(|line| line.starts_with("#PBS -l mem=48gb")), "{lines:?}");
    let jobs = lines_of("=>> PBS: job killed: mem 34603008kb exceeded limit 33554432kb\n", "fewer-at-once");
    assert!(!jobs.iter().any(|line| line.starts_with("ps ")), "{jobs:?}");
}

/// A card of 8 GiB that is full, behind a traceback.
fn full(frames: &str) -> String {
    format!(
        "Traceback (most recent call last):\n{frames}torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate \
         128.00 MiB (GPU 0; 7.73 GiB total capacity; 3.11 GiB already allocated; 39.00 MiB free; 3.31 GiB reserved in \
         total by PyTorch)\n"
    )
}

/// The same card, full of the job's own tensors.
fn own_need(frames: &str) -> String {
    full(frames).replace("3.11 GiB", "7.11 GiB").replace("3.31 GiB", "7.31 GiB")
}

#[test]
fn activations_that_are_computed_anew_are_not_told_to_be() {
    let step = |between: &str| {
        own_need(&format!(
            "  File \"train.py\", line 40, in <module>\n    loss.backward()\n{between}  File \
             \"/opt/py/lib/python3.10/site-packages/torch/autograd/__init__.py\", line 200, in backward\n    \
             Variable._execution_engine.run_backward(\n"
        ))
    };
    assert!(offers_for(&step("")).contains(&"gradient-checkpointing"));
    let frame = "  File \"/opt/py/lib/python3.10/site-packages/torch/utils/checkpoint.py\", line 157, in backward\n    \
        torch.autograd.backward(outputs_with_grad, args_with_grad)\n";
    assert!(!offers_for(&step(frame)).contains(&"gradient-checkpointing"));
}

#[test]
fn a_small_network_has_neither_fewer_bits_nor_layers_to_spread() {
    let text = full(
        "  File \"detect.py\", line 12, in <module>\n    net = torch.load(\"lanes.pkl\")\n  File \
         \"/opt/py/lib/python3.8/site-packages/torch/serialization.py\", line 1131, in _cuda\n    return \
         new_type(self.size()).copy_(self, non_blocking)\n",
    );
    let offers = offers_for(&text);
    assert!(!offers.contains(&"weight-quantisation"), "{offers:?}");
    let lines = lines_of(&text, "more-devices");
    assert!(!lines.iter().any(|line| line.contains("layers")), "{lines:?}");
}

#[test]
fn a_model_in_the_making_has_no_optimizer() {
    let made = "optimizer: adamw\nepochs: 12\nTraceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    \
        main()\n  File \"heads.py\", line 66, in __init__\n    self.weights = torch.zeros(4096, 4096, \
        device=\"cuda\")\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 7.73 GiB \
        total capacity; 7.11 GiB already allocated; 39.00 MiB free; 7.31 GiB reserved in total by PyTorch)\n";
    let offers = offers_for(made);
    for id in ["gradient-checkpointing", "eight-bit-optimizer", "smaller-batch"] {
        assert!(!offers.contains(&id), "{id}: {offers:?}");
    }
    // The same line in a step.
    assert!(offers_for(&made.replace("__init__", "forward")).contains(&"gradient-checkpointing"));
}

#[test]
fn a_device_is_chosen_where_the_command_chooses_it() {
    const FULL: &str = "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in main\n    x = net(y)\nRuntimeError: \
                        CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 7.80 GiB total capacity; 1.10 GiB already \
                        allocated; 40.00 MiB free; 1.20 GiB reserved in total by PyTorch)\n";
    let of = |command: &str| lines_of(&format!("$ {command}\n{FULL}"), "other-device").concat();
    for (command, line) in [
        ("python a.py", "CUDA_VISIBLE_DEVICES=<index> <your command>"),
        ("python a.py --device cuda:0", "--device cuda:<index>"),
        ("python -m paddle.distributed.launch --gpus=\"0\" a.py", "--gpus=<index>"),
        ("docker run --rm --gpus all image python a.py", "docker run --gpus '\"device=<index>\"' ..."),
    ] {
        assert!(of(command).contains(line), "{command}: {}", of(command));
    }
    let in_a_cell = FULL.replace("/w/a.py", "<ipython-input-9-4b1b6a2c7cde>");
    assert!(lines_of(&in_a_cell, "other-device").concat().contains("in the first cell"));
    assert!(!offers_for("Using backend: ncnn\nvkAllocateMemory failed -2\n").contains(&"other-device"));
}

#[test]
fn a_start_script_takes_no_option_of_the_virtual_machine() {
    let of = |command: &str| {
        let text = format!("$ {command}\nException in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n");
        lines_of(&text, "raise-runtime-limit").concat()
    };
    assert!(of("bin/annotate -f data/in.vcf").starts_with("JAVA_TOOL_OPTIONS=-Xmx"));
    assert!(of("java -jar annotate.jar").starts_with("-Xmx") && of("/usr/bin/java -cp a Main").starts_with("-Xmx"));
}

#[test]
fn nextflow_asks_for_the_memory_of_its_jobs() {
    let killed = "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=3660.batch.\n";
    let of = |text: &str| lines_of(text, "raise-host-limit").concat();
    assert!(of(killed).contains("#SBATCH --mem"));
    let by_nextflow = of(&format!("executor >  slurm (38)\nError executing process > 'ALIGN (liver_1)'\n{killed}"));
    assert!(by_nextflow.contains("withName") && !by_nextflow.contains("#SBATCH"), "{by_nextflow}");
}

#[test]
fn wsl_stays_wsl_where_paths_of_linux_show() {
    let text = "Linux version 5.15.133.1-microsoft-standard-WSL2 (gcc 11.2.0) #1 SMP\nTraceback (most recent call last):\n  \
                File \"/home/me/run.py\", line 3, in <module>\n    x = np.ones(n)\nnumpy.core._exceptions._ArrayMemoryError: \
                Unable to allocate 40.0 GiB for an array with shape (5368709120,) and data type float64\n";
    assert!(lines_of(text, "raise-host-limit").concat().contains(".wslconfig"));
    let on_linux = text.split_once('\n').unwrap().1;
    assert!(!lines_of(on_linux, "raise-host-limit").concat().contains(".wslconfig"));
}

/// The traceback ends with the kind of error, and its message is a paragraph below.
#[test]
fn a_predictor_in_the_making_has_seen_no_picture() {
    let of = |line: &str| {
        offers_for(&format!(
            "$ python3 tools/infer/predict_det.py --image_dir=./imgs\nTraceback (most recent call last):\n  File \
             \"tools/infer/predict_det.py\", line 107, in run\n    {line}\nRuntimeError: \
             ResourceExhaustedError: \n\nOut of memory error on GPU 0. Cannot allocate 64.000000MB memory on GPU 0, \
             7.400000GB memory has been allocated and available memory is only 20.000000MB.\n"
        ))
    };
    let asked = of("out = self.net(batch)");
    let made = of("predictor = inference.create_predictor(config)");
    assert!(made != asked && !made.contains(&"smaller-images") && !made.contains(&"smaller-batch"), "{made:?}");
}
