//! Every cause's fixtures lead to that cause, and no conclusion claims more than it may.

use crate::every_log::{Judged, every_log};
use oomdoc::cause::conclusion::{Conclusion, candidates, conclude};
use oomdoc::cause::mechanism::readings;
use oomdoc::cause::{CAUSES, MOST_WITHOUT_PROOF, TELLS_APART, decide, nature, rank};
use oomdoc::dialect::{Sign, events};
use oomdoc::fix;
use oomdoc::incident::{Incident, assemble};
use oomdoc::input::{Document, Source};
use oomdoc::report::Diagnosis;
use rayon::prelude::*;
use std::path::Path;

#[test]
fn every_fixture_leads_to_its_cause() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs");
    let mut wrong = Vec::new();
    for cause in CAUSES {
        for name in cause.fixtures {
            let path = folder.join(format!("{name}.log"));
            let document = oomdoc::dialect::reader().read(&Source::File(path)).expect("the fixture can be read");
            let (incidents, _) = assemble(&document, events(&document));
            let primary = incidents.iter().find(|incident| incident.primary);
            let findings = primary.map(rank).unwrap_or_default();
            let got = findings.first().map_or("nothing", |finding| finding.cause.id.id());
            if got != cause.id.id() {
                wrong.push(format!("{name}: {got}, not {}", cause.id.id()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every log below `fixtures/logs`.
#[test]
fn no_conclusion_claims_more_than_it_may() {
    let (mut undecided, mut incidents_seen) = (0, 0);
    let mut nothing_decides = Vec::new();
    for log in every_log() {
        let name = log.name();
        for Diagnosis { incident, findings, conclusion, decide, .. } in &log.explanation.diagnoses {
            incidents_seen += 1;
            for (mechanism, reading) in readings(incident) {
                assert!(mechanism.levels.contains(&reading.level), "{name}: {} {}", mechanism.id, reading.level);
            }
            for finding in findings {
                let (id, confidence) = (finding.cause.id.id(), finding.confidence);
                assert!(finding.proved || confidence <= MOST_WITHOUT_PROOF, "{name}: {id}");
            }
            let proved = findings.first().is_some_and(|first| first.proved);
            assert_eq!(*conclusion == Conclusion::Proved, proved, "{name}");
            if conclusion.is_undecided() {
                undecided += 1;
                nothing_decides.extend(decide.is_empty().then(|| name.clone()));
            }
        }
    }
    assert!(undecided > 10 && undecided < incidents_seen, "{undecided} of {incidents_seen}");
    assert!(
        nothing_decides.is_empty(),
        "{} undecided, and nothing would decide: {nothing_decides:#?}",
        nothing_decides.len()
    );
}

fn primary(document: &Document) -> Incident {
    let (incidents, _) = assemble(document, events(document));
    incidents.into_iter().find(|incident| incident.primary).expect("a failure")
}

/// The first cause of a log and the changes that are offered for it.
fn first_and_offers(text: &str) -> (&'static str, Vec<&'static str>) {
    let document = Document::from_text("log", text);
    let incident = primary(&document);
    let cause = rank(&incident).first().map_or("nothing", |finding| finding.cause.id.id());
    (cause, super::fixes::offers_for(text))
}

/// It was held to a limit that was reached, and then to a wrong shape, with 256 bytes asked for of 8 GB.
#[test]
fn a_limit_that_is_far_from_reached_refused_nothing() {
    let metal = |held: &str| {
        format!(
            "RuntimeError: MPS backend out of memory (MPS allocated: {held}, other allocations: 0 bytes, max allowed: 8.01 \
             GB). Tried to allocate 256 bytes on shared pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper \
             limit for memory allocations (may cause system failure).\n"
        )
    };
    assert_eq!(first_and_offers(&metal("0 bytes")), ("driver_or_unrelated", vec![]));
    assert_eq!(first_and_offers(&metal("7.99 GB")).0, "framework_limit");
}

/// A session too many and a handle too many come with the code for memory; nothing smaller helps.
#[test]
fn what_is_counted_is_not_saved_by_less_memory() {
    let session = "[h264_nvenc @ 0x55d0c8] OpenEncodeSessionEx failed: out of memory (10): (no details)\n\
                   Error initializing output stream 0:0\n";
    let (cause, offers) = first_and_offers(session);
    assert_eq!(cause, "driver_or_unrelated");
    assert!(!offers.iter().any(|id| ["less-at-once", "smaller-images", "launch-blocking"].contains(id)), "{offers:?}");
    let texture = "what():  cudaCreateTextureObject( & tex_obj , & resDesc, & texDesc, NULL ) error( \
                   cudaErrorMemoryAllocation): out of memory Kokkos_CudaSpace.cpp:288\n";
    assert_eq!(first_and_offers(texture).0, "leak_growth");
}

/// Windows starts workers by importing the program again; the limit on commits is met by their number.
#[test]
fn a_child_that_fails_as_it_starts_is_one_of_several_workers() {
    let log = "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n  File \
               \"C:\\py38\\lib\\multiprocessing\\spawn.py\", line 116, in spawn_main\n    exitcode = _main(fd, \
               parent_sentinel)\n  File \"D:\\seg\\train.py\", line 10, in <module>\n    import torch\n  File \
               \"C:\\py38\\lib\\site-packages\\torch\\__init__.py\", line 124, in <module>\n    raise err\nOSError: [WinError \
               1455] The paging file is too small for this operation to complete. Error loading \"C:\\torch\\lib\\a.dll\" or one \
               of its dependencies.\n";
    let (cause, offers) = first_and_offers(log);
    assert_eq!(cause, "host_workers");
    assert!(offers.contains(&"fewer-workers") && !offers.contains(&"samples-in-arrays"), "{offers:?}");
}

/// An assertion of the allocator's own code has nothing to do with ids that are out of range.
#[test]
fn internal_assertion_is_no_index_out_of_range() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/pytorch");
    let offers = |log: &str| {
        let document =
            oomdoc::dialect::reader().read(&Source::File(folder.join(log))).expect("the fixture can be read");
        let incident = primary(&document);
        let plan = fix::plan(&incident, &rank(&incident));
        plan.offers.iter().any(|ranked| ranked.fix.id == "check-ids")
    };
    assert!(offers("cublas.log"), "a library's error can be the echo of an index");
    assert!(!offers("nvml-assert.log"));
    assert!(!offers("expandable-assert.log"));
}

/// What a pool or a limit above CUDA refused was not refused by CUDA.
#[test]
fn a_limit_of_rmm_is_not_cuda_beneath_a_pool() {
    let beneath = |message: &str| {
        let document =
            Document::from_text("-", &format!("cluster = LocalCUDACluster(rmm_pool_size='30GB')\n{message}"));
        let findings = rank(&primary(&document));
        let evidence = findings.iter().flat_map(|finding| &finding.evidence);
        evidence.into_iter().any(|evidence| evidence.text.en.contains("CUDA beneath it that refused"))
    };
    let cuda = "MemoryError: std::bad_alloc: CUDA error at: rmm/mr/device/cuda_memory_resource.hpp:62";
    assert!(beneath(cuda));
    assert!(!beneath("rmm/mr/device/limiting.hpp:152: Exceeded memory limit (failed to allocate 2.5 GiB)"));
}

#[test]
fn what_a_jax_program_on_cudas_own_pool_holds_is_not_told_and_not_taken_for_anothers() {
    let log = "gpu_async_0 cuMemAllocAsync failed to allocate 5368709120 bytes: RESOURCE_EXHAUSTED: : \
        CUDA_ERROR_OUT_OF_MEMORY: out of memory\n Reported by CUDA: Free memory/Total memory: 1200000000/25390809088\n\
        jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 5368709120 bytes.\n";
    let document = Document::from_text("-", log);
    let (incidents, _) = assemble(&document, events(&document));
    let primary = incidents.iter().find(|incident| incident.primary).expect("a failure");
    let findings = rank(primary);
    assert!(findings.iter().all(|finding| finding.confidence < 0.5), "{:?}", findings.first().map(|f| f.confidence));
    assert!(readings(primary).iter().all(|(mechanism, _)| mechanism.id != "strangers"));
}

/// The failures of every log, each with its document, judged by `wrong`.
fn wrong_in_all(wrong: impl Fn(&Document, &Incident) -> Vec<String> + Sync) -> Vec<String> {
    let of = |log: &Judged| {
        let incidents = log.explanation.diagnoses.iter().map(|diagnosis| &diagnosis.incident);
        let found: Vec<String> = incidents.flat_map(|incident| wrong(&log.document, incident)).collect();
        found.into_iter().map(|what| format!("{}: {what}", log.name())).collect::<Vec<_>>()
    };
    every_log().into_par_iter().flat_map_iter(of).collect()
}

/// What is told as evidence for a cause makes it twice as likely, by the learnt weights, as every cause that is printed
/// beside it; what says no more stands under neither.
#[test]
fn evidence_tells_its_cause_from_every_cause_printed_beside_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cause/weights.json");
    let text = std::fs::read_to_string(path).expect("the weights");
    let data: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let temperature = data["temperature"].as_f64().expect("a temperature");
    let told = std::sync::atomic::AtomicUsize::new(0);
    let wrong = wrong_in_all(|_, incident| {
        let findings = rank(incident);
        let conclusion = conclude(incident, &findings);
        if conclusion == Conclusion::Proved {
            return Vec::new();
        }
        let levels: std::collections::BTreeMap<&str, &str> =
            readings(incident).into_iter().map(|(mechanism, reading)| (mechanism.id, reading.level)).collect();
        // A message about shared memory or a chip's own speaks by the priors of its kind of failure.
        let prior = |cause: &str| data["priors"][nature::asker(incident).id()]["learnt"][cause].as_f64().unwrap_or(0.0);
        let weight = |mechanism: &str, cause: &str| {
            let own = &data["mechanisms"][mechanism]["levels"][levels[mechanism]]["learnt"][cause];
            let of_kind = if matches!(mechanism, "shared-memory" | "on-chip") { prior(cause) } else { 0.0 };
            own.as_f64().unwrap_or(0.0) + of_kind
        };
        let mut printed = candidates(&findings, conclusion);
        for finding in findings.iter().take(2).filter(|_| !conclusion.is_undecided()) {
            if !printed.contains(&finding.cause.id) {
                printed.push(finding.cause.id);
            }
        }
        let shown: Vec<_> = findings.iter().filter(|finding| printed.contains(&finding.cause.id)).collect();
        let mut wrong = Vec::new();
        for finding in &shown {
            for evidence in finding.supporting() {
                told.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let id = finding.cause.id.id();
                for rival in shown.iter().map(|rival| rival.cause.id.id()).filter(|rival| *rival != id) {
                    let ratio = (weight(evidence.id, id) - weight(evidence.id, rival)) / temperature;
                    if ratio < TELLS_APART - 1e-9 {
                        wrong.push(format!("{} for {id}, against {rival} {ratio:.2}", evidence.id));
                    }
                }
                let twice = |other: &&&oomdoc::cause::Finding| {
                    other.cause.id != finding.cause.id
                        && other.supporting().iter().any(|same| same.text == evidence.text)
                };
                wrong.extend(shown.iter().filter(twice).map(|_| format!("twice: {}", evidence.text.en)));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    assert!(told.into_inner() > 500, "hardly anything is told");
}

/// A check whose outcomes all mean the same cause, or causes that nobody named, tells nothing.
#[test]
fn every_check_tells_printed_causes_apart() {
    let wrong = wrong_in_all(|_, incident| {
        let findings = rank(incident);
        let conclusion = conclude(incident, &findings);
        let printed = candidates(&findings, conclusion);
        let mut wrong = Vec::new();
        for check in decide::observations(incident, &findings, conclusion) {
            // Whether a process was killed for memory at all stands in the headline.
            let of_the_kill = ["kernel-log", "account-of-the-job"].contains(&check.id);
            let asks_why = of_the_kill && incident.event.has(Sign::KilledWithoutProof);
            let named = check.outcomes.iter().filter(|outcome| asks_why || printed.contains(&outcome.then));
            let seen: std::collections::BTreeSet<&str> = named.map(|outcome| outcome.see.en.as_str()).collect();
            if seen.len() < 2 {
                wrong.push(format!("{}: {:?}", check.id, check.outcomes));
            }
            if of_the_kill && !asks_why {
                wrong.push("how a process was killed is asked where nobody was".into());
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
}

/// The amounts of bytes in a sentence, with what their last digit leaves open.
fn amounts(sentence: &str) -> Vec<(f64, f64)> {
    let units = [("B", 1.0), ("KiB", 1024.0), ("MiB", 1048576.0), ("GiB", 1073741824.0), ("TiB", 1099511627776.0)];
    let words: Vec<&str> = sentence.split([' ', '(', ')', ',', ';']).collect();
    let amount = |pair: &[&str]| {
        let unit = units.iter().find(|(name, _)| *name == pair[1].trim_end_matches(['.', ':']))?.1;
        let number = pair[0].parse::<f64>().ok().filter(|number| *number > 0.0)?;
        Some((number * unit, (0.0051 * unit).max(number * unit * 0.003)))
    };
    words.windows(2).filter_map(amount).collect()
}

/// Every number in a line, also with thousands apart, a decimal comma, or in hexadecimal.
fn numbers(line: &str) -> Vec<f64> {
    let part = |c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == ',');
    let mut found = Vec::new();
    for word in line.split(part) {
        if let Some(hexadecimal) =
            word.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits.trim_end_matches(','), 16).ok())
        {
            found.push(hexadecimal as f64);
        }
        let digits: String = word.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
        let starts = word.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
        let leading: String =
            word[starts..].chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
        for text in [digits, leading] {
            let text = text.trim_matches(['.', ',']);
            found.extend(text.replace(',', "").parse::<f64>());
            found.extend(text.replace(',', ".").parse::<f64>());
        }
    }
    found
}

/// A figure that a sentence prints stands, in whatever unit, on a line that it cites, unless it is told as computed.
#[test]
fn a_printed_figure_stands_on_a_cited_line() {
    const UNITS: [f64; 12] =
        [1.0, 1e3, 1e6, 1e9, 1e12, 1024.0, 1048576.0, 1073741824.0, 1099511627776.0, 1125899906842624.0, 4096.0, 2.0];
    let checked = std::sync::atomic::AtomicUsize::new(0);
    let wrong = wrong_in_all(|document, incident| {
        let mut wrong = Vec::new();
        for (mechanism, reading) in readings(incident) {
            let sentence = &reading.text.en;
            // What a sentence knows of the world, and what the shape of a tensor makes.
            let sentence = sentence.split("; a context alone").next().unwrap_or_default();
            let sentence = sentence.split("containers get 64 MiB").next().unwrap_or_default();
            let sentence = sentence.split(", below the 9 GiB").next().unwrap_or_default();
            let sentence = sentence.split(": it may hold 2 to 4 GiB").next().unwrap_or_default();
            let by_name = sentence.strip_suffix(" by its name)").and_then(|rest| rest.rsplit_once('('));
            let sentence = by_name.map_or(sentence, |(rest, _)| rest);
            let sentence = sentence.split("single buffers above 4 GiB").last().unwrap_or_default();
            // What is never told may be a product of settings.
            let background = matches!(mechanism.id, "bound" | "kill" | "last-straw");
            if background || reading.lines.is_empty() || reading.untold || sentence.contains("computed") {
                continue;
            }
            let cited: Vec<&str> = document
                .lines
                .iter()
                .filter(|line| {
                    // Of a message that was put together from several lines the first is cited for all.
                    let own = incident.event.at;
                    let of_it = reading.lines.contains(&own.first) && (own.first..=own.last).contains(&line.number);
                    of_it || reading.lines.contains(&line.number)
                })
                .map(|line| line.text.as_str())
                .collect();
            if cited.iter().any(|line| ["shape[", "shape (", "shape ["].iter().any(|words| line.contains(words))) {
                continue;
            }
            let mut there: Vec<f64> = cited.iter().flat_map(|line| numbers(line)).collect();
            // A terminal breaks a long message within its numbers.
            there.extend(numbers(&cited.concat()));
            for (amount, slack) in amounts(sentence) {
                checked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let same = |number: &f64| UNITS.iter().any(|unit| (number * unit - amount).abs() <= slack);
                if !there.iter().any(same) {
                    wrong.push(format!("{}: {sentence} {:?}", mechanism.id, reading.lines));
                }
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    assert!(checked.into_inner() > 1000, "hardly any figure was looked for");
}

/// The first cause of a log.
fn first_cause(log: &str) -> &'static str {
    let document = Document::from_text("-", log);
    let (incidents, _) = assemble(&document, events(&document));
    let primary = incidents.iter().find(|incident| incident.primary).expect("a failure");
    rank(primary).first().map_or("nothing", |finding| finding.cause.id.id())
}

/// PyTorch's allocator words its own refusals otherwise: what CUDA refuses at the first touch is a context.
#[test]
fn what_cuda_refuses_at_the_first_touch_of_a_device_is_somebody_elses_doing() {
    let behind = |before: &str, code: &str| {
        first_cause(&format!(
            "{before}Traceback (most recent call last):\n  File \"train.py\", line 9, in main\n    {code}\nRuntimeError: \
             CUDA error: out of memory\n"
        ))
    };
    for code in ["net.to(device=device)", "model.cuda(self.root_gpu)", "distributed.barrier()"] {
        assert!(matches!(behind("", code), "other_process" | "wrong_device"), "{code}: {}", behind("", code));
    }
    let moved = behind("", "images = images.to(device)");
    assert!(!matches!(moved, "other_process" | "wrong_device"), "a batch moves long after the model: {moved}");
    assert!(!matches!(behind("", "out = model(batch)"), "other_process" | "wrong_device"), "no first touch");
    let block = behind("", "block.to(\"cpu\", non_blocking=True)");
    assert!(!matches!(block, "other_process" | "wrong_device"), "the machine's memory: {block}");
    let begun = behind("Epoch 3/10: step 400 loss 0.3\n", "batch = batch.to(device)");
    assert!(!matches!(begun, "other_process" | "wrong_device"), "work was done before: {begun}");
}

/// A map without a free place is one of all that the pool has: it could not grow to its limit.
#[test]
fn a_pool_below_its_limit_whose_map_has_no_free_place_met_a_full_device() {
    let log = |map: char| {
        let map = map.to_string().repeat(100);
        format!(
            "2019-01-11 09:47:33.222251: I tensorflow/core/common_runtime/bfc_allocator.cc:680] Stats: \nLimit:        \
             9955036364\nInUse:        4406128384\nMaxInUse:     4413260288\n2019-01-11 09:47:33.222337: W \
             tensorflow/core/common_runtime/bfc_allocator.cc:279] {map}\n2019-01-11 09:47:33.228289: W \
             tensorflow/core/framework/op_kernel.cc:1318] OP_REQUIRES failed at transpose_op.cc:199 : Resource exhausted: \
             OOM when allocating tensor with shape[2,480,640,66] and type float on \
             /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n"
        )
    };
    assert_eq!(first_cause(&log('*')), "other_process");
}

#[test]
fn a_warning_of_unequal_devices_tells_which_is_too_small() {
    let log = "data_parallel.py:24: UserWarning: \n    There is an imbalance between your GPUs. You may want to exclude GPU \
               0 which\n    has less than 75% of the memory or cores of GPU 1.\nTraceback (most recent call last):\n  File \
               \"train_net.py\", line 193, in main\n    output = model(input_var)\nRuntimeError: CUDA out of memory.\n";
    assert_eq!(first_cause(log), "wrong_device");
}

/// `MemoryError` of NumPy 1.17 prints the shape and no size.
#[test]
fn the_size_of_an_array_follows_from_its_shape() {
    let log = "MemoryError: Unable to allocate array with shape (249255, 249255) and data type float64\n";
    assert_eq!(first_cause(log), "single_huge_allocation");
}

#[test]
fn one_program_several_times_on_a_device_is_told() {
    let table = |second: &str| {
        let document = Document::from_text(
            "-",
            &format!(
                "F0411 08:03:14.771820     9 syncedmem.cpp:56] Check failed: error == cudaSuccess (2 vs. 0)  out of \
                 memory\n\n$ nvidia-smi\n|   0  Quadro K1100M       On   | 0000:01:00.0      On |                  N/A |\n| \
                 N/A   52C    P0    N/A /  N/A |   1990MiB /  1998MiB |      4%      Default |\n\
                 +-----------------------------------------------------------------------------+\n| Processes:                 \
                 GPU Memory |\n|  GPU       PID  Type  Process name                               Usage      |\n\
                 |=============================================================================|\n|    0      1716    C   \
                 inference                                      928MiB |\n|    0      4402    C   {second:<44} 925MiB |\n"
            ),
        );
        let (incidents, _) = assemble(&document, events(&document));
        let told = readings(&incidents[0]).into_iter().find(|(mechanism, _)| mechanism.id == "neighbour-listed");
        told.map(|(_, reading)| reading.level)
    };
    assert_eq!(table("inference"), Some("same-program"));
    assert_ne!(table("another"), Some("same-program"));
}

/// A board that is rebuilt with twice its memory keeps its name, and a sentence may name another machine's.
#[test]
fn a_name_proves_no_more_than_any_board_of_it_bears_out() {
    let asked = |device: &str, mib: u32| {
        let log = format!(
            "{device}\nggml_backend_cuda_buffer_type_alloc_buffer: allocating {mib}.00 MiB on device 0: cudaMalloc failed: \
             out of memory\n"
        );
        let document = Document::from_text("-", &log);
        rank(&primary(&document)).first().map(|first| (first.cause.id.id(), first.confidence))
    };
    let shown = "  Device 0: NVIDIA GeForce RTX 2080 Ti, compute capability 7.5, VMM: yes";
    let far_more = asked(shown, 40_000).expect("a cause");
    assert!(far_more.0 == "single_huge_allocation" && far_more.1 >= 0.9, "{far_more:?}");
    for (device, mib) in [(shown, 13_000), ("On my NVIDIA GeForce RTX 2080 Ti all is well, here it fails:", 40_000)] {
        let (cause, confidence) = asked(device, mib).expect("a cause");
        assert!(confidence < 0.9, "{device}: {cause} {confidence}");
    }
}

/// One end, told by make and by the image's builder, counted as two compilers.
#[test]
fn what_passes_an_end_on_is_no_second_compiler() {
    let several = |log: &str| {
        let document = Document::from_text("-", log);
        readings(&primary(&document)).iter().any(|(_, reading)| reading.level == "several-of-a-build")
    };
    let image = "#14 1.2 cargo build --release\n#14 7.1     Updating crates.io index\n#14 314.6 make: *** [Makefile:46: all] \
        Killed\nERROR: failed to solve: process \"/bin/sh -c make all\" did not complete successfully: exit code: 137\n";
    assert!(!several(image));
    let two =
        "[31/49] nvcc -c a.cu\nFAILED: a.o\nKilled\nFAILED: b.o\nKilled\nninja: build stopped: subcommand failed.\n";
    assert!(several(two));
}

/// `GPU 0` of a job that sees the fourth and the fifth device is the fourth.
#[test]
fn a_device_is_looked_at_by_the_drivers_number() {
    let log = "$ CUDA_VISIBLE_DEVICES=3,4 python train.py\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to \
        allocate 50.00 MiB (GPU 1; 79.93 GiB total capacity; 10.53 GiB already allocated; 15.34 MiB free; 10.91 GiB reserved \
        in total by PyTorch)\n";
    let document = Document::from_text("-", log);
    let found = rank(&primary(&document));
    let refutes = &found.first().expect("a cause").refute.en;
    assert!(refutes.contains("nvidia-smi -i 4"), "{refutes}");
}
