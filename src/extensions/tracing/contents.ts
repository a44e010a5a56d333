import { tryOrUndefined } from '../../core/failure.ts';
import { isObject, toJson } from '../../core/json.ts';
import type { MaskSecrets } from '../../core/mask-secrets.ts';
import type { StepContents, StepKind } from '../../schemas/steps.ts';

type Kind = StepKind | 'run';

/**
 * What a run or a call was given and returned, by the conventions and as each tool shows it best: messages and documents
 * one by one for Phoenix and LangSmith, which show a list of them as text.
 */
export function attributesOfContents(
  { kind, contents }: { kind: Kind; contents?: StepContents | undefined },
  mask: MaskSecrets,
): Record<string, string | undefined> {
  if (!contents) return {};
  const [input, output] = [contents.input, contents.output].map((text) => text && mask(text));
  const mime_type = kind === 'model' || kind === 'run' ? 'application/json' : undefined;
  return {
    ...ownContents(kind, input, output),
    'input.value': input,
    'input.mime_type': input && mime_type,
    'output.value': output,
    'output.mime_type': output && mime_type,
  };
}

function ownContents(
  kind: Kind,
  input: string | undefined,
  output: string | undefined,
): Record<string, string | undefined> {
  switch (kind) {
    case 'tool':
      return { 'gen_ai.tool.call.arguments': input, 'gen_ai.tool.call.result': output };
    case 'retriever':
      return { 'gen_ai.retrieval.query.text': input, ...documentsOf(output) };
    case 'store':
      return {};
    case 'model':
      return {
        ...{ 'gen_ai.input.messages': input, 'gen_ai.output.messages': output },
        ...messagesOf('llm.input_messages', input),
        ...messagesOf('llm.output_messages', output),
      };
    default:
      return { 'gen_ai.input.messages': input, 'gen_ai.output.messages': output };
  }
}

/** LangChain's documents. A list that was cut is no JSON, and not read. */
function documentsOf(output: string | undefined): Record<string, string> {
  const documents = listIn(output).filter(({ pageContent }) => typeof pageContent === 'string');
  if (documents.length === 0) return {};
  const found = documents.map(({ id, pageContent, metadata }) => ({ id, content: pageContent, metadata }));
  const single = found.flatMap(({ id, content, metadata }, i): [string, string][] => {
    const prefix = `retrieval.documents.${i}.document`;
    return [
      [`${prefix}.content`, String(content)],
      ...(typeof id === 'string' ? [[`${prefix}.id`, id] as [string, string]] : []),
      [`${prefix}.metadata`, toJson(metadata ?? {})],
    ];
  });
  return { 'gen_ai.retrieval.documents': toJson(found), ...Object.fromEntries(single) };
}

/** Messages of the GenAI conventions as those of OpenInference. */
function messagesOf(list: string, json: string | undefined): Record<string, string> {
  return Object.fromEntries(
    listIn(json).flatMap(({ role, parts }, i) => {
      const prefix = `${list}.${i}.message`;
      const known = (Array.isArray(parts) ? parts : []).filter(isObject);
      const texts = known.flatMap((part) => {
        if (part['type'] === 'tool_call_response') return listOf(part['response']).map(textOf);
        return part['type'] === 'tool_call' ? [] : [textOf(part)];
      });
      const tool_call_id = known.find(({ type }) => type === 'tool_call_response')?.['id'];
      return [
        [`${prefix}.role`, String(role)],
        [`${prefix}.content`, texts.join('\n')],
        ...(typeof tool_call_id === 'string' ? [[`${prefix}.tool_call_id`, tool_call_id]] : []),
        ...known.filter(({ type }) => type === 'tool_call').flatMap((call, n) => callOf(prefix, call, n)),
      ];
    }),
  );
}

function callOf(message: string, { id, name, arguments: given }: Record<string, unknown>, n: number) {
  const prefix = `${message}.tool_calls.${n}.tool_call`;
  return [
    ...(typeof id === 'string' ? [[`${prefix}.id`, id]] : []),
    [`${prefix}.function.name`, String(name)],
    [`${prefix}.function.arguments`, toJson(given ?? {})],
  ];
}

/** Images and files are named by their type. */
function textOf({ type, content }: Record<string, unknown>): string {
  return typeof content === 'string' ? content : `(${String(type)})`;
}

function listIn(json: string | undefined): Record<string, unknown>[] {
  return listOf(json && tryOrUndefined(() => JSON.parse(json)));
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
