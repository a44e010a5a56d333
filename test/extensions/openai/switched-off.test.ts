import { expect, test } from 'vitest';
import { openai } from '../../../src/extensions/openai/extension.ts';
import { openApp } from '../../support/app.ts';
import { bareServer } from '../../support/bare-server.ts';
import { naming } from '../../support/naming.ts';

const offAnswer = (path: string) => openai.offAnswer?.(path);

test.each(['', '/agents'])(
  'the disabled OpenAI API below "%s" is a 404 that names the setting',
  async (mount_prefix) => {
    await using http = await bareServer({ options: { mount_prefix }, extensions: { routes: [], offAnswer } });
    for (const path of ['chat/completions', 'models', 'models/echo']) {
      const answer = await http.inject({
        method: 'POST',
        url: `${mount_prefix}/v1/${path}?a=b`,
        payload: {},
      });
      expect([answer.statusCode, answer.json()]).toEqual([
        404,
        {
          error: {
            message: naming('disabled', 'http.openai.enabled'),
            type: 'not_found_error',
            param: null,
            code: null,
          },
        },
      ]);
    }
    expect((await http.inject(`${mount_prefix}/v1/embeddings`)).json()).toEqual({ detail: 'Not Found' });
  },
);

test.each([
  [false, { error: expect.objectContaining({ type: 'not_found_error' }) }],
  [true, { detail: 'Not Found' }],
])(
  'a path below /v1 that is not served is a 404 in its own format, with the API enabled: %s',
  async (enabled, body) => {
    await using http = await openApp({ graphs: ['echo'], http: { openai: { enabled } } });
    const path = enabled ? '/v1/nope' : '/v1/models';
    expect(await http.get(path)).toMatchObject({ status: 404, body });
  },
);
