// Checks the program of the HTML page: `node tests/page/check.mjs OOMDOC [--browser]`. Its reader of pickles against
// what the page carries, both against the report of `replay`, the quick look-ups against the slow ones; and with
// --browser what happens to a page that somebody uses.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { inflateRawSync } from "node:zlib";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const binary = resolve(process.argv[2]);
const fixture = (name) => join(root, "fixtures/snapshots", name);
const ALL = ["fragmentation-expandable.pickle", "fragmentation-oom.pickle", "gpt2-oom-backward.pickle.gz",
  "kv-growth-fits.pickle.gz", "leak-of-45-steps.pickle.gz", "leak-oom.pickle", "private-pool.pickle", "resnet18-b64.pickle"];
const replay = (...options) => execFileSync(binary, ["replay", "--lang", "en", ...options], { maxBuffer: 1 << 28, encoding: "utf8" });

for (const file of ["model.js", "pickle.js", "paint.js", "explorer.js"]) {
  vm.runInThisContext(readFileSync(join(root, "src/report/replay/page", file), "utf8"), { filename: file });
}
const page = globalThis.oomdoc;
page.words = new Proxy({}, { get: (_, name) => `${String(name)} #` });
const packOf = (html, number = 0) =>
  page.unpack(new Uint8Array(inflateRawSync(Buffer.from(new RegExp(`id="pack${number}">([^<]*)<`).exec(html)[1], "base64"))));

// The state of a generator of numbers that is the same in every run.
let seed = 12345;
const below = (limit) => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed % limit;
};

async function records() {
  for (const name of ALL) {
    const html = replay("--no-what-if", "--format", "html", fixture(name));
    const report = JSON.parse(replay("--no-what-if", "--format", "json", fixture(name))).devices[0];
    const carried = packOf(html), read = (await page.readSnapshot(new Uint8Array(readFileSync(fixture(name)))))[0];
    assert.equal(carried.count, report.events, name);
    for (const column of ["kind", "addr", "size"]) { assert.deepEqual(carried[column], read[column], `${name}: ${column}`); }
    const lane = (record, i) => [record.streams[record.stream[i]], ...record.pools[record.pool[i]]];
    for (let i = 0; i < carried.count; i += 1) {
      assert.deepEqual(page.frames(carried, carried.stack[i]), page.frames(read, read.stack[i]).slice(0, 64), `${name}: ${i}`);
      assert.deepEqual(lane(carried, i), lane(read, i), `${name}: ${i}`);
      assert.ok(Math.abs(page.elapsed(carried, i) - page.elapsed(read, i)) <= 1, `${name}: ${i}`);
    }
    const model = page.build(carried), other = page.build(read);
    assert.equal(model.misfits, 0, name);
    for (const column of ["addr", "requested", "born", "freed", "asked"]) {
      assert.deepEqual(model.allocations[column], other.allocations[column], `${name}: ${column}`);
    }
    // Where the trace begins with the program, the page says what the report says.
    const peak = report.peak;
    assert.equal(model.active[peak.active_event], peak.active_bytes, `${name}: in use`);
    assert.equal(Math.max(...model.active), peak.active_bytes, `${name}: peak`);
    assert.equal(Math.max(...model.reserved), peak.reserved_bytes, `${name}: reserved`);
    assert.equal(model.reserved[model.events - 1], report.reserved_bytes, `${name}: reserved at the end`);
    lookUps(name, model);
  }
}

function lookUps(name, model) {
  for (const things of [model.allocations, model.ranges]) {
    const list = new Int32Array(things.most + 1);
    for (let n = 0; n < 60; n += 1) {
      const event = below(model.events + 1) - 1;
      const slow = Array.from({ length: things.count }, (_, id) => id)
        .filter((id) => things.born[id] <= event && things.freed[id] > event);
      assert.deepEqual(Array.from(list.subarray(0, things.live(list, event))), slow, `${name}: live after ${event}`);
      const on = Math.min(event + below(100), model.events - 1);
      assert.equal(things.advance(list, slow.length, event, on), things.live(new Int32Array(things.most + 1), on), name);
    }
  }
  for (let n = 0; n < 200; n += 1) {
    const from = below(model.events), to = from + 1 + below(model.events - from);
    const slow = Math.max(...model.active.subarray(from, to));
    assert.equal(model.active[model.peaks.highest(from, to)], slow, `${name}: highest of ${from}..${to}`);
  }
}

