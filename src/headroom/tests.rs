//! The verdict, the largest batch and the room that is left, by properties and at their edges.

use super::*;
use crate::estimate::fit::Point;
use crate::estimate::surface::Sample;
use crate::units::GIB;
use proptest::prelude::*;

fn device(capacity: u64, context: Interval, others: u64) -> TargetDevice {
    TargetDevice { name: String::new(), capacity, context, others }
}

fn question(batch: Option<u64>, device: TargetDevice) -> Question {
    Question {
        batch,
        device: Some(device),
        headroom: Headroom::DEFAULT,
        failures: Vec::new(),
        share: 1.0,
        taken: None,
        source: None,
        described: None,
    }
}

/// Measured at 8, 16 and 24: a gibibyte, and half of one for each sample.
fn line_of_half_a_gibibyte(counted: Counted) -> Curve {
    let bytes = |batch: u64| (GIB + batch * GIB / 2) as f64;
    let points = [8, 16, 24].map(|batch| Point { batch, bytes: bytes(batch), reserved: None, on_floor: false });
    Curve::Measured(Fit::new(points.to_vec(), counted).expect("points"))
}

#[test]
fn only_the_low_end_of_the_peak_rules_a_batch_out() {
    let card = device(10 * GIB, Interval::exactly(GIB), 0);
    let judged = |low: u64, expected: u64, high: u64| {
        let [low, expected, high] = [low, expected, high].map(|tenths| (tenths * GIB) as f64 / 10.0);
        judge(Peak { low, expected, high }, card.outside(), &card, 0.05)
    };
    assert_eq!(judged(80, 81, 85), Verdict::Fits);
    assert_eq!(judged(80, 81, 86), Verdict::Tight);
    assert_eq!(judged(86, 88, 90), Verdict::Tight);
    // Expected not to fit, but it may.
    assert_eq!(judged(85, 95, 120), Verdict::Unknown);
    assert_eq!(judged(86, 95, 120), Verdict::Tight);
    assert_eq!(judged(90, 95, 120), Verdict::Tight);
    assert_eq!(judged(91, 95, 120), Verdict::DoesNotFit);
}

#[test]
fn a_failure_bounds_from_below_and_its_try_is_expected_to_fit() {
    let failure = FailedBatch { batch: 32, needed: (32 * GIB) as f64, capacity: None };
    let peak = |batch| failure.peak(batch);
    assert_eq!((peak(16).low, peak(16).expected), ((16 * GIB) as f64, (20 * GIB) as f64));
    // A larger batch needs no less than the one that failed.
    assert_eq!((peak(64).low, peak(64).expected), ((32 * GIB) as f64, (80 * GIB) as f64));
    assert_eq!(peak(16).high, f64::INFINITY);
    assert_eq!(failure.first_try(20 * GIB), Some(16));
}

#[test]
fn what_is_left_is_the_device_less_the_expected_peak_the_context_and_the_others() {
    let card = device(24 * GIB, Interval::between(i128::from(GIB / 2), i128::from(GIB)), 2 * GIB);
    let curve = line_of_half_a_gibibyte(Counted::Allocated);
    let answer = assess(question(Some(16), card.clone()), Basis::Measurements, &curve);
    let outside = i128::from(2 * GIB + 3 * GIB / 4);
    assert_eq!(answer.headroom, Some(i128::from(24 * GIB) - whole(curve.peak(16).expected) - outside));
    let share = answer.headroom_share().expect("a share");
    assert!((share * (24 * GIB) as f64 - answer.headroom.expect("room") as f64).abs() < 1.0);
    // Peaks of the whole process hold the context already.
    let whole_process = line_of_half_a_gibibyte(Counted::Process);
    let answer = assess(question(Some(16), card), Basis::Measurements, &whole_process);
    let left = i128::from(24 * GIB) - whole(whole_process.peak(16).expected) - i128::from(2 * GIB);
    assert_eq!(answer.headroom, Some(left));
    assert!(answer.because.iter().all(|reason| !reason.en.contains("CUDA context")));
}

