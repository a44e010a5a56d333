import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Actor } from '../../../auth/actor.ts';
import { type Clock, timestamp } from '../../../core/clock.ts';
import { Conflict, Forbidden } from '../../../core/errors.ts';
import type { Ids } from '../../../core/ids.ts';
import { lazy } from '../../../core/lifecycle.ts';
import type { ServerSecretRepository } from '../../../storage/access/server-secrets.ts';
import type { UploadUrl } from '../schemas/deployments.ts';
import type { DeploymentFiles } from '../storage/files.ts';
import { type DeploymentDeps, requireDeployment } from './control-plane.ts';

export interface UploadDeps extends Pick<DeploymentDeps, 'deployments'> {
  readonly files: Pick<DeploymentFiles, 'saveUpload' | 'remove'>;
  readonly secrets: ServerSecretRepository;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Largest upload, bytes; what the official clients announce. */
export const MAX_UPLOAD_BYTES = 209_715_200;
/** Lifetime of an upload URL, ms. */
const VALID_MS = 15 * 60_000;

const NOT_VALID = 'This upload URL is not valid: create a new one and use it unchanged.';

/** Parameters of an upload URL. */
export interface UploadTicket {
  readonly object_path: string;
  /** Epoch seconds. */
  readonly expires: number;
  readonly signature: string;
}

export type UploadService = ReturnType<typeof uploadService>;

/** Uploads of sources, by signed URLs that work once. */
export function uploadService({ deployments, files, secrets, clock, ids }: UploadDeps) {
  const key = lazy(() => secrets.getOrCreate('deployment uploads', ids.secret()));

  async function signatureOf({ object_path, expires }: Omit<UploadTicket, 'signature'>): Promise<Buffer> {
    return createHmac('sha256', await key())
      .update(`${expires}\n${object_path}`)
      .digest();
  }

  return {
    /** `base`: the URL of the server for the caller, with its prefix. */
    async createUrl(actor: Actor, deployment_id: string, base: string): Promise<UploadUrl> {
      const row = await requireDeployment(deployments, actor, deployment_id);
      const object_path = `uploads/${row.deployment_id}/${ids.uuid4()}.tar.gz`;
      const expires = Math.floor((clock.now() + VALID_MS) / 1000);
      const signature = (await signatureOf({ object_path, expires })).toString('base64url');
      return {
        upload_url: `${base}/v2/${object_path}?expires=${expires}&signature=${signature}`,
        object_path,
        expires_at: timestamp(expires * 1000),
      };
    },

    /**
     * Throws `Forbidden` for a URL that this server did not sign or that has expired, and if the deployment was deleted.
     * `save` throws `Conflict` at its second use.
     */
    async open({ object_path, expires, signature }: UploadTicket) {
      const given = Buffer.from(signature, 'base64url');
      const expected = await signatureOf({ object_path, expires });
      if (given.length !== expected.length || !timingSafeEqual(given, expected))
        throw new Forbidden(NOT_VALID);
      if (expires * 1000 <= clock.now())
        throw new Forbidden('This upload URL has expired: create a new one.');
      const deployment_id = object_path.split('/')[1] as string;
      if (!(await deployments.find(deployment_id))) throw new Forbidden(NOT_VALID);
      return {
        async save(content: Readable): Promise<void> {
          if (!(await files.saveUpload(object_path, content, MAX_UPLOAD_BYTES)))
            throw new Conflict('This upload URL has already been used: create a new one.');
          if (await deployments.find(deployment_id)) return;
          // Deleted meanwhile, perhaps before this file was there.
          await files.remove(deployment_id);
          throw new Forbidden(NOT_VALID);
        },
      };
    },
  };
}
