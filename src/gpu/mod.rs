//! Reading GPUs: the only unsafe code of the library lives below this module.

pub mod cuda;
pub mod twin;
