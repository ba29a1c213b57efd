//! The page of `oomdoc replay --format html`, looked at by a real Chromium.
//!
//! Where none is installed the tests print that they were skipped. `OOMDOC_CHROMIUM` names another one, and makes its
//! absence a failure.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::binary;

use binary::{oomdoc, outcome, skipped};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A browser that has not printed the page by then hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs in the page after its own script, moves a pointer over it and writes what came of it into the document.
const CHECK: &str = r#"
(function () {
  const seen = { errors: window.complaints, charts: [], maps: [], sections: document.querySelectorAll("section").length };
  const tip = document.querySelector(".tip");
  const shown = () => tip !== null && getComputedStyle(tip).display !== "none";
  const inside = () => {
    const box = tip.getBoundingClientRect();
    return box.left >= 0 && box.top >= 0 && box.right <= innerWidth + 0.5 && box.bottom <= innerHeight + 0.5;
  };
  const move = (element, x, y) => element.dispatchEvent(
    new PointerEvent("pointermove", { bubbles: true, clientX: x, clientY: y }));
  const leave = (element) => element.dispatchEvent(new PointerEvent("pointerleave"));
  document.querySelectorAll(".plot").forEach((plot) => {
    plot.scrollIntoView({ block: "center" });
    const box = plot.querySelector("svg").getBoundingClientRect();
    const found = [], texts = [];
    let fits = true, drawn = 0;
    for (const across of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      for (const down of [0.99, 0.9, 0.75, 0.5]) {
        const x = box.left + box.width * across, y = box.top + box.height * down;
        const hit = document.elementFromPoint(x, y);
        drawn += hit !== null && hit.matches("path.layer") ? 1 : 0;
        move(plot, x, y);
        fits = fits && shown() && inside();
        texts.push(tip.innerText);
        const stack = tip.querySelector("pre");
        if (stack !== null) { found.push(stack.textContent); }
      }
    }
    leave(plot);
    seen.charts.push({ width: box.width, height: box.height, drawn: drawn, stacks: found, texts: texts,
      fits: fits, gone: !shown(), ticks: plot.querySelectorAll(".tick").length });
  });
  document.querySelectorAll("svg.map").forEach((map) => {
    map.scrollIntoView({ block: "center" });
    const stacks = [], texts = [], boxes = [...map.querySelectorAll("rect")];
    boxes.slice(0, 200).forEach((rect) => {
      const box = rect.getBoundingClientRect();
      move(rect, box.left + box.width / 2, box.top + box.height / 2);
      const stack = tip.querySelector("pre");
      if (shown() && inside() && stack !== null) { stacks.push(stack.textContent); }
      texts.push(tip.innerText);
    });
    leave(map);
    // Everything that is drawn has to lie inside of the drawing.
    const frame = map.getBoundingClientRect();
    const out = boxes.map((rect) => rect.getBoundingClientRect())
      .filter((box) => box.right > frame.right + 1 || box.bottom > frame.bottom + 1 || box.width === 0).length;
    seen.maps.push({ rectangles: boxes.length, stacks: stacks, texts: texts, gone: !shown(), outside: out });
  });
  seen.requests = performance.getEntriesByType("resource").map((entry) => entry.name);
  seen.policy = document.querySelector("meta[http-equiv]").content;
  seen.width = innerWidth;
  seen.needed = document.documentElement.scrollWidth;
  seen.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  // What stands in the page beyond its right edge without making it scroll.
  seen.cut = [...document.querySelectorAll("section *:not(.tip *)")]
    .filter((part) => part.getBoundingClientRect().right > innerWidth + 1).map((part) => part.outerHTML.slice(0, 80));
  parent.document.getElementById("seen").textContent = JSON.stringify(seen);
})();
"#;

