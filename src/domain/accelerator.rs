//! Families of accelerators, by whose tools and words a device's memory is read.

use super::closed_set;
use super::program::Meter;

closed_set! {
    /// A family of devices with memory of their own, or with the machine's.
    pub enum Accelerator {
        /// NVIDIA.
        Cuda = "cuda",
        /// AMD. PyTorch built for it keeps the name `torch.cuda`.
        Hip = "hip",
        /// Apple.
        Mps = "mps",
        /// Intel.
        Xpu = "xpu",
        /// Huawei Ascend.
        Npu = "npu",
        /// Google.
        Tpu = "tpu",
        /// Whatever a driver's interface stands for that every vendor implements: Vulkan, OpenCL, WebGPU.
        Any = "any",
    }
}

impl Accelerator {
    /// The driver's own tool, which counts every program's memory. None of them keeps a peak, so it is watched instead.
    pub const fn driver_meter(self) -> Meter {
        let command = match self {
            Accelerator::Cuda => "nvidia-smi --query-gpu=memory.used --format=csv",
            Accelerator::Hip => "rocm-smi --showmeminfo vram",
            Accelerator::Mps => "memory_pressure",
            Accelerator::Xpu => "xpu-smi stats -d 0",
            Accelerator::Npu => "npu-smi info",
            Accelerator::Tpu => "tpu-info",
            Accelerator::Any => "nvtop",
        };
        Meter { now: command, peak: command }
    }

    /// The name of that tool.
    pub const fn tool(self) -> &'static str {
        match self {
            Accelerator::Cuda => "nvidia-smi",
            Accelerator::Hip => "rocm-smi",
            Accelerator::Mps => "memory_pressure",
            Accelerator::Xpu => "xpu-smi",
            Accelerator::Npu => "npu-smi",
            Accelerator::Tpu => "tpu-info",
            Accelerator::Any => "nvtop",
        }
    }

    /// The command that lists the processes on its devices.
    pub const fn processes(self) -> &'static str {
        match self {
            Accelerator::Cuda => "nvidia-smi --query-compute-apps=pid,used_memory,process_name --format=csv",
            Accelerator::Hip => "rocm-smi --showpids",
            Accelerator::Mps => "top -o mem",
            Accelerator::Xpu => "xpu-smi ps",
            Accelerator::Npu => "npu-smi info",
            Accelerator::Tpu => "tpu-info",
            Accelerator::Any => "nvtop",
        }
    }

    /// The variable that chooses which devices a process sees, where there may be more than one.
    pub const fn visible_devices(self) -> Option<&'static str> {
        match self {
            Accelerator::Cuda => Some("CUDA_VISIBLE_DEVICES"),
            Accelerator::Hip => Some("HIP_VISIBLE_DEVICES"),
            Accelerator::Xpu => Some("ZE_AFFINITY_MASK"),
            Accelerator::Npu => Some("ASCEND_RT_VISIBLE_DEVICES"),
            Accelerator::Tpu => Some("TPU_VISIBLE_CHIPS"),
            Accelerator::Mps | Accelerator::Any => None,
        }
    }

    /// What PyTorch's allocator of this family counts. MPS and XLA keep no peak: what the driver holds for the process
    /// falls only when the cache is emptied, which makes it the nearest figure.
    pub const fn torch_meter(self) -> Meter {
        match self {
            Accelerator::Cuda | Accelerator::Hip | Accelerator::Any => {
                Meter { now: "torch.cuda.memory_allocated()", peak: "torch.cuda.max_memory_allocated()" }
            }
            Accelerator::Mps => {
                Meter { now: "torch.mps.current_allocated_memory()", peak: "torch.mps.driver_allocated_memory()" }
            }
            Accelerator::Xpu => Meter { now: "torch.xpu.memory_allocated()", peak: "torch.xpu.max_memory_allocated()" },
            Accelerator::Npu => Meter { now: "torch.npu.memory_allocated()", peak: "torch.npu.max_memory_allocated()" },
            Accelerator::Tpu => Meter {
                now: "torch_xla.core.xla_model.get_memory_info()",
                peak: "torch_xla.core.xla_model.get_memory_info()",
            },
        }
    }

    /// PyTorch's module for devices of this family.
    pub const fn torch_module(self) -> &'static str {
        match self {
            Accelerator::Cuda | Accelerator::Hip | Accelerator::Any => "torch.cuda",
            Accelerator::Mps => "torch.mps",
            Accelerator::Xpu => "torch.xpu",
            Accelerator::Npu => "torch.npu",
            Accelerator::Tpu => "torch_xla",
        }
    }

    /// The variable that sets the options of PyTorch's caching allocator, where the family has it.
    pub const fn torch_conf(self) -> Option<&'static str> {
        match self {
            Accelerator::Cuda => Some("PYTORCH_CUDA_ALLOC_CONF"),
            Accelerator::Hip => Some("PYTORCH_HIP_ALLOC_CONF"),
            Accelerator::Npu => Some("PYTORCH_NPU_ALLOC_CONF"),
            Accelerator::Mps | Accelerator::Xpu | Accelerator::Tpu | Accelerator::Any => None,
        }
    }

    /// True where PyTorch keeps a peak that can be set back.
    pub const fn torch_keeps_a_peak(self) -> bool {
        matches!(self, Accelerator::Cuda | Accelerator::Hip | Accelerator::Xpu | Accelerator::Npu)
    }

    /// The variable under which kernels run one after the other, so that an error is reported where it happens.
    pub const fn blocking_launches(self) -> Option<&'static str> {
        match self {
            Accelerator::Cuda => Some("CUDA_LAUNCH_BLOCKING=1"),
            Accelerator::Hip => Some("AMD_SERIALIZE_KERNEL=3"),
            Accelerator::Npu => Some("ASCEND_LAUNCH_BLOCKING=1"),
            Accelerator::Mps | Accelerator::Xpu | Accelerator::Tpu | Accelerator::Any => None,
        }
    }

    /// The name of the family's devices in PyTorch, as `torch.autocast` and `Tensor.to` take it.
    pub const fn torch_device(self) -> &'static str {
        match self {
            Accelerator::Cuda | Accelerator::Hip | Accelerator::Any => "cuda",
            Accelerator::Mps => "mps",
            Accelerator::Xpu => "xpu",
            Accelerator::Npu => "npu",
            Accelerator::Tpu => "xla",
        }
    }
}
