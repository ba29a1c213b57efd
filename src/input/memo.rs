//! What was worked out of lines, kept for the next one who asks: around each failure of a flood hundreds of lines are
//! looked at, as printed and mended, and they are the same lines again.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines that are remembered; then they are forgotten and remembered anew. Around one failure fewer are looked at.
const MOST: usize = 4096;
/// Longer lines are seldom the same again.
const LONGEST: usize = 4 << 10;

/// Answers by line and question. Documents that were made of one share them.
#[derive(Default, Clone)]
pub struct Memo(Arc<Mutex<Lines>>);

type Lines = HashMap<Box<str>, Vec<(TypeId, Box<dyn Any + Send>)>>;

impl Memo {
    /// What `answer` makes of a line, whatever stands around it: it is asked for once. The type tells questions apart,
    /// each has one of its own.
    pub fn of<T: Clone + Send + 'static>(&self, line: &str, answer: impl FnOnce() -> T) -> T {
        if line.len() > LONGEST {
            return answer();
        }
        let question = TypeId::of::<T>();
        if let Some(answers) = self.lines().get(line)
            && let Some((_, known)) = answers.iter().find(|(of, _)| *of == question)
            && let Some(known) = known.downcast_ref::<T>()
        {
            return known.clone();
        }
        // One answer may ask for another.
        let new = answer();
        let mut lines = self.lines();
        if lines.len() >= MOST {
            lines.clear();
        }
        match lines.get_mut(line) {
            Some(answers) => answers.push((question, Box::new(new.clone()))),
            None => _ = lines.insert(line.into(), vec![(question, Box::new(new.clone()))]),
        }
        new
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        // Who panicked with the lock in hand had answered nothing.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was worked out already makes no difference between documents.
impl PartialEq for Memo {
    fn eq(&self, _: &Memo) -> bool {
        true
    }
}

impl Eq for Memo {}

impl std::fmt::Debug for Memo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memo")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, PartialEq, Debug)]
    struct Length(usize);

    #[derive(Clone, PartialEq, Debug)]
    struct Words(usize);

    #[test]
    fn a_line_is_asked_once_for_each_question() {
        let memo = Memo::default();
        assert_eq!(memo.of("out of memory", || Length(13)), Length(13));
        assert_eq!(memo.of("out of memory", || -> Length { panic!("it was told") }), Length(13));
        assert_eq!(memo.of("out of memory", || Words(3)), Words(3), "another question");
        assert_eq!(memo.of("killed", || Length(6)), Length(6), "another line");
        assert_eq!(memo.clone().of("killed", || Length(0)), Length(6), "the same lines");
    }

    #[test]
    fn no_more_than_so_many_lines_are_kept() {
        let memo = Memo::default();
        for number in 0..3 * MOST {
            memo.of(&number.to_string(), || Length(number));
        }
        assert!(memo.lines().len() <= MOST);
    }
}
