/** Error body of OpenAI's API. */
export function openAiError(status: number, message: string) {
  return { error: { message, type: TYPES[status] ?? typeOf(status), param: null, code: null } };
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

function typeOf(status: number): string {
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
