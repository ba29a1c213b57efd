//! The peak against the batch, drawn with characters: the range, the expected line, what was measured, the capacity.

use crate::headroom::Assessment;
use crate::report::layout::{Run, Tone, columns, run};
use crate::units::Bytes;

const ROWS: usize = 12;

/// Rows of the plot, or none where there is nothing to draw.
pub fn rows(assessment: &Assessment, width: usize, unicode: bool) -> Vec<Vec<Run>> {
    let (Some(first), Some(last)) = (assessment.line.first(), assessment.line.last()) else { return Vec::new() };
    // Two or three batches are no curve.
    if last.0 < first.0 + 3 {
        return Vec::new();
    }
    let device = assessment.question.device.as_ref();
    let outside = device.map_or(0.0, |device| device.outside().middle() as f64);
    let capacity = device.map(|device| device.capacity as f64);
    // Where not even the first batch is expected to fit, the line would lie above the chart.
    if capacity.is_some_and(|capacity| first.1.expected + outside > capacity) {
        return Vec::new();
    }
    let shown = assessment.line.iter().map(|(_, peak)| peak.expected + outside).fold(0.0, f64::max);
    let top = capacity.map_or(shown * 1.15, |capacity| shown.min(capacity * 1.6).max(capacity * 1.1));
    if !(top.is_finite() && top > 0.0) {
        return Vec::new();
    }
    let label = Bytes(top as u64).to_string().len() + 1;
    let chart = width.saturating_sub(label + 3).clamp(16, 72);
    let span = (last.0 - first.0) as f64;
    let column_of = |batch: u64| (((batch - first.0) as f64 / span) * (chart - 1) as f64).round() as usize;
    let row_of = |bytes: f64| ((bytes / top) * ROWS as f64).floor() as usize;
    // From the bottom: row 0 is the lowest.
    let mut grid = vec![vec![(' ', Tone::Plain); chart]; ROWS + 1];
    let (line, fill, edge, dot) = if unicode { ('━', '░', '─', '●') } else { ('#', '.', '-', 'o') };
    for x in 0..chart {
        let batch = first.0 as f64 + span * x as f64 / (chart - 1) as f64;
        let at = assessment.line.partition_point(|(other, _)| (*other as f64) < batch).min(assessment.line.len() - 1);
        let Some((_, peak)) = assessment.line.get(at) else { continue };
        let middle = row_of(peak.expected + outside);
        let (low, high) = (row_of(peak.low + outside), row_of(peak.high + outside));
        for (y, cells) in grid.iter_mut().enumerate() {
            if let Some(cell) = cells.get_mut(x) {
                if y == middle {
                    *cell = (line, Tone::Used);
                } else if y >= low.min(middle) && y <= high {
                    *cell = (fill, Tone::Faint);
                }
            }
        }
    }
    if let Some(capacity) = capacity
        && let Some(cells) = grid.get_mut(row_of(capacity))
    {
        for cell in cells.iter_mut().filter(|cell| cell.0 != line) {
            *cell = (edge, Tone::Alarm);
        }
    }
    for (batch, bytes) in assessment.measured.iter().filter(|(batch, _)| (first.0..=last.0).contains(batch)) {
        if let Some(cell) = grid.get_mut(row_of(bytes + outside)).and_then(|cells| cells.get_mut(column_of(*batch))) {
            *cell = (dot, Tone::Strong);
        }
    }
    let bar = if unicode { '│' } else { '|' };
    let mut rows = Vec::new();
    for (y, cells) in grid.iter().enumerate().rev() {
        let here = match capacity {
            Some(capacity) if row_of(capacity) == y => Bytes(capacity as u64).to_string(),
            _ if y == 0 => "0".to_string(),
            _ => String::new(),
        };
        let mut runs = vec![run(Tone::Faint, format!("{here:>label$} {bar}"))];
        for (c, tone) in cells {
            match runs.last_mut() {
                Some(before) if before.tone == *tone => before.text.push(*c),
                _ => runs.push(run(*tone, c.to_string())),
            }
        }
        rows.push(runs);
    }
    // The batches below.
    let mut axis = " ".repeat(label + 2);
    let marks = [first.0, assessment.batch.unwrap_or(last.0), last.0];
    for batch in marks {
        let text = batch.to_string();
        let start = label + 2 + column_of(batch.clamp(first.0, last.0)).saturating_sub(text.len() / 2);
        if start >= columns(&axis) + usize::from(batch != first.0) {
            axis.push_str(&" ".repeat(start - columns(&axis)));
            axis.push_str(&text);
        }
    }
    rows.push(vec![run(Tone::Faint, axis)]);
    rows
}
