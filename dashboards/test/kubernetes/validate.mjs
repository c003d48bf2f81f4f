// Reads Kubernetes objects from standard input and checks each against the schema of its kind. The schemas let unknown fields
// pass, so the same objects are also compiled as literals of the kinds' TypeScript interfaces, which do not.
// With --print the objects go to standard output as JSON.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';

// The modules with the classes and interfaces of API versions.
const PACKAGES = {
  v1: 'kubernetes-models/v1',
  'apps/v1': 'kubernetes-models/apps/v1',
  'batch/v1': 'kubernetes-models/batch/v1',
  'admissionregistration.k8s.io/v1': 'kubernetes-models/admissionregistration.k8s.io/v1',
  'networking.k8s.io/v1': 'kubernetes-models/networking.k8s.io/v1',
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
  'opentelemetry.io/v1alpha1': '@kubernetes-models/opentelemetry-operator/opentelemetry.io/v1alpha1',
};
const LITERALS = fileURLToPath(new URL('literals.ts', import.meta.url));

async function schemaFault(object) {
  const kinds = PACKAGES[object.apiVersion] && (await import(PACKAGES[object.apiVersion]));
  if (!kinds?.[object.kind]) {
    return `no schema for ${object.apiVersion} ${object.kind}`;
  }
  try {
    new kinds[object.kind](object).validate();
    return undefined;
  } catch (refused) {
    return refused.message;
  }
}

/** One line for each object, so that a line number names it. */
function typeFaults(objects) {
  const source = objects
    .map((object) => {
      const from = JSON.stringify(PACKAGES[object.apiVersion]);
      return `((_: import(${from}).I${object.kind}) => _)(${JSON.stringify(object)});`;
    })
    .join('\n');
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, strict: true, noEmit: true, skipLibCheck: true };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => file === LITERALS || fileExists(file);
  host.getSourceFile = (file, ...rest) =>
    file === LITERALS ? ts.createSourceFile(file, `export {};\n${source}\n`, ts.ScriptTarget.ES2022) : getSourceFile(file, ...rest);
  return ts.getPreEmitDiagnostics(ts.createProgram([LITERALS], options, host)).map((one) => ({
    object: objects[one.file ? one.file.getLineAndCharacterOfPosition(one.start).line - 1 : 0],
    text: ts.flattenDiagnosticMessageText(one.messageText, ' ').slice(0, 400),
  }));
}

const objects = parseAllDocuments(readFileSync(0, 'utf8')).map((document) => document.toJS());
const faults = [];
for (const object of objects) {
  const text = await schemaFault(object);
  if (text) {
    faults.push({ object, text });
  }
}
faults.push(...typeFaults(objects.filter(({ apiVersion }) => PACKAGES[apiVersion])));
for (const { object, text } of faults) {
  console.error(`${object.kind} ${object.metadata?.name}: ${text}`);
}
if (process.argv.includes('--print')) {
  console.log(JSON.stringify(objects));
}
process.exitCode = objects.length > 0 && faults.length === 0 ? 0 : 1;
