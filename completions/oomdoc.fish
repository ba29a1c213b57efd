# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_oomdoc_global_optspecs
    string join \n h/help V/version
end

function __fish_oomdoc_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_oomdoc_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_oomdoc_using_subcommand
    set -l cmd (__fish_oomdoc_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c oomdoc -n "__fish_oomdoc_needs_command" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -s V -l version -d 'Print version'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "explain" -d 'Explain the out-of-memory failure in a log: what ran out, why, and what to change'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "rules" -d 'List the causes and fixes that oomdoc knows, or print the documentation of one'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "replay" -d 'Replay a PyTorch memory snapshot: the true peak, who held it, what was fragmented, what other settings would do'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "diff" -d 'What grew between two memory snapshots, by the place in the program'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "simulate" -d 'Run a list of allocations through PyTorch\'s caching allocator on a device of any size'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "probe" -d 'Read the GPUs and memory of this machine: who holds what, what nobody explains, what limits apply'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "headroom" -d 'Does batch N fit a GPU with room to spare, and what is the largest that does'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "rehearse" -d 'Run a training program for a few steps on a simulated GPU: would it fit, and up to which batch'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "run" -d 'Run a job unchanged, and explain why when its memory runs out'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "attach" -d 'Watch a process that already runs, as run does, until it ends'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "top" -d 'Show what a running job holds, at every moment'
complete -c oomdoc -n "__fish_oomdoc_needs_command" -f -a "completions" -d 'Print the script that completes commands, GPUs, rules and settings in a shell'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -s f -l format -d 'What to print: terminal, json, markdown or html' -r -f -a "terminal\t'One screen for people'
json\t'For programs: docs/explain.schema.json'
markdown\t'To paste into an issue'
html\t'A self-contained page, with the curves that oomdoc run recorded and the snapshots that were read'"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -s s -l snapshot -d 'Memory snapshot of the run, which proves or refutes it; may be repeated' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l height -d 'Lines to fill [default: those of the terminal, else as many as there are]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l batch-size -d 'Samples per step and process' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l accumulation -d 'Steps of gradient accumulation' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l seq-len -d 'Tokens per sample' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l image-size -d 'Pixels of the longer side' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l workers -d 'Data-loading workers per process' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l prefetch -d 'Batches that each worker prefetches' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l processes -d 'Training processes on this machine' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l sample-bytes -d 'Size of one loaded sample' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l samples -d 'Samples of the data set' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l cache -d 'Size of a cache of samples in RAM' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l host-memory -d 'RAM of the machine or limit of the container' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l params -d 'Parameters of the model' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l optimizer -d 'Optimizer, such as adamw' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l precision -d 'Precision: fp32, fp16, bf16, mixed, fp8, int8 or int4' -r -f -a "fp32\t''
fp16\t''
bf16\t''
mixed\t''
fp8\t''
int8\t''
int4\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -l json -d 'Short for --format json'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -s v -l verbose -d 'Everything: all evidence, formulas, the account, what was ruled out'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand explain" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rules" -l only -d 'List only causes or only fixes' -r -f -a "causes\t''
fixes\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rules" -s f -l format -d 'What to print: terminal, json or markdown' -r -f -a "terminal\t'Wrapped for the terminal'
json\t'For programs: docs/rules.schema.json'
markdown\t'As it stands in docs/causes.md and docs/fixes.md'"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rules" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rules" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rules" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rules" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rules" -l json -d 'Short for --format json'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rules" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -s f -l format -d 'What to print: terminal, json, markdown or html' -r -f -a "terminal\t'For people'
json\t'For programs: docs/replay.schema.json'
markdown\t'To paste into an issue'
html\t'One file for the browser, with the timeline and the memory map'"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l device -d 'Only this device' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l top -d 'Holders to list' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l conf -d 'Allocator settings to try in place of the usual ones; may be repeated' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l capacity -d 'Size of the device' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l fraction -d 'Share of the device that the program lets itself have (set_per_process_memory_fraction), 0 to 1' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l batch-scale -d 'Which batch fits the device; BATCH is that of the recording' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l torch -d 'PyTorch version to replay as [default: the newest that writes such a snapshot]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l json -d 'Short for --format json'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -s v -l verbose -d 'Everything: all notes, whole stacks'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -l no-what-if -d 'Only what was recorded: nothing is simulated, so how well the simulator foresees the record is not said either'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand replay" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand diff" -l at -d 'Which moment to compare: the end of the recording or its peak' -r -f -a "end\t''
peak\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand diff" -l fail-on -d 'Growth that makes the exit code 1: growth>5%, growth>200MiB, reserved>5%' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand diff" -s f -l format -d 'What to print: terminal, json or markdown' -r -f -a "terminal\t'For people'
json\t'For programs: docs/diff.schema.json'
markdown\t'For the comment on a pull request'"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand diff" -l top -d 'Places to list' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand diff" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand diff" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand diff" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand diff" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand diff" -l json -d 'Short for --format json'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand diff" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l capacity -d 'Memory of the device' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l context -d 'Memory that the CUDA context of this process takes' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l others -d 'Other processes on the device, as pid:bytes' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l hidden -d 'Memory in use that NVML lists for no process' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l nvml -d 'How NVML lists this process: self, another pid, none, or missing for no NVML at all' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l device -d 'Index of the device, as error texts print it' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l conf -d 'Settings as in PYTORCH_CUDA_ALLOC_CONF' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l torch -d 'Release of PyTorch, 2.0 to 2.15' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l fraction -d 'Memory fraction set before the first request, 0 to 1' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l streams -d 'Streams besides the default one' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l fail-on -d 'What makes the exit code 1' -r -f -a "oom\t'An out-of-memory error'"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -s f -l format -d 'What to print: summary, jsonl, or the trace itself' -r -f -a "summary\t'Peaks, errors and fragmentation for people'
jsonl\t'One JSON object for each request and one for the end'
trace\t'The requests themselves, nothing run: those of a memory snapshot, to be changed and run again'"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l no-caching -d 'Cache nothing, as with PYTORCH_NO_CUDA_MEMORY_CACHING=1'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l stop-on-oom -d 'Stop at the first out-of-memory error; otherwise the failed request is skipped'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -l json -d 'Short for --format jsonl'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand simulate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l gpu -d 'GPUs to show, as nvidia-smi counts: 3 or 0,2 or a UUID, or all' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l watch -d 'Read again every so many seconds' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l from -d 'Read a saved output of nvidia-smi instead of this machine\'s GPUs' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l root -d 'Folder below which /proc and /sys of the machine lie' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -s f -l format -d 'What to print: terminal, json, jsonl, prometheus or markdown' -r -f -a "terminal\t'For people'
json\t'For programs: docs/probe.schema.json'
jsonl\t'The same on one line, for collectors'
prometheus\t'Metrics for the textfile collector of Prometheus'
markdown\t'To paste into an issue'"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l fail-on -d 'Verdict or warning that makes the exit code 1, or any; may be repeated' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l height -d 'Lines to fill [default: those of the terminal, else as many as there are]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l pid -d 'Its process, as the driver numbers it' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l need -d 'What it asks for' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l reserved -d 'What PyTorch has reserved' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l idle -d 'What of that is unallocated' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l reproduce -d 'Was it fragmentation? Works out the failure in a log or a memory snapshot, with --allow-fill on the device too' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l buffer -d 'Largest buffer of --bench' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l time-limit -d 'Seconds for the CUDA part of each GPU' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l json -d 'Short for --format json'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -s v -l verbose -d 'Everything that was read, and why other readings are missing'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l cuda -d 'Create a CUDA context, which takes 100 to 600 MiB meanwhile: its cost, and what CUDA calls free'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l bench -d 'Also measure bandwidth and allocation times and check memory, on small buffers for some seconds'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l allow-fill -d 'Also fill the device up to a margin: largest block, and --reproduce on the device'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -l allow-busy -d 'Go on although other processes use the GPU; their next allocation may fail'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand probe" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -s b -l batch -d 'Samples per step and process; without it the largest batch is sought' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -s f -l format -d 'What to print: terminal, json, markdown, junit, sarif or github' -r -f -a "terminal\t'For people'
json\t'For programs: docs/headroom.schema.json'
markdown\t'For the comment on a pull request'
junit\t'JUnit XML'
sarif\t'SARIF 2.1.0, for code scanning'
github\t'Annotations and step summary of GitHub Actions'"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l gpu -d 'The GPU, such as "RTX 3090" (oomdoc rehearse --like list prints all that are known)' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l gpu-memory -d 'Memory of the GPU as CUDA counts it' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l headroom -d 'Room to keep free: 5% or 2GiB [default: 5%]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l context -d 'What the CUDA context and its kernels take [default: 0.1 to 0.8 GiB, by the GPU\'s multiprocessors]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l others -d 'What other processes hold on the GPU' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l rehearsal -d 'What oomdoc rehearse --format json printed; may be repeated' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l snapshot -d 'A memory snapshot with the history of a run at this batch; may be repeated' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l measure -d 'A measured peak, 8x512=7.2GiB with the sequence; may be repeated' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l measurements -d 'Measured peaks: a CSV with batch and peak_bytes, or a training log' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l measured -d 'What the measured figures count: allocated, reserved or process [default: allocated]' -r -f -a "allocated\t''
reserved\t''
process\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l log -d 'A log with the out-of-memory error of a batch that failed' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l model -d 'The model: its config.json, or a .safetensors or .gguf file' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l python -d 'The Python that rehearses the model [default: the first with PyTorch for CUDA and transformers]' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l rehearsal-limit -d 'Longest time of the model\'s rehearsal' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l params -d 'Parameters of the model, such as 350M or 7B' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l precision -d 'fp32, mixed (autocast), bf16 (weights and states) or master (bf16 with 32-bit master weights)' -r -f -a "fp32\t''
mixed\t''
bf16\t''
master\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l optimizer -d 'Optimizer, such as adamw, adamw8bit, sgd, sgd-momentum, adafactor [default: adamw]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l lora -d 'LoRA of this rank on frozen weights' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l lora-targets -d 'Which linear layers have adapters: attention or all' -r -f -a "attention\t''
all\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l quantised -d 'Bits of frozen weights that are quantised: 4 or 8' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l kbit-prepared -d 'Whether PEFT\'s prepare_model_for_kbit_training made embeddings and head 32 bit: yes or no [default: either]' -r -f -a "yes\t''
no\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l attention -d 'fused (SDPA, flash) or eager [default: fused]' -r -f -a "fused\t''
eager\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l seq -d 'Tokens per sample [default: 2048, or what the model was made for if that is less]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l target-seq -d 'Tokens per sample on the decoder\'s side [default: as --seq]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l image-size -d 'Pixels of an image\'s side' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l zero -d 'ZeRO stage, 0 to 3; 3 for FSDP' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l accumulation -d 'Batches whose gradients are accumulated' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l world-size -d 'Processes that train together' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l context-length -d 'Tokens of a request, prompt and answer [default: what the model was made for]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l kv-cache -d 'Precision of the key/value cache: 16bit, fp8, q8_0 or q4_0' -r -f -a "16bit\t''
fp8\t''
q8_0\t''
q4_0\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l engine-share -d 'Share of the GPU that the engine may take, 0 to 1, such as vLLM\'s gpu_memory_utilization' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l weight-bits -d 'Bits of a weight, such as 4.5 [default: 16]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l sample-bytes -d 'Size of one loaded sample' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l workers -d 'Data-loading workers per process' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l processes -d 'Training processes on this machine' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l prefetch -d 'Batches that each worker prefetches' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l samples -d 'Samples of the data set' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l cache -d 'Every process that reads caches what it has read, up to SIZE where one is given' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l host-memory -d 'RAM of the machine or limit of the container [default: those of this machine]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l budget -d 'The file with the budgets' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l name -d 'Only the budget of this name' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l json -d 'Short for --format json'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l explain -d 'Every formula with the figures put in'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l text-only -d 'Of a model that sees or hears too, its language model alone'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l no-rehearsal -d 'The model by formulas alone: a config.json is not rehearsed, whatever Python there is'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l fused -d 'The optimizer\'s fused form'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l checkpointing -d 'Layers are recomputed in backward (gradient checkpointing)'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l inference -d 'The model serves, it does not train'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l pin-memory -d 'Batches are copied to pinned memory'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l spawn -d 'Workers are spawned, not forked'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l check -d 'Hold every budget against its GPU and its baseline'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -l update -d 'Make the present peaks the baseline'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand headroom" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l like -d 'GPU to play, such as "RTX 3090"; list prints all that are known' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l gpu-memory -d 'Memory of the GPU, as CUDA reports it' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l batch -d 'Batches to rehearse: 8,16,32 each, or 1..64 for the largest that fits; stands for {batch} in the command' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l headroom -d 'Room to keep free: 5% or 2GiB' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l steps -d 'Optimizer steps to run; 0 runs the program to its end' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l ahead -d 'How long the program goes on after these steps, to see evaluation, saving and later steps too; 0s: it stops' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l gpus -d 'GPUs of the machine [default: the world size, else the processes that a launcher starts, else 1]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l world-size -d 'Ranks to pretend: one process runs as rank 0 of that many' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l addresses -d 'Orders of device addresses to rehearse: both, up or down' -r -f -a "both\t'Upwards and downwards, and the larger need decides'
up\t'Upwards only'
down\t'Downwards only'"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l time-limit -d 'Longest time of one run' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l search-limit -d 'After this time no further batch is tried' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l env -d 'Environment of the program; a name alone lets a variable pass that would be kept back; may be repeated' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l view -d 'How your files are kept from the program: auto, overlay (namespaces), landlock, or agent (Python alone)' -r -f -a "auto\t''
overlay\t''
landlock\t''
agent\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l values -d 'What values read from the simulated GPU are: zeros or ones' -r -f -a "zeros\t''
ones\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l answers -d 'What a program is told that asks what a real GPU is known to answer, such as whether rows are packed or gradients finite: likely (that answer), or none (the values above)' -r -f -a "likely\t''
none\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l keep -d 'Keep the memory snapshots in this folder' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l torch -d 'The torch package, where it is not the one that the program\'s Python imports' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l torch-python -d 'The Python that imports torch, where the command hides it' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -s j -l jobs -d 'Runs at once [default: 2 where there are two processors]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -s f -l format -d 'What to print: terminal, json, junit or github' -r -f -a "terminal\t'One screen for people'
json\t'For programs: docs/rehearse.schema.json'
junit\t'JUnit XML for build servers'
github\t'Annotations of GitHub Actions, and its step summary'"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l model -d 'The model: a config.json of transformers, timm or diffusers, a folder with one, or a name that is in the hub\'s cache' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l task -d 'What it is made for, such as causal-lm, masked-lm, seq2seq-lm or image-classification [default: as configured]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l generate -d 'No training: this many tokens are generated for each sample' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l padding -d 'Share of the tokens that pads, 0 to 0.5' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l python -d 'The Python that has PyTorch and transformers [default: python3]' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l precision -d 'fp32, mixed (autocast), bf16 (weights and states) or master (bf16 with 32-bit master weights)' -r -f -a "fp32\t''
mixed\t''
bf16\t''
master\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l optimizer -d 'Optimizer, such as adamw, adamw8bit, sgd, sgd-momentum, adafactor [default: adamw]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l lora -d 'LoRA of this rank on frozen weights' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l lora-targets -d 'Which linear layers have adapters: attention or all' -r -f -a "attention\t''
all\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l quantised -d 'Bits of frozen weights that are quantised: 4 or 8' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l kbit-prepared -d 'Whether PEFT\'s prepare_model_for_kbit_training made embeddings and head 32 bit: yes or no [default: either]' -r -f -a "yes\t''
no\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l attention -d 'fused (SDPA, flash) or eager [default: fused]' -r -f -a "fused\t''
eager\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l seq -d 'Tokens per sample [default: 2048, or what the model was made for if that is less]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l target-seq -d 'Tokens per sample on the decoder\'s side [default: as --seq]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l image-size -d 'Pixels of an image\'s side' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l zero -d 'ZeRO stage, 0 to 3; 3 for FSDP' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l accumulation -d 'Batches whose gradients are accumulated' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l find-batch -d 'The largest batch that fits, of any size: short for --batch 1..4096'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l allow-writes -d 'Let the program write, rename and remove your files; otherwise it works on a private view of them'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l allow-network -d 'Let the program reach the network; otherwise it has none, and hubs and loggers are told so'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l show-output -d 'Let the program\'s own output through, to standard error'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l json -d 'Short for --format json'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -s v -l verbose -d 'Everything: whole stacks, all holders, all that was assumed'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l inference -d 'No training: one pass without gradients'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l fused -d 'The optimizer\'s fused form'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -l checkpointing -d 'Layers are recomputed in backward (gradient checkpointing)'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand rehearse" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -l record -d 'Write down what is seen, for oomdoc explain; {rank}, {host} and {pid} stand for those, and a folder gets a file for each' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -l warn -d 'Say so when RAM, the control group, /dev/shm or a GPU is filled to this share' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -l stop-at -d 'Ask the job to end (SIGTERM, once) when one of them is filled to this share' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -l snapshot -d 'Have PyTorch keep its allocator\'s history, write a memory snapshot into FOLDER when a process runs out of GPU memory, and tell what was allocated after each step' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -l height -d 'Lines to fill [default: those of the terminal, else as many as there are]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -s q -l quiet -d 'Say nothing when all goes well'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -l die-with-me -d 'Kill the job when oomdoc itself is killed'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand run" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand attach" -l record -d 'Write down what is seen, for oomdoc explain; {rank}, {host} and {pid} stand for those, and a folder gets a file for each' -r -F
complete -c oomdoc -n "__fish_oomdoc_using_subcommand attach" -l warn -d 'Say so when RAM, the control group, /dev/shm or a GPU is filled to this share' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand attach" -l stop-at -d 'Ask the job to end (SIGTERM, once) when one of them is filled to this share' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand attach" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand attach" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand attach" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand attach" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand attach" -l height -d 'Lines to fill [default: those of the terminal, else as many as there are]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand attach" -s q -l quiet -d 'Say nothing when all goes well'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand attach" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand top" -l interval -d 'Time between two looks' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand top" -l count -d 'End after so many looks' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand top" -l lang -d 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG' -r -f -a "auto\t''
en\t''
zh\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand top" -l color -d 'When to colour; auto colours terminals and respects NO_COLOR' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand top" -l width -d 'Columns to fill [default: those of the terminal, else 80]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand top" -l redact -d 'Hide users, machines and folders; auto: in Markdown' -r -f -a "auto\t''
always\t''
never\t''"
complete -c oomdoc -n "__fish_oomdoc_using_subcommand top" -l height -d 'Lines to fill [default: those of the terminal, else as many as there are]' -r
complete -c oomdoc -n "__fish_oomdoc_using_subcommand top" -s h -l help -d 'Print help'
complete -c oomdoc -n "__fish_oomdoc_using_subcommand completions" -s h -l help -d 'Print help'
