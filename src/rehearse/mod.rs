//! Rehearsals: a real training program runs on a simulated GPU, for a few steps and without one.
//!
//! * [`agent`] is the part that runs inside the rehearsed process.
//! * [`gpus`] knows real GPUs: their memory as CUDA reports it, compute capability, multiprocessors, context.
//! * [`process`] reads what a rehearsed process tells about itself.

pub mod agent;
pub mod gpus;
pub mod launch;
pub mod outcome;
pub mod process;
pub mod search;
