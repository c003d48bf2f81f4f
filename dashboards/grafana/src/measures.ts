// Figures that several panels ask: kills, and the version of the application beside a figure.

/** The labels that tell instances apart, and that series of one instance have in common. */
export const INSTANCE = 'cluster, namespace, job, instance';

/**
 * OOM kills of each instance within the last 24 hours, by two sources, of which the higher is right: the times at which
 * previous runs ended, and the counter of the cgroup, which a container's restart sets to zero.
 */
export function killsOf(of: string): string {
  const ended = `mallometer_previous_exit_timestamp_seconds{reason="oom", ${of}}[1d]`;
  return (
    `max by (${INSTANCE}) (changes(${ended}) + (min_over_time(${ended}) > bool (time() - 86400))` +
    ` or round(increase(cgroup_memory_events_total{event="oom_kill", ${of}}[1d])))`
  );
}

/** The series with the version of their application as a label, or without where it is unknown. */
export function withVersion(series: string, of: string): string {
  // Chooses one of two versions while Prometheus still knows an instance that has just been replaced.
  const version = `topk by (${INSTANCE}) (1, mallometer_application_info{${of}})`;
  return `(${series} * on (${INSTANCE}) group_left (version) ${version} or ${series} unless on (${INSTANCE}) ${version})`;
}

/**
 * Returns the function's result on the bytes by call site of the verdicts leak and unused, with the verdict as a label. Without `other`, the
 * sum of the call sites after the five to eight that each instance names.
 */
export function suspectsOf(of: string, value: (bytes: string) => string = (bytes) => `${bytes} > 0`): string {
  return [
    ['leak', `native_malloc_leak_suspected_bytes{site!="other", ${of}}`],
    ['unused', `native_malloc_leak_unused_bytes{site!="other", ${of}}`],
  ]
    .map(([verdict, bytes]) => `label_replace(${value(bytes)}, "verdict", "${verdict}", "", "")`)
    .join(' or ');
}
