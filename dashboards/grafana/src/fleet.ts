// Shows all instances at once. Queries the series that dashboards/prometheus/recording.yml records, so that a panel reads
// only one series for each instance. Prometheus ranks the series, so the browser draws only a few.
import { IntervalVariableBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboard, selected, selectedJobs } from './dashboard.js';
import { killsOf, suspectsOf, withVersion } from './measures.js';
import {
  AS_DIAGNOSIS,
  FULL_INSTANCE,
  HALF,
  QUARTER,
  THIRD,
  TO_OVERVIEW,
  WATCH,
  WHOLE,
  bars,
  byPod,
  diagnosis,
  diagnoses,
  from,
  graph,
  growth,
  most,
  rows,
  runbook,
  stack,
  stackOfParts,
  values,
} from './panels.js';

const MOST = 20;
/** The default interval of Prometheus's recording rules. Points that are closer together would repeat the same values. */
const RECORDED = '1m';
const NAME = '{{job}} {{name}}';
const PLACE = { namespace: 'Namespace', job: 'Job' };
const byInstance = (expression: string) => `max by (namespace, job, instance) (${expression})`;
const top = (expression: string) => byPod(`topk(${MOST}, max by (job, instance) (${expression}))`);
const byJob = (expression: string) => `sum by (namespace, job) (${expression})`;
const live = `native_malloc_live_bytes{${selected}}`;
// An instance that ended within the last hour still has a slope, but no present value. It is left out.
const hourly = `(instance:native_malloc_live_bytes:deriv1h{${selected}} and ${live}) * 3600`;
const kills = killsOf(selected);

const whole = [
  diagnoses(
    'Instances by diagnosis',
    'How many instances have each diagnosis. act: do it today. watch: look at it this week. too early: wait. healthy: nothing.',
    HALF,
    selected,
  ).links([runbook('README.md')]),
  values('OOM kills within 24 hours', 'Kills at memory limits, of all instances, by their recordings and by the counters of their cgroups.', 'none', QUARTER, [
    { expression: `sum(${kills})`, legend: 'kills' },
  ])
    .decimals(0)
    .thresholds(from({ value: 1, color: WATCH }))
    .noValue('none seen')
    .links([runbook('after-a-kill.md')]),
  values('Instances', 'Instances that report, and those of them where malloc is not counted, whose call sites are unknown.', 'none', QUARTER, [
    { expression: `sum(job:mallometer_active:count{${selectedJobs}})`, legend: 'report' },
    {
      expression: `sum(job:mallometer_active:count{${selectedJobs}}) - sum(job:mallometer_active:sum{${selectedJobs}})`,
      legend: 'do not count',
    },
  ]).links([runbook('inactive.md')]),
];

const nearest = [
  rows(
    'Instances nearest to their limit',
    'Every selected instance; a click on an instance opens its overview. The time is the estimate of the process itself, absent while it does not grow.',
    WHOLE,
    { ...PLACE, instance: 'Instance' },
    [
      { name: 'Of the limit', unit: 'percentunit', expression: byInstance(`instance:memory_used:ratio{${selected}}`) },
      {
        name: 'Diagnosis',
        unit: 'none',
        expression: byInstance(diagnosis(selected)),
        mappings: AS_DIAGNOSIS,
      },
      { name: 'Limit in', unit: 's', expression: byInstance(`mallometer_time_to_limit_seconds{bound="estimate", ${selected}}`) },
      { name: 'Live', unit: 'bytes', expression: byInstance(live) },
      growth(byInstance(hourly)),
      { name: 'Resident', unit: 'bytes', expression: byInstance(`instance:native_memory_resident_bytes:sum{${selected}}`) },
      { name: 'Retained', unit: 'percentunit', expression: byInstance(`instance:native_memory_retained:ratio{${selected}}`) },
    ],
  )
    .height(11)
    .overrideByName('Instance', TO_OVERVIEW)
    .links([runbook('near-limit.md')]),
];

