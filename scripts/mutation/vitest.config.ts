import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

const conditions = ['@keyrail/source', ...defaultServerConditions]
const core = `${import.meta.dirname}/../../packages/core`

export default defineConfig({
  root: core,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      'src/transport/{batch,batchLimit,batchProperty,budget,retry,tokenBucket}.test.ts',
      'src/failure/{classify,createFailure,repeatable,retryAfter}.test.ts',
      'src/message/readBatchAnswer.test.ts',
    ],
    testTimeout: 20_000,
  },
})
