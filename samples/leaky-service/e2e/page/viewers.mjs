// What viewers cost the application: asks as so many open pages do, and tells how much more processor time the process took
// than without them. node viewers.mjs [VIEWERS] [SECONDS]
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {Agent, get} from 'node:http';
import {Application} from './servers.mjs';

const [viewers = 50, seconds = 60] = process.argv.slice(2).map(Number);
// As page.js has it, in seconds.
const SCHEDULE = {overview: 10, timeline: 30, leaks: 60, trends: 120, blackbox: 600};
const WARMING_REQUESTS = 24_000;
const ticks = Number(execFileSync('getconf', ['CLK_TCK'], {encoding: 'utf8'}));

const pause = time => new Promise(resolve => setTimeout(resolve, 1000 * time));

function processorSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /s, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

let requests = 0;
let bytes = 0;

function ask(agent, url) {
  return new Promise((resolve, reject) => get(url, {agent}, answer => {
    requests++;
    answer.on('data', data => bytes += data.length);
    answer.on('end', () => answer.statusCode === 200 ? resolve() : reject(new Error(`${url}: ${answer.statusCode}`)));
  }).on('error', reject));
}

// A browser keeps its connection, and asks for one thing after the other.
async function view(base, until) {
  const agent = new Agent({keepAlive: true, maxSockets: 1});
  const due = Object.fromEntries(Object.entries(SCHEDULE).map(([name, every]) => [name, Date.now() + 1000 * Math.random() * Math.min(every, 30)]));
  while (Date.now() < until) {
    for (const [name, every] of Object.entries(SCHEDULE)) {
      if (Date.now() >= due[name]) {
        await ask(agent, base + name);
        due[name] = Date.now() + 1000 * every * (0.9 + 0.2 * Math.random());
      }
    }
    await pause(0.5);
  }
  agent.destroy();
}

async function measured(pid, work) {
  const [before, began] = [processorSeconds(pid), Date.now()];
  await work();
  return (processorSeconds(pid) - before) / ((Date.now() - began) / 1000);
}

// As a service runs, and not as a test does.
process.env.PAGE_JVM ??= '-Xmx128m';
const application = await Application.sample('--leaky.load.reports-per-second=0');
try {
  const base = `http://127.0.0.1:${application.managementPort}/ops/actuator/nativememory/`;
  const {pid} = application.process;
  const crowd = time => Promise.all(Array.from({length: viewers}, () => view(base, Date.now() + 1000 * time)));
  // Until what answers is compiled, as it is after some hours: before, the compiler is what one measures.
  const agent = new Agent({keepAlive: true, maxSockets: 1});
  for (let i = 0; i < WARMING_REQUESTS; i++) {
    await ask(agent, base + ['overview', 'timeline', 'trends', 'leaks'][i % 4]);
  }
  agent.destroy();
  const rounds = [];
  for (let round = 0; round < 3; round++) {
    const without = await measured(pid, () => pause(seconds));
    [requests, bytes] = [0, 0];
    const watched = await measured(pid, () => crowd(seconds));
    rounds.push(watched - without);
    console.log(`without ${(100 * without).toFixed(2)} %, with ${viewers} viewers ${(100 * watched).toFixed(2)} % of one processor; ` +
      `${(requests / seconds).toFixed(1)} requests/s, ${(bytes / seconds / 1024).toFixed(0)} KiB/s`);
  }
  rounds.sort((a, b) => a - b);
  console.log(`${viewers} viewers: ${(100 * rounds[1]).toFixed(2)} % of one processor more (median of three)`);
} finally {
  await application.stop();
}
