//! Every test that looks at the program from outside, in one binary: an edit of the sources links it once.
//!
//! `cargo test --test it headroom::` runs one file of them. A new file needs its line below; `house` sees to that.

#[path = "../binary/mod.rs"]
mod binary;
#[cfg(target_os = "linux")]
#[path = "../fakes/mod.rs"]
mod fakes;

mod account;
mod allocator;
mod armour;
mod before_and_behind;
mod causes;
mod cli;
mod context;
mod contradictions;
mod dialect_engines;
mod dialect_frameworks;
mod dialect_host;
mod dialect_pytorch;
mod every_log;
mod explain;
mod faults;
mod figures;
mod fix_lines;
mod fixes;
mod fixes_of_their_time;
mod generated;
mod headroom;
mod headroom_accuracy;
mod host_memory;
mod hostile_files;
mod hostile_input;
mod house;
mod html_in_browser;
mod in_force;
mod lines_around;
mod own_words;
mod passes;
mod places;
mod privacy;
mod probe;
mod probe_cuda;
mod programs;
mod reach;
mod read_at_first_sight;
mod reading;
mod readme;
mod rehearse;
mod rehearse_agent;
mod rehearse_files;
mod rehearse_shim;
mod rehearse_warm;
mod replay;
mod right_kind;
mod rules;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod run_inside;
mod said_and_in_force;
mod screen;
mod several_logs;
mod short_logs;
mod side_tables;
mod simulate;
mod snapshot_proof;
mod subjects;
mod survival;
mod told_by_the_lines_beside;
mod told_by_the_words_around;
mod told_without_the_words;
mod tools;
mod where_it_ran;