#[test]
fn a_batch_that_failed_on_no_less_does_not_fit_and_bounds_the_largest() {
    let card = device(24 * GIB, Interval::exactly(GIB), 0);
    let curve = line_of_half_a_gibibyte(Counted::Allocated);
    let answered = |batch, failed, capacity| {
        let mut question = question(Some(batch), card.clone());
        question.failures.push(FailedBatch { batch: failed, needed: GIB as f64, capacity });
        let answer = assess(question, Basis::Measurements, &curve);
        (answer.verdict, answer.largest.expect("a largest").safe)
    };
    assert_eq!(answered(8, 8, Some(24 * GIB)), (Verdict::DoesNotFit, 7));
    assert_eq!(answered(7, 8, Some(24 * GIB)), (Verdict::Fits, 7));
    assert_eq!(answered(9, 8, Some(80 * GIB)), (Verdict::DoesNotFit, 7));
    // On a smaller device, or on one of unknown size, it says nothing about this one.
    let free = answered(8, 8, None);
    assert_eq!(free, answered(8, 8, Some(24 * GIB - 1)));
    assert!(free.0 == Verdict::Fits && free.1 > 8);
}

#[test]
fn an_engine_may_touch_its_share_only() {
    let card = device(24 * GIB, Interval::exactly(0), 0);
    let curve = line_of_half_a_gibibyte(Counted::Allocated);
    let largest = |share, headroom| {
        let asked = Question { share, headroom, ..question(None, card.clone()) };
        assess(asked, Basis::Measurements, &curve).largest.expect("a largest").safe
    };
    let half = largest(0.5, Headroom::DEFAULT);
    assert_eq!(half, largest(1.0, Headroom::Share(0.5)));
    assert_eq!(half, largest(1.0, Headroom::Bytes(12 * GIB)));
    assert!(half < largest(1.0, Headroom::DEFAULT));
    // The larger of both decides.
    assert_eq!(largest(0.97, Headroom::DEFAULT), largest(1.0, Headroom::DEFAULT));
}

