
'use strict';

// Reads the prefix tree in the element "data", lays out what is wide enough to be seen, and draws the part of it that is
// scrolled into view. Nodes are numbers, in preorder: the nodes below n are n + 1 to n + size[n] - 1.
{
  const ROOT = 0;
  const ROW = 20;
  const NARROWEST = 0.5;
  // What is below a narrower box is one box: a stack that nobody can point at would stretch the graph by its depth.
  const NARROWEST_SPLIT = 2;
  const NARROWEST_TEXT = 28;
  const PADDING = 4;
  const MOST = 0.9;
  const CONTEXT = 2;
  // The rows within which the application's method is without a zoom.
  const ROWS_IN_SIGHT = 14;
  // The rows above a zoomed box: the root and one for all callers between them.
  const ROWS_ABOVE = 2;
  // What a name is: of native code, of a Java method, of one that gives call sites their name.
  const NATIVE = 0;
  const NAMING = 2;
  const element = id => document.getElementById(id);

  // ---- The tree

  function readTree(stacks, figures) {
    let count = 1;
    for (let i = 0; i < stacks.length; i += 2 + stacks[i + 1] + figures) {
      count += stacks[i + 1];
    }
    const tree = {
      count,
      name: new Int32Array(count).fill(-1),
      parent: new Int32Array(count).fill(-1),
      depth: new Int32Array(count),
      size: new Int32Array(count).fill(1),
      self: Array.from({length: figures}, () => new Float64Array(count)),
    };
    // The nodes of the stack before, by depth.
    const path = [ROOT];
    let node = ROOT;
    for (let i = 0; i < stacks.length;) {
      const shared = stacks[i++];
      const depth = shared + stacks[i++];
      for (let d = shared + 1; d <= depth; d++) {
        path[d] = ++node;
        tree.name[node] = stacks[i++];
        tree.parent[node] = path[d - 1];
        tree.depth[node] = d;
      }
      for (const self of tree.self) {
        self[path[depth]] += stacks[i++];
      }
    }
    tree.total = tree.self.map(self => self.slice());
    for (let n = count - 1; n > ROOT; n--) {
      const parent = tree.parent[n];
      tree.size[parent] += tree.size[n];
      tree.total.forEach(total => total[parent] += total[n]);
    }
    return tree;
  }

  const data = JSON.parse(element('data').textContent);
  const tree = readTree(data.stacks, data.metrics.length);

  const state = {
    metric: Math.max(0, data.metrics.indexOf(data.metric)),
    zoomed: ROOT,
    selected: ROOT,
    hovered: -1,
    // For each name 1 if the search finds it; null without a search.
    found: null,
    isOpened: false,
  };

  const total = node => tree.total[state.metric][node];
  const self = node => tree.self[state.metric][node];
  const nameOf = node => node === ROOT ? 'all' : data.names[tree.name[node]];
  const isJava = node => node !== ROOT && data.java[tree.name[node]] > NATIVE;
  const isFound = node => state.found !== null && node !== ROOT && state.found[tree.name[node]] === 1;

  let sortedChildren = new Map();

  // Those with a figure, the largest first.
  function children(node) {
    let list = sortedChildren.get(node);
    if (list === undefined) {
      list = [];
      for (let n = node + 1; n < node + tree.size[node]; n += tree.size[n]) {
        if (total(n) > 0) {
          list.push(n);
        }
      }
      list.sort((a, b) => total(b) - total(a));
      sortedChildren.set(node, list);
    }
    return list;
  }

  function isBelow(node, ancestor) {
    return node >= ancestor && node < ancestor + tree.size[ancestor];
  }

  // ---- Words

  const wholes = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});
  const digits = new Intl.NumberFormat('en-US', {maximumSignificantDigits: 3});
  const BYTE_UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

  function bytes(value) {
    if (value < 1024) {
      return wholes.format(value) + ' B';
    }
    let unit = -1;
    do {
      value /= 1024;
      unit++;
    } while (value >= 1024 && unit < BYTE_UNITS.length - 1);
    return (value >= 1000 ? wholes : digits).format(value) + ' ' + BYTE_UNITS[unit];
  }

  function figure(value) {
    if (!data.metrics[state.metric].endsWith('objects')) {
      return bytes(value);
    }
    return wholes.format(value) + (value === 1 ? ' object' : ' objects');
  }

  function share(value, whole) {
    return (whole > 0 ? digits.format(100 * value / whole) : '0') + ' %';
  }

  function kind(node) {
    return node === ROOT ? '' : isJava(node) ? 'Java, ' : 'native, ';
  }

  function figures(node) {
    const whole = total(ROOT);
    let text = `total ${figure(total(node))} (${share(total(node), whole)})`;
    if (state.zoomed !== ROOT && node !== state.zoomed && isBelow(node, state.zoomed)) {
      text += `, ${share(total(node), total(state.zoomed))} of what is zoomed`;
    }
    return `${text}, self ${figure(self(node))} (${share(self(node), whole)})`;
  }

  function describe(node, separator) {
    return nameOf(node) + separator + kind(node) + figures(node);
  }

  function about() {
    const units = {usable: 'usable sizes', chunk: 'chunk sizes', requested: 'requested sizes'};
    const parts = [
      data.time.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC'),
    ];
    if (data.samples > 0) {
      parts.push(`estimated from ${wholes.format(data.samples)} samples`);
    }
    if (data.byteUnit in units) {
      parts.push('bytes are ' + units[data.byteUnit]);
    }
    return parts.join(' · ');
  }

  // ---- Layout: rows of boxes {node, x, width, narrower}, x ascending, in pixels of the page. Children that are too
  // narrow are one box with the node of their parent, their number in narrower, and their sum in rest.

  const view = element('view');
  const sheet = element('sheet');
  const canvas = element('graph');
  const pen = canvas.getContext('2d');
  let rows = [];

  // The number of callers above the zoomed box that share one row with its parent.
  const folded = () => Math.max(0, tree.depth[state.zoomed] - ROWS_ABOVE);

  function rowOf(node) {
    return node === ROOT ? 0 : Math.max(1, tree.depth[node] - folded());
  }

  // Adds the row below a box and returns those boxes that can have rows below themselves.
  function place(box, nodes) {
    if (nodes.length === 0) {
      return [];
    }
    const row = rows[rowOf(box.node) + 1] ??= [];
    const perUnit = box.width / total(box.node);
    const narrowest = box.width < NARROWEST_SPLIT ? Infinity : NARROWEST;
    const first = nodes.findIndex(node => total(node) * perUnit < narrowest);
    const drawn = first < 0 ? nodes : nodes.slice(0, first);
    let x = box.x;
    const below = drawn.map(node => {
      const child = {node, x, width: total(node) * perUnit, narrower: 0};
      x += child.width;
      return child;
    });
    row.push(...below);
    const narrow = nodes.slice(drawn.length);
    const rest = narrow.reduce((sum, node) => sum + total(node), 0);
    if (rest * perUnit >= NARROWEST) {
      row.push({node: box.node, x, width: rest * perUnit, narrower: narrow.length, rest});
    }
    return below;
  }

  function layOut() {
    const width = view.clientWidth;
    // A frame that is not shown has none; what is scrolled to stays.
    if (width === 0) {
      return;
    }
    rows = [];
    // The parent of the zoomed box comes before its own callers, and stands for them.
    for (let node = state.zoomed; node !== -1; node = tree.parent[node]) {
      rows[rowOf(node)] ??= [{node, x: 0, width, narrower: 0}];
    }
    const pending = [{node: state.zoomed, x: 0, width, narrower: 0}];
    while (pending.length > 0) {
      const box = pending.pop();
      const below = place(box, children(box.node));
      // The leftmost is taken next, so that each row fills from the left.
      pending.push(...below.reverse());
    }
    sheet.style.height = rows.length * ROW + 'px';
    draw();
    if (state.isOpened && window.parent !== window) {
      tellHeight();
    }
  }

  // Tells the page around the frame how tall that has to be for all rows.
  function tellHeight() {
    const {scrollHeight} = document.body;
    window.parent.postMessage({height: Math.max(scrollHeight, scrollHeight - view.clientHeight + rows.length * ROW)}, '*');
  }

  function boxAt(x, y) {
    const row = rows[Math.floor((y + view.scrollTop) / ROW)] ?? [];
    return row.find(box => x >= box.x && x < box.x + box.width);
  }

  // ---- Drawing

  const dark = matchMedia('(prefers-color-scheme: dark)');

  function hash(text) {
    let value = 7;
    for (let i = 0; i < text.length; i++) {
      value = (value * 31 + text.charCodeAt(i)) | 0;
    }
    return Math.abs(value);
  }

  // The library, or the package: boxes of one owner have one shade.
  function owner(node) {
    const name = nameOf(node);
    const end = isJava(node) ? name.lastIndexOf('.', name.lastIndexOf('.') - 1) : name.indexOf('!');
    return end > 0 ? name.slice(0, end) : name;
  }

  function fill(node, colours) {
    if (isFound(node)) {
      return colours.match;
    }
    if (node === ROOT) {
      return colours.root;
    }
    const shade = hash(owner(node));
    const [hue, saturation, lightness] = (isJava(node) ? colours.java : colours.native).match(/\d+/g).map(Number);
    return `hsl(${hue + shade % 17 - 8} ${saturation}% ${lightness + (shade >> 5) % 9 - 4}%)`;
  }

  // Class and method, or the symbol.
  function shortName(node) {
    const name = nameOf(node);
    if (!isJava(node)) {
      return name.slice(name.indexOf('!') + 1);
    }
    return name.slice(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1);
  }

  function fitting(node, width) {
    if (pen.measureText(nameOf(node)).width <= width) {
      return nameOf(node);
    }
    const name = shortName(node);
    const needed = pen.measureText(name).width;
    if (needed <= width) {
      return name;
    }
    const characters = Array.from(name);
    const room = Math.floor(characters.length * (width - pen.measureText('…').width) / needed);
    return room < 2 ? '' : characters.slice(0, room).join('') + '…';
  }

  // The root has its figure. The callers that share a row are counted in front of the innermost one.
  function labelOf({node, width}) {
    if (node === ROOT) {
      return `${nameOf(ROOT)}: ${figure(total(ROOT))}`;
    }
    const callers = folded() > 0 && node === tree.parent[state.zoomed] ? `${wholes.format(folded() + 1)} callers, ` : '';
    return callers + fitting(node, width - 2 * PADDING - pen.measureText(callers).width);
  }

  function drawBox(box, y, colours) {
    if (box.narrower > 0) {
      pen.fillStyle = colours.narrow;
      pen.fillRect(box.x, y, Math.max(box.width - 1, NARROWEST), ROW - 1);
      return;
    }
    const isAncestor = box.node !== state.zoomed && isBelow(state.zoomed, box.node);
    const isFaded = isAncestor || (state.found !== null && !isFound(box.node));
    pen.globalAlpha = isFaded ? 0.5 : 1;
    pen.fillStyle = fill(box.node, colours);
    // A pixel of the page between boxes, unless nothing of the box would be left.
    pen.fillRect(box.x, y, Math.max(box.width - 1, NARROWEST), ROW - 1);
    pen.globalAlpha = isFaded ? 0.8 : 1;
    if (box.width >= NARROWEST_TEXT) {
      pen.fillStyle = colours.text;
      pen.fillText(labelOf(box), box.x + PADDING, y + ROW / 2);
    }
    pen.globalAlpha = 1;
    if (box.node === state.selected || box.node === state.hovered) {
      pen.strokeStyle = box.node === state.selected ? colours.focus : colours.text;
      pen.lineWidth = 2;
      pen.strokeRect(box.x + 1, y + 1, Math.max(box.width - 3, 1), ROW - 3);
    }
  }

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const names = ['text', 'focus', 'match', 'root', 'narrow', 'native', 'java'];
    return Object.fromEntries(names.map(name => [name, style.getPropertyValue('--' + name)]));
  }

  function draw() {
    const scale = window.devicePixelRatio || 1;
    const width = view.clientWidth;
    const height = Math.min(view.clientHeight, Math.max(rows.length, 1) * ROW);
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    pen.scale(scale, scale);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    const colours = readColours();
    const top = view.scrollTop;
    for (let r = Math.floor(top / ROW); r < rows.length && r * ROW < top + height; r++) {
      for (const box of rows[r] ?? []) {
        drawBox(box, r * ROW - top, colours);
      }
    }
  }

  // ---- What the reader does

  function say(text) {
    element('status').textContent = text;
  }

  function scrollTo(node) {
    const y = rowOf(node) * ROW;
    if (y < view.scrollTop) {
      view.scrollTop = y;
    } else if (y + ROW > view.scrollTop + view.clientHeight) {
      view.scrollTop = y + ROW - view.clientHeight;
    }
  }

  function select(node) {
    state.selected = node;
    // A box outside of what is zoomed, or folded above it, is not there to be seen.
    const isAbove = isBelow(state.zoomed, node);
    if (!isAbove && !isBelow(node, state.zoomed)) {
      state.zoomed = ROOT;
      layOut();
    } else if (isAbove && rowOf(node) === 1 && node !== tree.parent[state.zoomed]) {
      state.zoomed = node;
      layOut();
    }
    scrollTo(node);
    draw();
    say(describe(node, ': '));
  }

  function zoom(node) {
    state.zoomed = node;
    state.selected = node;
    layOut();
    scrollTo(node);
    draw();
    say((node === ROOT ? '' : 'Zoomed: ') + describe(node, ': '));
  }

  // Zooms to what most bytes of the application are below if the rest holds more, or to its method that has most if that one
  // would be out of sight.
  function openAtApplication() {
    const below = new Float64Array(tree.count);
    // The innermost method on the way to a node that gives call sites their name.
    const namedBy = new Int32Array(tree.count);
    for (let n = 1; n < tree.count; n++) {
      namedBy[n] = data.java[tree.name[n]] === NAMING ? n : namedBy[tree.parent[n]];
      below[namedBy[n]] += self(n);
    }
    below[ROOT] = 0;
    const most = below.reduce((best, bytes, n) => bytes > below[best] ? n : best, ROOT);
    for (let n = tree.count - 1; n > ROOT; n--) {
      below[tree.parent[n]] += below[n];
    }
    let common = ROOT;
    for (let next = ROOT; next !== undefined && next !== most;) {
      common = next;
      next = children(common).find(child => below[child] >= MOST * below[ROOT]);
    }
    if (below[ROOT] > 0 && total(common) < total(ROOT) / 2) {
      zoom(common);
    }
    if (rowOf(most) > ROWS_IN_SIGHT) {
      let above = most;
      for (let level = 0; level < CONTEXT; level++) {
        above = tree.parent[above];
      }
      zoom(above);
    }
  }

  function sibling(node, step) {
    if (node === ROOT) {
      return node;
    }
    const all = children(tree.parent[node]);
    return all[all.indexOf(node) + step] ?? node;
  }

  function search(text) {
    const wanted = text.trim().toLowerCase();
    if (wanted === '') {
      state.found = null;
      element('matched').textContent = '';
    } else {
      state.found = Uint8Array.from(data.names, name => name.toLowerCase().includes(wanted) ? 1 : 0);
      const sum = outermostFound().reduce((sum, node) => sum + total(node), 0);
      element('matched').textContent = `${share(sum, total(ROOT))} found, ${figure(sum)}`;
    }
    draw();
  }

  // What is below a found box is part of it.
  function outermostFound() {
    const nodes = [];
    for (let n = 1; n < tree.count; n += isFound(n) ? tree.size[n] : 1) {
      if (isFound(n) && total(n) > 0) {
        nodes.push(n);
      }
    }
    return nodes;
  }

  function selectLargestFound() {
    const nodes = state.found === null ? [] : outermostFound();
    canvas.focus();
    if (nodes.length > 0) {
      select(nodes.reduce((a, b) => total(b) > total(a) ? b : a));
    }
  }

  function showMetric(index) {
    state.metric = index;
    sortedChildren = new Map();
    if (!(total(state.zoomed) > 0)) {
      state.zoomed = ROOT;
    }
    if (!(total(state.selected) > 0)) {
      state.selected = state.zoomed;
    }
    layOut();
    search(element('search').value);
    say(total(ROOT) > 0 ? describe(state.selected, ': ') : 'Nothing to show: no site has this figure.');
  }

  function reset() {
    element('search').value = '';
    search('');
    zoom(ROOT);
  }

  const keys = {
    ArrowUp: () => select(Math.max(ROOT, tree.parent[state.selected])),
    ArrowDown: () => select(children(state.selected)[0] ?? state.selected),
    ArrowLeft: () => select(sibling(state.selected, -1)),
    ArrowRight: () => select(sibling(state.selected, 1)),
    Enter: () => zoom(state.selected),
    Escape: () => zoom(ROOT),
  };

  canvas.addEventListener('keydown', event => {
    if (event.key in keys && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  document.addEventListener('keydown', event => {
    if (event.key === '/' && event.target !== element('search') && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      element('search').focus();
    }
  });

  element('search').addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      event.preventDefault();
      event.target.value = '';
      search('');
      canvas.focus();
    }
  });

  canvas.addEventListener('click', event => {
    const box = boxAt(event.offsetX, event.offsetY);
    if (box !== undefined) {
      zoom(box.node);
    }
  });

  function putBeside(tooltip, x, y) {
    const right = document.documentElement.clientWidth - tooltip.offsetWidth - 8;
    const below = y + 18;
    const fits = below + tooltip.offsetHeight < document.documentElement.clientHeight;
    tooltip.style.left = Math.max(8, Math.min(x + 12, right)) + 'px';
    tooltip.style.top = Math.max(8, fits ? below : y - tooltip.offsetHeight - 10) + 'px';
  }

  function describeNarrow(box) {
    const count = wholes.format(box.narrower);
    return `${count} too narrow to draw, below ${nameOf(box.node)}\ntotal ${figure(box.rest)} (${share(box.rest, total(ROOT))})`;
  }

  function hover(node) {
    if (state.hovered !== node) {
      state.hovered = node;
      draw();
    }
  }

  canvas.addEventListener('pointermove', event => {
    const box = event.pointerType === 'mouse' ? boxAt(event.offsetX, event.offsetY) : undefined;
    const tooltip = element('tooltip');
    tooltip.hidden = box === undefined;
    hover(box === undefined || box.narrower > 0 ? -1 : box.node);
    if (box !== undefined) {
      tooltip.textContent = box.narrower > 0 ? describeNarrow(box) : describe(box.node, '\n');
      putBeside(tooltip, event.clientX, event.clientY);
    }
  });

  canvas.addEventListener('pointerleave', () => {
    element('tooltip').hidden = true;
    hover(-1);
  });

  view.addEventListener('scroll', draw);
  dark.addEventListener('change', draw);
  element('metric').addEventListener('change', event => showMetric(data.metrics.indexOf(event.target.value)));
  element('search').addEventListener('input', event => search(event.target.value));
  element('reset').addEventListener('click', reset);
  element('controls').addEventListener('submit', event => {
    event.preventDefault();
    selectLargestFound();
  });

  element('title').textContent = data.title;
  for (const option of [...element('metric').options]) {
    if (!data.metrics.includes(option.value)) {
      option.remove();
    }
  }
  element('about').textContent = about();
  element('missing').textContent = [data.reason, data.origin].filter(text => text).join('. ');
  element('missing').hidden = element('missing').textContent === '';
  element('metric').value = data.metrics[state.metric];
  showMetric(state.metric);
  new ResizeObserver(() => {
    if (!state.isOpened && view.clientWidth > 0) {
      openAtApplication();
      state.isOpened = true;
    }
    layOut();
  }).observe(view);
}
