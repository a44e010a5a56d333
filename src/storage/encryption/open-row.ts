import type { Cipher } from './cipher.ts';

/** Of columns of a row: whose values they are, as `{payload: 'crons.payload'}`. */
type Whose<Row> = { readonly [Column in keyof Row]?: string };

/** Opens and parses JSON columns of a row, in place. Null stays. Throws `Unreadable`. */
export function openJson<Row extends object>(cipher: Cipher, row: Row, whose: Whose<Row>): Row {
  for (const name in whose) {
    const text = row[name];
    if (typeof text === 'string') row[name] = JSON.parse(cipher.openJson(whose[name] as string, text));
  }
  return row;
}

/** Opens text columns of a row, in place. Null stays. Throws `Unreadable`. */
export function openText<Row extends object>(cipher: Cipher, row: Row, whose: Whose<Row>): Row {
  for (const name in whose) {
    const text = row[name];
    if (typeof text === 'string') row[name] = cipher.openText(whose[name] as string, text) as typeof text;
  }
  return row;
}
