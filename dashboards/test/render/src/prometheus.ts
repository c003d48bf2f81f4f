// Makes the data frames that Grafana's components draw from a dashboard's target: fills in variables, asks Prometheus, and
// shapes the answer as Grafana's Prometheus data source does.
import { FieldType, toDataFrame, type DataFrame } from '@grafana/data';

export type Target = {
  refId: string;
  expr: string;
  legendFormat?: string;
  format?: string;
  instant?: boolean;
  range?: boolean;
  hide?: boolean;
};
export type Range = { from: number; to: number; step: number };
export type Variables = Record<string, string>;

type Sample = [number, string];
type Series = { metric: Record<string, string>; value?: Sample; values?: Sample[] };

// A number is a group of label_replace.
const PLACEHOLDER = /\$\{(\w+)(?::\w+)?\}|\$([a-z_]\w*)/gi;

export function substitute(text: string, variables: Variables): string {
  return text.replace(PLACEHOLDER, (whole, braced, bare) => {
    const value = variables[braced ?? bare];
    if (value === undefined) {
      throw new Error(`unknown variable ${whole}`);
    }
    return value;
  });
}

async function ask(path: string, parameters: Record<string, string>): Promise<Series[]> {
  const answer = await (await fetch(`/api/v1/${path}?${new URLSearchParams(parameters)}`)).json();
  if (answer.status !== 'success') {
    throw new Error(answer.error);
  }
  return answer.data.result;
}

const QUERY_RESULT = /^query_result\((.+)\)$/;

/** Returns the first choice of a query variable, as Grafana finds it in each series as text; empty if it offers nothing. */
export async function firstChoice(variable: { query: string; regex: string }, variables: Variables, time: number): Promise<string> {
  const query = substitute(variable.query.match(QUERY_RESULT)![1], variables);
  const texts = (await ask('query', { query, time: String(time) })).map(
    ({ metric }) => `{${Object.entries(metric).map(([name, value]) => `${name}="${value}"`).join(',')}}`,
  );
  const pattern = new RegExp(variable.regex.slice(1, -1));
  return texts.map((text) => text.match(pattern)?.[1]).find((value) => value !== undefined) ?? '';
}

function number(text: string): number | null {
  return text === 'NaN' ? null : text === '+Inf' ? Infinity : Number(text);
}

function nameOf(legend: string | undefined, labels: Record<string, string>): string {
  return (legend ?? '').replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => labels[label] ?? '');
}

/** Returns the frame of a table: one for all series, with a field for each label. */
function asTable(target: Target, series: Series[], several: boolean): DataFrame {
  const labels = [...new Set(series.flatMap(({ metric }) => Object.keys(metric)))].filter((label) => label !== '__name__');
  return toDataFrame({
    refId: target.refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: series.map(({ value }) => value![0] * 1000) },
      ...labels.sort().map((label) => ({
        name: label,
        type: FieldType.string,
        values: series.map(({ metric }) => metric[label] ?? ''),
      })),
      {
        name: several ? `Value #${target.refId}` : 'Value',
        type: FieldType.number,
        values: series.map(({ value }) => number(value![1])),
      },
    ],
  });
}

function asFrame(target: Target, { metric, value, values }: Series, step: number): DataFrame {
  const samples = values ?? [value!];
  const name = nameOf(target.legendFormat, metric);
  return toDataFrame({
    refId: target.refId,
    name,
    fields: [
      {
        name: 'Time',
        type: FieldType.time,
        config: { interval: step * 1000 },
        values: samples.map(([time]) => time * 1000),
      },
      {
        name: 'Value',
        type: FieldType.number,
        labels: metric,
        config: { displayNameFromDS: name },
        values: samples.map(([, text]) => number(text)),
      },
    ],
  });
}

async function framesOf(target: Target, several: boolean, variables: Variables, range: Range): Promise<DataFrame[]> {
  const query = substitute(target.expr, variables);
  const series =
    target.instant && !target.range
      ? await ask('query', { query, time: String(range.to) })
      : await ask('query_range', {
          query,
          start: String(range.from),
          end: String(range.to),
          step: String(range.step),
        });
  if (target.format === 'table') {
    return series.length > 0 ? [asTable(target, series, several)] : [];
  }
  return series.map((one) => asFrame(target, one, range.step));
}

/** The frames of all targets of a panel. */
export async function read(targets: Target[], variables: Variables, range: Range): Promise<DataFrame[]> {
  const shown = targets.filter(({ hide }) => !hide);
  return (await Promise.all(shown.map((target) => framesOf(target, shown.length > 1, variables, range)))).flat();
}
