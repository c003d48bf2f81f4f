// Shows whether the native memory of one instance is a problem, what kind of problem it is, and when it will cause harm.
// Queries only series that the instance itself publishes, so the dashboard works without the recording rules.
import { dashboard, one } from './dashboard.js';
import { killsOf, suspectsOf } from './measures.js';
import {
  AS_DIAGNOSIS,
  AS_LIMIT,
  AS_LINE,
  COUNTED_ON_THE_RIGHT,
  DRAWN,
  HALF,
  OF_LIMIT,
  OF_LIMIT_BY_HEAP,
  QUARTER,
  THIRD,
  WATCH,
  WHOLE,
  asWords,
  beyond,
  diagnosis,
  from,
  fromPlain,
  graph,
  growth,
  names,
  onTheRight,
  rows,
  runbook,
  stackOfParts,
  values,
} from './panels.js';

/** The least growth, in bytes per hour, at which a call site without a verdict is shown. */
const LEAST_GROWTH = 16 * 1024 * 1024;
const limit = `max(cgroup_memory_limit_bytes{${one}} > 0)`;
const used = `sum(cgroup_memory_charged_bytes{part!="page_cache", ${one}})`;
/** The share of the resident Java heap in the used memory. */
const heapShare = `sum(native_memory_resident_bytes{part="java_heap", ${one}}) / ${used}`;
const heap = (what: string) => `sum(jvm_memory_${what}_bytes{area="heap", ${one}})`;
const BY_HEAP = 'used, most of it by the heap';
/** The words for values that stand for a missing time. No time has a negative number. */
const NO_TIME = { [-1]: 'too early', [-2]: 'not growing', [-3]: 'no estimate' };
// Selects the series of the shown pod. The series of kube-state-metrics have other instance labels.
const ofPod = `and on (cluster, namespace, pod) mallometer_active{${one}}`;

const verdict = [
  values('Diagnosis', 'The diagnosis of the process itself; its page, health and log tell the sentence and what to do. act: do it today. watch: look at it this week. too early: wait. healthy: nothing.', 'none', QUARTER, [
    { expression: `max(${diagnosis(one)})`, legend: 'diagnosis' },
  ])
    .mappings(AS_DIAGNOSIS)
    .noValue('unknown')
    .links([runbook('README.md')]),
  values(
    'OOM kills within 24 hours',
    'How often the kernel killed this instance or a process beside it at the memory limit. Known from the recording of the previous run, from the cgroup\'s counter, and from kube-state-metrics.',
    'none',
    QUARTER,
    [
      {
        expression:
          `max(${killsOf(one)} or max by (pod) (kube_pod_container_status_last_terminated_reason{reason="OOMKilled"} ${ofPod}` +
          ' and on (cluster, namespace, pod, container) increase(kube_pod_container_status_restarts_total[1d]) > 0))',
        legend: 'kills',
      },
    ],
  )
    .decimals(0)
    .thresholds(from({ value: 1, color: WATCH }))
    .noValue('none seen')
    .links([runbook('after-a-kill.md')]),
  values(
    'Memory limit used',
    'Charged memory without cached files, which the kernel gives up before it kills. Orange from 90 %, red from 95 % on; where the heap is two thirds of it, orange from 95 % on. Needs a limit of the cgroup.',
    'percentunit',
    QUARTER,
    [
      {
        expression:
          `label_replace(${used} / ${limit} unless ${heapShare} >= 2 / 3, "name", "used", "name", "")` +
          ` or label_replace(${used} / ${limit} and ${heapShare} >= 2 / 3, "name", "${BY_HEAP}", "name", "")`,
        legend: '{{name}}',
      },
    ],
  )
    .decimals(1)
    .thresholds(from(...OF_LIMIT))
    .overrideByName(BY_HEAP, [{ id: 'thresholds', value: { mode: 'absolute', steps: fromPlain(OF_LIMIT_BY_HEAP) } }])
    .noValue('no limit')
    .links([runbook('near-limit.md')]),
  values(
    'Time to the limit',
    'The estimate of the process itself, and the soonest time within its 95 % interval. Too early: memory was not watched for long enough. Not growing: there is no such time. No estimate: growth paused, or is not steady.',
    's',
    QUARTER,
    [
      {
        expression:
          `max(mallometer_time_to_limit_seconds{bound="estimate", ${one}}) or -1 * max(mallometer_diagnosis{state="too_early", ${one}} == 1)` +
          ` or -2 * max(mallometer_diagnosis{state="healthy", ${one}} == 1) or -3 * max(mallometer_active{${one}} >= bool 0)`,
        legend: 'about in',
      },
      { expression: `max(mallometer_time_to_limit_seconds{bound="lower", ${one}})`, legend: 'soonest in' },
    ],
  )
    .mappings(asWords(NO_TIME))
    .noValue('unknown')
    .links([runbook('reaches-limit.md')]),
];