#[test]
fn a_curve_is_drawn_from_one_to_beyond_what_is_of_interest() {
    let curve = line_of_half_a_gibibyte(Counted::Allocated);
    let drawn = |batch, largest| -> Vec<u64> {
        let measured = [(24, 0.0)];
        line(&curve, batch, largest, &measured).into_iter().map(|(batch, _)| batch).collect()
    };
    let largest = |n| Some(Largest { safe: n, expected: n });
    // The largest measured, the batch asked about, or the largest that fits: a quarter beyond, in at most 65 steps.
    assert_eq!((drawn(None, None).first(), drawn(None, None).last()), (Some(&1), Some(&31)));
    assert_eq!(drawn(Some(400), None).last(), Some(&501));
    assert_eq!(drawn(Some(400), largest(800)).last(), Some(&1001));
    // What is expected to fit is drawn, though less is safe.
    assert_eq!(drawn(Some(400), Some(Largest { safe: 500, expected: 800 })).last(), Some(&1001));
    // Neither far beyond the batch asked about nor to a bound that is none.
    assert_eq!(drawn(Some(30), largest(10_000)).last(), Some(&301));
    assert_eq!(drawn(Some(30), largest(LARGEST_BATCH)).last(), Some(&38));
    let steps = drawn(Some(400), None);
    assert_eq!(steps.len(), 65);
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn without_a_batch_the_answer_is_about_the_largest_safe_one() {
    let curve = line_of_half_a_gibibyte(Counted::Allocated);
    let answered = |gibibytes: u64| {
        let card = device(gibibytes * GIB, Interval::exactly(0), 0);
        let answer = assess(question(None, card), Basis::Measurements, &curve);
        (answer.batch, answer.largest.expect("a largest").safe, answer.verdict)
    };
    let (batch, safe, verdict) = answered(24);
    assert!(safe > 8 && batch == Some(safe) && verdict == Verdict::Fits, "{batch:?} {safe} {verdict:?}");
    // Where nothing fits it is about the smallest there is.
    assert_eq!(answered(1), (Some(1), 0, Verdict::DoesNotFit));
}

#[test]
fn a_line_through_two_points_is_doubted_beyond_them_only() {
    let doubted = |batches: &[u64], batch: Option<u64>| {
        let bytes = |batch: u64| (GIB + batch * GIB / 2) as f64;
        let point = |batch: &u64| Point { batch: *batch, bytes: bytes(*batch), reserved: None, on_floor: false };
        let fit = Fit::new(batches.iter().map(point).collect(), Counted::Allocated).expect("points");
        let question = Question { device: None, ..question(batch, device(0, Interval::exactly(0), 0)) };
        let answer = assess(question, Basis::Measurements, &Curve::Measured(fit));
        answer.because.iter().any(|reason| reason.en.contains("measure a third batch"))
    };
    assert!(doubted(&[8, 16], Some(17)));
    for (batches, batch) in [(&[8, 16][..], Some(16)), (&[8, 16], Some(8)), (&[8, 16], None), (&[8, 16, 24], Some(25))]
    {
        assert!(!doubted(batches, batch), "{batches:?}, asked about {batch:?}");
    }
}

#[test]
fn of_several_lengths_the_points_of_the_one_asked_about_are_drawn() {
    let samples = [(1, 512), (2, 512), (1, 2048), (4, 1024)].map(|(batch, sequence)| Sample {
        batch,
        sequence,
        bytes: 2e9 + 1e6 * (batch * sequence) as f64,
    });
    let surface = Surface::fit(samples.to_vec(), 512).expect("a fit");
    let answer = assess(
        question(Some(1), device(24 * GIB, Interval::exactly(0), 0)),
        Basis::Measurements,
        &Curve::Surface(surface),
    );
    assert_eq!(answer.measured.iter().map(|(batch, _)| *batch).collect::<Vec<_>>(), [1, 2]);
}

proptest! {
    #[test]
    fn a_verdict_of_a_peak_is_about_its_ends(
        low in 0u64..30, wide in 0u64..30, at in 0.0f64..1.0, context in 0u64..3, free in 0u64..3, others in 0u64..3,
        headroom in 0.0f64..0.5,
    ) {
        let (low, high) = ((low * GIB) as f64, ((low + wide) * GIB) as f64);
        let card = device(24 * GIB, Interval::between(i128::from(context * GIB), i128::from((context + free) * GIB)),
            others * GIB);
        let verdict = judge(Peak { low, expected: low + (high - low) * at, high }, card.outside(), &card, headroom);
        let least = low + ((context + others) * GIB) as f64;
        let most = high + ((context + free + others) * GIB) as f64;
        let (capacity, limit) = ((24 * GIB) as f64, ((24 * GIB) as f64 * (1.0 - headroom)).floor());
        prop_assert_eq!(verdict == Verdict::DoesNotFit, least > capacity);
        prop_assert_eq!(verdict == Verdict::Fits, most <= limit);
        prop_assert_eq!(verdict == Verdict::Unknown, least <= limit && most > capacity);
    }

    #[test]
    fn the_largest_batch_is_found_wherever_it_lies(most in 0u64..(2 * LARGEST_BATCH)) {
        prop_assert_eq!(largest_batch(|batch| batch <= most), most.min(LARGEST_BATCH));
    }

    #[test]
    fn the_largest_safe_batch_fits_and_the_next_does_not(capacity in 4u64..80, context in 0u64..2, others in 0u64..2) {
        let card = device(capacity * GIB, Interval::between(0, i128::from(context * GIB)), others * GIB);
        let curve = line_of_half_a_gibibyte(Counted::Allocated);
        let judged = |batch| assess(question(Some(batch), card.clone()), Basis::Measurements, &curve).verdict;
        let largest = assess(question(None, card.clone()), Basis::Measurements, &curve).largest.expect("a largest");
        prop_assert!(largest.safe <= largest.expected);
        if largest.safe > 0 {
            prop_assert_eq!(judged(largest.safe), Verdict::Fits);
        }
        prop_assert_ne!(judged(largest.safe + 1), Verdict::Fits);
        // By the expected peak and the middle of what is outside.
        let expected = |batch| curve.peak(batch).expected + card.outside().middle() as f64;
        let limit = (card.capacity as f64 * 0.95).floor();
        prop_assert!(largest.expected == 0 || expected(largest.expected) <= limit);
        prop_assert!(expected(largest.expected + 1) > limit);
    }

    #[test]
    fn what_a_failure_advises_to_try_is_expected_to_fit(
        batch in 2u64..4096, needed in 1u64..200, usable in 1u64..200,
    ) {
        let failure = FailedBatch { batch, needed: (needed * GIB) as f64, capacity: None };
        let tried = failure.first_try(usable * GIB).expect("a batch above one");
        prop_assert!(tried < batch);
        let expected = |batch| failure.peak(batch).expected;
        let room = (usable.min(needed) * GIB) as f64 * (1.0 + 1e-9);
        prop_assert!(tried == 1 || expected(tried) <= room);
        // The next is expected not to, or is the one that failed.
        prop_assert!(tried + 1 == batch || expected(tried + 1) > room * (1.0 - 1e-6));
    }
}
