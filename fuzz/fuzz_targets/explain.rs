//! Logs: the report in every form, and what holds of every diagnosis.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some(report) = oomdoc_fuzz::json(&["explain", "INPUT"], include_str!("../../docs/explain.schema.json"), data)
    else {
        return;
    };
    for incident in report["incidents"].as_array().into_iter().flatten() {
        let causes = incident["causes"].as_array().cloned().unwrap_or_default();
        let sum: f64 = causes.iter().filter_map(|cause| cause["confidence"].as_f64()).sum();
        assert!(sum <= 1.001, "confidences add up to {sum}: {report}");
        // The process that ran out is never to be ended by its own user.
        let own = incident["facts"]["own_pid"].as_u64();
        for fix in incident["fixes"].as_array().into_iter().flatten().filter(|_| own.is_some()) {
            let text = fix.to_string();
            let end = format!("kill {}", own.unwrap_or_default());
            assert!(!text.contains(&format!("{end}\"")) && !text.contains(&format!("{end} ")), "{report}");
        }
    }
    oomdoc_fuzz::pages(&["explain", "INPUT"], data);
    oomdoc_fuzz::pages(&["explain", "-v", "INPUT"], data);
    oomdoc_fuzz::run(&["explain", "-f", "markdown", "INPUT"], data);
});
