// Writes the dashboards that Grafana reads, beside this package's package.json. The JSON is committed, so that nobody
// needs Node to use it; dashboards/check.sh proves that both agree.
import { writeFileSync } from 'node:fs';
import { fleet } from './fleet.js';
import { overview } from './overview.js';
import { where } from './where.js';

const directory = process.argv[2] ?? '.';
for (const dashboard of [overview, where, fleet]) {
  writeFileSync(`${directory}/${dashboard.uid}.json`, JSON.stringify(dashboard, null, 2) + '\n');
}
