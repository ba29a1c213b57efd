//! Libraries and programs whose releases decide what may be written.

use super::closed_set;

closed_set! {
    /// A library whose options came one after another, each with a release.
    pub enum Library {
        Torch = "torch",
        TensorFlow = "tensorflow",
        Lightning = "lightning",
        Bitsandbytes = "bitsandbytes",
        Transformers = "transformers",
        Trl = "trl",
        Peft = "peft",
        Diffusers = "diffusers",
        Datasets = "datasets",
        Jax = "jax",
        Ray = "ray",
        Xgboost = "xgboost",
        Cudf = "cudf",
        Nccl = "nccl",
        TensorRt = "tensorrt",
        Vllm = "vllm",
        Ollama = "ollama",
        /// Its releases are builds, counted from 1 on.
        LlamaCpp = "llama.cpp",
        Swift = "ms-swift",
        /// The virtual machine.
        Java = "java",
        Go = "go",
    }
}
