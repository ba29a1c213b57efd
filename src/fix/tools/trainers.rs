//! What trains by options, a configuration or a window of its own, and scripts of repositories beside it.

use super::{IN_CODE, Tool, option};
use crate::domain::Target;
use crate::fix::knob::{Line, line, said};
use crate::incident::context::Clue;

/// Options that YOLOv3, v5 and v7 share.
const YOLO: &[(&str, Line)] = &[
    ("smaller-batch", option("--batch-size {batch}")),
    ("smaller-images", option("--img-size {shown}").note("and no --multi-scale", "并去掉 --multi-scale")),
    ("smaller-eval-batch", option("--batch-size {tried}")),
    ("fewer-workers", option("--workers {tried}")),
];

/// What fills the GPU are worlds that are simulated, beside a small network.
const NOT_OF_SIMULATORS: &[&str] =
    &["gradient-checkpointing", "mixed-precision", "eight-bit-optimizer", "activation-offload"];

const NOT_OF_YOLO: &[&str] = &[
    "mixed-precision",
    "gradient-checkpointing",
    "eight-bit-optimizer",
    "bf16-states",
    "group-by-length",
    "activation-offload",
];

const YOLO_PLAIN_LOSS: Line = option("loss_ota: 0")
    .note("in the file of --hyp, where compute_loss_ota fails", "写在 --hyp 的文件中，用于 compute_loss_ota 失败时")
    .when("trains");

/// Fewer worlds at once, as a simulator's training scripts name them.
const ENVIRONMENTS: Line =
    option("--num_envs <half>").note("then half again: worlds on the GPU", "再减半：GPU 上的环境数");

/// The same as keys of Hydra's: IsaacGymEnvs', and those of OmniDrones and NavRL.
const WORLDS: Line = option("num_envs=<half>").note("headless=True draws nothing", "headless=True 不渲染画面");
const WORLDS_WITH_OBSTACLES: Line =
    option("env.num_envs=<half>").note("fewer env.num_obstacles too", "并减少 env.num_obstacles");

/// Rays and points that nerf-pytorch works on at once.
const RAYS_AT_ONCE: Line =
    option("--chunk 4096 --netchunk 8192").note("32768 and 65536 unless set", "默认 32768 与 65536");

const DAIN_FRAMES: Line = said(
    Target::Program,
    "smaller frames in --frame_input_dir, or tiles of them with a margin, put together afterwards",
    "缩小 --frame_input_dir 中的帧，或切成带边缘重叠的小块，之后再拼合",
);

const MINDONE_FRAMES: Line =
    option("--num_frames <fewer>").note("and a smaller --image_size: height and width", "并减小 --image_size：高与宽");

const CNTK_BATCH: Line = option("minibatchSize = <half>").note(
    "in the SGD block; in Python minibatch_size, or what next_minibatch() is given",
    "写在 SGD 块；Python 中为 minibatch_size 或 next_minibatch() 的参数",
);

const FAIRSEQ_LUA_BATCH: Line = option("-maxbatch <tokens> -batchsize <half>")
    .note("tokens on each GPU; 32 sentences unless set", "每个 GPU 的 token 数；默认 32 句");

const CAFFE_BATCH: Line = option("batch_size: <half>").note(
    "train.prototxt, data layer of the phase that fails; solver: iter_size (TRAIN) or test_iter (TEST): <twice>",
    "train.prototxt 中失败阶段的数据层；solver：iter_size（TRAIN）或 test_iter（TEST）: <twice>",
);

/// Pictures of a detector's evaluation are as large as they come, and one at a time.
const PADDLEOCR_SIDE: Line = option("DetResizeForTest: {limit_side_len: 960, limit_type: max}").note(
    "detection, whose batch must be 1: in Eval.dataset.transforms of the .yml",
    "检测模型的批大小只能为 1：写在 .yml 的 Eval.dataset.transforms",
);

const RECBOLE_FILTER: Line = option("--user_inter_num_interval=\"[10,inf)\" --item_inter_num_interval=\"[10,inf)\"")
    .note("every user and item unless set: the matrix has all of both", "默认保留全部用户与物品：矩阵含两者全部");

const NEMO_DIARIZER_PARTS: Line = said(
    Target::Program,
    "a recording cut into parts of an hour; fewer scales in diarizer.speaker_embeddings.parameters",
    "把录音切成每段一小时；在 diarizer.speaker_embeddings.parameters 中减少尺度",
);

const NEMO_DIARIZER_CHUNKS: Line = option("diarizer.clustering.parameters.embeddings_per_chunk=5000")
    .note("10000 unless set; releases since the end of 2023", "默认 10000；2023 年底之后的版本");

const DGLKE_WITHOUT_TEST: Line = said(
    Target::Program,
    "dglke_train without --test and --valid, which make a second graph of all triples; dglke_eval afterwards",
    "dglke_train 去掉 --test 与 --valid（它们会为全部三元组再建一张图），之后用 dglke_eval",
);

const ML_AGENTS_BUFFER: Line = option("buffer_size: <smaller>").note(
    "trainer's configuration; smaller visual observations, fewer agents",
    "训练配置文件；缩小视觉观测，减少智能体",
);

const SOCKEYE_LENGTH: Line = option("--max-seq-len <fewer>")
    .note("longer pairs are left out; then a smaller --batch-size", "更长的句对被略去；之后再减小 --batch-size");

const SOCKEYE_BATCH: Line = option("--batch-size <half>").note(
    "words with --batch-type word: no fewer than --max-seq-len",
    "--batch-type word 时以词计：不得少于 --max-seq-len",
);

const NMT_INFERENCE: Line = option("--infer_batch_size=<half>").note("32 unless set", "默认 32");

const DEEPSPEECH_TORCH_VALIDATION: Line =
    option("-validationBatchSize <half>").note("20 unless set: behind each epoch", "默认 20：每个 epoch 之后");

const SOFTMAX_BATCH: Line = said(
    Target::Program,
    "insightface: --per-batch-size <half>, 128 for each GPU unless set; facenet: --batch_size <half>, 90 unless set",
    "insightface：--per-batch-size <half>，默认每个 GPU 128；facenet：--batch_size <half>，默认 90",
);

const YOLACT_BATCH: Line = option("--batch_size=<half>").note("of train.py, 8 unless set", "train.py 的选项，默认 8");

/// Pictures that PaddleOCR 2 predicts.
const PADDLEOCR_PICTURES: Line =
    option("--det_limit_side_len 640 --det_limit_type max").note("960 unless set", "默认 960");

const JEREX_TRAINING: Line =
    option("training.max_spans=<fewer> training.max_coref_pairs=<fewer> training.max_rel_pairs=<fewer>")
        .note("worked on at once; results are the same", "每次处理的数量；结果不变");

const JEREX_INFERENCE: Line =
    option("inference.max_spans=<fewer> inference.max_coref_pairs=<fewer> inference.max_rel_pairs=<fewer>").note(
        "validation and test; while it trains the same of training.; then sampling.max_span_size=<fewer>",
        "验证与测试；训练时用 training. 的同名项；再减小 sampling.max_span_size=<fewer>",
    );

const XLM_MODEL: Line = said(
    Target::Program,
    "a smaller model: --emb_dim <fewer> --n_layers <fewer>, or --max_vocab <fewer> where the vocabulary is large",
    "更小的模型：--emb_dim <fewer> --n_layers <fewer>；词表很大时用 --max_vocab <fewer>",
);

const COGVIDEO_CONTROLNET_FRAMES: Line = option("--max_num_frames 25")
    .note("49 unless set; then a smaller --height and --width", "默认 49；再减小 --height 与 --width");

/// What is tested is whole pictures, however small the batch of patches in training.
const RESMATCH_TEST: Line = option("th main.lua ... -a test -mcnet <checkpoint>")
    .note("the test in a run of its own; smaller pictures after that", "单独运行测试；之后再缩小图片");

const MX_RCNN_SCALES: Line = option("config.SCALES = [(400, 667)]").note(
    "rcnn/config.py: shorter and longer side, (600, 1000) unless set",
    "rcnn/config.py：短边与长边，默认 (600, 1000)",
);

const VOCAL_REMOVER_BATCH: Line = option("--batchsize <half>")
    .note("4 unless set; then --cropsize 128 of 256", "默认 4；再试 --cropsize 128（默认 256）");

const NERFSTUDIO_RAYS: Line = option("--pipeline.datamanager.train-num-rays-per-batch 2048").note(
    "4096 unless set; instant-ngp: --pipeline.target-num-samples 131072",
    "默认 4096；instant-ngp 用 --pipeline.target-num-samples 131072",
);

/// Where the program shows by its message alone, and whether it trains does not.
const AUGMENTER_PROCESSES: Line = line(Target::Shell, "export nnUNet_n_proc_DA=2").note(
    "of nnU-Net, 12 unless set; else num_processes=2 of MultiThreadedAugmenter",
    "nnU-Net 的变量，默认 12；否则为 MultiThreadedAugmenter 的 num_processes=2",
);

const DEEPRL_REPLAY: Line = option("Replay(memory_size=int(1e5), batch_size=32, dtype=np.uint8)").note(
    "in the config of main.py: it keeps two copies of so many states",
    "写在 main.py 的 config：它会建立两个这么多状态的数组",
);

const OBJECT_DETECTION_BATCH: Line =
    option("batch_size: {total}").note("train_config in pipeline.config", "pipeline.config 的 train_config");

const OBJECT_DETECTION_SIDES: Line = said(
    Target::Program,
    "image_resizer in pipeline.config: smaller dimensions (max_dimension, or height and width)",
    "pipeline.config 的 image_resizer：减小尺寸（max_dimension，或 height 和 width）",
);

const OBJECT_DETECTION_FROZEN: Line = option("freeze_variables: \"<pattern>\"")
    .note("train_config in pipeline.config", "pipeline.config 的 train_config");

const OBJECT_DETECTION_READERS: Line = option("num_readers: {tried}")
    .note("train_input_reader in pipeline.config", "pipeline.config 的 train_input_reader");

const OBJECT_DETECTION_QUEUES: Line = said(
    Target::Program,
    "train_config in pipeline.config: batch_queue_capacity: 8, prefetch_queue_capacity: 2; train_input_reader: \
     queue_capacity: 100, min_after_dequeue: 50; pictures made smaller beforehand",
    "pipeline.config 的 train_config：batch_queue_capacity: 8、prefetch_queue_capacity: 2；train_input_reader：\
     queue_capacity: 100、min_after_dequeue: 50；并预先缩小图片",
);

/// No option for it stands in its protocols; losses of a session are numbers.
const NOT_OF_OBJECT_DETECTION: &[&str] = &[
    "smaller-eval-batch",
    "mixed-precision",
    "gradient-accumulation",
    "gradient-checkpointing",
    "eight-bit-optimizer",
    "activation-offload",
    "chunk-the-operation",
    "no-grad-in-eval",
    "detach-logged-tensors",
];

const DARKNET_PICTURES: Line = said(
    Target::Program,
    "in the .cfg: subdivisions=64 in [net] to train, random=0 in [yolo]; then a smaller width and height",
    "在 .cfg 中：训练时 [net] 的 subdivisions=64、[yolo] 的 random=0；再减小 width 与 height",
);

/// The same as walk-these-ways' scripts/train.py sets it.
const WORLDS_IN_CFG: Line = option("Cfg.env.num_envs = <half>")
    .note("in scripts/train.py; 4000 unless set, for some 12 GB", "写在 scripts/train.py；默认 4000，约需 12 GB 显存");

const WORLDS_OF_PHYSX: Line = said(
    Target::Program,
    "fewer parallel environments: num_envs of the command or of the task's configuration; then there a smaller \
     max_gpu_contact_pairs of physx",
    "减少并行环境：命令或任务配置中的 num_envs；再减小配置中 physx 的 max_gpu_contact_pairs",
);

const DET3D_BATCH: Line = option("samples_per_gpu=<half>").note(
    "in data=dict(...) of the configuration; then a smaller max_voxel_num in its voxel_generator",
    "写在配置的 data=dict(...)；再减小 voxel_generator 的 max_voxel_num",
);

const CNTK_WORKSPACE: Line = option("maxTempMemSizeInSamples=1").note(
    "of each Convolution(...): bounds cuDNN's workspace, 0 unless set: no bound; Python: max_temp_mem_size_in_samples",
    "每个 Convolution(...) 的参数：限制 cuDNN 工作区，默认 0 为不限；Python 中为 max_temp_mem_size_in_samples",
);

const RCNN_DEMO_NET: Line = option("--net zf").note("vgg16 unless set; or --cpu", "默认 vgg16；或 --cpu");

const RCNN_DEMO_SCALE: Line = option("__C.TEST.SCALES = (400,)").note(
    "lib/fast_rcnn/config.py: shorter side, 600 unless set; __C.TEST.MAX_SIZE = 667 of 1000",
    "lib/fast_rcnn/config.py：短边，默认 600；__C.TEST.MAX_SIZE = 667，默认 1000",
);

const DEEPSPEED_CHAT_DATA: Line = said(
    Target::Program,
    "fewer data sets in --data_path, or a node with more RAM: each process reads all of them before it trains",
    "减少 --data_path 中的数据集，或换内存更大的节点：每个进程训练前会读入全部数据",
);

const NEURAL_STYLE_ADAM: Line = option("-optimizer adam").note(
    "lbfgs unless set, which keeps more; -backend cudnn; then a smaller -image_size",
    "默认 lbfgs，占用更多；-backend cudnn；再减小 -image_size",
);

