// Checks Kubernetes objects against the schemas of their kinds. The schemas let unknown fields pass, so the same objects are
// also compiled as literals of the kinds' TypeScript interfaces, which do not. Each line of standard input is a JSON string with
// objects as YAML, and is answered by a line with their number of faults as code, the faults as complaints, and the objects.
import { createInterface } from 'node:readline';
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

const OPTIONS = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, strict: true, noEmit: true, skipLibCheck: true };
const host = ts.createCompilerHost(OPTIONS);
const { getSourceFile, fileExists } = host;
// The interfaces, which take the compiler seconds to read: once for all lines.
const read = new Map();
let literals = '';
let program;
host.fileExists = (file) => file === LITERALS || fileExists(file);
host.getSourceFile = (file, ...rest) => {
  if (file === LITERALS) {
    return ts.createSourceFile(file, `export {};\n${literals}\n`, ts.ScriptTarget.ES2022);
  }
  if (!read.has(file)) {
    read.set(file, getSourceFile(file, ...rest));
  }
  return read.get(file);
};

/** One line for each object, so that a line number names it. */
function typeFaults(objects) {
  literals = objects
    .map((object) => {
      const from = JSON.stringify(PACKAGES[object.apiVersion]);
      return `((_: import(${from}).I${object.kind}) => _)(${JSON.stringify(object)});`;
    })
    .join('\n');
  program = ts.createProgram([LITERALS], OPTIONS, host, program);
  return ts.getPreEmitDiagnostics(program).map((one) => ({
    object: objects[one.file ? one.file.getLineAndCharacterOfPosition(one.start).line - 1 : 0],
    text: ts.flattenDiagnosticMessageText(one.messageText, ' ').slice(0, 400),
  }));
}

for await (const line of createInterface({ input: process.stdin })) {
  const objects = parseAllDocuments(JSON.parse(line)).map((document) => document.toJS());
  const faults = [];
  for (const object of objects) {
    const text = await schemaFault(object);
    if (text) {
      faults.push({ object, text });
    }
  }
  faults.push(...typeFaults(objects.filter(({ apiVersion }) => PACKAGES[apiVersion])));
  const complaints = faults.map(({ object, text }) => `${object.kind} ${object.metadata?.name}: ${text}\n`).join('');
  console.log(JSON.stringify({ code: objects.length > 0 ? faults.length : 1, complaints, objects }));
}
