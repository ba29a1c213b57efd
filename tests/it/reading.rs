//! What readers once got wrong, by its class: each mistake has the test that is named for it.

use oomdoc::dialect::{self, Event, Fact, Resource, Standing};
use oomdoc::input::Document;

const GIB: u64 = 1 << 30;

fn failures(log: &str) -> Vec<Event> {
    let document = Document::from_text("-", log);
    dialect::events(&document).into_iter().filter(|event| event.standing == Standing::Failure).collect()
}

fn figure(event: &Event, fact: Fact) -> Option<u64> {
    event.facts.get(fact).map(|figure| figure.bytes)
}

#[test]
fn a_figure_at_a_lines_end_is_not_glued_to_the_next_lines_digits() {
    for next in ["2025-03-02 10:11:12 stopped", "0.01.882.025 I stopped", "882025 stopped", "[882025] stopped"] {
        let log = format!("ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 40383193088\n{next}\n");
        let event = failures(&log).remove(0);
        let requested = figure(&event, Fact::Requested);
        assert!(requested.is_none_or(|bytes| bytes == 40_383_193_088), "{next}: {requested:?}");
    }
}

#[test]
fn a_figure_into_which_another_writers_line_fell_is_unknown() {
    let log = "RuntimeError: CUDA out of memory. Tried to allocate 450.00 MiB (GPU 0; 10.73 GiB total capacity; \
               9.19 GiB already allocated; 7.7(Worker_TP0 pid=883) ERROR 09-28 20:07:31 [core.py:720] an illegal \
               memory access was encountered\n5 MiB free; 542.02 MiB cached)\n";
    let event = failures(log).remove(0);
    assert_eq!(figure(&event, Fact::Requested), Some(450 << 20));
    assert_eq!(figure(&event, Fact::Free), None);
    assert_eq!(figure(&event, Fact::Cached).map(|bytes| bytes >> 20), Some(542));
}

#[test]
fn a_count_within_which_another_writers_line_begins_is_unknown() {
    let message = "[E:onnxruntime:, sequential_executor.cc:514 ExecuteKernel] onnxruntime/core/framework/bfc_arena.cc:368 \
                   Failed to allocate memory for requested buffer of size 46";
    let event = failures(&format!("{message}{message}19481926\n19481926\n")).remove(0);
    assert_eq!(figure(&event, Fact::Requested), None);
    let event = failures(&format!("{message}19481926\n")).remove(0);
    assert_eq!(figure(&event, Fact::Requested), Some(4_619_481_926));
}

#[test]
fn the_users_own_docker_inspect_is_no_incident() {
    let asked = "$ docker inspect job --format '{{.State.OOMKilled}}'\nfalse\n";
    assert!(failures(asked).is_empty());
    let killed = "[81234.5] Out of memory: Killed process 4711 (trainer) total-vm:9000kB, anon-rss:8000kB, \
                  file-rss:4kB, shmem-rss:0kB, UID:0 pgtables:12kB oom_score_adj:0\n";
    let events = failures(&format!("{asked}{killed}"));
    assert_eq!(events.iter().map(|event| event.program.id()).collect::<Vec<_>>(), ["linux-kernel"]);
    assert_eq!(figure(&events[0], Fact::AnonRss), Some(8000 << 10));
}

#[test]
fn slurms_bytes_are_not_read_as_kib() {
    let log = "slurmstepd: error: StepId=7.0 exceeded memory limit (1295467052032 > 1288490188800), being killed\n";
    assert_eq!(figure(&failures(log)[0], Fact::Limit), Some(1_288_490_188_800));
}

#[test]
fn the_allocator_of_vllms_sleep_mode_is_not_darknet() {
    let log = "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:119\n";
    assert_eq!(failures(log)[0].program.id(), "vllm");
}

#[test]
fn messages_in_lower_case_keep_their_figures() {
    let log = "cuda out of memory. tried to allocate 2.00 gib (gpu 1; 8.00 gib total capacity; 7.00 gib already \
               allocated; 0 bytes free; 7.50 gib reserved in total by pytorch)\n";
    let event = failures(log).remove(0);
    assert_eq!(figure(&event, Fact::Requested), Some(2 * GIB));
    assert_eq!(figure(&event, Fact::Capacity), Some(8 * GIB));
    assert_eq!(event.facts.device.value(), Some(1));
}

