// Writes the dashboards as JSON into the directory of package.json. The JSON is committed, so that nobody needs Node to
// use it; dashboards/check.sh checks that the committed JSON is what this code generates.
import { writeFileSync } from 'node:fs';
import { fleet } from './fleet.js';
import { overview } from './overview.js';
import { where } from './where.js';

// The library moves links and annotations into a menu that Grafana has since version 12. This keeps them above the panels.
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
 * Returns the fields that state what a dashboard requires. Grafana reads them when a dashboard is imported, and so does a
 * gallery such as grafana.com. There are no inputs: a variable names the data source of the panels, so Grafana need not ask
 * the user for a data source.
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
