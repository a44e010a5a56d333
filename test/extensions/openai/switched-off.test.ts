import { expect, test } from 'vitest';
import { openai } from '../../../src/extensions/openai/extension.ts';
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
