//! Wordings that name their program by themselves, one row each; their figures are read by the words around them, as in
//! the net, which could not tell the program or would not see that memory ran out.

use super::{Dialect, Event, Resource, Sign, Standing, field, naming, net};
use crate::domain::{Number, Program};
use crate::evidence::Span;
use crate::input::Document;
use crate::text;
use crate::units::Base;

pub const DIALECT: Dialect = Dialect { name: "wordings", triggers: TRIGGERS, read };

/// One wording.
struct Wording {
    /// All of these stand on the line, the first one being a literal of [`TRIGGERS`].
    words: &'static [&'static str],
    slug: &'static str,
    program: Program,
    resource: Resource,
    signs: &'static [Sign],
    /// What it means by `GB`.
    base: Base,
    /// The program goes on after it.
    survives: bool,
}

const fn row(words: &'static [&'static str], slug: &'static str, program: Program, resource: Resource) -> Wording {
    Wording { words, slug, program, resource, signs: &[], base: Base::Binary, survives: false }
}

impl Wording {
    const fn shows(mut self, signs: &'static [Sign]) -> Wording {
        self.signs = signs;
        self
    }

    const fn decimal(mut self) -> Wording {
        self.base = Base::Decimal;
        self
    }

    const fn survived(mut self) -> Wording {
        self.survives = true;
        self
    }
}

use Resource::{CudaSharedMemory, Gpu, Host, KvCache, Shm};

