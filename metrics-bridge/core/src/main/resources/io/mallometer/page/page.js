'use strict';

// Asks the endpoint beside this page and shows what it answers. Nothing is concluded here: sentences, sums, rates and
// growth come from the answers; a share in percent is of two of their figures. Texts go into the page as text nodes only,
// so that no name can become markup.
{
  const element = id => document.getElementById(id);
  const SECOND = 1000;
  const EVIDENCE = 'evidence';

  // ---- Words

  const wholes = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});
  const digits = new Intl.NumberFormat('en-US', {maximumSignificantDigits: 3});
  const clockTime = new Intl.DateTimeFormat(undefined, {hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'});
  const minuteTime = new Intl.DateTimeFormat(undefined, {hour: '2-digit', minute: '2-digit', hourCycle: 'h23'});
  const dateTime = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23'});
  // Sentences of the answers have times in UTC, the page has those of its reader.
  const ZONE = new Intl.DateTimeFormat(undefined, {timeZoneName: 'short'}).formatToParts().find(({type}) => type === 'timeZoneName').value;
  const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const UNKNOWN = '–';

  const isKnown = value => value !== null && value !== undefined;

  /** As Words.interval does. */
  function interval(value, low, high) {
    return high > 4 * value ? 'too few samples' : `${bytes(low)} to ${bytes(high)}`;
  }

  function bytes(value) {
    if (!isKnown(value)) {
      return UNKNOWN;
    }
    let amount = Math.abs(value);
    let unit = 0;
    while (amount >= 999.5 && unit < BYTE_UNITS.length - 1) {
      amount /= 1024;
      unit++;
    }
    const sign = value < 0 ? '−' : '';
    return `${sign}${(unit === 0 ? wholes : digits).format(amount)} ${BYTE_UNITS[unit]}`;
  }

  const growth = value => isKnown(value) ? (value > 0 ? '+' : '') + bytes(value) : UNKNOWN;
  const rate = perHour => perHour / 60 >= 1024 ** 2 ? `${growth(perHour / 60)}/min` : `${growth(perHour)}/h`;
  const count = value => isKnown(value) ? wholes.format(value) : UNKNOWN;
  const SMALLEST_SHARE = 0.001;

  function share(part, whole) {
    if (!isKnown(part) || !(whole > 0)) {
      return '';
    }
    const ratio = part / whole;
    return ratio > 0 && ratio < SMALLEST_SHARE ? '< 0.1 %' : `${digits.format(100 * ratio)} %`;
  }

  // Rounds an interval outward; 0.29 times 100 is below 29.
  const SLACK = 1e-9;
  const shares = (low, high) => `${Math.floor(100 * low + SLACK)} to ${Math.ceil(100 * high - SLACK)} %`;

  const isToday = date => date.toDateString() === new Date().toDateString();

  // The time of day, with the date where that is another one.
  function moment(time, ofDay = clockTime) {
    const date = new Date(time);
    return isKnown(time) ? (isToday(date) ? ofDay : dateTime).format(date) : UNKNOWN;
  }

  function duration(seconds) {
    if (!isKnown(seconds)) {
      return UNKNOWN;
    }
    if (seconds < 1) {
      return `${digits.format(1000 * seconds)} ms`;
    }
    if (seconds < 120) {
      return `${seconds < 10 ? digits.format(seconds) : Math.round(seconds)} s`;
    }
    const minutes = Math.round(seconds / 60);
    if (minutes < 120) {
      return `${minutes} min`;
    }
    const hours = Math.floor(minutes / 60);
    return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
  }

  // What the parts are called; a part that is not here keeps its own name.
  const NAMES = {
    'java_heap': 'Java heap', 'metaspace': 'Metaspace', 'class_space': 'Class space', 'code_cache': 'Code cache',
    'thread_stacks': 'Thread stacks', 'gc_and_jvm': 'GC and JVM', 'direct_buffers': 'Direct buffers',
    'malloc_live': 'malloc, live', 'malloc_retained': 'malloc, retained', 'malloc': 'malloc',
    'mapped_files': 'Mapped files', 'file_copies': 'Copied file pages', 'shared_memory': 'Shared memory', 'mallometer': 'mallometer',
    'unexplained': 'Unexplained', 'this_process': 'This process', 'other_processes': 'Other processes',
    'page_cache': 'Page cache', 'kernel': 'Kernel', 'sockets': 'Sockets', 'tmpfs': 'tmpfs', 'other': 'Other',
    'native': 'Native', 'beside': 'Beside this process', 'smaller': 'Smaller parts', 'unsplit': 'Not split yet',
  };
  const nameOf = tag => Object.hasOwn(NAMES, tag) ? NAMES[tag] : tag;

  // One colour for each part, whichever parts there are.
  const COLOURS = {
    'java_heap': 0, 'metaspace': 1, 'class_space': 2, 'code_cache': 3, 'thread_stacks': 4, 'gc_and_jvm': 5,
    'direct_buffers': 6, 'malloc_live': 7, 'malloc_retained': 8, 'malloc': 7, 'mapped_files': 9, 'file_copies': 9, 'shared_memory': 10,
    'mallometer': 11, 'unexplained': 12, 'this_process': 0, 'other_processes': 4, 'page_cache': 9, 'kernel': 5,
    'sockets': 6, 'tmpfs': 10, 'other': 12, 'beside': 13, 'unsplit': 13, 'smaller': 14,
  };
  const STATES = {act: ['‼', 'Act'], watch: ['!', 'Watch'], too_early: ['?', 'Too early to tell'], healthy: ['✓', 'Healthy']};
  const stateWords = state => STATES[state] ?? ['?', state];

  // ---- Elements

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (isKnown(value)) {
        made.setAttribute(name, value);
      }
    }
    made.append(...children.map(child => child instanceof Node ? child : document.createTextNode(String(child))));
    return made;
  }

  function setText(target, text) {
    if (target.textContent !== text) {
      target.textContent = text;
    }
  }

  // For screen readers: what has changed. They are not to hear that nothing has, at each poll.
  const announce = text => setText(element('announcement'), text);

  // Replaces what is in an element if it is to be different, so that a selection or an open list survives a poll.
  const shown = new WeakMap();

  function fill(target, value, build) {
    const written = JSON.stringify(value);
    if (shown.get(target) !== written) {
      shown.set(target, written);
      target.replaceChildren(...build());
    }
  }

  // The same where figures change at each poll: lists that are open stay open, and the focus where it was.
  function fillKeepingOpen(target, value, build) {
    const keyed = () => [...target.querySelectorAll('[data-key]')];
    const open = new Set(keyed().filter(one => one.open).map(one => one.dataset.key));
    const focused = keyed().find(one => one.contains(document.activeElement))?.dataset.key;
    fill(target, value, build);
    for (const one of keyed()) {
      one.open = open.has(one.dataset.key);
      if (one.dataset.key === focused && !target.contains(document.activeElement)) {
        (one.querySelector('summary') ?? one).focus();
      }
    }
  }

  function figures(target, pairs) {
    fill(target, pairs, () => pairs.map(([term, value, more]) =>
      make('div', {}, make('dt', {}, term), make('dd', {}, value, ...(more ? [make('span', {class: 'more'}, more)] : [])))));
  }

  function table(target, headings, rows, words = []) {
    const caption = target.querySelector('caption');
    fill(target, [headings, rows], () => [
      caption,
      make('thead', {}, make('tr', {}, ...headings.map((heading, i) => make('th', {scope: 'col', class: i > 0 && !words.includes(i) ? 'number' : null}, heading)))),
      make('tbody', {}, ...rows.map(row => make('tr', {}, ...row.map((cell, i) =>
        i === 0 ? make('th', {scope: 'row'}, cell) : make('td', {class: words.includes(i) ? null : 'number'}, cell))))),
    ]);
  }

  // Says why a panel is empty, and hides what would be in it.
  function empty(panel, reason) {
    const section = element(panel);
    section.classList.toggle('is-empty', reason !== '');
    const note = section.querySelector('.empty');
    note.hidden = reason === '';
    setText(note, reason);
  }

  // ---- Charts

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const charts = new Map();

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  const partVariable = tag => `--part-${Object.hasOwn(COLOURS, tag) ? COLOURS[tag] : 12}`;
  const partColour = tag => colour(partVariable(tag));

  // Never less than five minutes, so that a young process does not look as if a lot happened.
  const SHORTEST_SPAN = 300;
  const timeScale = {time: true, range: (plot, low, high) => [Math.min(low, high - SHORTEST_SPAN), high]};

  // A line needs two points to be seen.
  const points = times => ({show: times.length < 3, size: 6});

  // Ticks at whole powers of two, which are round in KiB, MiB and GiB.
  const BYTE_STEPS = Array.from({length: 50}, (_, i) => 2 ** i);

  // Labels are of minutes.
  const TIME_STEPS = [60, 120, 300, 600, 900, 1800, 3600];

  function axes() {
    const common = {
      stroke: colour('--quiet'),
      font: '12px system-ui, sans-serif',
      grid: {stroke: colour('--line'), width: 1},
      ticks: {show: false},
    };
    return [
      {...common, size: 28, space: 60, incrs: TIME_STEPS, values: (plot, times) => times.map(time => minuteTime.format(time * 1000))},
      {...common, size: 74, space: 34, incrs: BYTE_STEPS, values: (plot, values) => values.map(bytes)},
    ];
  }

  // A chart in the element of a name. `describe` gives options, data, and what is read at an index.
  function chart(name, signature, describe) {
    const box = document.querySelector(`[data-chart="${name}"]`);
    let known = charts.get(name);
    if (known === undefined) {
      known = {name, box, plot: null, signature: '', at: null, describe};
      charts.set(name, known);
      listen(known);
    }
    known.describe = describe;
    const full = `${signature} ${dark.matches}`;
    if (known.plot !== null && known.signature === full) {
      known.plot.setData(describe(known).data);
    } else {
      known.signature = full;
      rebuild(known);
    }
    read(known);
  }

  function rebuild(known) {
    known.plot?.destroy();
    const {options, data} = known.describe(known);
    known.plot = new uPlot({
      width: Math.max(known.box.clientWidth, 80),
      height: known.box.clientHeight,
      legend: {show: false},
      cursor: {drag: {x: false, y: false}, y: false, points: {show: false}},
      hooks: {setCursor: [plot => read(known, plot.cursor.idx)]},
      ...options,
    }, data, known.box);
  }

  function listen(known) {
    const {box} = known;
    box.tabIndex = 0;
    box.setAttribute('role', 'slider');
    box.setAttribute('aria-orientation', 'horizontal');
    box.setAttribute('aria-label', `Moment of: ${element(`tab-${known.name}`).textContent}`);
    new ResizeObserver(() => {
      if (known.plot !== null && box.clientWidth > 0 && known.plot.width !== box.clientWidth) {
        known.plot.setSize({width: box.clientWidth, height: box.clientHeight});
      }
    }).observe(box);
    const steps = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity};
    box.addEventListener('keydown', event => {
      if (event.key in steps && known.plot !== null) {
        event.preventDefault();
        const last = known.plot.data[0].length - 1;
        const index = Math.max(0, Math.min(last, (known.at ?? last) + steps[event.key]));
        known.plot.setCursor({left: known.plot.valToPos(known.plot.data[0][index], 'x'), top: 10});
        read(known, index);
      }
    });
    box.addEventListener('blur', () => {
      known.plot?.setCursor({left: -10, top: -10});
      read(known, null);
    });
  }

  // Shows the figures at an index; the latest where nothing is pointed at.
  function read(known, index = known.at) {
    known.at = index;
    if (known.plot === null) {
      return;
    }
    const last = known.plot.data[0].length - 1;
    const at = isKnown(index) ? Math.min(index, last) : last;
    const text = known.describe(known).read(at, isKnown(index));
    known.box.setAttribute('aria-valuemin', '0');
    known.box.setAttribute('aria-valuemax', String(Math.max(last, 0)));
    known.box.setAttribute('aria-valuenow', String(Math.max(at, 0)));
    known.box.setAttribute('aria-valuetext', text);
  }

  // Parts upon each other, the first at the bottom. Each is drawn down to zero, the topmost first.
  function stackedChart(name, times, columns, totals, limits) {
    const seconds = times.map(time => time / 1000);
    const sums = [];
    let below = times.map(() => 0);
    for (const column of columns) {
      below = below.map((sum, i) => sum + (column.bytes[i] ?? 0));
      sums.push(below);
    }
    const isEmpty = i => columns.every(column => !isKnown(column.bytes[i]));
    const drawn = sums.map(sum => sum.map((value, i) => isEmpty(i) ? null : value)).reverse();
    const most = Math.max(1, ...below);
    const limit = Math.max(0, ...limits.map(value => value ?? 0));
    // A limit that is far away would press everything else flat.
    const showsLimit = limit > 0 && most >= 0.2 * limit;
    chart(name, columns.map(column => column.name).join() + showsLimit + points(times).show, () => ({
      options: {
        scales: {x: timeScale, y: {range: (plot, low, high) => [0, (high ?? most) * 1.05]}},
        axes: axes(),
        series: [
          {},
          ...columns.map(column => ({fill: partColour(column.name), stroke: colour('--panel'), width: 1, points: points(times)})).reverse(),
          ...(showsLimit ? [{stroke: colour('--alarm'), width: 2, dash: [8, 5], points: {show: false}}] : []),
        ],
      },
      data: [seconds, ...drawn, ...(showsLimit ? [limits] : [])],
      read: (at, pointed) => legend(name, times[at], columns, at, totals[at], {bytes: limits[at], isDrawn: showsLimit}, pointed),
    }));
  }

  function legend(name, time, columns, at, total, limit, pointed) {
    const box = document.querySelector(`[data-legend="${name}"]`);
    const rows = columns.map(column => [column.name, column.bytes[at]]).reverse();
    const when = pointed ? `At ${clockTime.format(time)}` : 'Now';
    fill(box, [when, rows, total, limit, dark.matches], () => [make('table', {},
      make('caption', {}, `${when}: ${bytes(total)}`, ...(isKnown(limit.bytes)
        ? ['; ', ...(limit.isDrawn ? [make('span', {class: 'swatch limit', 'aria-hidden': 'true'})] : []), `limit of ${bytes(limit.bytes)}`] : [])),
      make('thead', {class: 'hidden'}, make('tr', {}, make('th', {scope: 'col'}, 'Part'), make('th', {scope: 'col'}, 'Bytes'), make('th', {scope: 'col'}, 'Share'))),
      make('tbody', {}, ...rows.map(([part, value]) => {
        return make('tr', {}, make('th', {scope: 'row'}, swatch(part), nameOf(part)),
          make('td', {class: 'number'}, bytes(value)), make('td', {class: 'number quiet'}, share(value, total)));
      })))]);
    return `${when}: ${bytes(total)}, ${rows.map(([part, value]) => `${nameOf(part)} ${bytes(value)}`).join(', ')}`;
  }

  function lineChart(name, times, values, more) {
    const seconds = times.map(time => time / 1000);
    chart(name, String(points(times).show), () => ({
      options: {
        scales: {x: timeScale, y: {range: (plot, low, high) => [0, Math.max(high ?? 1, 1) * 1.1]}},
        axes: axes(),
        series: [{}, {stroke: colour('--accent'), fill: colour('--accent-soft'), width: 2, points: points(times)}],
      },
      data: [seconds, values],
      read: (at, pointed) => {
        const text = `${pointed ? clockTime.format(times[at]) : 'Now'}: ${bytes(values[at])}${more(at)}`;
        setText(document.querySelector(`[data-reading="${name}"]`), text);
        return text;
      },
    }));
  }

  // ---- What does not come

  // Somebody has to sign in (again): the server asks for it, by a redirect, by a status or by another page in the place
  // of an answer.
  class SessionEnded extends Error {}

  // To requests of scripts that say so Spring Security answers a plain 401: for another one the browser would ask for a
  // password in a window of its own, at each poll.
  async function request(address, {headers, ...options}) {
    const response = await fetch(address, {
      cache: 'no-store', credentials: 'same-origin', redirect: 'manual', signal: AbortSignal.timeout(20_000),
      headers: {'X-Requested-With': 'XMLHttpRequest', ...headers}, ...options,
    });
    if (response.type === 'opaqueredirect' || response.status === 401) {
      throw new SessionEnded();
    }
    return response;
  }

  const isJson = response => /\bjson\b/.test(response.headers.get('Content-Type') ?? '');

  // Why something was not answered, in the server's words if there are any.
  async function reason(response) {
    const told = isJson(response) ? await response.json() : {};
    return told.reason ?? told.error ?? `status ${response.status}`;
  }

  // Says why something did not come. Who has to sign in is told so, and where.
  function sayFailed(target, error, otherwise) {
    if (!(error instanceof SessionEnded)) {
      setText(target, otherwise);
    } else if (target.querySelector('a') === null) {
      target.replaceChildren('Your session has ended. ', make('a', {href: ''}, 'Reload this page'), ' to sign in again.');
    }
  }

  // ---- Runbooks

  // The text of a runbook that the page contains; null where it has none of this name.
  const runbook = name => element(`runbook-${name}`)?.textContent ?? null;

  const headingOf = text => /^# (.*)$/m.exec(text)[1];

  // A link that shows a runbook on this page; the text alone if the page has no such runbook.
  function runbookLink(name, text) {
    if (runbook(name) === null) {
      return text;
    }
    const link = make('a', {href: '#runbook', 'data-key': `runbook ${name}`}, text || headingOf(runbook(name)));
    link.addEventListener('click', event => {
      event.preventDefault();
      element('runbook-text').replaceChildren(...markdown(runbook(name)));
      const dialog = element('runbook');
      if (!dialog.open) {
        dialog.showModal();
      }
      dialog.scrollTop = 0;
    });
    return link;
  }

  // Code, emphasis, and links, of which those to other runbooks lead somewhere.
  function inline(text) {
    return text.split(/(`[^`]+`|\*\*?[^*]+\*\*?|\[[^\]]+\]\([^)]+\))/).map((part, i) => {
      if (i % 2 === 0) {
        return part;
      }
      const [, label, target] = /^\[(.+)\]\((.+)\)$/s.exec(part) ?? [];
      return label ? runbookLink(target.replace(/\.md$/, ''), label)
        : part.startsWith('`') ? make('code', {}, part.slice(1, -1)) : make('em', {}, part.replaceAll('*', ''));
    });
  }

  // The kinds of blocks that the runbooks have. A block is the lines between two empty ones.
  function markdown(text) {
    return text.trim().split(/\n\s*\n/).flatMap(block => {
      const lines = block.split('\n');
      const level = /^#+/.exec(block)?.[0].length;
      if (level) {
        return [make(level === 1 ? 'h2' : 'h3', {}, ...inline(block.slice(level + 1)))];
      }
      if (block.startsWith('    ')) {
        return [make('pre', {tabindex: '0'}, lines.map(line => line.slice(4)).join('\n'))];
      }
      if (block.startsWith('|')) {
        const [head, , ...rows] = lines.map(line => line.slice(1, -1).split(/(?<!\\)\|/).map(cell => inline(cell.trim())));
        return [make('div', {class: 'scroll', role: 'group', tabindex: '0', 'aria-label': 'Table'}, make('table', {},
          make('thead', {}, make('tr', {}, ...head.map(cell => make('th', {scope: 'col'}, ...cell)))),
          make('tbody', {}, ...rows.map(row => make('tr', {}, ...row.map(cell => make('td', {}, ...cell)))))))];
      }
      const item = /^(?:- |\d+\. )/m;
      if (item.test(block) && item.exec(block).index === 0) {
        return [make(block.startsWith('-') ? 'ul' : 'ol', {}, ...block.split(/^(?:- |\d+\. )/m).slice(1).map(one => make('li', {}, ...inline(one.replaceAll('\n', ' ')))))];
      }
      return [make('p', {}, ...inline(lines.join(' ')))];
    });
  }

  element('runbook-close').addEventListener('click', () => element('runbook').close());

  // ---- The diagnosis

  // An action as what can be pressed: the evidence is saved by a button, a runbook is a link.
  function actionParts(action, hasEvidence) {
    const [, verb, rest] = /^(Save the evidence)(.*)$/.exec(action) ?? [];
    if (verb && hasEvidence) {
      return [evidenceButton(verb), rest];
    }
    const [, before, name] = /^(.*)docs\/runbooks\/([\w-]+)\.md$/.exec(action) ?? [];
    return name && runbook(name) !== null ? [before, runbookLink(name)] : [action];
  }

  // The state stands above the sentence.
  function withoutState(sentence, word) {
    const told = `${word}: `;
    return sentence.startsWith(told) ? sentence.charAt(told.length).toUpperCase() + sentence.slice(told.length + 1) : sentence;
  }

  function showAnswer({diagnosis, snapshot, views, exports}) {
    const {state, since, actions} = diagnosis;
    const findings = diagnosis.findings.filter(({topic}) => topic !== 'account');
    const section = element('answer');
    const [sign, word] = stateWords(state);
    const sentence = `${withoutState(diagnosis.sentence, word)}.`;
    if (section.dataset.state !== state) {
      announce(`${word}. ${sentence}`);
    }
    section.dataset.state = state;
    fill(element('state'), [state, since], () => [make('span', {class: 'sign', 'aria-hidden': 'true'}, sign), ' ', make('strong', {}, word),
      isKnown(since) ? ` since ${moment(since, minuteTime)} ${ZONE}` : '']);
    setText(element('sentence'), sentence);
    const hasEvidence = [...views, ...exports.map(({name}) => name)].includes(EVIDENCE);
    fillKeepingOpen(element('actions'), [actions, hasEvidence], () => actions.map(action =>
      make('li', {}, ...actionParts(action, hasEvidence))));
    fill(element('findings'), findings, () => findings.map(finding => {
      const [sign, word] = stateWords(finding.state);
      return make('li', {'data-state': finding.state},
        make('span', {class: 'sign', 'aria-hidden': 'true'}, sign),
        make('span', {class: 'hidden'}, `${word}: `), `${finding.text}.`);
    }));
    element('why').hidden = findings.length === 0;
    showAccount(diagnosis);
    const {remedy} = snapshot.status;
    element('remedy').hidden = remedy === '';
    fill(element('remedy'), remedy, () => ['What to do: ', make('code', {}, remedy)]);
    showBeginning(snapshot);
  }

  const LEAST_GROWTH = 64 * 1024;
  const LEAST_SHARE = 0.01;

  // The rows that changed, and the total below them; beside the window of the sentence the last hour, if that began earlier.
  function showAccount({account, hour}) {
    element('account').hidden = !account;
    if (!account) {
      return;
    }
    const largest = Math.max(...account.rows.map(({growthBytes}) => Math.abs(growthBytes)));
    const rows = account.rows.filter(row => Math.abs(row.growthBytes) >= Math.max(LEAST_GROWTH, LEAST_SHARE * largest));
    const inHour = row => (row.kind === 'total' ? hour.total : hour.rows.find(({kind, name, place}) => kind === row.kind && name === row.name && (kind !== 'mapped' || place === row.place)))?.growthBytes;
    const named = ({kind, name, place}) => kind === 'total' ? 'Total' : kind === 'mapped' ? `mapped by ${name}${place ? ` (${place})` : ''}` : kind === 'site' ? `${name}${place ? ` (${place})` : ''}` : `${name}${place ? `, by ${place}` : ''}`;
    const garbage = ({garbagePerSecond: waits}) => waits > 0 ? `, of which an old garbage collection frees ${bytes(60 * waits)}/min` : '';
    const hasHour = moment(hour.from, minuteTime) !== moment(account.from, minuteTime);
    const since = [account, ...(hasHour ? [hour] : [])].map(({from}) => `Since ${moment(from, minuteTime)}`);
    setText(element('account').querySelector('caption'), `Growth of ${account.basis} memory until ${moment(account.to, minuteTime)}, without pages of files that the kernel can drop`);
    table(element('account'), ['Part', 'Now', ...since], [...rows, account.total].map(row =>
      [named(row) + garbage(row), bytes(row.bytes), growth(row.growthBytes), ...(hasHour ? [growth(inHour(row))] : [])]));
  }

  // After an attach: since when, what there was before, and what is missed.
  function showBeginning({process, sites, self: own}) {
    const before = process?.allocatedBefore;
    const stillLive = before && sites?.allocatedBeforeBytes;
    element('beginning').hidden = !before;
    if (before) {
      const left = isKnown(stillLive) ? `; about ${bytes(stillLive)} of that are still live` : '';
      const gaps = own.attachment?.gaps ? ` Not complete: ${own.attachment.gaps}.` : '';
      setText(element('beginning'), `Counted since ${moment(own.since, minuteTime)} (${own.mode}); ${before.sentence}${left}.${gaps}`);
    }
    setText(element('holders-before'), isKnown(stillLive) ? `About ${bytes(stillLive)} were allocated before the attach and are in no row.` : '');
  }

  // ---- The limit

  const LIMITS = {cgroup: 'of the memory limit of', machine: 'of the machine\'s', stated: 'of the stated limit of'};
  const SMALL = 0.02;
  const HOUR = 3600;
  const FORETOLD = 60 * 24 * HOUR;

  function showLimit({diagnosis: {limit, findings}, snapshot}) {
    const breakdown = snapshot.memory?.resident ?? {};
    const whole = limit.bytes ?? breakdown.totalBytes;
    const used = limit.usedBytes ?? breakdown.totalBytes;
    const isApproached = limit.seconds > 0 && limit.seconds < FORETOLD;
    setText(element('limit-title'), !isKnown(used) ? 'Memory limit' : isKnown(limit.bytes)
      ? `${bytes(used)} (${share(used, whole)}) ${LIMITS[limit.source] ?? 'of'} ${bytes(limit.bytes)}` : `${bytes(used)} without a limit`);
    const later = isApproached ? projected(limit) : [];
    setText(element('projection'), findings.length === 0 ? 'Not read yet.' : !isKnown(limit.bytes) ? 'No memory limit is known.'
      : isApproached ? projection(limit) : used >= whole ? 'The limit is reached.' : limit.seconds >= FORETOLD ? 'At this pace memory does not reach it within 60 days.'
      : findings.some(({topic, state}) => topic === 'growth' && state === 'too_early') ? 'Too early to say when memory reaches it.' : 'Memory does not grow towards it.');
    const parts = isKnown(used) ? filling(breakdown, used) : [];
    fill(element('bar'), [parts, later, used, whole], () => [
      ...later.map(([, amount], i) => sized(amount / whole, {class: `later later-${i}`})).reverse(),
      sized(Math.min(1, used / whole), {class: 'used'}, ...parts.map(([part, amount]) => swatch(part, {}, amount))),
    ]);
    element('bar').hidden = parts.length === 0;
    fill(element('parts'), [parts, later], () => [
      ...parts.map(([part, amount]) => make('li', {}, swatch(part), `${nameOf(part)} ${bytes(amount)}`)),
      ...later.map(([text, amount], i) => make('li', {}, make('span', {class: `swatch later later-${i}`, 'aria-hidden': 'true'}), `${bytes(amount)} ${text}`)),
    ]);
    setText(element('huge-pages'), breakdown.hugePages?.bytes > 0 ? breakdown.hugePages.sentence : '');
    setText(element('thread-pools'), breakdown.threadStacks?.sentence ?? '');
    setText(element('page-cache'), breakdown.pageCache?.cachedSentence ?? '');
  }

  const AHEAD = [10, 30];
  const ahead = seconds => minuteTime.format(Date.now() + seconds * SECOND);

  // How much is used in 10 and in 30 minutes, or when all of it is.
  function projected({bytes: whole, usedBytes: used, seconds}) {
    const before = AHEAD.filter(minutes => minutes * 60 < seconds);
    return [...before.map(minutes => [`in ${minutes} min`, used + (whole - used) * minutes * 60 / seconds]),
      ...(before.length < AHEAD.length ? [[`at ${ahead(seconds)}`, whole]] : [])];
  }

  function projection({seconds, lowerSeconds, upperSeconds}) {
    const isSoon = seconds < 2 * HOUR;
    const at = left => !isKnown(left) ? 'never' : isSoon && left < 24 * HOUR ? ahead(left) : duration(left);
    const [first, last] = [at(lowerSeconds), at(upperSeconds)];
    const between = first === last ? '' : ` (${first} to ${last})`;
    return `If growth continues at this pace, memory reaches the limit in ${duration(seconds)}${isSoon ? `, at ${at(seconds)} ${ZONE}` : ''}${between}.`;
  }

  // The parts of the resident set, small ones together, and what else counts. Of files only copies that the process wrote count.
  function filling({parts: all = {}, copiedFileBytes, totalBytes}, used) {
    const parts = Object.entries(all).map(([part, amount]) => part === 'mapped_files' ? {part: 'file_copies', bytes: copiedFileBytes ?? 0} : {part, bytes: amount});
    const sum = list => list.reduce((total, part) => total + part.bytes, 0);
    const counted = sum(parts);
    const isLarge = part => part.bytes >= SMALL * counted;
    const rest = [['smaller', sum(parts.filter(part => !isLarge(part)))], [isKnown(totalBytes) ? 'beside' : 'unsplit', used - counted]];
    return [...parts.filter(isLarge).map(one => [one.part, one.bytes]), ...rest.filter(([, amount]) => amount >= SMALL * (isKnown(totalBytes) ? counted : used))];
  }

  function sized(ratio, attributes, ...children) {
    const made = make('div', attributes, ...children);
    made.style.width = `${100 * ratio}%`;
    return made;
  }

  function swatch(part, attributes = {class: 'swatch', 'aria-hidden': 'true'}, amount = 0) {
    const made = make('span', attributes);
    made.style.background = `var(${partVariable(part)})`;
    made.style.flexGrow = amount;
    return made;
  }

  function showProcess({pid, started, snapshot: {ageSeconds}}) {
    setText(element('process'), `Process ${pid}${isKnown(started) ? `, started ${moment(started)}` : ''}`);
    if (ageSeconds > 60) {
      say(`The figures are ${duration(ageSeconds)} old: mallometer has not read the counters since.`, true);
    }
  }

  // ---- Over time

  function showHistory({memory, malloc}) {
    const split = (panel, columns, totals, reason) => {
      const isThere = columns.length > 0;
      empty(panel, isThere ? '' : reason);
      if (isThere) {
        stackedChart(panel, memory.times, columns, totals, memory.limitBytes);
      }
    };
    const before = reason => memory.times.length === 0 ? 'Not read yet.' : reason;
    split('resident', memory.resident, memory.residentBytes, before('The resident set has not been split yet.'));
    split('charged', memory.charged, memory.chargedBytes, before('This process is in no memory cgroup that can be read.'));
    const isLiveKnown = malloc.liveBytes.some(isKnown);
    const isCounted = malloc.allocatedBytesPerSecond.some(isKnown);
    empty('live', isLiveKnown ? '' : isCounted ? 'Not known: the memory that was live before the attach is unknown.' : malloc.times.length > 1 ? 'malloc is not counted.' : 'Not read yet.');
    if (isLiveKnown) {
      lineChart('live', malloc.times, malloc.liveBytes, at => isKnown(malloc.liveObjects[at]) ? `, ${count(malloc.liveObjects[at])} objects` : '');
    }
  }

  // ---- Who holds it

  const HOLDER_COLUMNS = [
    ['live', 'Live', group => group.figures.liveBytes.value],
    ['resident', 'Resident', group => group.figures.residentBytes?.value ?? -Infinity],
    ['growth', 'Growth', group => group.growthBytes ?? -Infinity],
  ];
  const holders = {sites: {sort: 'live', open: new Set(), trends: null}, libraries: {sort: 'live', open: new Set(), trends: null}};

  function showTrends(trends) {
    // They are read and asked for more seldom than the rest.
    setText(element('holders-time'), trends.times.length > 0 ? `As of ${moment(trends.times[trends.times.length - 1])}.` : '');
    empty('holders', trends.sites.length > 0 ? '' : `Nothing to show: ${trends.reason || 'no call site was read yet'}.`);
    for (const kind of ['sites', 'libraries']) {
      holders[kind].trends = trends;
      showHolders(kind);
    }
  }

  function showHolders(kind) {
    const state = holders[kind];
    const target = element(kind);
    const figure = HOLDER_COLUMNS.find(([id]) => id === state.sort)[2];
    const groups = [...state.trends[kind]].sort((a, b) => figure(b) - figure(a));
    fill(target, [groups, state.sort, [...state.open]], () => {
      const focused = target.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
      queueMicrotask(() => [...target.querySelectorAll('button')].find(one => one.dataset.focus === focused)?.focus());
      return [target.querySelector('caption'), holderHead(kind, state), make('tbody', {}, ...groups.flatMap((group, i) => holderRows(kind, state, group, i)))];
    });
  }

  function holderHead(kind, state) {
    return make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, kind === 'sites' ? 'Code' : 'Library'),
      ...HOLDER_COLUMNS.map(([id, heading]) => {
        const button = make('button', {type: 'button', class: 'sort', 'data-focus': `sort ${id}`}, heading);
        button.addEventListener('click', () => {
          state.sort = id;
          showHolders(kind);
        });
        return make('th', {scope: 'col', class: `number ${id}`, 'aria-sort': state.sort === id ? 'descending' : null}, button);
      }),
      make('th', {scope: 'col', class: 'spark'}, 'Last hour')));
  }

  function holderRows(kind, state, group, i) {
    const {key: name, liveBytes, residentBytes} = group.figures;
    const isOpen = state.open.has(name);
    const button = make('button', {type: 'button', class: 'open', 'aria-expanded': String(isOpen), 'aria-controls': `${kind}-${i}`, 'data-focus': `open ${name}`}, ...breakable(name));
    button.addEventListener('click', () => {
      if (!state.open.delete(name)) {
        state.open.add(name);
      }
      showHolders(kind);
    });
    const {value, low, high} = liveBytes;
    const row = make('tr', {},
      make('th', {scope: 'row'}, button),
      make('td', {class: 'number live'}, bytes(value), make('span', {class: 'more'}, interval(value, low, high))),
      make('td', {class: 'number resident'}, bytes(residentBytes?.value)),
      make('td', {class: 'number growth'}, growth(group.growthBytes)),
      make('td', {class: 'spark'}, sparkline(state.trends.times, group.history)));
    const details = make('tr', {id: `${kind}-${i}`}, make('td', {colspan: '5'}, ...group.largest.map(stack => make('div', {class: 'stack'},
      make('p', {}, `${bytes(stack.liveBytes.value)} live, ${bytes(stack.residentBytes?.value)} resident${stack.library === '' ? '' : ` from ${stack.library}`}, half of it older than ${duration(stack.ages?.median)}, the oldest ${duration(stack.ages?.oldest)}`),
      frames(stack.frames)))));
    details.hidden = !isOpen;
    return [row, details];
  }

  // A long name may break behind its dots.
  function breakable(name) {
    return name.split(/(?<=[.!$:])/).flatMap((part, i) => i === 0 ? [part] : [make('wbr'), part]);
  }

  function frames(list) {
    return make('ol', {class: 'frames', tabindex: '0', 'aria-label': 'Stack, innermost first'}, ...list.map(frame => make('li', {}, ...breakable(frame))));
  }

  const SVG = 'http://www.w3.org/2000/svg';

  function sparkline(times, values) {
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', '0 0 120 24');
    svg.setAttribute('aria-hidden', 'true');
    const known = values.filter(isKnown);
    const start = times[0];
    const span = Math.max(1, times[times.length - 1] - start);
    const most = Math.max(1, ...known);
    const points = values.flatMap((value, i) => isKnown(value)
      ? [`${(2 + 116 * (times[i] - start) / span).toFixed(1)} ${(22 - 20 * value / most).toFixed(1)}`] : []);
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', points.length > 1 ? `M${points.join('L')}` : '');
    svg.append(path);
    return svg;
  }

  // ---- Suspects

  // Whoever lays another page over this one could get a click out of its reader.
  let trimRefused = window.top === window ? '' : 'Actions are off while another page shows this one in a frame.';
  let changeAllowed = false;
  // Whether the Java heap may be searched; null until it is asked, at the first suspect.
  let ownersAllowed = null;

  // What an empty list means: as the diagnosis's finding says, or why there is no finding.
  let suspects = 0;
  let nothingSuspected = '';
  const VERDICTS = {leak: '‼', unused: '!', growing: '↗', waits_for_gc: '⟳', pool: '='};

  // What grows comes first, what a person acknowledged last; beyond that the order is the answer's.
  let latestLeaks = [];

  function showLeaks(leaks) {
    latestLeaks = leaks;
    const rank = leak => leak.acknowledged ? 2 : leak.growth.bytesPerHour > 0 ? 0 : 1;
    const ordered = [...leaks].sort((a, b) => rank(a) - rank(b));
    suspects = leaks.length;
    if (suspects > 0 && ownersAllowed === null) {
      learnOwnersAllowed();
    }
    sayNothingSuspected();
    fillKeepingOpen(element('verdicts'), [ordered, changeAllowed, ownersAllowed, ordered.map(leak => owned.get(leak.site.number))], () => ordered.map(leak => make('article', {class: 'verdict', 'data-verdict': leak.verdict},
      make('h3', {}, ...breakable(applicationLine(leak))),
      make('p', {}, make('span', {class: 'badge'}, make('span', {'aria-hidden': 'true'}, `${VERDICTS[leak.verdict] ?? '?'} `), leak.verdict),
        leak.acknowledged ? ' acknowledged: ' : ' ', leak.sentence ?? ''),
      leakFigures(leak),
      ...lastUses(leak),
      make('details', {'data-key': `${leak.site.number} stacks`}, make('summary', {}, 'Allocated by'), frames(leak.site.frames ?? []),
        ...(leak.site.others ?? []).flatMap(other => [make('p', {class: 'note'}, `Another stack, ${bytes(other.liveBytes)} live`), frames(other.frames)])),
      ...ownerParts(leak.site),
      changeAllowed ? acknowledgeButton(leak) : '')));
  }

  // ---- Who holds a suspect

  // By a call site's number, what is known or being done: {state, outlook, report, text}.
  const owned = new Map();
  const MOST_LINKS = 8;

  function becomes(number, state) {
    owned.set(number, state);
    showLeaks(latestLeaks);
  }

  function ownerParts({number}) {
    const known = owned.get(number);
    if ((trimRefused !== '' || !ownersAllowed) && !known) {
      return [];
    }
    const act = (text, key, action) => {
      const button = make('button', {type: 'button', 'data-key': `${number} ${key}`}, text);
      button.addEventListener('click', action);
      return button;
    };
    const ask = act('Which Java objects hold it?', 'owners', () => askOutlook(number));
    switch (known?.state) {
      case 'asked': {
        const seconds = known.outlook.pauseSeconds;
        return [make('div', {class: 'owners', role: 'status'},
          make('p', {}, `A walk over the Java heap finds the objects that hold it. It stops the program for about ${seconds < 1 ? `${Math.round(1000 * seconds)} ms` : duration(seconds)}. To find what keeps these objects takes up to ${MOST_LINKS} more such pauses.`),
          act('Find the holders', 'owners find', () => searchOwners(number, 0)),
          act('Find what keeps them, too', 'owners follow', () => searchOwners(number, MOST_LINKS)),
          act('Leave it', 'owners leave', () => becomes(number, undefined)))];
      }
      case 'running':
        return [make('p', {class: 'owners', role: 'status'}, 'Searching the Java heap')];
      case 'failed':
        return [make('div', {class: 'owners', role: 'status'}, make('p', {}, known.text), ask)];
      case 'done':
        return [make('div', {class: 'owners', role: 'status'}, make('h4', {}, 'Held by'), ...ownerReport(known.report), ask)];
      default:
        return [make('div', {class: 'owners'}, ask)];
    }
  }

  function ownerReport({explanation, ways, samples, remarks, pauses, time}) {
    const path = ({words, text, holders}) => make('li', {}, `${words}${text ? ': ' : ''}`, ...breakable(text ?? ''), ` (${count(holders)} of the holders looked at)`);
    const paused = pauses.reduce((sum, seconds) => sum + seconds, 0);
    return [
      make('p', {}, ...breakable(explanation)),
      make('ul', {class: 'ways'}, ...ways.map(way => make('li', {},
        ...breakable(`${count(way.samples)} of ${count(samples)} (${shares(way.shareLow, way.shareHigh)}) ${way.words}${way.holder ? `: ${way.holder}` : ''}${way.throughNative ? ', through native memory' : ''}`),
        way.paths.length > 0 ? make('ul', {}, ...way.paths.map(path)) : ''))),
      ...remarks.map(remark => make('p', {class: 'note'}, `${remark}.`)),
      make('p', {class: 'note'}, `Searched at ${moment(time)}; the program stood still ${count(pauses.length)} times, for ${Math.round(1000 * paused)} ms in all.`),
    ];
  }

  async function learnOwnersAllowed() {
    ownersAllowed = false;
    try {
      ({allowed: ownersAllowed} = await ask('owners'));
      showLeaks(latestLeaks);
    } catch {
      ownersAllowed = null;
    }
  }

  async function askOutlook(number) {
    try {
      const response = await request('owners', {headers: {Accept: 'application/json'}, signal: AbortSignal.timeout(LONGEST_WAIT)});
      if (!response.ok) {
        throw new Error(await reason(response));
      }
      const outlook = await response.json();
      if (outlook.refusal) {
        becomes(number, {state: 'failed', text: `Not searched: ${outlook.refusal}.`});
      } else {
        becomes(number, {state: 'asked', outlook});
      }
    } catch (error) {
      becomes(number, {state: 'failed', text: `No answer: ${error.message}`});
    }
  }

  async function searchOwners(number, links) {
    becomes(number, {state: 'running'});
    try {
      const response = await change(`owners/${number}?links=${links}`);
      const report = isJson(response) ? await response.json() : {};
      becomes(number, report.outcome === 'DONE' ? {state: 'done', report}
        : {state: 'failed', text: `Not searched: ${report.explanation ?? report.reason ?? `status ${response.status}`}.`});
    } catch (error) {
      becomes(number, {state: 'failed', text: `No answer: ${error.message}`});
    }
  }

  const sayNothingSuspected = () => empty('leaks', suspects > 0 ? '' : nothingSuspected);

  // The line of the Java method that gives the site its name.
  const applicationLine = ({site: {name, frames = []}}) => frames.find(frame => frame === name || frame.startsWith(`${name}(`)) ?? name;

  function acknowledgeButton({site: {name, number}, acknowledged}) {
    const button = make('button', {type: 'button', 'data-key': `${number} acknowledge`}, acknowledged ? 'Withdraw the acknowledgement' : 'Acknowledge');
    button.addEventListener('click', async () => {
      const result = element('leaks-result');
      try {
        const response = await change(`leaks/${encodeURIComponent(name)}`, acknowledged ? 'DELETE' : 'POST');
        if (!response.ok) {
          throw new Error(await reason(response));
        }
        setText(result, acknowledged ? `The acknowledgement of ${name} is withdrawn.` : `${name} is acknowledged.`);
        showLeaks(await response.json());
        jobs[0].due = 0;
        tick();
      } catch (error) {
        sayFailed(result, error, `Not changed: ${error.message}.`);
      }
    });
    return button;
  }

  function leakFigures({suspected, growth: rise, grounds}) {
    const list = make('dl', {class: 'figures'});
    const pairs = [
      ['Live', bytes(rise.liveBytes), ''],
      ['Suspected', suspected.bytes?.value > 0 ? bytes(suspected.bytes.value) : UNKNOWN, isKnown(suspected.bytes) ? interval(suspected.bytes.value, suspected.bytes.low, suspected.bytes.high) : ''],
      ['Growth', isKnown(rise.bytesPerHour) ? rate(rise.bytesPerHour) : UNKNOWN, ''],
      ['Oldest', duration(suspected.oldestSeconds), ''],
      ['Not accessed for', duration(suspected.idleSeconds), ''],
      ['Confidence', isKnown(grounds.confidence) ? share(grounds.confidence, 1) : UNKNOWN, grounds.evidence ? `evidence: ${grounds.evidence}` : ''],
    ];
    figures(list, pairs.filter(([, value]) => value !== UNKNOWN));
    return list;
  }

  function lastUses({grounds: {lastAccess: access, lastWrite: write}, site: {number}}) {
    const reasons = [access, write].map(use => isKnown(use?.time) ? '' : use?.unavailable || 'only leaks are watched for accesses');
    const unknown = (title, reason) => make('p', {class: 'note'}, `${title}: not known, ${reason}`);
    return reasons[0] !== '' && reasons[0] === reasons[1] ? [unknown('Last access and last write', reasons[0])]
      : [['Last access', access], ['Last write', write]].map(([title, use], i) => reasons[i] !== '' ? unknown(title, reasons[i])
        : make('details', {'data-key': `${number} ${title}`}, make('summary', {}, `${title}: ${moment(use.time)}${use.thread ? ` by ${use.thread}` : ''}`), frames(use.frames ?? [])));
  }

  function showLeakState({snapshot: {observation, observedSince, process}, diagnosis: {findings}, trimAllowed}) {
    changeAllowed = trimAllowed && trimRefused === '';
    fill(element('leaks-access'), [changeAllowed, trimRefused], () => changeAllowed ? []
      : [trimRefused || 'Read-only.', ' ', runbookLink('leak-suspected', 'How to acknowledge a suspect')]);
    const states = {
      on: isKnown(observedSince) ? `Accesses to sampled objects are observed since ${moment(observedSince, minuteTime)}` : 'Accesses to sampled objects are observed',
      starting: 'Observation starts with a test of this system',
      off: 'Accesses to objects are not observed',
      failed: 'Accesses to objects cannot be observed',
    };
    const text = observation ? `${[states[observation.state] ?? observation.state, observation.reason].filter(part => part).join(': ')}.` : '';
    const found = findings.find(finding => finding.topic === 'leaks')?.text;
    nothingSuspected = found ? `${found}.` : `No call site is a suspect. ${text}`;
    sayNothingSuspected();
    setText(element('leaks-note'), process?.allocatedBefore ? `${text} Verdicts do not cover objects that were allocated before the attach.` : text);
  }

  // ---- The rest

  function showSizes(counters) {
    empty('sizes', counters ? '' : 'malloc is not counted.');
    const sizes = counters?.requestSizes ?? [];
    const most = Math.max(1, ...sizes.map(size => size.allocations));
    const used = sizes.filter(size => size.allocations > 0);
    const target = element('size-table');
    fill(target, used, () => [target.querySelector('caption'),
      make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'Up to'), make('th', {scope: 'col', class: 'number'}, 'Allocations'), make('th', {scope: 'col', class: 'bars', 'aria-hidden': 'true'}, ''))),
      make('tbody', {}, ...used.map(size => {
        const bar = make('span', {class: 'bar'});
        bar.style.width = `${100 * size.allocations / most}%`;
        return make('tr', {}, make('th', {scope: 'row'}, isKnown(size.upToBytes) ? bytes(size.upToBytes) : 'larger'),
          make('td', {class: 'number'}, count(size.allocations)), make('td', {class: 'bars', 'aria-hidden': 'true'}, bar));
      }))]);
  }


  const advised = advice => advice.length === 0 ? [] : [make('ul', {class: 'advice'}, ...advice.map(({reason, setting}) => make('li', {}, `${reason}. `, make('code', {}, setting))))];

  function showAllocator({allocator = {advice: [], byArena: []}, hugeAllocations, process, self, status}, trimAllowed) {
    const why = isKnown(process) ? 'it was not read yet' : status.reason;
    empty('allocator', isKnown(allocator.time) ? '' : `The memory that the allocator retains is not known: ${why}.`);
    setText(element('allocator-name'), self.allocator);
    figures(element('allocator-figures'), [
      ['From the system', bytes(allocator.systemBytes)],
      ['Live', bytes(allocator.usedBytes)],
      ['Retained', bytes(allocator.retainedBytes)],
      ['A trim gives back', isKnown(allocator.trimmableBytes) ? `at least ${bytes(allocator.trimmableBytes)}` : UNKNOWN],
      ['Arenas', count(allocator.arenas)],
      ['Trims', count(allocator.trims)],
    ].filter(([, value]) => value !== UNKNOWN));
    fill(element('advice'), allocator.advice, () => allocator.advice.length === 0 ? [make('p', {}, 'No advice.')] : advised(allocator.advice));
    element('trim').hidden = !trimAllowed || trimRefused !== '';
    fill(element('trim-note'), [trimAllowed, trimRefused], () => trimAllowed ? [trimRefused]
      : ['Read-only. ', runbookLink('retained', 'How to allow a trim')]);
    element('arenas').hidden = allocator.byArena.length === 0;
    table(element('arena-table'), ['Arena', 'System', 'Live', 'Retained', 'Trimmable'],
      allocator.byArena.map(arena => [String(arena.number), bytes(arena.systemBytes), bytes(arena.usedBytes), bytes(arena.retainedBytes), bytes(arena.releasableBytes)]));
    element('huge').hidden = hugeAllocations.length === 0;
    table(element('huge-table'), ['When', 'Size', 'Thread'],
      hugeAllocations.map(huge => [moment(huge.time), bytes(huge.bytes), `${huge.threadName} (${huge.threadId})`]), [2]);
  }

  function showPools({pools = {pools: []}}) {
    const panel = element('pools');
    const known = pools.pools;
    panel.hidden = known.length === 0;
    const sites = known.flatMap(pool => pool.bufferSites);
    const findings = [...sites.map(site => ['Suspect: ', site.sentence]), ...sites.map(site => ['Lost: ', site.forgottenSentence])]
      .filter(([, sentence]) => sentence !== '');
    fill(element('pool-sentences'), [known.map(pool => pool.sentence), findings], () => [
      ...known.map(pool => make('p', {}, `${pool.sentence}.`)),
      ...findings.map(([name, sentence]) => make('p', {}, make('strong', {}, name), `${sentence}.`)),
    ]);
    table(element('pool-table'), ['Line', 'Buffers', 'Bytes', 'Interval', 'Chunks at least', 'Watched for'],
      sites.map(site => [site.line, count(site.buffers.value), bytes(site.bytes.value),
        `${bytes(site.bytes.low)} to ${bytes(site.bytes.high)}`, count(site.chunks), duration(site.oldestSeconds)]));
  }

  function showBudget(budget = {lines: []}) {
    empty('budget', budget.lines.length > 0 ? '' : 'Not read yet.');
    setText(element('budget-verdict'), budget.verdict ? `${budget.verdict}.` : '');
    table(element('budget-table'), ['Claim', 'Bytes', 'Basis'], [
      ...budget.lines.map(line => [nameOf(line.item), bytes(line.bytes), `${line.basis}: ${line.detail}`]),
      ...(budget.lines.length > 0 ? [['In all', bytes(budget.totalBytes), isKnown(budget.limitBytes) ? `of a limit of ${bytes(budget.limitBytes)}` : 'no limit']] : []),
    ], [2]);
  }

  const COUNTING = {none: 'off', preloaded: 'preloaded', attached: 'since an attach'};

  function showOwn({self: own, observation: leaks, memory}) {
    const sampling = own.sampling ?? {};
    const breakdown = memory?.resident ?? {};
    figures(element('own-figures'), [
      ['Version', own.build],
      ['Counting', COUNTING[own.mode] ?? own.mode, own.mode === 'none' ? '' : `bytes are ${own.byteUnit} sizes`],
      ['Time spent so far', duration(own.overheadSeconds), 'on samples and readings'],
      ['Latest reading', duration(own.pollSeconds), ''],
      ['Mapped at most', bytes(own.footprintBytes), ''],
      ['Splitting the resident set', duration(breakdown.costSeconds), isKnown(breakdown.mappings) ? `${count(breakdown.mappings)} mappings` : ''],
      ['Samples', count(sampling.samples), isKnown(sampling.intervalBytes) ? `one for each ${bytes(sampling.intervalBytes)}` : ''],
      ['Samples without a site', count(sampling.noSite), ''],
      ['Samples not followed', count(sampling.notFollowed), ''],
      ['Observing accesses', duration(leaks?.cpuSeconds), isKnown(leaks?.residentBytes) ? `CPU time so far, and ${bytes(leaks.residentBytes)}` : ''],
      ['Target for samples', isKnown(sampling.overheadTarget) ? share(sampling.overheadTarget, 1) : UNKNOWN, 'of one processor'],
    ].filter(([, value]) => value !== UNKNOWN));
    const off = [['', own.remark], ['Leaks: ', leaks?.reason], ['Last accesses: ', leaks?.watchReason]].filter(([, reason]) => reason);
    fill(element('own-remark'), off, () => off.length === 0 ? [make('p', {}, 'Nothing is off.')]
      : [make('ul', {}, ...off.map(([what, reason]) => make('li', {}, `${what}${reason}`)))]);
  }

  // Soon after a kill the diagnosis is about nothing else.
  function sayKillOnce() {
    const told = element('killed-sentence');
    told.hidden = element('sentence').textContent.startsWith(told.textContent.replace(/\.$/, ''));
  }

  function showRecording({file, message, previousRun}) {
    const wasKilled = ['oom', 'killed'].includes(previousRun?.reason);
    const killed = element('killed');
    killed.hidden = !wasKilled;
    setText(element('killed-sentence'), wasKilled ? `${previousRun.sentence}.` : '');
    setText(killed.querySelector('pre'), wasKilled ? previousRun.report : '');
    sayKillOnce();
    const states = {
      ON: `This run is recorded in ${file.path}.`,
      OFF: 'This run is not recorded: set MALLOMETER_RECORDING or mallometer.recording to a file on a volume.',
      FAILED: `This run is not recorded: ${file.reason}.`,
    };
    const told = message.on ? `A kill is explained in ${message.path}.` : `There is no termination message${message.path && ` in ${message.path}`}: ${message.reason}.`;
    setText(element('recording'), `${states[file.state] ?? file.state} ${told} ${previousRun ? `${previousRun.sentence}.` : 'No previous run is recorded.'}`);
  }

  function showDownloads(views, exports) {
    fill(element('download-list'), [views, exports], () => [
      ...exports.map(({name, address, extension, title}) => make('li', {}, make('a', {href: address, download: `mallometer-${name}.${extension}`}, name), ` ${title}`)),
      ...views.filter(view => view !== EVIDENCE).map(view => make('li', {}, make('a', {href: view, download: `mallometer-${view}.json`}, view), ' JSON')),
    ]);
  }

  // ---- Asking

  const LONGEST_PAUSE = 60 * SECOND;
  const LONGEST_WAIT = 120 * SECOND;
  const PACE = 10;
  const jobs = [
    {view: 'overview', every: PACE * SECOND, show: showOverview},
    {view: 'history', every: 30 * SECOND, show: showHistory},
    {view: 'trends', every: 120 * SECOND, show: showTrends},
    {view: 'leaks', every: 60 * SECOND, show: showLeaks},
    {view: 'recording', every: 600 * SECOND, show: showRecording},
  ];
  const state = {paused: false, asking: false, failures: 0, failedAt: 0, started: null, state: null, views: ['overview']};
  jobs.forEach(job => job.due = 0);

  function say(text, isTrouble, error) {
    const target = element('connection');
    sayFailed(target, error, text);
    target.classList.toggle('trouble', isTrouble);
    queueMicrotask(announceTrouble);
  }

  let isTroubled = false;

  // Behind all that is said of one answer, when it has come and when it has gone.
  function announceTrouble() {
    const target = element('connection');
    const isNow = target.classList.contains('trouble');
    if (isNow !== isTroubled) {
      isTroubled = isNow;
      announce(isNow ? target.textContent : `${element('sentence').textContent} The page receives figures again.`);
    }
  }

  function showOverview(overview) {
    if (state.started !== null && state.started !== overview.started) {
      jobs.forEach(job => job.due = 0);
    }
    // What is said for the first time is shown with its evidence at once. The sentence itself has figures, which change always.
    if (state.state !== overview.diagnosis.state) {
      jobs.filter(job => ['leaks', 'trends'].includes(job.view)).forEach(job => job.due = 0);
    }
    state.state = overview.diagnosis.state;
    state.started = overview.started;
    state.views = overview.views;
    // A page may be newer than the application that answers.
    const pace = overview.askAgainSeconds ?? PACE;
    jobs[0].every = pace * SECOND;
    const seldom = pace > PACE ? `, polled every ${duration(pace)} because many pages are open` : '';
    say(`Updated ${clockTime.format(Date.parse(overview.snapshot.time))} ${ZONE}${seldom}`, false);
    showProcess(overview);
    showAnswer(overview);
    sayKillOnce();
    showLimit(overview);
    showSizes(overview.snapshot.process);
    showAllocator(overview.snapshot, overview.trimAllowed);
    showPools(overview.snapshot);
    showBudget(overview.snapshot.memory?.budget);
    showOwn(overview.snapshot);
    showLeakState(overview);
    showDownloads(overview.views, overview.exports);
  }

  async function ask(address) {
    const response = await request(address, {headers: {Accept: 'application/json'}});
    // Whoever sees this page was let in when it was loaded.
    if (response.status === 403 || (response.ok && !isJson(response))) {
      throw new SessionEnded();
    }
    if (!response.ok) {
      throw new Error(await reason(response));
    }
    return response.json();
  }

  async function perform(job, answers) {
    // One that failed in company says why when it is alone.
    const answer = answers[job.view] ?? await ask(job.view);
    job.show(answer);
    // A little earlier or later each time, so that many viewers do not ask at once.
    job.due = Date.now() + job.every * (0.9 + 0.2 * Math.random());
  }

  // In one request: each costs the application more than to answer it. A view that fails keeps none of the others from
  // being shown, unless it is the first: then nobody is there.
  async function askFor(asked) {
    if (asked.length === 0 || isIdle()) {
      return;
    }
    const answers = await ask(`views/${asked.map(job => job.view)}`);
    let failed = null;
    for (const job of asked) {
      try {
        await perform(job, answers);
      } catch (error) {
        failed ??= error;
        if (job === jobs[0]) {
          break;
        }
      }
    }
    if (failed) {
      throw failed;
    }
  }

  // What is due before or soon after the overview comes with it, and what that makes due comes right behind.
  async function askAll() {
    const [overview, ...others] = jobs;
    if (Date.now() >= overview.due) {
      const soon = Date.now() + overview.every / 2;
      await askFor([overview, ...others.filter(job => state.views.includes(job.view) && job.due <= soon)]);
    }
    await askFor(others.filter(job => state.views.includes(job.view) && job.due === 0));
  }

  const isIdle = () => state.paused || document.hidden;

  async function tick() {
    if (state.asking || isIdle() || Date.now() < state.failedAt) {
      return;
    }
    state.asking = true;
    try {
      await askAll();
      state.failures = 0;
    } catch (error) {
      const pause = Math.min(LONGEST_PAUSE, 2 * SECOND * 2 ** state.failures++);
      state.failedAt = Date.now() + pause;
      jobs.forEach(job => job.due = 0);
      say(`No answer (${error.message}); the page tries again in ${duration(Math.ceil(pause / SECOND))} and shows old figures until then.`, true, error);
    } finally {
      state.asking = false;
      offerRetry(state.failures > 0);
    }
  }

  // What is hidden loses the focus.
  function offerRetry(isOffered) {
    const retry = element('retry');
    if (!isOffered && document.activeElement === retry) {
      element('pause').focus();
    }
    retry.hidden = !isOffered;
  }

  // ---- What the reader does

  element('pause').addEventListener('click', event => {
    state.paused = !state.paused;
    setText(event.target, state.paused ? 'Resume' : 'Pause');
    if (state.paused) {
      say('Paused', false);
    } else {
      tick();
    }
  });

  element('retry').addEventListener('click', () => {
    state.failedAt = 0;
    tick();
  });

  for (const list of document.querySelectorAll('[role=tablist]')) {
    const tabs = [...list.children];
    const select = chosen => tabs.forEach(tab => {
      tab.setAttribute('aria-selected', String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      element(tab.getAttribute('aria-controls')).hidden = tab !== chosen;
    });
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => select(tab));
      tab.addEventListener('keydown', event => {
        const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
        if (step) {
          const next = tabs.at((i + step) % tabs.length);
          select(next);
          next.focus();
        }
      });
    });
  }

  const BORDERS = 2;

  // The flame graph says how tall it has to be. It does not shrink when its reader zooms.
  addEventListener('message', event => {
    const frame = document.querySelector('iframe');
    if (frame !== null && event.source === frame.contentWindow && event.data.height > 0) {
      frame.style.height = `${Math.max(event.data.height + BORDERS, parseFloat(frame.style.height) || 0)}px`;
    }
  });

  element('draw').addEventListener('click', async () => {
    setText(element('drawing'), 'Asking');
    try {
      const response = await request('flamegraph', {headers: {Accept: 'text/html'}});
      if (response.status === 403) {
        throw new SessionEnded();
      }
      if (!response.ok) {
        throw new Error(await reason(response));
      }
      const frame = make('iframe', {title: 'Flame graph of live bytes', sandbox: 'allow-scripts'});
      frame.srcdoc = await response.text();
      element('flame-frame').replaceChildren(frame);
      setText(element('drawing'), `Drawn ${clockTime.format(Date.now())}`);
      setText(element('draw'), 'Draw again');
    } catch (error) {
      sayFailed(element('drawing'), error, `Nothing to draw: ${error.message}`);
    }
  });

  // What Spring Security asks of those who change something, from the page as it is now: it may have been loaded before
  // the application was started again. The token stands in the page, in its headers where the server cannot put it there,
  // or in a cookie; which of them is taken depends on how it is set up.
  async function tokens() {
    const response = await request(location.pathname + location.search, {headers: {Accept: 'text/html'}});
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const content = name => page.querySelector(`meta[name="${name}"]`)?.content;
    const cookie = document.cookie.split('; ').find(one => one.startsWith('XSRF-TOKEN='));
    return [
      [content('csrf-header'), content('csrf-token')],
      [response.headers.get('X-Mallometer-Token-Name'), response.headers.get('X-Mallometer-Token')],
      ['X-XSRF-TOKEN', cookie && decodeURIComponent(cookie.slice('XSRF-TOKEN='.length))],
    ].filter(([name, token]) => name && token).map(([name, token]) => ({[name]: token}));
  }

  // With the first token that is taken. What was refused has changed nothing.
  async function change(address, method = 'POST') {
    const known = await tokens();
    let response;
    for (const token of known.length > 0 ? known : [{}]) {
      response = await request(address, {
        method, body: method === 'POST' ? '{}' : null, signal: AbortSignal.timeout(LONGEST_WAIT),
        headers: {Accept: '*/*', 'Content-Type': 'application/json', ...token},
      });
      if (response.status !== 403) {
        break;
      }
    }
    return response;
  }

  function evidenceButton(action) {
    const button = make('button', {type: 'button', 'data-key': EVIDENCE}, action);
    const result = make('span', {role: 'status'});
    button.addEventListener('click', async () => {
      setText(result, ' Asking');
      try {
        const response = await request(EVIDENCE, {headers: {Accept: '*/*'}, signal: AbortSignal.timeout(LONGEST_WAIT)});
        if (!response.ok) {
          throw new Error(await reason(response));
        }
        const link = make('a', {href: URL.createObjectURL(await response.blob()), download: `mallometer-${EVIDENCE}.zip`});
        link.click();
        URL.revokeObjectURL(link.href);
        setText(result, ' Saved');
      } catch (error) {
        sayFailed(result, error, ` Not saved: ${error.message}`);
      }
    });
    return make('span', {}, button, result);
  }

  async function trim() {
    const result = element('trim-result');
    setText(result, 'Trimming');
    element('trim').disabled = true;
    try {
      const response = await change('trim');
      if ([403, 405].includes(response.status)) {
        trimRefused = `Your login may not trim (${await reason(response)}).`;
        setText(result, '');
      } else {
        const report = isJson(response) ? await response.json() : {};
        setText(result, `${report.explanation ?? report.reason ?? `status ${response.status}`}.`);
      }
    } catch (error) {
      sayFailed(result, error, `No answer: ${error.message}`);
    }
    element('trim').disabled = false;
    element('trim').hidden = trimRefused !== '';
    fill(element('trim-note'), [true, trimRefused], () => [trimRefused]);
    // A button that is off loses the focus.
    if (document.activeElement === document.body) {
      element('trim').focus();
    }
    jobs[0].due = 0;
    tick();
  }

  element('trim').addEventListener('click', () => element('confirm').showModal());
  element('confirm-no').addEventListener('click', () => element('confirm').close());
  element('confirm-yes').addEventListener('click', () => {
    element('confirm').close();
    trim();
  });

  dark.addEventListener('change', () => {
    // From what is known, as nothing may be asked for while the page is paused.
    for (const known of charts.values()) {
      rebuild(known);
      read(known);
    }
  });
  document.addEventListener('visibilitychange', tick);
  setInterval(tick, SECOND);
  tick();
}
