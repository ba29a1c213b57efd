//! Launchers, pools and shells that report how a process of theirs ended: torchrun, DeepSpeed, `mp.spawn`,
//! `subprocess`, joblib, `concurrent.futures`, bash, and exit codes of containers.
//!
//! A process that was killed prints nothing itself. SIGKILL is what the kernel's killer sends, but not only it: these
//! events carry [`Sign::KilledWithoutProof`] unless a line nearby proves the reason.

use super::bare::{bare, is_composed};
use super::labelled::{Labelled, Unit, spoken};
use super::proof::{self, Witness};
use super::{Dialect, Event, Fact, Resource, Sign, Standing, field, kernel, naming, shells};
use crate::domain::{Number, Program};
use crate::input::Document;
use crate::text;
use crate::units::Base;

pub const DIALECT: Dialect = Dialect {
    name: "launcher",
    triggers: &[
        "SIGKILL",
        "exitcode",
        "return code",
        "return value",
        "xit code",
        "Exit Code",
        "xit status",
        "with code",
        "ProcessPool",
        "illed",
        "signal 9",
        "signal: 9",
        "signal=KILL",
        "signal=-9",
        "Error 137",
        "status 137",
        "an error code: 137",
        "exit_codes",
        "ExitCode",
        "echo $?",
        "exit_status",
        "Bus error",
        "bus error",
        "SIGBUS",
        "EXIT CODE",
        "Processus arrêté",
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
        "Убит ",
        "Вбито",
        "Ucciso",
        "Dödad",
        "Zabito",
        " Morto",
        " Tué ",
    ],
    read,
};

/// Lines before a report of DeepSpeed's launcher in which it tells whom it sends its signal to.
const SENT: usize = 16;
/// Lines of one entry of torchrun's closing table, from `exitcode` to `traceback`.
const ENTRY: usize = 4;
/// Lines around a death in which the same death, or its cause, is told.
const NEAR: usize = 60;

