// Takes a picture of a page in Chromium: node picture.mjs URL FILE WIDTH HEIGHT [SELECTOR]
// With a selector the picture ends below that element; else it is HEIGHT high. Fails if the page reports an error.
import { chromium } from 'playwright-core';

const MARGIN = 14;
// Charts draw in the frames after their data came.
const DRAWN_MS = 3000;

const [url, path, width, height, selector] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) } });
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.waitForTimeout(DRAWN_MS);
  const end = selector ? await page.locator(selector).boundingBox() : undefined;
  const clip = end && { x: 0, y: 0, width: Number(width), height: Math.ceil(end.y + end.height) + MARGIN };
  await page.screenshot({ path, clip, fullPage: Boolean(clip) });
  if (faults.length > 0) throw new Error(faults.join('\n'));
} finally {
  await browser.close();
}
