// A Chromium without a window, driven over its debugging pipe. Nothing needs installing but node and chromium.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Browser {
  static async start() {
    const browser = new Browser();
    browser.folder = mkdtempSync(join(tmpdir(), "oomdoc-page-"));
    browser.child = spawn(process.env.OOMDOC_CHROMIUM || "chromium", [
      "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
      `--user-data-dir=${join(browser.folder, "profile")}`, "--remote-debugging-pipe", "about:blank",
    ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    browser.waiting = new Map();
    browser.next = 1;
    browser.complaints = [];
    browser.requests = [];
    let rest = "";
    browser.child.stdio[4].setEncoding("utf8");
    browser.child.stdio[4].on("data", (chunk) => {
      const parts = (rest + chunk).split("\0");
      rest = parts.pop();
      parts.forEach((part) => browser.heard(JSON.parse(part)));
    });
    const { targetInfos } = await browser.send("Target.getTargets");
    const page = targetInfos.find((target) => target.type === "page");
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId: page.targetId, flatten: true });
    browser.session = sessionId;
    for (const room of ["Page", "Runtime", "Log", "Network", "DOM"]) { await browser.send(`${room}.enable`); }
    return browser;
  }

  heard(message) {
    if (message.id !== undefined) {
      const [done, failed] = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) { failed(new Error(JSON.stringify(message.error))); } else { done(message.result); }
    } else if (message.method === "Runtime.exceptionThrown") {
      const what = message.params.exceptionDetails;
      this.complaints.push(what.exception?.description || what.text);
    } else if (message.method === "Log.entryAdded" && message.params.entry.level === "error") {
      this.complaints.push(message.params.entry.text);
    } else if (message.method === "Network.requestWillBeSent") {
      const url = message.params.request.url;
      if (!/^(file|data|blob|about):/.test(url)) { this.requests.push(url); }
    }
  }

  send(method, params = {}) {
    const id = this.next++;
    const message = { id, method, params };
    if (this.session) { message.sessionId = this.session; }
    this.child.stdio[3].write(JSON.stringify(message) + "\0");
    return new Promise((done, failed) => this.waiting.set(id, [done, failed]));
  }

  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) { throw new Error(exceptionDetails.exception?.description || exceptionDetails.text); }
    return result.value;
  }

  async until(expression, seconds = 60) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
      if (await this.run(expression)) { return; }
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`not within ${seconds} s: ${expression}`);
  }

  async open(file, { width = 1280, height = 900, dark = false, ratio = 1, touch = false } = {}) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: ratio, mobile: touch });
    await this.send("Emulation.setTouchEmulationEnabled", { enabled: touch });
    const features = [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }];
    await this.send("Emulation.setEmulatedMedia", { features });
    await this.send("Page.navigate", { url: `file://${file}` });
    await this.until("document.readyState === 'complete'");
  }

  // The first explorer has painted all that is in view.
  async settled(which = 0, seconds = 120) {
    await this.until(`globalThis.oomdoc?.explorers?.[${which}]?.root.dataset.settled === "true"`, seconds);
  }

  async picture(file, whole = false) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: whole });
    writeFileSync(file, Buffer.from(data, "base64"));
  }

  mouse(type, x, y, more = {}) {
    return this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1, ...more });
  }

  async key(key, modifiers = 0) {
    const text = key.length === 1 ? { text: key } : {};
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, modifiers, ...text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, modifiers });
  }

  async close() {
    this.child.kill();
    await new Promise((done) => this.child.on("exit", done));
    // What a browser still writes as it ends keeps its folder; that says nothing of the page.
    try {
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
    } catch {}
  }
}