const ROWS: &[Wording] = &[
    row(&["Kokkos ERROR:", "Host memory space failed to allocate"], "kokkos-host-space", Program::Kokkos, Host),
    row(&["Kokkos ERROR:", "memory space failed to allocate"], "kokkos-memory-space", Program::Kokkos, Gpu),
    row(&["Ran out of memory trying to allocate", "[info"], "rmm-arena", Program::Rapids, Gpu),
    row(&["[malloc] Unable to allocate"], "mlx-malloc", Program::Mlx, Host),
    row(&["couldn't allocate integrator state"], "blender-metal", Program::Blender, Gpu),
    // thrust/detail/temporary_buffer.inl: what sorts and scans work with, which a device refused.
    row(&["get_temporary_buffer failed"], "thrust-temporary-buffer", Program::Thrust, Gpu),
    row(&["OIDN error: out of memory"], "blender-denoiser", Program::Blender, Gpu),
    row(&["out of GPU and shared host memory"], "blender-gpu-and-host", Program::Blender, Gpu),
    row(
        &["Maximum GPU image size or available GPU memory was likely exceeded"],
        "blender-image",
        Program::Blender,
        Gpu,
    ),
    row(&["Feature matching failed", "insufficient GPU memory"], "colmap-matching", Program::Colmap, Gpu),
    // Wav2Lip's inference.py, after it has halved its batch to one.
    row(&["Image too big to run face detection on GPU"], "face-detection", Program::Pytorch, Gpu)
        .shows(&[Sign::EverySizeTried, Sign::NoFigures]),
    row(&["Not enough memory, use lower resolution"], "diffusion-resolution", Program::Pytorch, Gpu),
    row(&["Insufficient memory to allocate KV-caches"], "deepspeed-kv", Program::DeepSpeed, KvCache),
    row(&["Workspace can't be allocated, no enough memory"], "deepspeed-workspace", Program::DeepSpeed, Gpu),
    row(&["Not enough memory in buffer. Allocation failed"], "deepspeed-contiguous", Program::DeepSpeed, Gpu),
    row(&["Allocation failed", "contiguous_memory_allocator"], "deepspeed-contiguous", Program::DeepSpeed, Gpu),
    row(&["Insufficient VRAM", "split"], "exllama-split", Program::Exllama, Gpu),
    // exllamav2/model.py, load_autosplit_gen(): the cache is made layer by layer with the weights.
    row(&["Insufficient VRAM", "for model and cache"], "exllama-model-and-cache", Program::Exllama, Gpu)
        .shows(&[Sign::EngineStartup]),
    row(&["Insufficient space in device allocation"], "exllama-split", Program::Exllama, Gpu),
    row(
        &["Device setup failed for decoder", "Cannot allocate memory"],
        "ffmpeg-hardware-decoder",
        Program::Ffmpeg,
        Gpu,
    ),
    // accelerate/utils/memory.py, under the Trainer's auto_find_batch_size and in many scripts: the failures themselves
    // were caught and are not printed.
    row(&["No executable batch size found, reached zero"], "accelerate-no-batch-size", Program::Pytorch, Gpu)
        .shows(&[Sign::EverySizeTried]),
    row(&["Not enough memory for Block Cache"], "ktransformers-block-cache", Program::Ktransformers, Host),
    row(&["Memory allocation failed for", "numa"], "ktransformers-numa", Program::Ktransformers, Host),
    row(&["Failed to allocate CPU Memory"], "mxnet-host", Program::Mxnet, Host),
    row(&["reduce the size of the hierarchical cache"], "sglang-host-cache", Program::Sglang, Host).decimal(),
    row(&["Out of memory. Try to lower your batch size"], "sglang-pool", Program::Sglang, KvCache),
    row(&["alloc_req_slots runs out of memory"], "sglang-request-table", Program::Sglang, KvCache),
    row(&["Device lost:", "E_OUTOFMEMORY"], "webgpu-device-lost", Program::WebGpu, Gpu),
    row(&["exceeds the max buffer size limit"], "webgpu-buffer-size", Program::WebGpu, Gpu)
        .shows(&[Sign::BufferSizeLimit]),
    row(&["wgpu error: Out of Memory"], "wgpu-out-of-memory", Program::Wgpu, Gpu),
    row(&["wgpu error: Not enough memory"], "wgpu-out-of-memory", Program::Wgpu, Gpu),
    row(&["greater than the maximum buffer size"], "wgpu-buffer-size", Program::Wgpu, Gpu)
        .shows(&[Sign::BufferSizeLimit]),
    row(&["next swap chain texture", "OutOfMemory"], "wgpu-surface", Program::Wgpu, Gpu),
    row(&["due to insufficient system resources"], "lm-studio-guardrail", Program::LmStudio, Host)
        .shows(&[Sign::ModelBeyondRam]),
    row(&["Error out of memory at line", "csrc"], "bitsandbytes-check", Program::Bitsandbytes, Gpu),
    row(
        &["Make sure you have enough GPU RAM to fit the quantized model"],
        "bitsandbytes-dispatch",
        Program::Bitsandbytes,
        Gpu,
    ),
    row(&["Failed to successfully execute function and free resources"], "amdgpu-retried", Program::AmdGpu, Gpu),
    row(
        &["Failed to truncate the file. No space left on device", "shared_mem.cc"],
        "dgl-shared-memory",
        Program::Dgl,
        Shm,
    ),
    row(&["Buffer overflow when allocating memory for"], "flashinfer-workspace", Program::FlashInfer, Gpu),
    row(&["in AlignedAllocator", "Failed to allocate memory for"], "flashinfer-workspace", Program::FlashInfer, Gpu),
    row(&["PxgCudaDeviceMemoryAllocator fail to allocate", "Result = 2"], "physx-device", Program::IsaacSim, Gpu),
    row(
        &["greater than the maximum allowed buffer size", "RuntimeError: Attempting to allocate"],
        "mlx-buffer-size",
        Program::Mlx,
        Gpu,
    )
    .shows(&[Sign::BufferSizeLimit]),
    row(&["vkCreateImage failed -1000069000"], "ncnn-device", Program::Ncnn, Gpu),
    row(&["no such memory type"], "ncnn-memory-type", Program::Ncnn, Gpu),
    row(&["Requested amount of memory (", "could not be allocated"], "tensorrt-request", Program::TensorRt, Gpu),
    row(&["Failed to allocate scratch buffer for BLAS"], "blender-raytracing", Program::Blender, Gpu),
    row(&["No enough free memory blocks"], "lmdeploy-no-blocks", Program::Lmdeploy, KvCache),
    row(&["Uncaptured WebGPU error", "OutOfMemory"], "webgpu-uncaptured", Program::WebGpu, Gpu),
    row(&["CatBoostError", "bad_alloc"], "catboost-host", Program::Catboost, Host),
    row(&["failed to find a memory slot for batch"], "llamacpp-cache-full", Program::LlamaCpp, KvCache),
    row(&["could not find a KV slot for the batch"], "llamacpp-cache-full", Program::LlamaCpp, KvCache),
    // examples/server: it halves what it decodes at once until one token has no room.
    row(&["failed to decode the batch, n_batch = 1,"], "llamacpp-cache-full", Program::LlamaCpp, KvCache),
    // XMRig, src/backend/opencl/wrappers/OclLib.cpp.
    row(&["CL_INVALID_BUFFER_SIZE when calling clCreateBuffer"], "opencl-buffer-size", Program::OpenCl, Gpu)
        .shows(&[Sign::BufferSizeLimit]),
    // AlexeyAB's darknet, src/convolutional_layer.c: no algorithm whose workspace had room.
    row(&["cuDNN isn't found FWD algo for convolution"], "darknet-cudnn-algorithm", Program::Darknet, Gpu)
        .shows(&[Sign::ForeignLibrary, Sign::NoFigures]),
    row(&["exceeds the available context size"], "llamacpp-context-exceeded", Program::LlamaCpp, KvCache)
        .shows(&[Sign::BeyondContext]),
    // ggml.c: ggml_new_object, ggml_new_tensor_impl. The pool of a context is as large as whoever made it said.
    row(&["not enough space in the context's memory pool"], "ggml-memory-pool", Program::LlamaCpp, Host)
        .shows(&[Sign::FixedBuffer]),
    row(&["Context size has been exceeded"], "llamacpp-context-exceeded", Program::LlamaCpp, KvCache)
        .shows(&[Sign::BeyondContext]),
    row(&["KV cache is full - try increasing"], "llamacpp-cache-full", Program::LlamaCpp, KvCache)
        .shows(&[Sign::BeyondContext]),
    row(&["input length exceeds the context length"], "ollama-context-exceeded", Program::Ollama, KvCache)
        .shows(&[Sign::BeyondContext]),
    row(&["tokens when context the overflows"], "lm-studio-context-exceeded", Program::LmStudio, KvCache)
        .shows(&[Sign::BeyondContext]),
    row(&["Not enough memory for", "mamba"], "megatron-mamba", Program::Megatron, KvCache),
    row(&["failed assertion", "total bytes of NDArray"], "metal-array-size", Program::Metal, Gpu)
        .shows(&[Sign::Mps, Sign::BufferSizeLimit]),
    row(&["newBufferWith*:length", "must not exceed"], "metal-buffer-size", Program::Metal, Gpu)
        .shows(&[Sign::Mps, Sign::BufferSizeLimit]),
    // ggml-metal.m, before a buffer was laid over several (June 2023).
    row(
        &["ggml_metal_add_buffer", "is larger than buffer maximum of"],
        "llamacpp-metal-buffer",
        Program::LlamaCpp,
        Gpu,
    )
    .shows(&[Sign::Mps, Sign::BufferSizeLimit]),
    row(&["memory isn't enough and alloc failed", "Device(id"], "mindspore-kernel", Program::Mindspore, Gpu),
    row(&["Memory isn't enough and alloc failed"], "mindspore-host", Program::Mindspore, Host),
    row(&["Malloc device memory failed, size["], "mindspore-malloc", Program::Mindspore, Gpu).shows(&[Sign::Npu]),
    row(&["Failed to instantiate heap"], "openj9-heap", Program::Java, Host),
    // runtime/mem_windows.go
    row(&["runtime: VirtualAlloc of", "failed with errno=1455"], "go-commit", Program::Go, Host),
    // A worker of the server that died of a bus error, as where a page of shared memory cannot be had.
    row(&["was signaled to shutdown with signal 7"], "tgi-bus-error", Program::Tgi, Shm).shows(&[Sign::EndUntold]),
    // CANN's runtime, and its graph engine, which asks it.
    row(&["rtMalloc fail"], "ascend-malloc", Program::Ascend, Gpu).shows(&[Sign::Npu]),
    row(&["Memory_Allocation_Failure(EL0004)"], "ascend-allocation", Program::Ascend, Gpu).shows(&[Sign::Npu]),
    row(&["vkAllocateMemory failed -2"], "ncnn-device", Program::Ncnn, Gpu),
    // libavcodec/nvenc.c: the code of CUDA's driver for the context of an encoder.
    row(&["Failed creating CUDA context for NVENC: 0x2"], "nvenc-context", Program::Ffmpeg, Gpu).shows(&[
        Sign::Disguised,
        Sign::ContextCreation,
        Sign::ForeignLibrary,
        Sign::NoFigures,
    ]),
    // theano/sandbox/cuda/cuda_ndarray.cu, at the import: the pool of the setting `lib.cnmem`, a share of the device
    // or MB.
    row(&["initCnmem: cnmemInit call failed"], "theano-cnmem", Program::Generic, Gpu)
        .shows(&[Sign::PoolCreation, Sign::NoFigures]),
    // Theano's gpuarray back end: cuDNN takes its handle's memory beside the pool that `gpuarray.preallocate` sets.
    row(&["could not create cuDNN handle: CUDNN_STATUS_INTERNAL_ERROR"], "theano-cudnn", Program::Generic, Gpu)
        .shows(CUDNN_HANDLE),
    row(&["could not create cuDNN handle: CUDNN_STATUS_ALLOC_FAILED"], "theano-cudnn", Program::Generic, Gpu)
        .shows(CUDNN_HANDLE),
    // VK_ERROR_TOO_MANY_OBJECTS
    row(&["vkAllocateMemory failed -10"], "ncnn-allocations", Program::Ncnn, Gpu).shows(&[Sign::AllocationsRanOut]),
    row(&["vkAllocateMemory failed -1"], "ncnn-host", Program::Ncnn, Host),
    // LuxCore, of the largest buffer that a driver makes.
    row(&["CL_DEVICE_MAX_MEM_ALLOC_SIZE=", "is too big for"], "opencl-buffer-size", Program::OpenCl, Gpu)
        .shows(&[Sign::BufferSizeLimit]),
    // SwarmUI, BackendHandler.cs: what it saw before the program behind it was gone.
    row(
        &["Your system memory usage exceeded", "just before the backend process failed"],
        "swarmui-backend",
        Program::Generic,
        Host,
    ),
    row(&["clCreateBuffer failed: INVALID_BUFFER_SIZE"], "opencl-buffer-size", Program::OpenCl, Gpu)
        .shows(&[Sign::BufferSizeLimit]),
    row(&["failed: OUT_OF_RESOURCES"], "opencl-resources", Program::OpenCl, Gpu),
    row(&["clCreateBuffer (-61)"], "opencl-buffer-size", Program::OpenMm, Gpu).shows(&[Sign::BufferSizeLimit]),
    row(&["clCreateBuffer (-4)"], "opencl-buffer", Program::OpenMm, Gpu),
    row(&["Allocate: No space left"], "relion-host", Program::Relion, Host),
    row(&["alloc params backend buffer failed"], "sdcpp-params", Program::SdCpp, Gpu).shows(&[Sign::WeightsBuffer]),
    row(&["Can't allocate new blocks. No free blocks left"], "trtllm-no-blocks", Program::TensorRtLlm, KvCache),
    row(&["Could not find any implementation for node"], "tensorrt-no-implementation", Program::TensorRt, Gpu),
    row(
        &["cuBLAS Error: the resource allocation failed"],
        "transformer-engine-cublas",
        Program::TransformerEngine,
        Gpu,
    )
    .shows(&[Sign::Disguised, Sign::ForeignLibrary, Sign::Cublas]),
    row(&["failed to allocate non-pinned system memory"], "triton-system-memory", Program::TritonServer, Host),
    row(&["Unable to open shared memory region"], "triton-shared-memory", Program::TritonServer, Shm),
    row(&["Unable to initialize shared memory key"], "triton-python-shared-memory", Program::TritonServer, Shm),
    row(&["increase the shared memory pool size"], "triton-python-shared-memory", Program::TritonServer, Shm),
    row(&["from heap", "size of that heap is only"], "vulkan-heap-size", Program::Vulkan, Gpu),
    row(&["Shared memory", "CUDA", "exceeds", "per block"], "cuda-shared-memory", Program::Cuda, CudaSharedMemory),
    row(&["ERROR_UNSUPPORTED_SIZE"], "level-zero-size", Program::Sycl, Gpu).shows(&[Sign::Xpu, Sign::BufferSizeLimit]),
    row(&["Shard process was signaled to shutdown with signal 9"], "tgi-shard-killed", Program::Tgi, Host)
        .shows(&[Sign::KilledWithoutProof]),
    row(&["ONNXRuntimeError", "bad allocation"], "onnxruntime-bad-allocation", Program::OnnxRuntime, Host),
    row(&["lack of CPU swap space"], "vllm-cpu-swap-space", Program::Vllm, Host).shows(&[Sign::RefusedByLimit]),
    row(&["cumem_allocator", "out of memory"], "vllm-cumem", Program::Vllm, Gpu).shows(&[Sign::Disguised]),
    row(&["CUresult error", "cu_mem_create"], "memory-saver", Program::Sglang, Gpu).shows(&[Sign::Disguised]),
    // runtime/mpagealloc_64bit.go, 1.14 and later: 600 MiB of addresses that nothing fills, which only a limit on them
    // refuses.
    row(&["failed to reserve page summary memory"], "go-address-space", Program::Go, Host)
        .shows(&[Sign::AddressSpaceLimit]),
    // Its exception as another language passes it on: python-javabridge's.
    row(&["JavaException: Java heap space"], "jvm-heap-elsewhere", Program::Java, Host)
        .shows(&[Sign::RefusedByLimit, Sign::NoFigures]),
    // Emscripten's older runtime (src/preamble.js), of a memory that was compiled not to grow.
    row(&["Cannot enlarge memory arrays"], "emscripten-heap", Program::Generic, Host).shows(&[Sign::RefusedByLimit]),
    // kernel/dma/swiotlb.c: bounce buffers of a size that is set at boot.
    row(&["swiotlb buffer is full"], "kernel-swiotlb", Program::LinuxKernel, Host).shows(&[Sign::RefusedByLimit]),
    // Oracle's pools within its shared memory, whose sizes are set.
    row(&["ORA-04031: unable to allocate"], "oracle-shared-pool", Program::Generic, Host)
        .shows(&[Sign::RefusedByLimit]),
    // Gradle's own watch over the heap of its daemon.
    row(&["after running out of JVM heap space"], "gradle-heap", Program::Java, Host).shows(&[Sign::RefusedByLimit]),
    // Gradle's client, of the process that built, and Ollama's server of the one that loads: nothing tells of what.
    row(&["build daemon disappeared unexpectedly"], "gradle-daemon-gone", Program::Java, Host).shows(GONE),
    // Bazel's client, of its server: gRPC's code for one that no longer answers.
    row(&["Server terminated abruptly (error code: 14"], "bazel-server-gone", Program::Java, Host).shows(GONE),
    row(&["llama runner process no longer running: -1"], "ollama-runner-gone", Program::Ollama, Host).shows(GONE),
    // nnunetv2's pools of processes and batchgenerators/dataloading/nondet_multi_threaded_augmenter.py: a worker is
    // gone, and nothing tells of what.
    row(&["background worker", "6 feet under"], "nnunet-worker-gone", Program::Python, Host).shows(WORKER_GONE),
    row(&["ackground workers are no longer alive"], "nnunet-worker-gone", Program::Python, Host).shows(WORKER_GONE),
    row(&["ackground workers died"], "nnunet-worker-gone", Program::Python, Host).shows(WORKER_GONE),
    // mshadow/stream_gpu-inl.h: cuBLAS is made when a device has little left, too.
    row(&["Create cublas handle failed"], "mxnet-cublas-handle", Program::Mxnet, Gpu).shows(&[
        Sign::Disguised,
        Sign::ContextCreation,
        Sign::ForeignLibrary,
        Sign::Cublas,
        Sign::NoFigures,
    ]),
    // V8 sets 8 GiB of addresses and more aside for each memory of WebAssembly, of which little is filled.
    row(&["WebAssembly.Instance()", "ut of memory"], "wasm-memory", Program::Node, Host)
        .shows(&[Sign::AddressSpaceLimit]),
    row(&["WebAssembly.Memory()", "could not allocate memory"], "wasm-memory", Program::Node, Host)
        .shows(&[Sign::AddressSpaceLimit]),
    row(&["Cannot allocate Wasm memory for new instance"], "wasm-memory", Program::Node, Host)
        .shows(&[Sign::AddressSpaceLimit]),
    // CHOLMOD/Core/t_cholmod_dense.c, as R's Matrix passes it on: more cells than the library can count.
    row(&["Cholmod error", "problem too large"], "cholmod-too-large", Program::R, Host).shows(&[Sign::BufferSizeLimit]),
    // Free Pascal's and Delphi's runtime: EHeapOverflow, where no exception is caught.
    row(&["Runtime error 203 at"], "pascal-heap-overflow", Program::Generic, Host),
    // The collector of Boehm and others, which many interpreters use.
    row(&["Too many heap sections: Increase MAXHINCR"], "boehm-heap-sections", Program::Generic, Host),
    // What the program gets over by itself.
    row(&["mimalloc: warning: unable to allocate OS memory"], "mimalloc-retries", Program::Generic, Host).survived(),
    row(&["pinned memory pool will not be available"], "triton-no-pinned-pool", Program::TritonServer, Host).survived(),
    row(&["requires more system memory than is currently available, evicting"], "ollama-evicts", Program::Ollama, Host)
        .survived(),
    row(&["select_algorithm", "No valid triton configs"], "inductor-autotuner", Program::Pytorch, CudaSharedMemory)
        .survived(),
    row(&["switched to slice attention"], "comfyui-sliced-attention", Program::Pytorch, Gpu).survived(),
    row(&["Out of memory (", "moving to device"], "exllama-next-device", Program::Exllama, Gpu).survived(),
    row(&["not enough VRAM for second sanity check"], "exllama-sanity-check", Program::Exllama, Gpu).survived(),
    row(&["cache out of memory, no request can be admitted"], "lmdeploy-waits", Program::Lmdeploy, KvCache).survived(),
    row(&["cannot have size > int32_MAX"], "cudf-rows", Program::Rapids, Gpu).survived(),
    row(&["cudaErrorLaunchOutOfResources"], "cuda-launch-resources", Program::Cuda, CudaSharedMemory).survived(),
];

