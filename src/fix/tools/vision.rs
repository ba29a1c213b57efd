//! Training and use of what sees: detection, segmentation, poses, text in images.

use super::{IN_CODE, Tool, option};
use crate::domain::Target;
use crate::fix::knob::{Line, line, said};

/// Options that YOLOv3, v5 and v7 share.
const YOLO: &[(&str, Line)] = &[
    ("smaller-batch", option("--batch-size {batch}")),
    ("smaller-images", option("--img-size {shown}").note("and no --multi-scale", "并去掉 --multi-scale")),
    ("smaller-eval-batch", option("--batch-size {tried}")),
    ("fewer-workers", option("--workers {tried}")),
];

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

/// Pictures of a detector's evaluation are as large as they come, and one at a time.
const PADDLEOCR_SIDE: Line = option("DetResizeForTest: {limit_side_len: 960, limit_type: max}").note(
    "detection, whose batch must be 1: in Eval.dataset.transforms of the .yml",
    "检测模型的批大小只能为 1：写在 .yml 的 Eval.dataset.transforms",
);

const SOFTMAX_BATCH: Line = said(
    Target::Program,
    "insightface: --per-batch-size <half>, 128 for each GPU unless set; facenet: --batch_size <half>, 90 unless set",
    "insightface：--per-batch-size <half>，默认每个 GPU 128；facenet：--batch_size <half>，默认 90",
);

const YOLACT_BATCH: Line = option("--batch_size=<half>").note("of train.py, 8 unless set", "train.py 的选项，默认 8");

/// Pictures that PaddleOCR 2 predicts.
const PADDLEOCR_PICTURES: Line =
    option("--det_limit_side_len 640 --det_limit_type max").note("960 unless set", "默认 960");

/// What is tested is whole pictures, however small the batch of patches in training.
const RESMATCH_TEST: Line = option("th main.lua ... -a test -mcnet <checkpoint>")
    .note("the test in a run of its own; smaller pictures after that", "单独运行测试；之后再缩小图片");

const MX_RCNN_SCALES: Line = option("config.SCALES = [(400, 667)]").note(
    "rcnn/config.py: shorter and longer side, (600, 1000) unless set",
    "rcnn/config.py：短边与长边，默认 (600, 1000)",
);

/// Where the program shows by its message alone, and whether it trains does not.
const AUGMENTER_PROCESSES: Line = line(Target::Shell, "export nnUNet_n_proc_DA=2").note(
    "of nnU-Net, 12 unless set; else num_processes=2 of MultiThreadedAugmenter",
    "nnU-Net 的变量，默认 12；否则为 MultiThreadedAugmenter 的 num_processes=2",
);

const NNUNET_PREDICTION: Line = option("-npp 1 -nps 1").note(
    "of nnUNetv2_predict: preparing and exporting, 3 each unless set",
    "nnUNetv2_predict 的预处理与导出进程，默认各 3",
);

const NNUNET_PREPARATION: Line =
    option("-np 1").note("nnUNetv2_plan_and_preprocess: and -npfp 1", "nnUNetv2_plan_and_preprocess 再加 -npfp 1");

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

const DET3D_BATCH: Line = option("samples_per_gpu=<half>").note(
    "in data=dict(...) of the configuration; then a smaller max_voxel_num in its voxel_generator",
    "写在配置的 data=dict(...)；再减小 voxel_generator 的 max_voxel_num",
);

const RCNN_DEMO_NET: Line = option("--net zf").note("vgg16 unless set; or --cpu", "默认 vgg16；或 --cpu");

const RCNN_DEMO_SCALE: Line = option("__C.TEST.SCALES = (400,)").note(
    "lib/fast_rcnn/config.py: shorter side, 600 unless set; __C.TEST.MAX_SIZE = 667 of 1000",
    "lib/fast_rcnn/config.py：短边，默认 600；__C.TEST.MAX_SIZE = 667，默认 1000",
);

const FOUNDATION_POSE_SIDE: Line = option("YcbineoatReader(..., shorter_side=400, zfar=np.inf)").note(
    "run_demo.py, the camera's own size unless set; then a mesh of fewer faces, its units and the depth's metres",
    "写在 run_demo.py，默认为相机原尺寸；再减少网格面数，并核对网格与深度的单位为米",
);

