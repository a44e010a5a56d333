import { describe, expect, test } from 'vitest';
import { checkSchedule, nextCronTime } from '../../src/core/cron-times.ts';
import { InvalidInput } from '../../src/core/errors.ts';

/** The next `count` times after `from`, in UTC. */
function times(schedule: string, timezone: string | null, from: string, count: number): string[] {
  const found: string[] = [];
  let at: number | undefined = Date.parse(from);
  while (found.length < count) {
    at = nextCronTime(schedule, timezone, at);
    if (at === undefined) break;
    found.push(new Date(at).toISOString().replace(':00.000Z', 'Z'));
  }
  return found;
}

test.each([
  ['* * * * *', ['2026-11-21T05:01Z', '2026-11-21T05:02Z', '2026-11-21T05:03Z']],
  ['*/20 * * * *', ['2026-11-21T05:20Z', '2026-11-21T05:40Z', '2026-11-21T06:00Z']],
  ['10-50/20 6 * * *', ['2026-11-21T06:10Z', '2026-11-21T06:30Z', '2026-11-21T06:50Z']],
  ['5,35 7,19 * * *', ['2026-11-21T07:05Z', '2026-11-21T07:35Z', '2026-11-21T19:05Z']],
  ['0 9 * * MON-FRI', ['2026-11-23T09:00Z', '2026-11-24T09:00Z', '2026-11-25T09:00Z']],
  ['0 0 1 jan,JUL *', ['2027-01-01T00:00Z', '2027-07-01T00:00Z', '2028-01-01T00:00Z']],
  ['0 12 * * 0', ['2026-11-22T12:00Z', '2026-11-29T12:00Z', '2026-12-06T12:00Z']],
  ['0 12 * * 7', ['2026-11-22T12:00Z', '2026-11-29T12:00Z', '2026-12-06T12:00Z']],
  ['0 0 31 * *', ['2026-12-31T00:00Z', '2027-01-31T00:00Z', '2027-03-31T00:00Z']],
  ['@daily', ['2026-11-22T00:00Z', '2026-11-23T00:00Z', '2026-11-24T00:00Z']],
  ['@Weekly', ['2026-11-22T00:00Z', '2026-11-29T00:00Z', '2026-12-06T00:00Z']],
])('schedule %s fires at its times', (schedule, expected) => {
  expect(times(schedule, null, '2026-11-21T05:00:30Z', 3)).toEqual(expected);
});

test('the next time of a schedule is always later than the given one', () => {
  expect(times('0 6 * * *', null, '2026-11-21T06:00:00.000Z', 1)).toEqual(['2026-11-22T06:00Z']);
  expect(times('0 6 * * *', null, '2026-11-21T05:59:59.999Z', 1)).toEqual(['2026-11-21T06:00Z']);
});

test('29 February fires only in leap years, and 2100 is not one', () => {
  expect(times('0 0 29 2 *', null, '2026-11-21T00:00Z', 2)).toEqual([
    '2028-02-29T00:00Z',
    '2032-02-29T00:00Z',
  ]);
  expect(times('0 0 29 2 *', null, '2096-03-01T00:00Z', 1)).toEqual(['2104-02-29T00:00Z']);
});

test('a schedule with a day of the month and a day of the week fires on either of them', () => {
  // Fridays in November 2026 are 6, 13, 20 and 27.
  expect(times('0 0 15 * FRI', null, '2026-11-06T00:00Z', 4)).toEqual([
    '2026-11-13T00:00Z',
    '2026-11-15T00:00Z',
    '2026-11-20T00:00Z',
    '2026-11-27T00:00Z',
  ]);
});

