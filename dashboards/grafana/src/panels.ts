// The kinds of panels of the dashboards. All panels use the data source that one variable names. Titles, descriptions, units
// and legends are required arguments, so that none is forgotten.
import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common';
import {
  BarGaugeDisplayMode,
  BarGaugeNamePlacement,
  BarGaugeSizing,
  BarGaugeValueMode,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TableSortByFieldStateBuilder,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import {
  DashboardLinkBuilder,
  DashboardLinkType,
  FieldColorBuilder,
  FieldColorModeId,
  ThresholdsConfigBuilder,
  MappingType,
  ThresholdsMode,
  type DynamicConfigValue,
  type Threshold,
  type ValueMap,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

export const dataSource: DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

/** The colours of the diagnosis's states. A figure has such a colour only if it gives the diagnosis that state. */
export const ACT = 'red';
export const WATCH = 'orange';
export const TOO_EARLY = 'blue';
export const HEALTHY = 'green';
/** The colour of figures without a state. */
export const PLAIN = 'text';

/** The states from mild to severe: number, value of the label `state` of mallometer_diagnosis, shown text, colour. */
const STATES: [number, string, string, string][] = [
  [1, 'healthy', 'healthy', HEALTHY],
  [2, 'too_early', 'too early', TOO_EARLY],
  [3, 'watch', 'watch', WATCH],
  [4, 'act', 'act', ACT],
];

/**
 * Returns a query that gives, for each series of mallometer_diagnosis, the number of its state if the series is 1, and
 * otherwise 0. The highest value is the diagnosis.
 */
export function diagnosis(of: string): string {
  return STATES.map(([number, state]) => `${number} * mallometer_diagnosis{state="${state}", ${of}}`).reverse().join(' or ');
}

function mapped(texts: [number, string, string][]): ValueMap {
  return {
    type: MappingType.ValueToText,
    options: Object.fromEntries(texts.map(([value, text, color], index) => [String(value), { text, color, index }])),
  };
}

/** Shows the number of a state as its text, in the colour of the state. */
export const AS_DIAGNOSIS = [mapped(STATES.map(([number, , text, color]) => [number, text, color]))];

/** Shows numbers as words. A word that is the text of a state has the colour of the state. */
export function asWords(words: Record<number, string>): ValueMap[] {
  const colorOf = (text: string) => STATES.find(([, , word]) => word === text)?.[3] ?? PLAIN;
  return [mapped(Object.entries(words).map(([value, text]) => [Number(value), text, colorOf(text)]))];
}

/** The shares of the limit from which on the diagnosis is watch (0.9) and act (0.95). */
const NEAR_LIMIT = 0.9;
const AT_LIMIT = 0.95;

/**
 * The colours of a share of the limit. The second list is for processes whose heap is more than two thirds of the used
 * memory: that is no reason to act.
 */
export const OF_LIMIT: Threshold[] = [
  { value: NEAR_LIMIT, color: WATCH },
  { value: AT_LIMIT, color: ACT },
];
export const OF_LIMIT_BY_HEAP: Threshold[] = [{ value: AT_LIMIT, color: WATCH }];

/** The address of the pages of docs/runbooks; dashboards/runbooks.sh changes it. */
const RUNBOOKS = 'https://mallometer.example/docs/runbooks/';

/** The widths of panels, in columns. The screen has 24 columns. */
export const WHOLE = 24;
export const HALF = 12;
export const THIRD = 8;
export const QUARTER = 6;
export const SIXTH = 4;
/** The widths of legends, in pixels: in a panel of half the screen, and with names of methods. */
const LEGEND_WIDTH = 340;
const LONG_NAMES_WIDTH = 560;

/** The parts of memory: label, name and colour. Names and colours are those of the page (page.js, page.css). */
const PARTS: Record<string, [string, string]> = {
  java_heap: ['Java heap', '#4878d0'],
  metaspace: ['Metaspace', '#4fb67f'],
  class_space: ['Class space', '#8fcfa9'],
  code_cache: ['Code cache', '#8d6bc9'],
  thread_stacks: ['Thread stacks', '#c9ab4f'],
  gc_and_jvm: ['GC and JVM', '#62aed0'],
  direct_buffers: ['Direct buffers', '#d97fb5'],
  malloc: ['malloc', '#e07a3a'],
  malloc_live: ['malloc, live', '#e07a3a'],
  malloc_retained: ['malloc, retained', '#d9ab84'],
  mapped_files: ['Mapped files', '#a3a7b2'],
  shared_memory: ['Shared memory', '#8c613c'],
  mallometer: ['mallometer', '#5f7199'],
  unexplained: ['Unexplained', '#1f8a8a'],
  this_process: ['This process', '#4878d0'],
  other_processes: ['Other processes', '#c9ab4f'],
  page_cache: ['Page cache', '#a3a7b2'],
  kernel: ['Kernel', '#62aed0'],
  sockets: ['Sockets', '#d97fb5'],
  tmpfs: ['tmpfs', '#8c613c'],
  other: ['Other', '#1f8a8a'],
};

export type Series = { expression: string; legend: string };

/** A column of a table: its name, its unit, and the expression whose present values it shows. */
export type Column = { name: string; unit: string; expression: string; width?: number; mappings?: ValueMapping[] };

function refId(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

function query({ expression, legend }: Series, index: number): DataqueryBuilder {
  return new DataqueryBuilder()
    .datasource(dataSource)
    .refId(refId(index))
    .expr(expression)
    .legendFormat(legend);
}

function ranges(series: Series[], format: PromQueryFormat = PromQueryFormat.TimeSeries): DataqueryBuilder[] {
  return series.map((one, index) => query(one, index).format(format).range());
}

function instants(series: Series[], format: PromQueryFormat): DataqueryBuilder[] {
  return series.map((one, index) => query(one, index).format(format).instant());
}

/** Returns the sums that are highest at the end of the shown time. topk alone would choose others at each point in time. */
export function most(count: number, labels: string, series: string): string {
  return `sum by (${labels}) (${series}) and on (${labels}) topk(${count}, sum by (${labels}) (${series} @ end()))`;
}

/** Adds the label `name`, which legends show: what the groups of the RE2 pattern match in another label. */
function shortened(expression: string, label: string, pattern: string): string {
  return `label_replace(${expression}, "name", "$1$2$3", "${label}", "${pattern}")`;
}

/** Shows a Java call site as Class.method, without the package, if the class begins with a capital; others in full. */
export function bySite(expression: string): string {
  return shortened(expression, 'site', '(compilation of )?(?:[a-z0-9_]+[.])+([A-Z].*)|(.+)');
}

/** The characters that Kubernetes uses in the random parts of names. */
const RANDOM = '[bcdfghjklmnpqrstvwxz2456789]';

/** Shows a pod of a Deployment by the random suffix of its name, other instances by the whole name. */
export function byPod(expression: string): string {
  return shortened(expression, 'instance', `.+-${RANDOM}{6,10}-(${RANDOM}{5})|(.+)`);
}

const OVERVIEW_OF = '/d/mallometer-overview?${datasource:queryparam}&${__url_time_range}&var-instance=';

/** A link in the tooltip that a click opens: it shows the full name of an instance, and leads to its overview. */
export const FULL_INSTANCE = new DashboardLinkBuilder('${__field.labels.instance}')
  .type(DashboardLinkType.Link)
  .url(`${OVERVIEW_OF}\${__field.labels.instance}`);

/** A link that shows the full name of a call site, and leads to the runbook. */
export const FULL_SITE = new DashboardLinkBuilder('${__field.labels.site}')
  .type(DashboardLinkType.Link)
  .url(`${RUNBOOKS}leak-suspected.md`)
  .targetBlank(true);

/** The links in the cells with an instance, which lead to its overview. */
export const TO_OVERVIEW: DynamicConfigValue[] = [
  { id: 'links', value: [{ title: 'Overview of ${__value.text}', url: `${OVERVIEW_OF}\${__value.raw}` }] },
];

/** Returns thresholds for graphs: transparent below the first value, and each given colour from its value on. */
export function beyond(...steps: Threshold[]): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: 'transparent' }, ...steps]);
}