/// How a line says that a process died of SIGKILL.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Death {
    dialect: &'static str,
    pid: Option<u64>,
    /// The code as printed: −9, 9 or 137.
    code: Option<i64>,
    /// The last line of the report, counted from the first.
    lines: usize,
}

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if let Some(event) = clean_up(document, position) {
        return Some(event);
    }
    if let Some(pid) = shells::bus_error(line) {
        return Some(bus_error(document, position, pid));
    }
    let death = elastic(document, position)
        .or_else(|| pool(document, position))
        .or_else(|| shell(document, position))
        .or_else(|| code(document, position))
        .or_else(|| code_below(document, position));
    let Some(death) = death else { return told_bus_error(document, position) };
    let mut event = field::event(document, position, death.dialect, Program::Generic, Resource::Host);
    event.at.last = field::number(document, position + death.lines);
    event.sign(Sign::NoFigures);
    if matches!(death.dialect, "joblib-worker-killed" | "process-pool-broken") {
        event.sign(Sign::PoolWorkerKilled);
    }
    field::note_pid(&mut event, death.pid);
    field::note_number(&mut event, Number::ExitCode, death.code.map(|code| code as f64));
    field::note_number(&mut event, Number::KilledPid, death.pid.map(|pid| pid as f64));
    event.rank = rank(document, position).or(event.rank);

    if stopped_by_someone(document, position, &death) {
        event.make_harmless(text!(
            en: "the process was killed on purpose: the log shows a time-out, a stop or a cancel before its end",
            zh: "进程是被主动终止的：结束之前日志中有超时、停止或取消的记录"
        ));
        return Some(event);
    }
    if field::text(document, position).contains("Execution is retried") {
        event.make_harmless(text!(
            en: "the step was killed and is run again; what ends the job, if anything, is told later",
            zh: "该步骤被杀死后会重新执行；如果作业最终失败，后文另有说明"
        ));
        return Some(event);
    }
    if proof::around(document, position, None).is_none() && proof::is_denied(document, position) {
        event.make_harmless(text!(
            en: "somebody asked whether memory was the reason, and the answer in the log is no",
            zh: "有人查询过是否因内存被杀，日志中的回答是否"
        ));
        return Some(event);
    }
    if told_before(document, position, &death) {
        event.standing = Standing::Follower;
        event.sign(Sign::KilledWithoutProof);
        return Some(event);
    }
    if death.dialect == "deepspeed-sigkill" {
        // It sends its signal to all that it started, the one that had died among them: of several, nobody knows which.
        let mut sent = field::before(position, SENT)
            .filter_map(|at| field::number_after(field::text(document, at), "Killing subprocess"));
        let one = sent.next();
        if one.is_some() {
            event.facts.pid = crate::evidence::Known::default();
        }
        let later = field::number_after(field::text(document, position), "--local_rank=").is_some_and(|rank| rank > 0);
        field::note_pid(&mut event, one.filter(|_| sent.next().is_none() && !later));
    }
    event.program = program(document, position, &death);
    if event.program == Program::Sge {
        let peak = field::before(position, 30).chain(field::behind(document, position, 30)).find_map(|at| {
            field::text(document, at).contains("maxvmem").then_some(())?;
            Labelled::at(document, at, 1).figure("maxvmem", Unit::Printed(Base::Binary))
        });
        if let Some(peak) = peak {
            event.facts.note(Fact::Peak, peak);
            event.signs.remove(&Sign::NoFigures);
        }
    }
    let proof = proof::around(document, position, death.pid).or_else(|| proof::around(document, position, None));
    let Some(proof) = proof else {
        event.sign(Sign::KilledWithoutProof);
        return Some(event);
    };
    event.resource = proof.resource;
    event.signs.insert(Sign::KilledWithProof, proof.at);
    let same = death.pid.and_then(|pid| kernel::report_of(document, proof.position, pid));
    match (proof.witness, same) {
        (Witness::Kernel, Some(report)) => kernel::adopt(&mut event, &report),
        // The proof tells the same death with more words: it is the event, this one only follows.
        _ => event.standing = Standing::Follower,
    }
    Some(event)
}

/// torchrun's closing table and its agent's line (`torch/distributed/elastic`), `mp.spawn`, and lines that merely name
/// the signal.
fn elastic(document: &Document, position: usize) -> Option<Death> {
    let line = field::text(document, position);
    let killed = |pid, code, lines| Some(Death { dialect: "torchrun-sigkill", pid, code, lines });
    if line.contains("exitcode") {
        let code = exit_code(line)?;
        if code != -9 {
            return None;
        }
        let signal = field::behind(document, position, ENTRY).find(|at| received_sigkill(field::text(document, *at)));
        let pid =
            pid_at(document, position, &["(pid:"]).or_else(|| signal.and_then(|at| pid_at(document, at, &["bypid"])));
        return killed(pid, Some(code), signal.map_or(0, |at| at - position));
    }
    if received_sigkill(line) {
        return killed(pid_at(document, position, &["bypid"]), Some(-9), 0);
    }
    if line.contains("terminated with signal SIGKILL") {
        let mut death = Death { dialect: "torch-spawn-sigkill", pid: None, code: Some(-9), lines: 0 };
        death.pid = pid_at(document, position, &["(pid"]);
        return Some(death);
    }
    const KILLED: [&str; 19] = [
        "diedwith<signals.sigkill",
        "wassentsigkill!perhapsoutofmemory?",
        "prematurely:signal9(sigkill)",
        "terminatedbysigkill",
        "exitedonsignal9(killed)",
        "exitedwithsignal9",
        "exitedwith'signal9(sigkill)'",
        "killedbysignal:9",
        "killedbysignal9",
        "terminatedbysignal9",
        "diedduetosignal9",
        "(signal:9,sigkill:kill)",
        ":signal:killed",
        "negsignal.sigkill",
        "signal_name=\"sigkill\"",
        "code=killed,signal=kill",
        "statusof9(sigkill)",
        "slowtoacceptsigterm;sendingsigkill",
        "terminatedbysignalsigkill",
    ];
    let at = spoken(document, position, &KILLED)?;
    let told = document.lines.iter().filter(|line| at.first <= line.number && line.number <= at.last);
    let labelled = Labelled::of(document, told);
    let labels = ["(pid:", "(pid=", "'pid:", "(pid", "pid:"];
    let pid = labels.iter().find_map(|label| labelled.count(label)).map(|(pid, _)| pid);
    let lines = usize::from(at.last > field::number(document, position));
    Some(Death { dialect: "subprocess-sigkill", pid, code: Some(-9), lines })
}

