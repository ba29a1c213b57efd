//! What a knob belongs to: the program, library or shell in whose words a change is written.

use super::closed_set;

closed_set! {
    /// The place where a line of a fix is written.
    pub enum Target {
        Accelerate = "accelerate",
        Axolotl = "axolotl",
        Catboost = "catboost",
        ComfyUi = "comfyui",
        Cupy = "cupy",
        Cuquantum = "cuquantum",
        Dask = "dask",
        DaskCuda = "dask-cuda",
        DeepSpeed = "deepspeed",
        Diffusers = "diffusers",
        Docker = "docker",
        Exla = "exla",
        Exllama = "exllama",
        Fastai = "fastai",
        Fsdp = "fsdp",
        Go = "go",
        HfTrainer = "hf-trainer",
        Java = "java",
        Jax = "jax",
        Julia = "julia",
        Kubernetes = "kubernetes",
        LightGbm = "lightgbm",
        Lightning = "lightning",
        /// The operating system of the machine, with administrator's rights.
        Linux = "linux",
        LlamaCpp = "llama.cpp",
        LlamaFactory = "llamafactory",
        Lmdeploy = "lmdeploy",
        Megatron = "megatron",
        Metal = "metal",
        Mlx = "mlx",
        MmEngine = "mmengine",
        Node = "node",
        Numpy = "numpy",
        Ollama = "ollama",
        OnnxRuntime = "onnxruntime",
        PennyLane = "pennylane",
        /// Whatever program it is: what any of them understands.
        Program = "program",
        Python = "python",
        Pytorch = "pytorch",
        Qiskit = "qiskit",
        Rapids = "rapids",
        Ray = "ray",
        SdWebUi = "sd-webui",
        Sglang = "sglang",
        /// The shell that starts the program.
        Shell = "shell",
        Slurm = "slurm",
        Spark = "spark",
        Swift = "swift",
        Sycl = "sycl",
        TensorFlow = "tensorflow",
        TensorRt = "tensorrt",
        TensorRtLlm = "tensorrt-llm",
        Tgi = "tgi",
        Triton = "triton",
        Trl = "trl",
        Ultralytics = "ultralytics",
        Vllm = "vllm",
        Windows = "windows",
        Xgboost = "xgboost",
    }
}

impl Target {
    /// True where its lines go into a program's source: only who writes the program can use them.
    pub const fn is_code(self) -> bool {
        matches!(
            self,
            Target::Accelerate
                | Target::Diffusers
                | Target::Fastai
                | Target::Fsdp
                | Target::HfTrainer
                | Target::Jax
                | Target::Lightning
                | Target::Numpy
                | Target::Python
                | Target::Pytorch
                | Target::TensorFlow
                | Target::Trl
        )
    }
}
