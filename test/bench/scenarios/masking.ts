import { secretMask } from '../../../src/core/mask-secrets.ts';
import { redact } from '../../../src/core/redact.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import type { Measurement, Scenario } from '../measurements.ts';

const LENGTH = 2 ** 20;
/** What the expressions look for, again and again without an end: each must be given up soon. */
const PIECES = [
  'x',
  '/a',
  'a://',
  'https://u:',
  '"/',
  '?password=',
  'authorization: ',
  'sk-a',
  'eyJ',
  '… (cut, ',
];

/** Masking must be linear: a quadratic expression takes many minutes for these texts. */
export const masking: Scenario = {
  title: 'Masking of secrets in a megabyte of text that is hard for its expressions',
  async run() {
    const mask = secretMask(Array.from({ length: 100 }, (_, index) => `hunter2hunter2${index}`));
    return PIECES.flatMap((piece): Measurement[] => {
      const text = piece.repeat(LENGTH / piece.length);
      return [
        { what: `${JSON.stringify(piece)}: redacted`, value: cpuMs(() => redact(text)), unit: 'ms' },
        { what: `${JSON.stringify(piece)}: masked`, value: cpuMs(() => mask(text)), unit: 'ms' },
      ];
    });
  },
};
