// Under the pointer: the moment, the step, and what each curve stood at.
(() => {
  "use strict";
  const charts = JSON.parse(document.getElementById("curves").textContent);
  const size = (bytes) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    while (bytes >= 1024 && unit < units.length - 1) { bytes /= 1024; unit += 1; }
    return bytes.toFixed(unit ? 2 : 0) + " " + units[unit];
  };
  // The last pair at or before a moment.
  const at = (pairs, moment) => {
    let low = 0, high = pairs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[middle][0] <= moment) low = middle + 1; else high = middle;
    }
    return low ? pairs[low - 1] : null;
  };
  for (const svg of document.querySelectorAll("svg[data-chart]")) {
    const chart = charts[Number(svg.dataset.chart)];
    const left = Number(svg.dataset.left), end = Number(svg.dataset.end);
    const pointer = svg.querySelector(".pointer"), told = svg.parentNode.querySelector("output");
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const x = Math.min(1000, Math.max(left, (event.clientX - box.left) / box.width * 1000));
      const moment = (x - left) / (1000 - left) * end;
      pointer.setAttribute("x1", x);
      pointer.setAttribute("x2", x);
      pointer.style.visibility = "visible";
      const step = at(chart.steps, moment);
      const parts = [moment.toFixed(1) + " s"].concat(step ? ["#" + step[1]] : []);
      for (const line of chart.lines) {
        const point = at(line.points, moment);
        if (point) parts.push(line.name + " " + size(point[1]));
      }
      told.textContent = parts.join(" · ");
    });
    svg.addEventListener("pointerleave", () => {
      pointer.style.visibility = "hidden";
      told.textContent = "";
    });
  }
})();
