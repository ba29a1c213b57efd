//! How shells say that a process was killed: bash and its translations, zsh, fish.

use super::bare::bare;
use super::field;

/// `Killed` as shells print it in the languages of their users (glibc's names of signals, bash's own), without what may
/// stand in brackets behind it. Longer ones first.
pub(super) const KILLED: [&str; 25] = [
    "Processus arrêté",
    "Abgebrochen (Killed)",
    "Terminado (killed)",
    "Morto (Killed)",
    "Unicestwiony",
    "強制終了",
    "強制結束",
    "已砍掉",
    "已杀死",
    "被殺死",
    "죽었음",
    "Getötet",
    "Geëlimineerd",
    "Matado",
    "Убито",
    "Убит",
    "Вбито",
    "Ucciso",
    "Dödad",
    "Zabito",
    // With its number, as macOS and the BSDs say it.
    "Killed: 9",
    "Killed",
    "killed",
    "Morto",
    "Tué",
];

/// A shell's word on a process that died of SIGKILL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kill {
    pub pid: Option<u64>,
}

/// Reads `SCRIPT: line N: PID Killed COMMAND`, `[1]+ Killed COMMAND`, `[1]  + PID killed COMMAND`, `zsh: killed
/// COMMAND`, `fish: Job 1, 'COMMAND' terminated by signal SIGKILL`, or the bare word.
pub(super) fn kill(line: &str) -> Option<Kill> {
    let line = bare(line).trim_end();
    // What was being done, or a progress bar, without a line end stands in front of the word.
    if line.strip_suffix("Killed").is_some_and(|front| front.ends_with("...")) {
        return Some(Kill { pid: None });
    }
    let rates = ["it/s]", "s/it]", "B/s]"].into_iter().filter_map(|rate| Some(line.rfind(rate)? + rate.len()));
    let line = rates.max().map_or(line, |end| &line[end..]).trim();
    if line.starts_with("zsh: killed ") || line.starts_with("fish: ") && line.contains("by signal SIGKILL") {
        return Some(Kill { pid: None });
    }
    KILLED.iter().find_map(|word| {
        if line == *word && *word != "killed" {
            return Some(Kill { pid: None });
        }
        let (front, tail) = split(line, word)?;
        // `Killed 1 process(es)`: who has killed, and no command.
        let counts = tail.trim_start().starts_with(|c: char| c.is_ascii_digit());
        if !(tail.is_empty() || tail.starts_with(char::is_whitespace)) || counts {
            return None;
        }
        of_a_job(front, tail).or_else(|| of_a_script(front, *word == "killed"))
    })
}

/// Splits at the first `word` that stands behind a blank or a colon.
fn split<'a>(line: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    line.match_indices(word).find_map(|(at, _)| {
        let front = &line[..at];
        front.ends_with([' ', '\t', ':', '：']).then(|| (front, &line[at + word.len()..]))
    })
}

/// `[1]+`, `[1]  + PID` in front, a command behind.
fn of_a_job(front: &str, tail: &str) -> Option<Kill> {
    let rest = front.trim_start().strip_prefix('[')?;
    let (number, rest) = rest.split_once(']')?;
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) || tail.trim().is_empty() {
        return None;
    }
    let rest = rest.trim().trim_start_matches(['+', '-']).trim();
    let pid = if rest.is_empty() { None } else { Some(rest.parse().ok()?) };
    Some(Kill { pid })
}

/// `SCRIPT: line N: PID` in front. A pid alone is a line of which the rest was cut.
fn of_a_script(front: &str, lower_case: bool) -> Option<Kill> {
    let front = front.trim_end();
    let digits = front.len() - front.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (before, pid) = front.split_at(digits);
    let before = before.trim_end();
    let told = before.ends_with([':', '：']);
    // A line that begins with the figure may begin inside of it.
    if pid.is_empty() || lower_case || !(told || before.is_empty()) {
        return None;
    }
    Some(Kill { pid: if told { pid.parse().ok() } else { None } })
}

/// True for a shell's word that a process died of a bus error, which is what a full `/dev/shm` does to whoever touches
/// it.
pub(super) fn bus_error(line: &str) -> Option<Option<u64>> {
    let line = bare(line).trim_end();
    if line.starts_with("zsh: bus error") || line.starts_with("fish: ") && line.contains("by signal SIGBUS") {
        return Some(None);
    }
    let (front, tail) = split(line, "Bus error")?;
    let pid = field::leading_number(front.trim_end().rsplit([' ', ':']).next()?);
    (pid.is_some() && tail.starts_with(char::is_whitespace)).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_line_of_any_shell_and_language_names_the_process() {
        for (line, pid) in [
            ("./run.sh: line 12: 40112 Killed                  python train.py", Some(40112)),
            ("./run.sh: Zeile 12: 40112 Getötet                 python train.py", Some(40112)),
            ("./run.sh: Zeile 12: 40112 Abgebrochen (Killed)    python train.py", Some(40112)),
            ("./run.sh : ligne 12 : 40112 Tué                   python train.py", Some(40112)),
            ("./run.sh: 第 12 行：40112 已杀死               python train.py", Some(40112)),
            ("./run.sh：行 12： 40112 已杀死               python train.py", Some(40112)),
            ("./run.sh: строка 12: 40112 Убито                  python train.py", Some(40112)),
            ("[1]  + 1264962 killed     python train.py", Some(1264962)),
            ("[1]+  Killed                  nohup python train.py > log.txt 2>&1", None),
            ("zsh: killed     python3 generate.py", None),
            ("fish: Job 5, 'python train.py' terminated by signal SIGKILL (Forced quit)", None),
            ("Getötet", None),
            ("Killed", None),
            ("0112 Killed        python train.py", None),
            (" 50%|█████     | 5/10 [00:05<00:05,  1.00it/s]Killed", None),
            ("Loading checkpoint shards:  50%|█████     | 4/8 [02:15<02:28, 37.16s/it]Killed", None),
            ("Loading database information...Killed", None),
            ("run.sh: line 12: 20714 Killed       python train.py --name cartpole ...", Some(20714)),
            ("Killed: 9", None),
            ("./run.sh: line 12: 40112 Killed: 9               python train.py", Some(40112)),
        ] {
            assert_eq!(kill(line), Some(Kill { pid }), "{line}");
        }
    }

    #[test]
    fn words_that_are_no_kill_line() {
        for line in [
            "process 7 Killedly",
            "the job was killed by the user",
            "killed",
            "Out of memory: Killed process 77 (python)",
            "./run.sh: line 12: 40112 Terminated              python train.py",
            "2 workers killed",
            "Waiting for the rest ... Killed 3 of them",
        ] {
            assert_eq!(kill(line), None, "{line}");
        }
    }

    #[test]
    fn a_bus_error_names_the_process() {
        assert_eq!(
            bus_error("./run.sh: line 3: 77 Bus error               (core dumped) python train.py"),
            Some(Some(77))
        );
        assert_eq!(bus_error("zsh: bus error (core dumped)  python train.py"), Some(None));
        assert_eq!(bus_error("Bus error is a signal"), None);
    }
}