/// A handle of cuDNN that could not be made.
const CUDNN_HANDLE: &[Sign] =
    &[Sign::Disguised, Sign::ContextCreation, Sign::ForeignLibrary, Sign::Cudnn, Sign::NoFigures];

/// A process that is gone, and nothing tells of what.
const GONE: &[Sign] = &[Sign::EndUntold, Sign::KilledWithoutProof, Sign::NoFigures];

/// A worker of a pool that is gone, and nothing tells of what.
const WORKER_GONE: &[Sign] = &[Sign::PoolWorkerKilled, Sign::EndUntold, Sign::KilledWithoutProof, Sign::NoFigures];

/// One literal of each row that leads to its line.
const TRIGGERS: &[&str] = &[
    "Runtime error 203 at",
    "Too many heap sections: Increase MAXHINCR",
    "runtime: VirtualAlloc of",
    "was signaled to shutdown with signal 7",
    "Failed to instantiate heap",
    "rtMalloc fail",
    "Memory_Allocation_Failure(EL0004)",
    "WebAssembly.Instance()",
    "WebAssembly.Memory()",
    "Cannot allocate Wasm memory for new instance",
    "failed to reserve page summary memory",
    "JavaException: Java heap space",
    "Cannot enlarge memory arrays",
    "swiotlb buffer is full",
    "ORA-04031: unable to allocate",
    "after running out of JVM heap space",
    "build daemon disappeared unexpectedly",
    "Server terminated abruptly (error code: 14",
    "llama runner process no longer running: -1",
    "6 feet under",
    "ackground workers are no longer alive",
    "ackground workers died",
    "Create cublas handle failed",
    "problem too large",
    "Host memory space failed to allocate",
    "memory space failed to allocate",
    "Ran out of memory trying to allocate",
    "[malloc] Unable to allocate",
    "couldn't allocate integrator state",
    "get_temporary_buffer failed",
    "OIDN error: out of memory",
    "out of GPU and shared host memory",
    "Maximum GPU image size or available GPU memory was likely exceeded",
    "Feature matching failed",
    "Not enough memory, use lower resolution",
    "Image too big to run face detection on GPU",
    "Insufficient memory to allocate KV-caches",
    "Workspace can't be allocated, no enough memory",
    "Not enough memory in buffer. Allocation failed",
    "contiguous_memory_allocator",
    "Insufficient VRAM",
    "Insufficient space in device allocation",
    "Device setup failed for decoder",
    "No executable batch size found, reached zero",
    "Not enough memory for Block Cache",
    "Memory allocation failed for",
    "Failed to allocate CPU Memory",
    "reduce the size of the hierarchical cache",
    "Out of memory. Try to lower your batch size",
    "E_OUTOFMEMORY",
    "exceeds the max buffer size limit",
    "wgpu error: Out of Memory",
    "wgpu error: Not enough memory",
    "greater than the maximum buffer size",
    "next swap chain texture",
    "due to insufficient system resources",
    "Error out of memory at line",
    "Make sure you have enough GPU RAM to fit the quantized model",
    "Failed to successfully execute function and free resources",
    "Failed to truncate the file. No space left on device",
    "Buffer overflow when allocating memory for",
    "in AlignedAllocator",
    "alloc_req_slots runs out of memory",
    "PxgCudaDeviceMemoryAllocator fail to allocate",
    "greater than the maximum allowed buffer size",
    "vkCreateImage failed -1000069000",
    "no such memory type",
    "Requested amount of memory (",
    "Failed to allocate scratch buffer for BLAS",
    "No enough free memory blocks",
    "Uncaptured WebGPU error",
    "CatBoostError",
    "mimalloc: warning: unable to allocate OS memory",
    "pinned memory pool will not be available",
    "requires more system memory than is currently available, evicting",
    "failed to find a memory slot for batch",
    "could not find a KV slot for the batch",
    "failed to decode the batch, n_batch = 1,",
    "CL_INVALID_BUFFER_SIZE when calling clCreateBuffer",
    "cuDNN isn't found FWD algo for convolution",
    "exceeds the available context size",
    "not enough space in the context's memory pool",
    "Context size has been exceeded",
    "KV cache is full - try increasing",
    "input length exceeds the context length",
    "tokens when context the overflows",
    "Not enough memory for",
    "ggml_metal_add_buffer",
    "total bytes of NDArray",
    "newBufferWith*:length",
    "memory isn't enough and alloc failed",
    "Memory isn't enough and alloc failed",
    "Malloc device memory failed, size[",
    "vkAllocateMemory failed -2",
    "vkAllocateMemory failed -10",
    "Failed creating CUDA context for NVENC: 0x2",
    "initCnmem: cnmemInit call failed",
    "could not create cuDNN handle: CUDNN_STATUS_INTERNAL_ERROR",
    "could not create cuDNN handle: CUDNN_STATUS_ALLOC_FAILED",
    "CL_DEVICE_MAX_MEM_ALLOC_SIZE=",
    "Your system memory usage exceeded",
    "vkAllocateMemory failed -1",
    "clCreateBuffer failed: INVALID_BUFFER_SIZE",
    "failed: OUT_OF_RESOURCES",
    "clCreateBuffer (-61)",
    "clCreateBuffer (-4)",
    "Allocate: No space left",
    "alloc params backend buffer failed",
    "Can't allocate new blocks. No free blocks left",
    "Could not find any implementation for node",
    "cuBLAS Error: the resource allocation failed",
    "failed to allocate non-pinned system memory",
    "Unable to open shared memory region",
    "Unable to initialize shared memory key",
    "increase the shared memory pool size",
    "size of that heap is only",
    "Shared memory",
    "ERROR_UNSUPPORTED_SIZE",
    "Shard process was signaled to shutdown with signal 9",
    "ONNXRuntimeError",
    "cumem_allocator",
    "lack of CPU swap space",
    "CUresult error",
    "No valid triton configs",
    "switched to slice attention",
    "moving to device",
    "not enough VRAM for second sanity check",
    "cache out of memory, no request can be admitted",
    "cannot have size > int32_MAX",
    "cudaErrorLaunchOutOfResources",
];

