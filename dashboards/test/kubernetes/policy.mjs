// Applies a Kyverno policy that mutates to a Pod, both read from standard input as {policy, pod}, and prints the Pod. It knows
// of Kyverno what our policy uses: rules one after the other, each seeing what those before it did; preconditions; foreach with
// variables; strategic merges of lists by name. JMESPath is interpreted by its JavaScript library, not by Kyverno's.
import { readFileSync } from 'node:fs';
import jmespath from 'jmespath';

const VARIABLE = /\{\{(.*?)\}\}/g;
// What tells the elements of a list apart in a strategic merge.
const MERGE_KEYS = { volumeMounts: 'mountPath' };

/** An expression that is the whole text keeps its type, as it does in Kyverno. */
function substituted(value, context) {
  if (Array.isArray(value)) {
    return value.map((one) => substituted(one, context));
  }
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, substituted(one, context)]));
  }
  if (typeof value !== 'string') {
    return value;
  }
  const whole = value.match(/^\{\{((?:(?!\}\}).)*)\}\}$/);
  if (whole) {
    return jmespath.search(context, whole[1].trim());
  }
  return value.replace(VARIABLE, (_, expression) => jmespath.search(context, expression.trim()));
}

function merged(object, patch, list) {
  if (Array.isArray(patch) && patch.every((one) => typeof one === 'object')) {
    const key = MERGE_KEYS[list] ?? 'name';
    const before = object ?? [];
    const added = patch.filter((one) => !before.some((old) => old[key] === one[key]));
    return [...before.map((old) => merged(old, patch.find((one) => one[key] === old[key]))), ...added];
  }
  if (patch !== null && typeof patch === 'object' && !Array.isArray(patch)) {
    const changed = Object.entries(patch).map(([name, one]) => [name, merged(object?.[name], one, name)]);
    return { ...object, ...Object.fromEntries(changed) };
  }
  return patch === undefined ? object : patch;
}

function holds({ key, operator, value }, context) {
  if (operator !== 'Equals') {
    throw new Error(`unknown operator ${operator}`);
  }
  return substituted(key, context) === value;
}

function allHold(preconditions, context) {
  return (preconditions?.all ?? []).every((condition) => holds(condition, context));
}

function variables(declared, context) {
  return declared.reduce(
    (known, { name, variable }) => ({ ...known, [name]: jmespath.search(known, variable.jmesPath) ?? variable.default }),
    context,
  );
}

function foreach(pod, { list, context: declared, preconditions, patchStrategicMerge }) {
  const request = { request: { object: pod } };
  return jmespath.search(request, list).reduce((changed, element) => {
    const context = variables(declared, { ...request, element });
    return allHold(preconditions, context) ? merged(changed, substituted(patchStrategicMerge, context)) : changed;
  }, pod);
}

function applied(pod, { match, preconditions, mutate }) {
  const wanted = Object.entries(match.any[0].resources.selector.matchLabels);
  const selected = wanted.every(([name, value]) => pod.metadata.labels?.[name] === value);
  if (!selected || !allHold(preconditions, { request: { object: pod } })) {
    return pod;
  }
  return mutate.foreach ? mutate.foreach.reduce(foreach, pod) : merged(pod, mutate.patchStrategicMerge);
}

const { policy, pod } = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(policy.spec.rules.reduce(applied, pod)));
