//! What `oomdoc headroom` predicts against peaks that PyTorch counted (`tests/headroom/models.py`, results in
//! `tests/headroom/results.json`): from the description alone, and from the two smallest batches. Those of
//! `tests/headroom/held-out.json` were measured after the formulas were finished.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::process;
use serde_json::Value;
use std::path::Path;

/// Bytes of a measured point.
struct Measured {
    batch: u64,
    allocated: f64,
    reserved: f64,
}

struct Case {
    name: String,
    how: Value,
    points: Vec<Measured>,
    /// Parameters with those of adapters.
    parameters: f64,
    trainable: f64,
}

fn cases() -> Vec<Case> {
    read("results.json")
}

fn held_out() -> Vec<Case> {
    read("held-out.json")
}

fn read(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/headroom").join(file);
    let results: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let bytes = |point: &Value, key: &str| point[key].as_f64().unwrap();
    let case = |case: &Value| Case {
        name: case["name"].as_str().unwrap().to_string(),
        how: case["how"].clone(),
        points: case["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| Measured {
                batch: point["batch"].as_u64().unwrap(),
                allocated: bytes(point, "allocated_bytes"),
                reserved: bytes(point, "reserved_bytes"),
            })
            .collect(),
        parameters: case["parameters"].as_f64().unwrap(),
        trainable: case["trainable"].as_f64().unwrap(),
    };
    results["cases"].as_array().unwrap().iter().map(case).collect()
}

/// The peak that the program foresees: low, expected, high.
fn predict(arguments: &[String], batch: u64) -> (f64, f64, f64, Value) {
    let done = process()
        .args(["headroom", "--json", "--explain", "--batch", &batch.to_string()])
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let answer: Value = serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{arguments:?}: {}", String::from_utf8_lossy(&done.stderr)));
    let end = |name: &str| answer["peak_bytes"][name].as_f64().unwrap();
    (end("low"), end("expected"), end("high"), answer)
}

/// The options that describe a case.
fn described(case: &Case) -> Vec<String> {
    let how = &case.how;
    let config = format!("{}/tests/headroom/configs/{}.json", env!("CARGO_MANIFEST_DIR"), case.name);
    let mut out = vec!["--model".to_string(), config];
    let mut add = |option: &str, value: String| out.extend([option.to_string(), value]);
    add("--precision", how["precision"].as_str().unwrap().replace("bf16-mixed", "mixed"));
    for (key, option) in
        [("seq", "--seq"), ("target_seq", "--target-seq"), ("image", "--image-size"), ("lora", "--lora")]
    {
        if let Some(value) = how[key].as_u64() {
            add(option, value.to_string());
        }
    }
    for (key, option) in [("attention", "--attention"), ("targets", "--lora-targets")] {
        if let Some(value) = how[key].as_str() {
            add(option, value.to_string());
        }
    }
    match how["optimizer"].as_str() {
        Some("adamw-fused") => out.push("--fused".into()),
        Some(name) => add("--optimizer", name.to_string()),
        None => {}
    }
    if how["checkpointing"].as_bool() == Some(true) {
        out.push("--checkpointing".into());
    }
    out
}

/// Errors of one way to predict.
#[derive(Default)]
struct Errors {
    of_expected: Vec<f64>,
    unsafe_ones: Vec<String>,
    too_high_floor: Vec<String>,
}

impl Errors {
    fn note(&mut self, what: String, point: &Measured, (low, expected, high): (f64, f64, f64)) {
        self.of_expected.push((expected / point.reserved - 1.0).abs());
        if high < point.reserved {
            self.unsafe_ones.push(format!("{what}: {:+.1} %", (high / point.reserved - 1.0) * 100.0));
        }
        if low > point.reserved {
            self.too_high_floor.push(what);
        }
    }

    fn median_and_worst(&mut self) -> (f64, f64) {
        self.of_expected.sort_by(f64::total_cmp);
        (self.of_expected[self.of_expected.len() / 2], *self.of_expected.last().unwrap())
    }
}

