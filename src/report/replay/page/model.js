// A record is what a snapshot holds of one device: its entries in columns, its final segments, its stacks. It comes out
// of the page (`unpack`; snapshot/pack.rs has the order) or out of a dropped file (pickle.js). A model is what follows
// from it: every allocation and segment with its beginning and end, and what lived at any entry.
"use strict";
(function (page) {
  const KINDS = ["alloc", "free_requested", "free_completed", "free", "segment_alloc", "segment_free", "segment_map",
    "segment_unmap", "oom", "snapshot", "annotate", "other"];
  const ALLOC = 0, REQUESTED = 1, COMPLETED = 2, FREE = 3, GOT = 4, GIVEN = 5, MAPPED = 6, UNMAPPED = 7, OOM = 8;
  const QUANTUM = 512;
  // Allocations that are there before the first entry, and those that are there after the last.
  const BEFORE = -1, END = 0x7fffffff;

  function Reader(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  Reader.prototype.number = function () {
    let byte = this.bytes[this.at++];
    let value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
    }
    if (byte === undefined) { throw new RangeError("the data of this page end early"); }
    return value;
  };
  Reader.prototype.signed = function () {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  Reader.prototype.column = function () {
    const length = this.number();
    if (this.at + length > this.bytes.length) { throw new RangeError("the data of this page end early"); }
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  };

  // The columns of `count` entries, empty.
  function columns(count) {
    return { count: count, kind: new Uint8Array(count), addr: new Float64Array(count), size: new Float64Array(count),
      stack: new Int32Array(count).fill(-1), stream: new Uint32Array(count), pool: new Uint32Array(count) };
  }

  function unpack(bytes) {
    const all = new Reader(bytes);
    const skipped = all.number();
    const kinds = all.column();
    const [back, addresses, sizes, origins, lanes, times] =
      [0, 0, 0, 0, 0, 0].map(function () { return new Reader(all.column()); });
    const record = columns(kinds.length);
    record.skipped = skipped;
    let last = 0;
    for (let i = 0; i < kinds.length; i += 1) {
      const marks = kinds[i], known = (marks & 16) !== 0;
      record.kind[i] = marks & 15;
      const earlier = known ? i - back.number() : i - 1;
      if (known) { record.addr[i] = record.addr[earlier]; } else { record.addr[i] = last += addresses.signed(); }
      if (marks & 32) {
        record.size[i] = record.size[earlier];
      } else {
        const value = sizes.number();
        record.size[i] = value % 2 === 0 ? value / 2 * QUANTUM : (value - 1) / 2;
      }
      record.stack[i] = marks & 64 ? record.stack[earlier] : origins.number() - 1;
      if (marks & 128) {
        record.stream[i] = record.stream[earlier];
        record.pool[i] = record.pool[earlier];
      } else {
        record.stream[i] = lanes.number();
        record.pool[i] = lanes.number();
      }
    }
    const step = times.number(), moments = new Float64Array(Math.ceil(kinds.length / step));
    for (let i = 0, time = 0; i < moments.length; i += 1) { moments[i] = time += times.signed(); }
    record.times = { step: step, at: moments };
    record.more = new Map();
    const roundings = new Reader(all.column());
    for (let event = 0; roundings.at < roundings.bytes.length;) {
      event += roundings.number();
      record.more.set(event, roundings.number());
    }
    const finals = new Reader(all.column());
    record.segments = [];
    for (let left = finals.number(), address = 0; left > 0; left -= 1) {
      address += finals.signed();
      const segment = { address: address, size: finals.number() };
      const marks = finals.number();
      segment.small = (marks & 1) !== 0;
      segment.expandable = (marks & 2) !== 0;
      segment.stream = finals.number();
      segment.pool = finals.number();
      segment.stack = finals.number() - 1;
      segment.blocks = [];
      for (let blocks = finals.number(), at = address; blocks > 0; blocks -= 1) {
        at += finals.signed();
        const block = { address: at, size: finals.number(), requested: finals.number(), state: finals.number() };
        block.stack = finals.number() - 1;
        segment.blocks.push(block);
        at += block.size;
      }
      record.segments.push(segment);
    }
    const list = function (read) { return Array.from({ length: all.number() }, read); };
    record.streams = list(function () { return all.number(); });
    record.pools = list(function () { return [all.number(), all.number()]; });
    const utf8 = new TextDecoder();
    record.names = list(function () { return utf8.decode(all.column()); });
    record.frames = list(function () { return [all.number(), all.number(), all.number()]; });
    record.labels = list(function () { return record.names[all.number()]; });
    record.sites = [];
    record.stacks = list(function () {
      record.sites.push(all.number());
      return list(function () { return all.number(); });
    });
    return record;
  }

  // Things that are there from one entry to another, numbered by when they begin.
  function Intervals(born, freed, events) {
    const count = born.length;
    this.count = count;
    this.born = born;
    this.freed = freed;
    this.before = 0;
    while (this.before < count && born[this.before] === BEFORE) { this.before += 1; }
    const changes = new Int32Array(events + 1);
    for (let id = 0; id < count; id += 1) {
      if (id >= this.before) { changes[born[id]] += 1; }
      if (freed[id] !== END) { changes[freed[id]] -= 1; }
    }
    let live = this.before;
    this.most = live;
    for (let i = 0; i < events; i += 1) { this.most = Math.max(this.most, live += changes[i]); }
    // What lived at every so many entries, so that any moment is found without walking from the first.
    this.step = Math.max(2048, Math.ceil(events * this.most / 4000000));
    this.kept = [];
    const list = new Int32Array(this.most + 1);
    let length = this.start(list);
    this.kept.push(list.slice(0, length));
    for (let next = this.step; next <= events; next += this.step) {
      length = this.advance(list, length, next - this.step - 1, next - 1);
      this.kept.push(list.slice(0, length));
    }
  }
  Intervals.prototype.start = function (list) {
    for (let id = 0; id < this.before; id += 1) { list[id] = id; }
    return this.before;
  };
  // How many begin at or before an entry.
  Intervals.prototype.begun = function (event) {
    let low = this.before, high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.born[middle] <= event) { low = middle + 1; } else { high = middle; }
    }
    return low;
  };
  // From what lives after entry `from` to what lives after `to`.
  Intervals.prototype.advance = function (list, length, from, to) {
    const freed = this.freed;
    let kept = 0;
    for (let k = 0; k < length; k += 1) { if (freed[list[k]] > to) { list[kept++] = list[k]; } }
    for (let id = this.begun(from), end = this.begun(to); id < end; id += 1) {
      if (freed[id] > to) { list[kept++] = id; }
    }
    return kept;
  };
  // What lives after an entry, BEFORE for the state before the first: into `list`, whose length is given back.
  Intervals.prototype.live = function (list, event) {
    const mark = Math.min(Math.floor((event + 1) / this.step), this.kept.length - 1), near = this.kept[mark];
    list.set(near);
    return this.advance(list, near.length, mark * this.step - 1, event);
  };

  // The highest of a column of figures in any range of entries, quickly.
  function Peaks(values) {
    this.values = values;
    this.levels = [];
    for (let width = 64, below = null; width < values.length; width *= 64) {
      const best = new Uint32Array(Math.ceil(values.length / width));
      for (let i = 0; i < best.length; i += 1) {
        best[i] = below === null ? this.scan(i * 64, Math.min((i + 1) * 64, values.length))
          : this.among(below, i * 64, Math.min((i + 1) * 64, below.length));
      }
      this.levels.push({ width: width, best: best });
      below = best;
    }
  }
  Peaks.prototype.scan = function (from, to) {
    let best = from;
    for (let i = from + 1; i < to; i += 1) { if (this.values[i] > this.values[best]) { best = i; } }
    return best;
  };
  Peaks.prototype.among = function (places, from, to) {
    let best = places[from];
    for (let i = from + 1; i < to; i += 1) { if (this.values[places[i]] > this.values[best]) { best = places[i]; } }
    return best;
  };
  // The entry of the highest in [from, to).
  Peaks.prototype.highest = function (from, to) {
    let best = from;
    const take = (place) => { if (this.values[place] > this.values[best]) { best = place; } };
    for (let at = from; at < to;) {
      let level = this.levels.length - 1;
      while (level >= 0 && (at % this.levels[level].width !== 0 || at + this.levels[level].width > to)) { level -= 1; }
      if (level < 0) {
        const end = Math.min(to, this.levels.length ? (Math.floor(at / 64) + 1) * 64 : to);
        take(this.scan(at, end));
        at = end;
      } else {
        take(this.levels[level].best[at / this.levels[level].width]);
        at += this.levels[level].width;
      }
    }
    return best;
  };

  // The segments and mapped ranges of the device, found from the end as the allocations are.
  function Ranges(record) {
    this.all = [];
    this.live = [];
    record.segments.forEach((segment) => this.put(Object.assign({}, segment, { blocks: null, freed: END })));
  }
  Ranges.prototype.place = function (address) {
    let low = 0, high = this.live.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.live[middle].address <= address) { low = middle + 1; } else { high = middle; }
    }
    return low - 1;
  };
  Ranges.prototype.put = function (range) {
    range.born = BEFORE;
    this.all.push(range);
    this.live.splice(this.place(range.address) + 1, 0, range);
  };
  // A segment began, or what was mapped: that can be parts of several ranges, since they were given back one by one.
  // False when it was not all there.
  Ranges.prototype.began = function (event, address, size, part) {
    if (!part) {
      const at = this.place(address), range = this.live[at];
      if (range === undefined || range.address !== address) { return false; }
      range.born = event;
      this.live.splice(at, 1);
      return true;
    }
    const end = address + size;
    let left = size;
    for (let at = Math.max(this.place(address), 0); at < this.live.length && this.live[at].address < end;) {
      const range = this.live[at], last = range.address + range.size;
      if (last <= address) { at += 1; continue; }
      this.live.splice(at, 1);
      const from = Math.max(range.address, address), to = Math.min(last, end);
      if (range.address < from) {
        this.put(Object.assign({}, range, { size: from - range.address }));
        at += 1;
      }
      if (last > to) { this.put(Object.assign({}, range, { address: to, size: last - to })); }
      range.address = from;
      range.size = to - from;
      range.born = event;
      left -= to - from;
    }
    return left === 0;
  };

  function build(record) {
    const events = record.count, kind = record.kind, addr = record.addr, size = record.size, stack = record.stack;
    let completes = false, ends = 0, pending = 0;
    for (let i = 0; i < events; i += 1) {
      if (kind[i] === COMPLETED || kind[i] === FREE) { completes = true; ends += 1; }
      if (kind[i] === REQUESTED) { pending += 1; }
    }
    if (!completes) { ends = pending; }
    record.segments.forEach(function (segment) {
      ends += segment.blocks.reduce(function (sum, block) { return sum + (block.state === 0 ? 0 : 1); }, 0);
    });
    const found = { addr: new Float64Array(ends), requested: new Float64Array(ends), size: new Float64Array(ends),
      stack: new Int32Array(ends), stream: new Uint32Array(ends), born: new Int32Array(ends).fill(BEFORE),
      freed: new Int32Array(ends).fill(END), asked: new Int32Array(ends).fill(END), pool: new Uint32Array(ends) };
    let count = 0, misfits = 0, ownStacks = false;
    const live = new Map();
    const rounded = function (bytes) { return Math.ceil(Math.max(bytes, 1) / QUANTUM) * QUANTUM; };
    record.segments.forEach(function (segment) {
      segment.blocks.forEach(function (block) {
        if (block.state === 0) { return; }
        live.set(block.address, count);
        found.addr[count] = block.address;
        found.requested[count] = block.requested;
        found.size[count] = block.size;
        found.stack[count] = block.stack;
        found.stream[count] = segment.stream;
        found.pool[count] = segment.pool;
        count += 1;
      });
    });
    const ranges = new Ranges(record);
    const own = new Int32Array(events).fill(-1);
    for (let i = events - 1; i >= 0; i -= 1) {
      const what = kind[i];
      if (what === ALLOC) {
        const id = live.get(addr[i]);
        if (id === undefined) { misfits += 1; continue; }
        live.delete(addr[i]);
        own[i] = id;
        found.born[id] = i;
        ownStacks = ownStacks || (found.freed[id] !== END && found.stack[id] !== stack[i] && found.stack[id] >= 0);
        if (stack[i] >= 0 || found.freed[id] !== END) { found.stack[id] = stack[i]; }
        if (found.freed[id] !== END) { found.size[id] = rounded(size[i]) + (record.more.get(i) || 0) * QUANTUM; }
      } else if (what === COMPLETED || what === FREE || (what === REQUESTED && !completes)) {
        if (live.has(addr[i])) { misfits += 1; }
        live.set(addr[i], count);
        own[i] = count;
        found.addr[count] = addr[i];
        found.requested[count] = size[i];
        found.size[count] = rounded(size[i]) + (record.more.get(i) || 0) * QUANTUM;
        found.stack[count] = stack[i];
        found.stream[count] = record.stream[i];
        found.pool[count] = record.pool[i];
        found.freed[count] = found.asked[count] = i;
        count += 1;
      } else if (what === REQUESTED) {
        const id = live.get(addr[i]);
        if (id !== undefined) { found.asked[id] = i; own[i] = id; }
      } else if (what === GOT || what === MAPPED) {
        if (!ranges.began(i, addr[i], size[i], what === MAPPED)) { misfits += 1; }
      } else if (what === GIVEN || what === UNMAPPED) {
        ranges.put({ address: addr[i], size: size[i], small: what === GIVEN && size[i] <= 2 << 20, freed: i,
          expandable: what === UNMAPPED, stream: record.stream[i], pool: record.pool[i], stack: stack[i] });
      }
    }
    // Whose beginning is not in the trace has only the stack of its end, which is its own unless frees have theirs.
    if (ownStacks) {
      for (let id = 0; id < count; id += 1) {
        if (found.born[id] === BEFORE && found.freed[id] !== END) { found.stack[id] = -1; }
      }
    }
    const model = { record: record, events: events, misfits: misfits, kinds: KINDS };
    const order = Array.from({ length: count }, function (_, id) { return id; });
    // What was there before: the longest-lived at the bottom.
    order.sort(function (a, b) {
      return found.born[a] - found.born[b] || found.freed[b] - found.freed[a] || found.addr[a] - found.addr[b];
    });
    const numbered = new Int32Array(count);
    order.forEach(function (id, rank) { numbered[id] = rank; });
    const sorted = function (values) {
      const out = new values.constructor(count);
      for (let rank = 0; rank < count; rank += 1) { out[rank] = values[order[rank]]; }
      return out;
    };
    Object.keys(found).forEach(function (name) { found[name] = sorted(found[name]); });
    for (let i = 0; i < events; i += 1) { if (own[i] >= 0) { own[i] = numbered[own[i]]; } }
    model.of = own;
    model.allocations = Object.assign(new Intervals(found.born, found.freed, events), found);
    const held = ranges.all.filter(function (range) { return range.size > 0; });
    held.sort(function (a, b) { return a.born - b.born || a.address - b.address; });
    const column = function (Kind, name) { return Kind.from(held, function (range) { return range[name]; }); };
    model.ranges = Object.assign(new Intervals(column(Int32Array, "born"), column(Int32Array, "freed"), events), {
      list: held, addr: column(Float64Array, "address"), size: column(Float64Array, "size"),
      stream: column(Uint32Array, "stream"), pool: column(Uint32Array, "pool"), stack: column(Int32Array, "stack"),
    });
    model.active = sums(model.allocations, events);
    model.reserved = sums(model.ranges, events);
    model.peaks = new Peaks(model.active);
    model.reservedPeaks = new Peaks(model.reserved);
    layOut(model);
    model.ooms = [];
    for (let i = 0; i < events; i += 1) { if (kind[i] === OOM) { model.ooms.push(i); } }
    model.peak = events > 0 ? model.peaks.highest(0, events) : 0;
    return model;
  }

  // The bytes of what lives after each entry, without what is hidden.
  function sums(things, events, hidden) {
    const out = new Float64Array(Math.max(events, 1));
    for (let id = 0; id < things.count; id += 1) {
      if (hidden && hidden[id]) { continue; }
      out[Math.max(things.born[id], 0)] += things.size[id];
      if (things.freed[id] !== END) { out[things.freed[id]] -= things.size[id]; }
    }
    for (let i = 1; i < out.length; i += 1) { out[i] += out[i - 1]; }
    return out;
  }

  // All addresses that were ever held, without the gaps between them; and the pool of each allocation by its segment.
  function layOut(model) {
    const order = Array.from(model.ranges.list).sort(function (a, b) { return a.address - b.address; });
    const parts = [];
    order.forEach(function (range) {
      const last = parts[parts.length - 1], end = range.address + range.size;
      if (last !== undefined && range.address <= last.end) { last.end = Math.max(last.end, end); } else {
        parts.push({ start: range.address, end: end, offset: 0 });
      }
    });
    let total = 0;
    parts.forEach(function (part) {
      part.offset = total;
      total += part.end - part.start;
    });
    const offset = function (address) {
      let low = 0, high = parts.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (parts[middle].start <= address) { low = middle + 1; } else { high = middle; }
      }
      return low > 0 ? parts[low - 1].offset + Math.min(address, parts[low - 1].end) - parts[low - 1].start : 0;
    };
    model.room = total;
    model.allocations.offset = Float64Array.from(model.allocations.addr, offset);
    model.ranges.offset = Float64Array.from(model.ranges.addr, offset);
    const pooled = model.ranges.list.filter(function (range) { return isPrivate(model.record, range.pool); });
    if (pooled.length > 0 && pooled.length * model.allocations.count < 50000000) {
      for (let id = 0; id < model.allocations.count; id += 1) {
        const at = model.allocations.addr[id];
        const home = pooled.find(function (range) { return at >= range.address && at < range.address + range.size; });
        if (home !== undefined && !isPrivate(model.record, model.allocations.pool[id])) {
          model.allocations.pool[id] = home.pool;
        }
      }
    }
  }
  function isPrivate(record, pool) {
    const id = record.pools[pool];
    return id !== undefined && (id[0] !== 0 || id[1] !== 0);
  }

  // Microseconds since the first entry, where times were recorded.
  function elapsed(record, event) {
    const times = record.times, at = event / times.step, low = Math.floor(at);
    if (!(times.at[0] > 0) || low >= times.at.length) { return null; }
    const high = times.at[Math.min(low + 1, times.at.length - 1)];
    return times.at[low] + (high - times.at[low]) * (at - low) - times.at[0];
  }

  // The frames of a stack, innermost first, as lines.
  function frames(record, stack) {
    return (record.stacks[stack] || []).map(function (frame) {
      const [file, line, name] = record.frames[frame];
      return record.names[file] + (line > 0 ? ":" + line : "") + " " + record.names[name];
    });
  }

  // The innermost frame that is the program's own, else the innermost: the same for two snapshots.
  const LIBRARIES = /^$|^\?\?|^<|[\\/](site|dist)-packages[\\/]|[\\/]lib[\\/]python|[\\/]torch[\\/](nn|_|utils|optim|autograd)/i;
  function place(record, stack) {
    const known = record.placed || (record.placed = new Map());
    if (!known.has(stack)) {
      const list = record.stacks[stack] || [];
      const own = list.find(function (frame) { return !LIBRARIES.test(record.names[record.frames[frame][0]]); });
      const frame = record.frames[own === undefined ? list[0] : own];
      known.set(stack, frame === undefined ? ""
        : record.names[frame[0]].split(/[\\/]/).pop() + (frame[1] > 0 ? ":" + frame[1] : "") + " " + record.names[frame[2]]);
    }
    return known.get(stack);
  }

  Object.assign(page, { unpack: unpack, build: build, columns: columns, elapsed: elapsed, frames: frames, place: place,
    isPrivate: isPrivate, peaksOf: function (things, events, hidden) { return new Peaks(sums(things, events, hidden)); }, BEFORE: BEFORE, END: END, KINDS: KINDS });
})(globalThis.oomdoc || (globalThis.oomdoc = {}));
