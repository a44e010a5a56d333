import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame, FrameDecoder, FrameError, MAX_MESSAGE_BYTES } from '../../src/hosts/protocol/frames.ts';
import { generatedCases } from '../support/generated-cases.ts';

const frame = (message: unknown) => encodeFrame(message);

test('messages between server and host arrive complete and in order, for any division into chunks', () => {
  const messages = fc.array(fc.record({ id: fc.nat(), text: fc.string(), bytes: fc.uint8Array() }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(messages, fc.array(fc.nat(200), { maxLength: 30 }), (sent, cuts) => {
      const stream = Buffer.concat(sent.map(frame));
      const decoder = new FrameDecoder();
      const received: unknown[] = [];
      let at = 0;
      for (const size of [...cuts, stream.length]) {
        received.push(...decoder.decode(stream.subarray(at, at + size)));
        at = Math.min(stream.length, at + size);
      }
      expect(received).toEqual(sent.map((each) => ({ ...each, bytes: Buffer.from(each.bytes) })));
    }),
    generatedCases(100),
  );
});

test('undefined members of a host message are omitted, as in JSON', () => {
  expect(new FrameDecoder().decode(frame({ a: undefined, b: null }))).toEqual([{ b: null }]);
});

test('a host frame that announces more than the limit is refused before it arrives', () => {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(MAX_MESSAGE_BYTES + 1);
  expect(() => new FrameDecoder().decode(header)).toThrow(FrameError);
});

test('host frames that are not MessagePack are refused', () => {
  expect(() => new FrameDecoder().decode(Buffer.from([0, 0, 0, 1, 0x81]))).toThrow(FrameError);
});

test('a host message above the limit is refused by its sender', () => {
  expect(() => encodeFrame({ bytes: new Uint8Array(MAX_MESSAGE_BYTES) })).toThrow(FrameError);
});
