// Checks dashboards against the schema and the panel models that Grafana publishes for each version that they are for: the
// parts of the JSON are compiled as literals of the published types, so that what a version does not know is an error.
//
//     node validate.mjs FILE...
//
// Panel models name every option, also those that Grafana fills in, so an option may be missing; the rest of a dashboard may
// not lack what the schema demands.
import { readFileSync, readdirSync, existsSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import ts from 'typescript';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const VERSIONS = ['11.0', '11.6', '12.4', '13.2'];
// No package of schemas lists these; @grafana/data 11.0.0, 11.6.16, 12.4.10 and 13.2.2 know them.
const TRANSFORMATIONS = ['merge', 'organize'];
const MATCHERS = ['byName', 'byFrameRefID'];
// The package of 11.0 says 36; the dashboards that 11.0 saves say 39.
const SCHEMA_VERSIONS = { '11.0': 39 };
// Properties that a version does not know and ignores, by path in a dashboard or a panel, with the one value that has no
// effect there. The generator's library writes most of them unasked.
const IGNORED = {
  // A property of intervals, which the library writes into every variable.
  'templating.list.auto': [VERSIONS, false],
  'templating.list.auto_min': [VERSIONS, '10s'],
  'templating.list.auto_count': [VERSIONS, 30],
  // The behaviour of 11.0 without the property.
  'templating.list.allowCustomValue': [['11.0'], true],
  'stat.options.percentChangeColorMode': [['11.0'], 'standard'],
  'heatmap.options.selectionMode': [['11.0'], 'x'],
  'bargauge.options.legend': [['11.0'], { displayMode: 'list', placement: 'bottom', showLegend: false, calcs: [] }],
  // A table without sums below its columns, which 12.4 and 13.2 say otherwise.
  'table.options.footer': [['12.4', '13.2'], { show: false, reducer: [], countRows: false }],
};

const TYPES = `
export {};
/** A type as JSON: a string where it has an enum of strings. */
type Json<T> = unknown extends T ? T : T extends string ? \`\${T}\` : T extends (infer E)[] ? Json<E>[]
  : T extends object ? { [K in keyof T]: Json<T[K]> } : T;
/** A type as JSON, without the properties that Grafana fills in. */
type Given<T> = unknown extends T ? T : T extends string ? \`\${T}\` : T extends (infer E)[] ? Given<E>[]
  : T extends object ? { [K in keyof T]?: Given<T[K]> } : T;
/** The properties that the data source adds to an annotation; no package of schemas has them. */
type Prometheus = { expr: string; titleFormat?: string; textFormat?: string; useValueForTime?: boolean };
`;

/** Returns the directory of a version's published types. */
function typesOf(version) {
  const root = `${HERE}node_modules/grafana-${version}/dist/`;
  const types = ['types/', 'esm/'].map((one) => root + one).find((one) => existsSync(`${one}raw`));
  const generated = (folder) => {
    const path = `${types}raw/${folder}/x/`;
    const file = existsSync(path) && readdirSync(path).find((one) => one.endsWith('.gen.d.ts'));
    return file && path + file;
  };
  return {
    index: ['types/index.d.ts', 'esm/index.d.ts'].map((one) => root + one).find(existsSync),
    dashboard: generated('dashboard'),
    panel: (type) => generated(`composable/${type}/panelcfg`),
  };
}

/** The highest schema version that a version reads; it migrates lower ones. */
function schemaVersionOf(version) {
  const path = `${HERE}node_modules/grafana-${version}/dist/esm/raw/dashboard/x/`;
  const code = readdirSync(path).find((one) => /\.gen\.m?js$/.test(one));
  return SCHEMA_VERSIONS[version] ?? Number(/schemaVersion: (\d+)/.exec(readFileSync(path + code, 'utf8'))[1]);
}

/** A value without what the version passes over. */
function known(value, version, path) {
  if (Array.isArray(value)) {
    return value.map((one) => known(one, version, path));
  }
  if (value === null || typeof value !== 'object') {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, one]) => {
        const [versions, meaningless] = IGNORED[[...path, name].join('.')] ?? [[]];
        return !(versions.includes(version) && isDeepStrictEqual(one, meaningless));
      })
      .map(([name, one]) => [name, known(one, version, [...path, name])]),
  );
}

const imported = (file, name) => `import(${JSON.stringify(file.replace(/\.d\.ts$/, ''))}).${name}`;

