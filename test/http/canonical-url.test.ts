import { expect, test } from 'vitest';
import { canonicalUrl } from '../../src/http/canonical-url.ts';

test.each([
  ['/threads/x?a=%61#b', '/threads/x?a=%61#b'],
  ['http://host/threads', '/threads'],
  ['HTTPS://host:1', '/'],
  ['http://host?a', '/?a'],
  ['/%61%2D%2e%5F%7e%5a%39', '/a-._~Z9'],
  ['/a%2Fb%3a%20%c3%a4%25', '/a%2Fb%3a%20%c3%a4%25'],
  ['http://host/%61?x=http://y/', '/a?x=http://y/'],
])('URL %s is normalized to %s', (target, url) => {
  expect(canonicalUrl(target)).toBe(url);
});

test.each(['/%%361', '/%61%', '/%zz%61', 'http://host#/threads', '*', 'http://'])(
  'URL %s is already normalized',
  (target) => {
    expect(canonicalUrl(canonicalUrl(target))).toBe(canonicalUrl(target));
  },
);
