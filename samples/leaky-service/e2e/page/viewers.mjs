// What viewers cost the application: asks as so many open pages do, and tells how much more processor time the process took
// than without them. node viewers.mjs [VIEWERS] [SECONDS]
import {execFileSync} from 'node:child_process';
import {readFileSync, readdirSync} from 'node:fs';
import {Agent, get} from 'node:http';
import {Application} from './servers.mjs';

const [viewers = 50, seconds = 60] = process.argv.slice(2).map(Number);
// As page.js has it, in seconds. For the overview it is what the last answer says.
const SCHEDULE = {overview: 10, history: 30, leaks: 60, trends: 120, recording: 600};
const WARMING_REQUESTS = 24_000;
// Who asks as fast as that is told to ask once a minute.
const WARMING_SPEED = 360;
// After that those who have just opened the page ask at the pace at which they all will.
const SETTLING_SECONDS = 60;
const ticks = Number(execFileSync('getconf', ['CLK_TCK'], {encoding: 'utf8'}));

const pause = time => new Promise(resolve => setTimeout(resolve, 1000 * time));

function processorSeconds(stat) {
  const fields = readFileSync(stat, 'utf8').replace(/.*\) /s, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

function spent(pid) {
  const compiling = readdirSync(`/proc/${pid}/task`)
    .filter(thread => /^C[12] Compiler/.test(readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8')))
    .reduce((sum, thread) => sum + processorSeconds(`/proc/${pid}/task/${thread}/stat`), 0);
  return {all: processorSeconds(`/proc/${pid}/stat`), compiling};
}

let requests = 0;
let bytes = 0;

function ask(agent, url) {
  return new Promise((resolve, reject) => get(url, {agent}, answer => {
    requests++;
    const parts = [];
    answer.on('data', data => {
      parts.push(data);
      bytes += data.length;
    });
    answer.on('end', () => answer.statusCode === 200 ? resolve(JSON.parse(Buffer.concat(parts))) : reject(new Error(`${url}: ${answer.statusCode}`)));
  }).on('error', reject));
}

// A browser keeps its connection, and asks as page.js does: for the overview when it is due, and with it for what is due by then
// or soon after. Time may run faster than it does.
async function view(base, until, speed) {
  const schedule = {...SCHEDULE};
  const agent = new Agent({keepAlive: true, maxSockets: 1});
  const milliseconds = every => 1000 * every / speed;
  const due = Object.fromEntries(Object.entries(schedule).map(([name, every]) => [name, Date.now() + milliseconds(Math.random() * every)]));
  while (due.overview < until) {
    await pause((due.overview - Date.now()) / 1000);
    const soon = Date.now() + milliseconds(schedule.overview / 2);
    const names = Object.keys(schedule).filter(name => due[name] <= soon);
    const {overview} = await ask(agent, `${base}views/${names}`);
    schedule.overview = overview.askAgainSeconds;
    names.forEach(name => due[name] = Date.now() + milliseconds(schedule[name] * (0.9 + 0.2 * Math.random())));
  }
  await pause((until - Date.now()) / 1000);
  agent.destroy();
}

// Shares of one processor.
async function measured(pid, work) {
  const [before, began] = [spent(pid), Date.now()];
  await work();
  const [after, seconds] = [spent(pid), (Date.now() - began) / 1000];
  return {all: (after.all - before.all) / seconds, compiling: (after.compiling - before.compiling) / seconds};
}

const percent = share => `${(100 * share).toFixed(2)} %`;
const middle = values => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

// As a service runs, and not as a test does.
process.env.PAGE_JVM ??= '-Xmx128m';
const application = await Application.sample('--leaky.load.reports-per-second=0');
try {
  const base = `http://127.0.0.1:${application.managementPort}/ops/actuator/nativememory/`;
  const {pid} = application.process;
  const crowd = (time, speed) => Promise.all(Array.from({length: viewers}, () => view(base, Date.now() + 1000 * time, speed)));
  // Until what answers is compiled, as it is after some hours: before, the compiler is what one measures. In company and with
  // pauses as later: what is compiled for one connection that is always busy is compiled anew for many that mostly are not.
  while (requests < WARMING_REQUESTS) {
    await crowd(10, WARMING_SPEED);
  }
  const rounds = [];
  for (let round = 0; round < 3; round++) {
    const without = await measured(pid, () => pause(seconds));
    const watching = crowd(SETTLING_SECONDS + seconds, 1);
    await pause(SETTLING_SECONDS);
    [requests, bytes] = [0, 0];
    const watched = await measured(pid, () => watching);
    rounds.push({all: watched.all - without.all, compiling: watched.compiling - without.compiling});
    console.log(`without ${percent(without.all)}, with ${viewers} viewers ${percent(watched.all)} of one processor, ` +
      `of which compilers ${percent(without.compiling)} and ${percent(watched.compiling)}; ` +
      `${(requests / seconds).toFixed(1)} requests/s, ${(bytes / seconds / 1024).toFixed(0)} KiB/s`);
  }
  console.log(`${viewers} viewers: ${percent(middle(rounds.map(round => round.all)))} of one processor more, ` +
    `without compilers ${percent(middle(rounds.map(round => round.all - round.compiling)))} (medians of three)`);
} finally {
  await application.stop();
}
