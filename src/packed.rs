//! The files that the program carries, packed by `build.rs`: a third of their length.

use std::io::Read;

/// The text of a packed file. It is part of the program, and the tests read each; one that is damaged is empty.
pub(crate) fn text(packed: &[u8]) -> String {
    String::from_utf8(bytes(packed)).unwrap_or_default()
}

/// The same where it is no text.
pub(crate) fn bytes(packed: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match flate2::read::GzDecoder::new(packed).read_to_end(&mut out) {
        Ok(_) => out,
        Err(_) => Vec::new(),
    }
}
