
use builtin;
use str;

set edit:completion:arg-completer[oomdoc] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'oomdoc'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'oomdoc'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
            cand explain 'Explain the out-of-memory failure in a log: what ran out, why, and what to change'
            cand rules 'List the causes and fixes that oomdoc knows, or print the documentation of one'
            cand replay 'Replay a PyTorch memory snapshot: the true peak, who held it, what was fragmented, what other settings would do'
            cand diff 'What grew between two memory snapshots, by the place in the program'
            cand simulate 'Run a list of allocations through PyTorch''s caching allocator on a device of any size'
            cand probe 'Read the GPUs and memory of this machine: who holds what, what nobody explains, what limits apply'
            cand headroom 'Does batch N fit a GPU with room to spare, and what is the largest that does'
        }
        &'oomdoc;explain'= {
            cand -f 'What to print: terminal, json or markdown'
            cand --format 'What to print: terminal, json or markdown'
            cand --lang 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG'
            cand --color 'When to colour; auto colours terminals and respects NO_COLOR'
            cand --width 'Columns to fill [default: those of the terminal, else 80]'
            cand --batch-size 'Samples per step and process'
            cand --accumulation 'Steps of gradient accumulation'
            cand --seq-len 'Tokens per sample'
            cand --image-size 'Pixels of the longer side'
            cand --workers 'Data-loading workers per process'
            cand --prefetch 'Batches that each worker prefetches'
            cand --processes 'Training processes on this machine'
            cand --sample-bytes 'Size of one loaded sample'
            cand --samples 'Samples of the data set'
            cand --cache 'Size of a cache of samples in RAM'
            cand --host-memory 'RAM of the machine or limit of the container'
            cand --params 'Parameters of the model'
            cand --optimizer 'Optimizer, such as adamw'
            cand --precision 'Precision: fp32, fp16, bf16, mixed, fp8, int8 or int4'
            cand --json 'Short for --format json'
            cand -v 'Everything: all evidence, formulas, the account, what was ruled out'
            cand --verbose 'Everything: all evidence, formulas, the account, what was ruled out'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'oomdoc;rules'= {
            cand --only 'List only causes or only fixes'
            cand -f 'What to print: terminal or markdown'
            cand --format 'What to print: terminal or markdown'
            cand --lang 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG'
            cand --color 'When to colour; auto colours terminals and respects NO_COLOR'
            cand --width 'Columns to fill [default: those of the terminal, else 80]'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'oomdoc;replay'= {
            cand -f 'What to print: terminal, json, markdown or html'
            cand --format 'What to print: terminal, json, markdown or html'
            cand --device 'Only this device'
            cand --top 'Holders to list'
            cand --conf 'Allocator settings to try in place of the usual ones; may be repeated'
            cand --capacity 'Size of the device'
            cand --torch 'PyTorch version to replay as [default: the newest that writes such a snapshot]'
            cand --lang 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG'
            cand --color 'When to colour; auto colours terminals and respects NO_COLOR'
            cand --width 'Columns to fill [default: those of the terminal, else 80]'
            cand -v 'Everything: all notes, whole stacks'
            cand --verbose 'Everything: all notes, whole stacks'
            cand --no-what-if 'Only what was recorded: nothing is simulated'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'oomdoc;diff'= {
            cand --at 'Which moment to compare: the end of the recording or its peak'
            cand --fail-on 'Growth that makes the exit code 1: growth>5%, growth>200MiB, reserved>5%'
            cand -f 'What to print: terminal, json or markdown'
            cand --format 'What to print: terminal, json or markdown'
            cand --top 'Places to list'
            cand --lang 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG'
            cand --color 'When to colour; auto colours terminals and respects NO_COLOR'
            cand --width 'Columns to fill [default: those of the terminal, else 80]'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'oomdoc;simulate'= {
            cand --capacity 'Memory of the device'
            cand --context 'Memory that the CUDA context of this process takes'
            cand --others 'Other processes on the device, as pid:bytes'
            cand --hidden 'Memory in use that NVML lists for no process'
            cand --nvml 'How NVML lists this process: self, another pid, none, or missing for no NVML at all'
            cand --device 'Index of the device, as error texts print it'
            cand --conf 'Settings as in PYTORCH_CUDA_ALLOC_CONF'
            cand --torch 'Release of PyTorch, 2.0 to 2.15'
            cand --fraction 'Memory fraction set before the first request, 0 to 1'
            cand --streams 'Streams besides the default one'
            cand --fail-on 'What makes the exit code 1'
            cand -f 'What to print: summary or jsonl'
            cand --format 'What to print: summary or jsonl'
            cand --lang 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG'
            cand --color 'When to colour; auto colours terminals and respects NO_COLOR'
            cand --width 'Columns to fill [default: those of the terminal, else 80]'
            cand --no-caching 'Cache nothing, as with PYTORCH_NO_CUDA_MEMORY_CACHING=1'
            cand --stop-on-oom 'Stop at the first out-of-memory error; otherwise the failed request is skipped'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'oomdoc;probe'= {
            cand --gpu 'GPUs to show, as nvidia-smi counts: 3 or 0,2 or a UUID, or all'
            cand --watch 'Read again every so many seconds'
            cand --from 'Read a saved output of nvidia-smi instead of this machine''s GPUs'
            cand --root 'Folder below which /proc and /sys of the machine lie'
            cand -f 'What to print: terminal, json or markdown'
            cand --format 'What to print: terminal, json or markdown'
            cand --fail-on 'Verdict or warning that makes the exit code 1, or any; may be repeated'
            cand --lang 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG'
            cand --color 'When to colour; auto colours terminals and respects NO_COLOR'
            cand --width 'Columns to fill [default: those of the terminal, else 80]'
            cand --pid 'Its process, as the driver numbers it'
            cand --need 'What it asks for'
            cand --reserved 'What PyTorch has reserved'
            cand --idle 'What of that is unallocated'
            cand --json 'Short for --format json'
            cand -v 'Everything that was read, and why other readings are missing'
            cand --verbose 'Everything that was read, and why other readings are missing'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'oomdoc;headroom'= {
            cand -b 'Samples per step and process; without it the largest batch is sought'
            cand --batch 'Samples per step and process; without it the largest batch is sought'
            cand -f 'What to print: terminal, json or markdown'
            cand --format 'What to print: terminal, json or markdown'
            cand --gpu-memory 'Memory of the GPU as CUDA counts it'
            cand --headroom 'Room to keep free: 5% or 2GiB [default: 5%]'
            cand --context 'What the CUDA context and its kernels take [default: 300 to 720 MiB]'
            cand --others 'What other processes hold on the GPU'
            cand --measure 'A measured peak; may be repeated'
            cand --measurements 'Measured peaks: a CSV with batch and peak_bytes, or a training log'
            cand --measured 'What the measured figures count: allocated, reserved or process [default: allocated]'
            cand --model 'The config.json of the model'
            cand --params 'Parameters of the model, such as 350M or 7B'
            cand --precision 'fp32, mixed (autocast), bf16 (weights and states) or master (bf16 with 32-bit master weights)'
            cand --optimizer 'Optimizer, such as adamw, adamw8bit, sgd, sgd-momentum, adafactor [default: adamw]'
            cand --lora 'LoRA of this rank on frozen weights'
            cand --lora-targets 'Which linear layers have adapters: attention or all'
            cand --quantised 'Bits of frozen weights that are quantised: 4 or 8'
            cand --attention 'fused (SDPA, flash) or eager'
            cand --seq 'Tokens per sample'
            cand --target-seq 'Tokens per sample on the decoder''s side [default: as --seq]'
            cand --image-size 'Pixels of an image''s side'
            cand --zero 'ZeRO stage, 0 to 3; 3 for FSDP'
            cand --world-size 'Processes that train together'
            cand --accumulation 'Batches whose gradients are accumulated'
            cand --lang 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG'
            cand --color 'When to colour; auto colours terminals and respects NO_COLOR'
            cand --width 'Columns to fill [default: those of the terminal, else 80]'
            cand --json 'Short for --format json'
            cand --explain 'Every formula with the figures put in'
            cand --fused 'The optimizer''s fused form'
            cand --checkpointing 'Layers are recomputed in backward (gradient checkpointing)'
            cand -h 'Print help'
            cand --help 'Print help'
        }
    ]
    $completions[$command]
}
