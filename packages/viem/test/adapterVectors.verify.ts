import { testAdapter } from '@keyrail/core/test/adapterTests.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { createViemSubject } from '@keyrail/core/test/createViemSubject.ts'
import { keyrail } from '../src/index.ts'

testAdapter(
  createViemSubject('@keyrail/viem', (target) => ({
    transport: keyrail(targetOptions({ ...target, signal: undefined })),
  })),
  { allApis: false },
)
