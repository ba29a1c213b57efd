//! Frameworks that many trainers are written for.

use super::{Tool, option};
use crate::domain::Target;
use crate::fix::knob::{Line, said};

const CNTK_BATCH: Line = option("minibatchSize = <half>").note(
    "in the SGD block; in Python minibatch_size, or what next_minibatch() is given",
    "写在 SGD 块；Python 中为 minibatch_size 或 next_minibatch() 的参数",
);

const CAFFE_BATCH: Line = option("batch_size: <half>").note(
    "train.prototxt, data layer of the phase that fails; solver: iter_size (TRAIN) or test_iter (TEST): <twice>",
    "train.prototxt 中失败阶段的数据层；solver：iter_size（TRAIN）或 test_iter（TEST）: <twice>",
);

const CNTK_WORKSPACE: Line = option("maxTempMemSizeInSamples=1").note(
    "of each Convolution(...): bounds cuDNN's workspace, 0 unless set: no bound; Python: max_temp_mem_size_in_samples",
    "每个 Convolution(...) 的参数：限制 cuDNN 工作区，默认 0 为不限；Python 中为 max_temp_mem_size_in_samples",
);

const CNTK_PYTHON_BATCH: Line = option("reader.next_minibatch(<half>, ...)")
    .note("in your script, in the loop that fails: training or test", "写在脚本中失败的循环：训练或测试");

const CNTK_PYTHON_WORKSPACE: Line = option("Convolution(..., max_temp_mem_size_in_samples=1)")
    .note("bounds cuDNN's workspace, 0 unless set: no bound", "限制 cuDNN 工作区，默认 0 为不限");

const CNTK_LACKS: &[&str] = &[
    "arena-growth",
    "raise-runtime-limit",
    "gradient-checkpointing",
    "mixed-precision",
    "weight-quantisation",
    "chunk-the-operation",
];

pub(super) const TOOLS: &[Tool] = &[
    // CNTK from Python, whose frames show: no file of BrainScript holds its minibatch. Seen in microsoft/CNTK's
    // bindings: next_minibatch(minibatch_size_in_samples, ...) of a MinibatchSource, by whose size test_minibatch()
    // runs as well.
    Tool {
        name: "CNTK from Python",
        files: &["/cntk/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", CNTK_PYTHON_BATCH),
            ("less-at-once", CNTK_PYTHON_BATCH),
            ("cudnn-workspace", CNTK_PYTHON_WORKSPACE),
        ],
        lacks: CNTK_LACKS,
    },
    // CNTK. Seen in microsoft/CNTK, Source/Math/GPUMatrix.cu, and its issues 1688, 1009 (256 to 32 ran) and 220:
    // "CUBLAS failure 3: … ; GPU=0 ; hostname=…", bare behind the exception's name. ONNX Runtime, which has the same
    // words, puts its own mark or a path before them. maxTempMemSizeInSamples, 0 unless given, stands in its words on
    // NDL's Convolution. Since its pull request 1516 (2017-02) convolutions share one workspace, of 1 GB at most.
    Tool {
        name: "CNTK",
        files: &[],
        scripts: &[
            "cntk",
            "cntk.exe",
            "RuntimeError: CUBLAS failure ",
            "RuntimeError: cuDNN failure ",
            "About to throw exception 'CUDA failure ",
            "About to throw exception 'CUBLAS failure ",
            "About to throw exception 'cuDNN failure ",
        ],
        clue: None,
        rows: &[
            ("smaller-batch", CNTK_BATCH),
            ("smaller-batch", CNTK_WORKSPACE),
            ("less-at-once", CNTK_BATCH),
            ("less-at-once", CNTK_WORKSPACE),
            ("cudnn-workspace", CNTK_WORKSPACE),
        ],
        lacks: CNTK_LACKS,
    },
    // Caffe and its forks (SSD, SegNet, DSOD). Seen in BVLC/caffe at 9b89154: src/caffe/proto/caffe.proto (batch_size
    // of the data layers; iter_size 1, by which gradients of iter_size × batch_size are summed),
    // docs/tutorial/data.md, tools/caffe.cpp (-gpu). Scripts of SSD write both files anew (batch_size,
    // accum_batch_size). A solver makes the nets for testing before it trains (InitTestNets): their data layers have
    // the phase TEST, and test_iter of their batches are read.
    Tool {
        name: "Caffe",
        files: &[],
        scripts: &["caffe", "caffe.bin", "caffe.exe"],
        clue: None,
        rows: &[
            ("smaller-batch", CAFFE_BATCH),
            ("gradient-accumulation", option("iter_size: <twice>").note("in solver.prototxt", "写在 solver.prototxt")),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a smaller crop_size or new_height and new_width in the data layer",
                    "在数据层中减小 crop_size，或 new_height 与 new_width",
                ),
            ),
            (
                "smaller-eval-batch",
                option("batch_size: <half>")
                    .note("data layer of the phase TEST; test_iter: <twice>", "TEST 阶段的数据层；test_iter: <twice>"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "chunk-the-operation",
            "eight-bit-optimizer",
            "fewer-workers",
        ],
    },
    Tool {
        name: "LightningCLI",
        files: &["/lightning/pytorch/cli.py", "/pytorch_lightning/cli.py", "/pytorch_lightning/utilities/cli.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("mixed-precision", option("--trainer.precision bf16-mixed").unless("before-ampere")),
            ("mixed-precision", option("--trainer.precision 16-mixed").when("before-ampere")),
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "a smaller batch in the section data of the configuration",
                    "配置文件 data 一节中更小的批大小",
                ),
            ),
            (
                "smaller-eval-batch",
                said(
                    Target::Program,
                    "a smaller batch for validation in the section data of the configuration",
                    "配置文件 data 一节中更小的验证批大小",
                ),
            ),
        ],
        lacks: &[],
    },
];
