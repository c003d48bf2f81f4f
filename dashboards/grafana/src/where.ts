// Shows what holds native memory: call sites, libraries, sizes, arenas and threads, for several instances side by side.
import { dashboard, shown } from './dashboard.js';
import {
  AS_LINE,
  COUNTED_ON_THE_RIGHT,
  FULL_INSTANCE,
  FULL_SITE,
  HALF,
  TO_OVERVIEW,
  WHOLE,
  bars,
  buckets,
  byPod,
  bySite,
  graph,
  growth,
  onTheRight,
  rows,
  runbook,
  stack,
  stackOfSites,
} from './panels.js';

const OF_INSTANCE = 'sum by (job, instance)';

const sites = [
  bars(
    'Growth by call site',
    "How much more live memory each call site of the application holds than at the start of the shown time; the ten that grew most. A leak stays in this list at every time range. What the JVM and mallometer allocate is not among them.",
    'bytes',
    WHOLE,
    {
      // The site "other" includes the allocations of the JVM, its compilers and mallometer.
      expression: bySite(`topk(10, sum by (site) (delta(native_malloc_site_live_bytes{site!="other", ${shown}}[$__range])) > 0)`),
      legend: '{{name}}',
    },
  )
    .height(11)
    .dataLinks([FULL_SITE])
    .noValue('none')
    .links([runbook('leak-suspected.md')]),
  stackOfSites(
    'Live memory by call site',
    "The code that allocated what is live: an application's method, or a function of a library. other: the rest, the JVM and mallometer among it.",
    WHOLE,
    `sum by (site) (native_malloc_site_live_bytes{${shown}})`,
  )
    .height(11)
    .links([runbook('leak-suspected.md')]),
];

const libraries = [
  bars(
    'Growth by library',
    'How much more live memory each native library holds than at the start of the shown time; the ten that grew most, without the JVM and mallometer.',
    'bytes',
    HALF,
    {
      expression: `topk(10, sum by (library) (delta(native_malloc_library_live_bytes{library!~"other|libjvm[.].*|libmallometer[.].*", ${shown}}[$__range])) > 0)`,
      legend: '{{library}}',
    },
  ).noValue('none'),
  stack(
    'Live memory by library',
    'The native library that asked malloc for what is still live, estimated from samples: of each instance ten to fifteen names, and other. A band that widens is the library to look at.',
    'bytes',
    HALF,
    [{ expression: `sum by (library) (native_malloc_library_live_bytes{${shown}})`, legend: '{{library}}' }],
  ).links([runbook('leak-suspected.md')]),
];

const sizes = [
  buckets(
    'Requested sizes',
    'How many allocations asked for how much. A band that is new since a deploy is a new habit of the program; large sizes weigh more than their colour says.',
    'bytes',
    HALF,
    `sum by (le) (increase(native_malloc_request_size_bytes_bucket{${shown}}[$__rate_interval]))`,
  ),
  graph(
    'Churn',
    'How often in a second the live memory is replaced (bytes freed over live bytes), and the mean size of a request. High churn of much memory makes the allocator keep more.',
    'none',
    HALF,
    [
      {
        expression: byPod(
          `sum by (instance) (rate(native_malloc_freed_bytes_total{${shown}}[$__rate_interval]))` +
          ` / sum by (instance) (native_malloc_live_bytes{${shown}} > 0)`,
        ),
        legend: 'replaced a second {{name}}',
      },
      {
        expression: byPod(
          `sum by (instance) (rate(native_malloc_requested_bytes_total{${shown}}[$__rate_interval]))` +
          ` / sum by (instance) (rate(native_malloc_allocations_total{${shown}}[$__rate_interval]) > 0)`,
        ),
        legend: 'mean request {{name}}',
      },
    ],
  )
    .overrideByQuery('B', onTheRight('bytes'))
    .dataLinks([FULL_INSTANCE]),
];