/// The code behind `exitcode`, in the table (`exitcode  : -9`) and in the agent's line (`(exitcode: -9)`).
fn exit_code(line: &str) -> Option<i64> {
    let tail = field::after(line, "exitcode")?;
    field::signed_after(tail.trim_start_matches([':', '=', ' ']), "")
}

/// `Signal 9 (SIGKILL) received by PID N`.
fn received_sigkill(line: &str) -> bool {
    line.contains("Signal 9 (SIGKILL)")
}

/// The process behind the first of some labels, written without blanks and in lower case, on one line.
fn pid_at(document: &Document, position: usize, labels: &[&str]) -> Option<u64> {
    let labelled = Labelled::at(document, position, 1);
    labels.iter().find_map(|label| labelled.count(label)).map(|(pid, _)| pid)
}

/// A process pool that lost a worker.
fn pool(document: &Document, position: usize) -> Option<Death> {
    let death = |dialect, code| Some(Death { dialect, pid: None, code, lines: 0 });
    if spoken(document, position, &["sigkill(-9)"]).is_some() {
        // joblib says what happened a few lines before the codes.
        return death("joblib-worker-killed", Some(-9));
    }
    spoken(document, position, &["brokenprocesspool:"])?;
    let said = &Labelled::at(document, position.saturating_sub(1), 4).lower;
    let broken = said.contains("terminatedabruptly") || said.contains("notusable");
    if broken { death("process-pool-broken", None) } else { None }
}

/// A shell's word on a process.
fn shell(document: &Document, position: usize) -> Option<Death> {
    let line = field::text(document, position).trim();
    let killed = |pid| Some(Death { dialect: "shell-killed", pid, code: None, lines: 0 });
    // `make: *** [train] Killed`, `srun: error: node7: task 3: Killed`
    if line.ends_with("] Killed") || line.ends_with(": Killed") && line.contains("error: ") && line.contains("task") {
        return killed(None);
    }
    let kill = shells::kill(line)?;
    // The compiler's own message follows and says which program it was.
    let compiler = line == "Killed"
        && field::behind(document, position, 2)
            .any(|at| field::text(document, at).contains("signal terminated program"));
    if compiler { None } else { killed(kill.pid) }
}

/// A process that touched shared memory for which there was no room.
fn bus_error(document: &Document, position: usize, pid: Option<u64>) -> Event {
    let death = Death { dialect: "shell-bus-error", pid, code: None, lines: 0 };
    let mut event = field::event(document, position, death.dialect, program(document, position, &death), Resource::Shm);
    event.sign(Sign::NoFigures);
    field::note_pid(&mut event, pid);
    let told = |at: usize| field::text(document, at).contains("us error") || tells_of_a_bus_error(document, at);
    if field::before(position, NEAR).any(told) {
        event.standing = Standing::Follower;
    }
    event
}

/// True for a line on which a launcher tells of a death by a bus error: by its signal, or by the code that stands for
/// it, a child's or a shell's.
fn tells_of_a_bus_error(document: &Document, position: usize) -> bool {
    const SIGNALS: [&str; 5] = [
        "Signal 7 (SIGBUS)",
        "Bus error (signal 7)",
        "signal: Bus error",
        "by signal: 7",
        // Python's faulthandler (Modules/faulthandler.c).
        "Fatal Python error: Bus error",
    ];
    let line = field::text(document, position);
    SIGNALS.iter().any(|words| line.contains(words))
        || labelled_code(document, position).is_some_and(|(code, _)| matches!(code, -7 | 135))
}

