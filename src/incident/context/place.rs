//! Where a job runs and what it is busy with, as single lines tell: a pod, a cluster, a notebook in a cloud, the build
//! of an image; data that are read, packages that are installed, activations that are computed anew.

use super::Clue;

/// Letters and digits of the ends that Kubernetes gives the names of pods: no vowels, so that no words come about.
const OF_A_POD: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Clues that a line holds, given in lower case.
pub(super) fn clues(lower: &str, found: &mut Vec<Clue>) {
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let starts = |words: &[&str]| words.iter().any(|word| lower.trim_start().starts_with(word));
    let mut add = |clue, shown: bool| {
        if shown {
            found.push(clue);
        }
    };
    add(
        Clue::Pod,
        says(&["kubectl ", "kubelet", "kubepods", "kubernetes.io", "kubeflow", "emptydir", "pod/"])
            // What runs on a cluster's nodes alone.
            || says(&["calico-", "kube-proxy", "kube-apiserver", "coredns"])
            || lower.contains("@pod-")
            || names_a_pod(lower),
    );
    add(Clue::SideBySide, side_by_side(lower));
    add(
        Clue::SlurmJob,
        starts(&["#sbatch"])
            || says(&["slurmd/", "slurmstepd", "slurm_job", "slurm/", "sbatch ", "srun:", "srun ", "sacct "]),
    );
    add(
        Clue::Cluster,
        starts(&["#sbatch", "#pbs ", "#bsub", "#$ -"])
            || says(&[
                "slurmd/",
                // Nextflow, which submits each step.
                "executor >  slurm",
                "executor >  sge",
                "executor >  lsf",
                "executor >  pbs",
                "slurmstepd",
                "slurm_job",
                "slurm/",
                "sbatch ",
                "srun:",
                "srun ",
                "qsub ",
                "pbs_job",
                "pbs_array",
                "pbs job",
                "pbs:",
                "lsbatch",
                "sge_task",
                "/var/spool/pbs",
                "condor_",
                "/gpfs/",
                "/lustre/",
                "/exports/",
                "login node",
            ])
            || output_of_slurm(lower)
            // A disk of one's own may be mounted as `/mnt/scratch`.
            || lower.match_indices("/scratch/").any(|(at, _)| !lower[..at].ends_with("/mnt")),
    );
    add(Clue::Microcontroller, says(BOARDS));
    add(Clue::ThirtyTwoBit, says(OF_32_BITS) || short_addresses(lower));
    add(Clue::Colab, says(&["google.colab", "google colab", "\"/content/", "colab notebook"]));
    // What Colab and Kaggle say of a session that is gone.
    let gone = ["your session crashed after using all", "your notebook tried to allocate more memory"];
    // The head of Colab's log of a runtime, as one copies it.
    let logged = starts(&["timestamp | level | message"]);
    add(Clue::HostedNotebook, says(&["colab", "/kaggle/", "\"/content/"]) || says(&gone) || logged);
    add(Clue::ImageBuild, says(&["[/bin/sh -c ", "'/bin/sh -c ", "\"/bin/sh -c "]));
    add(
        Clue::ReadsData,
        READS.iter().any(|verb| {
            lower.match_indices(verb).any(|(at, _)| {
                let rest = lower.get(at + verb.len()..).unwrap_or_default();
                let rest: String = rest.chars().take(48).collect();
                DATA.iter().any(|word| rest.contains(word))
                    && !["checkpoint", "weights", "model "].iter().any(|word| rest.contains(word))
            })
        }) || says(&["generating train split", "正在加载数据", "读取数据", "加载数据集"]),
    );
    // `to see it, please install the server: python -m pip install server`: advice.
    let advised = says(&["please install", "please run", "to install ", "you can install"]);
    add(
        Clue::Installs,
        !advised
            && (says(&[
                "pip install ",
                "pip3 install ",
                "conda install ",
                "conda env create",
                "building wheel",
                "building wheels",
            ]) || starts(&["collecting "])
                // pip tells the size: `Downloading numpy-1.19.5.tar.gz (7.3 MB)`.
                || starts(&["downloading "]) && says(&[".whl", ".tar.gz ("])),
    );
    add(Clue::SolvesPackages, says(&["solving environment: "]));
    add(Clue::LoadsLibrary, says(&["error loading \"", "dll load failed"]));
    add(Clue::Cargo, says(&["cargo ", "rustc", "error: could not compile `"]));
    add(Clue::Make, starts(&["make: ", "make[", "gmake: ", "gmake["]) || says(&[" make[", "\tmake[", "make: ***"]));
    add(Clue::Makepkg, says(&["makepkg", "==> starting build()", "==> error: a failure occurred in build()"]));
    let several = super::command::at_a_prompt(lower).and_then(makes_several);
    add(Clue::OneJob, several == Some(false));
    add(
        Clue::SeveralJobs,
        several == Some(true)
            || says(&["makeflags=-j", "makeflags=\"-j", "makeflags='-j"])
            || jobs_of_another_make(lower).is_some_and(|jobs| jobs > 1),
    );
    add(Clue::WaitsForJobs, says(&["waiting for unfinished jobs"]));
    add(Clue::Ninja, starts(&["ninja: "]) || says(&["ninja -", "'ninja'", "\"ninja\""]));
    add(Clue::Bazel, says(&["bazel ", "bazel-out/"]));
    // As names of models and options spell it; an engine's list of what it can read has no hyphen before it.
    add(Clue::FourBits, says(&["-awq", "-gptq", "-mxfp4", " mxfp4", "-nvfp4", "-4bit", "quantization/mxfp4.py"]));
    add(Clue::GathersState, says(&["failed to clone() tensor with name"]));
    let above_one = |name: &str| {
        let value = lower.split_once(name).map_or("", |(_, rest)| rest).trim_start_matches([' ', ':', '=', '\'', '"']);
        let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().is_ok_and(|number| number > 1)
    };
    add(
        Clue::SeveralWorkers,
        // vLLM names its driver apart from the other ranks' processes, numbers ranks of tensor parallelism where
        // there are two or more, and has processes for its workers only then; llama.cpp lists each device's buffers.
        says(&[
            "vllmworkerprocess",
            "(rayworkervllm pid=",
            "vllmworker rank=1",
            "vllmworker tp1",
            "worker_tp",
            " cuda1 ",
            "cuda1 kv buffer",
        ]) || says(&["executor/multiproc_executor.py", "executor/multiproc_gpu_executor.py"])
            || says(&["pipeline parallelism enabled"])
            || above_one("tensor_para_size"),
    );
    add(
        Clue::Recomputes,
        says(&[
            "torch/utils/checkpoint.py",
            "torch\\utils\\checkpoint.py",
            "deepspeed/runtime/activation_checkpointing/",
            "fairscale/nn/checkpoint/",
        ]),
    );
}

