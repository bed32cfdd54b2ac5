import { basename } from 'node:path'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import type { TestSequencer, TestSpecification } from 'vitest/node'
import { mutationParts, partVariable } from './parts.ts'

const conditions = ['@keyrail/source', ...defaultServerConditions]

const part = mutationParts[process.env[partVariable] ?? 'core']
if (part === undefined) throw new Error(`Unknown part "${process.env[partVariable]}"`)
const { package: name, tests, fuzzCases, testNamePattern } = part

/** Runs the fastest tests first. Vitest's own sequencer starts with the slowest. */
class QuickestFirst implements TestSequencer {
  shard(specifications: TestSpecification[]): TestSpecification[] {
    return specifications
  }
  sort(specifications: TestSpecification[]): TestSpecification[] {
    const place = ({ moduleId }: TestSpecification): number =>
      tests.findIndex((file) => file.endsWith(`/${basename(moduleId)}`))
    return specifications.toSorted((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  root: `${import.meta.dirname}/../../../${name}`,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  environments: { __vitest__: { resolve: { conditions } } },
  test: {
    include: [...tests],
    globalSetup: name === 'gateway' ? ['./test/storage/lendDatabases.ts'] : [],
    testTimeout: 20_000,
    sequence: { sequencer: QuickestFirst },
    ...(testNamePattern === undefined ? {} : { testNamePattern }),
    env: fuzzCases === undefined ? {} : { KEYRAIL_FUZZ_CASES: String(fuzzCases) },
  },
})
