//! Where a program's own account of its device memory is read, for the counter-proofs.

use crate::dialect::Sign;
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

/// The driver's own tool for the device, with whose command it is.
pub fn device_tool(incident: &Incident) -> Option<(&'static str, &'static str)> {
    let event = &incident.event;
    Some(if event.has(Sign::Mps) || matches!(event.framework, "mlx" | "metal") {
        ("shell", "memory_pressure")
    } else if event.has(Sign::Hip) || event.framework == "rocm" {
        ("shell", "rocm-smi --showpids --showmeminfo vram")
    } else if event.has(Sign::Xpu) || event.framework == "sycl" {
        ("shell", "xpu-smi ps")
    } else if event.has(Sign::Npu) {
        ("shell", "npu-smi info")
    } else if event.facts.numbers.contains_key("tensorcore_bytes") {
        ("shell", "tpu-info")
    } else {
        ("shell", "nvidia-smi")
    })
}

/// The line that prints what the program uses, at one point of each step.
pub fn per_step(incident: &Incident) -> (&'static str, &'static str) {
    let event = &incident.event;
    if !speaks_torch(incident) {
        return ("program", meter(incident).now);
    }
    if event.has(Sign::Mps) {
        ("pytorch", "print(torch.mps.current_allocated_memory(), torch.mps.driver_allocated_memory())")
    } else if event.has(Sign::Xpu) {
        ("pytorch", "print(torch.xpu.memory_allocated(), torch.xpu.memory_reserved())")
    } else if event.has(Sign::Npu) {
        ("pytorch", "print(torch.npu.memory_allocated(), torch.npu.memory_reserved())")
    } else {
        ("pytorch", "print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())")
    }
}
