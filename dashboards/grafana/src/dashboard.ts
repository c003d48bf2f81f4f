// The common parts of the dashboards: variables, annotations, and links to the other dashboards and to the runbooks.
//
// The variables are chained: each offers only values of the instances that the variables before it select. "All" also
// matches series without the label, so the dashboards work without the labels cluster, namespace and application.
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
  type Panel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { diagnosis, dataSource, runbook } from './panels.js';

const LABELS: [string, string][] = [
  ['cluster', 'Cluster'],
  ['namespace', 'Namespace'],
  ['job', 'Job'],
  ['application', 'Application'],
  ['instance', 'Instance'],
];

/**
 * A dashboard with the schema version that Grafana 11.0 writes. Newer versions of Grafana migrate it. The dashboards use
 * nothing that the schema versions 40 to 42 changed.
 */
class Readable extends DashboardBuilder {
  override build() {
    return { ...super.build(), schemaVersion: 39 };
  }
}

/** The most instances that a dashboard with a line for each instance shows at once. */
const MOST_SHOWN = 25;

function matchers(labels: string[]): string {
  return labels.map((label) => `${label}=~"$${label}"`).join(', ');
}

/** The label matchers of all variables. */
export const selected = matchers(LABELS.map(([label]) => label));

/** The label matchers for series that are recorded for a whole job. */
export const selectedJobs = matchers(LABELS.map(([label]) => label).filter((label) => label !== 'instance'));

/** The label matchers for the instances that a dashboard with a line for each instance shows. */
export const shown = `${selectedJobs}, instance=~"$shown"`;

/** The label matchers for the instance that a dashboard about one instance shows. */
export const one = `${selectedJobs}, instance="$instance"`;

function choice(label: string, name: string): QueryVariableBuilder {
  return new QueryVariableBuilder(label)
    .label(name)
    .datasource(dataSource)
    .refresh(VariableRefresh.OnTimeRangeChanged);
}

function choices(label: string, name: string): QueryVariableBuilder {
  return choice(label, name)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .current({ selected: true, text: 'All', value: '$__all' });
}

function chained(): QueryVariableBuilder[] {
  return LABELS.map(([label, name], index) => {
    const before = LABELS.slice(0, index).map(([earlier]) => earlier);
    return choices(label, name).query(`label_values(mallometer_active{${matchers(before)}}, ${label})`).allValue('.*');
  });
}

const NAMED_INSTANCE = '/instance="([^"]+)"/';

/** A variable for one instance. Grafana first selects the first value: the instance with the most severe diagnosis. */
function oneInstance(): QueryVariableBuilder {
  return choice('instance', 'Instance')
    .description('The most severe diagnosis first')
    .query(`query_result(sort_desc(max by (instance) (${diagnosis(selectedJobs)} or 0 * mallometer_active{${selectedJobs}})))`)
    .regex(NAMED_INSTANCE)
    .sort(VariableSort.Disabled)
    .multi(false)
    .includeAll(false)
    .current({ selected: false, text: '', value: '' });
}

/**
 * A variable for the selected instances with the most live memory. Instances in which nothing is counted come last. For
 * dashboards that draw a line for each instance: nobody can read a thousand lines, and Prometheus would take a minute.
 */
function shownInstances(): QueryVariableBuilder {
  return choices('shown', `Shown (${MOST_SHOWN} with most)`)
    .description(`Of the selected instances the ${MOST_SHOWN} with most live memory: more are not drawn. Fleet shows all of them`)
    .query(
      `query_result(topk(${MOST_SHOWN}, max by (instance) (native_malloc_live_bytes{${selected}} or mallometer_active{${selected}})))`,
    )
    .regex(NAMED_INSTANCE);
}

function annotation(name: string, color: string, expression: string, title: string, text: string) {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(dataSource)
    .enable(true)
    .iconColor(color)
    .expr(expression)
    .titleFormat(title)
    .textFormat(text);
}

function annotations(of: string): AnnotationQueryBuilder[] {
  return [
    // The value of the expression is the time of the event, in milliseconds.
    annotation(
      'Starts',
      'blue',
      `process_start_time_seconds{${of}} * 1000`,
      'Start',
      '{{instance}} of {{job}} started',
    ).useValueForTime(true),
    annotation(
      'OOM kills',
      'purple',
      `mallometer_previous_exit_timestamp_seconds{reason="oom", ${of}} * 1000`,
      'OOM kill',
      'The kernel killed {{instance}} of {{job}}',
    ).useValueForTime(true),
    annotation(
      'Leaks',
      'red',
      `native_malloc_leak_sites{verdict="leak", ${of}} > 0`,
      'Leak',
      '{{instance}} of {{job}} leaks native memory ({{evidence}})',
    ),
    annotation(
      'Alerts',
      'orange',
      `ALERTS{alertname=~"NativeMemory.*|Mallometer.*", alertstate="firing", ${of}}`,
      '{{alertname}}',
      '{{instance}} of {{job}}: {{severity}}',
    ).enable(false),
  ];
}

/** Panels below a heading. A closed section opens at a click on its heading, and sends no queries before. */
export type Section = { title: string; panels: Builder<Panel>[]; closed?: boolean };

/**
 * The instances that a dashboard shows: one; a few, each with lines of its own; or any number, most of them in sums only.
 */
export type Scope = 'one' | 'few' | 'fleet';

const MATCHERS: Record<Scope, string> = { one, few: shown, fleet: selected };

/** Returns a dashboard with these sections, ready to be written as JSON. */
export function dashboard(uid: string, title: string, description: string, range: string, scope: Scope, sections: Section[]) {
  const builder = new Readable(title)
    .uid(uid)
    .description(description)
    .tags(['mallometer', 'native-memory', 'jvm'])
    .timezone('browser')
    .refresh('30s')
    .time({ from: range, to: 'now' })
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .link(
      new DashboardLinkBuilder('Native memory')
        .type(DashboardLinkType.Dashboards)
        .tags(['mallometer'])
        .includeVars(true)
        .keepTime(true),
    )
    .link(runbook('README.md').title('Runbooks'));
  const variables = chained();
  if (scope === 'one') {
    variables.splice(-1, 1, oneInstance());
  } else if (scope === 'few') {
    variables.push(shownInstances());
  }
  variables.forEach((variable) => builder.withVariable(variable));
  annotations(MATCHERS[scope]).forEach((annotated) => builder.annotation(annotated));
  sections.forEach(({ title: heading, panels, closed }) => {
    const row = new RowBuilder(heading).collapsed(closed ?? false);
    if (closed) {
      panels.forEach((panel) => row.withPanel(panel));
    }
    builder.withRow(row);
    if (!closed) {
      panels.forEach((panel) => builder.withPanel(panel));
    }
  });
  return builder;
}
