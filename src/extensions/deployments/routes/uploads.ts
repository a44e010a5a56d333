import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { InvalidInput } from '../../../core/errors.ts';
import { TAGS } from '../../../http/openapi/tags.ts';
import type { ZodTypeProvider } from '../../../http/plugins/validation.ts';
import { Name } from '../../../schemas/bounds.ts';
import { queryInt } from '../../../schemas/fields.ts';
import { DeploymentPath } from '../../../schemas/request-params.ts';
import { MAX_UPLOAD_BYTES, type UploadService } from '../services/uploads.ts';

const TYPES = ['application/gzip', 'application/x-gzip', 'application/octet-stream'];

const UploadPath = DeploymentPath.extend({
  object: Name.meta({ description: 'Object name from the upload URL.' }),
});
const UploadQuery = z.looseObject({
  expires: queryInt({ min: 0, max: 1e11 }),
  signature: z.string().max(100),
});

/** The URL is signed, so callers send no API key. The body is streamed to disk. */
export function deploymentUploadRoutes(
  server: FastifyInstance,
  { deploymentUploads: uploads }: { deploymentUploads: UploadService },
) {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      TYPES,
      (_request: unknown, payload: Readable, parsed: (error: null, body: Readable) => void) =>
        parsed(null, payload),
    );
    scope.withTypeProvider<ZodTypeProvider>().put(
      '/v2/uploads/:deployment_id/:object',
      {
        config: { open: true },
        bodyLimit: MAX_UPLOAD_BYTES,
        schema: {
          operationId: 'upload_deployment_source',
          summary: 'Upload sources',
          description: 'Uploads sources to a signed upload URL, which works once.',
          tags: [TAGS.deployments],
          params: UploadPath,
          querystring: UploadQuery,
          response: { 200: z.object({}) },
          failures: {
            403: 'This upload URL is not valid: create a new one and use it unchanged.',
            409: 'This upload URL has already been used: …',
          },
        },
      },
      async ({ params, query, body }) => {
        const { expires, signature } = query;
        const object_path = `uploads/${params.deployment_id}/${params.object}`;
        const upload = await uploads.open({ object_path, expires, signature });
        if (!isReadable(body)) throw new InvalidInput(`The content type must be ${TYPES[0]}`);
        await upload.save(body);
        return {};
      },
    );
    done();
  });
}

function isReadable(body: unknown): body is Readable {
  return typeof (body as Readable | undefined)?.pipe === 'function';
}