// What must not leave is not in the packed names either.
async function secrets() {
  const folder = mkdtempSync(join(tmpdir(), "oomdoc-check-")), file = join(folder, "named.json");
  const frames = [{ filename: "/home/jane.doe/zeus/HF_TOKEN=hf_abcdefghijklmnop12/train.py", line: 1, name: "step" }];
  const block = { address: 4096, size: 2097152, requested_size: 2097152, state: "active_allocated", frames };
  writeFileSync(file, JSON.stringify({ segments: [{ device: 0, address: 4096, total_size: 2097152, stream: 0,
    segment_type: "large", blocks: [block] }], device_traces: [] }));
  const names = (...options) => packOf(replay("--format", "html", ...options, file)).names.join("\n");
  const masked = names(), redacted = names("--redact");
  rmSync(folder, { recursive: true, maxRetries: 20, retryDelay: 100 });
  assert.ok(masked.includes("jane.doe") && !masked.includes("abcdefghijklmnop12"), masked);
  assert.ok(redacted.includes("train.py") && !/jane|zeus|abcdefghijklmnop12/.test(redacted), redacted);
}

// The same rounds of a trace that is longer than what is kept at once.
function longTraces() {
  const count = 30000, record = Object.assign(page.columns(count), { skipped: 0, more: new Map(), streams: [0],
    pools: [[0, 0]], names: [], frames: [], stacks: [], sites: null, labels: null, segments: [],
    times: { step: 1, at: new Float64Array(count) } });
  const live = [];
  for (let i = 0, next = 4096; i < count; i += 1) {
    const free = live.length > 0 && (live.length > 300 || below(2) === 0);
    record.kind[i] = free ? 2 : 0;
    const [address, size] = free ? live.splice(below(live.length), 1)[0] : [next += 1 << 20, 512 * (1 + below(2000))];
    record.addr[i] = address;
    record.size[i] = size;
    if (!free) { live.push([address, size]); }
  }
  record.segments.push({ address: 4096, size: 2 ** 40, small: false, expandable: false, stream: 0, pool: 0, stack: -1,
    blocks: live.map(([address, size]) => ({ address, size, requested: size, state: 1, stack: -1 })) });
  lookUps("made", page.build(record));
}

async function damage() {
  const whole = new Uint8Array(readFileSync(fixture("private-pool.pickle")));
  for (let length = 0; length < whole.length; length += 1) {
    await assert.rejects(page.readSnapshot(whole.subarray(0, length)), `cut at ${length}`);
  }
  // A byte that is another one may still give a snapshot; it must not hang or give nonsense that cannot be shown.
  for (let n = 0; n < 400; n += 1) {
    const changed = whole.slice();
    changed[below(changed.length)] = below(256);
    const found = await page.readSnapshot(changed).catch(() => []);
    found.forEach((record) => page.build(record));
  }
  const bytes = (text) => Uint8Array.from(text, (c) => c.charCodeAt(0));
  for (const evil of ["\x80\x02cos\nsystem\n.", "\x80\x04\x8c\x02os\x8c\x06system\x93.", "\x80\x02}R.", "\x80\x02}b.",
    "\x80\x02}\x81.", "\x80\x02(ios\nsystem\n.", "\x80\x02\x82\x01.", "\x80\x02Q."]) {
    await assert.rejects(page.readSnapshot(bytes(evil)), /runs_code/);
  }
  for (const broken of ["\x80\x02h\x07.", "\x80\x02K\x01a.", "\x80\x02e.", "\x80\x04X\xff\xff\xff\xffab", "\x80\x02.",
    "\x80\x02}}.", "{\"a\":1}", "[1]", "hello"]) {
    await assert.rejects(page.readSnapshot(bytes(broken)));
  }
  // Protocol 0 sets one item at a time: what a dictionary is shows only when it is whole.
  const old = "(lp0\n(dp1\nVdevice\nI0\nsVaddress\nI4096\nsVtotal_size\nI2097152\nsVstream\nI0\nsVblocks\n(lp2\n(dp3\nVsize\n"
    + "I2097152\nsVstate\nVactive_allocated\nsVaddress\nI4096\nsas.";
  const [record] = await page.readSnapshot(bytes(`(dp9\nVsegments\n${old.slice(0, -1)}as.`));
  assert.equal(record.segments[0].blocks[0].size, 2097152);
  // JSON of other tools.
  const json = { segments: [{ device: 1, address: 4096, total_size: 2097152, stream: 0, segment_type: "small", blocks: [
    { size: 1024, requested_size: 1000, state: "active_allocated", frames: [{ filename: "a.py", line: 3, name: "f" }] }] }] };
  const [plain] = await page.readSnapshot(bytes(JSON.stringify(json)));
  assert.equal(plain.device, 1);
  assert.equal(page.place(plain, plain.segments[0].blocks[0].stack), "a.py:3 f");
}

