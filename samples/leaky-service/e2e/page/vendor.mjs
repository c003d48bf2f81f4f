// Copies uPlot, as the lock file pins it, to where the page is built from; with --check says whether what lies there is
// that copy. Nothing is changed on the way, so the files in the jar are the files of the package.
import {copyFileSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const from = join(here, 'node_modules/uplot/dist');
const to = join(here, '../../../../metrics-bridge/core/src/main/resources/io/mallometer/page');
const files = {'uPlot.iife.min.js': 'uplot.js', 'uPlot.min.css': 'uplot.css'};

for (const [packaged, vendored] of Object.entries(files)) {
  if (process.argv.includes('--check')) {
    if (!readFileSync(join(from, packaged)).equals(readFileSync(join(to, vendored)))) {
      console.error(`${vendored} is not ${packaged} of the package: run 'npm run vendor' and commit the result`);
      process.exitCode = 1;
    }
  } else {
    copyFileSync(join(from, packaged), join(to, vendored));
  }
}
