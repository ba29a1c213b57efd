//! The command line: clap types, turned into plain options here and nowhere else.
