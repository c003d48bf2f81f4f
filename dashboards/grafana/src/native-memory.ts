// The first look at an application's native memory: how much of it is in use beside the heap, how fast it comes and goes,
// in which sizes, and whether the numbers can be trusted right now.
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { buckets, dataSource, figure, from, graph, names, selected } from './panels.js';

const variables = [
  new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'),
  chosen('application', 'Application', 'label_values(mallometer_active, application)'),
  chosen('instance', 'Instance', 'label_values(mallometer_active{application=~"$application"}, instance)'),
];

function chosen(name: string, label: string, query: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(dataSource)
    .query(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(true)
    .includeAll(true);
}

const trust = [
  names('State', 'Whether native memory is counted, and if not, why.', 4, {
    expression: `max by (state) (mallometer_state{${selected}}) == 1`,
    legend: '{{state}}',
  }),
  figure('Instances that count', 'Instances with mallometer preloaded and counting.', 'none', 4, {
    expression: `sum(mallometer_active{${selected}})`,
    legend: 'counting',
  }),
  figure('Oldest snapshot', 'Age of the oldest snapshot shown. A poller that is stuck shows here.', 's', 4, {
    expression: `max(mallometer_snapshot_age_seconds{${selected}})`,
    legend: 'age',
  }).thresholds(from({ value: 15, color: 'orange' }, { value: 60, color: 'red' })),
  figure('Live native bytes', 'Allocated by malloc and not yet freed.', 'bytes', 4, {
    expression: `sum(native_malloc_live_bytes{${selected}})`,
    legend: 'live',
  }),
  figure('Live native objects', 'Objects from malloc that are not yet freed.', 'short', 4, {
    expression: `sum(native_malloc_objects{${selected}})`,
    legend: 'objects',
  }),
  figure('Used heap', 'The Java heap in use, for comparison.', 'bytes', 4, {
    expression: `sum(jvm_memory_used_bytes{area="heap", ${selected}})`,
    legend: 'heap',
  }),
];

const amounts = [
  graph(
    'Native memory and the heap',
    'Live native bytes beside the heap. Native memory that grows while the heap does not is what a heap dump cannot show.',
    'bytes',
    12,
    [
      { expression: `sum by (instance) (native_malloc_live_bytes{${selected}})`, legend: 'native live {{instance}}' },
      { expression: `sum by (instance) (native_malloc_peak_bytes{${selected}})`, legend: 'native peak {{instance}}' },
      {
        expression: `sum by (instance) (jvm_memory_used_bytes{area="heap", ${selected}})`,
        legend: 'heap used {{instance}}',
      },
      {
        expression: `sum by (instance) (jvm_memory_committed_bytes{area="heap", ${selected}})`,
        legend: 'heap committed {{instance}}',
      },
    ],
  ),
  graph(
    'Growth',
    'Bytes allocated less bytes freed, a second. Around zero is healthy; steadily above zero is a leak or a cache that grows.',
    'Bps',
    12,
    [
      {
        expression:
          `sum by (instance) (rate(native_malloc_allocated_bytes_total{${selected}}[$__rate_interval])` +
          ` - rate(native_malloc_freed_bytes_total{${selected}}[$__rate_interval]))`,
        legend: '{{instance}}',
      },
    ],
  ),
];

const holders = [
  graph(
    'Live native bytes by library',
    'The library that asked for the memory, estimated from samples: the ten with most, and other for the rest.',
    'bytes',
    12,
    [
      {
        expression: `sum by (library) (native_malloc_library_live_bytes{${selected}})`,
        legend: '{{library}}',
      },
    ],
  ),
  graph(
    'Live native bytes by call site',
    'The code that allocated it: an application\'s method, or a function of a library. One that only grows is where to look first.',
    'bytes',
    12,
    [
      {
        expression: `sum by (site) (native_malloc_site_live_bytes{${selected}})`,
        legend: '{{site}}',
      },
    ],
  ),
];

const rates = [
  graph('Bytes a second', 'How fast native memory is handed out and given back.', 'Bps', 12, [
    {
      expression: `sum(rate(native_malloc_allocated_bytes_total{${selected}}[$__rate_interval]))`,
      legend: 'allocated',
    },
    { expression: `sum(rate(native_malloc_freed_bytes_total{${selected}}[$__rate_interval]))`, legend: 'freed' },
  ]),
  graph(
    'Calls a second',
    'Small allocations are those of at most a page (4096 bytes). Failed calls found no memory or asked for too much.',
    'ops',
    12,
    [
      {
        expression: `sum by (size) (rate(native_malloc_allocations_total{${selected}}[$__rate_interval]))`,
        legend: 'allocations, {{size}}',
      },
      { expression: `sum(rate(native_malloc_frees_total{${selected}}[$__rate_interval]))`, legend: 'frees' },
      { expression: `sum(rate(native_malloc_failed_total{${selected}}[$__rate_interval]))`, legend: 'failed' },
    ],
  ),
];

const sizes = [
  buckets(
    'Requested sizes',
    'Allocations by the size that was asked for.',
    'bytes',
    12,
    `sum by (le) (increase(native_malloc_request_size_bytes_bucket{${selected}}[$__rate_interval]))`,
  ),
  graph('What mallometer costs', 'Processor time spent reading the counters, and memory it occupies.', 'percentunit', 12, [
    {
      expression: `sum by (instance) (rate(mallometer_overhead_seconds_total{${selected}}[$__rate_interval]))`,
      legend: 'processors {{instance}}',
    },
    { expression: `sum by (instance) (mallometer_footprint_bytes{${selected}})`, legend: 'memory {{instance}}' },
  ]).overrideByQuery('B', [
    { id: 'unit', value: 'bytes' },
    { id: 'custom.axisPlacement', value: 'right' },
  ]),
];

const dashboard = new DashboardBuilder('Native memory')
  .uid('mallometer-native-memory')
  .description("Where a JVM's native memory goes, as mallometer counts it.")
  .tags(['mallometer', 'native-memory', 'jvm'])
  .timezone('browser')
  .refresh('10s')
  .time({ from: 'now-15m', to: 'now' });

variables.forEach((variable) => dashboard.withVariable(variable));
dashboard.withRow(new RowBuilder('Now'));
trust.forEach((panel) => dashboard.withPanel(panel));
dashboard.withRow(new RowBuilder('How much'));
amounts.forEach((panel) => dashboard.withPanel(panel));
dashboard.withRow(new RowBuilder('Who'));
holders.forEach((panel) => dashboard.withPanel(panel));
dashboard.withRow(new RowBuilder('How fast'));
rates.forEach((panel) => dashboard.withPanel(panel));
dashboard.withRow(new RowBuilder('What sizes, at what cost'));
sizes.forEach((panel) => dashboard.withPanel(panel));

/** The dashboard as Grafana reads it. */
export const nativeMemory = dashboard.build();
