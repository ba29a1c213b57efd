"use strict";
(function () {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  function size(bytes) {
    let unit = 0;
    while (bytes > 1024 && unit + 1 !== units.length) { bytes /= 1024; unit += 1; }
    return (unit === 0 ? bytes : bytes.toFixed(2)) + " " + units[unit];
  }
  document.querySelectorAll(".timeline").forEach(function (chart) {
    const data = JSON.parse(chart.querySelector("script").textContent);
    const drawing = chart.querySelector("svg");
    const readout = chart.querySelector(".readout");
    drawing.addEventListener("pointermove", function (event) {
      const box = drawing.getBoundingClientRect();
      const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
      const at = Math.round(share * (data.events.length - 1));
      const lines = [data.words.entry + " " + data.events[at],
        size(data.active[at]) + "  " + data.words.active,
        size(data.reserved[at]) + "  " + data.words.reserved];
      let rest = data.active[at];
      data.layers.map(function (layer, i) { return [layer[at] || 0, data.names[i]]; })
        .filter(function (row) { rest -= row[0]; return row[0] !== 0; })
        .sort(function (a, b) { return b[0] - a[0]; })
        .forEach(function (row) { lines.push(size(row[0]) + "  " + row[1]); });
      if (rest > 0) { lines.push(size(rest) + "  " + data.words.rest); }
      readout.textContent = lines.join("\n");
      readout.style.display = "block";
      const right = share > 0.5;
      readout.style.left = right ? "auto" : (share * 100 + 1) + "%";
      readout.style.right = right ? ((1 - share) * 100 + 1) + "%" : "auto";
    });
    drawing.addEventListener("pointerleave", function () { readout.style.display = "none"; });
  });
})();