#[test]
fn there_are_enough_models_of_enough_families() {
    let cases = cases();
    assert!(cases.len() >= 12, "{}", cases.len());
    for part in ["gpt2", "llama", "bert", "t5", "vit", "resnet", "convnext", "lora", "checkpoint", "autocast"] {
        assert!(cases.iter().any(|case| case.name.contains(part)), "{part}");
    }
}

#[test]
fn parameters_are_counted_exactly() {
    for case in cases().into_iter().chain(held_out()) {
        let (.., answer) = predict(&described(&case), case.points[0].batch);
        // The weights at any moment hold all parameters: frozen ones at their width, trained ones at theirs.
        let weights = answer["phases"][0]["terms"][0]["bytes"].as_f64().unwrap();
        let pure = case.how["precision"] == "bf16";
        let frozen = case.parameters - case.trainable;
        let own = if pure && frozen == 0.0 { 2.0 } else { 4.0 };
        let expected = frozen * if pure { 2.0 } else { 4.0 } + case.trainable * own;
        assert!((weights - expected).abs() <= 1.0, "{}: {weights} for {expected}", case.name);
    }
}

#[test]
fn descriptions_come_near_and_their_high_end_is_safe() {
    let mut errors = Errors::default();
    for case in cases() {
        let options = described(&case);
        for point in &case.points {
            let (low, expected, high, _) = predict(&options, point.batch);
            errors.note(format!("{} at {}", case.name, point.batch), point, (low, expected, high));
        }
    }
    assert_eq!(errors.unsafe_ones, Vec::<String>::new());
    assert_eq!(errors.too_high_floor, Vec::<String>::new());
    let (median, worst) = errors.median_and_worst();
    eprintln!("description: median {:.1} %, worst {:.1} %", median * 100.0, worst * 100.0);
    assert!(median < 0.05 && worst < 0.25, "median {median}, worst {worst}");
}

#[test]
fn models_that_no_formula_was_looked_at_beside_come_near_too() {
    let mut errors = Errors::default();
    for case in held_out() {
        let options = described(&case);
        for point in &case.points {
            let (low, expected, high, _) = predict(&options, point.batch);
            errors.note(format!("{} at {}", case.name, point.batch), point, (low, expected, high));
        }
    }
    assert_eq!(errors.unsafe_ones, Vec::<String>::new());
    let (median, worst) = errors.median_and_worst();
    eprintln!("held out: median {:.1} %, worst {:.1} %", median * 100.0, worst * 100.0);
    assert!(median < 0.08 && worst < 0.3, "median {median}, worst {worst}");
}

#[test]
fn two_measured_batches_foresee_larger_ones_safely() {
    let mut errors = Errors::default();
    for case in cases() {
        let [a, b, rest @ ..] = case.points.as_slice() else { continue };
        let options: Vec<String> =
            [a, b].iter().map(|p| format!("--measure={}={}B", p.batch, p.allocated as u64)).collect();
        for point in rest {
            let (low, expected, high, _) = predict(&options, point.batch);
            errors.note(format!("{} at {}", case.name, point.batch), point, (low, expected, high));
        }
    }
    assert_eq!(errors.unsafe_ones, Vec::<String>::new());
    assert_eq!(errors.too_high_floor, Vec::<String>::new());
    let (median, worst) = errors.median_and_worst();
    eprintln!("two points: median {:.1} %, worst {:.1} %", median * 100.0, worst * 100.0);
    assert!(median < 0.07, "median {median}, worst {worst}");
}

#[test]
fn one_measured_batch_bounds_all_others() {
    for case in cases() {
        for known in &case.points {
            let options = vec![format!("--measure={}={}B", known.batch, known.allocated as u64)];
            for point in &case.points {
                let (low, _, high, _) = predict(&options, point.batch);
                let inside = low <= point.reserved && high >= point.reserved;
                assert!(inside, "{}: {} from {}", case.name, point.batch, known.batch);
            }
        }
    }
}