/** Returns the literals to compile, as [place, type, value], and the faults found already, as [place, text]. */
function parts(dashboard, types, version) {
  const literals = [];
  const faults = [];
  const model = (name) => imported(types.dashboard, name);
  // The published type does not contain what an import reads; dashboards.py checks it.
  const { panels, annotations, __inputs, __requires, ...shell } = dashboard;
  if (dashboard.schemaVersion > schemaVersionOf(version)) {
    faults.push(['dashboard', `schema version ${dashboard.schemaVersion} is above ${schemaVersionOf(version)}`]);
  }
  literals.push(['dashboard', `Json<${model('Dashboard')}>`, known(shell, version, [])]);
  for (const annotation of annotations.list) {
    const type = `Json<${model('AnnotationQuery')}> & Prometheus`;
    literals.push([`annotation ${annotation.name}`, type, known(annotation, version, ['annotations'])]);
  }
  for (const panel of panels.flatMap((one) => [one, ...(one.panels ?? [])])) {
    const place = panel.title || `panel ${panel.id}`;
    if (panel.type === 'row') {
      literals.push([place, `Json<${model('RowPanel')}>`, { ...panel, panels: [] }]);
      continue;
    }
    const { options, targets, fieldConfig, ...rest } = panel;
    const { custom = {}, ...defaults } = fieldConfig.defaults;
    literals.push([place, `Json<${model('Panel')}>`, known({ ...rest, fieldConfig: { ...fieldConfig, defaults } }, version, [])]);
    for (const { id } of panel.transformations ?? []) {
      if (!TRANSFORMATIONS.includes(id)) {
        faults.push([place, `transformation ${id} is not known to be one`]);
      }
    }
    const published = types.panel(panel.type);
    if (!published) {
      faults.push([place, `no panel of type ${panel.type}`]);
      continue;
    }
    const customs = /export interface FieldConfig /.test(readFileSync(published, 'utf8'))
      ? `Given<${imported(published, 'FieldConfig')}>`
      : 'Record<string, never>';
    literals.push([place, `Given<${imported(published, 'Options')}>`, known(options, version, [panel.type, 'options'])]);
    literals.push([place, customs, custom]);
    for (const { matcher, properties } of fieldConfig.overrides) {
      if (!MATCHERS.includes(matcher.id)) {
        faults.push([place, `matcher ${matcher.id} is not known to be one`]);
      }
      for (const { id, value } of properties) {
        const [first, ...path] = id.split('.');
        const [type, names] = first === 'custom' ? [customs, path] : [`Json<${model('FieldConfig')}>`, [first, ...path]];
        literals.push([`${place}, ${id}`, names.reduce((all, name) => `NonNullable<${all}>[${JSON.stringify(name)}]`, type), value]);
      }
    }
    for (const target of targets) {
      const query = imported(`${HERE}node_modules/queries-11.6/dist/prometheus/types.gen.d.ts`, 'dataquery');
      literals.push([place, `Json<Omit<${query}, '_implementsDataqueryVariant'>>`, target]);
    }
  }
  return { literals, faults };
}

/** Returns the compiler's messages on each literal, as [index, text]: one literal a line, so that a line number names it. */
function compiled(literals, types) {
  const literalsFile = `${HERE}literals.ts`;
  const source = literals.map(([, type, value]) => `((_: ${type}) => _)(${JSON.stringify(value)});`).join('\n');
  const first = TYPES.split('\n').length - 1;
  const options = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    paths: { '@grafana/schema': [types.index] },
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => file === literalsFile || fileExists(file);
  host.getSourceFile = (file, ...rest) =>
    file === literalsFile ? ts.createSourceFile(file, `${TYPES}${source}\n`, ts.ScriptTarget.ES2022) : getSourceFile(file, ...rest);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([literalsFile], options, host))
    .map((one) => [
      one.file?.fileName === literalsFile ? one.file.getLineAndCharacterOfPosition(one.start).line - first : -1,
      ts.flattenDiagnosticMessageText(one.messageText, ' ').slice(0, 400),
    ]);
}

const dashboards = process.argv.slice(2).map((file) => [basename(file), JSON.parse(readFileSync(file, 'utf8'))]);
for (const version of VERSIONS) {
  const types = typesOf(version);
  const literals = [];
  const report = (file, place, text) => {
    process.exitCode = 1;
    console.error(`${file}: Grafana ${version}: ${place}: ${text}`);
  };
  for (const [file, dashboard] of dashboards) {
    const of = parts(dashboard, types, version);
    of.faults.forEach(([place, text]) => report(file, place, text));
    literals.push(...of.literals.map(([place, ...rest]) => [`${file}\0${place}`, ...rest]));
  }
  for (const [index, text] of compiled(literals, types)) {
    report(...(literals[index]?.[0] ?? '\0').split('\0'), text);
  }
}