describe('where clocks go forward', () => {
  // Berlin 2026-03-29: 02:00 +01:00 becomes 03:00 +02:00, which is 01:00 UTC.
  test.each([
    ['30 2 * * *', ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z']],
    ['0,30 2 * * *', ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:00Z']],
    ['0 2-3 * * *', ['2026-03-28T02:00Z', '2026-03-29T01:00Z', '2026-03-30T00:00Z']],
    ['*/30 * * * *', ['2026-03-28T01:30Z', '2026-03-28T02:00Z', '2026-03-28T02:30Z']],
  ])('%s in Berlin', (schedule, expected) => {
    expect(times(schedule, 'Europe/Berlin', '2026-03-28T01:00Z', 3)).toEqual(expected);
  });

  test('a schedule of every half hour continues in Berlin after the skipped hour', () => {
    expect(times('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:00Z', 3)).toEqual([
      '2026-03-29T00:30Z',
      '2026-03-29T01:00Z',
      '2026-03-29T01:30Z',
    ]);
  });

  // New York 2026-03-08: 02:00 -05:00 becomes 03:00 -04:00, which is 07:00 UTC.
  test.each([
    ['30 2 * * *', ['2026-03-08T07:00Z', '2026-03-09T06:30Z']],
    ['0 9 * * *', ['2026-03-08T13:00Z', '2026-03-09T13:00Z']],
    ['*/15 2 * * *', ['2026-03-09T06:00Z', '2026-03-09T06:15Z']],
  ])('%s in New York', (schedule, expected) => {
    expect(times(schedule, 'America/New_York', '2026-03-08T05:00Z', 2)).toEqual(expected);
  });

  // Lord Howe 2026-10-04: 02:00 +10:30 becomes 02:30 +11:00, which is 2026-10-03 15:30 UTC.
  test.each([
    ['15 2 * * *', ['2026-10-03T15:30Z', '2026-10-04T15:15Z']],
    ['45 2 * * *', ['2026-10-03T15:45Z', '2026-10-04T15:45Z']],
    ['*/20 2 * * *', ['2026-10-03T15:40Z', '2026-10-04T15:00Z']],
    ['*/20 * * * *', ['2026-10-03T15:10Z', '2026-10-03T15:40Z']],
  ])('%s on Lord Howe', (schedule, expected) => {
    expect(times(schedule, 'Australia/Lord_Howe', '2026-10-03T15:00Z', 2)).toEqual(expected);
  });
});

describe('where clocks go back', () => {
  // Berlin 2026-10-25: 03:00 +02:00 becomes 02:00 +01:00, which is 01:00 UTC.
  test.each([
    ['30 2 * * *', ['2026-10-25T00:30Z', '2026-10-26T01:30Z']],
    ['0,30 2 * * *', ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-26T01:00Z']],
    [
      '*/30 2 * * *',
      [
        '2026-10-25T00:00Z',
        '2026-10-25T00:30Z',
        '2026-10-25T01:00Z',
        '2026-10-25T01:30Z',
        '2026-10-26T01:00Z',
      ],
    ],
    ['0 * * * *', ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z']],
  ])('%s in Berlin', (schedule, expected) => {
    expect(times(schedule, 'Europe/Berlin', '2026-10-24T23:00Z', expected.length)).toEqual(expected);
  });

  test('a time that fired does not fire again in the repeated hour', () => {
    // 02:10 for the second time.
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10Z', 1)).toEqual(['2026-10-26T01:30Z']);
    expect(times('*/30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10Z', 1)).toEqual(['2026-10-25T01:30Z']);
  });

  // New York 2026-11-01: 02:00 -04:00 becomes 01:00 -05:00, which is 06:00 UTC.
  test.each([
    ['30 1 * * *', ['2026-11-01T05:30Z', '2026-11-02T06:30Z']],
    ['*/30 1 * * *', ['2026-11-01T05:00Z', '2026-11-01T05:30Z', '2026-11-01T06:00Z', '2026-11-01T06:30Z']],
    ['0 9 * * *', ['2026-11-01T14:00Z', '2026-11-02T14:00Z']],
  ])('%s in New York', (schedule, expected) => {
    expect(times(schedule, 'America/New_York', '2026-11-01T04:30Z', expected.length)).toEqual(expected);
  });

  // Lord Howe 2026-04-05: 02:00 +11:00 becomes 01:30 +10:30, which is 2026-04-04 15:00 UTC.
  test.each([
    ['45 1 * * *', ['2026-04-04T14:45Z', '2026-04-05T15:15Z']],
    ['15 1 * * *', ['2026-04-04T14:15Z', '2026-04-05T14:45Z']],
    [
      '*/15 1 * * *',
      [
        '2026-04-04T14:15Z',
        '2026-04-04T14:30Z',
        '2026-04-04T14:45Z',
        '2026-04-04T15:00Z',
        '2026-04-04T15:15Z',
      ],
    ],
  ])('%s on Lord Howe', (schedule, expected) => {
    expect(times(schedule, 'Australia/Lord_Howe', '2026-04-04T14:00Z', expected.length)).toEqual(expected);
  });
});

describe('an invalid schedule is refused with the reason', () => {
  test.each([
    ['bad', 'it needs five fields'],
    ['', 'it needs five fields'],
    ['0 0 * *', 'it needs five fields'],
    ['0 0 0 * * *', 'it needs five fields'],
    ['2026-11-21T05:00:00', 'it needs five fields'],
    ['@reboot', 'it needs five fields'],
    ['60 * * * *', 'Invalid value for minute: 60'],
    ['* 24 * * *', 'Invalid value for hour: 24'],
    ['* * 0 * *', 'Invalid value for day'],
    ['* * * 13 *', 'Invalid value for month'],
    ['* * * * 8', 'Invalid value for dayOfWeek: 8'],
    ['*/0 * * * *', 'illegal stepping: 0'],
    ['30-10 * * * *', "From value is larger than to value: '30-10'"],
    ['H * * * *', 'illegal characters'],
    ['0 0 31 2 *', 'it never fires'],
    ['0 0 30 FEB *', 'it never fires'],
    ['0 0 31 4,6,9,11 *', 'it never fires'],
  ])('%s', (schedule, reason) => {
    const check = () => checkSchedule(schedule, null);
    expect(check).toThrow(InvalidInput);
    expect(check).toThrow(`Invalid cron schedule: '${schedule}'. Reason: `);
    expect(check).toThrow(reason);
  });

  test.each(['Mars/X', '', '+02:00', 'Berlin', '../etc'])('the time zone "%s"', (timezone) => {
    expect(() => checkSchedule('0 0 * * *', timezone)).toThrow(`Invalid timezone: '${timezone}'.`);
  });

  test.each(['Europe/Berlin', 'UTC', 'america/new_york', 'Etc/GMT+5'])('not the time zone %s', (timezone) => {
    expect(() => checkSchedule('0 0 * * *', timezone)).not.toThrow();
  });
});