/** Draws thresholds as dashed lines, and colours the area above them. */
export const DRAWN = new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.DashedAndArea);

/**
 * Returns thresholds for numbers: the colour of text below the first value, and each given colour from its value on.
 * Without steps, no number has the colour of a state.
 */
export function from(...steps: Threshold[]): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(fromPlain(steps));
}

/** Returns the same thresholds as a list, for one query or column of a panel. */
export function fromPlain(steps: Threshold[]): Threshold[] {
  return [{ value: null, color: PLAIN }, ...steps];
}

/** Returns a link to a page of docs/runbooks. */
export function runbook(page: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder('What to do')
    .type(DashboardLinkType.Link)
    .url(RUNBOOKS + page)
    .targetBlank(true);
}

/** Returns a panel with one number and its course over the shown time. `width` is in columns of the screen. */
export function figure(title: string, description: string, unit: string, width: number, series: Series) {
  return values(title, description, unit, width, [])
    .graphMode(BigValueGraphMode.Area)
    .targets(ranges([series]));
}

/** Returns a panel with the present values of a few series. A series that has ended has none, and is not shown. */
export function values(title: string, description: string, unit: string, width: number, series: Series[]) {
  return new stat.PanelBuilder()
    .title(title)
    .description(description)
    .datasource(dataSource)
    .unit(unit)
    .span(width)
    .height(5)
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .thresholds(from())
    .targets(instants(series, PromQueryFormat.TimeSeries));
}

