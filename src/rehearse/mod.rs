//! Rehearsals: a real training program runs on a simulated GPU, for a few steps and without one.
//!
//! One run: [`torch`] finds the program's PyTorch, [`elf`] reads what its libraries import, [`stubs`] writes what is
//! missing, [`device`] is the simulated CUDA device (`shim/`, a library of its own), [`agent`] runs inside the
//! program's Python; [`launch`] starts it all, from [`warm`] where it can, and reads back [`process`] and [`counters`].
//!
//! [`model`] is the command where there is a description in place of a program.
//! [`view`] keeps its files and its network from the user's; [`smi`] is the `nvidia-smi` that it finds.
//!
//! The whole answer: [`gpus`] knows real GPUs, [`outcome`] judges what the runs say of one, [`search`] finds the
//! largest batch, [`remedy`] tries fixes.

pub mod agent;
pub mod counters;
pub mod device;
pub mod elf;
mod environment;
pub mod gpus;
pub mod launch;
pub mod model;
pub mod outcome;
pub mod process;
pub mod remedy;
pub mod search;
pub mod smi;
pub mod stubs;
pub mod torch;
pub mod view;
pub mod warm;
