// The explorer of one device: its timeline to zoom and pan, the memory map after any entry, single allocations, a filter
// and, once another snapshot is dropped on the page, the difference.
"use strict";
(function (page) {
  const RATIO = Math.min(globalThis.devicePixelRatio || 1, 2);
  // Milliseconds of a frame that may go into painting, and columns of the picture of the whole recording.
  const SLICE = 6, WHOLE = 1600;
  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
  const MAP_ROW = 20, MAP_BAR = 16, MAP_ROWS = 18, CAPTION = 18;

  function bytes(value) {
    let unit = 0, left = Math.abs(value);
    while (left >= 1024 && unit + 1 < UNITS.length) { left /= 1024; unit += 1; }
    return (value < 0 ? "−" : "") + (unit === 0 ? left : left.toFixed(2)) + " " + UNITS[unit];
  }
  function hex(address) { return "0x" + BigInt(Math.max(0, Math.floor(address))).toString(16); }
  function seconds(us) {
    return us < 1e3 ? us.toFixed(0) + " µs" : us < 1e6 ? (us / 1e3).toFixed(2) + " ms" : (us / 1e6).toFixed(3) + " s";
  }
  function say(key, values) {
    const list = [].concat(values === undefined ? [] : values);
    return page.words[key].replace(/#/g, function () { return String(list.shift()); });
  }
  function clamp(value, low, high) { return Math.min(Math.max(value, low), high); }
  function element(parent, name, kind, text) {
    const made = document.createElement(name);
    if (kind) { made.className = kind; }
    if (text !== undefined) { made.textContent = text; }
    if (parent) { parent.appendChild(made); }
    return made;
  }
  function hash(text) {
    let sum = 5381;
    for (let i = 0; i < text.length; i += 1) { sum = (sum * 33 + text.charCodeAt(i)) >>> 0; }
    return sum;
  }
  // Round values up to `most`, about `count` of them.
  function ticks(low, high, count, binary) {
    const rough = (high - low) / count;
    const unit = binary ? Math.pow(1024, Math.floor(Math.log(Math.max(high, 1)) / Math.log(1024))) : 1;
    const power = Math.pow(10, Math.floor(Math.log10(rough / unit)));
    let step = [1, 2, 5, 10].map((n) => n * power * unit).find((n) => n >= rough) || rough;
    if (!binary) { step = Math.max(1, Math.round(step)); }
    const out = [];
    for (let value = Math.ceil(low / step) * step; value <= high && out.length < 50; value += step) { out.push(value); }
    return out;
  }

  // A query: words that all have to stand in a stack, /an expression/, and sizes such as >64MiB. Gives the test of an
  // allocation, or null for an empty one.
  function query(text, model, label) {
    const sizes = [], terms = [];
    let pattern = null;
    const whole = /^\/(.+)\/$/.exec(text.trim());
    if (whole) {
      try { pattern = new RegExp(whole[1], "i"); } catch (_) { return { wrong: true }; }
    } else {
      text.trim().split(/\s+/).filter(Boolean).forEach(function (word) {
        const size = /^([<>])(\d+(?:\.\d+)?)([kmgt]?)i?b?$/i.exec(word);
        if (size) {
          const limit = Number(size[2]) * Math.pow(1024, " KMGT".indexOf(size[3].toUpperCase() || " "));
          sizes.push(size[1] === ">" ? (value) => value > limit : (value) => value < limit);
        } else { terms.push(word.toLowerCase()); }
      });
    }
    if (pattern === null && terms.length === 0 && sizes.length === 0) { return null; }
    const record = model.record, known = new Map();
    const matches = function (stack) {
      if (!known.has(stack)) {
        const lines = label(stack) + "\n" + page.frames(record, stack).join("\n");
        const lower = lines.toLowerCase();
        known.set(stack, pattern ? pattern.test(lines) : terms.every((word) => lower.includes(word)));
      }
      return known.get(stack);
    };
    const things = model.allocations;
    return { test: function (id) {
      return sizes.every((size) => size(things.size[id])) && ((pattern === null && terms.length === 0) || matches(things.stack[id]));
    } };
  }

  function Explorer(mount, model, settings) {
    this.model = model;
    this.record = model.record;
    this.things = model.allocations;
    this.first = settings.first;
    this.mount = mount;
    this.labels = new Map();
    this.view = { from: 0, to: Math.max(model.events, 1), low: 0, high: 1 };
    this.shown = "allocations";
    this.by = "place";
    this.cursor = model.ooms.length > 0 ? model.ooms[0] : model.peak;
    this.chosen = -1;
    this.test = null;
    this.only = false;
    this.stream = this.pool = -1;
    this.list = new Int32Array(this.things.most + 1);
    this.rangeList = new Int32Array(model.ranges.most + 1);
    this.frames = [];
    this.pending = false;
    this.build(settings.title);
    this.recolour();
    this.moved();
    const self = this;
    new ResizeObserver(function () { self.resize(); }).observe(this.plot);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { self.recolour(); });
  }

  Explorer.prototype.label = function (stack) {
    if (!this.labels.has(stack)) {
      const record = this.record;
      const text = record.labels === null ? page.place(record, stack) : record.labels[record.sites[stack]];
      this.labels.set(stack, text || page.words.silent);
    }
    return this.labels.get(stack);
  };

  Explorer.prototype.build = function (title) {
    const self = this, root = this.root = element(this.mount, "div", "explorer-body"), words = page.words;
    root.tabIndex = 0;
    root.setAttribute("aria-label", title);
    const bar = element(root, "div", "bar");
    const choice = function (parent, name, options, change) {
      const line = element(parent, "label", "", name + " "), select = element(line, "select");
      options.forEach(function (option) {
        const one = element(select, "option", "", option[1]);
        one.value = option[0];
      });
      select.addEventListener("change", function () { change(select.value); });
      return select;
    };
    this.shownSelect = choice(bar, words.view, [["allocations", words.view_allocations], ["segments", words.view_segments],
      ["space", words.view_space]], function (value) { self.show(value); });
    this.bySelect = choice(bar, words.colour, [["place", words.by_place], ["size", words.by_size],
      ["stream", words.by_stream], ["pool", words.by_pool]], function (value) { self.by = value; self.recolour(); });
    const filter = element(bar, "label", "", words.filter + " ");
    this.filter = element(filter, "input");
    this.filter.type = "search";
    this.filter.placeholder = words.filter_example;
    this.filter.addEventListener("input", function () {
      clearTimeout(self.typing);
      self.typing = setTimeout(function () { self.refilter(); }, 150);
    });
    const only = element(bar, "label");
    this.onlyBox = element(only, "input");
    this.onlyBox.type = "checkbox";
    only.append(" " + words.only);
    this.onlyBox.addEventListener("change", function () { self.only = self.onlyBox.checked; self.recolour(); });
    const any = [["-1", words.all]];
    if (this.record.streams.length > 1) {
      choice(bar, words.stream, any.concat(this.record.streams.map((stream, i) => [String(i), hex(stream)])),
        function (value) { self.stream = Number(value); self.refilter(); });
    }
    if (this.record.pools.length > 1) {
      choice(bar, words.pool, any.concat(this.record.pools.map((pool, i) => [String(i), self.poolName(i)])),
        function (value) { self.pool = Number(value); self.refilter(); });
    }
    const help = element(bar, "button", "", "?");
    help.type = "button";
    help.title = words.help;
    help.addEventListener("click", function () { self.help(); });
    this.found = element(root, "p", "soft found", "");

    const stage = element(root, "div", "stage");
    this.plot = element(stage, "canvas", "main");
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", title);
    this.brush = element(stage, "div", "brush");
    this.overview = element(root, "canvas", "overview");
    this.overview.title = words.overview;
    this.legend = element(root, "ul", "legend");

    const steps = element(root, "div", "bar steps");
    const button = function (text, name, act) {
      const one = element(steps, "button", "", text);
      one.type = "button";
      one.title = name;
      one.setAttribute("aria-label", name);
      one.addEventListener("click", act);
    };
    button("|◀", words.to_start, function () { self.go(0); });
    button("◀", words.back, function () { self.step(-1); });
    this.slider = element(steps, "input", "slider");
    this.slider.type = "range";
    this.slider.min = "0";
    this.slider.max = String(Math.max(this.model.events - 1, 0));
    this.slider.setAttribute("aria-label", words.entry);
    this.slider.addEventListener("input", function () { self.go(Number(self.slider.value)); });
    button("▶", words.on, function () { self.step(1); });
    button("▶|", words.to_end, function () { self.go(self.model.events - 1); });
    this.kindSelect = choice(steps, words.step_over, [["any", words.any_entry], ["alloc", "alloc"], ["free", "free"],
      ["segment", "segment"], ["oom", "oom"], ["match", words.matching]], function () { self.root.focus(); });
    button(words.peak, words.to_peak, function () { self.go(self.model.peak); });
    if (this.model.ooms.length > 0) { button("OOM", words.to_oom, function () { self.nextOom(); }); }
    button(words.zoom_all, words.zoom_all, function () { self.all(); });

    this.status = element(root, "p", "status");
    this.status.setAttribute("role", "status");
    const halves = element(root, "div", "halves");
    const left = element(halves, "div"), right = element(halves, "div");
    element(left, "h3", "", words.map);
    this.map = element(left, "canvas", "state");
    this.map.setAttribute("role", "img");
    this.map.setAttribute("aria-label", words.map);
    this.mapNote = element(left, "p", "soft", "");
    element(right, "h3", "", words.chosen);
    this.details = element(right, "div", "details");
    element(right, "h3", "", words.entries);
    this.entries = element(right, "ol", "entries");
    element(root, "h3", "", words.by_places);
    this.table = element(root, "table", "holders places");
    this.listen();
  };

  // Entries are counted from 1, and from the first that was recorded.
  Explorer.prototype.number = function (event) { return event + this.record.skipped + 1; };
  Explorer.prototype.poolName = function (pool) {
    const id = this.record.pools[pool] || [0, 0];
    return page.isPrivate(this.record, pool) ? say("private_pool", id.join(", ")) : page.words.default_pool;
  };

  // --- what is drawn ---

  Explorer.prototype.show = function (shown) {
    this.shown = shown;
    this.shownSelect.value = shown;
    this.recolour();
  };
  Explorer.prototype.sizeClass = function (size) {
    const limits = [1 << 20, 10 << 20, 64 << 20, 256 << 20, 1073741824];
    const at = limits.findIndex((limit) => size <= limit);
    return at < 0 ? limits.length : at;
  };
  Explorer.prototype.tint = function (things, id) {
    switch (this.by) {
      case "stream": return things.stream[id] % 15;
      case "pool": return things.pool[id] % 15;
      case "size": return this.sizeClass(things.size[id]);
      default: return this.placeTint(things.stack[id]);
    }
  };
  Explorer.prototype.placeTint = function (stack) {
    this.tints = this.tints || new Map();
    if (!this.tints.has(stack)) {
      const label = this.label(stack), at = this.first.indexOf(label);
      const silent = label === page.words.silent;
      this.tints.set(stack, silent ? page.REST : at >= 0 ? at % 15 : (this.first.length ? 15 : 0) + hash(label) % (this.first.length ? 15 : 30));
    }
    return this.tints.get(stack);
  };
  // Colours of all things anew, and pictures with them.
  Explorer.prototype.recolour = function () {
    const model = this.model, self = this;
    this.colours = page.palette(matchMedia("(prefers-color-scheme: dark)").matches);
    const painted = function (things, test) {
      const colour = new Uint8Array(things.count);
      for (let id = 0; id < things.count; id += 1) {
        colour[id] = test !== null && !test(id) ? page.DIM : self.tint(things, id);
      }
      return colour;
    };
    const hides = this.only && this.test !== null;
    const hidden = hides ? Uint8Array.from({ length: this.things.count }, (_, id) => this.test(id) ? 0 : 1) : null;
    const allocations = { things: this.things, stacked: true, colour: painted(this.things, this.test), hidden: hidden };
    if (this.chosen >= 0) { allocations.colour[this.chosen] = page.CHOSEN; }
    this.colour = allocations.colour;
    if (this.shown === "segments") {
      const colour = this.by === "place" ? Uint8Array.from(model.ranges.list, (range) => page.isPrivate(this.record, range.pool)
        ? 1 : range.small ? 3 : 0) : painted(model.ranges, null);
      this.scene = { peaks: model.reservedPeaks, top: 0, layers: [{ things: model.ranges, stacked: true, colour: colour, hidden: null }] };
    } else if (this.shown === "space") {
      allocations.stacked = false;
      const idle = new Uint8Array(model.ranges.count).fill(page.IDLE);
      this.scene = { peaks: model.peaks, top: model.room,
        layers: [{ things: model.ranges, stacked: false, colour: idle, hidden: null }, allocations] };
    } else {
      const peaks = hides ? page.peaksOf(this.things, model.events, hidden) : model.peaks;
      this.scene = { peaks: peaks, top: 0, layers: [allocations] };
    }
    const scene = this.scene, highest = (peaks) => model.events > 0 ? peaks.values[peaks.highest(0, model.events)] : 0;
    scene.top = (scene.top || (this.shown === "allocations" && !hides ? Math.max(highest(model.peaks), highest(model.reservedPeaks))
      : highest(scene.peaks))) * 1.04 || 1;
    if (this.top !== scene.top) {
      this.top = scene.top;
      this.view.low = 0;
      this.view.high = scene.top;
    }
    this.whole = this.detail = this.job = null;
    this.retell();
    this.resize();
    this.moved();
  };
  Explorer.prototype.refilter = function () {
    const found = query(this.filter.value, this.model, (stack) => this.label(stack)), things = this.things;
    this.filter.classList.toggle("wrong", found !== null && found.wrong === true);
    const parts = found === null || found.wrong ? [] : [found.test];
    if (this.stream >= 0) { parts.push((id) => things.stream[id] === this.stream); }
    if (this.pool >= 0) { parts.push((id) => things.pool[id] === this.pool); }
    this.test = parts.length === 0 ? null : (id) => parts.every((part) => part(id));
    let count = 0;
    if (this.test !== null) { for (let id = 0; id < things.count; id += 1) { count += this.test(id) ? 1 : 0; } }
    this.found.textContent = this.test === null ? "" : say("found", [count, things.count]);
    this.recolour();
  };
  Explorer.prototype.retell = function () {
    this.legend.replaceChildren();
    const entry = (tint, text) => {
      const item = element(this.legend, "li");
      element(item, "i").style.background = this.colours.css[tint];
      item.append(text);
    };
    if (this.shown === "segments" && this.by === "place") {
      entry(0, page.words.large_segments);
      entry(3, page.words.small_segments);
      if (this.model.ranges.list.some((range) => page.isPrivate(this.record, range.pool))) { entry(1, page.words.private_segments); }
    } else if (this.by === "stream") {
      this.record.streams.slice(0, 15).forEach((stream, i) => entry(i, page.words.stream + " " + hex(stream)));
    } else if (this.by === "pool") {
      this.record.pools.slice(0, 15).forEach((_, i) => entry(i, this.poolName(i)));
    } else if (this.by === "size") {
      ["≤ 1 MiB", "≤ 10 MiB", "≤ 64 MiB", "≤ 256 MiB", "≤ 1 GiB", "> 1 GiB"].forEach((name, i) => entry(i, name));
    }
    if (this.shown === "space") { entry(page.IDLE, page.words.idle); }
    if (this.test !== null && !this.only) { entry(page.DIM, page.words.not_matching); }
  };

  // --- frames ---

  Explorer.prototype.resize = function () {
    [this.plot, this.overview].forEach(function (canvas) {
      const width = Math.max(1, Math.round(canvas.clientWidth * RATIO)), height = Math.max(1, Math.round(canvas.clientHeight * RATIO));
      if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
      }
    });
    this.mapStale = true;
    this.dirty();
  };
  Explorer.prototype.dirty = function () {
    if (this.pending) { return; }
    this.pending = true;
    this.root.dataset.settled = "false";
    requestAnimationFrame(() => {
      this.pending = false;
      this.frame();
    });
  };
  // The picture that the view asks for: half a view more on both sides, so that it serves while it is moved.
  Explorer.prototype.wanted = function () {
    const view = this.view, half = (view.to - view.from) / 2;
    return { from: Math.max(0, Math.floor(view.from - half)), to: Math.min(Math.max(this.model.events, 1), Math.ceil(view.to + half)),
      low: view.low, high: view.high };
  };
  Explorer.prototype.serves = function (painting) {
    if (!painting) { return false; }
    const view = this.view, range = painting.range, width = (range.to - range.from) / painting.columns;
    const aim = Math.max(1, (view.to - view.from) / this.plot.width);
    return range.from <= Math.max(0, Math.floor(view.from)) && range.to >= Math.min(this.model.events, Math.ceil(view.to))
      && range.low === view.low && range.high === view.high && width <= aim * 1.5 && width >= aim / 3;
  };
  Explorer.prototype.frame = function () {
    const start = performance.now(), until = start + SLICE;
    if (this.model.events > 0) {
      const whole = { from: 0, to: this.model.events, low: 0, high: this.top };
      if (this.whole === null) { this.whole = new page.Painting(this.scene, whole, WHOLE, this.plot.height, this.colours); }
      const wholeDone = this.whole.work(until);
      if (wholeDone && this.job === null && !this.serves(this.detail) && !this.serves(this.whole)) {
        const range = this.wanted(), share = (range.to - range.from) / (this.view.to - this.view.from);
        this.job = new page.Painting(this.scene, range, Math.ceil(this.plot.width * share), this.plot.height, this.colours);
      }
      if (wholeDone && this.job !== null && this.job.work(until)) {
        this.detail = this.job;
        this.job = null;
      }
      const settled = wholeDone && this.job === null && (this.serves(this.detail) || this.serves(this.whole));
      this.draw();
      if (!settled) { this.dirty(); }
      this.root.dataset.settled = String(settled);
    } else {
      this.root.dataset.settled = "true";
    }
    if (this.mapStale) {
      this.mapStale = false;
      this.drawMap();
    }
  };
  Explorer.prototype.x = function (event) { return (event - this.view.from) / (this.view.to - this.view.from) * this.plot.width; };
  Explorer.prototype.y = function (value) {
    return this.plot.height - (value - this.view.low) / (this.view.high - this.view.low) * this.plot.height;
  };
  Explorer.prototype.draw = function () {
    const context = this.plot.getContext("2d"), width = this.plot.width, height = this.plot.height, view = this.view;
    const style = getComputedStyle(this.root), ink = style.color, alarm = style.getPropertyValue("--alarm"), soft = style.getPropertyValue("--soft");
    context.clearRect(0, 0, width, height);
    if (this.whole.image === null) { this.whole.lay(context, view, width, height); }
    // Only where it tells more: a picture from when the page had no width yet is one column.
    const grain = (painting) => (painting.range.to - painting.range.from) / painting.columns;
    const zoomed = this.detail && (this.detail.range.low > 0 || this.detail.range.high < this.top);
    if (this.detail && !this.serves(this.whole) && (zoomed || grain(this.detail) < grain(this.whole))) {
      // What lies below would show through where less is in use there.
      const range = this.detail.range, left = Math.max(0, this.x(range.from)), right = Math.min(width, this.x(range.to));
      const top = Math.max(0, this.y(range.high)), bottom = Math.min(height, this.y(range.low));
      if (right > left && bottom > top) {
        context.clearRect(left, top, right - left, bottom - top);
        this.detail.lay(context, view, width, height);
      }
    }
    context.lineWidth = RATIO;
    context.font = 11 * RATIO + "px system-ui, sans-serif";
    if (this.shown === "allocations" && !(this.only && this.test)) {
      context.strokeStyle = soft;
      context.beginPath();
      const reserved = { peaks: this.model.reservedPeaks }, one = (view.to - view.from) / width * RATIO;
      for (let x = 0; x < width; x += RATIO) {
        const from = view.from + x / width * (view.to - view.from);
        if (from < 0 || from >= this.model.events) { continue; }
        const y = this.y(this.model.reserved[page.moment(reserved, from, from + one)]);
        context.lineTo(x, y);
        context.lineTo(x + RATIO, y);
      }
      context.stroke();
    }
    context.textBaseline = "bottom";
    ticks(view.low, view.high, 5, true).forEach((value) => {
      const y = Math.round(this.y(value)) + 0.5;
      context.globalAlpha = 0.16;
      context.strokeStyle = ink;
      context.beginPath();
      context.moveTo(0, y);
      context.lineTo(width, y);
      context.stroke();
      context.globalAlpha = 1;
      if (y > 14 * RATIO) { this.tag(context, bytes(value), 3 * RATIO, y - 1); }
    });
    ticks(view.from, view.to, Math.max(2, width / RATIO / 170), false).forEach((event) => {
      const time = page.elapsed(this.record, clamp(event, 0, this.model.events - 1)), x = this.x(event);
      const text = String(this.number(event)) + (time === null ? "" : " · " + seconds(time));
      const room = context.measureText(text).width;
      if (x > room / 2 + 60 * RATIO && x < width - room / 2) { this.tag(context, text, x - room / 2, height - 2 * RATIO); }
      context.fillStyle = soft;
      context.fillRect(Math.round(x), height - 4 * RATIO, RATIO, 4 * RATIO);
    });
    this.model.ooms.filter((event) => event >= view.from && event <= view.to).slice(0, 100).forEach((event) => {
      context.fillStyle = alarm;
      context.fillRect(Math.round(this.x(event + 0.5)), 0, 1.5 * RATIO, height);
    });
    context.fillStyle = ink;
    const at = Math.round(this.x(this.cursor + 0.5));
    context.fillRect(at, 0, RATIO, height);
    context.beginPath();
    context.moveTo(at - 5 * RATIO, 0);
    context.lineTo(at + 6 * RATIO, 0);
    context.lineTo(at + RATIO / 2, 7 * RATIO);
    context.fill();
    this.drawOverview(ink, soft);
  };
  // A text on a patch of paper.
  Explorer.prototype.tag = function (context, text, x, y) {
    const width = context.measureText(text).width;
    context.globalAlpha = 0.75;
    context.fillStyle = this.colours.paper;
    context.fillRect(x - 2 * RATIO, y - 12 * RATIO, width + 4 * RATIO, 13 * RATIO);
    context.globalAlpha = 1;
    context.fillStyle = getComputedStyle(this.root).color;
    context.fillText(text, x, y);
  };
  Explorer.prototype.drawOverview = function (ink, soft) {
    const canvas = this.overview, context = canvas.getContext("2d"), width = canvas.width, height = canvas.height;
    context.clearRect(0, 0, width, height);
    if (this.whole.image === null) {
      this.whole.lay(context, { from: 0, to: this.model.events, low: 0, high: this.top }, width, height);
    }
    const left = this.view.from / this.model.events * width, right = this.view.to / this.model.events * width;
    context.globalAlpha = 0.65;
    context.fillStyle = this.colours.paper;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = ink;
    context.lineWidth = RATIO;
    context.strokeRect(left + 0.5, 0.5, Math.max(right - left - 1, 2 * RATIO), height - 1);
    context.fillStyle = soft;
    context.fillRect(Math.round(this.cursor / this.model.events * width), 0, RATIO, height);
  };

  // --- moving about ---

  Explorer.prototype.look = function (from, to) {
    const events = Math.max(this.model.events, 1), width = clamp(to - from, Math.min(8, events), events);
    const start = clamp(from + (to - from - width) / 2, 0, events - width);
    this.view.from = start;
    this.view.to = start + width;
    this.dirty();
  };
  Explorer.prototype.zoom = function (factor, at) {
    const view = this.view, centre = at === undefined ? clamp(this.cursor, view.from, view.to) : at;
    this.look(centre - (centre - view.from) * factor, centre + (view.to - centre) * factor);
  };
  Explorer.prototype.zoomUp = function (factor, at) {
    const view = this.view, height = clamp((view.high - view.low) * factor, this.top / 4096, this.top);
    const share = (at - view.low) / (view.high - view.low);
    view.low = clamp(at - height * share, 0, this.top - height);
    view.high = view.low + height;
    this.dirty();
  };
  Explorer.prototype.pan = function (share) {
    const width = this.view.to - this.view.from, from = clamp(this.view.from + share * width, 0, this.model.events - width);
    this.look(from, from + width);
  };
  Explorer.prototype.all = function () {
    this.view.low = 0;
    this.view.high = this.top;
    this.look(0, this.model.events);
  };
  Explorer.prototype.go = function (event) {
    this.cursor = clamp(Math.round(event), 0, Math.max(this.model.events - 1, 0));
    const view = this.view, width = view.to - view.from;
    if (this.cursor < view.from || this.cursor >= view.to) { this.look(this.cursor - width / 2, this.cursor + width / 2); }
    this.moved();
  };
  Explorer.prototype.isWanted = function (event) {
    const kind = page.KINDS[this.record.kind[event]];
    switch (this.kindSelect.value) {
      case "any": return true;
      case "match": return this.model.of[event] >= 0 && (this.chosen >= 0 ? this.model.of[event] === this.chosen
        : this.test === null || this.test(this.model.of[event]));
      default: return kind.startsWith(this.kindSelect.value);
    }
  };
  Explorer.prototype.step = function (by) {
    let at = this.cursor;
    for (let left = Math.abs(by); left > 0; left -= 1) {
      let next = at + Math.sign(by);
      while (next >= 0 && next < this.model.events && !this.isWanted(next)) { next += Math.sign(by); }
      if (next < 0 || next >= this.model.events) { break; }
      at = next;
    }
    this.go(at);
  };
  Explorer.prototype.nextOom = function () {
    const next = this.model.ooms.find((event) => event > this.cursor);
    this.go(next === undefined ? this.model.ooms[0] : next);
  };
  // The cursor stands elsewhere: everything that tells of its moment follows.
  Explorer.prototype.moved = function () {
    if (this.model.events > 0) { this.slider.value = String(this.cursor); }
    this.mapStale = true;
    this.tell();
    this.dirty();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.tabulate(), 60);
  };
  Explorer.prototype.state = function () { return this.model.events > 0 ? this.cursor : page.BEFORE; };
  Explorer.prototype.describe = function (event) {
    const record = this.record, kind = page.KINDS[record.kind[event]], id = this.model.of[event];
    const stack = record.stack[event] >= 0 || id < 0 ? record.stack[event] : this.things.stack[id];
    if (kind === "oom") { return say("oom_entry", [bytes(record.size[event]), bytes(record.addr[event])]); }
    if (kind === "snapshot" || kind === "annotate" || kind === "other") { return kind; }
    return kind + " " + bytes(record.size[event]) + " @ " + hex(record.addr[event]) + " · " + this.label(stack);
  };
  Explorer.prototype.tell = function () {
    const events = this.model.events, event = this.cursor;
    this.status.replaceChildren();
    this.entries.replaceChildren();
    if (events === 0) {
      this.status.textContent = page.words.no_trace;
      this.showDetails();
      return;
    }
    element(this.status, "b", "", say("entry_of", [this.number(event), this.number(events - 1)]));
    const time = page.elapsed(this.record, event);
    this.status.append((time === null ? "" : " · " + seconds(time)) + " · " + this.describe(event) + " · "
      + say("then", [bytes(this.model.active[event]), bytes(this.model.reserved[event])]));
    for (let at = Math.max(0, event - 4); at <= Math.min(events - 1, event + 4); at += 1) {
      const item = element(this.entries, "li", at === event ? "now" : ""), link = element(item, "button", "");
      link.type = "button";
      link.textContent = this.number(at) + "  " + this.describe(at);
      link.addEventListener("click", () => {
        this.choose(this.model.of[at]);
        this.go(at);
      });
    }
    this.showDetails();
  };
  Explorer.prototype.choose = function (id) {
    if (id === this.chosen) { return; }
    const before = this.chosen;
    this.chosen = id;
    if (this.colour) {
      if (before >= 0) { this.colour[before] = this.test !== null && !this.test(before) ? page.DIM : this.tint(this.things, before); }
      if (id >= 0) { this.colour[id] = page.CHOSEN; }
    }
    this.detail = this.job = null;
    if (this.whole && this.view.to - this.view.from > this.model.events / 3) { this.whole = null; }
    this.mapStale = true;
    this.showDetails();
    this.dirty();
  };
  Explorer.prototype.facts = function (id) {
    const things = this.things, record = this.record, words = page.words, born = things.born[id], freed = things.freed[id];
    const rows = [[words.size, bytes(things.requested[id])]];
    if (things.size[id] > things.requested[id]) {
      rows.push([words.block, say("rounded", [bytes(things.size[id]), bytes(things.size[id] - things.requested[id])])]);
    }
    rows.push([words.address, hex(things.addr[id])], [words.stream, hex(record.streams[things.stream[id]] || 0)]);
    if (page.isPrivate(record, things.pool[id])) { rows.push([words.pool, this.poolName(things.pool[id])]); }
    const from = born === page.BEFORE ? null : page.elapsed(record, born), to = freed === page.END ? null : page.elapsed(record, freed);
    rows.push([words.allocated, born === page.BEFORE ? words.before : say("at_entry", this.number(born))]);
    rows.push([words.freed, freed === page.END ? (things.asked[id] === page.END ? words.never : say("pending", this.number(things.asked[id])))
      : say("at_entry", this.number(freed))]);
    if (born !== page.BEFORE && freed !== page.END) {
      rows.push([words.lifetime, say("entries_long", freed - born) + (from === null || to === null ? "" : ", " + seconds(to - from))]);
    }
    return rows;
  };
  Explorer.prototype.showDetails = function () {
    const box = this.details, id = this.chosen;
    box.replaceChildren();
    if (id < 0) {
      element(box, "p", "soft", page.words.choose);
      return;
    }
    const stack = this.things.stack[id], list = element(box, "dl");
    element(box, "b", "", this.label(stack));
    box.prepend(box.lastChild);
    this.facts(id).forEach(function (row) {
      element(list, "dt", "", row[0]);
      element(list, "dd", "", row[1]);
    });
    const buttons = element(box, "p", "bar");
    const jump = (name, event) => {
      const one = element(buttons, "button", "", name);
      one.type = "button";
      one.addEventListener("click", () => this.go(event));
    };
    if (this.things.born[id] !== page.BEFORE) { jump(page.words.to_birth, this.things.born[id]); }
    if (this.things.freed[id] !== page.END) { jump(page.words.to_free, this.things.freed[id]); }
    element(box, "pre", "", page.frames(this.record, stack).join("\n") || page.words.silent);
  };
  // What is in use after the entry, by place.
  Explorer.prototype.byPlace = function (event, label) {
    const length = this.things.live(this.list, event), places = new Map();
    for (let k = 0; k < length; k += 1) {
      const id = this.list[k];
      if (this.only && this.test !== null && !this.test(id)) { continue; }
      const name = label ? label(this.things.stack[id]) : this.label(this.things.stack[id]);
      const row = places.get(name) || { name: name, bytes: 0, count: 0, tint: this.placeTint(this.things.stack[id]) };
      row.bytes += this.things.size[id];
      row.count += 1;
      places.set(name, row);
    }
    return places;
  };
  Explorer.prototype.tabulate = function () {
    const rows = Array.from(this.byPlace(this.state()).values()).sort((a, b) => b.bytes - a.bytes);
    const total = rows.reduce((sum, row) => sum + row.bytes, 0);
    this.table.replaceChildren();
    rows.slice(0, 12).forEach((row) => {
      const line = element(this.table, "tr"), share = row.bytes / Math.max(total, 1);
      element(line, "td", "number", bytes(row.bytes));
      element(line, "td", "number", (share * 100).toFixed(1) + " %");
      const bar = element(element(line, "td", "bar"), "span");
      bar.style.width = share * 100 + "%";
      bar.style.background = this.colours.css[row.tint];
      const place = element(line, "td", "place"), link = element(place, "button", "link", row.name);
      link.type = "button";
      link.title = page.words.filter;
      link.addEventListener("click", () => {
        this.filter.value = row.name === page.words.silent ? "" : row.name.split(" → ")[0];
        this.refilter();
      });
      element(line, "td", "count", say("blocks", row.count));
    });
    if (rows.length > 12) { element(element(this.table, "tr"), "td", "soft", say("more", rows.length - 12)).colSpan = 5; }
  };

  // --- the memory map ---

  Explorer.prototype.drawMap = function () {
    const model = this.model, ranges = model.ranges, event = this.state(), canvas = this.map;
    const held = ranges.live(this.rangeList, event), groups = new Map();
    let total = 0, largest = 0;
    for (let k = 0; k < held; k += 1) {
      const range = ranges.list[this.rangeList[k]], key = range.pool + "/" + range.stream;
      if (!groups.has(key)) { groups.set(key, []); }
      groups.get(key).push({ range: range, blocks: [] });
      total += range.size;
      largest = Math.max(largest, range.size);
    }
    const width = Math.max(1, canvas.parentElement.clientWidth), sorted = [];
    groups.forEach((list) => list.forEach((segment) => sorted.push(segment)));
    sorted.sort((a, b) => a.range.address - b.range.address);
    const length = this.things.live(this.list, event);
    let used = 0;
    const order = Array.from(this.list.subarray(0, length)).sort((a, b) => this.things.addr[a] - this.things.addr[b]);
    let at = 0;
    order.forEach((id) => {
      const address = this.things.addr[id];
      while (at + 1 < sorted.length && sorted[at + 1].range.address <= address) { at += 1; }
      const segment = sorted[at];
      if (segment !== undefined && address >= segment.range.address && address < segment.range.address + segment.range.size) {
        segment.blocks.push(id);
      }
      used += this.things.size[id];
    });
    const row = Math.max(total / MAP_ROWS, largest <= total / 8 ? largest : 0, 1);
    this.boxes = [];
    let y = 0;
    const plan = [];
    groups.forEach((list) => {
      const range = list[0].range;
      if (groups.size > 1) {
        const sum = list.reduce((sum, segment) => sum + segment.range.size, 0);
        plan.push({ y: y + CAPTION - 5, text: this.poolName(range.pool) + " · " + page.words.stream + " "
          + hex(this.record.streams[range.stream] || 0) + " · " + bytes(sum) });
        y += CAPTION;
      }
      list.sort((a, b) => b.range.size - a.range.size || a.range.address - b.range.address);
      let x = 0;
      list.forEach((segment) => {
        if (x > 0 && x + Math.min(segment.range.size, row) > row * 1.0001) { x = 0; y += MAP_ROW; }
        const start = x, top = y;
        // A stretch of the segment, over as many rows as it takes.
        const put = (from, size, id) => {
          let offset = start + from, left = size;
          while (left > 0) {
            const line = Math.floor(offset / row + 1e-9), inside = Math.max(0, offset - line * row), part = Math.min(left, row - inside);
            this.boxes.push({ x: inside / row * width, y: top + line * MAP_ROW, w: part / row * width, id: id, size: size,
              range: segment.range, ends: from + size >= segment.range.size && part === left });
            offset += Math.max(part, row * 1e-9);
            left -= part;
          }
        };
        let free = 0;
        segment.blocks.forEach((id) => {
          const from = this.things.addr[id] - segment.range.address, size = Math.min(this.things.size[id], segment.range.size - from);
          if (from > free) { put(free, from - free, -1); }
          put(from, size, id);
          free = Math.max(free, from + size);
        });
        if (free < segment.range.size) { put(free, segment.range.size - free, -1); }
        const end = start + segment.range.size, lines = Math.floor(end / row + 1e-9);
        y = top + lines * MAP_ROW;
        x = end - lines * row < row * 1e-6 ? 0 : end - lines * row;
      });
      y += MAP_ROW;
    });
    // A hostile or very long map stays a drawing of bounded size.
    const height = clamp(y, MAP_ROW, 6000);
    canvas.style.height = height + "px";
    canvas.width = Math.round(width * RATIO);
    canvas.height = Math.round(height * RATIO);
    const context = canvas.getContext("2d"), style = getComputedStyle(this.root);
    context.scale(RATIO, RATIO);
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = style.getPropertyValue("--soft");
    plan.forEach((caption) => context.fillText(caption.text, 0, caption.y));
    this.boxes.forEach((box) => {
      const tint = box.id < 0 ? page.IDLE : box.id === this.chosen ? page.CHOSEN : this.colour[box.id];
      context.fillStyle = this.colours.css[tint];
      const gap = box.w > 4 ? (box.ends ? 2 : 0.6) : 0;
      context.fillRect(box.x, box.y + 2, Math.max(box.w - gap, 0.4), MAP_BAR);
    });
    this.mapNote.textContent = say("map_note", [bytes(total), held, bytes(used), bytes(Math.max(total - used, 0)), bytes(row)]);
  };

  // --- the pointer and the keys ---

  Explorer.prototype.hit = function (x, y) {
    const view = this.view, across = view.from + x * (view.to - view.from), value = view.high - y * (view.high - view.low);
    if (across < 0 || across >= this.model.events) { return null; }
    const one = (view.to - view.from) / this.plot.clientWidth, at = page.moment(this.scene, across, across + Math.min(one, 1e9));
    const layer = this.scene.layers[this.scene.layers.length - 1], things = layer.things;
    const list = things === this.things ? this.list : this.rangeList, length = things.live(list, at);
    if (layer.stacked) {
      let sum = 0;
      for (let k = 0; k < length; k += 1) {
        if (layer.hidden !== null && layer.hidden[list[k]]) { continue; }
        sum += things.size[list[k]];
        if (value < sum) { return { event: at, things: things, id: list[k], value: value }; }
      }
    } else {
      for (let k = 0; k < length; k += 1) {
        const start = things.offset[list[k]];
        if (value >= start && value < start + things.size[list[k]]) { return { event: at, things: things, id: list[k], value: value }; }
      }
    }
    return { event: at, things: things, id: -1, value: value };
  };
  Explorer.prototype.tip = function (hit, x, y) {
    const tip = page.tip;
    tip.replaceChildren();
    element(tip, "div", "title", say("entry_of", [this.number(hit.event), this.number(this.model.events - 1)]) + " · "
      + say("then", [bytes(this.model.active[hit.event]), bytes(this.model.reserved[hit.event])]));
    if (hit.id >= 0 && hit.things === this.things) {
      element(tip, "b", "", this.label(this.things.stack[hit.id]));
      const list = element(tip, "dl");
      this.facts(hit.id).forEach(function (row) {
        element(list, "dt", "", row[0]);
        element(list, "dd", "", row[1]);
      });
      // Of a stack with the frames of the allocator itself there is room for the program's only.
      const frames = page.frames(this.record, this.things.stack[hit.id]), python = frames.filter((frame) => frame.includes(".py:"));
      element(tip, "pre", "", (python.length > 0 ? python : frames).slice(0, 12).join("\n") || page.words.silent);
    } else if (hit.id >= 0) {
      this.tipOfSegment(this.model.ranges.list[hit.id]);
    }
    page.showTip(x, y);
  };
  Explorer.prototype.tipOfSegment = function (range) {
    element(page.tip, "div", "soft", say(range.expandable ? "mapped" : "segment_of", bytes(range.size)) + " @ " + hex(range.address) + " · "
      + this.poolName(range.pool) + " · " + page.words.stream + " " + hex(this.record.streams[range.stream] || 0)
      + (range.small ? " · " + page.words.small : ""));
  };
  Explorer.prototype.listen = function () {
    const plot = this.plot, self = this, pointers = new Map();
    let moved = false, brush = null, pinch = null;
    const place = function (canvas, event) {
      const box = canvas.getBoundingClientRect();
      return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height, px: event.clientX - box.left };
    };
    plot.addEventListener("wheel", function (event) {
      const view = self.view, at = place(plot, event), whole = view.to - view.from >= self.model.events;
      const delta = (event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 16 : 1);
      if (event.shiftKey) {
        self.zoomUp(Math.exp(delta * 0.0015), view.high - at.y * (view.high - view.low));
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        self.pan(event.deltaX / plot.clientWidth);
      } else if (whole && delta > 0) {
        // All is in sight: the page may scroll on.
        return;
      } else {
        self.zoom(Math.exp(delta * 0.0015), view.from + at.x * (view.to - view.from));
      }
      event.preventDefault();
      page.tip.style.display = "none";
    }, { passive: false });
    plot.addEventListener("pointerdown", function (event) {
      self.root.focus({ preventScroll: true });
      try { plot.setPointerCapture(event.pointerId); } catch (_) { /* a pointer that is gone already */ }
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      moved = false;
      brush = event.shiftKey ? place(plot, event).x : null;
      pinch = null;
    });
    plot.addEventListener("pointermove", function (event) {
      const before = pointers.get(event.pointerId), view = self.view, at = place(plot, event);
      if (before === undefined) {
        if (event.pointerType !== "touch") {
          const hit = self.hit(at.x, at.y);
          if (hit !== null) { self.tip(hit, event.clientX, event.clientY); }
        }
        return;
      }
      const by = event.clientX - before.x;
      moved = moved || Math.abs(by) > 3 || Math.abs(event.clientY - before.y) > 3;
      if (!moved) { return; }
      page.tip.style.display = "none";
      if (brush !== null) {
        self.mark(brush, at.x);
      } else if (pointers.size === 2) {
        before.x = event.clientX;
        const [a, b] = Array.from(pointers.values()), apart = Math.max(Math.abs(a.x - b.x), 10);
        const middle = (a.x + b.x) / 2 - plot.getBoundingClientRect().left;
        if (pinch !== null) { self.zoom(pinch / apart, view.from + middle / plot.clientWidth * (view.to - view.from)); }
        pinch = apart;
      } else {
        self.pan(-by / plot.clientWidth);
        before.x = event.clientX;
        before.y = event.clientY;
      }
    });
    const up = function (event) {
      if (!pointers.delete(event.pointerId)) { return; }
      const at = place(plot, event), view = self.view;
      self.mark(null);
      if (brush !== null && Math.abs(at.x - brush) > 0.005) {
        const width = view.to - view.from, [low, high] = [brush, at.x].sort((a, b) => a - b);
        self.look(view.from + low * width, view.from + high * width);
      } else if (!moved && event.type === "pointerup") {
        const hit = self.hit(at.x, at.y);
        if (hit !== null) {
          if (hit.things === self.things) { self.choose(hit.id); }
          self.go(hit.event);
        }
      }
      brush = pinch = null;
    };
    plot.addEventListener("pointerup", up);
    plot.addEventListener("pointercancel", up);
    plot.addEventListener("pointerleave", function () { page.tip.style.display = "none"; });
    plot.addEventListener("dblclick", function (event) {
      self.zoom(0.25, self.view.from + place(plot, event).x * (self.view.to - self.view.from));
    });

    const overview = this.overview;
    let hold = null;
    overview.addEventListener("pointerdown", function (event) {
      try { overview.setPointerCapture(event.pointerId); } catch (_) { /* a pointer that is gone already */ }
      const at = place(overview, event).x * self.model.events, view = self.view;
      const inside = at >= view.from && at <= view.to && view.to - view.from < self.model.events * 0.98;
      hold = inside ? { by: at - view.from, width: view.to - view.from } : { start: at };
    });
    overview.addEventListener("pointermove", function (event) {
      if (hold === null) { return; }
      const at = clamp(place(overview, event).x, 0, 1) * self.model.events;
      if (hold.start === undefined) {
        const from = clamp(at - hold.by, 0, self.model.events - hold.width);
        self.look(from, from + hold.width);
      } else if (Math.abs(at - hold.start) > self.model.events / 400) {
        self.look(Math.min(at, hold.start), Math.max(at, hold.start));
      }
    });
    ["pointerup", "pointercancel"].forEach((name) => overview.addEventListener(name, function () { hold = null; }));
    overview.addEventListener("dblclick", function () { self.all(); });

    const under = function (event) {
      const box = self.map.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      return (self.boxes || []).find((one) => y >= one.y && y < one.y + MAP_ROW && x >= one.x && x < one.x + Math.max(one.w, 1));
    };
    this.map.addEventListener("pointermove", function (event) {
      const box = under(event), tip = page.tip;
      if (box === undefined) { tip.style.display = "none"; return; }
      if (box.id >= 0) {
        self.tip({ event: self.cursor, things: self.things, id: box.id }, event.clientX, event.clientY);
      } else {
        tip.replaceChildren();
        element(tip, "div", "title", page.words.idle + ", " + bytes(box.size));
      }
      self.tipOfSegment(box.range);
      page.showTip(event.clientX, event.clientY);
    });
    this.map.addEventListener("pointerleave", function () { page.tip.style.display = "none"; });
    this.map.addEventListener("click", function (event) {
      const box = under(event);
      if (box !== undefined) { self.choose(box.id); }
    });
    this.root.addEventListener("keydown", function (event) {
      if (event.ctrlKey || event.altKey || event.metaKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) {
        if (event.key === "Escape") { self.root.focus(); }
        return;
      }
      const act = KEYS[event.key] || KEYS[event.key.toLowerCase()];
      if (act === undefined || (event.target.tagName === "BUTTON" && (event.key === "Enter" || event.key === " "))) { return; }
      event.preventDefault();
      act(self, event);
    });
  };
  const KEYS = {
    ArrowLeft: (self, event) => self.step(event.shiftKey ? -100 : -1),
    ArrowRight: (self, event) => self.step(event.shiftKey ? 100 : 1),
    Home: (self) => self.go(0),
    End: (self) => self.go(self.model.events - 1),
    PageUp: (self) => self.pan(-0.8),
    PageDown: (self) => self.pan(0.8),
    a: (self) => self.pan(-0.2),
    d: (self) => self.pan(0.2),
    "+": (self) => self.zoom(0.5),
    "=": (self) => self.zoom(0.5),
    w: (self) => self.zoom(0.5),
    "-": (self) => self.zoom(2),
    s: (self) => self.zoom(2),
    "0": (self) => self.all(),
    p: (self) => self.go(self.model.peak),
    o: (self) => self.model.ooms.length > 0 && self.nextOom(),
    b: (self) => self.chosen >= 0 && self.things.born[self.chosen] !== page.BEFORE && self.go(self.things.born[self.chosen]),
    f: (self) => self.chosen >= 0 && self.things.freed[self.chosen] !== page.END && self.go(self.things.freed[self.chosen]),
    Enter: (self) => self.model.events > 0 && self.choose(self.model.of[self.cursor]),
    v: (self) => self.show({ allocations: "segments", segments: "space", space: "allocations" }[self.shown]),
    "/": (self) => self.filter.focus(),
    "?": (self) => self.help(),
    Escape: (self) => {
      self.choose(-1);
      page.tip.style.display = "none";
    },
  };
  Explorer.prototype.mark = function (from, to) {
    this.brush.style.display = from === null ? "none" : "block";
    if (from === null) { return; }
    this.brush.style.left = Math.min(from, to) * 100 + "%";
    this.brush.style.width = Math.abs(to - from) * 100 + "%";
  };
  Explorer.prototype.help = function () {
    const dialog = element(document.body, "dialog", "keys"), list = element(dialog, "dl");
    page.words.keys.forEach(function (row) {
      element(element(list, "dt"), "kbd", "", row[0]);
      element(list, "dd", "", row[1]);
    });
    const close = element(dialog, "button", "", page.words.close);
    close.type = "button";
    close.addEventListener("click", function () { dialog.close(); });
    dialog.addEventListener("close", function () { dialog.remove(); });
    dialog.showModal();
  };

  // --- the page ---

  // What one place held in each of two models, at their peaks or their ends.
  function difference(parent, before, after, names) {
    const words = page.words, bar = element(parent, "p", "bar"), select = element(element(bar, "label", "", words.compare + " "), "select");
    [["peak", words.at_peak], ["end", words.at_end]].forEach(function (one) { element(select, "option", "", one[1]).value = one[0]; });
    const table = element(parent, "table", "difference");
    const tell = function () {
      const moment = (one) => select.value === "peak" && one.model.events > 0 ? one.model.peak : one.model.events - 1;
      const [a, b] = [before, after].map((one) => one.byPlace(moment(one), (stack) => page.place(one.record, stack) || words.silent));
      const rows = Array.from(new Set([...a.keys(), ...b.keys()])).map(function (name) {
        const held = [a, b].map((side) => side.get(name) || { bytes: 0, count: 0 });
        return { name: name, a: held[0], b: held[1], by: held[1].bytes - held[0].bytes };
      }).sort((x, y) => Math.abs(y.by) - Math.abs(x.by) || y.b.bytes - x.b.bytes);
      table.replaceChildren();
      const head = element(table, "tr");
      [names[0], names[1], words.change, words.by_place].forEach((text) => element(head, "th", "", text));
      const sum = (side) => rows.reduce((total, row) => total + row[side].bytes, 0);
      [{ name: words.total, a: { bytes: sum("a") }, b: { bytes: sum("b") }, by: sum("b") - sum("a") }].concat(rows.slice(0, 40))
        .forEach(function (row) {
          const line = element(table, "tr");
          element(line, "td", "number", bytes(row.a.bytes));
          element(line, "td", "number", bytes(row.b.bytes));
          element(line, "td", "number " + (row.by > 0 ? "alarm" : row.by < 0 ? "fine" : ""), (row.by > 0 ? "+" : "") + bytes(row.by));
          element(line, "td", "place", row.name + (row.a.count === undefined ? "" : " (" + row.a.count + " → " + row.b.count + ")"));
        });
      if (rows.length > 40) { element(element(table, "tr"), "td", "soft", say("more", rows.length - 40)).colSpan = 4; }
    };
    select.addEventListener("change", tell);
    tell();
  }

  async function unpacked(text) {
    const raw = atob(text.trim()), packed = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i += 1) { packed[i] = raw.charCodeAt(i); }
    return page.unpack(await page.unzipped(packed, "deflate-raw"));
  }

  function start() {
    const words = document.querySelector("script.words");
    if (words === null) { return; }
    page.words = JSON.parse(words.textContent);
    page.explorers = [];
    const mounts = Array.from(document.querySelectorAll(".explorer"));
    const open = async function (mount) {
      if (mount.dataset.open) { return; }
      mount.dataset.open = "true";
      mount.replaceChildren();
      try {
        const record = await unpacked(document.getElementById(mount.dataset.pack).textContent);
        record.device = Number(mount.dataset.device);
        const first = JSON.parse(mount.dataset.first);
        const explorer = new Explorer(mount, page.build(record), { title: mount.dataset.title, first: first });
        explorer.name = mount.dataset.name;
        page.explorers.push(explorer);
        if (record.skipped > 0) { element(mount, "p", "note", say("skipped", record.skipped)); }
      } catch (error) {
        element(mount, "p", "note alarm", say("failed", error.message));
        throw error;
      }
    };
    // One at once; of many, those that are looked at.
    const watch = new IntersectionObserver(function (seen) {
      seen.filter((one) => one.isIntersecting).forEach((one) => open(one.target));
    }, { rootMargin: "400px" });
    mounts.forEach(function (mount, i) { if (i === 0) { open(mount); } else { watch.observe(mount); } });

    const drop = document.querySelector(".drop");
    if (drop === null) { return; }
    const note = drop.querySelector(".note");
    const take = async function (file) {
      note.className = "note";
      note.textContent = say("reading", file.name);
      try {
        const bytes = new Uint8Array(await file.arrayBuffer());
        const records = await page.readSnapshot(bytes, function (share) {
          note.textContent = say("reading", file.name) + " " + Math.round(share * 100) + " %";
        });
        if (mounts[0] !== undefined) { await open(mounts[0]); }
        if (records.length === 0) { throw new Error(page.words.no_snapshot); }
        records.forEach(function (record) {
          const beside = page.explorers.find((one) => one.record.device === record.device && !one.dropped) || page.explorers[0];
          const part = element(drop, "section", "dropped");
          element(part, "h2", "", file.name + ", GPU " + record.device);
          const mount = element(part, "div", "explorer");
          const explorer = new Explorer(mount, page.build(record), { title: file.name, first: [] });
          explorer.dropped = true;
          if (beside !== undefined) {
            const gap = element(null, "div", "gap");
            part.insertBefore(gap, mount);
            element(gap, "h3", "", say("difference", [beside.name, file.name]));
            difference(gap, beside, explorer, [beside.name, file.name]);
          }
          page.explorers.push(explorer);
        });
        note.textContent = "";
      } catch (error) {
        note.className = "note alarm";
        note.textContent = file.name + ": " + error.message;
      }
    };
    drop.querySelector("input").addEventListener("change", function (event) { Array.from(event.target.files).forEach(take); });
    addEventListener("dragover", function (event) {
      event.preventDefault();
      drop.classList.add("over");
    });
    addEventListener("dragleave", function (event) { if (event.relatedTarget === null) { drop.classList.remove("over"); } });
    addEventListener("drop", function (event) {
      event.preventDefault();
      drop.classList.remove("over");
      Array.from(event.dataTransfer.files).forEach(take);
    });
    page.take = take;
  }
  Object.assign(page, { Explorer: Explorer, query: query, start: start, bytes: bytes, element: element });
})(globalThis.oomdoc || (globalThis.oomdoc = {}));
