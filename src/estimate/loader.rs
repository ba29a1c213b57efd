//! What a PyTorch DataLoader keeps in host and shared memory.

/// Batches alive at once: every worker's prefetched ones and those the loop still holds (1–2).
/// Exact in four measured settings.
pub fn batches_alive(workers: u64, prefetch: u64, held: u64) -> u64 {
    workers.saturating_mul(prefetch).saturating_add(held)
}

/// Bytes of shared memory that the queues of one process take.
pub fn shared_memory(workers: u64, prefetch: u64, held: u64, batch_bytes: u64) -> u64 {
    batches_alive(workers, prefetch, held).saturating_mul(batch_bytes)
}

/// The size to give /dev/shm: one and a half times what the queues of all processes on the node take.
pub fn shm_size(processes: u64, workers: u64, prefetch: u64, batch_bytes: u64) -> u64 {
    let need = shared_memory(workers, prefetch, 2, batch_bytes).saturating_mul(processes.max(1));
    need.saturating_add(need / 2)
}

/// Prefetched batches per worker when nothing is set (torch ≥ 1.7 with workers > 0).
pub const DEFAULT_PREFETCH: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::MIB;

    #[test]
    fn eight_workers_overflow_dockers_default() {
        assert_eq!(shared_memory(8, 2, 2, 96 * MIB), 1728 * MIB);
        assert!(shared_memory(8, 2, 2, 96 * MIB) > 64 * MIB);
        assert_eq!(shm_size(2, 8, 2, 96 * MIB), 5184 * MIB);
        assert_eq!(shared_memory(u64::MAX, 2, 2, 2), u64::MAX);
    }
}