const SUSPECT = 'namespace, job, version, site, verdict';
const pods = withVersion(`mallometer_active{${selected}}`, selected);
const suspects = withVersion(`(${suspectsOf(selected)})`, selected);

const code = [
  rows(
    'Call sites that hold unused memory, by version',
    'One line for each call site with the verdict leak or unused, and for each version of its application. In all pods of one version and in none of the version before: that version brought it. In a few pods: ' +
      'look at what they do that others do not. Each process publishes the five to eight names that hold most for each verdict, so at least as many pods as In pods says have the call site, and Not accessed is their sum.',
    WHOLE,
    { site: 'Call site', verdict: 'Verdict', ...PLACE, version: 'Version' },
    [
      { name: 'In pods', unit: 'none', width: 90, expression: `count by (${SUSPECT}) (${suspects})` },
      {
        name: 'Of pods',
        unit: 'none',
        width: 90,
        expression:
          `count by (${SUSPECT}) (${suspects}) * 0 + on (namespace, job, version) group_left count by (namespace, job, version) (${pods})`,
      },
      { name: 'Not accessed', unit: 'bytes', expression: `sum by (${SUSPECT}) (${suspects})` },
    ],
  )
    .noValue('No call site holds unused memory')
    .links([runbook('leak-suspected.md')]),
];

const versions = [
  graph(
    'Live memory of a pod by version',
    'The mean of the pods that are half an hour old or older; the twenty jobs with most. While a deploy rolls, it is the new version beside the old one; the new one well above the old one at the ' +
      'same load is what the deploy brought.',
    'bytes',
    WHOLE,
    [
      {
        expression:
          `avg by (job, version) (job_version:native_malloc_live_bytes:avg{${selectedJobs}})` +
          ` and on (job) topk(${MOST}, sum by (job) (job:native_malloc_live_bytes:sum{${selectedJobs}} @ end()))`,
        legend: '{{job}} {{version}}',
      },
    ],
  )
    .interval(RECORDED)
    .noValue('Shown for instances that are half an hour old and whose version is known'),
  rows(
    'Versions compared',
    'Each version of each job: how long its youngest instance has been up, which tells new from old, and the means of its instances. Young instances grow anyway.',
    WHOLE,
    { ...PLACE, version: 'Version' },
    [
      { name: 'Live', unit: 'bytes', width: 100, expression: `avg by (namespace, job, version) (${withVersion(live, selected)})` },
      growth(`avg by (namespace, job, version) (${withVersion(hourly, selected)})`),
      {
        name: 'Youngest up',
        unit: 's',
        width: 105,
        expression: `min by (namespace, job, version) (${withVersion(`(time() - process_start_time_seconds{${selected}})`, selected)})`,
      },
      { name: 'Pods', unit: 'none', width: 70, expression: `count by (namespace, job, version) (${pods})` },
    ],
  ),
];

const savings = [
  rows(
    'Memory that a trim returns by job',
    'Figures by job. A trim of all instances returns at least the first figure.',
    HALF,
    PLACE,
    [
      { name: 'By a trim', unit: 'bytes', expression: byJob(`job:native_allocator_trimmable_bytes:sum{${selectedJobs}}`) },
      { name: 'Resident', unit: 'bytes', expression: byJob(`job:native_memory_resident_bytes:sum{${selectedJobs}}`) },
    ],
  )
    .links([runbook('retained.md')]),
  stack('Native memory by job', 'Live native memory by job; the twenty jobs with most at the end of the shown time.', 'bytes', HALF, [
    { expression: most(MOST, 'namespace, job', `job:native_malloc_live_bytes:sum{${selectedJobs}}`), legend: '{{job}}' },
  ]).interval(RECORDED),
  bars('OOM kills within 24 hours by job', 'Kills at memory limits by job. Many in one job: its limit is too small for what it does, or it leaks.', 'none', WHOLE, {
    expression: `topk(${MOST}, ${byJob(kills)} > 0)`,
    legend: '{{job}}',
  })
    .decimals(0)
    .height(5)
    .noValue('none seen')
    .links([runbook('after-a-kill.md')]),
];

