
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
            cand rehearse 'Run a training program for a few steps on a simulated GPU: would it fit, and up to which batch'
        }
        &'oomdoc;explain'= {
            cand -f 'What to print: terminal, json or markdown'
            cand --format 'What to print: terminal, json or markdown'
            cand -s 'Memory snapshot of the run, which proves or refutes it; may be repeated'
            cand --snapshot 'Memory snapshot of the run, which proves or refutes it; may be repeated'
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
            cand --no-what-if 'Only what was recorded: nothing is simulated, so how well the simulator foresees the record is not said either'
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
            cand --reproduce 'Was it fragmentation? Works out the failure in a log or a memory snapshot, with --allow-fill on the device too'
            cand --buffer 'Largest buffer of --bench'
            cand --time-limit 'Seconds for the CUDA part of each GPU'
            cand --json 'Short for --format json'
            cand -v 'Everything that was read, and why other readings are missing'
            cand --verbose 'Everything that was read, and why other readings are missing'
            cand --cuda 'Create a CUDA context, which takes 100 to 600 MiB meanwhile: its cost, and what CUDA calls free'
            cand --bench 'Also measure bandwidth and allocation times and check memory, on small buffers for some seconds'
            cand --allow-fill 'Also fill the device up to a margin: largest block, and --reproduce on the device'
            cand --allow-busy 'Go on although other processes use the GPU; their next allocation may fail'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'oomdoc;rehearse'= {
            cand --like 'GPU to play, such as \"RTX 3090\"; list prints all that are known'
            cand --gpu-memory 'Memory of the GPU, as CUDA reports it'
            cand --batch 'Batches to rehearse: 8,16,32 each, or 1..64 for the largest that fits; stands for {batch} in the command'
            cand --headroom 'Share of the memory that is to stay free'
            cand --steps 'Optimizer steps to run; 0 runs the program to its end'
            cand --gpus 'GPUs of the machine [default: the world size, else 1]'
            cand --world-size 'Ranks to pretend: one process runs as rank 0 of that many'
            cand --addresses 'Orders of device addresses to rehearse: both, up or down'
            cand --time-limit 'Longest time of one run'
            cand --search-limit 'After this time no further batch is tried'
            cand --env 'Environment of the program; may be repeated'
            cand --values 'What values read from the simulated GPU are: zeros or ones'
            cand --keep 'Keep the memory snapshots in this folder'
            cand --torch 'The torch package, where it is not the one that the program''s Python imports'
            cand --torch-python 'The Python that imports torch, where the command hides it'
            cand -j 'Runs at once [default: 2 where there are two processors]'
            cand --jobs 'Runs at once [default: 2 where there are two processors]'
            cand -f 'What to print: terminal, json, junit or github'
            cand --format 'What to print: terminal, json, junit or github'
            cand --lang 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG'
            cand --color 'When to colour; auto colours terminals and respects NO_COLOR'
            cand --width 'Columns to fill [default: those of the terminal, else 80]'
            cand --find-batch 'The largest batch that fits, of any size: short for --batch 1..4096'
            cand --show-output 'Let the program''s own output through, to standard error'
            cand --json 'Short for --format json'
            cand -v 'Everything: whole stacks, all holders, all traps'
            cand --verbose 'Everything: whole stacks, all holders, all traps'
            cand -h 'Print help'
            cand --help 'Print help'
        }
    ]
    $completions[$command]
}
