// Writes the dashboards that Grafana reads, beside this package's package.json. The JSON is committed, so that nobody
// needs Node to use it; dashboards/check.sh proves that both agree.
import { writeFileSync } from 'node:fs';
import { fleet } from './fleet.js';
import { overview } from './overview.js';
import { where } from './where.js';

// The library moves links and annotations into a menu of Grafana 12 and newer; they belong above the panels.
const above = (_: string, value: unknown) => (value === 'inControlsMenu' ? undefined : value);
const directory = process.argv[2] ?? '.';
for (const dashboard of [overview, where, fleet]) {
  writeFileSync(`${directory}/${dashboard.uid}.json`, JSON.stringify(dashboard, above, 2) + '\n');
}
