/** A call of a tool, whatever the client calls things. */
export interface Call {
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The memory; without one the call stands for itself. */
  readonly thread_id?: string;
  /** Says what the user says when the client is asked during the call. */
  readonly answer?: (question: string) => Promise<string>;
  readonly onProgress?: (progress: number) => void;
  readonly signal?: AbortSignal;
}

export interface Result {
  readonly text: string;
  readonly structured: unknown;
  /** Where the run was. */
  readonly thread_id: string | undefined;
  readonly is_error: boolean;
}

/** An official client of some language, version and revision of the protocol. */
export interface McpClient {
  /** Whether it can be asked during a call; else a question is the result, and is answered on its thread. */
  readonly can_be_asked: boolean;
  tools(): Promise<string[]>;
  call(call: Call): Promise<Result>;
  close(): Promise<void>;
}

/** `url`: the address of the server's MCP. */
export type Connect = (url: string) => Promise<McpClient>;

/** A result as it is on the wire. */
export interface WireResult {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

export function resultOf({ content, structuredContent, isError = false, _meta }: WireResult): Result {
  const texts = Array.isArray(content) ? content.map(({ text }) => text) : [];
  return {
    text: texts.join('\n'),
    structured: structuredContent,
    thread_id: _meta?.['thread_id'] as string | undefined,
    is_error: isError,
  };
}
