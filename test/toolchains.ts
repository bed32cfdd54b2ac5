import { join } from 'node:path'
import { top } from './run.ts'

/** The Node versions that the SDK runs on. */
export const nodes = [
  { node: 20, program: join(top, 'node_modules/node20/bin/node') },
  { node: 24, program: join(top, 'node_modules/node/bin/node') },
] as const

/** The versions of TypeScript that its types compile under. */
export const compilers = [
  { typescript: 7, tsc: 'tsc' },
  { typescript: 6, tsc: 'tsc6' },
] as const