/// The browser, or a line that says that there is none.
fn chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("OOMDOC_CHROMIUM") {
        return Some(path.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        // Some distributions install a stand-in that only says where to get the real one.
        .find(|file| Command::new(file).arg("--version").output().is_ok_and(|output| output.status.success()));
    if found.is_none() {
        let names = names.join(", ");
        skipped(&format!("no Chromium here (looked for {names}; OOMDOC_CHROMIUM can name one)"));
    }
    found
}

/// Opens a page in a window of that width and gives back what `CHECK` saw.
fn look(browser: &Path, page: &str, width: u32, dark: bool) -> Value {
    let folder = tempfile::tempdir().unwrap();
    // Errors of the page's own script count too, so the net is spread before it.
    let net = "<script>window.complaints = [];
        addEventListener('error', (event) => window.complaints.push(String(event.message)), true);
        addEventListener('unhandledrejection', (event) => window.complaints.push(String(event.reason)));
        addEventListener('securitypolicyviolation', (event) => window.complaints.push('blocked ' + event.blockedURI));
        </script></head>";
    let page = page.replacen("</head>", net, 1);
    let (page, end) = page.rsplit_once("</body>").expect("a body");
    let page = format!("{page}<script>{CHECK}</script></body>{end}").replace('&', "&amp;").replace('"', "&quot;");
    // No window of Chromium is narrower than 500 pixels; a frame can be. Its document is its parent's origin.
    let outer = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\" /><meta name=\"color-scheme\" content=\"light dark\" />\
         <pre id=\"seen\"></pre><iframe style=\"width:{width}px;height:900px;border:0\" srcdoc=\"{page}\"></iframe>"
    );
    let file = folder.path().join("page.html");
    std::fs::write(&file, outer).unwrap();
    let mut command = Command::new(browser);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--dump-dom"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"])
        .arg("--disable-dev-shm-usage")
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("--window-size={},1000", width + 100));
    if dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    }
    let mut child = command
        .arg(format!("file://{}", file.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", browser.display()));
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the browser did not come back within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let dump = reader.join().unwrap().unwrap();
    let (_, answer) = dump.split_once("<pre id=\"seen\">").unwrap_or_else(|| panic!("no answer in {dump:.400}"));
    let (answer, _) = answer.split_once("</pre>").unwrap();
    let answer = answer.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    serde_json::from_str(&answer).unwrap()
}

fn page(lang: &str, files: &[&str]) -> String {
    let files: Vec<String> = files.iter().map(|file| format!("fixtures/snapshots/{file}")).collect();
    let (code, page, err) = outcome(oomdoc().args(["replay", "--format", "html", "--lang", lang]).args(&files));
    assert_eq!((code, err.as_str()), (0, ""));
    page
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// What every page has to keep to. `faults` is empty when it does.
fn faults(seen: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut wrong = |is_wrong: bool, what: &str, value: &Value| {
        if is_wrong {
            faults.push(format!("{what}: {value:.300}"));
        }
    };
    let empty = |list: &Value| list.as_array().unwrap().is_empty();
    wrong(!empty(&seen["errors"]), "errors", &seen["errors"]);
    wrong(!empty(&seen["requests"]), "requests", &seen["requests"]);
    // What was fetched slowly would not be seen yet: the policy is what forbids it.
    let strict = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
    wrong(seen["policy"] != strict, "the policy allows requests", &seen["policy"]);
    wrong(seen["needed"].as_u64() > seen["width"].as_u64(), "wider than the window", &seen["needed"]);
    wrong(!empty(&seen["cut"]), "beyond the edge", &seen["cut"]);
    wrong(empty(&seen["charts"]), "no timeline", &seen["charts"]);
    for chart in seen["charts"].as_array().unwrap() {
        wrong(chart["width"].as_f64() < Some(300.0) || chart["height"].as_f64() < Some(150.0), "tiny", &chart["width"]);
        wrong(chart["drawn"].as_u64() < Some(3), "an empty timeline", &chart["drawn"]);
        wrong(chart["ticks"].as_u64() < Some(2), "no scale", &chart["ticks"]);
        wrong(chart["stacks"].as_array().unwrap().len() < 3, "hovering shows no stack", &chart["texts"]);
        wrong(chart["fits"] != true, "the read-out is not shown inside of the window", &chart["fits"]);
        wrong(chart["gone"] != true, "the read-out stays", &chart["gone"]);
    }
    wrong(empty(&seen["maps"]), "no map", &seen["maps"]);
    for map in seen["maps"].as_array().unwrap() {
        wrong(map["rectangles"] == 0, "an empty map", map);
        wrong(empty(&map["stacks"]), "no stack in the map", map);
        wrong(map["outside"] != 0, "outside of the map", &map["outside"]);
        wrong(map["gone"] != true, "the read-out stays", &map["gone"]);
    }
    faults
}

#[test]
fn the_page_works_at_every_width_in_both_languages_and_schemes() {
    let Some(browser) = chromium() else { return };
    let all = ["fragmentation-oom.pickle", "leak-oom.pickle", "resnet18-b64.pickle", "kv-growth-fits.pickle.gz"];
    for (lang, width, dark) in [("en", 1440, false), ("zh", 480, false), ("en", 480, true)] {
        let seen = look(&browser, &page(lang, &all), width, dark);
        let faults = faults(&seen);
        assert!(faults.is_empty(), "{lang}, {width}: {}", faults.join("\n"));
        assert_eq!((&seen["sections"], &seen["width"]), (&Value::from(all.len()), &Value::from(width)));
        assert_eq!(seen["dark"], dark);
        assert_eq!(seen["charts"].as_array().unwrap().len(), all.len());
    }
}

/// The program of the page by itself and, where there is a browser, used as people use it. The script says what fails.
#[test]
fn the_program_of_the_page_is_well() {
    if !Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success()) {
        skipped("no node here");
        return;
    }
    let mut command = Command::new("node");
    command.arg("tests/page/check.mjs").arg(binary::process().get_program()).current_dir(binary::root());
    if let Some(browser) = chromium() {
        command.arg("--browser").env("OOMDOC_CHROMIUM", browser);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn hovering_tells_entry_bytes_place_and_stack() {
    let Some(browser) = chromium() else { return };
    let seen = look(&browser, &page("en", &["leak-oom.pickle"]), 1440, false);
    let chart = &seen["charts"][0];
    // Far to the right the leak is most of what is in use.
    let text = texts(&chart["texts"]).into_iter().rfind(|text| text.contains("leak")).unwrap().to_string();
    for part in ["entry 13", " of 1555", "in use", "reserved", "make_snapshots.py:42 leak → linear.py:134 forward"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(
        texts(&chart["stacks"]).iter().any(|stack| stack.lines().any(|frame| frame == "make_snapshots.py:42 leak"))
    );
    let map = &seen["maps"][0];
    assert!(texts(&map["stacks"]).iter().any(|stack| stack.contains("make_snapshots.py:42 leak")));
    // Its blocks of 200 MiB break across rows: told is the block, not the part in the row.
    let seen = look(&browser, &page("en", &["fragmentation-expandable.pickle"]), 1440, false);
    let told = texts(&seen["maps"][0]["texts"]);
    assert!(told.len() > 36 && told.iter().all(|text| text.contains("200.00 MiB")), "{told:?}");
}

/// The check itself: each of the faults that it looks for is found when a page has it.
#[test]
fn a_broken_page_does_not_pass() {
    let Some(browser) = chromium() else { return };
    let good = page("en", &["fragmentation-oom.pickle"]);
    let none = faults(&look(&browser, &good, 480, false));
    assert!(none.is_empty(), "{none:?}");
    let cases = [
        ("<footer>", "<script>missing();</script><footer>", "errors"),
        ("<footer>", "<img src=\"http://127.0.0.1:9/x.png\" /><footer>", "requests"),
        ("default-src 'none'", "default-src *", "the policy allows requests"),
        ("<footer>", "<div style=\"width:900px\">wide</div><footer>", "wider than the window"),
        ("element(tip, \"pre\"", "element(section, \"pre\"", "hovering shows no stack"),
        ("class=\"layer c", "class=\"gone c", "an empty timeline"),
        ("class=\"plot\"", "class=\"flat\"", "no timeline"),
        ("document.documentElement.clientWidth;", "5000;", "the read-out is not shown inside"),
    ];
    for (from, to, fault) in cases {
        let broken = good.replace(from, to);
        assert_ne!(broken, good, "{from} is not in the page");
        let found = faults(&look(&browser, &broken, 480, false));
        assert!(found.iter().any(|one| one.starts_with(fault)), "{fault}: {found:?}");
    }
}
