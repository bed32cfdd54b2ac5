import { basename } from 'node:path'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import type { TestSequencer, TestSpecification } from 'vitest/node'

const conditions = ['@keyrail/source', ...defaultServerConditions]

/** What may notice a change, the quickest first: the first test that fails ends the run. */
const files = [
  'src/failure/repeatable.test.ts',
  'src/transport/tokenBucket.test.ts',
  'src/failure/retryAfter.test.ts',
  'src/transport/batchLimit.test.ts',
  'src/transport/batchCap.test.ts',
  'src/transport/budgetPace.test.ts',
  'src/transport/options.test.ts',
  'src/transport/retry.test.ts',
  'src/transport/batch.test.ts',
  'src/message/readBatchAnswer.test.ts',
  'src/failure/createFailure.test.ts',
  'src/transport/budget.test.ts',
  'src/failure/classify.test.ts',
  'src/transport/batchProperty.test.ts',
]

/** Vitest itself would begin with the slowest. */
class QuickestFirst implements TestSequencer {
  shard(specifications: TestSpecification[]): TestSpecification[] {
    return specifications
  }
  sort(specifications: TestSpecification[]): TestSpecification[] {
    const place = ({ moduleId }: TestSpecification): number =>
      files.findIndex((file) => file.endsWith(`/${basename(moduleId)}`))
    return specifications.toSorted((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  root: `${import.meta.dirname}/../../packages/core`,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: files, testTimeout: 20_000, sequence: { sequencer: QuickestFirst } },
})
