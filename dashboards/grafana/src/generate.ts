// Writes the dashboards that Grafana reads, beside this package's package.json. The JSON is committed, so that nobody
// needs Node to use it; dashboards/check.sh proves that both agree.
import { writeFileSync } from 'node:fs';
import { fleet } from './fleet.js';
import { overview } from './overview.js';
import { where } from './where.js';

// The library moves links and annotations into a menu of Grafana 12 and newer; they belong above the panels.
const above = (_: string, value: unknown) => (value === 'inControlsMenu' ? undefined : value);
const directory = process.argv[2] ?? '.';

type Panels = { panels?: unknown[] };

/** Returns the types of all panels, those in closed rows included. */
function panelTypes(dashboard: Panels): Set<string> {
  const types = new Set<string>();
  for (const panel of (dashboard.panels ?? []) as (Panels & { type: string })[]) {
    if (panel.type !== 'row') types.add(panel.type);
    panelTypes(panel).forEach((type) => types.add(type));
  }
  return types;
}

/**
 * Returns the requirements of a dashboard that an import and a gallery such as grafana.com read. There are no inputs: the panels ask
 * the data source that a variable names, so an import has no data source to ask for.
 */
function needs(dashboard: Panels) {
  const panels = [...panelTypes(dashboard)].sort().map((id) => ({ type: 'panel', id, name: id, version: '' }));
  return {
    __inputs: [],
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: '11.0.0' },
      { type: 'datasource', id: 'prometheus', name: 'Prometheus', version: '1.0.0' },
      ...panels,
    ],
  };
}

for (const dashboard of [overview, where, fleet]) {
  writeFileSync(`${directory}/${dashboard.uid}.json`, JSON.stringify({ ...needs(dashboard), ...dashboard }, above, 2) + '\n');
}
