// Queries that several panels share: kills, the version of an application as a label, and suspects.

/** The labels that identify an instance. All series of an instance have the same values of these labels. */
export const INSTANCE = 'cluster, namespace, job, instance';

/**
 * Returns a query for the OOM kills of each instance within the last 24 hours. There are two sources, and the query uses
 * the higher number: the times at which previous runs were killed, and the counter of the cgroup, which restarts at zero
 * with the container.
 */
export function killsOf(of: string): string {
  const ended = `mallometer_previous_exit_timestamp_seconds{reason="oom", ${of}}[1d]`;
  return (
    `max by (${INSTANCE}) (changes(${ended}) + (min_over_time(${ended}) > bool (time() - 86400))` +
    ` or round(increase(cgroup_memory_events_total{event="oom_kill", ${of}}[1d])))`
  );
}

/** Returns a query that adds the version of the application as a label; series without a known version stay unchanged. */
export function withVersion(series: string, of: string): string {
  // While Prometheus still has the series of a replaced run, an instance has two versions. topk chooses one of them.
  const version = `topk by (${INSTANCE}) (1, mallometer_application_info{${of}})`;
  return `(${series} * on (${INSTANCE}) group_left (version) ${version} or ${series} unless on (${INSTANCE}) ${version})`;
}

/**
 * Returns a query for the call sites with the verdict leak or unused, with the verdict as a label. `value` makes the value
 * from the series of bytes by call site. Leaves out the site `other`, the sum of the call sites after the five to eight
 * that each instance names.
 */
export function suspectsOf(of: string, value: (bytes: string) => string = (bytes) => `${bytes} > 0`): string {
  return [
    ['leak', `native_malloc_leak_suspected_bytes{site!="other", ${of}}`],
    ['unused', `native_malloc_leak_unused_bytes{site!="other", ${of}}`],
  ]
    .map(([verdict, bytes]) => `label_replace(${value(bytes)}, "verdict", "${verdict}", "", "")`)
    .join(' or ');
}