/** Returns a panel that shows the names of series instead of their values: for states. */
export function names(title: string, description: string, width: number, series: Series) {
  return values(title, description, 'none', width, [series]).textMode(BigValueTextMode.Name);
}

/** Returns a panel with the number of instances in each state, in the state's colour if it is not 0. */
export function diagnoses(title: string, description: string, width: number, of: string) {
  const panel = values(
    title,
    description,
    'none',
    width,
    [...STATES].reverse().map(([, state, text]) => ({
      expression: `sum(mallometer_diagnosis{state="${state}", ${of}})`,
      legend: text,
    })),
  );
  [...STATES].reverse().forEach(([, , , color], index) =>
    panel.overrideByQuery(refId(index), [{ id: 'thresholds', value: { mode: 'absolute', steps: fromPlain([{ value: 1, color }]) } }]),
  );
  return panel;
}

function legend(placement: LegendPlacement): VizLegendOptionsBuilder {
  return new VizLegendOptionsBuilder()
    .displayMode(LegendDisplayMode.Table)
    .placement(placement)
    .showLegend(true)
    .calcs(['lastNotNull', 'max'])
    .sortBy('Last *')
    .sortDesc(true);
}

/** Returns a legend on the right, for graphs with many lines. Its width is limited to leave room for the graph. */
export function beside(width = LEGEND_WIDTH): VizLegendOptionsBuilder {
  return legend(LegendPlacement.Right).width(width);
}

/** Returns a graph over time, with the legend as a table below it. */
export function graph(title: string, description: string, unit: string, width: number, series: Series[]) {
  return new timeseries.PanelBuilder()
    .title(title)
    .description(description)
    .datasource(dataSource)
    .unit(unit)
    .span(width)
    .height(9)
    .lineWidth(1)
    .fillOpacity(0)
    .legend(legend(LegendPlacement.Bottom))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .targets(ranges(series));
}

/** Returns a stacked graph over time. It has many series, so the legend is on its right. */
export function stack(title: string, description: string, unit: string, width: number, series: Series[]) {
  return graph(title, description, unit, width, series)
    .fillOpacity(30)
    .min(0)
    .legend(beside())
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** Returns a stacked graph of bytes by the label `part`, with the names and colours of the page. */
export function stackOfParts(title: string, description: string, width: number, series: Series[]) {
  const panel = stack(title, description, 'bytes', width, series);
  Object.entries(PARTS).forEach(([part, [name, color]]) =>
    panel.overrideByName(part, [
      { id: 'displayName', value: name },
      { id: 'color', value: { mode: 'fixed', fixedColor: color } },
    ]),
  );
  return panel;
}

/** Returns a stacked graph of bytes by call site. */
export function stackOfSites(title: string, description: string, width: number, expression: string) {
  return stack(title, description, 'bytes', width, [{ expression: bySite(expression), legend: '{{name}}' }])
    .legend(beside(LONG_NAMES_WIDTH))
    .dataLinks([FULL_SITE]);
}

/** Draws the series of a query as a dashed line that is not stacked. */
function asLine(color: string): DynamicConfigValue[] {
  return [
    { id: 'custom.stacking', value: { mode: 'none', group: 'B' } },
    { id: 'custom.fillOpacity', value: 0 },
    { id: 'custom.lineWidth', value: 2 },
    { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 6] } },
    { id: 'color', value: { mode: 'fixed', fixedColor: color } },
  ];
}

export const AS_LIMIT = asLine('red');
export const AS_LINE = asLine('text');

/** Draws the series of a query on a second axis, on the right. */
export function onTheRight(unit: string): DynamicConfigValue[] {
  return [
    { id: 'unit', value: unit },
    { id: 'custom.axisPlacement', value: 'right' },
  ];
}

