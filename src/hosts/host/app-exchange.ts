import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AppRequestContext } from '../protocol/http.ts';
import type { Forwarding } from './forwarding.ts';

/** A request for the project's app, with what the server says about it. */
export interface AppExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: AppRequestContext;
  readonly forwards: Forwarding;
}
