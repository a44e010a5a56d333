import { expect, test } from 'vitest';
import { PROJECT, TestDeployment } from '../../support/builds.ts';
import { naming } from '../../support/naming.ts';

const POINTER = `version https://git-lfs.github.com/spec/v1
oid sha256:${'a'.repeat(64)}
size 123456
`;

test('the log of a build names the files that are only pointers of Git LFS', async () => {
  await using deployment = await TestDeployment.create();
  const path = await deployment.repository('app', {
    ...PROJECT,
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    'model.bin': POINTER,
    'whole.bin': 'not a pointer',
    'docs/about.md': POINTER,
  });
  await deployment.build({ source: { kind: 'git', url: `file://${path}`, ref: 'main' } });
  const warnings = deployment.lines.filter(({ message }) => message.includes('Git LFS'));
  expect(warnings).toMatchObject([{ level: 'WARNING', message: naming('model.bin') }]);
});
