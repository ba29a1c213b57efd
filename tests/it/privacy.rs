//! What of a log must not be printed: secrets in no form, and who and where in none that is made to be shared.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary::oomdoc;

const LOG: &str = "\
+ export WANDB_API_KEY=00112233445566778899aabbccddeeff00112233
+ HF_TOKEN=hf_Qwertyuiopasdfghjkl0123 python /home/m.keller/quasar/fit.py --api-key sk-Zz0123456789abcd --batch-size 16 \
--data s3://AKIA0123456789ABCDEF:s3cr3tvalue@quasar-sets/train
node: gpu17.internal (10.12.13.14) user m.keller
Traceback (most recent call last):
  File \"/home/m.keller/quasar/fit.py\", line 12, in <module>
    client = login(token=\"hf_Qwertyuiopasdfghjkl0123\"); loss = model(x)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.10 GiB. GPU 0 has a total capacity of 47.53 GiB of which \
2.44 GiB is free. Including non-PyTorch memory, this process has 45.00 GiB memory in use. Of the allocated memory \
36.12 GiB is allocated by PyTorch, and 8.31 GiB is reserved by PyTorch but unallocated.
";
const SECRETS: &[&str] =
    &["00112233445566778899", "hf_Qwerty", "sk-Zz012345", "0123456789ABCDEF", "s3cr3tvalue", "Qwertyuiop"];
const WHO_AND_WHERE: &[&str] = &["keller", "quasar/", "gpu17", "10.12.13.14"];

fn explained(arguments: &[&str]) -> String {
    let done = oomdoc().arg("explain").args(arguments).write_stdin(LOG).assert().code(0);
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

#[test]
fn no_form_of_the_report_prints_a_secret() {
    for format in ["terminal", "json", "markdown"] {
        for width in ["40", "60", "80", "200"] {
            for color in ["never", "always"] {
                let printed = explained(&["-v", "-f", format, "--width", width, "--color", color]);
                for secret in SECRETS {
                    assert!(!printed.contains(secret), "{secret} at {width} in\n{printed}");
                }
            }
        }
    }
    assert!(explained(&["-f", "json"]).contains("--api-key *** --batch-size 16"));
}

#[test]
fn markdown_and_redact_hide_who_and_where() {
    for arguments in [&["-v", "-f", "markdown"][..], &["-v", "--redact"], &["-f", "json", "--redact"]] {
        let printed = explained(arguments);
        for named in WHO_AND_WHERE {
            assert!(!printed.contains(named), "{named} with {arguments:?} in\n{printed}");
        }
    }
    assert!(explained(&["-f", "json", "--redact"]).contains("…/fit.py"));
    assert!(explained(&["-f", "json"]).contains("/home/m.keller/quasar/fit.py"));
    assert!(explained(&["-v", "-f", "json", "--redact=never"]).contains("m.keller"));
}

#[test]
fn an_error_prints_no_secret() {
    let done = oomdoc().args(["explain", "https://me:hunter22secret@runs/log.txt"]).assert().code(2);
    let told = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(!told.contains("hunter22"), "{told}");
}