/// Such a death of a job in Python: of other programs it is as often a file that was cut short below its mapping.
fn told_bus_error(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    if line.contains('?') || !tells_of_a_bus_error(document, position) {
        return None;
    }
    let python = field::before(position, NEAR).chain(std::iter::once(position)).any(|at| {
        let line = field::text(document, at).to_ascii_lowercase();
        ["python", "torch", "deepspeed"].iter().any(|word| line.contains(word))
    });
    python.then(|| {
        let pid = ["pid=", "pid: "].iter().find_map(|label| field::number_after(line, label));
        let mut event = bus_error(document, position, pid);
        event.dialect = "exit-code-sigbus";
        event.sign(Sign::BusError);
        event
    })
}

/// Exit codes that stand for SIGKILL, as launchers and containers print them.
fn code(document: &Document, position: usize) -> Option<Death> {
    let line = field::text(document, position);
    // `make` and accounting tables.
    if line.contains("*** [") && line.trim_end().ends_with("Error 137")
        || bare(line).starts_with("exit_status ") && line.contains("137") && line.contains("(Killed)")
    {
        return Some(Death { dialect: "exit-code-sigkill", pid: None, code: Some(137), lines: 0 });
    }
    let (found, by_deepspeed) = labelled_code(document, position).filter(|(code, _)| matches!(code, -9 | 137))?;
    let dialect = if by_deepspeed { "deepspeed-sigkill" } else { "exit-code-sigkill" };
    // A worker's pid in front of every line is not that of the process that is spoken of.
    let own = line.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(line, |(_, own)| own);
    let pid = ["pid=", "pid:", "pid "].iter().find_map(|label| field::number_after(own, label));
    Some(Death { dialect, pid, code: Some(found), lines: 0 })
}

/// The code that a process ended with, behind one of the words for it, and whether it is DeepSpeed's launcher that
/// tells it.
fn labelled_code(document: &Document, position: usize) -> Option<(i64, bool)> {
    let line = field::text(document, position);
    const LABELS: [&str; 10] = [
        "exit_codes",
        "exitcode",
        "exitstatus",
        "returncode",
        "returnvalue",
        "withcode",
        "exitedwith",
        "exit_code",
        "exitvalue",
        "returnedanerrorcode",
    ];
    let labelled = Labelled::at(document, position, 2);
    let first_line = labelled.text.end_of_lines(1);
    let found = LABELS.iter().find_map(|label| {
        let begins = |(at, _): &(usize, &str)| *at < first_line;
        let mut places = labelled.lower.match_indices(label).take_while(begins).map(|(at, _)| at + label.len());
        places.find_map(|at| signed_on_its_line(&labelled, at))
    })?;
    // Advice on what the codes mean is no report of one.
    let advice = line.contains("means") || line.contains('?');
    (!advice).then(|| (found, labelled.lower.contains("exitswithreturncode")))
}

/// The number with its sign at an offset of a text without blanks, as far as the line goes on which it begins.
fn signed_on_its_line(labelled: &Labelled, at: usize) -> Option<i64> {
    let rest = labelled.lower.get(at..)?;
    let at = at + rest.len() - rest.trim_start_matches([':', '=', '(', '\'', '"']).len();
    let ends = (1..).map(|line| labelled.text.end_of_lines(line));
    let line_ends = ends.into_iter().find(|end| *end > at || *end == labelled.lower.len())?;
    let rest = labelled.lower.get(at..line_ends)?;
    let (sign, digits) = rest.strip_prefix('-').map_or((1, rest), |digits| (-1, digits));
    Some(sign * i64::try_from(field::leading_number(digits)?).ok()?)
}

