
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'oomdoc' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'oomdoc'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'oomdoc' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain the out-of-memory failure in a log: what ran out, why, and what to change')
            [CompletionResult]::new('rules', 'rules', [CompletionResultType]::ParameterValue, 'List the causes and fixes that oomdoc knows, or print the documentation of one')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Replay a PyTorch memory snapshot: the true peak, who held it, what was fragmented, what other settings would do')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'What grew between two memory snapshots, by the place in the program')
            [CompletionResult]::new('simulate', 'simulate', [CompletionResultType]::ParameterValue, 'Run a list of allocations through PyTorch''s caching allocator on a device of any size')
            [CompletionResult]::new('probe', 'probe', [CompletionResultType]::ParameterValue, 'Read the GPUs and memory of this machine: who holds what, what nobody explains, what limits apply')
            [CompletionResult]::new('headroom', 'headroom', [CompletionResultType]::ParameterValue, 'Does batch N fit a GPU with room to spare, and what is the largest that does')
            [CompletionResult]::new('rehearse', 'rehearse', [CompletionResultType]::ParameterValue, 'Run a training program for a few steps on a simulated GPU: would it fit, and up to which batch')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run a job unchanged, and be there when its memory ends')
            [CompletionResult]::new('attach', 'attach', [CompletionResultType]::ParameterValue, 'Watch a process that already runs, as run does, until it ends')
            break
        }
        'oomdoc;explain' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'What to print: terminal, json or markdown')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print: terminal, json or markdown')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Memory snapshot of the run, which proves or refutes it; may be repeated')
            [CompletionResult]::new('--snapshot', '--snapshot', [CompletionResultType]::ParameterName, 'Memory snapshot of the run, which proves or refutes it; may be repeated')
            [CompletionResult]::new('--lang', '--lang', [CompletionResultType]::ParameterName, 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour; auto colours terminals and respects NO_COLOR')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns to fill [default: those of the terminal, else 80]')
            [CompletionResult]::new('--batch-size', '--batch-size', [CompletionResultType]::ParameterName, 'Samples per step and process')
            [CompletionResult]::new('--accumulation', '--accumulation', [CompletionResultType]::ParameterName, 'Steps of gradient accumulation')
            [CompletionResult]::new('--seq-len', '--seq-len', [CompletionResultType]::ParameterName, 'Tokens per sample')
            [CompletionResult]::new('--image-size', '--image-size', [CompletionResultType]::ParameterName, 'Pixels of the longer side')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Data-loading workers per process')
            [CompletionResult]::new('--prefetch', '--prefetch', [CompletionResultType]::ParameterName, 'Batches that each worker prefetches')
            [CompletionResult]::new('--processes', '--processes', [CompletionResultType]::ParameterName, 'Training processes on this machine')
            [CompletionResult]::new('--sample-bytes', '--sample-bytes', [CompletionResultType]::ParameterName, 'Size of one loaded sample')
            [CompletionResult]::new('--samples', '--samples', [CompletionResultType]::ParameterName, 'Samples of the data set')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Size of a cache of samples in RAM')
            [CompletionResult]::new('--host-memory', '--host-memory', [CompletionResultType]::ParameterName, 'RAM of the machine or limit of the container')
            [CompletionResult]::new('--params', '--params', [CompletionResultType]::ParameterName, 'Parameters of the model')
            [CompletionResult]::new('--optimizer', '--optimizer', [CompletionResultType]::ParameterName, 'Optimizer, such as adamw')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'Precision: fp32, fp16, bf16, mixed, fp8, int8 or int4')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Everything: all evidence, formulas, the account, what was ruled out')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Everything: all evidence, formulas, the account, what was ruled out')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'oomdoc;rules' {
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'List only causes or only fixes')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'What to print: terminal, json or markdown')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print: terminal, json or markdown')
            [CompletionResult]::new('--lang', '--lang', [CompletionResultType]::ParameterName, 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour; auto colours terminals and respects NO_COLOR')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns to fill [default: those of the terminal, else 80]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'oomdoc;replay' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'What to print: terminal, json, markdown or html')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print: terminal, json, markdown or html')
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Only this device')
            [CompletionResult]::new('--top', '--top', [CompletionResultType]::ParameterName, 'Holders to list')
            [CompletionResult]::new('--conf', '--conf', [CompletionResultType]::ParameterName, 'Allocator settings to try in place of the usual ones; may be repeated')
            [CompletionResult]::new('--capacity', '--capacity', [CompletionResultType]::ParameterName, 'Size of the device')
            [CompletionResult]::new('--torch', '--torch', [CompletionResultType]::ParameterName, 'PyTorch version to replay as [default: the newest that writes such a snapshot]')
            [CompletionResult]::new('--lang', '--lang', [CompletionResultType]::ParameterName, 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour; auto colours terminals and respects NO_COLOR')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns to fill [default: those of the terminal, else 80]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Everything: all notes, whole stacks')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Everything: all notes, whole stacks')
            [CompletionResult]::new('--no-what-if', '--no-what-if', [CompletionResultType]::ParameterName, 'Only what was recorded: nothing is simulated, so how well the simulator foresees the record is not said either')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'oomdoc;diff' {
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Which moment to compare: the end of the recording or its peak')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Growth that makes the exit code 1: growth>5%, growth>200MiB, reserved>5%')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'What to print: terminal, json or markdown')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print: terminal, json or markdown')
            [CompletionResult]::new('--top', '--top', [CompletionResultType]::ParameterName, 'Places to list')
            [CompletionResult]::new('--lang', '--lang', [CompletionResultType]::ParameterName, 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour; auto colours terminals and respects NO_COLOR')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns to fill [default: those of the terminal, else 80]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'oomdoc;simulate' {
            [CompletionResult]::new('--capacity', '--capacity', [CompletionResultType]::ParameterName, 'Memory of the device')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Memory that the CUDA context of this process takes')
            [CompletionResult]::new('--others', '--others', [CompletionResultType]::ParameterName, 'Other processes on the device, as pid:bytes')
            [CompletionResult]::new('--hidden', '--hidden', [CompletionResultType]::ParameterName, 'Memory in use that NVML lists for no process')
            [CompletionResult]::new('--nvml', '--nvml', [CompletionResultType]::ParameterName, 'How NVML lists this process: self, another pid, none, or missing for no NVML at all')
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Index of the device, as error texts print it')
            [CompletionResult]::new('--conf', '--conf', [CompletionResultType]::ParameterName, 'Settings as in PYTORCH_CUDA_ALLOC_CONF')
            [CompletionResult]::new('--torch', '--torch', [CompletionResultType]::ParameterName, 'Release of PyTorch, 2.0 to 2.15')
            [CompletionResult]::new('--fraction', '--fraction', [CompletionResultType]::ParameterName, 'Memory fraction set before the first request, 0 to 1')
            [CompletionResult]::new('--streams', '--streams', [CompletionResultType]::ParameterName, 'Streams besides the default one')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'What makes the exit code 1')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'What to print: summary or jsonl')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print: summary or jsonl')
            [CompletionResult]::new('--lang', '--lang', [CompletionResultType]::ParameterName, 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour; auto colours terminals and respects NO_COLOR')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns to fill [default: those of the terminal, else 80]')
            [CompletionResult]::new('--no-caching', '--no-caching', [CompletionResultType]::ParameterName, 'Cache nothing, as with PYTORCH_NO_CUDA_MEMORY_CACHING=1')
            [CompletionResult]::new('--stop-on-oom', '--stop-on-oom', [CompletionResultType]::ParameterName, 'Stop at the first out-of-memory error; otherwise the failed request is skipped')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format jsonl')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'oomdoc;probe' {
            [CompletionResult]::new('--gpu', '--gpu', [CompletionResultType]::ParameterName, 'GPUs to show, as nvidia-smi counts: 3 or 0,2 or a UUID, or all')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Read again every so many seconds')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read a saved output of nvidia-smi instead of this machine''s GPUs')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Folder below which /proc and /sys of the machine lie')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'What to print: terminal, json or markdown')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print: terminal, json or markdown')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Verdict or warning that makes the exit code 1, or any; may be repeated')
            [CompletionResult]::new('--lang', '--lang', [CompletionResultType]::ParameterName, 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour; auto colours terminals and respects NO_COLOR')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns to fill [default: those of the terminal, else 80]')
            [CompletionResult]::new('--pid', '--pid', [CompletionResultType]::ParameterName, 'Its process, as the driver numbers it')
            [CompletionResult]::new('--need', '--need', [CompletionResultType]::ParameterName, 'What it asks for')
            [CompletionResult]::new('--reserved', '--reserved', [CompletionResultType]::ParameterName, 'What PyTorch has reserved')
            [CompletionResult]::new('--idle', '--idle', [CompletionResultType]::ParameterName, 'What of that is unallocated')
            [CompletionResult]::new('--reproduce', '--reproduce', [CompletionResultType]::ParameterName, 'Was it fragmentation? Works out the failure in a log or a memory snapshot, with --allow-fill on the device too')
            [CompletionResult]::new('--buffer', '--buffer', [CompletionResultType]::ParameterName, 'Largest buffer of --bench')
            [CompletionResult]::new('--time-limit', '--time-limit', [CompletionResultType]::ParameterName, 'Seconds for the CUDA part of each GPU')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Everything that was read, and why other readings are missing')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Everything that was read, and why other readings are missing')
            [CompletionResult]::new('--cuda', '--cuda', [CompletionResultType]::ParameterName, 'Create a CUDA context, which takes 100 to 600 MiB meanwhile: its cost, and what CUDA calls free')
            [CompletionResult]::new('--bench', '--bench', [CompletionResultType]::ParameterName, 'Also measure bandwidth and allocation times and check memory, on small buffers for some seconds')
            [CompletionResult]::new('--allow-fill', '--allow-fill', [CompletionResultType]::ParameterName, 'Also fill the device up to a margin: largest block, and --reproduce on the device')
            [CompletionResult]::new('--allow-busy', '--allow-busy', [CompletionResultType]::ParameterName, 'Go on although other processes use the GPU; their next allocation may fail')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'oomdoc;headroom' {
            [CompletionResult]::new('-b', '-b', [CompletionResultType]::ParameterName, 'Samples per step and process; without it the largest batch is sought')
            [CompletionResult]::new('--batch', '--batch', [CompletionResultType]::ParameterName, 'Samples per step and process; without it the largest batch is sought')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'What to print: terminal, json, markdown, junit, sarif or github')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print: terminal, json, markdown, junit, sarif or github')
            [CompletionResult]::new('--gpu', '--gpu', [CompletionResultType]::ParameterName, 'The GPU, such as "RTX 3090" (oomdoc rehearse --like list prints all that are known)')
            [CompletionResult]::new('--gpu-memory', '--gpu-memory', [CompletionResultType]::ParameterName, 'Memory of the GPU as CUDA counts it')
            [CompletionResult]::new('--headroom', '--headroom', [CompletionResultType]::ParameterName, 'Room to keep free: 5% or 2GiB [default: 5%]')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'What the CUDA context and its kernels take [default: 0.1 to 0.8 GiB, by the GPU''s multiprocessors]')
            [CompletionResult]::new('--others', '--others', [CompletionResultType]::ParameterName, 'What other processes hold on the GPU')
            [CompletionResult]::new('--rehearsal', '--rehearsal', [CompletionResultType]::ParameterName, 'What oomdoc rehearse --format json printed; may be repeated')
            [CompletionResult]::new('--snapshot', '--snapshot', [CompletionResultType]::ParameterName, 'A memory snapshot with the history of a run at this batch; may be repeated')
            [CompletionResult]::new('--measure', '--measure', [CompletionResultType]::ParameterName, 'A measured peak, 8x512=7.2GiB with the sequence; may be repeated')
            [CompletionResult]::new('--measurements', '--measurements', [CompletionResultType]::ParameterName, 'Measured peaks: a CSV with batch and peak_bytes, or a training log')
            [CompletionResult]::new('--measured', '--measured', [CompletionResultType]::ParameterName, 'What the measured figures count: allocated, reserved or process [default: allocated]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'A log with the out-of-memory error of a batch that failed')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The model: its config.json, or a .safetensors or .gguf file')
            [CompletionResult]::new('--params', '--params', [CompletionResultType]::ParameterName, 'Parameters of the model, such as 350M or 7B')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'fp32, mixed (autocast), bf16 (weights and states) or master (bf16 with 32-bit master weights)')
            [CompletionResult]::new('--optimizer', '--optimizer', [CompletionResultType]::ParameterName, 'Optimizer, such as adamw, adamw8bit, sgd, sgd-momentum, adafactor [default: adamw]')
            [CompletionResult]::new('--lora', '--lora', [CompletionResultType]::ParameterName, 'LoRA of this rank on frozen weights')
            [CompletionResult]::new('--lora-targets', '--lora-targets', [CompletionResultType]::ParameterName, 'Which linear layers have adapters: attention or all')
            [CompletionResult]::new('--quantised', '--quantised', [CompletionResultType]::ParameterName, 'Bits of frozen weights that are quantised: 4 or 8')
            [CompletionResult]::new('--attention', '--attention', [CompletionResultType]::ParameterName, 'fused (SDPA, flash) or eager')
            [CompletionResult]::new('--seq', '--seq', [CompletionResultType]::ParameterName, 'Tokens per sample')
            [CompletionResult]::new('--target-seq', '--target-seq', [CompletionResultType]::ParameterName, 'Tokens per sample on the decoder''s side [default: as --seq]')
            [CompletionResult]::new('--image-size', '--image-size', [CompletionResultType]::ParameterName, 'Pixels of an image''s side')
            [CompletionResult]::new('--zero', '--zero', [CompletionResultType]::ParameterName, 'ZeRO stage, 0 to 3; 3 for FSDP')
            [CompletionResult]::new('--world-size', '--world-size', [CompletionResultType]::ParameterName, 'Processes that train together')
            [CompletionResult]::new('--accumulation', '--accumulation', [CompletionResultType]::ParameterName, 'Batches whose gradients are accumulated')
            [CompletionResult]::new('--context-length', '--context-length', [CompletionResultType]::ParameterName, 'Tokens of a request, prompt and answer [default: what the model was made for]')
            [CompletionResult]::new('--kv-cache', '--kv-cache', [CompletionResultType]::ParameterName, 'Precision of the key/value cache: 16bit, fp8, q8_0 or q4_0')
            [CompletionResult]::new('--engine-share', '--engine-share', [CompletionResultType]::ParameterName, 'Share of the GPU that the engine may take, 0 to 1, such as vLLM''s gpu_memory_utilization')
            [CompletionResult]::new('--weight-bits', '--weight-bits', [CompletionResultType]::ParameterName, 'Bits of a weight, such as 4.5 [default: 16]')
            [CompletionResult]::new('--sample-bytes', '--sample-bytes', [CompletionResultType]::ParameterName, 'Size of one loaded sample')
            [CompletionResult]::new('--workers', '--workers', [CompletionResultType]::ParameterName, 'Data-loading workers per process')
            [CompletionResult]::new('--processes', '--processes', [CompletionResultType]::ParameterName, 'Training processes on this machine')
            [CompletionResult]::new('--prefetch', '--prefetch', [CompletionResultType]::ParameterName, 'Batches that each worker prefetches')
            [CompletionResult]::new('--samples', '--samples', [CompletionResultType]::ParameterName, 'Samples of the data set')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Every process that reads caches what it has read, up to SIZE where one is given')
            [CompletionResult]::new('--host-memory', '--host-memory', [CompletionResultType]::ParameterName, 'RAM of the machine or limit of the container [default: those of this machine]')
            [CompletionResult]::new('--budget', '--budget', [CompletionResultType]::ParameterName, 'The file with the budgets')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Only the budget of this name')
            [CompletionResult]::new('--lang', '--lang', [CompletionResultType]::ParameterName, 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour; auto colours terminals and respects NO_COLOR')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns to fill [default: those of the terminal, else 80]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Every formula with the figures put in')
            [CompletionResult]::new('--fused', '--fused', [CompletionResultType]::ParameterName, 'The optimizer''s fused form')
            [CompletionResult]::new('--checkpointing', '--checkpointing', [CompletionResultType]::ParameterName, 'Layers are recomputed in backward (gradient checkpointing)')
            [CompletionResult]::new('--inference', '--inference', [CompletionResultType]::ParameterName, 'The model serves, it does not train')
            [CompletionResult]::new('--pin-memory', '--pin-memory', [CompletionResultType]::ParameterName, 'Batches are copied to pinned memory')
            [CompletionResult]::new('--spawn', '--spawn', [CompletionResultType]::ParameterName, 'Workers are spawned, not forked')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Hold every budget against its GPU and its baseline')
            [CompletionResult]::new('--update', '--update', [CompletionResultType]::ParameterName, 'Make the present peaks the baseline')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'oomdoc;rehearse' {
            [CompletionResult]::new('--like', '--like', [CompletionResultType]::ParameterName, 'GPU to play, such as "RTX 3090"; list prints all that are known')
            [CompletionResult]::new('--gpu-memory', '--gpu-memory', [CompletionResultType]::ParameterName, 'Memory of the GPU, as CUDA reports it')
            [CompletionResult]::new('--batch', '--batch', [CompletionResultType]::ParameterName, 'Batches to rehearse: 8,16,32 each, or 1..64 for the largest that fits; stands for {batch} in the command')
            [CompletionResult]::new('--headroom', '--headroom', [CompletionResultType]::ParameterName, 'Room to keep free: 5% or 2GiB')
            [CompletionResult]::new('--steps', '--steps', [CompletionResultType]::ParameterName, 'Optimizer steps to run; 0 runs the program to its end')
            [CompletionResult]::new('--gpus', '--gpus', [CompletionResultType]::ParameterName, 'GPUs of the machine [default: the world size, else 1]')
            [CompletionResult]::new('--world-size', '--world-size', [CompletionResultType]::ParameterName, 'Ranks to pretend: one process runs as rank 0 of that many')
            [CompletionResult]::new('--addresses', '--addresses', [CompletionResultType]::ParameterName, 'Orders of device addresses to rehearse: both, up or down')
            [CompletionResult]::new('--time-limit', '--time-limit', [CompletionResultType]::ParameterName, 'Longest time of one run')
            [CompletionResult]::new('--search-limit', '--search-limit', [CompletionResultType]::ParameterName, 'After this time no further batch is tried')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Environment of the program; may be repeated')
            [CompletionResult]::new('--values', '--values', [CompletionResultType]::ParameterName, 'What values read from the simulated GPU are: zeros or ones')
            [CompletionResult]::new('--answers', '--answers', [CompletionResultType]::ParameterName, 'What a program is told that asks what a real GPU is known to answer, such as whether rows are packed or gradients finite: likely (that answer), or none (the values above)')
            [CompletionResult]::new('--keep', '--keep', [CompletionResultType]::ParameterName, 'Keep the memory snapshots in this folder')
            [CompletionResult]::new('--torch', '--torch', [CompletionResultType]::ParameterName, 'The torch package, where it is not the one that the program''s Python imports')
            [CompletionResult]::new('--torch-python', '--torch-python', [CompletionResultType]::ParameterName, 'The Python that imports torch, where the command hides it')
            [CompletionResult]::new('-j', '-j', [CompletionResultType]::ParameterName, 'Runs at once [default: 2 where there are two processors]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Runs at once [default: 2 where there are two processors]')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'What to print: terminal, json, junit or github')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What to print: terminal, json, junit or github')
            [CompletionResult]::new('--lang', '--lang', [CompletionResultType]::ParameterName, 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour; auto colours terminals and respects NO_COLOR')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns to fill [default: those of the terminal, else 80]')
            [CompletionResult]::new('--find-batch', '--find-batch', [CompletionResultType]::ParameterName, 'The largest batch that fits, of any size: short for --batch 1..4096')
            [CompletionResult]::new('--show-output', '--show-output', [CompletionResultType]::ParameterName, 'Let the program''s own output through, to standard error')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for --format json')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Everything: whole stacks, all holders, all traps')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Everything: whole stacks, all holders, all traps')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'oomdoc;run' {
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write down what is seen, for oomdoc explain; {rank}, {host} and {pid} stand for those, and a folder gets a file for each')
            [CompletionResult]::new('--warn', '--warn', [CompletionResultType]::ParameterName, 'Say so when RAM, the control group, /dev/shm or a GPU is filled to this share')
            [CompletionResult]::new('--stop-at', '--stop-at', [CompletionResultType]::ParameterName, 'Ask the job to end (SIGTERM, once) when one of them is filled to this share')
            [CompletionResult]::new('--lang', '--lang', [CompletionResultType]::ParameterName, 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour; auto colours terminals and respects NO_COLOR')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns to fill [default: those of the terminal, else 80]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing when all goes well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing when all goes well')
            [CompletionResult]::new('--die-with-me', '--die-with-me', [CompletionResultType]::ParameterName, 'Kill the job when oomdoc itself is killed')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'oomdoc;attach' {
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write down what is seen, for oomdoc explain; {rank}, {host} and {pid} stand for those, and a folder gets a file for each')
            [CompletionResult]::new('--warn', '--warn', [CompletionResultType]::ParameterName, 'Say so when RAM, the control group, /dev/shm or a GPU is filled to this share')
            [CompletionResult]::new('--stop-at', '--stop-at', [CompletionResultType]::ParameterName, 'Ask the job to end (SIGTERM, once) when one of them is filled to this share')
            [CompletionResult]::new('--lang', '--lang', [CompletionResultType]::ParameterName, 'Language of the report; auto asks LC_ALL, LC_MESSAGES and LANG')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour; auto colours terminals and respects NO_COLOR')
            [CompletionResult]::new('--width', '--width', [CompletionResultType]::ParameterName, 'Columns to fill [default: those of the terminal, else 80]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing when all goes well')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing when all goes well')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
