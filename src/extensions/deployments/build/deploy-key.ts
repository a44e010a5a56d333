import { createHash, generateKeyPairSync } from 'node:crypto';

export interface DeployKey {
  /** Private key in OpenSSH format, without a passphrase. */
  readonly private_key: string;
  /** Public key, as the repository settings expect it. */
  readonly public_key: string;
}

const TYPE = 'ssh-ed25519';
/** Unencrypted keys are padded to this length (PROTOCOL.key of OpenSSH). */
const PADDED = 8;

/** Generates an ed25519 deploy key. */
export function createDeployKey(comment = 'agent-server'): DeployKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { d, x } = privateKey.export({ format: 'jwk' }) as { d: string; x: string };
  const secret = Buffer.from(d, 'base64url');
  const point = Buffer.from(x, 'base64url');
  const publicBlob = Buffer.concat([field(TYPE), field(point)]);
  const body = Buffer.concat([
    openSshCheck(secret),
    publicBlob,
    field(Buffer.concat([secret, point])),
    field(comment),
  ]);
  const file = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    // No cipher, no key derivation and its options; one key.
    ...[field('none'), field('none'), field(''), uint32(1)],
    field(publicBlob),
    field(Buffer.concat([body, padding(body.length)])),
  ]);
  const lines = file.toString('base64').match(/.{1,70}/g) as string[];
  const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} OPENSSH PRIVATE KEY-----`) as [
    string,
    string,
  ];
  return {
    private_key: `${[begin, ...lines, end].join('\n')}\n`,
    public_key: `${TYPE} ${publicBlob.toString('base64')} ${comment}`,
  };
}

/** The check bytes: four bytes repeated, so that a reader can verify the decryption. */
function openSshCheck(secret: Buffer): Buffer {
  const check = createHash('sha256').update(secret).digest().subarray(0, 4);
  return Buffer.concat([check, check]);
}

function padding(length: number): Buffer {
  return Buffer.from(Array.from({ length: (PADDED - (length % PADDED)) % PADDED }, (_, at) => at + 1));
}

/** SSH string: length, then the bytes. */
function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