/// A code that stands on a line of its own below the word, as workflow managers print it, or below the question at a
/// shell's prompt.
fn code_below(document: &Document, position: usize) -> Option<Death> {
    let line = bare(field::text(document, position)).trim();
    let headed = (line == "Command exit status:" || line.ends_with("echo $?"))
        && bare(field::text(document, position + 1)).trim() == "137";
    headed.then_some(Death { dialect: "exit-code-sigkill", pid: None, code: Some(137), lines: 1 })
}

/// The end that a launcher prepares for the processes that were still alive.
fn clean_up(document: &Document, position: usize) -> Option<Event> {
    let line = field::text(document, position);
    let terminated = line.contains("exitcode") && exit_code(line) == Some(-15);
    if !terminated {
        return None;
    }
    // Alone it says that someone stopped the job, which is no matter of memory.
    let killed = |at: usize| {
        let line = field::text(document, at);
        received_sigkill(line) || exit_code(line) == Some(-9)
    };
    field::before(position, NEAR).find(|at| killed(*at))?;
    let mut event = field::event(document, position, "torchrun-clean-up", Program::Pytorch, Resource::Host);
    event.standing = Standing::Follower;
    field::note_pid(&mut event, field::number_after(line, "(pid:"));
    field::note_number(&mut event, Number::ExitCode, Some(-15.0));
    Some(event)
}

/// True when the same death was told just before: by the agent before the closing table, or by the pid.
fn told_before(document: &Document, position: usize, death: &Death) -> bool {
    field::before(position, NEAR).any(|at| {
        let line = field::text(document, at);
        if !(line.contains("-9") || line.contains("SIGKILL") || line.contains("illed")) {
            return false;
        }
        let same = elastic(document, at).or_else(|| code(document, at)).or_else(|| shell(document, at));
        match (same, death.pid) {
            (Some(earlier), Some(pid)) => earlier.pid.is_none_or(|earlier| earlier == pid),
            (Some(_), None) => true,
            (None, _) => line.contains("DataLoader worker") && line.contains("signal: Killed"),
        }
    })
}

/// True when a time-out, a stop or a person ended the process.
fn stopped_by_someone(document: &Document, position: usize, death: &Death) -> bool {
    const WORDS: [&str; 14] = [
        "imed out",
        "imeout",
        "ime-out",
        "TIME LIMIT",
        "TIMEOUT",
        "docker stop",
        "ancelled",
        "anceled",
        "CANCELLED",
        "PREEMPT",
        "reempted",
        "KeyboardInterrupt",
        "did not stop",
        "iveness probe failed",
    ];
    /// Words that name who sent the signal, whatever the shape of the report.
    const SENDERS: [&str; 11] = [
        "DUE TO TIME LIMIT",
        "DUE TO PREEMPTION",
        "timeout: sending signal KILL",
        "stop-sigterm' timed out",
        "docker stop",
        "docker kill",
        // Prefect's runner.
        "Running cancellation",
        "$ kill -9",
        "$ kill -KILL",
        "pkill -9",
        "killall -9",
    ];
    field::before(position + 1, 12).any(|at| {
        let line = field::text(document, at);
        death.code == Some(137) && WORDS.iter().any(|word| line.contains(word))
            || SENDERS.iter().any(|word| line.contains(word))
            // Compose's, of one service: `$ sudo docker-compose -f a.yml stop web`.
            || (line.contains("docker-compose ") || line.contains("docker compose "))
                && line.split_whitespace().any(|word| matches!(word, "stop" | "down" | "restart" | "kill"))
            // supervisord, of a program that did not end in time.
            || line.contains("killing '") && line.contains(" with SIGKILL")
            // A server that kills its own worker after a time-out names it.
            || line.contains("WORKER TIMEOUT")
                && death.pid.is_some_and(|pid| field::number_after(line, "(pid:") == Some(pid))
    })
}

