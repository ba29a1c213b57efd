//! Rehearsals: a real training program runs on a simulated GPU, for a few steps and without one.
//!
//! * [`gpus`] knows real GPUs: their memory as CUDA reports it, compute capability, multiprocessors, context.
//! * [`process`] reads what a rehearsed process tells about itself.

pub mod agent;
pub mod counters;
pub mod device;
pub mod elf;
pub mod gpus;
pub mod launch;
pub mod process;
pub mod stubs;
pub mod torch;