function queries() {
  const record = { stacks: [[0], [1]], frames: [[0, 7, 1], [0, 8, 2]], names: ["train.py", "forward", "backward"] };
  const model = { record, allocations: { stack: [0, 1, 0], size: [1 << 20, 1 << 20, 100 << 20] } };
  const found = (text) => {
    const query = page.query(text, model, () => "");
    return query === null ? null : query.wrong ? "wrong" : [0, 1, 2].filter(query.test);
  };
  assert.equal(found("  "), null);
  assert.deepEqual(found("FORWARD"), [0, 2]);
  assert.deepEqual(found("train forward >64MiB"), [2]);
  assert.deepEqual(found("<2m"), [0, 1]);
  assert.deepEqual(found("/:8 b/"), [1]);
  assert.deepEqual(found("nothing"), []);
  assert.equal(found("/(/"), "wrong");
}

// --- in a browser ---

async function inBrowser() {
  const { Browser } = await import("./browser.mjs");
  const folder = mkdtempSync(join(tmpdir(), "oomdoc-check-")), browser = await Browser.start();
  const made = (name, ...files) => {
    const file = join(folder, name);
    writeFileSync(file, replay("--no-what-if", "--format", "html", ...files));
    return file;
  };
  const one = (expression) => browser.run(`(() => { const e = oomdoc.explorers[0]; return ${expression}; })()`);
  const box = (selector) => browser.run(`(() => { document.querySelector("${selector}").scrollIntoView({ block: "center" });`
    + ` const b = document.querySelector("${selector}").getBoundingClientRect(); return { x: b.x, y: b.y, w: b.width, h: b.height }; })()`);
  const clean = (what) => {
    assert.deepEqual(browser.complaints, [], what);
    assert.deepEqual(browser.requests, [], what);
  };
  try {
    const leak = made("leak.html", fixture("leak-oom.pickle"));
    await browser.open(leak);
    await browser.settled();
    assert.equal(await one("e.cursor"), 1554, "the failed request is looked at first");

    // Hovering tells the allocation below the pointer, a click chooses it.
    let plot = await box(".main");
    const x = plot.x + plot.w * 0.9, y = plot.y + plot.h * 0.6;
    await browser.mouse("mouseMoved", x, y, { button: "none" });
    const tip = await browser.run("oomdoc.tip.innerText");
    for (const part of ["of 1555", "make_snapshots.py:42 leak", "size", "address", "allocated", "not until the end"]) {
      assert.ok(tip.includes(part), `${part} is not in ${tip}`);
    }
    const inTip = await one("[e.hit(0.9, 0.6)].map((h) => h.id)[0]");
    await browser.mouse("mousePressed", x, y);
    await browser.mouse("mouseReleased", x, y);
    assert.equal(await one("e.chosen"), inTip);
    assert.ok((await one("e.details.innerText")).includes("make_snapshots.py"));

    // Wheel, brush, overview and keys move the view.
    await browser.send("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY: -400 });
    await browser.until("(oomdoc.explorers[0].view.to - oomdoc.explorers[0].view.from) < 1000");
    const view = await one("[e.view.from, e.view.to]");
    await browser.mouse("mousePressed", x, y);
    await browser.mouse("mouseMoved", x + 100, y, { buttons: 1 });
    await browser.mouse("mouseReleased", x + 100, y);
    assert.ok((await one("e.view.from")) < view[0], "dragging moves");
    await browser.mouse("mousePressed", plot.x + plot.w * 0.4, y, { modifiers: 8 });
    await browser.mouse("mouseMoved", plot.x + plot.w * 0.6, y, { buttons: 1, modifiers: 8 });
    await browser.mouse("mouseReleased", plot.x + plot.w * 0.6, y, { modifiers: 8 });
    const brushed = await one("e.view.to - e.view.from");
    assert.ok(Math.abs(brushed / (view[1] - view[0]) - 0.2) < 0.02, "the brush shows what it marked");
    const overview = await box(".overview");
    await browser.key("0");
    assert.deepEqual(await one("[e.view.from, e.view.to]"), [0, 1555]);
    await browser.mouse("mousePressed", overview.x + overview.w * 0.25, overview.y + 5);
    await browser.mouse("mouseMoved", overview.x + overview.w * 0.5, overview.y + 5, { buttons: 1 });
    await browser.mouse("mouseReleased", overview.x + overview.w * 0.5, overview.y + 5);
    const chosen = await one("[e.view.from, e.view.to]");
    assert.ok(Math.abs(chosen[0] - 389) < 4 && Math.abs(chosen[1] - 778) < 4, String(chosen));
    await browser.run("oomdoc.explorers[0].root.focus()");
    await browser.key("Home");
    await browser.key("ArrowRight");
    await browser.key("ArrowRight", 8);
    assert.equal(await one("e.cursor"), 101);
    await browser.key("o");
    assert.equal(await one("e.cursor"), 1554);
    await one("e.kindSelect.value = 'segment'");
    await browser.key("ArrowLeft");
    assert.equal(await one("oomdoc.KINDS[e.record.kind[e.cursor]]"), "segment_alloc");
    await browser.key("?");
    assert.ok((await browser.run("document.querySelector('dialog[open]').innerText")).includes("wheel"));
    await browser.run("document.querySelector('dialog[open]').close()");

    // The map after an entry holds what lives after it.
    await one("(e.go(700), 0)");
    await browser.settled();
    const inMap = await one("new Set(e.boxes.filter((b) => b.id >= 0).map((b) => b.id)).size");
    assert.equal(inMap, await one("e.things.live(e.list, 700)"));
    assert.equal(await one("Math.round(e.boxes.filter((b) => b.id < 0).reduce((s, b) => s + b.w, 0)) >= 0"), true);

    // What is painted is what is there: the colour in a column changes where the look-up says it does.
    // A page that had no width for a while is painted anew.
    await one("(e.all(), e.choose(-1), e.plot.style.width = '1px', 0)");
    await browser.until("oomdoc.explorers[0].plot.width === 1");
    await browser.settled();
    await one("(e.plot.style.width = '', 0)");
    await browser.until("oomdoc.explorers[0].plot.width > 300");
    await browser.settled();
    const faults = await one(`(() => {
      const context = e.plot.getContext("2d"), wrong = [];
      for (let i = 1; i < 40; i += 1) {
        for (const down of [0.5, 0.7, 0.9]) {
          const hit = e.hit(i / 40, down), pixel = context.getImageData(Math.round(i / 40 * e.plot.width), Math.round(down * e.plot.height), 1, 1).data;
          const painted = pixel[3] > 200 && !(pixel[0] > 240 && pixel[1] > 240 && pixel[2] > 240);
          if (painted !== (hit.id >= 0)) { wrong.push([i, down, hit.id, ...pixel]); }
        }
      }
      return wrong;
    })()`);
    assert.ok(faults.length <= 6, JSON.stringify(faults));

    // The filter counts, and hides what does not match.
    const all = await one("e.model.peaks.values.length && Math.max(...e.scene.peaks.values)");
    await one("(e.filter.value = '>100MiB', e.refilter(), 0)");
    assert.match(await one("e.found.textContent"), /^0 of \d+ allocations match$/);
    await one("(e.filter.value = 'module.py', e.onlyBox.checked = e.only = true, e.refilter(), 0)");
    await browser.settled();
    const part = await one("Math.max(...e.scene.peaks.values)");
    assert.ok(part > 0 && part < all, `${part} of ${all}`);
    for (const shown of ["segments", "space", "allocations"]) {
      await one(`(e.show("${shown}"), 0)`);
      await browser.settled();
    }
    clean("a leak");

    // Another snapshot, dropped: its own explorer and the difference.
    const { root: document } = await browser.send("DOM.getDocument");
    const { nodeId } = await browser.send("DOM.querySelector", { nodeId: document.nodeId, selector: ".drop input" });
    await browser.send("DOM.setFileInputFiles", { nodeId, files: [fixture("kv-growth-fits.pickle.gz")] });
    await browser.until("oomdoc.explorers.length === 2");
    await browser.settled(1);
    const difference = await browser.run("document.querySelector('.difference').innerText");
    assert.ok(difference.includes("make_snapshots.py:42 leak") && difference.includes("all together"), difference);
    const broken = join(folder, "broken.pickle");
    writeFileSync(broken, "\x80\x02cos\nsystem\n.");
    await browser.send("DOM.setFileInputFiles", { nodeId, files: [broken] });
    await browser.until("document.querySelector('.drop .note').textContent.includes('run code')");
    clean("a dropped snapshot");

    // A hostile snapshot stays text.
    const evil = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">";
    const frames = [{ filename: `${evil}.py`, line: 1, name: evil }];
    const entry = (action) => ({ action, addr: 4096, size: 2097152, stream: 0, frames });
    const hostile = { segments: [{ device: 0, address: 4096, total_size: 2097152, stream: 0, segment_type: "large", blocks: [
      { address: 4096, size: 2097152, requested_size: 2097152, state: "active_allocated", frames }] }],
    device_traces: [["segment_alloc", "alloc", "free_requested", "free_completed", "alloc"].map(entry)] };
    const source = join(folder, "hostile.json");
    writeFileSync(source, JSON.stringify(hostile));
    await browser.open(made("hostile.html", source));
    await browser.settled();
    plot = await box(".main");
    await browser.mouse("mouseMoved", plot.x + plot.w * 0.9, plot.y + plot.h * 0.6, { button: "none" });
    await one("(e.choose(0), 0)");
    assert.ok((await browser.run("oomdoc.tip.innerText")).includes("<img src=x"));
    const { root: other } = await browser.send("DOM.getDocument");
    const input = await browser.send("DOM.querySelector", { nodeId: other.nodeId, selector: ".drop input" });
    await browser.send("DOM.setFileInputFiles", { nodeId: input.nodeId, files: [source] });
    await browser.until("oomdoc.explorers.length === 2");
    await browser.settled(1);
    assert.equal(await browser.run("document.querySelectorAll('section img, .tip img').length"), 0);
    assert.notEqual(await browser.run("document.title"), "owned");
    clean("a hostile snapshot");

    // Narrow and dark, several devices: nothing beyond the edge.
    const many = made("many.html", ...ALL.slice(0, 3).map(fixture), fixture("private-pool.pickle"));
    for (const [width, dark] of [[360, true], [768, false]]) {
      await browser.open(many, { width, dark, height: 800, touch: width < 500 });
      await browser.settled();
      for (let i = 0; i < 4; i += 1) {
        await browser.run(`document.querySelectorAll(".explorer")[${i}].scrollIntoView()`);
        await browser.until(`oomdoc.explorers.length > ${i}`);
      }
      const needed = await browser.run("document.documentElement.scrollWidth");
      assert.ok(needed <= width, `${needed} of ${width}`);
      const cut = await browser.run("[...document.querySelectorAll('.explorer *')].filter((p) => "
        + "p.getBoundingClientRect().right > innerWidth + 1).map((p) => p.outerHTML.slice(0, 90))");
      assert.deepEqual(cut, []);
    }
    assert.ok((await browser.run("document.body.innerText")).includes("private pool ("));
    clean("many devices");
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

await records();
await secrets();
longTraces();
await damage();
queries();
if (process.argv.includes("--browser")) { await inBrowser(); }
console.log("the page is well");
