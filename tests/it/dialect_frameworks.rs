//! Programs on a GPU outside PyTorch: one fixture per wording, its incident, the figures to the byte, its standing.

use oomdoc::dialect::{self, Fact, Resource, Sign};
use oomdoc::domain::Number;
use oomdoc::incident::{self, Incident};
use oomdoc::input::Source;

/// One fixture below `fixtures/logs` and the single incident that it holds.
struct Case {
    log: &'static str,
    slug: &'static str,
    framework: &'static str,
    resource: Resource,
    /// `name=value` pairs; the value in bytes or with a binary unit.
    figures: &'static str,
    signs: &'static [Sign],
}

const fn case(
    log: &'static str,
    slug: &'static str,
    framework: &'static str,
    resource: Resource,
    figures: &'static str,
    signs: &'static [Sign],
) -> Case {
    Case { log, slug, framework, resource, figures, signs }
}

use Resource::{CudaSharedMemory, Gpu, Host};

const CASES: &[Case] = &[
    case(
        "net/device",
        "net",
        "gridtool",
        Gpu,
        "requested=5.25GiB free=1.5GiB capacity=8GiB device=1",
        &[Sign::Generic],
    ),
    case("net/host", "net", "meshfold", Host, "requested=12.5GiB free=3.25GiB", &[Sign::Generic]),
    case("net/chinese", "net", "generic", Gpu, "requested=6GiB free=2GiB capacity=8GiB", &[Sign::Generic]),
    case(
        "wordings/no-batch-size",
        "accelerate-no-batch-size",
        "pytorch",
        Gpu,
        "",
        &[Sign::NoFigures, Sign::EverySizeTried],
    ),
    case("wordings/kokkos-space", "kokkos-memory-space", "kokkos", Gpu, "requested=6.5GiB", &[]),
    case("wordings/context", "llamacpp-context-exceeded", "llama.cpp", Resource::KvCache, "", &[Sign::NoFigures]),
    case(
        "julia/pool-reserved",
        "julia-out-of-gpu-memory",
        "julia",
        Gpu,
        "requested=2.25GiB used=23.39GiB capacity=23.696GiB allocated=18.502GiB reserved=21.781GiB",
        &[],
    ),
    case(
        "julia/allocated-cached",
        "julia-out-of-gpu-memory",
        "julia",
        Gpu,
        "requested=640MiB used=7.683GiB capacity=7.919GiB allocated=5.12GiB reserved=6.912GiB cached=1.792GiB",
        &[],
    ),
    case(
        "julia/hard-limit",
        "julia-out-of-gpu-memory",
        "julia",
        Gpu,
        "requested=512MiB used=9.787GiB capacity=23.755GiB limit=10GiB allocated=9.601GiB reserved=9.688GiB",
        &[],
    ),
    case("julia/driver", "julia-cuda-error", "julia", Gpu, "", &[Sign::NoFigures, Sign::Disguised]),
    case(
        "tensorflow/dump-fragmented",
        "tensorflow-bfc-dump",
        "tensorflow",
        Gpu,
        "requested=1073741824 limit=10105126912 allocated=8005000000 reserved=10105126912 peak=9100000000 \
         largest_free_chunk=900000000 device=0",
        &[],
    ),
    case("tensorflow/shape-only", "tensorflow-oom", "tensorflow", Gpu, "requested=679477248 device=1", &[]),
    case("tensorflow/host", "tensorflow-oom", "tensorflow", Host, "requested=21600000000 device=0", &[]),
    case("tensorflow/dst-tensor", "tensorflow-oom", "tensorflow", Gpu, "", &[Sign::NoFigures, Sign::Disguised]),
    case("tensorflow/cudnn-handle", "xla-cudnn-handle", "tensorflow", Gpu, "", &[Sign::ContextCreation]),
    case(
        "tensorflow/device-full",
        "xla-driver-refused",
        "tensorflow",
        Gpu,
        "requested=325457920 capacity=7.93GiB free=310.38MiB device=0",
        &[],
    ),
    case(
        "tensorflow/pinned",
        "tensorflow-bfc-dump",
        "tensorflow",
        Host,
        "requested=2147483648 limit=68719476736 allocated=67000000000 peak=67000000000",
        &[Sign::PinnedHost],
    ),
    case("jax/buffer-assignment", "xla-buffer-assignment", "jax", Gpu, "requested=17448304512 device=0", &[]),
    case("jax/request-device", "xla-out-of-memory", "jax", Gpu, "requested=32212254720 device=3", &[]),
    case("jax/executable-name", "xla-out-of-memory", "jax", Gpu, "requested=6.5GiB", &[]),
    case("jax/cpu", "xla-cpu-out-of-memory", "jax", Host, "requested=320000000000", &[]),
    case("jax/tpu-compile", "xla-tpu-compile", "jax", Gpu, "requested=21.6GiB capacity=15.48GiB", &[]),
    case("jax/tpu-padded", "xla-tpu-compile", "jax", Gpu, "requested=37.61GiB capacity=15.48GiB", &[]),
    case("jax/tpu-vmem", "xla-tpu-compile", "jax", CudaSharedMemory, "requested=24.5MiB limit=16MiB", &[]),
    case("jax/tpu-runtime", "xla-out-of-memory", "jax", Gpu, "requested=1.5GiB free=1.85GiB", &[]),
    case(
        "jax/async",
        "xla-out-of-memory",
        "jax",
        Gpu,
        "requested=5368709120 free=1200000000 capacity=25390809088 device=0",
        &[],
    ),
    case("jax/shared-memory", "xla-shared-memory", "jax", CudaSharedMemory, "requested=147456 limit=101376", &[]),
    case("exla/binary", "xla-out-of-memory", "exla", Gpu, "requested=33554432", &[]),
    case(
        "cupy/limit",
        "cupy-pool",
        "cupy",
        Gpu,
        "requested=1610612736 allocated=7516192768 limit=8589934592 fraction_limit=8589934592",
        &[],
    ),
    case("cupy/old", "cupy-pool", "cupy", Gpu, "requested=1073741824 allocated=11274289152", &[]),
    case("numba/pinned", "numba-pinned", "numba", Host, "", &[Sign::PinnedHost, Sign::NoFigures]),
    case("numba/context", "numba-context", "numba", Gpu, "", &[Sign::ContextCreation]),
    case("rapids/pool", "rapids-pool", "rapids", Gpu, "requested=3.72529GiB", &[Sign::RefusedByLimit]),
    case("rapids/outside", "rapids-outside-pool", "rapids", Gpu, "", &[Sign::ForeignLibrary]),
    case("rapids/dask", "rapids-bad-alloc", "dask-cuda", Gpu, "", &[Sign::NoFigures]),
    case("xgboost/units", "xgboost-memory-allocation", "xgboost", Gpu, "requested=3.5GiB free=1.25GiB", &[]),
    case(
        "xgboost/underflow",
        "xgboost-memory-allocation",
        "xgboost",
        Gpu,
        "requested=18446744072635812000 free=40265318400",
        &[Sign::AbsurdRequest],
    ),
    case("lightgbm/cuda", "lightgbm-cuda", "lightgbm", Gpu, "", &[Sign::NoFigures]),
    case("catboost/pool", "catboost-pool", "catboost", Gpu, "requested=7151.25MiB free=6480.5MiB", &[]),
    case(
        "paddle/mixed",
        "paddle-out-of-memory",
        "paddle",
        Gpu,
        "requested=512MiB allocated=10.5GiB used=10.5GiB free=245.25MiB device=1",
        &[],
    ),
    case("paddle/external", "paddle-cuda-error", "paddle", Gpu, "", &[Sign::Disguised]),
    case("mxnet/retry", "mxnet-cudamalloc-retry", "mxnet", Gpu, "", &[Sign::Asynchronous]),
    case(
        "onnxruntime/limit",
        "onnxruntime-arena-limit",
        "onnxruntime",
        Gpu,
        "requested=419430400 available=104857600",
        &[Sign::RefusedByLimit],
    ),
    case("onnxruntime/cuda", "onnxruntime-cuda", "onnxruntime", Gpu, "device=1", &[]),
    case("onnxruntime/cpu", "onnxruntime-arena", "onnxruntime", Host, "requested=5242880000", &[]),
    case("tensorrt/engine", "tensorrt-cuda-runtime", "tensorrt", Gpu, "requested=9663676416", &[]),
    case(
        "triton/registers",
        "triton-out-of-resource",
        "triton",
        CudaSharedMemory,
        "requested=147456 limit=101376",
        &[],
    ),
    case("triton/ptxas", "ptxas-shared-data", "cuda", CudaSharedMemory, "requested=110592 limit=49152", &[]),
    case("opencv/pinned", "opencv-pinned", "opencv", Host, "", &[Sign::PinnedHost]),
    case("opencv/host", "opencv-host", "opencv", Host, "requested=7464960000", &[]),
    case(
        "metal/buffer",
        "mlx-buffer-size",
        "mlx",
        Gpu,
        "requested=30064771072 limit=22613000192",
        &[Sign::RefusedByLimit],
    ),
    case("metal/command-buffer", "metal-command-buffer", "mlx", Gpu, "", &[Sign::Mps]),
    case("metal/count", "mlx-resource-limit", "mlx", Gpu, "", &[Sign::RefusedByLimit]),
    case("sycl/buffer", "sycl-buffer", "llama.cpp", Gpu, "requested=5368709120", &[Sign::Xpu]),
    case("sycl/level-zero", "sycl-out-of-device-memory", "sycl", Gpu, "", &[Sign::Xpu]),
    case("candle/weights", "candle-driver-error", "candle", Gpu, "", &[Sign::EngineStartup]),
    case("simulation/kokkos", "kokkos-space", "kokkos", Gpu, "requested=7.45GiB", &[]),
    case("simulation/aer", "aer-insufficient-memory", "qiskit", Gpu, "requested=524288MiB", &[]),
    case("simulation/lammps", "lammps-accelerator", "lammps", Gpu, "free=15GiB capacity=16GiB", &[]),
    case("simulation/blender", "blender-call", "blender", Gpu, "", &[]),
    case("simulation/custatevec", "custatevec", "cuquantum", Gpu, "", &[Sign::NoFigures]),
    case("cuda/faiss", "faiss-alloc-fail", "faiss", Gpu, "requested=12884901888 device=1", &[]),
    case("cuda/nccl", "nccl-cuda-failure", "jax", Gpu, "", &[Sign::ForeignLibrary]),
    case("cuda/caffe", "caffe-check", "caffe", Gpu, "", &[Sign::NoFigures]),
    case("cuda/darknet", "darknet-cuda-error", "darknet", Gpu, "", &[Sign::NoFigures]),
    case("cuda/encoder-session", "nvenc-session", "ffmpeg", Gpu, "", &[Sign::SessionsRanOut]),
    case("simulation/texture", "kokkos-texture", "kokkos", Gpu, "", &[Sign::HandlesRanOut]),
    case("cuda/macro", "cuda-call", "cuda", Gpu, "", &[Sign::NoFigures]),
    case("cuda/vulkan", "vulkan-out-of-device-memory", "vulkan", Gpu, "", &[Sign::NoFigures]),
    case("jax/cudnn", "xla-cudnn-handle", "jax", Gpu, "free=81788928 capacity=12622168064", &[Sign::ContextCreation]),
    case("jax/constant", "xla-out-of-memory", "jax", Gpu, "requested=3221225472", &[]),
    case("tensorflow/no-context", "tensorflow-oom", "tensorflow", Gpu, "device=2", &[Sign::ContextCreation]),
    case("cuda/taichi", "cuda-driver", "taichi", Gpu, "", &[Sign::Disguised]),
];

