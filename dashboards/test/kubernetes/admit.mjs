// Evaluates the CEL expressions of a MutatingAdmissionPolicy for a pod, in the order in which an API server does. Each line of
// standard input is {"policy": ..., "pod": ...}, and is answered by a line with the operations of the policy's JSON patches, which are
// none if a condition is false. If an expression fails, code is 1 and complaints has the message.
import { createInterface } from 'node:readline';
import { celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import { create, createFileRegistry, createRegistry, toJson } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_struct,
  ValueSchema,
} from '@bufbuild/protobuf/wkt';

const field = (name, number, type) => ({ name, number, jsonName: name, label: FieldDescriptorProto_Label.OPTIONAL, ...type });
const text = { type: FieldDescriptorProto_Type.STRING };
const any = { type: FieldDescriptorProto_Type.MESSAGE, typeName: '.google.protobuf.Value' };
const file = create(FileDescriptorProtoSchema, {
  name: 'patch.proto',
  syntax: 'proto3',
  dependency: ['google/protobuf/struct.proto'],
  messageType: [{ name: 'JSONPatch', field: [field('op', 1, text), field('from', 2, text), field('path', 3, text), field('value', 4, any)] }],
});
const files = createFileRegistry(create(FileDescriptorSetSchema, { file: [file_google_protobuf_struct.proto, file] }));
const operation = files.getMessage('JSONPatch');
const environment = celEnv({ registry: createRegistry(operation, ValueSchema) });

/** Converts parsed JSON to the values that CEL works on. */
function toCel(value) {
  if (Array.isArray(value)) {
    return value.map(toCel);
  }
  if (value !== null && typeof value === 'object') {
    return new Map(Object.entries(value).map(([name, one]) => [name, toCel(one)]));
  }
  return Number.isInteger(value) ? BigInt(value) : value;
}

/** Returns the type by which an API server compares the elements of a literal. */
function typeOf({ exprKind }) {
  if (exprKind.case === 'constExpr') {
    return exprKind.value.constantKind.case;
  }
  if (exprKind.case === 'structExpr') {
    return exprKind.value.messageName || 'map';
  }
  return exprKind.case === 'callExpr' ? exprKind.value.function : exprKind.case;
}

/** Throws if a list or map literal has elements of several types: an API server refuses the expression. */
function checkLiterals(node) {
  if (node === null || typeof node !== 'object') {
    return;
  }
  const literal = node.exprKind?.value;
  const elements =
    node.exprKind?.case === 'listExpr'
      ? literal.elements
      : node.exprKind?.case === 'structExpr' && literal.messageName === ''
        ? literal.entries.map((entry) => entry.value)
        : [];
  const types = new Set(elements.map(typeOf));
  if (types.size > 1) {
    throw new Error(`a literal has elements of the types ${[...types].join(', ')}`);
  }
  Object.values(node).forEach(checkLiterals);
}

function evaluate({ name, expression }, bindings) {
  const parsed = parse(expression);
  checkLiterals(parsed.expr);
  const result = plan(environment, parsed)(bindings);
  if (isCelError(result)) {
    throw new Error(`${name}: ${result.message}`);
  }
  return result;
}

function operationsOf({ policy, pod }) {
  const object = toCel(pod);
  const conditions = policy.spec.matchConditions.map((one) => evaluate(one, { object }));
  if (!conditions.every((one) => one === true)) {
    return [];
  }
  const variables = new Map();
  for (const one of policy.spec.variables) {
    variables.set(one.name, evaluate(one, { object, variables }));
  }
  return policy.spec.mutations
    .flatMap(({ jsonPatch }) => [...evaluate({ name: 'jsonPatch', expression: jsonPatch.expression }, { object, variables })])
    .map((one) => toJson(operation, one.message, { registry: files }));
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = { code: 0, complaints: '', operations: operationsOf(JSON.parse(line)) };
  } catch (failed) {
    answer = { code: 1, complaints: failed.message, operations: [] };
  }
  console.log(JSON.stringify(answer));
}
