// The page in a real browser, on real applications: the sample on Spring Boot 4.1, behind a proxy, with a context path and a
// management port; a small application with Spring Security as it comes, on Spring Boot 3.5 with a context path and, with a management port, on 4.1;
// and a program with the agent. One browser, shared servers. PAGE_PICTURES=true takes pictures.
import assert from 'node:assert/strict';
import {mkdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {after, before, describe, it} from 'node:test';
import {fileURLToPath} from 'node:url';
import axe from 'axe-core';
import {chromium} from 'playwright-core';
import {Application, proxy} from './servers.mjs';

const BROWSER = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
};
const PICTURES = join(dirname(fileURLToPath(import.meta.url)), 'target');
const PREFIX = '/proxied/here';
const PATIENCE = 60_000;
// With time 60 times as fast, what the JVM makes while it warms up for a minute comes for an hour.
const WARMING_JVM = '--mallometer.leak.acknowledged-sites=libjvm.so*';
const SITE = 'io.mallometer.samples.leaky.ReportArchive.pack';

let browser, sample, secured, securedPort, agent, front;

before(async () => {
  const starts = await Promise.allSettled([
    chromium.launch(BROWSER),
    // Five minutes of observation in five seconds, so that a leak is told within this test. It goes on for eight minutes, because its
    // verdict changes two minutes after its end: a busy machine may be slower than that.
    Application.sample('--mallometer.poll-interval=1s', '--mallometer.leak.time-scale=60', '--mallometer.leak.longest-timeout=5m', WARMING_JVM, '--leaky.leaks.cap=512MB', '--leaky.load.reports-per-second=10',
      '--management.endpoint.nativememory.access=unrestricted', '--mallometer.trim.minimum-interval=0s'),
    Application.onBoot('3.5', {hasManagementPort: false}),
    Application.onBoot('4.1', {hasManagementPort: true}),
    Application.withAgent(),
  ]);
  // All that started, so that it is stopped where another one did not.
  [browser, sample, secured, securedPort, agent] = starts.map(start => start.value);
  const failures = starts.filter(start => start.status === 'rejected').map(start => start.reason.message);
  assert.deepEqual(failures, [], failures.join('\n'));
  front = await proxy(PREFIX, sample.managementPort);
});

after(async () => {
  await browser?.close();
  front?.close();
  await Promise.all([sample, secured, securedPort, agent].map(application => application?.stop()));
});

const samplePage = () => `http://127.0.0.1:${front.address().port}${PREFIX}/ops/actuator/nativememory/page`;
const securedPage = application => `http://127.0.0.1:${application.managementPort}${application.contextPath}/actuator/nativememory/page`;

