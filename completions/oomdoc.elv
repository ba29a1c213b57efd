
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
            cand probe 'Read the GPUs and memory of this machine: who holds what, what nobody explains, what limits apply'
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
    ]
    $completions[$command]
}
