import {
  acceptedContent,
  completable,
  inputRequired,
  type McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { PNG } from './media.ts';

const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };

function says(...content: (typeof image | { type: 'text'; text: string } | EmbeddedText)[]) {
  return { messages: content.map((each) => ({ role: 'user' as const, content: each })) };
}

interface EmbeddedText {
  type: 'resource';
  resource: { uri: string; mimeType: string; text: string };
}

function text(value: string) {
  return { type: 'text' as const, text: value };
}

/** What the MCP conformance suite wants of a server beyond tools that graphs can be. */
export function register(server: McpServer): void {
  registerPrompts(server);
  registerResources(server);
  // A stateless server can accept a subscription of the older revisions, not serve it.
  server.server.registerCapabilities({ resources: { subscribe: true } });
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const) {
    server.server.setRequestHandler(method, () => ({}));
  }
}

function registerPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'A simple prompt.' }, () =>
    says(text('This is a simple prompt for testing.')),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with arguments.',
      argsSchema: z.object({
        arg1: completable(z.string(), (typed) =>
          ['paris', 'park', 'party'].filter((each) => each.startsWith(typed)),
        ),
        arg2: z.string(),
      }),
    },
    ({ arg1, arg2 }) => says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a resource.', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) =>
      says(
        {
          type: 'resource',
          resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
        text('Please process the embedded resource above.'),
      ),
  );
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first.' }, (ctx) => {
    const given = acceptedContent<{ context: string }>(ctx.mcpReq.inputResponses, 'user_context');
    if (given) return says(text(`Context: ${given.context}`));
    const requestedSchema = {
      type: 'object' as const,
      properties: { context: { type: 'string' as const } },
      required: ['context'],
    };
    const message = 'What context should the prompt use?';
    return inputRequired({
      inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema }) },
    });
  });
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image.' }, () =>
    says(image, text('Please analyze the image above.')),
  );
}

function registerResources(server: McpServer): void {
  const described = { description: 'A resource for testing.' };
  server.registerResource(
    'static-text',
    'test://static-text',
    { ...described, mimeType: 'text/plain' },
    ({ href }) => ({
      contents: [
        { uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
      ],
    }),
  );
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { ...described, mimeType: 'image/png' },
    ({ href }) => ({
      contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
    }),
  );
  server.registerResource(
    'watched',
    'test://watched-resource',
    { ...described, mimeType: 'text/plain' },
    ({ href }) => ({
      contents: [{ uri: href, mimeType: 'text/plain', text: 'This resource may change.' }],
    }),
  );
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { ...described, mimeType: 'application/json' },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
}
