//! cuDNN and cuBLAS that find no memory left for their handles, because the pool took the card: no word of memory.

use crate::dialect::notice::settle;
use crate::dialect::{Event, Fact, Resource, Sign};
use crate::domain::Program;
use crate::input::Document;
use crate::units::Figure;

/// How far the exception may stand from the handle's lines.
const REACH: usize = 150;

const WORDS: [&str; 6] = [
    "failedtocreatecublashandle:",
    "Failedtocreatecublashandle:",
    "Couldnotcreatecudnnhandle:",
    "becausecuDNNfailedtoinitialize",
    "Failedtodeterminebestcudnnconvolutionalgorithm",
    "Failedtogetconvolutionalgorithm",
];

pub fn read(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    let handles = |text: &str| text.contains("cudnn handle") || text.contains("create cublas handle");
    if !handles(&line.text) && !line.text.contains("onvolution algorithm") {
        return None;
    }
    let notice = super::notice(document, position, 3)?;
    let from = notice.starts_any(&WORDS)?;
    let about = |text: &str| handles(text) || text.contains("onvolution algorithm");
    let lines = document.lines.get(position..)?;
    let last = lines.iter().take(REACH).rposition(|line| about(&line.text)).unwrap_or(0);
    let around = super::family::Surroundings::of(document, position, position + last);
    if around.goes_on {
        return None;
    }
    let mut event =
        notice.event("xla-cudnn-handle", around.program(false), Resource::Gpu, from, notice.text.end_of_first_line());
    // TensorFlow's own sources stand in no `external` folder of its build; in jaxlib's they do.
    if line.text.contains("external/org_tensorflow/") {
        event.program = Program::Jax;
    }
    event.at.last = lines.get(last).map_or(event.at.last, |line| line.number.max(event.at.last));
    // XLA since 2023: `Memory usage: N bytes free, M bytes total.`
    for line in lines.iter().take(last + 4) {
        let Some(rest) = crate::dialect::field::after(&line.text, "Memory usage: ") else { continue };
        let at = crate::evidence::Span::line(line.number);
        let free = crate::dialect::field::leading_number(rest);
        let total = crate::dialect::field::number_after(rest, "bytes free, ");
        for (fact, bytes) in [(Fact::Free, free), (Fact::Capacity, total)] {
            if let Some(bytes) = bytes {
                event.facts.note(fact, Figure { bytes, half_width: 0, at });
            }
        }
    }
    event.sign(Sign::Disguised);
    event.sign(Sign::ContextCreation);
    event.sign(Sign::ForeignLibrary);
    event.sign(if line.text.contains("cublas handle") { Sign::Cublas } else { Sign::Cudnn });
    settle(&mut event);
    Some(event)
}
