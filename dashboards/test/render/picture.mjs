// Draws dashboards with Grafana's component library in Chromium, against a live Prometheus, and reports every panel that
// has no data or cannot be drawn. It is not Grafana, and its pictures are not pictures of Grafana.
//
//   node picture.mjs PROMETHEUS [--to TIME] [--seconds 300] [--interval 5] [--theme light] [--closed] [--var name=value]...
//     [--absent series] [--into DIR] DASHBOARD.json...
//
// --to is the end of the shown time, in seconds since 1970: by default now. --closed leaves closed rows closed.
// --absent names the beginning of series that nobody publishes: panels that ask nothing else may be empty.
import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import { readFile, mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const TARGET = join(HERE, 'target');
const WIDTH = 1280;
// The component library names fonts that it does not contain; the system's are drawn instead.
const FONTS = '/public/fonts/';
const LONGEST_MS = 60_000;
const PAGE = '<!doctype html><meta charset=utf-8><link rel=icon href=data:,><link rel=stylesheet href=/page.css><div id=root></div><script type=module src=/page.js></script>';
const TYPES = { '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    to: { type: 'string', default: String(Math.floor(Date.now() / 1000)) },
    closed: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '300' },
    interval: { type: 'string', default: '5' },
    theme: { type: 'string', default: 'light' },
    var: { type: 'string', multiple: true, default: [] },
    absent: { type: 'string', default: '' },
    into: { type: 'string' },
  },
});
const [prometheus, ...dashboards] = positionals;

async function bundle() {
  await build({
    entryPoints: [join(HERE, 'src/page.tsx')],
    outdir: TARGET,
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}' },
    loader: { '.svg': 'dataurl', '.woff2': 'dataurl', '.ttf': 'dataurl' },
    logLevel: 'error',
  });
}

/** The page, its dashboard, Grafana's icons, and Prometheus behind the same origin. */
function serve(state) {
  const server = createServer(async ({ url }, response) => {
    const path = url.split('?')[0];
    try {
      if (path.startsWith('/api/')) {
        const answer = await fetch(prometheus + url);
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(await answer.text());
        return;
      }
      const content =
        path === '/' ? PAGE
        : path === '/dashboard.json' ? await readFile(state.dashboard)
        : path.startsWith('/public/') ? await readFile(grafanaFile(path))
        : await readFile(join(TARGET, basename(path)));
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/html' });
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((ready) => server.listen(0, '127.0.0.1', () => ready(server)));
}

function grafanaFile(path) {
  const files = join(HERE, 'node_modules/@grafana/ui/dist');
  const relative = path.slice('/public/'.length).replace(/^build\//, '');
  return [join(files, 'public', relative), join(files, relative)].find((file) => existsSync(file)) ?? '';
}

async function draw(browser, address, dashboard) {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: 1000 } });
  const errors = [];
  page.on('pageerror', (error) => errors.push(`page: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.location().url.includes(FONTS)) {
      errors.push(`console: ${message.text().slice(0, 300)} ${message.location().url}`);
    }
  });
  const { seconds, interval, theme, absent, to, closed } = values;
  const query = new URLSearchParams({ seconds, interval, theme, absent, to, closed: String(closed) });
  values.var.forEach((pair) => query.set(`var-${pair.split('=')[0]}`, pair.slice(pair.indexOf('=') + 1)));
  await page.goto(`${address}/?${query}`);
  try {
    await page.waitForFunction(() => window.mallometer?.panels > 0 && window.mallometer.done >= window.mallometer.panels, null, {
      timeout: LONGEST_MS,
    });
  } catch {
    errors.push('page: not all panels were done in time');
  }
  const report = await page.evaluate(() => window.mallometer);
  await page.setViewportSize({ width: WIDTH, height: Math.ceil(report.height) || 1000 });
  // Tables and time series draw in the frames after their data came.
  await page.waitForTimeout(700);
  if (values.into) {
    await page.screenshot({ path: join(values.into, `${basename(dashboard, '.json')}.png`) });
  }
  const { faults } = await page.evaluate(() => window.mallometer);
  const wide = await page.evaluate(() =>
    [...document.querySelectorAll('[role=grid]')].filter((grid) => grid.scrollWidth > grid.clientWidth).map((grid) => grid.innerText.slice(0, 60)));
  faults.push(...wide.map((columns) => `a table is wider than its panel: ${columns}`));
  await page.close();
  return { panels: report.panels, faults: [...new Set([...faults, ...errors])] };
}

async function main() {
  await bundle();
  if (values.into) {
    await mkdir(values.into, { recursive: true });
  }
  const state = { dashboard: '' };
  const server = await serve(state);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
  let bad = false;
  try {
    for (const dashboard of dashboards) {
      state.dashboard = dashboard;
      const { panels, faults } = await draw(browser, `http://127.0.0.1:${server.address().port}`, dashboard);
      console.log(`${basename(dashboard)}: ${panels} panels, ${faults.length} faults`);
      faults.forEach((fault) => console.log(`  ${fault}`));
      bad ||= faults.length > 0 || panels === 0;
    }
  } finally {
    await browser.close();
    server.close();
  }
  process.exitCode = bad ? 1 : 0;
}

await main();