const kind = [
  stackOfParts(
    'Memory by part',
    'The parts of the resident set, which add up, what counts against the limit, and the limit. The part that grows says what to ask next: malloc, live: the call sites; ' +
      'malloc, retained: the allocator; metaspace: classes; thread stacks: threads; unexplained: something maps memory itself.',
    HALF,
    [
      { expression: `sum by (part) (native_memory_resident_bytes{${one}})`, legend: '{{part}}' },
      { expression: used, legend: 'counts against the limit' },
      { expression: limit, legend: 'limit' },
    ],
  )
    .overrideByQuery('B', AS_LINE)
    .overrideByQuery('C', AS_LIMIT)
    .height(11)
    .links([runbook('near-limit.md')]),
  graph(
    'Native memory and Java heap',
    'Live native memory (allocated and not freed), the memory that the allocator retains, and the heap. Live memory that climbs while the heap does ' +
      'not is what a heap dump cannot show. Retained memory that climbs while live memory does not is the allocator\'s doing.',
    'bytes',
    HALF,
    [
      { expression: `sum(native_malloc_live_bytes{${one}})`, legend: 'live' },
      { expression: `sum(native_memory_resident_bytes{part="malloc_retained", ${one}})`, legend: 'retained' },
      { expression: heap('used'), legend: 'heap used' },
      { expression: heap('committed'), legend: 'heap committed' },
    ],
  )
    .height(11)
    .min(0)
    .links([runbook('reaches-limit.md')]),
];

/** The call sites that grow while the diagnosis is watch or act, without those that have the verdict leak or unused. */
const growing =
  `topk(5, deriv(native_malloc_site_live_bytes{site!="other", ${one}}[1h]) * 3600 > ${LEAST_GROWTH}` +
  ` and on (site) native_malloc_site_live_bytes{${one}}` +
  ` unless on (site) (native_malloc_leak_suspected_bytes{${one}} > 0 or native_malloc_leak_unused_bytes{${one}} > 0))` +
  ` and on () max(mallometer_diagnosis{state=~"watch|act", ${one}}) == 1`;

const suspects = [
  rows(
    'Suspects and growing call sites',
    'leak: nothing will use it again; the line of code to open first. unused: nothing has used it so far, which a timeout or a scan may still do. none yet: it grows while the diagnosis is watch or act, and is judged later. The columns: the memory of the call site that was not accessed; ' +
      'the growth of all its live bytes by the line through the last hour, extrapolated if the process is younger, and empty if the call site is not among the names in native_malloc_site_live_bytes; and since when ' +
      'Prometheus has seen the suspect, a day back at most. Each process publishes the five to eight names that hold most for each verdict.',
    WHOLE,
    { site: 'Call site', verdict: 'Verdict' },
    [
      { name: 'Not accessed', unit: 'bytes', expression: `sum by (site, verdict) (${suspectsOf(one)})` },
      growth(
        `sum by (site, verdict) (${suspectsOf(one, (bytes) => `deriv(native_malloc_site_live_bytes{${one}}[1h]) * 3600 and on (site) ${bytes} > 0`)}` +
          ` or label_replace(${growing}, "verdict", "none yet", "", ""))`,
      ),
      {
        // The range has a step of 1 min. A suspect that is younger has no step in it, so its present time is used.
        name: 'Since',
        unit: 'dateTimeAsIso',
        width: 190,
        expression:
          'min by (site, verdict) (' +
          suspectsOf(one, (bytes) => `(min_over_time(timestamp(${bytes} > 0)[1d:1m]) or timestamp(${bytes} > 0)) * 1000 and ${bytes} > 0`) +
          ')',
      },
    ],
  )
    .height(7)
    .noValue('No call site is a suspect')
    .links([runbook('leak-suspected.md')]),
];