const keepers = [
  graph(
    'Allocator',
    'Memory that malloc has from the system, its live and retained parts, and the least that a trim would give back. Retained and trimmable high: trim. Retained high, trimmable low: ' +
      'limit the arenas, or use another allocator.',
    'bytes',
    HALF,
    [
      { expression: `sum by (allocator) (native_allocator_system_bytes{${shown}})`, legend: '{{allocator}}: from the system' },
      { expression: `sum by (allocator) (native_allocator_used_bytes{${shown}})`, legend: '{{allocator}}: in use' },
      { expression: `sum by (allocator) (native_allocator_retained_bytes{${shown}})`, legend: '{{allocator}}: retained' },
      { expression: `sum by (allocator) (native_allocator_trimmable_bytes{${shown}})`, legend: '{{allocator}}: trimmable' },
    ],
  ).links([runbook('retained.md')]),
  graph(
    'Arenas',
    'Arenas of each instance, two for each processor, and trims a minute. More arenas than that line with much retained memory: MALLOC_ARENA_MAX would help.',
    'none',
    HALF,
    [
      { expression: byPod(`sum by (instance) (native_allocator_arenas{${shown}})`), legend: 'arenas {{name}}' },
      { expression: `max(2 * system_cpu_count{${shown}})`, legend: 'two for each processor' },
      {
        expression: byPod(`sum by (instance) (rate(native_allocator_trims_total{${shown}}[$__rate_interval])) * 60`),
        legend: 'trims a minute {{name}}',
      },
    ],
  )
    .overrideByQuery('B', AS_LINE)
    .links([runbook('retained.md')]),
];

const others = [
  graph(
    'Threads and their stacks',
    'Live threads, and what all stacks together have touched. Stacks grow with threads; a pool without a bound shows as a staircase.',
    'bytes',
    HALF,
    [
      {
        expression: byPod(`sum by (instance) (native_memory_resident_bytes{part="thread_stacks", ${shown}})`),
        legend: 'stacks {{name}}',
      },
      {
        // jvm_threads_current is the name that jmx_exporter publishes.
        expression: byPod(`sum by (instance) (jvm_threads_live_threads{${shown}} or jvm_threads_current{${shown}})`),
        legend: 'threads {{name}}',
      },
    ],
  )
    .overrideByQuery('B', COUNTED_ON_THE_RIGHT)
    .dataLinks([FULL_INSTANCE]),
  graph(
    'Huge requests',
    'The largest single request so far, and how many a minute exceed MALLOMETER_HUGE (64 MiB). A step in the first without load to match came from an unchecked size.',
    'bytes',
    HALF,
    [
      { expression: byPod(`max by (instance) (native_malloc_largest_bytes{${shown}})`), legend: 'largest {{name}}' },
      {
        expression: byPod(`sum by (instance) (rate(native_malloc_huge_total{${shown}}[$__rate_interval])) * 60`),
        legend: 'huge a minute {{name}}',
      },
    ],
  )
    .overrideByQuery('B', COUNTED_ON_THE_RIGHT)
    .dataLinks([FULL_INSTANCE])
    .links([runbook('huge-allocation.md')]),
];

const comparison = [
  rows(
    'Instances compared',
    'One line for each instance. Of instances that do the same work, one that differs has met something that the others have not.',
    WHOLE,
    { job: 'Job', instance: 'Instance' },
    [
      { name: 'Live', unit: 'bytes', expression: `${OF_INSTANCE} (native_malloc_live_bytes{${shown}})` },
      growth(`${OF_INSTANCE} (deriv(native_malloc_live_bytes{${shown}}[1h]) and native_malloc_live_bytes{${shown}}) * 3600`),
      { name: 'Resident', unit: 'bytes', expression: `${OF_INSTANCE} (native_memory_resident_bytes{${shown}})` },
      {
        name: 'Retained',
        unit: 'bytes',
        expression: `${OF_INSTANCE} (native_memory_resident_bytes{part="malloc_retained", ${shown}})`,
      },
      { name: 'Objects', unit: 'short', expression: `${OF_INSTANCE} (native_malloc_live_objects{${shown}})` },
      { name: 'Up', unit: 's', expression: `${OF_INSTANCE} (time() - process_start_time_seconds{${shown}})` },
    ],
  ).overrideByName('Instance', TO_OVERVIEW),
  graph(
    'Live memory by instance',
    'Instances that do the same work should run side by side. One that leaves the others is the one to look at.',
    'bytes',
    WHOLE,
    [{ expression: byPod(`sum by (instance) (native_malloc_live_bytes{${shown}})`), legend: '{{name}}' }],
  ).dataLinks([FULL_INSTANCE]),
];

/** The dashboard, ready to be written as JSON. */
export const where = dashboard(
  'mallometer-where',
  'Native memory: where',
  'Which code holds native memory: call sites, libraries, and one instance beside the other.',
  'now-1h',
  'few',
  [
    { title: 'Call sites', panels: sites },
    { title: 'Libraries', panels: libraries },
    { title: 'Instances', panels: comparison },
    { title: 'Sizes and churn', panels: sizes, closed: true },
    { title: 'Memory of the allocator', panels: keepers, closed: true },
    { title: 'Threads and huge requests', panels: others, closed: true },
  ],
).build();
