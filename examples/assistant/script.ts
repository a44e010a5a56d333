import { type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { Passage } from '../markdown-search.ts';
import type { Reply } from './scripted-model.ts';

/** Bounded: without the 64 a long word would be searched from each of its letters. */
const ADDRESS = /[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/;
const ADDRESS_ONLY = new RegExp(`^\\W*(?:to\\s+)?${ADDRESS.source}\\W*$`, 'i');
const MAIL_ORDER = /^\W*(?:please\s+|(?:can|could)\s+you\s+)?(?:e-?mail|mail|send|write)\b/i;
const MAIL_BODY = /\bsaying:?\s+(?<body>.+)$/is;
const MAIL_SUBJECT = /\babout\s+(?<subject>.+?)(?:\s+(?:to|saying)\b|[.?!]|$)/is;
const GREETING = /^(?:hi|hello|hey|good (?:morning|afternoon|evening))?[,.!]*$/i;

/** The rules of the assistant when no model is configured: look it up, quote it, and send e-mail when asked. */
export function script(messages: BaseMessage[]): Reply {
  const last = messages.at(-1);
  const request = latestRequest(messages);
  if (!ToolMessage.isInstance(last)) return answerRequest(request);
  if (last.name !== 'search_notes' || last.status === 'error') return { text: last.text };
  const passages: Passage[] = JSON.parse(last.text);
  return passages.length > 0 && ADDRESS.test(request) ? sendPassage(request, passages) : quote(passages);
}

function answerRequest(request: string): Reply {
  if (GREETING.test(request.trim())) {
    return { text: 'Hello! Ask me anything about the notes of the shop, or let me send an e-mail for you.' };
  }
  const to = ADDRESS.exec(request)?.[0];
  if (to === undefined) {
    return MAIL_ORDER.test(request) ? { text: 'To which address shall I send it?' } : search(request);
  }
  const body = MAIL_BODY.exec(request)?.groups?.['body'];
  return body === undefined
    ? search(request.replace(ADDRESS, '').replace(MAIL_ORDER, '').trim())
    : sendEmail(to, subjectOf(request) ?? 'A message for you', body);
}

function search(query: string): Reply {
  return { text: 'Let me look into the notes.', tool_calls: [{ name: 'search_notes', args: { query } }] };
}

function sendPassage(request: string, [passage]: Passage[]): Reply {
  const to = ADDRESS.exec(request)?.[0] ?? '';
  return sendEmail(to, subjectOf(request) ?? passage!.heading, passage!.text);
}

function sendEmail(to: string, subject: string, body: string): Reply {
  return {
    text: `Here is the e-mail to ${to}.`,
    tool_calls: [{ name: 'send_email', args: { to, subject, body } }],
  };
}

function subjectOf(request: string): string | undefined {
  return MAIL_SUBJECT.exec(request)?.groups?.['subject'];
}

function quote([best, ...others]: Passage[]): Reply {
  if (best === undefined) return { text: 'The notes say nothing about that.' };
  const related = others.filter(({ score }) => score > best.score / 2);
  const more = related.map(({ file, heading }) => `${file} (${heading})`);
  return {
    text: [
      `${best.file} says under "${best.heading}":\n\n> ${best.text}`,
      ...(more.length > 0 ? [`See also ${more.join(' and ')}.`] : []),
    ].join('\n\n'),
  };
}

/** What the person wants now. An address alone answers our question for it: the order came one message before. */
function latestRequest(messages: BaseMessage[]): string {
  const said = messages.filter((message) => HumanMessage.isInstance(message)).map((message) => message.text);
  const last = said.at(-1) ?? '';
  return ADDRESS_ONLY.test(last) ? `${last}: ${said.at(-2) ?? ''}` : last;
}
