//! The CUDA level of `oomdoc probe`: what only a process with a context of its own can find out about a device.
//!
//! A context takes memory, and a driver in trouble may hang or kill its caller. So everything here runs in a child
//! process ([`child`]), which writes what it finds line by line; its death or hang costs nothing but the readings that
//! it had not yet taken, and the driver gives back its memory.
//!
//! Never used: managed memory, resets, settings of the device, limits of the context.

pub mod child;
pub mod driver;
pub mod experiment;
mod failure;
mod kernels;
pub mod limits;
pub mod parent;
pub mod probe;
pub mod protocol;

pub use failure::{Failure, Objection, Property};
