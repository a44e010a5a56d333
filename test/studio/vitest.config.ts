import { defineConfig, mergeConfig } from 'vitest/config';
import general from '../../vitest.config.ts';

/** `npm run test:studio`: all tests of Studio, with those that take minutes and belong to no other command. */
const config = mergeConfig(general, defineConfig({}));
config.test.projects = undefined;
config.test.include = ['test/studio/**/*.{test,check}.ts'];
config.test.testTimeout = 300_000;
config.test.hookTimeout = 300_000;

export default config;
