import type { JsonObject } from '../api/values.ts';

/** The thread state that a component gets from `useStreamContext`. */
export interface StreamState {
  readonly values: JsonObject;
  readonly messages: readonly unknown[];
  readonly isLoading: boolean;
  readonly error: string | undefined;
  readonly interrupts: readonly unknown[];
  readonly assistantId: string;
  readonly threadId: string;
}

/** A component and its props. */
export interface Shown {
  /** Counts from 1. `drawn` refers to it. */
  readonly version: number;
  readonly name: string;
  /** Global variable of the bundle. */
  readonly global: string;
  /** URLs of the bundle's style sheets and scripts. */
  readonly files: readonly string[];
  readonly props: JsonObject;
  readonly meta: unknown;
  readonly theme: string;
}

/** Messages from the chat to the frame. */
export type ToFrame =
  | { readonly type: 'show'; readonly shown: Shown }
  | { readonly type: 'stream'; readonly stream: StreamState };

/** Messages from the frame to the chat. The chat validates them. */
export type FromFrame =
  | { readonly type: 'drawn'; readonly version: number }
  | { readonly type: 'height'; readonly px: number }
  | { readonly type: 'failed'; readonly reason: string }
  /** Someone has used the component, so its state is worth keeping. */
  | { readonly type: 'used' }
  | { readonly type: 'wants stream' }
  | { readonly type: 'submit'; readonly values: unknown; readonly command: unknown }
  | { readonly type: 'stop' }
  | { readonly type: 'refused'; readonly reason: string };