fn incidents(log: &str) -> (Vec<Incident>, Vec<&'static str>) {
    let path = format!("{}/fixtures/logs/{log}.log", env!("CARGO_MANIFEST_DIR"));
    let document = dialect::reader().read(&Source::File(path.into())).expect("the fixture");
    let (incidents, harmless) = incident::assemble(&document, dialect::events(&document));
    assert!(harmless.iter().all(|event| event.harmless_because.is_some()), "{log}");
    (incidents, harmless.iter().map(|event| event.wording()).collect())
}

fn incidents_of(text: &str) -> Vec<Incident> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    std::fs::write(&path, text).expect("a log");
    let document = dialect::reader().read(&Source::File(path)).expect("the log");
    incident::assemble(&document, dialect::events(&document)).0
}

/// The status of a quota was found among the digits of a size, and the failure set aside.
#[test]
fn a_size_that_holds_429_is_no_quota() {
    for (text, failures) in [
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 20429988310 bytes.", 1),
        ("RESOURCE_EXHAUSTED: Failed to allocate request for 4.29GiB (4606391255B) on device ordinal 0", 1),
        ("ResourceExhausted: 429 RESOURCE_EXHAUSTED: Quota exceeded for quota metric 'Generate requests'", 0),
        ("RESOURCE_EXHAUSTED: HTTP 429, slow down", 0),
    ] {
        let found = incidents_of(&format!("jaxlib.xla_extension.XlaRuntimeError: {text}\n"));
        assert_eq!(found.len(), failures, "{text}");
    }
}

