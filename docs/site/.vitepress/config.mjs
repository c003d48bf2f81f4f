// The site: the repository's Markdown as bin/docs has laid it out in target, with a search that needs no server.
import fs from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitepress';

const PAGES = path.resolve(import.meta.dirname, '../target/pages');

const PARTS = [
  ['Start', 'docs/start'],
  ['Reference', 'docs/reference'],
  ['Explanation', 'docs/explanation'],
  ['Operation', 'docs/operation'],
  ['Runbooks', 'docs/runbooks'],
];

function title(file) {
  return /^# (.*)$/m.exec(fs.readFileSync(file, 'utf8'))?.[1].replaceAll('`', '') ?? path.basename(file, '.md');
}

/** The pages of a folder in the order in which its index, else that of the documentation names them, then the others. */
function items(folder) {
  const directory = path.join(PAGES, folder);
  const own = path.join(directory, 'index.md');
  const index = fs.readFileSync(fs.existsSync(own) ? own : path.join(PAGES, 'docs/index.md'), 'utf8');
  const named = [...index.matchAll(/\]\((?:[\w-]+\/)?([\w-]+)\.md/g)].map((link) => `${link[1]}.md`);
  const files = fs.readdirSync(directory).filter((file) => file.endsWith('.md') && file !== 'index.md');
  const ordered = [...new Set([...named.filter((file) => files.includes(file)), ...files.sort()])];
  return ordered.map((file) => ({ text: title(path.join(directory, file)), link: `/${folder}/${file.replace(/\.md$/, '')}` }));
}

export default defineConfig({
  title: 'mallometer',
  description: "Where a JVM's native memory goes",
  srcDir: 'target/pages',
  outDir: 'target/site',
  cacheDir: 'target/cache',
  // For files opened without a server that knows addresses without .html.
  cleanUrls: false,
  // Each dead link between pages fails the build.
  ignoreDeadLinks: 'localhostLinks',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: { html: false, theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Runbooks', link: '/docs/runbooks/' },
      { text: 'Compare', link: '/docs/compare' },
    ],
    sidebar: [
      { text: 'Overview', link: '/docs/' },
      // Without a link of its own: a heading that opens and leads somewhere is a control within a control.
      ...PARTS.map(([text, folder]) => ({ text, collapsed: true, items: items(folder) })),
      { text: 'Compare', link: '/docs/compare' },
      {
        text: 'Project',
        collapsed: true,
        items: ['ARCHITECTURE', 'CONTRIBUTING', 'SECURITY', 'CHANGELOG'].map((name) => ({ text: name.charAt(0) + name.slice(1).toLowerCase(), link: `/${name}` })),
      },
    ],
  },
});