/// The rank in the same entry of torchrun's table, or in the agent's line.
fn rank(document: &Document, position: usize) -> Option<u32> {
    let line = field::text(document, position);
    if line.contains("local_rank:") {
        return field::number_after(line, "local_rank:").and_then(|rank| u32::try_from(rank).ok());
    }
    if !line.contains("exitcode") {
        return None;
    }
    field::before(position, ENTRY)
        .map(|at| field::text(document, at))
        .take_while(|line| !line.contains("exitcode"))
        .find_map(|line| {
            let tail = line.trim_start().strip_prefix("rank")?.trim_start().strip_prefix(':')?;
            field::leading_number(tail.trim_start()).and_then(|rank| u32::try_from(rank).ok())
        })
}

/// Words by which the program that died, or the one that tells of it, is known on the line or near it.
const PROGRAMS: [(&[&str], Program); 21] = [
    (&["/bin/nvcc", "-gencode", "ninja: build stopped", "building CUDA extension"], Program::Nvcc),
    (&["local_task_job_runner", "standard_task_runner", "airflow"], Program::Airflow),
    (&["nvcc error", "'cicc'", "'cudafe++'"], Program::Nvcc),
    (&["rustc --", "build-script-build", "/bin/rustc", "cargo build"], Program::Rust),
    (&["/pkg/tool/"], Program::Go),
    (&["DAMN ! worker", "uWSGI"], Program::Uwsgi),
    (&["LOG:  server process"], Program::Postgres),
    (&["ForkPoolWorker", "celery"], Program::Celery),
    (&["gunicorn", "Worker (pid:"], Program::Gunicorn),
    (&["AlgorithmError", "UnexpectedStatusException", "/opt/ml/"], Program::SageMaker),
    (&["workerpool"], Program::VertexAi),
    (&["AzureMLCompute", "azureml"], Program::AzureMl),
    (&["distributed.nanny"], Program::Dask),
    (&["ERROR: Job failed: command terminated with exit code", "gitlab-runner"], Program::GitlabRunner),
    (&["Error executing process >", "Command exit status:", "Process `"], Program::Nextflow),
    (&["DBR ", "databricks", "Fatal error: The Python kernel is unresponsive"], Program::Databricks),
    (&["YarnAllocator", "ExecutorLostFailure", "TaskSchedulerImpl"], Program::Spark),
    (&["code=killed, signal=KILL", "systemd[1]"], Program::Systemd),
    (&["Last State:", "kubelet", "kubectl"], Program::Kubernetes),
    (&["failed to solve:", "docker compose", "docker-compose", "docker run"], Program::Docker),
    (&["qsub_time", "ru_maxrss"], Program::Sge),
];