/** Draws counts on a second axis, on the right. */
export const COUNTED_ON_THE_RIGHT: DynamicConfigValue[] = [
  ...onTheRight('none'),
  { id: 'decimals', value: 0 },
  { id: 'min', value: 0 },
  { id: 'custom.axisSoftMax', value: 5 },
];

/** Returns a panel with a bar for the present value of each series. The bars do not have the colour of a state. */
export function bars(title: string, description: string, unit: string, width: number, series: Series) {
  return new bargauge.PanelBuilder()
    .title(title)
    .description(description)
    .datasource(dataSource)
    .unit(unit)
    .span(width)
    .height(9)
    .min(0)
    .orientation(VizOrientation.Horizontal)
    .displayMode(BarGaugeDisplayMode.Basic)
    .namePlacement(BarGaugeNamePlacement.Left)
    .valueMode(BarGaugeValueMode.Color)
    .sizing(BarGaugeSizing.Manual)
    .minVizHeight(12)
    .maxVizHeight(40)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor('purple'))
    .noValue('none')
    .targets(instants([series], PromQueryFormat.TimeSeries));
}

/** Returns a heatmap of the buckets of a histogram over time. The series must have the label `le`. */
export function buckets(title: string, description: string, unit: string, width: number, expression: string) {
  return new heatmap.PanelBuilder()
    .title(title)
    .description(description)
    .datasource(dataSource)
    .span(width)
    .height(9)
    .calculate(false)
    .yAxis(new heatmap.YAxisConfigBuilder().unit(unit))
    .targets(ranges([{ expression, legend: '{{le}}' }], PromQueryFormat.Heatmap));
}

/** The widths of columns, in pixels. Columns of call sites and instances share the rest of the width. */
const LABEL_WIDTHS: Record<string, number> = { Namespace: 110, Job: 150, Version: 140, Verdict: 90 };
const VALUE_WIDTH = 110;
/** The width of the arrow in the heading of the column by which a table is sorted. */
const ARROW_WIDTH = 20;
const GROWTH_WIDTH = 130;

/** Returns a column with the growth in bytes per hour. It shows "does not grow" for 0 and below. */
export function growth(expression: string): Column {
  const text = 'does not grow';
  return {
    name: 'Growth per hour',
    unit: 'bytes',
    width: GROWTH_WIDTH,
    expression,
    mappings: [{ type: MappingType.RangeToText, options: { from: null, to: 0, result: { text, color: PLAIN, index: 0 } } }],
  };
}

/**
 * Returns a table with a row for each combination of the labels and a column for each expression, sorted by the first of
 * these columns. The results of the expressions must have exactly these labels.
 */
export function rows(title: string, description: string, width: number, labels: Record<string, string>, columns: Column[]) {
  const nameOf = (index: number) =>
    columns.length === 1 ? 'Value' : `Value #${refId(index)}`;
  const panel = new table.PanelBuilder()
    .title(title)
    .description(description)
    .datasource(dataSource)
    .span(width)
    .height(9)
    .thresholds(from())
    .targets(
      instants(
        columns.map(({ expression }) => ({ expression, legend: '' })),
        PromQueryFormat.Table,
      ),
    )
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true },
        indexByName: Object.fromEntries(
          [...Object.keys(labels), ...columns.map((_, index) => nameOf(index))].map((name, index) => [name, index]),
        ),
        renameByName: {
          ...labels,
          ...Object.fromEntries(columns.map(({ name }, index) => [nameOf(index), name])),
        },
      },
    })
    .sortBy([new TableSortByFieldStateBuilder().displayName(columns[0].name).desc(true)]);
  Object.values(labels)
    .filter((name) => name in LABEL_WIDTHS)
    .forEach((name) => panel.overrideByName(name, [{ id: 'custom.width', value: LABEL_WIDTHS[name] }]));
  columns.forEach(({ name, unit, width: wide, mappings }, index) => {
    const properties: DynamicConfigValue[] = [
      { id: 'unit', value: unit },
      { id: 'custom.width', value: wide ?? VALUE_WIDTH + (index === 0 ? ARROW_WIDTH : 0) },
      // Without this, an empty cell would show the text of an empty table.
      { id: 'noValue', value: '–' },
    ];
    if (mappings) {
      properties.push({ id: 'mappings', value: mappings }, { id: 'custom.cellOptions', value: { type: 'color-text' } });
    }
    panel.overrideByName(name, properties);
  });
  return panel;
}
