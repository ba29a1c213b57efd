//! A line that a fix prints is one that can be written where the log comes from.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{lines_of, offers_for, refused};

#[test]
fn a_change_is_written_with_the_option_that_stands_in_the_log() {
    let refused = |told: &str| {
        refused(&format!(
            "{told}\nTraceback (most recent call last):\n  File \"/w/run.py\", line 88, in <module>\n    \
             loss.backward()\n"
        ))
    };
    let of = |told: &str, fix: &str| lines_of(&refused(told), fix).first().cloned().unwrap_or_default();
    assert_eq!(of("$ python run.py --batch_size 32 --epochs 4", "smaller-batch"), "--batch_size 16");
    assert_eq!(of("$ python run.py -b 128 --epochs 4", "smaller-batch"), "-b 64");
    assert_eq!(of("Namespace(batch_size=8, epochs=4)", "smaller-batch"), "batch_size=4");
    assert_eq!(of("$ python run.py --size 512 --epochs 4", "smaller-images"), "--size 384   # was 512");
    let scripts = of("$ python run.py --per_device_train_batch_size=8 --num_train_epochs 2", "smaller-batch");
    assert_eq!(scripts, "--per_device_train_batch_size=4 --gradient_accumulation_steps=2");
    assert!(!offers_for(&refused("$ python run.py --batch_size 1 --epochs 4")).contains(&"smaller-batch"));
}