// A page whose complaints are collected: errors and warnings of the console, exceptions, refusals by the policy.
async function open(url, options = {}, prepare = async () => {}) {
  const context = await browser.newContext({viewport: {width: 1400, height: 1000}, ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.complaints = [];
  page.on('console', message => {
    if (['error', 'warning', 'assert'].includes(message.type())) {
      page.complaints.push(message.text());
    }
  });
  page.on('pageerror', error => page.complaints.push(error.stack));
  await page.exposeFunction('complain', text => page.complaints.push(text));
  await page.addInitScript(() => addEventListener('securitypolicyviolation', event => complain(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
  await prepare(page);
  await page.goto(url);
  await page.waitForFunction(() => document.querySelector('#connection').textContent.startsWith('Updated'));
  await page.waitForFunction(() => document.querySelector('#downloads li') !== null);
  return page;
}

async function picture(page, name) {
  if (process.env.PAGE_PICTURES === 'true') {
    mkdirSync(PICTURES, {recursive: true});
    // Chromium draws what a frame holds once it is in view.
    const frame = await page.$('iframe');
    await frame?.scrollIntoViewIfNeeded();
    await (await frame?.contentFrame())?.evaluate(() => new Promise(requestAnimationFrame));
    await page.screenshot({path: join(PICTURES, `${name}.png`), fullPage: true});
  }
}

async function close(page) {
  await page.unrouteAll({behavior: 'ignoreErrors'});
  await page.context().close();
}

// What is folded is closed at first.
const unfold = page => page.evaluate(() => document.querySelectorAll('main details').forEach(list => list.open = true));

// Answers of the application, changed on their way to the page. A request that the application does not answer, because it
// or the page's connection has ended, fails for the page as well; the page asks again.
const changed = change => async route => {
  let answers;
  try {
    answers = await (await route.fetch()).json();
  } catch {
    await route.abort().catch(() => {});
    return;
  }
  await route.fulfill({json: change(answers)});
};

const answering = change => page => page.route(/\/nativememory\/views\//, changed(answers => {
  change(answers);
  return answers;
}));

const concluding = diagnosis => answering(({overview}) => overview && Object.assign(overview.diagnosis, diagnosis));

// How many pixels of a chart have a colour that stands in the style.
function pixels(page, chart, property) {
  return page.evaluate(([chart, property]) => {
    const canvas = document.querySelector(`[data-chart="${chart}"] canvas`);
    // A chart has no size until its tab is laid out.
    if (canvas === null || canvas.width === 0 || canvas.height === 0) {
      return 0;
    }
    const copy = Object.assign(document.createElement('canvas'), {width: canvas.width, height: canvas.height + 1});
    const pen = copy.getContext('2d', {willReadFrequently: true});
    pen.drawImage(canvas, 0, 1);
    pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(property).trim();
    pen.fillRect(0, 0, 1, 1);
    const {data} = pen.getImageData(0, 0, copy.width, copy.height);
    const [r, g, b] = data;
    let count = -1;
    for (let i = 0; i < data.length; i += 4) {
      count += data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255;
    }
    return count;
  }, [chart, property]);
}

// A young process has two moments, and bands that are a hair wide at first.
async function isDrawn(page, chart, properties, least) {
  let counts = [];
  for (let second = 0; second < 40; second++) {
    counts = await Promise.all(properties.map(property => pixels(page, chart, property)));
    if (Math.max(...counts) > least) {
      return;
    }
    await page.waitForTimeout(1000);
  }
  assert.fail(`${chart}: ${properties} have ${counts} pixels`);
}

// Where there is no suspect, the panel says so and is empty.
async function everyPanelIsDrawn(page, hasSuspect = false) {
  // Two moments of where the memory was are 15 s apart.
  await page.waitForFunction(() => Number(document.querySelector('[data-chart="resident"]')?.getAttribute('aria-valuemax')) > 0);
  for (const property of ['--part-0', '--part-7', '--part-9']) {
    await isDrawn(page, 'resident', [property], 500);
  }
  assert.match(await page.innerText('#resident'), /Java heap\s+[\d.]+ MiB/);
  await page.click('#tab-charged');
  assert.ok(await page.isHidden('#resident'));
  // In the cgroup of a whole machine this process is a thin line below what others use.
  await isDrawn(page, 'charged', ['--part-0', '--part-3', '--part-4', '--part-7', '--part-9'], 500);
  assert.match(await page.innerText('#charged'), /This process\s+[\d.]+ MiB/);
  await page.click('#tab-live');
  await isDrawn(page, 'live', ['--accent'], 10);
  assert.match(await page.innerText('#live'), /Now: [\d.]+ MiB, [\d,]+ objects/);
  await page.click('#draw');
  const flames = page.frameLocator('#flame-frame iframe');
  await flames.locator('#status').filter({hasText: /total \d/}).waitFor();
  await unfold(page);
  const texts = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.panel')].map(panel => [panel.id, panel.innerText])));
  assert.match(texts.limit, /MiB|GiB[\s\S]*of (the|a)[\s\S]*Java heap [\d.]+ MiB/);
  assert.match(texts.holders, /As of \d\d:\d\d:\d\d\.[\s\S]*(libjvm\.so|\w+\.\w+)/);
  assert.match(texts.sizes, /4 KiB\s+[\d,]+/);
  assert.match(texts.allocator, /glibc[\s\S]*Live[\s\S]*MiB[\s\S]*Retained/);
  assert.match(texts.budget, /Java heap\s+128 MiB/);
  assert.match(texts.own, /Counting\s+preloaded[\s\S]*Samples\s+[\d,]+[\s\S]*This run is recorded in .*recording/);
  for (const exported of ['collapsed', 'flamegraph', 'pprof', 'dhat', 'table', 'leaks-text', 'leaks-html', 'breakdown', 'history']) {
    assert.match(texts.downloads, new RegExp(`\\b${exported}\\b`));
  }
  const shown = await page.$$eval('.is-empty', panels => panels.map(panel => panel.id));
  assert.deepEqual(shown.filter(id => hasSuspect || id !== 'leaks'), []);
  assert.match(texts.leaks, shown.includes('leaks') ? /^Suspects\s+\S.*\.$/ : /Suspected|Growth/);
}

async function hasNoBarriers(frame, where) {
  await frame.evaluate(axe.source);
  const {violations} = await frame.evaluate(() => axe.run(document, {resultTypes: ['violations'], iframes: false}));
  const serious = violations.filter(({impact}) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(serious.map(({id, nodes}) => `${where}: ${id} ${nodes.map(node => node.html).join(' ')}`), []);
}

async function eachView(page, name, ...frames) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({colorScheme});
    for (const width of [1440, 390, 360]) {
      const view = `${name}-${colorScheme}-${width}`;
      await page.setViewportSize({width, height: 900});
      await picture(page, view);
      // A scheme changes only colours, and narrow pages have one layout, which shows nothing that the wide one hides.
      if (width === 1440 || (width === 390 && colorScheme === 'light')) {
        for (const frame of [page, ...frames]) {
          await hasNoBarriers(frame, view);
        }
      }
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view}: nothing is wider`);
    }
  }
}

// As Spring Boot has it without any rules: a form to sign in, a session, and a token for everything that changes something.
function openSecured(application) {
  return open(securedPage(application), {}, async page => {
    await page.goto(securedPage(application));
    await page.fill('[name=username]', 'kim');
    await page.fill('[name=password]', 'pass');
    await page.click('button[type=submit]');
    page.complaints.length = 0;
  });
}

async function askForTrim(page) {
  await unfold(page);
  await page.click('#trim');
  await page.click('#confirm-yes');
}

const trimmed = page => page.locator('#trim-result').filter({hasText: /resident set went from|trimmed in/}).waitFor();

describe('on Spring Boot 4.1 with Spring Security and a management port', () => {
  after(() => securedPort?.stop());

  it('the page asks and trims without a complaint', async () => {
    const page = await openSecured(securedPort);
    await askForTrim(page);
    await trimmed(page);
    assert.deepEqual(page.complaints, []);
    await close(page);
  });

  it('says that the session has ended, whatever is asked for, and where to sign in', async () => {
    const page = await openSecured(securedPort);
    await page.context().clearCookies();
    const ended = where => page.locator(where).filter({hasText: 'Your session has ended. Reload this page to sign in again.'}).waitFor();
    await ended('#connection');
    await page.click('#draw');
    await ended('#drawing');
    await askForTrim(page);
    await ended('#trim-result');
    await page.click('#connection a');
    await page.waitForSelector('[name=username]');
    await close(page);
  });
});

describe('on Spring Boot 3.5 with Spring Security', () => {
  after(() => secured?.stop());

  it('a trim carries the token that Spring Security asks for, also after another sign-in', async () => {
    const page = await openSecured(secured);
    // The token that the page was loaded with is not taken any more.
    await page.evaluate(() => document.querySelector('meta[name="csrf-token"]').content = 'old');
    await askForTrim(page);
    await trimmed(page);
    assert.deepEqual(page.complaints, []);
    await close(page);
  });

  it('a trim carries the token from the headers of the page, and from a cookie if that is refused', async () => {
    const page = await openSecured(secured);
    let name, token;
    await page.route(/\/nativememory\/page$/, async route => {
      const response = await route.fetch();
      const text = await response.text();
      [, name, token] = /name="csrf-header" content="(.*?)"[\s\S]*name="csrf-token" content="(.*?)"/.exec(text);
      await route.fulfill({
        contentType: 'text/html', body: text.replace(/<meta name="csrf-.*?>/g, ''),
        headers: {'X-Mallometer-Token-Name': name, 'X-Mallometer-Token': token},
      });
    });
    await page.context().addCookies([{name: 'XSRF-TOKEN', value: 'of%20the%20cookie', url: securedPage(secured)}]);
    const sent = [];
    await page.route(/\/trim$/, async route => {
      const headers = route.request().headers();
      sent.push(headers[name.toLowerCase()] ?? headers['x-xsrf-token']);
      await route.fulfill('x-xsrf-token' in headers ? {json: {explanation: 'taken'}} : {status: 403, json: {}});
    });
    await askForTrim(page);
    await page.locator('#trim-result').filter({hasText: 'taken.'}).waitFor();
    assert.deepEqual(sent, [token, 'of the cookie']);
    await close(page);
  });

  it('a trim that is refused changes nothing, and the page says so', async () => {
    const page = await openSecured(secured);
    await page.route(/\/trim$/, route => {
      const {'x-csrf-token': token, ...headers} = route.request().headers();
      return route.continue({headers});
    });
    await askForTrim(page);
    await page.locator('#trim-note').filter({hasText: 'Your login may not trim (Forbidden)'}).waitFor();
    assert.ok(await page.isHidden('#trim'));
    await close(page);
  });

  it('every panel is drawn without a complaint', async () => {
    const page = await openSecured(secured);
    await everyPanelIsDrawn(page);
    assert.deepEqual(page.complaints, []);
    await close(page);
  });
});

describe('on the agent', () => {
  it('every panel is drawn without a complaint, and a trim is let through', async () => {
    const page = await open(`http://127.0.0.1:${agent.port}/`);
    await everyPanelIsDrawn(page);
    await askForTrim(page);
    await trimmed(page);
    assert.deepEqual(page.complaints, []);
    await close(page);
  });
});