#[test]
fn a_pinned_request_is_the_machines_memory() {
    let log = "Traceback (most recent call last):\n  File \"pack.py\", line 9, in <module>\n    \
               buffer = torch.empty(1 << 36, pin_memory=True)\nRuntimeError: CUDA error: out of memory\n";
    assert_eq!(failures(log)[0].resource, Resource::Host);
}

#[test]
fn a_request_of_sixteen_eib_is_unreadable_and_not_dropped() {
    let log = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 16.00 EiB. GPU 0 has a total \
               capacity of 23.64 GiB of which 20.00 GiB is free.\n";
    let event = failures(log).remove(0);
    assert_eq!(figure(&event, Fact::Requested), None);
    assert!(event.facts.unreadable.contains_key(&Fact::Requested));
    assert_eq!(figure(&event, Fact::Free), Some(20 * GIB));
}

#[test]
fn a_kernel_report_of_seven_thousand_tasks_keeps_its_victim() {
    let mut log = String::from(
        "[100.0] python invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0\n\
         [100.0] Tasks state (memory values in pages):\n\
         [100.0] [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n",
    );
    for pid in 1000..8000 {
        log.push_str(&format!(
            "[100.0] [{pid:7}]     0 {pid:5}     1000      {}    40960        0             0 worker{}\n",
            pid % 90 + 1,
            pid % 7
        ));
    }
    log.push_str(
        "[100.1] Out of memory: Killed process 4711 (trainer) total-vm:9000000kB, anon-rss:8000000kB, file-rss:4kB, \
         shmem-rss:0kB, UID:0 pgtables:12kB oom_score_adj:0\n",
    );
    let event = failures(&log).remove(0);
    assert_eq!(event.facts.process_name.get().map(String::as_str), Some("trainer"));
    assert_eq!(figure(&event, Fact::AnonRss), Some(8_000_000 << 10));
    assert_eq!(event.facts.numbers.get(&dialect::Number::TableTasks).map(|(count, _)| *count), Some(7000.0));
}

#[test]
fn kernel_figures_with_thousands_separators_are_whole() {
    let log = "Out of memory: Killed process 4711 (trainer) total-vm:9,000,000kB, anon-rss:8,000,000kB, \
               file-rss:4kB, shmem-rss:0kB, UID:0 pgtables:12kB oom_score_adj:0\n";
    let event = failures(log).remove(0);
    assert_eq!(figure(&event, Fact::TotalVm), Some(9_000_000 << 10));
    assert_eq!(figure(&event, Fact::AnonRss), Some(8_000_000 << 10));
}

#[test]
fn two_ranks_in_one_line_do_not_lend_each_other_figures() {
    let log = "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total\
               [rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 1 has a total \
               capacity of 23.00 GiB of which 1.00 GiB is free.\n capacity of 22.00 GiB of which 1.50 GiB is free.\n";
    for event in failures(log) {
        let (requested, capacity) = (figure(&event, Fact::Requested), figure(&event, Fact::Capacity));
        let own = [(2 * GIB, 22 * GIB, 0), (3 * GIB, 23 * GIB, 1)];
        assert!(
            own.iter().any(|(request, whole, device)| {
                requested.is_none_or(|bytes| bytes == *request)
                    && capacity.is_none_or(|bytes| bytes == *whole)
                    && event.facts.device.value().is_none_or(|index| index == *device)
            }),
            "{requested:?} of {capacity:?} on {:?}",
            event.facts.device
        );
    }
}

#[test]
fn a_figure_cut_in_the_middle_of_its_number_is_unknown() {
    let whole = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of \
                 23.64 GiB";
    let full = 25_383_256_719;
    for end in whole.len() - 12..=whole.len() {
        for event in failures(&whole[..end]) {
            let capacity = figure(&event, Fact::Capacity);
            assert!(capacity.is_none_or(|bytes| bytes == full), "{:?} of {}", capacity, &whole[..end]);
        }
    }
}