const rates = [
  graph(
    'Growth',
    'Bytes allocated less bytes freed, a second. Around zero is healthy; steadily above zero is a leak or a cache that grows.',
    'binBps',
    THIRD,
    [
      {
        expression:
          `sum(rate(native_malloc_allocated_bytes_total{${one}}[$__rate_interval])` +
          ` - rate(native_malloc_freed_bytes_total{${one}}[$__rate_interval]))`,
        legend: 'growth',
      },
    ],
  ).links([runbook('reaches-limit.md')]),
  graph(
    'Allocated and freed',
    'How fast native memory is allocated and freed. Growth that follows this curve follows the load; growth that does not is a leak or a cache.',
    'binBps',
    THIRD,
    [
      { expression: `sum(rate(native_malloc_allocated_bytes_total{${one}}[$__rate_interval]))`, legend: 'allocated' },
      { expression: `sum(rate(native_malloc_freed_bytes_total{${one}}[$__rate_interval]))`, legend: 'freed' },
    ],
  ),
  graph(
    'Calls a second',
    'Small allocations are those of at most a page (4096 bytes). Failed calls found no memory or requested too much; there should be none.',
    'ops',
    THIRD,
    [
      {
        expression: `sum by (size) (rate(native_malloc_allocations_total{${one}}[$__rate_interval]))`,
        legend: 'allocations, {{size}}',
      },
      { expression: `sum(rate(native_malloc_frees_total{${one}}[$__rate_interval]))`, legend: 'frees' },
      { expression: `sum(rate(native_malloc_failures_total{${one}}[$__rate_interval]))`, legend: 'failed' },
    ],
  ),
];

const keeper = [
  graph(
    'Memory of the allocator',
    'Memory that malloc has from the system, its live and retained parts, and the least that a trim would give back. Retained and trimmable high: trim. Retained high, trimmable low: ' +
      'limit the arenas, or use another allocator.',
    'bytes',
    HALF,
    [
      { expression: `sum(native_allocator_system_bytes{${one}})`, legend: 'from the system' },
      { expression: `sum(native_allocator_used_bytes{${one}})`, legend: 'in use' },
      { expression: `sum(native_allocator_retained_bytes{${one}})`, legend: 'retained' },
      { expression: `sum(native_allocator_trimmable_bytes{${one}})`, legend: 'trimmable' },
    ],
  ).links([runbook('retained.md')]),
  stackOfParts(
    'Charged memory by part',
    'Memory of the cgroup by part. Page cache does not count against the limit: the kernel gives it up before it kills.',
    HALF,
    [
      { expression: `sum by (part) (cgroup_memory_charged_bytes{${one}})`, legend: '{{part}}' },
      { expression: limit, legend: 'limit' },
    ],
  )
    .overrideByQuery('B', AS_LIMIT)
    .links([runbook('near-limit.md')]),
];