pub(super) const TOOLS: &[Tool] = &[
    // JEREX. Seen in lavis-nlp/jerex, README.md at 06a4568 (max_spans, max_coref_pairs and max_rel_pairs of training
    // and of inference bound what is worked on at once) and configs.py at 2b47a8c
    // (sampling.max_span_size 10, sampling_processes 4, misc.precision 32). What fails is one array of all pairs.
    Tool {
        name: "JEREX",
        files: &["/jerex/jerex/", "/jerex_train.py", "/jerex_test.py"],
        scripts: &["jerex_train.py", "jerex_test.py"],
        clue: None,
        rows: &[
            ("smaller-batch", JEREX_TRAINING.when("trains")),
            ("smaller-batch", JEREX_INFERENCE.unless("trains")),
            ("smaller-eval-batch", JEREX_INFERENCE),
            ("less-at-once", JEREX_INFERENCE),
            ("fix-the-shape", JEREX_INFERENCE),
            ("chunk-the-operation", JEREX_INFERENCE),
            ("mixed-precision", option("misc.precision=16")),
            ("fewer-workers", option("sampling.sampling_processes=0").note("4 unless set", "默认 4")),
        ],
        lacks: &[
            "read-less-at-once",
            "no-python-lists-in-dataset",
            "gradient-checkpointing",
            "activation-offload",
            "smaller-images",
        ],
    },
    // XLM. Seen in facebookresearch/XLM, train.py at 0e1bde1 (--optimizer adam,lr=0.0001, a string; --batch_size 32,
    // --tokens_per_batch, --bptt 256, --max_len 100, --emb_dim 512, --n_layers 4, --max_vocab, --fp16, --amp) and
    // xlm/optim.py at cccf13b: its Adam makes both states when it is made, before any step; sgd and adagrad are
    // PyTorch's. Up to 2019 its package lay in src.
    Tool {
        name: "XLM",
        files: &["/xlm/src/", "/xlm/xlm/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("less-at-once", XLM_MODEL),
            ("freeze-layers", XLM_MODEL),
            (
                "lighter-optimizer",
                said(
                    Target::Program,
                    "an optimizer without Adam's two states: --optimizer sgd,lr=<smaller>",
                    "不带 Adam 两份状态的优化器：--optimizer sgd,lr=<smaller>",
                ),
            ),
            (
                "smaller-batch",
                option("--batch_size <half>").note(
                    "32 unless set; --tokens_per_batch <half> where it is given",
                    "默认 32；若给了 --tokens_per_batch 则改为 <half>",
                ),
            ),
            (
                "shorter-sequences",
                option("--bptt 128").note("256 unless set; --max_len 50 of 100", "默认 256；--max_len 50（默认 100）"),
            ),
            ("mixed-precision", option("--amp 1 --fp16 true").note("needs apex", "需要 apex")),
            ("gradient-accumulation", option("--accumulate_gradients {steps}")),
        ],
        lacks: &[
            "eight-bit-optimizer",
            "gradient-checkpointing",
            "activation-offload",
            "chunk-the-operation",
            "fused-attention",
            "fused-optimizer",
            "bf16-states",
            "smaller-images",
        ],
    },
    // LCNN, which finds wireframes. Seen in zhou13/lcnn at 175fb79: config/wireframe.yaml (batch_size 6,
    // batch_size_eval 2, n_out_junc 250, num_workers 4), lcnn/trainer.py (no_grad in force) and
    // lcnn/models/line_vectorizer.py: in an evaluation lines between all of n_out_junc points are sampled.
    Tool {
        name: "LCNN",
        files: &["/lcnn/lcnn/", "/lcnn/models/line_vectorizer.py"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-eval-batch",
                option("batch_size_eval: 1").note(
                    "section model of the .yaml; 2 unless set; then a smaller n_dyn_junc",
                    ".yaml 的 model 一节，默认 2；再减小 n_dyn_junc",
                ),
            ),
            (
                "smaller-batch",
                option("batch_size: <half>")
                    .note("section model of the .yaml; 6 unless set", ".yaml 的 model 一节，默认 6")
                    .when("trains"),
            ),
            (
                "smaller-batch",
                option("batch_size_eval: 1").note("section model of the .yaml", ".yaml 的 model 一节").unless("trains"),
            ),
            ("fewer-workers", option("num_workers: <fewer>").note("section io of the .yaml", ".yaml 的 io 一节")),
        ],
        lacks: &[
            "no-grad-in-eval",
            "mixed-precision",
            "gradient-checkpointing",
            "activation-offload",
            "chunk-the-operation",
            "smaller-images",
        ],
    },
    // TheDenk's training of control networks for CogVideoX, whose script has the name of diffusers' own. Seen in
    // TheDenk/cogvideox-controlnet, training/train_controlnet.py and finetune_single_rank.sh at 784f9c0:
    // --max_num_frames 49, --train_batch_size 4, --controlnet_transformer_num_layers 2 (8 in that command, which gives
    // --mixed_precision bf16 and --gradient_checkpointing too), --use_8bit_adam with AdamW alone.
    Tool {
        name: "CogVideoX-ControlNet",
        files: &["/training/train_controlnet.py"],
        scripts: &["--controlnet_transformer_num_layers"],
        clue: None,
        rows: &[
            ("less-at-once", COGVIDEO_CONTROLNET_FRAMES),
            ("smaller-images", COGVIDEO_CONTROLNET_FRAMES),
            (
                "smaller-batch",
                option("--train_batch_size 1")
                    .note("4 unless set; then --max_num_frames 25", "默认 4；再试 --max_num_frames 25"),
            ),
            ("gradient-checkpointing", option("--gradient_checkpointing")),
            (
                "eight-bit-optimizer",
                option("--use_8bit_adam").note("beside --optimizer AdamW", "与 --optimizer AdamW 同用"),
            ),
            ("vae-tiling", option("--enable_tiling").note("and --enable_slicing", "并加 --enable_slicing")),
            (
                "freeze-layers",
                option("--controlnet_transformer_num_layers 2").note("8 in its own command", "其示例命令为 8"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "activation-offload",
            "chunk-the-operation",
            "detach-logged-tensors",
            "fused-attention",
            "fewer-workers",
        ],
    },
    // ResMatch, on Torch7. Seen in amitshaked/resmatch, src/opts.lua at cb71b47 (-a train_mcn, test and others; -mcnet
    // a trained network; -batch_size 128; -after 14: every epoch behind it is tested, by whole pictures). Its issues 10
    // and 13: the test fails where training ran.
    Tool {
        name: "ResMatch",
        files: &["/networks/modules/spatialconvolution1_fw.lua"],
        scripts: &["-mcnet", "-dispnet"],
        clue: None,
        rows: &[
            ("smaller-batch", RESMATCH_TEST),
            ("smaller-batch", option("-batch_size <half>").note("128 unless set: training alone", "默认 128：仅训练")),
            ("smaller-eval-batch", RESMATCH_TEST),
            ("less-at-once", RESMATCH_TEST),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "smaller pictures to test by: each goes through the network as a whole",
                    "缩小测试图片：每张都整幅通过网络",
                ),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "gradient-accumulation",
            "activation-offload",
            "chunk-the-operation",
            "no-grad-in-eval",
            "weight-quantisation",
            "weight-offload",
        ],
    },
    // mx-rcnn, Faster R-CNN for MXNet. Seen in ijkguo/mx-rcnn, rcnn/config.py at 21eca86 (SCALES of shorter and longer
    // side; BATCH_IMAGES is 1 for end-to-end training already). Its script prints its Namespace and the configuration.
    Tool {
        name: "mx-rcnn",
        files: &["/rcnn/core/loader.py", "/rcnn/core/module.py", "/rcnn/symbol/symbol_vgg.py"],
        scripts: &["train_end2end.py", "train_alternate.py"],
        clue: None,
        rows: &[
            ("smaller-images", MX_RCNN_SCALES),
            ("less-at-once", MX_RCNN_SCALES),
            ("smaller-batch", MX_RCNN_SCALES),
            ("smaller-eval-batch", MX_RCNN_SCALES),
        ],
        lacks: &[
            "weight-offload",
            "weight-quantisation",
            "mixed-precision",
            "gradient-checkpointing",
            "activation-offload",
            "chunk-the-operation",
            "no-grad-in-eval",
        ],
    },
    // vocal-remover. Seen in tsurumeso/vocal-remover, train.py of June 2020 and at 00eca5c (--batchsize 4, --cropsize
    // 256; their short forms -c and -C changed places) and README.md of 2020, whose folders tell it: its script has a
    // name like any.
    Tool {
        name: "vocal-remover",
        files: &[],
        scripts: &["-m dataset/mixtures", "--val_cropsize"],
        clue: None,
        rows: &[
            ("smaller-batch", VOCAL_REMOVER_BATCH),
            ("less-at-once", VOCAL_REMOVER_BATCH),
            ("smaller-eval-batch", option("--val_batchsize <half>").note("4 or 6 unless set", "默认 4 或 6")),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "activation-offload",
            "chunk-the-operation",
            "no-grad-in-eval",
            "smaller-images",
        ],
    },
    // YOLOv3 of ultralytics before it took YOLOv5's form in November 2020: models.py lay beside train.py. Seen in
    // ultralytics/yolov3: --num-workers from 20beee0 (2019-03-21) to 1c0d408 (2019-08-15), afterwards nw in train.py,
    // at most 8; --batch-size, --img-size, --multi-scale throughout.
    Tool {
        name: "YOLOv3 of 2019 and 2020",
        files: &["/yolov3/models.py", "/yolov3-master/models.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch-size {batch}")),
            ("smaller-images", option("--img-size {shown}").note("and no --multi-scale", "并去掉 --multi-scale")),
            ("smaller-eval-batch", option("--batch-size {tried}")),
            (
                "fewer-workers",
                option("--num-workers 2").note(
                    "from March to August 2019; later nw in train.py",
                    "2019 年 3 月至 8 月；之后为 train.py 中的 nw",
                ),
            ),
        ],
        lacks: NOT_OF_YOLO,
    },
    // RecBole. Seen in RUCAIBox/RecBole's settings of data (user_inter_num_interval and item_inter_num_interval,
    // "[0,inf)" unless set; its run_recbole.py takes every key as --key=value) and in runs with the keys of its
    // options. General models make matrices of all users by all items: its data are what makes them smaller.
    Tool {
        name: "RecBole",
        files: &["/recbole/"],
        scripts: &["run_recbole.py", "run_hyper.py"],
        clue: None,
        rows: &[
            ("read-less-at-once", RECBOLE_FILTER),
            ("less-at-once", RECBOLE_FILTER),
            ("fix-the-shape", RECBOLE_FILTER),
            ("smaller-batch", option("--train_batch_size=<half>").note("2048 unless set", "默认 2048").when("trains")),
            ("smaller-eval-batch", option("--eval_batch_size=<half>").note("4096 unless set", "默认 4096")),
        ],
        lacks: &[
            "chunk-the-operation",
            "gradient-checkpointing",
            "activation-offload",
            "smaller-images",
            "no-python-lists-in-dataset",
        ],
    },
    // NeMo's diarisation by clusters. Seen in NVIDIA-NeMo/Speech, its issues 5637 (a recording of 4 hours in parts
    // fits), 7912 and 8235 (the similarities of all segments of a scale are kept in host memory; 500 for
    // embeddings_per_chunk did not help where the scales are six) and its pull request 7737 (embeddings_per_chunk,
    // chunk_cluster_count). It stands before what trains recognition.
    Tool {
        name: "NeMo's diarizer",
        files: &["/clustering_diarizer.py", "/longform_clustering.py", "/offline_clustering.py"],
        scripts: &["offline_diar_infer.py", "offline_diar_with_asr_infer.py", "clustering_diarizer"],
        clue: None,
        rows: &[
            ("read-less-at-once", NEMO_DIARIZER_PARTS),
            ("read-less-at-once", NEMO_DIARIZER_CHUNKS),
            ("less-at-once", NEMO_DIARIZER_PARTS),
            ("less-at-once", NEMO_DIARIZER_CHUNKS),
            ("shorter-sequences", NEMO_DIARIZER_PARTS),
            ("raise-host-limit", NEMO_DIARIZER_PARTS),
        ],
        lacks: &["gradient-checkpointing", "mixed-precision", "smaller-images", "chunk-the-operation"],
    },
    // DGL-KE. Seen in awslabs/dgl-ke, python/dglke/train.py at 0f1dd44 (--gpu with several: as many processes;
    // EvalDataset is made for --valid and --test alone, and the data are kept until the model is made),
    // python/dglke/utils.py at 066288d (--batch_size 1024, --neg_sample_size 256, --batch_size_eval 8, --num_proc,
    // --hidden_dim 400) and its page on dglke_dist_train.
    Tool {
        name: "DGL-KE",
        files: &["/dglke/"],
        scripts: &["dglke_train"],
        clue: None,
        rows: &[
            ("raise-host-limit", DGLKE_WITHOUT_TEST),
            (
                "raise-host-limit",
                said(
                    Target::Program,
                    "fewer GPUs at --gpu, each of which has a process; or dglke_dist_train over several machines",
                    "--gpu 给更少的 GPU（每个 GPU 一个进程）；或用 dglke_dist_train 分到多台机器",
                ),
            ),
            ("read-less-at-once", DGLKE_WITHOUT_TEST),
            ("fewer-at-once", option("--gpu 0 --num_proc 1").note("a process for each GPU", "每个 GPU 一个进程")),
            (
                "smaller-batch",
                option("--batch_size <half> --neg_sample_size <half>")
                    .note("1024 and 256 unless set", "默认 1024 与 256")
                    .when("trains"),
            ),
            ("smaller-eval-batch", option("--batch_size_eval 8").note("then 1", "再试 1")),
            ("weight-offload", option("--mix_cpu_gpu").note("embeddings lie in host memory", "嵌入放在主机内存")),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "chunk-the-operation", "smaller-images"],
    },
    // ML-Agents. Seen in Unity-Technologies/ml-agents, docs/Training-Configuration-File.md (buffer_size 10240 for
    // PPO: steps that are kept before a model is updated; 50000 and more for SAC). Of the releases of 2018 and 2019
    // the same key stands in trainer_config.yaml. Observations are kept as arrays of NumPy until then.
    Tool {
        name: "ML-Agents",
        files: &["/mlagents/trainers/"],
        scripts: &["mlagents-learn"],
        clue: None,
        rows: &[
            ("raise-host-limit", ML_AGENTS_BUFFER),
            ("read-less-at-once", ML_AGENTS_BUFFER),
            ("less-at-once", ML_AGENTS_BUFFER),
            ("fewer-at-once", option("--num-envs <fewer>").note("of mlagents-learn", "mlagents-learn 的选项")),
            ("smaller-batch", option("batch_size: <half>").note("trainer's configuration", "训练配置文件")),
        ],
        lacks: &[
            "gradient-checkpointing",
            "mixed-precision",
            "chunk-the-operation",
            "no-python-lists-in-dataset",
            "fewer-workers",
        ],
    },
    // Sockeye, on MXNet (1 and 2) and PyTorch (3). Seen in awslabs/sockeye, sockeye/arguments.py at 0070e6d
    // (--max-seq-len 99:99, --batch-size 4096, --batch-type word) and sockeye/data_io.py (a batch of words smaller than
    // the longest bucket is refused: "Word batch size must cover sequence lengths for all buckets"). No checkpoints.
    Tool {
        name: "Sockeye",
        files: &["/sockeye/", "/sockeye_contrib/"],
        scripts: &["sockeye-train", "sockeye-translate", "sockeye.train", "sockeye.translate", "sockeye"],
        clue: None,
        rows: &[
            ("smaller-batch", SOCKEYE_BATCH),
            ("smaller-batch", SOCKEYE_LENGTH),
            ("less-at-once", SOCKEYE_LENGTH),
            ("shorter-sequences", SOCKEYE_LENGTH),
        ],
        lacks: &[
            "gradient-checkpointing",
            "chunk-the-operation",
            "activation-offload",
            "smaller-images",
            "eight-bit-optimizer",
        ],
    },
    // TensorFlow's NMT of 2017. Seen in tensorflow/nmt, nmt/nmt.py and README.md (--infer_batch_size 32, --batch_size
    // 128, --src_max_len and --tgt_max_len 50 of training, --src_max_len_infer). Its own line: "decoding to output".
    Tool {
        name: "TensorFlow's NMT",
        files: &["/nmt/nmt.py", "/nmt/inference.py", "/nmt/train.py", "/nmt/utils/nmt_utils.py"],
        scripts: &["nmt.nmt", "--infer_batch_size"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch_size=<half>").note("128 unless set", "默认 128").when("trains")),
            ("smaller-batch", NMT_INFERENCE),
            ("smaller-eval-batch", NMT_INFERENCE),
            ("less-at-once", NMT_INFERENCE),
            (
                "shorter-sequences",
                option("--src_max_len=<fewer> --tgt_max_len=<fewer>").note("50 unless set", "默认 50").when("trains"),
            ),
        ],
        lacks: &[
            "gradient-checkpointing",
            "mixed-precision",
            "chunk-the-operation",
            "activation-offload",
            "smaller-images",
            "no-grad-in-eval",
        ],
    },
    // DeepSpeech on Torch7. Seen in SeanNaren/deepspeech.torch, Train.lua at 0a5da4e (-batchSize 20,
    // -validationBatchSize 20, -hiddenSize 1760): behind each epoch the validation set is run in its own batches.
    // These options no other program has; its script's name many have. A -batchSize that the command gives is halved
    // before these lines are asked.
    Tool {
        name: "deepspeech.torch",
        files: &[],
        scripts: &["-validationSetLMDBPath", "-trainingSetLMDBPath"],
        clue: None,
        rows: &[
            ("smaller-batch", DEEPSPEECH_TORCH_VALIDATION),
            ("smaller-batch", option("-batchSize <half>").note("20 unless set: training", "默认 20：训练")),
            ("smaller-eval-batch", DEEPSPEECH_TORCH_VALIDATION),
            ("less-at-once", DEEPSPEECH_TORCH_VALIDATION),
        ],
        lacks: &[
            "gradient-accumulation",
            "gradient-checkpointing",
            "mixed-precision",
            "chunk-the-operation",
            "fused-attention",
            "activation-offload",
            "eight-bit-optimizer",
        ],
    },
    // Two train_softmax.py: insightface's for MXNet (deepinsight/insightface of 2018: --per-batch-size 128 "in each
    // context", a GPU) and facenet's for TensorFlow 1 (davidsandberg/facenet, src/train_softmax.py at 000bf73:
    // --batch_size 90, --image_size 160, --lfw_batch_size 100). The name does not tell them apart.
    Tool {
        name: "insightface's or facenet's train_softmax.py",
        files: &["/train_softmax.py"],
        scripts: &["train_softmax.py"],
        clue: None,
        rows: &[("smaller-batch", SOFTMAX_BATCH), ("less-at-once", SOFTMAX_BATCH)],
        lacks: &[
            "gradient-checkpointing",
            "gradient-accumulation",
            "mixed-precision",
            "chunk-the-operation",
            "activation-offload",
            "eight-bit-optimizer",
        ],
    },
    // verl and what was made of it (Search-R1), by keys that its overrides alone have. Seen in
    // PeterGriffinJin/Search-R1, train_ppo.sh (all offloads true) and verl/trainer/config/ppo_trainer.yaml (false
    // unless set): what they move lies in the host's memory. Actors of Ray are made by verl/trainer/main_ppo.py.
    Tool {
        name: "verl",
        files: &[],
        scripts: &["data.max_prompt_length", "data.max_response_length"],
        clue: None,
        rows: &[
            (
                "raise-host-limit",
                option(
                    "actor_rollout_ref.actor.fsdp_config.param_offload=false \
                     actor_rollout_ref.actor.fsdp_config.optimizer_offload=false",
                )
                .note(
                    "where they are true and the GPUs have room; grad_offload, ref and critic likewise",
                    "若为 true 且显存有余；grad_offload、ref 与 critic 同样",
                ),
            ),
            (
                "raise-host-limit",
                option("data.train_batch_size=<half> data.val_batch_size=<half>")
                    .note("or nodes with more RAM", "或内存更大的节点"),
            ),
        ],
        lacks: &["fewer-at-once"],
    },
    // kraken's ketos. Seen in mittagessen/kraken: kraken/ketos/segmentation.py (4.2.0 and 5.2.9: --workers 1 unless
    // set), kraken/ketos/__init__.py and kraken/configs/base.py of 7 (an option of ketos, before the command). By its
    // issue 423 segtrain of 4.2 grows, which 4.3.0 mends (34cac17, 911fcac).
    Tool {
        name: "kraken's ketos",
        files: &["/kraken/ketos/"],
        scripts: &["ketos"],
        clue: None,
        rows: &[
            (
                "fewer-workers",
                option("ketos segtrain --workers 0 ...").note(
                    "or train; from 7 on: ketos --workers 0 segtrain ...",
                    "或 train；7 起：ketos --workers 0 segtrain ...",
                ),
            ),
            (
                "find-the-leak",
                line(Target::Shell, "pip install -U kraken")
                    .note("4.3.0 and later: segtrain of 4.2 grew", "4.3.0 起：4.2 的 segtrain 会不断增长"),
            ),
        ],
        lacks: &["no-python-lists-in-dataset", "read-less-at-once", "gradient-checkpointing", "chunk-the-operation"],
    },
    // CNTK. Seen in microsoft/CNTK, Source/Math/GPUMatrix.cu, and its issues 1688, 1009 (256 to 32 ran) and 220:
    // "CUBLAS failure 3: … ; GPU=0 ; hostname=…", bare behind the exception's name. ONNX Runtime, which has the same
    // words, puts its own mark or a path before them. maxTempMemSizeInSamples, 0 unless given, stands in its words on
    // NDL's Convolution. Since its pull request 1516 (2017-02) convolutions share one workspace, of 1 GB at most.
    Tool {
        name: "CNTK",
        files: &["/cntk/"],
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
        lacks: &[
            "arena-growth",
            "raise-runtime-limit",
            "gradient-checkpointing",
            "mixed-precision",
            "weight-quantisation",
            "chunk-the-operation",
        ],
    },
    // fairseq on Torch7. Seen in facebookresearch/fairseq-lua, train.lua (-maxbatch 0: tokens, no limit; -batchsize 32;
    // -maxsourcelen), and its issues 41, 43 and 115. Of fairseq for PyTorch it has none of the options.
    Tool {
        name: "fairseq on Torch7",
        files: &["/lua/5.1/fairseq/", "/fairseq-lua/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", FAIRSEQ_LUA_BATCH),
            ("less-at-once", FAIRSEQ_LUA_BATCH),
            ("shorter-sequences", option("-maxsourcelen <fewer>").note("tokens of a sentence", "一句的 token 数")),
        ],
        lacks: &[
            "smaller-eval-batch",
            "gradient-accumulation",
            "gradient-checkpointing",
            "mixed-precision",
            "bf16-states",
            "lighter-optimizer",
            "eight-bit-optimizer",
            "chunk-the-operation",
        ],
    },
    // fairseq for PyTorch until the spring of 2018, whose train.py calls singleprocess_train.py. Seen in
    // facebookresearch/fairseq, fairseq/options.py at 60c4081 (--max-tokens 6000, --max-sentences); --update-freq came
    // with 2d27ae0 (2018-04), and 16 bit after it.
    Tool {
        name: "fairseq of early 2018",
        files: &["/singleprocess_train.py"],
        scripts: &["singleprocess_train.py"],
        clue: None,
        rows: &[(
            "smaller-batch",
            option("--max-tokens <half>")
                .note("6000 unless set; or --max-sentences <half>", "默认 6000；或 --max-sentences <half>"),
        )],
        lacks: &[
            "gradient-accumulation",
            "gradient-checkpointing",
            "mixed-precision",
            "bf16-states",
            "lighter-optimizer",
            "eight-bit-optimizer",
            "smaller-images",
            "chunk-the-operation",
            "fused-attention",
            "activation-offload",
        ],
    },
    // MindSpore's Open-Sora Seen in mindspore-lab/mindone,
    // examples/opensora_hpcai/scripts/inference.py at 019fb6b: image_size, num_frames 16, batch_size 4,
    // enable_flash_attention False, dtype and vae_dtype fp32, vae_micro_batch_size None, use_vae_decode True (else
    // infer_vae_decode.py decodes what was saved). That fewer frames or sequence parallel fit: its issue 820.
    Tool {
        name: "MindONE's Open-Sora",
        files: &["/opensora_hpcai/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-images", MINDONE_FRAMES),
            ("smaller-batch", option("--batch_size 1").note("4 unless set", "默认 4").unless("trains")),
            ("smaller-batch", option("--batch_size {batch}").when("trains")),
            ("fix-the-shape", MINDONE_FRAMES),
            ("less-at-once", option("--num_frames <fewer> --image_size <smaller>").note("height and width", "高与宽")),
            (
                "chunk-the-operation",
                option("--enable_flash_attention True --vae_micro_batch_size 1")
                    .note("both off unless set", "两者默认关闭"),
            ),
            ("fused-attention", option("--enable_flash_attention True")),
            ("mixed-precision", option("--dtype bf16 --vae_dtype bf16").note("fp32 unless set", "默认 fp32")),
            (
                "vae-tiling",
                option("--use_vae_decode False")
                    .note("then scripts/infer_vae_decode.py", "之后运行 scripts/infer_vae_decode.py"),
            ),
        ],
        lacks: &["weight-quantisation", "eight-bit-optimizer", "no-grad-in-eval"],
    },
    // DAIN. Seen in baowenbo/DAIN at 7c727ac (2023-02): my_args.py and colab_interpolate.py, which turns gradients off
    // and has no option for a frame's size, tiles or 16 bit: --batch_size is of training. By its issue 92 and its pull
    // request 76 frames in tiles with a margin fit.
    Tool {
        name: "DAIN",
        files: &["/networks/dain.py", "/networks/dain_slowmotion.py", "/colab_interpolate.py"],
        scripts: &["colab_interpolate.py", "demo_MiddleBury.py", "demo_MiddleBury_slowmotion.py"],
        clue: None,
        rows: &[("smaller-images", DAIN_FRAMES), ("less-at-once", DAIN_FRAMES), ("chunk-the-operation", DAIN_FRAMES)],
        lacks: &["fix-the-shape", "mixed-precision", "smaller-batch", "no-grad-in-eval", "more-devices"],
    },
    // train.py, val.py (test.py) and detect.py of all three name these options so; YOLOv5 and v7 train in 16 bit.
    Tool {
        name: "YOLOv3 or YOLOv5",
        files: &["/yolov5/", "/yolov3/", "/yolov5-master/", "/yolov3-master/"],
        scripts: &[
            "--weights yolov5n.pt",
            "--weights yolov5s.pt",
            "--weights yolov5m.pt",
            "--weights yolov5l.pt",
            "--weights yolov5x.pt",
        ],
        clue: None,
        rows: YOLO,
        lacks: NOT_OF_YOLO,
    },
    // YOLOv7 at a207844 (2023-11): train.py (--cache-images, off unless set) and data/hyp.scratch.*.yaml: loss_ota 1
    // assigns targets by a cost matrix of all targets and candidates; 0 is the plain loss (train.py only: train_aux.py
    // always assigns so). Its author names it where this assignment does not fit (issues 445 and 575).
    Tool {
        name: "YOLOv7",
        files: &["/yolov7/", "/yolov7-main/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch-size {batch}")),
            ("smaller-batch", YOLO_PLAIN_LOSS),
            ("chunk-the-operation", YOLO_PLAIN_LOSS),
            ("smaller-images", option("--img-size {shown}").note("and no --multi-scale", "并去掉 --multi-scale")),
            ("smaller-eval-batch", option("--batch-size {tried}")),
            ("fewer-workers", option("--workers {tried}")),
            ("freeze-layers", option("--freeze 50").note("the backbone", "骨干网络").when("trains")),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "bf16-states",
            "group-by-length",
            "activation-offload",
        ],
    },
    // kohya-ss/sd-scripts at 48d368f (2026-02): library/train_util.py, train_network.py. --network_train_unet_only
    // and --cache_latents stand in the first train_network.py (2023) too; --sdpa, --full_bf16 and --blocks_to_swap
    // came later.
    Tool {
        name: "kohya's sd-scripts",
        files: &["/sd-scripts/", "/library/train_util.py"],
        scripts: &[
            "train_network.py",
            "sdxl_train_network.py",
            "sdxl_train.py",
            "train_db.py",
            "flux_train_network.py",
        ],
        clue: None,
        rows: &[
            ("smaller-batch", option("--train_batch_size={batch} --gradient_accumulation_steps={steps}")),
            ("gradient-checkpointing", option("--gradient_checkpointing")),
            ("mixed-precision", option("--mixed_precision=bf16").unless("before-ampere")),
            ("mixed-precision", option("--mixed_precision=fp16").when("before-ampere")),
            ("eight-bit-optimizer", option("--optimizer_type=AdamW8bit")),
            ("smaller-images", option("--resolution={shown},{shown}")),
            ("fewer-workers", option("--max_data_loader_n_workers={tried}")),
            (
                "freeze-layers",
                option("--network_train_unet_only")
                    .note("train_network.py: no text encoder on the GPU", "train_network.py：不训练文本编码器"),
            ),
            (
                "weight-offload",
                option("--cache_latents").note(
                    "the VAE leaves the GPU; Flux, SD3: --blocks_to_swap 18",
                    "VAE 不再占显存；Flux、SD3 用 --blocks_to_swap 18",
                ),
            ),
            ("fused-attention", option("--xformers").note("or --sdpa", "或 --sdpa")),
            ("lighter-optimizer", option("--optimizer_type=Adafactor")),
            (
                "bf16-states",
                option("--full_bf16")
                    .note("with --mixed_precision=bf16", "配合 --mixed_precision=bf16")
                    .unless("before-ampere"),
            ),
            ("load-to-cpu", option("--lowram").note("loads weights to the GPU at once", "权重直接载入显存")),
        ],
        lacks: &["activation-offload", "chunk-the-operation", "detach-logged-tensors"],
    },
    // The example scripts for training in the repository of diffusers.
    Tool {
        name: "diffusers' training scripts",
        files: &[
            "/train_text_to_image.py",
            "/train_text_to_image_sdxl.py",
            "/train_text_to_image_lora.py",
            "/train_text_to_image_lora_sdxl.py",
            "/train_dreambooth.py",
            "/train_dreambooth_lora.py",
            "/train_dreambooth_lora_sdxl.py",
            "/train_dreambooth_flux.py",
            "/train_dreambooth_lora_flux.py",
            "/train_controlnet.py",
            "/train_controlnet_sdxl.py",
        ],
        scripts: &[
            "train_text_to_image.py",
            "train_text_to_image_sdxl.py",
            "train_text_to_image_lora.py",
            "train_text_to_image_lora_sdxl.py",
            "train_dreambooth.py",
            "train_dreambooth_lora.py",
            "train_dreambooth_lora_sdxl.py",
            "train_dreambooth_flux.py",
            "train_dreambooth_lora_flux.py",
            "train_controlnet.py",
            "train_controlnet_sdxl.py",
        ],
        clue: None,
        rows: &[
            ("smaller-batch", option("--train_batch_size={batch} --gradient_accumulation_steps={steps}")),
            ("gradient-checkpointing", option("--gradient_checkpointing")),
            ("mixed-precision", option("--mixed_precision=bf16").unless("before-ampere")),
            ("mixed-precision", option("--mixed_precision=fp16").when("before-ampere")),
            ("eight-bit-optimizer", option("--use_8bit_adam")),
            ("fused-attention", option("--enable_xformers_memory_efficient_attention")),
            ("smaller-images", option("--resolution={shown}")),
            ("fewer-workers", option("--dataloader_num_workers={tried}")),
        ],
        lacks: &["activation-offload", "chunk-the-operation", "detach-logged-tensors"],
    },
    Tool {
        name: "timm's scripts",
        files: &["/pytorch-image-models/train.py", "/pytorch-image-models/validate.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("-b {batch}")),
            ("smaller-eval-batch", option("-vb {tried}")),
            ("gradient-checkpointing", option("--grad-checkpointing")),
            ("mixed-precision", option("--amp")),
            ("smaller-images", option("--img-size {shown}")),
            ("fewer-workers", option("-j {tried}")),
        ],
        lacks: IN_CODE,
    },
    // onmt/opts.py of OpenNMT-py 3 at 97111d9 (2024-06): num_workers 2, each of which fills a bucket of bucket_size
    // examples (262144), prefetch_factor 200 batches; batch_type sents; src_seq_length_trunc. Keys of its YAML file or
    // options. Before 3.0 there were no such workers. Users cure workers that are killed by num_workers 0.
    Tool {
        name: "OpenNMT-py",
        files: &["/onmt/"],
        scripts: &["onmt_train"],
        clue: None,
        rows: &[
            ("smaller-batch", option("-batch_size {batch} -accum_count {steps}")),
            ("smaller-eval-batch", option("-valid_batch_size {tried}")),
            ("fewer-workers", option("num_workers: 0").note("2 unless set, from 3.0 on", "默认 2，自 3.0 起")),
            (
                "read-less-at-once",
                option("bucket_size: 32768")
                    .note("262144 examples unless set, in each worker", "默认 262144 个样本，每个 worker 一份"),
            ),
            ("bound-the-cache", option("prefetch_factor: 20").note("200 batches unless set", "默认 200 个批")),
        ],
        lacks: IN_CODE,
    },
    // tools/train.py of YOLOX: sizes and loaders stand in the file of the experiment (yolox/exp/yolox_base.py).
    Tool {
        name: "YOLOX",
        files: &["/yolox/core/", "/yolox/models/", "/yolox/exp/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("-b {total}")),
            ("mixed-precision", option("--fp16")),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a smaller self.input_size, and self.multiscale_range = 0, in the file of the experiment",
                    "在实验文件中减小 self.input_size，并设 self.multiscale_range = 0",
                ),
            ),
            (
                "fewer-workers",
                said(
                    Target::Program,
                    "self.data_num_workers = {tried} in the file of the experiment",
                    "在实验文件中设 self.data_num_workers = {tried}",
                ),
            ),
        ],
        lacks: &[
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "bf16-states",
            "group-by-length",
            "shorter-sequences",
        ],
    },
    // Its batch is counted in tokens, or in sentences by --batch-size (fairseq/options.py, 0.8 to 0.12). At 3d262bb:
    // --fp16 keeps a copy of the weights in 32 bit, --memory-efficient-fp16 does not (fairseq/dataclass/configs.py;
    // since 0.6 by issue 404); --dataset-impl lazy or mmap, which the data must have been made for (mmap), reads each
    // sample when it is asked for, cached holds all (fairseq/data/indexed_dataset.py; --lazy-load before). Adafactor
    // is one of its optimizers; it has none of 8 bit.
    Tool {
        name: "fairseq",
        files: &["/fairseq_cli/", "/fairseq/"],
        scripts: &["fairseq-train", "fairseq-generate", "fairseq-interactive"],
        clue: Some(Clue::Fairseq),
        rows: &[
            ("smaller-batch", option("--max-tokens <half> --update-freq <twice>").when("trains")),
            ("smaller-batch", option("--max-tokens <half>").unless("trains")),
            (
                "smaller-eval-batch",
                option("--max-tokens-valid <half>").note(
                    "or --batch-size-valid; before 0.10 --max-sentences-valid",
                    "或 --batch-size-valid；0.10 之前为 --max-sentences-valid",
                ),
            ),
            ("mixed-precision", option("--fp16")),
            (
                "bf16-states",
                option("--memory-efficient-fp16").note("no copy of the weights in 32 bit", "不保留 32 位的权重副本"),
            ),
            (
                "lighter-optimizer",
                option("--memory-efficient-fp16").note("or --optimizer adafactor", "或 --optimizer adafactor"),
            ),
            (
                "read-less-at-once",
                option("--dataset-impl lazy")
                    .note("mmap for data made so; older: --lazy-load", "以 mmap 制作的数据用 mmap；旧版用 --lazy-load"),
            ),
            ("fewer-workers", option("--num-workers {tried}")),
        ],
        lacks: &[
            "smaller-images",
            "chunk-the-operation",
            "fused-attention",
            "activation-offload",
            "eight-bit-optimizer",
            "no-python-lists-in-dataset",
        ],
    },
    // Keys of SOLVER and INPUT behind the command or in the configuration (detectron2/config/defaults.py).
    Tool {
        name: "detectron2",
        files: &["/detectron2/engine/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("SOLVER.IMS_PER_BATCH {total}").when("trains")),
            ("smaller-images", option("INPUT.MAX_SIZE_TRAIN {shown}").when("trains")),
            ("mixed-precision", option("SOLVER.AMP.ENABLED True").when("trains")),
            ("fewer-workers", option("DATALOADER.NUM_WORKERS {tried}")),
        ],
        lacks: &["gradient-checkpointing", "chunk-the-operation", "shorter-sequences", "group-by-length"],
    },
    // It computes in 16 bit by itself, and has neither checkpoints of activations nor a size of pictures to set: the
    // plan, made for an amount of memory, decides about patches and batch.
    Tool {
        name: "nnU-Net 2, prediction",
        files: &["/nnunetv2/inference/predict"],
        scripts: &["nnUNetv2_predict"],
        clue: None,
        rows: &[("fewer-workers", option("-npp 1 -nps 1"))],
        lacks: &["gradient-checkpointing", "mixed-precision", "smaller-images", "chunk-the-operation", "smaller-batch"],
    },
    Tool {
        name: "nnU-Net 2",
        files: &["/nnunetv2/"],
        scripts: &["nnUNetv2_train"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("nnUNetv2_plan_experiment -d <dataset> -gpu_memory_target <GB> -overwrite_plans_name <name>")
                    .note("then nnUNetv2_train ... -p <name>", "之后 nnUNetv2_train ... -p <name>")
                    .when("trains"),
            ),
            ("fewer-workers", line(Target::Shell, "export nnUNet_n_proc_DA={tried}")),
        ],
        lacks: &["gradient-checkpointing", "mixed-precision", "smaller-images", "chunk-the-operation"],
    },
    // nnU-Net 1 and whoever else feeds by batchgenerators. Seen in MIC-DKFZ/batchgenerators, dataloading/
    // nondet_multi_threaded_augmenter.py (num_processes) and in nnU-Net 1's parameters of augmentation (num_threads 12
    // unless nnUNet_n_proc_DA is set). Its message says only that a worker is gone; what the worker said stands above.
    Tool {
        name: "nnU-Net 1 or batchgenerators",
        files: &["/batchgenerators/", "/nnunet/training/"],
        scripts: &["nnUNet_train"],
        clue: None,
        rows: &[("fewer-workers", AUGMENTER_PROCESSES), ("fewer-at-once", AUGMENTER_PROCESSES)],
        lacks: &[],
    },
    // DeepRL's replay memory. Seen in ShangtongZhang/DeepRL, component/replay.py at 27f54ed: states and next_states are
    // made whole with the first experience, memory_size by the state's shape, in the dtype given, float32 unless set.
    Tool {
        name: "DeepRL's replay",
        files: &["/deeprl/component/replay.py", "/deep_rl/component/replay.py"],
        scripts: &[],
        clue: None,
        rows: &[("raise-host-limit", DEEPRL_REPLAY), ("read-less-at-once", DEEPRL_REPLAY)],
        lacks: &["chunk-the-operation", "no-python-lists-in-dataset", "fewer-workers"],
    },
    // src/axolotl/utils/schemas/{training,config,peft,multimodal}.py, axolotl 0.18.0: keys of its YAML
    // file. gradient_checkpointing is off unless set. attn_implementation replaced flash_attention,
    // sdp_attention and xformers_attention (they still work, marked deprecated). dataset_num_proc was
    // dataset_processes. Optimizers as in examples/. deepspeed_configs/ holds zero3_bf16.json and
    // zero3_bf16_cpuoffload_all.json.
    Tool {
        name: "axolotl",
        files: &["/axolotl/cli/", "/axolotl/train.py", "/axolotl/core/", "/axolotl/utils/", "/axolotl/monkeypatch/"],
        scripts: &["axolotl", "axolotl.cli.train"],
        clue: None,
        rows: &[
            ("smaller-batch", option("micro_batch_size: {batch}")),
            ("smaller-batch", option("gradient_accumulation_steps: {steps}")),
            ("gradient-accumulation", option("gradient_accumulation_steps: {steps}")),
            ("smaller-eval-batch", option("eval_batch_size: {tried}")),
            ("gradient-checkpointing", option("gradient_checkpointing: true")),
            ("activation-offload", option("activation_offloading: true")),
            ("mixed-precision", option("bf16: auto").unless("before-ampere")),
            ("mixed-precision", option("fp16: true").when("before-ampere")),
            ("eight-bit-optimizer", option("optimizer: adamw_bnb_8bit")),
            ("shorter-sequences", option("sequence_len: <fewer>")),
            ("smaller-images", option("image_size: {shown}")),
            (
                "fused-attention",
                option("attn_implementation: flash_attention_2")
                    .note("flash_attention: true in older versions", "旧版本用 flash_attention: true"),
            ),
            ("lora", option("adapter: lora").note("with lora_r, lora_alpha", "并设 lora_r、lora_alpha")),
            ("qlora", option("adapter: qlora").note("and load_in_4bit: true", "并设 load_in_4bit: true")),
            (
                "freeze-layers",
                option("unfrozen_parameters: [<patterns of the names>]")
                    .note("all others are frozen", "其余参数都会冻结"),
            ),
            ("shard-states", option("deepspeed: deepspeed_configs/zero3_bf16.json")),
            ("cpu-offload", option("deepspeed: deepspeed_configs/zero3_bf16_cpuoffload_all.json")),
            ("weight-offload", option("layer_offloading: true").note("recent versions", "较新的版本")),
            (
                "fewer-workers",
                option("dataloader_num_workers: {tried}")
                    .note("dataset_num_proc for the preparation of data", "预处理数据时用 dataset_num_proc"),
            ),
        ],
        lacks: &["chunk-the-operation"],
    },
    // src/llamafactory/hparams/{model,data,finetuning}_args.py and webui/{components,locales}, 0.9.6.dev0;
    // the rest are keys of transformers' TrainingArguments (examples/train_lora/). Gradient checkpointing
    // is in force (disable_gradient_checkpointing: false). quantization_bit takes lora or oft only
    // (parser.py); streaming needs max_steps (parser.py). The package was called llmtuner before. Labels of
    // the web board stand in the notes; what the board has no field for goes as JSON into its "Extra
    // arguments". A cutoff_len below a picture's tokens ends in "Image features and image tokens do
    // not match" (issues 5964, 5968, 9075). vllm_maxlen and vllm_gpu_util are left to WRAPPERS.
    Tool {
        name: "LLaMA-Factory",
        files: &["/llamafactory/", "/llmtuner/"],
        scripts: &["llamafactory-cli", "lmf", "llama-factory"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("per_device_train_batch_size: {batch}").note("web board: Batch size", "网页界面：批处理大小"),
            ),
            (
                "smaller-batch",
                option("gradient_accumulation_steps: {steps}")
                    .note("web board: Gradient accumulation", "网页界面：梯度累积"),
            ),
            (
                "gradient-accumulation",
                option("gradient_accumulation_steps: {steps}")
                    .note("web board: Gradient accumulation", "网页界面：梯度累积"),
            ),
            ("smaller-eval-batch", option("per_device_eval_batch_size: {tried}")),
            (
                "mixed-precision",
                option("bf16: true")
                    .note("web board: Compute type bf16", "网页界面：计算类型 bf16")
                    .unless("before-ampere"),
            ),
            (
                "mixed-precision",
                option("fp16: true")
                    .note("web board: Compute type fp16", "网页界面：计算类型 fp16")
                    .when("before-ampere"),
            ),
            ("bf16-states", option("pure_bf16: true").unless("before-ampere")),
            (
                "eight-bit-optimizer",
                option("optim: adamw_8bit").note("web board: in Extra arguments", "网页界面：填在“额外参数”中"),
            ),
            (
                "shorter-sequences",
                option("cutoff_len: <fewer>").note(
                    "with pictures image_max_pixels instead: it cuts their tokens",
                    "有图片时改用 image_max_pixels：它会截断图片的 token",
                ),
            ),
            (
                "smaller-images",
                option("image_max_pixels: 262144").note(
                    "589824 unless set, image_resolution once; video_max_pixels",
                    "默认 589824，旧名 image_resolution；视频为 video_max_pixels",
                ),
            ),
            ("activation-offload", option("use_unsloth_gc: true").note("not with unsloth itself", "不与 unsloth 同用")),
            ("fused-attention", option("flash_attn: fa2").note("web board: Booster", "网页界面：加速方式")),
            ("lora", option("finetuning_type: lora").note("web board: Finetuning method", "网页界面：微调方法")),
            (
                "qlora",
                option("quantization_bit: 4")
                    .note("with LoRA; web board: Quantization bit", "配合 LoRA；网页界面：量化等级"),
            ),
            (
                "freeze-layers",
                option("finetuning_type: freeze")
                    .note("and freeze_trainable_layers: 2", "并设 freeze_trainable_layers: 2"),
            ),
            (
                "shard-states",
                option("deepspeed: examples/deepspeed/ds_z3_config.json")
                    .note("web board: DeepSpeed stage 3", "网页界面：DeepSpeed stage 3"),
            ),
            (
                "cpu-offload",
                option("deepspeed: examples/deepspeed/ds_z3_offload_config.json")
                    .note("web board: Enable offload", "网页界面：使用 offload"),
            ),
            (
                "fewer-workers",
                option("dataloader_num_workers: {tried}")
                    .note("preprocessing_num_workers for the tokenizer", "分词用 preprocessing_num_workers"),
            ),
            ("read-less-at-once", option("streaming: true").note("needs max_steps", "需要设 max_steps")),
        ],
        lacks: &["gradient-checkpointing", "chunk-the-operation"],
    },
    // recipes/ and recipes/configs/llama3_1/*.yaml, torchtune 0.7.0: `tune run <recipe> --config <config>
    // key=value`. The package is imported by other programs, so only its recipes count.
    // full_finetune_single_device has optimizer_in_bwd=True in its configurations, which asks for
    // gradient_accumulation_steps=1. dtype is bf16 in all of them. No recipe sets workers of a loader.
    // fsdp_cpu_offload is read by the distributed recipes.
    Tool {
        name: "torchtune",
        files: &[
            "/full_finetune_single_device.py",
            "/full_finetune_distributed.py",
            "/lora_finetune_single_device.py",
            "/lora_finetune_distributed.py",
            "/lora_dpo_single_device.py",
            "/lora_dpo_distributed.py",
            "/full_dpo_distributed.py",
            "/knowledge_distillation_single_device.py",
            "/knowledge_distillation_distributed.py",
            "/ppo_full_finetune_single_device.py",
            "/qat_distributed.py",
            "/torchtune/_cli/run.py",
        ],
        scripts: &["tune"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("batch_size={batch} gradient_accumulation_steps={steps}")
                    .note("optimizer_in_bwd=False", "optimizer_in_bwd=False"),
            ),
            (
                "gradient-accumulation",
                option("gradient_accumulation_steps={steps}").note("optimizer_in_bwd=False", "optimizer_in_bwd=False"),
            ),
            ("gradient-checkpointing", option("enable_activation_checkpointing=True")),
            ("activation-offload", option("enable_activation_offloading=True")),
            ("mixed-precision", option("dtype=bf16").unless("before-ampere")),
            ("eight-bit-optimizer", option("optimizer=bitsandbytes.optim.PagedAdamW8bit")),
            ("shorter-sequences", option("tokenizer.max_seq_len=<fewer>")),
            (
                "lora",
                option("tune run lora_finetune_single_device --config <model>_lora_single_device")
                    .note("tune ls names the configurations", "tune ls 列出可用的配置"),
            ),
            (
                "qlora",
                option("tune run lora_finetune_single_device --config <model>_qlora_single_device")
                    .note("tune ls names the configurations", "tune ls 列出可用的配置"),
            ),
            (
                "shard-states",
                option("tune run --nproc_per_node <GPUs> full_finetune_distributed --config <model>_full"),
            ),
            ("cpu-offload", option("fsdp_cpu_offload=True").note("in the distributed recipes", "用于分布式 recipe")),
        ],
        lacks: &["fewer-workers", "chunk-the-operation", "fused-attention"],
    },
    // litgpt/args.py, litgpt/finetune/*.py, litgpt/pretrain.py, litgpt/generate/base.py, tutorials/oom.md,
    // LitGPT 0.5.13. It accumulates to --train.global_batch_size by itself. Precision is bf16-mixed or
    // 16-mixed by itself (litgpt/utils.py); bf16-true halves the weights. Blocks are checkpointed where it
    // runs on several GPUs (FSDP) and never on one; cpu_offload=False stands in the code. EvalArgs has no
    // batch. --quantize belongs to the adapter methods: finetune_lora, _adapter and _adapter_v2;
    // --optimizer takes the class of any package.
    Tool {
        name: "LitGPT",
        files: &[
            "/litgpt/finetune/",
            "/litgpt/pretrain.py",
            "/litgpt/generate/",
            "/litgpt/chat/",
            "/litgpt/__main__.py",
        ],
        scripts: &["litgpt"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--train.micro_batch_size {batch}")
                    .note("it accumulates to --train.global_batch_size", "自动累积到 --train.global_batch_size")
                    .when("trains"),
            ),
            ("bf16-states", option("--precision bf16-true").unless("before-ampere")),
            ("shorter-sequences", option("--train.max_seq_length <fewer>").when("trains")),
            ("shorter-sequences", option("--max_new_tokens <fewer>").unless("trains")),
            ("eight-bit-optimizer", option("--optimizer bitsandbytes.optim.AdamW8bit").when("trains")),
            (
                "lora",
                option("litgpt finetune_lora <checkpoint>").note("in place of finetune_full", "代替 finetune_full"),
            ),
            (
                "qlora",
                option("--quantize bnb.nf4 --precision bf16-true").note("with finetune_lora", "配合 finetune_lora"),
            ),
            (
                "weight-quantisation",
                option("--quantize bnb.nf4 --precision bf16-true").note("or bnb.int8", "或 bnb.int8").unless("trains"),
            ),
            ("shard-states", option("--devices <GPUs>").when("trains")),
            ("fewer-workers", option("--data.num_workers {tried}").when("trains")),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "smaller-eval-batch",
            "cpu-offload",
            "freeze-layers",
            "chunk-the-operation",
            "fused-attention",
        ],
    },
    // toolkit/config_modules.py, config/examples/*.yaml, toolkit/optimizer.py and
    // ui/src/app/jobs/new/SimpleJob.tsx, August 2026: keys of its YAML file, sections in the notes.
    // gradient_checkpointing is true unless it is turned off. Layer offloading is recent. Its own line: "#
    // OOM during training step, skipping batch 1/3 #" (jobs/process/BaseSDTrainProcess.py).
    Tool {
        name: "ai-toolkit",
        files: &["/ai-toolkit/", "/extensions_built_in/sd_trainer/", "/jobs/process/basesdtrainprocess.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("batch_size: {batch}").note("section train", "train 一节")),
            ("smaller-batch", option("gradient_accumulation: {steps}").note("section train", "train 一节")),
            ("gradient-accumulation", option("gradient_accumulation: {steps}").note("section train", "train 一节")),
            ("mixed-precision", option("dtype: bf16").note("section train", "train 一节").unless("before-ampere")),
            ("eight-bit-optimizer", option("optimizer: \"adamw8bit\"").note("section train", "train 一节")),
            ("lighter-optimizer", option("optimizer: \"adafactor\"").note("section train", "train 一节")),
            (
                "smaller-images",
                option("resolution: [ 512 ]")
                    .note("section datasets; fewer num_frames for video", "datasets 一节；视频则减少 num_frames"),
            ),
            (
                "weight-quantisation",
                option("quantize: true")
                    .note("and quantize_te: true, section model", "以及 quantize_te: true，model 一节"),
            ),
            (
                "weight-offload",
                option("low_vram: true").note(
                    "section model; layer_offloading: true in recent versions",
                    "model 一节；较新版本有 layer_offloading: true",
                ),
            ),
            ("lora", option("type: \"lora\"").note("section network", "network 一节")),
            (
                "bound-the-cache",
                option("cache_latents_to_disk: true").note("in place of cache_latents", "代替 cache_latents"),
            ),
            ("fewer-workers", option("num_workers: {tried}").note("section datasets", "datasets 一节")),
        ],
        lacks: &["gradient-checkpointing", "chunk-the-operation", "shorter-sequences", "group-by-length"],
    },
    // modules/ui/Base{Training,Model,Train}*View.py, modules/util/config/TrainConfig.py,
    // modules/util/enum/Optimizer.py, docs/CliTraining.md, August 2026. Labels of its window; on the
    // command line the same stands as keys in the .json file of scripts/train.py. Gradient Checkpointing
    // was OFF, ON or CPU_OFFLOADED with one "Layer Offload Fraction" before a migration to switches for
    // each component; layers of text encoders 1 and 2 are not offloaded.
    Tool {
        name: "OneTrainer",
        files: &["/onetrainer/", "/modules/trainer/generictrainer.py", "/modules/modelsetup/"],
        scripts: &["train_ui.py", "train_ui_ctk.py", "train_ui_qt.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "tab training: Local Batch Size {batch}, Accumulation Steps {steps}",
                    "training 标签页：Local Batch Size 设为 {batch}，Accumulation Steps 设为 {steps}",
                ),
            ),
            (
                "gradient-accumulation",
                said(
                    Target::Program,
                    "tab training: Accumulation Steps {steps}",
                    "training 标签页：Accumulation Steps 设为 {steps}",
                ),
            ),
            (
                "gradient-checkpointing",
                said(
                    Target::Program,
                    "tab training: Gradient Checkpointing on",
                    "training 标签页：打开 Gradient Checkpointing",
                ),
            ),
            (
                "activation-offload",
                said(
                    Target::Program,
                    "tab training: Offload Activations on (CPU_OFFLOADED in older versions)",
                    "training 标签页：打开 Offload Activations（旧版本选 CPU_OFFLOADED）",
                ),
            ),
            (
                "weight-offload",
                said(
                    Target::Program,
                    "tab training: Layer Offload Fraction 0.5, or more",
                    "training 标签页：Layer Offload Fraction 设为 0.5 或更大",
                ),
            ),
            (
                "mixed-precision",
                said(
                    Target::Program,
                    "tab training: Train Data Type bfloat16",
                    "training 标签页：Train Data Type 选 bfloat16",
                )
                .unless("before-ampere"),
            ),
            (
                "mixed-precision",
                said(
                    Target::Program,
                    "tab training: Train Data Type float16",
                    "training 标签页：Train Data Type 选 float16",
                )
                .when("before-ampere"),
            ),
            (
                "eight-bit-optimizer",
                said(Target::Program, "tab training: Optimizer ADAMW_8BIT", "training 标签页：Optimizer 选 ADAMW_8BIT"),
            ),
            (
                "lighter-optimizer",
                said(Target::Program, "tab training: Optimizer ADAFACTOR", "training 标签页：Optimizer 选 ADAFACTOR"),
            ),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "tab training: Resolution {shown} (fewer Frames for video)",
                    "training 标签页：Resolution 设为 {shown}（视频则减少 Frames）",
                ),
            ),
            (
                "weight-quantisation",
                said(
                    Target::Program,
                    "tab model: float8 (W8) or nfloat4 as the data type of the transformer or UNet",
                    "model 标签页：transformer 或 UNet 的数据类型选 float8 (W8) 或 nfloat4",
                ),
            ),
            (
                "lora",
                said(
                    Target::Program,
                    "LoRA in place of Fine Tune in the list of the top bar",
                    "在顶栏的下拉列表中选 LoRA，而不是 Fine Tune",
                ),
            ),
            (
                "freeze-layers",
                said(
                    Target::Program,
                    "tab training: Train Text Encoder off",
                    "training 标签页：关闭 Train Text Encoder",
                ),
            ),
            (
                "fewer-workers",
                said(
                    Target::Program,
                    "tab general: Dataloader Threads {tried}",
                    "general 标签页：Dataloader Threads 设为 {tried}",
                ),
            ),
        ],
        lacks: &["chunk-the-operation", "group-by-length"],
    },
    // openrlhf/cli/train_{sft,ppo_ray}.py, OpenRLHF 0.11.0. Versions before had flat names:
    // --micro_train_batch_size, --gradient_checkpointing, --adam_offload, --zero_stage, --max_len,
    // --vllm_gpu_memory_utilization (seen in scripts written for them; which release renamed them was not
    // seen). It trains in bf16 (--ds.param_dtype), with flash_attention_2, and validates with the batch of
    // training; optimizers are adam and muon. --train.micro_batch_size accumulates to --train.batch_size.
    Tool {
        name: "OpenRLHF",
        files: &["/openrlhf/"],
        scripts: &[
            "openrlhf.cli.train_sft",
            "openrlhf.cli.train_dpo",
            "openrlhf.cli.train_rm",
            "openrlhf.cli.train_ppo_ray",
        ],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--train.micro_batch_size {batch}")
                    .note("--micro_train_batch_size in older versions", "旧版本为 --micro_train_batch_size"),
            ),
            (
                "gradient-checkpointing",
                option("--model.gradient_checkpointing_enable").note(
                    "--actor.… in train_ppo_ray; --gradient_checkpointing in older versions",
                    "train_ppo_ray 中为 --actor.…；旧版本为 --gradient_checkpointing",
                ),
            ),
            (
                "cpu-offload",
                option("--ds.adam_offload").note("--adam_offload in older versions", "旧版本为 --adam_offload"),
            ),
            (
                "shard-states",
                said(
                    Target::Program,
                    "ZeRO stage 3: --ds.zero_stage 3 (--zero_stage 3 in older versions)",
                    "ZeRO 第 3 阶段：--ds.zero_stage 3（旧版本为 --zero_stage 3）",
                ),
            ),
            (
                "shorter-sequences",
                option("--data.max_len <fewer>").note("--max_len in older versions", "旧版本为 --max_len"),
            ),
            ("lora", option("--ds.lora.rank 16")),
            ("qlora", option("--ds.load_in_4bit --ds.lora.rank 16")),
            ("weight-offload", option("--ref.offload --reward.offload").note("in train_ppo_ray", "用于 train_ppo_ray")),
            (
                "lower-engine-memory",
                option("--vllm.gpu_memory_utilization <smaller>")
                    .note("--vllm_gpu_memory_utilization in older versions", "旧版本为 --vllm_gpu_memory_utilization"),
            ),
            ("fewer-workers", option("--data.dataloader_num_workers {tried}")),
        ],
        lacks: &[
            "mixed-precision",
            "eight-bit-optimizer",
            "lighter-optimizer",
            "fused-attention",
            "kv-cache-dtype",
            "fewer-sequences",
            "chunk-the-operation",
        ],
    },
    // swift/trainers/arguments.py, swift/arguments/, docs/source_en/Instruction/Command-line-parameters.md,
    // ms-swift 4.6.0.dev0. Command `swift` is left out: a compiler and OpenStack's client are called so
    // too. Gradient checkpointing is in force; fp16 or bf16 follow --torch_dtype; batch 1 and LoRA
    // (--tuner_type, new in these sources) unless set. swift infer takes --max_batch_size with the
    // transformers backend.
    Tool {
        name: "ms-swift",
        files: &[
            "/ms-swift/",
            "/swift/cli/",
            "/swift/llm/",
            "/swift/trainers/",
            "/swift/pipelines/",
            "/swift/rlhf_trainers/",
        ],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--per_device_train_batch_size {batch} --gradient_accumulation_steps {steps}").when("trains"),
            ),
            ("smaller-batch", option("--max_batch_size {batch}").unless("trains")),
            ("gradient-accumulation", option("--gradient_accumulation_steps {steps}")),
            ("smaller-eval-batch", option("--per_device_eval_batch_size {tried}")),
            ("mixed-precision", option("--torch_dtype bfloat16").unless("before-ampere")),
            ("mixed-precision", option("--torch_dtype float16").when("before-ampere")),
            ("eight-bit-optimizer", option("--optim adamw_8bit")),
            ("shorter-sequences", option("--max_length <fewer>")),
            (
                "smaller-images",
                option("--max_pixels <fewer>")
                    .note("the variable MAX_PIXELS for Qwen2.5-VL", "Qwen2.5-VL 也可用环境变量 MAX_PIXELS"),
            ),
            ("fused-attention", option("--attn_impl flash_attn")),
            ("qlora", option("--quant_method bnb --quant_bits 4").note("with LoRA", "配合 LoRA").when("trains")),
            ("weight-quantisation", option("--quant_method bnb --quant_bits 4").unless("trains")),
            (
                "freeze-layers",
                option("--freeze_parameters_ratio <share>")
                    .note("0 to 1, where all weights are trained", "取 0 到 1，用于全参数训练"),
            ),
            (
                "shard-states",
                said(Target::Program, "ZeRO stage 3: --deepspeed zero3", "ZeRO 第 3 阶段：--deepspeed zero3"),
            ),
            (
                "cpu-offload",
                said(
                    Target::Program,
                    "ZeRO with offload: --deepspeed zero3_offload",
                    "带卸载的 ZeRO：--deepspeed zero3_offload",
                ),
            ),
            (
                "fewer-workers",
                option("--dataloader_num_workers {tried}")
                    .note("--dataset_num_proc for the preparation of data", "预处理数据时用 --dataset_num_proc"),
            ),
            ("read-less-at-once", option("--lazy_tokenize true").note("or --streaming true", "或 --streaming true")),
            ("lower-engine-memory", option("--vllm_gpu_memory_utilization <smaller>")),
            ("max-model-len", option("--vllm_max_model_len <fewer>")),
            ("fewer-sequences", option("--vllm_max_num_seqs <fewer>")),
        ],
        lacks: &["gradient-checkpointing", "chunk-the-operation"],
    },
    // Scripts of NeMo 2.6 that train recognition of speech (examples/asr/, conf/fastconformer/*.yaml):
    // hydra's overrides. The package is imported by other programs, so only its scripts count.
    // nemo/collections/asr has no checkpoints of activations. With use_lhotse the batch is
    // model.train_ds.batch_duration, in seconds (nemo/collections/common/data/lhotse/dataloader.py).
    // model.joint belongs to transducers.
    Tool {
        name: "NeMo's ASR scripts",
        files: &[
            "/speech_to_text_ctc.py",
            "/speech_to_text_ctc_bpe.py",
            "/speech_to_text_rnnt.py",
            "/speech_to_text_rnnt_bpe.py",
            "/speech_to_text_hybrid_rnnt_ctc_bpe.py",
            "/speech_to_text_hybrid_rnnt_ctc_char.py",
            "/speech_to_text_aed.py",
            "/speech_to_text_finetune.py",
        ],
        scripts: &[
            "speech_to_text_ctc.py",
            "speech_to_text_ctc_bpe.py",
            "speech_to_text_rnnt.py",
            "speech_to_text_rnnt_bpe.py",
            "speech_to_text_hybrid_rnnt_ctc_bpe.py",
            "speech_to_text_hybrid_rnnt_ctc_char.py",
            "speech_to_text_aed.py",
            "speech_to_text_finetune.py",
        ],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("model.train_ds.batch_size={batch} trainer.accumulate_grad_batches={steps}").note(
                    "with use_lhotse: a smaller model.train_ds.batch_duration",
                    "使用 use_lhotse 时减小 model.train_ds.batch_duration",
                ),
            ),
            ("gradient-accumulation", option("trainer.accumulate_grad_batches={steps}")),
            ("smaller-eval-batch", option("model.validation_ds.batch_size={tried}")),
            ("mixed-precision", option("trainer.precision=bf16").unless("before-ampere")),
            ("mixed-precision", option("trainer.precision=16").when("before-ampere")),
            ("shorter-sequences", option("model.train_ds.max_duration=<seconds>")),
            (
                "chunk-the-operation",
                option("model.joint.fuse_loss_wer=true model.joint.fused_batch_size=4")
                    .note("transducers; then 2", "用于 transducer；再试 2"),
            ),
            ("fewer-workers", option("model.train_ds.num_workers={tried}")),
        ],
        lacks: &["gradient-checkpointing", "smaller-images", "fused-attention", "activation-offload"],
    },
    // examples/asr/transcribe_speech.py of NeMo 2.6: nothing is trained; bfloat16 by itself where the
    // device has it.
    Tool {
        name: "NeMo's transcribe_speech.py",
        files: &["/transcribe_speech.py"],
        scripts: &["transcribe_speech.py"],
        clue: None,
        rows: &[
            ("smaller-batch", option("batch_size={batch}").note("32 unless set", "默认 32")),
            ("smaller-eval-batch", option("batch_size={tried}").note("32 unless set", "默认 32")),
            ("mixed-precision", option("compute_dtype=float16").when("before-ampere")),
            ("other-device", option("cuda=-1").note("on the CPU", "在 CPU 上")),
            ("fewer-workers", option("num_workers={tried}")),
        ],
        lacks: &["no-grad-in-eval", "chunk-the-operation", "smaller-images", "weight-quantisation"],
    },
    // examples/nlp/language_modeling/ of NeMo (conf/megatron_gpt_config.yaml, tuning/conf/
    // megatron_gpt_finetuning_config.yaml): the global batch is kept by accumulation; precision is 16 or
    // bf16 there.
    Tool {
        name: "NeMo's Megatron scripts",
        files: &["/megatron_gpt_pretraining.py", "/megatron_gpt_finetuning.py"],
        scripts: &["megatron_gpt_pretraining.py", "megatron_gpt_finetuning.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("model.micro_batch_size={batch}")
                    .note("it accumulates to model.global_batch_size", "自动累积到 model.global_batch_size"),
            ),
            (
                "gradient-checkpointing",
                option(
                    "model.activations_checkpoint_granularity=full model.activations_checkpoint_method=uniform \
                     model.activations_checkpoint_num_layers=1",
                ),
            ),
            (
                "shorter-sequences",
                option("model.encoder_seq_length=<fewer>").note(
                    "model.data.train_ds.max_seq_length where it is tuned",
                    "微调时为 model.data.train_ds.max_seq_length",
                ),
            ),
            ("more-devices", option("model.tensor_model_parallel_size=<GPUs>")),
            ("fewer-workers", option("model.data.num_workers={tried}")),
        ],
        lacks: &["smaller-images", "chunk-the-operation", "eight-bit-optimizer", "mixed-precision"],
    },
    // examples/tts/fastpitch.py (conf/fastpitch_align_v1.05.yaml) of NeMo 2.6: sizes stand under
    // dataloader_params; precision is 16 there.
    Tool {
        name: "NeMo's TTS scripts",
        files: &["/examples/tts/fastpitch.py", "/fastpitch_finetune.py"],
        scripts: &["fastpitch.py", "fastpitch_finetune.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("model.train_ds.dataloader_params.batch_size={batch} trainer.accumulate_grad_batches={steps}"),
            ),
            ("smaller-eval-batch", option("model.validation_ds.dataloader_params.batch_size={tried}")),
            ("fewer-workers", option("model.train_ds.dataloader_params.num_workers={tried}")),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "smaller-images", "chunk-the-operation"],
    },
    // megatron/training/arguments.py and config/training_config.py,
    // megatron/core/transformer/transformer_config.py, August 2026. megatron.core is a library:
    // megatron/training and the scripts count. --batch-size and --checkpoint-activations are refused today
    // (use --micro-batch-size, --recompute-activations). The global batch is kept by accumulation.
    // --optimizer-cpu-offload asks for --use-precision-aware-optimizer. It chooses fused attention by
    // itself (--attention-backend auto; --use-flash-attn before).
    Tool {
        name: "Megatron-LM",
        files: &["/megatron/training/", "/pretrain_gpt.py"],
        scripts: &["pretrain_gpt.py", "pretrain_hybrid.py", "pretrain_mamba.py", "pretrain_vlm.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--micro-batch-size {batch}")
                    .note("it accumulates to --global-batch-size", "自动累积到 --global-batch-size"),
            ),
            (
                "gradient-checkpointing",
                option("--recompute-granularity full --recompute-method uniform --recompute-num-layers 1")
                    .note("--recompute-activations costs less", "--recompute-activations 代价更小"),
            ),
            ("mixed-precision", option("--bf16").unless("before-ampere")),
            ("mixed-precision", option("--fp16").when("before-ampere")),
            (
                "lighter-optimizer",
                option("--use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16"),
            ),
            ("shard-states", option("--use-distributed-optimizer")),
            ("cpu-offload", option("--optimizer-cpu-offload --use-precision-aware-optimizer")),
            (
                "more-devices",
                option("--tensor-model-parallel-size <GPUs>")
                    .note("or --pipeline-model-parallel-size", "或 --pipeline-model-parallel-size"),
            ),
            ("shorter-sequences", option("--seq-length <fewer>")),
            ("fewer-workers", option("--num-workers {tried}")),
        ],
        lacks: &["fused-attention", "lora", "qlora", "freeze-layers", "chunk-the-operation", "group-by-length"],
    },
    // egs/*/ASR/*/train.py, decode.py and asr_datamodule.py of icefall, June 2026: a batch is
    // --max-duration seconds of sound, for training, validation and decoding. train.py sets --use-fp16 (and
    // --use-bf16 in zipformer); recipes for self-supervised training only have --accum-grad. Its own line:
    // "Your GPU ran out of memory with the current max_duration setting." zipformer/train.py leaves out
    // utterances beyond 20 seconds.
    Tool {
        name: "icefall",
        files: &[
            "/icefall/",
            "/zipformer/train.py",
            "/zipformer/decode.py",
            "/pruned_transducer_stateless2/train.py",
            "/pruned_transducer_stateless5/train.py",
            "/pruned_transducer_stateless7/train.py",
            "/pruned_transducer_stateless7_streaming/train.py",
            "/conformer_ctc/train.py",
            "/conformer_ctc2/train.py",
            "/tdnn_lstm_ctc/train.py",
        ],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("--max-duration <half>").note("seconds of sound in a batch", "一个批次的总秒数")),
            (
                "smaller-eval-batch",
                option("--max-duration <half>").note("seconds of sound in a batch", "一个批次的总秒数"),
            ),
            (
                "mixed-precision",
                option("--use-fp16 true")
                    .note("not in conformer_ctc, tdnn_lstm_ctc", "conformer_ctc、tdnn_lstm_ctc 没有")
                    .when("trains"),
            ),
            ("fewer-workers", option("--num-workers {tried}")),
        ],
        lacks: &[
            "gradient-checkpointing",
            "gradient-accumulation",
            "eight-bit-optimizer",
            "lighter-optimizer",
            "shorter-sequences",
            "group-by-length",
            "chunk-the-operation",
            "fused-attention",
        ],
    },
    // espnet2/tasks/abs_task.py: options on the command line (--batch_size; underscores only) or keys in
    // conf/train_*.yaml. Sizes are those of all GPUs together (espnet pull request 4436). batch_type length
    // or numel counts batch_bins; folded, sorted and unsorted count batch_size. use_adapter was use_lora.
    // It is imported for inference too, so the trainer and the scripts that train count.
    Tool {
        name: "ESPnet2",
        files: &[
            "/espnet2/train/trainer.py",
            "/espnet2/main_funcs/",
            "/espnet2/bin/asr_train.py",
            "/espnet2/bin/lm_train.py",
        ],
        scripts: &[
            "espnet2.bin.asr_train",
            "espnet2.bin.lm_train",
            "espnet2.bin.mt_train",
            "espnet2.bin.enh_train",
            "espnet2.bin.diar_train",
            "espnet2.bin.hubert_train",
            "espnet2.bin.gan_tts_train",
            "espnet2.bin.gan_svs_train",
        ],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("batch_bins: <half>").note(
                    "batch_size where batch_type is folded, sorted or unsorted",
                    "batch_type 为 folded、sorted 或 unsorted 时用 batch_size",
                ),
            ),
            ("smaller-batch", option("accum_grad: <twice>")),
            ("gradient-accumulation", option("accum_grad: {steps}")),
            (
                "smaller-eval-batch",
                option("valid_batch_bins: <fewer>").note("or valid_batch_size", "或 valid_batch_size"),
            ),
            ("mixed-precision", option("use_amp: true")),
            ("freeze-layers", option("freeze_param: [<module>]").note("such as encoder", "例如 encoder")),
            ("lora", option("use_adapter: true").note("use_lora: true in older versions", "旧版本为 use_lora: true")),
            ("shard-states", option("sharded_ddp: true").note("needs fairscale", "需要 fairscale")),
            ("fewer-workers", option("num_workers: {tried}")),
            ("bound-the-cache", option("max_cache_size: 0")),
        ],
        lacks: &[
            "eight-bit-optimizer",
            "smaller-images",
            "chunk-the-operation",
            "fused-attention",
            "activation-offload",
        ],
    },
    // speechbrain/core.py, speechbrain/utils/run_opts.py, recipes/*/hparams/*.yaml, SpeechBrain 1.1.0: keys
    // of the YAML file are options behind it. Counted over the recipes: batch_size 187, num_workers 69,
    // test_batch_size 55, grad_accumulation_factor 52, avoid_if_longer_than 37, max_batch_length_train 26
    // (where dynamic_batching is true). --precision replaced --auto_mix_prec and --bfloat16_mix_prec.
    // Models of transformers are loaded with their checkpoints off. core.py is in force where a Brain
    // trains, be it a recipe's or one's own.
    Tool {
        name: "SpeechBrain's recipes",
        files: &["/speechbrain/core.py"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--batch_size={batch} --grad_accumulation_factor={steps}").note(
                    "a smaller --max_batch_length_train where dynamic_batching is on",
                    "dynamic_batching 打开时减小 --max_batch_length_train",
                ),
            ),
            ("gradient-accumulation", option("--grad_accumulation_factor={steps}")),
            (
                "smaller-eval-batch",
                option("--test_batch_size={tried}").note(
                    "--max_batch_length_val where dynamic_batching is on",
                    "dynamic_batching 打开时为 --max_batch_length_val",
                ),
            ),
            ("mixed-precision", option("--precision=bf16").unless("before-ampere")),
            (
                "mixed-precision",
                option("--precision=fp16")
                    .note("--auto_mix_prec in older versions", "旧版本为 --auto_mix_prec")
                    .when("before-ampere"),
            ),
            ("shorter-sequences", option("--avoid_if_longer_than=<seconds>")),
            ("fewer-workers", option("--num_workers={tried}")),
        ],
        lacks: &["gradient-checkpointing", "eight-bit-optimizer", "smaller-images", "chunk-the-operation"],
    },
    // TTS/bin/train_{tts,vocoder,encoder}.py read config.json (TTS/tts/configs/shared_configs.py,
    // TTS/config/ shared_configs.py, docs/source/faq.md), Coqui TTS 0.22.0. The package is imported by
    // other programs, so only these scripts count; recipes are Python files of their own with the same
    // names as arguments.
    Tool {
        name: "Coqui TTS' training scripts",
        files: &["/tts/bin/train_tts.py", "/tts/bin/train_vocoder.py", "/tts/bin/train_encoder.py"],
        scripts: &["train_tts.py", "train_vocoder.py", "TTS.bin.train_tts", "TTS.bin.train_vocoder"],
        clue: None,
        rows: &[
            ("smaller-batch", option("\"batch_size\": {batch}").note("in config.json", "写在 config.json 中")),
            (
                "smaller-eval-batch",
                option("\"eval_batch_size\": {tried}").note("in config.json", "写在 config.json 中"),
            ),
            ("mixed-precision", option("\"mixed_precision\": true").note("in config.json", "写在 config.json 中")),
            (
                "shorter-sequences",
                option("\"max_audio_len\": <samples>")
                    .note("and \"max_text_len\", in config.json", "以及 \"max_text_len\"，写在 config.json 中"),
            ),
            ("fewer-workers", option("\"num_loader_workers\": {tried}").note("in config.json", "写在 config.json 中")),
        ],
        lacks: &["gradient-checkpointing", "eight-bit-optimizer", "smaller-images", "chunk-the-operation"],
    },
    // TTS/bin/synthesize.py, 0.22.0: neither batch nor precision nor length can be set.
    Tool {
        name: "Coqui TTS' command",
        files: &["/tts/bin/synthesize.py", "/bin/tts"],
        scripts: &["tts"],
        clue: None,
        rows: &[(
            "other-device",
            said(
                Target::Program,
                "without --use_cuda and --device: it runs on the CPU unless told otherwise",
                "去掉 --use_cuda 和 --device：默认在 CPU 上运行",
            ),
        )],
        lacks: &[
            "smaller-batch",
            "mixed-precision",
            "weight-quantisation",
            "no-grad-in-eval",
            "chunk-the-operation",
            "weight-offload",
        ],
    },
    // tensor2tensor/bin/t2t_{trainer,decoder}.py, utils/{flags,optimize,decoding}.py,
    // layers/common_hparams.py and README.md, 1.15.7. batch_size counts tokens for each GPU in problems of
    // text. All hparams go into one --hparams. It takes 95 % of the GPU unless told otherwise.
    Tool {
        name: "tensor2tensor",
        files: &["/tensor2tensor/bin/", "/tensor2tensor/utils/t2t_model.py", "/tensor2tensor/utils/trainer_lib.py"],
        scripts: &["t2t-trainer", "t2t_trainer.py", "t2t-decoder", "t2t_decoder.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("batch_size=<half>")
                    .note("in --hparams; tokens for each GPU", "写在 --hparams 中；每个 GPU 的 token 数")
                    .when("trains"),
            ),
            (
                "smaller-batch",
                option("batch_size=<half>").note("in --decode_hparams", "写在 --decode_hparams 中").unless("trains"),
            ),
            (
                "gradient-accumulation",
                option("optimizer=multistep_adam,optimizer_multistep_accumulate_steps={steps}")
                    .note("in --hparams", "写在 --hparams 中"),
            ),
            ("mixed-precision", option("--gpu_automatic_mixed_precision").when("trains")),
            ("lighter-optimizer", option("optimizer=adafactor").note("in --hparams", "写在 --hparams 中")),
            (
                "shorter-sequences",
                option("max_length=<tokens>")
                    .note("in --hparams; longer ones are left out", "写在 --hparams 中；更长的会被略去")
                    .when("trains"),
            ),
            (
                "shorter-sequences",
                option("max_input_size=<tokens>")
                    .note("in --decode_hparams", "写在 --decode_hparams 中")
                    .unless("trains"),
            ),
            ("preallocation-fraction", option("--worker_gpu_memory_fraction=<share>")),
        ],
        lacks: &[
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "chunk-the-operation",
            "fused-attention",
            "fewer-workers",
        ],
    },
    // research/object_detection/ of tensorflow/models: model_main_tf2.py and
    // protos/{train,input_reader,image_resizer, eval}.proto, which name what may stand in pipeline.config.
    // Batch of validation is 1 unless set. Queues of 2000 images (queue_capacity, min_after_dequeue,
    // prefetch_size) are marked deprecated. No option for 16 bit on a GPU, accumulation or checkpoints
    // stands in them.
    Tool {
        name: "TensorFlow's Object Detection API",
        files: &[
            "/object_detection/model_lib_v2.py",
            "/object_detection/model_lib.py",
            "/object_detection/model_main_tf2.py",
            "/object_detection/model_main.py",
        ],
        scripts: &["model_main_tf2.py", "model_main.py"],
        clue: None,
        rows: &[
            ("smaller-batch", OBJECT_DETECTION_BATCH),
            ("smaller-images", OBJECT_DETECTION_SIDES),
            ("freeze-layers", OBJECT_DETECTION_FROZEN),
            (
                "bound-the-cache",
                said(
                    Target::Program,
                    "train_input_reader in pipeline.config: shuffle_buffer_size 256, mask_type PNG_MASKS",
                    "pipeline.config 的 train_input_reader：shuffle_buffer_size 256、mask_type PNG_MASKS",
                ),
            ),
            (
                "read-less-at-once",
                said(
                    Target::Program,
                    "train_input_reader in pipeline.config: shuffle_buffer_size 256, num_parallel_batches 1",
                    "pipeline.config 的 train_input_reader：shuffle_buffer_size 256、num_parallel_batches 1",
                ),
            ),
            ("fewer-workers", OBJECT_DETECTION_READERS),
        ],
        lacks: NOT_OF_OBJECT_DETECTION,
    },
    // Its train.py of 2017 and 2018, on queues. Seen in tensorflow/models, research/object_detection/protos/train.proto
    // at 095d3c0 (batch_size 32, batch_queue_capacity 150, prefetch_queue_capacity 5) and input_reader.proto
    // (queue_capacity 2000, min_after_dequeue 1000, later marked deprecated), its issue 1817: what waits in them are
    // decoded pictures in the host's memory. Of its scripts alone --pipeline_config_path is an option.
    Tool {
        name: "TensorFlow's Object Detection API of 2017",
        files: &[
            "/object_detection/trainer.py",
            "/object_detection/train.py",
            "/object_detection/legacy/trainer.py",
            "/object_detection/legacy/train.py",
        ],
        scripts: &["--pipeline_config_path"],
        clue: None,
        rows: &[
            ("smaller-batch", OBJECT_DETECTION_BATCH),
            ("smaller-images", OBJECT_DETECTION_SIDES),
            ("freeze-layers", OBJECT_DETECTION_FROZEN),
            ("raise-host-limit", OBJECT_DETECTION_QUEUES),
            ("read-less-at-once", OBJECT_DETECTION_QUEUES),
            ("bound-the-cache", OBJECT_DETECTION_QUEUES),
            ("fewer-workers", OBJECT_DETECTION_READERS),
        ],
        lacks: NOT_OF_OBJECT_DETECTION,
    },
    // OpenMMLab's projects on mmengine (MMDetection 3, MMSegmentation 1, MMPose 1 ...): mmdetection
    // tools/train.py, configs/_base_/datasets/coco_detection.py, mmengine 0.11.0rc0
    // (docs/en/common_usage/save_gpu_memory.md, runner/runner.py). tools/train.py has --amp and
    // --cfg-options; val_dataloader has batch 1 unless set. activation_checkpointing is a list of modules;
    // with_cp is ResNet's own.
    Tool {
        name: "OpenMMLab on mmengine",
        files: &["/mmengine/runner/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("train_dataloader.batch_size={batch} optim_wrapper.accumulative_counts={steps}")
                    .note("behind --cfg-options", "写在 --cfg-options 之后"),
            ),
            (
                "gradient-accumulation",
                option("optim_wrapper.accumulative_counts={steps}")
                    .note("behind --cfg-options", "写在 --cfg-options 之后"),
            ),
            (
                "smaller-eval-batch",
                option("val_dataloader.batch_size={tried}").note("behind --cfg-options", "写在 --cfg-options 之后"),
            ),
            (
                "gradient-checkpointing",
                option("model.backbone.with_cp=True").note(
                    "behind --cfg-options; or activation_checkpointing, a list of modules",
                    "写在 --cfg-options 之后；或 activation_checkpointing，模块列表",
                ),
            ),
            ("mixed-precision", option("--amp").when("trains")),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a smaller scale of Resize in train_pipeline of the configuration",
                    "配置文件 train_pipeline 中 Resize 的 scale 改小",
                ),
            ),
            (
                "fewer-workers",
                option("train_dataloader.num_workers={tried}").note("behind --cfg-options", "写在 --cfg-options 之后"),
            ),
        ],
        lacks: &["group-by-length"],
    },
    // The same on mmcv 1 (MMDetection 1 and 2, MMSegmentation 0 ...): mmcv/runner/hooks/optimizer.py, mmdetection 2
    // docs/en/faq.md and mmdet/utils/compat_config.py (imgs_per_gpu became samples_per_gpu in MMDetection 2.0;
    // MMDetection 1, whose configurations end in _fpn_1x.py, has no --cfg-options). fp16.loss_scale was seen as 512.
    // and 'dynamic'; the cumulative hook as options in scripts of projects.
    Tool {
        name: "OpenMMLab on mmcv 1",
        files: &[
            "/mmcv/runner/",
            "/mmcv/parallel/",
            "/mmdet/apis/train.py",
            "/mmdet3d/apis/train.py",
            "/mmseg/apis/train.py",
            "_fpn_1x.py",
            "_fpn_2x.py",
        ],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("data.samples_per_gpu={batch}").note(
                    "behind --cfg-options; imgs_per_gpu in MMDetection 1",
                    "写在 --cfg-options 之后；MMDetection 1 中为 imgs_per_gpu",
                ),
            ),
            (
                "gradient-accumulation",
                option(
                    "optimizer_config.type=GradientCumulativeOptimizerHook \
                     optimizer_config.cumulative_iters={steps}",
                )
                .note("behind --cfg-options", "写在 --cfg-options 之后"),
            ),
            (
                "gradient-checkpointing",
                option("model.backbone.with_cp=True").note("behind --cfg-options", "写在 --cfg-options 之后"),
            ),
            ("mixed-precision", option("fp16 = dict(loss_scale=512.)").note("in the configuration", "写在配置文件中")),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a smaller img_scale of Resize in train_pipeline of the configuration",
                    "配置文件 train_pipeline 中 Resize 的 img_scale 改小",
                ),
            ),
            (
                "chunk-the-operation",
                said(
                    Target::Program,
                    "gpu_assign_thr=<boxes> in the assigner: overlaps of more boxes are computed on the CPU",
                    "在 assigner 中设 gpu_assign_thr=<框数>：框更多时在 CPU 上计算重叠",
                ),
            ),
            (
                "fewer-workers",
                option("data.workers_per_gpu=0").note(
                    "2 in its configurations; MMDetection 1: in the configuration",
                    "其配置中为 2；MMDetection 1 写在配置文件中",
                ),
            ),
        ],
        lacks: &["group-by-length", "shorter-sequences"],
    },
    // maskrcnn_benchmark/config/defaults.py and README.md, November 2019: keys behind the command. Batches
    // are those of all GPUs together; for a smaller one the README changes the learning rate, the schedule
    // and MODEL.RPN.FPN_POST_NMS_TOP_N_TRAIN (1000 for each picture) too. DTYPE "float16" needs apex.
    Tool {
        name: "maskrcnn-benchmark",
        files: &["/maskrcnn_benchmark/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("SOLVER.IMS_PER_BATCH {total}")
                    .note(
                        "MODEL.RPN.FPN_POST_NMS_TOP_N_TRAIN 1000 for each picture",
                        "每张图片对应 MODEL.RPN.FPN_POST_NMS_TOP_N_TRAIN 1000",
                    )
                    .when("trains"),
            ),
            ("smaller-eval-batch", option("TEST.IMS_PER_BATCH {tried}")),
            ("mixed-precision", option("DTYPE \"float16\"").note("needs apex", "需要 apex")),
            (
                "smaller-images",
                option("INPUT.MAX_SIZE_TRAIN {shown}")
                    .note("and a smaller INPUT.MIN_SIZE_TRAIN", "并减小 INPUT.MIN_SIZE_TRAIN")
                    .when("trains"),
            ),
            (
                "smaller-images",
                option("INPUT.MAX_SIZE_TEST {shown}")
                    .note("and a smaller INPUT.MIN_SIZE_TEST", "并减小 INPUT.MIN_SIZE_TEST")
                    .unless("trains"),
            ),
            ("freeze-layers", option("MODEL.BACKBONE.FREEZE_CONV_BODY_AT 4").note("2 unless set", "默认 2")),
            ("fewer-workers", option("DATALOADER.NUM_WORKERS {tried}")),
        ],
        lacks: &[
            "gradient-checkpointing",
            "gradient-accumulation",
            "eight-bit-optimizer",
            "shorter-sequences",
            "group-by-length",
            "chunk-the-operation",
        ],
    },
    // ppdet/utils/cli.py, tools/train.py, ppdet/data/reader.py, configs/*/_base_/*reader.yml,
    // PaddleDetection October 2024; configs/picodet/README.md names TrainReader's batch for this error. One
    // -o takes all keys.
    Tool {
        name: "PaddleDetection",
        files: &["/ppdet/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("TrainReader.batch_size={batch}")
                    .note(
                        "behind -o; and a smaller LearningRate.base_lr",
                        "写在 -o 之后；并相应减小 LearningRate.base_lr",
                    )
                    .when("trains"),
            ),
            ("smaller-eval-batch", option("EvalReader.batch_size={tried}").note("behind -o", "写在 -o 之后")),
            ("mixed-precision", option("--amp").when("trains")),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a smaller target_size of BatchRandomResize or RandomResize in the reader's .yml",
                    "在 reader 的 .yml 中减小 BatchRandomResize 或 RandomResize 的 target_size",
                ),
            ),
            ("shm-size", option("TrainReader.use_shared_memory=False").note("behind -o", "写在 -o 之后")),
            ("fewer-workers", option("worker_num={tried}").note("behind -o", "写在 -o 之后")),
        ],
        lacks: &["gradient-accumulation", "gradient-checkpointing", "eight-bit-optimizer", "chunk-the-operation"],
    },
    // tools/train.py, tools/val.py, tools/predict.py, paddleseg/core/val.py (batch 1),
    // configs/_base_/*.yml, PaddleSeg October 2024. --precision takes fp32 or fp16. Windows of val.py and
    // predict.py: --is_slide.
    Tool {
        name: "PaddleSeg",
        files: &["/paddleseg/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch_size {batch}").when("trains")),
            ("mixed-precision", option("--precision fp16").when("trains")),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a smaller crop_size of RandomPaddingCrop in the configuration",
                    "在配置文件中减小 RandomPaddingCrop 的 crop_size",
                )
                .when("trains"),
            ),
            (
                "smaller-images",
                option("--is_slide --crop_size 512 512 --stride 384 384")
                    .note("windows of a picture", "把图片分成窗口处理")
                    .unless("trains"),
            ),
            ("fewer-workers", option("--num_workers {tried}")),
        ],
        lacks: &[
            "smaller-eval-batch",
            "gradient-accumulation",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "shorter-sequences",
            "chunk-the-operation",
        ],
    },
    // tools/infer/predict_{system,det,rec}.py of PaddleOCR 2 (tools/infer/utility.py): --det_limit_side_len
    // (with --det_limit_type max) was --det_max_side_len in 1.x; --gpu_mem is the first amount of its pool,
    // in MB.
    Tool {
        name: "PaddleOCR's prediction",
        files: &["/tools/infer/predict_system.py", "/tools/infer/predict_det.py", "/tools/infer/predict_rec.py"],
        scripts: &["predict_system.py", "predict_det.py", "predict_rec.py"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--rec_batch_num 1")),
            ("smaller-images", PADDLEOCR_PICTURES),
            ("less-at-once", PADDLEOCR_PICTURES),
            ("less-at-once", option("--rec_batch_num 1").note("lines of text at once", "每次识别的文本行数")),
            ("read-less-at-once", PADDLEOCR_PICTURES),
            ("other-device", option("--use_gpu False")),
            ("preallocation-fraction", option("--gpu_mem 500").note("MB", "单位 MB")),
        ],
        lacks: &["no-grad-in-eval", "chunk-the-operation", "weight-quantisation"],
    },
    // tools/program.py (-o takes all keys), tools/train.py, configs/det/PP-OCRv5/PP-OCRv5_mobile_det.yml
    // and the command for 16 bit in PaddleOCR's documentation. ppocr/data is used for recognition too, so
    // models and losses count. Folders are those of its releases, files those of configs/det and configs/rec.
    // configs/rec/PP-OCRv4/ch_PP-OCRv4_rec.yml: 128 by first_bs of the sampler and batch_size_per_card alike.
    // configs/det/det_mv3_db.yml: the evaluation's batch must be 1, and DetResizeForTest without arguments only
    // enlarges (736, "min"; ppocr/data/imaug/operators.py). ppocr/data/__init__.py reads use_shared_memory of a loader.
    Tool {
        name: "PaddleOCR's training",
        files: &[
            "/paddleocr/tools/train.py",
            "/paddleocr/tools/program.py",
            "/ppocr/modeling/",
            "/ppocr/losses/",
            "/paddleocr-main/",
            "/paddleocr-develop/",
            "/paddleocr-release-2.5/",
            "/paddleocr-release-2.6/",
            "/paddleocr-release-2.7/",
            "/paddleocr-release-2.8/",
            "/paddleocr-release-2.9/",
            "/paddleocr-release-2.10/",
            "/ch_pp-ocrv3_det_cml.yml",
            "/ch_pp-ocrv3_det_dml.yml",
            "/ch_pp-ocrv3_det_student.yml",
            "/ch_pp-ocrv3_rec.yml",
            "/ch_pp-ocrv3_rec_distillation.yml",
            "/ch_pp-ocrv4_det_cml.yml",
            "/ch_pp-ocrv4_det_student.yml",
            "/ch_pp-ocrv4_det_teacher.yml",
            "/ch_pp-ocrv4_rec.yml",
            "/ch_pp-ocrv4_rec_hgnet.yml",
            "/det_mv3_db.yml",
            "/det_r50_vd_db.yml",
            "/en_pp-ocrv3_rec.yml",
            "/en_pp-ocrv4_rec.yml",
            "/pp-ocrv4_mobile_det.yml",
            "/pp-ocrv4_mobile_rec.yml",
            "/pp-ocrv4_server_det.yml",
            "/pp-ocrv4_server_rec.yml",
            "/pp-ocrv5_mobile_det.yml",
            "/pp-ocrv5_mobile_rec.yml",
            "/pp-ocrv5_server_det.yml",
            "/pp-ocrv5_server_rec.yml",
            "/rec_chinese_common_train_v2.0.yml",
            "/rec_chinese_lite_train_v2.0.yml",
        ],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("Train.loader.batch_size_per_card=<half>").note(
                    "behind -o; recognition: and Train.sampler.first_bs=<half>, 128 unless set",
                    "写在 -o 之后；识别模型还需 Train.sampler.first_bs=<half>，默认 128",
                ),
            ),
            ("smaller-eval-batch", PADDLEOCR_SIDE),
            (
                "smaller-eval-batch",
                option("Eval.loader.batch_size_per_card=<half>")
                    .note("behind -o; recognition", "写在 -o 之后；识别模型"),
            ),
            (
                "mixed-precision",
                option("Global.use_amp=True Global.scale_loss=1024.0 Global.use_dynamic_loss_scaling=True")
                    .note("behind -o", "写在 -o 之后"),
            ),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a smaller size of EastRandomCropData in the section Train of the configuration (detection)",
                    "在配置文件 Train 一节中减小 EastRandomCropData 的 size（检测模型）",
                ),
            ),
            ("fewer-workers", option("Train.loader.num_workers={tried}").note("behind -o", "写在 -o 之后")),
            (
                "shm-size",
                option("docker run --shm-size=8g ...").note(
                    "or behind -o: Train.loader.use_shared_memory=False, and Eval.loader's",
                    "或在 -o 之后：Train.loader.use_shared_memory=False，Eval.loader 同样",
                ),
            ),
        ],
        lacks: &["gradient-accumulation", "gradient-checkpointing", "eight-bit-optimizer", "chunk-the-operation"],
    },
    // train.py, eval.py, data/config.py and README.md of YOLACT: the batch is that of all GPUs
    // (--batch_alloc divides it unevenly); learning rate and iterations follow it by themselves. Validation
    // takes one picture after another. Its train.py is known by the names of its configurations.
    Tool {
        name: "YOLACT",
        files: &["/yolact/", "/yolact-master/", "/yolact.py"],
        scripts: &[
            "--config yolact_base_config",
            "--config yolact_im400_config",
            "--config yolact_im700_config",
            "--config yolact_darknet53_config",
            "--config yolact_resnet50_config",
            "--config yolact_resnet50_pascal_config",
            "--config yolact_plus_base_config",
            "--config yolact_plus_resnet50_config",
        ],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch_size={total}").when("trains")),
            ("smaller-batch", YOLACT_BATCH.unless("trains")),
            ("less-at-once", YOLACT_BATCH),
            (
                "smaller-images",
                option("yolact_im400_config").note(
                    "for --config; or a smaller max_size in data/config.py",
                    "用作 --config；或在 data/config.py 中减小 max_size",
                ),
            ),
            ("fewer-workers", option("--num_workers={tried}").when("trains")),
        ],
        lacks: &[
            "smaller-eval-batch",
            "mixed-precision",
            "gradient-accumulation",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "shorter-sequences",
            "chunk-the-operation",
        ],
    },
    // src/parser.c, src/dark_cuda.c, README.md and cfg/ of AlexeyAB's darknet: keys of [net] in the .cfg file. A step
    // takes batch / subdivisions pictures, and gradients are accumulated over subdivisions by themselves. Its own line:
    // "Try to set subdivisions=64 in your cfg-file.". Width and height are multiples of 32. optimized_memory 2 and 3
    // take 8 GB of page-locked memory of the host. 16 bit is decided when it is built (CUDNN_HALF). A program in C: a
    // trace names src/dark_cuda.c. Its last line is perror()'s, with whatever the system's last error was behind it.
    Tool {
        name: "darknet",
        files: &["/src/dark_cuda.c", "/darknet/"],
        scripts: &[
            "darknet",
            "darknet.exe",
            "CUDA Error: out of memory: No error",
            "CUDA Error: out of memory: File exists",
            "CUDA Error: out of memory: Success",
            "CUDA Error: out of memory: Resource temporarily unavailable",
            "Try to set subdivisions=64 in your cfg-file",
        ],
        clue: None,
        rows: &[
            ("less-at-once", DARKNET_PICTURES),
            ("smaller-batch", DARKNET_PICTURES.unless("trains")),
            (
                "smaller-batch",
                option("subdivisions=64")
                    .note("[net] in the .cfg; batch stays as it is", ".cfg 的 [net]；batch 不变")
                    .when("trains"),
            ),
            (
                "gradient-accumulation",
                option("subdivisions=64").note("[net] in the .cfg", ".cfg 的 [net]").when("trains"),
            ),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "[net] in the .cfg: width=416 and height=416 (multiples of 32); random=0 in [yolo]",
                    ".cfg 的 [net]：width=416、height=416（32 的倍数）；[yolo] 中 random=0",
                ),
            ),
            (
                "activation-offload",
                option("optimized_memory=3")
                    .note("[net] in the .cfg; 8 GB of the host's memory", ".cfg 的 [net]；占用 8 GB 主机内存")
                    .when("trains"),
            ),
            (
                "cudnn-workspace",
                option("workspace_size_limit_MB=256")
                    .note("[net] in the .cfg; 1024 unless set", ".cfg 的 [net]；默认 1024"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "fewer-workers",
            "chunk-the-operation",
            "no-grad-in-eval",
        ],
    },
    // deeplabcut/compat.py (train_network, analyze_videos), pose_estimation_pytorch/config/base/*.yaml,
    // docs/pytorch/pytorch_config.md, pose_cfg.yaml, create_project/new.py, DeepLabCut 3.0.1. Two engines:
    // PyTorch reads pytorch_config.yaml, TensorFlow pose_cfg.yaml (batch 1 unless set). Videos are analysed
    // with batch_size of the project's config.yaml (8 unless set). allow_growth is TensorFlow's.
    Tool {
        name: "DeepLabCut",
        files: &["/deeplabcut/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("batch_size: {batch}")
                    .note(
                        "train_settings in pytorch_config.yaml (pose_cfg.yaml with TensorFlow)",
                        "pytorch_config.yaml 的 train_settings（TensorFlow 则为 pose_cfg.yaml）",
                    )
                    .when("trains"),
            ),
            (
                "smaller-batch",
                option("batch_size: {batch}")
                    .note("in the project's config.yaml", "写在项目的 config.yaml 中")
                    .unless("trains"),
            ),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "smaller crop_sampling in pytorch_config.yaml (global_scale in pose_cfg.yaml)",
                    "减小 pytorch_config.yaml 的 crop_sampling（或 pose_cfg.yaml 的 global_scale）",
                )
                .when("trains"),
            ),
            (
                "fewer-workers",
                option("dataloader_workers: {tried}")
                    .note("train_settings in pytorch_config.yaml", "pytorch_config.yaml 的 train_settings"),
            ),
            ("other-device", option("device: cpu").note("in pytorch_config.yaml", "写在 pytorch_config.yaml 中")),
            (
                "preallocation-fraction",
                option("allow_growth=True").note(
                    "train_network and analyze_videos, TensorFlow",
                    "train_network 和 analyze_videos，TensorFlow",
                ),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-accumulation",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "chunk-the-operation",
        ],
    },
    // sleap/training_profiles/*.json, sleap/nn/{training,inference}.py, sleap/config/*.yaml, SLEAP 1.4.1
    // (TensorFlow): keys of the training profile; the window shows them as Batch Size and Input Scaling.
    Tool {
        name: "SLEAP",
        files: &["/sleap/nn/"],
        scripts: &["sleap-train", "sleap-track", "sleap-label"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("\"batch_size\": {batch}")
                    .note(
                        "optimization in the training profile; Batch Size in the window",
                        "训练配置的 optimization；窗口中为 Batch Size",
                    )
                    .when("trains"),
            ),
            ("smaller-batch", option("--batch_size {batch}").note("4 unless set", "默认 4").unless("trains")),
            (
                "smaller-images",
                option("\"input_scaling\": 0.5")
                    .note(
                        "preprocessing in the training profile; Input Scaling",
                        "训练配置的 preprocessing；Input Scaling",
                    )
                    .when("trains"),
            ),
            (
                "bound-the-cache",
                option("\"preload_data\": false")
                    .note("optimization in the training profile", "训练配置的 optimization"),
            ),
            ("other-device", option("--cpu")),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-accumulation",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "chunk-the-operation",
            "no-grad-in-eval",
        ],
    },
    // sleap_nn/config/{trainer,data}_config.py, sleap_nn/cli.py, docs/help/faq.md, sleap-nn 0.3.3
    // (PyTorch): keys of the YAML file of `sleap-nn train`. Optimizers are Adam and AdamW.
    Tool {
        name: "sleap-nn",
        files: &["/sleap_nn/"],
        scripts: &["sleap-nn"],
        clue: None,
        rows: &[
            ("smaller-batch", option("trainer_config.train_data_loader.batch_size: {batch}").when("trains")),
            ("smaller-batch", option("--batch_size {batch}").note("4 unless set", "默认 4").unless("trains")),
            ("smaller-eval-batch", option("trainer_config.val_data_loader.batch_size: {tried}")),
            ("smaller-images", option("data_config.preprocessing.scale: 0.5").when("trains")),
            ("bound-the-cache", option("data_config.data_pipeline_fw: torch_dataset_cache_img_disk")),
            ("fewer-workers", option("trainer_config.train_data_loader.num_workers: {tried}")),
            ("other-device", option("--device cpu").unless("trains")),
        ],
        lacks: &["eight-bit-optimizer", "lighter-optimizer", "gradient-checkpointing", "chunk-the-operation"],
    },
    // lib/cli/args_train.py, lib/cli/args_extract_convert.py, plugins/train/train_config.py and
    // model/*_defaults.py, lib/training/train.py, lib/infer/handler.py of faceswap, June 2026. Its own
    // line: "You do not have enough GPU memory available to train the selected model at the selected
    // settings." Sizes of a model, lowmem and the optimizer are fixed when a model is made. Batch sizes of
    // extraction stand in config/extract.ini.
    Tool {
        name: "faceswap",
        files: &["/faceswap/", "/lib/training/train.py", "/plugins/train/model/"],
        scripts: &["faceswap.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("-b {batch}").note("Batch Size in the window", "窗口中为 Batch Size").when("trains"),
            ),
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "a smaller batch size of the plugin in the settings of extraction (config/extract.ini)",
                    "在提取设置（config/extract.ini）中减小插件的 batch size",
                )
                .unless("trains"),
            ),
            (
                "mixed-precision",
                said(
                    Target::Program,
                    "Mixed Precision on in the settings of training (menu Settings, or the folder config)",
                    "在训练设置中打开 Mixed Precision（Settings 菜单或 config 文件夹）",
                )
                .when("trains"),
            ),
            (
                "lighter-optimizer",
                said(
                    Target::Program,
                    "a new model with the optimizer lion in the settings of training",
                    "新建模型，在训练设置中选优化器 lion",
                ),
            ),
            (
                "smaller-images",
                said(
                    Target::Program,
                    "a new model with a smaller output size, or with its lowmem option",
                    "新建模型：减小输出尺寸，或打开它的 lowmem 选项",
                )
                .when("trains"),
            ),
            (
                "freeze-layers",
                option("--freeze-weights").note("or -t lightweight for a new model", "新建模型可用 -t lightweight"),
            ),
            ("fewer-workers", option("-j {tried}").note("faceswap.py convert", "faceswap.py convert").unless("trains")),
            ("fewer-at-once", option("-j {tried}").note("faceswap.py convert", "faceswap.py convert").unless("trains")),
        ],
        lacks: &["gradient-checkpointing", "gradient-accumulation", "eight-bit-optimizer", "chunk-the-operation"],
    },
    // models/Model_{SAEHD,AMP}/Model.py, models/ModelBase.py, mainscripts/Merger.py, main.py of
    // DeepFaceLab, April 2023: it asks for its settings. Press Enter within 2 seconds of the start to be
    // asked again; Resolution and dimensions are asked once, for a new model. 16 bit is commented out.
    // Quick96 asks for none of this.
    Tool {
        name: "DeepFaceLab",
        files: &[
            "/deepfacelab/",
            "/models/model_saehd/model.py",
            "/models/model_amp/model.py",
            "/core/leras/",
            "/mainscripts/trainer.py",
        ],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "Enter within 2 seconds of the start, then Batch_size: {batch}",
                    "启动后 2 秒内按 Enter，然后 Batch_size 输入 {batch}",
                )
                .when("trains"),
            ),
            (
                "cpu-offload",
                said(
                    Target::Program,
                    "Enter within 2 seconds of the start, then Place models and optimizer on GPU: n",
                    "启动后 2 秒内按 Enter，然后 Place models and optimizer on GPU 输入 n",
                )
                .when("trains"),
            ),
            (
                "lighter-optimizer",
                said(
                    Target::Program,
                    "Enter within 2 seconds of the start, then Use AdaBelief optimizer: n (SAEHD)",
                    "启动后 2 秒内按 Enter，然后 Use AdaBelief optimizer 输入 n（SAEHD）",
                )
                .when("trains"),
            ),
            (
                "smaller-images",
                said(Target::Program, "a new model with a smaller Resolution", "新建模型，Resolution 输入更小的值")
                    .when("trains"),
            ),
            (
                "freeze-layers",
                said(
                    Target::Program,
                    "a new model with fewer dimensions; of 2019 (H64, H128): Use lightweight autoencoder? y",
                    "新建模型，减小各 dimensions；2019 年的 H64、H128：Use lightweight autoencoder? 输入 y",
                )
                .when("trains"),
            ),
            (
                "fewer-workers",
                said(
                    Target::Program,
                    "fewer at Number of workers, where faces are merged",
                    "合成时 Number of workers 输入更小的值",
                )
                .unless("trains"),
            ),
            ("other-device", option("--cpu-only")),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "gradient-accumulation",
            "eight-bit-optimizer",
            "shorter-sequences",
            "chunk-the-operation",
        ],
    },
    // webui.py, configs/config.py, train/train.py, docs/en/faq_en.md, docs/cn/faq.md,
    // i18n/locale/en_US.json of RVC, July 2026 (folders infer/lib and infer/modules before). Half precision
    // and lengths follow the GPU by themselves (configs/config.py); its loader has 4 workers.
    Tool {
        name: "RVC",
        files: &[
            "/retrieval-based-voice-conversion-webui/",
            "/infer/modules/vc/",
            "/infer/modules/train/",
            "/infer/lib/infer_pack/",
            "/infer/vc/pipeline.py",
        ],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                said(Target::Program, "Batch size per GPU: {batch}", "每张显卡的batch_size：{batch}").when("trains"),
            ),
            (
                "keep-data-on-host",
                said(Target::Program, "Cache all training sets to GPU memory: No", "是否缓存所有训练集至显存：否")
                    .when("trains"),
            ),
            (
                "shorter-sequences",
                said(
                    Target::Program,
                    "smaller x_pad, x_query, x_center and x_max in configs/config.py",
                    "在 configs/config.py 中减小 x_pad、x_query、x_center、x_max",
                )
                .unless("trains"),
            ),
            (
                "less-at-once",
                said(
                    Target::Program,
                    "smaller x_pad, x_query, x_center and x_max in configs/config.py",
                    "在 configs/config.py 中减小 x_pad、x_query、x_center、x_max",
                )
                .unless("trains"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "gradient-accumulation",
            "eight-bit-optimizer",
            "fewer-workers",
            "smaller-images",
            "chunk-the-operation",
        ],
    },
    // configs_template/*, train.py, inference_main.py, preprocess_hubert_f0.py, README.md of so-vits-svc,
    // October 2023. train.py itself takes 5 workers and validates with batch 1. The README asks for
    // recordings of 5 to 15 seconds.
    Tool {
        name: "so-vits-svc",
        files: &["/so-vits-svc/", "/preprocess_hubert_f0.py"],
        scripts: &["preprocess_hubert_f0.py", "train_diff.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("\"batch_size\": {batch}")
                    .note(
                        "train in config.json; batch_size in diffusion.yaml",
                        "config.json 的 train；扩散模型为 diffusion.yaml 的 batch_size",
                    )
                    .when("trains"),
            ),
            (
                "mixed-precision",
                option("\"fp16_run\": true")
                    .note(
                        "train in config.json; amp_dtype: fp16 in diffusion.yaml",
                        "config.json 的 train；扩散模型为 amp_dtype: fp16",
                    )
                    .when("trains"),
            ),
            (
                "bound-the-cache",
                option("\"all_in_mem\": false")
                    .note("cache_all_data: false in diffusion.yaml", "扩散模型为 cache_all_data: false"),
            ),
            ("keep-data-on-host", option("cache_device: 'cpu'").note("diffusion.yaml", "diffusion.yaml")),
            ("less-at-once", option("--clip 30").note("seconds of sound at once", "每次处理的秒数").unless("trains")),
            (
                "shorter-sequences",
                option("--clip 30").note("seconds of sound at once", "每次处理的秒数").unless("trains"),
            ),
            (
                "shorter-sequences",
                said(
                    Target::Program,
                    "recordings cut to 5 to 15 seconds before preprocessing",
                    "预处理前把录音切成 5 到 15 秒的片段",
                )
                .when("trains"),
            ),
            (
                "fewer-at-once",
                option("--num_processes 1").note("preprocess_hubert_f0.py", "preprocess_hubert_f0.py").unless("trains"),
            ),
            ("other-device", option("--device cpu").unless("trains")),
        ],
        lacks: &[
            "gradient-checkpointing",
            "gradient-accumulation",
            "eight-bit-optimizer",
            "fewer-workers",
            "smaller-eval-batch",
            "smaller-images",
            "chunk-the-operation",
        ],
    },
    // monailabel/tasks/train/basic_train.py, monailabel/tasks/infer/basic_infer.py, monailabel/config.py,
    // sample-apps/radiology/README.md, December 2025. Options of the training in the viewer:
    // train_batch_size and val_batch_size are 1 unless set, dataset is SmartCacheDataset unless set, AMP is
    // in force. The size of windows (roi_size) stands in the app's Python files; windows are computed one
    // at a time.
    Tool {
        name: "MONAI Label",
        files: &["/monailabel/"],
        scripts: &["monailabel"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                said(
                    Target::Program,
                    "train_batch_size {batch} in the options of the training",
                    "训练选项中 train_batch_size 设为 {batch}",
                )
                .when("trains"),
            ),
            (
                "smaller-eval-batch",
                said(
                    Target::Program,
                    "val_batch_size {tried} in the options of the training",
                    "训练选项中 val_batch_size 设为 {tried}",
                ),
            ),
            (
                "bound-the-cache",
                said(
                    Target::Program,
                    "dataset: PersistentDataset or Dataset in the options of the training",
                    "训练选项中 dataset 选 PersistentDataset 或 Dataset",
                ),
            ),
            ("fewer-at-once", line(Target::Shell, "export MONAI_LABEL_INFER_CONCURRENCY=1").unless("trains")),
            (
                "other-device",
                said(Target::Program, "device: cpu in the options of the model", "在模型选项中 device 选 cpu"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-accumulation",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "smaller-images",
            "chunk-the-operation",
            "no-grad-in-eval",
        ],
    },
    // 3D Gaussian Splatting, the first program, and forks that keep its folders. Seen in
    // graphdeco-inria/gaussian-splatting: arguments/__init__.py (densify_until_iter 15000,
    // densify_grad_threshold 0.0002; data_device in README.md, a shortened data_on_cpu in one stored version),
    // README.md (FAQ: 24 GB). No batch, no layers; 32 bit throughout. Lines of its own: "Optimizing output/…",
    // "[ITER 7000] Evaluating test: L1 … PSNR …".
    Tool {
        name: "3D Gaussian Splatting",
        files: &["/gaussian_renderer/__init__.py", "/scene/gaussian_model.py", "/gaussian-splatting/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-images",
                option("--resolution 2").note("or -r 2: half; 4: a quarter", "或 -r 2：一半；4：四分之一"),
            ),
            ("smaller-eval-batch", option("--test_iterations -1").note("no tests in between", "训练中不做测试")),
        ],
        lacks: &[
            "smaller-batch",
            "gradient-accumulation",
            "gradient-checkpointing",
            "mixed-precision",
            "eight-bit-optimizer",
            "lighter-optimizer",
            "cpu-offload",
            "shard-states",
            "more-devices",
            "freeze-layers",
        ],
    },
    // nerfstudio. Seen in nerfstudio-project/nerfstudio at 50e0e3c (1.1.5): data/datamanagers/base_datamanager.py,
    // full_images_datamanager.py (cache_images gpu, disk is the newest value), models/splatfacto.py
    // (densify_grad_thresh 0.0008, stop_split_at 15000), models/base_model.py, configs/method_configs.py (rays 4096; 16
    // bit by itself but for splatfacto), docs/quickstart/installation.md (--shm-size=12gb), pipelines/dynamic_batch.py
    // (of instant-ngp: the rays follow from target_num_samples, 262144). Its command writes names with hyphens.
    // Splatfacto has no rays.
    Tool {
        name: "nerfstudio",
        files: &["/nerfstudio/engine/", "/nerfstudio/scripts/", "/nerfstudio/data/datamanagers/"],
        scripts: &["ns-train", "ns-eval", "ns-render", "ns-export", "ns-viewer"],
        clue: None,
        rows: &[
            (
                "fewer-gaussians",
                option("--pipeline.model.densify-grad-thresh 0.0016")
                    .note("0.0008 unless set", "默认 0.0008")
                    .when("trains"),
            ),
            (
                "fewer-gaussians",
                option("--pipeline.model.stop-split-at 10000").note("15000 unless set", "默认 15000").when("trains"),
            ),
            ("smaller-batch", NERFSTUDIO_RAYS.when("trains")),
            ("less-at-once", NERFSTUDIO_RAYS),
            (
                "smaller-eval-batch",
                option("--pipeline.model.eval-num-rays-per-chunk 8192")
                    .note("32768 in nerfacto", "nerfacto 默认 32768"),
            ),
            (
                "smaller-images",
                option("--pipeline.datamanager.camera-res-scale-factor 0.5")
                    .note("half the size", "尺寸减半")
                    .when("trains"),
            ),
            (
                "weight-offload",
                option("--pipeline.datamanager.cache-images cpu")
                    .note("of Splatfacto", "用于 Splatfacto")
                    .when("trains"),
            ),
            (
                "read-less-at-once",
                option("--pipeline.datamanager.cache-images disk")
                    .note("Splatfacto, newest releases", "Splatfacto，较新版本")
                    .when("trains"),
            ),
            (
                "read-less-at-once",
                option("--pipeline.datamanager.train-num-images-to-sample-from 40")
                    .note("of nerfacto", "用于 nerfacto")
                    .when("trains"),
            ),
            ("fewer-workers", option("--pipeline.datamanager.dataloader-num-workers {tried}").when("trains")),
            ("shm-size", option("docker run --shm-size=12gb ...").note("or --ipc=host", "或 --ipc=host")),
        ],
        // In force: mixed-precision (not for Splatfacto, which gains nothing). No option: the rest.
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "shard-states",
            "cpu-offload",
            "more-devices",
            "shorter-sequences",
        ],
    },
    // mlx-lm, mlx_lm/LORA.md at 03eb6bf ("Memory Issues") and mlx_lm/lora.py at 0304b28: batch 4, 16 layers and 2048
    // tokens unless set; a base of 4 bits is made by its converter. The option for layers was --lora-layers before, as
    // in lora.py of mlx-examples.
    Tool {
        name: "MLX's LoRA",
        files: &["/mlx_lm/lora.py", "/mlx_lm/tuner/"],
        scripts: &["mlx_lm.lora", "--lora-layers"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch-size {batch}")),
            ("less-at-once", option("--batch-size {batch}")),
            ("gradient-checkpointing", option("--grad-checkpoint").note("of mlx_lm.lora", "mlx_lm.lora 的选项")),
            (
                "freeze-layers",
                option("--num-layers 4").note("16 unless set; --lora-layers before", "默认 16；旧版为 --lora-layers"),
            ),
            (
                "shorter-sequences",
                option("--max-seq-length 1024").note(
                    "of mlx_lm.lora; else split the samples of train.jsonl",
                    "mlx_lm.lora 的选项；否则切分 train.jsonl 的样本",
                ),
            ),
            (
                "qlora",
                said(
                    Target::Program,
                    "a base of 4 bits: mlx_lm.convert -q, then --model with its folder",
                    "4 位的基础模型：先用 mlx_lm.convert -q 转换，再以 --model 指定其目录",
                ),
            ),
        ],
        lacks: &["mixed-precision", "eight-bit-optimizer", "chunk-the-operation"],
    },
    // RWKV-infctx-trainer at 70d02c4 (2024-04), RWKV-v5/config-example.yaml and src/model.py: keys of its YAML file.
    // trainer: microbatch_size 1 (target_batch_size is kept by accumulation), strategy deepspeed_stage_2_offload (the
    // one it starts from; stage_3_offload beyond), precision bf16; model: grad_cp true by the code, ctx_len 2048,
    // longer samples are split; bptt_truncated_learning false.
    Tool {
        name: "RWKV-infctx-trainer",
        files: &["/rwkv-infctx-trainer/", "/lightning_trainer.py"],
        scripts: &["lightning_trainer.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("microbatch_size: <half>")
                    .note("trainer; target_batch_size stays", "trainer 一节；target_batch_size 不变"),
            ),
            ("gradient-checkpointing", option("grad_cp: true").note("model", "model 一节")),
            (
                "shorter-sequences",
                option("ctx_len: <half>").note("model: longer samples are split", "model 一节：更长的样本会被切分"),
            ),
            (
                "cpu-offload",
                option("strategy: deepspeed_stage_2_offload")
                    .note("trainer; then deepspeed_stage_3_offload", "trainer 一节；再试 deepspeed_stage_3_offload"),
            ),
            ("shard-states", option("strategy: deepspeed_stage_3_offload").note("trainer", "trainer 一节")),
        ],
        // In force: mixed-precision (bf16, or DeepSpeed's fp16).
        lacks: &[
            "mixed-precision",
            "activation-offload",
            "chunk-the-operation",
            "eight-bit-optimizer",
            "fused-attention",
            "smaller-images",
        ],
    },
    // BasicSR at 8d56e3a (2024-05), options/train/*.yml and docs/Config.md: batch_size_per_gpu, gt_size,
    // num_worker_per_gpu and prefetch_mode of datasets/train; SwinIR's network_g takes use_checkpoint. Before 2020
    // (BasicSR and MMSR) the same are batch_size, GT_size and n_workers. It trains in 32 bit. Line of its own: "Start
    // training from epoch: 0, iter: 0".
    Tool {
        name: "BasicSR",
        files: &["/basicsr/train.py", "/basicsr/models/", "/mmsr/codes/"],
        scripts: &["-opt"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("batch_size_per_gpu: <half>")
                    .note(
                        "datasets/train of the .yml; batch_size in older ones",
                        ".yml 的 datasets/train；旧版为 batch_size",
                    )
                    .when("trains"),
            ),
            (
                "smaller-images",
                option("gt_size: <half>")
                    .note("datasets/train of the .yml; once GT_size", ".yml 的 datasets/train；旧版为 GT_size"),
            ),
            (
                "gradient-checkpointing",
                option("use_checkpoint: true").note("network_g, of SwinIR alone", "network_g，仅 SwinIR"),
            ),
            (
                "fewer-workers",
                option("num_worker_per_gpu: {tried}")
                    .note("datasets/train of the .yml; once n_workers", ".yml 的 datasets/train；旧版为 n_workers"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "eight-bit-optimizer",
            "activation-offload",
            "fused-attention",
            "shorter-sequences",
        ],
    },
    // DrSleep's DeepLab at 066023c: train.py, fine_tune.py (--batch-size 10, --input-size 321,321), train_msc.py with
    // --grad-update-every beside. Samples come from a queue; --not-restore-last is an option of its scripts alone.
    Tool {
        name: "tensorflow-deeplab-resnet",
        files: &["/tensorflow-deeplab-resnet/", "/deeplab_resnet/"],
        scripts: &["--not-restore-last"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch-size 5").note("10 unless set", "默认 10")),
            ("smaller-images", option("--input-size 257,257").note("321,321 unless set", "默认 321,321")),
            ("gradient-accumulation", option("--grad-update-every 2").note("of train_msc.py", "用于 train_msc.py")),
        ],
        lacks: &[
            "gradient-checkpointing",
            "mixed-precision",
            "chunk-the-operation",
            "eight-bit-optimizer",
            "evaluate-each-step",
        ],
    },
    // EmotiVoice at bc2de8c (2024-08), config/joint/config.py and config/template.py, copied to
    // exp/NAME/config/config.py: batch_size 16 (8 in the template), segment_size; train_am_vocoder_joint.py has 8
    // workers, 32 bit and no checkpoints.
    Tool {
        name: "EmotiVoice",
        files: &["/train_am_vocoder_joint.py", "/emotivoice/"],
        scripts: &["train_am_vocoder_joint.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("batch_size = 4")
                    .note("16 unless set; config.py of --config_folder", "默认 16；--config_folder 中的 config.py"),
            ),
            (
                "shorter-sequences",
                said(Target::Program, "recordings cut to 10 seconds or less", "把录音切成 10 秒以内的片段"),
            ),
        ],
        lacks: &[
            "gradient-checkpointing",
            "mixed-precision",
            "activation-offload",
            "eight-bit-optimizer",
            "fewer-workers",
            "chunk-the-operation",
            "gradient-accumulation",
        ],
    },
    // Diff-SVC at 76154f0, training/config.yaml and config_nsf.yaml: ds_workers 4 (or the variable NUM_WORKERS,
    // training/dataset/base_dataset.py), max_sentences 88, max_tokens 128000, accumulate_grad_batches 1, max_frames
    // 42000.
    Tool {
        name: "Diff-SVC",
        files: &["/diff-svc/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("max_sentences: <half>")
                    .note("88 unless set; config.yaml", "默认 88；config.yaml")
                    .when("trains"),
            ),
            ("gradient-accumulation", option("accumulate_grad_batches: <twice>").note("config.yaml", "config.yaml")),
            (
                "shorter-sequences",
                said(Target::Program, "recordings cut to 5 to 15 seconds", "把录音切成 5 到 15 秒的片段"),
            ),
            ("fewer-workers", option("ds_workers: 0").note("4 unless set; config.yaml", "默认 4；config.yaml")),
            ("fewer-at-once", option("ds_workers: 0").note("4 unless set; config.yaml", "默认 4；config.yaml")),
        ],
        lacks: &["gradient-checkpointing", "eight-bit-optimizer", "activation-offload", "chunk-the-operation"],
    },
    // GPT-SoVITS at 48b1a01 (2026-08): webui.py ("每张显卡的batch_size" of both trainings, by the GPU's memory unless
    // set; a tick for checkpoints, of v3 and v4 alone), GPT_SoVITS/configs/s1*.yaml and s2*.json. Weights are half
    // unless the page is told otherwise.
    Tool {
        name: "GPT-SoVITS",
        files: &["/gpt_sovits/"],
        scripts: &[],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                said(Target::Program, "Batch size per GPU: {batch}", "每张显卡的batch_size：{batch}").when("trains"),
            ),
            (
                "gradient-checkpointing",
                said(
                    Target::Program,
                    "tick gradient checkpointing (v3 and v4)",
                    "勾选“v3是否开启梯度检查点节省显存占用”（v3、v4）",
                )
                .when("trains"),
            ),
            (
                "shorter-sequences",
                said(Target::Program, "shorter slices of the recordings", "录音切片切得更短").when("trains"),
            ),
            (
                "shorter-sequences",
                said(Target::Program, "less text at once: one sentence after another", "减少单次文本：逐句合成")
                    .unless("trains"),
            ),
        ],
        lacks: &["eight-bit-optimizer", "activation-offload", "chunk-the-operation", "fewer-workers", "smaller-images"],
    },
    // SimpleTuner at bc8e6ab (2026-08), documentation/OPTIONS.md: options or keys of config.json. Saving quantised
    // weights takes more: --offload_during_save. --musubi_blocks_to_swap is skipped while gradients are on.
    Tool {
        name: "SimpleTuner",
        files: &["/simpletuner/"],
        scripts: &["simpletuner"],
        clue: None,
        rows: &[
            ("smaller-batch", option("--train_batch_size={batch} --gradient_accumulation_steps={steps}")),
            ("gradient-accumulation", option("--gradient_accumulation_steps={steps}")),
            ("gradient-checkpointing", option("--gradient_checkpointing")),
            ("weight-quantisation", option("--base_model_precision=int8-quanto").note("or nf4-bnb", "或 nf4-bnb")),
            ("eight-bit-optimizer", option("--optimizer=bnb-adamw8bit")),
            ("lighter-optimizer", option("--optimizer=optimi-lion")),
            (
                "weight-offload",
                option("--enable_group_offload").note("and --offload_during_startup", "以及 --offload_during_startup"),
            ),
            ("sharded-checkpoint", option("--offload_during_save").note("quantised weights", "量化的权重")),
            ("smaller-images", option("--resolution=512").note("1024 unless set", "默认 1024")),
        ],
        lacks: &["chunk-the-operation", "activation-offload", "group-by-length"],
    },
    // NeRF by yenchenlin at 63a5a63, run_nerf.py, and forks that keep its names: N_rand 4096 rays, chunk 32768 rays
    // and netchunk 65536 points at once, N_samples 64, N_importance 0, render_factor 0; factor 8 and half_res of the
    // pictures. Pictures of training are kept on the GPU unless --no_batching is given.
    Tool {
        name: "nerf-pytorch",
        files: &["/run_nerf.py", "/run_nerf_helpers.py"],
        scripts: &["run_nerf.py"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--N_rand 1024")
                    .note("4096 rays unless set; --N_samples 64", "默认 4096 条光线；--N_samples 64")
                    .when("trains"),
            ),
            ("smaller-batch", RAYS_AT_ONCE.unless("trains")),
            ("smaller-eval-batch", RAYS_AT_ONCE),
            ("less-at-once", RAYS_AT_ONCE),
            ("chunk-the-operation", RAYS_AT_ONCE),
            (
                "smaller-images",
                option("--factor 16")
                    .note("LLFF, 8 unless set; --half_res of Blender's", "LLFF，默认 8；Blender 用 --half_res"),
            ),
            (
                "keep-data-on-host",
                option("--no_batching").note("rays of one picture at a time", "每次只取一张图片的光线"),
            ),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "eight-bit-optimizer", "shorter-sequences"],
    },
    // OpenPCDet at 028ed72, tools/train.py and forks in which pcdet/ stays: --batch_size is of all GPUs together,
    // --workers 4; --use_amp in newer ones. Voxels and their number stand in the configuration
    // (MAX_NUMBER_OF_VOXELS).
    Tool {
        name: "OpenPCDet",
        files: &["/pcdet/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", option("--batch_size {total}").note("of all GPUs together", "所有 GPU 合计")),
            ("smaller-eval-batch", option("--batch_size {tried}")),
            ("mixed-precision", option("--use_amp").note("newer releases", "较新的版本").when("trains")),
            ("fewer-workers", option("--workers {tried}").note("4 unless set", "默认 4")),
        ],
        lacks: &["gradient-checkpointing", "eight-bit-optimizer", "activation-offload", "shorter-sequences"],
    },
    // PySlowFast at 287ec00 (2026-03), slowfast/config/defaults.py: keys behind the command. Batches are those of all
    // GPUs: TRAIN.BATCH_SIZE 64, TEST.BATCH_SIZE 8; DATA.NUM_FRAMES 8, DATA.TRAIN_CROP_SIZE 224,
    // DATA_LOADER.NUM_WORKERS 8; TRAIN.MIXED_PRECISION and MODEL.ACT_CHECKPOINT False.
    Tool {
        name: "PySlowFast",
        files: &["/slowfast/", "/tools/run_net.py"],
        scripts: &["run_net.py"],
        clue: None,
        rows: &[
            ("smaller-batch", option("TRAIN.BATCH_SIZE {total}").note("of all GPUs", "所有 GPU 合计").when("trains")),
            ("smaller-batch", option("TEST.BATCH_SIZE <half>").note("of all GPUs", "所有 GPU 合计").unless("trains")),
            ("smaller-eval-batch", option("TEST.BATCH_SIZE {tried}").note("of all GPUs", "所有 GPU 合计")),
            ("mixed-precision", option("TRAIN.MIXED_PRECISION True").when("trains")),
            ("gradient-checkpointing", option("MODEL.ACT_CHECKPOINT True").when("trains")),
            (
                "smaller-images",
                option("DATA.TRAIN_CROP_SIZE 160")
                    .note("224 unless set; fewer DATA.NUM_FRAMES", "默认 224；减少 DATA.NUM_FRAMES"),
            ),
            ("fewer-workers", option("DATA_LOADER.NUM_WORKERS {tried}")),
        ],
        lacks: &["eight-bit-optimizer", "activation-offload", "group-by-length", "shorter-sequences"],
    },
    // StyleGAN 3 and what is built on it (Projected GAN, EDM). Seen in NVlabs/stylegan3, docs/train-help.txt at
    // 8fb5177: --batch of all GPUs, --batch-gpu bounds what one holds (the rest is accumulated), --cbase 32768,
    // --workers 3; 16 bit unless --fp32. The first release for PyTorch (stylegan2-ada-pytorch) has --batch alone.
    Tool {
        name: "StyleGAN's train.py",
        files: &["/training/networks_stylegan2.py", "/training/networks_stylegan3.py", "/training/training_loop.py"],
        scripts: &["--cbase", "--batch-gpu"],
        clue: None,
        rows: &[
            (
                "smaller-batch",
                option("--batch-gpu <half>").note(
                    "accumulated to --batch; stylegan2-ada: --batch alone",
                    "累积到 --batch；stylegan2-ada 只有 --batch",
                ),
            ),
            ("smaller-batch", option("--cbase 16384").note("half of the channels", "通道数减半")),
            ("smaller-eval-batch", option("--metrics none").note("measured afterwards", "之后再单独评测")),
            ("fewer-workers", option("--workers {tried}").note("3 unless set", "默认 3")),
            ("freeze-layers", option("--freezed 10").note("first layers of D", "判别器的前几层")),
        ],
        // In force: mixed-precision, unless --fp32 is given.
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "activation-offload",
            "shorter-sequences",
        ],
    },
    // What trains in Isaac's simulators: worlds, renderer and physics lie on the GPU beside PyTorch. Isaac Lab:
    // scripts/reinforcement_learning/*/train.py at 011c373; legged_gym: README.md at 8fa29ac; IsaacGymEnvs: README.md
    // at aeed298 (num_envs=NUM_ENVS); OmniDrones and NavRL (Zhefan-Xu/NavRL at 8d3ca96, README.md and
    // isaac-training/): env.num_envs and env.num_obstacles; by its issue 91 256 worlds fit where 512 do not.
    Tool {
        name: "OmniDrones or NavRL",
        files: &["/isaac-training/", "/omni_drones/", "/omnidrones/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", WORLDS_WITH_OBSTACLES),
            ("less-at-once", WORLDS_WITH_OBSTACLES),
            ("smaller-eval-batch", WORLDS_WITH_OBSTACLES),
            (
                "other-libraries",
                option("env.num_envs=<half>").note("headless=True draws nothing", "headless=True 不渲染画面"),
            ),
        ],
        lacks: NOT_OF_SIMULATORS,
    },
    Tool {
        name: "IsaacGymEnvs",
        files: &["/isaacgymenvs/"],
        scripts: &[],
        clue: None,
        rows: &[("smaller-batch", WORLDS), ("less-at-once", WORLDS), ("other-libraries", WORLDS)],
        lacks: NOT_OF_SIMULATORS,
    },
    // walk-these-ways and what was made of it. Seen in Improbable-AI/walk-these-ways, README.md: the default
    // configuration takes some 12 GB of the GPU, and fewer parallel environments (Cfg.env.num_envs = 4000) less.
    Tool {
        name: "walk-these-ways",
        files: &["/go1_gym/", "/go1_gym_learn/", "/walk-these-ways/"],
        scripts: &[],
        clue: None,
        rows: &[("smaller-batch", WORLDS_IN_CFG), ("less-at-once", WORLDS_IN_CFG), ("other-libraries", WORLDS_IN_CFG)],
        lacks: NOT_OF_SIMULATORS,
    },
    // ManiSkill's baselines. Seen in haosulab/ManiSkill, examples/baselines/ppo/ppo_rgb.py at 07bc2dd (num_envs 512,
    // num_eval_envs 8, num_steps 50, num_minibatches 32: a minibatch is num_envs × num_steps / num_minibatches); its
    // issue 716. Scenes and their pictures lie on the GPU outside PyTorch. The names of its other scripts many have.
    Tool {
        name: "ManiSkill",
        files: &["/mani_skill/", "/maniskill/"],
        scripts: &["ppo_rgb.py"],
        clue: None,
        rows: &[
            ("other-libraries", ENVIRONMENTS),
            ("less-at-once", ENVIRONMENTS),
            ("smaller-batch", ENVIRONMENTS),
            (
                "smaller-batch",
                option("--num_minibatches <twice>")
                    .note("what one update takes; 32 unless set", "每次更新的样本更少；默认 32"),
            ),
            ("smaller-eval-batch", option("--num_eval_envs <half>").note("8 unless set", "默认 8")),
        ],
        lacks: NOT_OF_SIMULATORS,
    },
    Tool {
        name: "Isaac Lab or legged_gym",
        files: &["/isaaclab/", "/isaaclab_tasks/", "/legged_gym/"],
        scripts: &[],
        clue: None,
        rows: &[("smaller-batch", ENVIRONMENTS), ("less-at-once", ENVIRONMENTS), ("other-libraries", ENVIRONMENTS)],
        lacks: NOT_OF_SIMULATORS,
    },
    // PhysX on a GPU (Isaac Gym, Isaac Sim, SAPIEN) by its allocator's own words, where nothing shows who runs it:
    // each of them has num_envs. Keys of sim.physx: legged_gym's base configuration (max_gpu_contact_pairs).
    Tool {
        name: "PhysX on a GPU",
        files: &[],
        scripts: &["PxgCudaDeviceMemoryAllocator fail to allocate memory"],
        clue: None,
        rows: &[
            ("less-at-once", WORLDS_OF_PHYSX),
            ("smaller-batch", WORLDS_OF_PHYSX),
            ("other-libraries", WORLDS_OF_PHYSX),
        ],
        lacks: NOT_OF_SIMULATORS,
    },
    // det3d, CenterPoint's among its copies. Seen in tianweiy/CenterPoint: configs/nusc/voxelnet/
    // nusc_centerpoint_voxelnet_0075voxel_dcn.py (samples_per_gpu 4, workers_per_gpu 8, max_voxel_num [120000, 160000])
    // and det3d/torchie/apis/train.py at 024b725, which reads these two and has neither 16 bit nor checkpointing.
    Tool {
        name: "det3d",
        files: &["/det3d/torchie/", "/det3d/models/", "/det3d/datasets/"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", DET3D_BATCH),
            ("less-at-once", DET3D_BATCH),
            (
                "fewer-workers",
                option("workers_per_gpu=<fewer>")
                    .note("in data=dict(...) of the configuration", "写在配置的 data=dict(...)"),
            ),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "eight-bit-optimizer",
            "activation-offload",
            "shorter-sequences",
        ],
    },
    // DeepSpeed-Chat of DeepSpeedExamples and its copies: main.py of training/step1 to step3 (--data_path with several
    // sets, --data_split 2,4,4, --sft_only_data_path, --data_output_path /tmp/data_files/). --data_split others have.
    Tool {
        name: "DeepSpeed-Chat",
        files: &["/deepspeed-chat/"],
        scripts: &["--sft_only_data_path", "/DeepSpeed-Chat/"],
        clue: None,
        rows: &[("raise-host-limit", DEEPSPEED_CHAT_DATA), ("read-less-at-once", DEEPSPEED_CHAT_DATA)],
        lacks: &[],
    },
    // neural-style on Torch7: one picture is optimised. Seen in jcjohnson/neural-style, README.md at 03d1f29:
    // -image_size 512, -optimizer lbfgs or adam, -backend nn or cudnn; "about 3.5GB" become 1 GB with adam and cudnn.
    Tool {
        name: "neural-style on Torch7",
        files: &["/neural_style.lua"],
        scripts: &["neural_style.lua"],
        clue: None,
        rows: &[
            ("less-at-once", NEURAL_STYLE_ADAM),
            ("lighter-optimizer", NEURAL_STYLE_ADAM),
            ("smaller-images", option("-image_size 256").note("512 unless set: the longer side", "默认 512：长边")),
        ],
        lacks: &[
            "smaller-batch",
            "smaller-eval-batch",
            "mixed-precision",
            "gradient-checkpointing",
            "weight-quantisation",
            "chunk-the-operation",
        ],
    },
    // py-faster-rcnn's tools/demo.py, which runs one picture through a net without a solver. Seen in copies of
    // rbgirshick/py-faster-rcnn: tools/demo.py (--net vgg16 or zf, --gpu 0, --cpu) and lib/fast_rcnn/config.py
    // (TEST.SCALES (600,), TEST.MAX_SIZE 1000). A demo.py many projects have: Caffe's message tells whose it is.
    Tool {
        name: "py-faster-rcnn's demo.py",
        files: &[],
        scripts: &["caffe+demo.py"],
        clue: None,
        rows: &[
            ("smaller-batch", RCNN_DEMO_NET),
            ("smaller-batch", RCNN_DEMO_SCALE),
            ("less-at-once", RCNN_DEMO_NET),
            ("less-at-once", RCNN_DEMO_SCALE),
            ("smaller-images", RCNN_DEMO_SCALE),
            ("other-device", option("--gpu <index>").note("or --cpu", "或 --cpu")),
        ],
        lacks: &[
            "smaller-eval-batch",
            "gradient-accumulation",
            "mixed-precision",
            "gradient-checkpointing",
            "chunk-the-operation",
            "fewer-workers",
        ],
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