#[test]
fn yarns_virtual_limit_is_a_limit_and_no_use() {
    let log = "17/11/25 18:23:24 ERROR YarnClusterScheduler: Lost executor 9 on n7: Container killed by YARN for \
               exceeding memory limits. 7.0 GB of 4.5 GB virtual memory used.\n";
    let event = failures(log).remove(0);
    assert_eq!(figure(&event, Fact::Limit), Some(9 * GIB / 2));
    assert_eq!(figure(&event, Fact::Used), None);
}

#[test]
fn a_driver_that_backs_off_before_an_interpreter_shows_a_value_is_no_failure() {
    let refusal = |size: &str, bytes: u64| {
        format!(
            "2018-03-14 13:07:11.05: E tensorflow/stream_executor/cuda/cuda_driver.cc:936] failed to allocate {size}G \
             ({bytes} bytes) from device: CUDA_ERROR_OUT_OF_MEMORY\n"
        )
    };
    let log = format!("{}{}", refusal("15.00", 16_106_127_360), refusal("13.50", 14_495_514_624));
    let shown = format!("{log}<tensorflow.python.client.session.Session object at 0x7f10cdba90>\n");
    assert!(failures(&shown).is_empty());
}

#[test]
fn paddle_on_the_cpu_speaks_of_the_machines_memory() {
    let log = "RuntimeError: (ResourceExhausted) Fail to alloc memory of 570791576 size, error code is 12.\n      \
               [Hint: Expected error == 0, but received error:12 != 0:0.] (at \
               /paddle/paddle/fluid/memory/detail/system_allocator.cc:66)\n";
    let event = failures(log).remove(0);
    assert_eq!((event.program.id(), event.resource), ("paddle", Resource::Host));
    assert_eq!(figure(&event, Fact::Requested), Some(570_791_576));
}

/// Lines of progress of one width before a message were taken for parts of it that a terminal had broken.
#[test]
fn a_line_of_progress_as_wide_as_those_above_it_is_no_part_of_the_message() {
    let step = |n: u32| format!("2026-01-02 03:04:05,678 INFO tune: step {n}/150 loss 1.2345 | alloc {} MiB", 5000 + n);
    let message = "OutOfMemoryError: CUDA out of memory. Tried to allocate 500.00 MiB. GPU 0 has a total capacity of \
                   11.64 GiB of which 374.00 MiB is free.";
    let log = format!("{}\n{}\n{}\n{message}\n", step(10), step(11), step(12));
    assert_eq!(failures(&log).remove(0).at.first, 4);
}

#[test]
fn a_batch_per_device_names_no_device() {
    let log = "Instantaneous batch size per device = 8\nRuntimeError: nvfoo: out of memory, needed 512 MiB\n";
    assert_eq!(failures(log).remove(0).facts.device.value(), None);
}

#[test]
fn the_number_that_begins_the_line_behind_a_message_is_no_gpu() {
    let log = "torch.OutOfMemoryError: Allocation on device\n4096 nodes in the queue\n";
    assert_eq!(failures(log).remove(0).facts.device.value(), None);
}

#[test]
fn a_group_at_its_limit_is_a_failure_where_the_lines_of_the_victim_are_missing() {
    let full = "[ 812.402817] memory: usage 1048576kB, limit 1048576kB, failcnt 137\n";
    let event = failures(full).remove(0);
    assert_eq!(event.resource, Resource::Cgroup);
    assert_eq!(figure(&event, Fact::Limit), Some(GIB));
    for calm in ["usage 1048576kB, limit 1048576kB, failcnt 0", "usage 524288kB, limit 1048576kB, failcnt 137"] {
        assert_eq!(failures(&format!("[ 812.402817] memory: {calm}\n")).len(), 0, "{calm}");
    }
}

#[test]
fn killed_behind_a_bar_of_seconds_per_step_is_a_kill() {
    for rate in ["37.16s/it]", "2.10it/s]", "31.2MB/s]"] {
        let log = format!("Loading checkpoint shards:  50%|#####     | 4/8 [02:15<02:28, {rate}Killed\n");
        assert_eq!(failures(&log).len(), 1, "{rate}");
    }
}

#[test]
fn a_search_for_a_batch_size_that_found_none_is_a_failure() {
    let log = "RuntimeError: No executable batch size found, reached zero.\n";
    assert_eq!(failures(log).len(), 1);
}
