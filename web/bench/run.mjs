// Draws the same view in the page's graph and in @xyflow/react, in one run of a headless Chromium, and prints a table.
// Each figure also goes to the error stream as soon as it is measured.
// Usage: node bench/run.mjs [--datasets 2000] [--columns 25] [--edges 50000] [--alone], without @xyflow/react

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";
import { build, preview } from "vite";

const { values } = parseArgs({
  options: {
    datasets: { type: "string", default: "2000" },
    columns: { type: "string", default: "25" },
    edges: { type: "string", default: "50000" },
    alone: { type: "boolean", default: false },
  },
});
const CONFIG = new URL("vite.config.ts", import.meta.url).pathname;
const FRAMES = 60;
const ZOOMS = [1, 0.2, 0.05];
const SIZE = { width: 1400, height: 850 };
const PAGES = {
  ours: { stage: ".hw-stage", drawn: ".hw-card", row: ".hw-column", pan: "" },
  xyflow: { stage: ".react-flow__pane", drawn: ".react-flow__node", row: "", pan: "&pan=1" },
};

/** The times of all frames in ms, which `python -m bench.page_frames` draws. */
const frameTimes = { ours: {}, xyflow: {} };

/** Send one wheel event a frame, half of them forth and half back, and return the times between frames, in ms. */
function wheelFrames({ selector, frames, pan }) {
  const target = document.querySelector(selector);
  const { left, top, width, height } = target.getBoundingClientRect();
  const at = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true };
  const step = pan ? 30 : 20;
  return new Promise((resolve) => {
    const times = [];
    let last = 0;
    const frame = (now) => {
      if (last) times.push(now - last);
      last = now;
      const deltaY = times.length < frames / 2 ? step : -step;
      target.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY, shiftKey: pan === "shift" }));
      if (times.length < frames) requestAnimationFrame(frame);
      else resolve(times);
    };
    requestAnimationFrame(frame);
  });
}

/** Zoom from 1 to a level by wheel events, and wait until it is drawn. */
async function zoomTo(page, selector, zoom) {
  await page.evaluate(
    ({ selector, zoom }) => {
      const target = document.querySelector(selector);
      const { left, top, width, height } = target.getBoundingClientRect();
      const at = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true };
      const current = () => {
        const world = document.querySelector(".hw-world, .react-flow__viewport");
        return Number(/scale\(([\d.e-]+)\)/.exec(world.style.transform)[1]);
      };
      for (let step = 0; step < 200 && Math.abs(Math.log(current() / zoom)) > 0.05; step++) {
        const far = Math.min(300, Math.abs(Math.log(current() / zoom)) * 300);
        target.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: current() > zoom ? far : -far, ctrlKey: true }));
      }
    },
    { selector, zoom },
  );
  await page.waitForTimeout(1500);
}

/** Return a row, after it was written to the error stream: a run takes long, and what was measured is not lost with it. */
function measuredRow(name, row, value) {
  process.stderr.write(`${name}: ${row}: ${value}\n`);
  return [row, value];
}

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => Math.round(sorted[Math.ceil(share * sorted.length) - 1]); // nearest rank
  return `${at(0.5)} / ${at(0.95)} / ${at(1)}`;
}

async function open(browser, url, name, query, drawn = PAGES[name].drawn) {
  const page = await browser.newPage({ viewport: SIZE });
  await page.goto(`${url}${name}.html?${query}`);
  await page.waitForSelector(drawn, { timeout: 180_000 });
  const opened = await page.evaluate(
    () =>
      new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))),
  );
  await page.waitForTimeout(2000);
  return { page, opened };
}

async function frames(browser, url, name) {
  const { stage, pan } = PAGES[name];
  const query = `datasets=${values.datasets}&columns=${values.columns}&edges=${values.edges}`;
  const rows = [];
  for (const kind of ["pan", "zoom"]) {
    const { page, opened } = await open(browser, url, name, query + (kind === "pan" ? pan : ""));
    if (kind === "pan") rows.push(measuredRow(name, "open, ms", Math.round(opened)));
    for (const zoom of ZOOMS) {
      await zoomTo(page, stage, zoom);
      const how = kind === "pan" ? (name === "ours" ? "shift" : "plain") : "";
      const times = await page.evaluate(wheelFrames, { selector: stage, frames: FRAMES, pan: how });
      rows.push(measuredRow(name, `${kind} at zoom ${zoom}, p50 / p95 / max ms`, summary(times)));
      frameTimes[name][`${kind} at zoom ${zoom}`] = times;
    }
    await page.close();
  }
  return rows;
}

