import type * as PromClient from 'prom-client'
import { registerMetric } from './registerMetric.ts'

/** Registers which version runs. */
export const registerBuild = (version: string, registers: readonly PromClient.Registry[]): void =>
  registerMetric(registers, {
    name: 'keyrail_build_info',
    help: 'The version of Keyrail and of Node. Always 1.',
    type: 'gauge',
    samples: () => [{ labels: { version, node: process.versions.node }, value: 1 }],
  })
