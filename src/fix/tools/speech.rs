//! Training and use of models of speech and music.

use super::{Tool, option};
use crate::domain::Target;
use crate::fix::knob::{Line, line, said};

const NEMO_DIARIZER_PARTS: Line = said(
    Target::Program,
    "a recording cut into parts of an hour; fewer scales in diarizer.speaker_embeddings.parameters",
    "把录音切成每段一小时；在 diarizer.speaker_embeddings.parameters 中减少尺度",
);

const NEMO_DIARIZER_CHUNKS: Line = option("diarizer.clustering.parameters.embeddings_per_chunk=5000")
    .note("10000 unless set; releases since the end of 2023", "默认 10000；2023 年底之后的版本");

const DEEPSPEECH_TORCH_VALIDATION: Line =
    option("-validationBatchSize <half>").note("20 unless set: behind each epoch", "默认 20：每个 epoch 之后");

const VOCAL_REMOVER_BATCH: Line = option("--batchsize <half>")
    .note("4 unless set; then --cropsize 128 of 256", "默认 4；再试 --cropsize 128（默认 256）");

const UMX_PARTS: Line = option("--duration 60 --start 0").note(
    "seconds, the whole file unless set; then --start 60 and so on; fewer --targets",
    "单位秒，默认整个文件；再 --start 60，依此类推；减少 --targets",
);

const KALDI_MINIBATCH: Line = option("--trainer.num-chunk-per-minibatch=64").note(
    "of steps/nnet3/chain/train.py, 128 unless set; train_dnn.py: --trainer.optimization.minibatch-size=<half>",
    "steps/nnet3/chain/train.py 的选项，默认 128；train_dnn.py 为 --trainer.optimization.minibatch-size=<half>",
);

/// Its first region is half of what is free at that moment: two that start together ask for the same memory.
const KALDI_FIRST_REGION: Line = option("--trainer.add-option=\"--cuda-memory-proportion=0.3\"").note(
    "0.5 of the free memory unless set, in one region at the start; where a later one fails, a smaller minibatch",
    "默认开始时一次占用空闲显存的 0.5；若是之后的区域失败，则减小 minibatch",
);

const KALDI_ALONE: Line = line(Target::Shell, "sudo nvidia-smi -c 3").note(
    "one process on each GPU; and --use-gpu=wait to the train script",
    "每块 GPU 只允许一个进程；训练脚本加 --use-gpu=wait",
);

const KALDI_JOBS: Line = option("--trainer.optimization.num-jobs-final=<number>").note(
    "and num-jobs-initial: no more jobs at once than GPUs, with --use-gpu=wait",
    "num-jobs-initial 亦然：同时的任务数不超过 GPU 数，并加 --use-gpu=wait",
);

const BARK_VOICE: Line = said(
    Target::Program,
    "where Coqui TTS clones a voice: a clip of some seconds as the only file of the speaker's folder in voice_dir, by \
     ffmpeg -i clip.wav -t 10 short.wav; all of it is encoded at once",
    "用 Coqui TTS 克隆声音时：voice_dir 的说话人目录中只放一段数秒的录音（ffmpeg -i clip.wav -t 10 short.wav）；\
     整段会一次编码",
);

const NVC_NET_BATCH: Line = option("--batch_size <half>").note(
    "NVC-Net, 8 unless set; nnabla-examples: --batch-size (-b) where the script has it",
    "NVC-Net 默认 8；nnabla-examples 中有该选项的脚本为 --batch-size（-b）",
);

const SPEECHBRAIN_PIECES: Line = said(
    Target::Program,
    "pieces of some seconds: in separation model.separate_batch(x) for x in mix.split(10 * 16000, dim=1), at the \
     model's rate; separate_file() and the other …_file() take all of a recording at once",
    "分成数秒一段：语音分离用 model.separate_batch(x)，x 取自 mix.split(10 * 16000, dim=1)（采样率须与模型一致）；\
     separate_file() 等 …_file() 一次处理整段录音",
);

const RTVC_TEXT: Line = said(
    Target::Program,
    "less text at once, in shorter lines; in the toolbox Griffin-Lim as Vocoder; --cpu where the release has it",
    "一次合成更少的文本，每行更短；工具箱的 Vocoder 选 Griffin-Lim；有 --cpu 的版本可用 --cpu",
);

