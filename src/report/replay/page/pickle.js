// Reads a snapshot that was dropped on the page: a pickle of any protocol, gzipped or not, or JSON. Nothing that a pickle
// can call is called: only plain values are taken, everything else is refused where it stands. The dictionaries that
// come by the million become rows of columns as soon as they are complete.
"use strict";
(function (page) {
  const utf8 = new TextDecoder(), latin = new TextDecoder("latin1");
  const ACTIONS = new Map(page.KINDS.slice(0, 11).map(function (name, i) { return [name, i]; }));
  const OTHER = 11;

  // Objects as they come, made small.
  function Builder() {
    this.count = 0;
    this.room = 1024;
    this.rows = page.columns(this.room);
    this.time = new Float64Array(this.room);
    this.names = new Table();
    this.frames = new Table();
    this.stacks = new Table();
    this.streams = new Table();
    this.pools = new Table();
    this.sequence = [];
    this.frameList = [];
    this.stackList = [];
    this.poolList = [];
  }
  function Table() {
    this.index = new Map();
    this.list = [];
  }
  Table.prototype.of = function (key) {
    let id = this.index.get(key);
    if (id === undefined) {
      id = this.list.length;
      this.index.set(key, id);
      this.list.push(key);
    }
    return id;
  };
  function whole(value) {
    return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : 0;
  }
  function text(value) { return typeof value === "string" ? value : ""; }
  Builder.prototype.stack = function (frames) { return frames instanceof Stack ? frames.id : -1; };
  Builder.prototype.pool = function (pair) {
    const id = Array.isArray(pair) ? [whole(pair[0]), whole(pair[1])] : [0, 0];
    return this.pools.of(id.join(","));
  };
  Builder.prototype.grow = function () {
    const larger = page.columns(this.room * 2), time = new Float64Array(this.room * 2);
    ["kind", "addr", "size", "stack", "stream", "pool"].forEach((name) => larger[name].set(this.rows[name]));
    time.set(this.time);
    this.rows = larger;
    this.time = time;
    this.room *= 2;
  };
  function Entry(row) { this.row = row; }
  function Frame(id) { this.id = id; }
  function Stack(id) { this.id = id; }
  function Block(of) { Object.assign(this, of); }
  function Segment(of) { Object.assign(this, of); }

  const STATES = { inactive: 0, active_allocated: 1 };
  // What a dictionary is, by its keys; itself where it is none of what snapshots consist of.
  Builder.prototype.dict = function (map) {
    const get = function (key) { return map.get(key); };
    if (map.has("action") && !map.has("blocks")) {
      if (this.count === this.room) { this.grow(); }
      const row = this.count++, rows = this.rows, action = ACTIONS.get(get("action"));
      rows.kind[row] = action === undefined ? OTHER : action;
      rows.addr[row] = whole(map.has("addr") ? get("addr") : map.has("address") ? get("address") : get("device_free"));
      rows.size[row] = whole(get("size"));
      rows.stack[row] = this.stack(get("frames"));
      rows.stream[row] = this.streams.of(whole(get("stream")));
      rows.pool[row] = this.pool(get("pool_id"));
      this.time[row] = whole(get("time_us"));
      return new Entry(row);
    }
    if (map.has("blocks") && map.has("total_size")) {
      return new Segment({ device: whole(get("device")), address: whole(get("address")), size: whole(get("total_size")),
        small: get("segment_type") === "small", expandable: get("is_expandable") === true,
        stream: this.streams.of(whole(get("stream"))), pool: this.pool(get("segment_pool_id")),
        stack: this.stack(get("frames")), blocks: get("blocks") });
    }
    if (map.has("state") && map.has("size")) {
      // 1.13 and 2.0 kept size and stack in a history, the newest first.
      const past = Array.isArray(get("history")) ? get("history")[0] : undefined;
      const old = function (key) { return past instanceof Map ? past.get(key) : undefined; };
      const state = STATES[get("state")];
      const asked = [get("requested_size"), old("real_size"), get("size")].find(Number.isFinite);
      return new Block({ address: Number.isFinite(get("address")) ? get("address") : null, size: whole(get("size")),
        requested: Math.min(whole(asked), whole(get("size"))), state: state === undefined ? 2 : state,
        stack: this.stack(map.has("frames") ? get("frames") : old("frames")) });
    }
    if (map.has("filename") && map.has("name")) {
      const file = this.names.of(text(get("filename"))), name = this.names.of(text(get("name")));
      const line = whole(get("line")), id = this.frames.of(file + " " + line + " " + name);
      if (id === this.frameList.length) { this.frameList.push([file, line, name]); }
      return new Frame(id);
    }
    return map;
  };
  // A list of frames is a stack; equal ones are one.
  Builder.prototype.list = function (items) {
    if (!(items[0] instanceof Frame)) { return items; }
    const ids = [];
    for (const item of items) {
      if (!(item instanceof Frame)) { return items; }
      ids.push(item.id);
    }
    const id = this.stacks.of(ids.join(" "));
    if (id === this.stackList.length) { this.stackList.push(ids); }
    return new Stack(id);
  };
  // One record for each device.
  Builder.prototype.records = function (root) {
    const segments = root instanceof Map ? root.get("segments") : root;
    const traces = root instanceof Map ? root.get("device_traces") : [];
    if (!Array.isArray(segments) && !Array.isArray(traces)) { throw new Error(page.words.no_snapshot); }
    const devices = new Map();
    const device = function (number) {
      if (!devices.has(number)) { devices.set(number, { rows: [], segments: [] }); }
      return devices.get(number);
    };
    (Array.isArray(segments) ? segments : []).forEach(function (segment) {
      if (!(segment instanceof Segment)) { throw new Error(page.words.no_snapshot); }
      let at = segment.address;
      const blocks = (Array.isArray(segment.blocks) ? segment.blocks : []).filter((block) => block instanceof Block);
      segment.blocks = blocks.map(function (block) {
        const address = block.address === null ? at : block.address;
        at = address + block.size;
        return Object.assign({}, block, { address: address });
      });
      device(segment.device).segments.push(segment);
    });
    (Array.isArray(traces) ? traces : []).forEach(function (trace, number) {
      if (!Array.isArray(trace) || trace.length === 0) { return; }
      device(number).rows = trace.filter((entry) => entry instanceof Entry).map((entry) => entry.row);
    });
    const pools = this.pools.list.map(function (pair) { return pair.split(",").map(Number); });
    const shared = { skipped: 0, more: new Map(), streams: this.streams.list, pools: pools, names: this.names.list,
      frames: this.frameList, stacks: this.stackList, sites: null, labels: null };
    return Array.from(devices.keys()).sort(function (a, b) { return a - b; }).map((number) => {
      const found = devices.get(number), out = page.columns(found.rows.length);
      const at = new Float64Array(found.rows.length);
      found.rows.forEach((row, i) => {
        ["kind", "addr", "size", "stack", "stream", "pool"].forEach((name) => { out[name][i] = this.rows[name][row]; });
        at[i] = this.time[row];
      });
      found.segments.sort(function (a, b) { return a.address - b.address; });
      return Object.assign(out, shared, { device: number, segments: found.segments, times: { step: 1, at: at } });
    });
  };

  // A container that may still be filled. It turns out what it is when another takes it in: until then all of it came.
  function Open(is) {
    this.is = is;
    this.whole = false;
  }

  function* unpickle(bytes, builder) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0, stack = [];
    const marks = [], memo = new Map();
    const stop = function (why) { throw new Error(why.replace("#", String(at))); };
    const take = function (length) {
      if (!(at + length <= bytes.length)) { stop(page.words.ends_early); }
      at += length;
      return bytes.subarray(at - length, at);
    };
    const u8 = function () { return take(1)[0]; };
    const u32 = function () { take(4); return view.getUint32(at - 4, true); };
    const u64 = function () { take(8); return view.getUint32(at - 8, true) + view.getUint32(at - 4, true) * 4294967296; };
    const line = function () {
      const end = bytes.indexOf(10, at);
      if (end < 0) { stop(page.words.ends_early); }
      return latin.decode(take(end + 1 - at)).trimEnd();
    };
    const long = function (length) {
      const digits = take(length);
      let value = 0;
      for (let i = length - 1; i >= 0; i -= 1) { value = value * 256 + digits[i]; }
      return length > 0 && digits[length - 1] > 127 ? value - Math.pow(256, length) : value;
    };
    const pop = function () {
      if (stack.length === 0) { stop(page.words.damaged); }
      return stack.pop();
    };
    const since = function () {
      if (marks.length === 0) { stop(page.words.damaged); }
      const items = stack;
      stack = marks.pop();
      return items;
    };
    const recall = function (id) {
      if (!memo.has(id)) { stop(page.words.damaged); }
      stack.push(memo.get(id));
    };
    const onto = function () {
      const top = stack[stack.length - 1];
      if (!(top instanceof Open)) { stop(page.words.damaged); }
      return top;
    };
    const closed = function (value) {
      if (!(value instanceof Open)) { return value; }
      if (!value.whole) {
        value.is = Array.isArray(value.is) ? builder.list(value.is) : builder.dict(value.is);
        value.whole = true;
      }
      return value.is;
    };
    const append = function (items) {
      const list = onto();
      if (list.whole || !Array.isArray(list.is)) { stop(page.words.damaged); }
      for (const item of items) { list.is.push(closed(item)); }
    };
    const fill = function (items) {
      const dict = onto();
      if (dict.whole || !(dict.is instanceof Map)) { stop(page.words.damaged); }
      for (let i = 0; i + 1 < items.length; i += 2) { dict.is.set(items[i], closed(items[i + 1])); }
    };
    const push = function (value) { stack.push(value); };
    for (let n = 0;; n += 1) {
      if ((n & 8191) === 0) { yield at / bytes.length; }
      switch (u8()) {
        case 0x80: u8(); break;
        case 0x95: take(8); break;
        case 0x7d: push(new Open(new Map())); break;
        case 0x5d: push(new Open([])); break;
        case 0x29: push([]); break;
        case 0x28: marks.push(stack); stack = []; break;
        case 0x58: push(utf8.decode(take(u32()))); break;
        case 0x8c: push(utf8.decode(take(u8()))); break;
        case 0x8d: push(utf8.decode(take(u64()))); break;
        case 0x56: push(line()); break;
        case 0x54: case 0x42: push(latin.decode(take(u32()))); break;
        case 0x55: case 0x43: push(latin.decode(take(u8()))); break;
        case 0x8e: push(latin.decode(take(u64()))); break;
        case 0x53: push(line().slice(1, -1)); break;
        case 0x4a: take(4); push(view.getInt32(at - 4, true)); break;
        case 0x4b: push(u8()); break;
        case 0x4d: take(2); push(view.getUint16(at - 2, true)); break;
        case 0x8a: push(long(u8())); break;
        case 0x8b: push(long(u32())); break;
        case 0x49: case 0x4c: {
          const digits = line();
          push(digits === "01" ? true : digits === "00" ? false : parseFloat(digits));
          break;
        }
        case 0x46: push(parseFloat(line())); break;
        case 0x47: take(8); push(view.getFloat64(at - 8)); break;
        case 0x4e: push(null); break;
        case 0x88: push(true); break;
        case 0x89: push(false); break;
        case 0x94: memo.set(memo.size, stack[stack.length - 1]); break;
        case 0x71: memo.set(u8(), stack[stack.length - 1]); break;
        case 0x72: memo.set(u32(), stack[stack.length - 1]); break;
        case 0x70: memo.set(parseInt(line(), 10), stack[stack.length - 1]); break;
        case 0x68: recall(u8()); break;
        case 0x6a: recall(u32()); break;
        case 0x67: recall(parseInt(line(), 10)); break;
        case 0x74: push(since().map(closed)); break;
        case 0x85: push([closed(pop())]); break;
        case 0x86: { const b = closed(pop()); push([closed(pop()), b]); break; }
        case 0x87: { const c = closed(pop()), b = closed(pop()); push([closed(pop()), b, c]); break; }
        case 0x6c: push(new Open(since().map(closed))); break;
        case 0x64: { const items = since(); push(new Open(new Map())); fill(items); break; }
        case 0x61: { const item = pop(); append([item]); break; }
        case 0x65: append(since()); break;
        case 0x73: { const value = pop(), key = pop(); fill([key, value]); break; }
        case 0x75: fill(since()); break;
        case 0x30: pop(); break;
        case 0x31: since(); break;
        case 0x32: push(stack[stack.length - 1]); break;
        case 0x2e: return closed(pop());
        default:
          at -= 1;
          stop(page.words.runs_code);
      }
    }
  }

  async function unzipped(bytes, format) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // The records of a file, one a device. `progress` hears how far it is, from 0 to 1.
  async function read(bytes, progress) {
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) { bytes = await unzipped(bytes, "gzip"); }
    const builder = new Builder();
    if ([0x7b, 0x5b, 0x20, 0x09, 0x0a, 0x0d].includes(bytes[0])) {
      const root = JSON.parse(utf8.decode(bytes), function (_, value) {
        if (Array.isArray(value)) { return builder.list(value); }
        const plain = value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;
        return plain ? builder.dict(new Map(Object.entries(value))) : value;
      });
      return builder.records(root);
    }
    const steps = unpickle(bytes, builder);
    for (let since = performance.now();;) {
      const step = steps.next();
      if (step.done) { return builder.records(step.value); }
      // The page stays alive meanwhile.
      if (performance.now() - since > 30) {
        if (progress) { progress(step.value); }
        await new Promise(function (resolve) { setTimeout(resolve, 0); });
        since = performance.now();
      }
    }
  }

  Object.assign(page, { readSnapshot: read, unzipped: unzipped });
})(globalThis.oomdoc || (globalThis.oomdoc = {}));
