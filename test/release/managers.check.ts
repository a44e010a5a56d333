import { LIKE_NPM, testInstallations } from '../package/managers.ts';

testInstallations(LIKE_NPM);