/// Notes that Theano's pool takes a share of the device, where the lines around tell it: `preallocate = 1` of its
/// settings, `gpuarray.preallocate=0.95` of a command.
fn theanos_pool(document: &Document, position: usize, event: &mut Event) {
    const AROUND: usize = 40;
    let told = field::before(position, AROUND).chain(field::behind(document, position, AROUND)).find_map(|at| {
        let (_, value) = field::text(document, at).split_once("preallocate")?;
        let value = value.trim_start_matches([' ', '=']).split([',', ' ', '"', '\'']).next()?;
        value.parse::<f64>().ok().filter(|share| *share > 0.0)?;
        Some(Span::line(field::number(document, at)))
    });
    if let Some(at) = told {
        event.facts.numbers.entry(Number::PoolConfigured).or_insert((1.0, at));
    }
}

/// True for an event of this table, which looks at one line.
pub(super) fn read_on_one_line(event: &Event) -> bool {
    ROWS.iter().any(|row| row.slug == event.wording())
}

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.len() > 16 << 10 {
        return None;
    }
    let found = ROWS.iter().find(|row| row.words.iter().all(|word| says(line, word)))?;
    // What many programs say is the one's around.
    let program = match found.program {
        Program::Generic => naming::program(document, position).unwrap_or(Program::Generic),
        program => program,
    };
    let mut event = field::event(document, position, found.slug, program, found.resource);
    for sign in found.signs {
        event.sign(*sign);
    }
    net::read_figures(document, position, &mut event, line, found.base);
    if found.signs == CUDNN_HANDLE {
        theanos_pool(document, position, &mut event);
    }
    // The kernel's word on what a program above has told as its own.
    let told =
        |at: usize| field::text(document, at).contains("failed to") && field::text(document, at).contains("alloc");
    if found.slug == "kernel-swiotlb" && field::before(position, 12).any(told) {
        event.standing = Standing::Follower;
    }
    if found.survives {
        event.sign(Sign::CaughtAndContinued);
        event.make_harmless(text!(
            en: "the program gets over this by itself: it takes another way, or waits",
            zh: "程序自身会处理这种情况：改走其他途径或等待"
        ));
    }
    super::notice::settle(&mut event);
    Some(event)
}

/// True where the words stand in a line, and a number at their end is whole: -1 is not said by `-1000072003`, a handle
/// of another interface that Vulkan refused.
fn says(line: &str, words: &str) -> bool {
    let numbered = words.ends_with(|c: char| c.is_ascii_digit());
    // `0x2` is none of `0x2bd`.
    let digit = |c: char| if words.contains(" 0x") { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
    line.match_indices(words).any(|(at, _)| !numbered || !line[at + words.len()..].starts_with(digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{self, Fact};

    #[test]
    fn a_figure_is_not_glued_to_the_time_that_begins_the_next_line_of_its_width() {
        let line = "2018-04-19 09:42:36.892837: W ./core/pool_allocator.h:195] could not allocate pinned host \
                    memory of size: 2304\n";
        let events = dialect::events(&Document::from_text("-", &line.repeat(3)));
        for event in &events {
            assert!(event.facts.get(Fact::Requested).is_none_or(|figure| figure.bytes == 2304), "{event:?}");
        }
        assert!(!events.is_empty());
    }

    #[test]
    fn every_row_is_led_to_by_a_literal() {
        for row in ROWS {
            assert!(TRIGGERS.iter().any(|trigger| row.words.contains(trigger)), "{:?}", row.words);
        }
    }
}
