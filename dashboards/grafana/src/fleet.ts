// All instances at once. Asks the recorded series of dashboards/prometheus/recording.yml, so that a thousand instances cost
// a thousand series a panel, and rankings are made by Prometheus, so that the browser draws a few.
import { IntervalVariableBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboard, selected, selectedJobs } from './dashboard.js';
import { BY_THRESHOLDS, HALF, SIXTH, WHOLE, bars, figure, from, graph, most, rows, runbook, stack } from './panels.js';

const MOST = 20;
/** How often Prometheus evaluates recording rules unless told otherwise: more points would be the same again. */
const RECORDED = '1m';
const NAME = '{{job}} {{instance}}';
const byInstance = (expression: string) => `max by (job, instance) (${expression})`;
const top = (expression: string) => `topk(${MOST}, ${byInstance(expression)})`;
const byJob = (expression: string) => `sum by (namespace, job) (${expression})`;
const live = `native_malloc_live_bytes{${selected}}`;
const hourly = `instance:native_malloc_live_bytes:deriv1h{${selected}} * 3600`;
const secondsToLimit =
  `(cgroup_memory_limit_bytes{${selected}} - cgroup_memory_working_set_bytes{${selected}})` +
  ` / (instance:native_malloc_live_bytes:deriv1h{${selected}} > 0)`;

const whole = [
  figure('Instances', 'Instances that report, and count.', 'none', SIXTH, {
    expression: `sum(job:mallometer_active:sum{${selectedJobs}})`,
    legend: 'counting',
  }),
  figure('Not counting', 'Instances where mallometer is not active: their malloc is a blind spot.', 'none', SIXTH, {
    expression: `sum(job:mallometer_active:count{${selectedJobs}}) - sum(job:mallometer_active:sum{${selectedJobs}})`,
    legend: 'not counting',
  })
    .thresholds(from({ value: 1, color: 'orange' }))
    .links([runbook('inactive.md')]),
  figure('Live', "malloc's live memory of all instances together.", 'bytes', SIXTH, {
    expression: `sum(job:native_malloc_live_bytes:sum{${selectedJobs}})`,
    legend: 'live',
  }),
  figure('Growth in an hour', 'By how much it grows. Many instances even out: a steady rise is a habit of the fleet.', 'bytes', SIXTH, {
    expression: `sum(job:native_malloc_live_bytes:deriv1h{${selectedJobs}}) * 3600`,
    legend: 'growth',
  }),
  figure('Leaking call sites', 'Call sites with the verdict leak, in all instances.', 'none', SIXTH, {
    expression: `sum(native_malloc_leak_sites{verdict="leak", ${selected}})`,
    legend: 'leaking',
  })
    .thresholds(from({ value: 1, color: 'red' }))
    .links([runbook('leak-suspected.md')]),
  figure('Could be freed', 'What trimming all instances would give back at least.', 'bytes', SIXTH, {
    expression: `sum(job:native_allocator_trimmable_bytes:sum{${selectedJobs}})`,
    legend: 'trimmable',
  }).links([runbook('retained.md')]),
];

const outliers = [
  bars('Nearest to their limit', 'The fullest instances. Above 90 % the kernel kills soon.', 'percentunit', HALF, {
    expression: top(`instance:cgroup_memory_working_set:ratio{${selected}}`),
    legend: NAME,
  })
    .max(1)
    .thresholds(from({ value: 0.8, color: 'orange' }, { value: 0.9, color: 'red' }))
    .colorScheme(BY_THRESHOLDS)
    .links([runbook('near-limit.md')]),
  bars('Growing fastest', 'Growth of live memory in an hour, by the line through the last hour. Young processes grow anyway.', 'bytes', HALF, {
    expression: `${top(hourly)} > 0`,
    legend: NAME,
  }).links([runbook('reaches-limit.md')]),
  bars(
    'Farthest from their peers',
    "Live memory as a multiple of the mean of the instance's job. Far above 1: this instance met something that the others did not.",
    'none',
    HALF,
    {
      expression:
        `topk(${MOST}, max by (cluster, namespace, job, instance) (${live})` +
        ` / on (cluster, namespace, job) group_left avg by (cluster, namespace, job) (${live}))`,
      legend: NAME,
    },
  )
    .thresholds(from({ value: 1.5, color: 'orange' }, { value: 2, color: 'red' }))
    .colorScheme(BY_THRESHOLDS),
  bars('Keeping most', 'The share of the resident set that the allocator keeps.', 'percentunit', HALF, {
    expression: top(`instance:native_memory_retained:ratio{${selected}}`),
    legend: NAME,
  })
    .max(1)
    .thresholds(from({ value: 0.3, color: 'orange' }))
    .colorScheme(BY_THRESHOLDS)
    .links([runbook('retained.md')]),
];

const development = [
  stack('Live bytes by job', 'Who has how much of the fleet\'s native memory; the twenty with most at the end of the shown time.', 'bytes', HALF, [
    { expression: most(MOST, 'namespace, job', `job:native_malloc_live_bytes:sum{${selectedJobs}}`), legend: '{{job}}' },
  ]).interval(RECORDED),
  graph('Growth by job', 'Growth of live memory of a whole job in an hour. A job above zero all day has a leak or a cache without a bound.', 'bytes', HALF, [
    { expression: `(${most(MOST, 'namespace, job', `job:native_malloc_live_bytes:deriv1h{${selectedJobs}}`)}) * 3600`, legend: '{{job}}' },
  ])
    .interval(RECORDED)
    .links([runbook('reaches-limit.md')]),
  graph('Live bytes of an instance', 'The middle, the tenth from above, and the highest of all instances. The highest that leaves the middle is an outlier; all together is load.', 'bytes', HALF, [
    { expression: `quantile(0.5, ${live})`, legend: 'half have less' },
    { expression: `quantile(0.9, ${live})`, legend: 'nine of ten have less' },
    { expression: `max(${live})`, legend: 'highest' },
  ]).interval(RECORDED),
  stack('Resident memory by part', 'The resident sets of all instances together, by what they are.', 'bytes', HALF, [
    { expression: `sum by (part) (job:native_memory_resident_bytes:sum{${selectedJobs}})`, legend: '{{part}}' },
  ]).interval(RECORDED),
];

