// Is native memory a problem, of what kind, when does it hurt? Asks only series that instances publish themselves, so it
// works without the recording rules.
import { dashboard, shown } from './dashboard.js';
import { AS_LIMIT, COUNTED_ON_THE_RIGHT, DRAWN, HALF, SIXTH, THIRD, TWO_THIRDS, below, beside, beyond, figure, from, graph, most, names, onTheRight, runbook, stack, stackOfSites } from './panels.js';

const used = `cgroup_memory_working_set_bytes{${shown}} / (cgroup_memory_limit_bytes{${shown}} > 0)`;
const left = `(cgroup_memory_limit_bytes{${shown}} - cgroup_memory_working_set_bytes{${shown}})`;
const growth = `deriv(native_malloc_live_bytes{${shown}}[1h])`;
const limit = `sum by (instance) (cgroup_memory_limit_bytes{${shown}})`;
const heap = (what: string) => `sum by (instance) (jvm_memory_${what}_bytes{area="heap", ${shown}})`;
// Only pods that are shown; kube-state-metrics has labels of its own.
const ofSelectedPods = `and on (namespace, pod) mallometer_active{${shown}}`;

const verdict = [
  names('State', 'Whether native memory is counted; "attached" beside it: since an attach, not from the start. Anything but "active": the panels about malloc are empty for that instance.', SIXTH, {
    expression: `max by (state) (mallometer_state{${shown}}) == 1 or max by (state) (label_join(mallometer_build{mode=~"attached|relaunched", ${shown}}, "state", "", "mode"))`,
    legend: '{{state}}',
  }).links([runbook('inactive.md')]),
  figure(
    'Of the limit',
    'The fullest instance: memory that the kernel cannot drop, as a share of the limit. At 100 % the kernel kills. Needs a limit.',
    'percentunit',
    SIXTH,
    { expression: `max(${used})`, legend: 'used' },
  )
    .thresholds(from({ value: 0.8, color: 'orange' }, { value: 0.9, color: 'red' }))
    .noValue('no limit')
    .links([runbook('near-limit.md')]),
  figure(
    'Reaches the limit in',
    'The instance that gets there first, if malloc\'s memory goes on growing as in the last hour. A young process grows anyway: judge after an hour.',
    's',
    SIXTH,
    { expression: `min(${left} / (${growth} > 0))`, legend: 'until the limit' },
  )
    .thresholds(below('red', { value: 7200, color: 'orange' }, { value: 86400, color: 'green' }))
    .noValue('not growing')
    .links([runbook('reaches-limit.md')]),
  figure(
    'Growth in an hour',
    'How much malloc\'s live memory of all shown instances grew, by the line through the last hour. Around zero is healthy.',
    'bytes',
    SIXTH,
    { expression: `sum(${growth}) * 3600`, legend: 'growth' },
  ),
  figure('Leaking call sites', 'Call sites with the verdict leak. Where shows them by name.', 'none', SIXTH, {
    expression: `sum(native_malloc_leak_sites{verdict="leak", ${shown}})`,
    legend: 'leaking',
  })
    .thresholds(from({ value: 1, color: 'red' }))
    .links([runbook('leak-suspected.md')]),
  figure(
    'Heap used',
    'The fullest Java heap, as a share of its maximum. High here and high against the limit: look at the heap first.',
    'percentunit',
    SIXTH,
    {
      expression:
        `max(sum without (area, id) (jvm_memory_used_bytes{area="heap", ${shown}})` +
        ` / sum without (area, id) (jvm_memory_max_bytes{area="heap", ${shown}} > 0))`,
      legend: 'heap',
    },
  ).thresholds(from({ value: 0.85, color: 'orange' }, { value: 0.95, color: 'red' })),
];

