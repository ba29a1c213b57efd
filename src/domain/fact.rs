//! The sizes that messages print.

#[cfg(doc)]
use super::Number;
use super::closed_set;

closed_set! {
    /// A figure that a message prints. The name of each is fixed by the JSON contract.
    pub enum Fact {
        /// What was asked for. In PyTorch ≥ 0.4 messages the segment asked of the driver, not the tensor's size.
        Requested = "requested_bytes",
        /// The device's (or pool's, machine's) total.
        Capacity = "capacity_bytes",
        /// A limit below the capacity that applies: cgroup, ulimit, watermark.
        Limit = "limit_bytes",
        Free = "free_bytes",
        /// Allocated by the framework.
        Allocated = "allocated_bytes",
        /// Held by the framework's allocator, allocated or not.
        Reserved = "reserved_bytes",
        /// Held by the framework's allocator and not allocated (`cached` of PyTorch 1.0–1.3 is this too, see
        /// `Cached`).
        ReservedUnallocated = "reserved_unallocated_bytes",
        /// What the driver says this process holds, everything included.
        Process = "process_bytes",
        /// A cap set by `set_per_process_memory_fraction` or its like.
        FractionLimit = "fraction_limit_bytes",
        Peak = "peak_bytes",
        LargestFreeChunk = "largest_free_chunk_bytes",
        TotalVm = "total_vm_bytes",
        AnonRss = "anon_rss_bytes",
        FileRss = "file_rss_bytes",
        ShmemRss = "shmem_rss_bytes",
        /// Free blocks inside private pools (CUDA graphs, MemPool), as PyTorch 2.4+ prints them.
        PrivatePools = "private_pools_bytes",
        /// `cached` of PyTorch 1.0–1.3: reserved and not allocated.
        Cached = "cached_bytes",
        /// MPS: what Metal holds beside the allocator's own.
        OtherAllocations = "other_allocations_bytes",
        /// Ascend NPU: `current active`.
        CurrentActive = "current_active_bytes",
        /// In use on the whole device or machine, by whomever.
        Used = "used_bytes",
        /// A need that an engine computed: the KV cache for one full-length request, a buffer, a model.
        Needed = "needed_bytes",
        /// What an engine found available for that need. One that is printed negative is `kv_available_bytes`.
        Available = "available_bytes",
        /// Memory asked for by a setting: `gpu_memory_utilization`, a pool size.
        Desired = "desired_bytes",
        /// Weights of the model, as loaded.
        Weights = "weights_bytes",
    }
}