const ends = [
  graph(
    'Restarts',
    'The age of the process: where it falls to zero, it was started anew. In Kubernetes, with kube-state-metrics, also how often each container was ' +
      'restarted, and the reason of the last end; OOMKilled is the kernel at the limit.',
    's',
    HALF,
    [
      { expression: `max(time() - process_start_time_seconds{${one}})`, legend: 'age' },
      {
        expression: `sum by (container) (kube_pod_container_status_restarts_total ${ofPod})`,
        legend: 'restarts of {{container}}',
      },
      {
        expression: `sum by (container, reason) (kube_pod_container_status_last_terminated_reason ${ofPod}) > 0`,
        legend: 'last end of {{container}}: {{reason}}',
      },
    ],
  )
    .overrideByQuery('B', COUNTED_ON_THE_RIGHT)
    .overrideByQuery('C', COUNTED_ON_THE_RIGHT)
    .links([runbook('after-a-kill.md')]),
  graph(
    'Events of the memory limit',
    'How often the kernel met the limit (max, high), found no memory (oom) and killed (oom_kill). A value above zero at max means that the process reaches the limit.',
    'none',
    HALF,
    [
      {
        expression: `sum by (event) (increase(cgroup_memory_events_total{${one}}[$__rate_interval]))`,
        legend: '{{event}}',
      },
    ],
  )
    .min(0)
    .axisSoftMax(5)
    .links([runbook('after-a-kill.md')]),
];

const trust = [
  names('Counting', 'Whether native memory is counted; "attached" beside it: since an attach, not from the start. Anything but "active": the panels about malloc are empty.', HALF, {
    expression: [
      `label_replace(max(mallometer_active{${one}}) == 1, "state", "active", "", "")`,
      `label_replace(max(mallometer_active{${one}}) == 0, "state", "inactive", "", "")`,
      `max by (state) (label_join(mallometer_build_info{mode="attached", ${one}}, "state", "", "mode"))`,
    ].join(' or '),
    legend: '{{state}}',
  })
    .height(9)
    .links([runbook('inactive.md')]),
  graph('Age of the figures', 'Time since the counters were read. Above the line at two minutes: the poller is stuck, or the JVM; unless the interval between readings was made that long.', 's', HALF, [
    { expression: `max(mallometer_snapshot_age_seconds{${one}})`, legend: 'age' },
  ])
    .thresholds(beyond({ value: 120, color: WATCH }))
    .thresholdsStyle(DRAWN)
    .links([runbook('stuck.md')]),
  graph(
    'Cost of mallometer',
    'Processor time for samples, counters and the recording, as a share of one processor, its target, and the memory it occupies.',
    'percentunit',
    HALF,
    [
      { expression: `sum(rate(mallometer_overhead_seconds_total{${one}}[$__rate_interval]))`, legend: 'processor' },
      { expression: `min(mallometer_overhead_target_ratio{${one}})`, legend: 'target' },
      { expression: `sum(mallometer_footprint_bytes{${one}})`, legend: 'memory' },
    ],
  )
    .overrideByQuery('B', AS_LINE)
    .overrideByQuery('C', onTheRight('bytes'))
    .links([runbook('stuck.md')]),
  graph(
    'Samples taken and lost',
    'Sampled allocations, and the samples that were lost because a table was full. Dropped no_site or not_followed: live bytes by site are too low. no_path loses no sample.',
    'ops',
    HALF,
    [
      { expression: `sum(rate(mallometer_samples_total{${one}}[$__rate_interval]))`, legend: 'taken' },
      {
        expression: `sum by (reason) (rate(mallometer_samples_dropped_total{${one}}[$__rate_interval]))`,
        legend: 'dropped, {{reason}}',
      },
    ],
  ).links([runbook('stuck.md')]),
];

/** The dashboard, ready to be written as JSON. */
export const overview = dashboard(
  'mallometer-overview',
  'Native memory: overview',
  "Whether the native memory of one JVM is a problem, of what kind, and when. Opens with the instance that has the most severe diagnosis.",
  'now-3h',
  'one',
  [
    { title: 'State', panels: verdict },
    { title: 'Memory', panels: kind },
    { title: 'Call sites', panels: suspects },
    { title: 'Allocations', panels: rates, closed: true },
    { title: 'Allocator and kernel', panels: keeper, closed: true },
    { title: 'Restarts and the memory limit', panels: ends, closed: true },
    { title: 'mallometer itself', panels: trust, closed: true },
  ],
).build();
