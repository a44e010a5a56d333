import createClient from 'openapi-fetch';
import { API_URL } from './base.ts';
import type { components, paths } from './openapi.d.ts';

/** Schemas of the API by name, from its OpenAPI document. */
export type Schemas = components['schemas'];

/** Calls the operations of the OpenAPI document, and nothing else. */
export const api = createClient<paths>({ baseUrl: API_URL, credentials: 'same-origin' });

/** An answer that is not a success. `message` is written by the server for the reader. */
export class ApiError extends Error {
  readonly status: number;
  /** How long the server asks to wait before another attempt, ms. */
  readonly retry_after_ms: number | undefined;

  constructor(status: number, message: string, retry_after_ms?: number) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.retry_after_ms = retry_after_ms;
  }
}

/** No answer: the server is away, or the network is. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** In place of the server's words, which are about a header that the browser does not send any more. */
const SIGNED_OUT = 'The session had ended. Please try again.';

const whenSignedOut = new Set<() => void>();

/** Calls `listener` for each request that is refused as it has no session. */
export function onSignedOut(listener: () => void): void {
  whenSignedOut.add(listener);
}

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of an answer. Throws `ApiError` for any other answer than a success, and `Unreachable` without one. */
export async function dataOf<Data>(answering: Promise<Answer<Data>>): Promise<Data> {
  return (await pageOf(answering)).data;
}

/** The data of an answer that is a page of a list, and the cursor of the next page. */
export async function pageOf<Data>(
  answering: Promise<Answer<Data>>,
): Promise<{ data: Data; next: string | undefined }> {
  const { data, error, response } = await answering.catch((cause: unknown) => {
    throw new Unreachable('The server does not answer.', { cause });
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

/** Of a header in seconds; the server sends no other. */
function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? 1000 * seconds : undefined;
}
