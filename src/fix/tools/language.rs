//! Training of models of language, of translation and of recommendations.

use super::{IN_CODE, Tool, option};
use crate::domain::Target;
use crate::fix::knob::{Line, line, said};
use crate::incident::context::Clue;

const FAIRSEQ_LUA_BATCH: Line = option("-maxbatch <tokens> -batchsize <half>")
    .note("tokens on each GPU; 32 sentences unless set", "每个 GPU 的 token 数；默认 32 句");

const RECBOLE_FILTER: Line = option("--user_inter_num_interval=\"[10,inf)\" --item_inter_num_interval=\"[10,inf)\"")
    .note("every user and item unless set: the matrix has all of both", "默认保留全部用户与物品：矩阵含两者全部");

const DGLKE_WITHOUT_TEST: Line = said(
    Target::Program,
    "dglke_train without --test and --valid, which make a second graph of all triples; dglke_eval afterwards",
    "dglke_train 去掉 --test 与 --valid（它们会为全部三元组再建一张图），之后用 dglke_eval",
);

const SOCKEYE_LENGTH: Line = option("--max-seq-len <fewer>")
    .note("longer pairs are left out; then a smaller --batch-size", "更长的句对被略去；之后再减小 --batch-size");

const SOCKEYE_BATCH: Line = option("--batch-size <half>").note(
    "behind a checkpoint rather --decode-and-evaluate 0; words with --batch-type word: no fewer than --max-seq-len",
    "检查点之后失败则改用 --decode-and-evaluate 0；--batch-type word 时以词计：不得少于 --max-seq-len",
);

/// Behind each checkpoint a process of its own translates sentences of the validation set on the GPU of the training.
const SOCKEYE_DECODER: Line = option("--decode-and-evaluate 0").note(
    "translates none behind a checkpoint; or --decode-and-evaluate-use-cpu: both since 1.14",
    "检查点之后不再翻译验证集；或 --decode-and-evaluate-use-cpu：均自 1.14 起",
);

const NMT_INFERENCE: Line = option("--infer_batch_size=<half>").note("32 unless set", "默认 32");

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

const DEEPSPEED_CHAT_DATA: Line = said(
    Target::Program,
    "fewer data sets in --data_path, or a node with more RAM: each process reads all of them before it trains",
    "减少 --data_path 中的数据集，或换内存更大的节点：每个进程训练前会读入全部数据",
);

const FASTTEXT_BUCKETS: Line = option("-bucket 500000").note(
    "2000000 unless set: a row of -dim numbers for each, and for each word; then -dim 50, a larger -minCount",
    "默认 2000000：每个桶和每个词都占 -dim 个数；再试 -dim 50、更大的 -minCount",
);

const RATSQL_MEMORY: Line = line(Target::Shell, "docker run --rm -m4g -v <folder>:/mnt/data -it ratsql").note(
    "4 GB at least, by its README; Docker Desktop gives 2 unless its settings say more",
    "README 要求至少 4 GB；Docker Desktop 默认 2 GB，可在其设置中调高",
);

const T5X_PARTS: Line = option("--gin.trainer.Trainer.num_microbatches=4").note(
    "the same batch in parts, whose number divides it; or a smaller --gin.BATCH_SIZE",
    "同一批分成几份，份数须整除批大小；或减小 --gin.BATCH_SIZE",
);

const T5X_REMAT: Line = option("--gin.network.T5Config.remat_policy=\"'minimal'\"").note(
    "where network is t5x.examples.scalable_t5; then 'full'",
    "用于 network 为 t5x.examples.scalable_t5 时；再试 'full'",
);

const DEEPSPEED_CHAT_RANKS: Line = option("deepspeed --num_gpus <fewer> main.py ...").note(
    "in the script that starts it: each process loads all of a model into RAM before it goes to its GPU",
    "写在启动脚本中：每个进程都先把整个模型读入内存，再移到 GPU",
);