/// What Python, `uname` and `setarch` say of a process of 32 bits.
pub(super) const OF_32_BITS: &[&str] = &[
    "32 bit (intel)",
    "i686 gnu/linux",
    "armv7l",
    "linux32",
    "-armv7-unknown-linux-gnueabihf/bin/",
    "-i686-unknown-linux-gnu/bin/",
    "-i686-pc-windows-msvc\\bin\\",
    "hostx86\\x86\\",
    "your machine has a 4gb address limit",
    // Where Python's installer puts it: `Python36-32`.
    "-32\\lib\\",
    "-32\\python.exe",
];

/// Where a frame of Go's traceback ends.
pub(super) const FRAME_OF_GO: &str = " pc=0x";

/// Names of microcontrollers, their systems and interpreters, and of their allocators.
pub(super) const BOARDS: &[&str] = &[
    "heap_caps_",
    "guru meditation",
    "esp-idf",
    "esp32",
    "esp8266",
    "arduino",
    "micropython",
    "circuitpython",
    "freertos",
    "this is riot!",
    "stm32",
    "rp2040",
    "nrf52",
    "lv_mem",
    "espruino",
    "pvportmalloc",
    "esp_err_",
    " caps 0x",
    "lv_draw_",
];

/// Of a command that makes (`make install`, `sudo make`, `cmake --build .`) whether it has an option for several jobs.
fn makes_several(command: &str) -> Option<bool> {
    // `./configure && gmake`
    let command = command.rsplit("&& ").next().unwrap_or(command);
    let words = || command.split(' ').filter(|word| !word.is_empty());
    let makes = match words().find(|word| !matches!(*word, "sudo" | "time"))? {
        "make" | "gmake" => true,
        "cmake" => words().any(|word| word == "--build"),
        _ => false,
    };
    makes.then(|| words().any(|word| ["-j", "--j", "--parallel"].iter().any(|option| word.starts_with(option))))
}

