import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** The row that answers a statement; an error without one. */
type Answer = (statement: string) => Readonly<Record<string, string>> | undefined;

/** A server that speaks as much of the protocol as `pg` needs for statements without parameters. */
export interface FakePostgres extends AsyncDisposable {
  readonly url: string;
  /** Those it was sent. */
  readonly statements: readonly string[];
}

/** Accepts everybody, and answers each statement with one row of text. */
export async function fakePostgres(answer: Answer): Promise<FakePostgres> {
  const statements: string[] = [];
  const server = createServer((socket) => {
    let isStarted = false;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      if (!isStarted) {
        isStarted = true;
        socket.write(Buffer.concat([message('R', int32(0)), ready()]));
      } else if (chunk[0] === 'Q'.charCodeAt(0)) {
        const statement = chunk.toString('utf8', 5, chunk.length - 1);
        statements.push(statement);
        reply(socket, answer(statement));
      } else socket.end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://me@127.0.0.1:${port}/db`,
    statements,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

function reply(socket: Socket, row: Readonly<Record<string, string>> | undefined): void {
  if (row === undefined) {
    const fields = ['SERROR', 'C42601', 'Mno such statement', ''].map(zeroEnded);
    socket.write(Buffer.concat([message('E', ...fields), ready()]));
    return;
  }
  const [names, values] = [Object.keys(row), Object.values(row)];
  const columns = names.map((name) => [
    zeroEnded(name),
    int32(0),
    int16(0),
    int32(TEXT),
    int16(-1),
    int32(-1),
    int16(0),
  ]);
  const cells = values.map((value) => [int32(Buffer.byteLength(value)), Buffer.from(value)]);
  socket.write(
    Buffer.concat([
      message('T', int16(names.length), ...columns.flat()),
      message('D', int16(values.length), ...cells.flat()),
      message('C', zeroEnded('SELECT 1')),
      ready(),
    ]),
  );
}

/** Type OID of `text`. */
const TEXT = 25;

function ready(): Buffer {
  return message('Z', Buffer.from('I'));
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function zeroEnded(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}
