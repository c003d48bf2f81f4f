// One panel of a dashboard, drawn with Grafana's components. Only the heatmap is not: Grafana's is part of its application and
// not of its component library, so it is drawn here.
import {
  applyFieldOverrides,
  cacheFieldDisplayNames,
  dateTime,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
  getValueFormat,
  formattedValueToString,
  LoadingState,
  transformDataFrame,
  type DataFrame,
  type DisplayValueAlignmentFactors,
  type FieldDisplay,
  type GrafanaTheme2,
} from '@grafana/data';
import { BarGauge, BigValue, PanelChrome, TimeSeries, VizRepeater } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import React from 'react';
import { lastValueFrom } from 'rxjs';
import { read, type Range, type Target, type Variables } from './prometheus';
import { optionsOf, TIME_SERIES_DEFAULTS } from './registries';

type Size = { width: number; height: number };
type Shown = { panel: any; frames: DataFrame[]; fieldConfig: any; range: Range; theme: GrafanaTheme2 } & Size;

const asIs = (text: string) => text;
const timeRange = ({ from, to }: Range) => {
  const [first, last] = [dateTime(from * 1000), dateTime(to * 1000)];
  return { from: first, to: last, raw: { from: first, to: last } };
};

function Graph({ panel, frames, range, width, height }: Shown) {
  const properties: any = {
    frames,
    timeRange: timeRange(range),
    timeZone: 'utc',
    width,
    height,
    structureRev: 1,
    legend: panel.options.legend,
    options: panel.options,
    replaceVariables: asIs,
    dataLinkPostProcessor: (link: unknown) => link,
  };
  return <TimeSeries {...properties}>{() => <></>}</TimeSeries>;
}

function Rows({ panel, frames, fieldConfig, range, width, height }: Shown) {
  return (
    <TableNG
      data={frames[0]}
      width={width}
      height={height}
      timeRange={timeRange(range)}
      fieldConfig={fieldConfig}
      getActions={() => []}
      sortBy={panel.options.sortBy}
      structureRev={1}
      cellHeight={'sm' as never}
    />
  );
}

function Values({ panel, frames, fieldConfig, theme, width, height }: Shown) {
  const { options } = panel;
  const values = getFieldDisplayValues({
    fieldConfig,
    reduceOptions: { ...options.reduceOptions, values: false },
    replaceVariables: asIs,
    theme,
    data: frames,
    sparkline: panel.type === 'stat' && options.graphMode !== 'none',
    timeZone: 'utc',
  });
  type Drawn = { value: FieldDisplay; alignmentFactors: DisplayValueAlignmentFactors } & Size;
  const draw = ({ value, alignmentFactors, width: each, height: high }: Drawn) =>
    panel.type === 'stat' ? (
      <BigValue
        value={value.display}
        sparkline={value.sparkline}
        count={values.length}
        colorMode={options.colorMode}
        graphMode={options.graphMode}
        justifyMode={options.justifyMode}
        textMode={options.textMode}
        width={each}
        height={high}
        theme={theme}
      />
    ) : (
      <BarGauge
        value={value.display}
        field={value.field}
        display={value.view?.getFieldDisplayProcessor(value.colIndex!)}
        width={each}
        height={high}
        orientation={options.orientation}
        displayMode={options.displayMode}
        namePlacement={options.namePlacement}
        alignmentFactors={alignmentFactors}
        theme={theme}
        itemSpacing={8}
        lcdCellWidth={12}
        text={{ titleSize: 12, valueSize: 12 }}
      />
    );
  return (
    <VizRepeater
      getValues={() => values}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      width={width}
      height={height}
      source={frames}
      renderCounter={1}
      minVizHeight={options.minVizHeight}
      maxVizHeight={options.maxVizHeight}
      orientation={options.orientation === 'auto' ? ('vertical' as never) : options.orientation}
      renderValue={draw as never}
    />
  );
}

const LABEL_WIDTH = 64;