/** Click columns of a dimmed graph and return the times from the click to the frame that shows the path. */
async function lighting(browser, url) {
  const query = `datasets=${values.datasets}&columns=${values.columns}&edges=${values.edges}`;
  const state = encodeURIComponent(JSON.stringify({ rest: "dim" }));
  const { page } = await open(browser, url, "ours", `${query}&state=${state}`);
  const light = (clicks) =>
    page.evaluate(async (count) => {
      const times = [];
      for (let click = 0; click < count; click++) {
        const rows = document.querySelectorAll(".hw-column");
        const row = rows[(click * 7) % rows.length];
        const start = performance.now();
        row.click();
        // Until the frame with the new rows has been made.
        while (!row.parentElement.classList.contains("hw-selected")) await new Promise(requestAnimationFrame);
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        times.push(performance.now() - start);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return times;
    }, clicks);
  const times = await light(30);
  await page.close();
  return [measuredRow("ours", "a column's path lit, p50 / p95 / max ms", summary(times))];
}

/**
 * Click one control after the other: a column, so that its path is shown alone, Escape, a card's pages and its columns;
 * return how many clicks changed the cards. Where no such control is in sight the first card is folded
 * or unfolded, and where there is no card the graph is zoomed in.
 */
async function clickAround(count) {
  const world = document.querySelector(".hw-world");
  // Until the cards change; what changes nothing is not waited for long.
  const drawn = (act) =>
    new Promise((resolve) => {
      const watch = new MutationObserver(() => done(1));
      const timer = setTimeout(() => done(0), 300);
      const done = (changes) => {
        watch.disconnect();
        clearTimeout(timer);
        setTimeout(() => resolve(changes));
      };
      watch.observe(world, { childList: true, subtree: true, attributes: true });
      act();
    });
  const pick = (selector, place) => {
    const found = document.querySelectorAll(selector);
    const others = [".hw-card-header .hw-icon", "[title='Zoom in']"].map((other) => document.querySelector(other));
    return found[(place * 7) % found.length] ?? others.find(Boolean);
  };
  let changed = 0;
  for (let click = 0; click < count; click++) {
    const selector = [".hw-column", "", "[title='Columns after these']:enabled", ".hw-card-header .hw-icon"][click % 4];
    const target = selector && pick(selector, click);
    const leave = new KeyboardEvent("keydown", { key: "Escape", bubbles: true });
    changed += await drawn(() => (target ? target.click() : document.querySelector(".hw-stage").dispatchEvent(leave)));
  }
  return changed;
}

const CLICKS = 1000;
/** Clicks of one call: a browser under load is not waited for longer than its calls may take. */
const SERIES = 50;

/** Return the heap and the nodes of the page before and after clicks, after garbage was collected. */
async function memory(browser, url) {
  const { page } = await open(browser, url, "ours", "datasets=200&columns=25&edges=5000");
  const session = await page.context().newCDPSession(page);
  const used = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { nodes } = await session.send("Memory.getDOMCounters");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    return `${(usedSize / 1e6).toFixed(1)} MB, ${nodes} nodes`;
  };
  const measured = [];
  let changed = 0;
  for (let turn = 0; turn < 3; turn++) {
    const clicks = turn === 0 ? CLICKS / 10 : CLICKS / 2;
    for (let done = 0; done < clicks; done += SERIES) changed += await page.evaluate(clickAround, SERIES);
    measured.push(await used());
  }
  await page.close();
  return [
    measuredRow("ours", `heap after ${CLICKS / 10} clicks and after each ${CLICKS / 2} more`, measured.join(" / ")),
    measuredRow("ours", `of these ${CLICKS * 1.1} clicks changed the cards`, changed),
  ];
}

async function wide(browser, url, name) {
  const { page, opened } = await open(browser, url, name, "datasets=3&columns=5000&edges=10000");
  await page.close();
  return [measuredRow(name, "datasets of 5,000 columns opened, ms", Math.round(opened))];
}

/** Return the size of the built page, all of its scripts and styles gzipped, in kB. */
function bundle() {
  const folder = new URL("../../src/headwater/server/page/dist/assets/", import.meta.url);
  const bytes = readdirSync(folder).map((file) => gzipSync(readFileSync(new URL(file, folder))).length);
  return (bytes.reduce((sum, one) => sum + one, 0) / 1000).toFixed(0);
}

await build({ configFile: CONFIG, logLevel: "error" });
const server = await preview({ configFile: CONFIG, logLevel: "error", preview: { port: 0 } });
const url = server.resolvedUrls.local[0];
const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: ["--no-sandbox", "--disable-gpu"],
});
const measured = {};
measured.ours = new Map([
  ...(await frames(browser, url, "ours")),
  ...(await wide(browser, url, "ours")),
  ...(await lighting(browser, url)),
  ...(await memory(browser, url)),
]);
const xyflow = async () => [...(await frames(browser, url, "xyflow")), ...(await wide(browser, url, "xyflow"))];
measured.xyflow = new Map(values.alone ? [] : await xyflow());
measured.ours.set("the whole page gzipped, kB", bundle());
await browser.close();
await server.close();
writeFileSync(new URL("../../build/bench-web/frames.json", import.meta.url), JSON.stringify(frameTimes));

const print = (...cells) => process.stdout.write(`| ${cells.join(" | ")} |\n`);
print(`${values.datasets} datasets × ${values.columns} columns, ${values.edges} edges`, "headwater", "@xyflow/react");
print("---", "---", "---");
for (const [row, value] of measured.ours) print(row, value, measured.xyflow.get(row) ?? "–");
