//! Where a program's own account of its device memory is read, for the counter-proofs.

use crate::incident::Incident;

/// How one program tells its use of the device.
pub struct Meter {
    /// What is in use now.
    pub now: &'static str,
    /// The most that was in use so far.
    pub peak: &'static str,
}

const DRIVER: &str = "nvidia-smi --query-gpu=memory.used --format=csv";

/// The meter of the program whose memory ran out; the driver's where it has none.
pub fn meter(incident: &Incident) -> Meter {
    let (now, peak) = match incident.event.framework {
        "jax" => (
            "jax.local_devices()[0].memory_stats()[\"bytes_in_use\"]",
            "jax.local_devices()[0].memory_stats()[\"peak_bytes_in_use\"]",
        ),
        "tensorflow" => (
            "tf.config.experimental.get_memory_info(\"GPU:0\")[\"current\"]",
            "tf.config.experimental.get_memory_info(\"GPU:0\")[\"peak\"]",
        ),
        "cupy" => ("cupy.get_default_memory_pool().used_bytes()", "cupy.get_default_memory_pool().total_bytes()"),
        "paddle" => ("paddle.device.cuda.memory_allocated()", "paddle.device.cuda.max_memory_allocated()"),
        "mlx" => ("mx.get_active_memory()", "mx.get_peak_memory()"),
        "julia" => ("CUDA.pool_status()", "CUDA.pool_status()"),
        "metal" => ("memory_pressure", "memory_pressure"),
        "sycl" => ("xpu-smi stats -d 0", "xpu-smi stats -d 0"),
        "rocm" => ("rocm-smi --showmeminfo vram", "rocm-smi --showmeminfo vram"),
        "exla" | "numba" | "pycuda" | "rapids" | "dask-cuda" | "xgboost" | "lightgbm" | "catboost" | "mxnet"
        | "onnxruntime" | "tensorrt" | "triton-server" | "opencv" | "opencl" | "candle" | "burn" | "lammps"
        | "kokkos" | "gromacs" | "namd" | "cuquantum" | "pennylane" | "qiskit" | "blender" | "luxcore" | "faiss"
        | "taichi" | "ffmpeg" | "colmap" => (DRIVER, DRIVER),
        _ => ("torch.cuda.memory_allocated()", "torch.cuda.max_memory_allocated()"),
    };
    Meter { now, peak }
}

/// True for programs whose memory is PyTorch's caching allocator, as far as the message tells.
pub fn speaks_torch(incident: &Incident) -> bool {
    meter(incident).now.starts_with("torch.")
}
