import createClient from 'openapi-fetch';
import { API_URL } from './base.ts';
import type { components, paths } from './openapi.d.ts';

/** Schemas of the API by name, from its OpenAPI document. */
export type Schemas = components['schemas'];

/** Typed client for the operations of the OpenAPI document. */
export const api = createClient<paths>({ baseUrl: API_URL, credentials: 'same-origin' });

/** A response with an error status. `message` is the server's text for the reader. */
export class ApiError extends Error {
  readonly status: number;
  /** How long the server asks to wait before a retry, ms. */
  readonly retry_after_ms: number | undefined;

  constructor(status: number, message: string, retry_after_ms?: number) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.retry_after_ms = retry_after_ms;
  }
}

/** No response: the server or the network is down. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** Replaces the server's text, which names a header that the browser no longer sends. */
const SIGNED_OUT = 'Your session has ended. Sign in and try again.';

const whenSignedOut = new Set<() => void>();

/** Calls `listener` for each request that is rejected because it has no session. */
export function onSignedOut(listener: () => void): void {
  whenSignedOut.add(listener);
}

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of a response. Throws `ApiError` for an error status, and `Unreachable` if there is no response. */
export async function dataOf<Data>(answering: Promise<Answer<Data>>): Promise<Data> {
  return (await pageOf(answering)).data;
}

/** The data of a response that is one page of a list, and the cursor of the next page. */
export async function pageOf<Data>(
  answering: Promise<Answer<Data>>,
): Promise<{ data: Data; next: string | undefined }> {
  const { data, error, response } = await answering.catch((cause: unknown) => {
    throw new Unreachable('The server is not responding.', { cause });
  });
  if (response.status === 401 && !response.url.endsWith('/studio/session')) {
    for (const each of whenSignedOut) each();
    throw new ApiError(401, SIGNED_OUT);
  }
  if (!response.ok) throw new ApiError(response.status, detailOf(error, response), retryAfterOf(response));
  return { data: data as Data, next: response.headers.get('x-pagination-next') ?? undefined };
}

function detailOf(error: unknown, { status, statusText }: Response): string {
  if (typeof error === 'object' && error !== null && 'detail' in error) {
    const { detail } = error;
    return typeof detail === 'string' ? detail : JSON.stringify(detail);
  }
  return typeof error === 'string' && error !== '' ? error : `${status} ${statusText}`.trim();
}

/** From a header in seconds, the only form that the server sends. */
function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? 1000 * seconds : undefined;
}