const kind = [
  stack(
    'Resident memory by what it is',
    'All parts of the resident set of the shown instances; they add up. The part that grows says which question to ask next: malloc-live: Where; ' +
      'malloc-retained: the allocator keeps it; metaspace: classes; thread-stacks: threads; unexplained: something maps memory itself.',
    'bytes',
    HALF,
    [{ expression: `sum by (part) (native_memory_resident_bytes{${shown}})`, legend: '{{part}}' }],
  ).links([runbook('near-limit.md')]),
  graph(
    'Memory against the limit',
    'Each instance: what the kernel charges, the part of it that it cannot drop (working set), the resident set, and the limit. The projection is the working set ' +
      'four hours from now by the line through the last hour, drawn to a little above the limit. Charged above the working set is page cache and does no harm.',
    'bytes',
    HALF,
    [
      { expression: `sum by (instance) (cgroup_memory_working_set_bytes{${shown}})`, legend: 'working set {{instance}}' },
      { expression: `sum by (instance) (cgroup_memory_charged_bytes{${shown}})`, legend: 'charged {{instance}}' },
      { expression: `sum by (instance) (native_memory_resident_bytes{${shown}})`, legend: 'resident {{instance}}' },
      {
        // Beyond the limit it does not matter how far.
        expression:
          `clamp_min(sum by (instance) (predict_linear(cgroup_memory_working_set_bytes{${shown}}[1h], 4 * 3600)), 0)` +
          ` < 1.2 * ${limit} or 1.2 * ${limit}`,
        legend: 'in 4 h {{instance}}',
      },
      { expression: limit, legend: 'limit {{instance}}' },
    ],
  )
    .overrideByQuery('D', [
      { id: 'custom.lineStyle', value: { fill: 'dot', dash: [2, 6] } },
    ])
    .overrideByQuery('E', AS_LIMIT)
    .legend(beside())
    .links([runbook('near-limit.md')]),
];

const growing = [
  graph(
    'Native memory and the heap',
    'What malloc handed out and did not get back, what the allocator keeps of what it got back, and the heap beside them. Live that climbs while the heap does ' +
      'not is what a heap dump cannot show. Retained that climbs while live does not is the allocator\'s doing.',
    'bytes',
    HALF,
    [
      { expression: `sum by (instance) (native_malloc_live_bytes{${shown}})`, legend: 'live {{instance}}' },
      {
        expression: `sum by (instance) (native_memory_resident_bytes{part="malloc-retained", ${shown}})`,
        legend: 'retained {{instance}}',
      },
      { expression: heap('used'), legend: 'heap used {{instance}}' },
      { expression: heap('committed'), legend: 'heap committed {{instance}}' },
    ],
  ).legend(beside()).links([runbook('retained.md')]),
  graph(
    'Growth',
    'Bytes allocated less bytes freed, a second. Around zero is healthy; steadily above zero is a leak or a cache that grows.',
    'Bps',
    HALF,
    [
      {
        expression:
          `sum by (instance) (rate(native_malloc_allocated_bytes_total{${shown}}[$__rate_interval])` +
          ` - rate(native_malloc_freed_bytes_total{${shown}}[$__rate_interval]))`,
        legend: '{{instance}}',
      },
    ],
  ).links([runbook('reaches-limit.md')]),
];

const suspects = [
  graph(
    'Call sites by verdict',
    'leak: objects that nothing will use again keep arriving. unused: nothing touched them so far, which a timeout or a scan may still do. growing: ever more, used or not. pool: others like them were used or freed again. Only leak is a reason to act.',
    'none',
    THIRD,
    [{ expression: `sum by (verdict) (native_malloc_leak_sites{${shown}})`, legend: '{{verdict}}' }],
  ).links([runbook('leak-suspected.md')]),
  stackOfSites(
    'Suspected bytes by call site',
    'How much memory each suspected call site holds untouched: the line of code to open first.',
    TWO_THIRDS,
    most(10, 'site', `native_malloc_leak_suspected_bytes{${shown}}`),
  ).links([runbook('leak-suspected.md')]),
];

const rates = [
  graph(
    'Allocated and freed',
    'How fast native memory is handed out and given back. Growth that follows this curve follows the load; growth that does not is a leak or a cache.',
    'Bps',
    HALF,
    [
      {
        expression: `sum(rate(native_malloc_allocated_bytes_total{${shown}}[$__rate_interval]))`,
        legend: 'allocated',
      },
      { expression: `sum(rate(native_malloc_freed_bytes_total{${shown}}[$__rate_interval]))`, legend: 'freed' },
    ],
  ),
  graph(
    'Calls a second',
    'Small allocations are those of at most a page (4096 bytes). Failed calls found no memory or asked for too much; they should be none.',
    'ops',
    HALF,
    [
      {
        expression: `sum by (size) (rate(native_malloc_allocations_total{${shown}}[$__rate_interval]))`,
        legend: 'allocations, {{size}}',
      },
      { expression: `sum(rate(native_malloc_frees_total{${shown}}[$__rate_interval]))`, legend: 'frees' },
      { expression: `sum(rate(native_malloc_failed_total{${shown}}[$__rate_interval]))`, legend: 'failed' },
    ],
  ),
];

