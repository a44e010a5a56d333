import { resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openApp } from '../support/app.ts';
import { collector } from '../support/collector.ts';
import { onlyBlock } from './blocks.ts';

afterEach(() => vi.unstubAllEnvs());

const PAGE = 'docs/tracing.md';
const folder = resolve(import.meta.dirname, '../fixtures/recorded-graphs');

/** What a tool's own way in looks like. */
const RECIPES = {
  LangSmith: {
    block: 'smith.langchain.com/otel',
    path: '/otel/v1/traces',
    headers: { 'x-api-key': 'lsv2_pt_0123', 'langsmith-project': 'my-agents' },
    resource: {},
  },
  Langfuse: {
    block: 'langfuse.com',
    path: '/api/public/otel/v1/traces',
    headers: {
      authorization: `Basic ${Buffer.from('pk-lf-1:sk-lf-2').toString('base64')}`,
      'x-langfuse-ingestion-version': '4',
    },
    resource: {},
  },
  Phoenix: {
    block: ':6006',
    path: '/v1/traces',
    headers: { authorization: 'Bearer px-0123' },
    resource: { 'openinference.project.name': 'my-agents' },
  },
  Tempo: {
    block: 'X-Scope-OrgID',
    path: '/v1/traces',
    headers: { 'x-scope-orgid': 'my-team' },
    resource: { 'service.name': 'agent-server' },
  },
};

test.each(Object.entries(RECIPES))(
  'the tracing recipe for %s sends to its path with its key',
  async (_, recipe) => {
    await using sink = await collector();
    for (const line of onlyBlock(PAGE, 'dotenv', recipe.block).trim().split('\n')) {
      const [name = '', value = ''] = line.split(/=(.*)/s);
      const isUrl = name === 'OTEL_EXPORTER_OTLP_ENDPOINT';
      vi.stubEnv(name, isUrl ? value.replace(new URL(value).origin, sink.url) : value);
    }
    vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10');
    await using http = await openApp({ graphs: ['recorded'], folder });
    const { headers } = await http.post('/runs/wait', { assistant_id: 'recorded', input: { ask: false } });
    const run_id = String(headers['content-location']).split('/').at(-1) ?? '';
    const spans = [...(await sink.trace(run_id.replaceAll('-', ''), 15)).values()];

    expect(sink.requests[0]).toMatchObject({
      path: recipe.path,
      headers: { 'content-type': 'application/x-protobuf', ...recipe.headers },
    });
    const [root] = spans.filter(({ parent_id }) => parent_id === '');
    expect(root?.resource).toMatchObject(recipe.resource);
    expect([root?.name, root?.attributes]).toEqual([
      'invoke_agent recorded',
      {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'gen_ai.agent.name': 'recorded',
        'gen_ai.agent.version': '1',
        'gen_ai.conversation.id': expect.any(String),
        'session.id': root?.attributes['gen_ai.conversation.id'],
        'langsmith.metadata.thread_id': root?.attributes['gen_ai.conversation.id'],
        'openinference.span.kind': 'AGENT',
        'langsmith.span.kind': 'chain',
        'agent_server.graph.id': 'recorded',
        'agent_server.run.id': run_id,
        'agent_server.run.status': 'success',
      },
    ]);
    const kinds = (start: string) => {
      const { attributes = {} } = spans.find(({ name }) => name.startsWith(start)) ?? {};
      return [attributes['openinference.span.kind'], attributes['langsmith.span.kind']];
    };
    expect(['invoke_agent', 'invoke_workflow', 'node', 'chat', 'execute_tool'].map(kinds)).toEqual([
      ...[
        ['AGENT', 'chain'],
        ['CHAIN', 'chain'],
        ['CHAIN', 'chain'],
        ['LLM', 'llm'],
        ['TOOL', 'tool'],
      ],
    ]);
    const chat = spans.find(({ name }) => name.startsWith('chat'))?.attributes;
    expect(chat).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 3,
      'llm.token_count.prompt': 7,
      'llm.token_count.completion': 3,
      'llm.token_count.total': 10,
      'session.id': root?.attributes['gen_ai.conversation.id'],
      'langsmith.metadata.thread_id': root?.attributes['gen_ai.conversation.id'],
    });
  },
);