#[test]
fn the_statistics_of_the_pools_of_the_driver_are_read() {
    let from = "E1103 17:55:58.210334 2967 gpu_cudamallocasync_allocator.cc";
    let found = incidents_of(&format!(
        "{from}:361] gpu_async_1 cuMemAllocAsync failed to allocate 6442450944 bytes: RESOURCE_EXHAUSTED: : \
         CUDA_ERROR_OUT_OF_MEMORY: out of memory\n Reported by CUDA: Free memory/Total memory: \
         2147483648/25769803776\n{from}:366] Stats: Limit:                               0\nInUse:                     \
         17179869184\nMaxInUse:                  18253611008\nNumAllocs:                       22059\nMaxAllocSize:              \
         4294967296\nReserved:                            0\nPeakReserved:                        0\nLargestFreeBlock:            \
                0\n{from}:70] Histogram of current allocation: (allocation_size_in_bytes, nb)\n{from}:73] 64, 196\n"
    ));
    let mut expected =
        super::figures::expected("requested=6GiB free=2GiB capacity=24GiB allocated=16GiB peak=17GiB device=1");
    expected.sort();
    assert_eq!(found.iter().map(figures).collect::<Vec<_>>(), [expected]);
}

fn figures(incident: &Incident) -> Vec<String> {
    let facts = &incident.event.facts;
    let mut all = super::figures::of(facts);
    all.sort();
    all
}

