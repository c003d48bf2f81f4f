// The few panel shapes that the dashboards are made of. Every panel asks the same data source variable, and every
// expression is narrowed to the chosen applications and instances by the placeholder `selected`.
import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common';
import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { ThresholdsConfigBuilder, ThresholdsMode, type Threshold } from '@grafana/grafana-foundation-sdk/dashboard';
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

export const dataSource: DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

/** The label matchers of the dashboard's variables. */
export const selected = 'application=~"$application", instance=~"$instance"';

export type Series = { expression: string; legend: string };

function queries(series: Series[], format: PromQueryFormat = PromQueryFormat.TimeSeries): DataqueryBuilder[] {
  return series.map(({ expression, legend }, index) =>
    new DataqueryBuilder()
      .datasource(dataSource)
      .refId(String.fromCharCode('A'.charCodeAt(0) + index))
      .expr(expression)
      .legendFormat(legend)
      .format(format)
      .range(),
  );
}

/** Green, then the given colours from the given values on. Without any, a size is no verdict. */
export function from(...steps: Threshold[]): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: 'green' }, ...steps]);
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
    .targets(queries([series]));
}

/** The names of the series instead of their values: for states. */
export function names(title: string, description: string, width: number, series: Series) {
  return figure(title, description, 'none', width, series)
    .graphMode(BigValueGraphMode.None)
    .textMode(BigValueTextMode.Name);
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
    .fillOpacity(8)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(['lastNotNull', 'max']),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi))
    .targets(queries(series));
}

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
    .targets(queries([{ expression, legend: '{{le}}' }], PromQueryFormat.Heatmap));
}