/// The jobs of a make that another one or a script starts, `make -j -C src/kernels`, where it may have several: without
/// a number all that can be made, the largest there is.
fn jobs_of_another_make(lower: &str) -> Option<u64> {
    let start = lower.trim_start();
    let rest = ["make -j", "gmake -j"].iter().find_map(|make| start.strip_prefix(make))?.trim_start_matches([' ', '=']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { Some(u64::MAX) } else { rest[..digits].parse().ok() }
}

/// True for a frame of Go's traceback whose stack lies below 4 GiB: `fp=0x23f11bc4 sp=0x23f11bb0 pc=0x758b0d`. Where
/// addresses have 64 bits it lies at `0xc000000000` and above; in WebAssembly, of which there is no other build, in the
/// first MiB of its own memory.
fn short_addresses(lower: &str) -> bool {
    const LEAST: u64 = 32 << 20;
    let stack = || {
        let (_, rest) = lower.split_once(" fp=0x")?;
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        u64::from_str_radix(rest.get(..digits.min(16))?, 16).ok()
    };
    lower.contains(FRAME_OF_GO) && stack().is_some_and(|at| (LEAST..1 << 32).contains(&at))
}

/// What a program says that it does with data.
const READS: &[&str] = &["loading ", "reading ", "load ", "read ", "caching ", "tokenizing ", "parsing "];

/// Words for what it does so with.
const DATA: &[&str] =
    &["dataset", "data set", "data ", "data.", "data:", "samples", "images", "examples", "records", ".csv", ".parquet"];

/// True where the host's name at the start of a line of NCCL's, or behind `host :`, is a pod's: `trainer-7x9kd-worker`,
/// `train-pod-0`. NCCL starts its lines with `host:pid:tid`, behind a date where one is asked for.
fn names_a_pod(lower: &str) -> bool {
    let of_nccl = || {
        let before = lower.split_once(" nccl ")?.0;
        let word = before.split_whitespace().find(|word| word.split(':').count() == 3)?;
        word.split(':').next()
    };
    let of_a_launcher = || {
        let (name, value) = lower.split_once(':')?;
        (name.trim() == "host").then(|| value.trim())
    };
    let Some(host) = of_nccl().or_else(of_a_launcher) else { return false };
    let part = |part: &str| {
        let drawn = part.len() == 5 && part.bytes().all(|b| OF_A_POD.contains(&b));
        part == "pod" || drawn && part.bytes().any(|b| b.is_ascii_digit())
    };
    host.contains('-') && host.split('-').any(part)
}

/// True for a line that tells of several processes at work at a time, by their number.
fn side_by_side(lower: &str) -> bool {
    let several = |text: &str| {
        let digits = text.trim_start_matches([' ', '=', ':']);
        let end = digits.bytes().take_while(u8::is_ascii_digit).count();
        digits.get(..end).and_then(|count| count.parse::<u64>().ok()).is_some_and(|count| count > 1)
    };
    let before = |words: &str| {
        lower.split_once(words).is_some_and(|(before, _)| {
            let count = before.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            !count.is_empty() && several(count) && before.ends_with(' ')
        })
    };
    let behind = |name: &str| lower.split_once(name).is_some_and(|(_, behind)| several(behind));
    if jobs_of_another_make(lower) == Some(u64::MAX) {
        return true;
    }
    [
        "parallel process",
        "parallel job",
        "parallel worker",
        "parallel task",
        "processes in parallel",
        "jobs in parallel",
    ]
    .iter()
    .any(|words| before(words))
        || ["n_jobs", "--jobs", "--ntasks", "mpirun -n", "mpirun -np", "mpiexec -n", "parallel -j", "processes="]
            .iter()
            .any(|name| behind(name))
        || ["multiprocessing/pool.py", "processpoolexecutor(", "multiprocessing.pool("]
            .iter()
            .any(|name| lower.contains(name))
}

/// `slurm-4418206.out`, as `sbatch` names what a job prints; an array's has the task's number too.
fn output_of_slurm(lower: &str) -> bool {
    lower.match_indices("slurm-").any(|(at, name)| {
        let number = lower[at + name.len()..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
        number.starts_with(".out") && number.len() < lower.len() - at - name.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<Clue> {
        let mut found = Vec::new();
        clues(&text.to_ascii_lowercase(), &mut found);
        found
    }

    #[test]
    fn a_pod_is_told_by_its_name() {
        for line in ["trainer-7x9kd-worker:41:97 [0] NCCL WARN x", "  host      : train-pod-0"] {
            assert_eq!(told(line), [Clue::Pod], "{line}");
        }
        for line in ["node-train-01:41:97 [0] NCCL WARN x", "  host      : gpu-server", "host: 10.0.0.1"] {
            assert!(told(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn data_are_read_where_a_line_says_so() {
        for line in ["Loading Birds dataset...", "reading data from disk", "Loading images: 40%", "read table.csv"] {
            assert_eq!(told(line), [Clue::ReadsData], "{line}");
        }
        for line in ["Loading Whisper model: base", "Loading checkpoint shards: 20%", ">>> Load weights from disk"] {
            assert!(told(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn what_is_installed_is_no_data() {
        for line in ["Collecting torch", "  Downloading torch-2.0-cp39.whl (700 MB)"] {
            assert_eq!(told(line), [Clue::Installs], "{line}");
        }
        assert_eq!(told("OSError: Error loading \"c10.dll\" or its dependencies"), [Clue::LoadsLibrary]);
    }

    #[test]
    fn processes_side_by_side_are_told_by_their_number() {
        for line in [
            "running the pipeline with 15 parallel processing",
            "#sbatch --ntasks=128",
            "randomforest(n_jobs=16)",
            "mpirun -n 8 lmp",
        ] {
            assert!(side_by_side(line), "{line}");
        }
        for line in ["parallel processing is off", "n_jobs=1", "tensor parallel size 8", "data parallel training"] {
            assert!(!side_by_side(line), "{line}");
        }
    }
}
