/** What nobody but the server's operator may learn, and what is left of it for others. */
export const PASSWORD = 'hunter2-4f9d';
export const FOLDER = '/home/maker-7c1e/app/src';
export const LEFT = 'nothing at postgres://***@db.internal/x for places.ts';

export class LeakyError extends Error {
  constructor() {
    super(`nothing at postgres://joe:${PASSWORD}@db.internal/x for ${FOLDER}/places.ts`);
    this.name = 'LeakyError';
  }
}
