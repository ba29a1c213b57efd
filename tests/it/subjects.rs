//! Changes speak of what the job works on: pictures, texts, sound, rays, environments.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::fixes::{FULL_CARD, lines_of, offers_for, training_step};
use oomdoc::fix::case::Case;
use oomdoc::fix::subject::AtOnce;
use oomdoc::incident::context::{Subject, Trainer};
use oomdoc::report::Diagnosis;

/// Words of one subject in a line, and the subjects in whose logs they may stand; nothing known allows them as well.
const SPEAK_OF: &[(&[&str], &[Subject])] = &[
    (&["picture", "Resize("], &[Subject::Pictures, Subject::Video, Subject::Rays, Subject::Gaussians, Subject::Text]),
    (&["tokenizer("], &[Subject::Text, Subject::Pictures, Subject::Video]),
    (&["shorter texts"], &[Subject::Text]),
    (&["sound", "recordings"], &[Subject::Sound]),
    (&["frames at once"], &[Subject::Video]),
    (&["environments"], &[Subject::Environments]),
    (&["rays"], &[Subject::Rays]),
    (&["atoms"], &[Subject::Atoms]),
    (&["chains"], &[Subject::Proteins]),
    (&["neighbours"], &[Subject::Graph]),
    (&["voxels"], &[Subject::Points]),
];

/// Changes that halve a number of samples, or speak of another subject than the log's.
pub fn words_of_another(diagnosis: &Diagnosis) -> Vec<String> {
    let case = Case::new(&diagnosis.incident, &diagnosis.findings);
    let mut wrong = Vec::new();
    for ranked in &diagnosis.plan.offers {
        for knob in &ranked.offer.knobs {
            let line = &knob.line.en;
            let foreign = |(words, subjects): &(&[&str], &[Subject])| {
                words.iter().any(|word| line.contains(word))
                    && case.subject().is_some_and(|subject| !subjects.contains(&subject))
            };
            if ranked.fix.id != "keep-data-on-host" && SPEAK_OF.iter().any(foreign) {
                wrong.push(format!("{} in a log of {:?}: {line}", ranked.fix.id, case.subject()));
            }
            if line.contains("half as many samples")
                && case.at_once() != AtOnce::Several
                && case.trainer().is_none_or(|trainer| trainer == Trainer::PlainPytorch)
            {
                wrong.push(format!("{}: nothing shows samples: {line}", ranked.fix.id));
            }
        }
    }
    wrong
}

/// A call that fails on a full card, under a script of this path, by this line of code.
fn called(script: &str, code: &str) -> String {
    format!(
        "Traceback (most recent call last):\n  File \"{script}\", line 31, in <module>\n    {code}\n  File \
        \"/v/lib/python3.11/site-packages/torch/nn/modules/module.py\", line 1739, in _wrapped_call_impl\n    return \
        self._call_impl(*args, **kwargs)\n{FULL_CARD}"
    )
}

/// What is said of a smaller batch, or of less at once, by script and code.
fn less(script: &str, code: &str) -> String {
    lines_of(&called(script, code), "smaller-batch").join("; ")
}

#[test]
fn samples_are_halved_only_where_the_log_shows_several() {
    assert!(less("/w/run.py", "y = f(x)").contains("a smaller batch where there is one"));
    assert!(less("/w/run.py", "y = f(batch)").contains("half as many samples in each call"));
    let step = lines_of(&training_step(""), "smaller-batch").join("; ");
    assert!(step.contains("half as many samples in each step"), "{step}");
    // One picture, one text: nothing to halve, and a smaller one is a change of its own.
    assert_eq!(less("/w/upscale/demo.py", "out = upsampler(image)"), "");
    assert_eq!(less("/w/llama/generate.py", "out = model(x)"), "");
}

#[test]
fn there_is_less_of_what_the_job_works_on() {
    for (script, words) in [
        ("/w/nerf/render.py", "fewer rays"),
        ("/w/isaacgym/play.py", "fewer environments"),
        ("/w/mace/run_md.py", "fewer atoms"),
        ("/w/gcn/embed.py", "fewer nodes and edges"),
        ("/w/pointnet/register.py", "fewer points"),
        ("/w/asr/decode.py", "shorter pieces of sound"),
        ("/w/esmfold/fold.py", "fewer chains"),
        ("/w/hunyuanvideo/make.py", "fewer frames"),
    ] {
        let said = less(script, "y = f(x)");
        assert!(said.contains(words), "{script}: {said}");
    }
}

#[test]
fn inputs_are_made_smaller_in_words_of_their_own() {
    let of = |script: &str, id: &str| lines_of(&called(script, "y = f(x)"), id).join("; ");
    assert!(of("/w/unet/run.py", "smaller-images").contains("smaller pictures"));
    // Nothing shows what is worked on: a table has no pixels.
    assert!(!offers_for(FULL_CARD).contains(&"smaller-images"));
    for script in ["/w/asr/decode.py", "/w/gcn/embed.py", "/w/bert/tag.py", "/w/isaacgymenvs/play.py"] {
        assert_eq!(of(script, "smaller-images"), "", "{script}");
    }
    assert!(of("/w/asr/decode.py", "shorter-sequences").contains("cut long recordings"));
    assert!(of("/w/bert/tag.py", "shorter-sequences").contains("shorter texts"));
    assert_eq!(of("/w/unet/run.py", "shorter-sequences"), "");
}

/// A line of the log is enough where neither script nor frames tell.
#[test]
fn a_line_tells_what_is_worked_on() {
    assert!(offers_for(&format!("Reading /data/pictures/harbour.jpg\n{FULL_CARD}")).contains(&"smaller-images"));
    for line in ["Reading /data/proteome.fasta", "words: [CLS] where is the lamp [SEP]", "Separating lesson.mp3"] {
        let offers = offers_for(&format!("{line}\n{FULL_CARD}"));
        assert!(!offers.contains(&"smaller-images"), "{line}: {offers:?}");
    }
}