const FLOWFORMER_TILE: Line = option("TRAIN_SIZE = [320, 640]").note(
    "visualize_flow.py, [432, 960] unless set: the size of a tile; then the small model, configs/small_things_eval.py",
    "写在 visualize_flow.py，默认 [432, 960]：分块尺寸；再用小模型 configs/small_things_eval.py",
);

const STEREO_DISPARITIES: Line = option("--disp-max 64").note(
    "128 unless set: a layer of the volume for each disparity; then smaller pictures as --im0 and --im1",
    "默认 128：代价体每个视差一层；再缩小 --im0 与 --im1 的图片",
);

const GLUONCV_WORKERS: Line = option("--num-workers 1").note(
    "-j of its scripts, then 0; in code of your own DataLoader(..., num_workers=1)",
    "其脚本的 -j，再试 0；自己的代码中为 DataLoader(..., num_workers=1)",
);

const RTPOSE_RESOLUTION: Line = option("--net_resolution 320x176").note(
    "656x368 or -1x368 unless set; --num_scales (--scale_number) 1, the MPI model, a build with cuDNN",
    "默认 656x368 或 -1x368；--num_scales（--scale_number）为 1，改用 MPI 模型，编译时启用 cuDNN",
);

const RESTORMER_TILES: Line = option("--tile 720 --tile_overlap 32")
    .note("since April 2022: git pull; then a smaller multiple of 8", "2022-04 起：先 git pull；再用更小的 8 的倍数");

const RETINANET_SIDES: Line = option("--image-min-side 600 --image-max-side 1000").note(
    "800 and 1333 unless set, where the script has them; else the generator's",
    "默认 800 与 1333（若脚本有该选项）；否则为 generator 的参数",
);

const SSD_SHARE: Line = option("--gpu_memory_fraction=0.6").note("0.8 unless set", "默认 0.8");

const DDW_WITHOUT_GPU: Line = said(
    Target::Program,
    "refine-tomogram without --gpu, on the CPU: a tomogram and its Fourier transform are on the GPU as a whole, \
     whatever --batch-size; or a binned or cropped one",
    "refine-tomogram 去掉 --gpu，在 CPU 上运行：无论 --batch-size，整个断层图及其傅里叶变换都在 GPU 上；或先合并\
     像素（binning）或裁剪",
);

const TOMOTWIN_PROCESSES: Line = option("--processes 1")
    .note("of findmax, 4 unless set: references worked on at a time", "findmax 的选项，默认 4：同时处理的参考数");

