// The few panel shapes that the dashboards are made of. Every panel asks the same data source variable; titles,
// descriptions, units and legends are arguments, so that none can be forgotten.
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
  ThresholdsMode,
  type DynamicConfigValue,
  type Threshold,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

export const dataSource: DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

/** Where the pages of docs/runbooks are kept; dashboards/runbooks.sh changes it. */
const RUNBOOKS = 'https://mallometer.example/docs/runbooks/';

/** Of the screen's 24 columns. */
export const WHOLE = 24;
export const HALF = 12;
export const TWO_THIRDS = 16;
export const THIRD = 8;
export const SIXTH = 4;
/** Of legends in pixels: in a panel of half a screen, and where the names are methods with their classes. */
const LEGEND_WIDTH = 340;
const LONG_NAMES_WIDTH = 700;

export type Series = { expression: string; legend: string };

/** A column of a table: what it is called, its unit, and the instant value that fills it. */
export type Column = { name: string; unit: string; expression: string; steps?: Threshold[] };

function query({ expression, legend }: Series, index: number): DataqueryBuilder {
  return new DataqueryBuilder()
    .datasource(dataSource)
    .refId(String.fromCharCode('A'.charCodeAt(0) + index))
    .expr(expression)
    .legendFormat(legend);
}

function ranges(series: Series[], format: PromQueryFormat = PromQueryFormat.TimeSeries): DataqueryBuilder[] {
  return series.map((one, index) => query(one, index).format(format).range());
}

function instants(series: Series[], format: PromQueryFormat): DataqueryBuilder[] {
  return series.map((one, index) => query(one, index).format(format).instant());
}

/** The series of labels with most at the end of the shown time; topk alone would choose anew at each moment. */
export function most(count: number, labels: string, series: string): string {
  return `sum by (${labels}) (${series}) and on (${labels}) topk(${count}, sum by (${labels}) (${series} @ end()))`;
}

/** Nothing, then the given colours from the given values on: for graphs, which are coloured only beyond a threshold. */
export function beyond(...steps: Threshold[]): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: 'transparent' }, ...steps]);
}

/** Thresholds as lines, with what is beyond them in their colours. */
export const DRAWN = new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.DashedAndArea);

/** Green, then the given colours from the given values on. Without any, a size is no verdict. */
export function from(...steps: Threshold[]): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: 'green' }, ...steps]);
}

/** The first colour below the first value: for what is worse the less there is of it. */
export function below(color: string, ...steps: Threshold[]): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([{ value: null, color }, ...steps]);
}

/** A link to a page of docs/runbooks. */
export function runbook(page: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder('What to do')
    .type(DashboardLinkType.Link)
    .url(RUNBOOKS + page)
    .targetBlank(true);
}

/** One number with its recent past; width in 24ths of the screen. */
export function figure(title: string, description: string, unit: string, width: number, series: Series) {
  return new stat.PanelBuilder()
    .title(title)
    .description(description)
    .datasource(dataSource)
    .unit(unit)
    .span(width)
    .height(4)
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.Area)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .thresholds(from())
    .targets(ranges([series]));
}

/** The names of the series instead of their values: for states. */
export function names(title: string, description: string, width: number, series: Series) {
  return figure(title, description, 'none', width, series)
    .graphMode(BigValueGraphMode.None)
    .textMode(BigValueTextMode.Name);
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

/** The legend for graphs with many lines, not too wide for the graph. */
export function beside(width = LEGEND_WIDTH): VizLegendOptionsBuilder {
  return legend(LegendPlacement.Right).width(width);
}

/** Values over time, with the legend as a table below. */
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

/** Values over time that add up: many, so the legend is beside them. */
export function stack(title: string, description: string, unit: string, width: number, series: Series[]) {
  return graph(title, description, unit, width, series)
    .fillOpacity(30)
    .min(0)
    .legend(beside())
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** The same for call sites, whose names need room. */
export function stackOfSites(title: string, description: string, width: number, expression: string) {
  return stack(title, description, 'bytes', width, [{ expression, legend: '{{site}}' }]).legend(beside(LONG_NAMES_WIDTH));
}

/** Draws the series of a query as a dashed line in a colour of its own, on no stack: for limits. */
export const AS_LIMIT: DynamicConfigValue[] = [
  { id: 'custom.stacking', value: { mode: 'none', group: 'B' } },
  { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 6] } },
  { id: 'color', value: { mode: 'fixed', fixedColor: 'red' } },
];

/** Draws the series of a query against an axis of its own, on the right. */
export function onTheRight(unit: string): DynamicConfigValue[] {
  return [
    { id: 'unit', value: unit },
    { id: 'custom.axisPlacement', value: 'right' },
  ];
}

/** The same for what is counted. */
export const COUNTED_ON_THE_RIGHT: DynamicConfigValue[] = [
  ...onTheRight('none'),
  { id: 'decimals', value: 0 },
  { id: 'min', value: 0 },
  { id: 'custom.axisSoftMax', value: 5 },
];

/** One bar for each series, with its present value. */
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
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed).fixedColor('blue'))
    .noValue('none')
    .targets(instants([series], PromQueryFormat.TimeSeries));
}

/** Bars in the colours of their thresholds; without thresholds a length is no verdict, and has no colour of one. */
export const BY_THRESHOLDS = new FieldColorBuilder().mode(FieldColorModeId.Thresholds);

/** The buckets of a histogram over time; series must have the label le. */
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

/**
 * A row for each combination of the labels, a column for each expression, sorted by the first column. The expressions
 * must keep exactly these labels.
 */
export function rows(title: string, description: string, width: number, labels: Record<string, string>, columns: Column[]) {
  const nameOf = (index: number) =>
    columns.length === 1 ? 'Value' : `Value #${String.fromCharCode('A'.charCodeAt(0) + index)}`;
  const panel = new table.PanelBuilder()
    .title(title)
    .description(description)
    .datasource(dataSource)
    .span(width)
    .height(9)
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
  columns.forEach(({ name, unit, steps }) => {
    const properties: DynamicConfigValue[] = [{ id: 'unit', value: unit }];
    if (steps) {
      properties.push(
        { id: 'thresholds', value: { mode: 'absolute', steps: [{ value: null, color: 'text' }, ...steps] } },
        { id: 'custom.cellOptions', value: { type: 'color-text' } },
      );
    }
    panel.overrideByName(name, properties);
  });
  return panel;
}