#[test]
fn every_wording_is_one_incident_with_its_figures() {
    for case in CASES {
        let (incidents, _) = incidents(case.log);
        let [incident] = incidents.as_slice() else { panic!("{}: {} incidents", case.log, incidents.len()) };
        let event = &incident.event;
        assert_eq!(
            (event.wording(), event.program.id(), event.resource),
            (case.slug, case.framework, case.resource),
            "{}",
            case.log
        );
        assert_eq!(figures(incident), super::figures::expected(case.figures), "{}", case.log);
        for sign in case.signs {
            assert!(event.has(*sign), "{}: {sign:?} of {:?}", case.log, event.signs);
        }
    }
}

#[test]
fn what_only_sounds_like_a_failure_is_set_aside() {
    for (log, slugs) in [
        ("tensorflow/optional", &["tensorflow-optional-refused"][..]),
        ("tensorflow/backoff", &["xla-driver-refused"]),
        ("jax/grpc", &["service-quota", "grpc-message-size"]),
        ("tensorrt/tactic", &["tensorrt-tactic"]),
        ("triton-server/pinned", &["triton-server-pinned"]),
        ("net/went-on", &["net"]),
        ("net/collects", &["net"]),
    ] {
        let (incidents, harmless) = incidents(log);
        assert!(incidents.is_empty(), "{log}: {}", incidents.len());
        assert_eq!(harmless, slugs, "{log}");
    }
}

