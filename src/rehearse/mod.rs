//! Rehearsals: a real training program runs on a simulated GPU, for a few steps and without one.
//!
//! * [`process`] reads what a rehearsed process tells about itself.

pub mod process;