pub(super) const TOOLS: &[Tool] = &[
    // caffe_rtpose and OpenPose, which came of it: inference without solver or data layer. Seen in
    // CMU-Perceptual-Computing-Lab/caffe_rtpose, README.md at 0ad2c52 (--net_resolution 656x368, --num_scales 1) and
    // its issues 18 (MPI model, one scale, smaller net_resolution) and 36 (cuDNN). Before Caffe, which its messages
    // name.
    Tool {
        name: "rtpose and OpenPose",
        files: &[],
        scripts: &["rtpose.bin", "openpose.bin", "OpenPoseDemo.exe"],
        clue: None,
        rows: &[
            ("less-at-once", RTPOSE_RESOLUTION),
            ("smaller-batch", RTPOSE_RESOLUTION),
            ("smaller-images", RTPOSE_RESOLUTION),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "gradient-accumulation",
            "chunk-the-operation",
            "eight-bit-optimizer",
            "fewer-workers",
        ],
    },
    // Restormer's demo, told by its tasks. Seen in swz30/Restormer, demo.py at 1ce1dc9 (the tasks; no tiles yet) and
    // its issue 29, which --tile and --tile_overlap answer. Without them a picture is worked on as a whole, under
    // no_grad.
    Tool {
        name: "Restormer's demo",
        files: &[],
        scripts: &[
            "--task Real_Denoising",
            "--task Motion_Deblurring",
            "--task Single_Image_Defocus_Deblurring",
            "--task Gaussian_Gray_Denoising",
            "--task Gaussian_Color_Denoising",
        ],
        clue: None,
        rows: &[
            ("less-at-once", RESTORMER_TILES),
            ("smaller-batch", RESTORMER_TILES),
            ("smaller-images", RESTORMER_TILES),
            ("chunk-the-operation", RESTORMER_TILES),
        ],
        lacks: &["fix-the-shape", "no-grad-in-eval", "gradient-checkpointing"],
    },
    // keras-retinanet and its forks. Seen in fizyr/keras-retinanet, keras_retinanet/bin/evaluate.py at 07ece96 and
    // train.py at 00abd34: --image-min-side 800, --image-max-side 1333, --batch-size 1. Inference takes one picture.
    Tool {
        name: "keras-retinanet",
        files: &["/keras_retinanet/"],
        scripts: &["retinanet-train", "retinanet-evaluate"],
        clue: None,
        rows: &[
            ("smaller-images", RETINANET_SIDES),
            ("less-at-once", RETINANET_SIDES),
            (
                "smaller-batch",
                option("--batch-size {batch}")
                    .note("of train.py, 1 unless set", "train.py 的选项，默认 1")
                    .when("trains"),
            ),
            ("smaller-batch", RETINANET_SIDES.unless("trains")),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "chunk-the-operation", "no-grad-in-eval"],
    },
    // SSD-Tensorflow. Seen in balancap/SSD-Tensorflow, train_ssd_network.py at 1331aef (--batch_size 32) and in its
    // later forms and forks (--gpu_memory_fraction 0.8).
    Tool {
        name: "SSD-Tensorflow",
        files: &["/train_ssd_network.py", "/eval_ssd_network.py"],
        // The last is a key of the parameters that it prints.
        scripts: &["train_ssd_network.py", "eval_ssd_network.py", "anchor_offset"],
        clue: None,
        rows: &[
            ("preallocation-fraction", SSD_SHARE),
            ("smaller-batch", option("--batch_size={batch}").note("32 unless set", "默认 32")),
        ],
        lacks: &["mixed-precision", "gradient-checkpointing", "chunk-the-operation"],
    },
    // DeepDeWedge. Seen in MLI-lab/DeepDeWedge, ddw/refine_tomogram.py at 118c1b0: the tomogram is moved to --gpu
    // (none: the CPU) and masked in Fourier space before it is cut; it is in float32, and FFTs have no autocast.
    Tool {
        name: "DeepDeWedge",
        files: &["/ddw/utils/fourier.py", "/ddw/refine_tomogram.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("less-at-once", DDW_WITHOUT_GPU.unless("trains")),
            ("smaller-batch", DDW_WITHOUT_GPU.unless("trains")),
            ("smaller-images", DDW_WITHOUT_GPU.unless("trains")),
        ],
        lacks: &["mixed-precision", "chunk-the-operation", "gradient-checkpointing", "no-grad-in-eval"],
    },
    // TomoTwin's search for maxima. Seen in MPI-Dortmund/tomotwin-cryoet,
    // tomotwin/modules/inference/argparse_locate_ui.py at 5553ec8: --processes 4, "More processes require more memory".
    Tool {
        name: "TomoTwin's locate",
        files: &["/tomotwin/locate_main.py"],
        scripts: &["tomotwin_locate.py"],
        clue: None,
        rows: &[
            ("raise-host-limit", TOMOTWIN_PROCESSES),
            ("fewer-at-once", TOMOTWIN_PROCESSES),
            ("fewer-workers", TOMOTWIN_PROCESSES),
        ],
        lacks: &["mixed-precision", "smaller-images", "gradient-checkpointing"],
    },
    // FoundationPose. Seen in NVlabs/FoundationPose: run_demo.py (YcbineoatReader(shorter_side=None)), datareader.py,
    // learning/training/predict_pose_refine.py (self.amp = True; inference_mode around it). Issues 26, 34 and 267
    // (a smaller shorter_side, 400), 43 and 249 (data in other units fail in nvdiffrast). Of a run_demo.py alone the
    // name says nothing.
    Tool {
        name: "FoundationPose",
        files: &[
            "/foundationpose/",
            "/learning/training/predict_pose_refine.py",
            "/learning/training/predict_score.py",
        ],
        scripts: &[],
        clue: None,
        rows: &[
            ("less-at-once", FOUNDATION_POSE_SIDE),
            ("smaller-batch", FOUNDATION_POSE_SIDE),
            ("smaller-images", FOUNDATION_POSE_SIDE),
        ],
        lacks: &["mixed-precision", "no-grad-in-eval", "gradient-checkpointing", "activation-offload"],
    },
    // FlowFormer's visualize_flow.py, by an option that it alone takes. Seen in drinkingcoder/FlowFormer-Official at
    // 02891c1: TRAIN_SIZE = [432, 960] is the size of the tiles, which go through the net one after another without
    // gradients; from configs.submission import get_cfg. Issues 19 and 25: a smaller TRAIN_SIZE, FlowFormer-small.
    Tool {
        name: "FlowFormer's visualize_flow.py",
        files: &["/flowformer-official/visualize_flow.py", "/flowformer/visualize_flow.py"],
        scripts: &["--eval_type seq"],
        clue: None,
        rows: &[
            ("less-at-once", FLOWFORMER_TILE),
            ("smaller-batch", FLOWFORMER_TILE),
            ("smaller-images", FLOWFORMER_TILE),
            ("fix-the-shape", FLOWFORMER_TILE),
        ],
        lacks: &["no-grad-in-eval", "chunk-the-operation", "gradient-checkpointing", "mixed-precision"],
    },
    // cnn-crf-stereo. Seen in VLOGroup/cnn-crf-stereo, stereo/stereo_img.cpp at ce23151: --disp-max 128, --disp-step 1,
    // --gpu 0, --im0 and --im1. A volume is kept for all disparities. Its library prints darknet's words.
    Tool {
        name: "cnn-crf-stereo",
        files: &["/cnn-crf-stereo/"],
        scripts: &["stereo_img", "/cnn-crf-stereo/"],
        clue: None,
        rows: &[
            ("less-at-once", STEREO_DISPARITIES),
            ("smaller-batch", STEREO_DISPARITIES),
            ("smaller-images", STEREO_DISPARITIES),
            ("other-device", option("--gpu <index>").note("0 unless set", "默认 0")),
        ],
        lacks: &[
            "mixed-precision",
            "gradient-checkpointing",
            "weight-quantisation",
            "chunk-the-operation",
            "fewer-workers",
            "cudnn-workspace",
        ],
    },
    // GluonCV. Seen in dmlc/gluon-cv, scripts/detection/yolo/train_yolo3.py at 0151788 (--num-workers, -j, 4), which
    // its other scripts have too. What its workers send lies in shared memory.
    Tool {
        name: "GluonCV",
        files: &["/gluoncv/"],
        scripts: &[],
        clue: None,
        rows: &[("fewer-workers", GLUONCV_WORKERS), ("fewer-at-once", GLUONCV_WORKERS)],
        lacks: &["no-python-lists-in-dataset"],
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
    // Its message on workers that are gone stands in nnunetv2/inference/data_iterators.py (MIC-DKFZ/nnUNet, 09eef55);
    // issue 1572 there: -npp and -nps, 3 each unless set, were the cure. Of a data set that is prepared issue 1869.
    Tool {
        name: "nnU-Net 2, prediction",
        files: &["/nnunetv2/inference/"],
        scripts: &[
            "nnUNetv2_predict",
            "nnUNetv2_predict_from_modelfolder",
            "Background workers died. Look for the error message further up",
        ],
        clue: None,
        rows: &[("fewer-workers", NNUNET_PREDICTION), ("fewer-at-once", NNUNET_PREDICTION)],
        lacks: &["gradient-checkpointing", "mixed-precision", "smaller-images", "chunk-the-operation", "smaller-batch"],
    },
    Tool {
        name: "nnU-Net 2, preprocessing",
        files: &["/nnunetv2/preprocessing/", "/nnunetv2/experiment_planning/"],
        scripts: &["nnUNetv2_preprocess", "nnUNetv2_plan_and_preprocess", "nnUNetv2_extract_fingerprint"],
        clue: None,
        rows: &[("fewer-workers", NNUNET_PREPARATION), ("fewer-at-once", NNUNET_PREPARATION)],
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
    // Its own "CUDA Error: out of memory" other programs print behind words of theirs: who is known stands before it.
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
];
