//! `oomdoc run`: a job that runs as it would without, and somebody beside it when its memory ends.
//!
//! The job is the direct child, in the same session and process group, with the same standard input. Where an output
//! was a terminal it gets a terminal of its own ([`terminal`]), else a pipe; [`relay`] copies what it writes. Signals
//! are passed on exactly where the job did not get them by itself ([`signals`]), which a tiny process of the same group
//! tells ([`sentinel`]); that process also keeps the output flowing where oomdoc itself is killed.
//!
//! Meanwhile [`sampler`] looks at the job's processes, control group, machine and GPUs, and [`record`] writes down what
//! it sees; [`inside`] lets PyTorch itself tell, where that was asked for.

pub mod child;
pub mod inside;
mod processes;
pub mod record;
pub mod relay;
pub mod sampler;
pub mod sentinel;
pub mod signals;
pub mod tape;
pub mod terminal;
