// How long the frames of the page's explorer take: `node tests/page/frames.mjs PAGE…`, a row of figures for each page.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Browser } from "./browser.mjs";

const WATCH = `(() => {
  const gaps = [];
  let last = performance.now(), on = true;
  const next = (now) => { gaps.push(now - last); last = now; if (on) { requestAnimationFrame(next); } };
  requestAnimationFrame(next);
  globalThis.watched = () => { on = false; return gaps.slice(2); };
  const draw = globalThis.oomdoc.Explorer.prototype.frame;
  globalThis.work = [];
  globalThis.oomdoc.Explorer.prototype.frame = function () {
    const start = performance.now();
    draw.call(this);
    globalThis.work.push(performance.now() - start);
  };
  globalThis.restore = () => { globalThis.oomdoc.Explorer.prototype.frame = draw; };
})()`;

function share(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

async function measured(browser, name, act) {
  await browser.run(WATCH);
  await act();
  const gaps = await browser.run("watched()"), work = await browser.run("restore(), work");
  const at = (values, part) => values.length > 0 ? share(values, part).toFixed(1) : "–";
  console.log(`| ${name} | ${gaps.length} | ${at(gaps, 0.5)} | ${at(gaps, 0.95)} | ${at(gaps, 1)} | ${at(work, 0.5)} | `
    + `${at(work, 0.95)} |`);
}

const browser = await Browser.start();
try {
  for (const file of process.argv.slice(2)) {
    const path = resolve(file), start = Date.now();
    await browser.open(path);
    await browser.settled();
    const load = Date.now() - start;
    const events = await browser.run("oomdoc.explorers[0].model.events");
    const heap = await browser.run("performance.memory.usedJSHeapSize");
    console.log(`${events} entries, page of ${(statSync(path).size / 1048576).toFixed(1)} MiB, all drawn ${load} ms after`
      + ` opening, heap ${(heap / 1048576).toFixed(0)} MiB\n`);
    console.log("| what | frames | gap p50 (ms) | p95 | longest | own work p50 (ms) | p95 |\n| --- | --- | --- | --- | --- | --- | --- |");
    await browser.run("document.querySelector('.stage').scrollIntoView()");
    const box = await browser.run("(() => { const b = document.querySelector('.main').getBoundingClientRect(); "
      + "return { x: b.left, y: b.top, w: b.width, h: b.height }; })()");
    const x = box.x + box.w * 0.4, y = box.y + box.h / 2;
    const wheel = async (delta, times) => {
      for (let i = 0; i < times; i += 1) {
        await browser.send("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY: delta });
      }
    };
    const pan = async (times) => {
      await browser.mouse("mousePressed", x, y);
      for (let i = 1; i <= times; i += 1) { await browser.mouse("mouseMoved", x + 150 * Math.sin(i / 12), y, { buttons: 1 }); }
      await browser.mouse("mouseReleased", x, y, { buttons: 0 });
    };
    await measured(browser, "hover, whole recording", async () => {
      for (let i = 0; i < 80; i += 1) {
        await browser.mouse("mouseMoved", box.x + box.w * i / 80, y, { button: "none" });
      }
    });
    await measured(browser, "zoom in by wheel", () => wheel(-100, 60));
    await measured(browser, "pan, zoomed in", () => pan(120));
    await measured(browser, "zoom out by wheel", () => wheel(100, 60));
    await wheel(-100, 8);
    await measured(browser, "pan, a third in sight", () => pan(120));
    await browser.run("oomdoc.explorers[0].all()");
    await browser.settled();
    await browser.run("oomdoc.explorers[0].root.focus()");
    await measured(browser, "step by key", async () => { for (let i = 0; i < 60; i += 1) { await browser.key("ArrowRight"); } });
    for (const view of ["segments", "space"]) {
      await measured(browser, `redraw as ${view}`, async () => {
        await browser.run(`oomdoc.explorers[0].show("${view}")`);
        await browser.settled();
      });
      await measured(browser, `zoom in and pan, ${view}`, async () => { await wheel(-100, 20); await pan(60); });
      await browser.run("oomdoc.explorers[0].all()");
    }
    await browser.run("oomdoc.explorers[0].show('allocations')");
    await measured(browser, "filter, only matching ones", async () => {
      await browser.run("(() => { const e = oomdoc.explorers[0]; e.filter.value = 'forward_1'; e.onlyBox.checked = e.only = true; e.refilter(); })()");
      await browser.settled();
    });
    console.log("");
  }
  if (browser.complaints.length + browser.requests.length > 0) {
    console.error(browser.complaints, browser.requests);
    process.exitCode = 1;
  }
} finally {
  await browser.close();
}
