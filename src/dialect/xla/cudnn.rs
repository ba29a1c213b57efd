//! cuDNN and cuBLAS that find no memory left for their handles, because the pool took the card: no word of memory.

use crate::dialect::notice::settle;
use crate::dialect::{Event, Resource, Sign};
use crate::input::Document;

/// How far the exception may stand from the handle's lines.
const REACH: usize = 150;

const WORDS: [&str; 4] = [
    "Couldnotcreatecudnnhandle:",
    "becausecuDNNfailedtoinitialize",
    "Failedtodeterminebestcudnnconvolutionalgorithm",
    "Failedtogetconvolutionalgorithm",
];

pub fn read(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    if !line.text.contains("cudnn handle") && !line.text.contains("onvolution algorithm") {
        return None;
    }
    let notice = super::notice(document, position, 3)?;
    let from = notice.starts_any(&WORDS)?;
    let about = |text: &str| text.contains("cudnn handle") || text.contains("onvolution algorithm");
    let lines = document.lines.get(position..)?;
    let last = lines.iter().take(REACH).rposition(|line| about(&line.text)).unwrap_or(0);
    let around = super::family::Surroundings::of(document, position, position + last);
    if around.goes_on {
        return None;
    }
    let mut event = notice.event(
        "tensorflow-cudnn-handle",
        around.framework(true),
        Resource::Gpu,
        from,
        notice.text.end_of_first_line(),
    );
    event.at.last = lines.get(last).map_or(event.at.last, |line| line.number.max(event.at.last));
    event.sign(Sign::Disguised);
    event.sign(Sign::ContextCreation);
    event.sign(Sign::ForeignLibrary);
    settle(&mut event);
    Some(event)
}