#[test]
fn a_dump_and_an_account_are_read_whole() {
    let (found, _) = incidents("tensorflow/dump-fragmented");
    let facts = &found[0].event.facts;
    assert_eq!(facts.number(Number::FreeChunks), Some(671_088_640.0 + 900_000_000.0 + 529_038_272.0));
    assert_eq!(facts.number(Number::LargestAllocation), Some(2_147_483_648.0));
    assert_eq!(facts.number(Number::LongestFreeRunPercent), Some(14.0));
    assert_eq!(facts.number(Number::AvailableByLimit), Some(0.0));
    let (found, _) = incidents("jax/buffer-assignment");
    let facts = &found[0].event.facts;
    assert_eq!(facts.number(Number::Temp), Some(17_448_304_640.0));
    assert_eq!(facts.number(Number::ProgramTotal), Some((19.25 * 1073741824.0f64).round()));
    assert_eq!(facts.number(Number::LargestBuffer), Some((7.81 * 1073741824.0f64).round()));
    let (found, _) = incidents("jax/tpu-compile");
    let facts = &found[0].event.facts;
    assert_eq!(facts.number(Number::Parameter), Some((18.2 * 1073741824.0f64).round()));
    assert_eq!(facts.number(Number::Temp), Some((3.38 * 1073741824.0f64).round()));
    assert_eq!(facts.number(Number::LargestBuffer), None);
    let (found, _) = incidents("jax/tpu-padded");
    let facts = &found[0].event.facts;
    assert_eq!(facts.number(Number::LargestBuffer), Some(24.0 * 1073741824.0));
}

/// The crash of an earlier kernel, reported by the call that allocates next, was taken for a lack of memory.
#[test]
fn a_call_that_gives_another_code_ran_out_of_nothing() {
    let call =
        |code: &str| format!("numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in {code}\n");
    assert!(incidents_of(&call("CUDA_ERROR_LAUNCH_FAILED")).is_empty());
    assert!(incidents_of(&call("CUDA_ERROR_ILLEGAL_ADDRESS")).is_empty());
    assert_eq!(incidents_of(&call("CUDA_ERROR_OUT_OF_MEMORY")).len(), 1);
}

/// It was called Theano's, which has arrays of nearly the same name.
#[test]
fn matlab_is_named_where_its_device_ran_out() {
    let text = "train: epoch 01:   1/ 90:Error using gpuArray/max\nOut of memory on device. To view more detail about \
                available memory on the GPU, use 'gpuDevice()'. If the problem persists, reset the GPU by calling \
                'gpuDevice(1)'.\n";
    let [incident] = &incidents_of(text)[..] else { panic!("one failure") };
    assert_eq!(incident.event.program.id(), "matlab");
    assert!(incident.event.resource.on_device());
}

/// The table of a TPU's memory alone, its head cut off; JAX by the names of its operations.
#[test]
fn a_tpu_table_without_its_head_is_a_failure() {
    let text = "Total hbm usage >= 11.70G:\n    reserved        530.00M\n    program          11.18G\n    arguments            \
                0B\n\nOutput size 0B; shares 0B with arguments.\n\nProgram hbm requirement 11.18G:\n    global             \
                4.0K\n    HLO temp         11.18G\n\n  Largest program allocations in hbm:\n\n  1. Size: 8.95G\n     Operator: \
                op_name=\"jit(conv_general_dilated)/conv_general_dilated\"\n";
    let [incident] = &incidents_of(text)[..] else { panic!("one failure") };
    assert_eq!(incident.event.program.id(), "jax");
    let asked = incident.event.facts.get(Fact::Requested).map(|figure| figure.bytes);
    assert_eq!(asked, Some(12_562_779_341));
    assert!(
        incidents_of(&format!(
            "XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 11.70G of \
                                   8.00G hbm. Exceeded hbm capacity by 3.70G.\n\n{text}"
        ))
        .len()
            == 1
    );
}
