//! The figures of messages that are no sizes of a [`Fact`](super::Fact), or sizes of one kind of program only.

use super::closed_set;

closed_set! {
    /// What a [`Number`] counts.
    pub enum Unit {
        Bytes = "bytes",
        Count = "count",
        Tokens = "tokens",
        /// A share of one, from 0 to 1.
        Ratio = "ratio",
        Percent = "percent",
        Seconds = "seconds",
        /// An exit code or error number.
        Code = "code",
        /// A name that is a number: a process, a job, a worker.
        Id = "id",
        /// A power of two.
        Exponent = "exponent",
        /// A rating without a unit.
        Score = "score",
        /// 1 where it holds; absent where it does not, or where nobody says.
        Flag = "flag",
    }
}

/// The enum with what each of its words counts and says.
macro_rules! numbers {
    ($($(#[doc = $doc:literal])+ $Word:ident = $id:literal, $unit:ident;)+) => {
        closed_set! {
            /// A figure by its meaning. Its id is the key below `facts.extra`; the order is that of the ids.
            pub enum Number {
                $($(#[doc = $doc])+ $Word = $id),+
            }
        }

        impl Number {
            /// What it counts.
            pub const fn unit(self) -> Unit {
                match self {
                    $(Number::$Word => Unit::$unit),+
                }
            }

            /// What it is, as one sentence.
            pub fn doc(self) -> &'static str {
                match self {
                    $(Number::$Word => concat!($($doc),+).trim_start()),+
                }
            }
        }
    };
}

numbers! {
    /// Peak of the activations in an engine's profiling run.
    ActivationPeak = "activation_peak_bytes", Bytes;
    /// Anonymous memory of a control group.
    Anon = "anon_bytes", Bytes;
    /// The framework runs on CUDA's own pool, `cudaMallocAsync`.
    AsyncAllocator = "async_allocator", Flag;
    /// Free on the device after an engine loaded the weights.
    AvailMem = "avail_mem_bytes", Bytes;
    /// What a framework's pool may still grow by, as it prints it.
    AvailableByLimit = "available_by_limit_bytes", Bytes;
    /// Tokens in one block of a paged cache.
    BlockSize = "block_size", Tokens;
    /// Share of the free memory that an engine's cache may take.
    CacheMaxEntryCount = "cache_max_entry_count", Ratio;
    /// Process that the kernel chose to kill; it may have killed another one of the same memory.
    ChosenPid = "chosen_pid", Id;
    /// Tokens of a prompt that are worked on at once.
    ChunkedPrefillSize = "chunked_prefill_size", Tokens;
    /// Constants of a compiled program.
    Constant = "constant_bytes", Bytes;
    /// It failed while a constant was copied to the device.
    ConstantCopied = "constant_copied", Flag;
    /// An engine's estimate of what its CUDA graphs will take.
    CudaGraph = "cuda_graph_bytes", Bytes;
    /// Largest batch for which graphs are captured.
    CudaGraphMaxBs = "cuda_graph_max_bs", Count;
    /// Free on the device at the end of an engine's profiling run.
    CurrentFree = "current_free_bytes", Bytes;
    /// Free on the device when the program found it.
    DeviceFreeAtStart = "device_free_at_start_bytes", Bytes;
    /// Requests of a warm-up.
    DummyRequests = "dummy_requests", Count;
    /// Error number of the system call.
    Errno = "errno", Code;
    /// What an engine's estimate takes for free.
    EstimatedFree = "estimated_free_bytes", Bytes;
    /// Longest context that fits, by an engine's own estimate.
    EstimatedMaxModelLen = "estimated_max_model_len", Tokens;
    /// How much more than the device has a compiled program needs.
    ExceededBy = "exceeded_by_bytes", Bytes;
    /// Exit code of the process; negative for a signal.
    ExitCode = "exit_code", Code;
    /// Pages of files in a control group, those of tmpfs included.
    File = "file_bytes", Bytes;
    /// First dimension of a tensor that layers pass on: the samples.
    FirstDimension = "first_dimension", Count;
    /// Free on the device before an engine loaded the weights.
    FreeBeforeWeights = "free_before_weights_bytes", Bytes;
    /// Sum of the free chunks of a pool.
    FreeChunks = "free_chunks_bytes", Bytes;
    /// Share of the free memory that an engine's cache may take.
    FreeGpuMemoryFraction = "free_gpu_memory_fraction", Ratio;
    /// Blocks of an engine's paged cache.
    GpuBlocks = "gpu_blocks", Count;
    /// Share of the device that an engine may use.
    GpuMemoryUtilization = "gpu_memory_utilization", Ratio;
    /// Variables without a name of their own in TensorFlow's graph.
    GraphVariables = "graph_variables", Count;
    /// What a pool wanted to grow by.
    GrowthStep = "growth_step_bytes", Bytes;
    /// Most that the hardware has of a resource other than bytes.
    HardwareLimit = "hardware_limit", Count;
    /// Free on the device at the start of an engine's profiling run.
    InitialFree = "initial_free_bytes", Bytes;
    /// Job of a scheduler.
    JobId = "job_id", Id;
    /// Process that a launcher saw die.
    KilledPid = "killed_pid", Id;
    /// Processes killed in one report.
    Kills = "kills", Count;
    /// What the kernel holds on behalf of a control group.
    Kmem = "kmem_bytes", Bytes;
    /// What is left for the cache; negative where the weights exceed the share.
    KvAvailable = "kv_available_bytes", Bytes;
    /// Buffer of the cache on the device.
    KvBuffer = "kv_buffer_bytes", Bytes;
    /// Tokens that the cache holds.
    KvCacheTokens = "kv_cache_tokens", Tokens;
    /// The cache as a whole.
    KvSelf = "kv_self_bytes", Bytes;
    /// Largest allocation that a pool holds.
    LargestAllocation = "largest_allocation_bytes", Bytes;
    /// Largest buffer of a compiled program.
    LargestBuffer = "largest_buffer_bytes", Bytes;
    /// Layers of the model, the output layer included.
    LayersModel = "layers_model", Count;
    /// Layers put on the device.
    LayersOffloaded = "layers_offloaded", Count;
    /// Layers of the model without the output layer.
    LayersRepeating = "layers_repeating", Count;
    /// Least that any of several devices had free.
    LeastFree = "least_free_bytes", Bytes;
    /// From the start of the container to its end.
    LifetimeSeconds = "lifetime_seconds", Seconds;
    /// Longest free stretch of a pool, by its printed map.
    LongestFreeRunPercent = "longest_free_run_percent", Percent;
    /// Longest context that is set.
    MaxModelLen = "max_model_len", Tokens;
    /// Most tokens that are worked on at once.
    MaxNumBatchedTokens = "max_num_batched_tokens", Tokens;
    /// Most sequences that run at once.
    MaxNumSeqs = "max_num_seqs", Count;
    /// Most requests that run at once.
    MaxRunningRequests = "max_running_requests", Count;
    /// Share of the device for weights and cache together.
    MemFractionStatic = "mem_fraction_static", Ratio;
    /// What a container requested of its node, which is what the node counts on.
    MemoryRequest = "memory_request_bytes", Bytes;
    /// Limit on memory and swap together.
    MemswLimit = "memsw_limit_bytes", Bytes;
    /// Tokens of a logical batch.
    NBatch = "n_batch", Tokens;
    /// Length of the context.
    NCtx = "n_ctx", Tokens;
    /// Layers asked to be put on the device.
    NGpuLayers = "n_gpu_layers", Count;
    /// Sequences that share a context.
    NParallel = "n_parallel", Count;
    /// Tokens of a physical batch.
    NUbatch = "n_ubatch", Tokens;
    /// The kernel found no process that it may kill.
    NoKillableProcess = "no_killable_process", Flag;
    /// Kills that a job's step counted.
    OomEvents = "oom_events", Count;
    /// Handicap or privilege set for the killed process.
    OomScoreAdj = "oom_score_adj", Score;
    /// Pages asked for in one piece, as a power of two.
    Order = "order", Exponent;
    /// Results of a compiled program.
    Output = "output_bytes", Bytes;
    /// What this device had free, of several.
    OwnFree = "own_free_bytes", Bytes;
    /// How much larger a device's layout makes the largest buffer than its data.
    PaddingFactor = "padding_factor", Ratio;
    /// Size of a page, as the report's own figures give it.
    PageSize = "page_size", Bytes;
    /// Page tables of a control group.
    Pagetables = "pagetables_bytes", Bytes;
    /// Arguments of a compiled program, its parameters included.
    Parameter = "parameter_bytes", Bytes;
    /// Devices over which the layers are laid in turn.
    PipelineParallelSize = "pipeline_parallel_size", Count;
    /// Pool that a framework took at start.
    PoolAtStart = "pool_at_start_bytes", Bytes;
    /// A memory pool is switched on.
    PoolConfigured = "pool_configured", Flag;
    /// Tokens of the prompts of a warm-up.
    PrefillTokens = "prefill_tokens", Tokens;
    /// Share of the time in which tasks waited for memory.
    PressurePercent = "pressure_percent", Percent;
    /// Gaps between the buffers of a compiled program.
    ProgramFragmentation = "program_fragmentation_bytes", Bytes;
    /// All buffers of a compiled program.
    ProgramTotal = "program_total_bytes", Bytes;
    /// Computation of the part of a model that reads images.
    ProjectorGraph = "projector_graph_bytes", Bytes;
    /// Weights of the part of a model that reads images.
    ProjectorWeights = "projector_weights_bytes", Bytes;
    /// The machine's memory, by the pages that the kernel counts.
    Ram = "ram_bytes", Bytes;
    /// What a compiler tried to fit a program into.
    RematerializationBudget = "rematerialization_budget_bytes", Bytes;
    /// What it could reduce the program to.
    RematerializationNeed = "rematerialization_need_bytes", Bytes;
    /// What a kernel needs of a resource other than bytes.
    Required = "required", Count;
    /// An engine's estimate for the whole model on devices.
    RequiredFull = "required_full_bytes", Bytes;
    /// An engine's estimate for what it put on devices.
    RequiredPartial = "required_partial_bytes", Bytes;
    /// What the runtime keeps of the device for itself.
    ReservedByRuntime = "reserved_by_runtime_bytes", Bytes;
    /// Most buffers that a device may have.
    ResourceLimitCount = "resource_limit_count", Count;
    /// Times that a container was started again.
    RestartCount = "restart_count", Count;
    /// Rounds of the same work that were done before.
    RoundsBefore = "rounds_before", Count;
    /// A scene in the host's memory.
    Scene = "scene_bytes", Bytes;
    /// Most that the scene took.
    ScenePeak = "scene_peak_bytes", Bytes;
    /// Badness by which the process was chosen.
    Score = "score", Score;
    /// Shared memory and tmpfs of a control group.
    Shmem = "shmem_bytes", Bytes;
    /// Objects of the kernel that it cannot give back.
    SlabUnreclaimable = "slab_unreclaimable_bytes", Bytes;
    /// What the sparse cores of a TPU need.
    Sparsecore = "sparsecore_bytes", Bytes;
    /// The model is spread over several devices.
    SplitOverDevices = "split_over_devices", Flag;
    /// Side of a tensor with two equal dimensions.
    SquareSide = "square_side", Count;
    /// Swapped memory of a control group.
    Swap = "swap_bytes", Bytes;
    /// Free swap of the machine.
    SwapFree = "swap_free_bytes", Bytes;
    /// Swap of the machine.
    SwapTotal = "swap_total_bytes", Bytes;
    /// Used swap of the machine.
    SwapUsed = "swap_used_bytes", Bytes;
    /// Tasks of the name that holds most together.
    TableLikeNamedCount = "table_like_named_count", Count;
    /// What these tasks hold together; shared pages count in each.
    TableLikeNamedSum = "table_like_named_sum", Bytes;
    /// What all tasks of the table hold; shared pages count in each.
    TableSum = "table_sum", Bytes;
    /// What of it was swapped out.
    TableSwap = "table_swap", Bytes;
    /// Tasks in the table.
    TableTasks = "table_tasks", Count;
    /// Task that holds most.
    TableTopPid = "table_top_pid", Id;
    /// What that task holds.
    TableTopRss = "table_top_rss", Bytes;
    /// Temporary buffers of a compiled program.
    Temp = "temp_bytes", Bytes;
    /// Buffer that an engine needs beside the weights.
    TemporaryBuffer = "temporary_buffer_bytes", Bytes;
    /// Elements of the tensor that was asked for.
    TensorElements = "tensor_elements", Count;
    /// Devices over which each layer is split.
    TensorParallelSize = "tensor_parallel_size", Count;
    /// What the tensor cores of a TPU need.
    Tensorcore = "tensorcore_bytes", Bytes;
    /// Share of the node's memory from which on a monitor kills.
    Threshold = "threshold", Ratio;
    /// Tokens that the cache had room for.
    TokensAvailable = "tokens_available", Tokens;
    /// Tokens that a batch asked for.
    TokensRequested = "tokens_requested", Tokens;
    /// Largest of the processes that a monitor lists.
    TopUsersMax = "top_users_max", Bytes;
    /// Sum of the processes that a monitor lists.
    TopUsersSum = "top_users_sum", Bytes;
    /// Page tables of the killed process.
    VictimPagetables = "victim_pagetables_bytes", Bytes;
    /// Resident memory of the killed process.
    VictimRss = "victim_rss_bytes", Bytes;
    /// What the killed process held, as a share of what binds.
    VictimShareOfLimit = "victim_share_of_limit", Ratio;
    /// Swapped memory of the killed process.
    VictimSwap = "victim_swap_bytes", Bytes;
    /// Share of a pool lost to padding, by its printed map.
    WastedPercent = "wasted_percent", Percent;
    /// What failed is the memory of a whole compiled program, not one tensor.
    WholeProgram = "whole_program", Flag;
    /// Worker that failed.
    Worker = "worker", Id;
    /// Process of the worker that failed.
    WorkerPid = "worker_pid", Id;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_in_order_and_name_their_bytes() {
        assert!(Number::ALL.is_sorted_by_key(|number| number.id()));
        for number in Number::ALL.iter().filter(|number| number.id().ends_with("_bytes")) {
            assert_eq!(number.unit(), Unit::Bytes, "{number}");
        }
        for fact in super::super::Fact::ALL {
            assert!(fact.id().ends_with("_bytes"), "{fact}");
            assert!(fact.id().parse::<Number>().is_err(), "{fact} is told twice");
        }
    }
}