const outliers = [
  bars('Fastest growth', 'Growth of live memory in an hour, by the line through the last hour. Young processes grow anyway.', 'bytes', THIRD, {
    expression: `${top(hourly)} > 0`,
    legend: NAME,
  })
    .dataLinks([FULL_INSTANCE])
    .links([runbook('reaches-limit.md')]),
  bars(
    'Live memory against the mean of the job',
    "Live memory as a multiple of the mean of the instance's job. Far above 1: this instance met something that the others did not.",
    'none',
    THIRD,
    {
      expression: byPod(
        `topk(${MOST}, max by (cluster, namespace, job, instance) (${live})` +
          ` / on (cluster, namespace, job) group_left avg by (cluster, namespace, job) (${live}))`,
      ),
      legend: NAME,
    },
  ).dataLinks([FULL_INSTANCE]),
  bars('Retained share', 'The share of the resident set that the allocator retains. A trim or an arena limit may give it back.', 'percentunit', THIRD, {
    expression: top(`instance:native_memory_retained:ratio{${selected}}`),
    legend: NAME,
  })
    .max(1)
    .dataLinks([FULL_INSTANCE])
    .links([runbook('retained.md')]),
];

const development = [
  graph('Growth by job', 'Growth of live memory of a whole job in an hour. A job above zero all day has a leak or a cache without a bound.', 'bytes', THIRD, [
    { expression: `(${most(MOST, 'namespace, job', `job:native_malloc_live_bytes:deriv1h{${selectedJobs}}`)}) * 3600`, legend: '{{job}}' },
  ])
    .interval(RECORDED)
    .links([runbook('reaches-limit.md')]),
  graph('Live memory of an instance', 'The median, the 90th percentile and the maximum of all instances. A maximum that leaves the median is an outlier; if all three rise, the cause is load.', 'bytes', THIRD, [
    { expression: `quantile(0.5, ${live})`, legend: 'half have less' },
    { expression: `quantile(0.9, ${live})`, legend: 'nine of ten have less' },
    { expression: `max(${live})`, legend: 'highest' },
  ]).interval(RECORDED),
  stackOfParts('Resident memory by part', 'The resident sets of all instances together, by part.', THIRD, [
    { expression: `sum by (part) (job:native_memory_resident_bytes:sum{${selectedJobs}})`, legend: '{{part}}' },
  ]).interval(RECORDED),
];

const deploys = [
  graph(
    'Young and old processes',
    'Mean live memory of processes started in the last six hours, and of the others. While a deploy rolls, it is new code beside old, also where no version is known. The twenty jobs with most.',
    'bytes',
    WHOLE,
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
    'Live memory now and before',
    'Mean live memory of the instances of each job now, and the chosen time ago, and how much more it is. Choose a time before the deploy, and at the same hour of the day.',
    WHOLE,
    PLACE,
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
      { name: 'Instances', unit: 'none', width: 100, expression: byJob(`job:mallometer_active:count{${selectedJobs}}`) },
    ],
  ),
];

/** The dashboard, ready to be written as JSON. */
export const fleet = dashboard(
  'mallometer-fleet',
  'Native memory: fleet',
  'The native memory of all instances: kills, leaks, limits, versions, and what could be given back. Needs the recording rules of mallometer.',
  'now-6h',
  'fleet',
  [
    { title: 'State', panels: whole },
    { title: 'Limits', panels: nearest },
    { title: 'Call sites', panels: code },
    { title: 'Versions', panels: versions },
    { title: 'Jobs', panels: savings },
    { title: 'Instances that differ from others', panels: outliers, closed: true },
    { title: 'Development', panels: development, closed: true },
    { title: 'Before and after a deploy, without versions', panels: deploys, closed: true },
  ],
)
  .withVariable(
    new IntervalVariableBuilder('compare')
      .label('Compare with')
      .values('1h,6h,12h,1d,7d')
      .current({ selected: true, text: '1d', value: '1d' }),
  )
  .build();
