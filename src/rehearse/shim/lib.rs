//! A CUDA device that computes nothing: the functions of NVIDIA's libraries whose output matters to a training program.
//!
//! One shared object, loaded into the program under test in place of the CUDA runtime, the driver, NVML, cuBLAS, cuDNN,
//! NCCL and the rest. Memory is bookkeeping: an address is a number handed out once and backed by nothing, capacity is
//! a counter, kernels do nothing. What a program allocates is therefore exactly what it would allocate on the device;
//! what it computes is not computed. Functions that need not answer anything are not here: the stub libraries that
//! stand beside this object define them to return success.
//!
//! | file | what it plays |
//! |---|---|
//! | `settings` | what the device is like, from the environment |
//! | `memory`, `contents`, `pool` | the account of every byte, what is known of its contents, stream-ordered pools |
//! | `report` | the counters that the launcher reads |
//! | `neighbours` | other processes on the same devices, where they are to share them |
//! | `runtime`, `streams`, `kernels`, `properties` | libcudart |
//! | `driver` | libcuda |
//! | `nvml` | libnvidia-ml |
//! | `nvrtc`, `cublas`, `cudnn`, `nccl`, `solver`, `sparse`, `fft` | the libraries of those names |
//!
//! Every function may be called from any thread, after a fork, and while the process ends. None panics: the object is
//! built to abort on a panic, and an abort would be taken for the program's own.

#![deny(unsafe_op_in_unsafe_fn)]
#![allow(non_snake_case, reason = "the names are those of NVIDIA's libraries")]
#![allow(
    clippy::missing_safety_doc,
    reason = "what a caller owes is what NVIDIA's documentation of the function says: valid pointers to what is \
              returned"
)]

#[path = "../counters.rs"]
mod counters;

mod abi;
mod contents;
mod cublas;
mod cudnn;
mod driver;
mod fft;
mod kernels;
mod memory;
mod nccl;
mod neighbours;
mod nvml;
mod nvrtc;
mod pool;
mod properties;
mod report;
mod runtime;
mod settings;
mod solver;
mod sparse;
mod streams;