function Heatmap({ panel, frames, range, theme, width, height }: Shown) {
  const format = getValueFormat(panel.options.yAxis.unit);
  const bound = (frame: DataFrame) => Number(frame.name!.replace('+Inf', 'Infinity'));
  const cumulated = [...frames].sort((left, right) => bound(left) - bound(right));
  const rows = cumulated.map((frame, index) => ({
    name: frame.name!,
    times: frame.fields[0].values as number[],
    counts: frame.fields[1].values.map((count: number, at: number) =>
      Math.max(0, count - (index > 0 ? cumulated[index - 1].fields[1].values[at] : 0)),
    ),
  }));
  const most = Math.max(...rows.flatMap(({ counts }) => counts));
  const high = height / rows.length;
  const wide = (width - LABEL_WIDTH) / ((range.to - range.from) / range.step);
  return (
    <svg width={width} height={height}>
      {rows.map(({ name, times, counts }, row) => (
        <g key={name} transform={`translate(0 ${height - (row + 1) * high})`}>
          <text y={high * 0.7} fill={theme.colors.text.secondary} fontSize={10}>
            {name === '+Inf' ? 'more' : formattedValueToString(format(Number(name)))}
          </text>
          {counts.map((count: number, at: number) => (
            <rect
              key={times[at]}
              x={LABEL_WIDTH + (times[at] / 1000 - range.from) / range.step * wide}
              width={wide}
              height={high - 1}
              fill={`rgba(255, 120, 10, ${Math.sqrt(count / most)})`}
            />
          ))}
        </g>
      ))}
    </svg>
  );
}

const COMPONENTS: Record<string, (shown: Shown) => React.JSX.Element> = {
  timeseries: Graph,
  table: Rows,
  stat: Values,
  bargauge: Values,
  heatmap: Heatmap,
};

/** The panel's data, transformed and dressed with its field configuration. */
async function prepare({ panel, variables, range, theme, absent }: PanelProperties) {
  if (!(panel.type in COMPONENTS)) {
    throw new Error(`no component draws ${panel.type}`);
  }
  const mayBeEmpty =
    panel.fieldConfig.defaults.noValue !== undefined ||
    (absent !== '' && panel.targets.every(({ expr }: Target) => expr.includes(absent)));
  let frames = await read(panel.targets, variables, range);
  if (frames.length === 0 && !mayBeEmpty) {
    throw new Error('no data');
  }
  if (panel.transformations?.length) {
    frames = await lastValueFrom(transformDataFrame(panel.transformations, frames));
  }
  const { defaults } = panel.fieldConfig;
  const fieldConfig = {
    ...panel.fieldConfig,
    defaults: {
      ...defaults,
      color: defaults.color ?? { mode: panel.type === 'timeseries' ? 'palette-classic' : 'thresholds' },
      thresholds: defaults.thresholds ?? { mode: 'absolute', steps: [{ value: -Infinity, color: 'green' }] },
      custom: panel.type === 'timeseries' ? { ...TIME_SERIES_DEFAULTS, ...defaults.custom } : defaults.custom,
    },
  };
  for (const threshold of [fieldConfig.defaults.thresholds, ...overriddenThresholds(fieldConfig)]) {
    threshold.steps.forEach((step: any) => (step.value ??= -Infinity));
  }
  frames = applyFieldOverrides({
    data: frames,
    fieldConfig,
    fieldConfigRegistry: optionsOf(fieldConfig),
    replaceVariables: asIs,
    theme,
    timeZone: 'utc',
  });
  cacheFieldDisplayNames(frames);
  return { frames, fieldConfig };
}

function overriddenThresholds(fieldConfig: any) {
  return (fieldConfig.overrides ?? [])
    .flatMap(({ properties }: any) => properties)
    .filter(({ id }: any) => id === 'thresholds')
    .map(({ value }: any) => value);
}

/** Catches what a component throws while it draws. */
class Boundary extends React.Component<{ failed: (error: unknown) => void; children: React.ReactNode }, { broken: boolean }> {
  state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  componentDidCatch(error: unknown) {
    this.props.failed(error);
  }

  render() {
    return this.state.broken ? null : this.props.children;
  }
}

type PanelProperties = {
  panel: any;
  variables: Variables;
  range: Range;
  theme: GrafanaTheme2;
  absent: string;
  failed: (error: unknown) => void;
  done: () => void;
} & Size;

export function Panel(properties: PanelProperties) {
  const { panel, range, theme, failed, done, width, height } = properties;
  const [data, setData] = React.useState<{ frames: DataFrame[]; fieldConfig: any }>();
  React.useEffect(() => {
    prepare(properties).then(setData).catch(failed).finally(done);
  }, []);
  const Component = COMPONENTS[panel.type];
  return (
    <PanelChrome title={panel.title} description={panel.description} width={width} height={height} loadingState={LoadingState.Done}>
      {(innerWidth, innerHeight) =>
        data === undefined ? null : data.frames.length === 0 ? (
          <span>{panel.fieldConfig.defaults.noValue}</span>
        ) : (
          <Boundary failed={failed}>
            <Component panel={panel} range={range} theme={theme} width={innerWidth} height={innerHeight} {...data} />
          </Boundary>
        )
      }
    </PanelChrome>
  );
}

export { Boundary };