pub(super) const TOOLS: &[Tool] = &[
    // RAT-SQL in its image, whose tag a prompt or a command shows. Seen in microsoft/rat-sql, README.md at 4a013a9.
    Tool {
        name: "RAT-SQL's image",
        files: &[],
        scripts: &["ratsql"],
        clue: None,
        rows: &[("raise-host-limit", RATSQL_MEMORY)],
        lacks: &["smaller-images"],
    },
    // DeepSpeed-Chat's third step, which makes four models behind its data. Seen in microsoft/DeepSpeedExamples,
    // training/step3_rlhf_finetuning's run_13b.sh at 62adcab, and its issue 498: 13B took 60 GB of RAM by one process
    // and eight times as much by eight.
    Tool {
        name: "DeepSpeed-Chat's RLHF",
        files: &[],
        scripts: &["--actor_model_name_or_path", "'--actor_model_name_or_path', "],
        clue: None,
        rows: &[
            ("raise-host-limit", DEEPSPEED_CHAT_RANKS),
            ("fewer-at-once", DEEPSPEED_CHAT_RANKS),
            ("load-weights-once", DEEPSPEED_CHAT_RANKS),
        ],
        lacks: &["smaller-images"],
    },
    // T5X. Seen in google-research/t5x, t5x/trainer.py at 01c23d8 (num_microbatches, which must divide the batch) and
    // t5x/examples/scalable_t5/network.py at 16bc8fd (remat_policy none, minimal or full; t5x/examples/t5 has none).
    // Scripts of others give the former as --gin.trainer.Trainer.num_microbatches. Its layers are Flax modules.
    Tool {
        name: "T5X",
        files: &["/t5x/t5x/", "/t5x/train.py", "/t5x/trainer.py"],
        scripts: &[],
        clue: None,
        rows: &[
            ("smaller-batch", T5X_PARTS),
            ("less-at-once", T5X_PARTS),
            ("gradient-accumulation", T5X_PARTS),
            ("gradient-checkpointing", T5X_REMAT),
        ],
        lacks: &["chunk-the-operation", "smaller-images"],
    },
    // fastText's command, and sent2vec's, which has the same name. Seen in facebookresearch/fastText, src/args.cc at
    // 012d19e (-bucket 2000000, -dim 100, -minCount 5, 1 of supervised) and README.md of epfml/sent2vec at 017c131. Of
    // its matrices one has (words + buckets) × dim numbers of 4 bytes. A model that is only loaded stays as it is.
    Tool {
        name: "fastText's command",
        files: &[],
        scripts: &["fasttext"],
        clue: None,
        rows: &[
            ("raise-host-limit", FASTTEXT_BUCKETS),
            ("read-less-at-once", FASTTEXT_BUCKETS),
            ("less-at-once", FASTTEXT_BUCKETS),
        ],
        lacks: &["mixed-precision", "no-python-lists-in-dataset", "smaller-images", "gradient-checkpointing"],
    },
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
    // Sockeye, on MXNet (1 and 2) and PyTorch (3). Seen in awslabs/sockeye, sockeye/arguments.py at 0070e6d
    // (--max-seq-len 99:99, --batch-size 4096, --batch-type word) and sockeye/data_io.py (a batch of words smaller than
    // the longest bucket is refused: "Word batch size must cover sequence lengths for all buckets"). No checkpoints.
    // CHANGELOG.md: --decode-and-evaluate (--monitor-bleu before; 500 sentences unless set) and
    // --decode-and-evaluate-use-cpu since 1.14.0; its issue 528 fails right behind the first checkpoint.
    Tool {
        name: "Sockeye",
        files: &["/sockeye/", "/sockeye_contrib/"],
        scripts: &["sockeye-train", "sockeye-translate", "sockeye.train", "sockeye.translate", "sockeye"],
        clue: None,
        rows: &[
            ("smaller-batch", SOCKEYE_BATCH),
            ("smaller-batch", SOCKEYE_LENGTH),
            ("smaller-eval-batch", SOCKEYE_DECODER),
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
];
