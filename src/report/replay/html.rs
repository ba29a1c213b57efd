//! Under construction.
use super::View;
use crate::snapshot::analysis::SnapshotAnalysis;
pub fn render(_: &[SnapshotAnalysis], _: View) -> String {
    String::new()
}
