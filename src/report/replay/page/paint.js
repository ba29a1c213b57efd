// Draws a model into pixels. A picture of the whole recording and one of the stretch that is looked at are painted a
// few columns at a time; a frame of the page only lays them where they belong, however many entries there are.
"use strict";
(function (page) {
  // Colours as in the style sheet, and paler ones for places beyond the first.
  const STRONG = ["#2f7fd1", "#f08c2e", "#8e5bc0", "#1f9e89", "#d14a7f", "#a9a12b", "#a5714c", "#2ba6c4", "#6660d6",
    "#e0613f", "#4da353", "#5570b8", "#d9ae2b", "#c04a4a", "#6b8596"];
  const REST = 31, DIM = 32, IDLE = 33, CHOSEN = 34;
  function channels(hex) {
    return [1, 3, 5].map(function (at) { return parseInt(hex.slice(at, at + 2), 16); });
  }
  function mixed(hex, other, part) {
    const b = channels(other);
    return "#" + channels(hex).map(function (value, i) {
      return Math.round(value + (b[i] - value) * part).toString(16).padStart(2, "0");
    }).join("");
  }
  // Colours by number: 15 strong, 15 pale, then the ones above.
  function palette(dark) {
    const paper = dark ? "#15171a" : "#ffffff", colours = STRONG.concat(STRONG.map(function (colour, i) {
      return mixed(STRONG[(i * 4 + 2) % 15], dark ? "#4a5058" : "#d8dde3", 0.5);
    }));
    colours[30] = colours[REST] = "#8b949e";
    colours[DIM] = dark ? "#30353b" : "#dde1e6";
    colours[IDLE] = dark ? "#2a2e34" : "#e8ebee";
    colours[CHOSEN] = dark ? "#ffffff" : "#101214";
    const pixel = function (hex) {
      const [r, g, b] = channels(hex);
      return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
    };
    return { css: colours, paper: paper, pixels: Uint32Array.from(colours, pixel),
      edges: Uint32Array.from(colours, function (hex) { return pixel(mixed(hex, paper, 0.35)); }) };
  }

  // A stretch of the recording: entries [from, to) across, bytes [low, high) upwards. `scene` says what is drawn: which
  // things, whether they are stacked or lie at their address, and in which colour.
  function Painting(scene, range, width, height, colours) {
    this.scene = scene;
    this.range = range;
    this.columns = Math.max(1, Math.min(width, Math.ceil(range.to - range.from)));
    this.height = height;
    this.colours = colours;
    this.image = new ImageData(this.columns, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.canvas = document.createElement("canvas");
    this.canvas.width = this.columns;
    this.canvas.height = height;
    this.next = 0;
    this.walks = scene.layers.map(function (layer) {
      return { layer: layer, list: new Int32Array(layer.things.most + 1), length: 0, at: null };
    });
  }
  Painting.prototype.moment = function (column) {
    const range = this.range, width = (range.to - range.from) / this.columns;
    return moment(this.scene, range.from + column * width, range.from + (column + 1) * width);
  };
  // Which entry stands for a column: that with the most bytes in it.
  function moment(scene, from, to) {
    const events = scene.peaks.values.length, start = Math.min(Math.max(Math.floor(from), 0), events - 1);
    return scene.peaks.highest(start, Math.min(Math.max(Math.ceil(to), start + 1), events));
  }
  // Paints until the time is up; true when all is done.
  Painting.prototype.work = function (until) {
    while (this.next < this.columns) {
      this.column(this.next);
      this.next += 1;
      if ((this.next & 7) === 0 && performance.now() > until) { break; }
    }
    if (this.next === this.columns && this.image !== null) {
      this.canvas.getContext("2d").putImageData(this.image, 0, 0);
      this.image = this.pixels = null;
    }
    return this.image === null;
  };
  Painting.prototype.column = function (x) {
    const at = this.moment(x);
    for (const walk of this.walks) {
      const things = walk.layer.things;
      // Forward from the column before, unless what is kept lies nearer.
      walk.length = walk.at !== null && at >= walk.at && at - walk.at <= things.step
        ? things.advance(walk.list, walk.length, walk.at, at) : things.live(walk.list, at);
      walk.at = at;
      if (walk.layer.stacked) { this.stacked(x, walk); } else { this.placed(x, walk); }
    }
  };
  Painting.prototype.stacked = function (x, walk) {
    const height = this.height, columns = this.columns, pixels = this.pixels, colours = this.colours.pixels;
    const edges = this.colours.edges, size = walk.layer.things.size, colour = walk.layer.colour, hidden = walk.layer.hidden;
    const low = this.range.low, scale = height / (this.range.high - low);
    let sum = 0, filled = 0;
    for (let k = 0; k < walk.length && filled < height; k += 1) {
      const id = walk.list[k];
      if (hidden !== null && hidden[id]) { continue; }
      sum += size[id];
      const top = Math.min(height, Math.round((sum - low) * scale));
      if (top <= filled) { continue; }
      const one = colour[id];
      let at = (height - 1 - filled) * columns + x;
      for (let row = filled; row < top; row += 1, at -= columns) { pixels[at] = colours[one]; }
      if (top - filled > 3) { pixels[at + columns] = edges[one]; }
      filled = top;
    }
  };
  Painting.prototype.placed = function (x, walk) {
    const height = this.height, columns = this.columns, pixels = this.pixels, colours = this.colours.pixels;
    const edges = this.colours.edges, things = walk.layer.things, colour = walk.layer.colour, hidden = walk.layer.hidden;
    const low = this.range.low, scale = height / (this.range.high - low);
    for (let k = 0; k < walk.length; k += 1) {
      const id = walk.list[k];
      if (hidden !== null && hidden[id]) { continue; }
      const start = (things.offset[id] - low) * scale, end = start + things.size[id] * scale;
      if (end < 0 || start >= height) { continue; }
      const bottom = Math.max(0, Math.floor(start)), top = Math.min(height, Math.max(Math.floor(end), bottom + 1));
      const one = colour[id];
      let at = (height - 1 - bottom) * columns + x;
      for (let row = bottom; row < top; row += 1, at -= columns) { pixels[at] = colours[one]; }
      if (top - bottom > 3) { pixels[at + columns] = edges[one]; }
    }
  };
  // Lays the picture into a view with the same two ranges.
  Painting.prototype.lay = function (context, view, width, height) {
    const across = width / (view.to - view.from), up = height / (view.high - view.low);
    const left = (this.range.from - view.from) * across, right = (this.range.to - view.from) * across;
    const top = height - (this.range.high - view.low) * up, bottom = height - (this.range.low - view.low) * up;
    if (right <= 0 || left >= width || bottom <= 0 || top >= height) { return; }
    // Of a picture that is much larger than the view only the part in it, which keeps its edges sharp.
    const first = Math.max(0, Math.floor(-left / (right - left) * this.columns) - 1);
    const last = Math.min(this.columns, Math.ceil((width - left) / (right - left) * this.columns) + 1);
    const one = (right - left) / this.columns;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, first, 0, last - first, this.height, left + first * one, top, (last - first) * one,
      bottom - top);
  };

  Object.assign(page, { palette: palette, Painting: Painting, moment: moment, REST: REST, DIM: DIM, IDLE: IDLE,
    CHOSEN: CHOSEN });
})(globalThis.oomdoc || (globalThis.oomdoc = {}));
