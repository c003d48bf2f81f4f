// Registers what Grafana's application registers when it starts and its component library expects: field options, with
// thresholds and value mappings, and the standard transformations.
import {
  FieldConfigOptionsRegistry,
  identityOverrideProcessor,
  standardFieldConfigEditorRegistry,
  standardTransformers,
  standardTransformersRegistry,
  thresholdsOverrideProcessor,
  valueMappingsOverrideProcessor,
} from '@grafana/data';

const OPTIONS = [
  'displayName', 'unit', 'min', 'max', 'decimals', 'noValue', 'color', 'links', 'description', 'filterable', 'fieldMinMax',
  'actions',
];

/** Grafana's defaults for time series. */
export const TIME_SERIES_DEFAULTS = {
  drawStyle: 'line',
  lineInterpolation: 'linear',
  lineWidth: 1,
  fillOpacity: 0,
  gradientMode: 'none',
  showPoints: 'auto',
  pointSize: 5,
  spanNulls: false,
  axisPlacement: 'auto',
  axisLabel: '',
  axisColorMode: 'text',
  axisBorderShow: false,
  scaleDistribution: { type: 'linear' },
  stacking: { mode: 'none', group: 'A' },
  hideFrom: { tooltip: false, viz: false, legend: false },
  thresholdsStyle: { mode: 'off' },
  barAlignment: 0,
  insertNulls: false,
};

function option(id: string, process: unknown = identityOverrideProcessor) {
  return { id, path: id, name: id, override: () => null, editor: () => null, process, settings: {}, shouldApply: () => true };
}

const standard = [
  ...OPTIONS.map((id) => option(id)),
  option('thresholds', thresholdsOverrideProcessor),
  option('mappings', valueMappingsOverrideProcessor),
];

export function registerStandards(): void {
  standardFieldConfigEditorRegistry.setInit(() => standard as never);
  const transformers = new Map(Object.values(standardTransformers).map((one) => [one.id, one]));
  standardTransformersRegistry.setInit(
    () => [...transformers.values()].map((one) => ({ id: one.id, name: one.name, transformation: async () => one })) as never,
  );
}

/** The options of a panel: the standard ones and those that its field configuration names. */
export function optionsOf(configuration: any): FieldConfigOptionsRegistry {
  const custom = new Set(Object.keys(configuration.defaults.custom ?? {}).map((key) => `custom.${key}`));
  for (const override of configuration.overrides ?? []) {
    for (const { id } of override.properties) {
      if (id.startsWith('custom.')) {
        custom.add(id);
      }
    }
  }
  return new FieldConfigOptionsRegistry(
    () => [...standard, ...[...custom].map((id) => ({ ...option(id), path: id.slice(7), isCustom: true }))] as never,
  );
}
