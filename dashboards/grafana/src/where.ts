// Who holds native memory: libraries, call sites, sizes, arenas, threads, and one instance beside the other.
import { dashboard, shown } from './dashboard.js';
import { AS_LIMIT, COUNTED_ON_THE_RIGHT, HALF, WHOLE, bars, buckets, graph, onTheRight, rows, runbook, stack, stackOfSites } from './panels.js';

const OF_INSTANCE = 'sum by (job, instance)';

const libraries = [
  stack(
    'Live bytes by library',
    'The native library that asked malloc for what is still live, estimated from samples: of each instance ten to fifteen names, and other. A band that widens is the library to look at.',
    'bytes',
    HALF,
    [{ expression: `sum by (library) (native_malloc_library_live_bytes{${shown}})`, legend: '{{library}}' }],
  ).links([runbook('leak-suspected.md')]),
  bars(
    'Growth by library',
    'How much more live memory each library holds than at the start of the shown time; the ten that grew most. Those that shrank are left out.',
    'bytes',
    HALF,
    {
      expression: `topk(10, sum by (library) (delta(native_malloc_library_live_bytes{${shown}}[$__range])) > 0)`,
      legend: '{{library}}',
    },
  ),
];

const sites = [
  stackOfSites(
    'Live bytes by call site',
    "The code that allocated what is live: an application's method, or a function of a library. One that only grows is where to look first.",
    WHOLE,
    `sum by (site) (native_malloc_site_live_bytes{${shown}})`,
  ).links([runbook('leak-suspected.md')]),
  bars(
    'Growth by call site',
    'How much more live memory each call site holds than at the start of the shown time; the ten that grew most. A leak stays in this list at every time range.',
    'bytes',
    WHOLE,
    {
      expression: `topk(10, sum by (site) (delta(native_malloc_site_live_bytes{${shown}}[$__range])) > 0)`,
      legend: '{{site}}',
    },
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
        expression:
          `sum by (instance) (rate(native_malloc_freed_bytes_total{${shown}}[$__rate_interval]))` +
          ` / sum by (instance) (native_malloc_live_bytes{${shown}} > 0)`,
        legend: 'replaced a second {{instance}}',
      },
      {
        expression:
          `sum by (instance) (rate(native_malloc_requested_bytes_total{${shown}}[$__rate_interval]))` +
          ` / sum by (instance) (rate(native_malloc_allocations_total{${shown}}[$__rate_interval]) > 0)`,
        legend: 'mean request {{instance}}',
      },
    ],
  ).overrideByQuery('B', onTheRight('bytes')),
];

const keepers = [
  graph(
    'The allocator',
    'What malloc has from the system, what of it is in use, what it keeps, and what a trim would give back at least. Kept and trimmable high: trim. Kept high, trimmable low: ' +
      'limit the arenas, or use another allocator.',
    'bytes',
    HALF,
    [
      { expression: `sum by (allocator) (native_allocator_system_bytes{${shown}})`, legend: '{{allocator}}: from the system' },
      { expression: `sum by (allocator) (native_allocator_used_bytes{${shown}})`, legend: '{{allocator}}: in use' },
      { expression: `sum by (allocator) (native_allocator_retained_bytes{${shown}})`, legend: '{{allocator}}: kept' },
      { expression: `sum by (allocator) (native_allocator_trimmable_bytes{${shown}})`, legend: '{{allocator}}: trimmable' },
    ],
  ).links([runbook('retained.md')]),
  graph(
    'Arenas',
    'Arenas of each instance, two for each processor, and trims a minute. More arenas than that line with much kept memory: MALLOC_ARENA_MAX would help.',
    'none',
    HALF,
    [
      { expression: `sum by (instance) (native_allocator_arenas{${shown}})`, legend: 'arenas {{instance}}' },
      { expression: `max(2 * system_cpu_count{${shown}})`, legend: 'two for each processor' },
      {
        expression: `sum by (instance) (rate(native_allocator_trims_total{${shown}}[$__rate_interval])) * 60`,
        legend: 'trims a minute {{instance}}',
      },
    ],
  )
    .overrideByQuery('B', AS_LIMIT)
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
        expression: `sum by (instance) (native_memory_resident_bytes{part="thread-stacks", ${shown}})`,
        legend: 'stacks {{instance}}',
      },
      {
        // The second is jmx_exporter's name.
        expression: `sum by (instance) (jvm_threads_live_threads{${shown}} or jvm_threads_current{${shown}})`,
        legend: 'threads {{instance}}',
      },
    ],
  ).overrideByQuery('B', COUNTED_ON_THE_RIGHT),
  graph(
    'Huge requests',
    'The largest single request so far, and how many a minute exceed MALLOMETER_HUGE (64 MiB). A step in the first without load to match came from an unchecked size.',
    'bytes',
    HALF,
    [
      { expression: `max by (instance) (native_malloc_largest_bytes{${shown}})`, legend: 'largest {{instance}}' },
      {
        expression: `sum by (instance) (rate(native_malloc_huge_total{${shown}}[$__rate_interval])) * 60`,
        legend: 'huge a minute {{instance}}',
      },
    ],
  )
    .overrideByQuery('B', COUNTED_ON_THE_RIGHT)
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
      { name: 'Growth an hour', unit: 'bytes', expression: `${OF_INSTANCE} (deriv(native_malloc_live_bytes{${shown}}[1h])) * 3600` },
      { name: 'Resident', unit: 'bytes', expression: `${OF_INSTANCE} (native_memory_resident_bytes{${shown}})` },
      {
        name: 'Retained',
        unit: 'bytes',
        expression: `${OF_INSTANCE} (native_memory_resident_bytes{part="malloc-retained", ${shown}})`,
      },
      { name: 'Objects', unit: 'short', expression: `${OF_INSTANCE} (native_malloc_objects{${shown}})` },
      { name: 'Up', unit: 's', expression: `${OF_INSTANCE} (time() - process_start_time_seconds{${shown}})` },
    ],
  ),
  graph(
    'Live bytes of instances',
    'Instances that do the same work should run side by side. One that leaves the others is the one to look at.',
    'bytes',
    WHOLE,
    [{ expression: `sum by (instance) (native_malloc_live_bytes{${shown}})`, legend: '{{instance}}' }],
  ),
];

/** The dashboard as Grafana reads it. */
export const where = dashboard(
  'mallometer-where',
  'Native memory: where',
  'Who holds native memory: libraries, call sites, sizes, arenas, threads.',
  'now-1h',
  'instances',
  [
    { title: 'Libraries', panels: libraries },
    { title: 'Call sites', panels: sites },
    { title: 'Sizes and churn', panels: sizes },
    { title: 'What is kept', panels: keepers },
    { title: 'Threads and huge requests', panels: others },
    { title: 'Instances', panels: comparison },
  ],
).build();