/// The program that died: told by the launcher, else by what stands around.
fn program(document: &Document, position: usize, death: &Death) -> Program {
    match death.dialect {
        "torchrun-sigkill" | "torch-spawn-sigkill" | "deepspeed-sigkill" => return Program::Pytorch,
        "joblib-worker-killed" | "process-pool-broken" => return Program::Python,
        _ => {}
    }
    let line = field::text(document, position);
    let named = |text: &str| PROGRAMS.iter().find(|(words, _)| words.iter().any(|word| text.contains(word)));
    if let Some((_, program)) = named(line) {
        return *program;
    }
    if is_composed(line) {
        return Program::Docker;
    }
    let near = field::before(position, 12).chain(field::behind(document, position, 8));
    if let Some((_, program)) = near.map(|at| field::text(document, at)).find_map(named) {
        return *program;
    }
    let around = || {
        field::before(position + 1, 120)
            .chain(field::behind(document, position, 20))
            .map(|at| field::text(document, at))
    };
    if around().any(|line| proof::is_slurm_kill(line) || line.contains("srun: error")) {
        return Program::Slurm;
    }
    let torch = ["torch", "DataLoader", "transformers", "accelerate", "deepspeed", "CUDA", "epoch", "Epoch"];
    if around().any(|line| torch.iter().any(|word| line.contains(word))) {
        return Program::Pytorch;
    }
    if around().any(|line| line.contains("Last State") || line.contains("kubectl") || line.contains("kubelet")) {
        return Program::Kubernetes;
    }
    if around().any(|line| line.contains("docker") || line.contains("ontainer")) {
        return Program::Docker;
    }
    // Progress bars of tqdm are Python's.
    let python = ["python", "it/s", "s/it", ".py"];
    if around().any(|line| python.iter().any(|word| line.contains(word))) {
        return Program::Python;
    }
    naming::caller(document, position).unwrap_or(Program::Generic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Span;

    /// A word of a shell's that no literal leads to would never be read.
    #[test]
    fn every_word_of_a_shell_for_a_kill_hits_a_trigger() {
        let literals = crate::input::Literals::new(DIALECT.triggers.iter().copied());
        for word in shells::KILLED {
            // zsh's word stands behind its name, bash's behind the number.
            let line = match word {
                "killed" => format!("zsh: {word}     ./gridtool -i a"),
                _ => format!("run.sh: line 3:  4711 {word}                  ./gridtool -i a"),
            };
            assert!(shells::kill(&line).is_some(), "{word} is not read");
            assert!(literals.any(line.as_bytes()), "no trigger leads to {word}");
        }
    }

    fn all(log: &str) -> Vec<Event> {
        let document = Document::from_text("-", log);
        (0..document.lines.len()).filter_map(|position| read(&document, position)).collect()
    }

    #[test]
    fn one_entry_of_the_closing_table_is_one_death() {
        let events = all(
            "Root Cause (first observed failure):\n[0]:\n  rank      : 3 (local_rank: 1)\n  exitcode  : -9 (pid: 4118)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 4118",
        );
        assert_eq!(
            (events[0].facts.pid.value(), events[0].rank, events[0].at),
            (Some(4118), Some(3), Span::lines(4, 6))
        );
        assert_eq!(events[1].standing, Standing::Follower);
    }

    #[test]
    fn ordinary_ends_are_no_deaths() {
        for log in [
            "  exitcode  : 1 (pid: 77)",
            "[ERROR] [launch.py:325:sigkill_handler] exits with return code = 1",
            "Sending process 9 closing signal SIGTERM",
            "  exitcode  : -15 (pid: 77)",
            "exit code 137 means that the process was killed",
            "Killing subprocess 40473",
            "Process finished with exit code 0",
        ] {
            assert!(all(log).is_empty(), "{log}: {:?}", all(log));
        }
        let stopped = all("watchdog: job timed out after 3600 s, killing\ncontainer exited with code 137");
        assert_eq!(stopped[0].standing, Standing::Harmless);
    }

    #[test]
    fn shells_and_codes_tell_of_a_kill() {
        for log in [
            "Killed",
            "[1]+  Killed                  python train.py",
            "run.sh: line 4: 2211 Killed      python train.py",
            "[launch.py:325:sigkill_handler] exits with return code = -9",
            "subprocess.CalledProcessError: Command '['python', 't.py']' died with <Signals.SIGKILL: 9>.",
            "torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGKILL",
            "The exit codes of the workers are {SIGKILL(-9)}",
            "Command exited with code 137",
            "$ docker run --rm -m 4g tool:2.1 tool -o out disk.raw\nbeginning PHASE 1\n$ echo $?\n137",
            "[CRITICAL] Worker (pid:71) was sent SIGKILL! Perhaps out of memory?",
            "WorkerLostError('Worker exited prematurely: signal 9 (SIGKILL) Job: 0.')",
            "mpirun noticed that process rank 1 with PID 77 on node n1 exited on signal 9 (Killed).",
            "make: *** [Makefile:12: train] Killed",
            "Process finished with exit code 137 (interrupted by signal 9: SIGKILL)",
        ] {
            let events = all(log);
            assert_eq!(events.len(), 1, "{log}");
            assert!(events[0].has(Sign::KilledWithoutProof), "{log}");
        }
    }
}