const ends = [
  graph(
    'Restarts',
    'The age of each process: where it falls to zero, the process was started anew. In Kubernetes, with kube-state-metrics, also how often each container was ' +
      'restarted, and the reason of the last end; OOMKilled is the kernel at the limit.',
    's',
    HALF,
    [
      { expression: `sum by (instance) (time() - process_start_time_seconds{${shown}})`, legend: 'age {{instance}}' },
      {
        expression: `sum by (pod, container) (kube_pod_container_status_restarts_total ${ofSelectedPods})`,
        legend: 'restarts {{pod}} {{container}}',
      },
      {
        expression:
          `sum by (pod, container, reason) (kube_pod_container_status_last_terminated_reason ${ofSelectedPods}) > 0`,
        legend: 'last end {{pod}} {{container}}: {{reason}}',
      },
    ],
  )
    .overrideByQuery('B', COUNTED_ON_THE_RIGHT)
    .overrideByQuery('C', COUNTED_ON_THE_RIGHT)
    .links([runbook('after-a-kill.md')]),
  graph(
    'Events of the memory limit',
    'How often the kernel met the limit (max, high), found no memory (oom) and killed (oom_kill). Any but zero at max means that the limit is being felt.',
    'none',
    HALF,
    [
      {
        expression: `sum by (event) (increase(cgroup_memory_events_total{${shown}}[$__rate_interval]))`,
        legend: '{{event}}',
      },
    ],
  )
    .min(0)
    .axisSoftMax(5)
    .links([runbook('after-a-kill.md')]),
];

const trust = [
  graph('Age of the figures', 'Time since each instance\'s counters were read. Above the lines at one and two minutes: the poller is stuck, or the JVM; unless the interval between readings was made that long.', 's', THIRD, [
    { expression: `max by (instance) (mallometer_snapshot_age_seconds{${shown}})`, legend: '{{instance}}' },
  ])
    .thresholds(beyond({ value: 60, color: 'orange' }, { value: 120, color: 'red' }))
    .thresholdsStyle(DRAWN)
    .links([runbook('stuck.md')]),
  graph(
    'What mallometer costs',
    'Processor time for samples, counters and the black box, as a share of one processor, its target, and the memory it occupies.',
    'percentunit',
    THIRD,
    [
      {
        expression: `sum by (instance) (rate(mallometer_overhead_seconds_total{${shown}}[$__rate_interval]))`,
        legend: 'processor {{instance}}',
      },
      { expression: `min(mallometer_overhead_target_ratio{${shown}})`, legend: 'target' },
      { expression: `sum by (instance) (mallometer_footprint_bytes{${shown}})`, legend: 'memory {{instance}}' },
    ],
  )
    .overrideByQuery('B', AS_LIMIT)
    .overrideByQuery('C', onTheRight('bytes'))
    .links([runbook('over-target.md')]),
  graph(
    'Samples',
    'Allocations that were looked at, and what was lost of them for want of room. Dropped no-site or not-followed: live bytes by site are too low. no-path loses nothing.',
    'ops',
    THIRD,
    [
      { expression: `sum(rate(mallometer_samples_total{${shown}}[$__rate_interval]))`, legend: 'taken' },
      {
        expression: `sum by (reason) (rate(mallometer_samples_dropped_total{${shown}}[$__rate_interval]))`,
        legend: 'dropped, {{reason}}',
      },
    ],
  ).links([runbook('drops-samples.md')]),
];

/** The dashboard as Grafana reads it. */
export const overview = dashboard(
  'mallometer-overview',
  'Native memory: overview',
  "Is a JVM's native memory a problem, of what kind, and when does it hurt.",
  'now-3h',
  'instances',
  [
    { title: 'Is it a problem', panels: verdict },
    { title: 'Of what kind', panels: kind },
    { title: 'Does it grow', panels: growing },
    { title: 'Is it a leak', panels: suspects },
    { title: 'What the program does', panels: rates },
    { title: 'Did it hurt already', panels: ends },
    { title: 'Can the figures be trusted', panels: trust },
  ],
).build();