describe('on the sample', () => {
  it('every panel is drawn without a complaint, and without a leak nothing is said of one', async () => {
    const page = await open(samplePage(), {timezoneId: 'Asia/Kathmandu'});
    await everyPanelIsDrawn(page);
    assert.doesNotMatch(await page.textContent('#sentence'), /leak/);
    // The reader's zone is 45 minutes and some hours off.
    const [, minute] = /^Updated \d\d:(\d\d):\d\d GMT\+5:45$/.exec(await page.textContent('#connection'));
    const offset = (60 + Number(minute) - new Date().getUTCMinutes()) % 60;
    assert.ok(offset === 44 || offset === 45, `${offset} minutes`);
    assert.match(await page.textContent('#process'), new RegExp(`^Process ${sample.process.pid}, started`));
    for (const address of await page.$$eval('#download-list a', links => links.map(link => link.href))) {
      const download = await page.request.get(address);
      assert.ok(download.ok() && (await download.body()).length > 0, `${address}: ${download.status()}`);
    }
    assert.deepEqual(page.complaints, []);
    await close(page);
    // For the tests at the end; the others run meanwhile.
    assert.ok((await fetch(`http://127.0.0.1:${sample.port}/shop/leaks/zlib?on=true`, {method: 'POST'})).ok);
  });

  it('everything can be reached and read by keyboard', async () => {
    const page = await open(samplePage());
    await page.waitForSelector('[data-chart="resident"] canvas');
    const text = () => page.getAttribute('[data-chart="live"]', 'aria-valuetext');
    await page.focus('#tab-resident');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-live');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.chart), 'live');
    assert.ok(await page.evaluate(() => document.activeElement.matches(':focus-visible')));
    await page.waitForFunction(() => document.activeElement.hasAttribute('aria-valuetext'));
    assert.match(await text(), /^Now: /);
    await page.keyboard.press('Home');
    assert.match(await text(), /^\d\d:\d\d:\d\d: [\d.]+ MiB, [\d,]+ objects$/);
    await page.focus('#tab-sites');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-libraries');
    await page.focus('#libraries .open');
    await page.keyboard.press('Enter');
    assert.equal(await page.getAttribute('#libraries .open:focus', 'aria-expanded'), 'true');
    assert.ok(await page.isVisible('#libraries .frames li'));
    await page.focus('#allocator > summary');
    await page.keyboard.press('Enter');
    await page.focus('#trim');
    await page.keyboard.press('Enter');
    assert.ok(await page.isVisible('#confirm'));
    await page.keyboard.press('Escape');
    assert.ok(await page.isHidden('#confirm'));
    await close(page);
  });

  it('a trim is asked for only after a yes, and tells what came back', async () => {
    const page = await open(samplePage());
    const posts = [];
    page.on('request', request => request.method() === 'POST' && posts.push(request.url()));
    await unfold(page);
    await page.click('#trim');
    await page.click('#confirm-no');
    assert.deepEqual(posts, []);
    await askForTrim(page);
    await trimmed(page);
    assert.equal(posts.length, 1);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'trim');
    assert.deepEqual(page.complaints, []);
    await close(page);
  });

  it('a trim cannot be asked for where it is not allowed, nor from a frame of another page', async () => {
    const page = await open(samplePage(), {}, answering(({overview}) => overview && Object.assign(overview, {trimAllowed: false})));
    await unfold(page);
    assert.ok(await page.isHidden('#trim'));
    assert.equal(await page.textContent('#trim-note'), 'Read-only. How to allow a trim');
    await page.click('#trim-note a');
    await page.locator('#runbook').filter({hasText: 'management.endpoint.nativememory.access=unrestricted'}).waitFor();
    await page.click('#runbook-close');
    assert.ok(await page.isHidden('#runbook'));
    await page.unrouteAll({behavior: 'wait'});
    // Nothing but a page from loopback may frame it, for Chromium; and in the page's own place its policy would hold.
    await page.goto(`http://127.0.0.1:${agent.port}/-/healthy`);
    await page.setContent(`<iframe src="${samplePage()}"></iframe>`);
    const framed = page.frameLocator('iframe');
    await framed.locator('#trim-note').filter({hasText: 'in a frame'}).waitFor({state: 'attached'});
    assert.ok(await framed.locator('#trim').isHidden());
    await close(page);
  });

  it('asks politely, and not at all while it is hidden or paused', async () => {
    const page = await open(samplePage(), {}, async page => {
      await page.clock.install();
      // A busy browser tells of a request only later.
      await page.addInitScript(() => {
        window.pending = 0;
        const {fetch} = window;
        window.fetch = (...request) => {
          window.pending++;
          return fetch(...request).finally(() => window.pending--);
        };
      });
      await concluding({state: 'watch', sentence: 'Memory grows', findings: []})(page);
    });
    // The last of what is asked for at first.
    await page.waitForFunction(() => document.querySelector('#recording').textContent !== '');
    let [asked, answered] = [0, 0];
    page.on('request', () => asked++);
    page.on('requestfinished', () => answered++);
    // The page's clock runs fast, and waits for what was asked.
    const during = async seconds => {
      [asked, answered] = [0, 0];
      for (let second = 0; second < seconds; second += 2) {
        await page.clock.runFor(2_000);
        do {
          await page.waitForTimeout(15);
        } while (answered < asked || await page.evaluate(() => window.pending) > 0);
      }
      return asked;
    };
    await page.evaluate(() => {
      window.heard = 0;
      const listener = new MutationObserver(() => window.heard++);
      document.querySelectorAll('[role=status], [aria-live]').forEach(region => listener.observe(region, {subtree: true, childList: true, characterData: true}));
    });
    const shown = await during(60);
    assert.ok(shown >= 5 && shown <= 8, `${shown} requests in a minute`);
    // That nothing has changed is not for the ear.
    assert.equal(await page.evaluate(() => window.heard), 0);
    // Where many watch each is told to ask less often.
    const crowded = /\/nativememory\/views\//;
    await page.route(crowded, changed(answers => ({...answers, overview: {...answers.overview, askAgainSeconds: 60}})));
    await during(15);
    const seldom = await during(180);
    assert.ok(seldom >= 2 && seldom <= 4, `${seldom} requests in three minutes`);
    assert.match(await page.textContent('#connection'), /polled every 60 s because many pages are open/);
    await page.unroute(crowded);
    await during(70);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', {value: true, configurable: true});
      document.dispatchEvent(new Event('visibilitychange'));
    });
    assert.equal(await during(120), 0);
    const seen = page.waitForResponse(/\/nativememory\/views\//);
    await page.evaluate(() => {
      delete document.hidden;
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await seen;
    await page.click('#pause');
    assert.equal(await page.textContent('#pause'), 'Resume');
    assert.equal(await during(120), 0);
    // The other theme needs no answer.
    await page.emulateMedia({colorScheme: 'dark'});
    await isDrawn(page, 'resident', ['--part-0'], 10);
    const again = page.waitForResponse(/\/nativememory\/views\//);
    await page.click('#pause');
    await again;
    assert.equal(await page.textContent('#pause'), 'Pause');
    await close(page);
  });

  it('what fails keeps nothing else from being shown, and says why', async () => {
    const page = await open(samplePage(), {}, async page => {
      await page.route(/\/nativememory\/views\//, changed(answers => 'history' in answers ? {...answers, history: null} : answers));
      await page.route(/\/nativememory\/history$/, route => route.fulfill({status: 500, json: {error: 'no time'}}));
    });
    await page.locator('#connection').filter({hasText: 'No answer (no time)'}).waitFor();
    assert.notEqual(await page.textContent('#recording'), '');
    await close(page);
  });

  it('what is not known is not said to be well', async () => {
    const reason = 'the library is not preloaded';
    let age = 1;
    const page = await open(samplePage(), {}, page => page.route(/\/nativememory\/views\//, changed(answers => {
      if (answers.overview) {
        Object.assign(answers.overview.snapshot, {status: {state: 'UNAVAILABLE', reason, remedy: ''}, process: undefined, ageSeconds: age, observation: {...answers.overview.snapshot.observation, state: 'off', reason}});
        answers.overview.diagnosis.findings = [];
        answers.overview.snapshot.allocator = undefined;
      }
      return {...answers, ...(answers.leaks && {leaks: []})};
    })));
    await unfold(page);
    assert.match(await page.innerText('#allocator'), /^Allocator\s+The memory that the allocator retains is not known: the library is not preloaded\.$/);
    await page.locator('#leaks').filter({hasText: 'No call site is a suspect. Accesses to objects are not observed: the library is not preloaded.'}).waitFor();
    assert.match(await page.innerText('#own-remark'), /Leaks: the library is not preloaded/);
    age = 300;
    await page.reload();
    await page.locator('#connection.trouble').filter({hasText: 'The figures are 5 min old'}).waitFor();
    await close(page);
  });

  it('lists the rows of the account that changed, and their total last', async () => {
    const MIB = 1 << 20;
    const row = (kind, name, growthBytes, place = '') => ({kind, name, place, bytes: 80 * MIB, growthBytes});
    const account = (minutes, total, ...rows) => ({from: new Date(Date.now() - minutes * 60_000).toISOString(), to: new Date().toISOString(), basis: 'charged', total: row('total', 'memory', total), counts: [], files: [], rows});
    const page = await open(samplePage(), {}, answering(({overview}) => {
      if (overview) {
        overview.diagnosis.account = account(10, 30 * MIB, row('site', 'a.B.pack', 40 * MIB, 'B.java:12'), row('code', 'code cache', 1024), row('retained', 'malloc retained', -10 * MIB));
        overview.diagnosis.hour = account(60, 90 * MIB, row('site', 'a.B.pack', 90 * MIB));
      }
    }));
    await page.click('#why summary');
    assert.match(await page.innerText('#account caption'), /^Growth of charged memory until /);
    assert.deepEqual(await page.$$eval('#account tbody tr', rows => rows.map(row => [...row.cells].map(cell => cell.innerText))), [
      ['a.B.pack (B.java:12)', '80 MiB', '+40 MiB', '+90 MiB'],
      ['malloc retained', '80 MiB', '−10 MiB', '–'],
      ['Total', '80 MiB', '+30 MiB', '+90 MiB'],
    ]);
    await close(page);
  });

  it('says the diagnosis in a word, a symbol and a sentence, with what to do, and tells when it changes', async () => {
    const findings = [{topic: 'growth', state: 'watch', text: 'Memory grows'}];
    let diagnosis = {state: 'healthy', since: new Date().toISOString(), sentence: 'Memory shows no steady growth in 9 min', actions: [], findings};
    const page = await open(samplePage(), {}, async page => {
      await page.clock.install();
      await answering(({overview}) => {
        if (overview) {
          overview.views = overview.views.filter(view => view !== 'evidence');
          overview.exports = overview.exports.filter(file => file.name !== 'evidence');
          Object.assign(overview.diagnosis, diagnosis, {account: null});
        }
      })(page);
    });
    const told = async (state, words, sentence, actions, shown = actions, spoken = '') => {
      diagnosis = {...diagnosis, state, sentence: `${spoken}${sentence}`, actions};
      await page.clock.runFor(15_000);
      await page.locator('#sentence').filter({hasText: `${sentence}.`}).waitFor();
      assert.match(await page.innerText('#state'), new RegExp(`^${words.replace('?', '\\?')} since \\d\\d:\\d\\d \\S+$`));
      assert.deepEqual(await page.$$eval('#actions li', items => items.map(item => item.innerText)), shown);
      assert.equal(await page.textContent('#announcement'), `${words.slice(2)}. ${sentence}.`);
    };
    assert.match(await page.innerText('#state'), /^✓ Healthy since/);
    await told('too_early', '? Too early to tell', 'Growth shows from 13:09 UTC', [], [], 'Too early to tell: ');
    await told('watch', '! Watch', 'Memory grows', ['Open the runbook: docs/runbooks/reaches-limit.md'], ['Open the runbook: Memory reaches its limit']);
    await page.click('#actions a');
    await page.locator('#runbook h2').filter({hasText: 'Memory reaches its limit'}).waitFor();
    await page.click('#runbook-text a >> nth=0');
    await page.locator('#runbook h2').filter({hasNotText: 'Memory reaches its limit'}).waitFor();
    await page.keyboard.press('Escape');
    assert.ok(await page.isHidden('#runbook'));
    await told('act', '‼ Act', 'Memory grows fast', ['Save the evidence', 'Restart before 14:30 UTC']);
    await page.click('#why summary');
    assert.match(await page.innerText('#findings'), /!\s+Watch:\s*Memory grows\./);
    assert.equal(await page.$('#actions button'), null);
    assert.equal(await page.isVisible('#account'), false);
    await close(page);
  });

  it('saves the evidence where the application has it', async () => {
    const page = await open(samplePage(), {}, answering(({overview}) => {
      if (overview) {
        overview.views.push('evidence');
        Object.assign(overview.diagnosis, {state: 'act', actions: ['Save the evidence, and restart before 14:30 UTC']});
      }
    }));
    await page.route(/\/nativememory\/evidence$/, route => route.request().method() === 'GET' && route.fulfill({contentType: 'application/zip', body: 'zip'}));
    const download = page.waitForEvent('download');
    await page.getByRole('button', {name: 'Save the evidence', exact: true}).click();
    assert.equal((await download).suggestedFilename(), 'mallometer-evidence.zip');
    await page.locator('#actions').filter({hasText: 'Saved'}).waitFor();
    await close(page);
  });

  it('draws the limit with what fills it and when it is reached', async () => {
    let seconds = 1200;
    let growth = 'act';
    const page = await open(samplePage(), {}, answering(({overview}) => {
      if (overview) {
        overview.snapshot.memory.resident = {totalBytes: 480 << 20, copiedFileBytes: 12 << 20, parts: {'java_heap': 200 << 20,
          'malloc_live': 99 << 20, 'mapped_files': 180 << 20, 'sockets': 1 << 20}};
        overview.diagnosis.limit = {bytes: 512 << 20, usedBytes: 384 << 20, source: 'cgroup', lowerSeconds: 900, seconds, upperSeconds: null};
        overview.diagnosis.findings = [{topic: 'growth', state: growth, text: 'Memory grows'}];
      }
    }));
    assert.equal(await page.innerText('#limit-title'), '384 MiB (75 %) of the memory limit of 512 MiB');
    assert.match(await page.innerText('#projection'), /memory reaches the limit in 20 min, at \d\d:\d\d \S+ \(\d\d:\d\d to never\)/);
    const parts = await page.$$eval('#parts li', items => items.map(item => item.innerText));
    assert.deepEqual(parts.slice(0, -1), ['Java heap 200 MiB', 'malloc, live 99 MiB', 'Copied file pages 12 MiB', 'Beside this process 72 MiB', '448 MiB in 10 min']);
    assert.match(parts.at(-1), /^512 MiB at \d\d:\d\d$/);
    const widths = await page.$$eval('#bar > div', boxes => boxes.map(box => box.getBoundingClientRect().width / box.parentElement.clientWidth));
    assert.deepEqual(widths.map(width => Math.round(40 * width)), [40, 35, 30]);
    const heap = await page.$eval('#bar .used > span', part => part.getBoundingClientRect().width / part.parentElement.clientWidth);
    assert.ok(Math.abs(heap - 200 / 383) < 0.01, `${heap}`);
    seconds = 1e8;
    await page.reload();
    await page.locator('#projection').filter({hasText: 'does not reach it within 60 days'}).waitFor();
    assert.equal(await page.$('#bar .later'), null);
    for (const [state, text] of [['too_early', 'Too early to say when memory reaches it.'], ['healthy', 'Memory does not grow towards it.']]) {
      [seconds, growth] = [null, state];
      await page.reload();
      await page.locator('#projection').filter({hasText: text}).waitFor();
    }
    await close(page);
  });

  it('has not read anything in its first seconds, and says so', async () => {
    const page = await open(samplePage(), {}, answering(answers => {
      if (answers.overview) {
        answers.overview.diagnosis = {state: 'too_early', since: new Date().toISOString(), sentence: 'Too early to tell: nothing has been read yet', actions: [], limit: {source: ''}, findings: []};
        answers.overview.snapshot.memory = {};
      }
      if (answers.history) {
        answers.history = {
          memory: {times: [], limitBytes: [], residentBytes: [], chargedBytes: [], resident: [], charged: []},
          malloc: {times: [], liveBytes: [], liveObjects: [], residentBytes: [], allocationsPerSecond: [], allocatedBytesPerSecond: []},
        };
      }
    }));
    await page.waitForFunction(() => document.querySelector('#recording').textContent !== '');
    for (const id of ['resident', 'charged', 'live']) {
      await page.click(`#tab-${id}`);
      assert.equal(await page.innerText(`#${id}`), 'Not read yet.');
    }
    await unfold(page);
    assert.match(await page.innerText('#limit'), /^Memory limit\s+Not read yet\.$/);
    assert.match(await page.innerText('#budget'), /Not read yet\.$/);
    assert.doesNotMatch(await page.innerText('main'), /no memory cgroup/);
    await close(page);
  });

  it('a run that was killed is told above the diagnosis, one that exited is not', async () => {
    let reason = 'exit';
    const sentence = 'The previous run was OOM-killed at 14:02 UTC at 99 % of 512 MiB; ReportArchive.pack had grown by 210 MiB in 40 min';
    let concludes = {};
    const page = await open(samplePage(), {}, answering(({overview, recording}) => {
      Object.assign(overview?.diagnosis ?? {}, concludes);
      Object.assign(recording ?? {}, {previousRun: {reason, sentence, report: 'the way there'}});
    }));
    await page.waitForFunction(() => document.querySelector('#recording').textContent !== '');
    assert.ok(await page.isHidden('#killed'));
    for (reason of ['killed', 'oom']) {
      await page.reload();
      await page.locator('#killed').filter({hasText: sentence}).waitFor();
    }
    await page.click('#killed summary');
    assert.ok(await page.getByText('the way there').isVisible());
    assert.ok(await page.isVisible('#killed-sentence'));
    concludes = {sentence: `${sentence}; as of 14:05 UTC`};
    await page.reload();
    await page.locator('#killed').waitFor();
    await page.locator('#killed-sentence').waitFor({state: 'hidden'});
    const [strip, answer] = await Promise.all(['#killed', '#answer'].map(id => page.locator(id).boundingBox()));
    assert.ok(strip.y + strip.height <= answer.y);
    await close(page);
  });

  it('suspects have the line of the application, what grows first, and can be acknowledged where that is allowed', async () => {
    const still = {...LEAK, verdict: 'unused', site: {name: 'com.shop.Still.sit', number: 8, library: 'libc.so.6', frames: ['libc.so.6!malloc+0x1']}, growth: {liveBytes: 110_000_000, bytesPerHour: 0}, grounds: {evidence: 'slots', lastAccess: {unavailable: 'only leaks are watched'}, lastWrite: {unavailable: 'only leaks are watched'}}};
    const fine = {...LEAK, site: {name: 'com.shop.Fine.keep', number: 9, library: 'libzip.so', frames: ['com.shop.Fine.keep(Fine.java:3)']}, acknowledged: true};
    let isAllowed = true;
    const page = await open(samplePage(), {}, answering(answers => {
      if (answers.leaks) {
        answers.leaks = [fine, still, LEAK];
      }
      if (answers.overview) {
        answers.overview.trimAllowed = isAllowed;
      }
    }));
    const lines = () => page.$$eval('.verdict h3', titles => titles.map(title => title.innerText));
    await page.waitForSelector('.verdict');
    assert.deepEqual(await lines(), ['com.shop.Cart.zip(Cart.java:12)', 'com.shop.Still.sit', 'com.shop.Fine.keep(Fine.java:3)']);
    // In one step: the answer about owners replaces the element.
    assert.ok(await page.evaluate(() => Number(getComputedStyle(document.querySelector('.verdict h3')).fontWeight)) >= 600);
    assert.ok(await page.locator('.verdict .frames').first().isHidden());
    assert.match(await page.locator('.verdict').nth(1).innerText(), /Last access and last write: not known, only leaks are watched/);
    const asked = [];
    await page.route(/\/nativememory\/leaks\//, route => {
      asked.push(`${route.request().method()} ${new URL(route.request().url()).pathname.split('/').at(-1)}`);
      return route.fulfill({json: [fine, {...LEAK, acknowledged: true}]});
    });
    await page.locator('.verdict').first().getByRole('button', {name: 'Acknowledge'}).click();
    await page.locator('#leaks-result').filter({hasText: 'com.shop.Cart.zip is acknowledged.'}).waitFor();
    assert.deepEqual(asked, ['POST com.shop.Cart.zip']);
    assert.deepEqual(await lines(), ['com.shop.Fine.keep(Fine.java:3)', 'com.shop.Cart.zip(Cart.java:12)']);
    assert.notEqual(await page.$('.owners button'), null);
    isAllowed = false;
    await page.route(/\/nativememory\/owners$/, changed(answer => ({...answer, allowed: false})));
    const learned = page.waitForResponse(/\/nativememory\/owners$/);
    await page.reload();
    await learned;
    await page.waitForSelector('.verdict');
    assert.equal(await page.$('.verdict button'), null);
    assert.equal(await page.innerText('#leaks-access'), 'Read-only. How to acknowledge a suspect');
    await page.setViewportSize({width: 390, height: 900});
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await close(page);
  });

  it('no part has a colour like that of act, in light and in dark', async () => {
    const page = await open(samplePage());
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({colorScheme});
      const distances = await page.evaluate(() => {
        const style = getComputedStyle(document.documentElement);
        const channels = name => style.getPropertyValue(name).trim().match(/[0-9a-f]{2}/g).map(hex => parseInt(hex, 16));
        const act = channels('--alarm');
        return Array.from({length: 15}, (_, i) => Math.hypot(...channels(`--part-${i}`).map((channel, j) => channel - act[j])));
      });
      assert.ok(Math.min(...distances) > 64, `${colorScheme}: ${distances.map(Math.round)}`);
    }
    await close(page);
  });

  it('a request that failed can be repeated at once', async () => {
    let isUp = false;
    const page = await open(samplePage());
    assert.ok(await page.isHidden('#retry'));
    await page.route(/\/nativememory\/views\//, route => isUp ? route.continue() : route.abort());
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.locator('#retry').waitFor();
    isUp = true;
    await page.click('#retry');
    await page.locator('#connection').filter({hasText: 'Updated'}).waitFor();
    assert.ok(await page.isHidden('#retry'));
    await close(page);
  });

  it('the flame graph opens at the method of the application and is tall enough for it', async () => {
    const page = await open(samplePage());
    await page.click('#draw');
    // Chromium lays out what a frame holds once it is in view.
    await page.locator('iframe').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => Boolean(document.querySelector('iframe')?.style.height));
    const graph = page.frames()[1];
    const TALLEST = 958;
    const until = condition => graph.waitForFunction(condition, TALLEST, {polling: 100});
    await until(() => Math.abs(innerHeight - document.body.offsetHeight) <= 1);
    const heights = await graph.evaluate(() => [document.querySelector('#view').scrollTop, document.querySelector('#view').clientHeight]);
    assert.ok(heights[0] === 0 && heights[1] >= 200, `${heights}`);
    await graph.click('#reset');
    await until(tallest => innerHeight >= tallest || document.querySelector('#view').clientHeight >= document.querySelector('#sheet').offsetHeight);
    const [holders, flames] = await Promise.all(['#holders', '#flames'].map(id => page.locator(id).boundingBox()));
    assert.ok(holders.y === flames.y && holders.x + holders.width <= flames.x);
    await close(page);
  });

  it('a stack that is open stays open when its leak is told anew', async () => {
    let idleSeconds = 1800;
    const page = await open(samplePage(), {}, async page => {
      await page.clock.install();
      await page.route(/\/nativememory\/views\//, changed(answers => ({...answers, ...(answers.leaks && {leaks: [{...LEAK, suspected: {...LEAK.suspected, idleSeconds}}]})})));
    });
    await page.locator('.verdict summary').filter({hasText: 'Allocated by'}).click();
    idleSeconds = 7200;
    await page.clock.runFor(70_000);
    await page.locator('.verdict').filter({hasText: '2 h 0 min'}).waitFor();
    assert.ok(await page.locator('.verdict .frames').filter({hasText: 'deflateInit2_'}).isVisible());
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Allocated by');
    await close(page);
  });

  it('no name of a thread, class, library or file becomes markup', async () => {
    const hostile = '<img src=x onerror="window.hacked=1"><b class="hacked">"\'</b><script>window.hacked=1</script>';
    const KEPT = new Set(['since', 'from', 'to', 'observedSince', 'reason', 'state', 'time', 'started', 'ended', 'verdict', 'mode']);
    const poison = (value, key) => typeof value === 'string' ? (KEPT.has(key) ? value : hostile + value)
      : Array.isArray(value) ? value.map(one => poison(one, key))
      : value !== null && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([name, one]) => [key === 'parts' ? hostile + name : name, poison(one, name)])) : value;
    const huge = {number: 1, time: '2026-01-01T00:00:00Z', bytes: 1 << 28, threadId: 7, threadName: 'pool'};
    let site;
    const life = {file: '/data/recording', pid: 7, ended: '2026-01-01T00:00:00Z', reason: 'oom', alarming: true, sentence: 'The previous run was OOM-killed', report: 'line'};
    const page = await open(samplePage(), {}, page => page.route(/\/nativememory\/views\//, changed(answers => {
      site = answers.trends?.sites[0].figures.key ?? site;
      if (answers.leaks) {
        answers.leaks = [LEAK];
      }
      if (answers.overview) {
        answers.overview.snapshot.hugeAllocations = [huge];
      }
      if (answers.recording) {
        answers.recording.previousRun = life;
      }
      const poisoned = poison(answers);
      if (poisoned.overview) {
        poisoned.overview.views = [...answers.overview.views, hostile];
      }
      return poisoned;
    })));
    await page.waitForSelector('.verdict');
    await page.waitForSelector('#sites .open');
    await page.click('#sites .open');
    await unfold(page);
    await page.focus('[data-chart="resident"]');
    await page.keyboard.press('ArrowLeft');
    const text = await page.evaluate(() => document.querySelector('main').innerText);
    for (const where of ['pool (7)', site, 'libzip.so', life.sentence, life.report, 'java_heap', LEAK.grounds.lastAccess.thread]) {
      assert.ok(text.includes(`</script>${where}`), where);
    }
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.$('.hacked, main img, main script'), null);
    assert.deepEqual(page.complaints, []);
    await close(page);
  });

  it('a leak is the first sentence, and its verdict is drawn with its evidence, its growth and its stack', async () => {
    const page = await open(samplePage());
    const named = page.locator('#sentence').filter({hasText: /ReportArchive\.pack.* leaks /}).waitFor({timeout: 2 * PATIENCE});
    await named.catch(() => {});
    assert.match(await page.innerText('#answer'), /^‼ Act since \d\d:\d\d \S+\s+(?:[^.]+\. )?ReportArchive\.pack \(ReportArchive\.java:\d+\).* leaks /);
    assert.match(await page.innerText('#actions'), /^Save the evidence/);
    const verdict = page.locator('#verdicts [data-verdict="leak"]').filter({hasText: SITE}).first();
    await verdict.locator('details').filter({hasText: 'Allocated by'}).locator('summary').click();
    const text = await verdict.innerText();
    assert.match(text, new RegExp(`^${SITE}\\(ReportArchive\\.java:\\d+\\)\\s+‼ leak`));
    assert.match(text, /Suspected\s+[\d.]+ MiB\s+[\d.]+ MiB to [\d.]+ MiB/);
    assert.match(text, /Not accessed for\s+\d/);
    assert.match(text, /Confidence\s+\d\d/);
    assert.match(text, /Last access(: \S| and last write: not known, \S)/);
    assert.match(text, /Allocated by[\s\S]*Deflater/);
    // Who holds it is asked for seldom.
    await page.reload();
    const row = page.locator('#sites tbody tr').filter({has: page.getByRole('button', {name: SITE, exact: true})});
    await row.locator('.growth').filter({hasText: /^\+/}).waitFor();
    await row.locator('.open').click();
    assert.match(await page.locator('#sites .frames').filter({visible: true}).first().innerText(), /Deflater/);
    await everyPanelIsDrawn(page, true);
    assert.deepEqual(page.complaints, []);
    await close(page);
  });

  it('has no serious barriers, in light and in dark, wide and narrow, nor has the report on leaks', async () => {
    const page = await open(samplePage());
    await page.locator('#sentence').filter({hasText: 'ReportArchive.pack'}).waitFor();
    await page.waitForSelector('.verdict');
    await page.click('#why summary');
    await page.click('#sites .open');
    await page.click('#draw');
    await page.frameLocator('#flame-frame iframe').locator('#status').filter({hasText: /total \d/}).waitFor();
    await unfold(page);
    await eachView(page, 'page', page.frames()[1]);
    await page.goto(new URL('leaks?format=html', samplePage()).href);
    await page.getByRole('heading', {name: SITE}).first().waitFor();
    await eachView(page, 'leaks');
    assert.deepEqual(page.complaints, []);
    await close(page);
  });

  it('survives a kill and another start of the application, and tells how the last life ended', async () => {
    const page = await open(samplePage());
    const before = sample.process.pid;
    await sample.kill('SIGKILL');
    await page.locator('#connection.trouble').filter({hasText: 'No answer'}).waitFor();
    assert.match(await page.textContent('#announcement'), /^No answer/);
    await sample.started();
    await page.click('#retry');
    await page.locator('#retry').waitFor({state: 'hidden'});
    await page.locator('#process').filter({hasText: `Process ${sample.process.pid},`}).waitFor();
    await page.locator('#killed').filter({hasText: /✖ Previous run\s+The previous run was killed or crashed at \d\d:\d\d UTC/}).waitFor();
    assert.match(await page.textContent('#announcement'), /receives figures again/);
    assert.match(await page.textContent('#killed pre'), new RegExp(`process +${before}\\b[\\s\\S]*malloc`));
    await close(page);
  });
});

const LEAK = {
  verdict: 'leak', since: '2026-01-01T00:00:00Z', sentence: 'com.shop.Cart.zip keeps objects that nobody uses', acknowledged: false,
  site: {name: 'com.shop.Cart.zip', number: 7, library: 'libzip.so', frames: ['libzip.so!deflateInit2_+0x1f', 'com.shop.Cart.zip(Cart.java:12)']},
  suspected: {bytes: {value: 100_000_000, low: 80_000_000, high: 120_000_000}, objects: {value: 400}, oldestSeconds: 7200, medianAgeSeconds: 3600, idleSeconds: 1800},
  growth: {liveBytes: 110_000_000, bytesPerHour: 60_000_000},
  grounds: {evidence: 'slots', confidence: 0.97, lastAccess: {time: '2026-01-01T00:00:00Z', thread: 'worker-1', frames: ['com.shop.Cart.close(Cart.java:20)']}},
};
