//! How memory depends on batch, sequence, precision, optimizer and sharding. Pure arithmetic; the sources and the error
//! bands stand with each function.

pub mod architecture;
pub mod batch;
pub mod configuration;
mod decoders;
mod fields;
pub mod fit;
pub mod inference;
pub mod kept;
pub mod kv_cache;
pub mod loader;
pub mod logits;
pub mod peak;
pub mod serving;
pub mod setup;
pub mod states;
pub mod surface;
pub mod training;