const deploys = [
  graph(
    'Young and old processes',
    'Mean live memory of processes started in the last six hours, and of the others. While a deploy rolls, it is new code beside old; new code well above old at the ' +
      'same load is what the deploy brought. The twenty jobs with most.',
    'bytes',
    10,
    [
      {
        expression:
          `avg by (job, age) (job:native_malloc_live_bytes_by_age:avg{${selectedJobs}})` +
          ` and on (job) topk(${MOST}, sum by (job) (job:native_malloc_live_bytes:sum{${selectedJobs}} @ end()))`,
        legend: '{{age}} {{job}}',
      },
    ],
  ).interval(RECORDED),
  rows(
    'Now and before',
    'Mean live memory of the instances of each job now, and the chosen time ago, and how much more it is. Choose a time before the deploy, and at the same hour of the day.',
    14,
    { namespace: 'Namespace', job: 'Job' },
    [
      {
        name: 'More',
        unit: 'bytes',
        expression:
          `avg by (namespace, job) (job:native_malloc_live_bytes:avg{${selectedJobs}})` +
          ` - avg by (namespace, job) (job:native_malloc_live_bytes:avg{${selectedJobs}} offset $compare)`,
      },
      { name: 'Now', unit: 'bytes', expression: `avg by (namespace, job) (job:native_malloc_live_bytes:avg{${selectedJobs}})` },
      {
        name: 'Before',
        unit: 'bytes',
        expression: `avg by (namespace, job) (job:native_malloc_live_bytes:avg{${selectedJobs}} offset $compare)`,
      },
      { name: 'Instances', unit: 'none', expression: byJob(`job:mallometer_active:count{${selectedJobs}}`) },
    ],
  ),
];

const savings = [
  bars('Trimming would free', 'What a trim of all its instances would give back at least, by job.', 'bytes', HALF, {
    expression: `topk(${MOST}, ${byJob(`job:native_allocator_trimmable_bytes:sum{${selectedJobs}}`)})`,
    legend: '{{job}}',
  }).links([runbook('retained.md')]),
  bars(
    'An arena limit would free',
    'An estimate: what a trim does not reach of the kept memory, times the share of arenas beyond two for each processor. MALLOC_ARENA_MAX does it.',
    'bytes',
    HALF,
    {
      expression: `topk(${MOST}, ${byJob(`job:native_allocator_arena_limit_bytes:estimate{${selectedJobs}}`)})`,
      legend: '{{job}}',
    },
  ).links([runbook('retained.md')]),
];

const all = [
  rows(
    'All instances',
    'Every selected instance; a click on an instance opens its overview. Sorted by what is nearest to its limit.',
    WHOLE,
    { namespace: 'Namespace', job: 'Job', instance: 'Instance' },
    [
      {
        name: 'Of the limit',
        unit: 'percentunit',
        expression: `max by (namespace, job, instance) (instance:cgroup_memory_working_set:ratio{${selected}})`,
        steps: [
          { value: 0.8, color: 'orange' },
          { value: 0.9, color: 'red' },
        ],
      },
      {
        name: 'Limit in',
        unit: 's',
        expression: `max by (namespace, job, instance) (${secondsToLimit})`,
      },
      { name: 'Live', unit: 'bytes', expression: `max by (namespace, job, instance) (${live})` },
      { name: 'Growth an hour', unit: 'bytes', expression: `max by (namespace, job, instance) (${hourly})` },
      {
        name: 'Resident',
        unit: 'bytes',
        expression: `max by (namespace, job, instance) (instance:native_memory_resident_bytes:sum{${selected}})`,
      },
      {
        name: 'Retained',
        unit: 'percentunit',
        expression: `max by (namespace, job, instance) (instance:native_memory_retained:ratio{${selected}})`,
      },
    ],
  )
    .height(14)
    .overrideByName('Instance', [
      {
        id: 'links',
        value: [
          {
            title: 'Overview of ${__value.text}',
            url: '/d/mallometer-overview?${datasource:queryparam}&var-instance=${__value.raw}&${__url_time_range}',
          },
        ],
      },
    ]),
];

/** The dashboard as Grafana reads it. */
export const fleet = dashboard(
  'mallometer-fleet',
  'Native memory: fleet',
  'The native memory of all instances: outliers, growth, deploys, and what could be freed. Needs the recording rules of mallometer.',
  'now-6h',
  'fleet',
  [
    { title: 'The whole', panels: whole },
    { title: 'Outliers', panels: outliers },
    { title: 'Over time', panels: development },
    { title: 'Before and after a deploy', panels: deploys },
    { title: 'What could be freed', panels: savings },
    { title: 'One by one', panels: all },
  ],
)
  .withVariable(
    new IntervalVariableBuilder('compare')
      .label('Compare with')
      .values('1h,6h,12h,1d,7d')
      .current({ selected: true, text: '1d', value: '1d' }),
  )
  .build();