pub(super) const TOOLS: &[Tool] = &[
    // Kaldi's allocator on a GPU that is not exclusive. Seen in kaldi-asr/kaldi, src/cudamatrix/cu-allocator.cc at
    // 0018fec (a region is memory_proportion of the free memory, or the request where that is more; which of two
    // messages follows depends on IsComputeExclusive() alone) and its issue 3375. A recipe passes
    // --cuda-memory-proportion on by --trainer.add-option.
    Tool {
        name: "Kaldi on a shared GPU",
        files: &[],
        scripts: &["Possibly this is due to sharing the GPU"],
        clue: None,
        rows: &[
            ("free-the-device", KALDI_ALONE),
            ("fewer-at-once", KALDI_JOBS),
            ("less-at-once", KALDI_FIRST_REGION),
            ("smaller-batch", KALDI_FIRST_REGION),
        ],
        // It tries them itself, the freest first.
        lacks: &["other-device", "mixed-precision", "smaller-images", "gradient-checkpointing", "chunk-the-operation"],
    },
    // The other message: the GPU is exclusive, so that no second process can hold any of it. Seen there, and in
    // steps/nnet3/chain/train.py (--trainer.num-chunk-per-minibatch 128) and steps/libs/nnet3/train
    // (--trainer.optimization.minibatch-size 512).
    Tool {
        name: "Kaldi on a GPU of its own",
        files: &[],
        scripts: &["Possibly smaller minibatch size would help"],
        clue: None,
        rows: &[("less-at-once", KALDI_MINIBATCH), ("smaller-batch", KALDI_MINIBATCH)],
        lacks: &[
            "free-the-device",
            "mixed-precision",
            "smaller-images",
            "gradient-checkpointing",
            "chunk-the-operation",
        ],
    },
    // Bark in Coqui TTS, which names the model that it uses. Seen in coqui-ai/TTS,
    // TTS/tts/layers/bark/inference_funcs.py: load_voice() wants one file, and generate_voice() hands all of it to
    // EnCodec and HuBERT, under no_grad; what it made is kept beside it as .npz.
    Tool {
        name: "Bark in Coqui TTS",
        files: &["/tts/layers/bark/inference_funcs.py"],
        scripts: &["bark"],
        clue: None,
        rows: &[
            ("less-at-once", BARK_VOICE),
            ("smaller-batch", BARK_VOICE),
            ("shorter-sequences", BARK_VOICE),
            ("chunk-the-operation", BARK_VOICE),
        ],
        lacks: &["fix-the-shape", "smaller-images", "gradient-checkpointing", "no-grad-in-eval"],
    },
    // nnabla's programs take the engine by -c. Seen in sony/ai-research-code, nvcnet/main.py and hparams.py at 9651758
    // (each entry of hparams is an option: --batch_size 8), and in sony/nnabla-examples at 8ec6287 (args.py:
    // --batch-size, -b).
    Tool {
        name: "nnabla's programs",
        files: &[],
        scripts: &["-c cudnn"],
        clue: None,
        rows: &[("smaller-batch", NVC_NET_BATCH), ("less-at-once", NVC_NET_BATCH)],
        lacks: &["smaller-images", "gradient-checkpointing", "chunk-the-operation"],
    },
    // SpeechBrain's models as they are published. Seen in speechbrain/speechbrain, speechbrain/inference/separation.py
    // at 0fe8409 (pretrained/interfaces.py before, where transcription stands as well): separate_file() loads all of a
    // file and hands it to separate_batch(), which takes [batch, time] and gives [batch, time, sources].
    Tool {
        name: "SpeechBrain's interfaces",
        files: &["/speechbrain/pretrained/interfaces.py", "/speechbrain/inference/separation.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("less-at-once", SPEECHBRAIN_PIECES),
            ("smaller-batch", SPEECHBRAIN_PIECES),
            ("shorter-sequences", SPEECHBRAIN_PIECES),
            ("chunk-the-operation", SPEECHBRAIN_PIECES),
        ],
        lacks: &["fix-the-shape", "smaller-images", "gradient-checkpointing", "no-grad-in-eval"],
    },
    // Real-Time-Voice-Cloning. Seen in CorentinJ/Real-Time-Voice-Cloning, toolbox/ui.py at 05387d0 (each line is
    // separate; Griffin-Lim among the vocoders), its issues 144 (its author: less text at once) and 809, and its pull
    // request 472 (--cpu in place of --low_mem). What it synthesises is one spectrogram for the vocoder.
    Tool {
        name: "Real-Time-Voice-Cloning",
        files: &["/demo_toolbox.py", "/toolbox/__init__.py"],
        scripts: &["demo_toolbox.py"],
        clue: None,
        rows: &[("less-at-once", RTVC_TEXT), ("smaller-batch", RTVC_TEXT), ("shorter-sequences", RTVC_TEXT)],
        lacks: &[
            "mixed-precision",
            "smaller-images",
            "gradient-checkpointing",
            "chunk-the-operation",
            "no-grad-in-eval",
        ],
    },
    // open-unmix's command. Seen in sigsep/open-unmix-pytorch, openunmix/cli.py at 01b6f6b: --start 0, --duration (the
    // whole file unless set), --targets (all unless set), --no-cuda. Its networks are frozen before they run; what
    // fails holds all of the recording.
    Tool {
        name: "open-unmix's command",
        files: &["/openunmix/cli.py"],
        scripts: &["umx"],
        clue: None,
        rows: &[
            ("less-at-once", UMX_PARTS),
            ("smaller-batch", UMX_PARTS),
            ("shorter-sequences", UMX_PARTS),
            ("other-device", option("--no-cuda").note("on the CPU, slower", "在 CPU 上，较慢")),
        ],
        lacks: &[
            "mixed-precision",
            "chunk-the-operation",
            "no-grad-in-eval",
            "smaller-images",
            "gradient-checkpointing",
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
];
