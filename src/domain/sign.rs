//! What messages show beyond figures.

use super::closed_set;

closed_set! {
    /// What a dialect noticed beyond figures. Causes and fixes weigh these; dialects only report them. A sign says what
    /// the message shows, not which program printed it, so that every dialect whose message shows it can set it.
    pub enum Sign {
        /// The message prints no figures at all.
        NoFigures = "no-figures",
        /// The message breaks off or has parts left out.
        Cut = "cut",
        /// A process died of a bus error, of which the log has the signal or code alone.
        BusError = "bus-error",
        /// The request is so large that it can only be a size bug (PyTorch's "more than 1EB", 2^64 − x).
        AbsurdRequest = "absurd-request",
        /// The request is the allocator's own minimum segment (2 MiB or 20 MiB): the tensor was smaller.
        MinimumSegment = "minimum-segment",
        /// The message says a fraction or limit refused the request before the driver was asked.
        RefusedByLimit = "refused-by-limit",
        /// The message's tail shows that expandable segments were on.
        ExpandableSegmentsOn = "expandable-segments-on",
        /// PyTorch 2.15: the request exceeds `expandable_segments_reserve`.
        ExpandableReserve = "expandable-reserve",
        /// PyTorch 2.15: a custom allocator behind a MemPool refused.
        CustomAllocator = "custom-allocator",
        /// The cudaMallocAsync backend.
        AsyncBackend = "async-backend",
        /// An error of cuBLAS, cuDNN, NCCL or the driver that hides an out-of-memory.
        Disguised = "disguised",
        /// What ran out is a number of things that the driver keeps (encoders' sessions), not bytes.
        SessionsRanOut = "sessions-ran-out",
        /// A process ended, and the message does not tell how.
        EndUntold = "end-untold",
        /// What ran out are handles that a program makes anew with each call, not bytes.
        HandlesRanOut = "handles-ran-out",
        /// What ran out is the number of allocations that a driver keeps at a time, whatever their size.
        AllocationsRanOut = "allocations-ran-out",
        /// The error may have been raised by an earlier asynchronous operation.
        Asynchronous = "asynchronous",
        /// Raised while creating a context or library handle, before any tensor.
        ContextCreation = "context-creation",
        /// A library other than the framework asked for the memory (NCCL, cuDNN workspace, TensorRT, Dr.Jit …).
        ForeignLibrary = "foreign-library",
        /// Pinned (page-locked) host memory.
        PinnedHost = "pinned-host",
        /// The program caught the failure and went on.
        CaughtAndContinued = "caught-and-continued",
        /// The words around a message that no reader knows are those of messages behind which nothing failed.
        DoubtedByWords = "doubted-by-words",
        /// A process died of SIGKILL with no word on memory: probably, not surely, the kernel's killer.
        KilledWithoutProof = "killed-without-proof",
        /// The killer is proved by a kernel, cgroup or scheduler line.
        KilledWithProof = "killed-with-proof",
        /// A data-loading worker process died or failed.
        DataLoaderWorker = "data-loader-worker",
        /// A system running Windows (WDDM), where other processes are not listed and memory is virtualised.
        Windows = "windows",
        /// AMD HIP/ROCm wording.
        Hip = "hip",
        /// Apple MPS wording.
        Mps = "mps",
        /// Intel XPU wording.
        Xpu = "xpu",
        /// Ascend NPU wording.
        Npu = "npu",
        /// TPU wording.
        Tpu = "tpu",
        /// The failure happened while an engine started or sized its pools.
        EngineStartup = "engine-startup",
        /// The failure happened in profiling, warm-up or graph capture, after the weights were loaded.
        EngineWarmup = "engine-warmup",
        /// Unified memory: the device's memory is the machine's.
        UnifiedMemory = "unified-memory",
        /// An address-space or commit limit (ulimit -v, page file) rather than RAM.
        AddressSpaceLimit = "address-space-limit",
        /// A thread could not be started.
        ThreadRefused = "thread-refused",
        /// A right was missing (EPERM), not memory.
        NotPermitted = "not-permitted",
        /// Another CUDA error than out-of-memory.
        OtherCudaError = "other-cuda-error",
        /// No program printed the failure: a text states that it happened.
        Stated = "stated",
        /// No failure was seen: the user's options describe a job and ask whether it fits.
        Asked = "asked",
        /// The call that failed was one of cuBLAS, or of the matrix library in its place.
        Cublas = "cublas",
        /// The call that failed was one of cuDNN, or of the convolution library in its place.
        Cudnn = "cudnn",
        /// The message names NCCL, or the collective library in its place.
        Nccl = "nccl",
        /// One buffer exceeds the largest that the device makes, whatever is free.
        BufferSizeLimit = "buffer-size-limit",
        /// The allocator of physically contiguous memory of a board refused, not the one of ordinary memory.
        ContiguousMemory = "contiguous-memory",
        /// A memory pool was being made, as large as its setting says.
        PoolCreation = "pool-creation",
        /// The driver refused the growth of a framework's pool; no operation had found the pool full.
        PoolGrowthRefused = "pool-growth-refused",
        /// The pool is what the weights leave of a share of the device set at start, and they leave nothing.
        StaticPool = "static-pool",
        /// A virtual machine committed its heap as a whole at start, before the program needs it.
        HeapCommit = "heap-commit",
        /// A buffer on the device was refused while a model was loaded: its weights, as far as the message tells.
        WeightsBuffer = "weights-buffer",
        /// What could not be had is the KV cache itself, by the message's own words.
        CacheRefused = "cache-refused",
        /// The request is longer than the context that the engine was started with: no memory was missing.
        BeyondContext = "beyond-context",
        /// Another program passes on the last words of the one that failed: what that one had printed before is
        /// missing.
        PassedOn = "passed-on",
        /// A program held a model's need against the machine's free memory and refused before it asked the system.
        ModelBeyondRam = "model-beyond-ram",
        /// One of the devices that a model is spread over had less free than the others before anything was loaded.
        UnevenDevices = "uneven-devices",
        /// The failure happened while an engine captured graphs.
        GraphCapture = "graph-capture",
        /// The failure happened in a warm-up of sampling, which grows with the number of sequences and not with
        /// their length.
        SamplerWarmup = "sampler-warmup",
        /// A variable of a graph, or its optimizer's slot, was being made: no data had been read yet.
        Initializer = "initializer",
        /// The failure happened while requests were served, after weights, cache and graphs had found their place.
        WhileServing = "while-serving",
        /// A buffer whose size the program had fixed was too small; memory itself was not asked for.
        FixedBuffer = "fixed-buffer",
        /// The program itself tried smaller and smaller batches, down to one sample.
        EverySizeTried = "every-size-tried",
        /// A worker of a pool of processes was killed.
        PoolWorkerKilled = "pool-worker-killed",
        /// No reader knows the message: what it means was told by the words around its figures.
        Generic = "generic",
        /// What was refused is a file that is mapped: its size is the file's.
        MappedFile = "mapped-file",
        /// A segment of System V was refused, which the kernel counts by `shmmni` and `shmall` and keeps in no file.
        SystemV = "system-v",
        /// A ring of io_uring's was refused: its pages are locked into RAM, of which a user may have so many.
        RingRefused = "ring-refused",
        /// A mapping of a few pages was refused for want of memory: the kernel counts mappings.
        MappingsRanOut = "mappings-ran-out",
        /// It was told to end, and nothing in the log says that it did.
        ToldToEnd = "told-to-end",
        /// A compiler was killed, or found no memory.
        CompilerKilled = "compiler-killed",
    }
}
