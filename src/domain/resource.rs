//! What ran out.

use super::closed_set;

closed_set! {
    /// What ran out.
    pub enum Resource {
        Gpu = "gpu",
        Host = "host",
        Cgroup = "cgroup",
        Shm = "shm",
        KvCache = "kv-cache",
        CudaSharedMemory = "cuda-shared-memory",
    }
}

impl Resource {
    /// True for the memory of an accelerator, however it is managed.
    pub fn on_device(self) -> bool {
        matches!(self, Resource::Gpu | Resource::KvCache)
    }

    /// True for the memory of the machine.
    pub fn on_host(self) -> bool {
        matches!(self, Resource::Host | Resource::Cgroup | Resource::Shm)
    }
}
