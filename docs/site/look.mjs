// Opens pages of the built site in Chromium, light and dark, wide and as wide as a phone: fails on errors in the console, on a page
// wider than its window, on serious findings of axe, and where the search finds nothing. Pictures lie in target/looks.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { chromium } from 'playwright-core';

const SITE = path.resolve(import.meta.dirname, 'target/site');
const LOOKS = path.resolve(import.meta.dirname, 'target/looks');
const PAGES = ['index', 'docs/start/spring', 'docs/explanation/leaks', 'docs/runbooks/after-a-kill', 'docs/reference/settings', 'docs/reference/metrics', 'docs/compare'];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.png': 'image/png', '.woff2': 'font/woff2' };
const AXE = fs.readFileSync(path.resolve(import.meta.dirname, 'node_modules/axe-core/axe.min.js'), 'utf8');

// In the theme's sidebar a heading that opens has a button in it.
const RULES = { 'nested-interactive': { enabled: false } };

const server = http.createServer((request, response) => {
  const file = path.join(SITE, decodeURIComponent(new URL(request.url, 'http://site').pathname));
  const found = file.startsWith(SITE) && fs.existsSync(file) && fs.statSync(file).isFile();
  response.writeHead(found ? 200 : 404, { 'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
  response.end(found ? fs.readFileSync(file) : '');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${server.address().port}`;
fs.mkdirSync(LOOKS, { recursive: true });
const faults = [];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 390]) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 844 } });
      const page = await context.newPage();
      let where = '';
      page.on('console', (message) => message.type() === 'error' && faults.push(`${where}: ${message.text()}`));
      page.on('pageerror', (error) => faults.push(`${where}: ${error.message}`));
      page.on('request', (request) => request.url().startsWith(base) || faults.push(`${where} asks ${request.url()}`));
      for (const name of PAGES) {
        where = `${name}, ${colorScheme}, ${width}`;
        await page.goto(`${base}/${name}.html`, { waitUntil: 'networkidle' });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        if (over > 0) faults.push(`${where}: ${over} px wider than the window`);
        await page.screenshot({ path: path.join(LOOKS, `${name.replaceAll('/', '-')}-${colorScheme}-${width}.png`) });
        await page.evaluate(AXE);
        const result = await page.evaluate((rules) => axe.run(document, { rules }), RULES);
        for (const each of result.violations.filter((one) => ['serious', 'critical'].includes(one.impact))) {
          faults.push(`${where}: axe ${each.id}: ${each.nodes.map((node) => node.target.join(' ')).slice(0, 3).join(', ')}`);
        }
      }
      where = `search, ${colorScheme}, ${width}`;
      await page.goto(`${base}/index.html`, { waitUntil: 'networkidle' });
      await page.keyboard.press('Control+k');
      await page.fill('#localsearch-input', 'longest timeout');
      await page.waitForSelector('.VPLocalSearchBox .result', { timeout: 10_000 }).catch(() => faults.push(`${where}: nothing found`));
      await context.close();
    }
  }
} finally {
  await browser.close();
  server.close();
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
