import type { JsonObject } from '../api/values.ts';

/** What a component is told about the thread, by `useStreamContext`. */
export interface StreamState {
  readonly values: JsonObject;
  readonly messages: readonly unknown[];
  readonly isLoading: boolean;
  readonly error: string | undefined;
  readonly interrupts: readonly unknown[];
  readonly assistantId: string;
  readonly threadId: string;
}

/** A component and what it is to show. */
export interface Shown {
  /** Counts from 1; `drawn` names it. */
  readonly version: number;
  readonly name: string;
  /** Global variable of the bundle. */
  readonly global: string;
  /** URLs of the bundle: style sheets and scripts. */
  readonly files: readonly string[];
  readonly props: JsonObject;
  readonly meta: unknown;
  readonly theme: string;
}

/** What the chat sends to the frame. */
export type ToFrame =
  | { readonly type: 'show'; readonly shown: Shown }
  | { readonly type: 'stream'; readonly stream: StreamState };

/** What the frame sends to the chat. The chat trusts none of it to have these types. */
export type FromFrame =
  | { readonly type: 'drawn'; readonly version: number }
  | { readonly type: 'height'; readonly px: number }
  | { readonly type: 'failed'; readonly reason: string }
  /** A person has used the component: what it keeps is worth something. */
  | { readonly type: 'used' }
  | { readonly type: 'wants stream' }
  | { readonly type: 'submit'; readonly values: unknown; readonly command: unknown }
  | { readonly type: 'stop' }
  | { readonly type: 'refused'; readonly reason: string };
