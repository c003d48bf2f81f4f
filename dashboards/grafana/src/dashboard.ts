// The common parts of the dashboards: variables, annotations, links to one another and to the runbooks.
//
// The variables are chained: each offers what the ones before it leave. "All" matches also what lacks the label, so that
// the dashboards work where nobody sets cluster, namespace or application.
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

/** The schema version that Grafana 11.0 writes: newer ones migrate it, and nothing here uses the changes of 40 to 42. */
class Readable extends DashboardBuilder {
  override build() {
    return { ...super.build(), schemaVersion: 39 };
  }
}

/** The number of instances that a dashboard about instances shows at once. */
const MOST_SHOWN = 25;

function matchers(labels: string[]): string {
  return labels.map((label) => `${label}=~"$${label}"`).join(', ');
}

/** The label matchers of all variables. */
export const selected = matchers(LABELS.map(([label]) => label));

/** The label matchers for series that are recorded for a whole job. */
export const selectedJobs = matchers(LABELS.map(([label]) => label).filter((label) => label !== 'instance'));

/** The selected instances that a dashboard about instances shows. */
export const shown = `${selectedJobs}, instance=~"$shown"`;

/** The one instance that a dashboard about one instance shows. */
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

/** A variable for one instance. Grafana initially chooses the first: the one with the most severe diagnosis. */
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
 * A variable for the selected instances with most live memory, followed by those that do not count. For dashboards whose
 * panels draw each instance: nobody can read a thousand, and Prometheus would take a minute.
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
    // The value is the moment, in milliseconds.
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

/** Panels below a heading; a closed section is opened by a click on its heading, and asks nothing before. */
export type Section = { title: string; panels: Builder<Panel>[]; closed?: boolean };

/** The memory that a dashboard shows: that of one instance, of a few, each by itself, or of any number together. */
export type Scope = 'one' | 'few' | 'fleet';

const MATCHERS: Record<Scope, string> = { one, few: shown, fleet: selected };

/** A dashboard of sections, ready to be written as JSON. */
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
