//! One file per command: it collects evidence, calls the core and picks the exit code.

pub mod explain;
