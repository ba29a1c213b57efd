"use strict";
(function () {
  const page = globalThis.oomdoc, size = page.bytes, element = page.element;

  // One read-out serves the whole page. It stands beside the pointer and inside the window.
  const tip = element(document.body, "div", "tip");
  tip.setAttribute("role", "status");
  function show(x, y) {
    tip.style.display = "block";
    const width = tip.offsetWidth, height = tip.offsetHeight;
    const room = document.documentElement.clientWidth;
    let left = x + 16;
    if (left + width > room - 4) { left = x - 16 - width; }
    tip.style.left = Math.max(4, Math.min(left, room - 4 - width)) + "px";
    let top = y + 16;
    if (top + height > window.innerHeight - 4) { top = y - 16 - height; }
    tip.style.top = Math.max(4, Math.min(top, window.innerHeight - 4 - height)) + "px";
  }
  Object.assign(page, { tip: tip, showTip: show });
  function row(colour, bytes, text, chosen) {
    const line = element(tip, "div", chosen ? "row chosen" : "row");
    element(line, "i", colour);
    element(line, "b", "", size(bytes));
    element(line, "span", "", text);
  }
  function stack(site, words) {
    element(tip, "pre", "", site && site[1] ? site[1] : words.silent);
  }
  function leave(drawing, hide) {
    drawing.addEventListener("pointerleave", hide);
    drawing.addEventListener("blur", hide);
  }

  document.querySelectorAll("section").forEach(function (section) {
    const data = JSON.parse(section.querySelector("script.data").textContent);
    const words = data.words, last = data.events.length - 1;
    const colour = function (i) { return i < data.layers.length ? "c" + i % 15 : "rest"; };

    const plot = section.querySelector(".plot");
    if (plot) {
      const cross = plot.querySelector(".cross");
      const drawing = plot.querySelector("svg");
      const top = Number(plot.dataset.top);
      const layers = function (at) {
        const rows = data.layers.map(function (layer, i) { return { i: i, bytes: layer[at] || 0 }; });
        const rest = rows.reduce(function (left, one) { return left - one.bytes; }, data.active[at]);
        rows.push({ i: rows.length, bytes: Math.max(rest, 0) });
        return rows;
      };
      const emphasise = function (i) {
        section.querySelectorAll(".timeline [data-i]").forEach(function (part) {
          part.classList.toggle("dim", i !== null && Number(part.dataset.i) !== i);
        });
      };
      let place = 0;
      // `bytes` is the height of the pointer; without one the largest layer is told.
      const tell = function (at, bytes, x, y) {
        place = at;
        const rows = layers(at);
        let chosen = null, floor = 0;
        if (bytes === null) {
          chosen = rows.reduce(function (most, one) { return one.bytes > most.bytes ? one : most; });
        } else {
          rows.forEach(function (one) {
            if (bytes >= floor && bytes < floor + one.bytes) { chosen = one; }
            floor += one.bytes;
          });
        }
        tip.replaceChildren();
        element(tip, "div", "title", words.entry.replace("#", data.events[at]));
        row("", data.reserved[at], words.reserved, false);
        row("", data.active[at], words.active, false);
        rows.sort(function (a, b) { return b.bytes - a.bytes; });
        let others = 0;
        rows.forEach(function (one, rank) {
          if (one.bytes === 0) { return; }
          if (one === chosen || (rank < 7 && one.i < data.layers.length)) {
            row(colour(one.i), one.bytes, one.i < data.layers.length ? data.sites[one.i][0] : words.rest, one === chosen);
          } else { others += one.bytes; }
        });
        const further = chosen && chosen.i === data.layers.length ? words.further : words.rest;
        if (others > 0) { row("rest", others, further, false); }
        if (chosen && chosen.i < data.layers.length) { stack(data.sites[chosen.i], words); }
        emphasise(chosen ? chosen.i : null);
        cross.style.left = at * 100 / last + "%";
        cross.style.display = "block";
        show(x, y);
      };
      const follow = function (event) {
        const box = drawing.getBoundingClientRect();
        const across = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
        const up = Math.min(Math.max((box.bottom - event.clientY) / box.height, 0), 1);
        tell(Math.round(across * last), up * top, event.clientX, event.clientY);
      };
      const hide = function () {
        tip.style.display = cross.style.display = "none";
        emphasise(null);
      };
      plot.addEventListener("pointermove", follow);
      plot.addEventListener("pointerdown", follow);
      plot.addEventListener("keydown", function (event) {
        const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
        if (event.key === "Escape") { hide(); }
        if (step === undefined) { return; }
        event.preventDefault();
        const at = Math.min(Math.max(place + step, 0), last);
        const box = drawing.getBoundingClientRect();
        tell(at, null, box.left + box.width * at / last, box.top + box.height / 4);
      });
      leave(plot, hide);
      section.querySelectorAll(".legend [data-i]").forEach(function (item) {
        item.addEventListener("pointerenter", function () { emphasise(Number(item.dataset.i)); });
        item.addEventListener("pointerleave", function () { emphasise(null); });
      });
    }

    section.querySelectorAll("svg.map").forEach(function (map) {
      const follow = function (event) {
        const box = event.target.closest("rect");
        if (!box) { tip.style.display = "none"; return; }
        const site = box.dataset.s, bytes = Number(box.dataset.b), segment = Number(box.dataset.t);
        tip.replaceChildren();
        if (site === undefined) {
          row("free", bytes, words.idle, true);
        } else if (site === "-1") {
          row("rest", Number(box.dataset.u), words.several, true);
        } else {
          row(colour(Number(site)), bytes, data.sites[site][0], true);
        }
        if (segment > 0) { element(tip, "div", "soft", words.segment + " " + size(segment)); }
        if (site !== undefined && site !== "-1") { stack(data.sites[site], words); }
        show(event.clientX, event.clientY);
      };
      map.addEventListener("pointermove", follow);
      map.addEventListener("pointerdown", follow);
      leave(map, function () { tip.style.display = "none"; });
    });
  });
  page.start();
})();
