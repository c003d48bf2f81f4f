// Writes the dashboards that Grafana reads, beside this package's package.json. The JSON is committed, so that nobody
// needs Node to use it; dashboards/check.sh proves that both agree.
import { writeFileSync } from 'node:fs';
import { nativeMemory } from './native-memory.js';

const directory = process.argv[2] ?? '.';
writeFileSync(`${directory}/native-memory.json`, JSON.stringify(nativeMemory, null, 2) + '\n');
