//! Rehearsals: a real training program runs on a simulated GPU, for a few steps and without one.
//!
//! * `shim/` is the simulated device: a shared object of its own, compiled by `build.rs`; [`device`] carries it,
//!   [`counters`] is the file in which it keeps its figures.
//! * [`elf`] reads which symbols a program's libraries ask for, [`stubs`] writes the libraries that answer them,
//!   [`torch`] finds the PyTorch that a command would use without importing it.
//! * [`agent`] is the part that runs inside the user's Python; [`process`] reads what a rehearsed process tells about
//!   itself.
//! * [`launch`] lays everything out in a private folder, runs the command once and reads the figures back.
//! * [`gpus`] knows real GPUs: their memory as CUDA reports it, compute capability, multiprocessors, context.
//! * [`search`] looks for the largest batch that fits, [`outcome`] is what the reports are written from.

pub mod agent;
pub mod counters;
pub mod device;
pub mod elf;
pub mod gpus;
pub mod launch;
pub mod outcome;
pub mod process;
pub mod search;
pub mod stubs;
pub mod torch;
